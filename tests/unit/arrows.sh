#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Holds the arrows between the rooms: tools -> lib -> core, kmod -> core,
# nothing back. By the #include lines of the tree, by what core's objects ask
# the linker for, and on planted faults, for a check that cannot fail is none.
# BUILD (default build): where core's objects are.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${BUILD:-$root/build}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
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

# Every #include of the rooms below $1 as "file form word", form q or s.
includes() {
	(cd "$1" && find core lib tools kmod include -type f -name '*.[chS]' 2>/dev/null |
		sort | while read -r file; do
		sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*\(.*\)/\1/p' "$file" |
			sed -n 's/^"\([^"]*\)".*/q \1/p; s/^<\([^>]*\)>.*/s \1/p; t
				s/^\([^"<].*\)/m \1/p' | sed "s|^|$file |"
	done)
}

# The same as "from to": a path below $1 if the compiler would find one, beside
# the file, by -Iinclude or from the top; else <word>, missing: or macro:.
edges() {
	includes "$1" | while read -r from form word; do
		case $form in
		q) dirs="$(dirname "$from") include ." to="missing:$word" ;;
		s) dirs="include ." to="<$word>" ;;
		*) dirs="" to="macro:$word" ;;
		esac
		for dir in $dirs; do
			if [ -f "$1/$dir/$word" ]; then
				to=$(realpath -m --relative-to="$1" "$1/$dir/$word")
				break
			fi
		done
		echo "$from $to"
	done
}

# The edges on stdin that $1 (a room) may not have: $2, the rooms it may.
forbidden() {
	awk -v room="$1" -v rooms="$2" '
	BEGIN { n = split(rooms, r); for (i = 1; i <= n; i++) may[r[i]] = 1 }
	{ from = $1; sub("/.*", "", from) }
	from != room { next }
	$2 ~ /^</ { if (room == "core" && $1 != "core/cpg_port.h") print; next }
	{ to = $2; sub("/.*", "", to); if (!(to in may)) print }'
}

