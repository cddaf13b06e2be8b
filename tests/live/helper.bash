# SPDX-License-Identifier: GPL-2.0-only
# What the tests on huge pages share. They need root, and say SKIP where others
# use huge pages meanwhile. They change the machine (pools, THP, cgroups), and
# each leaves it as it found it: teardown looks, and fails the test if not.
# shellcheck disable=SC2030,SC2031 # a test is a subshell, and means to be
load ../cli/helper

pools=/sys/kernel/mm/hugepages
thp=/sys/kernel/mm/transparent_hugepage

# All that a test may change here, as file:value.
machine() {
	grep -s . "$pools"/*/*_hugepages "$thp/enabled" "$thp"/hugepages-*/enabled || true
}

# KIB [FILE]: a number of a pool.
pool() { cat "$pools/hugepages-$1kB/${2:-nr_hugepages}"; }

# KIB PAGES: so many more, or fewer. By a difference: somebody else may have
# pages too. What is left of it at the end of the test, teardown takes away.
declare -A added
grow() {
	local to=$(($(pool "$1") + $2))
	grown "$1" "$2"
	echo $((to < 0 ? 0 : to)) >"$pools/hugepages-$1kB/nr_hugepages"
}

# KIB PAGES: that was done already, by other means.
grown() { added[$1]=$((${added[$1]:-0} + $2)); }

# The word in brackets of what is read.
chosen() { sed 's/.*\[\(.*\)\].*/\1/'; }

# All that "enabled" of THP was at the beginning.
restore_thp() {
	local file value
	while IFS=: read -r file value; do
		case $file in
		*/enabled) [ "$(cat "$file")" = "$value" ] || chosen <<<"$value" >"$file" ;;
		esac
	done <"$before"
}

live_setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	[ -d "$pools" ] || skip "this kernel has no huge pages"
	ulimit -c 0
	# Two checkouts may be tested at once: not these tests. The lock goes with the shell.
	exec 8>/run/clearpages-test.lock
	flock -w 300 8 || skip "somebody else's tests have huge pages in use"
	out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err before=$BATS_TEST_TMPDIR/before
	pid='' group=''
	machine >"$before"
	busy=''
	if others; then
		busy=yes
	fi
}

live_teardown() {
	[ -s "${before:-}" ] || return 0
	if [ "$pid" ]; then
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	fi
	leave_cgroup
	for size in "${!added[@]}"; do
		[ "${added[$size]}" -eq 0 ] || grow "$size" $((-added[$size]))
	done
	restore_thp
	soon unchanged_or_others
}

# Is the machine as it was?
unchanged() { machine | diff "$before" - >"$BATS_TEST_TMPDIR/changes"; }

