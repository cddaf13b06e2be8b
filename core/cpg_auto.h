/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef CPG_AUTO_H
#define CPG_AUTO_H

#include "cpg.h"

/* The policy `auto`, by processor facts alone. */
void cpg_auto(const struct cpg_facts *facts, struct cpg_policy *policy);

#endif
