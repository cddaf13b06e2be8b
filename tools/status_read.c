// SPDX-License-Identifier: GPL-2.0-only
/* Reading for `clearpages status`: see status.h. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "../lib/limits.h"
#include "../lib/list.h"
#include "status.h"

/* From linux/magic.h. */
#define DEBUGFS_MAGIC 0x64626720

/* ---- lines "name value" --------------------------------------------------------- */

static const char *after_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

bool status_field(const char *text, const char *name, char *value, size_t size)
{
	const size_t length = strlen(name);

	value[0] = '\0';
	for (; *text; text = after_line(text)) {
		if (strncmp(text, name, length) || text[length] != ' ')
			continue;
		text += length + 1;
		snprintf(value, size, "%.*s", (int)strcspn(text, "\n"), text);
		return true;
	}
	return false;
}

static uint64_t number(const char *text)
{
	return isdigit((unsigned char)*text) ? strtoull(text, NULL, 10) : 0;
}

uint64_t status_count(const char *text, const char *name)
{
	char value[32];

	return status_field(text, name, value, sizeof(value)) ? number(value) : 0;
}

bool status_next(const char **at, const char *prefix, const char *suffix, char *middle,
		 size_t size, uint64_t *value)
{
	const size_t before = strlen(prefix), after = strlen(suffix);

	while (**at) {
		const char *line = *at;
		size_t name = strcspn(line, " \n");

		*at = after_line(line);
		if (line[name] != ' ' || name <= before + after || strncmp(line, prefix, before) ||
		    strncmp(line + name - after, suffix, after))
			continue;
		snprintf(middle, size, "%.*s", (int)(name - before - after), line + before);
		*value = number(line + name + 1);
		return true;
	}
	return false;
}

/* "took_2M_64us 7". Lines that are otherwise are passed over. */
bool status_next_time(const char **at, struct status_time *t)
{
	char middle[32], *from;

	while (status_next(at, "took_", "us", middle, sizeof(middle), &t->pages)) {
		from = strchr(middle, '_');
		if (!from || from == middle || !isdigit((unsigned char)from[1]))
			continue;
		*from++ = '\0';
		snprintf(t->size, sizeof(t->size), "%s", middle);
		snprintf(t->from_us, sizeof(t->from_us), "%s", from);
		return true;
	}
	return false;
}

/* ---- the module ------------------------------------------------------------------- */

static void read_blocked(struct status *s)
{
	char line[16];

	if (!module_exists(s->root, MODULE_LIVEPATCHES))
		snprintf(s->blocked, sizeof(s->blocked), "there is no %s, the kernel was built without "
			 "CONFIG_LIVEPATCH", MODULE_LIVEPATCHES);
	else if (module_line(s->root, "/proc/sys/kernel/ftrace_enabled", line, sizeof(line)) &&
		 !strcmp(line, "0"))
		snprintf(s->blocked, sizeof(s->blocked), "ftrace is off, and a livepatch needs it: "
			 "sysctl kernel.ftrace_enabled=1");
	else if (module_line(s->root, "/proc/sys/kernel/modules_disabled", line, sizeof(line)) &&
		 !strcmp(line, "1"))
		snprintf(s->blocked, sizeof(s->blocked), "sysctl kernel.modules_disabled is 1, until "
			 "the next boot");
}

/* Why a file of debugfs could not be read. */
static const char *unreadable(const char *root, ssize_t err)
{
	struct statfs fs;

	if (err == -EACCES)
		return "only root can read " MODULE_DEBUG;
	if (err == -EPERM)
		return "the kernel is locked down, and keeps debugfs shut";
	if (*root)
		return "not in the dump: " MODULE_DEBUG;
	if (!statfs("/sys/kernel/debug", &fs) && (unsigned long)fs.f_type != DEBUGFS_MAGIC)
		return "debugfs is not mounted: mount -t debugfs none /sys/kernel/debug";
	return "this kernel has no debugfs, or it gave the module no files there";
}

static void read_stats(struct status *s)
{
	ssize_t got = module_text(s->root, MODULE_DEBUG "/stats", s->stats, sizeof(s->stats));

	module_text(s->root, MODULE_DEBUG "/state", s->state, sizeof(s->state));
	if (got < 0)
		snprintf(s->no_stats, sizeof(s->no_stats), "%s", unreadable(s->root, got));
}

/* "6.12.43+deb13-amd64" is 0x060c. */
static unsigned int version(const char *release)
{
	char *end;
	unsigned long major = strtoul(release, &end, 10), minor;

	if (!isdigit((unsigned char)*release) || *end != '.' || !isdigit((unsigned char)end[1]))
		return 0;
	minor = strtoul(end + 1, NULL, 10);
	return major > 255 || minor > 255 ? 0 : (unsigned int)(major << 8 | minor);
}

void status_read(const char *root, struct status *s)
{
	memset(s, 0, sizeof(*s));
	s->root = root;
	host_read(root, &s->host);
	s->version = version(s->host.kernel);
	module_line(root, "/proc/version", s->built, sizeof(s->built));
	module_state_read(root, &s->module);
	if (s->module.transition)
		module_holders_read(root, s->module.enabled, &s->holders);
	if (s->module.loaded)
		read_stats(s);
	else
		read_blocked(s);
}

/* ---- pools ---------------------------------------------------------------------------- */

void status_pools(const struct status *s, status_pool_fn *fn, void *arg)
{
	const struct machine *m = &s->host.machine;
	struct list nodes = { 0 };
	struct limits_pool pool;
	char line[4096];
	unsigned int i, node;

	if (module_line(s->root, "/sys/devices/system/node/online", line, sizeof(line)))
		list_add(&nodes, line);
	for (i = 0; i < m->pools; i++) {
		if (limits_pool(s->root, m->pool[i], LIMITS_ANY_NODE, &pool))
			continue;
		fn(arg, m->pool[i], LIMITS_ANY_NODE, &pool);
		for (node = 0; node < LIST_MOST; node++)
			if (list_has(&nodes, node) &&
			    !limits_pool(s->root, m->pool[i], (int)node, &pool))
				fn(arg, m->pool[i], (int)node, &pool);
	}
}
