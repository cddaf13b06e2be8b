#!/bin/sh
# perf-root.sh: keep a small Debian trixie root with a current perf, and run
# that perf on the kernel that is running now. The perf of an older Debian has
# no 'perf bench mem mmap'.
#
#   perf-root.sh [-r DIR]              make the root in DIR, if perf isn't there
#   perf-root.sh [-r DIR] run ARGS...  run 'perf ARGS...' in it
#
# DIR is build/perf-root below the repo's root unless named. The mirror is the
# one in this machine's own apt sources. It needs root, about 400 MB and a
# minute or two. A root in the making is DIR.part, and is removed when its making
# fails or is stopped; after a failure DIR.log says why. 'run' exits as perf
# does, or with 125 when it could not start it. Paths in ARGS are those inside
# DIR, and perf starts in /.
set -u
unset CDPATH

suite=trixie
me=perf-root.sh
code=1
work='' # the folder to remove on failure
job=''  # the process that works in it

die() {
	printf '%s: %s\n' "$me" "$1" >&2
	exit "$code"
}

usage() {
	code=2
	die "$1; use: $me [-r DIR] [run ARGS...]"
}

# All that works in the new root runs in its own mount and pid namespaces:
# killing the one process that this shell knows ends the rest, and with the
# last of them every mount goes. They may take a moment after it, thus the tries.
# shellcheck disable=SC2317 # reached by trap
cleanup() {
	rc=$?
	trap - EXIT
	trap '' HUP INT TERM
	if [ -n "$job" ]; then
		kill -KILL "$job" 2>/dev/null
		wait "$job" 2>/dev/null
	fi
	if [ -n "$work" ]; then
		for try in 1 2 3 4 5; do
			rm -rf --one-file-system "$work" 2>/dev/null && break
			[ "$try" = 5 ] && printf '%s: could not remove %s; remove it by hand\n' "$me" "$work" >&2
			sleep 1
		done
	fi
	if [ "$rc" -gt 128 ] || [ ! -s "$log" ]; then
		rm -f "$log"
	fi
	exit "$rc"
}

# isolated COMMAND...: run it so, with its output in the log.
isolated() {
	unshare --mount --pid --fork --kill-child --mount-proc -- "$@" >>"$log" 2>&1 </dev/null &
	job=$!
	wait "$job"
	set -- "$?"
	job=''
	return "$1"
}

# why: the log's last error, or else its last line.
why() {
	{ grep -E '^E: ' "$log" || grep -E '^W: Failure' "$log" || grep . "$log" || echo 'no message'; } | tail -n 1
}

# mirror: the first place in apt's configuration that has Debian's own archive
# (not its security one). Only fetched lists tell which one that is.
mirror() {
	# shellcheck disable=SC2016 # apt-get fills these in
	apt-get indextargets --format '$(ORIGIN) $(LABEL) $(SITE)' 'Created-By: Packages' 2>/dev/null |
		sed -n 's/^Debian Debian //p' | head -n 1
}

build() {
	[ "$(id -u)" = 0 ] || die 'not root, which making a root needs; run it as root'
	if [ -x "$root/usr/bin/perf" ]; then
		return 0
	fi
	case $root in
	*[[:space:]]*) die "debootstrap can't work in '$root', which has a blank; name another folder with -r" ;;
	esac
	if [ -e "$root" ] && ! rmdir "$root" 2>/dev/null; then
		die "$root is there and has no perf; remove it or name another folder with -r"
	fi
	for tool in apt-get unshare chroot; do
		command -v "$tool" >/dev/null || die "no $tool on this machine; run it on a Debian that has it"
	done
	mkdir -p "${root%/*}/" 2>/dev/null || die "cannot make ${root%/*}; name another folder with -r"
	mkdir "$root.part" 2>/dev/null ||
		die "$root.part is there: another run makes it or was killed; wait for that run or remove it"
	work=$root.part
	log=$root.log
	trap cleanup EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	: >"$log" || die "cannot write $log; name another folder with -r"

	export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
	url=$(mirror)
	if [ -z "$url" ] || ! command -v debootstrap >/dev/null; then
		apt-get update >>"$log" 2>&1 </dev/null || die "apt-get update failed ($(why)); mend apt's sources, see $log"
		url=$(mirror)
	fi
	[ -n "$url" ] || die "apt's sources have no Debian archive; add one below /etc/apt"
	if ! command -v debootstrap >/dev/null; then
		apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends debootstrap >>"$log" 2>&1 </dev/null ||
			die "cannot install debootstrap ($(why)); install it by hand, see $log"
	fi
	proxy=''
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	[ -z "$proxy" ] || export http_proxy="$proxy"

	printf '%s: making %s, which takes a minute or two\n' "$me" "$root" >&2
	isolated debootstrap --variant=minbase "$suite" "$work" "$url" ||
		die "debootstrap failed ($(why)); see $log, then run it again"
	printf 'deb %s %s-backports main\n' "$url" "$suite" >"$work/etc/apt/sources.list.d/backports.list"
	apt-config dump | grep -E '^Acquire::(Check-|https?::Proxy )' >"$work/etc/apt/apt.conf.d/90host"
	# shellcheck disable=SC2016 # the inner shell fills these in
	isolated sh -c '
		set -e
		mount -t proc proc "$1/proc"
		chroot "$1" apt-get -o Acquire::Languages=none update
		chroot "$1" apt-get install -y --no-install-recommends -t "$2-backports" linux-perf
		chroot "$1" apt-get clean
		rm -rf "$1"/var/lib/apt/lists/*
	' sh "$work" "$suite" || die "cannot install linux-perf ($(why)); see $log, then run it again"
	isolated sh "$0" -r "$work" run bench mem mmap -s 1MB -p 4KB -f demand -l 1 ||
		die "the new perf has no working 'bench mem mmap' ($(why)); see $log"
	mv "$work" "$root" || die "cannot rename $work to $root; name another folder with -r"
	work=''
	rm -f "$log"
}

run() {
	code=125
	[ "$(id -u)" = 0 ] || die 'not root, which chroot needs; run it as root'
	[ -x "$root/usr/bin/perf" ] || die "no perf in $root; make it with $me [-r DIR]"
	# shellcheck disable=SC2016 # the inner shell fills these in
	exec unshare --mount -- sh -c '
		mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" || {
			echo "perf-root.sh: cannot mount /proc and /sys in $1; see the line above" >&2
			exit 125
		}
		root=$1
		shift
		exec chroot "$root" /usr/bin/perf "$@"
	' sh "$root" "$@"
}

root=''
while getopts :r: opt; do
	case $opt in
	r)
		root=${OPTARG%/}
		[ -n "$root" ] || usage "-r can't be '$OPTARG'"
		;;
	:) usage "-$OPTARG needs a folder" ;;
	*) usage "no option -$OPTARG" ;;
	esac
done
shift $((OPTIND - 1))
case $root in
'') root=$(cd "$(dirname "$0")/.." && pwd -P)/build/perf-root || die 'cannot find the repo; name a folder with -r' ;;
/*) ;;
*) root=$(pwd -P)/$root || die 'no current folder; name a full path with -r' ;;
esac

case ${1-} in
'')
	[ $# = 0 ] || usage 'an empty word'
	build
	;;
run)
	shift
	run "$@"
	;;
*) usage "no mode '$1'" ;;
esac
