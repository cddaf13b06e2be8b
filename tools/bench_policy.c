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

static int add_units(struct bench *b, const char *function, const char *order)
{
	unsigned int i;

	for (i = 0; i < (b->unit_count ? b->unit_count : 1); i++) {
		char text[160];
		int err;

		snprintf(text, sizeof(text), "oneshot,far=%s,near=%s%s%s,unit=%llu", function,
			 function, order ? ",order=" : "", order ? order : "",
			 b->unit_count ? (unsigned long long)b->units[i] : 0ull);
		err = add(b, text, strlen(text));
		if (err)
			return err;
	}
	return TOOL_OK;
}

static int add_orders(struct bench *b, const char *function)
{
	char *orders, *rest, *order;
	int err = TOOL_OK;

	if (!b->orders)
		return add_units(b, function, NULL);
	rest = orders = strdup(b->orders);
	if (!orders)
		return fail(TOOL_FAILED, "out of memory");
	while (!err && (order = strsep(&rest, ",")))
		err = add_units(b, function, order);
	free(orders);
	return err;
}

int bench_add_matrix(struct bench *b)
{
	char *functions, *rest, *function;
	int err = TOOL_OK;

	if (!b->functions)
		return TOOL_OK;
	rest = functions = strdup(b->functions);
	if (!functions)
		return fail(TOOL_FAILED, "out of memory");
	while (!err && (function = strsep(&rest, ",")))
		err = add_orders(b, function);
	free(functions);
	return err;
}
