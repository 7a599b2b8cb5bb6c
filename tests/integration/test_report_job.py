#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report of a job, from recordings whose content is known.

TASKSCOPE_ACCEPT=1 writes what comes out as what is expected: read the difference before you commit it.
"""
import json
import os
import pathlib
import unittest

import outcomes
import support

from outcomes import BEGIN, MIB, SECOND, event, job, line, step

EXPECTED = support.ROOT / "tests/golden/expected"
ACCEPT = os.environ.get("TASKSCOPE_ACCEPT") == "1"

SMALL = job("nightly", "success", 0, 30, absent="no recorder was running: only times and outcome are known")
# Two steps of three, of which the second is killed.
LARGE = [
    job("nightly", "failure", 40, 725, status=256, cmd="make all", memory="rss", peak_memory_bytes=1229 * MIB,
        peak_rss_bytes=800 * MIB, run_time_ns=612 * SECOND, peak_cpu_percent=187.5, read_bytes=12 * MIB,
        write_bytes=MIB, processes=12, spawns=11, exits=12, failed_exits=1, signals=2, kills=1, ooms=0, anomalies=1,
        steps=3, watched="/home/u/out"),
    step("1", "success", 40, 300, peak_memory_bytes=200 * MIB, peak_rss_bytes=100 * MIB, run_time_ns=200 * SECOND,
         peak_cpu_percent=99, memory="rss"),
    step("2", "failure", 340, 425, peak_memory_bytes=1229 * MIB, peak_rss_bytes=800 * MIB, run_time_ns=412 * SECOND,
         peak_cpu_percent=187.5, memory="rss", processes=7),
    *(line("syscall", "-", name, calls, errors, int(seconds * SECOND)) for name, calls, errors, seconds in [
        ("futex", 1200, 30, 90), ("read", 500, 0, 4), ("write", 300, 1, 1), ("openat", 900, 600, 0.5),
        ("close", 300, 0, 0.2), ("fsync", 3, 0, 0.15), ("mmap", 90, 0, 0.1), ("brk", 9, 0, 0.01), ("getpid", 1, 0, 0.001)]),
    line("syscall", "2", "futex", 1000, 30, 80 * SECOND),
    event("start", 40, 4711, "make", "make all"),
    event("step", 340, 4711, "make", "2"),
    event("anomaly", 500, 4720, "cc1", "800 MiB, 5 times as much as before"),
    event("kill", 700, 4720, "cc1", "SIGKILL, from 5 (sh)", '{"host":{"load1":2.5}}'),
    event("exit", 700, 4720, "cc1", "ended by SIGKILL", "{broken"),
    event("file_created", 300, 0, "", "out/a.o"),
    event("file_changed", 301, 0, "", "out/a.o"),
    event("end", 765, 4711, "make", "failure"),
]


class Case(support.TestCase):
    def store(self, *lines):
        self.path_of_store = self.path("jobs.db")
        outcomes.write(self.path_of_store, lines)

    def report(self, *words):
        return self.accept("report", "--store", self.path_of_store, *words, env={**os.environ, "TZ": "UTC"})


class Report(Case):
    def expect(self, name, text):
        path = EXPECTED / name
        if ACCEPT:
            path.write_text(text)
        self.assertEqual(text, path.read_text())

    def test_whole_reports_are_as_expected(self):
        self.store(SMALL, *LARGE)
        self.expect("job_report.txt", self.report("nightly"))
        self.expect("job_report_step.txt", self.report("nightly", "--step", "2"))
        self.expect("job_report_small.txt", self.report("#1"))
        self.expect("job_report.json", self.report("nightly", "--format", "json"))
        for text in (self.report("nightly"), self.report("#1")):
            self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_names_numbers_and_the_newest(self):
        self.store(SMALL, *LARGE, job("build", begin=2000))
        self.assertRegex(self.report("nightly"), "^job nightly, #2: failure, exit status 1, after 12m 05s\n")
        self.assertRegex(self.report("#1"), "^job nightly, #1: success, after 30.0 s\n")
        self.assertRegex(self.report("--latest"), "^job build, #3: success")

    def test_programs_get_all_of_it(self):
        self.store(SMALL, *LARGE)
        whole = json.loads(self.report("nightly", "--json"))
        self.assertEqual(whole["job"]["peak_memory_bytes"], 1229 * MIB)
        self.assertEqual([found["name"] for found in whole["steps"]], ["1", "2"])
        self.assertEqual(len(whole["syscalls"]), 9)
        contexts = [found.get("context") for found in whole["events"]]
        self.assertEqual([context for context in contexts if context], [{"host": {"load1": 2.5}}])
        part = json.loads(self.report("nightly", "--json", "--step", "2"))
        self.assertEqual([found["name"] for found in part["steps"]], ["2"])
        self.assertEqual([found["name"] for found in part["syscalls"]], ["futex"])

    def test_rows_beyond_the_limit_are_counted(self):
        self.store(*LARGE)
        self.assertIn("\n1 more: -n 0\n", self.report("nightly"))
        self.assertIn("getpid", self.report("nightly", "-n", "0"))
        self.assertIn("\n7 more: -n 0\n", self.report("nightly", "-n", "2"))

    def test_what_was_counted_but_not_noted(self):
        self.store(job("a", signals=3, anomalies=0))
        text = self.report("a")
        self.assertIn("\nsignals and kills: 3, but nobody noted when", text)
        self.assertIn("\nanomalies: none\n", text)
        self.assertIn("\nOOM kills: no data\n", text)

    def test_a_job_that_cannot_run_any_more_has_no_outcome(self):
        self.store(job("lost", "running", 0, 0))
        self.assertRegex(self.report("lost"), "^job lost, #1: unknown\ntime .* to nobody saw its end\n")

    def test_names_of_strangers_do_no_harm(self):
        self.store(job("a\x1b[31mb", cmd="x\x1b]0;y"))
        text = self.report("a\x1b[31mb")
        self.assertNotIn("\x1b", text)
        self.assertIn("a\\x1b[31mb", text)

    def test_mistakes(self):
        self.store(SMALL)
        for says, words in [
                ("no job called 'x' in the recording", ["x"]),
                ("a file needs a / or an ending, such as ./x", ["x"]),
                ("no job #7 in the recording", ["#7"]),
                ("'#x' is not the number of a job", ["#x"]),
                ("job nightly (#1) has no step '9'", ["nightly", "--step", "9"]),
                ("report takes the name of a job, its number as '#12' in quotes", []),
                ("give no name with it", ["--latest", "nightly"]),
                ("--step is for jobs", ["./x.tscope", "--step", "1"]),
                ("there is no run of job nightly (#1): only `taskscope run --job` keeps one", ["nightly", "-o", "x.html"]),
                ("there is no run of job nightly (#1)", ["nightly", "--format", "html"]),
                ("what report writes ends in one of", ["nightly", "-o", "x.txt"])]:
            self.refuse("report", "--store", self.path_of_store, *words, says=says)
        self.refuse("report", "--latest", "--store", self.path("none.db"), says="none.db")

    def test_an_empty_recording(self):
        self.store()
        self.refuse("report", "--latest", "--store", self.path_of_store, says="the recording has no jobs")

    def test_reading_writes_nothing(self):
        self.store(SMALL)
        before = pathlib.Path(self.path_of_store).read_bytes()
        self.report("nightly")
        self.assertEqual(pathlib.Path(self.path_of_store).read_bytes(), before)


class KeptRun(Case):
    """A job whose whole run is in the recording."""

    def setUp(self):
        super().setUp()
        saved = self.path("run.tscope")
        self.accept("run", "-q", "-o", saved, "--", "sh", "-c", "true; exit 0")
        self.store(SMALL, line("run", "-", saved), job("steps"), step("1"), step("2"), line("run", "1", saved),
                   job("one step"), step("1"), line("syscall", "-", "read", 1, 0, 5), line("run", "-", saved))

    def test_a_page(self):
        path = pathlib.Path(self.path("x.html"))
        self.assertEqual(self.report("nightly", "-o", path), "")
        self.assertRegex(path.read_text(), "^<!doctype html>")
        self.assertEqual(self.report("nightly", "--format", "html"), path.read_text())
        self.assertRegex(self.report("steps", "--step", "1", "--format", "html"), "^<!doctype html>")
        self.refuse("report", "steps", "--store", self.path_of_store, "--format", "html", says="--step K asks for that of a step")

    def test_the_only_step_has_what_the_job_has(self):
        report = json.loads(self.report("one step", "--step", "1", "--json"))
        self.assertEqual((report["has_run"], [call["name"] for call in report["syscalls"]]), (True, ["read"]))
        self.assertRegex(self.report("one step", "--step", "1", "--format", "html"), "^<!doctype html>")
        self.assertIs(json.loads(self.report("steps", "--step", "2", "--json"))["has_run"], False)

    def test_the_verdict_below(self):
        self.assertNotIn("sh exited 0", self.report("nightly"))
        text = self.report("nightly", "-v")
        self.assertRegex(text, "^job nightly, #1: success")
        self.assertIn("\nwhole run: kept;", text)
        self.assertIn("\nsh exited 0 after ", text)

    def test_a_file_is_a_file(self):
        saved = self.path("run.tscope")
        self.assertRegex(self.accept("report", saved), "^sh exited 0")
        self.assertRegex(self.accept("report", "run.tscope", cwd=os.path.dirname(saved)), "^sh exited 0")
        self.assertRegex(self.accept("report", saved, "--format", "html"), "^<!doctype html>")


if __name__ == "__main__":
    unittest.main()
