// SPDX-License-Identifier: GPL-2.0-only
/* Preemption models: booted with, and switched while pages are zeroed. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"

#define MODEL_FILE "/sys/kernel/debug/sched/preempt"

/* Only the PREEMPT_RT of 6.12 has the last one: lazy, and no tick makes it full. */
static const char *const models[MODELS] = { "none", "voluntary", "full", "lazy", "laziest" };

/* "none voluntary (full) lazy": all that this kernel has, the one in force in brackets. */
static bool has_model(const char *model, bool *in_force)
{
	char text[128], *save = NULL, *w;
	bool now;

	if (!read_text(MODEL_FILE, text, sizeof(text)))
		skip("this kernel cannot change its preemption model");
	for (w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		now = w[0] == '(';
		w += now;
		w[strcspn(w, ")")] = 0;
		if (strcmp(w, model))
			continue;
		*in_force = now;
		return true;
	}
	return false;
}

static bool switch_to(const char *model)
{
	bool now = false;
	int err;

	if (!has_model(model, &now))
		return false;
	err = write_text(MODEL_FILE, model);
	if (err)
		fail("switching to preempt=%s: %s", model, strerror(err));
	if (!has_model(model, &now) || !now)
		fail("switched to preempt=%s, and it is not in force", model);
	return true;
}

bool has_models(void)
{
	return !access(MODEL_FILE, F_OK);
}

bool switch_model(unsigned int model)
{
	return switch_to(models[model]);
}

static const char *model_in_force(void)
{
	bool now = false;
	size_t i;

	for (i = 0; i < MODELS; i++)
		if (has_model(models[i], &now) && now)
			return models[i];
	fail(MODEL_FILE " names no model in force");
}

/*
 * A budget of 1 us is less than 2 MiB take: where the kernel can't preempt,
 * the module has to breathe; where it can, only if the policy says so.
 */
static void model_breathes(const char *model)
{
	bool preemptible = strcmp(model, "none") && strcmp(model, "voluntary");
	struct counters before, after, did;

	set_policy("oneshot");
	read_counters(&before);
	check_kind(&hugetlb_2m, 16, model);
	read_counters(&after);
	did = counted(&before, &after);
	if (preemptible ? did.breaths : !did.breaths)
		fail("preempt=%s, budget 1 us: %llu breaths in 16 pages of 2 MiB", model,
		     (unsigned long long)did.breaths);
}

/* In a process of its own, so that the model is put back even after a failure. */
void keep_model(void (*run)(void))
{
	const char *was = model_in_force();
	pid_t pid;
	int status;

	if (!is_loaded())
		load("");
	need_pool(&hugetlb_2m, 16);
	pid = fork();
	if (!pid) {
		run();
		_exit(0);
	}
	status = wait_for(pid, "the process that changes models");
	switch_to(was);
	if (status)
		_exit(status);
}

/* Of a kernel that cannot change it: PREEMPT_RT, or one without CONFIG_PREEMPT_DYNAMIC. */
static void only_model(void)
{
	struct utsname u;

	uname(&u);
	reload("budget_us=1");
	need_pool(&hugetlb_2m, 16);
	model_breathes(strstr(u.version, "PREEMPT") ? "full" : "voluntary");
	reload("");
}

static void each_model(void)
{
	char text[128];
	size_t i;

	/* For kernel.sh, which boots with each of them. */
	if (read_text(MODEL_FILE, text, sizeof(text)))
		say("guest: models: %s", text);
	if (write_text("/sys/module/" MODULE "/parameters/budget_us", "1"))
		reload("budget_us=1");
	for (i = 0; i < MODELS; i++)
		if (switch_to(models[i]))
			model_breathes(models[i]);
	reload("");
}

void check_preempt(void)
{
	if (has_models())
		keep_model(each_model);
	else
		only_model();
}

/* The model changes all the time while pages are zeroed. */
static void changing_models(void)
{
	volatile unsigned int *switches = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();
	size_t i;

	if (!pid) {
		for (i = 0;; i++) {
			*switches += switch_to(models[i % MODELS]);
			sleep_ms(20);
		}
	}
	/* However long that takes: a switch rewrites code, and took 10 s on a busy machine. */
	for (i = 0; i < 500 && (i < 6 || *switches < 2); i++) {
		set_policy(i % 2 ? "ranges,batch=64K" : "auto");
		check_kind(&hugetlb_2m, 16, "while models change");
		if (waitpid(pid, NULL, WNOHANG))
			fail("the process that switches ended");
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	say("guest: %u switches", *switches);
	if (*switches < 2)
		fail("%u switches while %zu times 16 pages were zeroed", *switches, i);
}

void check_preempt_switch(void)
{
	keep_model(changing_models);
}

const char *booted_model(void)
{
	char word[32];
	size_t i;

	for (i = 0; i < MODELS; i++) {
		snprintf(word, sizeof(word), "preempt=%s", models[i]);
		if (booted_with(word))
			return models[i];
	}
	return NULL;
}

/* The model that the command line asked for is in force, and pages are zeroed. */
void check_booted_model(void)
{
	const char *model = booted_model() ?: "";

	if (!*model)
		skip("booted without preempt=");
	if (strcmp(model_in_force(), model))
		skip("this kernel has no preempt=%s: it took %s", model, model_in_force());
	if (!is_loaded())
		load("");
	need_pool(&hugetlb_2m, 16);
	check_kind(&hugetlb_2m, 16, model);
}
