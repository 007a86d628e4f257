#!/bin/sh
# Lines and branches of src and include that the tests reach together: coverage.sh BUILD PROGRAM.c..., each a program of
# its own. Those that include the sources measure them there; the others are linked with them. It takes gcc and gcov. Set
# LEAST_LINES and LEAST_BRANCHES to ask for other per cents than 100 and 95.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
case "$1" in
/*) build=$1/coverage ;;
*) build=$top/$1/coverage ;;
esac
shift
CC=${GCC:-gcc}
GCOV=${GCOV:-gcov}
for tool in "$CC" "$GCOV"; do
	if ! command -v "$tool" >/dev/null; then
		echo "coverage: skipped, there is no $tool here"
		exit 0
	fi
done
rm -rf "$build"

# measure PROGRAM.c FOLDER [FLAG]
measure() {
	mkdir -p "$build/$2"
	sources=""
	grep -q '"\(\.\./src/.*\.c\|sources\.h\)"' "$1" || sources=$(ls "$top"/src/*.c)
	# shellcheck disable=SC2086
	(cd "$build/$2" && "$CC" -std=c11 -O0 -g --coverage -DFUZZ_MAIN=20000 ${3:-} -I"$top/include" -I"$build/.." \
		"$top/$1" $sources -o program -pthread && ./program >output && "$GCOV" -b -c ./*.gcda >/dev/null)
}

for program in "$@"; do
	measure "$program" "$(basename "$program" .c)"
done
# Where the compiler makes small code some functions are called that else are in place: say so to one that does not.
measure test/fuzz.c small -D__OPTIMIZE_SIZE__

find "$build" -name '*.gcov' | LC_ALL=C sort | xargs awk -v WANT_LINES="${LEAST_LINES:-100}" \
	-v WANT_BRANCHES="${LEAST_BRANCHES:-95}" -f test/coverage.awk
