#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the programs whose stacks the unit tests unwind: make.sh DIRECTORY COMPILER...
#
# One source in every shape that a distribution may ship it in.
set -eu

source=$(realpath "$(dirname "$0")/chain.c")
out=$1
shift

rm -rf "$out"
mkdir -p "$out"
cd "$out"
build() {
	name=$1
	shift
	"$@" -pthread -Wl,--build-id=sha1 -o "$name" "$source" -lm
}

build optimized "$@" -O2 -fomit-frame-pointer
build lazy "$@" -O2 -fomit-frame-pointer -Wl,-z,lazy -Wl,-z,ibtplt
build unoptimized "$@" -O0
build fixed "$@" -O2 -no-pie -fno-pie
build static "$@" -O2 -static
build static_pie "$@" -O2 -static-pie
build without_id "$@" -O2 -Wl,--build-id=none
build frame_pointer "$@" -O1 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables
build debug_frame "$@" -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables
strip -o stripped optimized
strip -o stripped_static static
