# SPDX-License-Identifier: GPL-2.0-only
# Each path of bench fault on each kind of page, and bench clear on the same.
# shellcheck disable=SC2030,SC2031 # a test is a subshell, and means to be
load helper

setup() { live_setup; }
teardown() { live_teardown; }

brief=(-l 2 --min-time 1)

# set_thp FILE WORD: enabled of all sizes ("") or of one.
set_thp() { echo "$2" >"$thp/${1:+hugepages-$1kB/}enabled"; }

# THP of 2M by madvise; the file of its size may say something of its own.
thp_by() { # word
	set_thp '' "$1"
	if [ -e "$thp/hugepages-2048kB/enabled" ]; then
		set_thp 2048 inherit
	fi
}

rows() { # path...
	for path in "$@"; do
		grep -q -E "^$path +[0-9]+\.[0-9]+ " "$out"
	done
}

@test "hugetlb 2M: demand, populate, madvise; every touch; clear" {
	needs_room 2048 4
	measures fault -p 2M -s 8M -f demand,populate,madvise "${brief[@]}"
	cat "$out"
	grep -q '^8M in hugetlb pages of 2M, 1 thread, touch: first; ' "$out"
	rows demand populate madvise
	for touch in middle last random; do
		measures fault -p 2M -s 8M --touch $touch -r 7 "${brief[@]}"
		grep -q ", touch: $touch; " "$out"
		grep -q ', seed 7; ' "$out"
	done
	measures clear -p 2M -s 8M -k 4K,64K,2M,8M --policy stock,ranges,stream,auto "${brief[@]}"
	[ "$(grep -c -E '^ +[0-9]+[KM] (stock|ranges|stream|auto) ' "$out")" -eq 16 ]
	is_unchanged
}

@test "hugetlb 1G: demand, populate, madvise; clear" {
	needs_room 1048576 1
	measures fault -p 1G -s 1G -f demand,populate,madvise -l 1 --min-time 1
	cat "$out"
	grep -q '^1G in hugetlb pages of 1G, 1 thread' "$out"
	rows demand populate madvise
	measures clear -p 1G -s 1G --policy ranges,auto -l 1 --min-time 1
	grep -q -E '^ +1G auto ' "$out"
	is_unchanged
}

@test "4K: no huge page, though THP is always" {
	needs_thp
	thp_by always
	for path in demand populate madvise; do
		start_small $path
		# Look often: what is mapped comes and goes.
		for _ in {1..10}; do
			soon resident
			[ "$(huge)" -lt 32768 ]
		done
		kill -KILL "$pid"
		ended
	done
	restore
}

start_small() {
	"$CLEARPAGES" bench fault -p 4K -s 64M -f "$1" -l 1000000 --min-time 1 >"$out" 2>"$err" 3>&- 8>&- &
	pid=$!
}

# KiB of the process in memory, and in transparent huge pages (its stacks may be).
rollup() { awk -v field="$1:" '$1 == field { print $2 }' "/proc/$pid/smaps_rollup"; }
resident() { [ "$(rollup Rss)" -gt 60000 ]; }
huge() { rollup AnonHugePages; }

restore() {
	restore_thp
	is_unchanged
}

@test "THP 2M by madvise: demand, madvise; populate says what is in the way" {
	needs_thp
	thp_by madvise
	measures fault --thp -p 2M -s 16M -f demand,madvise "${brief[@]}"
	cat "$out"
	grep -q '^16M in transparent huge pages of 2M, 1 thread' "$out"
	rows demand madvise
	measures clear --thp -p 2M -s 16M -k 64K,2M "${brief[@]}"
	grep -q '^16M in transparent huge pages of 2M' "$out"
	run --separate-stderr "$CLEARPAGES" bench fault --thp -p 2M -s 16M -f populate
	one_line 77 "MAP_POPULATE" "$thp/enabled is \"madvise\"" "use -f madvise"
	restore
}

@test "THP 2M always: populate too" {
	needs_thp
	thp_by always
	measures fault --thp -p 2M -s 16M -f demand,populate,madvise "${brief[@]}"
	rows demand populate madvise
	restore
}

