# SPDX-License-Identifier: GPL-2.0-only
# clearpages populate on huge pages: files of hugetlbfs and memfds, too few
# pages, limits of cgroups.
# shellcheck disable=SC2030,SC2031 # a test is a subshell, and means to be
load helper

setup_file() { copy_command; }
teardown_file() { remove_command; }
setup() {
	live_setup
	holder=''
}
teardown() {
	release
	live_teardown
}

# hold BYTES [SIZE]: another process has a memfd of huge pages; its name as $file.
hold() {
	command -v python3 >/dev/null || skip "python3 is not installed"
	coproc HOLDER { exec python3 -c '
import os, sys
fd = os.memfd_create("x", 4 | int(sys.argv[2]) << 26)
os.ftruncate(fd, int(sys.argv[1]))
print(fd, flush=True)
sys.stdin.readline()' "$1" "${2:-21}" 2>&1; }
	holder=$HOLDER_PID
	local fd
	read -r fd <&"${HOLDER[0]}"
	file=/proc/$holder/fd/$fd
}

release() {
	[ "$holder" ] || return 0
	kill -KILL "$holder" 2>/dev/null || true
	wait "$holder" 2>/dev/null || true
	holder=''
}

# has PAGES: so many of the pool are in use by the file.
has() { [ "$(stat -L -c %b "$file")" -eq $(($1 * 4096)) ]; }

populate() {
	run --separate-stderr "$CLEARPAGES" populate "$@"
	echo "exit code $status; stdout: $output; stderr: $stderr"
}

# names WORD...: exit 1, the file is named on stderr, in one line with these words.
names() {
	local word
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	for word in "$file: " "$@"; do
		[[ $stderr == "clearpages: "*"$word"* ]] || {
			echo "not said: $word"
			return 1
		}
	done
}

@test "populate: a memfd of huge pages, filled and zeroed" {
	needs_room 2048 8
	grow 2048 8
	hold $((16 << 20))
	populate "$file"
	[ "$status" -eq 0 ]
	[[ $output == *" hugetlb "*" 16M "*" 2M "*" 16M "*" resident"* ]]
	has 8
	head -c 16M /dev/urandom | python3 -c '
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
mmap.mmap(fd, 16 << 20)[:] = sys.stdin.buffer.read()' "$file"
	populate --clear "$file"
	[ "$status" -eq 0 ]
	[[ $output == *" 16M "*" zeroed"* ]]
	python3 -c '
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
assert mmap.mmap(fd, 16 << 20)[:] == bytes(16 << 20)' "$file"
}

@test "populate: a memfd of huge pages with some beyond its end: all of it is filled, and said" {
	needs_room 2048 12
	grow 2048 12
	hold $((16 << 20))
	fallocate -n -o 16M -l 8M "$file"
	populate "$file"
	[ "$status" -eq 0 ]
	[[ $output == *" hugetlb "*" 16M "*" 2M "*" 16M "*" resident"* ]]
	has 12
	populate "$file"
	[[ $output == *" hugetlb "*" 16M "*" 2M "*" 0B "*" resident"* ]]
	has 12
}

@test "populate: too few pages: exit 1, the pool is named, no page is kept" {
	needs_empty_pool 2048
	needs_room 2048 3
	hold $((16 << 20))
	populate "$file"
	names "/hugepages-2048kB: 8 pages of 2M needed, 0 to be had"
	grow 2048 3
	populate "$file"
	names "/hugepages-2048kB: 8 pages of 2M needed, 3 to be had"
	populate --dry-run "$file"
	names "/hugepages-2048kB: 8 pages of 2M needed, 3 to be had"
	has 0
	[ "$(pool 2048 free_hugepages)" -eq 3 ]
	[ "$(pool 2048 resv_hugepages)" -eq 0 ]
}

@test "populate: a page of 1G" {
	needs_room 1048576 1
	grow 1048576 1
	hold $((1 << 30)) 30
	populate --clear "$file"
	[ "$status" -eq 0 ]
	[[ $output == *" hugetlb "*" 1G "*" 1G "*" zeroed"* ]]
	has 512
}

@test "populate: a file of hugetlbfs, by nobody" {
	needs_room 2048 4
	needs_command unshare
	grow 2048 4
	mkdir -p "$BATS_TEST_TMPDIR/huge"
	# shellcheck disable=SC2016 # for the inner shell
	run --separate-stderr unshare -m bash -c 'set -e
		mount -t hugetlbfs -o pagesize=2M,mode=1777 none "$0"
		truncate -s 8M "$0/file" "$0/mine"
		chown 65534 "$0/file"
		"$CLEARPAGES" populate "$0/mine"
		rm "$0/mine"
		mount --bind "$0" /mnt
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
			"$copied/clearpages" populate --clear /mnt/file
		stat -c "%b blocks" "$0/file"' "$BATS_TEST_TMPDIR/huge"
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ $output == *"/mine"*" resident"*"/mnt/file"*" zeroed"*"16384 blocks"* ]]
}

