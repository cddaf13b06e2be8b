/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clearpages_zero() beside memset() of the C library and pmem_memset() of PMDK,
 * on huge pages that are mapped: `make bench-peers`. Two tables:
 *
 * cold: 1 GiB is dirtied, then zeroed by calls of one size, each on the next
 *	part. What a program sees that hands out or takes back memory.
 * hot: the same buffer again and again: every line of it is written, then it is
 *	zeroed, both timed, since a zeroing that throws the buffer out of the cache
 *	is paid for by the next write. What a program sees that reuses a buffer.
 */
#include <libpmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/limits.h"
#include "../tools/bench.h"

#define SPAN ((size_t)1 << 30)
#define HOT_SPAN ((size_t)64 << 20) /* bytes of a hot loop, in turns of one buffer */

enum peer { MEMSET, PMEM, AUTO, STREAM, STREAM_4K, PEERS };

static const char *const peer_names[] = {
	[MEMSET] = "memset (libc)",
	[PMEM] = "pmem_memset (PMDK, non-temporal)",
	[AUTO] = "clearpages_zero, auto",
	[STREAM] = "clearpages_zero, stream",
	[STREAM_4K] = "clearpages_zero, stream,unit=4K",
};

static const char *const peer_policies[] = {
	[AUTO] = "auto",
	[STREAM] = "stream",
	[STREAM_4K] = "stream,unit=4K",
};

struct peer_trial {
	char *base;
	const struct clearpages_policy *policy;
	enum peer peer;
	size_t call;
	bool hot;
};

static void zero(const struct peer_trial *p, char *at)
{
	if (p->peer == MEMSET)
		memset(at, 0, p->call);
	else if (p->peer == PMEM)
		pmem_memset(at, 0, p->call, PMEM_F_MEM_NONTEMPORAL);
	else
		clearpages_zero(at, p->call, p->policy);
}

static size_t hot_turns(const struct peer_trial *p)
{
	return p->call < HOT_SPAN ? HOT_SPAN / p->call : 1;
}

static int ready(void *arg, unsigned int member)
{
	struct peer_trial *p = arg;

	(void)member;
	region_dirty(p->base, p->hot ? p->call : SPAN);
	return TOOL_OK;
}

static int work(void *arg, unsigned int member)
{
	struct peer_trial *p = arg;
	size_t at, turn;

	(void)member;
	for (at = 0; at < SPAN && !p->hot; at += p->call)
		zero(p, p->base + at);
	for (turn = 0; p->hot && turn < hot_turns(p); turn++) {
		for (at = 0; at < p->call; at += 64)
			*(volatile uint64_t *)(void *)(p->base + at) = turn + 1;
		zero(p, p->base);
	}
	return TOOL_OK;
}

static int check(void *arg, unsigned int member)
{
	struct peer_trial *p = arg;
	size_t span = p->hot ? p->call : SPAN;

	(void)member;
	if (region_nonzero(p->base, span) == span)
		return TOOL_OK;
	return fail(TOOL_FAILED, "%s left bytes that are not zero", peer_names[p->peer]);
}

static void print(const struct measure *m, const struct peer_trial *p, bool hot)
{
	static const char *const columns[] = {
		">A CALL", "BY", ">GIB/S", ">STDDEV%", ">TO MEMSET", "95% INTERVAL", ">TO PMDK",
		"95% INTERVAL",
	};
	struct table *t = table_new(columns, 8);
	const struct trial *base = NULL;
	unsigned int i;

	for (i = 0; i < m->count; i++) {
		struct bench_row row, pmem;
		char call[32];

		if (p[i].peer == MEMSET)
			base = &m->trials[i];
		bench_row(m, &m->trials[i], base, p[i].call, &row);
		bench_row(m, &m->trials[i], base + PMEM, p[i].call, &pmem);
		table_row(t, (const char *[]){ size_text(p[i].call, call, sizeof(call)),
					       peer_names[p[i].peer], row.gib, row.spread, row.times,
					       row.interval, pmem.times, pmem.interval });
	}
	printf("%s\n", hot ? "\nhot: the same buffer, written (8 bytes a line) and zeroed in turns" :
			     "\ncold: each call on the next part of 1G of dirty memory");
	table_print(t);
	measure_print(m);
}

