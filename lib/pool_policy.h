/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For a benchmark that compares policies on the same memory. */
#ifndef CLEARPAGES_LIB_POOL_POLICY_H
#define CLEARPAGES_LIB_POOL_POLICY_H

#include "../include/clearpages.h"

/* The policy of a pool that nobody else uses at this moment. NULL: the default. Returns 0. */
int pool_policy_set(struct clearpages_pool *pool, const struct clearpages_policy *policy);

#endif
