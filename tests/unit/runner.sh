#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Is every way to fail counted by tests/run.sh? On programs made for it.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
run=$here/../run.sh
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0 bad=0

# A script $1 of the lines on stdin.
program() {
	cat >"$tmp/$1.sh"
}

# Running the scripts $4... gives status $2 and the closing line $3.
gives() { # name, status, closing line, scripts
	count=$((count + 1))
	name=$1 want="$2 $3"
	shift 3
	for script in "$@"; do
		shift
		set -- "$@" "$tmp/$script.sh"
	done
	out=$(TEST_TIMEOUT=1 sh "$run" "$@" 2>&1)
	got="$? $(printf '%s\n' "$out" | tail -n 1)"
	if [ "$got" = "$want" ]; then
		echo "ok $count - $name"
	else
		bad=$((bad + 1))
		printf '%s\n' "wanted $want" "$out" | sed 's/^/# /'
		echo "not ok $count - $name"
	fi
}

# The last output has this line.
shows() { # name, line
	count=$((count + 1))
	if printf '%s\n' "$out" | grep -qxF -e "$2"; then
		echo "ok $count - $1"
	else
		bad=$((bad + 1))
		printf '%s\n' "no line: $2" "$out" | sed 's/^/# /'
		echo "not ok $count - $1"
	fi
}

program good <<'END'
echo "ok 1 - first"; echo "ok 2 - second"; echo 1..2
END
program plan_first <<'END'
echo 1..1; echo "ok 1 first"
END
program skips <<'END'
echo "ok 1 - first # SKIP no such thing"; echo "ok 2 second # skip nor this"; echo 1..2
END
program skips_all <<'END'
echo "1..0 # SKIP not today"
END
program fails <<'END'
echo "# the reason"; echo "not ok 1 - first"; echo "# more"; echo "ok 2 - second"; echo 1..2; exit 1
END
program no_plan <<'END'
echo "ok 1 - first"
END
program short <<'END'
echo "ok 1 - first"; echo 1..2
END
program empty <<'END'
exit 0
END
program none <<'END'
echo 1..0
END
program dies <<'END'
echo "ok 1 - first"; kill -SEGV $$
END
program exits <<'END'
echo "ok 1 - first"; echo 1..1; echo "last words" >&2; exit 3
END
program hangs <<'END'
echo "ok 1 - first"; echo 1..1; exec sleep 60
END
program interrupted <<'END'
trap 'echo "ok 1 - first"; echo 1..1; exit' INT; kill -INT $$
END

gives "all is well" 0 "3 passed, 0 failed, 0 skipped" good plan_first
gives "skips are counted apart" 0 "2 passed, 0 failed, 2 skipped" good skips
shows "a skip is named, with its reason" "skip $tmp/skips.sh: first (no such thing)"
shows "in small letters too" "skip $tmp/skips.sh: second (nor this)"
gives "a file can be skipped" 0 "0 passed, 0 failed, 1 skipped" skips_all
shows "with its reason" "skip $tmp/skips_all.sh: (not today)"
gives "a failure fails" 1 "3 passed, 1 failed, 0 skipped" good fails
shows "it is named" "FAIL $tmp/fails.sh: first"
shows "what was said before is shown" "     # the reason"
shows "what was said after is shown" "     # more"
gives "no plan fails" 1 "1 passed, 1 failed, 0 skipped" no_plan
gives "too few results fail" 1 "1 passed, 1 failed, 0 skipped" short
gives "silence fails" 1 "0 passed, 1 failed, 0 skipped" empty
gives "a plan of nothing fails" 1 "0 passed, 1 failed, 0 skipped" none
gives "a death fails, and so does its missing plan" 1 "1 passed, 2 failed, 0 skipped" dies
shows "by its signal" "FAIL $tmp/dies.sh: died of signal 11"
gives "an exit status fails" 1 "1 passed, 1 failed, 0 skipped" exits
shows "stderr is shown" "     last words"
gives "what hangs is ended" 1 "1 passed, 1 failed, 0 skipped" hangs
gives "a file that is not there fails" 1 "0 passed, 2 failed, 0 skipped" nosuch
gives "nothing to run fails" 1 "0 passed, 0 failed, 0 skipped"
gives "SIGINT reaches tests" 0 "1 passed, 0 failed, 0 skipped" interrupted
echo "1..$count"
[ "$bad" -eq 0 ]
