/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What machine this is, from /proc and /sys below a root. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"
#include "list.h"
#include "machine.h"

/*
 * One processor's block of /proc/cpuinfo: 1.6 KiB here, 5 KiB on the longest
 * flags lines there are. The file is never read to its end: a kernel makes up
 * the text as it is read, and asks every cpu for its clock on the way.
 */
#define CPUINFO_BYTES (16 << 10)

#define LIST_BYTES 4096

/* ---- files ---------------------------------------------------------------- */

static int open_below(const char *root, const char *path)
{
	char full[PATH_MAX];
	int fd;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a dump may hold a pipe */
	return fd < 0 ? -errno : fd;
}

/* Read until `stop` is seen, and cut it off there; else to the end or size - 1 bytes. */
static int read_until(const char *root, const char *path, const char *stop, char *text,
		      size_t size)
{
	int fd = open_below(root, path), err = 0;
	size_t len = 0;
	char *end = NULL;
	ssize_t got;

	if (fd < 0)
		return fd;
	while (!end && len < size - 1) {
		got = read(fd, text + len, size - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			err = -errno;
		if (got <= 0)
			break;
		len += (size_t)got;
		end = memmem(text, len, stop, strlen(stop));
	}
	close(fd);
	if (err)
		return err;
	if (end)
		len = (size_t)(end - text);
	text[len] = '\0';
	return (int)len;
}

int machine_line(const char *root, const char *path, char *line, size_t size)
{
	return read_until(root, path, "\n", line, size);
}

int machine_number(const char *root, const char *path, uint64_t *number)
{
	char line[64], *s = line;
	uint64_t n = 0;
	int len = machine_line(root, path, line, sizeof(line));

	if (len < 0)
		return len;
	if (!strcmp(line, "max")) {
		*number = UINT64_MAX;
		return 0;
	}
	if (*s < '0' || *s > '9')
		return -EINVAL;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (n > (UINT64_MAX - 9) / 10) {
			n = UINT64_MAX;
			break;
		}
		n = n * 10 + (uint64_t)(*s - '0');
	}
	*number = n;
	return 0;
}

/* ---- the processor -------------------------------------------------------- */

/* To be shown and put in JSON: nothing but printable ASCII. */
static void copy_clean(char *to, size_t size, const char *from)
{
	size_t i;

	for (i = 0; i < size - 1 && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[i] = '\0';
}

static void read_flags(const char *flags, struct machine *m)
{
	while (*flags) {
		size_t len = strcspn(flags, " ");

		m->features |= cpg_feature_bit(flags, len);
		flags += len;
		flags += strspn(flags, " ");
	}
}

static void take_field(struct machine *m, const char *key, const char *value)
{
	if (!strcmp(key, "vendor_id"))
		copy_clean(m->vendor, sizeof(m->vendor), value);
	else if (!strcmp(key, "model name"))
		copy_clean(m->model_name, sizeof(m->model_name), value);
	else if (!strcmp(key, "microcode"))
		copy_clean(m->microcode, sizeof(m->microcode), value);
	else if (!strcmp(key, "cpu family"))
		m->family = (unsigned int)strtoul(value, NULL, 10);
	else if (!strcmp(key, "model"))
		m->model = (unsigned int)strtoul(value, NULL, 10);
	else if (!strcmp(key, "stepping"))
		m->stepping = (unsigned int)strtoul(value, NULL, 10);
	else if (!strcmp(key, "flags"))
		read_flags(value, m);
}

static void read_cpuinfo(const char *root, struct machine *m)
{
	char text[CPUINFO_BYTES], *line, *value, *rest, *end;

	if (read_until(root, "/proc/cpuinfo", "\n\n", text, sizeof(text)) < 0)
		return;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		value = strchr(line, ':');
		if (!value)
			continue;
		for (end = value; end > line && (end[-1] == '\t' || end[-1] == ' '); end--)
			;
		*end = '\0';
		value++;
		take_field(m, line, value + strspn(value, " "));
	}
}

/* ---- caches, cpus, nodes -------------------------------------------------- */

static int read_list(const char *root, const char *path, struct list *l)
{
	char line[LIST_BYTES];
	int len = machine_line(root, path, line, sizeof(line));

	if (len >= 0)
		list_add(l, line);
	return len < 0 ? len : 0;
}

/* The first cpu that is online: cpu 0 can be off, and has no caches then. */
static unsigned int read_cpus(const char *root, struct machine *m)
{
	struct list online = { 0 };
	unsigned int first = 0;

	read_list(root, "/sys/devices/system/cpu/online", &online);
	m->cpus = online.count;
	while (online.count && !list_has(&online, first))
		first++;
	return first;
}

