/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of policies, as the benchmarks take them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static int add(struct bench *b, const char *text, size_t len)
{
	struct bench_policy *more;
	char why[512], *name = strndup(text, len);
	int err;

	more = realloc(b->policies, (b->policy_count + 1) * sizeof(*more));
	if (more)
		b->policies = more;
	if (!more || !name) {
		free(name);
		return fail(TOOL_FAILED, "out of memory");
	}
	err = clearpages_policy_new(name, &more[b->policy_count].policy, why, sizeof(why));
	if (err) {
		free(name);
		return fail(err == -EOPNOTSUPP ? TOOL_UNSUPPORTED : TOOL_USAGE, "%s", why);
	}
	more[b->policy_count].function = more[b->policy_count].order = NULL;
	more[b->policy_count].unit = 0;
	more[b->policy_count++].name = name;
	return TOOL_OK;
}

/*
 * Commas separate policies and the changes to one alike. A word without '='
 * begins a policy, one with '=' changes the one before it; ';' begins a policy
 * in any case, for those that are changes only.
 */
int bench_add_policies(struct bench *b, const char *list)
{
	const char *from = list;

	for (;;) {
		size_t len = strcspn(from, ",;");
		int err;

		while (from[len] == ',') {
			size_t word = strcspn(from + len + 1, ",;");

			if (!memchr(from + len + 1, '=', word))
				break;
			len += 1 + word;
		}
		err = add(b, from, len);
		if (err)
			return err;
		if (!from[len])
			return TOOL_OK;
		from += len + 1;
	}
}

/* ---- the matrix: variants x orders x units -------------------------------------- */

static const char *const orders[] = { "forward", "right-first", "reverse", "narrow", NULL };

/* The variant's own name, which outlives the option; NULL with the error line printed. */
static const char *find_function(const char *word, int *err)
{
	struct clearpages_variant v = { .size = sizeof(v) };
	unsigned int i;

	for (i = 0; !clearpages_variant_get(i, &v); i++) {
		if (strcmp(v.name, word))
			continue;
		if (!v.lacks)
			return v.name;
		*err = fail(TOOL_UNSUPPORTED, "-f: variant %s needs %s, which this processor lacks",
			    v.name, v.lacks);
		return NULL;
	}
	*err = fail(TOOL_USAGE, "-f '%s': not a variant; expected one of 'clearpages list variants'",
		    word);
	return NULL;
}

static int add_case(struct bench *b, const char *function, const char *order, uint64_t unit)
{
	struct bench_policy *p;
	char text[160];
	int err;

	snprintf(text, sizeof(text), "oneshot,far=%s,near=%s,order=%s,unit=%llu", function,
		 function, order, (unsigned long long)unit);
	err = add(b, text, strlen(text));
	if (err)
		return err;
	p = &b->policies[b->policy_count - 1];
	p->function = function;
	p->order = order;
	p->unit = unit;
	return TOOL_OK;
}

static int add_function(struct bench *b, const char *function)
{
	char *copy = strdup(b->orders ? b->orders : orders[0]), *rest = copy, *word;
	int err = copy ? TOOL_OK : fail(TOOL_FAILED, "out of memory");
	unsigned int order, i;

	while (!err && (word = strsep(&rest, ","))) {
		err = opt_word("--order", word, orders, &order);
		if (!err && !b->unit_count)
			err = add_case(b, function, orders[order], 0);
		for (i = 0; i < b->unit_count && !err; i++)
			err = add_case(b, function, orders[order], b->units[i]);
	}
	free(copy);
	return err;
}

int bench_add_matrix(struct bench *b)
{
	char *copy, *rest, *word;
	int err = TOOL_OK;

	if (!b->functions)
		return TOOL_OK;
	rest = copy = strdup(b->functions);
	if (!copy)
		return fail(TOOL_FAILED, "out of memory");
	while (!err && (word = strsep(&rest, ","))) {
		const char *function = find_function(word, &err);

		if (function)
			err = add_function(b, function);
	}
	free(copy);
	return err;
}
