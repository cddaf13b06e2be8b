# SPDX-License-Identifier: GPL-2.0-only
# clearpages list on dumps of machines: roots/README says what they are.
load helper

machines=(amd-milan amd-zen1-vm intel-skylake-x intel-icelake-x unknown-vm)

@test "list: AMD Milan, two nodes, bare metal" {
	golden list-amd-milan.txt list --sysroot "$CLI/roots/amd-milan"
}

@test "list: AMD Zen 1 as a virtual machine" {
	golden list-amd-zen1-vm.txt list --sysroot "$CLI/roots/amd-zen1-vm"
}

@test "list: Intel Skylake-X, governors differ, options given twice" {
	golden list-intel-skylake-x.txt list --sysroot "$CLI/roots/intel-skylake-x"
}

@test "list: Intel Ice Lake-X in a cloud, a pool in use" {
	golden list-intel-icelake-x.txt list --sysroot "$CLI/roots/intel-icelake-x"
}

@test "list: unknown vendor, no caches, under a hypervisor" {
	golden list-unknown-vm.txt list --sysroot "$CLI/roots/unknown-vm"
}

@test "list: an empty directory" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	golden list-empty.txt list --sysroot "$BATS_TEST_TMPDIR/empty"
}

@test "list --json: every machine" {
	for m in "${machines[@]}"; do
		golden "list-$m.json" list --json --sysroot "$CLI/roots/$m"
	done
	mkdir "$BATS_TEST_TMPDIR/empty"
	golden list-empty.json list -j --sysroot "$BATS_TEST_TMPDIR/empty"
}

@test "list: one part of it" {
	for part in machine variants policies; do
		golden "list-$part.txt" list --sysroot "$CLI/roots/amd-milan" $part
		golden "list-$part.json" list $part --json --sysroot="$CLI/roots/amd-milan/"
	done
}

@test "list: a dump knows nothing of this machine's environment" {
	CLEARPAGES_POLICY=stock golden list-amd-milan.txt list --sysroot "$CLI/roots/amd-milan"
}

@test "list: this machine, its root by name and its environment" {
	CLEARPAGES_POLICY=stock "$CLEARPAGES" list --json machine >"$BATS_TEST_TMPDIR/a"
	CLEARPAGES_POLICY=stock "$CLEARPAGES" list -j --sysroot // machine >"$BATS_TEST_TMPDIR/b"
	grep -q '"policy": ".*order=narrow"' "$BATS_TEST_TMPDIR/a"
	diff "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
}

@test "list: debugfs away, the boot option counts, then the configuration" {
	cp -r "$CLI/roots/amd-milan" "$BATS_TEST_TMPDIR/root"
	cd "$BATS_TEST_TMPDIR/root"
	rm -r sys/kernel/debug
	"$CLEARPAGES" list --sysroot . | grep '^Preemption:  dynamic, booted as full$'
	sed -i 's/preempt=full/preempt=nonsense/' proc/cmdline
	"$CLEARPAGES" list --sysroot . | grep '^Preemption:  dynamic, booted as voluntary$'
	rm -r boot
	"$CLEARPAGES" list --sysroot . |
		grep '^Preemption:  dynamic, current one unknown (needs root and debugfs)$'
	sed -i 's/PREEMPT_DYNAMIC/PREEMPT/' proc/version
	"$CLEARPAGES" list --sysroot . | grep '^Preemption:  full or lazy$'
	sed -i 's/PREEMPT//' proc/version
	"$CLEARPAGES" list --sysroot . | grep '^Preemption:  none or voluntary$'
}

@test "list: misuse" {
	refuses 2 "list 'variant': expected machine, variants or policies" list variant
	refuses 2 "list '': expected machine, variants or policies" list ''
	refuses 2 "list: 'policies': one word only, expected nothing more" list variants policies
}

@test "list: options it does not know, or that lack their value" {
	refuses 2 "'--nosuch': unknown option, see 'clearpages list --help'" list --nosuch
	refuses 2 "'-x': unknown option, see 'clearpages list --help'" list -jx
	refuses 2 "--json: takes no value, see 'clearpages list --help'" list --json=yes
	refuses 2 "--sysroot: needs a value, see 'clearpages list --help'" list --sysroot
}

@test "list: a root that is none" {
	local long
	long=$(printf 'x%.0s' {1..6000})
	refuses 2 "--sysroot '/nonexistent': No such file or directory, expected a directory" \
		list --sysroot /nonexistent
	refuses 2 "--sysroot '': No such file or directory, expected a directory" list --sysroot ''
	refuses 2 "--sysroot '/dev/null': not a directory" list --sysroot /dev/null
	refuses 2 "--sysroot '${long:0:256}': File name too long, expected a directory" \
		list --sysroot "$long"
}

@test "list: a newline or an escape sequence in a word stays on the one line" {
	refuses 2 "list 'a??[31mb': expected machine, variants or policies" \
		list $'a\n\e[31mb'
}
