// SPDX-License-Identifier: GPL-2.0-only
/* What clearpages_populate() looks at: mappings as text, policies, pools and limits made up. */
#include "../../lib/limits.h"
#include "../../lib/nodes.h"
#include "test_populate.h"

/* ---- smaps ---------------------------------------------------------------------- */

static const char smaps[] =
	"00400000-00401000 r-xp 00000000 08:01 123                                /bin/x\n"
	"KernelPageSize:        4 kB\n"
	"VmFlags: rd ex mr mw me \n"
	"7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
	"Size:               4096 kB\n"
	"KernelPageSize:        4 kB\n"
	"MMUPageSize:           4 kB\n"
	"AnonHugePages:      2048 kB\n"
	"ShmemPmdMapped:        0 kB\n"
	"FilePmdMapped:         0 kB\n"
	"VmFlags: rd wr mr mw me ac \n"
	"7f0000400000-7f0000800000 rw-s 00200000 00:11 77                         /mnt/a b\\012-c\n"
	"KernelPageSize:     2048 kB\n"
	"AnonHugePages:         0 kB\n"
	"Shared_Hugetlb:     2048 kB\n"
	"Private_Hugetlb:    2048 kB\n"
	"VmFlags: rd wr sh mr mw me ms nr ht \n"
	"7f0000800000-7f0040800000 rw-p 00000000 00:11 78                         /anon_hugepage\n"
	"KernelPageSize:  1048576 kB\n"
	"VmFlags: rd wr mr mw me ht \n"
	"7f0050000000-7f0050001000 ---p 00000000 00:00 0 \n"
	"KernelPageSize:        4 kB\n"
	"ShmemPmdMapped:   4 kB\n"
	"ProtectionKey:         0\n"
	"VmFlags: mr\n"
	"nonsense\n";

static int parse(const char *text, uintptr_t from, uintptr_t to, struct mappings *m)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int err;

	if (!f)
		die("fmemopen", "");
	err = mappings_parse(f, from, to, m);
	fclose(f);
	return err;
}

static void test_smaps(void)
{
	struct mappings m;
	const struct mapping *l;
	int err = parse(smaps, 0x7f0000200000, 0x7f0050000800, &m);

	tap_ok(!err && m.count == 4, "%zu mappings in the range", m.count);
	if (m.count != 4)
		return;
	l = m.list;
	tap_ok(l[0].from == 0x7f0000200000 && l[0].to == 0x7f0000400000 &&
	       l[0].start == 0x7f0000000000 && l[0].page == 4096 && l[0].writable && !l[0].shared &&
	       !l[0].hugetlb && !l[0].inode && l[0].huge_bytes == 2 * M, "private memory, cut off");
	tap_ok(l[1].shared && l[1].hugetlb && !l[1].reserves && l[1].page == 2 * M &&
	       l[1].offset == 2 * M && l[1].inode == 77 && l[1].device == 0x11 &&
	       l[1].hugetlb_bytes == 4 * M, "a file, noreserve");
	tap_ok(!l[2].shared && l[2].hugetlb && l[2].reserves && l[2].page == 1024 * M,
	       "huge pages of 1 GiB, reserved");
	tap_ok(!l[3].writable && l[3].to == 0x7f0050000800 && l[3].huge_bytes == 4096, "no access");
	tap_ok(mappings_at(&m, 0x7f0000200000) == l && mappings_at(&m, 0x7f0000400000) == l + 1 &&
	       mappings_at(&m, 0x7f00407fffff) == l + 2, "found by address");
	tap_ok(!mappings_at(&m, 0x7f00001fffff) && !mappings_at(&m, 0x7f0040800000) &&
	       !mappings_at(&m, UINTPTR_MAX), "not found");
	mappings_free(&m);
	tap_ok(!parse(smaps, 0x500000, 0x600000, &m) && !m.count, "nothing there");
	mappings_free(&m);
	tap_ok(!parse("x\n\n-\n1-2 r\n", 0, UINTPTR_MAX, &m) && !m.count, "nonsense");
	mappings_free(&m);
}

/* ---- policies -------------------------------------------------------------------- */

static void test_placement(void)
{
	static const struct {
		const char *what;
		int mode;
		unsigned long nodes;
		int node;
		bool bound, local;
	} cases[] = {
		{ "default", 0, 0, NODES_ANYWHERE, false, true },
		{ "preferred, one", 1, 1 << 3, 3, false, false },
		{ "preferred, none", 1, 0, NODES_ANYWHERE, false, true },
		{ "bind, one", 2, 1 << 0, 0, true, false },
		{ "bind, two", 2, 3 << 1, NODES_ANYWHERE, false, false },
		{ "bind, static nodes", 2 | 1 << 15, 1 << 5, 5, true, false },
		{ "bind, balancing", 2 | 1 << 13, 1 << 5, 5, true, false },
		{ "interleave", 3, 3, NODES_ANYWHERE, false, false },
		{ "interleave, one", 3, 1, NODES_ANYWHERE, false, false },
		{ "local", 4, 0, NODES_ANYWHERE, false, true },
		{ "preferred, many", 5, 3, NODES_ANYWHERE, false, false },
		{ "weighted interleave", 6, 3, NODES_ANYWHERE, false, false },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct placement p;

		placement_of(cases[i].mode, &cases[i].nodes, 64, &p);
		tap_ok(p.node == cases[i].node && p.bound == cases[i].bound &&
		       p.local == cases[i].local, "policy: %s: node %d%s%s", cases[i].what, p.node,
		       p.bound ? ", bound" : "", p.local ? ", local" : "");
	}
}

