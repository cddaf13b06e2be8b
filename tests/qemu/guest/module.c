// SPDX-License-Identifier: GPL-2.0-only
/* The module in and out, and its policy. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "module.h"

#define LIVEPATCH "/sys/kernel/livepatch/" MODULE
#define PARAMETERS "/sys/module/" MODULE "/parameters/"

/* About hanging only: 6.12 took 56 s beside three other jobs; see stress() for why. */
#define TRANSITION_MS 300000
/* After so long the console says whom it waits for. */
#define SLOW_MS 4000

int try_load(const char *file, const char *params)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		fail("%s: %s", file, strerror(errno));
	if (syscall(SYS_finit_module, fd, params, 0))
		err = errno;
	close(fd);
	return err;
}

bool is_loaded(void)
{
	return !access("/sys/module/" MODULE "/initstate", F_OK);
}

static bool is(const char *path, const char *value)
{
	char text[16];

	return read_text(path, text, sizeof(text)) && !strcmp(text, value);
}

int enable(bool on)
{
	return write_text(LIVEPATCH "/enabled", on ? "1" : "0");
}

bool is_enabled(void)
{
	return is(LIVEPATCH "/enabled", "1");
}

/* On the console, who is not in the state that the transition wants, and where it is. */
static void name_stragglers(void)
{
	const char *wanted = is_enabled() ? "1" : "0";
	char path[64], state[16], comm[64], stack[2048];
	DIR *dir = opendir("/proc");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		if (strspn(d->d_name, "0123456789") != strlen(d->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/patch_state", d->d_name);
		if (!read_text(path, state, sizeof(state)) || !strcmp(state, "-1") ||
		    !strcmp(state, wanted))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/comm", d->d_name);
		read_text(path, comm, sizeof(comm));
		snprintf(path, sizeof(path), "/proc/%.16s/stack", d->d_name);
		read_text(path, stack, sizeof(stack));
		say("guest: the transition waits for %s (%s):\n%s", comm, d->d_name, stack);
	}
	if (dir)
		closedir(dir);
}

bool transition_over(unsigned int ms)
{
	uint64_t start = now_ms(), next = start + SLOW_MS;

	while (is(LIVEPATCH "/transition", "1")) {
		if (now_ms() > start + ms)
			return false;
		if (now_ms() > next) {
			name_stragglers();
			next += SLOW_MS;
		}
		sleep_ms(5);
	}
	return true;
}

void load(const char *params)
{
	int klog = klog_from_here(), err = try_load(MODULE_FILE, params);

	if (err)
		fail("loading %s '%s': %s; it said: %s", MODULE, params, strerror(err),
		     klog_lines(klog, MODULE));
	close(klog);
	if (!transition_over(TRANSITION_MS))
		fail("the transition is stuck after loading");
	if (!is_enabled())
		fail("loaded, and " LIVEPATCH "/enabled is not 1");
}

void unload(void)
{
	uint64_t end = now_ms() + TRANSITION_MS;
	int err;

	if (!is_loaded())
		return;
	/* ENOENT, ENODEV (its file was open): it is disabled; EINVAL: just now. */
	err = enable(false);
	if (err && err != ENOENT && err != ENODEV && !(err == EINVAL && !is_enabled()))
		fail("disabling the patch: %s", strerror(err));
	if (!transition_over(TRANSITION_MS))
		fail("the transition is stuck after disabling");
	while (!access(LIVEPATCH, F_OK)) {
		if (now_ms() > end)
			fail("disabled, and " LIVEPATCH " does not go away");
		sleep_ms(5);
	}
	while (syscall(SYS_delete_module, MODULE, O_NONBLOCK)) {
		if (now_ms() > end)
			fail("taking the module out: %s", strerror(errno));
		sleep_ms(5);
	}
}

void reload(const char *params)
{
	unload();
	load(params);
}

int try_policy(const char *policy)
{
	return write_text(PARAMETERS "policy", policy);
}

void set_policy(const char *policy)
{
	int klog = klog_from_here(), err = try_policy(policy);

	if (err)
		fail("policy %s: %s; it said: %s", policy, strerror(err),
		     klog_lines(klog, MODULE));
	close(klog);
}
