#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Holds the manual to the command and to the library: commands, options, variants,
# policies, paths, functions and the example, both ways. Each comparison is made on
# planted faults first, for a check that cannot fail is none.
# CLEARPAGES, BUILD (default build): the command, and where the library is.
# SC2317: functions that are called by name, through `finds` and `holds`.
# shellcheck disable=SC2317
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${BUILD:-$root/build}
command=${CLEARPAGES:-$build/clearpages}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C
unset CLEARPAGES_POLICY
count=0 failed=0

ok() { # name
	count=$((count + 1))
	echo "ok $count - $1"
}

not_ok() { # name, diagnostics
	count=$((count + 1)) failed=$((failed + 1))
	printf '%s\n' "$2" | sed 's/^/# /'
	echo "not ok $count - $1"
}

skip() { # name, why
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# What a check ($2...) prints is what is wrong.
holds() { # name, check, its arguments
	name=$1
	shift
	found=$("$@" 2>&1)
	if [ -z "$found" ]; then
		ok "$name"
	else
		not_ok "$name" "$found"
	fi
}

# On what was planted for it, a check says just this.
finds() { # name, expected, check, its arguments
	name="planted: $1" expected=$2
	shift 2
	found=$("$@" 2>&1)
	if [ "$found" = "$expected" ]; then
		ok "$name"
	else
		not_ok "$name" "expected: $expected
found: $found"
	fi
}

# Lines that are in one of two lists only: "A: line" or "B: line".
differ() { # A, file, B, file
	sort -u "$2" >"$tmp/left"
	sort -u "$4" >"$tmp/right"
	comm -23 "$tmp/left" "$tmp/right" | sed "s|^|only in $1: |"
	comm -13 "$tmp/left" "$tmp/right" | sed "s|^|only in $3: |"
}

# ---- options -------------------------------------------------------------------

# "-s --size" or "--thp", a line for each option of a usage on stdin.
help_options() {
	sed -n 's/^ *\(-[A-Za-z]\), \(--[a-z-]*\).*/\1 \2/p; s/^ *\(--[a-z-]*\).*/\1/p'
}

# The same of the lists of a page.
page_options() { # page
	sed -n 's/^\.It Fl \([A-Za-z]\) , Fl -\([a-z-]*\).*/-\1 --\2/p
		s/^\.It Fl -\([a-z-]*\).*/--\1/p' "$1"
}

# The options in a command's SYNOPSIS, "-s" or "--thp".
synopsis() { # page, command
	awk -v command=".Cm $2" '
	/^\.Sh/ { here = $2 == "SYNOPSIS" }
	/^\.Nm/ { mine = 0 }
	here && $0 == command { mine = 1 }
	here && mine && $1 == ".Op" && $2 == "Fl" { print "-" $3 }' "$1"
}

# The lists of a page against the usages in files.
listed() { # page, usages
	page_options "$1" >"$tmp/a"
	shift
	cat "$@" | help_options >"$tmp/b"
	differ page "$tmp/a" usage "$tmp/b"
}

# A synopsis leaves out -h and names the short form.
summed_up() { # page, command, usage
	synopsis "$1" "$2" >"$tmp/a"
	help_options <"$3" | sed '/--help$/d; s/ .*//' >"$tmp/b"
	differ synopsis "$tmp/a" usage "$tmp/b"
}

cat >"$tmp/usage" <<'END'
Usage: bench fault [options]

 -s, --size SIZE       bytes (256M), see --thp
     --thp             huge
 -h, --help            this text
END
cat >"$tmp/page" <<'END'
.Sh SYNOPSIS
.Nm clearpages
.Cm bench fault
.Op Fl s Ar size
.Op Fl -thp
.Nm clearpages
.Cm bench clear
.Op Fl k Ar list
.Sh DESCRIPTION
.Op Fl z
.It Fl s , Fl -size Ar size
.It Fl -thp
.It Fl h , Fl -help
END
finds "a sound list of options" "" listed "$tmp/page" "$tmp/usage"
finds "a sound synopsis" "" summed_up "$tmp/page" "bench fault" "$tmp/usage"
sed '/^\.It.*-thp/d; s/^\.It Fl s.*/.It Fl S , Fl -size Ar size/' "$tmp/page" >"$tmp/bad"
finds "options that the page lacks, or has otherwise" "only in page: -S --size
only in usage: --thp
only in usage: -s --size" listed "$tmp/bad" "$tmp/usage"
sed 's/^\.Op Fl s.*/.Op Fl -shared/' "$tmp/page" >"$tmp/bad"
finds "a synopsis with another option" "only in synopsis: --shared
only in usage: -s" summed_up "$tmp/bad" "bench fault" "$tmp/usage"

# ---- variants and policies -----------------------------------------------------------

# The names of the items below a heading of a page.
items() { # page, heading
	awk -v heading="$2" '
	/^\.S[hs]/ { here = substr($0, 5) == heading; depth = 0 }
	/^\.Bl/ { depth++ }
	/^\.El/ { depth-- }
	here && depth == 1 && /^\.It Cm/ { print $3 }' "$1"
}

# The first column of a table that is not indented.
first_column() {
	awk 'NR > 1 && /^[^ ]/ { print $1 }'
}

# A word list of the completion.
completed() { # file, variable
	sed -n "s/^$2='\(.*\)'\$/\1/p" "$1" | tr ' ' '\n'
}

named() { # page, heading, file with names
	items "$1" "$2" >"$tmp/a"
	differ page "$tmp/a" list "$3"
}

# A page that is there, and in the SEE ALSO of another.
leads() { # page, the other page
	[ -f "$2" ] || echo "no $2"
	name=${2##*/}
	sed -n '/^\.Sh SEE ALSO/,$p' "$1" | grep -q "^\.Xr ${name%.*} ${name##*.}\( ,\)*\$" ||
		echo "SEE ALSO of ${1##*/} has no ${name%.*}(${name##*.})"
}

completes() { # completion, variable, file with names
	completed "$1" "$2" >"$tmp/a"
	differ completion "$tmp/a" list "$3"
}

# What the completion offers for the last of some words. compopt works in a
# shell that completes only.
offered() { # completion, words
	completion=$1
	shift
	# shellcheck disable=SC2016 # for bash to expand
	bash -c 'compopt() { :; }; . "$0" && COMP_WORDS=(clearpages "$@") COMP_CWORD=$#
		_clearpages; printf "%s\n" "${COMPREPLY[@]}"' "$completion" "$@" 2>&1
}

# The long options that the completion offers behind some words against those
# of a usage.
offers() { # completion, usage, words
	completion=$1 usage=$2
	shift 2
	offered "$completion" "$@" -- >"$tmp/a"
	help_options <"$usage" | sed 's/^-[^-] //' >"$tmp/b"
	differ completion "$tmp/a" usage "$tmp/b"
}

# Words, but options, that it offers for the last of some against a list.
words() { # completion, file with words, words
	completion=$1 list=$2
	shift 2
	offered "$completion" "$@" | grep -v '^-' >"$tmp/a"
	differ completion "$tmp/a" list "$list"
}

# The commands of the main usage; and the forms of a command, such as load and
# unload: what follows its name on the lines that say how it is called.
help_commands() { # usage
	sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' "$1"
}

called() { # usage, command
	sed -n "s/^\(Usage:\)\{0,1\} *clearpages $2 \([a-z][a-z]*\)\( .*\)\{0,1\}\$/\2/p" "$1"
}

# The words of an error line: "expected a, b or c".
expected_words() { # file
	sed -n 's/.*: expected //p' "$1" | sed 's/ or /, /' | tr -d ' ' | tr ',' '\n'
}

if command -v bash >/dev/null; then
	echo '_clearpages() { COMPREPLY=(--size --help); }' >"$tmp/complete"
	finds "a completion that lacks an option" "only in usage: --thp" \
		offers "$tmp/complete" "$tmp/usage" bench fault
	echo '_clearpages() { COMPREPLY=(load --help); }' >"$tmp/complete"
	printf 'load\nunload\n' >"$tmp/names"
	finds "a completion that lacks a word" "only in list: unload" \
		words "$tmp/complete" "$tmp/names" module ""
fi

cat >"$tmp/usage" <<'END'
Usage: clearpages module load [OPTION]... [FILE]
       clearpages module unload

Commands:
  bench          measure
  module         put clearpages.ko in
                 or take it out

Options:
  -h, --help     this text
END
finds "the commands of a usage" "bench
module" help_commands "$tmp/usage"
finds "the forms of a command" "load
unload" called "$tmp/usage" module
echo "x: -f y: expected demand, populate or madvise" >"$tmp/line"
finds "the words of an error line" "demand
populate
madvise" expected_words "$tmp/line"

cat >"$tmp/page" <<'END'
.Sh VARIANTS
.Bl -tag
.It Cm stosb
.El
.Ss Named policies
.Bl -tag
.It Cm stock
.Bl -tag
.It Cm inner
.El
.El
END
echo "_words='stosb mov'" >"$tmp/complete"
printf 'NAME  WHAT\nstosb rep\n      more\nmov   8\n' | first_column >"$tmp/names"
finds "a variant that the page lacks" "only in list: mov" named "$tmp/page" VARIANTS "$tmp/names"
finds "a policy that there is not" "only in page: stock
only in list: mov
only in list: stosb" named "$tmp/page" "Named policies" "$tmp/names"
finds "a sound word list" "" completes "$tmp/complete" _words "$tmp/names"
finds "a word list that is not there" "only in list: mov
only in list: stosb" completes "$tmp/complete" _others "$tmp/names"

cat >"$tmp/other.1" <<'END'
.Sh SEE ALSO
.Xr page 1 ,
.Xr other 1
END
finds "a page that another leads to" "" leads "$tmp/other.1" "$tmp/other.1"
finds "a page that is not there" "no $tmp/third.1
SEE ALSO of other.1 has no third(1)" leads "$tmp/other.1" "$tmp/third.1"

# The kernels that the module knows, "6.12.117", and those that its page names where
# it speaks of skip_zeroed.
read_kernels() { # page, callers.h
	sed -n 's/{ \([0-9]*\), \([0-9]*\), \([0-9]*\) }/\1.\2.\3/gp' "$2" |
		grep -Eo '[0-9]+[.][0-9]+[.][0-9]+' >"$tmp/b"
	sed -n '/^\.It Cm skip_zeroed/,/^\.It/p' "$1" | sed '1d' |
		grep -Eo '[0-9]+[.][0-9]+[.][0-9]+' >"$tmp/a"
	differ page "$tmp/a" module "$tmp/b"
}

printf '.It Cm skip_zeroed\n6.1 up to 6.1.192, 6.12 up\nto 6.12.117.\n.It Cm x\n7.3.4\n' >"$tmp/page"
printf '[] = {\n\t{ 6, 1, 192 }, { 6, 12, 118 },\n\t{ 7, 3, 4 },\n};\n' >"$tmp/callers"
finds "kernels that were read, and are not in the page" "only in page: 6.12.117
only in module: 6.12.118
only in module: 7.3.4" read_kernels "$tmp/page" "$tmp/callers"

# ---- functions and the example -----------------------------------------------------------

header_functions() { # header
	sed -n 's/^[a-z].*[ *]\(clearpages_[a-z_]*\)(.*/\1/p' "$1"
}

# The prototypes in the SYNOPSIS of pages, as C: of .Fo to .Fc, and of .Fn.
page_prototypes() { # pages
	awk '
	function quoted(line) {
		sub(/^\.F[ta] /, "", line)
		gsub(/"/, "", line)
		return line
	}
	FNR == 1 { here = 0 }
	/^\.Sh/ { here = $2 == "SYNOPSIS" }
	!here { next }
	/^\.Ft/ { type = quoted($0) }
	/^\.Fn/ {
		name = $2
		sub(/^\.Fn [^ ]* /, "")
		gsub(/" "/, ", ")
		print type " " name "(" quoted($0) ");"
	}
	/^\.Fo/ { name = $2; args = "" }
	/^\.Fa/ { args = args (args == "" ? "" : ", ") quoted($0) }
	/^\.Fc/ { print type " " name "(" args ");" }' "$@"
}

functions() { # header, pages
	header_functions "$1" >"$tmp/b"
	shift
	page_prototypes "$@" | sed 's/.*[ *]\(clearpages_[a-z_]*\)(.*/\1/' >"$tmp/a"
	differ page "$tmp/a" header "$tmp/b"
}

# The compiler knows whether two prototypes are the same.
prototypes() { # folder of the header, pages
	folder=$1
	shift
	{ echo '#include <clearpages.h>'; page_prototypes "$@"; } >"$tmp/p.c"
	${CC:-cc} -std=gnu11 -I"$folder" -fsyntax-only "$tmp/p.c" 2>&1 | sed -n 's/.*error: //p'
}

example() { # page
	awk '
	/^\.\\" example:/ { wanted = 1 }
	/^\.Ed/ { here = 0 }
	here { gsub(/\\e/, "\\"); print }
	wanted && /^\.Bd -literal/ { here = 1; wanted = 0 }' "$1"
}

# Run it three ways; prints what is not as the page has it.
run_example() {
	out=$("$tmp/example" 2>&1) && case $out in
	"far="*": zeroed, last byte 0") ;;
	*) echo "by default: $out" ;;
	esac || echo "by default: exit status $?"
	out=$("$tmp/example" ranges,batch=8M 2>&1) && case $out in
	*"batch=8M,unit=0,order=right-first: zeroed, last byte 0") ;;
	*) echo "ranges,batch=8M: $out" ;;
	esac || echo "ranges,batch=8M: exit status $?"
	"$tmp/example" nosuch >"$tmp/out" 2>&1
	status=$?
	[ "$status" -eq 2 ] || echo "nosuch: exit status $status"
	grep -q '"nosuch" is not the name of a policy' "$tmp/out" || cat "$tmp/out"
}

