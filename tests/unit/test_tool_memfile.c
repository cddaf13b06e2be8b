// SPDX-License-Identifier: GPL-2.0-only
/* What a file that is memory has of pages: against a model of each of them. */
#include <fcntl.h>
#include <sys/mman.h>

#include "../../tools/memfile.h"
#include "../../tools/tool.h"
#include "test_lib.h"
#include "test_tool.h"

#define PAGE ((size_t)4096)
#define PAGES 64u	/* of the model, the end of the file somewhere in it */

/* What a page is in the model; READY: whoever touches it finds it so. */
enum { NONE, PUT, READY };

static int new_memfd(void)
{
	int fd = memfd_create("clearpages-test", MFD_CLOEXEC);

	if (fd < 0)
		die("memfd_create", "");
	return fd;
}

/* With transparent huge pages a page that is touched brings others with it. */
static bool pages_come_alone(void)
{
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "re");
	char line[128] = "";

	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	return !strstr(line, "[always]") && !strstr(line, "[force]");
}

/* Something happens to a page, or to a few from there on. */
static void happen(int fd, unsigned char *model, size_t bytes)
{
	unsigned int at = (unsigned int)below(PAGES), count = 1 + (unsigned int)below(4), i;
	const unsigned int what = (unsigned int)below(4);
	const off_t from = (off_t)(at * PAGE);

	if (at + count > PAGES)
		count = PAGES - at;
	if (what == READY && at * PAGE < bytes) {
		/* A byte, and by that the page; not beyond the end, or the file would grow. */
		if (pwrite(fd, "x", 1, from) != 1)
			die("pwrite", "");
		model[at] = READY;
	} else if (what == PUT) {
		if (fallocate(fd, FALLOC_FL_KEEP_SIZE, from, (off_t)(count * PAGE)))
			die("fallocate", "");
		/* The kernel zeroes a page at the latest when it is put there a second time. */
		for (i = at; i < at + count; i++)
			model[i] = model[i] == NONE ? PUT : READY;
	} else if (what == NONE) {
		if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from,
			      (off_t)(count * PAGE)))
			die("punch", "");
		memset(model + at, NONE, count);
	}
}

static bool matches(const struct memfile *f, const unsigned char *model, unsigned int run)
{
	uint64_t resident = 0, allocated = 0;
	unsigned int i;

	for (i = 0; i < PAGES; i++) {
		resident += model[i] == READY && i * PAGE < f->bytes ? PAGE : 0;
		allocated += model[i] != NONE ? PAGE : 0;
	}
	if (f->resident == resident && f->allocated == allocated)
		return true;
	tap_note("file %u of %llu bytes: resident %llu, expected %llu; allocated %llu, expected "
		 "%llu", run, (unsigned long long)f->bytes, (unsigned long long)f->resident,
		 (unsigned long long)resident, (unsigned long long)f->allocated,
		 (unsigned long long)allocated);
	return false;
}

static void test_count(void)
{
	unsigned int run, i, wrong = 0, changes;
	char path[64], why[256];

	for (run = 0; run < 300 && !wrong; run++) {
		const size_t bytes = 1 + (size_t)below(PAGES * PAGE);
		unsigned char model[PAGES] = { NONE };
		int fd = new_memfd(), err;
		struct memfile f;

		if (ftruncate(fd, (off_t)bytes))
			die("ftruncate", "");
		changes = (unsigned int)below(40);
		for (i = 0; i < changes; i++)
			happen(fd, model, bytes);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		err = memfile_open(path, false, &f, why, sizeof(why));
		wrong += err || f.kind != MEMFILE_MEMFD || f.bytes != bytes ||
			 !matches(&f, model, run);
		memfile_close(&f);
		close(fd);
	}
	tap_ok(!wrong, "300 memfds of random pages, within the end and beyond it");
}

/* All that is known of a file but its pages; of those it has 2, and 4 beyond its end. */
static struct memfile half_known(enum memfile_kind kind)
{
	struct memfile f = { .fd = new_memfd(), .kind = kind, .page = PAGE, .mapped = 3 * PAGE };

	f.bytes = 2 * PAGE + 1000;
	if (ftruncate(f.fd, (off_t)f.bytes) || pwrite(f.fd, "x", 1, 0) != 1 ||
	    pwrite(f.fd, "x", 1, (off_t)(2 * PAGE)) != 1 ||
	    fallocate(f.fd, FALLOC_FL_KEEP_SIZE, (off_t)(4 * PAGE), (off_t)(4 * PAGE)))
		die("memfd", "");
	return f;
}

/* In whole pages, whatever the kind: what is filled is the difference to what is mapped. */
static void test_kinds(void)
{
	static const struct {
		enum memfile_kind kind;
		uint64_t resident, allocated;
	} table[] = {
		{ MEMFILE_TMPFS, 2 * PAGE, 6 * PAGE }, { MEMFILE_MEMFD, 2 * PAGE, 6 * PAGE },
		/* Six pages are too many: some are beyond the end, all may be there. */
		{ MEMFILE_HUGETLB, 3 * PAGE, 6 * PAGE },
		{ MEMFILE_DEVDAX, 3 * PAGE, 3 * PAGE }, { MEMFILE_FSDAX, 3 * PAGE, 3 * PAGE },
	};
	size_t i;

	for (i = 0; i < LENGTH(table); i++) {
		struct memfile f = half_known(table[i].kind);

		memfile_count(&f);
		if (!tap_ok(f.resident == table[i].resident && f.allocated == table[i].allocated,
			    "2 pages and 1000 bytes, as %s", memfile_kinds[table[i].kind]))
			tap_note("resident %llu, allocated %llu", (unsigned long long)f.resident,
				 (unsigned long long)f.allocated);
		memfile_close(&f);
	}
}

/* What it has become since it was opened is not what is mapped. */
static void test_grown(void)
{
	struct memfile f = half_known(MEMFILE_MEMFD);
	static const char more[8 * PAGE];

	if (pwrite(f.fd, more, sizeof(more), 0) != (ssize_t)sizeof(more))
		die("pwrite", "");
	memfile_count(&f);
	tap_ok(f.resident == f.mapped && f.allocated == sizeof(more), "it has grown meanwhile");
	memfile_close(&f);
}

int main(void)
{
	seed();
	if (pages_come_alone()) {
		test_grown();
		test_count();
		test_kinds();
	} else {
		tap_skip("pages of memfds", "shmem_enabled: huge pages for all of them");
	}
	return tap_done();
}
