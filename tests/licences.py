#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every source file names its licence: usage: licences.py SOURCE-ROOT"""
import pathlib
import re
import sys

SUFFIXES = {".c", ".cc", ".css", ".def", ".h", ".job", ".js", ".map", ".mjs", ".py", ".scd", ".sh"}
NAMES = {"Makefile", "rules", "meson.build", "meson_options.txt"}
FOLDERS = [".", "bench", "bpf", "completions", "debian", "demo", "examples", "include", "man", "src", "tests", "tools", "web"]

# Text that tests read as data, not source.
DATA = {"corpus", "data", "expected"}

IDENTIFIER = re.compile(r"SPDX-License-Identifier: ([\w.-]+(?: OR [\w.-]+)*)")


def sources(root):
    for folder in FOLDERS:
        pattern = "*" if folder == "." else "**/*"
        for path in sorted((root / folder).glob(pattern)):
            parts = path.relative_to(root).parts
            if path.is_file() and not DATA.intersection(parts) and \
                    (path.suffix in SUFFIXES or path.name in NAMES):
                yield path


def error(root, path):
    """What is wrong with the licence line of a file, or None."""
    opening = "".join(path.read_text().splitlines(keepends=True)[:5])
    found = IDENTIFIER.search(opening)
    if not found:
        return "no SPDX-License-Identifier in its first lines"
    for licence in found[1].split(" OR "):
        if not (root / "LICENSES" / f"{licence}.txt").exists():
            return f"LICENSES/{licence}.txt does not exist"
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    errors = [(path, error(root, path)) for path in sources(root)]
    for path, text in errors:
        if text:
            print(f"{path.relative_to(root)}: {text}")
    return 1 if not errors or any(text for _, text in errors) else 0


if __name__ == "__main__":
    sys.exit(main())
