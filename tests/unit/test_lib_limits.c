// SPDX-License-Identifier: GPL-2.0-only
/* Pools and hugetlb cgroup limits on roots made up for each case, and cpu quotas too. */
#include "../../lib/cgroup.h"
#include "../../lib/limits.h"
#include "../../lib/workers.h"
#include "test_lib.h"

#define M ((uint64_t)1 << 20)
#define POOL "/sys/kernel/mm/hugepages/hugepages-2048kB"
#define NODE1 "/sys/devices/system/node/node1/hugepages/hugepages-2048kB"

/* mountinfo of cgroup version 1 with hierarchies of their own, one of two controllers. */
#define V1_MOUNTS \
	"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n" \
	"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n" \
	"34 31 0:31 / /sys/fs/cgroup/cpuset rw shared:3 master:4 - cgroup cgroup rw,cpuset\n" \
	"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n" \
	"36 31 0:33 / /sys/fs/cgroup/hugetlb rw,relatime - cgroup cgroup rw,hugetlb\n" \
	"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
#define V1_CGROUP "9:name=systemd:/sys\n7:hugetlb:/a/b\n3:cpuset:/c\n1:cpu,cpuacct:/x/y\n0::/z\n"

#define V2_MOUNTS "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define V2_CGROUP "0::/user.slice/run.scope\n"
#define SCOPE "/sys/fs/cgroup/user.slice/run.scope"

struct file {
	const char *path, *text;
};

/* ---- pools ---------------------------------------------------------------- */

static void pool_files(const char *root, const char *dir, const char *total, const char *free_,
		       const char *reserved, const char *surplus, const char *overcommit)
{
	const struct file files[] = {
		{ "nr_hugepages", total }, { "free_hugepages", free_ },
		{ "resv_hugepages", reserved }, { "surplus_hugepages", surplus },
		{ "nr_overcommit_hugepages", overcommit },
	};
	char path[256];
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i].path);
		if (files[i].text)
			root_file(root, path, files[i].text);
	}
}

static void test_pool_numbers(const char *root)
{
	struct limits_pool p;

	pool_files(root, POOL, "100\n", "60\n", "20\n", "5\n", "15\n");
	pool_files(root, NODE1, "40\n", "30\n", NULL, "2\n", NULL);
	tap_ok(!limits_pool(root, 2 * M, LIMITS_ANY_NODE, &p) && p.total == 100 && p.free == 60 &&
	       p.reserved == 20 && p.surplus == 5 && p.overcommit == 15, "the pool of all nodes");
	tap_ok(limits_available(&p) == 50, "60 free - 20 reserved + 15 - 5 surplus = %llu",
	       (unsigned long long)limits_available(&p));
	tap_ok(!limits_pool(root, 2 * M, 1, &p) && p.total == 40 && p.free == 30 && !p.reserved &&
	       p.surplus == 2 && !p.overcommit, "the pool of node 1");
	tap_ok(limits_pool(root, 2 * M, 0, &p) == -ENOENT, "no such node");
	tap_ok(limits_pool(root, 1024 * M, LIMITS_ANY_NODE, &p) == -ENOENT, "no such size");
	tap_ok(limits_pool(root, 2 * M + 1, LIMITS_ANY_NODE, &p) == -ENOENT, "an odd size");
	p = (struct limits_pool){ .free = 3, .reserved = 5, .surplus = 9, .overcommit = 4 };
	tap_ok(!limits_available(&p), "more promised than there is");
	p = (struct limits_pool){ .free = 3, .overcommit = UINT64_MAX };
	tap_ok(limits_available(&p) == UINT64_MAX, "overcommit without an end");
}

