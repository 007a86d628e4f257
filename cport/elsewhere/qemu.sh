#!/bin/sh
# The C library on other processors: cross-compiles test/port.c and test/vectors_main.c with the library, strictly, and
# runs both under qemu's user emulation, the first asked by `weir verify`, the second by itself. s390x is big-endian, armhf
# and i686 have 32 bits. Each must be conformant. See lib.sh for --install and WEIR_STRICT.
set -eu
. "$(dirname "$0")/lib.sh"

# architecture, compiler, emulator, its libc
targets="aarch64 aarch64-linux-gnu-gcc qemu-aarch64 libc6-dev-arm64-cross
armhf arm-linux-gnueabihf-gcc qemu-arm libc6-dev-armhf-cross
riscv64 riscv64-linux-gnu-gcc qemu-riscv64 libc6-dev-riscv64-cross
s390x s390x-linux-gnu-gcc qemu-s390x libc6-dev-s390x-cross
i686 i686-linux-gnu-gcc qemu-i386 libc6-dev-i386-cross"

# verify PORT: asks a port; its verdict is the last line
verify() {
	why="weir verify has something to say"
	if ! "$build/weir" verify --protocol text --port "$1" >"$build/log" 2>&1; then
		cat "$build/log"
		return 1
	fi
	tail -n 1 "$build/log"
	why="the port is not conformant"
	tail -n 1 "$build/log" | grep -q '^conformant: '
}

# one ARCHITECTURE COMPILER EMULATOR: builds both programs and runs them; a word of what went wrong is in $why
one() {
	compile="$2 $strict_flags -O2 -static -Iinclude -I$build"
	why="test/port.c does not compile"
	$compile test/port.c src/*.c -o "$build/$1-port" || return 1
	why="test/vectors_main.c does not compile"
	$compile test/vectors_main.c src/*.c -o "$build/$1-vectors" || return 1
	verify "$3 $build/$1-port" || return 1
	why="the runner in C has something to say"
	"$3" "$build/$1-vectors" >"$build/log" 2>&1 || {
		cat "$build/log"
		return 1
	}
	grep '^left out' "$build/log" || true
	tail -n 1 "$build/log"
}

want gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf gcc-riscv64-linux-gnu gcc-s390x-linux-gnu gcc-i686-linux-gnu \
	$(echo "$targets" | awk '{ print $4 }') qemu-user
if ! have go; then
	leave_out "all of it" "there is no go here to ask the ports"
	finish
fi
go build -C "$weir_root" -o "$build/weir" ./cmd/weir
"$build/weir" vectors export --c-header "$build/weir_vectors.h" >/dev/null

echo "== here"
if ! have "${CC:-cc}"; then
	leave_out here "there is no ${CC:-cc}"
else
	why="test/port.c does not compile"
	${CC:-cc} $strict_flags -O2 -Iinclude test/port.c src/*.c -o "$build/port" && verify "$build/port" || fail here "$why"
fi

while read -r name compiler emulator _; do
	echo "== $name"
	have "$emulator" || emulator=$emulator-static
	if ! have "$compiler"; then
		leave_out "$name" "there is no $compiler"
	elif ! have "$emulator"; then
		leave_out "$name" "there is no ${emulator%-static}, of qemu-user or qemu-user-static"
	elif one "$name" "$compiler" "$emulator" </dev/null; then
		passed="$passed $name"
	else
		fail "$name" "$why"
	fi
done <<END
$targets
END
finish
