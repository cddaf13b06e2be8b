// SPDX-License-Identifier: GPL-2.0-only
/*
 * A QEMU plugin that counts the kernel's instructions between two marks of the
 * guest, for one processor (-smp 1). A mark is an 8-byte no-op with a number
 * that no compiler emits:
 *
 *	0f 1f 84 00 c1 ea 4a 01		start
 *	0f 1f 84 00 c1 ea 4a 02		stop: a line "insns N" goes to the file out=
 *
 * A string instruction counts once, however often QEMU comes back to it: that
 * is what the hardware's counter does, and what the processor decodes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is used of QEMU's qemu-plugin.h, which Debian has in no package; interface 4, QEMU 9.2 and later. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
typedef void (*vcpu_udata_cb)(unsigned int vcpu, void *data);
typedef void (*tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb cb);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, vcpu_udata_cb cb,
						   enum qemu_plugin_cb_flags flags, void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
extern size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 4;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			       char **argv);

static const unsigned char mark[] = { 0x0f, 0x1f, 0x84, 0x00, 0xc1, 0xea, 0x4a };
static FILE *out;
static uint64_t count, string_at, string_count;
static bool counting;

static void on_insn(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	count++;
}

/* Back at the same one, with nothing in between: another turn of the same instruction. */
static void on_string(unsigned int vcpu, void *data)
{
	uint64_t at = (uint64_t)(uintptr_t)data;

	(void)vcpu;
	if (at == string_at && count == string_count)
		return;
	string_at = at;
	string_count = ++count;
}

static void on_start(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	counting = true;
	count = string_at = 0;
}

static void on_stop(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (counting)
		fprintf(out, "insns %llu\n", (unsigned long long)count);
	fflush(out);
	counting = false;
}

static bool is_string(const unsigned char *code, size_t len)
{
	size_t i = 0;

	if (len < 2 || (code[0] != 0xf3 && code[0] != 0xf2))
		return false;
	i = (code[1] & 0xf0) == 0x40 ? 2 : 1;
	return i < len && ((code[i] >= 0xa4 && code[i] <= 0xa7) ||
			   (code[i] >= 0xaa && code[i] <= 0xaf));
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i, len;
	struct qemu_plugin_insn *insn;
	unsigned char code[16];
	uint64_t at;

	(void)id;
	for (i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		len = qemu_plugin_insn_data(insn, code, sizeof(code));
		at = qemu_plugin_insn_vaddr(insn);
		if (len == 8 && !memcmp(code, mark, sizeof(mark)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, code[7] == 1 ? on_start : on_stop,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		else if (at >> 63)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, is_string(code, len) ? on_string :
							       on_insn, QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)at);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
	if (!out)
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
