#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds and runs every test, then prints one line: N passed, N failed, N skipped.

Three builds: the ordinary one runs all suites; one with address and undefined-behaviour
sanitizers repeats those that only touch our own code; one by clang links the fuzz targets with
libFuzzer and replays their corpora.  --unprivileged runs what a plain user can: the ordinary
build, without the virtual machines.

A test of real processes that fails is run once more when all others are done.  If it passes then, it is
named as unsteady: something to mend, but no reason to hold a change back.

Every skip is named with its reason.  Where CI is set, one that skips.txt does not allow is a failure.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

import report

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Without optimization a build takes a third of the time, but gcc then warns of truncations that cannot be.
# They need no page for a browser either.
SANITIZE = ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=0", "-Dweb=disabled"]
NO_TRUNCATION = ["-Dc_args=-Wno-format-truncation"]

# folder, compiler, options of `meson setup`, options of `meson test`
BUILDS = [
    ("build", None, [], []),
    ("build-sanitize", None, SANITIZE + NO_TRUNCATION,
     ["--suite=unit", "--suite=golden", "--suite=fuzz"]),
    ("build-fuzz", "clang", SANITIZE + ["-Dfuzz=true"], ["--suite=fuzz"]),
]
UNPRIVILEGED = [("build", None, [], ["--no-suite=vm"])]


def setup(folder, compiler, options):
    """Configures a build folder, or adds the tests to one that has none; returns whether it is usable."""
    environment = dict(os.environ, **({"CC": compiler} if compiler else {}))
    if (ROOT / folder / "build.ninja").exists():
        command = ["meson", "configure", folder, "-Dtests=enabled"]
    else:
        command = ["meson", "setup", folder, "--werror", "-Dtests=enabled", *options]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode == 0


def test(folder, log_name, *options):
    """Runs tests and returns the lines of meson's log; none when it could not even begin."""
    log = ROOT / folder / "meson-logs" / f"{log_name}.json"
    log.unlink(missing_ok=True)
    subprocess.run(["meson", "test", "-C", folder, "--print-errorlogs", "--logbase", log_name, *options],
                   cwd=ROOT, check=False)
    return log.read_text().splitlines() if log.exists() else []


def run(found, folder, compiler, options, choice):
    """Builds and runs the tests of one build; what cannot be built or run is one failure."""
    print(f"\n== {folder}", *choice, flush=True)
    start, failed, tested = time.time(), len(found.failed), None
    # Most tests wait most of the time.
    done = setup(folder, compiler, options)
    lines, lines_again = [], []
    if done:
        lines = test(folder, "testlog", f"--num-processes={2 * os.cpu_count()}", *choice)
    names = report.second_tries(lines)
    if names:
        print("\n== once more, one by one:", *names, flush=True)
        lines_again = test(folder, "testlog-again", "--num-processes=1", *names)
    if lines:
        tested = found.add_log(folder, lines, lines_again)
    if not lines and len(found.failed) == failed:
        found.failed.append(f"{folder}: cannot be built, or its tests cannot be run")
    end = time.time()
    tested = tested or end
    found.builds.append((folder, tested - start, end - tested))


def allowed_skips():
    if not os.environ.get("CI"):
        return [("*", "*")]
    who = "root" if os.geteuid() == 0 else "user"
    return report.allowed_skips(who, (ROOT / "tests/skips.txt").read_text())


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unprivileged", action="store_true", help="only what a plain user can run")
    return parser.parse_args()


def main():
    arguments = read_arguments()
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # a make that a test runs is not part of ours
        os.environ.pop(name, None)
    found = report.Report(allowed_skips())
    for build in UNPRIVILEGED if arguments.unprivileged else BUILDS:
        run(found, *build)
    print("\n".join(found.lines()))
    return 1 if found.failed or not found.passed else 0


if __name__ == "__main__":
    sys.exit(main())
