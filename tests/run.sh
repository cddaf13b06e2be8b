#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs tests that speak TAP and adds them up:
#
#	tests/run.sh FILE...	programs, scripts (*.sh), bats files (*.bats)
#
# Shows every failure with its diagnostics and names every skip with its reason.
# A program that dies, hangs, prints no plan or another number of results than
# planned is a failure too. The last line is "N passed, N failed, N skipped".
# Exit status 1 if anything failed or nothing ran. TEST_TIMEOUT: seconds that one
# file may take, default 600. UNDER: a command and its words that runs the programs.
set -u
limit=${TEST_TIMEOUT:-600}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0 skipped=0

# In the foreground: a background job of a script ignores SIGINT, and with it
# every program that it starts; there are tests that send one.
run() { # file
	case $1 in
	*.bats)
		if ! command -v bats >/dev/null; then
			echo "1..0 # SKIP bats is not installed"
			return 0
		fi
		timeout --foreground -k 5 "$limit" bats --formatter tap "$1"
		;;
	*.sh) timeout --foreground -k 5 "$limit" sh "$1" ;;
	*)
		# shellcheck disable=SC2086 # UNDER is words
		timeout --foreground -k 5 "$limit" ${UNDER-} "$(dirname "$1")/${1##*/}"
		;;
	esac
}

# Reads TAP; for people on stdout, and "passed failed skipped" into the file sums.
report() { # name, exit status
	awk -v prog="$1" -v status="$2" -v limit="$limit" -v sums="$tmp/sums" '
	function fail(what) {
		failed++
		printf "FAIL %s: %s\n%s", prog, what, held
		held = ""
		showing = 1
	}
	function name(line) {
		sub(/^(not )?ok *[0-9]* *(- )?/, "", line)
		return line
	}
	function skip(what,    reason) {
		reason = what
		sub(/^.*# *[Ss][Kk][Ii][Pp][^ ]* */, "", reason)
		sub(/ *# *[Ss][Kk][Ii][Pp].*$/, "", what)
		skipped++
		printf "skip %s: %s(%s)\n", prog, what == "" ? "" : what " ", reason
	}
	/^not ok/ { results++; fail(name($0)); next }
	/^ok/ {
		results++
		held = ""
		showing = 0
		if (tolower($0) ~ /# *skip/) skip(name($0))
		else passed++
		next
	}
	/^1\.\.[0-9]+/ {
		plan = $0
		sub(/^1\.\./, "", plan)
		if (plan ~ /^0.*# *[Ss][Kk][Ii][Pp]/) { skip(plan == "" ? "" : substr(plan, 2)); all = 1 }
		plan += 0
		planned++
		next
	}
	showing { print "     " $0; next }
	{ held = held "     " $0 "\n" }
	END {
		said = failed
		if (status == 124) fail("took more than " limit " s")
		else if (status > 128) fail("died of signal " status - 128)
		else if (status && !said) fail("exit status " status ", though no test failed")
		if (planned != 1) fail("printed " planned + 0 " plans")
		else if (plan != results) fail("planned " plan " and ran " results + 0)
		else if (!plan && !all) fail("ran nothing")
		printf "%s %s: %d passed, %d failed, %d skipped\n", failed ? "not ok" : "ok    ",
			prog, passed, failed, skipped
		print passed + 0, failed + 0, skipped + 0 >sums
	}' <"$tmp/out"
}

for file in "$@"; do
	run "$file" >"$tmp/out" 2>"$tmp/err"
	status=$?
	report "$file" "$status"
	read -r p f s <"$tmp/sums"
	if [ "$f" -ne 0 ] && [ -s "$tmp/err" ]; then
		echo "     stderr of $file, the last lines:"
		tail -n 40 "$tmp/err" | sed 's/^/     /'
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -ne 0 ]
