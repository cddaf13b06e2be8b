// SPDX-License-Identifier: GPL-2.0-only
/* Time, files of the kernel, random numbers, processes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

static uint64_t state = 1;

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

void random_seed(uint64_t seed)
{
	state = seed * 2 + 1;
}

/* xorshift64*, the upper half. */
uint64_t random_below(uint64_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((state * 0x2545f4914f6cdd1dULL) >> 32) % below;
}

bool read_text(const char *path, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	text[0] = 0;
	if (fd < 0)
		return false;
	while (len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	while (len && text[len - 1] == '\n')
		len--;
	text[len] = 0;
	return true;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

long long number_after(const char *path, const char *word)
{
	static char text[64 << 10];
	char *line = text;

	if (!read_text(path, text, sizeof(text)))
		return -1;
	while (line) {
		if (!strncmp(line, word, strlen(word)))
			return strtoll(line + strlen(word), NULL, 0);
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return -1;
}

bool kernel_at_least(unsigned int major, unsigned int minor)
{
	struct utsname u;
	unsigned long a, b;
	char *end;

	uname(&u);
	a = strtoul(u.release, &end, 10);
	b = strtoul(end + 1, NULL, 10);
	return a > major || (a == major && b >= minor);
}

bool booted_with(const char *word)
{
	char text[4096], *save = NULL, *w;

	read_text("/proc/cmdline", text, sizeof(text));
	for (w = strtok_r(text, " \n", &save); w; w = strtok_r(NULL, " \n", &save))
		if (!strcmp(w, word))
			return true;
	return false;
}

unsigned int setting(const char *name, unsigned int otherwise)
{
	char text[4096], word[64], *at;

	snprintf(word, sizeof(word), "guest.%s=", name);
	read_text("/proc/cmdline", text, sizeof(text));
	at = strstr(text, word);
	return at ? (unsigned int)strtoul(at + strlen(word), NULL, 10) : otherwise;
}

int wait_for(int pid, const char *who)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("waiting for %s: %s", who, strerror(errno));
	if (WIFSIGNALED(status))
		fail("%s died of signal %d", who, WTERMSIG(status));
	return WEXITSTATUS(status);
}