# Files of tools that reach core through other headers: "file by which way".
reaching() {
	awk '
	{ to[$1, ++n[$1]] = $2; if ($1 ~ /^tools\//) start[$1] = 1 }
	function walk(file, way,    i) {
		if (file in seen) return
		seen[file] = 1
		if (file ~ /^core\//) { print way; return }
		for (i = 1; i <= n[file]; i++) walk(to[file, i], way " > " to[file, i])
	}
	END { for (f in start) { split("", seen); walk(f, f) } }'
}

# Symbols that the objects ask for and none of them has. The table of offsets
# is the linker's own; a hardened compiler adds __stack_chk_fail by itself, and
# a kernel has it as well.
foreign() {
	nm -A "$@" | awk '
	BEGIN {
		n = split("memset memcmp memcpy strlen " \
			  "__stack_chk_fail _GLOBAL_OFFSET_TABLE_", a)
		for (i = 1; i <= n; i++) may[a[i]] = 1
	}
	{ name = $NF; type = $(NF - 1) }
	type == "U" { asked[name] = $1; next }
	{ has[name] = 1 }
	END { for (s in asked)
		if (!(s in has) && !(s in may))
			print asked[s], s }'
}

# Everything that is wrong in the tree $1, one kind a line: "room: what".
wrong() {
	edges "$1" >"$tmp/edges"
	while read -r room rooms; do
		forbidden "$room" "$rooms" <"$tmp/edges" | sed "s|^|$room: |"
	done <<-END
		core core
		include include
		lib lib core include
		kmod kmod core
		tools tools lib include
	END
	reaching <"$tmp/edges" | sed 's|^|reach: |'
}

check() { # name, prefix in $tmp/wrong
	if grep -q "^$2: " "$tmp/wrong"; then
		not_ok "$1" "$(grep "^$2: " "$tmp/wrong")"
	else
		ok "$1"
	fi
}

planted() { # name, file, include line, what wrong() has to say
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/core/x86" "$tmp/tree/include" "$tmp/tree/lib" "$tmp/tree/tools"
	echo '#include <stdint.h>' >"$tmp/tree/core/cpg_port.h"
	echo '#include "cpg_port.h"' >"$tmp/tree/core/cpg.h"
	echo '#include "../cpg_port.h"' >"$tmp/tree/core/x86/a.c"
	echo '#include <stddef.h>' >"$tmp/tree/include/clearpages.h"
	echo '#include "../include/clearpages.h"' >"$tmp/tree/lib/good.h"
	echo '#include "../core/cpg.h"' >"$tmp/tree/lib/inner.h"
	echo '#include "../lib/good.h"' >"$tmp/tree/tools/good.h"
	[ -z "$2" ] || printf '%s\n' "$3" >"$tmp/tree/$2"
	found=$(wrong "$tmp/tree")
	if [ "$found" = "$4" ]; then
		ok "$1"
	else
		not_ok "$1" "expected: $4
found: $found"
	fi
}

planted "a sound tree passes" "" "" ""
planted "planted: core includes libc" core/x86/b.c '#include <stdio.h>' \
	"core: core/x86/b.c <stdio.h>"
planted "planted: core includes lib" core/b.c ' # include "../lib/good.h"' \
	"core: core/b.c lib/good.h"
planted "planted: core includes the public header by its path" core/b.h \
	'#include <clearpages.h>' "core: core/b.h include/clearpages.h"
planted "planted: core includes by a macro" core/b.c '#include HEADER' \
	"core: core/b.c macro:HEADER"
planted "planted: lib includes tools" lib/b.c '#include "../tools/good.h"' \
	"lib: lib/b.c tools/good.h"
planted "planted: the public header includes core" include/b.h '#include "../core/cpg.h"' \
	"include: include/b.h core/cpg.h"
planted "planted: a tool includes core" tools/b.c '#include "../core/cpg.h"' \
	"tools: tools/b.c core/cpg.h
reach: tools/b.c > core/cpg.h"
planted "planted: a tool includes what includes core" tools/b.c '#include "../lib/inner.h"' \
	"reach: tools/b.c > lib/inner.h > core/cpg.h"
planted "planted: a header that is nowhere" tools/b.c '#include "nosuch.h"' \
	"tools: tools/b.c missing:nosuch.h"

echo 'extern int puts(const char *); int f(void); int f(void) { return puts("x"); }' >"$tmp/p.c"
if ${CC:-cc} -c -o "$tmp/p.o" "$tmp/p.c" 2>"$tmp/err"; then
	case $(foreign "$tmp/p.o") in
	*puts) ok "planted: an object that asks for puts" ;;
	*) not_ok "planted: an object that asks for puts" "not found" ;;
	esac
else
	count=$((count + 1))
	echo "ok $count - planted: an object that asks for puts # SKIP no C compiler: ${CC:-cc}"
fi

wrong "$root" >"$tmp/wrong"
if [ -s "$tmp/edges" ]; then
	ok "the tree has includes to look at"
else
	not_ok "the tree has includes to look at" "none below $root"
fi
check "core includes nothing from outside, but by cpg_port.h" core
check "include/ includes nothing of the tree" include
check "lib includes lib, core and include/" lib
check "kmod includes kmod and core" kmod
check "tools include tools, lib and include/" tools
check "tools do not reach core through headers of lib" reach

name="core's objects ask for memset, memcmp, memcpy and strlen, nothing else"
set -- "$build"/core/*.o "$build"/core/*/*.o
if [ ! -f "$1" ]; then
	count=$((count + 1))
	echo "ok $count - $name # SKIP no objects in $build/core"
elif nm "$@" 2>/dev/null | grep -q -e __asan_ -e __ubsan_ -e __tsan_; then
	count=$((count + 1))
	echo "ok $count - $name # SKIP the sanitizer's own symbols are in them"
else
	found=$(foreign "$@")
	if [ -z "$found" ]; then
		ok "$name"
	else
		not_ok "$name" "$found"
	fi
fi

echo "1..$count"
[ "$failed" -eq 0 ]
