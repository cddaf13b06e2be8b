// SPDX-License-Identifier: GPL-2.0-only
/* machine_read() on this machine, and on roots of machines that nobody here owns. */
#include "../../lib/list.h"
#include "../../lib/machine.h"
#include "test_lib.h"

struct expected {
	const char *root;
	const char *vendor, *features;
	unsigned int family, model, cpus, nodes, caches;
	uint64_t llc_kib;
	unsigned int llc_shared;	/* of the last cache in the table */
	const char *pools, *thps;	/* in KiB */
};

static const struct expected expected[] = {
	{ "amd-zen1-vm", "AuthenticAMD", "rep_good avx2 clzero hypervisor", 23, 1, 2, 1, 4,
	  8192, 2, "2048 1048576 ", "16 32 64 128 256 512 1024 2048 " },
	{ "intel-skylake-x", "GenuineIntel", "rep_good erms avx2 avx512f", 6, 85, 112, 2, 4,
	  39424, 56, "2048 1048576 ", "2048 " },
	{ "intel-icelake-x", "GenuineIntel", "rep_good erms fsrm avx2 avx512f", 6, 106, 160, 2, 4,
	  61440, 80, "2048 1048576 ", "2048 " },
	/* avx2x and xavx2 are not avx2; node 2 has memory and no cpus. */
	{ "unknown-vendor", "CentaurHauls", "rep_good", 6, 15, 4, 2, 2,
	  1024, 2, "2048 ", "" },
	/* The flags of its second processor are others; its only real cache is 32K. */
	{ "cache-size-0", "AuthenticAMD", "rep_good erms fsrm avx2 clzero hypervisor", 25, 1, 4, 1,
	  3, 8192, 4, "", "" },
	{ "cache-absurd", "AuthenticAMD", "rep_good erms fsrm avx2 clzero hypervisor", 25, 1,
	  LIST_MOST, 1, 5, 1 << 20, 4, "", "" },
	{ "no-such-root", "", "", 0, 0, 0, 1, 0, 8192, 0, "", "" },
};

static const char *sizes(const uint64_t *bytes, unsigned int count, char *text, size_t size)
{
	size_t len = 0;
	unsigned int i;

	text[0] = '\0';
	for (i = 0; i < count; i++)
		len += (size_t)snprintf(text + len, size - len, "%llu ",
					(unsigned long long)bytes[i] >> 10);
	return text;
}

static void test_root(const struct expected *e)
{
	char features[128], text[256];
	struct machine m;

	machine_read(beside("roots/", e->root), &m);
	machine_features(&m, features, sizeof(features));
	tap_ok(!strcmp(m.vendor, e->vendor), "%s: vendor \"%s\"", e->root, m.vendor);
	tap_ok(m.family == e->family && m.model == e->model, "%s: family %u model %u", e->root,
	       m.family, m.model);
	tap_ok(!strcmp(features, e->features), "%s: features \"%s\"", e->root, features);
	tap_ok(m.cpus == e->cpus && m.nodes == e->nodes, "%s: %u cpus, %u nodes", e->root, m.cpus,
	       m.nodes);
	tap_ok(m.caches == e->caches, "%s: %u caches", e->root, m.caches);
	tap_ok(m.llc_bytes == e->llc_kib << 10, "%s: last-level cache %llu KiB", e->root,
	       (unsigned long long)m.llc_bytes >> 10);
	if (e->caches)
		tap_ok(m.cache[m.caches - 1].shared == e->llc_shared, "%s: shared by %u", e->root,
		       m.cache[m.caches - 1].shared);
	tap_ok(!strcmp(sizes(m.pool, m.pools, text, sizeof(text)), e->pools), "%s: pools %s",
	       e->root, text);
	tap_ok(!strcmp(sizes(m.thp, m.thps, text, sizeof(text)), e->thps), "%s: thp %s", e->root,
	       text);
}

