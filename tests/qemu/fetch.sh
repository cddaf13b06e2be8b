#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Fetches and unpacks the kernels of kernels.tsv, all of them or those named:
#
#	fetch.sh [KERNEL...]	a line "KERNEL RELEASE" on stdout for each that is there
#	fetch.sh list		the names, nothing fetched
#
# Below build/qemu (QEMU_DIR): kernels/KERNEL/release has the release as uname -r
# says it, kernels/KERNEL/vmlinuz the kernel to boot, kernels/KERNEL/config its
# configuration, kernels/KERNEL/usr what a module is built with, KDIR being
# usr/src/linux-headers-RELEASE; in root.sh's root that is at
# /usr/src/linux-headers-RELEASE, where its Makefile expects it. Nothing is
# installed on the machine.
#
# A package is taken from the archive by its pinned name and checked against its
# pinned sum. One that is gone is replaced, and the three others of its kernel with
# it, by the newest of the same series in the index of its suite, which apt has
# checked. Gone is what the archive says is gone, not what a broken network keeps
# away. A kernel that cannot be had is skipped: "SKIP KERNEL: why" on stderr. The last line of stderr counts: "N fetched, N skipped". Exit status
# 1 where a package was not what it ought to be, or no kernel is left.
set -u
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
dir=${QEMU_DIR:-$here/../../build/qemu}
table=$here/kernels.tsv
tab=$(printf '\t')

die() {
	echo "fetch.sh: $*" >&2
	exit 1
}

rows() { # kernel
	grep -v '^#' "$table" | awk -F "$tab" -v k="$1" 'k == "" || $1 == k'
}

names() {
	rows '' | cut -f 1 | uniq
}

archive() { # suite
	case $1 in
	*-security) "$here/root.sh" mirror security ;;
	*) "$here/root.sh" mirror ;;
	esac
}

sum() { # file
	sha256sum <"$1" | cut -d ' ' -f 1
}

# One package into $debs. 1: the archive says that it does not have it; 2: it could not
# be had, why_not says why; dies where it has another.
package() { # suite, path, sha256
	file=$debs/${2##*/}
	if [ -f "$file" ] && [ "$(sum "$file")" = "$3" ]; then
		return 0
	fi
	url=$(archive "$1")/$2 || exit 1
	code=$(curl -fsSL --retry 2 -w '%{http_code}' -o "$file.part" "$url" 2>"$tmp/curl")
	# 22: an answer of 400 and above; 37, 78: no such file, by file: and ftp:.
	case $?,$code in
	0,*) ;;
	22,404 | 22,410 | 37,* | 78,*) return 1 ;;
	*)
		why_not=$(tail -n 1 "$tmp/curl")
		return 2
		;;
	esac
	[ "$(sum "$file.part")" = "$3" ] ||
		die "${2##*/} has sha256 $(sum "$file.part"), not the pinned $3"
	mv "$file.part" "$file"
}

# The newest kernel of a series and flavour in a suite's index, as four rows like
# those of the table; nothing if there is none. 1: the index cannot be had.
# shellcheck disable=SC2016 # the shell inside fills these in
newest() { # kernel, suite, series, flavour
	"$here/root.sh" run sh -c '
		[ -f /var/lib/apt/clearpages-fresh ] ||
			{ apt-get -qq update && touch /var/lib/apt/clearpages-fresh; } >&2 || exit
		apt-get indextargets --format "\$(CODENAME) \$(FILENAME)" "Created-By: Packages" |
			sed -n "s/^$1 //p" | xargs -r /usr/lib/apt/apt-helper cat-file' sh "$2" \
		>"$tmp/index" || return 1
	awk -v kernel="$1" -v suite="$2" -v series="$3" -v flavour="$4" '
	BEGIN { RS = ""; FS = "\n"; OFS = "\t"; dots = series; gsub(/[.]/, "[.]", dots) }
	{
		name = ""
		for (i = 1; i <= NF; i++) {
			if ($i ~ /^Package: /) name = substr($i, 10)
			if ($i ~ /^Filename: /) path[name] = substr($i, 11)
			if ($i ~ /^SHA256: /) sha[name] = substr($i, 9)
		}
		if (name !~ "^linux-headers-" dots "[.].*-" flavour "$") next
		release = substr(name, 15)
		base = substr(release, 1, length(release) - length(flavour) - 1)
		if (base ~ /-(cloud|rt)$/) next		# amd64 is not cloud-amd64
		n = split(release, part, /[^0-9]+/)
		rank = ""
		for (i = 1; i <= n; i++) rank = rank sprintf("%08d", part[i])
		if (rank > best) { best = rank; newest = release }
	}
	function row(role, name) {
		if (name in path) print kernel, suite, role, path[name], sha[name]
	}
	END {
		if (!newest) exit
		base = substr(newest, 1, length(newest) - length(flavour) - 1)
		image = "linux-binary-" newest
		row("headers", "linux-headers-" newest)
		row("common", "linux-headers-" base "-common" (flavour ~ /^rt-/ ? "-rt" : ""))
		if ("linux-kbuild-" base in path) row("kbuild", "linux-kbuild-" base)
		else row("kbuild", "linux-kbuild-" series)
		row("image", image in path ? image : "linux-image-" newest)
	}' "$tmp/index"
}

