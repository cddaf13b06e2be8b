#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What `make kmod-dkms` stages is all that dkms needs: the MAKE line of its
# dkms.conf is run there, against a kernel whose Makefile only looks whether all
# sources of the module have come along. On trees that lack something it fails, for
# a check that cannot fail is none.
# SC2317: functions that are called by name.
# shellcheck disable=SC2317
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# This is run by a make whose variables are none of dkms's.
unset MAKEFLAGS MFLAGS MAKELEVEL GNUMAKEFLAGS
release=6.99.1-test-amd64
kernel=$tmp/kernel
count=0 failed=0

is() { # name, yes or no, command
	name=$1 expected=$2
	shift 2
	count=$((count + 1))
	if "$@" >"$tmp/out" 2>&1; then found=yes; else found=no; fi
	if [ "$found" = "$expected" ]; then
		echo "ok $count - $name"
	else
		sed 's/^/# /' "$tmp/out"
		echo "not ok $count - $name"
		failed=1
	fi
}

# What Kbuild would do with M, but for compiling.
mkdir -p "$kernel/include/generated" "$kernel/include/linux"
echo "#define UTS_RELEASE \"$release\"" >"$kernel/include/generated/utsrelease.h"
cat >"$kernel/Makefile" <<'END'
src := $(M)
srctree := $(CURDIR)
include $(M)/Kbuild
sources = $(foreach o,$(clearpages-y),$(or \
	$(wildcard $(M)/$(o:.o=.c)),$(M)/$(o:.o=.S)))
modules: $(sources)
	$(if $(sources),touch '$(M)/clearpages.ko',false)
END

stage() {
	rm -rf "$tmp/staged"
	make -s -C "$root" kmod-dkms DESTDIR="$tmp/staged"
	tree=$(echo "$tmp"/staged/usr/src/clearpages-*)
	[ -f "$tree/dkms.conf" ]
}

# As dkms: in a copy of the tree, the line of dkms.conf with KERNELRELEASE behind
# make; then the module has to be where dkms.conf says.
# shellcheck disable=SC2016 # bash expands these
builds() {
	rm -rf "$tmp/work"
	cp -r "$tree" "$tmp/work" && (cd "$tmp/work" &&
		kernelver=$release kernel_source_dir=$kernel bash -euc '
			. ./dkms.conf
			[ "$PACKAGE_VERSION" = "$(cat VERSION)" ]
			eval "${MAKE[0]/#make/make -j1 KERNELRELEASE=$kernelver}"
			[ -f "${BUILT_MODULE_LOCATION[0]}/${BUILT_MODULE_NAME[0]}.ko" ]
			eval "$CLEAN"
			[ ! -e "${BUILT_MODULE_LOCATION[0]}" ]')
}

if ! command -v bash >/dev/null; then
	echo "1..0 # SKIP dkms.conf is for bash, which is not installed"
	exit 0
fi
is "make kmod-dkms stages a tree" yes stage
is "dkms.conf builds the module there" yes builds
for lacks in mk/kmod.mk Kbuild VERSION kmod/target.c core/cpg_clear.c core/sources.mk; do
	stage >/dev/null 2>&1
	rm "$tree/$lacks"
	is "planted: a tree without $lacks" no builds
done
stage >/dev/null 2>&1
echo 'include mk/other.mk' >>"$tree/Makefile"
is "planted: a Makefile that includes what is not staged" no builds
stage >/dev/null 2>&1
sed -i 's/^BUILT_MODULE_LOCATION.*/BUILT_MODULE_LOCATION[0]="build"/' "$tree/dkms.conf"
is "planted: the module is built in another place" no builds

echo "1..$count"
[ "$failed" -eq 0 ]