# Are pages in use or promised, though none of ours can be: all that a test
# started has ended? What a run of ours forgot would be free. So somebody else
# is at it, and what the pool is says nothing.
others() {
	local dir
	for dir in "$pools"/*; do
		[ "$(cat "$dir/free_hugepages")" -ge "$(cat "$dir/nr_hugepages")" ] &&
			[ "$(cat "$dir/resv_hugepages")" -eq 0 ] || return 0
	done
	return 1
}

no_others() {
	for _ in {1..50}; do
		if [ "$busy" ] || others; then
			skip "somebody else has huge pages in use meanwhile"
		fi
		sleep 0.02
	done
}

# Assertions: it is as it was, now or soon. To be called when nothing runs.
is_unchanged() {
	unchanged || {
		no_others
		cat "$BATS_TEST_TMPDIR/changes"
		return 1
	}
}

has_pages() { # kib pages
	[ "$(pool "$1")" -eq "$2" ] || {
		no_others
		echo "the pool of $1 KiB has $(pool "$1") pages, expected $2"
		return 1
	}
}

soon_unchanged() {
	soon unchanged_or_others
	is_unchanged
}

unchanged_or_others() { unchanged || [ "$busy" ] || others; }

# soon COMMAND...: until it says yes. Half a minute is not a limit on what is
# tested: it is when to give up.
soon() {
	local end=$((SECONDS + 30))
	until "$@"; do
		[ $SECONDS -lt $end ] || {
			echo "half a minute, and still not: $*"
			cat "$BATS_TEST_TMPDIR/changes" 2>/dev/null || true
			return 1
		}
		sleep 0.02
	done
}

# ---- what a test needs -----------------------------------------------------------------

needs_pool() { # kib
	[ -d "$pools/hugepages-$1kB" ] || skip "this kernel has no huge pages of $1 KiB"
}

# No page to be had without reserving.
needs_empty_pool() { # kib
	needs_pool "$1"
	[ "$(pool "$1" free_hugepages)$(pool "$1" nr_overcommit_hugepages)" = 00 ] ||
		skip "the pool of $1 KiB pages has free or overcommitted pages"
}

# The kernel can find so many more pages now.
needs_room() { # kib pages
	needs_pool "$1"
	local nr got
	nr=$(pool "$1")
	grow "$1" "$2" || true
	got=$(($(pool "$1") - nr))
	added[$1]=$got
	grow "$1" $((-got))
	[ "$got" -eq "$2" ] || skip "the kernel finds $got of $2 pages of $1 KiB: memory is full or in pieces"
}

needs_thp() { [ -e "$thp/enabled" ] || skip "this kernel has no transparent huge pages"; }

needs_two_cpus() { [ "$(nproc)" -ge 2 ] || skip "one cpu only"; }
needs_jq() { command -v jq >/dev/null || skip "jq is not installed"; }
needs_command() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# ---- running -----------------------------------------------------------------------------

# The command where user nobody can reach it, for the time of a file.
copy_command() {
	[ "$(id -u)" -eq 0 ] || return 0
	copied=$(mktemp -d /tmp/clearpages-live-XXXXXX)
	chmod 755 "$copied"
	cp "$CLEARPAGES" "$copied/clearpages"
	export copied
}

remove_command() { [ -z "${copied:-}" ] || rm -r "$copied"; }

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$copied/clearpages" "$@"
}

# measures ARG...: exit 0; stdout is in $out, stderr in $err; no number that is none.
measures() {
	"$CLEARPAGES" bench "$@" >"$out" 2>"$err" || {
		local code=$?
		echo "bench $*: exit code $code"
		cat "$err"
		if grep -q 'in pieces' "$err"; then
			skip "the kernel finds no such pages: memory is in pieces"
		fi
		no_others
		return 1
	}
	if grep -n -i -w -E -e '-?(nan|inf|infinity)' "$out"; then
		return 1
	fi
}

holds() {
	jq -e "$1" "$out" >/dev/null || {
		echo "does not hold: $1"
		jq -c '.runs' "$out"
		return 1
	}
}

# start ARG...: in the background, as $pid, until it measures.
start() {
	: >"$err"
	"$CLEARPAGES" bench "$@" >"$out" 2>"$err" 3>&- 8>&- &
	pid=$!
	soon reserved_or_dead
	kill -0 "$pid" || {
		cat "$err"
		return 1
	}
}

reserved_or_dead() { grep -q reserved "$err" || ! kill -0 "$pid" 2>/dev/null; }

# The exit code of $pid, in $code.
ended() {
	code=0
	wait "$pid" || code=$?
	pid=''
}

# One line of stderr, nothing on stdout, that exit code; with these words.
one_line() { # code word...
	local want=$1 word
	shift
	if [ "$status" -ne "$want" ] || [ "$output" ] || [ "${#stderr_lines[@]}" -ne 1 ]; then
		echo "exit code $status, expected $want; stdout: $output; stderr:"
		echo "$stderr"
		return 1
	fi
	for word in "$@"; do
		[[ $stderr == "clearpages: "*"$word"* ]] || {
			echo "not said: $word"
			echo "$stderr"
			return 1
		}
	done
}

# ---- cgroups -----------------------------------------------------------------------------

# A cgroup of version 2 with hugetlb limits, as $group; $had: whether the
# children of the root had them before.
make_cgroup() {
	local top
	top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ "$top" ] || skip "no cgroup of version 2 is mounted"
	grep -qw hugetlb "$top/cgroup.controllers" ||
		skip "the cgroup of version 2 has no hugetlb controller (version 1 may have it)"
	had=$(grep -cw hugetlb "$top/cgroup.subtree_control" || true)
	root=$top
	echo +hugetlb >"$top/cgroup.subtree_control" || skip "hugetlb cannot be turned on in $top"
	group=$top/clearpages-test.$BASHPID
	mkdir "$group"
}

leave_cgroup() {
	[ "$group" ] || return 0
	soon rmdir "$group" 2>/dev/null
	group=''
	[ "$had" -ne 0 ] || echo -hugetlb >"$root/cgroup.subtree_control"
}

# A shell that becomes a member of the cgroup $0, then the command.
enter='echo $$ >"$0/cgroup.procs" && exec "$@"'
inside() { sh -c "$enter" "$group" "$@"; }
