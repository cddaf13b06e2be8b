// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameters policy and budget_us, and what follows from them. Faults copy
 * the result under RCU and never wait; writers are serialised by a mutex.
 */
#include "clearpages.h"

#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#define TEXT_MAX 256	/* of the parameter; longer than any policy as it is printed */

/* Batches are not smaller than this: 4 us at 16 GiB/s, a breath costs nothing beside it. */
#define BATCH_MIN ((size_t)64 << 10)
/* MiB/s where nothing was measured: slower than any machine that has huge pages. */
#define RATE_UNKNOWN 1024

static DEFINE_MUTEX(lock);	/* all of these */
static char text[TEXT_MAX] = "auto";
static unsigned int budget_us = 1000;
static const struct cpg_facts *facts;	/* NULL before start: what is set is only kept */
static const struct clearpages_rates *rates;
static const struct cpg_policy *chosen;

/* Both kinds of preemption model; a fault copies the one that it needs. */
static struct published {
	struct clearpages_live batched, whole;
} __rcu *published;

unsigned int clearpages_variant_index(const struct cpg_variant *v)
{
	unsigned int i = 0;

	while (cpg_variant_at(i) && cpg_variant_at(i) != v)
		i++;
	return i;
}

/* ---- text to policy ------------------------------------------------------------ */

/* Has the text a word that begins with key (its '=' included)? */
static bool has_key(const char *t, const char *key, size_t len)
{
	for (; t; t = strchr(t, ',')) {
		t += *t == ',';
		if (!strncmp(t, key, len))
			return true;
	}
	return false;
}

/*
 * For core `auto` is what a table says; here it is what was measured. So a text
 * that changes `auto` gets all the keys that it does not have itself from there.
 */
static int over_chosen(const char *t, struct cpg_policy *p)
{
	size_t name = strcspn(t, "=,"), len;
	char full[TEXT_MAX + CPG_POLICY_TEXT], *base, *rest, *word;

	if (t[name] != '=' && !(name == 4 && !strncmp(t, "auto", 4)))
		return cpg_policy_parse(t, facts, p, NULL);
	if (t[name] == ',')
		t += name + 1;
	else if (!t[name])
		t += name;

	base = kmalloc(CPG_POLICY_TEXT, GFP_KERNEL);
	if (!base)
		return -ENOMEM;
	cpg_policy_format(chosen, base, CPG_POLICY_TEXT);
	len = strscpy(full, t, sizeof(full));
	rest = base;
	while ((word = strsep(&rest, ",")))
		if (!has_key(t, word, strcspn(word, "=") + 1))
			len += scnprintf(full + len, sizeof(full) - len, "%s%s", len ? "," : "", word);
	kfree(base);
	return cpg_policy_parse(full, facts, p, NULL);
}

/* Variants of user space that a person may well ask for: why not here. */
static const char *why_not_here(const char *word, size_t len)
{
	static const char *const vector[] = { "avx2", "avx512", "ntavx2", "ntavx512" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vector); i++)
		if (strlen(vector[i]) == len && !strncmp(word, vector[i], len))
			return ": it needs the vector registers, which a fault would have to save";
	if (len == 6 && !strncmp(word, "memset", len))
		return ": it is the C library's, for programs only";
	return "";
}

static int parse(const char *t, const struct cpg_facts *f, struct cpg_policy *p)
{
	struct cpg_text_error e;
	int err = cpg_policy_parse(t, f, p, &e);

	if (err)
		pr_err("policy '%s': '%.*s' %s%s\n", t, (int)e.len, t + e.pos,
		       cpg_text_fault(e.fault),
		       e.fault == CPG_TEXT_VARIANT ? why_not_here(t + e.pos, e.len) : "");
	return err;
}

/* ---- policy to what faults use --------------------------------------------------- */

/* What the slower of both variants zeroes in the budget. */
static size_t budget_bytes(const struct cpg_policy *p)
{
	unsigned int far = rates->large[clearpages_variant_index(p->far)];
	unsigned int near = rates->large[clearpages_variant_index(p->near)];
	u64 bytes = (u64)(min(far, near) ?: RATE_UNKNOWN) * budget_us;

	return clamp_t(u64, round_down(bytes, CPG_GRANULE), BATCH_MIN, CPG_POLICY_SIZE_MAX);
}

/*
 * A preemptible kernel needs no breathing points at all. In the others the
 * shorter of the policy's own batch and the budget counts; no budget means the
 * policy's own, which may be none.
 */
