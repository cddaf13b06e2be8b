// SPDX-License-Identifier: GPL-2.0-only
/* The tracepoint clearpages:clear_folio: the event of a fault, and what is known of that. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

#define TRACING "/sys/kernel/tracing/"
#define EVENT TRACING "events/" MODULE "/clear_folio"

#define TOUCH_AT (12 * KIB + 123)

/* Kernels before 6.12 give no trace events to what taints them as a livepatch does, and say so. */
static void need_event(void)
{
	int klog = klog_from_here();

	reload("policy=far=movnti,near=mov,window=64K,far_min=0,batch=0");
	if (!access(EVENT, F_OK))
		return;
	if (access(TRACING "trace", F_OK))
		fail("no tracefs at " TRACING);
	if (!kernel_at_least(6, 12) &&
	    *klog_lines(klog, MODULE ": module has bad taint, not creating trace events"))
		skip("kernels 5.10 and 6.1 give no trace events to livepatches");
	fail("there is no " EVENT);
}

static unsigned long long pfn_of(const volatile void *p)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	if (fd < 0 || pread(fd, &entry, 8, (off_t)((uintptr_t)p / (4 * KIB) * 8)) != 8)
		fail("cannot read /proc/self/pagemap");
	close(fd);
	return entry & ((1ULL << 55) - 1);
}

/* The number after "key=" or "key=word:". */
static unsigned long long field(const char *line, const char *key)
{
	char word[32];
	const char *at;

	snprintf(word, sizeof(word), " %s=", key);
	at = strstr(line, word);
	if (!at)
		fail("no %s in the event: %s", key, line);
	at += strlen(word);
	if (*at < '0' || *at > '9')
		at = strchr(at, ':') ? strchr(at, ':') + 1 : "0";
	return strtoull(at, NULL, 0);
}

static void must_be(const char *line, const char *key, unsigned long long value)
{
	if (field(line, key) != value)
		fail("%s is %llu, expected %llu: %s", key, field(line, key), value, line);
}

/* The only event in the buffer. */
static char *the_event(void)
{
	static char text[64 << 10];
	char *line, *more;

	if (!read_text(TRACING "trace", text, sizeof(text)))
		fail("cannot read " TRACING "trace");
	line = strstr(text, "clear_folio: ");
	more = line ? strchr(line, '\n') : NULL;
	if (!line)
		fail("a fault left no event");
	if (more && strstr(more, "clear_folio: "))
		fail("one fault left several events: %s", line);
	if (more)
		*more = 0;
	return strchr(line, ' ');
}

/* What the module counts of a fault of *p, the event being enabled for that. */
static struct counters traced_fault(volatile unsigned char *p)
{
	struct counters before, after;

	if (write_text(TRACING "trace", "") || write_text(EVENT "/enable", "1"))
		fail("cannot enable " EVENT);
	read_counters(&before);
	if (p)
		p[TOUCH_AT] = TOUCHED;
	read_counters(&after);
	write_text(EVENT "/enable", "0");
	return counted(&before, &after);
}

void check_tracepoint(void)
{
	struct counters did;
	unsigned char *p;
	char *line;

	need_event();
	need_pool(&hugetlb_2m, 1);
	p = map_pages(&hugetlb_2m, 1);
	did = traced_fault(p);
	line = the_event();
	say("guest: event:%s", line);
	must_be(line, "pfn", pfn_of(p));
	must_be(line, "size", 2 * MIB);
	/* Newer kernels give the page, older ones the byte. */
	if (field(line, "touch") / (4 * KIB) != TOUCH_AT / (4 * KIB))
		fail("touched at %zu: %s", TOUCH_AT, line);
	must_be(line, "node", 0);
	must_be(line, "hugetlb", 1);
	must_be(line, "skipped", 0);
	must_be(line, "breaths", did.breaths);
	must_be(line, "far", calls_of(&did, "movnti"));
	must_be(line, "near", calls_of(&did, "mov"));
	if (!strstr(line, " far=movnti:") || !strstr(line, " near=mov:") || !did.calls)
		fail("another policy than movnti and mov: %s", line);
	field(line, "ns");
	unmap_pages(&hugetlb_2m, p, 1);
	reload("");
}
