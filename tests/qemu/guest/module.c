// SPDX-License-Identifier: GPL-2.0-only
/* The module in and out, and its policy. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "module.h"

#define LIVEPATCH "/sys/kernel/livepatch/" MODULE
#define PARAMETERS "/sys/module/" MODULE "/parameters/"

/* Under load and preempt=none a transition took 16 s here. */
#define TRANSITION_MS 60000

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

bool transition_over(unsigned int ms)
{
	uint64_t end = now_ms() + ms;

	while (is(LIVEPATCH "/transition", "1")) {
		if (now_ms() > end)
			return false;
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
	if (!is(LIVEPATCH "/enabled", "1"))
		fail("loaded, and " LIVEPATCH "/enabled is not 1");
}

void unload(void)
{
	uint64_t end = now_ms() + TRANSITION_MS;
	int err;

	if (!is_loaded())
		return;
	/* ENOENT: it is disabled; EINVAL: just now. */
	err = write_text(LIVEPATCH "/enabled", "0");
	if (err && err != ENOENT && !(err == EINVAL && !is(LIVEPATCH "/enabled", "1")))
		fail("disabling the patch: %s", strerror(err));
	while (!access(LIVEPATCH, F_OK)) {
		if (now_ms() > end)
			fail("the transition is stuck after disabling");
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
