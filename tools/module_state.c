// SPDX-License-Identifier: GPL-2.0-only
/* The module, its livepatch, and the tasks that a transition waits for. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"

/* ---- files ------------------------------------------------------------------------ */

static int open_below(const char *root, const char *path)
{
	char full[PATH_MAX];
	int fd;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a dump may hold a pipe */
	return fd < 0 ? -errno : fd;
}

bool module_exists(const char *root, const char *path)
{
	char full[PATH_MAX];

	return snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full) &&
	       !access(full, F_OK);
}

/* What the kernel says goes to terminals and into JSON. */
static void clean(char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (text[i] != '\n' && (!isascii((unsigned char)text[i]) ||
					!isprint((unsigned char)text[i])))
			text[i] = '?';
}

ssize_t module_text(const char *root, const char *path, char *text, size_t size)
{
	int fd = open_below(root, path), err = 0;
	size_t length = 0;
	ssize_t got;

	text[0] = '\0';
	if (fd < 0)
		return fd;
	while (length < size - 1) {
		got = read(fd, text + length, size - 1 - length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			err = -errno;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	close(fd);
	if (err)
		length = 0;
	clean(text, length);
	text[length] = '\0';
	return err ? err : (ssize_t)length;
}

bool module_line(const char *root, const char *path, char *line, size_t size)
{
	if (module_text(root, path, line, size) < 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return line[0];
}

/* ---- the module ---------------------------------------------------------------------- */

static bool is_one(const char *root, const char *path)
{
	char line[8];

	return module_line(root, path, line, sizeof(line)) && !strcmp(line, "1");
}

void module_state_read(const char *root, struct module_state *s)
{
	memset(s, 0, sizeof(*s));
	s->loaded = module_exists(root, MODULE_SYS "/initstate");
	s->livepatch = module_exists(root, MODULE_LIVEPATCH "/enabled");
	s->enabled = is_one(root, MODULE_LIVEPATCH "/enabled");
	s->transition = is_one(root, MODULE_LIVEPATCH "/transition");
	module_line(root, MODULE_SYS "/version", s->version, sizeof(s->version));
	module_line(root, MODULE_PARAMETERS "policy", s->policy, sizeof(s->policy));
	module_line(root, MODULE_PARAMETERS "budget_us", s->budget_us, sizeof(s->budget_us));
	module_line(root, MODULE_PARAMETERS "skip_zeroed", s->skip_zeroed,
		    sizeof(s->skip_zeroed));
}

/* ---- the tasks ------------------------------------------------------------------------- */

/* state: what patch_state has of a task that is not done; it is -1 outside of transitions. */
static void look_at(const char *root, const char *task, const char *state,
		    struct module_holders *h)
{
	char path[PATH_MAX], line[16];
	struct module_holder *one = &h->task[h->shown];
	ssize_t got;

	snprintf(path, sizeof(path), "%s/patch_state", task);
	got = module_text(root, path, line, sizeof(line));
	if (got == -EACCES || got == -EPERM)
		h->refused = true;
	line[strcspn(line, "\n")] = '\0';
	if (got <= 0 || strcmp(line, state))
		return;
	h->total++;
	if (h->shown == MODULE_HOLDERS)
		return;
	h->shown++;
	one->tid = (unsigned int)strtoul(strrchr(task, '/') + 1, NULL, 10);
	snprintf(path, sizeof(path), "%s/comm", task);
	module_line(root, path, one->comm, sizeof(one->comm));
}

static DIR *open_folder(const char *root, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return NULL;
	return opendir(full);
}

/* Threads have states of their own. */
static void look_at_threads(const char *root, const char *process, const char *state,
			    struct module_holders *h)
{
	char folder[64], task[64 + 16];
	struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof(folder), "/proc/%.16s/task", process);
	dir = open_folder(root, folder);
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(task, sizeof(task), "%s/%.14s", folder, entry->d_name);
		look_at(root, task, state, h);
	}
	if (dir)
		closedir(dir);
}

static int by_tid(const void *a, const void *b)
{
	const struct module_holder *left = a, *right = b;

	return (left->tid > right->tid) - (left->tid < right->tid);
}

void module_holders_read(const char *root, bool enabled, struct module_holders *h)
{
	DIR *dir = open_folder(root, "/proc");
	struct dirent *entry;

	memset(h, 0, sizeof(*h));
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			look_at_threads(root, entry->d_name, enabled ? "0" : "1", h);
	if (dir)
		closedir(dir);
	/* A dump's folders are in no order. */
	qsort(h->task, h->shown, sizeof(h->task[0]), by_tid);
}

const char *module_holders_text(const struct module_holders *h, char *text, size_t size)
{
	size_t used = 0;
	unsigned int i;

	if (!h->total) {
		snprintf(text, size, "%s", h->refused ?
			 "tasks that only root can see" :
			 "no task that /proc shows, perhaps a cpu that is busy or idle in the kernel");
		return text;
	}
	for (i = 0; i < h->shown && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u (%s)", i ? ", " : "",
					 h->task[i].tid, h->task[i].comm);
	if (h->total > h->shown && used < size)
		snprintf(text + used, size - used, " and %u more", h->total - h->shown);
	return text;
}
