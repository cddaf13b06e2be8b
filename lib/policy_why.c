/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one line about a policy text that is wrong: what, where, and what was expected. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy_core.h"

#define QUOTE_TEXT 160
#define QUOTE_WORD 48

struct line {
	char *text;
	size_t size, len;
};

__attribute__((format(printf, 2, 3)))
static void add(struct line *l, const char *format, ...)
{
	va_list ap;
	int n;

	if (l->len + 1 >= l->size)
		return;
	va_start(ap, format);
	n = vsnprintf(l->text + l->len, l->size - l->len, format, ap);
	va_end(ap);
	if (n > 0)
		l->len += (size_t)n < l->size - l->len ? (size_t)n : l->size - l->len - 1;
}

static void quote(struct line *l, const char *text, size_t len, size_t most)
{
	size_t i;

	add(l, "\"");
	for (i = 0; i < len && i < most; i++) {
		unsigned char c = (unsigned char)text[i];

		add(l, "%c", c < ' ' || c == 0x7f ? '?' : c);
	}
	add(l, i < len ? "...\"" : "\"");
}

static void add_policies(struct line *l)
{
	const char *name;
	unsigned int i;

	add(l, "; expected ");
	for (i = 0; (name = cpg_policy_name_at(i, NULL)); i++)
		add(l, "%s, ", name);
	add(l, "or key=value");
}

static void add_variants(struct line *l, const struct cpg_facts *facts)
{
	const struct cpg_variant *v;
	const char *before = "; expected one of ";
	unsigned int i;

	for (i = 0; (v = cpg_variant_at(i)); i++) {
		if (!cpg_variant_usable(v, facts))
			continue;
		add(l, "%s%s", before, v->name);
		before = ", ";
	}
}

/* The word at fault; an empty one is shown with what stands before it. */
static void add_place(struct line *l, const char *text, const struct cpg_text_error *e)
{
	size_t from = e->pos;

	if (e->len || !e->pos) {
		quote(l, text + from, e->len, QUOTE_WORD);
		return;
	}
	for (from--; from && text[from - 1] != ','; from--)
		;
	add(l, "what follows ");
	quote(l, text + from, e->pos - from, QUOTE_WORD);
}

void policy_why(char *why, size_t why_size, const char *subject, const char *text,
		const struct cpg_facts *facts, const struct cpg_text_error *e)
{
	struct line l = { why, why ? why_size : 0, 0 };
	const struct cpg_variant *v;

	if (l.size)
		*why = '\0';
	add(&l, "%s ", subject);
	quote(&l, text, strlen(text), QUOTE_TEXT);
	add(&l, ": ");
	add_place(&l, text, e);
	v = e->fault == CPG_TEXT_UNUSABLE ? cpg_variant_find(text + e->pos, e->len) : NULL;
	if (v) {
		add(&l, " needs %s, which this processor lacks",
		    cpg_feature_name(v->features & ~facts->features));
		return;
	}
	add(&l, " %s", cpg_text_fault(e->fault));
	if (e->fault == CPG_TEXT_NAME)
		add_policies(&l);
	if (e->fault == CPG_TEXT_VARIANT)
		add_variants(&l, facts);
}
