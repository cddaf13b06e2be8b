// SPDX-License-Identifier: GPL-2.0-only
/* Option values and lists of policies: what is taken, and every way to be wrong in one line. */
#include <inttypes.h>
#include <stdint.h>

#include "../../tools/bench.h"
#include "test_tool.h"

/* ---- single values ----------------------------------------------------------- */

static void test_page(void)
{
	static const struct { const char *text; uint64_t bytes; } good[] = {
		{ "4K", 4096 }, { "64K", 65536 }, { "2M", 2 << 20 }, { "2MB", 2 << 20 },
		{ "2Mi", 2 << 20 }, { "2MiB", 2 << 20 }, { "2m", 2 << 20 }, { "2048K", 2 << 20 },
		{ "0.5G", 512 << 20 }, { "1G", 1 << 30 }, { "hugepages-2048kB", 2 << 20 },
		{ "hugepages-1048576kB", 1 << 30 }, { "2097152", 2 << 20 },
	};
	static const char *const bad[] = {
		"", "0", "1K", "2K", "3M", "4095", "4097", "-4K", "2X", "2M ", "2MM", "M", "huge",
		"hugepages-", "hugepages-3000kB", "4294971392", "18446744073709551616",
		"18446744073709555712", "99999999999999999999G", "0x1000", "2M,1G",
	};
	uint64_t bytes;
	size_t i;
	int err;

	for (i = 0; i < LENGTH(good); i++) {
		bytes = 0;
		listen_begin();
		err = opt_page("-p", good[i].text, &bytes);
		listen_end();
		tap_ok(!err && bytes == good[i].bytes && !*heard_text, "page %s", good[i].text);
	}
	for (i = 0; i < LENGTH(bad); i++) {
		listen_begin();
		err = opt_page("-p", bad[i], &bytes);
		listen_end();
		tap_ok(err == TOOL_USAGE && one_line(heard_text, "-p '") &&
		       one_line(heard_text, "expected"), "no page: \"%s\"", bad[i]);
	}
}

static void test_count(void)
{
	static const char *const bad[] = {
		"", "0", "101", "-1", "+5", " 5", "5 ", "5x", "0x5", "1e1", "1.5", "five",
		"18446744073709551617", "99999999999999999999",
	};
	uint64_t n = 0;
	size_t i;
	int err;

	tap_ok(!opt_count("-l", "1", 1, 100, &n) && n == 1, "the least");
	tap_ok(!opt_count("-l", "100", 1, 100, &n) && n == 100, "the most");
	tap_ok(!opt_count("-l", "007", 1, 100, &n) && n == 7, "seven, not octal");
	tap_ok(!opt_count("-r", "18446744073709551615", 0, UINT64_MAX, &n) && n == UINT64_MAX,
	       "as many as fit");
	for (i = 0; i < LENGTH(bad); i++) {
		listen_begin();
		err = opt_count("-l", bad[i], 1, 100, &n);
		listen_end();
		tap_ok(err == TOOL_USAGE && one_line(heard_text, "from 1 to 100"), "no count: \"%s\"",
		       bad[i]);
	}
}

static void test_word(void)
{
	static const char *const words[] = { "demand", "populate", "madvise", NULL };
	static const char *const bad[] = { "", "dem", "demandx", "Demand", "demand ", "demand,populate" };
	unsigned int index = 9;
	size_t i;
	int err;

	tap_ok(!opt_word("-f", "madvise", words, &index) && index == 2, "a word, whole");
	for (i = 0; i < LENGTH(bad); i++) {
		listen_begin();
		err = opt_word("-f", bad[i], words, &index);
		listen_end();
		tap_ok(err == TOOL_USAGE && one_line(heard_text, "expected demand, populate or madvise"),
		       "no word: \"%s\"", bad[i]);
	}
}

static void test_sizes(void)
{
	static const char *const bad[] = { "", ",", "4K,", ",4K", "4K,,64K", "4K,x", "4K;64K", "0,4K" };
	uint64_t *bytes = NULL;
	unsigned int count = 0;
	size_t i;
	int err;

	err = opt_sizes("-k", "4K,64K,1.5M", &bytes, &count);
	tap_ok(!err && count == 3 && bytes[0] == 4096 && bytes[1] == 65536 && bytes[2] == 3 << 19,
	       "a list of sizes");
	free(bytes);
	for (i = 0; i < LENGTH(bad); i++) {
		bytes = NULL;
		listen_begin();
		err = opt_sizes("-k", bad[i], &bytes, &count);
		listen_end();
		tap_ok(err == TOOL_USAGE && !bytes && one_line(heard_text, "-k '"),
		       "no list: \"%s\"", bad[i]);
	}
}

