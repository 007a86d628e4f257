#!/bin/sh
# Builds every port in this folder, runs its own tests, and puts it through the vectors. What the machine cannot run is left
# out and said so at the end; WEIR_STRICT=1 makes that a failure. Nothing is written into the tree.
set -eu
cd "$(dirname "$0")/../.."

have() { command -v "$1" >/dev/null 2>&1; }

if ! have go; then
	echo "verify.sh: there is no go command: install Go 1.25 or newer, see https://go.dev/dl" >&2
	exit 2
fi

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
trap 'exit 1' HUP INT TERM
ports=examples/ports
status=0
passed=""
failed=""
left_out=""

leave_out() { # language, why
	left_out="${left_out}left out: $1: $2
"
}

# Runs the commands of a language, the port's own tests first, until one fails.
verify() { # language, function
	echo "== $1"
	if "$2" >"$build/log" 2>&1; then
		cat "$build/log"
		passed="$passed $1"
	else
		cat "$build/log"
		failed="$failed $1"
		status=1
	fi
}

# The ports claim everything, so whatever is left out is a failure too.
weir_verify() { go run ./cmd/weir verify -strict "$@"; }

python() {
	export PYTHONDONTWRITEBYTECODE=1
	python3 -m unittest discover -s $ports/python &&
		weir_verify --port "python3 $ports/python/driver.py"
}

javascript() {
	node --test $ports/javascript/weir.test.mjs >"$build/node" || { cat "$build/node"; return 1; }
	grep -E '^# (tests|pass|fail)' "$build/node"
	weir_verify --port "node $ports/javascript/driver.mjs"
}

rust() {
	export CARGO_TARGET_DIR="$build/rust"
	cargo test -q --locked --manifest-path $ports/rust/Cargo.toml --test weir &&
		cargo build -q --locked --release --manifest-path $ports/rust/Cargo.toml &&
		weir_verify --port "$build/rust/release/driver" --protocol text
}

java_() {
	javac -Xlint:all -d "$build/java" $ports/java/*.java &&
		java -cp "$build/java" WeirTest &&
		weir_verify --port "java -cp $build/java Driver" --protocol text
}

if have python3; then
	verify python python
else
	leave_out python "there is no python3"
fi

if ! have node; then
	leave_out javascript "there is no node"
elif [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
	leave_out javascript "node is older than 20"
else
	verify javascript javascript
fi

if have cargo; then
	verify rust rust
else
	leave_out rust "there is no cargo"
fi

if ! have javac || ! have java; then
	leave_out java "there is no javac or no java"
elif ! javac --release 17 -version >/dev/null 2>&1; then
	leave_out java "the JDK is older than 17"
else
	verify java java_
fi

echo "== all"
echo "passed:${passed:- none}"
if [ -n "$failed" ]; then
	echo "failed:$failed"
fi
printf '%s' "$left_out"
if [ -n "$left_out" ] && [ "${WEIR_STRICT:-}" = 1 ]; then
	status=1
fi
exit "$status"
