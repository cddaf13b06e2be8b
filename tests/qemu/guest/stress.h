/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that fault without end, while something else happens. */
#ifndef STRESS_H
#define STRESS_H

#include <sys/types.h>

#include "guest.h"

/* ---- workers.c -------------------------------------------------------------- */

enum worker { HUGETLB, THP, MTHP, SHARED, FORKER, EATER, RESIZER, BEGGAR, WORKERS };

/*
 * Starts one; it counts its rounds in *rounds (shared memory) until it is killed.
 * `turn`: another one gives it other random numbers.
 */
int start_worker(enum worker worker, unsigned int turn, volatile uint64_t *rounds);
const char *worker_name(enum worker worker);
/* A round of the forker with pages of that kind, of which the parent may not look at its own. */
void fork_round(const struct kind *kind, bool parent_looks);

/* ---- crew.c ----------------------------------------------------------------- */

struct crew {
	pid_t pid[WORKERS];
	volatile uint64_t *rounds;	/* WORKERS */
	bool hungry;
	unsigned int started, robbed;
};

/* All that this kernel has a use for; those that take memory and pages away if hungry. */
void start_crew(struct crew *crew, bool hungry);
/* Ends the check if one of them ended; who was killed for memory is started again. */
void look_after(struct crew *crew);
/* Looks after them until some have made another round. */
void crew_goes_on(struct crew *crew);
/* Ends the check if one has never made a round. */
void end_crew(struct crew *crew);

#endif
