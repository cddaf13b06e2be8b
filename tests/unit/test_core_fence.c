/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Are the zeros there when the next plain store is seen? A writer zeroes a
 * buffer by the engine and then raises a flag with a plain store; a reader on
 * another cpu that sees the flag may not see a byte of the dirt. A race: it can
 * fail only where something is wrong, and may pass where it is. That the engine
 * calls the fence is held by core/test; here is what the fence is worth: the
 * notes say what the same race finds without it.
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "tap.h"
#include "test_core.h"

#define SIZE (16 << 10)
#define ROUNDS 20000
#define SECONDS 0.4	/* for one variant: a busy machine gets fewer rounds */

static struct {
	unsigned char buffer[SIZE] __attribute__((aligned(4096)));
	int flag __attribute__((aligned(64)));	/* a line of its own: number of the round to read */
	int answer __attribute__((aligned(64)));
	unsigned long old;			/* bytes of dirt seen */
	int cpu[2];
} race;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Waits for a plain store; yields after a while, as the other one may want this cpu. */
static int wait_for(int *word, int not_this)
{
	unsigned int spins = 0;
	int value;

	while ((value = __atomic_load_n(word, __ATOMIC_RELAXED)) == not_this)
		if (++spins % 4096 == 0)
			sched_yield();
	return value;
}

/* The last bytes first: they were stored last. */
static void *reader(void *arg)
{
	int round = 0;

	(void)arg;
	pin(race.cpu[1]);
	while ((round = wait_for(&race.flag, round)) > 0) {
		for (size_t i = SIZE; i-- > 0;)
			race.old += __atomic_load_n(&race.buffer[i], __ATOMIC_RELAXED) != 0;
		memset(race.buffer, 0xa5, SIZE);
		__atomic_store_n(&race.answer, round, __ATOMIC_RELEASE);
	}
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How many rounds were run; race.old says how they went. */
static int run(const struct cpg_variant *v)
{
	struct cpg_policy policy = { .far = v, .near = v, .order = CPG_FORWARD };
	double until = now() + SECONDS;
	pthread_t thread;
	int round;

	race.flag = race.answer = 0;
	race.old = 0;
	memset(race.buffer, 0xa5, SIZE);
	if (pthread_create(&thread, NULL, reader, NULL))
		return -1;
	for (round = 1; round <= ROUNDS && now() < until; round++) {
		cpg_clear(race.buffer, SIZE, CPG_NO_TOUCH, &policy, NULL, NULL);
		__atomic_store_n(&race.flag, round, __ATOMIC_RELAXED);
		wait_for(&race.answer, round - 1);
	}
	__atomic_store_n(&race.flag, -1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	return round - 1;
}

static void race_of(const struct cpg_variant *v)
{
	struct cpg_variant bare = *v;
	int rounds = run(v);

	tap_ok(rounds > 0 && !race.old, "%s: %s", v->name,
	       "zeros are seen by another cpu before the store behind them");
	tap_note("%s: %d rounds, %lu old bytes seen", v->name, rounds, race.old);
	if (!v->fence)
		return;
	bare.fence = NULL;
	rounds = run(&bare);
	tap_note("%s without its fence: %d rounds, %lu old bytes seen", v->name, rounds, race.old);
}

static bool two_cpus(void)
{
	cpu_set_t set;
	int n = 0;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set))
		return false;
	for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			race.cpu[n++] = cpu;
	return n == 2;
}

int main(void)
{
	struct cpg_facts facts = test_core_facts();
	const struct cpg_variant *v;
	bool two = two_cpus();
	char why[64];

	if (two)
		pin(race.cpu[0]);
	for (unsigned int i = 0; (v = cpg_variant_at(i)); i++) {
		snprintf(why, sizeof(why), "this processor lacks %s",
			 cpg_feature_name(v->features & ~facts.features));
		if (!cpg_variant_usable(v, &facts))
			tap_skip(v->name, why);
		else if (!two)
			tap_skip(v->name, "a race needs two cpus, this process may use one");
		else
			race_of(v);
	}
	return tap_done();
}