static bool read_cache(const char *root, unsigned int cpu, unsigned int index,
		       struct machine_cache *c)
{
	char path[128], line[32];
	struct list shared = { 0 };
	uint64_t level;
	int dir = snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/",
			   cpu, index);
	size_t room = sizeof(path) - (size_t)dir;

	snprintf(path + dir, room, "level");
	if (machine_number(root, path, &level) || level > 9)
		return false;
	c->level = (unsigned int)level;
	snprintf(path + dir, room, "type");
	if (machine_line(root, path, line, sizeof(line)) < 0)
		return false;
	c->type = line[0] == 'D' ? 'd' : line[0] == 'I' ? 'i' : 'u';
	snprintf(path + dir, room, "size");
	if (machine_line(root, path, line, sizeof(line)) < 0 ||
	    cpg_size_parse(line, strlen(line), &c->bytes))
		c->bytes = 0;
	snprintf(path + dir, room, "shared_cpu_list");
	read_list(root, path, &shared);
	c->shared = shared.count;
	return true;
}

/*
 * The last-level cache is the highest level that holds data: on AMD that is
 * the instance of one core complex, not the sum that a data sheet gives. A
 * level 1 without anything behind it is a hypervisor that keeps its secrets.
 */
static void read_caches(const char *root, unsigned int cpu, struct machine *m)
{
	struct cpg_facts llc = { 0 };
	unsigned int i, level = 2;

	for (i = 0; i < MACHINE_CACHES; i++) {
		struct machine_cache *c = &m->cache[m->caches];

		if (!read_cache(root, cpu, i, c)) {
			*c = (struct machine_cache){ 0 };
			continue;
		}
		m->caches++;
		if (c->type == 'i' || !c->bytes || c->level < level)
			continue;
		level = c->level;
		llc.llc_bytes = c->bytes;
	}
	m->llc_bytes = cpg_facts_llc(&llc);
}

static void read_nodes(const char *root, struct machine *m)
{
	struct list nodes = { 0 };

	read_list(root, "/sys/devices/system/node/has_memory", &nodes);
	read_list(root, "/sys/devices/system/node/has_cpu", &nodes);
	if (!nodes.count)
		read_list(root, "/sys/devices/system/node/online", &nodes);
	m->nodes = nodes.count ? nodes.count : 1;
}

/* ---- huge pages ----------------------------------------------------------- */

/* Insert in ascending order; a 17th size would be left out. */
static unsigned int insert(uint64_t *sizes, unsigned int count, uint64_t bytes)
{
	unsigned int i = count;

	if (count == MACHINE_POOLS)
		return count;
	for (; i && sizes[i - 1] > bytes; i--)
		sizes[i] = sizes[i - 1];
	sizes[i] = bytes;
	return count + 1;
}

/* "hugepages-2048kB" to 2 MiB, 0 if it is none of those. */
static uint64_t size_of_name(const char *name)
{
	unsigned long long kib;
	int end = 0;

	if (sscanf(name, "hugepages-%13llukB%n", &kib, &end) != 1 || !end || name[end])
		return 0;
	return (uint64_t)kib << 10;
}

/* The sizes that have a directory in dir, with that file in it. */
static unsigned int read_sizes(const char *root, const char *dir, const char *file,
			       uint64_t *sizes)
{
	char path[PATH_MAX];
	unsigned int count = 0;
	struct dirent *e;
	DIR *d;

	if (snprintf(path, sizeof(path), "%s%s", root, dir) >= (int)sizeof(path))
		return 0;
	d = opendir(path);
	if (!d)
		return 0;
	while ((e = readdir(d))) {
		uint64_t bytes = size_of_name(e->d_name);

		if (bytes && snprintf(path, sizeof(path), "%s%s/%s/%s", root, dir, e->d_name,
				      file) < (int)sizeof(path) && !access(path, F_OK))
			count = insert(sizes, count, bytes);
	}
	closedir(d);
	return count;
}

static void read_huge_pages(const char *root, struct machine *m)
{
	m->pools = read_sizes(root, "/sys/kernel/mm/hugepages", "nr_hugepages", m->pool);
	/* A size without this file is for shared memory only. */
	m->thps = read_sizes(root, "/sys/kernel/mm/transparent_hugepage", "enabled", m->thp);
	if (!m->thps && !machine_number(root, "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
					&m->thp[0]))
		m->thps = 1;
}

/* ---- all of it ------------------------------------------------------------ */

void machine_read(const char *root, struct machine *m)
{
	*m = (struct machine){ 0 };
	read_cpuinfo(root, m);
	if (!*root)
		m->features = facts_executable(m->features);
	read_caches(root, read_cpus(root, m), m);
	read_nodes(root, m);
	read_huge_pages(root, m);
}

void machine_features(const struct machine *m, char *text, size_t size)
{
	size_t len = 0;
	uint32_t bit;

	if (size)
		text[0] = '\0';
	for (bit = 1; bit; bit <<= 1) {
		const char *name = (m->features & bit) ? cpg_feature_name(bit) : "";
		int n;

		if (!*name || len >= size)
			continue;
		n = snprintf(text + len, size - len, "%s%s", len ? " " : "", name);
		len += n < 0 ? 0 : (size_t)n;
	}
}
