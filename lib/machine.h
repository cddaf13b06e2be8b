/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What machine this is: processor, caches, nodes, huge-page pools. Read from
 * /proc and /sys below a root of the caller's choice, so that dumps of other
 * machines can be replayed. Everything missing reads as 0 or "".
 */
#ifndef CLEARPAGES_LIB_MACHINE_H
#define CLEARPAGES_LIB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_CACHES 8
#define MACHINE_POOLS 16

struct machine_cache {
	unsigned int level;
	char type;		/* 'd' data, 'i' instructions, 'u' both */
	uint64_t bytes;		/* of one instance, as the machine says, 0 included */
	unsigned int shared;	/* cpus that share one instance */
};

struct machine {
	char vendor[16];	/* vendor_id as in /proc/cpuinfo */
	char model_name[96];
	char microcode[24];
	unsigned int family, model, stepping;
	uint32_t features;	/* core's bits; machine_features() names them */
	unsigned int cpus;	/* online */
	unsigned int nodes;	/* with memory or cpus, at least 1 */
	struct machine_cache cache[MACHINE_CACHES];
	unsigned int caches;
	/*
	 * The last-level cache that one cpu can fill, always a size to reckon
	 * with: 1 MiB..1 GiB, 8 MiB where the machine has nothing to say.
	 */
	uint64_t llc_bytes;
	uint64_t pool[MACHINE_POOLS];	/* huge-page sizes of hugetlb, ascending */
	unsigned int pools;
	uint64_t thp[MACHINE_POOLS];	/* of transparent ones in private memory, ascending */
	unsigned int thps;
};

/*
 * Never fails: what cannot be read is 0. root: "" for this machine; features are
 * then those that this process can use, which under an emulator such as
 * valgrind are fewer than /proc/cpuinfo has.
 */
void machine_read(const char *root, struct machine *m);

/* The processor features that core knows of, as words in one line. */
void machine_features(const struct machine *m, char *text, size_t size);

/*
 * The first line of a file below root, without its newline; what does not fit
 * is cut off. Returns its length, or -errno. The path is root + path.
 */
int machine_line(const char *root, const char *path, char *line, size_t size);

/*
 * The same as a number in decimal; -EINVAL if it does not begin with one. "max",
 * and a number that is too large, is UINT64_MAX.
 */
int machine_number(const char *root, const char *path, uint64_t *number);

#endif
