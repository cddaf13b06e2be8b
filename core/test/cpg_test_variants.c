/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every variant that runs here, on every alignment. */
#include "cpg_test_cases.h"
#include "cpg_test_variants.h"

#define ALIGNMENTS 64
#define SHORTEST_LONG 512
#define ALL_ALIGNMENTS_TO (64 << 10)
#define LONGEST (4 << 20)
#define SAMPLES 8

/* Neighbours that are looked at: two lines. What writes wilder than that meets a guard page. */
#define MARGIN 128

static void apply(const struct cpg_variant *v, enum cpg_t_how how, unsigned char *at, size_t len)
{
	struct cpg_policy p = { .far = v, .near = v };

	if (how == CPG_T_ENGINE) {
		cpg_clear(at, len, CPG_NO_TOUCH, &p, NULL, NULL);
		return;
	}
	v->zero(at, len);
	if (v->fence)
		v->fence();
}

static bool differs(const struct cpg_variant *v, const unsigned char *at, size_t len,
		    const unsigned char *where)
{
	bool before = where < at;

	cpg_t_why(v->name);
	cpg_t_why_num(" on ", len);
	cpg_t_why_num(" bytes at ...", (uintptr_t)at % CPG_GRANULE);
	cpg_t_why_num(before ? ": byte -" : ": byte ", (size_t)(before ? at - where : where - at));
	return cpg_t_why_num(" is ", *where);
}

static bool zeroes(const struct cpg_test_env *env, const struct cpg_variant *v,
		   enum cpg_t_how how, unsigned char *at, size_t len)
{
	unsigned char *lo = env->buffer, *hi = lo + env->size;
	const unsigned char *wrong;

	if (how == CPG_T_BARE && (!len || len % v->align || (uintptr_t)at % v->align))
		return true;
	if (at - lo > MARGIN)
		lo = at - MARGIN;
	if (hi - (at + len) > MARGIN)
		hi = at + len + MARGIN;
	cpg_t_dirty(lo, (size_t)(hi - lo));
	apply(v, how, at, len);

	wrong = cpg_t_unlike(lo, (size_t)(at - lo), CPG_T_DIRT);
	if (!wrong)
		wrong = cpg_t_unlike(at, len, 0);
	if (!wrong)
		wrong = cpg_t_unlike(at + len, (size_t)(hi - (at + len)), CPG_T_DIRT);
	return wrong ? differs(v, at, len, wrong) : true;
}

/* Away from the start of the buffer and, the other way round, from its end. */
static bool zeroes_at(const struct cpg_test_env *env, const struct cpg_variant *v,
		      enum cpg_t_how how, size_t away, size_t len)
{
	unsigned char *start = env->buffer;

	return zeroes(env, v, how, start + away, len) &&
	       zeroes(env, v, how, start + env->size - away - len, len);
}

bool cpg_t_zeroes_short(const struct cpg_test_env *env, const struct cpg_variant *v,
			enum cpg_t_how how)
{
	size_t away, len;

	for (away = 0; away < ALIGNMENTS; away++)
		for (len = 0; len <= 300; len++)
			if (!zeroes_at(env, v, how, away, len))
				return false;
	return true;
}

static bool around(const struct cpg_test_env *env, const struct cpg_variant *v,
		   enum cpg_t_how how, size_t away, size_t power)
{
	static const int off[] = { -65, -64, -63, -8, -1, 0, 1, 8, 63, 64, 65 };
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(off); i++)
		if (!zeroes_at(env, v, how, away, power + (size_t)off[i]))
			return false;
	return true;
}

bool cpg_t_zeroes_long(const struct cpg_test_env *env, const struct cpg_variant *v,
		       enum cpg_t_how how)
{
	struct cpg_t_random r;
	size_t power, away;
	unsigned int i;

	for (power = SHORTEST_LONG; power <= ALL_ALIGNMENTS_TO; power *= 2)
		for (away = 0; away < ALIGNMENTS; away++)
			if (!around(env, v, how, away, power))
				return false;

	cpg_t_seed(&r, env->seed);
	for (; power <= LONGEST; power *= 2) {
		for (i = 0; i < SAMPLES; i++) {
			/* Multiples of its alignment, or the bare one would be run seldom. */
			away = cpg_t_below(&r, ALIGNMENTS);
			if (how == CPG_T_BARE)
				away -= away % v->align;
			if (!around(env, v, how, away, power))
				return false;
		}
	}
	return true;
}

static void variants(const struct cpg_test_env *env, enum cpg_t_how how)
{
	const char *what[2] = { "0 to 300 bytes", "around powers of two to 4 MiB" };
	const struct cpg_variant *v;
	struct cpg_t_text name;
	unsigned int i, k;

	for (i = 0; (v = cpg_variant_at(i)); i++) {
		for (k = 0; k < 2; k++) {
			name.len = 0;
			cpg_t_put(&name, v->name);
			cpg_t_put(&name, how == CPG_T_BARE ? " bare: " : " by the engine: ");
			cpg_t_put(&name, what[k]);
			if (!cpg_variant_usable(v, env->facts))
				cpg_t_skip(env, name.s, "this processor lacks ",
					   cpg_feature_name(v->features & ~env->facts->features));
			else if (k)
				cpg_t_result(env, cpg_t_zeroes_long(env, v, how), name.s);
			else
				cpg_t_result(env, cpg_t_zeroes_short(env, v, how), name.s);
		}
	}
}

void cpg_test_variants_bare(const struct cpg_test_env *env)
{
	variants(env, CPG_T_BARE);
}

void cpg_test_variants_engine(const struct cpg_test_env *env)
{
	variants(env, CPG_T_ENGINE);
}
