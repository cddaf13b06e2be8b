/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every case needs: results, words without printf, random numbers, dirt. */
#ifndef CPG_TEST_UTIL_H
#define CPG_TEST_UTIL_H

#include "cpg_test.h"

bool cpg_t_same(const char *a, const char *b);

/* A bounded text: what does not fit is cut off. */
struct cpg_t_text {
	char s[256];
	size_t len;
};

void cpg_t_put(struct cpg_t_text *t, const char *s);
void cpg_t_put_bytes(struct cpg_t_text *t, const char *s, size_t len);
void cpg_t_put_num(struct cpg_t_text *t, const char *before, uint64_t n);

/* Why the result that comes next is what it is. Both return false, for `return cpg_t_why(...)`. */
bool cpg_t_why(const char *s);
bool cpg_t_why_num(const char *before, uint64_t n);

/* Report, with all the reasons given since the last report. A success has none. */
void cpg_t_result(const struct cpg_test_env *env, bool ok, const char *name);
void cpg_t_result_of(const struct cpg_test_env *env, bool ok, const char *who, const char *what);
void cpg_t_skip(const struct cpg_test_env *env, const char *name, const char *why,
		const char *which);

/* The reasons are dropped: a failure was what had to be. */
void cpg_t_forget_why(void);

/* Xorshift: the same numbers from the same seed everywhere. */
struct cpg_t_random {
	uint32_t state;
};

void cpg_t_seed(struct cpg_t_random *r, uint32_t seed);
uint32_t cpg_t_random(struct cpg_t_random *r);
/* From [0, n); n > 0. */
size_t cpg_t_below(struct cpg_t_random *r, size_t n);

/* What memory is filled with before it is zeroed. */
#define CPG_T_DIRT 0xa5

void cpg_t_dirty(void *p, size_t len);

/* The first byte of a run that is not the expected one, or NULL. */
const unsigned char *cpg_t_unlike(const void *p, size_t len, unsigned char expected);

#endif
