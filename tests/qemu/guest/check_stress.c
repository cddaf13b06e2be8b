// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything that can happen to the patch happens while processes fault; memory
 * runs short meanwhile. Nothing is counted that did not have its effect: after each
 * event that leaves the patch in force faults have to come through it.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"
#include "stress.h"

/* About hanging only. */
#define HANGS_MS 300000
#define ROUNDS_MOST 50

/* The patch is in force: faults of 2 MiB come through the module. */
static void must_run(struct crew *crew, const char *after)
{
	struct counters before, now;
	uint64_t start = now_ms();

	read_counters(&before);
	do {
		look_after(crew);
		if (now_ms() - start > HANGS_MS)
			fail("after %s the patch is in force, and no faults came through it", after);
		sleep_ms(10);
		read_counters(&now);
	} while (counted(&before, &now).folios[1] < 4);
}

static void need_loaded(void)
{
	if (!is_loaded())
		load("");
}

static bool loading(struct crew *crew)
{
	static const char *const params[] = { "", "policy=stock", "policy=ranges,batch=64K",
					      "budget_us=20", "skip_zeroed=0" };

	reload(params[random_below(sizeof(params) / sizeof(*params))]);
	must_run(crew, "loading");
	return true;
}

/* Without the module they go on as well. */
static bool unloading(struct crew *crew)
{
	need_loaded();
	unload();
	crew_goes_on(crew);
	return true;
}

static void stay_on(int cpu)
{
	cpu_set_t cpus;
	int i;

	CPU_ZERO(&cpus);
	for (i = 0; i < 2; i++)
		if (cpu < 0 || cpu == i)
			CPU_SET(i, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) && cpu >= 0)
		fail("cannot stay on processor %d: %s", cpu, strerror(errno));
}

/* A page of 1 GiB again and again; without, it just runs. */
static _Noreturn void fault_long(volatile bool *runs)
{
	volatile unsigned char *p;

	for (;;) {
		p = map_pages(&hugetlb_1g, 1);
		*runs = true;
		if (!p)
			continue;
		p[0] = TOUCHED;
		unmap_pages(&hugetlb_1g, (unsigned char *)p, 1);
	}
}

/*
 * Who is in the function that is replaced, or runs, holds a transition up: livepatch
 * comes again a second later. So this one, on the other processor, makes time for
 * a reversal. Without, those of 7.3 were through in 50 ms; with a process that only
 * ran as well, as it met a tick meanwhile.
 */
static pid_t start_straggler(void)
{
	static volatile bool *runs;
	pid_t pid;

	if (!runs)
		runs = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*runs = false;
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	stay_on(pid ? 0 : 1);
	if (!pid)
		fault_long(runs);
	while (!*runs)
		sleep_ms(1);
	return pid;
}

static void end_straggler(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	stay_on(-1);
}

/*
 * Disabled and, before that is through, enabled again, several times: the transition
 * is reversed in its middle. Was it through already, then it was no reversal, and
 * livepatch wants the module to go.
 */
static bool reversed_disabling(struct crew *crew)
{
	unsigned int times = 1 + random_below(4), reversals = 0;
	pid_t straggler;
	int err = 0;

	need_loaded();
	straggler = start_straggler();
	while (times-- && !err) {
		err = enable(false);
		if (err)
			fail("disabling: %s", strerror(err));
		err = enable(true);
		reversals += !err;
	}
	end_straggler(straggler);
	if (err == EINVAL || err == ENOENT || err == ENODEV) {
		unload();
		return reversals;
	}
	if (err)
		fail("enabling again: %s", strerror(err));
	if (!transition_over(HANGS_MS))
		fail("the transition is stuck after reversals");
	if (!is_enabled())
		fail("enabled again, and it is not");
	must_run(crew, "a reversal");
	return true;
}

/* Disabled before it was in force everywhere. */
static bool reversed_loading(struct crew *crew)
{
	pid_t straggler;
	int klog, err;
	bool reversed;

	unload();
	klog = klog_from_here();
	straggler = start_straggler();
	err = try_load(MODULE_FILE, "");
	if (err)
		fail("loading: %s", strerror(err));
	err = enable(false);
	end_straggler(straggler);
	if (err)
		fail("disabling at once: %s", strerror(err));
	reversed = !*klog_lines(klog, "'" MODULE "': patching complete");
	close(klog);
	unload();
	crew_goes_on(crew);
	return reversed;
}

static bool policy(struct crew *crew)
{
	static const char *const policies[] = { "auto", "stock", "ranges", "stream", "oneshot",
						"far=movnti,near=mov,unit=64K,order=narrow" };

	need_loaded();
	set_policy(policies[random_below(sizeof(policies) / sizeof(*policies))]);
	must_run(crew, "a policy");
	return true;
}

