// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A virtual machine monitor that keeps its guests' memory in a pool.
 *
 *	cc vmm.c -lclearpages -pthread && ./a.out [bytes of a guest]
 *
 * Four guests run one after the other. Each gets memory that the guest before
 * has written all over, and must not see any of it. Start-up is what it takes
 * until the first word of each page can be written: by the kernel's faults; from
 * a pool that clears while the guest waits; and from one whose cleaner has had
 * the time between two guests.
 */
#include <clearpages.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define GUESTS 4
#define PAGE ((size_t)2 << 20)

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A guest boots: it touches all of its memory. False: it found something there. */
static int boot(char *memory, size_t bytes)
{
	size_t at, found = 0;

	for (at = 0; at < bytes; at += PAGE) {
		found += memory[at] != 0;
		memory[at] = 1;
	}
	return !found;
}

/* It runs, and leaves its secrets behind. */
static void run(char *memory, size_t bytes)
{
	memset(memory, 0x5e, bytes);
}

static int by_the_kernel(size_t bytes)
{
	double from = now_ms();
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int clean;

	if (memory == MAP_FAILED)
		return 0;
	madvise(memory, bytes, MADV_HUGEPAGE);
	clean = boot(memory, bytes);
	printf("  %7.1f ms", now_ms() - from);
	run(memory, bytes);
	munmap(memory, bytes);
	return clean;
}

static int by_the_pool(struct clearpages_pool *pool, size_t bytes)
{
	double from = now_ms();
	void *memory;
	int err = clearpages_pool_get(pool, bytes, NULL, &memory), clean;

	if (err) {
		printf("  get: %s", strerror(-err));
		return 0;
	}
	clean = boot(memory, bytes);
	printf("  %7.1f ms", now_ms() - from);
	run(memory, bytes);
	/* From here on the cleaner may have it. */
	clearpages_pool_put(pool, memory, bytes);
	return clean;
}

/* Time passes between one guest and the next; how much, a cleaner of idle priority decides. */
static void pause_until_clean(struct clearpages_pool *pool)
{
	struct clearpages_pool_stats s = { .size = sizeof(s) };

	do {
		usleep(1000);
		clearpages_pool_stats(pool, &s);
	} while (s.clean_bytes < s.total_bytes);
}

static int series(const char *name, size_t bytes, uint32_t cleaners)
{
	char why[256];
	/* No backing and no mode: what this machine has, cleared by get where it is not clean. */
	struct clearpages_pool_opts opts = {
		.size = sizeof(opts), .bytes = bytes, .page_bytes = PAGE, .cleaners = cleaners,
		.why = why, .why_size = sizeof(why),
	};
	struct clearpages_pool *pool;
	int guest, clean = 1, err = clearpages_pool_create(&pool, &opts);

	printf("%-28s", name);
	if (err) {
		printf("  %s: %s\n", strerror(-err), why);
		return 0;
	}
	for (guest = 0; guest < GUESTS; guest++) {
		clean &= by_the_pool(pool, bytes);
		if (cleaners != CLEARPAGES_NONE)
			pause_until_clean(pool);
	}
	printf("\n");
	return !clearpages_pool_destroy(pool) && clean;
}

int main(int argc, char **argv)
{
	uint64_t bytes = (uint64_t)64 << 20;
	int guest, clean = 1;

	if (argc > 1 && (clearpages_size_parse(argv[1], &bytes) || !bytes)) {
		fprintf(stderr, "usage: vmm [bytes of a guest, such as 4G]\n");
		return 2;
	}
	printf("start-up of %d guests of %llu MiB\n%-28s", GUESTS,
	       (unsigned long long)bytes >> 20, "the kernel's faults");
	for (guest = 0; guest < GUESTS; guest++)
		clean &= by_the_kernel(bytes);
	printf("\n");
	clean &= series("pool, cleared by get", bytes, CLEARPAGES_NONE);
	clean &= series("pool, cleared between guests", bytes, 1);
	puts(clean ? "no guest saw anything of another" : "FAILED");
	return !clean;
}
