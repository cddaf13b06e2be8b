/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The test cases of core/, the same in a program and in a kernel module: they
 * use nothing but cpg_port.h, take their memory from the caller and report to
 * it. They keep state in static variables: one case at a time.
 */
#ifndef CPG_TEST_H
#define CPG_TEST_H

#include "../cpg.h"

/* What buffer has to hold: 4 MiB and a line at any alignment, with neighbours. */
#define CPG_TEST_BUFFER (((size_t)4 << 20) + (64 << 10))

enum cpg_test_result {
	CPG_TEST_OK,
	CPG_TEST_FAILED,
	CPG_TEST_SKIPPED,	/* cannot run here: says nothing about the code */
};

/*
 * buffer: page aligned, size a multiple of the page and at least
 *	CPG_TEST_BUFFER. Variants are run flush with both of its ends: inaccessible
 *	pages before and behind it catch what the neighbouring bytes cannot.
 * facts: of this processor. Variants that it lacks are skipped by name.
 * seed: of everything random.
 * report: called for each result; why is what failed and with which
 *	parameters, or why it was skipped, else "". The strings do not outlive
 *	the call.
 */
struct cpg_test_env {
	void *buffer;
	size_t size;
	const struct cpg_facts *facts;
	uint32_t seed;
	void (*report)(void *arg, enum cpg_test_result result, const char *name, const char *why);
	void *arg;
};

/*
 * A case reports one or more results. Where variants are run, the caller owns
 * the vector registers if the build has CPG_HAVE_VECTOR.
 */
struct cpg_test_case {
	const char *name;
	void (*run)(const struct cpg_test_env *env);
};

/* Case i, or NULL after the last. */
const struct cpg_test_case *cpg_test_case_at(unsigned int i);

#endif