static void test_details(void)
{
	struct machine m;

	machine_read(beside("roots/", "amd-zen1-vm"), &m);
	tap_ok(m.cache[1].type == 'i' && m.cache[1].level == 1 && m.cache[1].bytes == 64 << 10,
	       "the second cache is 64 KiB of instructions");
	tap_ok(!strcmp(m.model_name, "AMD EPYC") && !strcmp(m.microcode, "0x1000065") &&
	       m.stepping == 2, "\"%s\" stepping %u microcode %s", m.model_name, m.stepping,
	       m.microcode);
	machine_read(beside("roots/", "unknown-vendor"), &m);
	tap_ok(!strcmp(m.model_name, "VIA Nano ?[31mL3100?? @ 2000MHz"),
	       "no control characters: \"%s\"", m.model_name);
}

static void test_here(void)
{
	unsigned int before = open_files();
	struct machine m;
	char text[8] = "x";

	machine_read("", &m);
	tap_ok(m.cpus >= 1 && m.nodes >= 1 && m.vendor[0], "this machine: %s %s, %u cpus, %u nodes",
	       m.vendor, m.model_name, m.cpus, m.nodes);
	tap_ok(m.llc_bytes >= 1 << 20 && m.llc_bytes <= 1 << 30, "this machine: llc %llu",
	       (unsigned long long)m.llc_bytes);
	tap_ok(open_files() == before, "no descriptor is left open");
	machine_features(&m, text, 0);
	tap_ok(text[0] == 'x', "features into no room at all");
	machine_features(&m, text, 1);
	tap_ok(!text[0], "features into one byte");
	m.features = UINT32_MAX;
	machine_features(&m, text, sizeof(text));
	tap_ok(strlen(text) < sizeof(text), "features cut off: \"%s\"", text);
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		int err;
		uint64_t number;
	} cases[] = {
		{ "0\n", 0, 0 },
		{ "4096", 0, 4096 },
		{ "17 18\n", 0, 17 },
		{ "8192K\n", 0, 8192 },
		{ "max\n", 0, UINT64_MAX },
		{ "18446744073709551615\n", 0, UINT64_MAX },
		{ "99999999999999999999999\n", 0, UINT64_MAX },
		{ "9223372036854771712\n", 0, 9223372036854771712u },
		{ "-1\n", -EINVAL, 7 },
		{ " 1\n", -EINVAL, 7 },
		{ "maximum\n", -EINVAL, 7 },
		{ "", -EINVAL, 7 },
		{ "\n1\n", -EINVAL, 7 },
	};
	char root[PATH_MAX], line[4];
	uint64_t n;
	size_t i;
	int err;

	root_new(root, sizeof(root));
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		root_file(root, "/n", cases[i].text);
		n = 7;
		err = machine_number(root, "/n", &n);
		tap_ok(err == cases[i].err && n == cases[i].number, "number \"%s\": %d, %llu",
		       cases[i].text, err, (unsigned long long)n);
	}
	tap_ok(machine_number(root, "/none", &n) == -ENOENT, "number: no such file");
	tap_ok(machine_line(root, "/", line, sizeof(line)) == -EISDIR, "line: a directory");
	root_file(root, "/line", "abcdef\nghi\n");
	tap_ok(machine_line(root, "/line", line, sizeof(line)) == 3 && !strcmp(line, "abc"),
	       "line: cut off to \"%s\"", line);
	root_file(root, "/line", "ab\nghi\n");
	tap_ok(machine_line(root, "/line", line, sizeof(line)) == 2 && !strcmp(line, "ab"),
	       "line: the first");
	root_remove(root);
}

static void test_lists(void)
{
	static const struct {
		const char *text;
		unsigned int count;
	} cases[] = {
		{ "", 0 }, { "0", 1 }, { "0-3", 4 }, { "0-3,8,10-11", 7 }, { "1,1,0-1", 2 },
		{ "5-3", 0 }, { "3-", 0 }, { ",", 0 }, { "x", 0 }, { "1,x", 1 }, { "8191", 1 },
		{ "8192", 0 }, { "4294967296", 0 }, { "0-4294967296", LIST_MOST },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct list l = { 0 };

		list_add(&l, cases[i].text);
		tap_ok(l.count == cases[i].count, "list \"%s\": %u", cases[i].text, l.count);
	}
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		test_root(&expected[i]);
	test_details();
	test_here();
	test_numbers();
	test_lists();
	return tap_done();
}
