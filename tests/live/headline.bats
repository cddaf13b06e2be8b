# SPDX-License-Identifier: GPL-2.0-only
# Plain `clearpages bench`: the kernel beside what it could be.
# shellcheck disable=SC2030,SC2031 # a test is a subshell, and means to be
load helper

setup_file() { copy_command; }
teardown_file() { remove_command; }
setup() {
	live_setup
	brief=(-l 6 --min-time 1)
}
teardown() { live_teardown; }

whats=("the kernel's demand fault" "the kernel's populate" "populate in parallel"
	"a pool's get, auto" "a pool's get, cleaned before" "mapped, by stock" "mapped, by ranges"
	"mapped, by auto" "store limit (")
# Only on pages of hugetlb, and with userfaultfd.
pager=("the pager's fault, ranges" "the pager's fault, auto")

# The section of the table that begins with that line.
section() { awk -v from="$1" 'index($0, from) == 1 { on = 1 } on && /^$/ { exit } on' "$out"; }

complete() {
	local text
	text=$(section "$1")
	for what in "${whats[@]}"; do
		grep -q -F "$what" <<<"$text" || {
			echo "\"$what\" is missing after \"$1\""
			cat "$out"
			return 1
		}
	done
	[ "$(grep -c -E ' ([0-9.]+ to [0-9.]+|no difference) +([0-9]+%|none)$' <<<"$text")" -eq $((${#whats[@]} - 1)) ]
}

@test "as root: both sections, pages reserved and given back" {
	needs_room 2048 128
	needs_room 1048576 1
	measures "${brief[@]}"
	cat "$out"
	whats+=("${pager[@]}")
	complete "256M in hugetlb pages of 2M, 1 thread"
	complete "1G in hugetlb pages of 1G, 1 thread"
	grep -q '^Kernel: ' "$out"
	is_unchanged
}

@test "as root: no pages of 1G and not to be reserved: said so, and the other section" {
	needs_empty_pool 1048576
	needs_empty_pool 2048
	[ "$(chosen <"$thp/enabled")" != never ] || skip "transparent huge pages are off"
	needs_jq
	measures --no-reserve --json "${brief[@]}"
	grep -q 'no hugetlb pages, taking transparent ones: ' "$err"
	grep -q '1G pages are not measured: .*type ' "$err"
	holds '.command == "bench" and (.runs | length == 2) and .runs[0].transparent and
		(.runs[0].results | length == 9) and (.runs[0].store_limit_variant | length > 0)'
	holds '.runs[1].page_bytes == 1073741824 and (.runs[1].not_measured | test("type ."))'
	holds '[.runs[0].results[5:8][].policy] == ["stock", "ranges", "auto"] and
		([.runs[0].results[1:][].ratio_to_first | .low_95 <= .median and .median <= .high_95] | all)'
	is_unchanged
}

@test "as an unprivileged user: THP, with a note; exit 0" {
	needs_empty_pool 1048576
	needs_empty_pool 2048
	[ "$(chosen <"$thp/enabled")" != never ] || skip "transparent huge pages are off"
	as_nobody bench "${brief[@]}" >"$out" 2>"$err"
	cat "$err" "$out"
	grep -q 'no hugetlb pages, taking transparent ones: .*type ' "$err"
	grep -q '1G pages are not measured: .*type ' "$err"
	complete "256M in transparent huge pages of 2M, 1 thread"
	is_unchanged
}

@test "as an unprivileged user, THP off: exit 1, no numbers" {
	needs_empty_pool 1048576
	needs_empty_pool 2048
	[ -e "$thp/enabled" ] || skip "this kernel has no transparent huge pages"
	local old code=0
	old=$(chosen <"$thp/enabled")
	echo never >"$thp/enabled"
	as_nobody bench "${brief[@]}" --json >"$out" 2>"$err" || code=$?
	echo "$old" >"$thp/enabled"
	cat "$err"
	[ "$code" -eq 1 ]
	[ ! -s "$out" ]
	[[ $(tail -n 1 "$err") == "clearpages: nothing could be measured" ]]
	is_unchanged
}

@test "SIGINT: both pools as before" {
	needs_empty_pool 2048
	needs_room 2048 128
	needs_room 1048576 1
	"$CLEARPAGES" bench >"$out" 2>"$err" 3>&- 8>&- &
	pid=$!
	soon grep -q 'reserved 256M' "$err"
	kill -INT "$pid"
	ended
	[ "$code" -eq 130 ]
	is_unchanged
}
