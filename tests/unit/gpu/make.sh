#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes stand-ins for NVIDIA's library and nvidia-smi, one directory for each thing that can happen:
# usage: make.sh DIRECTORY COMPILER...
set -eu

here=$(dirname "$0")
out=$1
shift
compiler="$* -std=gnu17 -D_GNU_SOURCE -O1"

library() { # NAME FLAG...
	name=$1
	shift
	mkdir -p "$out/$name"
	$compiler -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 "$@" "$here/library.c" \
		-o "$out/$name/libnvidia-ml.so.1.0"
	ln -sf libnvidia-ml.so.1.0 "$out/$name/libnvidia-ml.so.1"
}
program() { # NAME FLAG...
	name=$1
	shift
	mkdir -p "$out/$name"
	$compiler "$@" "$here/nvidia_smi.c" -o "$out/$name/nvidia-smi"
}

library two
library init-error -DINIT_ERROR=9
library unsupported -DUNSUPPORTED
library lost -DLOST
library all-lost -DCOUNT_ERROR=15
library missing-symbols -DMISSING
library missing-init -DMISSING_INIT
library first-version -DFIRST_VERSION
library too-small -DTOO_SMALL
library wrong-size -DWRONG_SIZE
library wrong-count -DWRONG_COUNT
library long-list -DLONG_LIST
library wild -DWILD
library hangs -DHANGS
library slow -DSLOW
library crashes -DCRASHES
library ends -DENDS
library nosy -DNOSY
mkdir -p "$out/empty" "$out/no-library"
echo 'not a library' >"$out/no-library/libnvidia-ml.so.1"

program smi
program smi-garbage -DGARBAGE
program smi-fails -DFAILS=9
program smi-lost -DLOST
program smi-hangs -DHANGS
program smi-endless -DENDLESS
library init-error-and-smi -DINIT_ERROR=18
program init-error-and-smi
