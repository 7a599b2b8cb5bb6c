#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes what the oracle is asked in its test: usage: make.sh DIRECTORY COMPILER...
set -eu

here=$(dirname "$0")
out=$1
shift
library() { # NAME FLAG...
	name=$1
	shift
	$compiler -shared -fPIC "$@" "$here/library.c" -o "$out/$name.so"
}
program() { # NAME FLAG...
	name=$1
	shift
	$compiler "$here/program.c" "$@" -o "$out/$name"
}

compiler="$* -std=gnu17 -D_GNU_SOURCE -O1"
inside='-l:libjemalloc.a -lm -lstdc++ -lpthread -ldl'
mkdir -p "$out"

library plain
library prefixed -DMALLCTL=odd_prefix_mallctl
library rust -DMALLCTL=_rjem_mallctl
library without -DMALLCTL=something_else
library sleeps -DSLEEPS
library spins -DSPINS
library crashes -DCRASHES
library eats-memory -DEATS_MEMORY
library escapes -DESCAPES
library looks-around -DLOOKS_AROUND
library points-elsewhere -DPOINTS_ELSEWHERE

echo 'int needed(void); int needed(void) { return 0; }' >"$out/needed.c"
$compiler -shared -fPIC -Wl,-soname,libtaskscope-is-nowhere.so "$out/needed.c" -o "$out/needed.so"

program shared -ljemalloc
program pie -fPIE -pie $inside
program fixed -fno-pie -no-pie $inside
program static -static $inside
program static-pie -static-pie -fPIE $inside
program program-sleeps -DSLEEPS $inside
program program-crashes -DCRASHES $inside
program program-exits -DEXITS $inside
program program-forks -DFORKS $inside
program program-traps -DTRAPS $inside
program program-needs -DNEEDS "$out/needed.so" $inside
program program-wants-threads -DWANTS_THREADS $inside
cp "$out/pie" "$out/private" && chmod 0700 "$out/private"
ln -sf "$($* -print-file-name=libjemalloc.so.2)" "$out/libjemalloc.so.2"
