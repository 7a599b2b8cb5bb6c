#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Waits without privilege: what threads wait for is sampled, adds up, and is marked as an estimate."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import support
from kernel import WAYS
from support import TASKSCOPE, is_root

NOBODY = 65534
UNPRIVILEGED = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
# Other users may not reach an interpreter in a home directory.
PYTHON = shutil.which("python3", path=os.defpath) or os.path.realpath(sys.executable)
# Samples are taken about every 10 ms, less often on a busy machine: with a second there are enough.
LOCKED = """
import threading, time
lock = threading.Lock()
lock.acquire()
waiting = threading.Thread(target=lock.acquire)
waiting.start()
time.sleep(1.5)
lock.release()
waiting.join()
"""
SOCKETS = """
import socket, threading, time
near, far = socket.socketpair()
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
answer, _ = server.accept()
local = threading.Thread(target=near.recv, args=(1,))
remote = threading.Thread(target=client.recv, args=(1,))
local.start()
remote.start()
time.sleep(1.5)
far.send(b"x")
answer.send(b"x")
local.join()
remote.join()
"""
BUSY = """
import time
begin = time.process_time()
while time.process_time() < begin + 0.7:
    pass
"""


def waited(amounts):
    """The times of all reasons by name."""
    return {key[5:-3]: value for key, value in amounts.items()
            if key.startswith("wait_") and key.endswith("_ns") and not key.endswith("max_ns")
            and key not in ("wait_time_ns", "wait_costly_ns", "wait_for_work_ns")}


class Sampled(support.TestCase):
    def watch(self, *command, name="run.jsonl", way="procfs"):
        os.chmod(self.folder.name, 0o777)
        words = ["run", "-q", "-o", self.path(name)]
        if way:
            words += ["--source", way]
        done, _, err = support.run(*words, "--", *command, prefix=self.prefix)
        self.assertEqual(done, 0, err)
        if not name.endswith("jsonl"):
            return None
        return json.loads(pathlib.Path(self.path(name)).read_text().splitlines()[-1])

    def setUp(self):
        super().setUp()
        self.prefix = UNPRIVILEGED if is_root() else []
        if self.prefix and subprocess.run([*self.prefix, TASKSCOPE, "--version"],
                                          capture_output=True).returncode:
            self.prefix = []  # another user may not reach the program

    def assert_waits_for(self, amounts, *reasons, part=0.8):
        times = waited(amounts)
        whole = sum(times.values())
        self.assertGreater(whole, 0, amounts)
        self.assertGreaterEqual(sum(times[reason] for reason in reasons), whole * part, times)

    def assert_adds_up(self, thread):
        parts = sum(waited(thread).values()) + thread["run_time_ns"] + thread["wait_time_ns"]
        self.assertAlmostEqual(parts, thread["wall_time_ns"], delta=1e6, msg=thread)

    def test_a_sleep_is_a_timer(self):
        summary = self.watch("sleep", "1.5")
        self.assert_waits_for(summary, "timer")
        self.assert_adds_up(summary["threads"][0])
        self.assertEqual(summary["verdict"]["cause"], "sleep")
        self.assertIn("sampled", " ".join(summary["verdict"]["evidence"]))

    def test_it_is_marked_with_its_error_and_has_no_counts(self):
        summary = self.watch("sleep", "1.5")
        sampled = summary["sampled"]
        self.assertGreater(sampled["samples"], 5)
        self.assertGreater(sampled["interval_ns"], 5e6)
        self.assertAlmostEqual(sampled["error"], 3 / sampled["samples"], delta=0.02)
        ledger = next(row for row in summary["sources"] if row["name"] == "ledger")
        self.assertEqual(ledger["state"], "partial")
        self.assertIn(f"{sampled['samples']} samples", ledger["reason"])
        self.assertNotIn("wait_timer_count", summary)
        self.assertNotIn("wait_timer_max_ns", summary)
        for wait in summary["top_waits"]:
            self.assertNotIn("count", wait)

    def test_a_reader_waits_for_its_pipe(self):
        summary = self.watch("sh", "-c", "(sleep 1.5; echo) | cat")
        cat = next(thread for thread in summary["threads"] if thread["comm"] == "cat")
        self.assert_waits_for(cat, "pipe")
        shell = next(thread for thread in summary["threads"] if thread["pid"] == summary["pid"])
        self.assert_waits_for(shell, "child")
        self.assert_adds_up(shell)

    def test_a_lock_is_a_lock_or_a_condition(self):
        summary = self.watch(PYTHON, "-c", LOCKED)
        waiting = next(thread for thread in summary["threads"] if thread["tid"] != thread["pid"])
        self.assert_waits_for(waiting, "lock", "condition")

    def test_sockets_are_told_apart(self):
        summary = self.watch(PYTHON, "-c", SOCKETS)
        found = [max(waited(thread), key=waited(thread).get) for thread in summary["threads"]
                 if thread["tid"] != thread["pid"]]
        self.assertEqual(sorted(found), ["network", "pipe"])

    def test_computing_is_not_waiting(self):
        summary = self.watch(PYTHON, "-c", BUSY)
        thread = summary["threads"][0]
        self.assert_adds_up(thread)
        self.assertGreaterEqual(thread["run_time_ns"], 6e8)
        self.assertLess(sum(waited(thread).values()), thread["wall_time_ns"] / 2, thread)

    def test_every_way_without_bpf_samples(self):
        for way in [way for way in WAYS if way != "bpf"]:
            with self.subTest(way=way):
                self.prefix = []
                summary = self.watch("sleep", "1.5", way=way)
                self.assert_waits_for(summary, "timer")
                self.assertIn("sampled", summary)

    def test_totals_never_fall(self):
        self.watch("sh", "-c", "sleep 0.5; (sleep 0.5; echo) | cat; sleep 0.5")
        before = {}
        for line in map(json.loads, pathlib.Path(self.path("run.jsonl")).read_text().splitlines()):
            if line["kind"] != "sample":
                continue
            for key, value in waited(line).items():
                self.assertGreaterEqual(value, before.get(key, 0), key)
                before[key] = value
        self.assertGreater(before.get("timer", 0) + before.get("child", 0), 0)

    def test_a_command_that_no_sample_found_has_no_waits(self):
        summary = self.watch("true")
        self.assertEqual("wait_timer_ns" in summary, "sampled" in summary)

    def test_files_keep_it(self):
        self.watch("sleep", "1.5", name="run.tscope")
        done, out, err = support.run("report", "--format", "json", self.path("run.tscope"), prefix=self.prefix)
        self.assertEqual(done, 0, err)
        self.assertIn("error", json.loads(out.splitlines()[-1])["sampled"])
        done, out, err = support.run("report", self.path("run.tscope"), prefix=self.prefix)
        self.assertEqual(done, 0, err)
        self.assertRegex(out, r"timer +~1\.")


if __name__ == "__main__":
    support.main()
