#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The corpus of workloads: each is limited by one thing, and `run` must name it.

Machines are noisy, so a workload that was named wrongly gets a second chance; of all of them one
may be wrong in the end.  While others take the CPUs they may be what limits a workload: such a
try is no evidence against the name, and does not use up the chance.
"""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from support import HANG, TASKSCOPE, go_first, is_root, main

WORKLOADS = pathlib.Path(os.environ["TASKSCOPE_WORKLOADS"])
CGROUPS = pathlib.Path("/sys/fs/cgroup")
DURATION = "1500"
# Of the time of all CPUs: who lost more of it to others was disturbed.
DISTURBED = 0.1
TRIES = 2
TRIES_DISTURBED = 6


class Cgroup:
    """A cgroup of our own with one limit: version 2 where it has the controller, else 1."""

    def __init__(self, controller, limits):
        self.path = None
        for folder, version in ((CGROUPS / controller, 1), (CGROUPS, 2)):
            if version == 2 and not self.delegate(folder, controller):
                continue
            if version == 1 and not (folder / "tasks").exists():
                continue
            self.path = folder / f"taskscope-test-{os.getpid()}-{controller}"
            self.limits = limits[version]
            return

    @staticmethod
    def delegate(folder, controller):
        if controller not in (folder / "cgroup.controllers").read_text().split() \
                if (folder / "cgroup.controllers").exists() else True:
            return False
        with contextlib.suppress(OSError):
            (folder / "cgroup.subtree_control").write_text(f"+{controller}")
        return controller in (folder / "cgroup.subtree_control").read_text().split()

    def __enter__(self):
        if self.path is None:
            raise unittest.SkipTest("no cgroup controller of ours here")
        self.path.mkdir()
        for name, value in self.limits:
            with contextlib.suppress(FileNotFoundError):
                (self.path / name).write_text(value)
        return self

    def __exit__(self, *_):
        for _ in range(50):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.1)

    def enter(self):
        """For the process that is about to become taskscope."""
        (self.path / "cgroup.procs").write_text("0")


@contextlib.contextmanager
def slow_server():
    """Answers each byte 20 ms later; gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listener.accept()
        with connection:
            while connection.recv(1):
                time.sleep(0.02)
                connection.sendall(b"x")

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def command(name, *arguments):
    return [str(WORKLOADS / name), DURATION, *arguments]


def profile(words, enter=None):
    """Runs a command under taskscope; gives the summary, the last of the JSON lines."""
    def prepare():
        go_first()
        if enter:
            enter()

    with tempfile.TemporaryDirectory() as scratch:
        lines = pathlib.Path(scratch) / "run.jsonl"
        done = subprocess.run([TASKSCOPE, "run", "-o", lines, "-q", "--", *words], cwd=scratch,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=HANG,
                              preexec_fn=prepare)
        if not lines.exists() or not lines.stat().st_size:
            raise AssertionError(f"{words}: {done.returncode} {done.stderr.decode()}")
        return json.loads(lines.read_text().splitlines()[-1])


def plain(name, *arguments):
    return lambda: profile(command(name, *arguments))


def tcp():
    with slow_server() as port:
        return profile(command("tcp_client", str(port)))


def quota():
    limits = {1: [("cpu.shares", "262144"), ("cpu.cfs_period_us", "100000"),
                  ("cpu.cfs_quota_us", "30000")],
              2: [("cpu.weight", "10000"), ("cpu.max", "30000 100000")]}
    with Cgroup("cpu", limits) as cgroup:
        return profile(command("cpu_parallel"), cgroup.enter)


def oom():
    """Only the workload is in the cgroup, so that it is the one to go."""
    limits = {1: [("memory.limit_in_bytes", "64M"), ("memory.memsw.limit_in_bytes", "64M")],
              2: [("memory.max", "64M"), ("memory.swap.max", "0")]}
    with Cgroup("memory", limits) as cgroup:
        script = 'echo $$ > "$0"; exec "$@"'
        return profile(["sh", "-c", script, str(cgroup.path / "cgroup.procs"),
                        *command("memory_hog", "256")])


def starved():
    return profile(["taskset", "-c", str(max(os.sched_getaffinity(0))),
                    *command("cpu_parallel", "6")])


