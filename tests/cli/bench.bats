# SPDX-License-Identifier: GPL-2.0-only
# clearpages bench without huge pages, without root, on small memory: every
# misuse, and what is printed. tests/live has what needs more.
load helper

setup() {
	out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
	# The least that is a measurement.
	brief=(-p 4K -l 2 --min-time 1)
}

# misuse CODE WORD ARG...: that exit code, nothing on stdout, and one line on
# stderr that has the word.
misuse() {
	local code=$1 word=$2
	shift 2
	run --separate-stderr timeout 60 "$CLEARPAGES" bench "$@"
	if [ "$status" -ne "$code" ] || [ "$output" ] || [ "${#stderr_lines[@]}" -ne 1 ] ||
		[[ $stderr != "clearpages: "*"$word"* ]]; then
		echo "bench $*: exit code $status, expected $code"
		echo "stdout: $output"
		echo "stderr: $stderr"
		echo "expected one line: clearpages: ...$word..."
		return 1
	fi
}

# measures ARG...: exit 0, nothing on stderr, stdout in $out with no number
# that is none.
measures() {
	timeout 120 "$CLEARPAGES" bench "$@" >"$out" 2>"$err" || {
		echo "bench $*: exit code $?"
		cat "$err"
		return 1
	}
	[ ! -s "$err" ] || { cat "$err"; return 1; }
	[ -s "$out" ]
	if grep -n -i -w -E -e '-?(nan|inf|infinity)' "$out"; then
		return 1
	fi
}

# holds FILTER: what jq says of $out is true. With 1.6 an unknown field is null,
# and null is false.
holds() {
	jq -e "$1" "$out" >/dev/null || {
		echo "does not hold: $1"
		jq -c '.runs' "$out"
		return 1
	}
}

needs_jq() {
	command -v jq >/dev/null || skip "jq is not installed"
}

# The first cpu that this process may use.
first_cpu() { awk '/^Cpus_allowed_list:/ { sub(/[-,].*/, "", $2); print $2 }' /proc/self/status; }

# ---- misuse ----------------------------------------------------------------------

@test "bench: sizes that are none" {
	for kind in fault clear; do
		misuse 2 "-s '0'" $kind -s 0
		misuse 2 "-s '-1'" $kind -s -1
		misuse 2 "-s ''" $kind -s ''
		misuse 2 "-s '4X'" $kind -s 4X
		misuse 2 "-s '99999999999999999999G'" $kind -s 99999999999999999999G
		misuse 2 "999T are more than" $kind -s 999T
		misuse 2 "-s: needs a value" $kind -s
	done
}

@test "bench: sizes that are no whole number of pages, and those that would be" {
	misuse 2 "100B" fault -s 100B -p 2M
	misuse 2 "expected 2M" fault -s 100B -p 2M
	misuse 2 "100B" clear -s 100B -p 2M
	for kind in fault clear; do
		misuse 2 "expected 2M or 4M" $kind -s 3M -p 2M
		misuse 2 "expected 4K or 8K" $kind -s 4100 -p 4K
		misuse 2 "1073741825B is no whole number of pages (4K) for each of 1 thread: \
expected 1G or 1073745920B" $kind -s 1073741825 -p 4K
	done
}

# What is advised is whole in pages and in chunks: the test types it.
@test "bench clear: sizes that are no whole number of chunks, and those that would be" {
	misuse 2 "-s: 1M is no whole number of chunks (96B) for each of 1 thread: expected \
1020K or 1056768B" clear -s 1M -k 96 -p 4K
	misuse 2 "-k without -s: the default of 256M is no whole number of chunks (3M) for each of \
1 thread: expected -s 255M or 258M" clear -k 3M -p 4K
	misuse 2 "expected -s 252M or 258M" clear -k 3M
	misuse 2 "chunks (12K) for each of 1 thread: expected 1020K or 1105920B" \
		clear -k 12K,20K -s 1M -p 4K
	misuse 2 "-k: a chunk of 1048577B: expected 64 bytes to 1M, a thread's share of -s" \
		clear -k 1048577 -s 1M -p 4K
	measures clear "${brief[@]}" -k 96 -s 1020K --policy stock
	measures clear "${brief[@]}" -k 12K,20K -s 960K --policy stock
}