static void check(const char *root, uint64_t page, uint64_t pages, int node, int expected,
		  const char *reason)
{
	char why[512] = "stale";
	int err = limits_check(root, page, pages, node, why, sizeof(why));

	if (!tap_ok(err == expected && !strcmp(why, reason), "%llu pages of %lluK, node %d: %d %s",
		    (unsigned long long)pages, (unsigned long long)page >> 10, node, err, why))
		tap_note("expected %d %s", expected, reason);
}

static void test_pool_checks(const char *root)
{
	char why[4] = "abc";

	check(root, 2 * M, 50, LIMITS_ANY_NODE, 0, "");
	check(root, 2 * M, 51, LIMITS_ANY_NODE, -ENOMEM,
	      POOL ": 51 pages of 2M needed, 50 to be had (60 free, less 20 reserved, 10 more by "
	      "overcommit)");
	check(root, 2 * M, UINT64_MAX, LIMITS_ANY_NODE, -ENOMEM,
	      POOL ": 18446744073709551615 pages of 2M needed, 50 to be had (60 free, less 20 "
	      "reserved, 10 more by overcommit)");
	check(root, 2 * M, 40, 1, 0, "");
	check(root, 2 * M, 41, 1, -ENOMEM,
	      NODE1 ": 41 pages of 2M needed, 40 to be had (30 free, 10 more by overcommit)");
	check(root, 2 * M, 1, 0, -ENOENT,
	      "/sys/devices/system/node/node0/hugepages/hugepages-2048kB: there are no such huge "
	      "pages");
	check(root, 1024 * M, 1, LIMITS_ANY_NODE, -ENOENT,
	      "/sys/kernel/mm/hugepages/hugepages-1048576kB: there are no such huge pages");
	limits_check(root, 2 * M, 51, LIMITS_ANY_NODE, why, 3);
	tap_ok(!strcmp(why, "/s"), "a reason is cut to its room");
	tap_ok(limits_check(root, 2 * M, 51, LIMITS_ANY_NODE, NULL, 0) == -ENOMEM,
	       "no reason wanted");
}

static void test_pools(void)
{
	char root[PATH_MAX];

	root_new(root, sizeof(root));
	test_pool_numbers(root);
	test_pool_checks(root);
	root_remove(root);
}

/* ---- cgroups -------------------------------------------------------------- */

struct cgroup_case {
	const char *what;
	const char *cgroup, *mounts;
	struct file files[8];
	uint64_t page, pages;
	const char *why;	/* "" if there is room */
};

