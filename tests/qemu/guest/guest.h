/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The test program that runs inside each kernel of the matrix. Started by init
 * as `guest PLAN`, it runs the checks of that plan one after the other, each in
 * a process of its own, and writes a line for each to the second serial port:
 *
 *	ok NAME MILLISECONDS
 *	not ok NAME MILLISECONDS why
 *	skip NAME MILLISECONDS why
 *
 * and `end N` after the last, N being the lines before it. Standard output is
 * the console, for people.
 */
#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* ---- report.c ------------------------------------------------------------- */

struct check {
	const char *name;
	void (*run)(void);
};

/* Runs the checks, up to one without a name. */
void run_checks(const struct check *checks);
/* The closing line; 0 if none failed. */
int end_checks(void);

/* Both end the check that calls them. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Why a process of the check failed; "" if none has. */
const char *failure(void);
/* It was expected. */
void forget_failure(void);
/* That of the check that runs. */
const char *check_name(void);
/* What all random numbers of this boot come from: guest.seed=N, else the time. */
unsigned int boot_seed(void);
/* A line on the console. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- util.c --------------------------------------------------------------- */

uint64_t now_ms(void);
void sleep_ms(unsigned int ms);
/* The same numbers for the same seed. */
uint64_t random_below(uint64_t below);
void random_seed(uint64_t seed);

/* A file's text, its last newline taken off; false if it can't be read. */
bool read_text(const char *path, char *text, size_t size);
/* 0 or the errno of what went wrong. */
int write_text(const char *path, const char *text);
/* The number on the line that starts with `word`; -1 if there is none. */
long long number_after(const char *path, const char *word);
bool kernel_at_least(unsigned int major, unsigned int minor);
/* A word of the kernel's command line ("init_on_alloc=0"). */
bool booted_with(const char *word);
/* A number from the command line of the kernel: guest.NAME=N. */
unsigned int setting(const char *name, unsigned int otherwise);
/* The child's exit status; ends the check if a signal killed it. */
int wait_for(int pid, const char *who);

/* ---- memory.c ------------------------------------------------------------- */

struct kind {
	const char *name;
	size_t page;
	bool hugetlb;
	bool shared;	/* by memfd */
	bool fallocate;	/* zeroed there, not at the touch */
};

extern const struct kind hugetlb_2m, hugetlb_1g, thp, mthp_64k, memfd_2m, memfd_1g,
	fallocate_2m, fallocate_1g;

#define TOUCHED 0x5a

/* n pages of that kind, or NULL. Nothing is touched yet. */
unsigned char *map_pages(const struct kind *kind, size_t n);
void unmap_pages(const struct kind *kind, unsigned char *pages, size_t n);
/* Makes all bytes non-zero. */
void dirty(unsigned char *p, size_t len);
/*
 * Dirties and frees pages, so that the next faults get these: every free page
 * of the pool, or twice as many as `pages` of other kinds.
 */
void dirty_free_pages(const struct kind *kind, size_t pages);
/* Ends the check if a byte but the one at `touch` is not zero. */
void must_be_zero(const struct kind *kind, const unsigned char *page, size_t touch,
		  const char *when);
/* A pool with n pages to give, no more if it can be; ends the check if there are fewer. */
void need_pool(const struct kind *kind, size_t n);
/* PREEMPT_RT has none. */
bool has_thp(void);
/* Has madvise() give out this kind, and no other. */
void choose_thp(const struct kind *kind);
/* Faults that got this kind so far, by the kernel's own count; -1: not counted. */
long long kernel_faults(const struct kind *kind);

/*
 * Touches page by page at first, middle, last and random offsets and looks at
 * every byte. Returns the number of pages.
 */
size_t fault_and_look(const struct kind *kind, size_t pages, const char *when);

#endif