cat >"$tmp/clearpages.h" <<'END'
int clearpages_one(void *p, int n);
const char *clearpages_two(void);
int clearpages_four(void *p, const char *q);
END
cat >"$tmp/page" <<'END'
.Sh SYNOPSIS
.Ft int
.Fo clearpages_one
.Fa "void *p"
.Fa "int n"
.Fc
.Ft "const char *"
.Fo clearpages_two
.Fa void
.Fc
.Sh DESCRIPTION
END
cat >"$tmp/page2" <<'END'
.Sh SYNOPSIS
.Ft int
.Fn clearpages_four "void *p" "const char *q"
.Sh DESCRIPTION
.Fn clearpages_one
END
finds "sound functions" "" functions "$tmp/clearpages.h" "$tmp/page" "$tmp/page2"
finds "a page that is missing" "only in header: clearpages_four" \
	functions "$tmp/clearpages.h" "$tmp/page"
sed 's/two/three/' "$tmp/page" >"$tmp/bad"
finds "a function under another name" "only in page: clearpages_three
only in header: clearpages_two" functions "$tmp/clearpages.h" "$tmp/bad" "$tmp/page2"
compiler=yes
echo 'int main(void) { return 0; }' >"$tmp/p.c"
${CC:-cc} -o "$tmp/p" "$tmp/p.c" 2>/dev/null || compiler=
if [ "$compiler" ]; then
	finds "sound prototypes" "" prototypes "$tmp" "$tmp/page" "$tmp/page2"
	sed 's/"int n"/"long n"/' "$tmp/page" >"$tmp/bad"
	found=$(prototypes "$tmp" "$tmp/bad" "$tmp/page2" | grep -c clearpages_one)
	finds "a prototype with another type" 1 echo "$found"
	sed 's/"const char/"char/' "$tmp/page2" >"$tmp/bad"
	found=$(prototypes "$tmp" "$tmp/page" "$tmp/bad" | grep -c clearpages_four)
	finds "another type in one line" 1 echo "$found"
