#!/bin/sh
# The functions that the public headers declare, one a line: what a shared library exports. It takes the house's layout
# for granted: a declaration begins in the first column, and what is not exported there is static.
set -eu
cd "$(dirname "$0")"
awk '/^[a-z]/ && !/^(static|typedef|extern|enum|struct) / && match($0, /weir_[a-z0-9_]+\(/) {
	print substr($0, RSTART, RLENGTH - 1)
}' include/weir/*.h | LC_ALL=C sort -u
