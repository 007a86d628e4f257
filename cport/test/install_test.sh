#!/bin/sh
# Installs the library as a user would, with make and with CMake, and builds a small program against what was installed:
# by pkg-config, static and shared, by find_package, and by add_subdirectory. What this machine lacks is named and left out.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
CC=${CC:-cc}
MAKE=${MAKE:-make}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

have() { command -v "$1" >/dev/null; }
say() { echo "install: $*"; }
fail() {
	say "$*" >&2
	exit 1
}
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "failed: $*"; }; }

cat >"$work/main.c" <<'END'
#include <weir/gcra.h>

int main(void)
{
    static uint64_t block[(WEIR_GCRA_HEADER + 24 * 8) / 8];
    const weir_limit limit = {1, 1000, 1, 0, 0, 0};
    weir_gcra *table = (weir_gcra *)block;

    if (weir_gcra_init(block, sizeof block, &limit, 8, 1) != WEIR_OK) {
        return 1;
    }
#ifndef WEIR_NO_MALLOC
    if (weir_gcra_create(&table, &limit, 8, 1) != WEIR_OK) {
        return 2;
    }
#endif
    return weir_gcra_take(table, 0, 7, 1).outcome == WEIR_ALLOW ? 0 : 3;
}
END

# by_pkg_config LIBDIR: the flags are right, for the shared library and for the static one
by_pkg_config() {
	if ! have pkg-config; then
		say "pkg-config: skipped, there is none here"
		return
	fi
	export PKG_CONFIG_PATH="$1/pkgconfig"
	flags=$(pkg-config --cflags --libs weir)
	# shellcheck disable=SC2086
	quiet "$CC" "$work/main.c" $flags -o "$work/shared"
	quiet env LD_LIBRARY_PATH="$1" "$work/shared"
	# shellcheck disable=SC2046
	quiet "$CC" "$work/main.c" $(pkg-config --cflags weir) "$1/libweir.a" -o "$work/static"
	quiet "$work/static"
	[ "$(pkg-config --modversion weir)" = "$(sed -n 's/^#define WEIR_VERSION "\(.*\)"$/\1/p' include/weir/weir.h)" ] ||
		fail "weir.pc has another version than weir.h"
	say "pkg-config: a program runs with the shared and with the static library ($2)"
}

# blank ARGUMENT...: make refuses a path with a blank, and touches nothing that has a part of its name
blank() {
	echo mine >"$work/a"
	if "$MAKE" BUILD="$work/build" "$@" >"$work/log" 2>&1; then fail "make takes a path with a blank: $*"; fi
	grep -q 'has a blank' "$work/log" || fail "make does not say what is wrong: $*"
	[ "$(cat "$work/a")" = mine ] || fail "make touches what is not its own: $*"
}

# both_ways: one tree, made with and without create; each way installs its own
both_ways() {
	mkdir "$work/tree"
	cp -r Makefile declared.sh weir.pc.in include src "$work/tree"
	quiet "$MAKE" -C "$work/tree" all
	quiet "$MAKE" -C "$work/tree" PREFIX="$work/bareprefix" WEIR_NO_MALLOC=1 install
	by_pkg_config "$work/bareprefix/lib" "make, WEIR_NO_MALLOC"
	! grep -q gcra_create "$work/bareprefix/lib/libweir.a" || fail "create is there with WEIR_NO_MALLOC"
	quiet "$MAKE" -C "$work/tree" PREFIX="$work/fullprefix" install
	by_pkg_config "$work/fullprefix/lib" "make, after WEIR_NO_MALLOC"
	quiet "$MAKE" -C "$work/tree" clean
	[ -z "$(find "$work/tree" -name 'build*')" ] || fail "clean leaves a build"
}

by_make() {
	if ! have "$MAKE"; then
		say "make: skipped, there is none here"
		return
	fi
	# GNU make hands its own flags down, which are not these builds'.
	unset MAKEFLAGS MAKELEVEL MFLAGS BUILD
	quiet "$MAKE" BUILD="$work/build" PREFIX="$work/prefix" install
	by_pkg_config "$work/prefix/lib" make
	quiet "$MAKE" BUILD="$work/build" PREFIX="$work/prefix" uninstall
	left=$(find "$work/prefix" ! -type d)
	[ -z "$left" ] || fail "uninstall leaves $left"
	quiet "$MAKE" BUILD="$work/build" PREFIX=/usr DESTDIR="$work/stage" install
	grep -q '^includedir=/usr/include$' "$work/stage/usr/lib/pkgconfig/weir.pc" || fail "DESTDIR shows in weir.pc"
	quiet "$MAKE" BUILD="$work/build" PREFIX=/usr DESTDIR="$work/stage" uninstall
	left=$(find "$work/stage" ! -type d)
	[ -z "$left" ] || fail "uninstall leaves $left"
	blank PREFIX="$work/a b" install
	blank PREFIX="$work/a b" uninstall
	blank PREFIX="$work/c" DESTDIR="$work/a b" install
	both_ways
	say "make: install and uninstall, with PREFIX and DESTDIR"
}

# configure SOURCE BUILD OPTION...
configure() {
	source=$1 into=$2
	shift 2
	quiet cmake -S "$source" -B "$into" -DCMAKE_C_COMPILER="$CC" "$@"
	quiet cmake --build "$into"
}

# consumer FOLDER LINES: a project of one program that gets weir by these lines
consumer() {
	mkdir -p "$1"
	cp "$work/main.c" "$1"
	{
		printf 'cmake_minimum_required(VERSION 3.16)\nproject(consumer C)\n%s\n' "$2"
		printf 'add_executable(main main.c)\ntarget_link_libraries(main PRIVATE weir::weir)\n'
	} >"$1/CMakeLists.txt"
}

by_cmake() {
	if ! have cmake; then
		say "cmake: skipped, there is none here"
		return
	fi
	consumer "$work/found" 'find_package(weir 0.1 REQUIRED)'
	consumer "$work/inside" "add_subdirectory($top weir)"
	for bare in OFF ON; do
		# Installed elsewhere than it was configured for: what is found there must not lead to nowhere.
		configure "$top" "$work/cmake$bare" -DCMAKE_INSTALL_PREFIX="$work/nowhere" -DCMAKE_INSTALL_LIBDIR=lib \
			-DWEIR_NO_MALLOC=$bare
		quiet cmake --install "$work/cmake$bare" --prefix "$work/cmakeprefix$bare"
		by_pkg_config "$work/cmakeprefix$bare/lib" "cmake, WEIR_NO_MALLOC=$bare"
		for shared in OFF ON; do
			configure "$work/found" "$work/found$bare$shared" -DCMAKE_PREFIX_PATH="$work/cmakeprefix$bare" \
				-DBUILD_SHARED_LIBS=$shared
			quiet "$work/found$bare$shared/main"
		done
		configure "$work/inside" "$work/inside$bare" -DWEIR_NO_MALLOC=$bare
		quiet "$work/inside$bare/main"
	done
	say "cmake: a project finds the installed package, static and shared, and one has it as a subdirectory"
	if have nm; then
		nm -D --defined-only "$work/cmakeOFF/libweir.so" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort >"$work/exported"
		./declared.sh | cmp - "$work/exported" || fail "cmake's shared library does not export what the headers declare"
	fi
}

by_make
by_cmake
