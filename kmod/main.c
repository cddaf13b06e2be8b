// SPDX-License-Identifier: GPL-2.0-only
/*
 * clearpages.ko: the clearing policies of core/ under the huge-page faults of the
 * kernel that runs, as a livepatch. In: insmod. Out: 0 into
 * /sys/kernel/livepatch/clearpages/enabled, wait until that folder is gone, rmmod.
 */
#include "clearpages.h"

#include <linux/module.h>

static bool selftest_all;
module_param(selftest_all, bool, 0444);
MODULE_PARM_DESC(selftest_all, "run at load also the cases of the self-test that take seconds");

static struct cpg_facts facts;
static struct clearpages_rates rates;
static struct cpg_policy chosen;

static int __init clearpages_init(void)
{
	int err;

#ifdef CLEARPAGES_PLANT
	pr_warn("built with a planted bug (%s), for tests only\n", CLEARPAGES_PLANT);
#endif
	clearpages_detect(&facts);
	err = clearpages_policy_check(&facts);
	if (err) {
		pr_err("not loaded: the policy was refused\n");
		return err;
	}
	err = clearpages_selftest(&facts, selftest_all);
	if (err) {
		pr_err("not loaded: the self-test %s\n",
		       err == -ENOMEM ? "got no memory" : "failed, see above; please report this");
		return err;
	}
	clearpages_calibrate(&facts, &rates);
	clearpages_auto(&facts, &rates, &chosen);
	err = clearpages_policy_start(&facts, &rates, &chosen);
	if (err)
		return err;
	err = clearpages_stats_start();
	if (err) {
		pr_err("not loaded: no memory for statistics\n");
		goto stop_policy;
	}
	err = clearpages_patch();
	if (err)
		goto stop_stats;
	pr_info("%s() replaced; pages that are zero already are left alone: %s\n",
		clearpages_target, clearpages_skip_state());
	return 0;

stop_stats:
	clearpages_stats_stop();
stop_policy:
	clearpages_policy_stop();
	return err;
}

/* livepatch holds the module until no task is in it any more. */
static void __exit clearpages_exit(void)
{
	clearpages_stats_stop();
	clearpages_policy_stop();
}

module_init(clearpages_init);
module_exit(clearpages_exit);
MODULE_DESCRIPTION("Zeroes huge pages faster, as a livepatch");
MODULE_AUTHOR("the clearpages project");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLEARPAGES_VERSION);
MODULE_INFO(livepatch, "Y");
#ifdef CLEARPAGES_PLANT
MODULE_INFO(planted, CLEARPAGES_PLANT);
#endif
