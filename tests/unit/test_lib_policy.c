// SPDX-License-Identifier: GPL-2.0-only
/* Variants and policies through the public API: structs, texts, error lines, the default. */
#include <sys/wait.h>

#include "../../include/clearpages.h"
#include "../../lib/policy.h"
#include "test_lib.h"

/* ---- variants ------------------------------------------------------------- */

static void test_variants(void)
{
	struct clearpages_variant v = { .size = sizeof(v) };
	unsigned int i, streaming = 0;
	int err;

	for (i = 0; !(err = clearpages_variant_get(i, &v)); i++) {
		tap_ok(v.name && *v.name && v.what && *v.what && (!v.lacks || *v.lacks),
		       "variant %s: %s (%s)", v.name, v.what, v.lacks ? v.lacks : "usable");
		streaming += v.streaming == 1;
	}
	tap_ok(err == -ENOENT && i >= 10 && streaming >= 4, "%u variants, %u of them streaming", i,
	       streaming);
	tap_ok(clearpages_variant_get(UINT32_MAX, &v) == -ENOENT, "no variant 2^32 - 1");
}

/* A struct of a size of the caller's choice, and what lies behind it. */
static void test_variant_sizes(void)
{
	struct {
		struct clearpages_variant v;
		unsigned char behind[64];
	} s;
	static const size_t bad[] = { 0, 8, sizeof(s.v) - 1, 4097, SIZE_MAX };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memset(&s, 0xa5, sizeof(s));
		s.v.size = bad[i];
		tap_ok(clearpages_variant_get(0, &s.v) == -EINVAL, "variant of size %zu", bad[i]);
		tap_ok(*(unsigned char *)&s.v.name == 0xa5, "... is not written");
	}
	memset(&s, 0xa5, sizeof(s));
	s.v.size = sizeof(s.v);
	tap_ok(!clearpages_variant_get(0, &s.v) && s.v.size == sizeof(s.v) &&
	       s.behind[0] == 0xa5, "variant of our size");
	memset(&s, 0xa5, sizeof(s));
	s.v.size = sizeof(s.v) + 16;
	tap_ok(!clearpages_variant_get(0, &s.v) && s.v.size == sizeof(s.v) + 16 && !s.behind[0] &&
	       !s.behind[15] && s.behind[16] == 0xa5, "variant of a later release: its tail is 0");
}

static void test_variants_elsewhere(void)
{
	struct clearpages_variant v = { .size = sizeof(v) };
	struct machine m;
	unsigned int i, clzero = 0, avx512 = 0;

	machine_read(beside("roots/", "intel-skylake-x"), &m);
	for (i = 0; !variant_get_for(&m, i, &v); i++) {
		if (!strcmp(v.name, "clzero"))
			clzero += v.lacks && !strcmp(v.lacks, "clzero");
		if (!strcmp(v.name, "avx512") || !strcmp(v.name, "ntavx512"))
			avx512 += !v.lacks;
	}
	tap_ok(clzero == 1 && avx512 == 2, "Skylake-X has avx512 and ntavx512 and lacks clzero");
}

/* ---- texts ---------------------------------------------------------------- */

static void test_round_trip(void)
{
	static const char *const changes[] = {
		"", ",window=0", ",window=1M,far_min=3,batch=0", ",unit=64K,order=reverse",
		",far=movnti,near=stosq", ",far=memset,near=memset,order=narrow",
	};
	char text[256], first[CLEARPAGES_POLICY_TEXT], second[CLEARPAGES_POLICY_TEXT], why[256];
	struct clearpages_policy *p, *q;
	int len;
	const char *name, *what;
	unsigned int i;
	size_t c;

	for (i = 0; (name = clearpages_policy_name(i, &what)); i++) {
		tap_ok(*name && what && *what, "policy %s: %s", name, what);
		for (c = 0; c < sizeof(changes) / sizeof(*changes); c++) {
			snprintf(text, sizeof(text), "%s%s", name, changes[c]);
			strcpy(why, "x");
			if (!tap_ok(!clearpages_policy_new(text, &p, why, sizeof(why)) && p,
				    "%s: %s", text, why))
				continue;
			tap_ok(!*why, "... leaves no reason");
			len = clearpages_policy_text(p, first, sizeof(first));
			tap_ok(len == (int)strlen(first), "... in full: %s", first);
			tap_ok(!clearpages_policy_new(first, &q, NULL, 0) &&
			       clearpages_policy_text(q, second, sizeof(second)) > 0 &&
			       !strcmp(first, second), "... and again: %s", second);
			clearpages_policy_free(p);
			clearpages_policy_free(q);
		}
	}
	tap_ok(i >= 8 && !clearpages_policy_name(UINT32_MAX, NULL), "%u named policies", i);
	tap_ok(clearpages_policy_name(0, NULL) != NULL, "a name without its line");
	clearpages_policy_free(NULL);
}

