# SPDX-License-Identifier: GPL-2.0-only
# clearpages list on dumps that are none: it ends, in good time, with text that
# a terminal and a JSON reader can take.
load helper

# The files that the command reads.
files=(
	proc/cpuinfo proc/meminfo proc/version proc/cmdline proc/sys/kernel/osrelease
	sys/devices/system/cpu/online
	sys/devices/system/cpu/cpu0/cache/index0/{level,type,size,shared_cpu_list}
	sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
	sys/devices/system/node/{online,has_memory,has_cpu}
	sys/kernel/mm/hugepages/hugepages-2048kB/{nr,free,resv,surplus}_hugepages
	sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages
	sys/kernel/mm/transparent_hugepage/{enabled,hpage_pmd_size}
	sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled
	sys/kernel/debug/sched/preempt sys/hypervisor/type
	sys/class/dmi/id/{sys_vendor,product_name}
)

# each COMMAND...: run it with every file's name below a new root.
each() {
	root=$BATS_TEST_TMPDIR/root
	rm -rf "$root"
	for file in "${files[@]}"; do
		mkdir -p "$root/$(dirname "$file")"
		"$@" "$root/$file"
	done
}

survives() {
	local out=$BATS_TEST_TMPDIR/out
	timeout 20 "$CLEARPAGES" list --sysroot "$root" >"$out"
	clean "$out"
	timeout 20 "$CLEARPAGES" list --json --sysroot "$root" >"$out"
	clean "$out"
	if grep -n '": -' "$out"; then
		return 1
	fi
	if command -v jq >/dev/null; then
		jq -e .host.init_on_alloc "$out" >/dev/null
	fi
}

# clean FILE: nothing but printable ASCII.
clean() {
	[ -s "$1" ]
	if LC_ALL=C grep -n '[^ -~]' "$1"; then
		return 1
	fi
}

empty() { : >"$1"; }
binary() { head -c 100000 /dev/urandom >"$1"; }
zeros() { truncate -s 1T "$1"; }
one_line() { head -c 200000 /dev/zero | tr '\0' x >"$1"; }
large() { echo 99999999999999999999999999 >"$1"; }
negative() { echo -5 >"$1"; }
range() { echo 0-4294967295,7-3,, >"$1"; }
escape() { printf '\e]0;title\a [\e[31m] (\xff\xfe) MemTotal: -1 kB\n' >"$1"; }
fields() {
	printf 'vendor_id\t: \xff\xff\e[2J\nmodel name\t: \e[31m"\\\ncpu family\t: 99999999999\n' >"$1"
	printf 'model\t: -1\nstepping\t: x\nflags\t\t:\n:\n\t:\nmicrocode : %0999d\n' 1 >>"$1"
}
directory() { mkdir "$1"; }
loop() { ln -s "$1" "$1"; }
pipe() { mkfifo "$1"; }

@test "list: every file empty" { each empty; survives; }
@test "list: every file binary" { each binary; survives; }
@test "list: every file 1 TiB of zeros" { each zeros; survives; }
@test "list: every file one long line" { each one_line; survives; }
@test "list: every number too large" { each large; survives; }
@test "list: every number negative" { each negative; survives; }
@test "list: every list without end" { each range; survives; }
@test "list: escape sequences everywhere" { each escape; survives; }
@test "list: processor fields of nonsense" { each fields; survives; }
@test "list: directories in the place of files" { each directory; survives; }
@test "list: links that lead to themselves" { each loop; survives; }
@test "list: pipes that nobody writes to" { each pipe; survives; }

@test "list: kernel releases that lead out of /boot, and configurations of nonsense" {
	for release in ../../etc/passwd a/b %s%n ''; do
		each empty
		echo "$release" >"$root/proc/sys/kernel/osrelease"
		survives
	done
	for make in empty binary zeros one_line directory loop pipe; do
		each empty
		echo 6.1.0 >"$root/proc/sys/kernel/osrelease"
		mkdir "$root/boot"
		$make "$root/boot/config-6.1.0"
		survives
	done
}