@test "bench: pages that are none" {
	for kind in fault clear; do
		misuse 2 "-p '3M'" $kind -p 3M
		misuse 2 "-p ''" $kind -p ''
		misuse 2 "-p '2K'" $kind -p 2K
		misuse 2 "-p '4294971392'" $kind -p 4294971392 # 2^32 + 4096
		misuse 2 "-p '18446744073709555712'" $kind -p 18446744073709555712 # 2^64 + 4096
		misuse 2 "-p: no machine has pages of 32G" $kind -p 32G
		misuse 2 "--thp with -p 4K" $kind --thp -p 4K
	done
	if [ ! -e /sys/kernel/mm/hugepages/hugepages-4194304kB ]; then
		misuse 77 "no huge pages of 4G" fault -p 4G
	fi
}

@test "bench: chunks that are none" {
	misuse 2 "-k: a chunk of 2G" clear -k 2G -s 1G
	misuse 2 "-k '0'" clear -k 0
	misuse 2 "-k ''" clear -k ''
	misuse 2 "-k ''" clear -k 4K,
	misuse 2 "-k: a chunk of 63B" clear -k 63
	misuse 2 "(3M)" clear -k 3M -s 4M -p 4K
	misuse 2 "'-k': unknown option" fault -k 4K
}

@test "bench: counts that are none" {
	for kind in fault clear; do
		misuse 2 "-l '0'" $kind -l 0
		misuse 2 "-l '-1'" $kind -l -1
		misuse 2 "-l 'x'" $kind -l x
		misuse 2 "-t '0'" $kind -t 0
		misuse 2 "-t: 100000 threads" $kind -t 100000
		misuse 2 "-t '4294967297'" $kind -t 4294967297 # 2^32 + 1
		misuse 2 "--min-time '0'" $kind --min-time 0
		misuse 2 "-r '-1'" $kind -r -1
	done
	misuse 2 "-l '0'" -l 0
}

@test "bench: policies and variants that are none" {
	misuse 2 '"nosuch" is not a variant' clear --policy far=nosuch
	misuse 2 'policy "nosuch"' clear --policy nosuch
	misuse 2 'policy ""' clear --policy ''
	misuse 2 'policy ""' clear --policy stock,
	misuse 2 "-f 'nosuch': not a variant" clear -f nosuch
	misuse 2 "-f '': not a variant" clear -f ''
	misuse 2 "not a variant" clear -f stosb,
	misuse 2 "not a variant" clear -f stos
	misuse 2 "--order 'nosuch': expected forward, right-first" clear -f stosb --order nosuch
	misuse 2 "--order '': expected forward" clear -f stosb --order ''
	misuse 2 "--unit '0'" clear -f stosb --unit 0
	misuse 2 "expected -f" clear --order forward
	misuse 2 "expected -f" clear --unit 4K
	misuse 2 "--policy: the kernel's paths have none" fault --policy stock
	misuse 2 "--use write with -f populate-parallel" fault -f populate-parallel --use none,write
}

@test "bench: a variant that this machine lacks: exit 77, and why" {
	local variant
	variant=$("$CLEARPAGES" list variants | awk '/ no: needs / { print $1; exit }')
	[ "$variant" ] || skip "this machine has all variants"
	misuse 77 "\"$variant\" needs" clear --policy "far=$variant"
	misuse 77 "\"$variant\" needs" clear --policy "stock;far=$variant"
	misuse 77 "variant $variant needs" clear -f "stosb,$variant"
}

@test "bench fault: paths that are none, by a letter or by a prefix" {
	for path in demandx dem Demand '' 'demand,' ',demand' 'demand ' kernelx; do
		misuse 2 "expected demand, populate, madvise, touch-threads" fault -f "$path"
		misuse 2 "expected demand, populate, madvise, touch-threads" fault --path "$path"
	done
	misuse 2 "--shared with -f populate" fault --shared -f populate
	misuse 2 "--shared with -f populate" fault --shared -f demand,populate
}

@test "bench: touches that are none" {
	misuse 2 "--touch none" fault --touch none
	for kind in fault clear; do
		misuse 2 "--touch 'nosuch'" $kind --touch nosuch
		misuse 2 "--touch ''" $kind --touch ''
	done
}

@test "bench: cpus and nodes that are none" {
	for kind in '' fault clear; do
		misuse 2 "--cpus" $kind --cpus 9999
		misuse 2 "--cpus" $kind --cpus ''
		misuse 2 "--cpus" $kind --cpus x
		misuse 2 "--node" $kind --node 99
		misuse 2 "--node" $kind --node ''
	done
	misuse 2 "-t: 2 threads on 1 cpu" fault --cpus "$(first_cpu)" -t 2
}

