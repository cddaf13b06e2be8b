#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Builds clearpages.ko for each kernel of kernels.tsv, or for those named:
#
#	kmod-check.sh [KERNEL...]
#
# What fails: an error, any warning, a module that asks for a symbol that the kernel
# does not export, and one that is built although the function it replaces
# has another signature. Logs are in build/qemu/logs. The last line is
# "N passed, N failed, N skipped"; exit status 1 if any failed or none passed.
set -u
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
top=$(cd "$here/../.." && pwd -P) || exit 1
logs=${QEMU_DIR:-$top/build/qemu}/logs
passed=0 failed=0 skipped=0
cd "$top" || exit 1

ok() {
	echo "ok     $*"
	passed=$((passed + 1))
}

not_ok() { # what, log
	echo "FAILED $1; the last lines of $2:"
	tail -n 20 "$2" | sed 's/^/     /'
	failed=$((failed + 1))
}

build() { # release, log, make words
	release=$1 log=$2
	shift 2
	"$here/root.sh" run make -s kmod B=build/kmod-check \
		"KDIR=/usr/src/linux-headers-$release" "$@" >"$log" 2>&1
}

builds() { # kernel, release
	log=$logs/kmod-$1.log
	start=$(date +%s)
	rm -rf "build/kmod-check/kmod/$2"
	if ! build "$2" "$log"; then
		not_ok "$1 ($2)" "$log"
	elif grep -qi 'warning' "$log"; then
		not_ok "$1 ($2) with a warning" "$log"
	else
		ok "$1 ($2): $(stat -c %s "build/kmod-check/kmod/$2/clearpages.ko") bytes with debug" \
			"information, $(($(date +%s) - start)) s"
	fi
}

# A control: the very build that passed has to fail when the signature is another one.
refuses() { # kernel, release
	log=$logs/kmod-$1-signature.log
	if build "$2" "$log" CLEARPAGES_PLANT=signature; then
		echo "it was built" >>"$log"
		not_ok "$1: an unknown signature is refused" "$log"
	elif grep -q 'signature that is not known' "$log"; then
		ok "$1: an unknown signature is refused"
	else
		not_ok "$1: an unknown signature is refused for that reason" "$log"
	fi
}

mkdir -p "$logs" || exit 1
"$here/root.sh" || exit 1
# shellcheck disable=SC2046 # names are words
[ $# -gt 0 ] || set -- $("$here/fetch.sh" list)
for kernel in "$@"; do
	if found=$("$here/fetch.sh" "$kernel" 2>"$logs/fetch-$kernel.log"); then
		builds "$kernel" "${found#* }"
		refuses "$kernel" "${found#* }"
	elif grep -q "^SKIP $kernel: " "$logs/fetch-$kernel.log"; then
		grep "^SKIP $kernel: " "$logs/fetch-$kernel.log"
		skipped=$((skipped + 1))
	else
		not_ok "$kernel cannot be fetched" "$logs/fetch-$kernel.log"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
