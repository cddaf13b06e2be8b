// SPDX-License-Identifier: GPL-2.0-only
/* core's cases, run by the module as it is loaded. */
#include <string.h>

#include "module.h"

void check_selftest(void)
{
	int klog = klog_from_here();
	const char *line, *failed;

	reload("selftest_all=1");
	line = klog_lines(klog, "self-test (all): ");
	failed = strstr(line, " passed, 0 failed, ");
	if (!*line || !failed)
		fail("the self-test did not pass whole: %s", *line ? line : "no line in the log");
	reload("");
}
