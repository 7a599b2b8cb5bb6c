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
	$compiler -shared -fPIC -DMARKER="\"$marker\"" "$@" "$here/library.c" -o "$out/$name.so"
}
program() { # NAME FLAG...
	name=$1
	shift
	$compiler "$here/program.c" "$@" -o "$out/$name"
}

compiler="$* -std=gnu17 -D_GNU_SOURCE -O1"
inside='-l:libjemalloc.a -lm -lstdc++ -lpthread -ldl'
mkdir -p "$out"
out=$(realpath "$out") # it stands in files that are made
# Every user can reach it, and no other build has the same.
marker=$(mktemp -u /var/tmp/taskscope-oracle-marker.XXXXXX)
printf %s "$marker" >"$out/marker"

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

library marks -DMARKS
mkdir -p "$out/deep/er" "$out/strange"
cp "$out/marks.so" "$out/deep/er"
ln -sf marks.so "$out/link.so"
ln -sfn er "$out/deep/link"

# What sends the loader to a place that may be a stranger's: by itself, or by a library that it needs.
library strange/libstrange -DMARKS -DMALLCTL=strange -Wl,-soname,libstrange.so
strange="-Wl,--no-as-needed -L$out/strange -lstrange -Wl,-rpath,$out/strange"
$compiler -shared -fPIC "$here/library.c" $strange -o "$out/strays.so"
$compiler -shared -fPIC -DMALLCTL=between "$here/library.c" -Wl,-soname,libbetween.so $strange \
	-o "$out/libbetween.so"

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
program program-strays $inside $strange
program program-strays-far $inside -Wl,--no-as-needed -L"$out" -lbetween -Wl,-rpath,'$ORIGIN'
cp -L "$(ldd "$out/pie" | sed -n 's,^[[:space:]]*\(/.*/ld[^ ]*\) .*,\1,p')" "$out/strange/loader"
program program-interpreted $inside -Wl,--dynamic-linker="$out/strange/loader"
program program-wants-threads -DWANTS_THREADS $inside
cp "$out/pie" "$out/private" && chmod 0700 "$out/private"
ln -sf "$($* -print-file-name=libjemalloc.so.2)" "$out/libjemalloc.so.2"
