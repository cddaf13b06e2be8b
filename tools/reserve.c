/* SPDX-License-Identifier: GPL-2.0-only */
#include "reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/limits.h"
#include "tool.h"

#define HELD 8 /* reservations of one run */

struct request {
	uint64_t page_bytes;
	uint64_t pages;
	int node;
};

static int keeper_socket = -1;
static pid_t keeper;

/* Below a root: the number of pages in the pool of a node, or of all. Returns path. */
static const char *pool_path(uint64_t page_bytes, int node, char *path, size_t size)
{
	unsigned long long kib = page_bytes >> 10;

	if (node == LIMITS_ANY_NODE)
		snprintf(path, size, "/sys/kernel/mm/hugepages/hugepages-%llukB/nr_hugepages", kib);
	else
		snprintf(path, size,
			 "/sys/devices/system/node/node%d/hugepages/hugepages-%llukB/nr_hugepages",
			 node, kib);
	return path;
}

/* ---- in the keeper ----------------------------------------------------------- */

static int open_pool(const char *root, const struct request *r)
{
	char path[PATH_MAX], below[128];

	snprintf(path, sizeof(path), "%s%s", root,
		 pool_path(r->page_bytes, r->node, below, sizeof(below)));
	return open(path, O_RDWR | O_CLOEXEC);
}

/*
 * Two runs at once must not read the same number and both add to it. Whoever
 * may read the file could hold the lock for ever: after two seconds without.
 */
static void lock_pool(int fd)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	unsigned int i;

	for (i = 0; i < 200 && flock(fd, LOCK_EX | LOCK_NB); i++)
		nanosleep(&pause, NULL);
}

/*
 * By how much the pool grew. What others do to it meanwhile stays: the pool is
 * changed by a difference, not set to a value. What is read counts surplus
 * pages, what is written does not.
 */
static int64_t change_pool(const char *root, const struct request *r, int64_t by)
{
	struct limits_pool before = { 0 }, after = { 0 };
	int fd = open_pool(root, r);
	char text[32];
	int64_t want;
	int len, err = 0;

	if (fd < 0)
		return -errno;
	lock_pool(fd);
	if (limits_pool(root, r->page_bytes, r->node, &before)) {
		close(fd);
		return -ENOENT;
	}
	want = (int64_t)(before.total - before.surplus) + by;
	len = snprintf(text, sizeof(text), "%lld", (long long)(want > 0 ? want : 0));
	if (write(fd, text, (size_t)len) != len)
		err = -errno;
	else if (limits_pool(root, r->page_bytes, r->node, &after))
		err = -ENOENT;
	close(fd); /* and with it the lock */
	if (err)
		return err;
	return (int64_t)(after.total - after.surplus) - (int64_t)(before.total - before.surplus);
}

static void keep(const char *root, int socket)
{
	struct request held[HELD], r;
	unsigned int i, count = 0;

	while (recv(socket, &r, sizeof(r), 0) == (ssize_t)sizeof(r)) {
		int64_t got = count < HELD ? change_pool(root, &r, (int64_t)r.pages) : -ENOSPC;

		if (got > 0 && (uint64_t)got < r.pages) /* half of it is of no use */
			change_pool(root, &r, -got);
		else if (got > 0)
			held[count++] = r;
		if (send(socket, &got, sizeof(got), MSG_NOSIGNAL) != (ssize_t)sizeof(got))
			break;
	}
	for (i = 0; i < count; i++)
		change_pool(root, &held[i], -(int64_t)held[i].pages);
}

/* ---- in the program ------------------------------------------------------------ */

/* Async-signal-safe. */
void reserve_release(void)
{
	int socket = keeper_socket;

	keeper_socket = -1;
	if (socket >= 0)
		close(socket);
	/* Also when somebody else has closed it: a signal in the midst of a release waits too. */
	while (keeper > 0 && waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
		;
}

static void on_signal(int number)
{
	static atomic_flag ending = ATOMIC_FLAG_INIT;
	static const char gone[] = "clearpages: SIGBUS: a page could not be had after all: "
				   "somebody took it, or a hugetlb cgroup limit is in the way\n";

	/* Threads may get a SIGBUS each: the first one ends the program. */
	while (atomic_flag_test_and_set(&ending))
		pause();
	if (number == SIGBUS && write(STDERR_FILENO, gone, sizeof(gone) - 1) < 0)
		_exit(TOOL_FAILED);
	reserve_release();
	if (number == SIGBUS)
		_exit(TOOL_FAILED);
	raise(number); /* SA_RESETHAND: now by default, so that the caller sees the signal */
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGBUS, SIGSEGV };
	struct sigaction act = { .sa_handler = on_signal };
	unsigned int i;

	sigfillset(&act.sa_mask);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction old;

		/*
		 * What nohup ignores stays ignored. SIGINT does not: scripts start
		 * background jobs that ignore it, and then mean it all the same
		 * when they send it by kill.
		 */
		if (numbers[i] == SIGHUP && !sigaction(SIGHUP, NULL, &old) &&
		    old.sa_handler == SIG_IGN)
			continue;
		act.sa_flags = numbers[i] == SIGBUS ? 0 : (int)SA_RESETHAND;
		sigaction(numbers[i], &act, NULL);
	}
}

