// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module in and out. A livepatch comes into force, and goes out of it, task
 * by task: a change is done when each has been seen outside of what is
 * replaced, and what does not get there in time is taken back.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"
#include "tool.h"

/* From linux/module.h, which is newer than some distributions' headers. */
#define INIT_COMPRESSED_FILE 4

#define POLL_MS 20

/* The kernel looks at the tasks once a second only: to undo takes more than one look. */
#define UNDO_MIN_MS 10000

/* For references that outlive the livepatch's folder by a moment. */
#define REMOVE_MS 2000

static uint64_t deadline(const struct module_calls *c, unsigned int ms)
{
	return c->now_ms() + ms;
}

static unsigned int undo_ms(unsigned int timeout_ms)
{
	return timeout_ms > UNDO_MIN_MS ? timeout_ms : UNDO_MIN_MS;
}

static unsigned int seconds(unsigned int ms)
{
	return (ms + 999) / 1000;
}

/* Until the change that was begun last is done; false if it is not by then. */
static bool wait_for(const struct module_calls *c, uint64_t end, bool (*done)(const char *root))
{
	while (!done(c->root)) {
		if (c->now_ms() >= end)
			return false;
		c->sleep_ms(POLL_MS);
	}
	return true;
}

static bool gone(const char *root)
{
	return !module_exists(root, MODULE_LIVEPATCH);
}

static bool settled(const char *root)
{
	struct module_state s;

	module_state_read(root, &s);
	return !s.transition;
}

/* Take out what is not in use any more. 0 or -errno. */
static int remove_module(const struct module_calls *c)
{
	uint64_t end = deadline(c, REMOVE_MS);
	int err;

	while ((err = c->remove(MODULE_NAME)) == -EAGAIN && c->now_ms() < end)
		c->sleep_ms(POLL_MS);
	return err == -ENOENT ? 0 : err;
}

/* ---- in --------------------------------------------------------------------------------- */

/* One string, as the system call has it. The command line has refused blanks in values. */
static int join(const char *const *params, unsigned int count, char *text, size_t size)
{
	size_t used = 0;
	unsigned int i;

	text[0] = '\0';
	for (i = 0; i < count; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", params[i]);
		if (used >= size)
			return fail(TOOL_USAGE, "module load: the parameters are too long");
	}
	return 0;
}

static bool compressed(const char *file)
{
	static const char *const suffixes[] = { ".gz", ".xz", ".zst" };
	size_t length = strlen(file), i, n;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		n = strlen(suffixes[i]);
		if (length > n && !strcmp(file + length - n, suffixes[i]))
			return true;
	}
	return false;
}

/*
 * A file descriptor, or -1 with the error line printed. Not to wait: the other end of
 * a pipe may never be opened, and no timeout counts yet.
 */
static int open_file(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	if (fd < 0) {
		fail(TOOL_FAILED, "module load '%.256s': %s", file, strerror(errno));
	} else {
		fail(TOOL_FAILED, "module load '%.256s': not a regular file, expected a module such "
		     "as " MODULE_NAME ".ko", file);
		close(fd);
	}
	return -1;
}

/* 0, or an exit code with its error line printed. */
static int insert(const struct module_calls *c, const char *file, const char *const *params,
		  unsigned int count)
{
	char text[1024], said[768];
	int log, fd, err;

	if (file) {
		if (join(params, count, text, sizeof(text)))
			return TOOL_USAGE;
		fd = open_file(file);
		if (fd < 0)
			return TOOL_FAILED;
	}
	log = module_log_open(c->root);
	if (file) {
		err = c->insert(fd, text, compressed(file) ? INIT_COMPRESSED_FILE : 0);
		close(fd);
	} else {
		err = c->probe(params, count);
	}
	module_log_read(log, said, sizeof(said));
	return err ? module_load_failed(c, -err, file, said) : 0;
}

/* Loaded, but some tasks never left the kernel's function: as if it had not been. */
static int take_back(const struct module_calls *c, unsigned int timeout_ms)
{
	char who[512];
	struct module_holders holders;
	uint64_t end;

	module_holders_read(c->root, true, &holders);
	module_holders_text(&holders, who, sizeof(who));
	end = deadline(c, undo_ms(timeout_ms));
	c->write(MODULE_LIVEPATCH "/enabled", "0");
	if (!wait_for(c, end, gone))
		return fail(TOOL_FAILED, "module load: not in force after %u s, held up by %s; taking it "
			    "back is not done after %u s either, and goes on: see 'clearpages status'",
			    seconds(timeout_ms), who, seconds(undo_ms(timeout_ms)));
	return fail(TOOL_FAILED, "module load: not in force after %u s, held up by %s; %s",
		    seconds(timeout_ms), who, remove_module(c) ?
		    "it is out of force again, but still loaded: 'clearpages module unload'" :
		    "it was taken out again");
}