static void fill(struct published *new, const struct cpg_policy *p)
{
	size_t most = budget_us ? budget_bytes(p) : 0;

	new->batched.policy = *p;
	new->batched.far = clearpages_variant_index(p->far);
	new->batched.near = clearpages_variant_index(p->near);
	new->whole = new->batched;
	new->whole.policy.batch = 0;
	if (most && (!p->batch || p->batch > most))
		new->batched.policy.batch = most;
}

static int publish(const char *t)
{
	struct published *new, *old;
	struct cpg_policy p;
	int err = parse(t, facts, &p);

	if (!err)
		err = over_chosen(t, &p);
	if (err)
		return err;
	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	fill(new, &p);
	old = rcu_replace_pointer(published, new, lockdep_is_held(&lock));
	if (old) {
		synchronize_rcu();
		kfree(old);
	}
	return 0;
}

bool clearpages_policy_get(struct clearpages_live *live, bool preemptible)
{
	const struct published *p;

	/* Not rcu_read_lock(): on a preemptible kernel that is two calls, in each fault. */
	rcu_read_lock_sched();
	p = rcu_dereference_sched(published);
	if (p)
		*live = preemptible ? p->whole : p->batched;
	rcu_read_unlock_sched();
	return p;
}

/* Before anything that takes time: so far only the words can be wrong. */
int __init clearpages_policy_check(const struct cpg_facts *f)
{
	struct cpg_policy p;
	int err;

	mutex_lock(&lock);
	err = parse(text, f, &p);
	mutex_unlock(&lock);
	return err;
}

int __init clearpages_policy_start(const struct cpg_facts *f, const struct clearpages_rates *r,
				   const struct cpg_policy *c)
{
	int err;

	mutex_lock(&lock);
	facts = f;
	rates = r;
	chosen = c;
	err = publish(text);
	if (err)
		facts = NULL;
	mutex_unlock(&lock);
	return err;
}

void clearpages_policy_stop(void)
{
	mutex_lock(&lock);
	facts = NULL;
	kfree(rcu_replace_pointer(published, NULL, lockdep_is_held(&lock)));
	mutex_unlock(&lock);
}

void clearpages_policy_state(struct seq_file *m)
{
	const struct cpg_variant *v;
	unsigned int i;

	mutex_lock(&lock);
	seq_printf(m, "policy %s\nbudget_us %u\n", text, budget_us);
	for (i = 0; facts && i < CPG_VARIANTS_MAX && (v = cpg_variant_at(i)); i++)
		seq_printf(m, "rate_%s_64K %u\nrate_%s_2M %u\n", v->name, rates->small[i], v->name,
			   rates->large[i]);
	mutex_unlock(&lock);
}

/* ---- the parameters ---------------------------------------------------------------- */

static int set_policy(const char *val, const struct kernel_param *kp)
{
	char t[TEXT_MAX];
	ssize_t len = strscpy(t, val, sizeof(t));
	int err = 0;

	if (len < 0) {
		pr_err("policy: longer than %d characters\n", TEXT_MAX - 1);
		return -EINVAL;
	}
	if (len && t[len - 1] == '\n')	/* that of echo */
		t[len - 1] = '\0';
	mutex_lock(&lock);
	if (facts)
		err = publish(t);
	if (!err)
		memcpy(text, t, sizeof(t));
	mutex_unlock(&lock);
	return err;
}

static int get_policy(char *buf, const struct kernel_param *kp)
{
	int len;

	mutex_lock(&lock);
	len = scnprintf(buf, PAGE_SIZE, "%s\n", text);
	mutex_unlock(&lock);
	return len;
}

static const struct kernel_param_ops policy_ops = { .set = set_policy, .get = get_policy };
module_param_cb(policy, &policy_ops, NULL, 0644);
MODULE_PARM_DESC(policy, "how to zero: a policy name, key=value changes, or both; default auto");

static int set_budget(const char *val, const struct kernel_param *kp)
{
	unsigned int was, now;
	int err = kstrtouint(val, 0, &now);

	if (err)
		return err;
	mutex_lock(&lock);
	was = budget_us;
	budget_us = now;
	if (facts)
		err = publish(text);
	if (err)
		budget_us = was;
	mutex_unlock(&lock);
	return err;
}

static int get_budget(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "%u\n", READ_ONCE(budget_us));
}

static const struct kernel_param_ops budget_ops = { .set = set_budget, .get = get_budget };
module_param_cb(budget_us, &budget_ops, NULL, 0644);
MODULE_PARM_DESC(budget_us, "longest time between breathing points where the kernel cannot preempt; 0: only those of the policy; default 1000");
