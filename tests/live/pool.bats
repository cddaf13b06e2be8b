# SPDX-License-Identifier: GPL-2.0-only
# Pools of huge pages: what is said when they are empty, and that they are the
# same after a run as before, however it ends.
# shellcheck disable=SC2030,SC2031 # a test is a subshell, and means to be
load helper

setup_file() { copy_command; }
teardown_file() { remove_command; }
setup() {
	live_setup
	brief=(-l 2 --min-time 1)
	# Until somebody ends it.
	endless=(fault -p 2M -s 8M -l 1000000 --min-time 1)
}
teardown() { live_teardown; }

@test "an empty pool: one line, what is needed, what is free, what to type" {
	needs_empty_pool 2048
	local type="type 'echo $(($(pool 2048) + 4)) > $pools/hugepages-2048kB/nr_hugepages'"
	for kind in fault clear; do
		run --separate-stderr "$CLEARPAGES" bench $kind -p 2M -s 8M --no-reserve "${brief[@]}"
		one_line 1 "4 pages of 2M needed, 0 to be had (0 free" "$type"
		run --separate-stderr as_nobody bench $kind -p 2M -s 8M "${brief[@]}"
		one_line 1 "4 pages of 2M needed, 0 to be had (0 free" "$type"
		run --separate-stderr as_nobody bench $kind -p 2M -s 8M --no-reserve "${brief[@]}"
		one_line 1 "4 pages of 2M needed, 0 to be had (0 free" "$type"
	done
	run --separate-stderr as_nobody bench fault -p 2M -s 8M --reserve "${brief[@]}"
	one_line 1 "cannot reserve 4 huge pages of 2M: Permission denied"
	is_unchanged
}

@test "an empty pool: what the line says to type helps" {
	needs_empty_pool 2048
	needs_room 2048 4
	local command
	command=$(as_nobody bench fault -p 2M -s 8M 2>&1 | sed -n "s/.*type '\(.*\)'\$/\1/p") || true
	[[ $command == "echo "* ]]
	sh -c "$command"
	grown 2048 4
	as_nobody bench fault -p 2M -s 8M "${brief[@]}" >"$out" 2>"$err"
	[ ! -s "$err" ]
	grep -q '^demand ' "$out"
	grow 2048 -4
	is_unchanged
}

@test "an empty pool of 1G: the same" {
	needs_empty_pool 1048576
	run --separate-stderr as_nobody bench fault -p 1G -s 2G "${brief[@]}"
	one_line 1 "2 pages of 1G needed, 0 to be had (0 free" "/hugepages-1048576kB/nr_hugepages'"
	is_unchanged
}

@test "reserves for the run, says so, gives it back: 2M" {
	needs_empty_pool 2048
	needs_room 2048 4
	for args in "fault -f demand,populate,madvise" clear "fault --json"; do
		# shellcheck disable=SC2086 # words
		measures $args -p 2M -s 8M "${brief[@]}"
		[ "$(cat "$err")" = "clearpages: reserved 8M of huge pages of 2M for this run; they are given back at its end" ]
		is_unchanged
	done
}

@test "reserves for the run, says so, gives it back: 1G" {
	needs_empty_pool 1048576
	needs_room 1048576 1
	measures fault -p 1G -s 1G -l 1 --min-time 1
	grep -q "reserved 1G of huge pages of 1G for this run" "$err"
	is_unchanged
}

@test "reserves only what is missing; nothing where the pool has it" {
	needs_empty_pool 2048
	needs_room 2048 4
	local nr
	nr=$(pool 2048)
	grow 2048 1
	measures fault -p 2M -s 8M "${brief[@]}"
	grep -q "reserved 6M of huge pages of 2M" "$err"
	has_pages 2048 $((nr + 1))
	grow 2048 3
	measures fault -p 2M -s 8M "${brief[@]}"
	[ ! -s "$err" ] || no_others
	[ ! -s "$err" ]
	has_pages 2048 $((nr + 4))
	grow 2048 -4
	is_unchanged
}

@test "a run that fails gives it back: stdout full, stdout closed, no address space" {
	needs_empty_pool 2048
	needs_room 2048 32
	local args=(bench fault -p 2M -s 64M "${brief[@]}")
	run --separate-stderr bash -c '"$CLEARPAGES" "$@" >/dev/full' - "${args[@]}"
	[ "$status" -eq 1 ]
	[[ $stderr == *"standard output: No space left on device"* ]]
	is_unchanged
	run --separate-stderr bash -c '"$CLEARPAGES" "$@" >&-' - "${args[@]}"
	[ "$status" -eq 1 ]
	[[ $stderr == *"standard output: Bad file descriptor"* ]]
	is_unchanged
	run --separate-stderr bash -c 'ulimit -v 60000; "$CLEARPAGES" "$@"' - "${args[@]}"
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *"cannot map 64M in pages of 2M: Cannot allocate memory"* ]]
	is_unchanged
	# Cycles, where there is no counter: 77 after the pages were reserved.
	run --separate-stderr "$CLEARPAGES" "${args[@]}" -c
	[ "$status" -eq 0 ] || [ "$status" -eq 77 ]
	is_unchanged
}

