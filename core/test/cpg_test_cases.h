/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cases, for the table only. */
#ifndef CPG_TEST_CASES_H
#define CPG_TEST_CASES_H

#include "cpg_test.h"

void cpg_test_planted_variants(const struct cpg_test_env *env);
void cpg_test_planted_orders(const struct cpg_test_env *env);
void cpg_test_variants_bare(const struct cpg_test_env *env);
void cpg_test_variants_engine(const struct cpg_test_env *env);
void cpg_test_orders_literal(const struct cpg_test_env *env);
void cpg_test_orders_named(const struct cpg_test_env *env);
void cpg_test_orders_random(const struct cpg_test_env *env);
void cpg_test_edges(const struct cpg_test_env *env);
void cpg_test_counts(const struct cpg_test_env *env);
void cpg_test_breathing(const struct cpg_test_env *env);
void cpg_test_fences(const struct cpg_test_env *env);
void cpg_test_far_min(const struct cpg_test_env *env);
void cpg_test_tally(const struct cpg_test_env *env);
void cpg_test_text_round(const struct cpg_test_env *env);
void cpg_test_text_changes(const struct cpg_test_env *env);
void cpg_test_text_faults(const struct cpg_test_env *env);
void cpg_test_text_fuzz(const struct cpg_test_env *env);
void cpg_test_sizes(const struct cpg_test_env *env);
void cpg_test_facts(const struct cpg_test_env *env);
void cpg_test_auto(const struct cpg_test_env *env);

#endif