else
	skip "planted: prototypes" "no C compiler: ${CC:-cc}"
fi

# ---- host names -----------------------------------------------------------------------------

# Mirrors come from apt's own configuration, never from a name in the project.
mirrors='https?://[^/ ]*(mirror|(deb|ftp[.a-z0-9]*|security|snapshot|archive)[.]debian'
mirrors="$mirrors|[.]ubuntu[.]com|npmjs|pypi[.]|pythonhosted|crates[.]io|rubygems|proxy[.]golang"
mirrors="$mirrors|maven|cpan[.]|alpinelinux|archlinux|fedoraproject|anaconda|docker[.])"
mirrors="$mirrors|(deb|security)[.]debian[.](org|net)|registry[.]npmjs"

# The project's files below a folder: what git has and would take, else all.
files() { # folder
	(cd "$1" && { git ls-files -co --exclude-standard 2>/dev/null ||
		find . -name .git -prune -o -path ./build -prune -o -type f -print; })
}

hosts() { # folder
	files "$1" | (cd "$1" && xargs -r -d '\n' grep -IEHno "$mirrors" 2>/dev/null)
}

mkdir "$tmp/tree"
printf 'see https://www.kernel.org/doc and %s\n' "https://example.org/debian" >"$tmp/tree/sound"
finds "links that are no mirrors" "" hosts "$tmp/tree"
printf 'x\nget https://%s.%s/x\n' deb debian.org >"$tmp/tree/bad"
finds "a mirror's name" "./bad:2:https://deb"".debian" hosts "$tmp/tree"

