/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Variants and policies as the public header has them, and the default policy. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "facts.h"
#include "policy_core.h"

#define ENVIRONMENT "CLEARPAGES_POLICY"

/* ---- variants ------------------------------------------------------------- */

static int variant_get(const struct cpg_facts *facts, unsigned int i,
		       struct clearpages_variant *variant)
{
	const struct cpg_variant *v = cpg_variant_at(i);
	struct clearpages_variant ours = { 0 };
	uint32_t lacks;

	if (!api_size_known(variant->size, sizeof(ours)))
		return -EINVAL;
	if (!v)
		return -ENOENT;
	lacks = v->features & ~facts->features;
	ours.name = v->name;
	ours.what = v->what;
	ours.lacks = lacks ? cpg_feature_name(lacks) : NULL;
	ours.streaming = v->kind == CPG_STREAMING;
	api_struct_out(variant, sizeof(ours), sizeof(ours), &ours);
	return 0;
}

int variant_get_for(const struct machine *m, unsigned int i, struct clearpages_variant *variant)
{
	struct cpg_facts facts;

	facts_of(m, &facts);
	return variant_get(&facts, i, variant);
}

API int clearpages_variant_get(unsigned int i, struct clearpages_variant *variant)
{
	return variant_get(facts_here(), i, variant);
}

/* ---- policies ------------------------------------------------------------- */

static int parse(const struct cpg_facts *facts, const char *subject, const char *text,
		 struct cpg_policy *policy, char *why, size_t why_size)
{
	struct cpg_text_error error;
	int err = cpg_policy_parse(text, facts, policy, &error);

	if (err)
		policy_why(why, why_size, subject, text, facts, &error);
	else if (why && why_size)
		*why = '\0';
	return err;
}

static int policy_new(const struct cpg_facts *facts, const char *text,
		      struct clearpages_policy **policy, char *why, size_t why_size)
{
	struct clearpages_policy parsed;
	int err = parse(facts, "policy", text, &parsed.core, why, why_size);

	*policy = NULL;
	if (err)
		return err;
	*policy = malloc(sizeof(parsed));
	if (!*policy) {
		if (why && why_size)
			snprintf(why, why_size, "no memory for a policy");
		return -ENOMEM;
	}
	**policy = parsed;
	return 0;
}

int policy_new_for(const struct machine *m, const char *text, struct clearpages_policy **policy,
		   char *why, size_t why_size)
{
	struct cpg_facts facts;

	facts_of(m, &facts);
	return policy_new(&facts, text, policy, why, why_size);
}

API int clearpages_policy_new(const char *text, struct clearpages_policy **policy, char *why,
			      size_t why_size)
{
	return policy_new(facts_here(), text, policy, why, why_size);
}

API void clearpages_policy_free(struct clearpages_policy *policy)
{
	free(policy);
}

API const char *clearpages_policy_name(unsigned int i, const char **what)
{
	return cpg_policy_name_at(i, what);
}

_Static_assert(CLEARPAGES_POLICY_TEXT >= CPG_POLICY_TEXT, "room for any policy");

API int clearpages_policy_text(const struct clearpages_policy *policy, char *text, size_t size)
{
	return cpg_policy_format(policy_core(policy), text, size);
}

/* ---- the default ---------------------------------------------------------- */

/* Written once, before anyone reads it. */
static struct {
	struct cpg_policy policy;
	int err;
	char why[512];
} fallback;

static void resolve(void)
{
	const struct cpg_facts *facts = facts_here();
	/* NULL in a set-user-ID program: its caller has no say in how it behaves. */
	const char *text = secure_getenv(ENVIRONMENT);

	if (text && *text)
		fallback.err = parse(facts, ENVIRONMENT, text, &fallback.policy, fallback.why,
				     sizeof(fallback.why));
	if (!text || !*text || fallback.err)
		cpg_policy_named("auto", strlen("auto"), facts, &fallback.policy);
}

static void resolve_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, resolve);
}

const struct cpg_policy *policy_core(const struct clearpages_policy *policy)
{
	if (policy)
		return &policy->core;
	resolve_once();
	return &fallback.policy;
}

API int clearpages_policy_default(char *why, size_t why_size)
{
	resolve_once();
	if (why && why_size)
		snprintf(why, why_size, "%s", fallback.why);
	return fallback.err;
}

/* ---- sizes ---------------------------------------------------------------- */

API int clearpages_size_parse(const char *text, uint64_t *bytes)
{
	return cpg_size_parse(text, strlen(text), bytes);
}
