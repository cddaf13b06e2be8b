// SPDX-License-Identifier: GPL-2.0-only
/* Why a module could not be loaded, or a policy not be set: in words, with what to do. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"
#include "tool.h"

/* ---- what the kernel said --------------------------------------------------------------- */

int module_log_open(const char *root)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/dev/kmsg", root);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/*
 * Add a record, "priority,sequence,time,flags;text", if it is a complaint (an
 * error or a warning) about our business; that of the taint is none.
 */
static void add_record(const char *record, char *text, size_t size)
{
	static const char *const from[] = { MODULE_NAME ": ", "livepatch: " };
	const char *words = strchr(record, ';');
	size_t used = strlen(text), i;

	/* Further lines of a record begin with a blank. */
	if (!words || !isdigit((unsigned char)*record) ||
	    (strtoul(record, NULL, 10) & 7) > 4 || strstr(words, "taint"))
		return;
	words++;
	for (i = 0; i < sizeof(from) / sizeof(from[0]); i++)
		if (!strncmp(words, from[i], strlen(from[i])))
			snprintf(text + used, size - used, "%s%s", used ? "; " : "",
				 words + strlen(from[i]));
}

void module_log_read(int log, char *text, size_t size)
{
	char records[8192], *rest, *record;
	ssize_t got;

	text[0] = '\0';
	if (log < 0)
		return;
	/* One record a read; EPIPE: some were overwritten, the next read goes on behind them. */
	while ((got = read(log, records, sizeof(records) - 1)) > 0 ||
	       (got < 0 && (errno == EPIPE || errno == EINTR))) {
		records[got > 0 ? got : 0] = '\0';
		rest = records;
		while ((record = strsep(&rest, "\n")))
			add_record(record, text, size);
	}
	close(log);
}

int module_probe_error(const char *text)
{
	static const int errors[] = {
		EPERM, EACCES, EKEYREJECTED, ENOKEY, EBADMSG, ENOEXEC, EINVAL, EBUSY, ENODEV, EIO,
		EEXIST, ENOMEM, EOPNOTSUPP, ENOSYS,
	};
	size_t i;

	if (strstr(text, "not found"))
		return -ENOENT;
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strstr(text, strerror(errors[i])))
			return -errors[i];
	return -ENOTRECOVERABLE;
}

/* ---- before a load ------------------------------------------------------------------------ */

int module_not_permitted(void)
{
	return fail(TOOL_FAILED, "module: not permitted: it takes root outside of containers (CAP_SYS_MODULE)");
}

static int loaded_already(const char *root)
{
	struct module_state s;

	module_state_read(root, &s);
	if (!s.livepatch)
		return fail(TOOL_FAILED, "module load: it is loaded already, but switched off: "
			    "'clearpages module unload' first");
	if (s.transition)
		return fail(TOOL_FAILED, "module load: it is loaded already, and on its way %s: see "
			    "'clearpages status'", s.enabled ? "in" : "out");
	return fail(TOOL_FAILED, "module load: it is loaded already, with policy %s: "
		    "'clearpages module policy' changes that", *s.policy ? s.policy : "unknown");
}

int module_possible(const struct module_calls *c)
{
	char line[16];

	if (module_exists(c->root, MODULE_SYS "/initstate"))
		return loaded_already(c->root);
	if (!module_exists(c->root, MODULE_LIVEPATCHES))
		return fail(TOOL_UNSUPPORTED, "module load: this kernel has no " MODULE_LIVEPATCHES
			    ": it was built without CONFIG_LIVEPATCH");
	if (module_line(c->root, "/proc/sys/kernel/ftrace_enabled", line, sizeof(line)) &&
	    !strcmp(line, "0"))
		return fail(TOOL_UNSUPPORTED, "module load: ftrace is off, and a livepatch needs it: "
			    "sysctl kernel.ftrace_enabled=1");
	if (module_line(c->root, "/proc/sys/kernel/modules_disabled", line, sizeof(line)) &&
	    !strcmp(line, "1"))
		return fail(TOOL_UNSUPPORTED, "module load: sysctl kernel.modules_disabled is 1: no "
			    "module can be loaded until the next boot");
	return c->privileged() ? TOOL_OK : module_not_permitted();
}

/* ---- after one ---------------------------------------------------------------------------- */

#define SIGN "sign it, see clearpages_module(7), SECURE BOOT"

static int not_signed(const struct module_calls *c)
{
	char lockdown[64];

	if (module_line(c->root, "/sys/kernel/security/lockdown", lockdown, sizeof(lockdown)) &&
	    strchr(lockdown, '[') && !strstr(lockdown, "[none]"))
		return fail(TOOL_UNSUPPORTED, "module load: the kernel is locked down (%s) and takes signed "
			    "modules only: " SIGN, lockdown);
	return module_not_permitted();
}