/* ---- pools and limits --------------------------------------------------------------- */

#define POOL "/sys/kernel/mm/hugepages/hugepages-2048kB"
#define NODE1 "/sys/devices/system/node/node1/hugepages/hugepages-2048kB"
#define SCOPE "/sys/fs/cgroup/run.scope"

static const char *const files[][2] = {
	{ POOL "/nr_hugepages", "100\n" },
	{ POOL "/free_hugepages", "60\n" },
	{ POOL "/resv_hugepages", "50\n" },
	{ POOL "/surplus_hugepages", "0\n" },
	{ POOL "/nr_overcommit_hugepages", "5\n" },
	{ NODE1 "/nr_hugepages", "30\n" },
	{ NODE1 "/free_hugepages", "20\n" },
	{ NODE1 "/surplus_hugepages", "0\n" },
	{ "/proc/self/cgroup", "0::/run.scope\n" },
	{ "/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n" },
	{ SCOPE "/hugetlb.2MB.max", "104857600\n" },
	{ SCOPE "/hugetlb.2MB.current", "4194304\n" },
	{ SCOPE "/hugetlb.2MB.rsvd.max", "8388608\n" },
	{ SCOPE "/hugetlb.2MB.rsvd.current", "6291456\n" },
};

static void check(const char *root, const char *what, const struct limits_fault *f, int expected,
		  const char *reason)
{
	char why[512] = "stale";
	int err = limits_check_fault(root, f, why, sizeof(why));

	if (!tap_ok(err == expected && !strcmp(why, reason), "%s: %d %s", what, err, why))
		tap_note("expected %d %s", expected, reason);
}

static void test_limits(void)
{
	char root[PATH_MAX];
	size_t i;

	root_new(root, sizeof(root));
	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		root_file(root, files[i][0], files[i][1]);
#define FAULT(...) &(const struct limits_fault){ .page_bytes = 2 * M, __VA_ARGS__ }
	check(root, "reserved: no matter what is free",
	      FAULT(.node = LIMITS_ANY_NODE, .reserved = 48), 0, "");
	check(root, "reserved: the limit of the pages themselves",
	      FAULT(.node = LIMITS_ANY_NODE, .reserved = 49), -ENOMEM,
	      SCOPE "/hugetlb.2MB.max: 98M needed, 96M free of the limit of 100M");
	check(root, "not reserved: one is left under the other limit",
	      FAULT(.node = LIMITS_ANY_NODE, .unreserved = 1), 0, "");
	check(root, "not reserved: the other limit",
	      FAULT(.node = LIMITS_ANY_NODE, .unreserved = 2), -ENOMEM,
	      SCOPE "/hugetlb.2MB.rsvd.max: 4M needed, 2M free of the limit of 8M");
	check(root, "not reserved: the pool",
	      FAULT(.node = LIMITS_ANY_NODE, .unreserved = 16), -ENOMEM,
	      POOL ": 16 pages of 2M needed, 15 to be had (60 free, less 50 reserved, 5 more by "
	      "overcommit)");
	check(root, "perhaps reserved: what others have may be theirs",
	      FAULT(.node = LIMITS_ANY_NODE, .perhaps = 48), 0, "");
	check(root, "perhaps reserved: more than there are",
	      FAULT(.node = LIMITS_ANY_NODE, .perhaps = 66), -ENOMEM,
	      POOL ": 66 pages of 2M needed, 65 to be had (60 free, 5 more by overcommit)");
	check(root, "reserved: the node is not asked", FAULT(.node = 1, .reserved = 25), 0, "");
	check(root, "reserved: the node is short", FAULT(.node = 1, .reserved = 26), -ENOMEM,
	      NODE1 ": 26 pages of 2M needed, 25 to be had (20 free, 5 more by overcommit)");
	check(root, "a node without such a file", FAULT(.node = 7, .reserved = 1), 0, "");
	check(root, "nothing needed", FAULT(.node = LIMITS_ANY_NODE, .reserved = 0), 0, "");
	check(root, "no overflow", FAULT(.node = LIMITS_ANY_NODE, .perhaps = UINT64_MAX,
					 .unreserved = 1), -ENOMEM,
	      POOL ": 18446744073709551615 pages of 2M needed, 65 to be had (60 free, 5 more by "
	      "overcommit)");
	check(root, "no such size", &(const struct limits_fault){ .page_bytes = 1024 * M,
	      .node = LIMITS_ANY_NODE }, -ENOENT,
	      "/sys/kernel/mm/hugepages/hugepages-1048576kB: there are no such huge pages");
	root_remove(root);
}

int main(void)
{
	test_smaps();
	test_placement();
	test_limits();
	return tap_done();
}
