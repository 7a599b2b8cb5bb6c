#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the ELF files of the unit tests: make.sh DIRECTORY COMPILER...
#
# One source in every shape that a distribution may ship it in.
set -eu

source=$(realpath "$(dirname "$0")/sample.c")
out=$1
shift

rm -rf "$out"
mkdir -p "$out"
cd "$out"
build() {
	name=$1
	shift
	"$@" -O1 -Wl,--build-id=sha1 -o "$name" "$source"
}

build dwarf5 "$@" -gdwarf-5
build dwarf4 "$@" -gdwarf-4
build dwarf2 "$@" -gdwarf-2 -gstrict-dwarf
build compressed "$@" -gdwarf-5 -gz=zlib
build split "$@" -gdwarf-5 -gsplit-dwarf
build plain "$@" -g0
build static "$@" -g0 -static
build library "$@" -g0 -shared -fPIC
build large "$@" -g0 -DLARGE
"$@" -g -pthread -o blocking "$(dirname "$source")/blocking.c"
build preloaded "$@" -g -shared -fPIC -DPRELOADED
strip -o stripped plain
strip -o stripped_large large
strip -o stripped_library library
echo 'int main(void) { return 0; }' | "$@" -o without_tls -x c -
objcopy --compress-debug-sections=zlib-gnu dwarf4 zdebug

# Debug information apart: beside the program, and by its checksum.
objcopy --only-keep-debug dwarf5 linked.debug
cp dwarf5 linked
strip -g linked
objcopy --add-gnu-debuglink=linked.debug linked
touch made
