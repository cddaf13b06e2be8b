#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A kernel with KASAN, lockdep, kmemleak and what else notices a module's mistakes,
# made from Debian's linux-source-6.12 and debug.config, and the stress on it:
#
#	debug.sh build	makes it, if none of this source and this configuration is there
#	debug.sh	and boots it; a line for each check, and the closing line
#
# Below build/qemu/debug: a folder for each content. The source package comes by apt
# in root.sh's root, checked as apt checks.
# shellcheck disable=SC2016 # inner shells fill theirs in
set -eu
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd -P)
top=$(cd "$here/../.." && pwd -P)
dir=${QEMU_DIR:-$top/build/qemu}
mkdir -p "$dir/debug"
dir=$(cd "$dir" && pwd -P)
source=linux-source-6.12
tools='flex bison bc libelf-dev perl xz-utils'

fetch() {
	"$here/root.sh" run sh -c '
		cd "$1" && shift
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
			--no-install-recommends $2; } >"$1.log" 2>&1 || { tail "$1.log" >&2; exit 1; }
		[ -n "$(find . -name "$1_*.deb")" ] || apt-get -qq download "$1" >&2' \
		sh "$dir/debug" "$source" "$tools"
}

compile() { # folder
	"$here/root.sh" run sh -c '
		set -e
		cd "$1"
		make -s CC=gcc-14 HOSTCC=gcc-14 KCONFIG_ALLCONFIG="$2" allnoconfig
		# There are none, but only this lists the symbols that a module may use.
		make -s -j"$(nproc)" CC=gcc-14 HOSTCC=gcc-14 bzImage modules' \
		sh "$1" "$here/debug.config"
}

build() {
	fetch
	deb=$(find "$dir/debug" -name "${source}_*.deb" | sort | tail -n 1)
	key=$(cat "$deb" "$here/debug.config" | sha256sum | cut -c 1-16)
	made=$dir/debug/$key
	[ -f "$made/done" ] && return
	echo "debug.sh: building $made, which takes some minutes (log: $made.log)" >&2
	rm -rf "$made" "$made.deb"
	mkdir -p "$made"
	dpkg -x "$deb" "$made.deb"
	tar -xf "$made.deb/usr/src/$source.tar.xz" -C "$made" --strip-components=1
	rm -rf "$made.deb"
	compile "$made" >"$made.log" 2>&1
	touch "$made/done"
}

modules() {
	"$here/root.sh" run sh -c '
		set -e
		make -s kmod "KDIR=$1" CC=gcc-14
		mkdir -p "$2" && cp "build/kmod/$3/clearpages.ko" "$2"' \
		sh "$made" "$results/modules" "$(cat "$made/include/config/kernel.release")"
}

build
[ "${1-}" != build ] || exit 0
results=$dir/results/debug
rm -rf "$results"
mkdir -p "$results"
modules >"$results/build.log" 2>&1 || { tail -n 20 "$results/build.log" >&2; exit 1; }
"$here/initrd.sh" "$results/initrd" "$dir/guest" "$results/modules/clearpages.ko"
BOOT_LIMIT=3600 "$here/boot.sh" "$results/boot" "$made/arch/x86/boot/bzImage" "$results/initrd" debug \
	init_on_alloc=0 "guest.stress=${STRESS:-30}" \
	"guest.reloads=${RELOADS:-10}" || true
grep -v '^ok time' "$results/boot/checks"
awk '/ time /{ next } { n[$1]++ } END {
	printf "%d passed, %d failed, %d skipped\n", n["ok"], n["not"], n["skip"]
	exit n["not"] || !n["ok"] }' "$results/boot/checks"
