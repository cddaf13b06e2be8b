/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies: the named ones, text to policy and policy to text. */
#include "cpg.h"
#include "cpg_auto.h"

/*
 * The named policies but `auto`. The variants are those that the kernel they
 * come from would choose here; `stream` takes the best streaming one.
 */
static const struct named {
	const char *name;
	const char *what;
	bool streaming;
	struct cpg_policy shape;
} named[] = {
	{ "stock", "4 KiB at a time, narrowing in on the touch (kernels <= 6.19)", false,
	  { .batch = 4096, .unit = 4096, .order = CPG_NARROW } },
	{ "oneshot", "the whole zone in one call of a variant, never breathing", false,
	  { .order = CPG_FORWARD } },
	{ "forward", "4 KiB at a time, upwards; change unit= for the chunk study", false,
	  { .unit = 4096, .order = CPG_FORWARD } },
	{ "reverse", "4 KiB at a time, downwards; change unit= for the chunk study", false,
	  { .unit = 4096, .order = CPG_REVERSE } },
	{ "extent", "left, right, then 2 pages either side of the touch, unbroken (2023)", false,
	  { .window = 5 * CPG_GRANULE, .order = CPG_FORWARD } },
	{ "ranges", "right, left, then 2 pages either side of the touch (kernels >= 7.0)", false,
	  { .window = 5 * CPG_GRANULE, .batch = 32 << 20, .order = CPG_RIGHT_FIRST } },
	{ "stream", "all of it streaming, breathing every 64 KiB", true,
	  { .batch = 64 << 10, .order = CPG_FORWARD } },
};

#define AUTO "auto"
#define AUTO_WHAT "streaming from the size on where it pays on this processor, else ranges"

static const char *const orders[] = {
	[CPG_FORWARD] = "forward",
	[CPG_RIGHT_FIRST] = "right-first",
	[CPG_REVERSE] = "reverse",
	[CPG_NARROW] = "narrow",
};

enum key { FAR, NEAR, WINDOW, FAR_MIN, BATCH, UNIT, ORDER };

static const char *const keys[] = {
	[FAR] = "far",     [NEAR] = "near",   [WINDOW] = "window", [FAR_MIN] = "far_min",
	[BATCH] = "batch", [UNIT] = "unit",   [ORDER] = "order",
};

static const char *const faults[] = {
	[CPG_TEXT_OK] = "nothing is wrong",
	[CPG_TEXT_EMPTY] = "is empty where a policy name or key=value was expected",
	[CPG_TEXT_NAME] = "is not the name of a policy",
	[CPG_TEXT_KEY] = "is not a key; expected far, near, window, far_min, batch, unit or order",
	[CPG_TEXT_TWICE] = "is a key given twice",
	[CPG_TEXT_ORDER] = "is not an order; expected forward, right-first, reverse or narrow",
	[CPG_TEXT_VARIANT] = "is not a variant",
	[CPG_TEXT_UNUSABLE] = "is a variant that this processor lacks",
	[CPG_TEXT_SIZE] = "is not a size; expected a number with K, M, G or T perhaps",
	[CPG_TEXT_RANGE] = "is not a size that fits; expected up to 1T, in multiples of 4K (far_min: any)",
	[CPG_TEXT_LATE_NAME] = "is a name that is not the first word; expected key=value",
};

const char *cpg_text_fault(enum cpg_text_fault fault)
{
	return faults[fault];
}

const char *cpg_policy_name_at(unsigned int i, const char **what)
{
	const char *w = AUTO_WHAT, *name = AUTO;

	if (i > CPG_ARRAY_LEN(named))
		return NULL;
	if (i < CPG_ARRAY_LEN(named)) {
		name = named[i].name;
		w = named[i].what;
	}
	if (what)
		*what = w;
	return name;
}

static bool same(const char *word, const char *text, size_t len)
{
	return strlen(word) == len && !memcmp(word, text, len);
}

int cpg_policy_named(const char *name, size_t len, const struct cpg_facts *facts,
		     struct cpg_policy *policy)
{
	unsigned int i;

	if (same(AUTO, name, len)) {
		cpg_auto(facts, policy);
		return 0;
	}
	for (i = 0; i < CPG_ARRAY_LEN(named); i++) {
		if (!same(named[i].name, name, len))
			continue;
		*policy = named[i].shape;
		policy->near = named[i].streaming ? cpg_variant_streaming(facts)
						  : cpg_variant_cached(facts);
		policy->far = policy->near;
		return 0;
	}
	return -ENOENT;
}

/* ---- text to policy ------------------------------------------------------ */

struct reader {
	const struct cpg_facts *facts;
	const char *text;
	size_t pos, len;	/* the word being read, for the error */
	enum cpg_text_fault fault;
};

static int fail(struct reader *r, enum cpg_text_fault fault)
{
	r->fault = fault;
	return fault == CPG_TEXT_UNUSABLE ? -EOPNOTSUPP : -EINVAL;
}