static bool budget(struct crew *crew)
{
	static const char *const budgets[] = { "0", "1", "50", "1000", "100000" };
	const char *us = budgets[random_below(sizeof(budgets) / sizeof(*budgets))];
	int err;

	need_loaded();
	err = write_text("/sys/module/" MODULE "/parameters/budget_us", us);
	if (err)
		fail("budget_us %s: %s", us, strerror(err));
	must_run(crew, "a budget");
	return true;
}

static bool preemption(struct crew *crew)
{
	need_loaded();
	while (!switch_model(random_below(MODELS)))
		;
	must_run(crew, "another preemption model");
	return true;
}

static const struct {
	const char *name;
	bool (*happens)(struct crew *crew);	/* false: not as it was meant */
} events[] = {
	{ "load", loading }, { "unload", unloading }, { "policy", policy }, { "budget", budget },
	{ "reversed disabling", reversed_disabling }, { "reversed loading", reversed_loading },
	{ "preemption model", preemption },
};

#define EVENTS (sizeof(events) / sizeof(*events))

/* What a boot with preempt= is about must not change. */
static bool switches_models(void)
{
	return has_models() && !booted_model();
}

/* All of them once, in an order of chance. A reversal comes too late at every other try. */
static void each_event(struct crew *crew, unsigned int *times)
{
	size_t order[EVENTS] = { 0 }, i, other, tries;

	for (i = 0; i < EVENTS; i++) {
		other = random_below(i + 1);
		order[i] = order[other];
		order[other] = i;
	}
	for (i = 0; i < EVENTS; i++) {
		if (events[order[i]].happens == preemption && !switches_models())
			continue;
		for (tries = 0; tries < 4; tries++) {
			look_after(crew);
			if (!events[order[i]].happens(crew))
				continue;
			times[order[i]]++;
			break;
		}
	}
}

static unsigned int seconds;
static bool hungry;

/* What pressure is to bring about, by /proc/vmstat: what it was at the start, what came since. */
static struct {
	const char *word, *what;
	bool of_thp;
	long long start;
} shortages[] = {
	{ "oom_kill ", "process killed for memory", false, 0 },
	{ "htlb_buddy_alloc_fail ", "hugetlb page that could not be allocated", false, 0 },
	{ "thp_fault_fallback ", "fault that got no huge page", true, 0 },
};

#define SHORTAGES (sizeof(shortages) / sizeof(*shortages))

static long long since(size_t i)
{
	return number_after("/proc/vmstat", shortages[i].word) - shortages[i].start;
}

/* The first that has not happened yet, or NULL. */
static const char *missing(const unsigned int *times)
{
	size_t i;

	for (i = 0; i < EVENTS; i++)
		if (!times[i] && (events[i].happens != preemption || switches_models()))
			return events[i].name;
	for (i = 0; hungry && i < SHORTAGES; i++)
		if (!since(i) && (has_thp() || !shortages[i].of_thp))
			return shortages[i].what;
	return NULL;
}

static void say_what_happened(const unsigned int *times)
{
	size_t i;

	for (i = 0; i < EVENTS; i++)
		say("guest: %u times %s", times[i], events[i].name);
	for (i = 0; hungry && i < SHORTAGES; i++)
		say("guest: %lld times %s", since(i), shortages[i].what);
}

/*
 * It goes on until its time is over and each event has happened. Who loads goes
 * before those who fault: a load took as long as a dozen of other events otherwise.
 *
 * On kernels 6.3 to 6.15 a transition of 15 s is nothing wrong: at its start and its
 * end they rewrite each call of cond_resched(), for klp_sched_try_switch(), and for
 * each wait three times for all processors; QEMU's wait for the host's. All tasks
 * had switched meanwhile, as /proc/PID/patch_state said.
 */
static void stress(void)
{
	uint64_t end = now_ms() + (uint64_t)seconds * 1000;
	unsigned int times[EVENTS] = { 0 }, rounds = 0;
	struct crew crew;
	size_t i;

	setpriority(PRIO_PROCESS, 0, -20);
	for (i = 0; i < SHORTAGES; i++)
		shortages[i].start += since(i);
	start_crew(&crew, hungry);
	while (now_ms() < end || missing(times)) {
		if (rounds++ == ROUNDS_MOST && missing(times))
			fail("%u rounds of events, and no %s", ROUNDS_MOST, missing(times));
		each_event(&crew, times);
	}
	end_crew(&crew);
	say_what_happened(times);
	setpriority(PRIO_PROCESS, 0, 0);
	reload("");
	need_pool(&hugetlb_2m, 16);
	check_kind(&hugetlb_2m, 16, "after the stress");
}

static void any_stress(const char *name)
{
	seconds = setting(name, 8);
	hungry = !strcmp(name, "pressure");
	if (switches_models())
		keep_model(stress);
	else
		stress();
}

void check_stress(void)
{
	any_stress("stress");
}

void check_pressure(void)
{
	any_stress("pressure");
}
