#!/bin/sh
# Runs every test of this module. It installs a C compiler and make where it may (as root, with apt-get); what it cannot
# have it leaves out, and says so at the end. WEIR_STRICT=1 makes anything left out a failure.
set -eu
cd "$(dirname "$0")"

if ! command -v go >/dev/null; then
	echo "test.sh: there is no go command: install Go 1.25 or newer, see https://go.dev/dl" >&2
	exit 2
fi

have() { command -v "$1" >/dev/null; }

if ! have gcc || ! have g++ || ! have make || ! have cmake || ! have pkg-config; then
	if [ "$(id -u)" = 0 ] && have apt-get; then
		echo "installing a C compiler, make, cmake and pkg-config for the C library ..."
		{ apt-get update && apt-get install -y --no-install-recommends gcc g++ libc6-dev make cmake pkg-config; } \
			>/dev/null 2>&1 || true
	fi
fi

left_out=""
leave_out() { left_out="${left_out}left out: $1
"; }

CGO_ENABLED=1
if ! have "$(go env CC | cut -d ' ' -f 1)"; then
	CGO_ENABLED=0
	leave_out "the C port: there is no C compiler; install gcc (Debian: apt-get install gcc libc6-dev)"
elif ! have g++ && ! have clang++; then
	leave_out "the C headers as C++: there is no C++ compiler; install g++ (Debian: apt-get install g++)"
fi
export CGO_ENABLED

if [ -z "${WEIR_REDIS_SERVER:-}" ] && ! have redis-server && ! have valkey-server; then
	if [ "$(id -u)" = 0 ] && have apt-get; then
		echo "installing a Redis server for the scripts ..."
		{ apt-get update && apt-get install -y --no-install-recommends redis-server; } >/dev/null 2>&1 || true
	fi
	if ! have redis-server; then
		leave_out "the scripts on a real server: there is no redis-server; install one (Debian: apt-get install redis-server)"
	fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
go test -v "$@" ./... >"$log" 2>&1 || status=$?

if [ "$status" != 0 ]; then
	grep -vE '^ *(=== (RUN|PAUSE|CONT|NAME)|--- PASS)' "$log" || true
else
	grep -E '^ok ' "$log"
fi
grep -E '^ *--- SKIP' -A 2 "$log" || true
count() { grep -cE "^ *--- $1" "$log" || true; }
skipped=$(count SKIP)
if [ "$skipped" != 0 ]; then
	leave_out "$skipped tests that say above why"
fi
printf '%s' "$left_out"
echo "$(count PASS) passed, $(count FAIL) failed, $skipped skipped"
if [ "$status" = 0 ] && [ -n "$left_out" ] && [ "${WEIR_STRICT:-}" = 1 ]; then
	status=1
fi
exit "$status"
