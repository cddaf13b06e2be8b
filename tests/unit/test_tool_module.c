// SPDX-License-Identifier: GPL-2.0-only
/* clearpages.ko in and out: what is tried, what is taken back, and every refusal in one line. */
#include "../../tools/tool.h"
#include "test_tool_module.h"

static char file[96], strange[96];

/* ---- what is asked of it ------------------------------------------------------------ */

static int load(const char *path)
{
	static const char *const params[] = { "policy=ranges", "budget_us=5" };
	int code;

	listen_begin();
	code = module_load(&calls, path, params, 2, MODULE_TIMEOUT_MS);
	listen_end();
	return code;
}

static int unload(void)
{
	int code;

	listen_begin();
	code = module_unload(&calls, MODULE_TIMEOUT_MS);
	listen_end();
	return code;
}

static int set(const char *policy)
{
	int code;

	listen_begin();
	code = module_policy_set(&calls, policy);
	listen_end();
	return code;
}

/* That code, and one line with both words. */
static bool failed(int code, int expected, const char *word, const char *other)
{
	if (code != expected)
		tap_note("exit code %d, expected %d", code, expected);
	return code == expected && one_line(heard_text, word) && one_line(heard_text, other);
}

/* ---- load ------------------------------------------------------------------------------ */

static void test_load(void)
{
	char packed[128];
	int code;

	boot();
	fake.in_ms = 16000;
	code = load(file);
	tap_ok(code == TOOL_OK && !*heard_text && fake.inserted == 1 && !fake.probed &&
	       !strcmp(fake.params, "policy=ranges budget_us=5") && !fake.flags,
	       "load: the file and its parameters, without a word");
	tap_ok(fake.now >= 16000 && fake.now < 17000 && has(MODULE_LIVEPATCH "/transition", "0"),
	       "load: returns when the transition is done");

	boot();
	code = load(NULL);
	tap_ok(code == TOOL_OK && fake.probed == 1 && !strcmp(fake.params, "2 policy=ranges"),
	       "load: without a file by modprobe");

	boot();
	shell("cp strange.ko strange.ko.xz");
	snprintf(packed, sizeof(packed), "%s.xz", strange);
	tap_ok(load(packed) == TOOL_OK && fake.flags == 4, "load: the kernel unpacks what is packed");

	boot();
	tap_ok(failed(load("/nonexistent.ko"), TOOL_FAILED, "'/nonexistent.ko': No such file", "") &&
	       !fake.inserted, "load: a file that is not there");
}

/* The kernel's answer to a file that a pipe has taken the place of meanwhile. */
static int insert_pipe(int fd, const char *params, int flags)
{
	insert(fd, params, flags);
	shell("rm turn.ko && mkfifo turn.ko");
	return -ENOEXEC;
}

/* What is no regular file, of which an open of a pipe would never return: for that the alarm. */
static void test_load_no_file(void)
{
	static const char *const what[] = { "pipe.ko", "folder.ko" };
	struct module_calls turning = calls;
	char path[128];
	size_t i;
	int code;

	boot();
	shell("mkfifo pipe.ko && mkdir folder.ko");
	alarm(20);
	for (i = 0; i < LENGTH(what); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, what[i]);
		tap_ok(failed(load(path), TOOL_FAILED, "not a regular file, expected a module", what[i]),
		       "load: no file: %s", what[i]);
	}
	tap_ok(failed(load("/dev/null"), TOOL_FAILED, "'/dev/null': not a regular file", ""),
	       "load: no file: a device");
	tap_ok(!fake.inserted, "load: and the kernel is not asked");

	snprintf(path, sizeof(path), "%s/turn.ko", root);
	shell("cp clearpages.ko turn.ko");
	turning.insert = insert_pipe;
	listen_begin();
	code = module_load(&turning, path, NULL, 0, MODULE_TIMEOUT_MS);
	listen_end();
	tap_ok(failed(code, TOOL_FAILED, "not a module of the kernel", "turn.ko") &&
	       fake.inserted == 1, "load: refused, and a pipe by the time that it is asked why");
	alarm(0);
	shell("rm -r pipe.ko folder.ko turn.ko");
}

