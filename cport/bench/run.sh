#!/bin/sh
# The benchmark: run.sh BUILD [--check] [--rounds N], after make static. It says what it is compiled with and where it runs,
# looks at the instructions, and prints the table. 2: usage; 1: with --check, a target is missed or the instructions are not
# as they must be; with WEIR_STRICT=1, something that it wants is not here.
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
strict="-pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"

# lacks NAME WHY: says what is left out
lacks() {
	echo "$1: skipped, $2"
	[ "${WEIR_STRICT:-}" != 1 ] || exit 1
}

# count OBJECT FUNCTION INSTRUCTION: how many instructions of the functions of that name are such; patterns of awk
count() {
	objdump -d --no-show-raw-insn "$1" | awk -v name="^<($2)>:\$" -v instruction="^($3)" '
		$2 ~ name { on = 1; found = 1; next }
		/^$/ { on = 0 }
		on && $2 ~ instruction { n++ }
		END { if (!found) exit 1; print n + 0 }' || { echo "bench: $1 has no function $2" >&2; exit 3; }
}

# What a decision runs through divides nowhere (quotients, refund and relimit do, by right), and what asks for memory
# does ask: a compiler may take a prefetch for nothing.
look_at_code() {
	divisions=$(count "$build/static/table.o" weir_table_seek '[usi]*div')
	prefetches=0
	for policy in gcra tokenbucket leakybucket slidinglog dualbucket; do
		n=$(count "$build/static/$policy.o" "weir_${policy}_(take|find|load|store|claim)" '[usi]*div')
		m=$(count "$build/bench/hot.o" "bench_${policy}_step" '[usi]*div')
		divisions=$((divisions + n + m))
		n=$(count "$build/static/$policy.o" "weir_${policy}_prefetch" 'prefetch|prfm|pld')
		prefetches=$((prefetches + (n > 0)))
	done
	echo "divisions in takes, steps and look-up: $divisions; calls of prefetch that do: $prefetches of 5"
	case " $* " in *" --check "*) [ "$divisions $prefetches" = "0 5" ] || exit 1 ;; esac
}

mkdir -p "$build/bench"
meter=""
includes=$(pkg-config --cflags-only-I libdpdk 2>/dev/null || echo -I/usr/include/dpdk)
includes=$(echo "$includes" | sed 's/-I */-isystem /g')
# shellcheck disable=SC2086
if echo '#include <rte_meter.h>' | $CC -std=c11 $includes -fsyntax-only -x c - 2>"$build/bench/log"; then
	meter="-DWEIR_BENCH_METER $includes"
fi
for part in main hot random meter; do
	# shellcheck disable=SC2086
	$CC -std=c11 -Iinclude $strict $CFLAGS $meter -c bench/$part.c -o "$build/bench/$part.o"
done
# shellcheck disable=SC2086
$CC $CFLAGS "$build"/bench/*.o "$build/libweir.a" -o "$build/bench/bench"

date +%Y-%m-%d
sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | sort | uniq -c
echo "$(uname -sm), $($CC --version | head -n 1), $CFLAGS"
if [ -n "$meter" ]; then
	echo "rte_meter of DPDK $(pkg-config --modversion libdpdk 2>/dev/null || echo "of a version unknown")"
else
	lacks rte_meter "there is no rte_meter.h here; Debian has it in libdpdk-dev"
fi
if command -v objdump >/dev/null; then
	look_at_code "$@"
else
	lacks instructions "there is no objdump here"
fi
exec "$build/bench/bench" "$@"
