#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report: what a real run wrote, whole, cut off anywhere and mixed with other files."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

import support
from kernel import WAYS

SCRIPT = """
for i in 1 2 3 4 5 6 7 8; do /bin/true; done
dd if=/dev/zero of=/dev/null bs=1 count=20000 2>/dev/null
sleep 1000 >/dev/null 2>&1 & sleep 0.3
exit 7
"""

REASONS = ("disk", "lock", "condition", "network", "pipe", "timer", "poll", "child", "memory",
           "stopped", "other")


class ReportCase(support.TestCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("it.jsonl")
        done = subprocess.run([support.TASKSCOPE, "run", "-o", self.file, "--", "sh", "-c", SCRIPT],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=support.HANG)
        self.live = done.stderr.decode()
        if done.returncode == 125:
            self.skipTest(self.live.strip())
        self.assertEqual(done.returncode, 7, self.live)
        with open(self.file, "rb") as file:
            self.bytes = file.read()
        self.lines = [json.loads(line) for line in self.bytes.splitlines()]
        for member in self.lines[-1]["running_processes"]:
            os.kill(member["pid"], signal.SIGKILL)

    def report(self, *words):
        status, out, err = support.run("report", *words)
        self.assertEqual((status, err), (0, ""))
        return out

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)


class Whole(ReportCase):
    def test_the_report_is_the_one_that_run_gave(self):
        self.assertEqual(self.report(self.file), self.live)
        self.assertIn("sh exited 7 after ", self.live.splitlines()[0])
        verdict = self.report(self.file, "-v").split("\n\n")[0]
        self.assertLessEqual(len(verdict.splitlines()), 10)

    def test_the_summary_is_the_last_line(self):
        out = self.report(self.file, "--format", "json")
        self.assertEqual(json.loads(out), self.lines[-1])
        again = self.report(self.write("summary.json", out.encode()), "--format", "json")
        # The stacks are in lines of their own.
        self.assertEqual(json.loads(again), {key: value for key, value in json.loads(out).items()
                                             if key != "profile"})

    def test_standard_input_is_a_file(self):
        with open(self.file, "rb") as file:
            done = subprocess.run([support.TASKSCOPE, "report", "-"], stdin=file,
                                  capture_output=True, timeout=support.HANG)
        self.assertEqual(done.stdout.decode(), self.live)

    def test_every_line_has_its_kind_and_time(self):
        for line in self.lines:
            self.assertEqual(list(line)[:2], ["kind", "ts_ms"])
        kinds = [line["kind"] for line in self.lines]
        self.assertEqual(kinds[-1], "summary")
        self.assertIn("metadata", kinds[:2])
        exits = [line for line in self.lines if line["kind"] == "exit"]
        self.assertEqual(len({line["pid"] for line in exits}), len(exits))
        for line in exits:
            for key in ["pid", "ppid", "wall_ns"]:
                self.assertIn(key, line)
        self.assertEqual(len(exits) + len(self.lines[-1]["running_processes"]),
                         self.lines[-1]["processes_ever"])

    def test_the_summary_has_what_is_promised(self):
        summary = self.lines[-1]
        for key in ["exit_code", "wall_ns", "processes_ever", "threads_ever", "threads",
                    "analysis", "verdict", "losses", "self"]:
            self.assertIn(key, summary)
        self.assertEqual(summary["exit_code"], 7)
        self.assertLessEqual({"class", "cause", "evidence", "hint"}, set(summary["verdict"]))
        if "wait_lock_ns" in summary:
            waits = sum(summary[f"wait_{reason}_ns"] for reason in REASONS)
            total = summary["run_time_ns"] + summary["wait_time_ns"] + waits
            share = total / summary["wall_time_ns"]
            if summary["losses"]["threads_lost"]:
                # A thread without a last account did something unknown after its last sample.
                self.assertTrue(0.9 < share <= 1, share)
            else:
                self.assertAlmostEqual(share, 1, delta=0.01)

    def test_limits_of_rows(self):
        few, all_of_them = self.report(self.file, "-n", "1"), self.report(self.file, "-n", "0")
        self.assertIn("more\n", few)
        self.assertNotIn("more\n", all_of_them)
        self.assertLess(len(few), len(all_of_them))


MAKEFILE = """
all: one two three four bad
%: %.c
	$(CC) -o $@ $<
"""


