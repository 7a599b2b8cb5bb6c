#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes an archive of one object out of one of many, in which only what is public has a name: so a
# static library clashes with no name of a program: usage: merge-archive.sh IN.a OUT.a AR OBJCOPY COMPILER...
set -eu

input=$1
output=$2
ar=$3
objcopy=$4
shift 4
object=${output%.a}.o

"$@" -r -nostdlib -o "$object" -Wl,--whole-archive "$input" -Wl,--no-whole-archive
"$objcopy" --localize-hidden "$object"
rm -f "$output"
"$ar" rcs "$output" "$object"
rm -f "$object"
