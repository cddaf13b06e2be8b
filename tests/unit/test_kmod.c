// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of the module that are not a kernel's: what `auto` is by rates, and the
 * kernels whose callers were read.
 */
#include <stdio.h>

#define CPG_VARIANTS_MAX 16	/* a program has more of them */
#include "../../kmod/choose.c" /* NOLINT(bugprone-suspicious-include): with the word above */
#include "../../kmod/callers.h"
#include "tap.h"

static const struct cpg_facts milan = {
	.vendor = CPG_VENDOR_AMD, .family = 0x19, .model = 1,
	.features = CPG_F_REP_GOOD | CPG_F_ERMS | CPG_F_CLZERO, .llc_bytes = 32 << 20,
};
static const struct cpg_facts icelake = {
	.vendor = CPG_VENDOR_INTEL, .family = 6, .model = 0x6a,
	.features = CPG_F_REP_GOOD | CPG_F_ERMS, .llc_bytes = 48 << 20,
};

/* Rates of stosb, stosq, mov, movnti and clzero; all others, of which a kernel has none, are 0. */
struct five {
	unsigned int stosb, stosq, mov, movnti, clzero;
};

static void fill(unsigned int *rate, const struct five *f)
{
	rate[place(cpg_variant_find("stosb", 5))] = f->stosb;
	rate[place(cpg_variant_find("stosq", 5))] = f->stosq;
	rate[place(cpg_variant_find("mov", 3))] = f->mov;
	rate[place(cpg_variant_find("movnti", 6))] = f->movnti;
	rate[place(cpg_variant_find("clzero", 6))] = f->clzero;
}

static void chooses(const struct cpg_facts *facts, struct five large, struct five small,
		    const char *expected, const char *name)
{
	struct clearpages_rates rates = { { 0 }, { 0 } };
	struct clearpages_choice c;
	char text[CPG_POLICY_TEXT];

	fill(rates.large, &large);
	fill(rates.small, &small);
	clearpages_choose(facts, &rates, &c);
	cpg_policy_format(&c.policy, text, sizeof(text));
	if (strcmp(text, expected))
		tap_note("%s, expected %s", text, expected);
	tap_ok(!strcmp(text, expected), "auto: %s", name);
}

#define STREAMS(far, near, far_min) \
	"far=" far ",near=" near ",window=0,far_min=" far_min ",batch=0,unit=0,order=forward"
#define RANGES(v) "far=" v ",near=" v ",window=20K,far_min=0,batch=0,unit=0,order=right-first"

static void test_streams(void)
{
	chooses(&milan, (struct five){ 14050, 13800, 13050, 22200, 44200 },
		(struct five){ 14700, 14500, 13100, 20800, 39000 },
		STREAMS("clzero", "stosb", "64K"), "three times as fast, no window, from 64K");
	chooses(&icelake, (struct five){ 12500, 12400, 9000, 21900, 0 },
		(struct five){ 12500, 12400, 9000, 13000, 0 },
		STREAMS("movnti", "stosb", "2M"), "fast at 2M only");
	chooses(&milan, (struct five){ 1000, 1000, 1000, 1500, 1499 }, (struct five){ 0 },
		STREAMS("movnti", "stosb", "2M"), "half as fast again, and the faster of two");
	chooses(&icelake, (struct five){ 1000, 1000, 1000, 1499, 0 }, (struct five){ 0 },
		RANGES("stosb"), "not quite that");
}

/* Against the fastest, not against the kernel's own, which is kept for all else. */
static void test_best_cached(void)
{
	chooses(&icelake, (struct five){ 10000, 10000, 14000, 16000, 0 },
		(struct five){ 10000, 10000, 14000, 16000, 0 },
		RANGES("stosb"), "1.6 of the kernel's own, 1.14 of the fastest: no streaming");
	chooses(&icelake, (struct five){ 10000, 10000, 14000, 21000, 0 },
		(struct five){ 10000, 10000, 15000, 21000, 0 },
		STREAMS("movnti", "stosb", "2M"), "and the fastest small one for small extents");
	chooses(&icelake, (struct five){ 10000, 16000, 14000, 16000, 0 }, (struct five){ 0 },
		RANGES("stosq"), "another cached one that is clearly faster");
}

