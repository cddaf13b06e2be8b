// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel said since a point in time. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

int klog_from_here(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || lseek(fd, 0, SEEK_END) < 0)
		fail("/dev/kmsg: %s", strerror(errno));
	return fd;
}

/* A record is "priority,number,time,flags;text\n" and, perhaps, " KEY=value\n" lines. */
const char *klog_lines(int klog, const char *word)
{
	static char found[64 << 10];
	char record[8192], *text, *end;
	size_t len = 0, n;
	ssize_t got;

	while ((got = read(klog, record, sizeof(record) - 1)) > 0 ||
	       (got < 0 && errno == EPIPE)) {
		if (got < 0)
			continue;
		record[got] = 0;
		text = strchr(record, ';');
		end = text ? strchr(text, '\n') : NULL;
		if (!end)
			continue;
		*end = 0;
		n = strlen(++text);
		if (!strstr(text, word) || len + n + 2 > sizeof(found))
			continue;
		memcpy(found + len, text, n);
		len += n;
		found[len++] = '\n';
	}
	found[len] = 0;
	return found;
}
