/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clearpages.ko and its livepatch as the kernel shows them, below a root; and
 * bringing it in and taking it out.
 */
#ifndef CLEARPAGES_MODULE_H
#define CLEARPAGES_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MODULE_NAME "clearpages"
#define MODULE_SYS "/sys/module/" MODULE_NAME
#define MODULE_PARAMETERS MODULE_SYS "/parameters/"
#define MODULE_LIVEPATCHES "/sys/kernel/livepatch"
#define MODULE_LIVEPATCH MODULE_LIVEPATCHES "/" MODULE_NAME
#define MODULE_DEBUG "/sys/kernel/debug/" MODULE_NAME

/* A policy in full has less than 160 characters, a parameter at most 255. */
#define MODULE_TEXT 256

/* ---- what is there: module_state.c --------------------------------------------- */

struct module_state {
	bool loaded;
	bool livepatch;		/* has its folder: in force, or on its way in or out */
	bool enabled;		/* in force, or on its way in; else on its way out */
	bool transition;
	char version[32];
	char policy[MODULE_TEXT];
	char budget_us[24];
	char skip_zeroed[8];
};

/* What cannot be read is false or "". */
void module_state_read(const char *root, struct module_state *s);

/* Is there such a file or folder? */
bool module_exists(const char *root, const char *path);

/*
 * All of a file that has at most size - 1 bytes, cleaned: what is not printable
 * ASCII becomes '?', but for newlines. Its length, or -errno.
 */
ssize_t module_text(const char *root, const char *path, char *text, size_t size);

/* As machine_line(), cleaned like that; "" and false if there is nothing. */
bool module_line(const char *root, const char *path, char *line, size_t size);

/* The tasks that a transition waits for. */
#define MODULE_HOLDERS 8

struct module_holders {
	struct module_holder {
		unsigned int tid;
		char comm[20];
	} task[MODULE_HOLDERS];
	unsigned int shown, total;
	bool refused;		/* the states of tasks are for root to see */
};

/* enabled: as in struct module_state; a task waits in the state that is left. */
void module_holders_read(const char *root, bool enabled, struct module_holders *h);

/* "123 (qemu), 124 (java) and 3 more", or why there is nobody to name. Returns text. */
const char *module_holders_text(const struct module_holders *h, char *text, size_t size);

/* ---- in and out: module_change.c ----------------------------------------------------- */

/* All that reaches beyond files of /sys and /proc: tests have their own. 0 or -errno. */
struct module_calls {
	const char *root;
	bool (*privileged)(void);
	int (*insert)(int fd, const char *params, int flags);
	int (*remove)(const char *name);
	int (*probe)(const char *const *params, unsigned int count);
	int (*write)(const char *path, const char *text);
	uint64_t (*now_ms)(void);
	void (*sleep_ms)(unsigned int ms);
};

extern const struct module_calls module_kernel;

#define MODULE_TIMEOUT_MS 30000

/* Each prints its error line and returns an exit code. file: NULL for modprobe's. */
int module_load(const struct module_calls *c, const char *file, const char *const *params,
		unsigned int count, unsigned int timeout_ms);
int module_unload(const struct module_calls *c, unsigned int timeout_ms);
int module_policy_set(const struct module_calls *c, const char *policy);

/* ---- why not: module_why.c ------------------------------------------------------------- */

/* The kernel's log from now on; -1 if it cannot be read. */
int module_log_open(const char *root);

/*
 * What the module and livepatch have complained of since, in one line; "" if
 * nothing. Closes log.
 */
void module_log_read(int log, char *text, size_t size);

/* What modprobe meant, which has one exit code and says the error last: -errno. */
int module_probe_error(const char *text);

/* What stands in the way of a load before one is tried: its error line and exit code, or TOOL_OK. */
int module_possible(const struct module_calls *c);

/*
 * The same for the error (> 0) of a load, and of a write to the policy. said:
 * from the log. file: what was loaded, NULL for modprobe's.
 */
int module_load_failed(const struct module_calls *c, int err, const char *file, const char *said);
int module_policy_refused(int err, const char *policy, const char *said);

/* Not root, or not root enough. */
int module_not_permitted(void);

#endif
