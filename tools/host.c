// SPDX-License-Identifier: GPL-2.0-only
/* The host sheet: see host.h. What cannot be known is said, not guessed. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/policy.h"
#include "clearpages.h"
#include "host.h"
#include "tool.h"

/* A kernel configuration has some 300 KiB; a dump may hold anything. */
#define FILE_MAX ((size_t)4 << 20)

/* The kernel's own limit of a command line on x86 is 2048. */
#define LINE_MAX_BYTES 4096

/*
 * What the kernel and the firmware say goes to terminals and into JSON, which
 * takes nothing but UTF-8: what is not printable ASCII becomes '?'.
 */
static void clean(char *text)
{
	for (; *text; text++)
		if (!isascii((unsigned char)*text) || !isprint((unsigned char)*text))
			*text = '?';
}

static void read_line(const char *root, const char *path, char *line, size_t size)
{
	if (machine_line(root, path, line, size) < 0)
		line[0] = '\0';
	clean(line);
}

/* Text in full, or as much of it as there is room for. */
static void put(char *to, size_t size, const char *text, size_t length)
{
	if (length >= size)
		length = size - 1;
	memcpy(to, text, length);
	to[length] = '\0';
}

/* The word between two brackets, as in "always [madvise] never"; "" if there is none. */
static void chosen(const char *line, const char *brackets, char *word, size_t size)
{
	const char *open = strchr(line, brackets[0]);
	const char *close = open ? strchr(open, brackets[1]) : NULL;

	word[0] = '\0';
	if (close)
		put(word, size, open + 1, (size_t)(close - open - 1));
}

/* The value of the last `key=` word of a command line, up to "--", as the kernel reads it. */
static bool boot_option(const char *cmdline, const char *key, char *value, size_t size)
{
	const size_t keylen = strlen(key);
	bool found = false;

	while (*(cmdline += strspn(cmdline, " "))) {
		size_t length = strcspn(cmdline, " ");

		if (length == 2 && !memcmp(cmdline, "--", 2))
			break;
		if (length > keylen && !memcmp(cmdline, key, keylen) && cmdline[keylen] == '=') {
			put(value, size, cmdline + keylen + 1, length - keylen - 1);
			found = true;
		}
		cmdline += length;
	}
	return found;
}

/* Is this word in a line of words between blanks? */
static bool has_word(const char *line, const char *word)
{
	const size_t wordlen = strlen(word);

	while (*(line += strspn(line, " "))) {
		size_t length = strcspn(line, " ");

		if (length == wordlen && !memcmp(line, word, length))
			return true;
		line += length;
	}
	return false;
}

/* The configuration that the running kernel's package left in /boot; NULL if it is not there. */
static char *kernel_config(const char *root, const char *release)
{
	char path[4096 + 256], *text = NULL;
	size_t used = 1, room;
	struct stat st;
	ssize_t n;
	int fd;

	if (!*release || strchr(release, '/'))
		return NULL;
	n = snprintf(path, sizeof(path), "%s/boot/config-%s", root, release);
	if (n >= (ssize_t)sizeof(path))
		return NULL;
	/* Not to wait for ever on a FIFO in a dump. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size > FILE_MAX)
		goto out;
	room = (size_t)st.st_size + 1;
	text = calloc(1, room + 1);
	if (!text)
		goto out;
	text[0] = '\n';	/* so that each line comes after one, see config_has() */
	while (used < room && (n = read(fd, text + used, room - used)) > 0)
		used += (size_t)n;
out:
	close(fd);
	return text;
}

static bool config_has(const char *config, const char *line)
{
	const char *at = config;
	const size_t length = strlen(line);

	while (at && (at = strstr(at, line))) {
		if (at[-1] == '\n' && (at[length] == '\n' || !at[length]))
			return true;
		at += length;
	}
	return false;
}

/* The model that was asked for at boot, "" if none or one that no kernel has. */
static const char *booted_preemption(const char *cmdline)
{
	static const char *const models[] = { "none", "voluntary", "lazy", "laziest", "full" };
	char word[16];
	size_t i;

	if (!boot_option(cmdline, "preempt", word, sizeof(word)))
		return "";
	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (!strcmp(word, models[i]))
			return models[i];
	return "";
}

/* The model that was configured, "" if that cannot be told. */
static const char *configured_preemption(const char *config)
{
	static const struct {
		const char *line, *model;
	} models[] = {
		{ "CONFIG_PREEMPT_NONE=y", "none" },
		{ "CONFIG_PREEMPT_VOLUNTARY=y", "voluntary" },
		{ "CONFIG_PREEMPT_LAZY=y", "lazy" },
		{ "CONFIG_PREEMPT=y", "full" },
	};
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (config_has(config, models[i].line))
			return models[i].model;
	return "";
}

/*
 * Where debugfs cannot be read, a kernel with PREEMPT_DYNAMIC shows only what
 * it was booted with: root may have changed it since, and the text says so.
 */
