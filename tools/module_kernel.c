// SPDX-License-Identifier: GPL-2.0-only
/* The kernel that module_change.c works on: system calls, modprobe, the clock. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "module.h"

static bool privileged(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return !geteuid();
	return data[CAP_TO_INDEX(CAP_SYS_MODULE)].effective & CAP_TO_MASK(CAP_SYS_MODULE);
}

static int insert(int fd, const char *params, int flags)
{
	return syscall(SYS_finit_module, fd, params, flags) ? -errno : 0;
}

/* Not to wait in the kernel: module_change.c has a time of its own. */
static int take_out(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* ---- modprobe ----------------------------------------------------------------------------- */

/* With its stderr in fd. 0 or -errno. */
static int spawn(const char *program, char *const argv[], int fd, pid_t *pid)
{
	static char locale[] = "LC_ALL=C", path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char *const env[] = { locale, path, NULL };
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return -err;
	err = posix_spawn_file_actions_adddup2(&actions, fd, STDERR_FILENO);
	if (!err)
		err = posix_spawn(pid, program, &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* All that comes, until the other end closes; what does not fit is read, and dropped. */
static void drain(int fd, char *text, size_t size)
{
	size_t used = 0, room;
	char piece[512];
	ssize_t got;

	while ((got = read(fd, piece, sizeof(piece))) > 0 || (got < 0 && errno == EINTR)) {
		room = size - 1 - used;
		if (got < 0)
			continue;
		if ((size_t)got < room)
			room = (size_t)got;
		memcpy(text + used, piece, room);
		used += room;
	}
	text[used] = '\0';
}

static int run(const char *program, char *const argv[])
{
	char text[2048];
	int ends[2], status, err;
	pid_t pid = -1;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	err = spawn(program, argv, ends[1], &pid);
	close(ends[1]);
	if (!err)
		drain(ends[0], text, sizeof(text));
	close(ends[0]);
	if (err)
		return err;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : module_probe_error(text);
}

/* The program that the kernel itself would call, then where it usually is. */
static int probe(const char *const *params, unsigned int count)
{
	char configured[256], name[] = MODULE_NAME, program[] = "modprobe";
	const char *const places[] = { configured, "/sbin/modprobe", "/usr/sbin/modprobe" };
	char **argv = calloc(count + 3, sizeof(*argv));
	int err = -ENOENT;
	unsigned int i;

	if (!argv)
		return -ENOMEM;
	module_line("", "/proc/sys/kernel/modprobe", configured, sizeof(configured));
	argv[0] = program;
	argv[1] = name;
	for (i = 0; i < count; i++)
		argv[2 + i] = (char *)params[i];	/* posix_spawn() does not write to them */
	for (i = 0; i < sizeof(places) / sizeof(places[0]) && err == -ENOENT; i++)
		if (places[i][0] == '/' && !access(places[i], X_OK))
			err = run(places[i], argv);
	free(argv);
	return err;
}

/* ---- the clock -------------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void sleep_ms(unsigned int ms)
{
	const struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

const struct module_calls module_kernel = {
	.root = "",
	.privileged = privileged,
	.insert = insert,
	.remove = take_out,
	.probe = probe,
	.write = write_text,
	.now_ms = now_ms,
	.sleep_ms = sleep_ms,
};
