# SPDX-License-Identifier: GPL-2.0-only
# clearpages module: what is wrong with its words. Nothing here gets as far as a
# kernel: loading and unloading is tests/unit/test_tool_module.c and tests/qemu.
load helper

parameters="expected policy=, budget_us=, skip_zeroed= or selftest_all="

@test "module: help" {
	golden help-module.txt module --help
	golden help-module.txt module load -h
	golden help-module.txt help module
}

@test "module: no word, and words that it does not know" {
	refuses 2 "module: expected load, unload or policy, see 'clearpages module --help'" module
	refuses 2 "module 'lod': expected load, unload or policy" module lod
	refuses 2 "module '': expected load, unload or policy" module ''
}

@test "module: options" {
	refuses 2 "'--nosuch': unknown option, see 'clearpages module --help'" module --nosuch
	refuses 2 "'-t': unknown option, see 'clearpages module --help'" module unload -t 5
	refuses 2 "--timeout: needs a value, see 'clearpages module --help'" module load --timeout
	for value in 0 -1 '' 3601 1.5 30s; do
		refuses 2 "--timeout '$value': expected a whole number from 1 to 3600" \
			module unload --timeout "$value"
	done
}

@test "module load: parameters that there are not, and values that the kernel would split" {
	refuses 2 "module load 'polic=auto': no such parameter, $parameters" module load polic=auto
	refuses 2 "module load 'x=1': no such parameter, $parameters" module load a.ko x=1
	for value in 'policy=' 'policy=a b' 'policy="auto"' "budget_us='1'"; do
		refuses 2 "module load '$value': expected a value without blanks or quotes" \
			module load "$value"
	done
	refuses 2 "module load 'b.ko': one file only, and NAME=VALUE" module load a.ko policy=auto b.ko
}

@test "module unload and policy: too many words, or an empty one" {
	refuses 2 "module unload 'clearpages': expected nothing more" module unload clearpages
	refuses 2 "module policy 'batch=8M': one policy only, in one word" \
		module policy ranges batch=8M
	refuses 2 "module policy '': empty, expected a policy such as auto" module policy ''
}
