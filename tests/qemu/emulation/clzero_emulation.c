// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests in QEMU only: gives the kernel a processor with CLZERO. TCG has not
 * the instruction; run in the kernel it ends in an invalid-opcode trap, and the
 * notifier here does what it would have done: zeroes the 64 bytes that rax lies
 * in. The feature bit is set where modules that are loaded later look for it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/kdebug.h>
#include <linux/module.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#include <asm/traps.h>

static atomic64_t emulated;
static bool had_it;

static int on_trap(struct notifier_block *nb, unsigned long event, void *data)
{
	const u8 clzero[] = { 0x0f, 0x01, 0xfc };
	struct die_args *args = data;
	struct pt_regs *regs = args->regs;
	unsigned long *line;
	int i;

	if (event != DIE_TRAP || args->trapnr != X86_TRAP_UD || user_mode(regs) ||
	    memcmp((void *)regs->ip, clzero, sizeof(clzero)))
		return NOTIFY_DONE;
	line = (unsigned long *)(regs->ax & ~63UL);
	for (i = 0; i < 8; i++)
		line[i] = 0;
	regs->ip += sizeof(clzero);
	atomic64_inc(&emulated);
	return NOTIFY_STOP;
}

static struct notifier_block on_die = { .notifier_call = on_trap };

static int __init emulation_init(void)
{
	int err = register_die_notifier(&on_die);

	if (err)
		return err;
	had_it = test_and_set_bit(X86_FEATURE_CLZERO,
				  (unsigned long *)boot_cpu_data.x86_capability);
	pr_info("the processor has CLZERO now\n");
	return 0;
}

static void __exit emulation_exit(void)
{
	if (!had_it)
		clear_bit(X86_FEATURE_CLZERO, (unsigned long *)boot_cpu_data.x86_capability);
	unregister_die_notifier(&on_die);
	pr_info("%lld times emulated\n", (long long)atomic64_read(&emulated));
}

module_init(emulation_init);
module_exit(emulation_exit);
MODULE_DESCRIPTION("CLZERO where there is none, for tests");
MODULE_LICENSE("GPL");