static void test_text_room(void)
{
	char text[CLEARPAGES_POLICY_TEXT];
	int len = clearpages_policy_text(NULL, text, sizeof(text));

	tap_ok(len > 0 && (size_t)len < sizeof(text), "the default in full: %s", text);
	tap_ok(clearpages_policy_text(NULL, text, (size_t)len) == -ERANGE && !*text,
	       "a byte too few");
	tap_ok(clearpages_policy_text(NULL, text, (size_t)len + 1) == len, "just enough");
	tap_ok(clearpages_policy_text(NULL, NULL, 0) == -ERANGE, "no room at all");
}

#define VARIANTS "stosb, stosq, mov, avx2, avx512, memset, movnti, ntavx2, ntavx512"
#define KEYS "is not a key; expected far, near, window, far_min, batch, unit or order"
#define SIZE "is not a size; expected a number with K, M, G or T perhaps"
#define RANGE "is not a size that fits; expected up to 1T, in multiples of 4K (far_min: any)"

/* Said of a Skylake-X, whatever machine the test runs on. */
static const struct {
	const char *text;
	int err;
	const char *why;
} wrong[] = {
	{ "far=nosuch", -EINVAL,
	  "policy \"far=nosuch\": \"nosuch\" is not a variant; expected one of " VARIANTS },
	{ "ranges,near=clzero", -EOPNOTSUPP,
	  "policy \"ranges,near=clzero\": \"clzero\" needs clzero, which this processor lacks" },
	{ "nosuch", -EINVAL,
	  "policy \"nosuch\": \"nosuch\" is not the name of a policy; expected stock, oneshot, "
	  "forward, reverse, extent, ranges, stream, auto, or key=value" },
	{ "auto,ranges", -EINVAL,
	  "policy \"auto,ranges\": \"ranges\" is a name that is not the first word; expected "
	  "key=value" },
	{ "auto,wndow=4K", -EINVAL, "policy \"auto,wndow=4K\": \"wndow\" " KEYS },
	{ "=4K", -EINVAL, "policy \"=4K\": \"\" " KEYS },
	{ "batch=4K,batch=8K", -EINVAL,
	  "policy \"batch=4K,batch=8K\": \"batch\" is a key given twice" },
	{ "order=up", -EINVAL,
	  "policy \"order=up\": \"up\" is not an order; expected forward, right-first, reverse or "
	  "narrow" },
	{ "window=", -EINVAL, "policy \"window=\": what follows \"window=\" " SIZE },
	{ "auto,far_min=-1", -EINVAL, "policy \"auto,far_min=-1\": \"-1\" " SIZE },
	{ "window=5000", -EINVAL, "policy \"window=5000\": \"5000\" " RANGE },
	{ "batch=2T", -EINVAL, "policy \"batch=2T\": \"2T\" " RANGE },
	{ "", -EINVAL,
	  "policy \"\": \"\" is empty where a policy name or key=value was expected" },
	{ "auto,", -EINVAL,
	  "policy \"auto,\": what follows \"auto,\" is empty where a policy name or key=value was "
	  "expected" },
	{ "auto,,unit=4K", -EINVAL,
	  "policy \"auto,,unit=4K\": what follows \"auto,\" is empty where a policy name or "
	  "key=value was expected" },
	{ "a\nb\x1b[2J", -EINVAL,
	  "policy \"a?b?[2J\": \"a?b?[2J\" is not the name of a policy; expected stock, oneshot, "
	  "forward, reverse, extent, ranges, stream, auto, or key=value" },
};

static void test_errors(void)
{
	struct clearpages_policy *p;
	struct machine m;
	char why[512];
	size_t i, room;
	int err;

	machine_read(beside("roots/", "intel-skylake-x"), &m);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		p = (void *)&m;
		err = policy_new_for(&m, wrong[i].text, &p, why, sizeof(why));
		if (!tap_ok(err == wrong[i].err && !p && !strcmp(why, wrong[i].why), "%d: %s", err,
			    why))
			tap_note("expected %d: %s", wrong[i].err, wrong[i].why);
	}
	for (room = 0; room < 80; room++) {
		memset(why, 0x5a, sizeof(why));
		policy_new_for(&m, "far=nosuch", &p, why, room);
		if (why[room] != 0x5a || (room && (strlen(why) != room - 1 ||
						   strncmp(why, wrong[0].why, room - 1))))
			break;
	}
	tap_ok(room == 80, "reasons cut to 0..79 bytes (%zu)", room);
	tap_ok(policy_new_for(&m, "x", &p, NULL, 0) == -EINVAL, "no reason wanted");
}

static void test_long_text(void)
{
	char text[4000], why[8000];
	struct clearpages_policy *p;
	int err;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	err = clearpages_policy_new(text, &p, why, sizeof(why));
	tap_ok(err == -EINVAL && strlen(why) < 400 && strstr(why, "xxx...\""),
	       "4000 bytes are quoted in %zu", strlen(why));
}