int module_load(const struct module_calls *c, const char *file, const char *const *params,
		unsigned int count, unsigned int timeout_ms)
{
	struct module_state s;
	int err = module_possible(c);

	if (err)
		return err;
	err = insert(c, file, params, count);
	if (err)
		return err;
	if (!wait_for(c, deadline(c, timeout_ms), settled))
		return take_back(c, timeout_ms);
	module_state_read(c->root, &s);
	if (!s.enabled)
		return fail(TOOL_FAILED, "module load: loaded, but switched off by somebody else "
			    "meanwhile: see 'clearpages status'");
	return TOOL_OK;
}

/* ---- out -------------------------------------------------------------------------------- */

/* Back in force: what is half out is worse than either. */
static int put_back(const struct module_calls *c, unsigned int timeout_ms)
{
	char who[512];
	struct module_holders holders;
	uint64_t end;

	module_holders_read(c->root, false, &holders);
	module_holders_text(&holders, who, sizeof(who));
	end = deadline(c, undo_ms(timeout_ms));
	/* Refused is what was done after all, just now; then there is nothing to put back. */
	if (c->write(MODULE_LIVEPATCH "/enabled", "1") && wait_for(c, end, gone))
		return TOOL_OK;
	if (!wait_for(c, end, settled))
		return fail(TOOL_FAILED, "module unload: still in use after %u s, held up by %s; putting "
			    "it back in force is not done after %u s either, and goes on: see "
			    "'clearpages status'", seconds(timeout_ms), who,
			    seconds(undo_ms(timeout_ms)));
	return fail(TOOL_FAILED, "module unload: still in use after %u s, held up by %s; it is in force "
		    "again, nothing has changed", seconds(timeout_ms), who);
}

/* EBUSY: another livepatch is in transition, and will be done. 0 or -errno. */
static int switch_off(const struct module_calls *c, unsigned int timeout_ms)
{
	uint64_t end = deadline(c, timeout_ms);
	int err;

	while ((err = c->write(MODULE_LIVEPATCH "/enabled", "0")) == -EBUSY && c->now_ms() < end)
		c->sleep_ms(POLL_MS);
	return err;
}

/* Out of force, and the kernel done with it. 0, or an exit code with its line printed. */
static int disable(const struct module_calls *c, unsigned int timeout_ms)
{
	struct module_state s;
	int err = 0;

	module_state_read(c->root, &s);
	if (s.enabled)
		err = switch_off(c, timeout_ms);
	if (err == -EPERM || err == -EACCES)
		return module_not_permitted();
	if (err == -EBUSY)
		return fail(TOOL_FAILED, "module unload: another livepatch is in transition since %u s: "
			    "see " MODULE_LIVEPATCHES "/*/transition", seconds(timeout_ms));
	/* Somebody else has just done it: EINVAL, or ENOENT where it is gone. */
	module_state_read(c->root, &s);
	if (err && s.enabled)
		return fail(TOOL_FAILED, "module unload: " MODULE_LIVEPATCH "/enabled: %s",
			    strerror(-err));
	/* A time of its own: what the other one took says nothing of the tasks here. */
	return wait_for(c, deadline(c, timeout_ms), gone) ? 0 : put_back(c, timeout_ms);
}

static int in_use(const struct module_calls *c)
{
	char count[24];

	module_line(c->root, MODULE_SYS "/refcnt", count, sizeof(count));
	return fail(TOOL_FAILED, "module unload: it is out of force, but still in use by %s of the kernel, "
		    "perhaps a reader of its files or its tracepoint: try again",
		    *count && strcmp(count, "0") ? count : "some part");
}

int module_unload(const struct module_calls *c, unsigned int timeout_ms)
{
	struct module_state s;
	int err;

	module_state_read(c->root, &s);
	if (!s.loaded)
		return fail(TOOL_FAILED, "module unload: it is not loaded");
	if (!c->privileged())
		return module_not_permitted();
	err = s.livepatch ? disable(c, timeout_ms) : 0;
	if (err)
		return err;
	err = remove_module(c);
	if (err == -EPERM)
		return module_not_permitted();
	if (err == -EAGAIN || err == -EBUSY)
		return in_use(c);
	return err ? fail(TOOL_FAILED, "module unload: %s", strerror(-err)) : TOOL_OK;
}

/* ---- its policy ------------------------------------------------------------------------- */

int module_policy_set(const struct module_calls *c, const char *policy)
{
	char said[768];
	int log, err;

	if (!module_exists(c->root, MODULE_SYS "/initstate"))
		return fail(TOOL_FAILED, "module policy: the module is not loaded: "
			    "'clearpages module load'");
	log = module_log_open(c->root);
	err = c->write(MODULE_PARAMETERS "policy", policy);
	module_log_read(log, said, sizeof(said));
	return err ? module_policy_refused(-err, policy, said) : TOOL_OK;
}