@test "bench: trailing words, wrong words, wrong options" {
	misuse 2 "'trailing' is one word too many" fault trailing words
	misuse 2 "'trailing' is one word too many" clear -s 2M trailing
	misuse 2 "'clear' is one word too many" fault clear
	misuse 2 "'nosuch' is one word too many" nosuch
	misuse 2 "'faul' is one word too many" faul
	misuse 2 "'-s': unknown option" -s 2M
	for kind in '' fault clear; do
		misuse 2 "'--nosuch': unknown option" $kind --nosuch
		misuse 2 "'-x': unknown option" $kind -x
		misuse 2 "--json: takes no value" $kind --json=yes
	done
}

# A kernel without huge pages is made of an empty folder over /sys/kernel/mm, in
# namespaces of its own; also of pools that are empty, with no transparent pages.
@test "bench: a kernel that has none of the page sizes: exit 77, no numbers" {
	local hide="mount -t tmpfs none /sys/kernel/mm" pools=/sys/kernel/mm/hugepages code=0
	unshare -rm sh -c "$hide" || skip "no user namespaces, or no mounts in them"
	unshare -rm sh -c "$hide && exec \"\$CLEARPAGES\" bench --json" >"$out" 2>"$err" || code=$?
	cat "$err"
	[ "$code" -eq 77 ]
	[ ! -s "$out" ]
	[ "$(tail -n 1 "$err")" = "clearpages: nothing could be measured: this kernel has huge \
pages neither of 2M nor of 1G" ]
	code=0
	unshare -rm sh -c "$hide && mkdir -p $pools/hugepages-2048kB &&
		cd $pools/hugepages-2048kB && echo 0 | tee nr_hugepages >free_hugepages &&
		exec \"\$CLEARPAGES\" bench --no-reserve --json" >"$out" 2>"$err" || code=$?
	cat "$err"
	[ "$code" -eq 1 ]
	[ ! -s "$out" ]
	[ "$(tail -n 1 "$err")" = "clearpages: nothing could be measured" ]
}

# ---- what is printed ---------------------------------------------------------------

@test "bench: help" {
	for kind in '' fault clear; do
		measures $kind --help
		grep -q '^Usage: clearpages bench' "$out"
		cp "$out" "$out.long"
		measures $kind -h
		diff "$out" "$out.long"
	done
	"$CLEARPAGES" help bench | diff - <("$CLEARPAGES" bench --help)
}

@test "bench fault: a table" {
	measures fault "${brief[@]}" -s 8M -f demand,populate,madvise
	cat "$out"
	grep -q '^8M in small pages of 4K, 1 thread, touch: first; times are of a page$' "$out"
	for path in demand populate madvise; do
		grep -q -E "^$path +[0-9]+\.[0-9]+ " "$out"
	done
	grep -q -E '^cpu [0-9]+; 6 samples of at least 1 ms, seed 1; ' "$out"
}

@test "bench clear: a table" {
	measures clear "${brief[@]}" -s 8M -k 4K,64K,1M
	cat "$out"
	for chunk in 4K 64K 1M; do
		for policy in stock ranges stream auto; do
			grep -q -E "^ *$chunk $policy +[0-9]+\.[0-9]+ " "$out"
		done
	done
	[ "$(grep -c -E '^ +[0-9]+[KM] ' "$out")" -eq 12 ]
	grep -q -E '^cpu [0-9]+; 24 samples of at least 1 ms, seed 1; ' "$out"
}

@test "bench: five samples give no interval, six do" {
	measures clear -p 4K -s 1M --policy stock,ranges -l 5 --min-time 1
	grep -q -E '^ +4K ranges .* needs -l 6$' "$out"
	measures clear -p 4K -s 1M --policy stock,ranges -l 6 --min-time 1
	cat "$out"
	grep -q -E '^ +4K ranges .* ([0-9.]+ to [0-9.]+|no difference)$' "$out"
}

@test "bench: a list of policies with changes to some" {
	measures clear "${brief[@]}" -s 1M --json \
		--policy 'stock,ranges,batch=8M,auto;far=mov,near=mov'
	needs_jq
	holds '[.runs[0].results[].policy] ==
		["stock", "ranges,batch=8M", "auto", "far=mov,near=mov"]'
	holds '.runs[0].results[1].policy_in_full | test("batch=8M") and test("order=right-first")'
	holds '.runs[0].results[3].policy_in_full | test("far=mov,near=mov")'
}

