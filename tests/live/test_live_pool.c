// SPDX-License-Identifier: GPL-2.0-only
/* Pools and the system around them: privileges, kernels short of pages, kill -9, hugetlbfs. */
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "test_live.h"

static char *lazy(struct clearpages_pool *p, size_t pages)
{
	void *a;

	if (clearpages_pool_get(p, pages * HUGE, NULL, &a))
		die("clearpages_pool_get", "");
	return a;
}

/* ---- who may ------------------------------------------------------------------------- */

enum { MADE = 0, REFUSED = 10, OTHER = 20, USER_ONLY = 30, BAD = 40 };

static int try_read(char *a)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, a, 100);

	close(fd);
	return got < 0 ? errno : got == 100 ? 0 : -1;
}

/* Becomes nobody, and makes a pool of that kind. */
static int as_nobody(uint32_t pager, char *why, size_t why_size, bool use)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = 2 * HUGE, .page_bytes = HUGE, .why = why,
		.backing = CLEARPAGES_BACKING_HUGETLB, .mode = CLEARPAGES_LAZY, .pager = pager,
		.why_size = why_size, .cleaners = CLEARPAGES_NONE,
	};
	struct clearpages_pool *p;
	char *a;
	int err;

	if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
		return OTHER;
	err = clearpages_pool_create(&p, &o);
	if (err)
		return err == -EPERM ? REFUSED : OTHER;
	if (use) {
		a = lazy(p, 2);
		memset(a, 0xaa, 2 * HUGE);
		clearpages_pool_put(p, a, 2 * HUGE);
		a = lazy(p, 2);
		if (!is_filled(a, HUGE, 0))
			return BAD;
		if (stats_of(p).limits & CLEARPAGES_POOL_USER_ONLY)
			return try_read(a + HUGE) == EFAULT ? USER_ONLY : BAD;
	}
	return MADE;
}

struct verdict {
	int status;
	char why[512];
};

static struct verdict in_child(uint32_t pager, void (*before)(void))
{
	struct verdict *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0), v;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (before)
			before();
		_exit(as_nobody(pager, shared->why, sizeof(shared->why), true));
	}
	waitpid(pid, &status, 0);
	v = *shared;
	v.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	munmap(shared, sizeof(*shared));
	return v;
}

/* From here on this call fails, as in a container with a seccomp profile. */
static void forbid(unsigned int call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 4, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &prog))
		_exit(OTHER);
}

static void forbid_userfaultfd(void)
{
	forbid(SYS_userfaultfd);
}

static void test_nobody(void)
{
	struct stat st;
	struct verdict v;

	if (!live_lazy("without privileges", CLEARPAGES_PAGER_SIGNAL, 2))
		return;
	if (geteuid() || stat("/dev/userfaultfd", &st) || (st.st_mode & 0006) == 0006) {
		tap_skip("without privileges", "needs root, and a closed /dev/userfaultfd");
		return;
	}
	v = in_child(CLEARPAGES_PAGER_SIGNAL, NULL);
	tap_ok(v.status == MADE && !v.why[0], "nobody: signal mode works (%d): %s", v.status,
	       v.why);
	v = in_child(CLEARPAGES_PAGER_THREAD, NULL);
	tap_ok(v.status == USER_ONLY && strstr(v.why, "/dev/userfaultfd"),
	       "nobody: thread mode works with a limit (%d): %s", v.status, v.why);
	v = in_child(CLEARPAGES_PAGER_SIGNAL, forbid_userfaultfd);
	tap_ok(v.status == REFUSED && strstr(v.why, "vm.unprivileged_userfaultfd"),
	       "nobody in a sandbox: -EPERM (%d): %s", v.status, v.why);
	v = in_child(CLEARPAGES_PAGER_PROTECT, forbid_userfaultfd);
	tap_ok(v.status == MADE, "nobody in a sandbox: mprotect() works (%d): %s", v.status, v.why);
	chmod("/dev/userfaultfd", (st.st_mode & 07777) | 0006);
	v = in_child(CLEARPAGES_PAGER_THREAD, NULL);
	chmod("/dev/userfaultfd", st.st_mode & 07777);
	tap_ok(v.status == MADE && !v.why[0], "nobody with the device: no limit (%d): %s", v.status,
	       v.why);
}


/* ---- pages that are not there -------------------------------------------------------- */

static void test_too_few(void)
{
	char why[512] = "";
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .page_bytes = HUGE, .why = why, .why_size = sizeof(why),
		.backing = CLEARPAGES_BACKING_HUGETLB,
	};
	struct clearpages_pool *p;
	uint64_t before = live_free(HUGE);

	o.bytes = (before + 1) * HUGE;
	tap_ok(clearpages_pool_create(&p, &o) == -ENOMEM && strstr(why, "hugepages"),
	       "one page more than there are: %s", why);
	o.page_bytes = 64 * HUGE;
	o.bytes = 128 * HUGE;
	tap_ok(clearpages_pool_create(&p, &o) == -EOPNOTSUPP && why[0], "a size that is none: %s",
	       why);
	o.page_bytes = HUGE;
	o.backing = CLEARPAGES_BACKING_AUTO;
	o.bytes = (before + 1) * HUGE;
	if (o.bytes > GIGA)
		tap_skip("auto takes private memory then", "too many huge pages are free");
	else
		tap_ok(!clearpages_pool_create(&p, &o) && strstr(why, "private") &&
		       !clearpages_pool_destroy(p), "auto takes private memory then: %s", why);
	tap_ok(live_free(HUGE) >= before, "nothing is gone");
}

