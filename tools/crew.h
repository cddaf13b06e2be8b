/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads that do what is measured: one on each cpu of a list, pinned,
 * started together. Also those of a run with one thread: so that the main
 * thread, which waits meanwhile, is never part of a number.
 */
#ifndef CLEARPAGES_CREW_H
#define CLEARPAGES_CREW_H

#include <stdbool.h>
#include <stdint.h>

struct crew;

/* What one run of the crew took: by the clock, first start to last end. */
struct crew_time {
	uint64_t ns;
	uint64_t delay_ns;	/* the most that one thread waited for its cpu */
	uint64_t cycles;	/* all threads, 0 if they are not counted */
};

/*
 * Prints its error line and returns an exit code, or TOOL_OK. cycles: count
 * them in every thread; a thread without a counter is an error.
 */
int crew_new(const unsigned int *cpus, unsigned int count, bool cycles, struct crew **crew);
void crew_free(struct crew *crew);

/* Can cycles be counted? TOOL_UNSUPPORTED with the error line printed if not. */
int crew_can_count(void);

unsigned int crew_count(const struct crew *crew);
const unsigned int *crew_cpus(const struct crew *crew);

/* What a counter says: perf_event_open(2), PERF_FORMAT_TOTAL_TIME_... */
struct crew_counter {
	uint64_t value;
	uint64_t enabled_ns, running_ns;
};

/*
 * What was counted from one reading to the next. False if the counter did not run
 * all of that time: there are more events than counters, and they take turns.
 */
bool crew_counted(const struct crew_counter *from, const struct crew_counter *to,
		  uint64_t *cycles);

/*
 * fn(arg, member) in every thread at once. Returns the first result that is
 * not TOOL_OK. time may be NULL; if it is not, cycles that were to be counted and
 * were not in full are TOOL_FAILED, with the error line printed.
 */
int crew_run(struct crew *crew, int (*fn)(void *arg, unsigned int member), void *arg,
	     struct crew_time *time);

/*
 * How far two cpus are apart: the median round trip of a cache line between
 * the crew's first thread and thread `other`, in ns.
 */
double crew_distance(struct crew *crew, unsigned int other);

#endif