static const struct cgroup_case cgroup_cases[] = {
	{ "no cgroups at all", NULL, NULL, { { NULL, NULL } }, 2 * M, 1 << 20, "" },
	{ "v1, no limit files", V1_CGROUP, V1_MOUNTS, { { NULL, NULL } }, 2 * M, 1 << 20, "" },
	{ "v1, unlimited", V1_CGROUP, V1_MOUNTS,
	  { { "/sys/fs/cgroup/hugetlb/a/b/hugetlb.2MB.limit_in_bytes", "9223372036854771712\n" },
	    { "/sys/fs/cgroup/hugetlb/a/b/hugetlb.2MB.usage_in_bytes", "4194304\n" } },
	  2 * M, 1 << 20, "" },
	{ "v1, own limit, just enough", V1_CGROUP, V1_MOUNTS,
	  { { "/sys/fs/cgroup/hugetlb/a/b/hugetlb.2MB.limit_in_bytes", "104857600\n" },
	    { "/sys/fs/cgroup/hugetlb/a/b/hugetlb.2MB.usage_in_bytes", "4194304\n" } },
	  2 * M, 48, "" },
	{ "v1, own limit, a page too many", V1_CGROUP, V1_MOUNTS,
	  { { "/sys/fs/cgroup/hugetlb/a/b/hugetlb.2MB.limit_in_bytes", "104857600\n" },
	    { "/sys/fs/cgroup/hugetlb/a/b/hugetlb.2MB.usage_in_bytes", "4194304\n" } },
	  2 * M, 49,
	  "/sys/fs/cgroup/hugetlb/a/b/hugetlb.2MB.limit_in_bytes: 98M needed, 96M free of the "
	  "limit of 100M" },
	{ "v1, rsvd in the way, up the tree", V1_CGROUP, V1_MOUNTS,
	  { { "/sys/fs/cgroup/hugetlb/a/b/hugetlb.2MB.limit_in_bytes", "104857600\n" },
	    { "/sys/fs/cgroup/hugetlb/a/hugetlb.2MB.rsvd.limit_in_bytes", "8388608\n" },
	    { "/sys/fs/cgroup/hugetlb/a/hugetlb.2MB.rsvd.usage_in_bytes", "8388608\n" } },
	  2 * M, 1,
	  "/sys/fs/cgroup/hugetlb/a/hugetlb.2MB.rsvd.limit_in_bytes: 2M needed, 0 free of the "
	  "limit of 8M" },
	{ "v1, the root of the hierarchy", V1_CGROUP, V1_MOUNTS,
	  { { "/sys/fs/cgroup/hugetlb/hugetlb.2MB.limit_in_bytes", "2097152\n" } },
	  2 * M, 2,
	  "/sys/fs/cgroup/hugetlb/hugetlb.2MB.limit_in_bytes: 4M needed, 2M free of the limit of "
	  "2M" },
	{ "v1, another size is limited", V1_CGROUP, V1_MOUNTS,
	  { { "/sys/fs/cgroup/hugetlb/a/b/hugetlb.1GB.limit_in_bytes", "0\n" } },
	  2 * M, 1, "" },
	{ "v1, 1 GiB pages", V1_CGROUP, V1_MOUNTS,
	  { { "/sys/fs/cgroup/hugetlb/a/b/hugetlb.1GB.limit_in_bytes", "0\n" } },
	  1024 * M, 1,
	  "/sys/fs/cgroup/hugetlb/a/b/hugetlb.1GB.limit_in_bytes: 1G needed, 0 free of the limit "
	  "of 0" },
	{ "v1, 64 KiB pages", V1_CGROUP, V1_MOUNTS,
	  { { "/sys/fs/cgroup/hugetlb/a/b/hugetlb.64KB.limit_in_bytes", "65536\n" } },
	  64 << 10, 3,
	  "/sys/fs/cgroup/hugetlb/a/b/hugetlb.64KB.limit_in_bytes: 192K needed, 64K free of the "
	  "limit of 64K" },
	{ "v1, a sibling is limited", V1_CGROUP, V1_MOUNTS,
	  { { "/sys/fs/cgroup/hugetlb/a/c/hugetlb.2MB.limit_in_bytes", "0\n" },
	    { "/sys/fs/cgroup/cpu/x/y/hugetlb.2MB.limit_in_bytes", "0\n" } },
	  2 * M, 1, "" },
	{ "v2, max", V2_CGROUP, V2_MOUNTS,
	  { { SCOPE "/hugetlb.2MB.max", "max\n" }, { SCOPE "/hugetlb.2MB.rsvd.max", "max\n" },
	    { SCOPE "/hugetlb.2MB.current", "2097152\n" } },
	  2 * M, 1 << 20, "" },
	{ "v2, own limit", V2_CGROUP, V2_MOUNTS,
	  { { SCOPE "/hugetlb.2MB.max", "4194304\n" }, { SCOPE "/hugetlb.2MB.current", "0\n" } },
	  2 * M, 3, SCOPE "/hugetlb.2MB.max: 6M needed, 4M free of the limit of 4M" },
	{ "v2, rsvd of the parent", V2_CGROUP, V2_MOUNTS,
	  { { SCOPE "/hugetlb.2MB.max", "max\n" },
	    { "/sys/fs/cgroup/user.slice/hugetlb.2MB.rsvd.max", "8388608\n" },
	    { "/sys/fs/cgroup/user.slice/hugetlb.2MB.rsvd.current", "2097152\n" },
	    { "/sys/fs/cgroup/user.slice/hugetlb.2MB.max", "2097152000\n" } },
	  2 * M, 4,
	  "/sys/fs/cgroup/user.slice/hugetlb.2MB.rsvd.max: 8M needed, 6M free of the limit of 8M" },
	{ "v2, a need that overflows", V2_CGROUP, V2_MOUNTS,
	  { { SCOPE "/hugetlb.2MB.max", "4194304\n" } }, 2 * M, UINT64_MAX,
	  SCOPE "/hugetlb.2MB.max: 18446744073709551615 needed, 4M free of the limit of 4M" },
	{ "v2, unlimited takes even that", V2_CGROUP, V2_MOUNTS,
	  { { SCOPE "/hugetlb.2MB.max", "max\n" } }, 2 * M, UINT64_MAX, "" },
	{ "both, the limit is in v2", V1_CGROUP, V1_MOUNTS,
	  { { "/sys/fs/cgroup/unified/z/hugetlb.2MB.max", "0\n" } }, 2 * M, 1,
	  "/sys/fs/cgroup/unified/z/hugetlb.2MB.max: 2M needed, 0 free of the limit of 0" },
	{ "a mount point with a blank", "0::/a b\n",
	  "31 23 0:28 / /cgroup\\040tree rw - cgroup2 cgroup2 rw\n",
	  { { "/cgroup tree/a b/hugetlb.2MB.max", "0\n" } }, 2 * M, 1,
	  "/cgroup tree/a b/hugetlb.2MB.max: 2M needed, 0 free of the limit of 0" },
	{ "a container: the mount shows its part only", "4:hugetlb:/docker/1f/in\n",
	  "36 31 0:33 /docker/1f /sys/fs/cgroup/hugetlb ro - cgroup cgroup rw,hugetlb\n",
	  { { "/sys/fs/cgroup/hugetlb/in/hugetlb.2MB.limit_in_bytes", "0\n" } }, 2 * M, 1,
	  "/sys/fs/cgroup/hugetlb/in/hugetlb.2MB.limit_in_bytes: 2M needed, 0 free of the limit "
	  "of 0" },
	{ "another container's part", "4:hugetlb:/docker/1f2\n",
	  "36 31 0:33 /docker/1f /sys/fs/cgroup/hugetlb ro - cgroup cgroup rw,hugetlb\n",
	  { { "/sys/fs/cgroup/hugetlb/hugetlb.2MB.limit_in_bytes", "0\n" },
	    { "/sys/fs/cgroup/hugetlb2/hugetlb.2MB.limit_in_bytes", "0\n" } }, 2 * M, 1, "" },
	{ "the second mount is the one", "4:hugetlb:/a\n",
	  "36 31 0:33 /b /mnt rw - cgroup cgroup rw,hugetlb\n"
	  "37 31 0:33 /a /sys/fs/cgroup/hugetlb rw - cgroup cgroup rw,hugetlb\n",
	  { { "/sys/fs/cgroup/hugetlb/hugetlb.2MB.limit_in_bytes", "0\n" } }, 2 * M, 1,
	  "/sys/fs/cgroup/hugetlb/hugetlb.2MB.limit_in_bytes: 2M needed, 0 free of the limit of "
	  "0" },
	{ "a mount from above the namespace", "0::/\n",
	  "37 31 0:33 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
	  { { "/sys/fs/cgroup/hugetlb.2MB.max", "0\n" } }, 2 * M, 1,
	  "/sys/fs/cgroup/hugetlb.2MB.max: 2M needed, 0 free of the limit of 0" },
	{ "a cgroup outside the namespace", "0::/../other\n", V2_MOUNTS,
	  { { "/sys/fs/cgroup/hugetlb.2MB.max", "0\n" } }, 2 * M, 1, "" },
	{ "nonsense", "x\n::\n0:\n0::z\n:::/\n", "a b\n - \n1 2 3 - cgroup2\n- cgroup2\n",
	  { { "/hugetlb.2MB.max", "0\n" } }, 2 * M, 1, "" },
};