/* ---- the default ---------------------------------------------------------- */

struct report {
	int err, again;
	char why[512], text[CLEARPAGES_POLICY_TEXT], automatic[CLEARPAGES_POLICY_TEXT];
};

/* The environment is looked at once in a process: each case needs one of its own. */
static void in_child(const char *value, struct report *r)
{
	struct clearpages_policy *p;
	int fd[2], status;
	pid_t pid;

	memset(r, 0, sizeof(*r));
	if (pipe(fd))
		die("pipe", "");
	pid = fork();
	if (pid < 0)
		die("fork", "");
	if (!pid) {
		if (value)
			setenv("CLEARPAGES_POLICY", value, 1);
		else
			unsetenv("CLEARPAGES_POLICY");
		r->err = clearpages_policy_default(r->why, sizeof(r->why));
		setenv("CLEARPAGES_POLICY", "nonsense", 1);
		r->again = clearpages_policy_default(NULL, 0);
		clearpages_policy_text(NULL, r->text, sizeof(r->text));
		if (clearpages_policy_new("auto", &p, NULL, 0))
			_exit(1);
		clearpages_policy_text(p, r->automatic, sizeof(r->automatic));
		clearpages_policy_free(p);
		_exit(write(fd[1], r, sizeof(*r)) != sizeof(*r));
	}
	close(fd[1]);
	if (read(fd[0], r, sizeof(*r)) != sizeof(*r))
		r->err = 1;
	close(fd[0]);
	waitpid(pid, &status, 0);
}

static void test_default(void)
{
	static const char *const bad[] = { "far=nosuch", "what", "window=3" };
	char expected[128];
	struct report r;
	size_t i;

	in_child(NULL, &r);
	tap_ok(!r.err && !*r.why && !strcmp(r.text, r.automatic), "no environment: %s", r.text);
	in_child("", &r);
	tap_ok(!r.err && !*r.why && !strcmp(r.text, r.automatic), "empty: %s", r.text);
	in_child("stock,unit=64K,far=mov,near=mov", &r);
	tap_ok(!r.err && !r.again && !*r.why &&
	       !strcmp(r.text, "far=mov,near=mov,window=0,far_min=0,batch=4K,unit=64K,"
		       "order=narrow"), "a good one, looked at once: %s", r.text);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		in_child(bad[i], &r);
		snprintf(expected, sizeof(expected), "CLEARPAGES_POLICY \"%s\": ", bad[i]);
		tap_ok(r.err == -EINVAL && r.again == r.err &&
		       !strncmp(r.why, expected, strlen(expected)), "%d: %s", r.err, r.why);
		tap_ok(!strcmp(r.text, r.automatic), "... and auto in its place: %s", r.text);
	}
}

static void test_default_unusable(void)
{
	struct clearpages_variant v = { .size = sizeof(v) };
	char text[64];
	struct report r;
	unsigned int i = 0;

	while (!clearpages_variant_get(i, &v) && !v.lacks)
		i++;
	if (!v.lacks) {
		tap_skip("a variant that this processor lacks", "it has them all");
		return;
	}
	snprintf(text, sizeof(text), "auto,far=%s", v.name);
	in_child(text, &r);
	tap_ok(r.err == -EOPNOTSUPP && strstr(r.why, v.lacks) && !strcmp(r.text, r.automatic),
	       "%d: %s", r.err, r.why);
}

/* ---- the rest ------------------------------------------------------------- */

static void test_sizes(void)
{
	static const struct {
		const char *text;
		int err;
		uint64_t bytes;
	} cases[] = {
		{ "0", 0, 0 }, { "4096", 0, 4096 }, { "64k", 0, 65536 }, { "2MB", 0, 2 << 20 },
		{ "2Mi", 0, 2 << 20 }, { "1.5GiB", 0, 3ull << 29 }, { "1T", 0, 1ull << 40 },
		{ "", -EINVAL, 9 }, { "K", -EINVAL, 9 }, { "-1", -EINVAL, 9 }, { "1Q", -EINVAL, 9 },
		{ "1 K", -EINVAL, 9 }, { "9999999T", -ERANGE, 9 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t bytes = 9;
		int err = clearpages_size_parse(cases[i].text, &bytes);

		tap_ok(err == cases[i].err && bytes == cases[i].bytes, "size \"%s\": %d, %llu",
		       cases[i].text, err, (unsigned long long)bytes);
	}
}

int main(void)
{
	tap_ok(!strcmp(clearpages_version(), CLEARPAGES_VERSION), "version %s",
	       clearpages_version());
	/* Children first: this process has not looked at its own environment yet. */
	test_default();
	test_default_unusable();
	test_variants();
	test_variant_sizes();
	test_variants_elsewhere();
	test_round_trip();
	test_text_room();
	test_errors();
	test_long_text();
	test_sizes();
	return tap_done();
}
