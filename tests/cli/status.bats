# SPDX-License-Identifier: GPL-2.0-only
# clearpages status on dumps of kernels with and without the module: roots/README
# says what they are.
load helper

kernels=(debian-6.1 debian-6.12-module debian-6.12-stuck debian-7.3)

# A dump to change.
setup() {
	root=$BATS_TEST_TMPDIR/root
}

from() {
	rm -rf "$root"
	cp -r "$CLI/roots/$1" "$root"
}

# shows TEXT: what status says of it, with every run of blanks as one.
shows() {
	"$CLEARPAGES" status --sysroot "$root" | tr -s ' \n' ' ' >"$BATS_TEST_TMPDIR/out"
	grep -qF -- "$1" "$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/out"; return 1; }
}

@test "status: every kernel" {
	for k in "${kernels[@]}"; do
		golden "status-$k.txt" status --sysroot "$CLI/roots/$k"
	done
}

@test "status --json: every kernel" {
	for k in "${kernels[@]}"; do
		golden "status-$k.json" status --json --sysroot="$CLI/roots/$k/"
	done
}

@test "status: an empty directory" {
	mkdir "$root"
	golden status-empty.txt status --sysroot "$root"
	golden status-empty.json status -j --sysroot "$root"
}

@test "status: help" {
	golden help-status.txt status --help
	golden help-status.txt status -h
	golden help-status.txt help status
}

@test "status: this machine, its root by name" {
	"$CLEARPAGES" status >"$BATS_TEST_TMPDIR/a"
	"$CLEARPAGES" status --sysroot // >"$BATS_TEST_TMPDIR/b"
	grep -q '^Kernel: *'"$(uname -r)"'$' "$BATS_TEST_TMPDIR/a"
	# Pools may change meanwhile.
	diff <(grep -v '^ *[0-9]' "$BATS_TEST_TMPDIR/a") <(grep -v '^ *[0-9]' "$BATS_TEST_TMPDIR/b")
}

@test "status: the function and the way, by release" {
	from debian-6.1
	while read -r release words; do
		echo "$release" >"$root/proc/sys/kernel/osrelease"
		shows "By itself: $words"
	done <<-'END'
		5.10.0-46-amd64 clear_huge_page(), 4 KiB at a time
		6.10.14 clear_huge_page(), 4 KiB at a time
		6.11.0 folio_zero_user(), 4 KiB at a time
		6.19.14+deb13-amd64 folio_zero_user(), 4 KiB at a time
		7.0.0 folio_zero_user(), whole ranges
		10.2 folio_zero_user(), whole ranges
		unknown not known: no release
		6 not known: no release
	END
}

@test "status: who zeroes THP, by release and init_on_alloc" {
	from debian-6.1
	rm -r "${root:?}/boot"
	while IFS='|' read -r release option words; do
		echo "$release" >"$root/proc/sys/kernel/osrelease"
		echo "$option" >"$root/proc/cmdline"
		shows "THP: always; $words"
	done <<-'END'
		6.1.0|init_on_alloc=1|zeroed twice, by the allocator
		6.12.9|init_on_alloc=1|zeroed twice, by the allocator
		6.13.0|init_on_alloc=1|zeroed by the allocator only
		7.3.4|init_on_alloc=1|zeroed by the allocator only
		6.1.0|init_on_alloc=0|zeroed at the fault, as
		7.3.4|init_on_alloc=off|zeroed at the fault, as
		6.12.9|quiet|zeroed at the fault, and twice if
		6.18.1|quiet|zeroed at the fault, or by the allocator only if
	END
	echo 'always madvise [never]' >"$root/sys/kernel/mm/transparent_hugepage/enabled"
	shows "THP: never; none are given"
}

