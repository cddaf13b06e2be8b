#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# All boots of one kernel:
#
#	kernel.sh full|short KERNEL RELOADS
#
# Fetches it, builds the modules, boots each plan (guest/main.c). The results are
# in build/qemu/results/KERNEL/BOOT/checks, as boot.sh writes them; what can't be
# fetched is a skip of the check `fetch` in the boot `prepare`, what can't be built a
# failure of `build`. Exit status 0 whatever they say: check.sh reads them, and the
# file `finished`, which is there once all of this was gone through.
#
#	whole		the kernel as it comes: init_on_alloc=1, its own preemption model
#	bare		init_on_alloc=0 and preempt=full: dirt would show; planted bugs, CLZERO
#	freed		init_on_free=1 and init_on_alloc=0
#	none, voluntary, lazy	those that the kernel has beside these two (full form)
#	erms		a processor with ERMS, for which rep stosb is the default (full form)
#	leak		a module that leaks, which the check `reloads` has to notice (full form)
#	self-test	all of core's cases in the module (SELFTEST=1 only: minutes)
#	insns		counts the kernel's instructions in a fault
#	nodes		two nodes of memory, for programs that need them (newest kernel only)
set -u
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
dir=${QEMU_DIR:-$here/../../build/qemu}
form=$1 kernel=$2 reloads=$3
results=$dir/results/$kernel
rm -rf "$results"
mkdir -p "$results/prepare" && results=$(cd "$results" && pwd -P) || exit 1
dir=$(cd "$dir" && pwd -P)
prepared=$results/prepare/checks

ms() {
	date +%s%3N
}

prepare() { # check, words
	check=$1
	shift
	start=$(ms)
	if "$@" >"$results/prepare/$check.log" 2>&1; then
		echo "ok $check $(($(ms) - start))" >>"$prepared"
	elif grep -q "^SKIP $kernel: " "$results/prepare/$check.log"; then
		sed -n "s/^SKIP $kernel: /skip $check 0 /p" "$results/prepare/$check.log" >>"$prepared"
		return 1
	else
		echo "not ok $check 0 $(tail -n 1 "$results/prepare/$check.log"); see $results/prepare/$check.log" >>"$prepared"
		return 1
	fi
}

boot() { # name, plan, words
	name=$1
	shift
	echo "$kernel $name" >&2
	[ -z "${SEED-}" ] || set -- "$@" "guest.seed=$SEED"
	"$here/boot.sh" "$results/$name" "$dir/kernels/$kernel/vmlinuz" "$results/initrd" "$@"
}

# Which models the kernel has, as the check `preempt` found them.
models() {
	tr -d '\r' <"$results/whole/console" | sed -n 's/^guest: models: //p' | head -n 1
}

boot_models() {
	for model in $(models); do
		case $model in
		full | \(*) ;; # that of bare, that of whole
		*) boot "$model" model "preempt=$model" guest.stress=5 ;;
		esac
	done
}

# These two in a subshell: shells differ in how long what stands before the call of a
# function holds.
# shellcheck disable=SC2030
count_insns() (
	export BOOT_CPU=max BOOT_CPUS=1
	export BOOT_QEMU="-icount shift=0,sleep=off -plugin $dir/insns.so,out=$results/insns.out"
	boot insns insns
	# Locks cost more on PREEMPT_RT: 12662 instructions without the module, 5087 with it.
	case $kernel in
	*-rt) most=5600 ;;
	*) most= ;;
	esac
	# shellcheck disable=SC2086 # none or one
	"$here/insns.sh" "$results/insns.out" $most >>"$results/insns/checks"
)

# shellcheck disable=SC2031
boot_erms() (
	export BOOT_CPU=max
	boot erms erms
)

# No module is in it: one kernel will do.
# shellcheck disable=SC2031
boot_nodes() (
	node() { # number
		echo "-object memory-backend-ram,id=m$1,size=1536M -numa node,nodeid=$1,cpus=$1,memdev=m$1"
	}
	[ "$kernel" = "$("$here/fetch.sh" list | tail -n 1)" ] || return 0
	if [ ! -f "$dir/test_live_nodes" ]; then
		mkdir -p "$results/nodes"
		echo "skip nodes 0 no program for it was built" >"$results/nodes/checks"
		return 0
	fi
	"$here/initrd.sh" "$results/initrd.nodes" "$dir/guest" "$dir/test_live_nodes" || return 1
	# A socket for each: processors of one socket cannot lie in two nodes.
	BOOT_CPUS=2,sockets=2
	BOOT_MEM=3072M
	BOOT_QEMU="$(node 0) $(node 1)"
	export BOOT_CPUS BOOT_MEM BOOT_QEMU
	echo "$kernel nodes" >&2
	"$here/boot.sh" "$results/nodes" "$dir/kernels/$kernel/vmlinuz" "$results/initrd.nodes" nodes
)

finish() {
	touch "$results/finished"
	exit 0
}

prepare fetch "$here/fetch.sh" "$kernel" || finish
prepare build "$here/modules.sh" "$kernel" "$results/modules" || finish
"$here/initrd.sh" "$results/initrd" "$dir/guest" "$results"/modules/*.ko || exit 1

boot whole whole init_on_alloc=1 "guest.stress=${STRESS:-8}" "guest.pressure=${STRESS:-8}" \
	"guest.reloads=$reloads"
boot bare bare init_on_alloc=0 preempt=full "guest.stress=${STRESS:-8}"
boot freed freed init_on_alloc=0 init_on_free=1
if [ "$form" = full ]; then
	boot_models
	boot_erms
	boot leak leak
fi
count_insns
boot_nodes
if [ -n "${SELFTEST-}" ]; then
	boot self-test self-test
fi
finish
