#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The modules that a guest of one kernel loads, which fetch.sh has fetched:
#
#	modules.sh KERNEL OUT
#
# Into the folder OUT: clearpages.ko; the same with a bug planted (kmod/plant.c):
# planted_variant.ko, planted_glue.ko, planted_leak.ko, wrong_target.ko; clzero_emulation.ko. A
# warning fails like an error, but those of planted ones.
set -eu
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd -P)
top=$(cd "$here/../.." && pwd -P)
dir=${QEMU_DIR:-$top/build/qemu}
kernel=$1
mkdir -p "$2"
out=$(cd "$2" && pwd -P)
cd "$top"
release=$(cat "$dir/kernels/$kernel/release")
emulation=$dir/emulation/$kernel
log=$out/log

mkdir -p "$emulation"
cp "$here/emulation/Kbuild" "$here/emulation/clzero_emulation.c" "$emulation/"

# shellcheck disable=SC2016 # the inner shell fills these in
if ! "$here/root.sh" run sh -c '
	set -e
	kdir=/usr/src/linux-headers-$1
	make -s kmod "KDIR=$kdir" >"$3" 2>&1
	make -s -C "$kdir" "M=$2" modules >>"$3" 2>&1
	for plant in variant glue leak target; do
		make -s kmod "KDIR=$kdir" CLEARPAGES_PLANT=$plant >>"$3.planted" 2>&1
	done' sh "$release" "$emulation" "$log"; then
	tail -n 20 "$log" "$log.planted" >&2
	exit 1
fi
if grep -i 'warning' "$log" >&2; then
	exit 1
fi
cp "$emulation/clzero_emulation.ko" "$out/"
cp "build/kmod/$release/clearpages.ko" "$out/clearpages.ko"
cp "build/kmod/$release-plant-variant/clearpages.ko" "$out/planted_variant.ko"
cp "build/kmod/$release-plant-glue/clearpages.ko" "$out/planted_glue.ko"
cp "build/kmod/$release-plant-leak/clearpages.ko" "$out/planted_leak.ko"
cp "build/kmod/$release-plant-target/clearpages.ko" "$out/wrong_target.ko"
