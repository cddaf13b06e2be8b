// SPDX-License-Identifier: GPL-2.0-only
/* Processes that fault, fork, unmap, eat memory and fail to get huge pages. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"
#include "stress.h"

/* Between faults: so that processors are idle at times, and sleepers found asleep. */
static void rest(size_t pages)
{
	sleep_ms(pages);
}

/* Each page is touched somewhere, looked at, and dirtied for whoever gets it next. */
static void round_of(const struct kind *kind, size_t pages)
{
	unsigned char *p = map_pages(kind, pages);
	size_t i, touch;

	if (!p)
		return;
	for (i = 0; i < pages; i++) {
		touch = random_below(kind->page);
		((volatile unsigned char *)p)[i * kind->page + touch] = TOUCHED;
		must_be_zero(kind, p + i * kind->page, touch, "under stress");
		dirty(p + i * kind->page, kind->page);
		rest(1);
	}
	unmap_pages(kind, p, pages);
}

static void hugetlb(void)
{
	round_of(&hugetlb_2m, 1 + random_below(8));
}

static void transparent(void)
{
	round_of(&thp, 1 + random_below(8));
}

static void small(void)
{
	round_of(&mthp_64k, 1 + random_below(31));
}

static void shared(void)
{
	round_of(random_below(2) ? &memfd_2m : &fallocate_2m, 1 + random_below(4));
}

/* The pool can be empty: then there is no page for the child. */
static void no_page(int sig)
{
	(void)sig;
	_exit(0);
}

/* Half of the pages before the fork, the other half by parent and child at once. */
void fork_round(const struct kind *kind, bool parent_looks)
{
	size_t n = 4, i;
	unsigned char *p = map_pages(kind, n);
	pid_t pid;

	if (!p)
		return;
	madvise(p, n * kind->page, MADV_HUGEPAGE);
	for (i = 0; i < n / 2; i++)
		p[i * kind->page] = TOUCHED;
	pid = fork();
	if (!pid)
		signal(SIGBUS, no_page);
	for (i = n / 2; i < n && pid >= 0; i++) {
		((volatile unsigned char *)p)[i * kind->page] = TOUCHED;
		if (!pid || parent_looks)
			must_be_zero(kind, p + i * kind->page, 0,
				     pid ? "in a parent" : "in a child");
	}
	if (!pid)
		_exit(0);
	if (pid > 0 && wait_for(pid, "a forked child"))
		fail("a forked child failed");
	unmap_pages(kind, p, n);
	rest(n);
}

static void forker(void)
{
	fork_round(has_thp() && random_below(2) ? &thp : &hugetlb_2m, true);
}

/* Nearly all that is free, for a moment; if anyone is killed for it, this one. */
static void eater(void)
{
	long long free_kib = number_after("/proc/meminfo", "MemAvailable:");
	size_t len;
	char *p;

	sleep_ms(50);
	if (free_kib < 128 << 10)
		return;
	len = ((size_t)free_kib - (96 << 10)) * KIB;
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		 -1, 0);
	if (p != MAP_FAILED)
		munmap(p, len);
}

/* More pages than there is memory for, and back. */
static void resizer(void)
{
	static const char *const sizes[] = { "40", "1000", "24", "64" };
	static unsigned int turn;

	write_text("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
		   sizes[turn++ % 4]);
	sleep_ms(20);
}

/* Faults for which there is no page: SIGBUS, in a child. */
static void beggar(void)
{
	size_t n = 2000, i;
	volatile char *p;
	pid_t pid = fork();
	int status;

	if (pid) {
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		return;
	}
	signal(SIGBUS, SIG_DFL);
	p = mmap(NULL, n * 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
		 MAP_HUGETLB | MAP_NORESERVE | 21 << 26, -1, 0);
	for (i = 0; i < n && p != MAP_FAILED; i++)
		p[i * 2 * MIB] = TOUCHED;
	_exit(0);
}

static const struct {
	const char *name;
	void (*round)(void);
} workers[WORKERS] = {
	[HUGETLB] = { "hugetlb", hugetlb }, [THP] = { "THP", transparent },
	[MTHP] = { "mTHP", small },         [SHARED] = { "shared", shared },
	[FORKER] = { "fork", forker },      [EATER] = { "memory eater", eater },
	[RESIZER] = { "pool resizer", resizer }, [BEGGAR] = { "beggar", beggar },
};

const char *worker_name(enum worker worker)
{
	return workers[worker].name;
}

int start_worker(enum worker worker, unsigned int turn, volatile uint64_t *rounds)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (pid)
		return pid;
	random_seed(boot_seed() + (uint64_t)worker * 977 + (uint64_t)turn * 31);
	setpriority(PRIO_PROCESS, 0, 0);
	write_text("/proc/self/oom_score_adj", worker == EATER ? "1000" : "-500");
	for (;; ++*rounds)
		workers[worker].round();
}
