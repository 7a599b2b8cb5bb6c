#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a C header with the bytes of a file: embed.py NAME INPUT OUTPUT."""
import pathlib
import sys


def main():
    name, source, destination = sys.argv[1:]
    content = pathlib.Path(source).read_bytes()
    lines = [f"static const unsigned char {name}[] = {{"]
    for start in range(0, len(content), 16):
        lines.append("\t" + ", ".join(f"{byte:#04x}" for byte in content[start:start + 16]) + ",")
    lines.append("};")
    pathlib.Path(destination).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