# ---- the tree ----------------------------------------------------------------------------------

man=$root/man
if [ -x "$command" ]; then
	for kind in bench "bench fault" "bench clear" list populate status "module load" \
		"module unload"; do
		usage=$tmp/usage-$(echo "$kind" | tr ' ' -)
		# shellcheck disable=SC2086 # words
		"$command" $kind --help >"$usage"
		page=$man/clearpages-${kind%% *}.1
		holds "$kind: its synopsis has its options" summed_up "$page" "$kind" "$usage"
	done
	holds "bench: the page has the options of all three, and no other" \
		listed "$man/clearpages-bench.1" "$tmp"/usage-bench*
	"$command" module --help >"$tmp/usage-module"
	for kind in list populate status module; do
		holds "$kind: the page has its options, and no other" \
			listed "$man/clearpages-$kind.1" "$tmp/usage-$kind"
	done
	"$command" --help >"$tmp/usage"
	help_commands "$tmp/usage" >"$tmp/commands"
	called "$tmp/usage-module" module >"$tmp/forms"
	"$command" bench fault -f nosuch 2>"$tmp/line"
	expected_words "$tmp/line" >"$tmp/paths"
	"$command" bench fault --use nosuch 2>"$tmp/line"
	expected_words "$tmp/line" >"$tmp/uses"
	{ cat "$tmp/commands"; echo help; } >"$tmp/names"
	holds "clearpages.1 has every command" named "$man/clearpages.1" DESCRIPTION "$tmp/names"
	while read -r kind; do
		holds "clearpages.1 leads to the page of $kind" \
			leads "$man/clearpages.1" "$man/clearpages-$kind.1"
	done <"$tmp/commands"
	holds "clearpages-module.1 has every form of it" \
		named "$man/clearpages-module.1" DESCRIPTION "$tmp/forms"
	holds "clearpages-bench.1 says what is timed of every path" \
		named "$man/clearpages-bench.1" "The timed part" "$tmp/paths"
	holds "clearpages-bench.1 has every use" named "$man/clearpages-bench.1" "Uses" "$tmp/uses"
	"$command" list variants | first_column >"$tmp/variants"
	"$command" list policies | first_column >"$tmp/policies"
	if [ -s "$tmp/variants" ] && [ -s "$tmp/policies" ]; then
		ok "the command lists variants and policies"
	else
		not_ok "the command lists variants and policies" "none"
	fi
	holds "clearpages.7 has every variant" named "$man/clearpages.7" VARIANTS "$tmp/variants"
	holds "clearpages.7 has every named policy" \
		named "$man/clearpages.7" "Named policies" "$tmp/policies"
	for list in variants policies; do
		holds "the completion has the $list" completes "$root/contrib/clearpages.bash" \
			"_clearpages_$list" "$tmp/$list"
	done
	if command -v bash >/dev/null; then
		completion=$root/contrib/clearpages.bash
		{ cat "$tmp/commands" && echo help; } >"$tmp/first"
		holds "the completion has the commands" words "$completion" "$tmp/first" ""
		holds "the completion has the commands for help" \
			words "$completion" "$tmp/commands" help ""
		holds "the completion has the forms of module" \
			words "$completion" "$tmp/forms" module ""
		holds "the completion has the paths" words "$completion" "$tmp/paths" bench fault -f ""
		holds "the completion has the uses" words "$completion" "$tmp/uses" bench fault --use ""
	else
		skip "words of the completion" "no bash"
	fi
	for kind in bench "bench fault" "bench clear" list populate status module "module load" \
		"module unload"; do
		name="$kind: the completion has its options"
		if command -v bash >/dev/null; then
			# shellcheck disable=SC2086 # words
			holds "$name" offers "$root/contrib/clearpages.bash" \
				"$tmp/usage-$(echo "$kind" | tr ' ' -)" $kind
		else
			skip "$name" "no bash"
		fi
	done
