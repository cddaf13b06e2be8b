#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The programs of examples/ run, and find everything as they expect it.
# BUILD (default build): where they are.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${BUILD:-$root/build}
count=0 failed=0

runs() { # name, arguments
	count=$((count + 1))
	name=$1
	shift
	if out=$("$build/examples/$name" "$@" 2>&1); then
		echo "ok $count - $name $*"
	else
		printf '%s\n' "$out" | sed 's/^/# /'
		echo "not ok $count - $name $*"
		failed=1
	fi
}

runs vmm 16M
runs buffers 50
echo "1..$count"
[ "$failed" -eq 0 ]
