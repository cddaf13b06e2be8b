// SPDX-License-Identifier: GPL-2.0-only
/* What `clearpages status` knows of the module by itself, against the module's own sources. */
#include "../../kmod/callers.h"
#include "../../tools/status.h"
#include "test_tool.h"

/* Every update of every series that there might be, with the words around it of /proc/version. */
static void test_callers(void)
{
	unsigned int major, minor, sublevel, read = 0, wrong = 0;
	char line[320];

	for (major = 4; major < 9; major++)
		for (minor = 0; minor < 25; minor++)
			for (sublevel = 0; sublevel < 300; sublevel++) {
				snprintf(line, sizeof(line), "Linux version %u.%u.%u-amd64 (debian-kernel@x) "
					 "(gcc-14 (Debian 14.2.0-19) 14.2.0, GNU ld (GNU Binutils for Debian) "
					 "2.44) #1 SMP PREEMPT_DYNAMIC Debian %u.%u.%u-1 (2026-11-12)", major,
					 minor, sublevel, major, minor, sublevel);
				read += status_callers_read(line);
				if (status_callers_read(line) != clearpages_callers_read(line) && !wrong++)
					tap_note("%s", line);
			}
	tap_ok(!wrong && read > 100, "callers: status and the module know the same kernels");
	tap_ok(!status_callers_read("Linux version 6.12.9 (x) (gcc (Debian 14.2.0-19) 14.2.0) #1 SMP") &&
	       !status_callers_read(""), "callers: a compiler of Debian's is no kernel of Debian's");
}

int main(void)
{
	test_callers();
	return tap_done();
}
