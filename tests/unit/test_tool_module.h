/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel to load modules into, made of files below a folder and a clock that
 * moves when somebody sleeps. No module is ever loaded here.
 */
#ifndef TEST_TOOL_MODULE_H
#define TEST_TOOL_MODULE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#include "../../tools/module.h"
#include "test_tool.h"

#define NEVER UINT64_MAX
#define RELEASE "6.12.117+deb13-cloud-amd64"

static char root[64];

/* ---- files ---------------------------------------------------------------------- */

static void shell(const char *command)
{
	char text[512];

	snprintf(text, sizeof(text), "cd '%s' && %s", root, command);
	if (system(text)) { /* NOLINT(cert-env33-c): paths of ours */
		printf("Bail out! %s\n", text);
		exit(1);
	}
}

static void put(const char *path, const char *text, const char *mode)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, mode);
	if (!f) {
		printf("Bail out! %s\n", full);
		exit(1);
	}
	fputs(text, f);
	fclose(f);
}

static bool there(const char *path)
{
	return module_exists(root, path);
}

static bool has(const char *path, const char *text)
{
	char line[256];

	module_line(root, path, line, sizeof(line));
	return !strcmp(line, text);
}

/* ---- the kernel ------------------------------------------------------------------- */

static struct fake {
	bool nobody;			/* no CAP_SYS_MODULE */
	int insert_error;
	const char *says;		/* into the log, with an error */
	uint64_t in_ms, out_ms;		/* that a transition takes; NEVER */
	uint64_t other_ms;		/* until another livepatch's transition is done */
	uint64_t busy_ms;		/* that references last once it is out of force */
	int write_error;		/* of the policy */
	/* what happened: */
	uint64_t now, done;
	char params[256];
	unsigned int inserted, probed, removed, flags;
} fake;

static bool privileged(void)
{
	return !fake.nobody;
}

static void transition(const char *enabled, uint64_t takes)
{
	put(MODULE_LIVEPATCH "/enabled", enabled, "w");
	put(MODULE_LIVEPATCH "/transition", "1\n", "w");
	fake.done = takes == NEVER ? NEVER : fake.now + takes;
}

static int come_in(void)
{
	if (fake.insert_error) {
		put("/dev/kmsg", fake.says ? fake.says : "", "a");
		return -fake.insert_error;
	}
	shell("mkdir -p ." MODULE_PARAMETERS " ." MODULE_LIVEPATCH);
	put(MODULE_SYS "/initstate", "live\n", "w");
	put(MODULE_PARAMETERS "policy", "auto\n", "w");
	transition("1\n", fake.in_ms);
	return 0;
}

static int insert(int fd, const char *params, int flags)
{
	fake.inserted += fcntl(fd, F_GETFD) >= 0;
	fake.flags = (unsigned int)flags;
	snprintf(fake.params, sizeof(fake.params), "%s", params);
	return come_in();
}

static int probe(const char *const *params, unsigned int count)
{
	fake.probed++;
	snprintf(fake.params, sizeof(fake.params), "%u %s", count, count ? params[0] : "");
	return come_in();
}

static int take_out(const char *name)
{
	if (there(MODULE_LIVEPATCH) || strcmp(name, "clearpages") || fake.now < fake.busy_ms)
		return -EAGAIN;
	fake.removed++;
	shell("rm -r ." MODULE_SYS);
	return 0;
}

static int write_text(const char *path, const char *text)
{
	if (fake.nobody)
		return -EACCES;
	if (!there(path))
		return -ENOENT;
	if (!strcmp(path, MODULE_PARAMETERS "policy")) {
		put("/dev/kmsg", fake.says ? fake.says : "", "a");
		if (!fake.write_error)
			put(path, text, "w");
		return -fake.write_error;
	}
	if (fake.now < fake.other_ms)
		return -EBUSY;
	transition(text, *text == '1' ? fake.in_ms : fake.out_ms);
	return 0;
}

static uint64_t now_ms(void)
{
	return fake.now;
}

static void sleep_ms(unsigned int ms)
{
	fake.now += ms;
	if (fake.now < fake.done || !there(MODULE_LIVEPATCH))
		return;
	put(MODULE_LIVEPATCH "/transition", "0\n", "w");
	if (!has(MODULE_LIVEPATCH "/enabled", "1"))
		shell("rm -r ." MODULE_LIVEPATCH);
}

static const struct module_calls calls = {
	root, privileged, insert, take_out, probe, write_text, now_ms, sleep_ms,
};

/* A kernel with livepatches and none of ours, and three tasks. */
static void boot(void)
{
	static const char *const tasks[] = {
		"/proc/7/task/7", "/proc/30/task/30", "/proc/30/task/31",
	};
	char path[96];
	size_t i;

	fake = (struct fake){ 0 };
	shell("rm -rf sys proc dev && mkdir -p dev sys/kernel/livepatch sys/kernel/security "
	      "proc/sys/kernel proc/7/task/7 proc/30/task/30 proc/30/task/31");
	put("/dev/kmsg", "3,1,1,-;clearpages: of long ago\n", "w");
	put("/proc/sys/kernel/osrelease", RELEASE "\n", "w");
	put("/proc/sys/kernel/ftrace_enabled", "1\n", "w");
	put("/proc/sys/kernel/modules_disabled", "0\n", "w");
	for (i = 0; i < LENGTH(tasks); i++) {
		snprintf(path, sizeof(path), "%s/patch_state", tasks[i]);
		put(path, i == 0 ? "1\n" : "0\n", "w");
		snprintf(path, sizeof(path), "%s/comm", tasks[i]);
		put(path, i == 0 ? "seven\n" : i == 1 ? "thirty\n" : "thread\n", "w");
	}
}

/* The same with the module in force. */
static void boot_loaded(void)
{
	boot();
	come_in();
	sleep_ms(0);
}

#endif
