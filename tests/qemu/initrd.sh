#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The initial RAM disk of a guest:
#
#	initrd.sh OUT GUEST FILE...
#
# busybox of root.sh's root, the test program GUEST (static), and the files: modules
# (NAME.ko), stripped of what only a debugger reads, in /lib under the names they
# have; others, which are static programs for the plan `nodes`, in /tests.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
dir=${QEMU_DIR:-$here/../../build/qemu}
out=$1 guest=$2
shift 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp" "$tmp.cpio"' EXIT
mkdir -p "$tmp/bin" "$tmp/lib" "$tmp/tests"
cp "$dir/root/bin/busybox" "$tmp/bin/busybox"
cp "$here/guest/init" "$tmp/init"
cp "$guest" "$tmp/guest"
for file in "$@"; do
	case $file in
	*.ko) strip --strip-debug -o "$tmp/lib/${file##*/}" "$file" ;;
	*) strip --strip-debug -o "$tmp/tests/${file##*/}" "$file" ;;
	esac
done
(cd "$tmp" && find . | "$dir/root/bin/busybox" cpio -o -H newc >"$tmp.cpio" 2>/dev/null)
gzip -1 <"$tmp.cpio" >"$out.part"
mv "$out.part" "$out"