# name, how, the classes that are right, cause
CASES = [
    ("single CPU", plain("cpu_single"), {"cpu_bound"}, "cpu"),
    ("parallel CPU", plain("cpu_parallel"), {"cpu_bound"}, "cpu"),
    ("lock convoy", plain("lock_convoy"), {"lock_bound"}, "lock"),
    ("fsync writer", plain("fsync_writer"), {"io_bound"}, "fsync"),
    ("tiny reads", plain("tiny_reads"), {"io_bound"}, "tiny_io"),
    ("sleeper", plain("sleeper"), {"idle"}, "sleep"),
    ("poll loop", plain("poll_loop"), {"idle"}, "poll"),
    ("pipe ping-pong", plain("pipe_ping_pong"), {"io_bound"}, "pipe"),
    ("TCP client of a slow server", tcp, {"network_bound"}, "network"),
    ("page-fault storm", plain("page_faults"), {"memory_bound"}, "page_faults"),
    ("mmap churn", plain("mmap_churn"), {"memory_bound"}, "mmap_churn"),
    ("fork storm", plain("fork_storm"), {"cpu_bound"}, "fork_storm"),
    ("CPU quota", quota, {"starved"}, "cpu_quota"),
    ("OOM kill in a memory cgroup", oom, {"memory_bound"}, "oom_kill"),
    ("fd leak to its limit", plain("fd_leak"), {"mixed"}, "fd_limit"),
    ("run-queue starvation", starved, {"starved"}, "run_queue"),
    ("disk reads", plain("disk_reads"), {"io_bound"}, "disk"),
    ("one busy thread among idle ones", plain("idle_pool"), {"cpu_bound"}, "cpu"),
]


class Busy(unittest.SkipTest):
    """No try was without disturbance, and none was right."""


class Others:
    """The share of all CPU time that others took inside a `with`: processes that are no children
    of ours, and other guests of the machine that this one runs on."""

    def __enter__(self):
        self.before = self.times()
        return self

    def __exit__(self, *_):
        taken, whole = (after - before for after, before in zip(self.times(), self.before))
        self.share = taken / whole if whole else 0

    @staticmethod
    def times():
        fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        user, nice, system, idle, iowait, irq, softirq, steal = map(int, fields)
        ours = sum(os.times()[:4]) * os.sysconf("SC_CLK_TCK")
        busy = user + nice + system + irq + softirq + steal
        return busy - ours, busy + idle + iowait


def judge(case):
    """Whether the verdict is right, and what it says."""
    name, profile_it, classes, cause = case
    verdict = profile_it()["verdict"]
    right = verdict["cause"] == cause and verdict["class"] in classes
    said = f"{name}: {verdict['class']}/{verdict['cause']}"
    print(f"{'right' if right else 'WRONG'}  {said}", flush=True)
    if not right:
        print("       " + json.dumps(verdict), flush=True)
    return right, said


def judge_as_is(case):
    """Until the verdict is right, or was wrong as often as it may be; gives the last one."""
    wrong = 0
    for _ in range(TRIES_DISTURBED):
        with Others() as others:
            right, said = judge(case)
        if right:
            return True, said
        print(f"       others took {others.share:.0%} of all CPU time", flush=True)
        wrong += others.share < DISTURBED
        if wrong == TRIES:
            return False, said
    if wrong:
        return False, said
    raise Busy("others take the CPUs all the time")


@unittest.skipUnless(is_root(), "needs root for BPF and cgroups")
class Corpus(unittest.TestCase):
    def test_each_workload_is_named_for_what_limits_it(self):
        wrong = []
        judged = busy = 0
        for case in CASES:
            try:
                right, said = judge_as_is(case)
            except unittest.SkipTest as reason:
                print(f"left out: {case[0]}: {reason}", flush=True)
                busy += isinstance(reason, Busy)
                continue
            judged += 1
            if not right:
                wrong.append(said)
        self.assertLessEqual(len(wrong), 1, wrong)
        self.assertGreaterEqual(judged + busy, 16)
        if judged < 16:
            self.skipTest(f"others took the CPUs during {busy} of {len(CASES)} workloads")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        wanted = sys.argv.pop()
        for one in CASES:
            if wanted in one[0]:
                judge(one)
    else:
        main()
