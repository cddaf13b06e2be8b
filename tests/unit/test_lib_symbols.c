// SPDX-License-Identifier: GPL-2.0-only
/* What the shared library exports is what the header declares: no more, no less. */
#include <ctype.h>

#include "test_lib.h"

#define MOST 128

struct names {
	unsigned int count;
	char name[MOST][64];
};

static void add(struct names *n, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < n->count; i++)
		if (strlen(n->name[i]) == len && !memcmp(n->name[i], name, len))
			return;
	if (n->count < MOST && len < sizeof(n->name[0]))
		memcpy(n->name[n->count++], name, len);
}

static bool has(const struct names *n, const char *name)
{
	unsigned int i;

	for (i = 0; i < n->count; i++)
		if (!strcmp(n->name[i], name))
			return true;
	return false;
}

/* Function declarations: lines that begin with a letter and have "clearpages_x(" in them. */
static void from_header(const char *path, struct names *n)
{
	FILE *f = fopen(path, "re");
	char line[256];

	if (!f)
		die("open", path);
	while (fgets(line, sizeof(line), f)) {
		char *open = strchr(line, '('), *name = open;

		if (!open || !isalpha((unsigned char)line[0]))
			continue;
		while (name > line && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
			name--;
		if (!strncmp(name, "clearpages_", 11))
			add(n, name, (size_t)(open - name));
	}
	fclose(f);
}

/* "0000000000001130 T clearpages_zero@@CLEARPAGES_0.1" */
static bool from_library(const char *path, struct names *n, unsigned int *wrong)
{
	char command[PATH_MAX + 64], line[256], name[128];
	FILE *f;
	char type;

	snprintf(command, sizeof(command), "nm -D --defined-only '%s'", path);
	f = popen(command, "r"); /* NOLINT(cert-env33-c): a path of this build */
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		char *at;

		if (sscanf(line, "%*s %c %127s", &type, name) != 2)
			continue;
		if (type == 'A' && !strcmp(name, "CLEARPAGES_0.1"))
			continue;
		at = strchr(name, '@');
		if (type != 'T' || !at || strcmp(at, "@@CLEARPAGES_0.1")) {
			tap_note("unexpected: %s", line);
			++*wrong;
			continue;
		}
		add(n, name, (size_t)(at - name));
	}
	return !pclose(f) && n->count;
}

/* The library of this build: in a directory above that of this program. */
static bool find_library(char *path, size_t size)
{
	char *slash;
	ssize_t len = readlink("/proc/self/exe", path, size - 64);

	if (len < 0)
		return false;
	path[len] = '\0';
	while ((slash = strrchr(path, '/'))) {
		snprintf(slash, size - (size_t)(slash - path), "/libclearpages.so");
		if (!access(path, R_OK))
			return true;
		*slash = '\0';
	}
	return false;
}

int main(void)
{
	struct names header = { .count = 0 }, library = { .count = 0 };
	char path[PATH_MAX];
	unsigned int i, wrong = 0;

	if (!find_library(path, sizeof(path))) {
		tap_skip("exported symbols", "no libclearpages.so above this program");
		return tap_done();
	}
	if (system("nm --version >/dev/null 2>&1")) { /* NOLINT(cert-env33-c) */
		tap_skip("exported symbols", "no nm");
		return tap_done();
	}
	from_header(beside("../../include/", "clearpages.h"), &header);
	tap_ok(header.count >= 11, "%u functions in the header", header.count);
	tap_ok(from_library(path, &library, &wrong), "nm -D %s", path);
	tap_ok(!wrong, "%u symbols without a version, or data", wrong);
	for (i = 0; i < header.count; i++)
		tap_ok(has(&library, header.name[i]), "%s is exported", header.name[i]);
	for (i = 0; i < library.count; i++)
		if (!has(&header, library.name[i]))
			tap_ok(false, "%s is in the header", library.name[i]);
	return tap_done();
}