@unittest.skipUnless(shutil.which("make") and shutil.which("cc"), "needs make and a compiler")
class Build(support.TestCase):
    """A real build, of which one step fails."""
    METRICS = "process_count,run_time_ns,wait_costly_ns,wait_for_work_ns,hiwater_rss_bytes"

    def setUp(self):
        super().setUp()
        self.file = self.path("it.tscope")
        pathlib.Path(self.path("Makefile")).write_text(MAKEFILE)
        for name in ("one", "two", "three", "four"):
            pathlib.Path(self.path(name + ".c")).write_text("int main(void) { return 0; }\n")
        pathlib.Path(self.path("bad.c")).write_text("#error never\n")
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("COLUMNS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        self.env = {**environment, "CC": "cc"}
        done = subprocess.run([support.TASKSCOPE, "run", "-o", self.file, "--", "make", "-k", "-j2", "-C",
                               self.folder.name], stdin=subprocess.DEVNULL, capture_output=True,
                              env=self.env, timeout=support.HANG)
        if done.returncode == 125:
            self.skipTest(done.stderr.decode().strip())
        self.assertEqual(done.returncode, 2, done.stderr.decode())
        # The compiler and make write to standard error before the report.
        self.live = done.stderr.decode()

    def report(self, *words):
        status, out, err = support.run("report", self.file, *words, env=self.env)
        self.assertEqual((status, err), (0, ""))
        return out

    def test_it_fits_on_a_screen(self):
        out = self.report()
        self.assertTrue(self.live.endswith(out), self.live)
        lines = out.splitlines()
        # Below the tables each source that is missing has its reason.
        tables = out.rpartition("\n\n")[0].splitlines()
        # Of these, two tables of functions have eight lines each, and two lines say what they lack.
        self.assertLessEqual(len(lines) if "bpf" in WAYS else len(tables), 45 + 2 * 8 + 2, out)
        self.assertLessEqual(max(map(len, lines)), 80, out)
        self.env["COLUMNS"] = "80"
        self.assertGreater(len(self.report("-v").splitlines()), len(lines))

    def test_its_parts_are_in_order(self):
        headings = ["make exited 2 after ", "\ncritical path: ", "\nprograms by ", "\nwhere the time went: "]
        if "bpf" not in WAYS:
            headings.remove("\ncritical path: ")
        out = self.report()
        places = [out.find(heading) for heading in headings]
        self.assertEqual(places, sorted(places), out)
        self.assertEqual(places[0], 0, out)
        for heading in ("longest waits", "processes by CPU time", "system calls by", "taskscope itself: "):
            self.assertNotIn("\n" + heading, out)

    @unittest.skipIf(WAYS == ["procfs"], "needs kernel events")
    def test_the_child_that_failed_is_named(self):
        out = self.report()
        self.assertRegex(out, r"(?m)^failed: cc exited 1 \(pid \d+: cc -o bad bad\.c\)$")
        self.assertRegex(out, r"(?m)^cc +5 .* 1 \(exit 1\)$")
        self.assertNotIn("failed: make", out)

    def test_programs_have_the_numbers_of_show(self):
        status, shown, err = support.run("show", self.file, "-g", "pcomm", "-m", self.METRICS, env=self.env)
        self.assertEqual((status, err), (0, ""))
        # Behind the group there is a column "procs", and process_count says the same.  A "*" marks what was
        # not measured of all.
        expected = {row[0]: row[2:7] for row in (re.split("  +", line.replace("*", "")) for line in
                                                 shown.partition("\n\n")[0].splitlines()[1:])}
        out = self.report("-n", "0").partition("\nprograms by ")[2].partition("\n\n")[0]
        rows = [re.split("  +", line) for line in out.splitlines()[2:] if not line.startswith("failed: ")]
        self.assertEqual({row[0]: row[1:6] for row in rows}, expected)


class CutOff(ReportCase):
    def test_a_file_that_ends_anywhere(self):
        first = self.bytes.index(b'{"kind":"metadata"')
        first = self.bytes.index(b"\n", first) + 1
        last = len(self.bytes) - 2
        for size in range(first, last, max(1, (last - first) // 40)):
            out = self.report(self.write("cut.jsonl", self.bytes[:size]))
            self.assertIn("cut off after ", out.splitlines()[0])
            self.assertIn(": no summary; ", out.splitlines()[0])

    def test_without_the_summary_sums_are_those_of_what_ended(self):
        cut = self.bytes[:self.bytes.rindex(b'{"kind":"summary"')]
        out = json.loads(self.report(self.write("cut.jsonl", cut), "--format", "json"))
        whole = self.lines[-1]
        exits = [line for line in self.lines if line["kind"] == "exit"]
        self.assertEqual(out["end"], "unfinished")
        self.assertEqual(out["exit_code"], 7)
        self.assertEqual(out["exited"], len(exits))
        if "cpu_time_ns" in whole:
            self.assertGreaterEqual(out["cpu_time_ns"], sum(line["cpu_time_ns"] for line in exits))
            self.assertLessEqual(out["cpu_time_ns"], whole["cpu_time_ns"])

    def test_a_run_of_version_1_is_refused(self):
        old = self.write("old.jsonl", self.bytes.replace(b'"version":2,', b'"version":1,'))
        self.refuse("report", old, says="run it again, or read it with the taskscope that wrote it")

    def test_lines_that_are_damaged_are_counted(self):
        lines = self.bytes.splitlines(keepends=True)
        mixed = b"".join([*lines[:2], b"\x00\xff nothing\n", b'{"kind":"exit",\n', *lines[2:]])
        out = json.loads(self.report(self.write("mixed.jsonl", mixed), "--format", "json"))
        self.assertEqual(out["losses"]["lines"], self.lines[-1]["losses"]["lines"] + 2)

    def test_of_two_runs_the_last_is_shown(self):
        out = self.report(self.write("two.jsonl", self.bytes[:len(self.bytes) // 2] + b"\n" +
                                     self.bytes))
        self.assertEqual(out.splitlines()[0], self.live.splitlines()[0])
        self.assertIn("it has 2 runs, this is the last", out)


class Mistakes(support.TestCase):
    def test_no_file(self):
        self.refuse("report", says="the file of a run (run -o FILE)")
        self.refuse("report", self.path("none"), says="No such file")
        self.refuse("report", self.folder.name, says="is a directory")
        self.refuse("report", "a", "b", says="report takes")
        self.refuse("report", "-", says="no line of kind metadata or summary")

    def test_other_files(self):
        self.refuse("report", "/bin/sh", says="is not a file of run")
        self.refuse("report", __file__, says="is not a file of run")
        self.refuse("report", "/dev/zero", says="line 1 is larger than any")

    def test_a_snapshot_is_for_show(self):
        snapshot = self.path("it.tscope")
        self.assertEqual(support.run("capture", "-q", "-p", os.getpid(), "-o", snapshot)[0], 0)
        self.refuse("report", snapshot, says="`taskscope show` shows it")

    def test_formats(self):
        self.refuse("report", "x", "--format", "csv", says="csv")


if __name__ == "__main__":
    support.main()
