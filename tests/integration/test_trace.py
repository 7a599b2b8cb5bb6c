#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`trace`: sums of system calls, and full traces by strace that never freeze their target."""
import contextlib
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import unittest

from support import HANG, TASKSCOPE, TestCase, is_root, main, run, wait_until
from test_calls import Caller


def programs_of(pid):
    """How many BPF programs a process has attached."""
    links = 0
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            links += "bpf_link" in os.readlink(fd)
    return links


@unittest.skipUnless(is_root(), "needs root: BPF programs")
class Summary(TestCase):
    def summary(self, *words):
        status, out, err = run("trace", "--summary", *words)
        self.assertEqual((status, err), (0, ""))
        return out

    def test_a_blocked_process_shows_its_call(self):
        with Caller() as caller:
            # It has begun, and waits for a line.
            wait_until(lambda: "pipe_read" in pathlib.Path(f"/proc/{caller.pid}/wchan").read_text())
            found = json.loads(self.summary("-p", caller.pid, "-d", "300ms", "--json"))
            table = list(csv.DictReader(io.StringIO(
                self.summary("-p", caller.pid, "-d", "100ms", "--format", "csv"))))
            text = self.summary("-p", caller.pid, "-d", "100ms")
        self.assertEqual(found["pids"], [caller.pid])
        self.assertEqual([row["syscall"] for row in found["syscalls"]], ["read"])
        self.assertEqual(found["syscalls"][0]["calls"], 0)
        self.assertNotIn("mean_ns", found["syscalls"][0])
        self.assertGreaterEqual(found["syscalls"][0]["under_way_ns"], 250_000_000)
        self.assertEqual([(row["syscall"], row["calls"], row["max_ns"]) for row in table],
                         [("read", "0", "")])
        self.assertRegex(text, r"% time +seconds +usecs/call +max +calls +errors +syscall +under way")
        self.assertRegex(text, r"read +> ")

    def test_it_ends_with_its_process(self):
        with Caller("import sys\nsys.stdin.readline()") as caller:
            watcher = subprocess.Popen([TASKSCOPE, "trace", "--summary", "-p", str(caller.pid), "--json"],
                                       stdout=subprocess.PIPE)
            wait_until(lambda: programs_of(watcher.pid) == 3)
            caller.process.stdin.write("\n")
            caller.process.stdin.flush()
            out = watcher.communicate(timeout=HANG)[0]
        self.assertIn("exit_group", [row["syscall"] for row in json.loads(out)["syscalls"]])

    def test_mistakes_are_a_sentence(self):
        for words, said in (((), "needs a process"), (("-p", 1, "-d", "0s"), "more than 0")):
            status, _, err = run("trace", "--summary", *words)
            self.assertEqual(status, 2)
            self.assertIn(said, err)


# Forks that often when a line comes; a trace of 5,000 of them is larger than what taskscope buffers.
FORKER = """import os, sys
for line in sys.stdin:
    for _ in range(int(line)):
        pid = os.fork()
        if not pid:
            for _ in range(10):
                os.getppid()
            os._exit(0)
        os.waitpid(pid, 0)
    print("made", flush=True)
"""

# Before a command: it sees no strace.
HIDDEN_STRACE = ["unshare", "-m", "sh", "-c",
                 'mount --bind /dev/null "$(readlink -f "$(command -v strace)")" && exec "$@"', "sh"]


