#!/bin/sh
# The steps of the four buckets in the kernel: clang compiles them for BPF, and a Go program loads them (github.com/cilium/ebpf)
# and runs the vectors through the kernel's test run, one packet a request. It needs root, or CAP_BPF and CAP_NET_ADMIN; what
# the kernel says where it refuses is shown. See lib.sh for --install and WEIR_STRICT.
set -eu
. "$(dirname "$0")/lib.sh"

want clang
for tool in go clang; do
	if ! have $tool; then
		leave_out "all of it" "there is no $tool"
		finish
	fi
done
if ! clang --print-targets | grep -q 'bpf '; then
	leave_out "all of it" "this clang has no bpf"
	finish
fi
cd $elsewhere
echo "== kernel $(uname -r)"
if ! go vet ./bpf || ! go test -count=1 -v ./bpf >"$build/log" 2>&1; then
	cat "$build/log"
	fail bpf "go test has something to say"
elif grep -q '^--- SKIP' "$build/log"; then
	leave_out "all of it" "$(sed -n 's/^ *bpf_test.go:[0-9]*: //p' "$build/log" | head -n 1)"
else
	sed -n 's/^ *bpf_test.go:[0-9]*: //p' "$build/log"
	tail -n 1 "$build/log"
	passed="$passed bpf"
fi
finish