static void test_load_stuck(void)
{
	int code;

	boot();
	fake.in_ms = NEVER;
	fake.out_ms = 5000;
	code = load(file);
	tap_ok(failed(code, TOOL_FAILED, "after 30 s, held up by 30 (thirty), 31 (thread);",
		      "taken out again"), "load: stuck, who holds it up, and taken back");
	tap_ok(fake.removed == 1 && !there(MODULE_SYS) && fake.now >= 35000 && fake.now < 36000,
	       "load: then it is not in any more");

	boot();
	fake.in_ms = fake.out_ms = NEVER;
	code = load(file);
	tap_ok(failed(code, TOOL_FAILED, "taking it back is not done after 30 s either", "thread") &&
	       !fake.removed, "load: stuck both ways, it says so and ends");

	boot();
	shell("rm -r proc/30");
	fake.in_ms = NEVER;
	tap_ok(failed(load(file), TOOL_FAILED, "held up by no task that /proc shows", "out again"),
	       "load: stuck, and nobody to blame");
}

static void test_load_impossible(void)
{
	boot();
	shell("rm -r sys/kernel/livepatch");
	tap_ok(failed(load(file), TOOL_UNSUPPORTED, "CONFIG_LIVEPATCH", ""), "load: no livepatch");
	boot();
	put("/proc/sys/kernel/ftrace_enabled", "0\n", "w");
	tap_ok(failed(load(file), TOOL_UNSUPPORTED, "sysctl kernel.ftrace_enabled=1", ""),
	       "load: ftrace is off");
	boot();
	put("/proc/sys/kernel/modules_disabled", "1\n", "w");
	tap_ok(failed(load(file), TOOL_UNSUPPORTED, "modules_disabled", ""), "load: no modules");
	boot();
	fake.nobody = true;
	tap_ok(failed(load(file), TOOL_FAILED, "not permitted", "root"), "load: not root");
	tap_ok(!fake.inserted && !fake.probed, "load: and then nothing is tried");

	boot_loaded();
	tap_ok(failed(load(file), TOOL_FAILED, "already, with policy auto", "module policy"),
	       "load: loaded already");
	transition("0\n", NEVER);
	tap_ok(failed(load(file), TOOL_FAILED, "already, and on its way out", ""),
	       "load: on its way out");
	shell("rm -r ." MODULE_LIVEPATCH);
	tap_ok(failed(load(file), TOOL_FAILED, "switched off", "module unload"),
	       "load: loaded, but switched off");
	tap_ok(!fake.inserted, "load: and then nothing is tried either");
}