/* No memfd at all, as in a sandbox: the look at the free pages has promised too much. */
static int auto_without_memfd(char *why, size_t why_size)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = 2 * HUGE, .page_bytes = HUGE, .why = why,
		.why_size = why_size, .cleaners = CLEARPAGES_NONE,
	};
	struct clearpages_pool *p;

	forbid(SYS_memfd_create);
	if (clearpages_pool_create(&p, &o))
		return REFUSED;
	if (stats_of(p).backing != CLEARPAGES_BACKING_THP)
		return BAD;
	return clearpages_pool_destroy(p) ? BAD : MADE;
}

static void test_auto_goes_on(void)
{
	char *why = mmap(NULL, 512, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	if (!live_huge("auto goes on", 2))
		return;
	pid = fork();
	if (!pid)
		_exit(auto_without_memfd(why, 512));
	waitpid(pid, &status, 0);
	tap_ok(status == MADE && strstr(why, "private memory"),
	       "auto goes on to private memory when pages are refused (%#x): %s", status, why);
	munmap(why, 512);
}

/* A pool keeps what it has when the kernel's is taken away. */
static void test_taken_away(void)
{
	struct clearpages_pool *p;
	struct limits_pool now;
	size_t had;
	char *a;

	if (!live_lazy("taken away", CLEARPAGES_PAGER_SIGNAL, 4))
		return;
	if (geteuid()) {
		tap_skip("taken away", "needs root");
		return;
	}
	p = dirty_pool(4, CLEARPAGES_LAZY, CLEARPAGES_PAGER_SIGNAL, 0);
	limits_pool("", HUGE, LIMITS_ANY_NODE, &now);
	had = now.total;
	live_resize(HUGE, -4);
	a = lazy(p, 4);
	tap_ok(is_filled(a, 4 * HUGE, 0), "pages of a pool that is smaller now are still there");
	clearpages_pool_put(p, a, 4 * HUGE);
	clearpages_pool_destroy(p);
	limits_pool("", HUGE, LIMITS_ANY_NODE, &now);
	live_resize(HUGE, (long)had - (long)now.total);
}


/* ---- nothing is lost ----------------------------------------------------------------- */

static void test_killed(void)
{
	uint64_t before;
	int fds[2], status;
	unsigned int wait;
	char go;
	pid_t pid;

	if (!live_lazy("kill -9", CLEARPAGES_PAGER_THREAD, 8))
		return;
	if (pipe(fds))
		die("pipe", "");
	before = live_free(HUGE);
	pid = fork();
	if (!pid) {
		struct clearpages_pool *p = dirty_pool(8, CLEARPAGES_LAZY, CLEARPAGES_PAGER_THREAD,
						       2);
		char *a = lazy(p, 5);

		a[HUGE] = 1;
		if (write(fds[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	if (read(fds[0], &go, 1) != 1)
		die("read", "pipe");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	/* Others on this machine take and return pages too: it has to come, not to be there. */
	for (wait = 0; live_free(HUGE) < before && wait < 2000; wait++)
		usleep(1000);
	tap_ok(live_free(HUGE) >= before, "kill -9: %llu pages free before, %llu after",
	       (unsigned long long)before, (unsigned long long)live_free(HUGE));
	close(fds[0]);
	close(fds[1]);
}

static void test_create_cycles(void)
{
	unsigned int i, files = open_files();
	struct clearpages_pool *p;

	if (!live_lazy("made and destroyed", CLEARPAGES_PAGER_THREAD, 2))
		return;
	for (i = 0; i < 60; i++) {
		p = dirty_pool(2, CLEARPAGES_LAZY, i % 3, i / 3 % 3);
		clearpages_pool_destroy(p);
	}
	tap_ok(open_files() == files, "%u pools made and destroyed: no descriptor is left", i);
}


/* ---- a directory --------------------------------------------------------------------- */

/* A hugetlbfs of our own, for the time of the test. */
static void test_path(void)
{
	char dir[] = "/tmp/clearpages-test-XXXXXX", why[512];
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = 2 * HUGE, .backing = CLEARPAGES_BACKING_PATH,
		.path = dir, .mode = CLEARPAGES_LAZY, .why = why, .why_size = sizeof(why),
	};
	struct clearpages_pool *p;
	char *a;
	int err;

	if (!live_lazy("a directory", CLEARPAGES_PAGER_SIGNAL, 2))
		return;
	if (!mkdtemp(dir) || mount("none", dir, "hugetlbfs", 0, "pagesize=2M")) {
		tap_skip("a hugetlbfs directory", "it cannot be mounted (not root?)");
		return;
	}
	err = clearpages_pool_create(&p, &o);
	if (tap_ok(!err, "a hugetlbfs directory: %s", why)) {
		a = lazy(p, 2);
		memset(a, 0xaa, 2 * HUGE);
		clearpages_pool_put(p, a, 2 * HUGE);
		a = lazy(p, 2);
		tap_ok(is_filled(a, 2 * HUGE, 0) && stats_of(p).page_bytes == HUGE,
		       "... pages of its size, cleared");
		clearpages_pool_put(p, a, 2 * HUGE);
		clearpages_pool_destroy(p);
	}
	o.page_bytes = 4096;
	tap_ok(clearpages_pool_create(&p, &o) == -EINVAL, "... not of another size: %s", why);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
}


int main(void)
{
	test_nobody();
	test_too_few();
	test_auto_goes_on();
	test_taken_away();
	test_killed();
	test_create_cycles();
	test_path();
	return tap_done();
}
