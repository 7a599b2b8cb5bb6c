#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the programs whose functions are named: make.sh DIRECTORY COMPILER...
#
# One source in every shape that a distribution may ship it in.
set -eu

here=$(realpath "$(dirname "$0")")
out=$1
shift

rm -rf "$out"
mkdir -p "$out"
cd "$out"
build() {
	name=$1
	shift
	"$@" -O2 -fomit-frame-pointer -Wl,--build-id=sha1 -o "$name" "$here/program.c"
}

build pie "$@" -gdwarf-5 -fPIE -pie
build fixed "$@" -gdwarf-4 -fno-pie -no-pie
build static "$@" -g -static
build packed "$@" -gdwarf-5 -gz=zlib -fPIE -pie
build plain "$@" -g0 -fPIE -pie
build library "$@" -g0 -fPIC -shared
g++ -O2 -g0 -o cplusplus "$here/program.cc"
strip -o stripped pie
strip -o stripped_fixed fixed
strip -o stripped_library library

# Debug information apart from its program, and one that belongs to another program.
objcopy --only-keep-debug pie pie.debug
objcopy --only-keep-debug fixed fixed.debug

# As Fedora does it: the symbols alone, packed, in a section of the stripped program.
objcopy --only-keep-debug plain plain.debug
xz -k -c plain.debug > plain.xz
strip -o mini plain
objcopy --add-section .gnu_debugdata=plain.xz mini

# To be named while they run, and afterwards.
"$@" -O2 -g0 -fomit-frame-pointer -Wl,--build-id=sha1 -o sleeper "$here/sleeper.c" -ldl
objcopy --only-keep-debug sleeper sleeper_stripped.debug
strip -o sleeper_stripped sleeper
