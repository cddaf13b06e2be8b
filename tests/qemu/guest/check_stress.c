// SPDX-License-Identifier: GPL-2.0-only
/* The patch comes and goes while processes fault; memory runs short meanwhile. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "module.h"
#include "stress.h"

struct crew {
	pid_t pid[WORKERS];
	volatile uint64_t *rounds;
};

/* A number from the command line of the kernel: guest.NAME=N. */
static unsigned int setting(const char *name, unsigned int otherwise)
{
	char text[4096], word[64], *at;

	snprintf(word, sizeof(word), "guest.%s=", name);
	read_text("/proc/cmdline", text, sizeof(text));
	at = strstr(text, word);
	return at ? (unsigned int)strtoul(at + strlen(word), NULL, 10) : otherwise;
}

static void start_crew(struct crew *crew, bool hungry)
{
	unsigned int i;

	need_pool(&hugetlb_2m, 64);
	if (has_thp())
		choose_thp(&thp);
	write_text("/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled", "madvise");
	crew->rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < WORKERS; i++)
		crew->pid[i] = (i < EATER || hungry) && (has_thp() || (i != THP && i != MTHP)) ?
			start_worker(i, &crew->rounds[i]) : -1;
}

/*
 * None may have ended by itself, but what the kernel killed for memory, the eater
 * before all others: a new one takes its place.
 */
static void look_after(struct crew *crew)
{
	unsigned int i;
	int status;

	for (i = 0; i < WORKERS; i++) {
		if (crew->pid[i] < 0 || waitpid(crew->pid[i], &status, WNOHANG) <= 0)
			continue;
		if (crew->pid[EATER] > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
			crew->pid[i] = start_worker(i, &crew->rounds[i]);
		else if (WIFSIGNALED(status))
			fail("%s died of signal %d", worker_name(i), WTERMSIG(status));
		else
			fail("%s ended", worker_name(i));
	}
}

static void end_crew(struct crew *crew)
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
}

/* Disabled and, before that is through, enabled again: the transition is reversed. */
static void reverse(void)
{
	const char *file = "/sys/kernel/livepatch/" MODULE "/enabled";

	if (!is_loaded())
		load("");
	write_text(file, "0");
	write_text(file, "1");	/* fails if it was through already */
	transition_over(60000);
}

static void comings_and_goings(struct crew *crew, unsigned int seconds)
{
	static const char *const policies[] = { "auto", "stock", "ranges", "stream", "oneshot",
						"far=movnti,near=mov,unit=64K,order=narrow" };
	uint64_t end = now_ms() + (uint64_t)seconds * 1000, times = 0;

	while (now_ms() < end) {
		switch (random_below(4)) {
		case 0:
			reverse();
			break;
		case 1:
			reload("policy=ranges,batch=64K");
			break;
		case 2:
			unload();
			break;
		default:
			if (!is_loaded())
				load("");
			set_policy(policies[random_below(6)]);
			sleep_ms(100);
		}
		times++;
		look_after(crew);
	}
	say("guest: %llu comings and goings", (unsigned long long)times);
}

static void stress(const char *name, unsigned int seconds, bool hungry)
{
	struct crew crew;

	start_crew(&crew, hungry);
	comings_and_goings(&crew, setting(name, seconds));
	end_crew(&crew);
	reload("");
	need_pool(&hugetlb_2m, 16);
	check_kind(&hugetlb_2m, 16, "after the stress");
}

void check_stress(void)
{
	stress("stress", 8, false);
}

void check_pressure(void)
{
	stress("pressure", 8, true);
}

/* What modules and their data take; the kernel's own caches are not in it. */
static long long module_kib(void)
{
	return number_after("/proc/meminfo", "Percpu:") +
	       number_after("/proc/meminfo", "VmallocUsed:") +
	       number_after("/proc/meminfo", "SUnreclaim:");
}

/* In, used, out, as often as guest.reloads says: nothing may stay behind. */
void check_reloads(void)
{
	unsigned int times = setting("reloads", 10), i;
	long long before = 0, after;

	need_pool(&hugetlb_2m, 16);
	for (i = 0; i < times; i++) {
		if (i == times / 4)
			before = module_kib();
		reload(i % 2 ? "" : "policy=stock");
		check_kind(&hugetlb_2m, 2, "after another load");
		unload();
	}
	after = module_kib();
	say("guest: %u loads, %lld KiB before and %lld after", times, before, after);
	if (after - before > 1024 + 8 * (long long)times)
		fail("%u loads left %lld KiB behind", times - times / 4, after - before);
	load("");
}
