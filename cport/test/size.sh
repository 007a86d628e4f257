#!/bin/sh
# What the library takes of a program, by target, in bytes of code: what a take needs, the least that a firmware calls of
# a policy (init and take), and all calls of its table. Only functions of weir count; the helpers that the compiler's own
# library adds (64-bit division, mostly) stand beside. size.sh BUILD; 1 if the least of GCRA on a Cortex-M0+ is not below
# its budget.
set -eu
cd "$(dirname "$0")/.."
build=$1
budget=1024
least="init take"
all="size init take peek prefetch refund forget sweep relimit keys max_keys horizon limit"
status=0

have() { command -v "$1" >/dev/null 2>&1; }

# row NAME NM LINKER COMPILER...: one line of the table for each policy
row() {
	name=$1 nm=$2 linker=$3
	shift 3
	for tool in "$nm" "$linker" "$1"; do
		if ! have "$tool"; then
			echo "$name: skipped, there is no $tool here"
			return
		fi
	done
	rm -rf "$build/size"
	mkdir -p "$build/size"
	for source in src/*.c; do
		if ! "$@" -Os -std=c11 -ffreestanding -ffunction-sections -DWEIR_NO_MALLOC -Iinclude -c "$source" \
			-o "$build/size/$(basename "$source" .c).o" 2>"$build/size/log"; then
			echo "$name: skipped, $1 does not compile for it: $(head -n 1 "$build/size/log")"
			return
		fi
	done
	for policy in gcra tokenbucket leakybucket slidinglog dualbucket; do
		code=$(measure "$policy" $least)
		printf '%-18s %-12s %6s %6s %6s   %s\n' "$name" "$policy" "$(measure "$policy" take)" "$code" \
			"$(measure "$policy" $all)" "$(helpers "$policy")"
		case "$name $policy" in
		"cortex-m0+ gcc gcra") [ "$code" -lt $budget ] || over "$code" ;;
		esac
	done
}

over() {
	echo "cortex-m0+ gcc gcra: $1 bytes are not below the budget of $budget"
	status=1
}

# measure POLICY CALL...: links what the calls need and adds up the functions of weir
measure() {
	roots=""
	prefix=weir_$1
	shift
	for call in "$@"; do roots="$roots -u ${prefix}_$call"; done
	"$linker" -r --gc-sections $roots -o "$build/size/linked" "$build"/size/*.o
	"$nm" -S -t d "$build/size/linked" | awk '$3 ~ /^[tT]$/ { sum += $2 } END { print sum + 0 }'
}

# helpers POLICY: what the least still lacks. What only a dropped function called stays in the linker's table of symbols, so
# the symbols are those that what was kept refers to.
helpers() {
	measure "$1" $least >/dev/null
	"$nm" -u "$build/size/linked" | awk '{ print $NF }' >"$build/size/lacking"
	"${nm%nm}objdump" -r "$build/size/linked" | awk '$2 ~ /^R_/ { sub(/[-+]0x.*/, "", $3); print $3 }' | sort -u |
		grep -Fxf "$build/size/lacking" | paste -sd ' ' -
}

printf '%-18s %-12s %6s %6s %6s   %s\n' target policy take least all "needs of the compiler or libc"
row "cortex-m0+ gcc" arm-none-eabi-nm arm-none-eabi-ld arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb
row "cortex-m0+ clang" arm-none-eabi-nm arm-none-eabi-ld clang --target=thumbv6m-none-eabi
row "cortex-m4 gcc" arm-none-eabi-nm arm-none-eabi-ld arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb
row "riscv32 gcc" riscv64-unknown-elf-nm riscv64-unknown-elf-ld riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32
row "here" nm ld "${CC:-cc}" -fno-pie
exit $status