else
	skip "options, variants and policies" "no command at $command"
fi

holds "clearpages_module.7 has the kernels that were read, and no other" \
	read_kernels "$man/clearpages_module.7" "$root/kmod/callers.h"
holds "the library's pages have every function of the header" \
	functions "$root/include/clearpages.h" "$man"/libclearpages*.3
if [ "$compiler" ]; then
	holds "and their prototypes" prototypes "$root/include" "$man"/libclearpages*.3
else
	skip "and their prototypes" "no C compiler: ${CC:-cc}"
fi

name="the example of libclearpages.3 compiles and runs"
library=$build/libclearpages.so
[ -f "$library" ] || library=$build/libclearpages.a
if [ ! "$compiler" ]; then
	skip "$name" "no C compiler: ${CC:-cc}"
elif [ ! -f "$library" ]; then
	skip "$name" "no library in $build"
elif nm "$library" 2>/dev/null | grep -q -e __asan_ -e __ubsan_ -e __tsan_; then
	skip "$name" "the library has a sanitizer in it"
else
	example "$man/libclearpages.3" >"$tmp/example.c"
	if ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -I"$root/include" -o "$tmp/example" \
		"$tmp/example.c" "$library" -lnuma -pthread -Wl,-rpath,"$build" \
		>"$tmp/out" 2>&1; then
		holds "$name" run_example
	else
		not_ok "$name" "$(cat "$tmp/out")"
	fi
fi

for page in "$man"/*.[1-8]; do
	name="mandoc has nothing to say of ${page##*/}"
	if ! command -v mandoc >/dev/null; then
		skip "$name" "mandoc is not installed"
	else
		holds "$name" mandoc -T lint -W warning "$page"
	fi
done

files "$root" >"$tmp/files"
if grep -q 'man/clearpages\.1$' "$tmp/files"; then
	ok "the tree has files to look at"
else
	not_ok "the tree has files to look at" "none below $root"
fi
holds "no name of a package mirror in the tree" hosts "$root"

echo "1..$count"
[ "$failed" -eq 0 ]
