#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Boots a kernel under QEMU, once, and says what became of it:
#
#	boot.sh OUT VMLINUZ INITRD PLAN [WORD...]
#
# PLAN goes to the guest, the WORDs to the kernel's command line. Below OUT: the
# console (console), the guest's verdict from the second serial port
# (verdict), and one line a check (checks): "ok NAME MS", "not ok NAME MS why" or
# "skip NAME MS why". Three lines are added to those of the guest: `boot` fails if
# there is no complete verdict, `log` if the kernel complained, `time` is how long
# it all took. Exit status 1 if any failed.
#
# BOOT_LIMIT: seconds after which a guest counts as hung, default 1800; under TCG
# nothing else may depend on time. BOOT_CPUS, BOOT_MEM: 2 and 3G. BOOT_QEMU: words
# for QEMU's command line. BOOT_CPU: max,-erms,-fsrm, as QEMU takes a byte at a time for rep
# stosb (90 MB/s) and has the kernel zero everything with it if it has erms; rep
# stosq does 1500. With fsrm and no erms kernels before 6.5 hang at boot.
set -u
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd -P) || exit 2
out=$1 vmlinuz=$2 initrd=$3 plan=$4
shift 4
rm -rf "$out"
mkdir -p "$out" && out=$(cd "$out" && pwd -P) || exit 2
limit=${BOOT_LIMIT:-1800}

# What no kernel says in a good run. Speculative Return Stack Overflow warns
# of the processor; a memory eater is killed in the check that is named for it.
bad='WARNING: |BUG: |BUG at|Oops|general protection|Kernel panic|[Ss]tack ?trace|Call Trace'
bad="$bad|rcu.*(stall|detected)|blocked for more than|soft lockup|hard LOCKUP|KASAN|kmemleak: [0-9]+ new"
bad="$bad|possible (recursive|circular)|suspicious RCU|sleeping function called|inconsistent lock"
bad="$bad|unable to handle|UBSAN|invalid opcode|stack-protector|Bad page|list_(add|del) corruption"
fine='Speculative Return Stack Overflow: WARNING|RCU CPU stall warnings timeout|memory used for stack traces'

# shellcheck disable=SC2086 # BOOT_QEMU is words
boot() {
	timeout -k 10 "$limit" "$here/root.sh" run qemu-system-x86_64 \
		-accel tcg -cpu "${BOOT_CPU:-max,-erms,-fsrm}" -m "${BOOT_MEM:-3G}" -smp "${BOOT_CPUS:-2}" \
		-nographic -no-reboot -nodefaults \
		-serial "file:$out/console" -serial "file:$out/verdict" ${BOOT_QEMU-} \
		-kernel "$vmlinuz" -initrd "$initrd" \
		-append "console=ttyS0 panic=-1 panic_on_warn=1 loglevel=7 rcupdate.rcu_cpu_stall_timeout=240 hugepagesz=1G hugepages=1 guest.plan=$plan $*" \
		</dev/null >"$out/qemu" 2>&1
}

complaints() {
	tr -d '\r' <"$out/console" | awk -v bad="$bad" -v fine="$fine" '
		/invoked oom-killer/ { oom = 1 }
		/Out of memory: Killed|oom-kill:/ { oom = 0 }
		$0 ~ fine { next }
		oom && /Call Trace/ { next }
		/^guest: |ommand line: |^console=/ { next }
		$0 ~ bad { print }'
}

# The verdict is complete if its last line counts the lines before it.
is_complete() {
	tr -d '\r' <"$out/verdict" 2>/dev/null | awk '
		/^end / { ended = ($2 == NR - 1) }
		{ last = $1 }
		END { exit !(ended && last == "end") }'
}

# With a thread for each processor QEMU can run an int3 that the kernel had put into
# code that it was changing, and has taken out again: the dump shows another byte
# before the one that would have come next. Seen once in some forty boots.
is_stale_int3() {
	grep -q 'Oops: int3' "$out/console" &&
		! grep 'Code: ' "$out/console" | head -n 1 | grep -q ' cc <'
}

start=$(date +%s)
boot "$*"
status=$?
if is_stale_int3; then
	echo "boot.sh: $out: QEMU ran code that had been changed; once more" >&2
	mv "$out/console" "$out/console.int3"
	boot "$*"
	status=$?
fi
seconds=$(($(date +%s) - start))
{
	tr -d '\r' <"$out/verdict" 2>/dev/null | grep -v '^end '
	if is_complete; then
		echo "ok boot 0"
	elif [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
		echo "not ok boot 0 hung: no complete verdict after $limit s; see $out/console"
	else
		echo "not ok boot 0 no complete verdict, QEMU's exit status $status; see $out/console"
	fi
	complaint=$(complaints | head -n 1)
	if [ -n "$complaint" ]; then
		echo "not ok log 0 the kernel said: $complaint"
	else
		echo "ok log 0"
	fi
	echo "ok time $((seconds * 1000))"
} >"$out/checks"
! grep -q '^not ok ' "$out/checks"
