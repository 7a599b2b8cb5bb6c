#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the heap workload in every way that jemalloc gets into a program, and a hostile one:
#	heap_workload.sh DIRECTORY COMPILER...
#
# A way that does not build here (a missing library) is left out; the tests say so.
set -eu

here=$(realpath "$(dirname "$0")")
source=$here/heap_workload.c
out=$1
shift

rm -rf "$out"
mkdir -p "$out"
cd "$out"
build() {
	name=$1
	shift
	"$@" || rm -f "$name"
}

build silent.so "$@" -O1 -shared -fPIC -Wl,--build-id=sha1 -DSLEEPS -o silent.so "$here/heap_stranger.c"
build stranger.so "$@" -O1 -shared -fPIC -Wl,--build-id=sha1 -o stranger.so "$here/heap_stranger.c"
build stranger "$@" -D_GNU_SOURCE -O1 -pthread -rdynamic -Wl,--build-id=sha1 -o stranger "$source" "$here/heap_stranger.c"
build silent_mount "$@" -D_GNU_SOURCE -O1 -o silent_mount "$here/silent_mount.c"
build hostile "$@" -D_GNU_SOURCE -O1 -pthread -o hostile "$here/heap_hostile.c" -ldl
build churn "$@" -D_GNU_SOURCE -O1 -g -pthread -o churn "$here/heap_churn.c"
build libchurn.so "$@" -D_GNU_SOURCE -O1 -g -shared -fPIC -DCOUNTERS -o libchurn.so "$here/heap_churn.c"
build churn_linked "$@" -D_GNU_SOURCE -O1 -pthread -DCOUNTED -o churn_linked "$here/heap_churn.c" \
	-L. -lchurn -Wl,-rpath,"\$ORIGIN"
build plain "$@" -D_GNU_SOURCE -O1 -pthread -DPRELOADED -o plain "$source"
build linked "$@" -D_GNU_SOURCE -O1 -pthread -o linked "$source" -ljemalloc
build inside "$@" -D_GNU_SOURCE -O1 -pthread -o inside "$source" -l:libjemalloc.a -lm
build static "$@" -D_GNU_SOURCE -O1 -pthread -static -o static "$source" -l:libjemalloc.a -lm
for name in inside static; do
	[ ! -e $name ] || strip -o ${name}_stripped $name
done

# Symbols in a file of their own, without a word about types; and a file that has not even those.
apart() { # NAME DEBUG-FILE
	strip -o "$1" inside
	objcopy --add-gnu-debuglink="$2" "$1"
}
if [ -e inside ]; then
	objcopy --only-keep-debug inside inside_named.debug
	apart inside_named inside_named.debug
	strip -o inside_unnamed.debug inside
	apart inside_unnamed inside_unnamed.debug
fi

# jemalloc with debug information, which Debian's has not: in the program, and in a file of its own.
build described "$@" -D_GNU_SOURCE -O1 -g -Wl,--build-id=sha1 -pthread -DOWN_COUNTERS -o described "$source"
build own.so "$@" -D_GNU_SOURCE -O1 -g -Wl,--build-id=sha1 -shared -fPIC -DOWN_COUNTERS -DLIBRARY -o own.so "$source"
build opens "$@" -D_GNU_SOURCE -O1 -pthread -DOWN_COUNTERS "-DOPENED=\"own.so\"" -Wl,-rpath,"\$ORIGIN" -o opens "$source" -ldl
cp described apart
objcopy --only-keep-debug described apart.debug
strip -g apart
objcopy --add-gnu-debuglink=apart.debug apart
