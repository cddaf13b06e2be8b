/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies as core wants to know them. For the library only: tools never see core. */
#ifndef CLEARPAGES_LIB_POLICY_CORE_H
#define CLEARPAGES_LIB_POLICY_CORE_H

#include "../core/cpg.h"
#include "policy.h"

struct clearpages_policy {
	struct cpg_policy core;
};

/* The policy in the handle, the default for NULL. Async-signal-safe after its first return. */
const struct cpg_policy *policy_core(const struct clearpages_policy *policy);

/*
 * What is wrong with a policy text, as one line without its newline. subject:
 * whose text it is ("policy"). Everything between the quotes is cut to a
 * bearable length, control characters become '?'.
 */
void policy_why(char *why, size_t why_size, const char *subject, const char *text,
		const struct cpg_facts *facts, const struct cpg_text_error *error);

#endif
