/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of cases. The planted come first: a checker that catches nothing proves nothing. */
#include "cpg_test.h"
#include "cpg_test_cases.h"

static const struct cpg_test_case cases[] = {
	{ "planted variants", cpg_test_planted_variants },
	{ "planted orders", cpg_test_planted_orders },
	{ "variants, bare", cpg_test_variants_bare },
	{ "variants, by the engine", cpg_test_variants_engine },
	{ "orders, word for word", cpg_test_orders_literal },
	{ "orders, named policies", cpg_test_orders_named },
	{ "orders, random policies", cpg_test_orders_random },
	{ "edges", cpg_test_edges },
	{ "counts", cpg_test_counts },
	{ "breathing", cpg_test_breathing },
	{ "fences", cpg_test_fences },
	{ "far_min", cpg_test_far_min },
	{ "tally", cpg_test_tally },
	{ "policy text, round trip", cpg_test_text_round },
	{ "policy text, changes", cpg_test_text_changes },
	{ "policy text, faults", cpg_test_text_faults },
	{ "policy text, fuzz", cpg_test_text_fuzz },
	{ "sizes", cpg_test_sizes },
	{ "facts", cpg_test_facts },
	{ "auto", cpg_test_auto },
};

const struct cpg_test_case *cpg_test_case_at(unsigned int i)
{
	return i < CPG_ARRAY_LEN(cases) ? &cases[i] : NULL;
}
