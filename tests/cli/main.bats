# SPDX-License-Identifier: GPL-2.0-only
# clearpages itself: help, release, misuse, the environment, the end of stdout.
load helper

full="standard output: No space left on device: the output is incomplete"

@test "help: in all its spellings" {
	golden help.txt --help
	golden help.txt -h
	golden help.txt help
}

@test "help: of list" {
	golden help-list.txt list --help
	golden help-list.txt list -h
	golden help-list.txt help list
}

@test "version" {
	[ "$("$CLEARPAGES" --version)" = "clearpages $(cat "$CLI/../../VERSION")" ]
	[ "$("$CLEARPAGES" -V)" = "clearpages $(cat "$CLI/../../VERSION")" ]
}

@test "no command: the usage on stderr, exit 2" {
	run --separate-stderr "$CLEARPAGES"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ "$stderr" = "$(cat "$CLI/golden/help.txt")" ]
}

@test "unknown commands, options and trailing words" {
	refuses 2 "'nosuch': no such command, expected bench, list, module, populate or status, or --help" nosuch
	refuses 2 "'': no such command, expected bench, list, module, populate or status, or --help" ''
	refuses 2 "'lis': no such command, expected bench, list, module, populate or status, or --help" lis
	refuses 2 "'--json': no such option, expected bench, list, module, populate or status, or --help" --json
	refuses 2 "'nosuch': no such command, expected bench, list, module, populate or status, or --help" help nosuch
	refuses 2 "'list': expected nothing after --version" --version list
	refuses 2 "'list': expected nothing after -h" -h list
	refuses 2 "'variants': expected nothing after list" help list variants
}

@test "a policy in the environment that is wrong: exit 2, one line" {
	for policy in nosuch far=nosuch window=1 auto,auto ','; do
		run --separate-stderr env CLEARPAGES_POLICY=$policy "$CLEARPAGES" list
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "clearpages: environment variable CLEARPAGES_POLICY \"$policy\": "* ]]
	done
}

@test "a policy in the environment that this processor lacks: exit 77, one line" {
	"$CLEARPAGES" list variants | grep -q '^avx512 .*no: needs' ||
		skip "this processor has avx512f"
	run --separate-stderr env CLEARPAGES_POLICY=far=avx512 "$CLEARPAGES" list
	[ "$status" -eq 77 ]
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *avx512f* ]]
}

@test "stdout full: exit 1, one line, whatever was to be printed" {
	for args in --help --version list 'list --json' 'list --help' 'list policies'; do
		run --separate-stderr bash -c "\"\$CLEARPAGES\" $args >/dev/full"
		says 1 "$full"
	done
}

@test "stdout closed: exit 1, one line" {
	for args in --help --version list 'list --json' 'list --help'; do
		run --separate-stderr bash -c "\"\$CLEARPAGES\" $args >&-"
		says 1 "standard output: Bad file descriptor: the output is incomplete"
	done
}

@test "stdout closed, but nothing to say there: the code that it would have had" {
	run --separate-stderr bash -c '"$CLEARPAGES" nosuch >&-'
	says 2 "'nosuch': no such command, expected bench, list, module, populate or status, or --help"
}

@test "the reader of stdout gone: exit 1 and one line, not a signal" {
	run --separate-stderr bash -c 'exec 3> >(exec true); wait $!; "$CLEARPAGES" list --json >&3'
	says 1 "standard output: Broken pipe: the output is incomplete"
}

@test "stdin and stderr closed: works as ever" {
	"$CLEARPAGES" list --sysroot "$CLI/roots/amd-milan" <&- 2>&- >"$BATS_TEST_TMPDIR/out"
	diff -u "$CLI/golden/list-amd-milan.txt" "$BATS_TEST_TMPDIR/out"
	run bash -c '"$CLEARPAGES" nosuch 2>&-'
	[ "$status" -eq 2 ]
	[ -z "$output" ]
}
