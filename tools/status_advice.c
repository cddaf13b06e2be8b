// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a kernel does with huge pages by itself, and what would help there. All
 * by its release, as the sources of kernel.org have it: a vendor may have
 * taken newer code into an older one, and what is printed says so.
 *
 *	up to 6.10	clear_huge_page(), 4 KiB at a time
 *	from 6.11	folio_zero_user(), the same
 *	from 6.13	a THP that the allocator has zeroed (init_on_alloc) is not zeroed again
 *	from 7.0	folio_zero_user() zeroes whole ranges
 */
#include <stdio.h>
#include <string.h>

#include "../lib/limits.h"
#include "status.h"

#define V(major, minor) ((major) << 8 | (minor))

/*
 * Kernels in which the module leaves pages alone without being told: the list of
 * kmod/callers.h, which says why these. tests/unit/test_tool_status.c compares them.
 */
bool status_callers_read(const char *version)
{
	static const struct {
		unsigned int series, sublevel;
	} read[] = {
		{ V(5, 10), 262 }, { V(6, 1), 192 }, { V(6, 12), 117 }, { V(6, 18), 15 },
		{ V(6, 19), 14 }, { V(7, 1), 13 }, { V(7, 2), 12 }, { V(7, 3), 4 },
	};
	const char *source = strstr(version, " Debian ");
	unsigned int major, minor, sublevel;
	size_t i;

	if (!source || sscanf(source, " Debian %3u.%3u.%9u-", &major, &minor, &sublevel) != 3)
		return false;
	for (i = 0; i < sizeof(read) / sizeof(read[0]); i++)
		if (minor < 256 && read[i].series == V(major, minor))
			return sublevel <= read[i].sublevel;
	return false;
}

static bool init_on(const struct status *s)
{
	return !strncmp(s->host.init_on_alloc, "on", 2);
}

static bool has_thp(const struct status *s)
{
	return *s->host.thp && strcmp(s->host.thp, "never");
}

/* By the allocator and at the fault, in the kernel as it is. */
static bool zeroes_twice(const struct status *s)
{
	return has_thp(s) && init_on(s) && s->version && s->version < V(6, 13);
}

static bool only_allocator(const struct status *s)
{
	return s->version >= V(6, 13) && init_on(s);
}

static void how_it_zeroes(struct status *s)
{
	s->by_itself = "not known: no release";
	if (!s->version)
		return;
	s->function = s->version < V(6, 11) ? "clear_huge_page" : "folio_zero_user";
	s->by_itself = s->version < V(7, 0) ?
		"4 KiB at a time, narrowing in on the touched address" :
		"whole ranges, what is around the touched address last";
}

static void who_zeroes_thp(struct status *s)
{
	const bool off = !strncmp(s->host.init_on_alloc, "off", 3);
	char skips[64];

	status_field(s->state, "skip_zeroed", skips, sizeof(skips));
	s->thp = "zeroed twice, by the allocator (init_on_alloc) and again at the fault";
	if (!has_thp(s))
		s->thp = "none are given";
	else if (!s->version)
		s->thp = "not known who zeroes them";
	else if (only_allocator(s))
		s->thp = "zeroed by the allocator only (init_on_alloc), out of the module's reach";
	/* The module knows even where neither the command line nor /boot says it. */
	else if (!strncmp(skips, "yes", 3))
		s->thp = "zeroed by the allocator (init_on_alloc); the module leaves out the second "
			 "time, at the fault";
	else if (off)
		s->thp = "zeroed at the fault, as hugetlb pages are";
	else if (!init_on(s))
		s->thp = s->version < V(6, 13) ?
			"zeroed at the fault, and twice if init_on_alloc is on" :
			"zeroed at the fault, or by the allocator only if init_on_alloc is on";
}

/* ---- what would help ------------------------------------------------------------------ */

static void help(struct status *s, const char *what, const char *text)
{
	s->help[s->helps++] = (struct status_help){ what, text };
}

static void any_page(void *arg, uint64_t page_bytes, int node, const struct limits_pool *pool)
{
	bool *any = arg;

	(void)page_bytes;
	(void)node;
	*any |= pool->total || pool->overcommit;
}

static const char *what_the_module_gains(const struct status *s)
{
	if (s->version >= V(7, 0))
		return only_allocator(s) && has_thp(s) ?
			"hugetlb pages by streaming, where that is clearly faster than the cache, "
			"which 'clearpages bench' shows; not THP: 'clearpages module load'" :
			"streaming, where that is clearly faster than the cache, which 'clearpages "
			"bench' shows; whole ranges the kernel has: 'clearpages module load'";
	if (only_allocator(s) && has_thp(s))
		return "hugetlb pages in whole extents, streaming where that is faster; not THP: "
		       "'clearpages module load'";
	if (zeroes_twice(s) && status_callers_read(s->built))
		return "whole extents, streaming where that is faster, and THP zeroed once, not twice: "
		       "'clearpages module load'";
	return "whole extents, and streaming where that is faster: 'clearpages module load'";
}

static void help_by_module(struct status *s)
{
	const struct module_state *m = &s->module;

	if (m->loaded && !m->livepatch)
		help(s, "module", "it is switched off: 'clearpages module unload', then load it again");
	else if (m->transition)
		help(s, "module", "it is not done: wait for the tasks, or see why they do not run");
	else if (m->loaded)
		help(s, "module", "it is in force: 'clearpages bench' shows what that gives, "
		     "'clearpages module policy' sets another policy");
	else if (*s->blocked)
		help(s, "module", s->blocked);
	else
		help(s, "module", what_the_module_gains(s));
}

/* What the module does not do by itself, and does not do in silence. */
static void help_by_skip(struct status *s)
{
	if (zeroes_twice(s) && !status_callers_read(s->built) && !*s->blocked &&
	    *s->module.skip_zeroed != 'Y')
		help(s, "skip_zeroed=Y", "as a parameter of the module, so that THP are zeroed once: it "
		     "does that by itself only in kernels whose source was reviewed for it, and this is none "
		     "of them; first see clearpages_module(7) for what it risks");
}

void status_advise(struct status *s)
{
	bool pages = false;

	how_it_zeroes(s);
	who_zeroes_thp(s);
	status_pools(s, any_page, &pages);
	if (!s->version) {
		help(s, "not known", "the kernel's release is not known");
		return;
	}
	if (!has_thp(s) && !pages && !s->module.loaded) {
		help(s, "nothing", "no program gets a huge page here: THP are off or not built in, and "
		     "every pool of hugetlb is empty");
		return;
	}
	help_by_module(s);
	help_by_skip(s);
	if (only_allocator(s) && has_thp(s) && !*s->blocked)
		help(s, "init_on_alloc=0", "as a boot option it brings THP to the fault, and so to the "
		     "module; it gives up a defence against bugs that show old memory: only if you "
		     "know that you do not need it");
	help(s, "a pool", "in any kernel: libclearpages keeps huge pages and zeroes them again before "
	     "they are needed; programs have to use it, see libclearpages_pool(3)");
}