static void test_size_text(void)
{
	static const struct { uint64_t bytes; const char *text; } table[] = {
		{ 0, "0B" }, { 1, "1B" }, { 1023, "1023B" }, { 1024, "1K" }, { 1536, "1.5K" },
		{ 65536, "64K" }, { 2 << 20, "2M" }, { (uint64_t)3 << 29, "1.5G" },
		{ (uint64_t)1 << 40, "1T" }, { (1 << 20) - 1, "1M" }, { 1000000, "977K" },
	};
	char text[32];
	size_t i;

	for (i = 0; i < LENGTH(table); i++)
		if (!tap_ok(!strcmp(size_text(table[i].bytes, text, sizeof(text)), table[i].text),
			    "%" PRIu64 " bytes are %s", table[i].bytes, table[i].text))
			tap_note("said: %s", text);
}

/* What is rounded is said in bytes, so that each text gives the very number again. */
static void test_size_exact(void)
{
	static const struct { uint64_t bytes; const char *text; } table[] = {
		{ 0, "0B" }, { 1023, "1023B" }, { 1536, "1.5K" }, { 4100, "4100B" },
		{ (1 << 20) - 1, "1048575B" }, { 1 << 20, "1M" }, { (1 << 20) + 1, "1048577B" },
		{ 255 << 20, "255M" }, { (uint64_t)3 << 29, "1.5G" },
		{ ((uint64_t)1 << 30) + 1, "1073741825B" }, { ((uint64_t)1 << 30) + 4096, "1073745920B" },
		{ (uint64_t)1 << 40, "1T" }, { INT64_MAX, "9223372036854775807B" },
	};
	uint64_t again;
	char text[32];
	size_t i;

	for (i = 0; i < LENGTH(table); i++)
		if (!tap_ok(!strcmp(size_exact(table[i].bytes, text, sizeof(text)), table[i].text) &&
			    (!table[i].bytes ||
			     (!opt_size("-s", text, &again) && again == table[i].bytes)),
			    "%" PRIu64 " bytes are exactly %s", table[i].bytes, table[i].text))
			tap_note("said: %s", text);
}

/* A value of many kilobytes and of control characters: one line, that can be read. */
static void test_hostile(void)
{
	static char text[5000];
	uint64_t bytes;
	int err;

	memset(text, 'x', sizeof(text) - 1);
	listen_begin();
	err = opt_size("-s", text, &bytes);
	listen_end();
	tap_ok(err == TOOL_USAGE && strlen(heard_text) < 300 && one_line(heard_text, "expected a size"),
	       "a value of 5000 bytes");
	listen_begin();
	err = opt_size("-s", "1\n\033[31m2", &bytes);
	listen_end();
	tap_ok(err == TOOL_USAGE && one_line(heard_text, "?[31m"), "control characters are not printed");
}

static void test_clean(void)
{
	static const struct { const char *text, *clean; } table[] = {
		{ "", "" }, { "/dev/shm/file 1", "/dev/shm/file 1" }, { "a\tb\nc\x7f", "a?b?c?" },
		{ "\033]0;title\a\033[31m", "?]0;title??[31m" },
		{ "\xc2\x9b" "31m", "??31m" }, { "\xc2\x80\xc2\x9f", "????" },
		{ "\xc2\xa0\xc3\xa9\xc3\x9b", "\xc2\xa0\xc3\xa9\xc3\x9b" }, { "\xc2", "\xc2" },
	};
	char text[64];
	size_t i;

	for (i = 0; i < LENGTH(table); i++) {
		snprintf(text, sizeof(text), "%s", table[i].text);
		text_clean(text);
		tap_ok(!strcmp(text, table[i].clean), "text for a terminal, %zu", i);
	}
	listen_begin();
	fail(TOOL_FAILED, "%s", "a\xc2\x9b" "31m\033");
	listen_end();
	tap_ok(one_line(heard_text, "a??31m?"), "an error line");
}

/* ---- lists of policies --------------------------------------------------------- */

/* Are they these, in that order? */
static bool named(const struct bench *b, const char *const *names, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count && i < b->policy_count; i++)
		if (strcmp(b->policies[i].name, names[i]) || !b->policies[i].policy)
			break;
	if (i == count && b->policy_count == count)
		return true;
	for (i = 0; i < b->policy_count; i++)
		tap_note("policy %u: %s", i, b->policies[i].name);
	return false;
}