static void cgroup_root(const char *root, const struct cgroup_case *c)
{
	size_t i;

	if (c->cgroup)
		root_file(root, "/proc/self/cgroup", c->cgroup);
	if (c->mounts)
		root_file(root, "/proc/self/mountinfo", c->mounts);
	for (i = 0; i < sizeof(c->files) / sizeof(*c->files) && c->files[i].path; i++)
		root_file(root, c->files[i].path, c->files[i].text);
}

static void test_cgroup_case(const struct cgroup_case *c)
{
	char root[PATH_MAX], why[512] = "stale";
	unsigned int before = open_files();
	int err;

	root_new(root, sizeof(root));
	cgroup_root(root, c);
	err = limits_check_cgroup(root, c->page, c->pages, why, sizeof(why));
	if (!tap_ok(err == (*c->why ? -ENOMEM : 0) && !strcmp(why, c->why), "%s: %d %s", c->what,
		    err, why))
		tap_note("expected %s", c->why);
	root_remove(root);
	if (open_files() != before)
		tap_ok(false, "%s: a descriptor is left open", c->what);
}

/* limits_check() comes to the cgroups when the pool has enough. */
static void test_both(void)
{
	char root[PATH_MAX];
	const struct cgroup_case c = { .cgroup = V2_CGROUP, .mounts = V2_MOUNTS,
				       .files = { { SCOPE "/hugetlb.2MB.max", "4194304\n" } } };

	root_new(root, sizeof(root));
	pool_files(root, POOL, "100\n", "100\n", "0\n", "0\n", "0\n");
	cgroup_root(root, &c);
	check(root, 2 * M, 2, LIMITS_ANY_NODE, 0, "");
	check(root, 2 * M, 100, LIMITS_ANY_NODE, -ENOMEM,
	      SCOPE "/hugetlb.2MB.max: 200M needed, 4M free of the limit of 4M");
	check(root, 2 * M, 101, LIMITS_ANY_NODE, -ENOMEM,
	      POOL ": 101 pages of 2M needed, 100 to be had (100 free, 0 more by overcommit)");
	root_remove(root);
}