/* From which call size on is `stream` not slower than memset on a hot buffer? */
static void print_crossing(const struct measure *m, const struct peer_trial *p)
{
	const struct trial *base = NULL;
	size_t from = 0;
	char text[32];
	unsigned int i;

	for (i = 0; i < m->count; i++) {
		struct bench_row row;

		if (p[i].peer == MEMSET)
			base = &m->trials[i];
		if (p[i].peer != STREAM)
			continue;
		bench_row(m, &m->trials[i], base, p[i].call, &row);
		if (row.ratio.median < 1)
			from = 0;
		else if (!from)
			from = p[i].call;
	}
	if (from)
		printf("a hot buffer: stream is not slower than memset from %s on\n",
		       size_text(from, text, sizeof(text)));
	else
		printf("a hot buffer: memset is faster at every size here\n");
}

static int table(struct measure *m, struct peer_trial *p, struct clearpages_policy **policies,
		 char *base, bool hot)
{
	static const size_t cold_calls[] = { 4 << 10, 64 << 10, 2 << 20, 32 << 20, 1 << 30 };
	static const size_t hot_calls[] = {
		4 << 10, 64 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20,
		64 << 20, 256 << 20, 1 << 30,
	};
	const size_t *calls = hot ? hot_calls : cold_calls;
	unsigned int count = hot ? sizeof(hot_calls) / sizeof(*calls)
				 : sizeof(cold_calls) / sizeof(*calls);
	unsigned int i, peer;
	int err;

	m->count = 0;
	for (i = 0; i < count; i++) {
		for (peer = 0; peer < PEERS; peer++) {
			struct peer_trial *one = &p[m->count];
			struct trial *t = &m->trials[m->count];

			/* Under one fence: that only makes sense for one large call. */
			if (peer == STREAM_4K && (hot || calls[i] < SPAN))
				continue;
			*one = (struct peer_trial){ base, policies[peer], (enum peer)peer,
						    calls[i], hot };
			*t = (struct trial){
				.name = peer_names[peer], .ready = ready, .work = work,
				.check = check, .arg = one,
				.bytes = hot ? hot_turns(one) * one->call : SPAN,
			};
			m->count++;
		}
	}
	err = measure_run(m);
	if (!err)
		print(m, p, hot);
	if (!err && hot)
		print_crossing(m, p);
	measure_free(m);
	return err;
}

static int run(struct bench *b)
{
	struct clearpages_policy *policies[PEERS] = { NULL };
	struct peer_trial peers[64];
	struct trial trials[64];
	struct measure m = {
		.trials = trials, .rounds = b->rounds, .min_ns = b->min_ns, .seed = b->seed,
	};
	struct region region = { .base = NULL };
	struct host host;
	unsigned int i;
	int err;

	for (i = AUTO; i < PEERS; i++)
		if (clearpages_policy_new(peer_policies[i], &policies[i], NULL, 0))
			return fail(TOOL_FAILED, "no policy %s", peer_policies[i]);
	err = bench_memory(b, SPAN);
	if (!err)
		err = crew_new(b->cpus, 1, false, &m.crew);
	if (!err)
		err = region_map(&region, SPAN, b->page, b->kind, false);
	if (!err) {
		host_read("", &host);
		host_print(&host);
		err = table(&m, peers, policies, region.base, false);
	}
	if (!err)
		err = table(&m, peers, policies, region.base, true);
	region_unmap(&region);
	crew_free(m.crew);
	for (i = AUTO; i < PEERS; i++)
		clearpages_policy_free(policies[i]);
	return err;
}

int main(int argc, char **argv)
{
	struct bench b;
	int err = bench_parse(argc, argv, BENCH_MAIN, &b);

	b.page = 2 << 20;
	b.kind = REGION_HUGETLB;
	b.size = SPAN;
	if (!err)
		err = run(&b);
	reserve_release();
	bench_free(&b);
	return output_close(err < 0 ? TOOL_OK : err);
}
