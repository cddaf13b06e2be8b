// SPDX-License-Identifier: GPL-2.0-only
/*
 * Huge pages for a run, on machines of two nodes made of files: whose pool is
 * enlarged, by how much, and what somebody else is told to type. These files
 * count nothing themselves: what was free stays free, whatever is added.
 */
#include "../../lib/limits.h"
#include "../../tools/reserve.h"
#include "../../tools/tool.h"
#include "test_lib.h"
#include "test_tool.h"

#define M ((uint64_t)1 << 20)
#define ALL "/sys/kernel/mm/hugepages/hugepages-2048kB"
#define NODE0 "/sys/devices/system/node/node0/hugepages/hugepages-2048kB"
#define NODE1 "/sys/devices/system/node/node1/hugepages/hugepages-2048kB"
#define TYPE ": as root, use --reserve, or type 'echo "

static char root[PATH_MAX], why[512];

static void number(const char *dir, const char *file, unsigned int value)
{
	char path[256], text[24];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	snprintf(text, sizeof(text), "%u\n", value);
	root_file(root, path, text);
}

/* The kernel has the last two for all nodes together only. */
static void machine(unsigned int free0, unsigned int free1, unsigned int reserved,
		    unsigned int surplus)
{
	number(ALL, "nr_hugepages", 40);
	number(ALL, "free_hugepages", free0 + free1);
	number(ALL, "resv_hugepages", reserved);
	number(ALL, "surplus_hugepages", surplus);
	number(ALL, "nr_overcommit_hugepages", 0);
	number(NODE0, "nr_hugepages", 20);
	number(NODE0, "free_hugepages", free0);
	number(NODE0, "surplus_hugepages", surplus);
	number(NODE1, "nr_hugepages", 20);
	number(NODE1, "free_hugepages", free1);
	number(NODE1, "surplus_hugepages", 0);
}

static unsigned int size_of(const char *dir)
{
	char path[PATH_MAX + 128];
	unsigned int pages = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s%s/nr_hugepages", root, dir);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%9u", &pages) != 1)
		die("read", path);
	fclose(f);
	return pages;
}

static bool sizes(unsigned int all, unsigned int node0, unsigned int node1)
{
	if (size_of(ALL) == all && size_of(NODE0) == node0 && size_of(NODE1) == node1)
		return true;
	tap_note("%u pages, %u on node 0, %u on node 1", size_of(ALL), size_of(NODE0),
		 size_of(NODE1));
	return false;
}

static int need(uint64_t pages, int node, enum reserve_mode mode)
{
	int code;

	why[0] = '\0';
	listen_begin();
	code = reserve_need(root, 2 * M, pages, node, mode, why, sizeof(why));
	listen_end();
	return code;
}

/* ---- what is there ------------------------------------------------------------ */

static void test_enough(void)
{
	machine(12, 8, 5, 0);
	tap_ok(need(15, LIMITS_ANY_NODE, RESERVE_ASKED) == TOOL_OK && !*why && !*heard_text,
	       "15 pages of 15: nothing is said");
	tap_ok(need(12, 0, RESERVE_ASKED) == TOOL_OK && need(8, 1, RESERVE_ASKED) == TOOL_OK && !*why,
	       "all that a node has free");
	tap_ok(sizes(40, 20, 20), "and no pool has changed");
	tap_ok(need(1, 2, RESERVE_ASKED) == TOOL_UNSUPPORTED && strstr(why, "no huge pages of 2M"),
	       "a node that there is not");
}

/* ---- what to type --------------------------------------------------------------- */

static void advises(const char *name, uint64_t pages, int node, const char *expected)
{
	int code = need(pages, node, RESERVE_NEVER);

	if (!tap_ok(code == TOOL_FAILED && !strcmp(why, expected), "advice: %s", name))
		tap_note("%d: %s", code, why);
}

static void test_advice(void)
{
	machine(2, 8, 0, 0);
	advises("a pool of all nodes", 12, LIMITS_ANY_NODE,
		ALL ": 12 pages of 2M needed, 10 to be had (10 free, 0 more by overcommit)"
		TYPE "42 > " ALL "/nr_hugepages'");
	advises("a node's pool by the path of that node", 6, 0,
		NODE0 ": 6 pages of 2M needed, 2 to be had (2 free, 0 more by overcommit)"
		TYPE "24 > " NODE0 "/nr_hugepages'");
	advises("and of no other", 10, 1,
		NODE1 ": 10 pages of 2M needed, 8 to be had (8 free, 0 more by overcommit)"
		TYPE "22 > " NODE1 "/nr_hugepages'");
	machine(2, 8, 0, 3);
	advises("surplus pages are not in the number that is written", 6, 0,
		NODE0 ": 6 pages of 2M needed, 2 to be had (2 free, 0 more by overcommit)"
		TYPE "21 > " NODE0 "/nr_hugepages'");
	/* As much as both lack: 4 of 20 free ones that are promised, none on the node. */
	machine(20, 0, 20, 0);
	advises("free on the node, and promised to others", 4, 0,
		ALL ": 4 pages of 2M needed, 0 to be had (20 free, less 20 reserved, 0 more by "
		"overcommit)" TYPE "24 > " NODE0 "/nr_hugepages'");
	tap_ok(sizes(40, 20, 20), "advice: no pool has changed");
}

/* ---- what is done ---------------------------------------------------------------- */

/* How large the pools are for the run, and that they are as before after it. */
static void enlarges(const char *name, uint64_t pages, int node, unsigned int all,
		     unsigned int node0, unsigned int node1)
{
	need(pages, node, RESERVE_ASKED);
	tap_ok(sizes(all, node0, node1) && one_line(heard_text, "reserved "), "reserves: %s", name);
	reserve_release();
	tap_ok(sizes(40, 20, 20), "reserves: %s: given back", name);
}

static void test_reserve(void)
{
	machine(2, 8, 0, 0);
	enlarges("in the pool of all nodes", 12, LIMITS_ANY_NODE, 42, 20, 20);
	enlarges("on node 0", 6, 0, 40, 24, 20);
	enlarges("on node 1", 10, 1, 40, 20, 22);
	machine(20, 0, 20, 0);
	enlarges("promised to others, any node", 4, LIMITS_ANY_NODE, 44, 20, 20);
	enlarges("promised to others, on a node that has them free", 4, 0, 40, 24, 20);
	/* 2 of the 12 that are needed are missing in all, 9 on the node. */
	machine(3, 17, 10, 0);
	enlarges("the node lacks more than all nodes", 12, 0, 40, 29, 20);
	/* 4 are missing on the node, 10 in all. */
	machine(8, 4, 10, 0);
	enlarges("all nodes lack more than the node", 12, 0, 40, 30, 20);
	need(12, 0, RESERVE_NEVER);
	tap_ok(sizes(40, 20, 20), "--no-reserve: no pool has changed");
}

int main(void)
{
	root_new(root, sizeof(root));
	test_enough();
	test_advice();
	test_reserve();
	root_remove(root);
	return tap_done();
}