@test "THP never: exit 77, one line, what to type; and that helps" {
	needs_thp
	local command
	thp_by never
	for kind in fault clear; do
		run --separate-stderr "$CLEARPAGES" bench $kind --thp -p 2M -s 4M
		one_line 77 'transparent huge pages of 2M are "never"' "echo madvise > $thp/enabled"
	done
	command=${stderr##*as root, }
	[ "$command" = "echo madvise > $thp/enabled" ]
	sh -c "$command"
	measures fault --thp -p 2M -s 4M "${brief[@]}"
	restore
}

@test "mTHP 64K: demand, madvise; clear; never: exit 77" {
	[ -e "$thp/hugepages-64kB/enabled" ] || skip "this kernel has no transparent huge pages of 64 KiB"
	set_thp 64 madvise
	measures fault -p 64K -s 8M -f demand,madvise "${brief[@]}"
	cat "$out"
	grep -q '^8M in transparent huge pages of 64K, 1 thread' "$out"
	rows demand madvise
	measures clear -p 64K -s 8M "${brief[@]}"
	set_thp 64 never
	run --separate-stderr "$CLEARPAGES" bench fault -p 64K -s 8M
	one_line 77 'transparent huge pages of 64K are "never"' "$thp/hugepages-64kB/enabled"
	restore
}

@test "pages that no kernel has: exit 77" {
	run --separate-stderr "$CLEARPAGES" bench fault -p 128M -s 128M
	one_line 77 "128M"
	[ ! -e "$thp/hugepages-4kB" ] || skip "4K is a THP size here"
	run --separate-stderr "$CLEARPAGES" bench fault -p 8K -s 8M
	[ "$status" -eq 77 ] || [ "$status" -eq 0 ]
}

@test "two threads: a mapping each, and one split" {
	needs_two_cpus
	needs_room 2048 8
	needs_jq
	measures fault -p 2M -s 16M -t 2 -f demand,populate,madvise --json "${brief[@]}"
	holds '.runs[0] | .threads == 2 and (.shared_mapping | not) and
		([.results[].path] == ["demand", "populate", "madvise"])'
	holds '.runs[0] | (.measurement.cpus | unique | length == 2) and
		([.results[].samples[] | .distance_ns > 0 and .bytes == .loops * 16777216] | all)'
	measures fault -p 2M -s 16M -t 2 --shared -f demand,madvise --json --touch random -r 3 "${brief[@]}"
	holds '.runs[0] | .shared_mapping and ([.results[].path] == ["demand", "madvise"]) and
		.touch == "random" and .measurement.seed == 3'
	measures clear -p 2M -s 16M -t 2 --json "${brief[@]}"
	holds '.runs[0] | .threads == 2 and (.results | length == 4)'
	is_unchanged
}

@test "two threads on THP: a mapping each, and one split" {
	needs_two_cpus
	needs_thp
	thp_by madvise
	measures fault --thp -p 2M -s 16M -t 2 -f demand,madvise "${brief[@]}"
	measures fault --thp -p 2M -s 16M -t 2 -f demand,madvise --shared "${brief[@]}"
	restore
}

@test "cycles: of all threads, or 77 and why" {
	needs_room 2048 4
	run --separate-stderr "$CLEARPAGES" bench fault -p 2M -s 8M -c "${brief[@]}"
	is_unchanged
	if [ "$status" -eq 77 ]; then
		[[ ${stderr_lines[-1]} == "clearpages: -c: no cycle counter"* ]]
		[ -z "$output" ]
		skip "no cycle counter here: said so"
	fi
	[ "$status" -eq 0 ]
	[[ $output == *CYCLES/PAGE* ]]
}

@test "memory of one node" {
	[ -d /sys/devices/system/node/node0/hugepages ] || skip "this kernel knows no nodes"
	needs_room 2048 4
	measures fault -p 2M -s 8M --node 0 "${brief[@]}"
	is_unchanged
}
