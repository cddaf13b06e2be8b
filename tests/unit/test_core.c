/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cases of core/test in user space, in a buffer between inaccessible
 * pages. SEED in the environment repeats a run: the seed is printed.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../core/test/cpg_test.h"
#include "tap.h"
#include "test_core.h"

static char *buffer;

/* Only what a signal handler may do: the last words before the fault is taken again. */
static void fault(int sig, siginfo_t *info, void *context)
{
	static const char before[] = "# died in the page before the buffer\n";
	static const char behind[] = "# died in the page behind the buffer\n";
	const char *addr = info->si_addr;
	ssize_t done = 0;

	(void)sig;
	(void)context;
	if (addr >= buffer - CPG_GRANULE && addr < buffer)
		done = write(STDOUT_FILENO, before, sizeof(before) - 1);
	else if (addr >= buffer + CPG_TEST_BUFFER && addr < buffer + CPG_TEST_BUFFER + CPG_GRANULE)
		done = write(STDOUT_FILENO, behind, sizeof(behind) - 1);
	(void)done;
}

static void report(void *arg, enum cpg_test_result result, const char *name, const char *why)
{
	(void)arg;
	if (result == CPG_TEST_SKIPPED) {
		tap_skip(name, why);
		return;
	}
	if (result == CPG_TEST_FAILED && *why)
		tap_note("%s", why);
	tap_ok(result == CPG_TEST_OK, "%s", name);
}

static char *guarded(size_t size)
{
	char *p = mmap(NULL, size + 2 * CPG_GRANULE, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + CPG_GRANULE, size, PROT_READ | PROT_WRITE))
		return NULL;
	return p + CPG_GRANULE;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_RESETHAND };
	const char *seed = getenv("SEED");
	struct cpg_facts facts = test_core_facts();
	struct cpg_test_env env = {
		.size = CPG_TEST_BUFFER, .facts = &facts, .report = report,
		.seed = seed ? (uint32_t)strtoul(seed, NULL, 0) : 20260731,
	};
	const struct cpg_test_case *c;

	buffer = guarded(env.size);
	env.buffer = buffer;
	if (!tap_ok(buffer != NULL, "a buffer between inaccessible pages"))
		return tap_done();
	sigaction(SIGSEGV, &action, NULL);
	tap_note("SEED=%u", (unsigned int)env.seed);
	for (unsigned int i = 0; (c = cpg_test_case_at(i)); i++) {
		tap_note("case: %s", c->name);
		c->run(&env);
	}
	return tap_done();
}
