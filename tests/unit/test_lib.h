/* SPDX-License-Identifier: GPL-2.0-only */
/* For the tests of lib: seeded numbers, roots made up on the spot, the roots kept here. */
#ifndef TEST_LIB_H
#define TEST_LIB_H

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

/* ---- numbers -------------------------------------------------------------- */

static uint64_t seed_state;

/* SEED in the environment repeats a run with other numbers than those of 1. */
__attribute__((unused))
static void seed(void)
{
	const char *text = getenv("SEED");

	seed_state = text ? strtoull(text, NULL, 0) : 1;
	tap_note("seed %llu", (unsigned long long)seed_state);
}

__attribute__((unused))
static uint64_t below(uint64_t n)
{
	uint64_t z = seed_state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % n;
}

/* ---- roots ---------------------------------------------------------------- */

/* A file or directory beside this one in the source tree. */
__attribute__((unused))
static const char *beside(const char *dir, const char *name)
{
	static char path[PATH_MAX];
	const char *slash = strrchr(__FILE__, '/');

	snprintf(path, sizeof(path), "%.*s%s%s", slash ? (int)(slash - __FILE__) + 1 : 0, __FILE__,
		 dir, name);
	return path;
}

__attribute__((unused))
static void die(const char *what, const char *path)
{
	printf("Bail out! %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}

/* A new, empty root below TMPDIR. */
__attribute__((unused))
static void root_new(char *root, size_t size)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(root, size, "%s/clearpages-test-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(root))
		die("mkdtemp", root);
}

/* A file below root, with all the directories that it needs. */
__attribute__((unused))
static void root_file(const char *root, const char *path, const char *text)
{
	char full[PATH_MAX], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(full, 0755) && errno != EEXIST)
			die("mkdir", full);
		*slash = '/';
	}
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		die("write", full);
}

__attribute__((unused))
static int root_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

__attribute__((unused))
static void root_remove(const char *root)
{
	nftw(root, root_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Descriptors that are open: a function that leaks one is told by the difference. */
__attribute__((unused))
static unsigned int open_files(void)
{
	unsigned int fd, count = 0;
	struct stat st;

	for (fd = 0; fd < 256; fd++)
		count += !fstat((int)fd, &st);
	return count;
}

#endif