static void test_load_refused(void)
{
	static const struct {
		int error;
		const char *says;
		int code;
		const char *word, *other;
	} table[] = {
		{ EKEYREJECTED, NULL, TOOL_UNSUPPORTED, "Secure Boot", "sign it" },
		{ ENOKEY, NULL, TOOL_UNSUPPORTED, "Secure Boot", "sign it" },
		{ EPERM, NULL, TOOL_FAILED, "not permitted", "root" },
		{ ENOEXEC, "3,2,2,-;clearpages: version magic 'x' should be 'y'\n", TOOL_UNSUPPORTED,
		  "built for kernel 6.1.0-57-cloud-amd64, and this is " RELEASE, "make kmod" },
		{ ENOENT, "4,2,2,-;clearpages: Unknown symbol klp_enable_patch (err -2)\n",
		  TOOL_UNSUPPORTED, "does not have", RELEASE },
		{ EBUSY, NULL, TOOL_FAILED, "another livepatch", "try again" },
		{ ENODEV, NULL, TOOL_UNSUPPORTED, "failed to start", "" },
		{ EIO, NULL, TOOL_FAILED, "self-test failed", "report" },
		{ EIO, "3,2,2,-;clearpages: self-test: failed: clzero\n", TOOL_FAILED,
		  "load: self-test: failed: clzero", "" },
		{ ENOMEM, NULL, TOOL_FAILED, "out of memory", "" },
		{ EINVAL, NULL, TOOL_FAILED, "dmesg", "" },
		{ EINVAL, "3,2,2,-;livepatch: symbol 'x' not found in symbol table\n"
		  "3,3,2,-;clearpages: cannot replace x()\n", TOOL_FAILED,
		  "load: symbol 'x' not found in symbol table; cannot replace x()", "" },
		{ EINVAL, "4,2,2,-;clearpages: loading out-of-tree module taints kernel.\n"
		  "6,3,2,-;clearpages: a remark\n 2,,,-;clearpages: a forgery\n"
		  "12,4,2,-;systemd: clearpages: of others\n"
		  "3,5,2,-;clearpages: policy 'nosuch': 'nosuch' is no policy\n", TOOL_USAGE,
		  "load: policy 'nosuch': 'nosuch' is no policy", "" },
		{ EOPNOTSUPP, "3,2,2,-;clearpages: policy 'far=clzero': lacks it\n",
		  TOOL_UNSUPPORTED, "lacks it", "" },
		{ ENOSYS, NULL, TOOL_UNSUPPORTED, "no modules", "" },
		{ ELOOP, NULL, TOOL_FAILED, "Too many levels", "" },
	};
	size_t i;

	for (i = 0; i < LENGTH(table); i++) {
		boot();
		fake.insert_error = table[i].error;
		fake.says = table[i].says;
		tap_ok(failed(load(file), table[i].code, table[i].word, table[i].other) &&
		       !strstr(heard_text, "taint") && !strstr(heard_text, "remark") &&
		       !strstr(heard_text, "of others") && !strstr(heard_text, "long ago"),
		       "load: refused with %s%s", strerror(table[i].error),
		       table[i].says ? ", and words" : "");
	}
}

static void test_load_refused_more(void)
{
	boot();
	put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n", "w");
	fake.insert_error = EPERM;
	tap_ok(failed(load(file), TOOL_UNSUPPORTED, "locked down", "sign it"), "load: lockdown");
	put("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n", "w");
	tap_ok(failed(load(file), TOOL_FAILED, "not permitted", "root"), "load: no lockdown");

	boot();
	fake.insert_error = ENOEXEC;
	tap_ok(failed(load(strange), TOOL_FAILED, "not a module", ""), "load: not a module");
	tap_ok(failed(load(NULL), TOOL_UNSUPPORTED, "not built for this very kernel (" RELEASE, ""),
	       "load: modprobe's is for another kernel");
	fake.insert_error = ENOENT;
	tap_ok(failed(load(NULL), TOOL_UNSUPPORTED, "no clearpages.ko for this kernel (" RELEASE,
		      "dkms"), "load: modprobe finds none");
	fake.insert_error = ENOTRECOVERABLE;
	tap_ok(failed(load(NULL), TOOL_FAILED, "modprobe failed", ""), "load: modprobe, no reason");
	boot();
	shell("rm dev/kmsg");
	fake.insert_error = 0;
	tap_ok(load(file) == TOOL_OK, "load: without a log that can be read");
}

