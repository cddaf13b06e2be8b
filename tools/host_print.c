// SPDX-License-Identifier: GPL-2.0-only
/* The host sheet for people and for programs: see host.h. */
#include <stdio.h>
#include <string.h>

#include "host.h"
#include "output.h"
#include "tool.h"

/* Is that the size of a cache of this machine, or one that was assumed or clamped? */
static bool llc_seen(const struct machine *m)
{
	unsigned int i;

	for (i = 0; i < m->caches; i++)
		if (m->cache[i].type != 'i' && m->cache[i].bytes == m->llc_bytes)
			return true;
	return false;
}

static const char *or_unknown(const char *text)
{
	return *text ? text : "unknown";
}

void host_print(const struct host *h)
{
	const struct machine *m = &h->machine;
	char features[256], cpus[16] = "unknown", memory[16] = "unknown", llc[16];

	machine_features(m, features, sizeof(features));
	if (m->cpus)
		snprintf(cpus, sizeof(cpus), "%u", m->cpus);
	if (h->memory_bytes)
		size_text(h->memory_bytes, memory, sizeof(memory));
	printf("Processor:   %s\n", or_unknown(m->model_name));
	if (*m->vendor)
		printf("             %s family %u model %u stepping %u, microcode %s\n", m->vendor,
		       m->family, m->model, m->stepping, or_unknown(m->microcode));
	printf("Features:    %s\n", *features ? features : "none seen of those that matter here");
	printf("Cpus:        %s, nodes: %u\n", cpus, m->nodes);
	printf("Memory:      %s\n", memory);
	printf("Last cache:  %s%s\n", size_text(m->llc_bytes, llc, sizeof(llc)),
	       llc_seen(m) ? "" : " (assumed)");
	printf("Hypervisor:  %s\n", *h->hypervisor ? h->hypervisor : "none seen");
	printf("Governor:    %s\n", *h->governor ? h->governor : "none seen");
	printf("Kernel:      %s\n", or_unknown(h->kernel));
	printf("Preemption:  %s\n", or_unknown(h->preemption));
	printf("THP:         %s\n", *h->thp ? h->thp : "none seen");
	printf("Zeroing:     init_on_alloc %s\n", h->init_on_alloc);
	printf("Policy:      %s\n", or_unknown(h->policy));
}

/* A new array, or NULL. */
static json_t *json_words(const char *line)
{
	json_t *array = json_array();

	while (array && *(line += strspn(line, " "))) {
		size_t length = strcspn(line, " ");

		json_array_append_new(array, json_stringn(line, length));
		line += length;
	}
	return array;
}

static json_t *json_bytes(const uint64_t *bytes, unsigned int count)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; array && i < count; i++)
		json_array_append_new(array, json_integer(json_count(bytes[i])));
	return array;
}

static json_t *json_caches(const struct machine *m)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; array && i < m->caches; i++) {
		const struct machine_cache *c = &m->cache[i];

		json_array_append_new(array, json_pack("{s:i, s:s, s:I, s:i}",
			"level", (int)c->level,
			"type", c->type == 'd' ? "data" : c->type == 'i' ? "instruction" : "unified",
			"size_bytes", json_count(c->bytes),
			"shared_cpus", (int)c->shared));
	}
	return array;
}

/* What is not known is null, not an empty string. */
static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

json_t *host_json(const struct host *h)
{
	const struct machine *m = &h->machine;
	char features[256];

	machine_features(m, features, sizeof(features));
	return json_pack("{s:{s:s?, s:s?, s:I, s:I, s:I, s:s?, s:o}, s:i, s:i, s:o, s:I, s:o, s:o,"
			 " s:o, s:s?, s:s?, s:s?, s:s, s:s?, s:s?, s:s?}",
			 "processor",
			 "vendor", or_null(m->vendor),
			 "model_name", or_null(m->model_name),
			 "family", json_count(m->family),
			 "model", json_count(m->model),
			 "stepping", json_count(m->stepping),
			 "microcode", or_null(m->microcode),
			 "features", json_words(features),
			 "cpus", (int)m->cpus,
			 "nodes", (int)m->nodes,
			 "caches", json_caches(m),
			 "llc_bytes", json_count(m->llc_bytes),
			 "memory_bytes", h->memory_bytes ? json_integer(json_count(h->memory_bytes))
						: json_null(),
			 "hugetlb_page_bytes", json_bytes(m->pool, m->pools),
			 "thp_page_bytes", json_bytes(m->thp, m->thps),
			 "kernel", or_null(h->kernel),
			 "preemption", or_null(h->preemption),
			 "thp", or_null(h->thp),
			 "init_on_alloc", h->init_on_alloc,
			 "governor", or_null(h->governor),
			 "hypervisor", or_null(h->hypervisor),
			 "policy", or_null(h->policy));
}
