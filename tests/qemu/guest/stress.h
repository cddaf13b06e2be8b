/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that fault without end, for stress.c. */
#ifndef STRESS_H
#define STRESS_H

#include "guest.h"

enum worker { HUGETLB, THP, MTHP, SHARED, FORKER, EATER, RESIZER, BEGGAR, WORKERS };

/* Starts one; it counts its rounds in *rounds (shared memory) until it is killed. */
int start_worker(enum worker worker, volatile uint64_t *rounds);
const char *worker_name(enum worker worker);

#endif
