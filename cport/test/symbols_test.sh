#!/bin/sh
# What the library shows a linker: symbols_test.sh LIBRARY.a LIBRARY.so FREESTANDING.o... All that it defines is
# called weir_, the shared library exports what the public headers declare and nothing else, and what was compiled without
# malloc has no variable and needs nothing but itself and what a compiler asks of any libc.
set -eu
cd "$(dirname "$0")/.."
static=$1 shared=$2
shift 2
NM=${NM:-nm}
status=0

if ! command -v "$NM" >/dev/null; then
	echo "symbols: skipped, there is no $NM here"
	exit 0
fi

# none WHAT: says WHAT of each line that comes in, and that it must not be
none() {
	while read -r line; do
		echo "symbols: $1: $line"
		echo >"$marks"
	done
}
marks=$(mktemp)
declared=$(mktemp)
trap 'rm -f "$marks" "$declared"' EXIT

./declared.sh >"$declared"
"$NM" -g --defined-only "$static" | awk 'NF == 3 { print $3 }' | grep -v '^weir_' | none "not called weir_" || true
"$NM" -D --defined-only "$shared" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort | LC_ALL=C comm -3 - "$declared" |
	none "exported or declared, not both" || true
"$NM" "$@" | awk 'NF == 3 && $2 ~ /^[BbCDdGgSs]$/ { print $3 }' | none "a variable" || true
"$NM" -u "$@" | awk '$1 == "U" { print $2 }' | LC_ALL=C sort -u | grep -vE '^(weir_.*|_?_?memcpy|memset|memmove|memcmp|__.*)$' |
	none "needed without malloc" || true

[ -s "$marks" ] && status=1
[ $status -ne 0 ] || echo "symbols: $(wc -l <"$declared" | tr -d ' ') exported, all called weir_; no variable; nothing of libc without malloc"
exit $status