@test "bench clear: the matrix of variant, order and unit" {
	measures clear "${brief[@]}" -s 1M -k 64K -f stosb,mov --order forward,reverse --unit 4K,64K
	cat "$out"
	[ "$(grep -c -E '^ +64K ' "$out")" -eq 8 ]
	measures clear "${brief[@]}" -s 1M -k 64K -f stosb,mov --order forward,reverse \
		--unit 4K,64K --json
	needs_jq
	holds '[.runs[0].results[].policy_in_full | capture("far=(?<f>[a-z]+),near=(?<n>[a-z]+)" +
			".*unit=(?<u>[0-9]+K),order=(?<o>[a-z]+)") | .f + .n + .u + .o] | sort ==
		(["stosb", "mov"] | map(. + . + ("4K", "64K") + ("forward", "reverse")) | sort)'
}

# ---- JSON ----------------------------------------------------------------------------

@test "bench --json: what a number has to travel with" {
	needs_jq
	measures clear -p 4K -s 1M -k 4K,64K --policy stock,auto -l 6 --min-time 1 -r 7 --json
	holds '.command == "bench clear" and (.version | type == "string")'
	holds '.host | .processor.vendor != null and .memory_bytes > 0 and (.kernel | length > 0) and
		(.policy | length > 0) and has("caches") and has("preemption") and has("thp") and
		has("init_on_alloc") and has("governor") and has("hypervisor") and
		(.processor | has("microcode"))'
	holds ".runs[0].measurement | .seed == 7 and .cpus == [$(first_cpu)] and .rounds == 6 and
		.min_sample_ns == 1000000 and .samples_kept == 24 and (.samples_kept_noisy | type == \"number\")
		and (.rejected_for | length == 3)"
	holds '.runs[0] | .page_bytes == 4096 and .size_bytes == 1048576 and .threads == 1 and
		(.transparent | not)'
	holds '[.runs[0].results[] | [.policy, .chunk_bytes]] ==
		[["stock", 4096], ["auto", 4096], ["stock", 65536], ["auto", 65536]]'
}

@test "bench --json: units in the keys" {
	needs_jq
	measures clear -p 4K -s 1M --policy stock,auto -l 6 --min-time 1 --json
	# The last key on the way to each number; what is not a count has its unit,
	# or stands in bytes_per_second or ratio_to_first.
	jq -r '[paths(type == "number") | map(strings) | .[-2:] | join(".")] | unique | .[]' "$out" |
		grep -v -E -e '(^|_|\.)(bytes|ns|percent)$' \
			-e '^bytes_per_second\.(median|mean|min|max)$' \
			-e '^ratio_to_first\.(median|low_95|high_95)$' \
			-e '\.(cycles|loops|tries_rejected|rounds|seed|samples_kept|samples_kept_noisy)$' \
			-e '\.(threads|nodes|cpus|shared_cpus|level|family|model|stepping)$' \
			-e '^rejected_for\.' -e '\.hugetlb_page_bytes$' -e '\.thp_page_bytes$' \
			>"$BATS_TEST_TMPDIR/bare" || true
	if [ -s "$BATS_TEST_TMPDIR/bare" ]; then
		cat "$BATS_TEST_TMPDIR/bare"
		return 1
	fi
}

# What the report says of its samples, worked out again from the raw ones.
@test "bench --json: the samples give the medians, the ratios and the intervals" {
	needs_jq
	local stats='
		def near($b): . as $a | (($a - $b) | fabs) <= 1e-6 * (($b | fabs) + 1e-6);
		def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
		def mean: add / length;
		def rates: [.samples[] | .bytes * 1e9 / .ns];'
	for loops in 6 7 10; do
		# A 95 % interval: the extremes of 6 and 7, the second ones of 10.
		local cut=$((loops >= 9))
		measures fault -p 4K -s 1M -f demand,madvise -l "$loops" --min-time 1 --json
		for kind in fault clear; do
			if [ $kind = clear ]; then
				measures clear -p 4K -s 1M --policy stock,ranges -l "$loops" --min-time 1 \
					--json
			fi
			holds "[.runs[0].results[].samples | length] | unique == [$loops]"
			holds '[.runs[0].results[].samples[] | .bytes >= 1048576 and
				.bytes == .loops * 1048576 and .ns >= 1000000 and
				(.tries_rejected | . >= 0 and . <= 2)] | all'
			holds "$stats"' [.runs[0].results[] | rates as $r | .bytes_per_second |
				(.median | near($r | median)) and (.mean | near($r | mean)) and
				(.min | near($r | min)) and (.max | near($r | max)) and
				(.stddev_percent | near(($r | mean) as $m |
					[$r[] | (. - $m) * (. - $m)] | add / (length - 1) | sqrt |
					. * 100 / $m))] | all'
			holds "$stats"' .runs[0] | (.results[0] | rates) as $base |
				(.results[0] | has("ratio_to_first") | not) and
				([.results[1] | rates, $base] | transpose | map(.[0] / .[1])) as $q |
				.results[1].ratio_to_first | (.median | near($q | median)) and
				(.low_95 | near($q | sort | .['$cut'])) and
				(.high_95 | near($q | sort | .[-1 - '$cut']))'
		done
	done
}

