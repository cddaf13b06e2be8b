/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How things are measured here: all of them in one run, in rounds, each round
 * in a new random order; the first round is thrown away (the hypervisor may
 * still be finding the memory); a sample repeats its loop until it has been
 * timed for min_ns; one that somebody disturbed is taken again.
 */
#ifndef CLEARPAGES_MEASURE_H
#define CLEARPAGES_MEASURE_H

#include <jansson.h>
#include <stdint.h>

#include "crew.h"
#include "noise.h"
#include "stats.h"

struct sample {
	uint64_t bytes, ns, cycles;
	unsigned int loops;
	unsigned int rejected;	/* tries before this one that were thrown away */
	unsigned int noise;	/* bits of noise.h that the last try still had */
	double distance_ns;	/* the farthest two of the threads' cpus, 0 for one thread */
};

/*
 * What is measured. Each function runs in every thread of the crew; they
 * return an exit code, with the error line printed. ready and check are not
 * timed; either may be NULL.
 */
struct trial {
	const char *name;	/* for progress */
	int (*ready)(void *arg, unsigned int member);
	int (*work)(void *arg, unsigned int member);
	int (*check)(void *arg, unsigned int member);
	void *arg;
	uint64_t bytes;		/* that one loop makes ready, all threads together */
	unsigned int most_loops; /* of a sample, however short they are; 0: no limit */
	struct sample *samples;	/* measure->rounds of them, by measure_run() */
};

struct measure {
	struct trial *trials;
	unsigned int count;
	struct crew *crew;
	unsigned int rounds;	/* measure_run() lowers it where the budget is used up */
	uint64_t min_ns;
	uint64_t budget_ns;	/* after that no further round is begun, if six are done; 0: none */
	uint64_t seed;
	/* filled in: */
	unsigned int taken;			/* samples kept */
	unsigned int rejected[NOISE_KINDS];	/* tries thrown away, by reason */
	unsigned int noisy;			/* samples kept although the last try was disturbed */
	double distance_low_ns, distance_high_ns;
};

int measure_run(struct measure *m);
void measure_free(struct measure *m);

/* Bytes per second of a trial's samples; the caller frees. */
double *measure_rates(const struct measure *m, const struct trial *t);

/* "cpu 0, 40 samples; 3 thrown away: ...": one or two lines on stdout. */
void measure_print(const struct measure *m);

/* The same, and the samples of a trial, for --json. */
json_t *measure_json(const struct measure *m);
json_t *measure_samples_json(const struct measure *m, const struct trial *t);

#endif