@test "populate: truncated meanwhile: exit 1, one line, no signal" {
	needs_room 2048 64
	grow 2048 64
	for after in 0 0.005 0.01 0.02 0.03 0.05; do
		hold $((128 << 20))
		"$CLEARPAGES" populate "$file" >"$out"
		"$CLEARPAGES" populate --clear "$file" >"$out" 2>"$err" 3>&- &
		# shellcheck disable=SC2034 # for ended
		pid=$!
		sleep $after
		truncate -s 2M "$file"
		ended
		cat "$err"
		[ "$code" -eq 0 ] || [ "$code" -eq 1 ]
		[ "$(wc -l <"$err")" -eq "$code" ]
		release
	done
}

@test "populate: cgroup version 2: a limit on faults, and one on reservations" {
	needs_room 2048 8
	make_cgroup
	grow 2048 8
	hold $((16 << 20))
	for limit in hugetlb.2MB.max hugetlb.2MB.rsvd.max; do
		[ -e "$group/$limit" ] || continue
		echo 4M >"$group/$limit"
		run --separate-stderr inside "$CLEARPAGES" populate "$file"
		names "$group/$limit: 16M needed, 4M free of the limit of 4M"
		has 0
		echo max >"$group/$limit"
	done
	run --separate-stderr inside "$CLEARPAGES" populate "$file"
	[ "$status" -eq 0 ]
	has 8
	# What the file has needs nothing.
	echo 16M >"$group/hugetlb.2MB.max"
	run --separate-stderr inside "$CLEARPAGES" populate --clear "$file"
	[ "$status" -eq 0 ]
	release
}

# In a mount namespace of its own: nobody else sees the hierarchy.
version_1() {
	set -eu
	dir=$1 file=$2
	mkdir -p "$dir"
	tries=0
	until mount -t cgroup -o hugetlb clearpages-test "$dir" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 500 ] || exit 99
		sleep 0.02
	done
	group=$dir/clearpages-test
	mkdir "$group"
	trap leave_1 EXIT
	for limit in hugetlb.2MB.limit_in_bytes hugetlb.2MB.rsvd.limit_in_bytes; do
		[ -e "$group/$limit" ] || continue
		echo 4M >"$group/$limit"
		code=0
		(
			echo $BASHPID >"$group/cgroup.procs"
			exec "$CLEARPAGES" populate "$file"
		) >/dev/null || code=$?
		echo "exit $code"
		echo -1 >"$group/$limit"
	done
}

# Unmounted while it has a child, or one that is dying, it would live on and
# keep the controller.
leave_1() {
	rmdir "$group"
	tries=0
	until [ "$(awk '$1 == "hugetlb" { print $3 }' /proc/cgroups)" -eq 1 ]; do
		tries=$((tries + 1))
		[ $tries -lt 1500 ] || break
		sleep 0.02
	done
	umount "$dir"
}

back_in_version_2() { grep -qw hugetlb "$1/cgroup.controllers"; }

@test "populate: cgroup version 1: a limit on faults, and one on reservations" {
	needs_room 2048 8
	needs_command unshare
	awk '$1 == "hugetlb" { found = 1 } END { exit !found }' /proc/cgroups ||
		skip "this kernel has no hugetlb cgroups"
	if grep -q -E '^[^ ]+ [^ ]+ cgroup [^ ]*hugetlb' /proc/mounts; then
		skip "somebody has mounted the hierarchy of version 1 already"
	fi
	local two dir=$BATS_TEST_TMPDIR/hugetlb code=0
	two=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [ "$two" ] && grep -qw hugetlb "$two/cgroup.subtree_control"; then
		skip "version 2 has the hugetlb controller in use"
	fi
	grow 2048 8
	hold $((16 << 20))
	local rsvd
	rsvd=$(pool 2048 resv_hugepages)
	unshare -m bash -c "$(declare -f version_1 leave_1); version_1 '$dir' '$file'" >"$out" 2>&1 || code=$?
	cat "$out"
	[ -z "$two" ] || soon back_in_version_2 "$two"
	[ "$code" -ne 99 ] || skip "the hierarchy cannot be mounted: the controller is in use"
	[ "$code" -eq 0 ]
	# A reservation would stay with the file.
	[ "$(pool 2048 resv_hugepages)" -eq "$rsvd" ]
	diff - "$out" <<-END
		clearpages: $file: $dir/clearpages-test/hugetlb.2MB.limit_in_bytes: 16M needed, 4M free of the limit of 4M
		exit 1
		clearpages: $file: $dir/clearpages-test/hugetlb.2MB.rsvd.limit_in_bytes: 16M needed, 4M free of the limit of 4M
		exit 1
	END
	has 0
	release
}

@test "bench fault: populate-parallel and touch-threads beside the others" {
	needs_empty_pool 2048
	needs_room 2048 8
	needs_two_cpus
	# Exactly as many pages as one trial needs: none may keep some for the next.
	grow 2048 8
	measures fault -p 2M -s 16M -t 2 -l 3 --min-time 1 --no-reserve \
		-f demand,populate,madvise,touch-threads,populate-parallel
	for path in demand populate madvise touch-threads populate-parallel; do
		grep -q "^$path " "$out"
	done
	[ "$(pool 2048 free_hugepages)" -eq 8 ]
}
