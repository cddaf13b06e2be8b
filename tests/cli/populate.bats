# SPDX-License-Identifier: GPL-2.0-only
# clearpages populate without huge pages and without root: what it does to files
# of /dev/shm, and what it refuses.
# shellcheck disable=SC2030,SC2031 # a test is a subshell, and means to be
load helper

setup() {
	[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip "/dev/shm is no tmpfs"
	shm=$(mktemp -d /dev/shm/clearpages-test-XXXXXX) || skip "/dev/shm is not writable"
	f=$shm/file
	memory="expected a file of hugetlbfs or tmpfs, a memfd, or DAX"
}

teardown() {
	[ -z "${shm:-}" ] || rm -r "$shm"
}

blocks() { stat -c %b "$1"; }

# fails LINE ARG...: exit 1, on stderr one line, which begins with the name of
# the file, and the table all the same.
fails() {
	local line=$1
	shift
	run --separate-stderr timeout 60 "$CLEARPAGES" populate "$@"
	if [ "$status" -ne 1 ] || [ "$stderr" != "clearpages: $line" ] || [[ $output != *failed* ]]; then
		echo "exit code $status; stdout: $output; stderr: $stderr"
		echo "expected: clearpages: $line"
		return 1
	fi
}

@test "populate: help" {
	golden help-populate.txt populate --help
	golden help-populate.txt help populate
}

@test "populate: all of a file becomes resident, and what is in it stays" {
	truncate -s 5M "$f"
	printf 'hello' | dd of="$f" bs=1 seek=2000000 conv=notrunc status=none
	cp --sparse=always "$f" "$shm/copy"
	run --separate-stderr "$CLEARPAGES" populate "$f"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ $output == *" tmpfs "*" resident"* ]]
	[ "$(blocks "$f")" -eq $((5 * 2048)) ]
	cmp "$f" "$shm/copy"
	[ "$(blocks "$shm/copy")" -lt $((5 * 2048)) ]
}

@test "populate: sizes that are no whole pages, and none" {
	for size in 1 4095 4097 2097153; do
		truncate -s $size "$shm/$size"
		"$CLEARPAGES" populate "$shm/$size"
		[ "$(blocks "$shm/$size")" -eq $((8 * ((size + 4095) / 4096))) ]
		[ "$(stat -c %s "$shm/$size")" -eq $size ]
	done
	: >"$f"
	run --separate-stderr "$CLEARPAGES" populate --clear "$f"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ $output == *"empty: nothing to do"* ]]
}

@test "populate --clear: zeros to the last byte, the size stays" {
	for policy in auto stock stream ranges,batch=1M; do
		for size in 5M 1234567; do
			head -c $size /dev/urandom >"$f"
			before=$(stat -c %s "$f")
			"$CLEARPAGES" populate --clear --policy $policy -t 2 "$f"
			[ "$(stat -c %s "$f")" -eq "$before" ]
			[ "$(tr -d '\0' <"$f" | wc -c)" -eq 0 ]
		done
	done
	# What had no pages is zero anyway.
	truncate -s 4M "$shm/fresh"
	run --separate-stderr "$CLEARPAGES" populate --clear "$shm/fresh"
	[ "$status" -eq 0 ]
	[[ $output == *" 4M "*" 0B "*" zeroed"* ]]
}

@test "populate: a memfd by the descriptor of another process" {
	command -v python3 >/dev/null || skip "python3 is not installed"
	coproc python3 -c '
import os, sys
fd = os.memfd_create("x")
os.ftruncate(fd, 3 << 20)
os.pwrite(fd, b"secret", 1 << 20)
print(fd, flush=True)
sys.stdin.readline()
print(os.pread(fd, 3 << 20, 0) == bytes(3 << 20), flush=True)'
	read -r fd <&"${COPROC[0]}"
	run --separate-stderr "$CLEARPAGES" populate --clear "/proc/$COPROC_PID/fd/$fd"
	echo >&"${COPROC[1]}"
	read -r zero <&"${COPROC[0]}"
	[ "$status" -eq 0 ]
	[[ $output == *" memfd "*" zeroed"* ]]
	[ "$zero" = True ]
}

@test "populate --dry-run: nothing is done" {
	truncate -s 5M "$f"
	run --separate-stderr "$CLEARPAGES" populate -n "$f"
	[ "$status" -eq 0 ]
	[[ $output == *"to be filled"* ]]
	[ "$(blocks "$f")" -eq 0 ]
	echo x >"$f"
	run --separate-stderr "$CLEARPAGES" populate --dry-run --clear "$f"
	[[ $output == *"to be zeroed"* ]]
	[ "$(cat "$f")" = x ]
	"$CLEARPAGES" populate "$f"
	run --separate-stderr "$CLEARPAGES" populate -n "$f"
	[[ $output == *"resident already"* ]]
}

