// SPDX-License-Identifier: GPL-2.0-only
/*
 * Negative controls: modules that were spoilt on purpose. If one of these is
 * not noticed, the other checks prove nothing.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

static void must_refuse(const char *file, const char *what)
{
	int klog = klog_from_here(), err;

	unload();
	err = try_load(file, "");
	if (!err)
		fail("%s was loaded", what);
	if (!*klog_lines(klog, MODULE ": "))
		fail("%s: %s, without a line in the log that says why", what, strerror(err));
	if (is_loaded() || !access("/sys/kernel/livepatch/" MODULE, F_OK))
		fail("%s was refused, and is still there", what);
	if (try_load(MODULE_FILE, ""))
		fail("after %s was refused the right module does not load", what);
}

/* A variant leaves a line: core's own cases have to see it, at load. */
void check_planted_variant(void)
{
	must_refuse("/lib/planted_variant.ko", "a module whose variant leaves out a line");
}

/* A target that this kernel has not. */
void check_wrong_target(void)
{
	must_refuse("/lib/wrong_target.ko", "a module for another function");
}

/* In a process of its own fault_and_look() has to end with a failure. */
static bool is_caught(const struct kind *kind, size_t pages)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		dirty_free_pages(kind, pages);
		fault_and_look(kind, pages, "of a planted bug");
		_exit(0);
	}
	status = wait_for(pid, "the look at a planted bug");
	forget_failure();
	return status == 1;
}

static void must_be_caught(const struct kind *kind, size_t pages)
{
	if (!is_caught(kind, pages))
		fail("the planted bug was not seen in pages of %s", kind->name);
}

/*
 * All variants are right, what calls them leaves out the last line of a folio:
 * nothing but looking at the pages finds that. THP only where the allocator has
 * not zeroed them.
 */
void check_planted_glue(void)
{
	unload();
	if (try_load("/lib/planted_glue.ko", ""))
		fail("planted_glue.ko does not load");
	if (!transition_over(60000))
		fail("the transition is stuck");
	need_pool(&hugetlb_2m, 16);
	must_be_caught(&hugetlb_2m, 8);
	must_be_caught(&memfd_2m, 8);
	must_be_caught(&fallocate_2m, 8);
	if (has_thp() && booted_with("init_on_alloc=0")) {
		choose_thp(&thp);
		must_be_caught(&thp, 8);
	}
	unload();
	load("");
	if (is_caught(&hugetlb_2m, 8))
		fail("a bug was seen in the right module");
}

void check_unload(void)
{
	if (!is_loaded())
		load("");
	unload();
	if (is_loaded() || !access("/sys/kernel/livepatch/" MODULE, F_OK))
		fail("unloaded, and still there");
	if (!access("/sys/kernel/debug/" MODULE, F_OK))
		fail("unloaded, and its files in debugfs are still there");
	need_pool(&hugetlb_2m, 16);
	dirty_free_pages(&hugetlb_2m, 16);
	fault_and_look(&hugetlb_2m, 16, "of the kernel itself");
}

/* Out of tree (12), unsigned (13), livepatch (15): no other taint. */
void check_taint(void)
{
	unsigned long allowed = 1UL << 12 | 1UL << 13 | 1UL << 15;
	long long taint = number_after("/proc/sys/kernel/tainted", "");

	if (taint < 0 || ((unsigned long)taint & ~allowed))
		fail("tainted %#llx, expected no more than %#lx", (unsigned long long)taint, allowed);
}
