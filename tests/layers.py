#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the architecture: usage: layers.py SOURCE-ROOT

A folder of src/ includes only its own headers and those of the folders below it, in the form
"folder/name.h".  Only src/host spells a path below /proc, so that every reader also runs on a
recorded root; and src/lib, which is part of another program and reads its own; and base/output/place.c,
which asks who mounted what we are about to write to, on this host.  bpf/ knows nothing
of src/ but the table of waits.  A folder that grows beyond ROOM_MAX files is split by subject.
"""
import collections
import pathlib
import re
import sys

# What each folder sees directly; what those see, it sees too.
BELOW = {
    "base": [],
    "metric": ["base"],
    "model": ["metric"],
    "host": ["base"],
    "collect": ["model", "host", "bpf"],
    "trace": ["model", "host", "bpf"],
    "analyze": ["model"],
    "store": ["model"],
    "render": ["analyze"],
    "record": ["collect", "trace", "analyze", "store", "render"],
    "session": ["collect", "trace", "analyze", "store", "render"],
    "tui": ["collect", "trace", "store", "render"],
    "web": ["collect", "store", "render"],
    "export": ["store", "render"],
    "lib": [],
    "cli": ["record", "session", "export", "tui", "web"],
    "bpf": [],
}

# What the library shares with the program: the layout of the shared memory, and the table of the
# machine's system calls, which holds nothing but rows.
EXCEPTIONS = {("lib", "base/scope_layout.h"), ("lib", "base/syscall/syscall_numbers.def"),
              ("bpf", "../src/metric/waits.def")}

# Asks about the file system that it writes to, which is never that of a recorded root.
PROC_USERS = {"src/base/output/place.c"}

ROOM_MAX = 32

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
# Comments, character constants and strings, in one pass, so that none is mistaken for another.
TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])+'|"((?:\\.|[^"\\\n])*)\"""", re.DOTALL)


def visible(layer):
    return {layer}.union(*(visible(lower) for lower in BELOW[layer]))


def owner(include):
    """The folder an include belongs to; a generated skeleton has no folder in its name."""
    if include.endswith(".skel.h"):
        return "bpf"
    return include.split("/")[0] if "/" in include else None


def include_error(layer, include):
    folder = owner(include)
    # The kernel side names its own rooms without "bpf/" in front.
    if (layer, include) in EXCEPTIONS or (layer == "bpf" and folder not in BELOW and folder != ".."):
        return None
    if folder is None:
        return f'write "{layer}/{include}": an include names its folder'
    if folder not in BELOW:
        return f'"{include}" is in no known layer'
    if folder not in visible(layer):
        return f'{layer} must not see {folder} ("{include}")'
    return None


def check_includes(layer, text):
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        error = include_error(layer, match[1]) if match else None
        if error:
            yield number, error


def check_proc(name, layer, text):
    if layer in ("host", "bpf", "lib") or str(name) in PROC_USERS:
        return
    for match in TOKEN.finditer(text):
        if re.match(r"/proc(/|$)", match[1] or ""):
            yield text.count("\n", 0, match.start()) + 1, "only src/host spells a path below /proc"


def sources(root):
    """Each C file of the program with the layer it is in."""
    for top in ("src", "bpf"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".c", ".h", ".def"):
                parts = path.relative_to(root).parts
                yield path, parts[0] if top == "bpf" else parts[1]


def check_rooms(root, paths):
    """A folder with many files hides what belongs together."""
    sizes = collections.Counter(path.parent for path in paths)
    for folder, size in sorted(sizes.items()):
        if size > ROOM_MAX:
            yield f"{folder.relative_to(root)}: {size} files; make a folder for each subject"


def check(root):
    """Returns the number of files seen and the complaints, as lines."""
    complaints = [*check_rooms(root, (path for path, _ in sources(root)))]
    count = 0
    for path, layer in sources(root):
        count += 1
        name = path.relative_to(root)
        if layer not in BELOW:
            complaints.append(f"{name}: {layer} is in no known layer")
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, error in [*check_includes(layer, text), *check_proc(name, layer, text)]:
            complaints.append(f"{name}:{number}: {error}")
    return count, complaints


def main():
    count, complaints = check(pathlib.Path(sys.argv[1]))
    for line in complaints:
        print(line)
    print(f"{count} files, {len(complaints)} complaints")
    return 1 if complaints or not count else 0


if __name__ == "__main__":
    sys.exit(main())