/* ---- the walk itself ------------------------------------------------------ */

struct seen {
	char text[512];
	unsigned int stop_after;
};

static int see(void *arg, const char *dir, int version)
{
	struct seen *s = arg;
	size_t len = strlen(s->text);

	snprintf(s->text + len, sizeof(s->text) - len, "%d:%s ", version, dir);
	return s->stop_after && !--s->stop_after ? 42 : 0;
}

static void test_walk(void)
{
	const struct cgroup_case c = { .cgroup = V1_CGROUP, .mounts = V1_MOUNTS };
	struct seen s = { .text = "" };
	char root[PATH_MAX];

	root_new(root, sizeof(root));
	cgroup_root(root, &c);
	tap_ok(!cgroup_walk(root, "cpu", see, &s) &&
	       !strcmp(s.text, "1:/sys/fs/cgroup/cpu/x/y 1:/sys/fs/cgroup/cpu/x "
		       "1:/sys/fs/cgroup/cpu 2:/sys/fs/cgroup/unified/z "
		       "2:/sys/fs/cgroup/unified "), "cpu: %s", s.text);
	s = (struct seen){ .stop_after = 2 };
	tap_ok(cgroup_walk(root, "hugetlb", see, &s) == 42 &&
	       !strcmp(s.text, "1:/sys/fs/cgroup/hugetlb/a/b 1:/sys/fs/cgroup/hugetlb/a "),
	       "hugetlb, stopped: %s", s.text);
	root_remove(root);
}

/* ---- cpu quotas ----------------------------------------------------------- */

