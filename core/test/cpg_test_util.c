/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Results, words without printf, random numbers, dirt. */
#include "cpg_test_util.h"

bool cpg_t_same(const char *a, const char *b)
{
	return strlen(a) == strlen(b) && !memcmp(a, b, strlen(a));
}

void cpg_t_put_bytes(struct cpg_t_text *t, const char *s, size_t len)
{
	while (len-- && t->len + 1 < sizeof(t->s))
		t->s[t->len++] = *s++;
	t->s[t->len] = '\0';
}

void cpg_t_put(struct cpg_t_text *t, const char *s)
{
	cpg_t_put_bytes(t, s, strlen(s));
}

void cpg_t_put_num(struct cpg_t_text *t, const char *before, uint64_t n)
{
	char digits[24];
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	cpg_t_put(t, before);
	cpg_t_put_bytes(t, digits + i, sizeof(digits) - i);
}

static struct cpg_t_text why;

bool cpg_t_why(const char *s)
{
	cpg_t_put(&why, s);
	return false;
}

bool cpg_t_why_num(const char *before, uint64_t n)
{
	cpg_t_put_num(&why, before, n);
	return false;
}

void cpg_t_forget_why(void)
{
	why.len = 0;
	why.s[0] = '\0';
}

void cpg_t_result(const struct cpg_test_env *env, bool ok, const char *name)
{
	if (ok)
		cpg_t_forget_why();
	env->report(env->arg, ok ? CPG_TEST_OK : CPG_TEST_FAILED, name, why.s);
	cpg_t_forget_why();
}

void cpg_t_result_of(const struct cpg_test_env *env, bool ok, const char *who, const char *what)
{
	struct cpg_t_text name = { .len = 0 };

	cpg_t_put(&name, who);
	cpg_t_put(&name, ": ");
	cpg_t_put(&name, what);
	cpg_t_result(env, ok, name.s);
}

void cpg_t_skip(const struct cpg_test_env *env, const char *name, const char *reason,
		const char *which)
{
	cpg_t_forget_why();
	cpg_t_why(reason);
	cpg_t_why(which);
	env->report(env->arg, CPG_TEST_SKIPPED, name, why.s);
	cpg_t_forget_why();
}

void cpg_t_seed(struct cpg_t_random *r, uint32_t seed)
{
	r->state = seed ? seed : 1;	/* from 0 xorshift never leaves 0 */
}

uint32_t cpg_t_random(struct cpg_t_random *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 17;
	r->state ^= r->state << 5;
	return r->state;
}

size_t cpg_t_below(struct cpg_t_random *r, size_t n)
{
	uint64_t x = (uint64_t)cpg_t_random(r) << 32;

	return (size_t)((x | cpg_t_random(r)) % n);
}

void cpg_t_dirty(void *p, size_t len)
{
	memset(p, CPG_T_DIRT, len);
}

const unsigned char *cpg_t_unlike(const void *p, size_t len, unsigned char expected)
{
	typedef uint64_t __attribute__((may_alias)) word;
	const unsigned char *b = p, *end = b + len;
	word eight = expected * 0x0101010101010101ull;

	for (; b < end && (uintptr_t)b % sizeof(word); b++)
		if (*b != expected)
			return b;
	while ((size_t)(end - b) >= sizeof(word) && *(const word *)(const void *)b == eight)
		b += sizeof(word);
	for (; b < end; b++)
		if (*b != expected)
			return b;
	return NULL;
}