/* kmod 30 and 34, busybox 1.35. */
static void test_modprobe(void)
{
	static const struct { const char *text; int error; } table[] = {
		{ "modprobe: FATAL: Module clearpages not found in directory /lib/modules/6.1\n", ENOENT },
		{ "modprobe: ERROR: could not insert 'clearpages': Key was rejected by service\n",
		  EKEYREJECTED },
		{ "modprobe: ERROR: could not insert 'clearpages': Operation not permitted\n", EPERM },
		{ "modprobe: ERROR: could not insert 'clearpages': Exec format error\n", ENOEXEC },
		{ "modprobe: ERROR: could not insert 'clearpages': Invalid argument\n", EINVAL },
		{ "modprobe: ERROR: could not insert 'clearpages': Input/output error\n", EIO },
		{ "modprobe: ERROR: could not insert 'clearpages': Device or resource busy\n", EBUSY },
		{ "modprobe: can't load module clearpages (x.ko): Operation not permitted\n", EPERM },
		{ "modprobe: module clearpages not found in modules.dep\n", ENOENT },
		{ "", ENOTRECOVERABLE }, { "Segmentation fault", ENOTRECOVERABLE },
	};
	size_t i;

	for (i = 0; i < LENGTH(table); i++)
		tap_ok(module_probe_error(table[i].text) == -table[i].error, "modprobe: %s is \"%s\"",
		       strerror(table[i].error), table[i].text);
}

/* ---- unload ------------------------------------------------------------------------------ */

static void test_unload(void)
{
	boot_loaded();
	fake.out_ms = 7000;
	tap_ok(unload() == TOOL_OK && !*heard_text && fake.removed == 1 && !there(MODULE_SYS) &&
	       fake.now >= 7000 && fake.now < 8000, "unload: off, waited for, and out");
	tap_ok(failed(unload(), TOOL_FAILED, "not loaded", ""), "unload: not loaded");

	boot_loaded();
	shell("rm -r ." MODULE_LIVEPATCH);
	tap_ok(unload() == TOOL_OK && fake.removed == 1, "unload: switched off already");

	boot_loaded();
	transition("0\n", 3000);
	tap_ok(unload() == TOOL_OK && fake.removed == 1 && fake.now >= 3000,
	       "unload: on its way out already");

	boot_loaded();
	transition("1\n", NEVER);
	fake.out_ms = 100;
	tap_ok(unload() == TOOL_OK && fake.removed == 1, "unload: still on its way in");

	boot_loaded();
	fake.busy_ms = 1000;
	tap_ok(unload() == TOOL_OK && fake.removed == 1, "unload: a reference that goes away");
	boot_loaded();
	fake.busy_ms = NEVER;
	put(MODULE_SYS "/refcnt", "2\n", "w");
	tap_ok(failed(unload(), TOOL_FAILED, "still in use by 2", "try again") && !fake.removed,
	       "unload: a reference that stays");
	boot_loaded();
	fake.nobody = true;
	tap_ok(failed(unload(), TOOL_FAILED, "not permitted", "root") &&
	       has(MODULE_LIVEPATCH "/enabled", "1"), "unload: not root");
}

static void test_unload_stuck(void)
{
	boot_loaded();
	fake.out_ms = NEVER;
	fake.in_ms = 1000;
	tap_ok(failed(unload(), TOOL_FAILED, "held up by 7 (seven);", "in force again") &&
	       !fake.removed && has(MODULE_LIVEPATCH "/enabled", "1") &&
	       has(MODULE_LIVEPATCH "/transition", "0"), "unload: stuck, who, and put back");

	boot_loaded();
	fake.out_ms = fake.in_ms = NEVER;
	tap_ok(failed(unload(), TOOL_FAILED, "is not done after 30 s either", "seven"),
	       "unload: stuck both ways");

	boot_loaded();
	fake.other_ms = fake.now + 10000;
	tap_ok(unload() == TOOL_OK && fake.now >= 10000, "unload: another livepatch first");
	boot_loaded();
	fake.other_ms = fake.now + 29900;
	fake.out_ms = 29000;
	tap_ok(unload() == TOOL_OK && fake.removed == 1 && fake.now >= 58900,
	       "unload: what another livepatch takes is not of the tasks' time");
	boot_loaded();
	fake.other_ms = fake.now + 29900;
	fake.out_ms = NEVER;
	fake.in_ms = 1000;
	tap_ok(failed(unload(), TOOL_FAILED, "after 30 s, held up by 7 (seven);", "in force again") &&
	       fake.now >= 60900 && fake.now < 62000, "unload: and of that they get as much as ever");
	boot_loaded();
	fake.other_ms = NEVER;
	tap_ok(failed(unload(), TOOL_FAILED, "another livepatch", "30 s") && !fake.removed,
	       "unload: another livepatch that is stuck");
}