@test "status: what would help, by release and init_on_alloc" {
	from debian-6.1
	while IFS='|' read -r release source option words; do
		echo "$release" >"$root/proc/sys/kernel/osrelease"
		echo "Linux version $release (gcc (Debian 12.2.0-14)) #1 SMP $source (2026-11-02)" \
			>"$root/proc/version"
		echo "$option" >"$root/proc/cmdline"
		shows " module $words"
		if [[ $words == *"not THP"* ]]; then
			shows " init_on_alloc=0 as a boot option it brings THP to the fault"
		else
			run ! shows " init_on_alloc=0 as"
		fi
		run ! shows " skip_zeroed=Y"
	done <<-'END'
		5.10.0|Debian 5.10.262-1|init_on_alloc=1|whole extents, streaming where that is faster, and THP zeroed once
		6.12.1|Debian 6.12.1-1|init_on_alloc=0|whole extents, and streaming where that is faster: 'clearpages
		6.18.1|Debian 6.18.1-1|init_on_alloc=1|hugetlb pages in whole extents, streaming where that is faster; not THP
		7.3.4|Debian 7.3.4-1|init_on_alloc=1|hugetlb pages by streaming, where that is clearly faster than the cache, which 'clearpages bench' shows; not THP
	END
}

@test "status: where the module does not leave out the second zeroing by itself" {
	from debian-6.1
	echo init_on_alloc=1 >"$root/proc/cmdline"
	rm "$root/proc/version"
	shows " module whole extents, and streaming where that is faster: 'clearpages"
	shows " skip_zeroed=Y as a parameter of the module, so that THP are zeroed once"
	while IFS='|' read -r release source; do
		echo "$release" >"$root/proc/sys/kernel/osrelease"
		echo "Linux version $release (gcc (Debian 12.2.0-14)) #1 SMP $source (2026-11-02)" \
			>"$root/proc/version"
		shows " module whole extents, and streaming where that is faster: 'clearpages"
		shows " skip_zeroed=Y as a parameter of the module"
	done <<-'END'
		6.1.0-58-amd64|Debian 6.1.193-1
		6.12.117|PREEMPT_DYNAMIC
		6.6.30|Debian 6.6.30-1
		6.11.0-8-generic|Ubuntu
	END
}

@test "status: the module in a kernel that was not read for it" {
	local state="$root/sys/kernel/debug/clearpages/state"
	from debian-6.12-module
	echo "Linux version 6.12.118 (x) #1 SMP Debian 6.12.118-1 (2026-12-12)" >"$root/proc/version"
	run ! shows " skip_zeroed=Y"
	sed -i 's/^skip_zeroed .*/skip_zeroed yes, by skip_zeroed; this kernel was not read for it/' "$state"
	shows "the module leaves out the second time"
	shows "Left alone: pages that the allocator has zeroed: yes, by skip_zeroed; this kernel"
	echo N >"$root/sys/module/clearpages/parameters/skip_zeroed"
	sed -i 's/^skip_zeroed .*/skip_zeroed no, this kernel was not read for it/' "$state"
	shows "THP: always; zeroed twice"
	shows " skip_zeroed=Y as a parameter of the module"
}

@test "status: nothing would help where there are no huge pages" {
	from debian-7.3
	echo 'always madvise [never]' >"$root/sys/kernel/mm/transparent_hugepage/enabled"
	shows " module "
	echo 0 >"$root/sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages"
	shows " nothing no program gets a huge page here"
	run ! shows " module streaming"
	run ! shows " a pool "
}

@test "status: why the module cannot be loaded" {
	from debian-6.1
	echo 1 >"$root/proc/sys/kernel/modules_disabled"
	shows " module sysctl kernel.modules_disabled is 1"
	echo 0 >"$root/proc/sys/kernel/ftrace_enabled"
	shows " module ftrace is off"
	rm -r "$root/sys/kernel/livepatch"
	shows " module there is no /sys/kernel/livepatch"
}

