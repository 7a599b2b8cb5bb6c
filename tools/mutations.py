# SPDX-License-Identifier: MIT
"""The small changes that mutants.py makes: which there are, and which are spared."""
import itertools
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import layers  # noqa: E402

# Comments and strings are no code; both are blanked, so that places stay what they are.
NO_CODE = re.compile(r"""/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])+'|"(?:\\.|[^"\\\n])*\"""", re.DOTALL)
# A body starts with a brace in the first column.
BODY = re.compile(r"^(?P<head>[^\n]*\)[^\n]*)\n\{\n(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE)
# Lines that no test can judge, or whose mutants are dangerous or known to be the same program.
SPARED = re.compile(r"assert|\bkill\(|pidfd_send_signal|unlink|\bfree\(|_free\(|_close\(|\bclose\(|"
                    r"_clear\(|munmap|barrier|-ENOMEM|arm64|mm_rss_stat|^\t*(static )?const |memset|__builtin|bpf_printk|CLEANUP|error_set")

# Where both sides are equal these do the same either way: the larger, or smaller, of two.
CHOICE = re.compile(r"if \((?P<a>[^()]+) [<>]=? (?P<b>[^()]+)\)\n\t+(?:(?P=b) = (?P=a);|(?P=a) = (?P=b);|STORE\((?P=b), (?P=a)\))|"
                    r"(?P<c>[\w>.-]+(?: - [\w>.-]+)?) [<>]=? (?P<d>[\w>.-]+) \? (?:(?P=c) : (?P=d)|(?P=d) : (?P=c))")

# A descriptor that is 0 is standard input, and never one that we opened.
DESCRIPTOR = re.compile(r"\b(?:\w*fd|root|dir|directory|proc|process) (?:<|>=) 0\b")

# The result of a comparison for qsort(): only its sign counts.
ORDER = re.compile(r"\? -?1 : -?(?:1;|\w+(?:->|\.)?\w* [<>] )")

SWAP = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&",
        "+": "-", "-": "+", "true": "false", "false": "true", "+=": "-=", "-=": "+="}

# kind: what is looked for (the group is replaced), and what replaces it
KINDS = {
    "comparison": (r" (==|!=|<=?|>=?) ", lambda found: SWAP[found]),
    "logic": (r" (&&|\|\|)(?=\s)", lambda found: SWAP[found]),
    "sign": (r"(?<=[\w)\]]) ([+-]=?) (?=[\w(*&])", lambda found: SWAP[found]),
    "constant": (r"(?<![\w.\[])(\d+)(?=[ ;,):])", lambda found: str(int(found) + 1)),
    "boolean": (r"\b(true|false)\b", lambda found: SWAP[found]),
    "condition": (r"^\t+(?:if|while) \((.+)\)(?: \{)?$", lambda found: f"!({found})"),
    "assignment": (r"^\t+([\w>.\-\[\]*]+ (?:[-+|&]|<<|>>)?= [^;]*;)$", lambda found: ";"),
    "call": (r"^\t+(\w+\([^;]*\);)$", lambda found: ";"),
    "increment": (r"^\t+((?:\+\+|--)?[\w>.\-\[\]*()]+(?:\+\+|--)?;)$",
                  lambda found: ";" if "++" in found or "--" in found else found),
    "error": (r"^\t+return (-E\w+|-errno|status|error);$", lambda found: "0"),
    "jump": (r"^\t+(continue|break|return);$", lambda found: ""),
}


class Mutant:
    def __init__(self, layer, path, line, kind, start, end, before, after):
        self.layer, self.path, self.line, self.kind = layer, path, line, kind
        self.start, self.end, self.before, self.after = start, end, before, after

    def __str__(self):
        change = " ".join(f"{self.before} -> {self.after or 'nothing'}".split())
        return f"{self.layer:8} {self.path}:{self.line}  {self.kind}: {change}"


def code_of(text):
    blank = lambda found: re.sub(r"[^\n]", "~", found[0])  # noqa: E731
    return NO_CODE.sub(blank, text)


def is_in(pattern, code, place):
    start = code.rfind("\n", 0, place) + 1
    end = code.find("\n", code.find("\n", place) + 1)
    return any(found.start() <= place < found.end() for found in pattern.finditer(code, start, end))


def mutants_of_body(layer, path, code, text, start, end):
    """Every change that one function allows."""
    for kind, (pattern, change) in KINDS.items():
        for found in re.compile(pattern, re.MULTILINE).finditer(code, start, end):
            line = code[code.rfind("\n", 0, found.start(1)) + 1:code.find("\n", found.start(1))]
            before = text[found.start(1):found.end(1)]
            after = change(before)
            if kind == "comparison" and is_in(CHOICE, code, found.start(1)):
                continue
            if kind == "constant" and is_in(ORDER, code, found.start(1)):
                continue
            if kind in ("comparison", "constant") and is_in(DESCRIPTOR, code, found.start(1)):
                continue
            if after != before and not SPARED.search(line) and "for (" not in line:
                yield Mutant(layer, path, code.count("\n", 0, found.start(1)) + 1, kind,
                             *found.span(1), before, after)


# What a program of the kernel side returns to a tracepoint nobody reads.
UNREAD = re.compile(r"^int (?:life|tree)_\w+\(__u64 \*arguments\)$")


def early_return(layer, path, code, found):
    place = found.start("body")
    value = "return;" if re.match(r"(static )?(inline |__always_inline )*void ", found["head"]) \
        else "return 0;"
    if found["body"].count("\n") > 1:
        yield Mutant(layer, path, code.count("\n", 0, place), "early", place, place, "", value)


def mutants_of(layer, path, text):
    code = code_of(text)
    for found in BODY.finditer(code):
        yield from early_return(layer, path, code, found)
        for mutant in mutants_of_body(layer, path, code, text, *found.span("body")):
            if not (UNREAD.match(found["head"]) and code[mutant.start - 7:mutant.start] == "return "):
                yield mutant


def is_mutable(path):
    return path.suffix == ".c" or path.name.endswith(".bpf.h") and path.name != "kernel.bpf.h"


def population(root):
    """All mutants by layer."""
    found = {}
    for path, layer in layers.sources(root):
        if is_mutable(path):
            found.setdefault(layer, []).extend(
                mutants_of(layer, path.relative_to(root), path.read_text()))
    return found


def shuffled(mutants, seed):
    """One of each kind in turn, in an order that only the seed decides."""
    kinds = {}
    for mutant in mutants:
        kinds.setdefault(mutant.kind, []).append(mutant)
    dice = random.Random(seed)
    for group in kinds.values():
        dice.shuffle(group)
    order = sorted(kinds)
    dice.shuffle(order)
    turns = itertools.zip_longest(*(kinds[kind] for kind in order))
    return [mutant for turn in turns for mutant in turn if mutant]


class Change:
    """A mutant in a file, made and unmade."""

    def __init__(self, path, mutant):
        self.path, self.before = path, path.read_text()
        self.after = self.before[:mutant.start] + mutant.after + self.before[mutant.end:]

    def apply(self):
        self.path.write_text(self.after)

    def undo(self):
        self.path.write_text(self.before)