/* The kernel that a module file was built for; "" if that cannot be found. */
static void built_for(const char *file, char *release, size_t size)
{
	static const char key[] = "vermagic=";
	/* By its name once more: it may be another file by now, a pipe even. */
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *map = MAP_FAILED, *at = NULL;
	struct stat st;
	size_t left;

	release[0] = '\0';
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return;
	at = memmem(map, (size_t)st.st_size, key, sizeof(key) - 1);
	if (at) {
		at += sizeof(key) - 1;
		left = (size_t)(map + st.st_size - at);
		if (left > size - 1)
			left = size - 1;
		memcpy(release, at, left);
		release[left] = '\0';
		release[strcspn(release, " ")] = '\0';
	}
	munmap((void *)map, (size_t)st.st_size);
}

static int wrong_kernel(const struct module_calls *c, const char *file)
{
	char built[96] = "", running[96];

	if (file)
		built_for(file, built, sizeof(built));
	module_line(c->root, "/proc/sys/kernel/osrelease", running, sizeof(running));
	if (*built && strcmp(built, running))
		return fail(TOOL_UNSUPPORTED, "module load '%.256s': built for kernel %s, and this is %s: "
			    "build it with its headers ('make kmod', or dkms)", file, built, running);
	if (file && !*built)
		return fail(TOOL_FAILED, "module load '%.256s': not a module of the kernel, or compressed in a "
			    "way that it cannot read", file);
	return fail(TOOL_UNSUPPORTED, "module load: not built for this very kernel (%s): build it again "
		    "with its headers ('make kmod', or dkms)", running);
}

static int not_found(const struct module_calls *c, const char *file)
{
	char running[96];

	module_line(c->root, "/proc/sys/kernel/osrelease", running, sizeof(running));
	if (file)
		return fail(TOOL_UNSUPPORTED, "module load '%.256s': it needs what this kernel (%s) does "
			    "not have: see dmesg", file, running);
	return fail(TOOL_UNSUPPORTED, "module load: there is no " MODULE_NAME ".ko for this kernel (%s): "
		    "give its FILE, or install it ('make kmod-install' and depmod, or dkms)", running);
}

/* Those that say enough by their number alone; else NULL. */
static const char *by_number(int err)
{
	switch (err) {
	case EBUSY:
		return "another livepatch is in transition, or ftrace is off: try again";
	case ENODEV:
		return "livepatch or ftrace failed to start in this boot";
	case EIO:
		return "its self-test failed on this machine, and nothing was replaced: please report "
		       "what dmesg has of it";
	case ENOMEM:
		return "out of memory";
	case EINVAL:
		return "refused, see dmesg";
	case ENOSYS:
		return "this kernel loads no modules";
	case ENOTRECOVERABLE:
		return "modprobe failed: 'modprobe " MODULE_NAME "' says why";
	default:
		return strerror(err);
	}
}

int module_load_failed(const struct module_calls *c, int err, const char *file, const char *said)
{
	int code = TOOL_FAILED;

	switch (err) {
	case EEXIST:
		return loaded_already(c->root);
	case EPERM:
	case EACCES:
		return not_signed(c);
	case ENOKEY:
	case EKEYREJECTED:
	case EBADMSG:
		return fail(TOOL_UNSUPPORTED, "module load: the kernel takes no module without a signature "
			    "that it knows (Secure Boot, or module.sig_enforce): " SIGN);
	case ENOEXEC:
		return wrong_kernel(c, file);
	case ENOENT:
		return not_found(c, file);
	case EOPNOTSUPP:
	case ENODEV:
	case ENOSYS:
		code = TOOL_UNSUPPORTED;
		break;
	case EINVAL:
		/* The module's own words for a policy that is none. */
		if (!strncmp(said, "policy", 6))
			code = TOOL_USAGE;
		break;
	}
	return fail(code, "module load: %s", *said ? said : by_number(err));
}

int module_policy_refused(int err, const char *policy, const char *said)
{
	int code = err == EINVAL ? TOOL_USAGE : err == EOPNOTSUPP ? TOOL_UNSUPPORTED : TOOL_FAILED;

	if (err == EACCES || err == EPERM)
		return module_not_permitted();
	if (*said)
		return fail(code, "module %s", said);
	return fail(code, "module policy '%.256s': %s", policy,
		    err == EINVAL ? "refused, see dmesg" : strerror(err));
}
