# SPDX-License-Identifier: GPL-2.0-only
# Limits of hugetlb cgroups: said by the name of the file, before anything is
# reserved; and no death of SIGBUS where one comes down during a run.
# shellcheck disable=SC2030,SC2031 # a test is a subshell, and means to be
load helper

setup() {
	live_setup
	args=(bench fault -p 2M -s 4M -l 2 --min-time 1)
}
teardown() { live_teardown; }

@test "cgroup version 2: a limit of 0, on faults and on reservations" {
	needs_room 2048 2
	make_cgroup
	for file in hugetlb.2MB.max hugetlb.2MB.rsvd.max; do
		[ -e "$group/$file" ] || continue
		echo 0 >"$group/$file"
		run --separate-stderr inside "$CLEARPAGES" "${args[@]}"
		one_line 1 "$group/$file: 4M needed, 0 free of the limit of 0"
		is_unchanged
		echo max >"$group/$file"
	done
	run --separate-stderr inside "$CLEARPAGES" "${args[@]}"
	[ "$status" -eq 0 ]
	is_unchanged
}

@test "cgroup version 2: a limit above the process's own, and one that is just enough" {
	needs_room 2048 2
	make_cgroup
	local top=$group
	echo +hugetlb >"$group/cgroup.subtree_control"
	group=$group/inner
	mkdir "$group"
	echo 2M >"$top/hugetlb.2MB.max"
	run --separate-stderr inside "$CLEARPAGES" "${args[@]}"
	one_line 1 "$top/hugetlb.2MB.max: 4M needed, 2M free of the limit of 2M"
	echo 4M >"$top/hugetlb.2MB.max"
	run --separate-stderr inside "$CLEARPAGES" "${args[@]}"
	[ "$status" -eq 0 ]
	soon rmdir "$group"
	group=$top
	is_unchanged
}

# during THREADS [OPTION]: the limit comes down while pages are touched.
during() {
	local threads=$1
	shift
	: >"$err"
	sh -c "$enter" "$group" "$CLEARPAGES" bench fault -p 2M -s 64M -t "$threads" -l 1000000 \
		--min-time 1 "$@" >"$out" 2>"$err" 3>&- 8>&- &
	pid=$!
	soon member_runs
	soon comes_down
	ended
	cat "$err"
	[ "$code" -eq 1 ]
	[ ! -s "$out" ]
	[ "$(grep -c 'SIGBUS: a page could not be had' "$err")" -eq 1 ]
	echo max >"$group/hugetlb.2MB.max"
}

# It has mapped pages: what is charged is not 0.
member_runs() {
	kill -0 "$pid" && [ "$(cat "$group/hugetlb.2MB.current")" -gt 0 ]
}

# The kernel refuses a limit below what is charged: between two loops it is nothing.
comes_down() {
	for _ in {1..200}; do
		if echo 0 >"$group/hugetlb.2MB.max"; then
			return 0
		fi
	done 2>/dev/null
	return 1
}

@test "cgroup version 2: a limit that comes down during a run: exit 1, one line, no SIGBUS" {
	needs_room 2048 64
	make_cgroup
	during 1
	soon_unchanged
	if [ "$(nproc)" -ge 2 ]; then
		for _ in {1..5}; do
			during 2
			soon_unchanged
		done
	fi
	# The same where the pool had the pages: nothing was reserved for the run.
	grow 2048 32
	during 1 --no-reserve
	grow 2048 -32
	soon_unchanged
}

# In a mount namespace of its own: nobody else sees the hierarchy. It exists as
# long as it is mounted or has children; then version 2 has the controller again.
version_1() {
	set -eu
	dir=$1
	mkdir -p "$dir"
	tries=0
	# The controller cannot leave version 2 while a cgroup there is still dying.
	until mount -t cgroup -o hugetlb clearpages-test "$dir" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 500 ] || exit 99
		sleep 0.02
	done
	group=$dir/clearpages-test.$$
	mkdir "$group"
	for file in hugetlb.2MB.limit_in_bytes hugetlb.2MB.rsvd.limit_in_bytes ''; do
		[ -z "$file" ] || [ -e "$group/$file" ] || continue
		[ -z "$file" ] || echo 0 >"$group/$file"
		echo "file $file"
		code=0
		(
			echo $BASHPID >"$group/cgroup.procs"
			exec "$CLEARPAGES" bench fault -p 2M -s 4M -l 2 --min-time 1
		) 2>"$dir.said" >"$dir.table" || code=$?
		cat "$dir.said"
		echo "exit $code"
		echo "pool $(cat /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages)"
		[ -z "$file" ] || echo -1 >"$group/$file"
	done
	rmdir "$group"
	# Unmounted while a child is dying, it would live on, and keep the controller.
	tries=0
	until [ "$(awk '$1 == "hugetlb" { print $3 }' /proc/cgroups)" -eq 1 ]; do
		tries=$((tries + 1))
		[ $tries -lt 1500 ] || break
		sleep 0.02
	done
	umount "$dir"
}

back_in_version_2() {
	grep -qw hugetlb "$1/cgroup.controllers"
}

@test "cgroup version 1: a limit of 0, on faults and on reservations" {
	needs_room 2048 2
	needs_command unshare
	awk '$1 == "hugetlb" { found = 1 } END { exit !found }' /proc/cgroups ||
		skip "this kernel has no hugetlb cgroups"
	if grep -E '^[^ ]+ [^ ]+ cgroup [^ ]*hugetlb' /proc/mounts; then
		skip "somebody has mounted the hierarchy of version 1 already"
	fi
	local two dir=$BATS_TEST_TMPDIR/hugetlb code=0
	two=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [ "$two" ] && grep -qw hugetlb "$two/cgroup.subtree_control"; then
		skip "version 2 has the hugetlb controller in use"
	fi
	unshare -m bash -c "$(declare -f version_1); version_1 '$dir'" >"$out" 2>"$err" || code=$?
	cat "$out" "$err"
	[ -z "$two" ] || soon back_in_version_2 "$two"
	[ "$code" -ne 99 ] || skip "the hierarchy cannot be mounted: the controller is in use"
	[ "$code" -eq 0 ]
	local nr group
	nr=$(pool 2048)
	group=$(sed -n "s|.*\($dir/clearpages-test\.[0-9]*\)/.*|\1|p;T;q" "$out")
	diff - <(grep -v reserved "$out") <<-END
		file hugetlb.2MB.limit_in_bytes
		clearpages: $group/hugetlb.2MB.limit_in_bytes: 4M needed, 0 free of the limit of 0
		exit 1
		pool $nr
		file hugetlb.2MB.rsvd.limit_in_bytes
		clearpages: $group/hugetlb.2MB.rsvd.limit_in_bytes: 4M needed, 0 free of the limit of 0
		exit 1
		pool $nr
		file 
		exit 0
		pool $nr
	END
	group=''
	is_unchanged
}