static int read_variant(struct reader *r, const struct cpg_variant **out)
{
	const struct cpg_variant *v = cpg_variant_find(r->text + r->pos, r->len);

	if (!v)
		return fail(r, CPG_TEXT_VARIANT);
	if (!cpg_variant_usable(v, r->facts))
		return fail(r, CPG_TEXT_UNUSABLE);
	*out = v;
	return 0;
}

static int read_size(struct reader *r, size_t granule, size_t *out)
{
	uint64_t bytes;
	int err = cpg_size_parse(r->text + r->pos, r->len, &bytes);

	if (err == -EINVAL)
		return fail(r, CPG_TEXT_SIZE);
	if (err || bytes > CPG_POLICY_SIZE_MAX || bytes % granule)
		return fail(r, CPG_TEXT_RANGE);
	*out = (size_t)bytes;
	return 0;
}

static int read_order(struct reader *r, enum cpg_order *out)
{
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(orders); i++) {
		if (same(orders[i], r->text + r->pos, r->len)) {
			*out = (enum cpg_order)i;
			return 0;
		}
	}
	return fail(r, CPG_TEXT_ORDER);
}

static int read_value(struct reader *r, enum key key, struct cpg_policy *p)
{
	switch (key) {
	case FAR:
		return read_variant(r, &p->far);
	case NEAR:
		return read_variant(r, &p->near);
	case WINDOW:
		return read_size(r, CPG_GRANULE, &p->window);
	case FAR_MIN:
		return read_size(r, 1, &p->far_min);
	case BATCH:
		return read_size(r, CPG_GRANULE, &p->batch);
	case UNIT:
		return read_size(r, CPG_GRANULE, &p->unit);
	default:
		return read_order(r, &p->order);
	}
}

/* One word between commas: a name (the first only) or key=value. */
static int read_word(struct reader *r, unsigned int *seen, struct cpg_policy *p)
{
	const char *word = r->text + r->pos;
	bool first = !r->pos;
	size_t name = 0;
	unsigned int i;

	while (name < r->len && word[name] != '=')
		name++;
	if (!r->len)
		return fail(r, CPG_TEXT_EMPTY);
	if (name == r->len) {
		if (!first)
			return fail(r, CPG_TEXT_LATE_NAME);
		return cpg_policy_named(word, r->len, r->facts, p) ? fail(r, CPG_TEXT_NAME) : 0;
	}
	for (i = 0; i < CPG_ARRAY_LEN(keys) && !same(keys[i], word, name); i++)
		;
	if (i == CPG_ARRAY_LEN(keys)) {
		r->len = name;
		return fail(r, CPG_TEXT_KEY);
	}
	if (*seen & 1u << i) {
		r->len = name;
		return fail(r, CPG_TEXT_TWICE);
	}
	*seen |= 1u << i;
	r->pos += name + 1;
	r->len -= name + 1;
	return read_value(r, (enum key)i, p);
}

int cpg_policy_parse(const char *text, const struct cpg_facts *facts,
		     struct cpg_policy *policy, struct cpg_text_error *error)
{
	struct reader r = { .facts = facts, .text = text };
	struct cpg_policy p;
	unsigned int seen = 0;
	size_t next = 0;
	int err;

	cpg_auto(facts, &p);
	do {
		r.pos = next;
		r.len = 0;
		while (text[r.pos + r.len] && text[r.pos + r.len] != ',')
			r.len++;
		next = r.pos + r.len + 1;
		err = read_word(&r, &seen, &p);
	} while (!err && text[next - 1]);

	if (error)
		*error = (struct cpg_text_error){ r.fault, r.pos, r.len };
	if (!err)
		*policy = p;
	return err;
}

/* ---- policy to text ------------------------------------------------------ */

struct writer {
	char *text;
	size_t size, len;
};

static void put(struct writer *w, const char *s)
{
	for (; *s; s++, w->len++)
		if (w->len + 1 < w->size)
			w->text[w->len] = *s;
}

static void put_size(struct writer *w, const char *key, size_t bytes)
{
	static const char *const suffix[] = { "", "K", "M", "G", "T" };
	char digits[24];
	unsigned int i = sizeof(digits) - 1, s = 0;

	while (bytes && !(bytes & 1023) && s < 4) {
		bytes >>= 10;
		s++;
	}
	digits[i] = '\0';
	do {
		digits[--i] = (char)('0' + bytes % 10);
		bytes /= 10;
	} while (bytes);
	put(w, key);
	put(w, &digits[i]);
	put(w, suffix[s]);
}

int cpg_policy_format(const struct cpg_policy *p, char *text, size_t size)
{
	struct writer w = { text, size, 0 };

	put(&w, "far=");
	put(&w, p->far->name);
	put(&w, ",near=");
	put(&w, p->near->name);
	put_size(&w, ",window=", p->window);
	put_size(&w, ",far_min=", p->far_min);
	put_size(&w, ",batch=", p->batch);
	put_size(&w, ",unit=", p->unit);
	put(&w, ",order=");
	put(&w, orders[p->order]);
	if (w.len >= size) {
		if (size)
			text[0] = '\0';
		return -ERANGE;
	}
	text[w.len] = '\0';
	return (int)w.len;
}