@test "populate: pages beyond its end are none of a file, untouched ones have yet to be filled" {
	command -v jq >/dev/null || skip "jq is not installed"
	truncate -s 1M "$f"
	fallocate -n -o 1M -l 4M "$f"
	fallocate -l 1M "$shm/untouched"
	for file in "$f" "$shm/untouched"; do
		before=$(blocks "$file")
		"$CLEARPAGES" populate -n --json "$file" |
			jq -e '.files[0] | .result == "to be filled" and .filled_bytes == 1048576'
		[ "$(blocks "$file")" -eq "$before" ]
		"$CLEARPAGES" populate --json "$file" |
			jq -e '.files[0] | .result == "resident" and .filled_bytes == 1048576'
		"$CLEARPAGES" populate -n --json "$file" |
			jq -e '.files[0] | .result == "resident already" and .filled_bytes == 0'
	done
	[ "$(blocks "$f")" -eq $((5 * 2048)) ]
	[ "$(blocks "$shm/untouched")" -eq 2048 ]
}

# too_large FILE: refused for want of memory, with no block more. Where it is not, the
# limit of the address space has to keep the machine from what would come then.
too_large() {
	local before
	before=$(stat -L -c %b "$1")
	run --separate-stderr bash -c 'ulimit -v '"$total"'
		timeout 60 "$CLEARPAGES" populate "$0"' "$1"
	echo "exit code $status; stdout: $output; stderr: $stderr"
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "clearpages: $1: "*" of memory needed, "*" to be had ("*" available, "*" of swap free): "* ]]
	[ "$(stat -L -c %b "$1")" -eq "$before" ]
}

@test "populate: a file larger than memory: exit 1 at once, nothing is filled" {
	total=$(awk '/^(MemTotal|SwapTotal):/ { kib += $2 } END { print kib }' /proc/meminfo)
	truncate -s $((2 * total))K "$f"
	echo x | dd of="$f" conv=notrunc status=none
	too_large "$f"
	command -v python3 >/dev/null || skip "python3 is not installed: the same of a memfd"
	coproc python3 -c '
import os, sys
fd = os.memfd_create("x")
os.ftruncate(fd, int(sys.argv[1]) << 10)
print(fd, flush=True)
sys.stdin.readline()' $((2 * total))
	read -r fd <&"${COPROC[0]}"
	too_large "/proc/$COPROC_PID/fd/$fd"
	echo >&"${COPROC[1]}"
	wait "$COPROC_PID"
}

@test "populate: a file's name is no order to the terminal" {
	command -v script >/dev/null || skip "script is not installed"
	local name=$shm/$'a\e]0;PWNED\a\e[31mx\xc2\x9b31mx'
	truncate -s 16M "$name"
	for json in '' --json; do
		LC_ALL=C.UTF-8 script -qec "'$CLEARPAGES' populate --clear $json '$name'" /dev/null \
			>"$BATS_TEST_TMPDIR/out" </dev/null
		cat -v "$BATS_TEST_TMPDIR/out"
		# The progress line, which begins with the one sequence that is the command's own.
		grep -a -F "$shm/a?]0;PWNED??[31mx??31mx: filling" "$BATS_TEST_TMPDIR/out"
		sed -e $'s/\e\\[K//g' "$BATS_TEST_TMPDIR/out" | tr -d '\r\n' >"$BATS_TEST_TMPDIR/rest"
		! LC_ALL=C grep -n '[^ -~]' "$BATS_TEST_TMPDIR/rest" || false
	done
}

@test "populate --clear: somebody else writes: exit 1, nothing counts as cleared" {
	command -v jq >/dev/null || skip "jq is not installed"
	command -v python3 >/dev/null || skip "python3 is not installed"
	head -c 4M /dev/urandom >"$f"
	python3 -c '
import mmap, os, sys
m = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 0)
while os.path.exists(sys.argv[1]):
	for i in range(100000):
		m[-8:] = b"\xff" * 8' "$f" 3>&- &
	writer=$!
	# It may be late for a look at that very word.
	for ((i = 0; i < 500; i++)); do
		run --separate-stderr "$CLEARPAGES" populate --clear --json "$f"
		[ "$status" -ne 0 ] || continue
		break
	done
	kill $writer
	wait $writer || true
	echo "run $i: exit code $status; stdout: $output; stderr: $stderr"
	[ "$status" -eq 1 ]
	[[ $stderr == "clearpages: $f: byte $((4 * 1048576 - 8)) is not zero after --clear: "* ]]
	jq -e '.files[0] | .result == "failed" and .cleared_bytes == 0 and .filled_bytes == 0' \
		<<<"$output"
}

