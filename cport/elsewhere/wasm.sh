#!/bin/sh
# The C library as WebAssembly: clang builds it for wasm32 without a libc, wazero runs it in a Go program, and the whole suite
# is put through it. See lib.sh for --install and WEIR_STRICT.
set -eu
. "$(dirname "$0")/lib.sh"

want clang lld
for tool in go clang wasm-ld; do
	if ! have $tool; then
		leave_out "all of it" "there is no $tool"
		finish
	fi
done
if ! clang --print-targets | grep -q wasm32; then
	leave_out "all of it" "this clang has no wasm32"
	finish
fi
cd $elsewhere
echo "== tests"
if go vet ./wasm/... && go test -count=1 ./wasm/...; then
	passed="$passed tests"
else
	fail tests "go test has something to say"
fi
echo "== verify"
if go run ./wasm/verify >"$build/log"; then
	passed="$passed verify"
else
	cat "$build/log"
	fail verify "the module does not do as the vectors say"
fi
tail -n 1 "$build/log"
finish
