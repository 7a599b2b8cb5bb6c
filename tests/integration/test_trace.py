#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`trace`: sums of system calls, and full traces by strace that never freeze their target."""
import contextlib
import csv
import io
import json
import os
import pathlib
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


if __name__ == "__main__":
    main()
