/* SPDX-License-Identifier: GPL-2.0-only */
/* A seeded generator (splitmix64): the same seed gives the same run on any libc. */
#ifndef CLEARPAGES_RANDOM_H
#define CLEARPAGES_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0 .. below - 1; the bias of below / 2^64 is of no matter here. */
static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
	return (uint64_t)((unsigned __int128)random_next(state) * below >> 64);
}

#endif
