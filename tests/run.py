#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds and runs every test, then prints one line: N passed, N failed, N skipped.

Three builds: the ordinary one runs all suites; one with address and undefined-behaviour
sanitizers repeats those that only touch our own code; one by clang links the fuzz targets with
libFuzzer and replays their corpora.
"""
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent

SANITIZE = ["-Db_sanitize=address,undefined", "-Db_lundef=false"]

# folder, compiler, options of `meson setup`, suites (none: all)
BUILDS = [
    ("build", None, [], []),
    ("build-sanitize", None, SANITIZE, ["unit", "golden", "fuzz"]),
    ("build-fuzz", "clang", SANITIZE + ["-Dfuzz=true"], ["fuzz"]),
]


def setup(folder, compiler, options):
    """Configures a build folder if that has not been done; returns whether it is usable."""
    if (ROOT / folder / "build.ninja").exists():
        return True
    environment = dict(os.environ, **({"CC": compiler} if compiler else {}))
    command = ["meson", "setup", folder, *options]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode == 0


def verdict(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def count(report):
    """Adds up the test cases of a JUnit report as meson writes it."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in xml.parse(report).getroot().iter("testcase"):
        counts[verdict(case)] += 1
    return counts


def run(folder, compiler, options, suites):
    """Runs the suites of one build; what cannot be built or run counts as one failure."""
    print(f"\n== {folder}: {' '.join(suites) or 'every suite'}", flush=True)
    report = ROOT / folder / "meson-logs" / "testlog.junit.xml"
    failure = {"passed": 0, "failed": 1, "skipped": 0}
    if not setup(folder, compiler, options) or \
            subprocess.run(["ninja", "-C", folder], cwd=ROOT).returncode != 0:
        return failure
    report.unlink(missing_ok=True)
    command = ["meson", "test", "-C", folder, "--print-errorlogs"]
    for suite in suites:
        command += ["--suite", suite]
    status = subprocess.run(command, cwd=ROOT).returncode
    if not report.exists():
        return failure
    counts = count(report)
    # A program that dies after its last case has no failed case of its own.
    if status != 0 and counts["failed"] == 0:
        counts["failed"] = 1
    return counts


def main():
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for build in BUILDS:
        for name, number in run(*build).items():
            total[name] += number
    print("\n" + ", ".join(f"{number} {name}" for name, number in total.items()))
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