# All packages of rows on stdin; as package() says.
packages() {
	while IFS=$tab read -r _ suite _ path sha; do
		package "$suite" "$path" "$sha"
		case $? in
		0) ;;
		1) echo "fetch.sh: gone: ${path##*/}" >&2 && return 1 ;;
		*) echo "fetch.sh: ${path##*/}: $why_not" >&2 && return 2 ;;
		esac
	done
}

# What the packages of rows on stdin hold, into $1.
unpack() {
	rm -rf "$1" "$1.part"
	mkdir -p "$1.part/image"
	while IFS=$tab read -r _ _ role path _; do
		into=$1.part
		[ "$role" != image ] || into=$1.part/image
		dpkg -x "$debs/${path##*/}" "$into" || return 1
		[ "$role" != headers ] || release=$(expr "${path##*/}" : 'linux-headers-\([^_]*\)_')
	done
	# boot/vmlinuz-RELEASE, from 7.2 on usr/lib/modules/RELEASE/vmlinuz.
	find "$1.part/image" -type f -name 'vmlinuz*' -exec mv {} "$1.part/vmlinuz" \;
	rm -rf "$1.part/image" "$1.part/lib" "$1.part/usr/share"
	cp "$1.part/usr/src/linux-headers-$release/.config" "$1.part/config" &&
		[ -s "$1.part/vmlinuz" ] && echo "$release" >"$1.part/release" &&
		sha256sum <"$tmp/rows" >"$1.part/stamp" && mv "$1.part" "$1"
}

# Sets why on failure.
kernel() { # name
	rows "$1" >"$tmp/rows"
	[ -s "$tmp/rows" ] || die "no kernel '$1' in $table; it has: $(names | tr '\n' ' ')"
	packages <"$tmp/rows"
	case $? in
	0) ;;
	2)
		why="the archive cannot be reached: $why_not"
		return 1
		;;
	*)
		suite=$(head -n 1 "$tmp/rows" | cut -f 2)
		pinned=$(expr "$(cut -f 4 "$tmp/rows" | head -n 1)" : '.*/linux-headers-\([^_]*\)_')
		series=$(expr "$pinned" : '\([0-9]*\.[0-9]*\)')
		flavour=$(echo "$pinned" | sed 's/^[^-]*-\([0-9]*-\)\{0,1\}//')
		why="the pinned $pinned is gone and the index of $suite cannot be fetched"
		newest "$1" "$suite" "$series" "$flavour" >"$tmp/rows" || return 1
		why="the pinned $pinned is gone and $suite has no other of $series"
		[ "$(wc -l <"$tmp/rows")" -eq 4 ] || return 1
		echo "fetch.sh: $1: $pinned is gone; in its place:" >&2
		cut -f 4 "$tmp/rows" | sed 's|.*/|	|' >&2
		why="the index of $suite names packages that its archive does not have"
		packages <"$tmp/rows" || return 1
		;;
	esac
	to=$dir/kernels/$1
	if [ "$(cat "$to/stamp" 2>/dev/null)" != "$(sha256sum <"$tmp/rows")" ]; then
		unpack "$to" <"$tmp/rows" || die "cannot unpack the packages of $1"
	fi
	echo "$1 $(cat "$to/release")"
}

if [ "${1-}" = list ]; then
	names
	exit 0
fi
for tool in curl dpkg sha256sum flock; do
	command -v "$tool" >/dev/null || die "no $tool here: install it"
done
mkdir -p "$dir/debs" "$dir/kernels" || die "cannot make $dir"
dir=$(cd "$dir" && pwd -P)
debs=$dir/debs
exec 8>"$dir/fetch.lock"
flock 8
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
fetched=0 skipped=0
# shellcheck disable=SC2046 # names are words
[ $# -gt 0 ] || set -- $(names)
for name in "$@"; do
	if kernel "$name"; then
		fetched=$((fetched + 1))
	else
		echo "SKIP $name: $why" >&2
		skipped=$((skipped + 1))
	fi
done
echo "$fetched fetched, $skipped skipped" >&2
[ "$fetched" -gt 0 ]
