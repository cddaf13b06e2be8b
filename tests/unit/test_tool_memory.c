// SPDX-License-Identifier: GPL-2.0-only
/* Is there so much memory to be had: on roots made up for each case. */
#include "../../tools/memory.h"
#include "../../tools/tool.h"
#include "test_lib.h"
#include "test_tool.h"

#define G ((uint64_t)1 << 30)

#define MEMINFO \
	"MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\n" \
	"Buffers:               0 kB\nSwapCached:       524288 kB\nSwapTotal:       4194304 kB\n" \
	"SwapFree:        2097152 kB\n"
#define V2_MOUNTS "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNTS "36 31 0:33 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
#define SLICE "/sys/fs/cgroup/user.slice"
#define SCOPE SLICE "/run.scope"

static char root[PATH_MAX];

static void in_version_2(void)
{
	root_file(root, "/proc/meminfo", MEMINFO);
	root_file(root, "/proc/self/mountinfo", V2_MOUNTS);
	root_file(root, "/proc/self/cgroup", "0::/user.slice/run.scope\n");
}

/* So much is enough, and a byte more is too much, for that reason. */
static void bound(uint64_t most, const char *reason, const char *name)
{
	char why[512] = "";
	int fits = memory_check(root, most, why, sizeof(why));
	int exceeds = memory_check(root, most + 1, why, sizeof(why));

	if (!tap_ok(fits == TOOL_OK && exceeds == TOOL_FAILED && strstr(why, reason), "%s", name))
		tap_note("%d, %d, why: %s", fits, exceeds, why);
}

static void test_field(void)
{
	uint64_t bytes = 1;

	root_new(root, sizeof(root));
	tap_ok(!memory_field(root, "MemTotal", &bytes) && !bytes, "no meminfo");
	root_file(root, "/proc/meminfo", MEMINFO "Huge: 99999999999999999999 kB\nOdd: many\n");
	tap_ok(memory_field(root, "MemTotal", &bytes) && bytes == 16 * G, "the first line");
	tap_ok(memory_field(root, "SwapFree", &bytes) && bytes == 2 * G, "another one");
	tap_ok(!memory_field(root, "Swap", &bytes) && !bytes, "the beginning of a name is none");
	tap_ok(!memory_field(root, "Huge", &bytes) && !bytes, "more than there can be");
	tap_ok(!memory_field(root, "Odd", &bytes) && !bytes, "no number");
	root_remove(root);
}

static void test_machine(void)
{
	char why[512] = "";

	root_new(root, sizeof(root));
	tap_ok(!memory_check(root, UINT64_MAX, why, sizeof(why)), "nothing known");
	root_file(root, "/proc/meminfo", MEMINFO);
	bound(10 * G, "of memory needed, 10G to be had (8G available, 2G of swap free)",
	      "available memory and free swap");
	tap_ok(memory_check(root, UINT64_MAX, why, sizeof(why)) == TOOL_FAILED, "all there can be");
	root_file(root, "/proc/meminfo", "MemAvailable: 0 kB\n");
	bound(0, "1B of memory needed, 0B to be had", "none at all");
	root_remove(root);
}

static void test_cgroups(void)
{
	root_new(root, sizeof(root));
	in_version_2();
	bound(10 * G, "8G available", "version 2, no limit files");
	root_file(root, SCOPE "/memory.max", "max\n");
	root_file(root, SLICE "/memory.max", "max\n");
	bound(10 * G, "8G available", "version 2, no limit");
	root_file(root, SLICE "/memory.max", "4294967296\n");
	bound(6 * G, SLICE "/memory.max: ", "version 2, a limit up the tree, and swap");
	root_file(root, SCOPE "/memory.max", "1073741824\n");
	bound(3 * G, SCOPE "/memory.max: ", "version 2, the nearer one");
	root_file(root, SCOPE "/memory.swap.max", "max\n");
	bound(3 * G, "the limit is 1G, with 2G of swap: ", "version 2, swap has none");
	root_file(root, SCOPE "/memory.swap.max", "1073741824\n");
	bound(2 * G, "the limit is 1G, with 1G of swap: ", "version 2, swap has a limit");
	root_file(root, SCOPE "/memory.swap.max", "0\n");
	bound(1 * G, "the limit is 1G, with 0B of swap: ", "version 2, no swap");
	root_remove(root);

	root_new(root, sizeof(root));
	root_file(root, "/proc/meminfo", MEMINFO);
	root_file(root, "/proc/self/mountinfo", V1_MOUNTS);
	root_file(root, "/proc/self/cgroup", "4:memory:/a\n");
	root_file(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	bound(10 * G, "8G available", "version 1, no limit");
	root_file(root, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
	bound(3 * G, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes: ", "version 1, a limit");
	root_remove(root);
}

int main(void)
{
	test_field();
	test_machine();
	test_cgroups();
	return tap_done();
}