static int start_keeper(const char *root)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	keeper = fork();
	if (keeper < 0) {
		close(pair[0]);
		close(pair[1]);
		return -errno;
	}
	if (!keeper) {
		sigset_t all;
		int null = open("/dev/null", O_RDWR);

		/* Its own session: a Ctrl-C at the terminal is for its parent. */
		setsid();
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		close(pair[0]);
		keep(root, pair[1]);
		_exit(0);
	}
	close(pair[1]);
	keeper_socket = pair[0];
	return 0;
}

static int64_t ask_keeper(const char *root, uint64_t page_bytes, uint64_t pages, int node)
{
	struct request r;
	int64_t got;
	int err = keeper_socket < 0 ? start_keeper(root) : 0;

	if (err)
		return err;
	memset(&r, 0, sizeof(r));
	r.page_bytes = page_bytes;
	r.pages = pages;
	r.node = node;
	if (send(keeper_socket, &r, sizeof(r), MSG_NOSIGNAL) != (ssize_t)sizeof(r) ||
	    recv(keeper_socket, &got, sizeof(got), 0) != (ssize_t)sizeof(got))
		return -EPIPE;
	return got;
}

static int enlarge(const char *root, uint64_t page_bytes, uint64_t missing, int node, char *why,
		   unsigned int why_size)
{
	unsigned long long kib = page_bytes >> 10;
	char each[32], all[32];
	int64_t got = ask_keeper(root, page_bytes, missing, node);

	size_text(page_bytes, each, sizeof(each));
	if (got < 0) {
		snprintf(why, why_size, "cannot reserve %llu huge pages of %s: %s",
			 (unsigned long long)missing, each, strerror((int)-got));
		return TOOL_FAILED;
	}
	if ((uint64_t)got < missing) {
		snprintf(why, why_size,
			 "cannot reserve %llu huge pages of %s: the kernel found %lld (memory is "
			 "full or in pieces): free some, reserve at boot (hugepagesz=%lluK "
			 "hugepages=%llu), or use a smaller -s",
			 (unsigned long long)missing, each, (long long)got, kib,
			 (unsigned long long)missing);
		return TOOL_FAILED;
	}
	note("reserved %s of huge pages of %s for this run; they are given back at its end",
	     size_text(missing * page_bytes, all, sizeof(all)), each);
	return TOOL_OK;
}

/*
 * Pages that the pool lacks, and with a node also the pool of all nodes: a page
 * that is promised to somebody is counted in that one only, and then it does not
 * help that the node has it free.
 */
static uint64_t pages_missing(const char *root, uint64_t page_bytes, uint64_t pages, int node,
			      const struct limits_pool *pool)
{
	uint64_t here = limits_available(pool), everywhere = here;
	struct limits_pool all;

	if (node != LIMITS_ANY_NODE && !limits_pool(root, page_bytes, LIMITS_ANY_NODE, &all))
		everywhere = limits_available(&all);
	if (everywhere < here)
		here = everywhere;
	return pages > here ? pages - here : 0;
}

int reserve_need(const char *root, uint64_t page_bytes, uint64_t pages, int node,
		 enum reserve_mode mode, char *why, unsigned int why_size)
{
	struct limits_pool pool;
	char each[32], path[128];
	uint64_t missing;
	int err;

	catch_signals(); /* SIGBUS is for those too whose pool was large enough */
	if (limits_pool(root, page_bytes, node, &pool)) {
		snprintf(why, why_size, "this kernel has no huge pages of %s: see "
			 "'clearpages list machine' for those it has",
			 size_text(page_bytes, each, sizeof(each)));
		return TOOL_UNSUPPORTED;
	}
	/* A cgroup limit is no better after the pool has grown: look before. */
	if (limits_check_cgroup(root, page_bytes, pages, why, why_size))
		return TOOL_FAILED;
	missing = pages_missing(root, page_bytes, pages, node, &pool);
	if (missing && mode != RESERVE_NEVER && (mode == RESERVE_ASKED || geteuid() == 0)) {
		err = enlarge(root, page_bytes, missing, node, why, why_size);
		if (err)
			return err;
	}
	err = limits_check(root, page_bytes, pages, node, why, why_size);
	if (err && missing && strlen(why) < why_size) {
		unsigned long long enough = pool.total - pool.surplus + missing;
		size_t len = strlen(why);

		snprintf(why + len, why_size - len,
			 ": as root, use --reserve, or type 'echo %llu > %s'", enough,
			 pool_path(page_bytes, node, path, sizeof(path)));
	}
	return err ? TOOL_FAILED : TOOL_OK;
}
