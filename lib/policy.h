/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies inside the library, and for a command that looks at another machine's dump. */
#ifndef CLEARPAGES_LIB_POLICY_H
#define CLEARPAGES_LIB_POLICY_H

#include "../include/clearpages.h"
#include "machine.h"

/*
 * clearpages_variant_get() and clearpages_policy_new() as machine m would have
 * them. A policy for another machine is to be looked at, not to zero with: its
 * variants may be instructions that this processor lacks.
 */
int variant_get_for(const struct machine *m, unsigned int i, struct clearpages_variant *variant);
int policy_new_for(const struct machine *m, const char *text, struct clearpages_policy **policy,
		   char *why, size_t why_size);

#endif
