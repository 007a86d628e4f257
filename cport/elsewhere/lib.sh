# lib.sh - what the scripts of this folder share: a scratch folder, what was left out, and how they end. They are run by
# sh with `set -eu` and write nothing into the tree. Arguments: --install lets apt-get bring what is missing (Debian, as
# root). WEIR_STRICT=1 makes whatever is left out a failure.

cd "$(dirname "$0")/.." # cport
elsewhere=elsewhere
weir_root=..
strict_flags="-std=c11 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
trap 'exit 1' HUP INT TERM
status=0
left_out=""
passed=""
install=0
for argument in "$@"; do
	case "$argument" in
	--install) install=1 ;;
	*)
		echo "usage: $0 [--install]" >&2
		exit 2
		;;
	esac
done

have() { command -v "$1" >/dev/null 2>&1; }

leave_out() { # what, why
	echo "left out: $1: $2"
	left_out="${left_out}left out: $1: $2
"
}

fail() { # what, why
	echo "FAILED: $1: $2" >&2
	status=1
}

# Asks apt-get for packages, if it may. What it cannot bring is left out later, by the tool that is missing.
want() { # package...
	if [ "$install" = 0 ]; then return; fi
	if ! have apt-get; then
		echo "--install: there is no apt-get here" >&2
		return
	fi
	apt-get update -qq >"$build/apt" 2>&1 || tail -n 3 "$build/apt" >&2
	for package in "$@"; do
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >"$build/apt" 2>&1 ||
			{ echo "--install: apt-get has no $package for us:" && tail -n 2 "$build/apt"; } >&2
	done
}

# The verdict: everything that ran, then everything that did not.
finish() {
	echo "== all"
	echo "passed:${passed:- none}"
	printf '%s' "$left_out"
	if [ -n "$left_out" ] && [ "${WEIR_STRICT:-}" = 1 ]; then
		echo "WEIR_STRICT=1: what is left out is a failure"
		status=1
	fi
	exit "$status"
}
