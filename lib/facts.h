/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A machine as core wants to know it. For the library only: tools never see core. */
#ifndef CLEARPAGES_LIB_FACTS_H
#define CLEARPAGES_LIB_FACTS_H

#include "../core/cpg.h"
#include "machine.h"

void facts_of(const struct machine *m, struct cpg_facts *facts);

/* This machine, looked at once. */
const struct cpg_facts *facts_here(void);

/*
 * Of those features, the ones whose instructions this process can execute.
 * /proc/cpuinfo speaks for the host: valgrind, rr and others run a process on
 * it that gets a cpuid, and a set of instructions, of their own.
 */
uint32_t facts_executable(uint32_t features);

#endif
