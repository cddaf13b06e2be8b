/* SPDX-License-Identifier: GPL-2.0-only */
/* What tests of the core need to know of this processor, without asking lib. */
#ifndef TEST_CORE_H
#define TEST_CORE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/cpg.h"

/* Features from the first flags line: it leaves out what the kernel did not enable. */
static inline struct cpg_facts test_core_facts(void)
{
	struct cpg_facts facts = { .vendor = CPG_VENDOR_OTHER };
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *word, *rest;
	size_t size = 0;

	while (f && !facts.features && getline(&line, &size, f) > 0) {
		if (strncmp(line, "flags", 5) != 0)
			continue;
		for (word = strtok_r(line, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
			facts.features |= cpg_feature_bit(word, strlen(word));
	}
	free(line);
	if (f)
		fclose(f);
	return facts;
}

#endif
