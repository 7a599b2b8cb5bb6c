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
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from mutations import ROOT, Change, layers, population, shuffled
from mutant_safety import forbid_signals_to_all, protected_files
from mutant_tests import INTEGRATION, WITHOUT_GOLDEN, History, Test, SECONDS, tests_by_layer

ENOUGH = 0.85
JOBS = 2
BY_CHANCE = ("unit", "integration")  # suites with tests that a busy machine might fail: they are asked twice
PROGRAMS = ("task", "life", "tree")  # of the kernel side
BATCH = 4  # unit tests that are linked and run together


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
            self.must("meson", "setup", self.build, root, "-Dwerror=false", "-Dweb=disabled")
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
            return [self.build / "bpf" / f"{name}.bpf.o" for name in PROGRAMS]
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
        objects = (self.build / "bpf" / f"{name}.full.bpf.o" for name in PROGRAMS)
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
                if not cases:
                    self.tests.pop((test.suite, test.name), None)
                return False
            test.sound |= {*cases} or {test.name}
        return True

    def killer(self, mutant, change):
        for batch in filter(None, self.batches(mutant)):  # without a target ninja would build everything
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
        with protected_files(copy.root):
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