static void test_without(void)
{
	struct clearpages_rates none = { { 0 }, { 0 } };
	char text[CPG_POLICY_TEXT], expected[CPG_POLICY_TEXT];
	struct cpg_policy table;
	struct clearpages_choice c;

	clearpages_choose(&milan, &none, &c);
	cpg_policy_named("auto", 4, &milan, &table);
	cpg_policy_format(&table, expected, sizeof(expected));
	cpg_policy_format(&c.policy, text, sizeof(text));
	tap_ok(!c.cached && !c.streaming && !strcmp(text, expected), "auto: without rates it is core's");
	chooses(&milan, (struct five){ 1, 1, 1, UINT32_MAX, 1 }, (struct five){ 1, 1, 1, 1, 1 },
		STREAMS("movnti", "stosb", "2M"), "rates as far apart as they can be");
}

/* What a machine measures for what core's table knows too has the same shape. */
static void test_shape(void)
{
	static const struct five rates = { 14000, 14000, 14000, 40000, 44000 };
	const struct cpg_facts *both[] = { &milan, &icelake };
	struct clearpages_rates r = { { 0 }, { 0 } };
	struct clearpages_choice c;
	struct cpg_policy table;
	unsigned int i;

	fill(r.large, &rates);
	for (i = 0; i < 2; i++) {
		clearpages_choose(both[i], &r, &c);
		cpg_policy_named("auto", 4, both[i], &table);
		tap_ok(c.policy.far == table.far && c.policy.near == table.near &&
		       c.policy.window == table.window && c.policy.unit == table.unit &&
		       c.policy.order == table.order && c.percent == (i ? 285 : 314),
		       "auto: the shape of core's for %s", table.far->name);
	}
}

static void test_callers(void)
{
	static const struct { const char *version; bool read; } table[] = {
		{ "#1 SMP Debian 5.10.262-1 (2026-07-31)", true },
		{ "#1 SMP Debian 5.10.263-1 (2026-12-31)", false },
		{ "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-11-02)", true },
		{ "#1 SMP PREEMPT_DYNAMIC Debian 6.1.193-1 (2026-12-02)", false },
		{ "#1 SMP PREEMPT_DYNAMIC Debian 6.12.95-1~bpo12+1 (2026-11-02)", true },
		{ "#1 SMP PREEMPT_RT Debian 6.12.117-1 (2026-11-12)", true },
		{ "#1 SMP PREEMPT_DYNAMIC Debian 6.12.118-1 (2026-12-12)", false },
		{ "#1 SMP PREEMPT_DYNAMIC Debian 7.3.4-1~bpo13+1 (2026-11-15)", true },
		{ "#1 SMP PREEMPT_DYNAMIC Debian 6.6.11-1 (2024-01-14)", false },
		{ "#1 SMP PREEMPT_DYNAMIC Debian 6.12~rc6-1~exp1 (2024-11-10)", false },
		{ "#57-Ubuntu SMP Mon Jan 15 17:04:56 UTC 2024", false },
		{ "#1 SMP PREEMPT_DYNAMIC Wed May 1 19:11:28 UTC 2024", false },
		{ "#1 SMP PREEMPT_DYNAMIC @0", false }, { "", false }, { " Debian ", false },
		{ " Debian 6.12.4294967413-1", false }, { "Debian 6.12.117-1", false },
	};
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(table); i++)
		tap_ok(clearpages_callers_read(table[i].version) == table[i].read, "callers: %s: %s",
		       table[i].read ? "read" : "not read", table[i].version);
}

int main(void)
{
	test_streams();
	test_best_cached();
	test_without();
	test_shape();
	test_callers();
	return tap_done();
}
