# SPDX-License-Identifier: GPL-2.0-only
# bench fault from a pool of huge pages. Reserves them itself, and gives them back.
load ../cli/helper

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	[ -d /sys/kernel/mm/hugepages/hugepages-2048kB ] || skip "this kernel has no such pages"
}

@test "bench fault: all ways to get pages from a pool, with one task and two" {
	for threads in 1 2; do
		[ "$(nproc)" -ge "$threads" ] || continue
		run --separate-stderr timeout 200 "$CLEARPAGES" bench fault -p 2M -s 16M -l 2 \
			-t "$threads" --min-time 1 --use none,random --touch random --policy ranges,auto \
			-f kernel,pager-signal,pager-ahead,pager-thread,pool-eager,pool-clean
		[ "$status" -eq 0 ]
		for row in demand "pager-signal ranges" "pager-ahead auto" "pager-thread auto" \
			"pool-eager auto" pool-clean "pager-signal auto, random"; do
			grep -q "^$row " <<<"$output"
		done
	done
}