@test "SIGINT, SIGTERM, SIGHUP, SIGQUIT: given back before it ends, of that signal" {
	needs_empty_pool 2048
	needs_room 2048 4
	local n
	for signal in INT TERM HUP QUIT; do
		n=$(kill -l $signal)
		start "${endless[@]}"
		kill -$signal "$pid"
		ended
		[ "$code" -eq $((128 + n)) ]
		is_unchanged
		[ ! -s "$out" ]
	done
}

@test "SIGINT to all of a terminal's job: the same" {
	needs_empty_pool 2048
	needs_room 2048 4
	set -m # its own process group
	start "${endless[@]}"
	set +m
	kill -INT -- "-$pid"
	ended
	[ "$code" -eq 130 ]
	is_unchanged
}

@test "SIGKILL: given back all the same, a moment later" {
	needs_empty_pool 2048
	needs_room 2048 4
	start "${endless[@]}"
	kill -KILL "$pid"
	ended
	[ "$code" -eq 137 ]
	soon_unchanged
}

@test "signals while pages of 1G are in use" {
	needs_empty_pool 1048576
	needs_room 1048576 1
	for signal in INT KILL; do
		start fault -p 1G -s 1G -l 1000 --min-time 1
		kill -$signal "$pid"
		ended
		soon_unchanged
	done
}

@test "a signal at any moment" {
	needs_empty_pool 2048
	needs_room 2048 64
	RANDOM=${SEED:-1}
	echo "# seed ${SEED:-1}"
	for _ in {1..40}; do
		: >"$err"
		"$CLEARPAGES" bench fault -p 2M -s 128M "${brief[@]}" >"$out" 2>"$err" 3>&- 8>&- &
		pid=$!
		signal=$(((RANDOM & 1) ? 9 : 2))
		# From before the first page is reserved to after the last is given back.
		sleep "0.$(printf %03d $((RANDOM % 150)))"
		kill -$signal "$pid" 2>/dev/null || true
		ended
		[ "$code" -eq 0 ] || [ "$code" -eq $((128 + signal)) ]
		soon_unchanged
	done
}

@test "what somebody else did to the pool meanwhile is kept" {
	needs_empty_pool 2048
	needs_room 2048 8
	local nr
	nr=$(pool 2048)
	# Enlarged by three.
	start "${endless[@]}"
	grow 2048 3
	kill -INT "$pid"
	ended
	has_pages 2048 $((nr + 3))
	# Those three taken away.
	start fault -p 2M -s 16M -l 1000000 --min-time 1
	grow 2048 -3
	kill -KILL "$pid"
	ended
	soon_unchanged
}

@test "several runs at once: each gives back its own" {
	needs_empty_pool 2048
	needs_room 2048 600
	# Some that are there already: pages taken away by mistake are missed.
	local first=$before
	grow 2048 100
	before=$BATS_TEST_TMPDIR/hundred
	machine >"$before"
	for _ in {1..10}; do
		for run in a b c d; do
			# Much to reserve, and no room to map it: nothing but reserving and giving back.
			(
				ulimit -v 60000
				exec "$CLEARPAGES" bench fault -p 2M -s 256M
			) >"$out.$run" 2>"$err.$run" 3>&- 8>&- &
		done
		wait
		cat "$err".[abcd]
		soon_unchanged
	done
	grep -q "cannot map 256M" "$err".[abcd]
	before=$first
	grow 2048 -100
	is_unchanged
}

@test "thousands of loops: no page is lost" {
	needs_empty_pool 2048
	needs_room 2048 2
	local first=$before
	before=$BATS_TEST_TMPDIR/two
	# Exactly as many as it needs, so that one lost page is one too few. 2000
	# samples and not 10000: that would be a minute and more of an idle machine.
	grow 2048 2
	machine >"$before"
	measures fault -p 2M -s 4M -l 2000 --min-time 1 --no-reserve --json
	is_unchanged
	before=$first
	grow 2048 -2
	is_unchanged
	needs_jq
	echo "# loops: $(jq '[.runs[0].results[0].samples[].loops] | add' "$out")"
	holds '.runs[0].results[0].samples | length == 2000'
}

@test "refused sizes: no page is lost" {
	needs_empty_pool 2048
	needs_room 2048 2
	for _ in {1..50}; do
		run --separate-stderr "$CLEARPAGES" bench fault -p 2M -s 3M
		[ "$status" -eq 2 ]
	done
	is_unchanged
}
