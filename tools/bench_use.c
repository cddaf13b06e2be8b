// SPDX-License-Identifier: GPL-2.0-only
/* bench fault: which page a program goes to next, and what it does there, timed with the fault. */
#include <string.h>

#include "bench.h"
#include "random.h"

#define FIRST ((size_t)16 << 10)
#define BYTES_PER_RANDOM_WRITE 1024 /* 2048 writes to a page of 2 MiB */

static size_t first_words(size_t page)
{
	return (page < FIRST ? page : FIRST) / 8;
}

void bench_use(enum use use, char *base, size_t page, uint64_t seed)
{
	volatile uint64_t *w = (uint64_t *)(void *)base;
	size_t i, count = use == USE_FIRST ? first_words(page) : page / 8;

	switch (use) {
	case USE_FIRST:
	case USE_WRITE:
		for (i = 0; i < count; i++)
			w[i] = BENCH_MARK;
		break;
	case USE_READ:
		for (i = 0; i < count; i++)
			(void)w[i];
		break;
	case USE_RANDOM:
		for (i = 0; i < page / BYTES_PER_RANDOM_WRITE; i++)
			w[random_below(&seed, count)] = BENCH_MARK;
		break;
	default:
		break;
	}
}

/*
 * A permutation that needs no memory and some ns: each line of it is one of the
 * numbers below a power of two, and what is not below count goes round again.
 */
static size_t permute(size_t i, size_t count, uint64_t seed)
{
	uint64_t keys = seed, a = random_next(&keys) | 1, b = random_next(&keys) | 1;
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(count - 1), half = (bits + 1) / 2;
	uint64_t mask = UINT64_MAX >> (64 - bits);

	do {
		i = (i * a + b) & mask;
		i ^= i >> half;
		i = (i * b + a) & mask;
		i ^= i >> half;
	} while (i >= count);
	return i;
}

size_t bench_walk(const struct bench *b, size_t step, size_t count)
{
	switch (b->walk) {
	case WALK_REVERSE:
		return count - 1 - step;
	case WALK_RANDOM:
		return count > 1 ? permute(step, count, b->seed) : 0;
	default:
		return step;
	}
}

/* Looked at first and zeroed after that: some words were written twice. */
static bool take_back(uint64_t *w, size_t page, uint64_t seed)
{
	size_t i, count = page / 8;
	uint64_t again = seed;
	bool right = true;

	for (i = 0; i < page / BYTES_PER_RANDOM_WRITE; i++)
		right &= w[random_below(&seed, count)] == BENCH_MARK;
	for (i = 0; i < page / BYTES_PER_RANDOM_WRITE; i++)
		w[random_below(&again, count)] = 0;
	return right;
}

bool bench_unuse(enum use use, char *base, size_t page, uint64_t seed)
{
	uint64_t *w = (uint64_t *)(void *)base;
	size_t i, count = use == USE_FIRST ? first_words(page) : page / 8;
	bool right = true;

	for (i = 0; i < count && (use == USE_FIRST || use == USE_WRITE); i++) {
		right &= w[i] == BENCH_MARK;
		w[i] = 0;
	}
	return use == USE_RANDOM ? take_back(w, page, seed) : right;
}
