/* SPDX-License-Identifier: GPL-2.0-only */
#include "noise.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const char *const noise_names[NOISE_KINDS] = {
	[NOISE_STEAL] = "steal",
	[NOISE_FOREIGN] = "foreign load",
	[NOISE_DELAY] = "run-queue delay",
};

const char *const noise_keys[NOISE_KINDS] = {
	[NOISE_STEAL] = "steal",
	[NOISE_FOREIGN] = "foreign_load",
	[NOISE_DELAY] = "run_queue_delay",
};

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

/* The first line of /proc/stat sums up all cpus; guest time is in user's. */
static void read_stat(struct noise_mark *m)
{
	unsigned long long user, nice, system, idle, wait, irq, softirq, steal;
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	char text[256];
	int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
		   &idle, &wait, &irq, &softirq, &steal) != 8)
		return;
	m->steal_ns = steal * tick_ns;
	m->busy_ns = (user + nice + system + irq + softirq) * tick_ns;
}

void noise_mark(struct noise_mark *m)
{
	struct rusage usage;
	struct timespec t;

	memset(m, 0, sizeof(*m));
	read_stat(m);
	getrusage(RUSAGE_SELF, &usage);
	m->ours_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
	clock_gettime(CLOCK_MONOTONIC, &t);
	m->at_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

unsigned int noise_between(const struct noise_mark *from, const struct noise_mark *to,
			   uint64_t timed_ns, uint64_t delay_ns)
{
	const int64_t two_ticks = 20000000;
	int64_t span = (int64_t)(to->at_ns - from->at_ns);
	int64_t limit = span / 20 > two_ticks ? span / 20 : two_ticks;
	int64_t steal = (int64_t)(to->steal_ns - from->steal_ns);
	int64_t foreign = (int64_t)(to->busy_ns - from->busy_ns) -
			  (int64_t)(to->ours_ns - from->ours_ns);
	unsigned int bits = 0;

	if (steal >= limit)
		bits |= 1u << NOISE_STEAL;
	if (foreign > limit)
		bits |= 1u << NOISE_FOREIGN;
	if (delay_ns > timed_ns / 50)
		bits |= 1u << NOISE_DELAY;
	return bits;
}
