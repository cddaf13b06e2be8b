# SPDX-License-Identifier: GPL-2.0-only
# What the command's tests share. $CLEARPAGES is the command under test.
# GOLDEN_UPDATE=1 writes the golden files anew: look at the difference then.
bats_require_minimum_version 1.5.0

CLI=$BATS_TEST_DIRNAME
CLEARPAGES=$(realpath "${CLEARPAGES:-$CLI/../../build/clearpages}")
export CLEARPAGES LC_ALL=C
unset CLEARPAGES_POLICY

# golden FILE ARG...: exit 0, nothing on stderr, and stdout as in golden/FILE.
# The release is left out of the comparison.
golden() {
	local file=$CLI/golden/$1 out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
	shift
	"$CLEARPAGES" "$@" >"$out" 2>"$err"
	[ ! -s "$err" ] || { cat "$err"; return 1; }
	sed -i -e 's/"version": "[^"]*"/"version": "RELEASE"/' "$out"
	if [ "${GOLDEN_UPDATE:-}" ]; then
		cp "$out" "$file"
	fi
	diff -u "$file" "$out"
}

# refuses CODE LINE ARG...: that exit code, nothing on stdout, and on stderr
# one line, "clearpages: LINE".
refuses() {
	local code=$1 line=$2
	shift 2
	run --separate-stderr timeout 60 "$CLEARPAGES" "$@"
	says "$code" "$line"
}

# says CODE LINE: the same for what `run --separate-stderr` has just run.
says() {
	if [ "$status" -ne "$1" ] || [ "$output" ] || [ "$stderr" != "clearpages: $2" ]; then
		echo "exit code $status, expected $1"
		echo "stdout: $output"
		echo "stderr: $stderr"
		echo "expected: clearpages: $2"
		return 1
	fi
}
