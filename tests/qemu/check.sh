#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Boots the kernels of the matrix with the module, and prints a table:
#
#	check.sh full|short [KERNEL...]		those named; else all of kernels.tsv, in the
#						short form 6.1 and the newest, whose
#						functions have different signatures
#
# The short form fails unless each signature was replaced in one of its kernels: a
# kernel that the network keeps away must not pass for one that was tested.
#
# A cell is the seconds that a check took, FAIL or skip; under the table each failure
# and each skip has its reason. The last line is "N passed, N failed, N skipped".
# JOBS: kernels at a time, default 1. STRESS: seconds of each stress. RELOADS:
# times of loading and unloading, for these two. SEED: of all random numbers. build/qemu/guest
# and insns.so have to be there; test_live_nodes, if it is, runs in the newest.
set -u
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
dir=${QEMU_DIR:-$here/../../build/qemu}
form=$1
shift
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

signatures=
all=$("$here/fetch.sh" list) || exit 1
oldest=6.1
newest=$(echo "$all" | tail -n 1)
# shellcheck disable=SC2086 # names are words
if [ $# -eq 0 ] && [ "$form" = short ]; then
	set -- "$oldest" "$newest"
	signatures='clear_huge_page folio_zero_user'
elif [ $# -eq 0 ]; then
	set -- $all
fi
for kernel in "$@"; do
	echo "$all" | grep -qxF "$kernel" && continue
	echo "check.sh: no kernel '$kernel'; there are:" "$(echo "$all" | tr '\n' ' ')" >&2
	exit 2
done

"$here/root.sh" || exit 1
start=$(date +%s)
for kernel in "$@"; do
	rm -rf "$dir/results/$kernel"
done
# Loading takes seconds under TCG: as often as asked for on the oldest and the
# newest, a quarter of that on those between.
for kernel in "$@"; do
	reloads=${RELOADS:-20}
	case $kernel in
	"$oldest" | "$newest") ;;
	*) reloads=$(((reloads + 3) / 4)) ;;
	esac
	echo "$kernel $reloads"
done | xargs -P "${JOBS:-1}" -n 2 "$here/kernel.sh" "$form"

# One line a result: kernel, boot, check, result, milliseconds, why.
: >"$tmp/read"
for kernel in "$@"; do
	# In this order; whatever else there is (a model nobody thought of) after it.
	for boot in prepare whole bare freed none voluntary lazy full erms leak self-test insns nodes \
		$(ls "$dir/results/$kernel"); do
		file=$dir/results/$kernel/$boot/checks
		[ -f "$file" ] || continue
		grep -qxF "$kernel $boot" "$tmp/read" && continue
		echo "$kernel $boot" >>"$tmp/read"
		sed "s/^not ok/FAIL/; s/^/$kernel $boot /" "$file"
	done
	[ -f "$dir/results/$kernel/finished" ] ||
		echo "$kernel prepare FAIL finished 0 kernel.sh did not get to its end"
done >"$tmp/all"
for signature in $signatures; do
	ran=no
	for kernel in "$@"; do
		results=$dir/results/$kernel/whole
		grep -q '^ok load ' "$results/checks" 2>/dev/null &&
			grep -q "clearpages: $signature() replaced" "$results/console" && ran=yes
	done
	[ "$ran" = yes ] || echo "$oldest+$newest prepare FAIL signatures 0" \
		"$signature() was replaced in no kernel: a short run is one of both signatures"
done >>"$tmp/all"

awk -v kernels="$*" '
	BEGIN { n = split(kernels, kernel, " ") }
	$3 == "insns" && NF == 5 { counted[$1] = $4 " without, " $5 " with"; next }
	{
		row = $2 " " $4
		if ($4 == "time") { time[$1] += $5; next }
		if (!(row in seen)) { seen[row] = 1; rows[++count] = row }
		cell[row, $1] = $3 == "ok" ? sprintf("%.1f", $5 / 1000) : $3
		total[$3]++
		if ($3 == "ok") next
		why = ""
		for (i = 6; i <= NF; i++) why = why " " $i
		reason = $3 " " row ":" why
		if (!(reason in who)) reasons[++r] = reason
		who[reason] = who[reason] " " $1
	}
	function line(what, i) { printf "%-27s", what }
	END {
		line("boot, check")
		for (i = 1; i <= n; i++) printf " %8s", kernel[i]
		print ""
		for (c = 1; c <= count; c++) {
			line(rows[c])
			for (i = 1; i <= n; i++)
				printf " %8s", (rows[c], kernel[i]) in cell ? cell[rows[c], kernel[i]] : "-"
			print ""
		}
		line("seconds in QEMU")
		for (i = 1; i <= n; i++) printf " %8d", time[kernel[i]] / 1000
		print "\n"
		for (i = 1; i <= n; i++)
			if (kernel[i] in counted)
				printf "kernel instructions in a fault of 2 MiB hugetlb, %s: %s the module\n",
					kernel[i], counted[kernel[i]]
		for (c = 1; c <= r; c++) print reasons[c] " [" substr(who[reasons[c]], 2) "]"
		printf "%d passed, %d failed, %d skipped\n", total["ok"], total["FAIL"], total["skip"]
		exit total["FAIL"] || !total["ok"]
	}' "$tmp/all"
status=$?
echo "took $(($(date +%s) - start)) s" >&2
exit "$status"
