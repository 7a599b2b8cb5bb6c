#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes which number each system call of syscalls.def has, as rows for the C preprocessor:

    NATIVE(number, name)    of the machine that is built for
    COMPAT(number, name)    of its 32-bit tasks
    UNFILED(name)        in the headers, but not in syscalls.def

usage: syscall_numbers.py MACHINE SYSCALLS_DEF OUTPUT DEPENDENCIES COMPILER...

Numbers come from the kernel headers that COMPILER finds, so they are those of the machine that is
built for, and from SYSCALLS_DEF where the headers have none.
"""
import pathlib
import re
import subprocess
import sys

# Header and compiler options for the numbers of a machine's 32-bit tasks.  Those of arm are with
# another machine's headers, if installed: in one of these folders.
COMPAT = {
    "x86_64": ["asm/unistd_32.h"],
    "aarch64": ["asm/unistd-eabi.h", "-D__NR_SYSCALL_BASE=0",
                "-idirafter", "/usr/lib/linux/uapi/arm",
                "-idirafter", "/usr/include/arm-linux-gnueabihf",
                "-idirafter", "/usr/arm-linux-gnueabihf/include"],
}

# Names in the headers that are no calls.
NO_CALLS = {"syscalls", "arch_specific_syscall", "SYSCALL_BASE", "OABI_SYSCALL_BASE"}


def preprocess(compiler, header, *options):
    """The header's definitions; nothing when there is no such header."""
    source = f"#if __has_include(<{header}>)\n#include <{header}>\n#endif\n"
    return subprocess.run([*compiler, *options, "-E", "-dD", "-x", "c", "-"], input=source,
                          text=True, stdout=subprocess.PIPE, check=True).stdout


def value_of(expression, definitions):
    """The sum that an expression of numbers and other definitions is, or None."""
    total = 0
    for word in re.findall(r"\w+", expression):
        if word in definitions:
            value = value_of(definitions[word], definitions)
        else:
            value = int(word, 0) if re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", word) else None
        if value is None:
            return None
        total += value
    return total


def numbers_in(text):
    """{number: name}; the first of two names of a number is the call's own."""
    definitions = {}
    for what, name, rest in re.findall(r"^#(define|undef) (\w+)(.*)$", text, re.MULTILINE):
        definitions.pop(name, None)
        if what == "define":
            definitions[name] = rest
    numbers = {}
    for macro, expression in definitions.items():
        name = macro.removeprefix("__NR_")
        if name != macro and name not in NO_CALLS:
            numbers.setdefault(value_of(expression, definitions), name)
    numbers.pop(None, None)
    return numbers


def rows_of(definition):
    """The name of each row, and the machine and the number that it may have."""
    return re.findall(r"^SYSCALL\((\w+),\s*\w+,\s*\w+(?:,\s*(?:(\w+) )?(\d+))?\)", definition,
                      re.MULTILINE)


def with_newer(numbers, calls, machine):
    """Adds the numbers that are the same everywhere, and those of the machine."""
    if not numbers:
        return {}
    newer = {int(number): name for name, where, number in calls if number and where in ("", machine)}
    return newer | numbers


def rows(macro, numbers, filed):
    return [f"{macro}({number}, {name})"
            for number, name in sorted(numbers.items()) if name in filed]


def main():
    machine, syscalls_def, output, dependencies, *compiler = sys.argv[1:]
    calls = rows_of(pathlib.Path(syscalls_def).read_text())
    filed = {name for name, _, _ in calls}
    texts = [preprocess(compiler, "asm/unistd.h"),
             preprocess(compiler, *COMPAT[machine]) if machine in COMPAT else ""]
    native = with_newer(numbers_in(texts[0]), calls, machine)
    compat = with_newer(numbers_in(texts[1]), calls, None)
    if not native:
        sys.exit("no system call numbers in asm/unistd.h")
    unfiled = sorted((set(native.values()) | set(compat.values())) - filed)
    macros = ("NATIVE", "COMPAT", "UNFILED")
    lines = [f"#ifndef {macro}\n#define {macro}(...)\n#endif" for macro in macros]
    lines += rows("NATIVE", native, filed) + rows("COMPAT", compat, filed)
    lines += [f"UNFILED({name})" for name in unfiled] + [f"#undef {macro}" for macro in macros]
    pathlib.Path(output).write_text("\n".join(lines) + "\n")
    headers = set(re.findall(r'^# \d+ "(/[^"]+)"', "\n".join(texts), re.MULTILINE))
    pathlib.Path(dependencies).write_text(f"{output}: {' '.join(sorted(headers))}\n")


if __name__ == "__main__":
    main()