static void test_policies(void)
{
	static const struct {
		const char *list;
		const char *names[5];
		unsigned int count;
	} good[] = {
		{ "stock", { "stock" }, 1 },
		{ "stock,ranges", { "stock", "ranges" }, 2 },
		{ "stock,ranges,batch=8M,auto;far=mov,near=mov",
		  { "stock", "ranges,batch=8M", "auto", "far=mov,near=mov" }, 4 },
		{ "far=mov,near=mov", { "far=mov,near=mov" }, 1 },
		{ "far=mov;far=stosb", { "far=mov", "far=stosb" }, 2 },
		{ "far=mov;stock", { "far=mov", "stock" }, 2 },
		{ "ranges,batch=8M,window=16K;ranges,batch=4M",
		  { "ranges,batch=8M,window=16K", "ranges,batch=4M" }, 2 },
		{ "ranges,batch=8M,ranges,batch=4M", { "ranges,batch=8M", "ranges,batch=4M" }, 2 },
		{ "stock,stock", { "stock", "stock" }, 2 },
	};
	static const char *const bad[] = {
		"", ",", ";", "stock,", "stock;", ",stock", ";stock", "stock,,ranges", "stock;;ranges",
		"nosuch", "stock,nosuch", "stock,far=nosuch", "stock,nosuch=1", "stock batch=8M",
		"far=", "=mov", "Stock", "ranges,batch=8M;nosuch",
	};
	size_t i;

	for (i = 0; i < LENGTH(good); i++) {
		struct bench b = { .seed = 1 };

		tap_ok(!bench_add_policies(&b, good[i].list) &&
		       named(&b, good[i].names, good[i].count), "list \"%s\"", good[i].list);
		bench_free(&b);
	}
	for (i = 0; i < LENGTH(bad); i++) {
		struct bench b = { .seed = 1 };
		int err;

		listen_begin();
		err = bench_add_policies(&b, bad[i]);
		listen_end();
		tap_ok(err == TOOL_USAGE && one_line(heard_text, "policy \""), "no list: \"%s\"", bad[i]);
		bench_free(&b);
	}
}

static void test_policies_add_up(void)
{
	static const char *const names[] = { "stock", "ranges", "auto" };
	struct bench b = { .seed = 1 };

	tap_ok(!bench_add_policies(&b, "stock") && !bench_add_policies(&b, "ranges,auto") &&
	       named(&b, names, LENGTH(names)), "two lists add up");
	bench_free(&b);
}

/* The matrix of a chunk study: function x order x unit. */
static void test_matrix(void)
{
	static const char *const orders[] = { "forward", "reverse" };
	static const char *const variants[] = { "stosb", "mov" };
	static char functions[] = "stosb,mov", order_list[] = "forward,reverse";
	static uint64_t units[] = { 4096, 65536 };
	struct bench b = { .functions = functions, .orders = order_list, .units = units,
			   .unit_count = 2 };
	unsigned int i;
	bool all = true;

	if (!tap_ok(!bench_add_matrix(&b) && b.policy_count == 8, "2 variants x 2 orders x 2 units"))
		return;
	for (i = 0; i < 8; i++) {
		char full[CLEARPAGES_POLICY_TEXT], far[32], order[32], unit[32];

		clearpages_policy_text(b.policies[i].policy, full, sizeof(full));
		snprintf(far, sizeof(far), "far=%s,near=%s,", variants[i / 4], variants[i / 4]);
		snprintf(order, sizeof(order), "order=%s", orders[i / 2 % 2]);
		snprintf(unit, sizeof(unit), "unit=%s", i % 2 ? "64K" : "4K");
		all = all && strstr(full, far) && strstr(full, order) && strstr(full, unit);
		if (!all)
			tap_note("%u: %s", i, full);
	}
	tap_ok(all, "each of the eight is what it says");
	for (i = 0; i < 8; i++) {
		free(b.policies[i].name);
		clearpages_policy_free(b.policies[i].policy);
	}
	free(b.policies);
}

static void test_matrix_bad(void)
{
	static const struct { const char *functions, *orders; } bad[] = {
		{ "", NULL }, { ",", NULL }, { "stosb,", NULL }, { "nosuch", NULL }, { "stock", NULL },
		{ "stosb", "" }, { "stosb", "forward," }, { "stosb", "nosuch" }, { "stos", "forward" },
	};
	size_t i;

	for (i = 0; i < LENGTH(bad); i++) {
		struct bench b = { .functions = strdup(bad[i].functions),
				   .orders = bad[i].orders ? strdup(bad[i].orders) : NULL };
		int err;

		listen_begin();
		err = bench_add_matrix(&b);
		listen_end();
		tap_ok(err == TOOL_USAGE && one_line(heard_text, "expected"), "no matrix: -f \"%s\"%s%s",
		       bad[i].functions, bad[i].orders ? " --order " : "",
		       bad[i].orders ? bad[i].orders : "");
		bench_free(&b);
	}
}

int main(void)
{
	test_page();
	test_count();
	test_word();
	test_sizes();
	test_size_text();
	test_size_exact();
	test_hostile();
	test_clean();
	test_policies();
	test_policies_add_up();
	test_matrix();
	test_matrix_bad();
	return tap_done();
}
