/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From /proc/self/cgroup and /proc/self/mountinfo to directories. The first
 * gives a path in the hierarchy, the second says which part of the hierarchy
 * is mounted where: a container sees its own cgroup as the root of the mount
 * (and, without a cgroup namespace, still the path from the host's root).
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"

/* One hierarchy: version 2, or that of version 1 with this controller. */
struct hierarchy {
	int version;
	const char *controller;
	char path[PATH_MAX];	/* of this process, in the hierarchy */
	char dir[PATH_MAX];	/* the same, as mounted here */
	size_t top;		/* dir[0 .. top) is the mount point */
};

static FILE *open_below(const char *root, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return NULL;
	return fopen(full, "re");
}

/* Is word one of a comma-separated list? */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *at;

	for (at = list; (at = strstr(at, word)); at += len) {
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	}
	return false;
}

/* A line "4:cpu,cpuacct:/path", or "0::/path" for version 2. */
static bool take_own(char *line, struct hierarchy *h)
{
	char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

	if (!path || path[1] != '/')
		return false;
	names++;
	*path++ = '\0';
	if (h->version == 2 ? *names != '\0' : !has_word(names, h->controller))
		return false;
	return snprintf(h->path, sizeof(h->path), "%s", path) < (int)sizeof(h->path);
}

/* Spaces and the like are written as octal numbers in mountinfo. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++, to++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to = *s;
		}
	}
	*to = '\0';
}

/*
 * The part of path below `mounted`, the part of the hierarchy that a mount
 * shows; NULL if it is not below. A mount from above our cgroup namespace
 * ("/..") is an ancestor of ours whose name for us is unknown: its own limits
 * hold, so that is where the walk begins.
 */
static const char *below(const char *path, const char *mounted)
{
	size_t len = strlen(mounted);

	if (!strncmp(mounted, "/..", 3))
		return "";
	if (!strncmp(path, "/..", 3))
		return NULL;
	if (len == 1)
		return path[1] ? path : "";
	if (strncmp(path, mounted, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path + len;
}

/* A line "36 35 98:0 /part /mount/point rw,noatime shared:1 - cgroup cgroup rw,cpu". */
static bool take_mount(char *line, struct hierarchy *h)
{
	char *mounted = NULL, *point = NULL, *type, *options, *rest, *word;
	const char *inside;
	char *tail = strstr(line, " - ");
	unsigned int i;

	if (!tail)
		return false;
	*tail = '\0';
	for (i = 0, word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (++i == 4)
			mounted = word;
		else if (i == 5)
			point = word;
	}
	type = strtok_r(tail + 3, " ", &rest);
	strtok_r(NULL, " ", &rest);
	options = strtok_r(NULL, " ", &rest);
	if (!mounted || !point || !type || strcmp(type, h->version == 2 ? "cgroup2" : "cgroup"))
		return false;
	if (h->version == 1 && (!options || !has_word(options, h->controller)))
		return false;
	unescape(mounted);
	unescape(point);
	inside = below(h->path, mounted);
	if (!inside)
		return false;
	h->top = strlen(point);
	return snprintf(h->dir, sizeof(h->dir), "%s%s", point, inside) < (int)sizeof(h->dir);
}

/* The first line of a file that take() takes. */
static bool find_line(const char *root, const char *path,
		      bool (*take)(char *line, struct hierarchy *h), struct hierarchy *h)
{
	FILE *f = open_below(root, path);
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	bool found = false;

	if (!f)
		return false;
	while (!found && (len = getline(&line, &room, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		found = take(line, h);
	}
	free(line);
	fclose(f);
	return found;
}

static int climb(struct hierarchy *h, int (*each)(void *arg, const char *dir, int version),
		 void *arg)
{
	for (;;) {
		int result = each(arg, h->dir, h->version);
		char *slash = strrchr(h->dir + h->top, '/');

		if (result || !slash)
			return result;
		*slash = '\0';
	}
}

int cgroup_walk(const char *root, const char *controller,
		int (*each)(void *arg, const char *dir, int version), void *arg)
{
	int version, result = 0;

	for (version = 1; version <= 2 && !result; version++) {
		struct hierarchy h = { .version = version, .controller = controller };

		if (find_line(root, "/proc/self/cgroup", take_own, &h) &&
		    find_line(root, "/proc/self/mountinfo", take_mount, &h))
			result = climb(&h, each, arg);
	}
	return result;
}