/* ---- policy -------------------------------------------------------------------------------- */

static void test_policy(void)
{
	boot();
	tap_ok(failed(set("ranges"), TOOL_FAILED, "not loaded", ""), "policy: not loaded");
	boot_loaded();
	tap_ok(set("ranges,batch=8M") == TOOL_OK && !*heard_text &&
	       has(MODULE_PARAMETERS "policy", "ranges,batch=8M"), "policy: set");
	fake.write_error = EINVAL;
	tap_ok(failed(set("nosuch"), TOOL_USAGE, "policy 'nosuch': refused, see dmesg", ""),
	       "policy: refused without a word");
	fake.says = "3,9,9,-;clearpages: policy 'far=avx2': 'avx2' is not a variant: it needs the "
		    "vector registers\n";
	tap_ok(failed(set("far=avx2"), TOOL_USAGE, "clearpages: module policy 'far=avx2': 'avx2' is",
		      "vector registers"), "policy: refused with a reason");
	fake.write_error = EOPNOTSUPP;
	fake.says = NULL;
	tap_ok(failed(set("far=clzero"), TOOL_UNSUPPORTED, "far=clzero", ""),
	       "policy: not on this processor");
	fake.nobody = true;
	tap_ok(failed(set("auto"), TOOL_FAILED, "not permitted", "root"), "policy: not root");
}

/* ---- tasks ---------------------------------------------------------------------------------- */

static void test_holders(void)
{
	struct module_holders h;
	char text[512], path[64];
	unsigned int i;

	boot();
	module_holders_read(root, true, &h);
	tap_ok(h.total == 2 && h.shown == 2 && h.task[0].tid == 30 && h.task[1].tid == 31 &&
	       !strcmp(h.task[1].comm, "thread"), "tasks: threads of a process, in order");
	for (i = 100; i < 120; i++) {
		snprintf(path, sizeof(path), "mkdir -p proc/%u/task/%u", i, i);
		shell(path);
		snprintf(path, sizeof(path), "/proc/%u/task/%u/patch_state", i, i);
		put(path, "0\n", "w");
		snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", i, i);
		put(path, "a\033[31mb\n", "w");
	}
	module_holders_read(root, true, &h);
	module_holders_text(&h, text, sizeof(text));
	tap_ok(h.total == 22 && h.shown == MODULE_HOLDERS && strstr(text, " and 14 more"),
	       "tasks: as many as fit in a line, and how many more");
	tap_ok(strstr(text, "(a?[31mb)") && !strchr(text, '\033'), "tasks: a name that is none");
	shell("rm -r proc/1*");
	h = (struct module_holders){ .refused = true };
	tap_ok(strstr(module_holders_text(&h, text, sizeof(text)), "only root"), "tasks: not root");
}

int main(void)
{
	snprintf(root, sizeof(root), "/tmp/clearpages-test-XXXXXX");
	if (!mkdtemp(root)) {
		printf("Bail out! no folder in /tmp\n");
		return 1;
	}
	snprintf(file, sizeof(file), "%s/clearpages.ko", root);
	snprintf(strange, sizeof(strange), "%s/strange.ko", root);
	shell("printf 'x%70000d\\0license=GPL\\0vermagic=6.1.0-57-cloud-amd64 SMP preempt \\0y' 1 "
	      ">clearpages.ko && echo text >strange.ko");
	test_load();
	test_load_no_file();
	test_load_stuck();
	test_load_impossible();
	test_load_refused();
	test_load_refused_more();
	test_modprobe();
	test_unload();
	test_unload_stuck();
	test_policy();
	test_holders();
	shell("rm -rf sys proc dev ./*.ko ./*.xz");
	rmdir(root);
	return tap_done();
}
