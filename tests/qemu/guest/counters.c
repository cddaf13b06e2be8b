// SPDX-License-Identifier: GPL-2.0-only
/* The module's counters in debugfs. */
#include <stdlib.h>
#include <string.h>

#include "module.h"

#define STATS "/sys/kernel/debug/" MODULE "/stats"

void read_counters(struct counters *c)
{
	static char text[64 << 10];
	char *line, *save = NULL, *name, *number;
	uint64_t value;

	memset(c, 0, sizeof(*c));
	if (!read_text(STATS, text, sizeof(text)))
		fail("cannot read " STATS);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct variant_counter *v = &c->variant[c->variants];

		name = line;
		number = strchr(line, ' ');
		if (!number)
			continue;
		*number++ = 0;
		value = strtoull(number, NULL, 10);
		if (!strcmp(name, "folios_64K"))
			c->folios[0] = value;
		else if (!strcmp(name, "folios_2M"))
			c->folios[1] = value;
		else if (!strcmp(name, "folios_1G"))
			c->folios[2] = value;
		else if (!strcmp(name, "bytes"))
			c->bytes = value;
		else if (!strcmp(name, "skipped"))
			c->skipped = value;
		else if (!strcmp(name, "breaths"))
			c->breaths = value;
		else if (!strncmp(name, "calls_", 6) && c->variants < MAX_VARIANTS) {
			snprintf(v->name, sizeof(v->name), "%.15s", name + 6);
			v->calls = value;
			c->calls += value;
			c->variants++;
		}
	}
}

struct counters counted(const struct counters *before, const struct counters *after)
{
	struct counters did = *after;
	unsigned int i;

	for (i = 0; i < 3; i++)
		did.folios[i] -= before->folios[i];
	did.skipped -= before->skipped;
	did.bytes -= before->bytes;
	did.breaths -= before->breaths;
	did.calls -= before->calls;
	for (i = 0; i < did.variants; i++)
		did.variant[i].calls -= before->variant[i].calls;
	return did;
}

uint64_t folios_of(const struct counters *c, const struct kind *kind)
{
	return c->folios[kind->page == GIB ? 2 : kind->page == 2 * MIB];
}

uint64_t calls_of(const struct counters *c, const char *variant)
{
	unsigned int i;

	for (i = 0; i < c->variants; i++)
		if (!strcmp(c->variant[i].name, variant))
			return c->variant[i].calls;
	return 0;
}
