#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What insns/insns.c counted in the plan `insns`: 41 faults of a 2 MiB hugetlb page by the
# kernel itself, then 41 with the module and `extent`. As checks:
#
#	insns.sh FILE [MOST]
#
# Of each 41 the least: what is more had an interrupt in it. -icount makes it the
# same in every run. The processor has ERMS: without, kernels zero by a loop. The module must not take more than kernel 7.3 does by itself
# and a tenth.
set -eu
most=${2:-4548}	# 4135 on 7.3.4, and 10 %

least() {
	sed 's/^insns //' | sort -n | head -n 1
}

if [ "$(wc -l <"$1")" -ne 82 ]; then
	echo "not ok insns 0 $(wc -l <"$1") faults counted, expected 82"
	exit 0
fi
kernel=$(head -n 41 "$1" | least)
module=$(tail -n 41 "$1" | least)
echo "insns $kernel $module"
if [ "$module" -gt "$most" ]; then
	echo "not ok insns 0 a fault of 2 MiB takes $module instructions with the module and extent, expected $most at most ($kernel without)"
else
	echo "ok insns 0"
fi