@test "status: the module loaded, but switched off; on its way in" {
	from debian-6.12-module
	echo 1 >"$root/sys/kernel/livepatch/clearpages/transition"
	shows "neither in nor out of force Transition: on its way in, held up by no task that /proc shows"
	rm -r "$root/sys/kernel/livepatch/clearpages"
	shows "Module: clearpages 0.1.0, loaded, but switched off"
	shows " module it is switched off: 'clearpages module unload'"
}

@test "status: what the rate is of, by preemption" {
	from debian-6.12-module
	shows "GiB/s while at it"
	sed -i 's/^preemptible no/preemptible yes/' "$root/sys/kernel/debug/clearpages/state"
	shows "GiB/s by the clock, preemption included"
}

@test "status: statistics that root alone can read" {
	[ "$(id -u)" -ne 0 ] || skip "root reads all"
	from debian-6.12-module
	chmod 0 "$root/sys/kernel/debug/clearpages"
	shows "Statistics: only root can read /sys/kernel/debug/clearpages"
	chmod 700 "$root/sys/kernel/debug/clearpages"
}

@test "status: statistics of nonsense" {
	from debian-6.12-module
	for text in '' 'folios' 'folios -1' 'folios_ 1' 'took_us 5' \
		'took_5us 5' 'took__5us 5' 'took_2M_us 5' 'took_x_5us 5' 'took_2M_-1us 5' 'node_folios 1' 'folios_2M' \
		'far_calls_ 7' $'folios 1\nbytes 0\nns 0' $'far_calls_\e[31m 3' \
		$'folios 99999999999999999999\nbytes 99999999999999999999\nns 1'; do
		printf '%s\n' "$text" | tee "$root/sys/kernel/debug/clearpages/stats" \
			>"$root/sys/kernel/debug/clearpages/state"
		"$CLEARPAGES" status --sysroot "$root" >"$BATS_TEST_TMPDIR/out"
		"$CLEARPAGES" status --json --sysroot "$root" >>"$BATS_TEST_TMPDIR/out"
		run ! grep -n $'[^ -~]\|: -\|inf\b\|nan' "$BATS_TEST_TMPDIR/out"
	done
}

@test "status: files of the module that are none" {
	local files=(
		proc/1/task/1/{comm,patch_state} sys/module/clearpages/{initstate,version}
		sys/module/clearpages/parameters/{policy,budget_us,skip_zeroed}
		sys/kernel/livepatch/clearpages/{enabled,transition}
		sys/kernel/debug/clearpages/{state,stats} sys/devices/system/node/online
	)
	for make in "head -c 100000 /dev/urandom >" "truncate -s 1T" "mkdir" "mkfifo" "ln -s ." \
		"printf 'node\\e]0;x\\a_folios 1\n%070000d' 1 >"; do
		from debian-6.12-module
		mkdir -p "$root/proc/1/task/1"
		for file in "${files[@]}"; do
			rm -f "$root/$file"
			# Stays in a transition, so that the tasks are looked at.
			[[ $make != mk* || $file != *transition ]] || { echo 1 >"$root/$file"; continue; }
			bash -c "$make '$root/$file'"
		done
		timeout 20 "$CLEARPAGES" status --sysroot "$root" >"$BATS_TEST_TMPDIR/out"
		timeout 20 "$CLEARPAGES" status --json --sysroot "$root" >>"$BATS_TEST_TMPDIR/out"
		run ! grep -n '[^ -~]' "$BATS_TEST_TMPDIR/out"
	done
}

@test "status: misuse" {
	refuses 2 "status: 'module': expected nothing more" status module
	refuses 2 "'--nosuch': unknown option, see 'clearpages status --help'" status --nosuch
	refuses 2 "--json: takes no value, see 'clearpages status --help'" status --json=yes
	refuses 2 "--sysroot: needs a value, see 'clearpages status --help'" status --sysroot
	refuses 2 "--sysroot '/nonexistent': No such file or directory, expected a directory" \
		status --sysroot /nonexistent
	refuses 2 "--sysroot '/dev/null': not a directory" status --sysroot /dev/null
}