static void read_preemption(struct host *h, const char *root, const char *cmdline,
			    const char *config)
{
	const size_t size = sizeof(h->preemption);
	const char *built = configured_preemption(config), *booted = booted_preemption(cmdline);
	char line[LINE_MAX_BYTES];

	read_line(root, "/sys/kernel/debug/sched/preempt", line, sizeof(line));
	chosen(line, "()", h->preemption, size);
	if (h->preemption[0])
		return;
	read_line(root, "/proc/version", line, sizeof(line));
	if (!line[0])
		return;
	if (has_word(line, "PREEMPT_RT"))
		snprintf(h->preemption, size, "full (real-time kernel)");
	else if (has_word(line, "PREEMPT_DYNAMIC") && (booted[0] || built[0]))
		snprintf(h->preemption, size, "dynamic, booted as %s",
			 booted[0] ? booted : built);
	else if (has_word(line, "PREEMPT_DYNAMIC"))
		snprintf(h->preemption, size,
			 "dynamic, current one unknown (needs root and debugfs)");
	else if (built[0])
		snprintf(h->preemption, size, "%s", built);
	else
		snprintf(h->preemption, size,
			 has_word(line, "PREEMPT") ? "full or lazy" : "none or voluntary");
}

/* As the kernel's kstrtobool(): 1, 0, or -1. */
static int truth(const char *word)
{
	if (strchr("1yYtT", word[0]) && word[0])
		return 1;
	if (strchr("0nNfF", word[0]) && word[0])
		return 0;
	if (tolower((unsigned char)word[0]) != 'o')
		return -1;
	return tolower((unsigned char)word[1]) == 'n' ? 1 :
	       tolower((unsigned char)word[1]) == 'f' ? 0 : -1;
}

static void read_init_on_alloc(struct host *h, const char *cmdline, const char *config)
{
	const char *text = "unknown (not in the command line or /boot)";
	char word[16];
	int on = -1;

	if (boot_option(cmdline, "init_on_alloc", word, sizeof(word)))
		on = truth(word);
	if (on >= 0)
		text = on ? "on (command line)" : "off (command line)";
	else if (config_has(config, "CONFIG_INIT_ON_ALLOC_DEFAULT_ON=y"))
		text = "on (kernel configuration)";
	else if (config_has(config, "# CONFIG_INIT_ON_ALLOC_DEFAULT_ON is not set"))
		text = "off (kernel configuration)";
	snprintf(h->init_on_alloc, sizeof(h->init_on_alloc), "%s", text);
}

/* One word if all cpus have the same, else "mixed". */
static void read_governor(struct host *h, const char *root)
{
	char path[80], word[sizeof(h->governor)];
	unsigned int i;

	for (i = 0; i < h->machine.cpus; i++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", i);
		read_line(root, path, word, sizeof(word));
		if (!word[0])
			continue;
		if (!h->governor[0])
			memcpy(h->governor, word, sizeof(word));
		else if (strcmp(h->governor, word))
			snprintf(h->governor, sizeof(h->governor), "mixed");
	}
}

/*
 * Firmware strings alone prove nothing: the bare metal of a cloud has the
 * cloud's name in them, too. The processor's flag decides, or Xen, which hides
 * the flag from its first domain.
 */
static void read_hypervisor(struct host *h, const char *root)
{
	static const char *const sources[] = {
		"/sys/hypervisor/type",
		"/sys/class/dmi/id/sys_vendor",
		"/sys/class/dmi/id/product_name",
	};
	char features[256];
	size_t i;

	machine_features(&h->machine, features, sizeof(features));
	read_line(root, sources[0], h->hypervisor, sizeof(h->hypervisor));
	if (h->hypervisor[0] || !has_word(features, "hypervisor"))
		return;
	for (i = 1; i < sizeof(sources) / sizeof(sources[0]) && !h->hypervisor[0]; i++)
		read_line(root, sources[i], h->hypervisor, sizeof(h->hypervisor));
	if (!h->hypervisor[0])
		snprintf(h->hypervisor, sizeof(h->hypervisor), "yes");
}

static void read_policy(struct host *h, const char *root)
{
	struct clearpages_policy *policy = NULL;

	/* The environment speaks of this machine, not of another's dump. */
	if (*root && policy_new_for(&h->machine, "auto", &policy, NULL, 0))
		return;
	if (clearpages_policy_text(policy, h->policy, sizeof(h->policy)) < 0)
		h->policy[0] = '\0';
	clearpages_policy_free(policy);
}

static void read_memory(struct host *h, const char *root)
{
	static const char key[] = "MemTotal:";
	unsigned long long kib;
	char line[128];

	read_line(root, "/proc/meminfo", line, sizeof(line));
	if (strncmp(line, key, sizeof(key) - 1))
		return;
	kib = strtoull(line + sizeof(key) - 1, NULL, 10);
	if (kib < 1ULL << 50)
		h->memory_bytes = kib << 10;
}

void host_read(const char *root, struct host *h)
{
	char cmdline[LINE_MAX_BYTES], line[256], *config;

	memset(h, 0, sizeof(*h));
	machine_read(root, &h->machine);
	read_line(root, "/proc/sys/kernel/osrelease", h->kernel, sizeof(h->kernel));
	read_line(root, "/proc/cmdline", cmdline, sizeof(cmdline));
	config = kernel_config(root, h->kernel);
	read_preemption(h, root, cmdline, config);
	read_line(root, "/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof(line));
	chosen(line, "[]", h->thp, sizeof(h->thp));
	read_init_on_alloc(h, cmdline, config);
	free(config);
	read_governor(h, root);
	read_hypervisor(h, root);
	read_memory(h, root);
	read_policy(h, root);
}