def tracer_of(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("TracerPid:"):
            return int(line.split()[1])
    return None


def is_alive(pid):
    return pathlib.Path(f"/proc/{pid}").exists()


class Trace:
    """A full trace of a process, inside a `with`, from the moment on at which strace has it."""

    def __init__(self, pid, *words, wait=True, **options):
        options.setdefault("stdout", subprocess.PIPE)
        self.process = subprocess.Popen([TASKSCOPE, "trace", "-p", str(pid), *map(str, words)],
                                        stderr=subprocess.PIPE, text=True, **options)
        self.pid = pid
        if wait:
            self.strace = wait_until(lambda: tracer_of(pid) or self.process.poll())

    def end(self, number=signal.SIGINT):
        if number and self.process.poll() is None:
            self.process.send_signal(number)
        self.out, self.err = self.process.communicate(timeout=HANG)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end(signal.SIGTERM)


@unittest.skipUnless(is_root(), "needs root: ptrace")
@unittest.skipUnless(shutil.which("strace"), "needs strace")
class FullTrace(TestCase):
    def test_each_call_is_shown_and_kept(self):
        path = pathlib.Path(self.path("new")) / "folder" / "t.txt"
        with Caller() as caller, Trace(caller.pid, "-o", path) as trace:
            caller.make(3)
            self.assertEqual(trace.end(), 0)
            self.assertEqual(trace.err, "")
            self.assertEqual(path.read_text(), trace.out)
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            first, *rest = trace.out.splitlines()
            self.assertRegex(first, "^# strace stops the target at every system call.* times slower")
            calls = [line for line in rest if "rmdir(" in line]
            self.assertEqual(len(calls), 3)
            self.assertRegex(calls[0], rf"^{caller.pid} +\d\d:\d\d:\d\d\.\d+ rmdir\(.* = -1 ENOENT .* <0\.\d+>$")
            wait_until(lambda: tracer_of(caller.pid) == 0)
            self.assertFalse(is_alive(trace.strace))
            caller.make(1)

    def test_the_target_never_waits_for_the_reader(self):
        """5,000 forks: strace says something of each, and nobody reads what taskscope prints."""
        path = self.path("t.txt")
        with Caller(FORKER) as caller, Trace(caller.pid, "-o", path) as trace:
            caller.make(5000)
            trace.process.send_signal(signal.SIGINT)
            self.assertEqual(trace.end(None), 0)
        kept = pathlib.Path(path).read_text().count("+++ exited with 0 +++")
        self.assertEqual(kept, 5000)
        self.assertRegex(trace.err, r"\d+ lines were left out of standard output")
        left_out = sum(map(int, re.findall(r"^# (\d+) lines were left out here", trace.out, re.M)))
        told = int(re.search(r"(\d+) lines were left out of", trace.err)[1])
        self.assertLessEqual(left_out, told)

    def test_it_ends_after_its_time(self):
        with Caller() as caller, Trace(caller.pid, "-d", "200ms", wait=False) as trace:
            self.assertEqual(trace.end(None), 0)
            wait_until(lambda: tracer_of(caller.pid) == 0)
            caller.make(1)

    def test_an_expression_chooses_calls(self):
        with Caller() as caller, Trace(caller.pid, "-e", "trace=rmdir") as trace:
            caller.make(2)
            trace.end()
        calls = {match[1] for match in re.finditer(r"\d (\w+)\(", trace.out)}
        self.assertEqual(calls, {"rmdir"})

    def test_what_changes_the_target_is_refused(self):
        for expression in ("inject=all:error=EPERM", "fault=read", "kvm=vcpu", "quiet=attach", ""):
            status, out, err = run("trace", "-p", os.getpid(), "-e", expression)
            self.assertEqual((status, out), (2, ""), expression)
            self.assertRegex(err, "^taskscope: -e ")
            self.assertEqual(tracer_of(os.getpid()), 0)

    def test_a_target_that_is_killed_ends_its_trace(self):
        with Caller() as caller, Trace(caller.pid) as trace:
            os.kill(caller.pid, signal.SIGKILL)
            self.assertEqual(trace.end(None), 0)
        self.assertIn("+++ killed by SIGKILL +++", trace.out)

    def test_when_strace_is_killed_the_target_goes_on(self):
        with Caller() as caller, Trace(caller.pid) as trace:
            os.kill(trace.strace, signal.SIGKILL)
            self.assertEqual(trace.end(None), 2)
            self.assertIn("strace was killed by signal 9", trace.err)
            caller.make(1)

    def test_no_strace_outlives_us(self):
        with Caller() as caller, Trace(caller.pid) as trace:
            trace.end(signal.SIGKILL)
            wait_until(lambda: not is_alive(trace.strace))
            self.assertEqual(tracer_of(caller.pid), 0)
            caller.make(1)

    def test_a_reader_that_goes_ends_the_trace(self):
        """Also where the target makes no call: there is nothing then that could not be written."""
        for is_kept in (False, True):
            path = self.path(f"{is_kept}.txt")
            with Caller() as caller, Trace(caller.pid, *(["-o", path] if is_kept else [])) as trace:
                trace.process.stdout.close()
                trace.process.stdout = None
                if is_kept:
                    caller.make(1)
                    wait_until(lambda: "rmdir(" in pathlib.Path(path).read_text())
                    trace.process.send_signal(signal.SIGINT)
                self.assertEqual(trace.end(None), 0, trace.err)
                self.assertEqual(trace.err, "")
                wait_until(lambda: tracer_of(caller.pid) == 0)
                caller.make(1)

    def test_a_full_disk_ends_the_trace(self):
        with Caller() as caller, open("/dev/full", "w") as full, Trace(caller.pid, stdout=full) as trace:
            caller.make(1)
            self.assertEqual(trace.end(None), 2)
            self.assertIn("nobody takes the trace any more: No space left", trace.err)

    def test_four_outcomes_have_four_sentences(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        with Caller() as caller:
            self.assertRegex(run("trace", "-p", caller.pid, prefix=HIDDEN_STRACE)[2], "strace is not installed")
            status, _, err = run("trace", "-p", caller.pid, user=65534)
            self.assertEqual(status, 2)
            self.assertRegex(err, f"permission denied to trace process {caller.pid}")
            self.assertRegex(run("trace", "-p", gone.pid)[2], rf"no process {gone.pid}|{gone.pid} is gone")
            with Trace(caller.pid) as trace:
                status, _, err = run("trace", "-p", caller.pid)
                self.assertEqual(status, 2)
                self.assertIn(f"process {caller.pid} is already traced, by process {trace.strace} (strace)", err)

    def test_options_of_the_other_kind_are_mistakes(self):
        for words in (("--summary", "-e", "read"), ("--summary", "-o", "x"), ("--format", "json"), ("-q",)):
            status, _, err = run("trace", "-p", os.getpid(), *words)
            self.assertEqual((status, err.count("\n")), (2, 1), words)


if __name__ == "__main__":
    main()
