// SPDX-License-Identifier: GPL-2.0-only
/* The processes of a stress as a whole: started, looked after, ended. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "module.h"
#include "stress.h"

/* About hanging only: under TCG a round takes a second if the machine is busy. */
#define HANGS_MS 300000

static void start(struct crew *crew, unsigned int i)
{
	crew->pid[i] = start_worker(i, crew->started++, &crew->rounds[i]);
}

void start_crew(struct crew *crew, bool hungry)
{
	unsigned int i;

	memset(crew, 0, sizeof(*crew));
	crew->hungry = hungry;
	need_pool(&hugetlb_2m, 64);
	if (has_thp())
		choose_thp(&thp);
	write_text("/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled", "madvise");
	crew->rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < WORKERS; i++) {
		crew->pid[i] = -1;
		if ((i < EATER || hungry) && (has_thp() || (i != THP && i != MTHP)))
			start(crew, i);
	}
}

/*
 * Before 5.13 set_max_huge_pages() works out how many pages are promised, and then
 * gives up the lock after each page that it frees (cond_resched_lock()): who maps
 * pages meanwhile has a promise that is not kept, and dies of SIGBUS at a fault.
 * "hugetlb: change free_pool_huge_page to remove_pool_huge_page" mended it.
 */
static bool is_robbed(const struct crew *crew, unsigned int worker, int sig)
{
	return sig == SIGBUS && crew->hungry && !kernel_at_least(5, 13) &&
	       (worker == HUGETLB || worker == SHARED || worker == FORKER);
}

/*
 * None may have ended by itself, but what the kernel killed for memory, the eater
 * before all others: a new one takes its place.
 */
void look_after(struct crew *crew)
{
	unsigned int i;
	int status;

	for (i = 0; i < WORKERS; i++) {
		if (crew->pid[i] < 0 || waitpid(crew->pid[i], &status, WNOHANG) <= 0)
			continue;
		crew->pid[i] = -1;
		if (!WIFSIGNALED(status))
			fail("%s ended", worker_name(i));
		if (is_robbed(crew, i, WTERMSIG(status)))
			crew->robbed++;
		else if (!crew->hungry || WTERMSIG(status) != SIGKILL)
			fail("%s died of signal %d", worker_name(i), WTERMSIG(status));
		start(crew, i);
	}
}

static uint64_t all_rounds(const struct crew *crew)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < EATER; i++)
		sum += crew->rounds[i];
	return sum;
}

void crew_goes_on(struct crew *crew)
{
	uint64_t enough = all_rounds(crew) + 8, start_ms = now_ms();

	while (all_rounds(crew) < enough) {
		look_after(crew);
		if (now_ms() - start_ms > HANGS_MS)
			fail("8 rounds take more than %u s", HANGS_MS / 1000);
		sleep_ms(10);
	}
}

void end_crew(struct crew *crew)
{
	unsigned int i;

	look_after(crew);
	for (i = 0; i < WORKERS; i++) {
		if (crew->pid[i] < 0)
			continue;
		kill(crew->pid[i], SIGKILL);
		waitpid(crew->pid[i], NULL, 0);
		/* A round of the eater is all of memory. */
		if (!crew->rounds[i] && i != EATER && i != RESIZER)
			fail("%s made no round", worker_name(i));
		say("guest: %s: %llu rounds", worker_name(i), (unsigned long long)crew->rounds[i]);
	}
	if (crew->robbed)
		say("guest: %u died of SIGBUS while the pool shrank: kernels before 5.13 take promised pages",
		    crew->robbed);
}
