#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays the corpus and prints how often the verdict is right where it says that it is so sure.

usage: run.py [--filter TEXT] [--load quiet|busy] [--jobs N] [--again] [--minutes N] [--list] BUILD

Each case is played twice: on the machine as it is, and beside busy loops of little weight.  What was
said is kept in BUILD/verdicts.json; what is there of the same binary and the same case is not played
again, so that a run that was interrupted goes on.  --filter: only cases whose name, verb or accepted
causes contain the text.  --load: only there.  --again: play them anew.  --minutes: begin nothing after
that time (15).
"""
import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOADS = {"quiet": 0, "busy": os.cpu_count()}
# Of each row of the table: the lowest confidence, rounded as it is printed.
ROWS = [0.9, 0.8, 0.7, 0.6, 0]


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].removeprefix("usage: "))
    parser.add_argument("--filter", default="")
    parser.add_argument("--load", choices=LOADS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    return parser.parse_args()


def set_environment(build):
    build = build.resolve()
    os.environ.update(TASKSCOPE=str(build / "taskscope"), TASKSCOPE_SOURCE=str(ROOT),
                      TASKSCOPE_WORKLOADS=str(build / "tests/workloads"), TASKSCOPE_WORKLOAD="",
                      TASKSCOPE_BUILD=str(build))


def corpus(text):
    """The cases as (case, whether it is blind)."""
    import blind
    from case import cases_of
    cases = [(case, False) for case in cases_of("cases_*.py")] + [(case, True) for case in blind.CASES]
    names = [case.name for case, _ in cases]
    if len(set(names)) != len(names):
        sys.exit(f"two cases have one name: {sorted({n for n in names if names.count(n) > 1})}")
    return [(case, is_blind) for case, is_blind in cases
            if text in " ".join([case.name, case.verb, case.accept])]


def known_causes():
    table = (ROOT / "src/analyze/verdict/causes.def").read_text()
    return set(re.findall(r'^CAUSE\(\w+,\s*"(\w+)"', table, re.M))


class Results:
    """What was said, by load and case, in a file; `sources` are what all answers depend on."""

    def __init__(self, path, sources):
        self.path = path
        self.stamp = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
        self.said = json.loads(path.read_text()) if path.exists() else {}

    def forget_all_but(self, names):
        self.said = {key: said for key, said in self.said.items() if said["case"] in names}

    def key(self, case):
        return hashlib.sha256(f"{self.stamp} {case!r}".encode()).hexdigest()[:16]

    def find(self, load, case):
        said = self.said.get(f"{load} {case.name}")
        return said if said and said["key"] == self.key(case) else None

    def add(self, load, case, is_blind, said):
        self.said[f"{load} {case.name}"] = {
            "case": case.name, "load": load, "verb": case.verb, "blind": is_blind,
            "accept": case.causes, "must_name": case.named, "key": self.key(case), **said}
        unfinished = self.path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(self.said, indent=1))
        unfinished.rename(self.path)


def attempt(stage, load, case):
    """What was said of a case, or why nothing was."""
    try:
        return stage.judge(case, LOADS[load] > 0)
    except unittest.SkipTest as reason:
        return {"skipped": str(reason)}
    except stage.NoAnswer as error:
        return {"cause": None, "score": None, "confidence": None, "evidence": [str(error)], "named": False, "best": False,
                "right": False}
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        return {"skipped": f"cannot be played: {error}"}


def wrong_line(said):
    share = "no answer" if said["confidence"] is None else f"{said['confidence']:.0%}"
    wanted = " or ".join(said["accept"]) + (f", naming {said['must_name']}" if said["must_name"] else "")
    name = "" if said["named"] or not said["must_name"] else ", without that name"
    evidence = "; ".join(said["evidence"][:2])
    return (f"WRONG  {said['load']:5}  {said['case']} ({said['verb']}): said {said['cause']} "
            f"({share}){name}; right is {wanted}\n       {evidence}")


class Progress:
    """One line of a terminal, overwritten; nothing where there is none."""

    def __init__(self, total):
        self.total, self.done, self.tty = total, 0, sys.stdout.isatty()

    def step(self, text):
        self.done += 1
        if self.tty:
            print(f"\r\033[K[{self.done}/{self.total}] {text}", end="", flush=True)

    def clear(self):
        print("\r\033[K" * self.tty, end="", flush=True)

    def say(self, text):
        self.clear()
        print(text, flush=True)


@contextlib.contextmanager
def same_autogroup():
    """What goes first takes the rest of its session along: undoes that at the end."""
    path = pathlib.Path("/proc/self/autogroup")
    before = path.read_text().split()[-1] if path.exists() else None
    try:
        yield
    finally:
        if before:
            with contextlib.suppress(OSError):
                path.write_text(before)


def play_all(stage, cases, results, options):
    """Plays what is missing, one load after the other; gives the number of cases that time forbade."""
    end = time.monotonic() + options.minutes * 60
    loads = {load: hogs for load, hogs in LOADS.items() if options.load in (None, load)}
    progress = Progress(len(cases) * len(loads))
    left = 0

    def one(load, case, is_blind):
        if time.monotonic() > end:
            return None
        said = None if options.again else results.find(load, case)
        if said is None:
            said = attempt(stage, load, case)
        return case, is_blind, said

    for load, hogs in loads.items():
        missing = options.again or any(results.find(load, case) is None for case, _ in cases)
        with stage.load(hogs if missing else 0), \
                concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for played in pool.map(lambda pair: one(load, *pair), cases):
                if not played:
                    left += 1
                    continue
                case, is_blind, said = played
                results.add(load, case, is_blind, said)
                said = results.find(load, case)
                progress.step(f"{load} {case.name}")
                if "skipped" not in said and not said["right"]:
                    progress.say(wrong_line(said))
    progress.clear()
    return left


def table(said):
    """Lines: by how sure they are how many answers there are and how many are right, by origin and load."""
    columns = [(is_blind, load) for is_blind in (False, True) for load in LOADS]
    origins = {False: "regular", True: "blind"}
    lines = ["said        " + "".join(f"{origins[blind] + ' ' + load:>20}" for blind, load in columns),
             "            " + "    said right share" * len(columns)]

    def line(title, chosen):
        cells = ""
        for column in columns:
            here = [one["right"] for one in chosen if (one["blind"], one["load"]) == column]
            share = f"{sum(here) / len(here):.0%}" if here else "-"
            cells += f"{len(here):>8}{sum(here):>6}{share:>6}"
        return f"{title:12}{cells}"

    above = 2.0
    for low in ROWS:
        chosen = [one for one in said
                  if one["confidence"] is not None and low <= round(one["confidence"], 2) < above]
        lines.append(line(f"{low * 100:.0f} to {min(above, 1) * 100:.0f} %", chosen))
        above = low
    lines.append(line("no answer", [one for one in said if one["confidence"] is None]))
    lines.append(line("all", said))
    lines.append(line("best cause", [one for one in said if one["best"]]))
    return lines


def record(said):
    """A line: what blind answers of each cause earned, as in causes.def.  A program counts once."""
    wrong_last = sorted((one for one in said if one["blind"]), key=lambda one: not one["right"])
    earned = {one["case"]: one for one in wrong_last}
    causes = sorted({str(one["cause"]) for one in earned.values()})
    rights = {cause: [one["right"] for one in earned.values() if str(one["cause"]) == cause] for cause in causes}
    return "right of said, blind: " + ", ".join(f"{cause} {sum(right)}/{len(right)}"
                                                for cause, right in rights.items())


def summary(stage, cases, results, left):
    found = [results.find(load, case) for load in LOADS for case, _ in cases]
    found = [said for said in found if said]
    said = [one for one in found if "skipped" not in one]
    for reason in sorted({(one["case"], one["skipped"]) for one in found if "skipped" in one}):
        print("left out: %s: %s" % reason)
    unknown = {cause for case, _ in cases for cause in case.causes + case.busy.split()} - known_causes()
    if unknown:
        print("right answers that taskscope has no word for: " + ", ".join(sorted(unknown)))
    disturbed = sum(one["load"] == "quiet" and one.get("outsiders", 0) > stage.DISTURBED for one in said)
    if disturbed:
        print(f"not quiet: in {disturbed} of the quiet plays others took more than {stage.DISTURBED:.0%} "
              "of the CPUs")
    if left:
        print(f"not played, since the time was over: {left}; the same command goes on")
    print("\n".join(table(said)))
    if any(one["blind"] for one in said):
        print(record(said))
    print(f"{len(cases)} cases; all answers are in {results.path}")


def main():
    options = arguments()
    set_environment(options.build)
    import stage
    cases = corpus(options.filter)
    if options.list:
        for case, is_blind in cases:
            print(case.name, case.verb, case.accept, "blind" if is_blind else "regular", case.truth, sep="\t")
        return 0
    if not cases:
        sys.exit(f"no case contains: {options.filter}")
    sources = [options.build / "taskscope", ROOT / "tests/verdicts/data.py",
               *sorted((ROOT / "tests/workloads").glob("*.[ch]"))]
    results = Results(options.build / "verdicts.json", sources)
    results.forget_all_but({case.name for case, _ in corpus("")})
    left = 0
    with same_autogroup(), contextlib.suppress(KeyboardInterrupt):
        left = play_all(stage, cases, results, options)
    summary(stage, cases, results, left)
    return 0


if __name__ == "__main__":
    sys.exit(main())
