// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was done, in /sys/kernel/debug/clearpages: `stats`, counters since load,
 * and `state`, what is in force, both as lines "name value". Counters are per
 * cpu: a fault writes to no line that another cpu writes to.
 */
#include "clearpages.h"

#include <linux/bitops.h>
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

#define CREATE_TRACE_POINTS
#include "trace.h"

#define SIZES 20	/* 4 KiB to 2 GiB and above, by powers of two */
#define TIMES 28	/* under 1 us, 1 us, 2 us, 4 us... to 67 s and above */

struct count {
	u64 n, bytes;
};

/*
 * One time says little of 2 MiB and of 1 GiB together. That this is 256 bytes,
 * and what is counted of a page lies together, saves the fault instructions.
 */
struct by_size {
	struct count zeroed, skipped;
	u64 time[TIMES];
};

struct stats {
	struct by_size size[SIZES];
	struct count far[CPG_VARIANTS_MAX];	/* n: calls of the variant */
	struct count near[CPG_VARIANTS_MAX];
	u64 breaths, ns;
	struct count node[];			/* nr_node_ids */
};

static struct stats __percpu *stats;
static struct dentry *dir;

static size_t stats_size(void)
{
	return struct_size((struct stats *)NULL, node, nr_node_ids);
}

static void count(struct count *c, u64 n, u64 bytes)
{
	c->n += n;
	c->bytes += bytes;
}

void clearpages_stats_add(const struct clearpages_event *e, const struct clearpages_live *live)
{
	unsigned int size = min_t(unsigned int, __fls(e->size) - PAGE_SHIFT, SIZES - 1);
	/* 0 is 0, 1 is 1, 2 and 3 are 2: fls64() without an instruction for its 0. */
	unsigned int time = min_t(unsigned int, __fls(e->ns / NSEC_PER_USEC * 2 + 1), TIMES - 1);
	struct by_size *z;
	struct stats *s;

	trace_clear_folio(e, live);
	s = get_cpu_ptr(stats);
	z = &s->size[size];
	if (e->skipped) {
		count(&z->skipped, 1, e->size);
	} else {
		count(&z->zeroed, 1, e->size);
		z->time[time]++;
		count(&s->far[live->far], e->tally.far_calls, e->tally.far_bytes);
		count(&s->near[live->near], e->tally.near_calls, e->tally.near_bytes);
		if ((unsigned int)e->node < nr_node_ids)
			count(&s->node[e->node], 1, e->size);
		s->breaths += e->tally.breaths;
		s->ns += e->ns;
	}
	put_cpu_ptr(stats);
}

/* ---- /sys/kernel/debug/clearpages/stats ------------------------------------------------- */

/* All of struct stats is u64. */
static void add_up(struct stats *sum)
{
	size_t i, words = stats_size() / sizeof(u64);
	int cpu;

	for_each_possible_cpu(cpu) {
		const u64 *from = (const u64 *)per_cpu_ptr(stats, cpu);

		for (i = 0; i < words; i++)
			((u64 *)sum)[i] += READ_ONCE(from[i]);
	}
}

/* 64K, 2M, 1G. */
static const char *size_name(unsigned int i, char *name, size_t len)
{
	unsigned int shift = i + PAGE_SHIFT;

	scnprintf(name, len, "%lu%c", 1ul << shift % 10, shift < 20 ? 'K' : shift < 30 ? 'M' : 'G');
	return name;
}

static void show_sizes(struct seq_file *m, const struct stats *s)
{
	char name[8];
	unsigned int i;

	for (i = 0; i < SIZES; i++) {
		if (!s->size[i].zeroed.n && !s->size[i].skipped.n)
			continue;
		size_name(i, name, sizeof(name));
		seq_printf(m, "folios_%s %llu\n", name, s->size[i].zeroed.n);
		seq_printf(m, "skipped_%s %llu\n", name, s->size[i].skipped.n);
	}
}

static void show_times(struct seq_file *m, const struct stats *s)
{
	unsigned int i, t;
	char name[8];

	for (i = 0; i < SIZES; i++)
		for (t = 0; t < TIMES; t++)
			if (s->size[i].time[t])
				seq_printf(m, "took_%s_%luus %llu\n",
					   size_name(i, name, sizeof(name)),
					   t ? 1ul << (t - 1) : 0, s->size[i].time[t]);
}

static void show_variants(struct seq_file *m, const struct stats *s)
{
	const struct cpg_variant *v;
	unsigned int i;

	for (i = 0; i < CPG_VARIANTS_MAX && (v = cpg_variant_at(i)); i++) {
		seq_printf(m, "calls_%s %llu\n", v->name, s->far[i].n + s->near[i].n);
		seq_printf(m, "far_calls_%s %llu\n", v->name, s->far[i].n);
		seq_printf(m, "far_bytes_%s %llu\n", v->name, s->far[i].bytes);
		seq_printf(m, "near_calls_%s %llu\n", v->name, s->near[i].n);
		seq_printf(m, "near_bytes_%s %llu\n", v->name, s->near[i].bytes);
	}
}

static int stats_show(struct seq_file *m, void *unused)
{
	struct stats *s = kzalloc(stats_size(), GFP_KERNEL);
	struct count zeroed = { 0 }, skipped = { 0 };
	unsigned int i;

	if (!s)
		return -ENOMEM;
	add_up(s);
	for (i = 0; i < SIZES; i++) {
		count(&zeroed, s->size[i].zeroed.n, s->size[i].zeroed.bytes);
		count(&skipped, s->size[i].skipped.n, s->size[i].skipped.bytes);
	}
	seq_printf(m, "folios %llu\nbytes %llu\nns %llu\n", zeroed.n, zeroed.bytes, s->ns);
	seq_printf(m, "skipped %llu\nskipped_bytes %llu\n", skipped.n, skipped.bytes);
	seq_printf(m, "breaths %llu\n", s->breaths);
	show_sizes(m, s);
	show_variants(m, s);
	for (i = 0; i < nr_node_ids; i++)
		if (s->node[i].n)
			seq_printf(m, "node%u_folios %llu\nnode%u_bytes %llu\n", i, s->node[i].n,
				   i, s->node[i].bytes);
	show_times(m, s);
	kfree(s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

/* ---- /sys/kernel/debug/clearpages/state --------------------------------------------------- */

static int state_show(struct seq_file *m, void *unused)
{
	bool preemptible = cpg_preemptible();
	struct clearpages_live live;
	char text[CPG_POLICY_TEXT];

	if (!clearpages_policy_get(&live, preemptible))
		return -ENODEV;
	cpg_policy_format(&live.policy, text, sizeof(text));
	seq_printf(m, "version %s\n", CLEARPAGES_VERSION);
	seq_printf(m, "target %s\n", clearpages_target);
	seq_printf(m, "preemptible %s\n", preemptible ? "yes" : "no");
	seq_printf(m, "in_force %s\n", text);
	seq_printf(m, "skip_zeroed %s\n", clearpages_skip_state());
	seq_printf(m, "clock %s\n", clearpages_clock());
	clearpages_policy_state(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

/* ---- the folder ------------------------------------------------------------------------------ */

int __init clearpages_stats_start(void)
{
	stats = __alloc_percpu(stats_size(), sizeof(u64));
	if (!stats)
		return -ENOMEM;
	/* Without debugfs, or under a lockdown that shuts it, there are just no files. */
	dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("stats", 0444, dir, NULL, &stats_fops);
	debugfs_create_file("state", 0444, dir, NULL, &state_fops);
	return 0;
}

void clearpages_stats_stop(void)
{
	debugfs_remove(dir);
	free_percpu(stats);
}
