#!/bin/sh
# Writes the whole library as one header: amalgamate.sh [FILE], or to standard output. The same sources give the same
# bytes. It needs a POSIX shell, awk, sed and sort.
set -eu

case "${1:-}" in
"" | /*) out=${1:-} ;;
*) out=$PWD/$1 ;;
esac
cd "$(dirname "$0")"

# weir.h first, then what is there, in one order whatever the locale.
headers="include/weir/weir.h $(ls include/weir/*.h | LC_ALL=C sort | grep -v '/weir\.h$')"
sources=$(ls src/*.h src/*.c | LC_ALL=C sort)
version=$(sed -n 's/^#define WEIR_VERSION "\(.*\)"$/\1/p' include/weir/weir.h)

# inline WRITTEN FILE... writes each file once, and before what needs it each that it includes by a quoted name, but
# for those in WRITTEN, which stand in the output already. Angle includes stay where they are: those behind
# WEIR_NO_MALLOC must stay behind it.
inline() {
	written=$1
	shift
	awk -v written="$written" '
	function write(name,    line, part, status) {
		if (name in done) return
		done[name] = 1
		print "\n/* ---- " name " ---- */\n"
		while ((status = (getline line < name)) > 0) {
			if (line ~ /^#include "/) {
				split(line, part, "\"")
				write(place(part[2], name))
			} else print line
		}
		if (status < 0) {
			print "amalgamate.sh: cannot read " name > "/dev/stderr"
			exit 1
		}
		close(name)
	}
	function place(included, from) {
		if (included ~ /^weir\//) return "include/" included
		sub(/[^\/]*$/, "", from)
		return from included
	}
	BEGIN {
		count = split(written, names, " ")
		for (i = 1; i <= count; i++) done[names[i]] = 1
		for (i = 1; i < ARGC; i++) write(ARGV[i])
	}' "$@"
}

# The lists are split into words on purpose: no name here has a blank in it.
# shellcheck disable=SC2086
whole() {
	cat <<END
/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * weir_amalgamation.h - weir $version, the whole C library in one file. Written by amalgamate.sh; do not edit.
 *
 * Include it wherever weir is used, as C11 or as C++. In exactly one C file define WEIR_IMPLEMENTATION before the
 * include: there the functions are.
 *
 *     #define WEIR_IMPLEMENTATION
 *     #include "weir_amalgamation.h"
 *
 * With WEIR_NO_MALLOC defined there are no create and destroy, and nothing of the standard library is needed.
 */
END
	inline "" $headers
	cat <<END

#if defined(WEIR_IMPLEMENTATION) && !defined(WEIR_IMPLEMENTED)
#define WEIR_IMPLEMENTED
#ifdef __cplusplus
#error "the implementation is C11: define WEIR_IMPLEMENTATION in a C file"
#endif
END
	inline "$headers" $sources
	printf '\n#endif\n'
}

if [ -z "$out" ]; then
	whole
else
	trap 'rm -f "$out.part"' EXIT
	whole >"$out.part"
	mv "$out.part" "$out"
fi
