#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The Debian trixie root in which modules are built and QEMU runs, whatever
# Debian the machine has: gcc-12 and gcc-14, the glibc that the build tools of
# headers >= 6.18 want, pahole, QEMU 10 (7.2 corrupts flags on 6.12).
#
#	root.sh			make build/qemu/root if it isn't there (about a minute, 700 MB)
#	root.sh run CMD...	run CMD in it, in the folder that this was called from
#	root.sh mirror [security]  the archive that this machine's apt uses
#
# In the root the tree (where mk/ and core/ lie) is at the same path as outside;
# so is build/, even where it is a link. Whatever fetch.sh has unpacked is there
# where its packages would have put it: /usr/src/linux-headers-* and
# /usr/lib/linux-kbuild-*. Each run has mount and pid namespaces of its own: nothing
# stays mounted, and when the command ends so does all that it started. Exit status:
# that of CMD, or 125 where it could not be started. Root (the user) is needed.
# QEMU_DIR: in the place of build/qemu.
set -u
unset CDPATH
top=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 125
dir=${QEMU_DIR:-$top/build/qemu}
root=$dir/root
log=$dir/root.log
suite=trixie
packages=gcc-12,gcc-14,make,pahole,libc6-dev,qemu-system-x86,busybox-static,cpio,kmod,zstd,xz-utils
# Part of the stamp: a change of either makes the root anew.
stamp="$suite $packages"

die() {
	echo "root.sh: $*" >&2
	exit 125
}

# Only fetched lists tell which of apt's sources is Debian's own archive.
site() { # label
	# shellcheck disable=SC2016 # apt-get fills these in
	apt-get indextargets --format '$(ORIGIN) $(LABEL) $(SITE)' 'Created-By: Packages' 2>/dev/null |
		sed -n "s/^Debian $1 //p" | head -n 1
}

mirror() { # [security]
	command -v apt-get >/dev/null || die "no apt-get here: it knows the mirror"
	[ -n "$(site Debian)" ] || apt-get update >&2 || die "apt-get update failed: see above"
	main=$(site Debian)
	[ -n "$main" ] || die "apt's sources have no Debian archive: add one below /etc/apt"
	if [ "${1-}" = security ]; then
		security=$(site Debian-Security)
		echo "${security:-$main-security}"
	else
		echo "$main"
	fi
}

# apt inside: what is built with comes from trixie alone, the other suites are
# there for fetch.sh to look up newer kernels in.
sources() { # root, main, security
	rm -f "$1/etc/apt/sources.list"
	cat >"$1/etc/apt/sources.list.d/matrix.list" <<-END
		deb $2 trixie main
		deb $2 trixie-backports main
		deb $3 trixie-security main
		deb $2 bookworm main
		deb $2 bookworm-backports main
		deb $3 bookworm-security main
		deb $3 bullseye-security main
	END
	{
		echo 'APT::Default-Release "trixie";'
		echo 'Acquire::Languages "none";'
		apt-config dump | grep -E '^Acquire::(Check-|https?::Proxy )'
	} >"$1/etc/apt/apt.conf.d/90matrix"
	cp /etc/resolv.conf "$1/etc/resolv.conf" 2>/dev/null
	return 0
}

make_root() {
	if [ "$(cat "$root/etc/clearpages-root" 2>/dev/null)" = "$stamp" ]; then
		return 0
	fi
	[ "$(id -u)" = 0 ] || die "making $root needs root (the user)"
	command -v debootstrap >/dev/null || die "no debootstrap: apt-get install debootstrap"
	case $root in
	*[[:space:]]*) die "debootstrap cannot work in '$root', which has a blank" ;;
	esac
	main=$(mirror) && security=$(mirror security) || exit 125
	echo "root.sh: making $root, which takes a minute (log: $log)" >&2
	rm -rf --one-file-system "$root" "$root.part"
	mkdir -p "$dir"
	unshare --mount --pid --fork --kill-child debootstrap --variant=minbase \
		--include="$packages" "$suite" "$root.part" "$main" >"$log" 2>&1 ||
		die "debootstrap failed: $(grep -E '^[EW]: ' "$log" | tail -n 1); see $log"
	rm -rf "$root.part"/var/cache/apt/archives/*.deb
	sources "$root.part" "$main" "$security"
	# Debian's headers of 5.10 call gcc-10, which trixie has not; 12 does as well.
	ln -s gcc-12 "$root.part/usr/bin/gcc-10"
	echo "$stamp" >"$root.part/etc/clearpages-root"
	mv "$root.part" "$root" || die "cannot rename $root.part"
}

# One at a time makes it, the others wait and find it made.
locked_make_root() {
	mkdir -p "$dir" || die "cannot make $dir"
	exec 9>"$dir/root.lock"
	flock 9
	make_root
	exec 9>&-
}

# In the new namespaces: put everything in its place, then become the command.
# shellcheck disable=SC2016 # the inner shell fills these in
inside='
	root=$1 dir=$2 top=$3 here=$4
	shift 4
	at() { # folder outside, folder inside
		mkdir -p "$root$2" && mount --rbind "$1" "$root$2" || exit 125
	}
	mount --make-rprivate / && mount -t proc proc "$root/proc" || exit 125
	at /dev /dev
	at "$top" "$top"
	case $dir/ in "$top"/*) ;; *) at "$dir" "$dir" ;; esac
	for from in "$dir"/kernels/*/usr/src/* "$dir"/kernels/*/usr/lib/linux-kbuild-*; do
		if [ -d "$from" ]; then
			at "$from" "/usr/${from##*/usr/}"
		fi
	done
	exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin LC_ALL=C.UTF-8 HOME=/root \
		sh -c "cd \"\$1\" && shift && exec \"\$@\"" sh "$here" "$@"
'

run() {
	[ "$(id -u)" = 0 ] || die "chroot needs root (the user)"
	here=$(pwd -P)
	case $here/ in
	"$top"/* | "$dir"/*) ;;
	*) here=$top ;;
	esac
	exec unshare --mount --pid --fork --kill-child -- \
		sh -c "$inside" sh "$root" "$(cd "$dir" && pwd -P)" "$top" "$here" "$@"
}

case ${1-} in
'')
	locked_make_root
	;;
run)
	shift
	[ $# -gt 0 ] || die "run what?"
	locked_make_root
	run "$@"
	;;
mirror)
	mirror "${2-}"
	;;
*)
	die "use: root.sh [run CMD... | mirror [security]]"
	;;
esac
