#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Does `clearpages bench fault` agree with `perf bench mem mmap`? Both in turns,
# one loop over 1 GiB of 2 MB hugetlb pages each time, as root:
#
#	bench/perf-compare.sh [ROUNDS]
#
# perf comes from bench/perf-root.sh. CLEARPAGES names the command (default
# build/clearpages). Prints each pair, then median, least and most of both and
# of the ratio of a pair.
set -eu

cd "$(dirname "$0")/.."
rounds=${1:-15}
clearpages=${CLEARPAGES:-build/clearpages}
pool=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
need=512

die() {
	echo "perf-compare.sh: $*" >&2
	exit 1
}

[ "$(id -u)" -eq 0 ] || die "not root: huge pages are reserved and a root is entered"
command -v jq >/dev/null || die "no jq: apt-get install jq"
case $rounds in
'' | *[!0-9]* | 0) die "'$rounds': expected a number of rounds" ;;
esac
bench/perf-root.sh

before=$(cat $pool)
give_back() { echo "$before" >$pool; }
trap give_back EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
echo $((before + need)) >$pool
[ "$(cat $pool)" -ge $((before + need)) ] || die "no room for $need huge pages of 2M"

perf_rate() {
	bench/perf-root.sh run bench mem mmap -s 1GB -p 2MB -f demand -l 1 |
		awk '$2 == "GB/sec" { print $1 }'
}

our_rate() {
	"$clearpages" bench fault -p 2M -s 1G -l 1 --min-time 1 --json |
		jq -r '.runs[0].results[0].bytes_per_second.median / 1073741824'
}

perf_rate >/dev/null # the first one finds the memory
i=0
while [ $i -lt "$rounds" ]; do
	# Who goes first changes, so that a drift of the machine favours nobody.
	if [ $((i % 2)) -eq 0 ]; then
		perf=$(perf_rate) ours=$(our_rate)
	else
		ours=$(our_rate) perf=$(perf_rate)
	fi
	echo "$perf $ours"
	i=$((i + 1))
done | awk '
	function sorted(a, n,   i, j, t) {
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && a[j - 1] > a[j]; j--) {
				t = a[j]; a[j] = a[j - 1]; a[j - 1] = t
			}
	}
	function line(name, a) {
		sorted(a, n)
		printf "%-22s median %.2f, %.2f to %.2f\n", name,
			n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2, a[1], a[n]
	}
	{ n++; p[n] = $1; c[n] = $2; r[n] = $2 / $1 }
	END {
		line("perf bench, GiB/s", p)
		line("clearpages, GiB/s", c)
		line("ratio of a pair", r)
	}'
