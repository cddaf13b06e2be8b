/* SPDX-License-Identifier: GPL-2.0-only */
/* The module under test: loading, switching, its counters, the kernel's log. */
#ifndef MODULE_H
#define MODULE_H

#include "guest.h"

#define MODULE "clearpages"
#define MODULE_FILE "/lib/clearpages.ko"

/* ---- module.c --------------------------------------------------------------- */

/* 0 or the errno that the kernel gave; the module's parameters as insmod has them. */
int try_load(const char *file, const char *params);
/* Loads it and waits until every task runs the patched function. */
void load(const char *params);
/* Disables it, waits until no task is in it, and takes it out; ends well if it isn't in. */
void unload(void);
bool is_loaded(void);
/* 1 or 0 into the livepatch's `enabled`: 0 or an errno. */
int enable(bool on);
bool is_enabled(void);
/* Out if it is in, then in with these parameters. */
void reload(const char *params);
/* True once the transition is over; after `ms` milliseconds false. */
bool transition_over(unsigned int ms);
/* Ends the check if the module refuses the policy. */
void set_policy(const char *policy);
int try_policy(const char *policy);

/* ---- check_preempt.c ---------------------------------------------------------- */

#define MODELS 5

/* Can this kernel change its preemption model? */
bool has_models(void);
/* False if it lacks that of the four. */
bool switch_model(unsigned int model);
/* That of the command line's preempt=, or NULL. */
const char *booted_model(void);
/* Runs it in a process of its own, the module loaded; the model is put back in any case. */
void keep_model(void (*run)(void));

/* ---- klog.c ------------------------------------------------------------------- */

/* From here on; a descriptor for the next two. */
int klog_from_here(void);
/* The messages since then that hold `word`, one a line. */
const char *klog_lines(int klog, const char *word);

/* ---- counters.c --------------------------------------------------------------- */

#define MAX_VARIANTS 8

/* The module's own counters; what it did since it was loaded. */
struct counters {
	uint64_t folios[3];	/* by size: 64K, 2M, 1G */
	uint64_t skipped;	/* the allocator had zeroed them */
	uint64_t bytes;
	uint64_t breaths;
	uint64_t calls;		/* of all variants */
	unsigned int variants;
	struct variant_counter {
		char name[16];
		uint64_t calls;
	} variant[MAX_VARIANTS];
};

void read_counters(struct counters *c);
/* What was counted from *before to *after. */
struct counters counted(const struct counters *before, const struct counters *after);
/* Folios of that kind's size that the module zeroed itself. */
uint64_t folios_of(const struct counters *c, const struct kind *kind);
/* Calls of one variant; 0 if the module has none of that name. */
uint64_t calls_of(const struct counters *c, const char *variant);

/* ---- the checks, by file --------------------------------------------------------- */

/* Faults `pages` pages of that kind and holds the counters against them. */
void check_kind(const struct kind *kind, size_t pages, const char *when);

void check_load(void);
void check_selftest(void);
void check_hugetlb_2m(void);
void check_hugetlb_1g(void);
void check_thp(void);
void check_mthp_64k(void);
void check_memfd(void);
void check_fallocate(void);
void check_shared_1g(void);

void check_policies(void);
void check_refused_policies(void);
void check_variants(void);
void check_clzero(void);
void check_call_counts(void);

void check_preempt(void);
void check_preempt_switch(void);
void check_booted_model(void);

void check_stress(void);
void check_pressure(void);
void check_reloads(void);
void check_planted_leak(void);
void check_kmemleak(void);

void check_tracepoint(void);
void check_programs(void);
#define PROGRAMS 32
/* A check for each program in /tests, from checks[0] on, PROGRAMS at most: how many. */
size_t add_programs(struct check *checks);

void check_planted_glue(void);
void check_planted_variant(void);
void check_wrong_target(void);
void check_insns_kernel(void);
void check_insns_module(void);

void check_unload(void);
void check_taint(void);

#endif