@test "bench --json: five samples have a ratio and no interval; one is enough to print" {
	needs_jq
	measures clear -p 4K -s 1M --policy stock,ranges -l 5 --min-time 1 --json
	holds '.runs[0].results[1].ratio_to_first | .median > 0 and (has("low_95") | not)'
	measures clear -p 4K -s 1M --policy stock,ranges -l 1 --min-time 1 --json
	holds '[.runs[0].results[].bytes_per_second | .stddev_percent == 0 and .median > 0] | all'
}

# ---- where it runs, what it touches ---------------------------------------------------

@test "bench: touches, seeds, a cpu and a node by name" {
	local cpu
	cpu=$(first_cpu)
	for touch in first middle last random; do
		measures fault "${brief[@]}" -s 1M --touch $touch --cpus "$cpu"
		grep -q ", touch: $touch; " "$out"
		grep -q "^cpu $cpu; " "$out"
		measures clear "${brief[@]}" -s 1M -k 4K,64K --touch $touch --policy stock,ranges
		grep -q "touch: $touch;" "$out"
	done
	for walk in reverse random; do
		measures fault "${brief[@]}" -s 1M --walk $walk --use write
		grep -q ", touch: first, walk: $walk; " "$out"
	done
	misuse 2 "--walk 'sideways'" fault --walk sideways
	misuse 2 '--walk' clear --walk random
	measures clear "${brief[@]}" -s 1M --touch none
	measures fault "${brief[@]}" -s 1M -r 42
	grep -q ', touch: random; ' "$out"
	grep -q ', seed 42; ' "$out"
	[ -d /sys/devices/system/node/node0 ] || skip "this kernel knows no nodes"
	measures fault "${brief[@]}" -s 1M --node 0
}

@test "bench: two threads" {
	[ "$(nproc)" -ge 2 ] || skip "one cpu only"
	measures fault "${brief[@]}" -s 2M -t 2
	grep -q ' 2 threads with a mapping each' "$out"
	grep -q -E '^cpus [0-9]+,[0-9]+ \([0-9]+ to [0-9]+ ns apart' "$out"
	measures fault "${brief[@]}" -s 2M -t 2 --shared -f demand,madvise
	grep -q ' 2 threads on one mapping' "$out"
	misuse 2 "for each of 2 threads: expected 8K" fault -p 4K -s 4K -t 2
	needs_jq
	measures clear "${brief[@]}" -s 2M -t 2 --json
	holds '.runs[0] | .threads == 2 and (.measurement.cpus | unique | length == 2) and
		([.results[].samples[].distance_ns > 0] | all)'
}

# ---- the end of stdout -----------------------------------------------------------------

@test "bench: stdout full or closed: exit 1, one line" {
	for args in "fault -s 1M" "clear -s 1M" "fault -s 1M --json" "clear -s 1M --json"; do
		run --separate-stderr bash -c \
			"\"\$CLEARPAGES\" bench $args -p 4K -l 2 --min-time 1 >/dev/full"
		says 1 "standard output: No space left on device: the output is incomplete"
		run --separate-stderr bash -c \
			"\"\$CLEARPAGES\" bench $args -p 4K -l 2 --min-time 1 >&-"
		says 1 "standard output: Bad file descriptor: the output is incomplete"
	done
}
