#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks the program in small ways, one at a time, and sees whether a test notices.

The tree itself is never touched: it is copied, files that are not committed included, and built
there.  Mutants are chosen evenly over layers (the folders of src, and bpf) and over kinds of change;
the same tree and seed give the same mutants.  One that does not compile, that the kernel's verifier
refuses, or that compiles to the same code is replaced by another.

Each mutant meets the unit tests and corpora of its layer that hold its file, then those of the layers
above, the golden files, and the integration tests that INTEGRATION names for its
folder, cheap ones first, until one fails; tests and cases that killed other mutants, of the same file
above all, come first.  A test kills if it fails twice in a row, or takes minutes, and passes without the mutant.
Run it as root: without, most of bpf and trace cannot be reached.

examples:
  tools/mutants.py --list --layer model          what would be changed
  tools/mutants.py -n 30 --layer model --seed 7  thirty mutants of one layer
  tools/mutants.py --only src/model/tree/amounts.c:82   all mutants of one line
  tools/mutants.py --fast ...                    unit tests, corpora and golden files alone
  tools/mutants.py --copy DIR ...                keep copy and build in DIR for the next time

exit status: 0, or 1 if fewer than 85 % of a layer's mutants were killed, or 2 on an error.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import ctypes
import errno
import hashlib
import itertools
import json
import os
import pathlib
import platform
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import layers  # noqa: E402

ENOUGH = 0.85
SECONDS = {"unit": 60, "fuzz": 60, "golden": 150, "integration": 300}
JOBS = 2
BY_CHANCE = ("unit", "integration")  # suites with tests that a busy machine might fail: they are asked twice
BATCH = 4  # unit tests that are linked and run together
LIKELY = 12  # integration cases that are tried before all of them are

# The integration tests that mutants of a folder or file meet, by the longest name that fits; those that take
# minutes are left out.
INTEGRATION = {
    "src/base": ["cli", "ctprof"],
    "src/base/place": ["output", "cli"],
    "src/metric": ["cli", "compare"],
    "src/model": ["run", "report"],
    "src/model/scope": ["phases", "scopes"],
    "src/host": ["doctor", "root", "cgroups", "cli"],
    "src/host/taskstats": ["taskstats"],
    "src/host/netlink": ["taskstats", "tracers"],
    "src/host/scope_file": ["scopes"],
    "src/host/oracle": ["jemalloc"],
    "src/host/elf": ["jemalloc", "scopes"],
    "src/host/confine": ["jemalloc"],
    "src/host/deadline": ["jemalloc", "silent"],
    "src/host/privilege": ["doctor", "capabilities"],
    "src/collect": ["agree", "root", "host_context", "cli"],
    "src/collect/cgroup": ["cgroups", "root"],
    "src/collect/process": ["memory", "agree"],
    "src/collect/scope": ["capture_scopes", "scopes"],
    "src/collect/host": ["host_context", "root"],
    "src/collect/jemalloc": ["jemalloc"],
    "src/collect/task/taskstats": ["taskstats"],
    "src/trace": ["tracers", "sources", "losses", "attach"],
    "src/trace/bpf": ["sources", "branches", "losses", "tracers"],
    "src/analyze": ["compare", "compare_properties"],
    "src/analyze/verdict": ["verdict"],
    "src/store": ["ctprof", "cli"],
    "src/store/run": ["report", "run"],
    "src/render": ["cli"],
    "src/render/compare": ["compare"],
    "src/render/run": ["report", "run"],
    "src/render/scope": ["scopes"],
    "src/session": ["run", "attach"],
    "src/session/phase": ["phases", "scopes"],
    "src/session/why": ["why"],
    "src/cli": ["cli"],
    "src/cli/verb/cmd_attach": ["attach"],
    "src/cli/verb/cmd_compare": ["compare", "compare_now"],
    "src/cli/verb/compare": ["compare", "compare_now"],
    "src/cli/verb/cmd_doctor": ["doctor"],
    "src/cli/verb/cmd_report": ["report"],
    "src/cli/verb/cmd_run": ["run"],
    "src/cli/verb/cmd_scopes": ["scopes"],
    "src/cli/verb/pid_list": ["scopes", "cli"],
    "src/cli/verb/session_args": ["run", "attach"],
    "src/cli/verb/cmd_why": ["why"],
    "src/cli/verb/why": ["why"],
    "src/lib": ["lib-edges", "library", "heartbeat", "heartbeat_output"],
    "src/lib/heartbeat": ["heartbeat", "stalls", "heartbeat_output"],
    "bpf": ["branches", "sources", "losses", "tracers"],
    "bpf/task": ["agree", "sources"],
}