static const struct {
	const char *what;
	struct cgroup_case c;
	unsigned int cpus;	/* of 64 */
} quotas[] = {
	{ "no cgroups", { .what = "" }, 64 },
	{ "v2, max", { .cgroup = V2_CGROUP, .mounts = V2_MOUNTS,
		       .files = { { SCOPE "/cpu.max", "max 100000\n" } } }, 64 },
	{ "v2, 8 cpus", { .cgroup = V2_CGROUP, .mounts = V2_MOUNTS,
			  .files = { { SCOPE "/cpu.max", "800000 100000\n" } } }, 8 },
	{ "v2, 1.5 cpus", { .cgroup = V2_CGROUP, .mounts = V2_MOUNTS,
			    .files = { { SCOPE "/cpu.max", "150000 100000\n" } } }, 2 },
	{ "v2, a hundredth", { .cgroup = V2_CGROUP, .mounts = V2_MOUNTS,
			       .files = { { SCOPE "/cpu.max", "1000 100000\n" } } }, 1 },
	{ "v2, the parent has less",
	  { .cgroup = V2_CGROUP, .mounts = V2_MOUNTS,
	    .files = { { SCOPE "/cpu.max", "800000 100000\n" },
		       { "/sys/fs/cgroup/user.slice/cpu.max", "300000 100000\n" } } }, 3 },
	{ "v2, more than there are", { .cgroup = V2_CGROUP, .mounts = V2_MOUNTS,
				       .files = { { SCOPE "/cpu.max", "9900000 100000\n" } } },
	  64 },
	{ "v2, nonsense", { .cgroup = V2_CGROUP, .mounts = V2_MOUNTS,
			    .files = { { SCOPE "/cpu.max", "0 0\n" },
				       { "/sys/fs/cgroup/user.slice/cpu.max", "1\n" } } }, 64 },
	{ "v1, none", { .cgroup = V1_CGROUP, .mounts = V1_MOUNTS,
			.files = { { "/sys/fs/cgroup/cpu/x/y/cpu.cfs_quota_us", "-1\n" },
				   { "/sys/fs/cgroup/cpu/x/y/cpu.cfs_period_us", "100000\n" } } },
	  64 },
	{ "v1, 4 cpus, 2 up the tree",
	  { .cgroup = V1_CGROUP, .mounts = V1_MOUNTS,
	    .files = { { "/sys/fs/cgroup/cpu/x/y/cpu.cfs_quota_us", "400000\n" },
		       { "/sys/fs/cgroup/cpu/x/y/cpu.cfs_period_us", "100000\n" },
		       { "/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "20000\n" },
		       { "/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "10000\n" } } }, 2 },
	{ "v1, no period", { .cgroup = V1_CGROUP, .mounts = V1_MOUNTS,
			     .files = { { "/sys/fs/cgroup/cpu/x/y/cpu.cfs_quota_us",
					  "100000\n" } } }, 64 },
};

static void test_quotas(void)
{
	char root[PATH_MAX];
	unsigned int cpus;
	size_t i;

	for (i = 0; i < sizeof(quotas) / sizeof(*quotas); i++) {
		root_new(root, sizeof(root));
		root_file(root, "/sys/devices/system/cpu/online", "0-63\n");
		cgroup_root(root, &quotas[i].c);
		cpus = workers_cpus(root);
		tap_ok(cpus == quotas[i].cpus, "quota: %s: %u cpus", quotas[i].what, cpus);
		root_remove(root);
	}
	tap_ok(workers_cpus("/no/such/root") == 1, "nothing known: 1 cpu");
}

int main(void)
{
	size_t i;

	test_pools();
	for (i = 0; i < sizeof(cgroup_cases) / sizeof(*cgroup_cases); i++)
		test_cgroup_case(&cgroup_cases[i]);
	test_both();
	test_walk();
	test_quotas();
	return tap_done();
}
