// SPDX-License-Identifier: GPL-2.0-only
/*
 * Negative controls: modules that were spoilt on purpose. If one of these is
 * not noticed, the other checks prove nothing.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "stress.h"

/* With that error, and that line in the log. */
static void must_refuse(const char *file, const char *what, int expected, const char *line)
{
	int klog = klog_from_here(), err;

	unload();
	err = try_load(file, "");
	if (!err)
		fail("%s was loaded", what);
	if (err != expected)
		fail("%s: %s, expected %s", what, strerror(err), strerror(expected));
	if (!*klog_lines(klog, line))
		fail("%s: %s, without '%s' in the log", what, strerror(err), line);
	close(klog);
	if (is_loaded() || !access("/sys/kernel/livepatch/" MODULE, F_OK))
		fail("%s was refused, and is still there", what);
	if (try_load(MODULE_FILE, ""))
		fail("after %s was refused the right module does not load", what);
}

/* A variant leaves a line: core's own cases have to see it, at load. */
void check_planted_variant(void)
{
	const char *file = "/lib/planted_variant.ko";

	must_refuse(file, "a module whose variant leaves out a line", EIO,
		    MODULE ": self-test: failed: stosb: ");
	unload();
	must_refuse(file, "the same again", EIO, MODULE ": not loaded: the self-test failed");
}

/* A target that this kernel has not. */
void check_wrong_target(void)
{
	must_refuse("/lib/wrong_target.ko", "a module for another function", EINVAL,
		    MODULE ": cannot replace clearpages_no_such_function() (error -22)");
}

/* ---- the planted glue ------------------------------------------------------------- */

static void look(const struct kind *kind)
{
	dirty_free_pages(kind, 8);
	fault_and_look(kind, 8, "of a planted bug");
}

/* Only the child looks, so none but it can notice. */
static void fork_and_look(const struct kind *kind)
{
	fork_round(kind, false);
}

/*
 * In a process of its own it has to end with a failure, by the first byte that the
 * bug leaves dirty and no other reason.
 */
static bool is_caught(void (*how)(const struct kind *kind), const struct kind *kind,
		      const char *who)
{
	char byte[64];
	pid_t pid = fork();
	bool caught;

	if (!pid) {
		how(kind);
		_exit(0);
	}
	caught = wait_for(pid, "the look at a planted bug") == 1;
	snprintf(byte, sizeof(byte), ": byte %#zx of the page is 0x5a", kind->page - 64);
	if (caught && (!strstr(failure(), byte) || !strstr(failure(), who)))
		_exit(1);	/* with that as the check's reason */
	forget_failure();
	return caught;
}

static void must_be_caught(const struct kind *kind)
{
	if (!is_caught(look, kind, "of a planted bug"))
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
	must_be_caught(&hugetlb_2m);
	must_be_caught(&memfd_2m);
	must_be_caught(&fallocate_2m);
	if (!is_caught(fork_and_look, &hugetlb_2m, "in a child"))
		fail("what a forked child saw was swallowed");
	if (has_thp() && booted_with("init_on_alloc=0")) {
		choose_thp(&thp);
		must_be_caught(&thp);
	}
	unload();
	load("");
	if (is_caught(look, &hugetlb_2m, "of a planted bug") ||
	    is_caught(fork_and_look, &hugetlb_2m, "in a child"))
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