# Golden files come from recorded roots and files, which need none of these.
WITHOUT_GOLDEN = ("trace", "session", "lib", "bpf")

# Who carries the programs of the kernel side, or is their kernel.
LOADERS = {"bpf": ["src/trace/bpf/tree_loader.c", "src/collect/task/task_iterator.c", "tests/unit/bpf/test_kernel_"]}

# Comments and strings are no code; both are blanked, so that places stay what they are.
NO_CODE = re.compile(r"""/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])+'|"(?:\\.|[^"\\\n])*\"""", re.DOTALL)
# A body starts with a brace in the first column.
BODY = re.compile(r"^(?P<head>[^\n]*\)[^\n]*)\n\{\n(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE)
# Lines that no test can judge, or whose mutants are dangerous or known to be the same program.
SPARED = re.compile(r"assert|\bkill\(|pidfd_send_signal|unlink|\bfree\(|_free\(|_close\(|\bclose\(|"
                    r"_clear\(|munmap|barrier|-ENOMEM|arm64|mm_rss_stat|^\t*(static )?const |memset|__builtin|bpf_printk|CLEANUP|error_set")

# Where both sides are equal these do the same either way: the larger, or smaller, of two.
CHOICE = re.compile(r"if \((?P<a>[^()]+) [<>]=? (?P<b>[^()]+)\)\n\t+(?:(?P=b) = (?P=a)|(?P=a) = (?P=b));|"
                    r"(?P<c>[\w>.-]+) [<>]=? (?P<d>[\w>.-]+) \? (?:(?P=c) : (?P=d)|(?P=d) : (?P=c))")

# A descriptor that is 0 is standard input, and never one that we opened.
DESCRIPTOR = re.compile(r"\b(?:\w*fd|root|directory) (?:<|>=) 0\b")

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
            if kind in ("comparison", "constant") and is_in(DESCRIPTOR, code, found.start(1)):
                continue
            if after != before and not SPARED.search(line) and "for (" not in line:
                yield Mutant(layer, path, code.count("\n", 0, found.start(1)) + 1, kind,
                             *found.span(1), before, after)


# What a program of the kernel side returns to a tracepoint nobody reads.
UNREAD = re.compile(r"^int tree_\w+\(__u64 \*arguments\)$")


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


class Test:
    """A test of the build; `cases` are some of an integration test, none mean all."""

    def __init__(self, entry, targets):
        self.suite, self.name = entry["suite"][0].split(":")[1], entry["name"]
        self.command, self.seconds = entry["cmd"], SECONDS[self.suite]
        self.environment = dict(os.environ, **entry["env"])
        self.targets = [targets[name] for name in entry["depends"]]  # what it needs to be built
        self.is_parallel = entry["is_parallel"]
        self.sound = set()  # cases that passed on the tree as it is, after a mutant failed them

    def attempt(self, cases=(), over=None):
        """None if it passed, or what happened and which cases failed; ends all that it started."""
        options = ["--first", *cases] if self.suite == "integration" and "tap.py" in str(self.command) else []
        process = subprocess.Popen([*self.command, *options], env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        ending = over and threading.Thread(target=self.end_with, args=(process, over))
        try:
            if ending:
                ending.start()
            out, _ = process.communicate(timeout=self.seconds)
            if process.returncode in (0, 77) or over and over.is_set():
                return None
            failed = re.findall(r"^not ok \d+ - (\w+\.\w+)", out.decode(errors="replace"), re.M)
            return f"status {process.returncode}", failed[:1] if options else []
        except subprocess.TimeoutExpired:
            return "timeout", list(cases)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()

    @staticmethod
    def end_with(process, over):
        """Another test has killed already."""
        while process.poll() is None:
            if over.wait(0.2):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                return

    def holds(self, mutant):
        """Whether the mutant is part of the test, by what is there for debuggers."""
        if self.command[0] not in self.targets:
            return True
        program = pathlib.Path(self.command[0]).read_bytes()
        return any(name.encode() in program for name in LOADERS.get(mutant.layer, [str(mutant.path)]))


def tests_by_layer(text):
    """The dictionary at the start of a meson.build."""
    table = text[text.index("= {"):text.index("\n}")]
    return {layer: re.findall(r"'([^']+)'", names)
            for layer, names in re.findall(r"'(\w+)': \[(.*?)\]", table, re.DOTALL)}


class Change:
    """A mutant in a file, made and unmade."""

    def __init__(self, path, mutant):
        self.path, self.before = path, path.read_text()
        self.after = self.before[:mutant.start] + mutant.after + self.before[mutant.end:]

    def apply(self):
        self.path.write_text(self.after)

    def undo(self):
        self.path.write_text(self.before)


class History:
    """Which tests killed mutants of which file; kept beside the copy."""

    def __init__(self, path):
        self.path = path
        self.kills = collections.Counter(json.loads(path.read_text()) if path.exists() else {})

    def add(self, mutant, test, cases):
        self.kills.update([test.name, f"{mutant.path} {test.name}"])
        self.kills.update(f"{mutant.layer}: {test.name} {case}" for case in cases)
        self.path.write_text(json.dumps(self.kills))

    def likely_cases(self, mutant, test):
        """Cases of an integration test that killed mutants of the layer."""
        start = f"{mutant.layer}: {test.name} "
        return [name[len(start):] for name, _ in self.kills.most_common() if name.startswith(start)][:LIKELY]

    def order(self, mutant, test):
        """Sorts the most likely killer first."""
        is_namesake = test.name.startswith(mutant.path.name.split(".")[0])
        return -self.kills[f"{mutant.path} {test.name}"], not is_namesake, -self.kills[test.name]


class Copy:
    """A copy of the tree with a build of its own."""

    def __init__(self, root, is_fast):
        self.root, self.is_fast = root, is_fast
        self.build = root / "build"
        self.history = History(root / "kills.json")
        self.original = {}
        self.refresh()
        os.environ.update(CCACHE_BASEDIR=str(root), CCACHE_NOHASHDIR="1")
        if not (self.build / "build.ninja").exists():
            self.must("meson", "setup", self.build, root, "-Dwerror=false")
        self.must("ninja", "-C", self.build, "build.ninja")  # tests that are new
        targets = {target["id"]: target["filename"][0] for target in self.ask("--targets")}
        tests = (Test(entry, targets) for entry in self.ask("--tests")
                 if entry["suite"][0].split(":")[1] in SECONDS)
        self.tests = {(test.suite, test.name): test for test in tests}
        self.objects = {}
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            if not entry["output"].startswith("tests/"):
                self.objects[os.path.relpath(self.build / entry["file"], root)] = self.build / entry["output"]
        self.unit, self.fuzz = (tests_by_layer((root / "tests" / name / "meson.build").read_text())
                                for name in ("unit", "fuzz"))

    def ask(self, what):
        return json.loads(subprocess.check_output(["meson", "introspect", self.build, what]))

    def refresh(self):
        """Brings files that changed; what is the same keeps its time, and so its object file."""
        names = subprocess.check_output(["git", "ls-files", "-zco", "--exclude-standard"], cwd=ROOT)
        for name in filter(None, names.decode().split("\0")):
            source, copy = ROOT / name, self.root / name
            if not os.path.lexists(source) or self.is_same(source, copy):
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.unlink(missing_ok=True)
            shutil.copy(source, copy, follow_symlinks=False)

    @staticmethod
    def is_same(source, copy):
        if source.is_symlink():
            return copy.is_symlink()
        return copy.is_file() and copy.read_bytes() == source.read_bytes()

    def must(self, *command):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"mutants: {command[0]} fails in the copy: {done.stdout[-3000:]}{done.stderr}")

    def ninja(self, *targets):
        names = [os.path.relpath(target, self.build) for target in targets]
        return subprocess.run(["ninja", "-j", str(JOBS), "-C", self.build, *names],
                              capture_output=True).returncode == 0

    def objects_of(self, mutant):
        """What the compiler makes of the file; none if it is no part of this build."""
        if mutant.layer == "bpf":
            return [self.build / "bpf" / f"{name}.bpf.o" for name in ("task", "tree")]
        return [self.objects[str(mutant.path)]] if str(mutant.path) in self.objects else []

    def code(self, objects):
        """What is in them, without what is for debuggers."""
        bare = self.root / "bare.o"
        digest = hashlib.sha256()
        for path in objects:
            self.must("llvm-objcopy", "--strip-debug", "-R", ".BTF", "-R", ".BTF.ext", path, bare)
            digest.update(bare.read_bytes())
        return digest.digest()

    def loads(self, mutant):
        """Whether the kernel's verifier takes it; only root can ask."""
        if mutant.layer != "bpf" or os.geteuid() != 0:
            return True
        pins = pathlib.Path(f"/sys/fs/bpf/mutants-{os.getpid()}")
        objects = (self.build / "bpf" / f"{name}.full.bpf.o" for name in ("task", "tree"))
        for path in objects:
            status = subprocess.run(["bpftool", "prog", "loadall", path, pins],
                                    capture_output=True).returncode
            shutil.rmtree(pins, ignore_errors=True)
            if status != 0:
                return False
        return True

    @staticmethod
    def integration_of(path):
        return INTEGRATION[max((name for name in INTEGRATION if path.startswith(name)), key=len)]

    def tests_of(self, layer, path):
        """The tests that a mutant meets, in order: a list for each stage."""
        # No other unit test runs the kernel side, and all that carry it would be linked for nothing.
        above = [upper for upper in layers.BELOW if layer in layers.visible(upper)
                 and upper in self.unit and upper != layer and layer != "bpf"]
        named = lambda table, where: [name for key in where for name in table.get(key, [])]  # noqa: E731
        both = lambda where: [("unit", name) for name in named(self.unit, where)] + \
            [("fuzz", "fuzz " + name) for name in named(self.fuzz, where)]  # noqa: E731
        stages = [both([layer]), both(above), [("golden", "golden")] if layer not in WITHOUT_GOLDEN else [],
                  [("integration", name) for name in self.integration_of(path)]]
        return [[self.tests[key] for key in stage if key in self.tests] for stage in stages]

    def batches(self, mutant):
        """(test, cases) that run together, those first that are cheap or likely to notice."""
        *units, golden, integration = self.tests_of(mutant.layer, str(mutant.path))
        for stage in units:
            tests = sorted((test for test in stage if test.holds(mutant)),
                           key=lambda test: self.history.order(mutant, test))
            yield from ([(test, ()) for test in tests[start:start + BATCH]]
                        for start in range(0, len(tests), BATCH))
        yield [(test, ()) for test in golden]
        if self.is_fast:
            return
        for test in integration:
            if cases := self.history.likely_cases(mutant, test):
                yield [(test, cases)]
        yield [(test, ()) for test in integration if test.is_parallel]
        yield from ([(test, ())] for test in integration if not test.is_parallel)

    def check(self, test, cases, change, outcome):
        """Whether a test that fails on a mutant passes without; if not, it judges nobody."""
        is_slow = outcome == "timeout"  # a machine that is busy now may be the reason
        if is_slow or not {*cases, test.name} & test.sound:
            change.undo()
            self.ninja(*test.targets)
            start = time.monotonic()
            is_sound = not test.attempt(cases) and time.monotonic() - start < test.seconds / 4
            change.apply()
            if not is_sound:
                print(f"left out: {test.suite} {test.name} {' '.join(cases)} fails without any mutant", flush=True)
                return False
            test.sound |= {*cases} or {test.name}
        return True

    def killer(self, mutant, change):
        for batch in self.batches(mutant):
            if not self.ninja(*(target for test, _ in batch for target in test.targets)):
                return "the build"
            killer = self.meet(mutant, change, batch)
            if killer:
                return killer
        return None

    def meet(self, mutant, change, batch):
        """Tries tests at the same time; what killed, or None."""
        over = threading.Event()

        def attempt(test, cases):
            found = test.attempt(cases, over)
            if found and found[0] != "timeout" and test.suite in BY_CHANCE:
                found = test.attempt(found[1] or cases, over)
            if found:
                over.set()
            return found

        with concurrent.futures.ThreadPoolExecutor(JOBS if batch and batch[0][0].suite == "unit" else BATCH) as pool:
            outcomes = list(pool.map(attempt, *zip(*batch))) if batch else []
        for (test, _), found in zip(batch, outcomes):
            if found and self.check(test, found[1], change, found[0]):
                self.history.add(mutant, test, found[1])
                return f"{test.suite} {' '.join([test.name, *found[1]])} ({found[0]})"
            if found:  # it may have ended the others for nothing
                return self.meet(mutant, change, [pair for pair in batch if pair[0] is not test])
        return None

    def judge(self, mutant):
        """(killed by, None), (None, None) for a survivor, or (None, why it is not a mutant)."""
        objects = self.objects_of(mutant)
        if not objects:
            return None, "not part of this build"
        if objects[0] not in self.original:
            if not self.ninja(*objects):
                raise SystemExit("mutants: the tree does not build")
            self.original[objects[0]] = self.code(objects)
        change = Change(self.root / mutant.path, mutant)
        try:
            change.apply()
            if not self.ninja(*objects):
                return None, "does not compile"
            if self.code(objects) == self.original[objects[0]]:
                return None, "the same code"
            if not self.loads(mutant):
                return None, "the verifier refuses it"
            return self.killer(mutant, change), None
        finally:
            change.undo()

    def run(self, mutants, count):
        """Judges that many mutants of a layer; gives killed and total."""
        killed = total = 0
        if mutants and count:  # whether a test holds a file is read from its program
            stages = self.tests_of(mutants[0].layer, str(mutants[0].path))
            targets = {target for stage in stages[:3 if self.is_fast else 4] for test in stage
                       for target in test.targets}
            if not self.ninja(*targets):
                raise SystemExit("mutants: the tests do not build")
        for mutant in mutants:
            if total == count:
                break
            killer, unfit = self.judge(mutant)
            if unfit:
                continue
            total, killed = total + 1, killed + bool(killer)
            print(f"{mutant}  {'killed by ' + killer if killer else 'SURVIVED'}", flush=True)
        return killed, total


def forbid_signals_to_all():
    """A mutant may send a signal to -1, which means every process of the host, or to 1: for all that is
    started here, the kernel refuses that."""
    number = {"x86_64": 62, "aarch64": 129}[platform.machine()]
    load, is_equal, answer = 0x20, 0x15, 0x06
    steps = [(load, 0, 0, 0), (is_equal, 0, 6, number),                         # kill()
             (load, 0, 0, 16), (is_equal, 1, 0, 0xffffffff), (is_equal, 0, 3, 1),  # of -1 or 1
             (load, 0, 0, 24), (is_equal, 1, 0, 0),                             # with a signal
             (answer, 0, 0, 0x50000 | errno.EPERM), (answer, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    call = ctypes.CDLL(None, use_errno=True).prctl
    if os.geteuid() != 0:
        call(38, 1, 0, 0, 0)  # no new privileges, or a filter is not for us to set
    if call(22, 2, program) != 0:
        raise SystemExit("mutants: the kernel takes no filter, without which a mutant could end every process")


def choose(options):
    """(layer, mutants in order, how many of them) for each layer."""
    found = population(ROOT)
    if options.only:
        path, _, line = options.only.partition(":")
        wanted = {layer: [mutant for mutant in mutants if str(mutant.path) == path
                          and (not line or mutant.line == int(line))] for layer, mutants in found.items()}
        return [(layer, mutants, len(mutants)) for layer, mutants in wanted.items() if mutants]
    names = options.layer.split(",") if options.layer else sorted(found)
    for name in names:
        if name not in found:
            raise SystemExit(f"mutants: there is no layer {name}: {' '.join(sorted(found))}")
    share = -(-options.count // len(names))
    return [(name, shuffled(found[name], f"{options.seed} {name}"), share) for name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--count", type=int, default=100, help="mutants in all (100)")
    parser.add_argument("--seed", default="1", help="any word: other words, other mutants (1)")
    parser.add_argument("--layer", help="only these layers, comma-separated")
    parser.add_argument("--only", metavar="FILE[:LINE]", help="every mutant of a file or line")
    parser.add_argument("--fast", action="store_true", help="without integration tests")
    parser.add_argument("--list", action="store_true", help="print the mutants, judge none")
    parser.add_argument("--copy", type=pathlib.Path, metavar="DIR", help="where to copy and build")
    options = parser.parse_args()
    os.nice(max(0, 5 - os.nice(0)))
    forbid_signals_to_all()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was begun is undone and ended
    chosen = choose(options)
    if options.list:
        for _, mutants, count in chosen:
            print("\n".join(map(str, mutants[:count])))
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(options.copy.resolve() if options.copy else pathlib.Path(folder), options.fast)
        results = [(layer, *copy.run(mutants, count)) for layer, mutants, count in chosen]
    for layer, killed, total in results:
        print(f"{layer:8} {killed:3} of {total:3} killed  {100 * killed / max(total, 1):3.0f} %")
    return 1 if any(killed < ENOUGH * total for _, killed, total in results) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
            sys.exit(2)
        raise
