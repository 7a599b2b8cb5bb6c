#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stretches of a run: a program that does three things one after another, and tells when."""
import json
import pathlib
import subprocess
import sys
import unittest

import support

# Sleeps, computes for so much CPU time, and lets its memory grow; says when each began and ended.
PROGRAM = """
import time

def phase(name, work):
    begin, cpu = time.monotonic_ns(), time.process_time_ns()
    work()
    print(name, begin, time.monotonic_ns(), time.process_time_ns() - cpu, flush=True)

def compute():
    end = time.process_time_ns() + 2 * 10 ** 9
    while time.process_time_ns() < end:
        pass

kept = []
def grow():
    for _ in range(20):
        kept.append(b"x" * (16 << 20))
        time.sleep(0.1)

phase("idle", lambda: time.sleep(2))
phase("compute", compute)
phase("grow", grow)
"""


class Segments(support.TestCase):
    def watch(self, *words):
        done = subprocess.run([support.TASKSCOPE, "run", "-q", *words, "--", sys.executable, "-c", PROGRAM],
                              capture_output=True, preexec_fn=support.go_first, timeout=support.HANG)
        if done.returncode == 125:
            self.skipTest(done.stderr.decode().strip())
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return {name: (int(begin), int(end), int(cpu)) for name, begin, end, cpu in
                (line.split() for line in done.stdout.decode().splitlines())}

    def watch_with_a_cpu(self):
        """A run that had most of a CPU while it computed; a host may be too busy for that, for a while."""
        for _ in range(5):
            told = self.watch("-o", self.path("it.jsonl"))
            begin, end, cpu = told["compute"]
            if cpu > (end - begin) / 2:
                break
        return told

    def test_each_phase_is_in_a_stretch_of_its_own(self):
        told = self.watch_with_a_cpu()
        summary = json.loads(pathlib.Path(self.path("it.jsonl")).read_text().splitlines()[-1])
        segments = summary["segments"]
        self.assertLessEqual(len(segments), 6)
        self.assertEqual(segments[0]["begin_ns"], 0)
        for before, after in zip(segments, segments[1:]):
            self.assertEqual(before["end_ns"], after["begin_ns"])
        at = {}
        for name, (begin, end, _) in told.items():
            middle = (begin + end) // 2 - summary["begin_monotonic_ns"]
            at[name], = [segment for segment in segments
                         if segment["begin_ns"] <= middle < segment["end_ns"]]
        self.assertEqual(len({segment["begin_ns"] for segment in at.values()}), 3, segments)
        # The interpreter started in the same stretch.
        self.assertIn(at["idle"]["what"], ("idle", "mostly waiting"))
        self.assertLess(at["idle"]["cores"], at["compute"]["cores"] / 2)
        begin, end, cpu = told["compute"]
        self.assertAlmostEqual(at["compute"]["cores"], cpu / (end - begin), delta=0.25)
        self.assertIn("growing memory", at["grow"]["what"])
        self.assertGreater(at["grow"]["rss_bytes"], 2 * at["compute"]["rss_bytes"])

    def test_both_files_have_the_same(self):
        self.watch("-o", self.path("it.jsonl"), "-o", self.path("it.tscope"))
        reports = [support.run("report", self.path(name), "-v") for name in ("it.jsonl", "it.tscope")]
        self.assertEqual(reports[0], reports[1])
        self.assertIn("\nstretches of the run, by its samples\n", reports[0][1])


if __name__ == "__main__":
    unittest.main()
