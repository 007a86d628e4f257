#!/bin/sh
# The C library on a Cortex-M without an operating system and without libc, under qemu: the whole suite (the tables of
# `weir vectors export --c-header` and test/vectors_main.c, with the few functions of cortexm/libc.c), once in Thumb-1 code
# for a Cortex-M0+ and once in Thumb-2 code for a Cortex-M3; the size of the code by target; and the instructions of a
# request without a table, each of them traced on an emulated Cortex-M0. See lib.sh for --install and WEIR_STRICT.
set -eu
. "$(dirname "$0")/lib.sh"
cc=arm-none-eabi-gcc
qemu=qemu-system-arm
bare="-mthumb -ffreestanding -nostdinc -nostdlib -ffunction-sections -DWEIR_NO_MALLOC -Iinclude"
bare="$bare -I$elsewhere/cortexm/libc -I$elsewhere/cortexm"
machine="$elsewhere/cortexm/start.c $elsewhere/cortexm/libc.c -T $elsewhere/cortexm/machine.ld -Wl,--gc-sections"
console="-nographic -monitor none -serial none -semihosting-config enable=on,target=native"
instructions=200 # an allow of GCRA without a table must stay below

# compile CPU OUTPUT FLAG...
compile() {
	cpu=$1 output=$2
	shift 2
	$cc $strict_flags -mcpu="$cpu" $bare -isystem "$($cc -print-file-name=include)" "$@" $machine -lgcc -o "$output"
}

# emulate FLAG...: a program that hangs is ended, where there is a command for that
emulate() {
	$(have timeout && echo timeout 300) $qemu $console "$@" </dev/null 2>&1 # semihosting writes to standard error
}

# suite CPU: 4 MiB of flash, 4 of RAM, and 15 of the 16 beside it for one table at a time
suite() {
	echo "== suite, code for $1"
	if ! compile "$1" "$build/suite.elf" -Os -DARENA=0xf00000 -DVECTORS_BYTES=0xf00000 "-I$build" test/vectors_main.c \
		src/*.c -Wl,--defsym=FLASH=0x400000,--defsym=RAM=0x400000,--defsym=LARGE=0x1000000; then
		fail "suite $1" "it does not compile"
	elif emulate -M mps2-an385 -kernel "$build/suite.elf"; then
		passed="$passed suite-$1"
	else
		fail "suite $1" "the runner in C has something to say"
	fi
}

# count LEVEL: what each of four requests executes, the function that takes it and the helpers that it calls; the trace has a
# line an instruction, which ends with the function that it is in
count() {
	if ! compile cortex-m0 "$build/count.elf" "$1" -DARENA=8 $elsewhere/cortexm/count.c src/*.c \
		-Wl,--defsym=FLASH=0x40000,--defsym=RAM=0x4000,--defsym=LARGE=0x1000; then
		fail "count $1" "it does not compile"
		return
	fi
	step="-singlestep"
	$qemu -help | grep -q one-insn-per-tb && step="-accel tcg,one-insn-per-tb=on"
	if ! emulate -M microbit $step -d exec,nochain -D "$build/trace" -kernel "$build/count.elf" >"$build/log" ||
		! emulate -M microbit -icount shift=6 -kernel "$build/count.elf" >"$build/ticks"; then
		cat "$build/log"
		fail "count $1" "the program failed"
		return
	fi
	awk '$NF == "mark" { if (!inside) marks++; inside = 1; next } { inside = 0 }
		/^Trace/ && marks % 2 && $NF != "main" && $NF != "four" { n[marks]++ }
		END { for (i = 1; i <= 31; i += 2) print n[i] + 0 }' "$build/trace" >"$build/counts"
	row=0
	for policy in gcra tokenbucket leakybucket dualbucket; do
		set -- "$1" $(sed -n "$((row * 4 + 1)),$((row * 4 + 4))p" "$build/counts")
		timer=$(awk -v p=$policy '$2 == "nothing" { empty = $3 } $2 == p { printf "%.0f", ($3 - empty) / 1024 }' \
			"$build/ticks")
		printf '%-6s %-12s %6s %6s %6s %6s %8s\n' "$1" $policy "$2" "$3" "$4" "$5" "$timer"
		if [ $policy = gcra ] && { [ "$2" -eq 0 ] || [ "$2" -ge $instructions ] || [ "$3" -ge $instructions ]; }; then
			fail "count $1" "an allow of gcra takes $2 and $3 instructions, not fewer than $instructions"
		fi
		row=$((row + 1))
	done
}

# helpers: the bytes of the compiler's own functions that the least of GCRA, init and take, makes a program carry
helpers() {
	$cc -mcpu=cortex-m0plus $bare -isystem "$($cc -print-file-name=include)" -std=c11 -Os src/*.c $elsewhere/cortexm/libc.c \
		-DARENA=8 -Wl,--gc-sections,-e,weir_gcra_take,-u,weir_gcra_init -lgcc -o "$build/least.elf" 2>"$build/log" || {
		cat "$build/log"
		fail helpers "it does not link"
		return
	}
	echo "what the least of gcra needs beside it on a Cortex-M0+, in bytes (memcpy is ours, the rest is libgcc):"
	arm-none-eabi-nm -S -n -t d "$build/least.elf" | awk '$3 ~ /^[tTW]$/ && $4 !~ /^weir_/ && !seen[$1]++ {
		printf "  %-20s %4d\n", $4, $2; sum += $2 } END { printf "  %-20s %4d\n", "together", sum }'
}

want gcc-arm-none-eabi qemu-system-arm clang
if ! have $cc; then
	leave_out "all of it" "there is no $cc"
	finish
fi

if ! have $qemu; then
	leave_out "the suite" "there is no $qemu"
elif ! have go; then
	leave_out "the suite" "there is no go here to export the vectors"
else
	go run -C "$weir_root" ./cmd/weir vectors export --c-header "$build/weir_vectors.h" >/dev/null
	suite cortex-m0plus
	suite cortex-m3
fi

echo "== size of the code in bytes, -Os"
if [ -x test/size.sh ] && test/size.sh "$build"; then
	passed="$passed size"
else
	fail size "test/size.sh has something to say"
fi
helpers

echo "== instructions of a request without a table, Cortex-M0"
if ! have $qemu; then
	leave_out "the instructions" "there is no $qemu"
else
	printf '%-6s %-12s %6s %6s %6s %6s %8s\n' level policy allow indebt deny costly -icount
	before=$status
	status=0
	count -Os
	count -O2
	[ $status = 0 ] && passed="$passed count"
	[ $before = 0 ] || status=1
fi
finish
