#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Repeats the tests that depend most on when things happen, on a machine with too much else to do.

Usage: stress.py [REPEAT [TEST...]].  The load is two busy loops for each CPU, and a compiler.
"""
import os
import pathlib
import shlex
import subprocess
import sys

import run

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Threads, forks, signals, clocks, limits of time: what a late wake-up could make fail.
TESTS = [
    "confine", "deadline_read", "deadline_run", "jemalloc_find", "jemalloc_live", "launch",
    "lib_area", "lib_cpu_shares", "lib_dump_signal", "lib_fork", "lib_fork_handlers",
    "lib_heartbeat", "lib_scope", "lib_stall", "lib_statistics", "lib_threads", "lib_throttle",
    "oracle", "procfs_live", "reader_pool", "sampler", "thread_stop", "tracer", "watch",
    "lib-edges", "lib-race", "lib-race-statistics", "agree", "attach", "capture_scopes", "compare",
    "compare_now", "examples", "heartbeat", "heartbeat_output", "jemalloc", "library", "memory",
    "phases", "regressions", "report", "root", "run", "scopes", "stalls", "taskstats", "tracers", "verdict", "why",
]


def spin():
    """A little of a busy loop."""


def compile_something():
    source = ROOT / "src/lib/heartbeat/heartbeat.c"
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O3", "-D_GNU_SOURCE", "-w", "-c",
                    "-I", ROOT / "src", "-I", ROOT / "include", "-o", "/dev/null", source], check=True)


def keep_doing(work):
    """In a child, for as long as there is somebody to do it for, however that one ends."""
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        while os.getppid() == parent:
            work()
        os._exit(0)
    return child


def main(repeat="5", *tests):
    for work in [*[spin] * 2 * os.cpu_count(), compile_something]:
        keep_doing(work)
    if not run.setup("build", None, []):
        return 1
    os.environ.setdefault("TASKSCOPE_STEADY_ROUNDS", "10")  # five times that is fifty
    meson = ["meson", "test", "-C", ROOT / "build", "--print-errorlogs"]
    status = subprocess.run([*meson, "--repeat", repeat, "--timeout-multiplier", "4",
                             *(tests or TESTS)]).returncode
    if tests:
        return status
    # A month of a recording, and many sudden ends of its recorder: once is enough.
    os.environ.update(TASKSCOPE_DAYS="30", TASKSCOPE_KILLS="500")
    return status or subprocess.run([*meson, "--timeout-multiplier", "10", "store"]).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