@test "populate --json" {
	command -v jq >/dev/null || skip "jq is not installed"
	head -c 1M /dev/urandom >"$f"
	run --separate-stderr "$CLEARPAGES" populate --json --clear "$f" "$shm/no"$'\xff' "$shm"
	[ "$status" -eq 1 ]
	jq -e '.files | length == 3 and
		(.[0] | .kind == "tmpfs" and .size_bytes == 1048576 and .page_bytes == 4096 and
			.cleared_bytes == 1048576 and .result == "zeroed" and .error == null) and
		(.[1] | .result == "failed" and .kind == null and
			.error == "No such file or directory")' <<<"$output"
}

@test "populate: one that fails does not keep the others" {
	truncate -s 1M "$f" "$shm/last"
	fails "$shm/nosuch: No such file or directory" "$f" "$shm/nosuch" "$shm/last"
	[ "$(blocks "$f")" -eq 2048 ]
	[ "$(blocks "$shm/last")" -eq 2048 ]
}

@test "populate: what is no memory is refused, and nothing happens to it" {
	fails "$shm: a directory, $memory" "$shm"
	fails "/dev/null: a device that is not DAX, $memory" /dev/null
	mkfifo "$shm/pipe"
	fails "$shm/pipe: a pipe or socket, $memory" "$shm/pipe"
	ln -s "$shm/loop" "$shm/loop"
	fails "$shm/loop: Too many levels of symbolic links" "$shm/loop"
	fails ": No such file or directory" ''
}

@test "populate: a file on a disk is refused, and stays" {
	local disk=$BATS_TEST_TMPDIR/disk
	[ "$(stat -f -c %T "$BATS_TEST_TMPDIR")" != tmpfs ] || skip "TMPDIR is a tmpfs"
	echo data >"$disk"
	for clear in '' --clear; do
		# shellcheck disable=SC2086 # no word where it is empty
		run --separate-stderr "$CLEARPAGES" populate $clear "$disk"
		[ "$status" -eq 1 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "clearpages: $disk: on a file system of type 0x"*", $memory" ]]
		[ "$(cat "$disk")" = data ]
	done
}

@test "populate: no permission" {
	[ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
	truncate -s 1M "$f"
	chmod 400 "$f"
	fails "$f: Permission denied" "$f"
}

@test "populate: truncated meanwhile: exit 1, one line, no signal" {
	truncate -s 512M "$f" || skip "no room in /dev/shm"
	"$CLEARPAGES" populate "$f" >/dev/null
	# While it fills, while it zeroes, while it looks, or after all of that; on a machine
	# that is fast or busy perhaps never in the midst of it, so once more.
	local caught=0 round
	for round in 1 2 3 4 5; do
		truncated_meanwhile
		[ $caught -eq 0 ] || break
	done
	echo "$caught of those in round $round were caught in the midst"
	[ $caught -gt 0 ]
}

truncated_meanwhile() {
	local after code
	for after in 0 0.02 0.05 0.1 0.15 0.2 0.3; do
		truncate -s 512M "$f"
		"$CLEARPAGES" populate --clear "$f" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
		pid=$!
		sleep $after
		truncate -s 4096 "$f"
		code=0
		wait $pid || code=$?
		cat "$BATS_TEST_TMPDIR/err"
		# It may have been through already.
		[ $code -eq 0 ] || [ $code -eq 1 ]
		[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -eq $code ]
		caught=$((caught + code))
	done
}

@test "populate: misuse" {
	refuses 2 "populate: expected a file, see 'clearpages populate --help'" populate
	refuses 2 "populate: expected a file, see 'clearpages populate --help'" populate --clear
	refuses 2 "--policy: of what? expected --clear with it" populate --policy auto "$f"
	refuses 2 "-t '0': expected a whole number from 1 to 1000000" populate -t 0 "$f"
	refuses 2 "-t 'x': expected a whole number from 1 to 1000000" populate --threads x "$f"
	refuses 2 "'--nosuch': unknown option, see 'clearpages populate --help'" populate --nosuch "$f"
	refuses 2 "'-x': unknown option, see 'clearpages populate --help'" populate -x "$f"
	refuses 2 "--node: needs a value, see 'clearpages populate --help'" populate --node
	refuses 2 "--clear: takes no value, see 'clearpages populate --help'" populate --clear=1 "$f"
	refuses 2 "--node: \"1000\" is not a node of this machine: expected a list such as 0-1 or all (see 'numactl --hardware')" populate --node 1000 "$f"
	run --separate-stderr "$CLEARPAGES" populate --clear --policy nosuch "$f"
	[ "$status" -eq 2 ]
	[[ $stderr == "clearpages: --policy: "* ]]
}

@test "populate: stdout full: exit 1, one line" {
	truncate -s 1M "$f"
	run --separate-stderr bash -c "\"\$CLEARPAGES\" populate '$f' >/dev/full"
	says 1 "standard output: No space left on device: the output is incomplete"
}
