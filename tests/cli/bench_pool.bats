# SPDX-License-Identifier: GPL-2.0-only
# bench fault from a pool, without huge pages and without root.
load helper

@test "bench fault: pool-eager beside the kernel, each policy a row" {
	run --separate-stderr timeout 120 "$CLEARPAGES" bench fault -p 4K -s 1M -l 2 --min-time 1 \
		-f kernel,pool-eager,pool-clean --policy 'ranges,auto'
	[ "$status" -eq 0 ]
	for row in demand "pool-eager ranges" "pool-eager auto" pool-clean; do
		grep -q "^$row " <<<"$output"
	done
}

@test "bench fault: each use is held against the first path with the same use" {
	run --separate-stderr timeout 120 "$CLEARPAGES" bench fault -p 4K -s 1M -l 2 --min-time 1 \
		-f kernel,pool-eager --use none,first16K,random,write,read --json
	[ "$status" -eq 0 ]
	for use in none first16K random write read; do
		[ "$(grep -c "\"use\": \"$use\"" <<<"$output")" -eq 2 ]
	done
	[ "$(grep -c '"ratio_to_first"' <<<"$output")" -eq 5 ]
	[ "$(grep -c '"policy": "auto"' <<<"$output")" -eq 5 ]
	grep -q '"policy_in_full": "far=' <<<"$output"
}

@test "bench fault: what does not go together is refused" {
	refuses 2 "-f pager-...: a pager needs pages of hugetlb; expected -p 2M or 1G without --thp" \
		bench fault -p 4K -f pager-signal
	refuses 2 "--shared with -f pager-... or pool-...: each thread has its part of the pool" \
		bench fault -p 4K -f pool-eager --shared
	for path in kernel pool-clean kernel,pool-clean; do
		refuses 2 "--policy: the kernel's paths have none to choose, nor has pool-clean; \
expected one of -f pager-signal, pager-ahead, pager-thread, pool-eager besides" \
			bench fault -p 4K -f $path --policy auto
	done
	refuses 2 "--use read with -f populate-parallel: that has no next step; expected --use none" \
		bench fault -p 4K -f populate-parallel --use read
}

@test "bench fault: a long policy leaves the use in the name of its row" {
	run --separate-stderr timeout 120 "$CLEARPAGES" bench fault -p 4K -s 64K -l 1 --min-time 1 \
		-f pool-eager --use read,write --policy \
		far=movnti,near=stosb,window=128K,far_min=1048576,batch=1048576K,unit=65536,order=right-first
	[ "$status" -eq 0 ]
	grep -q "^pool-eager .*,order=right-first, read " <<<"$output"
	grep -q "^pool-eager .*,order=right-first, write " <<<"$output"
}

# Where each thread but the first of a process may run, as it was seen last: pthread_create()
# sets it just after the thread was made.
watch_threads() { # pid
	local task list
	declare -A last=()
	while kill -0 "$1" 2>/dev/null; do
		for task in /proc/"$1"/task/*; do
			[ "$task" != "/proc/$1/task/$1" ] || continue
			list=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$task/status" 2>/dev/null) ||
				continue
			[ -z "$list" ] || last[$task]=$list
		done
	done
	printf '%s\n' "${last[@]}"
}

@test "bench fault: the threads of a pool keep to --cpus" {
	local mine first
	mine=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
	first=${mine%%[-,]*}
	[ "$mine" != "$first" ] || skip "one cpu only"
	"$CLEARPAGES" bench fault -p 4K -f pool-clean -s 64M -l 2 --min-time 1 \
		--cpus "$first" >/dev/null 2>&1 &
	run watch_threads "$!"
	wait "$!"
	[ "${#lines[@]}" -ge 2 ] # the member that measures, and a cleaner
	for list in "${lines[@]}"; do
		[ "$list" = "$first" ]
	done
}
