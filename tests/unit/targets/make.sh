#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the programs that the unit tests look at while they run: make.sh DIRECTORY COMPILER...
set -eu

here=$(realpath "$(dirname "$0")")
out=$1
shift

rm -rf "$out"
mkdir -p "$out"
cd "$out"
library() {
	name=$1
	shift
	"$@" -O1 -shared -fPIC -o "$name" "$here/library.c"
}
program() {
	name=$1
	shift
	"$@" -O1 -pthread -o "$name" "$here/target.c" -ldl
}

library preloaded.so "$@" -DFUNCTION=preloaded_variable
library loaded.so "$@" -DFUNCTION=loaded_variable
program dynamic "$@"
program static "$@" -static -DWITHOUT_LOADER
strip -o stripped static

# Linkers align the thread-local segment themselves, unless they are told its address.
odd="-no-pie -fuse-ld=lld -Wl,-z,norelro -Wl,--section-start=.tdata=0x900003"
# shellcheck disable=SC2086 # options, split into words on purpose
program misaligned "$@" $odd
# shellcheck disable=SC2086
program misaligned_static "$@" $odd -static -DWITHOUT_LOADER
