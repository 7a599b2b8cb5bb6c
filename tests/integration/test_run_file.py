#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run in a file: .tscope and .jsonl alike for report, show and compare."""
import json
import os
import shutil
import subprocess
import sys
import unittest

import support
from kernel import WAYS

# Programs under names of their own: what each must be seen to do.
SPIN = "import sys\nn = 0\nwhile n < int(sys.argv[1]): n += 1\n"
MANY = 5000

# Short processes are all seen only where the kernel reports them.
needs_events = unittest.skipIf(WAYS == ["procfs"], "needs kernel events")


class RunFileCase(support.TestCase):
    def save(self, name, *command, status=0, outputs=(".tscope", ".jsonl")):
        """Runs the command, written to NAME.tscope and NAME.jsonl; gives the report."""
        words = [word for output in outputs for word in ("-o", self.path(name + output))]
        done = subprocess.run([support.TASKSCOPE, "run", *words, "--", *command],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=support.HANG)
        if done.returncode == 125:
            self.skipTest(done.stderr.decode().strip())
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stderr.decode()

    def taskscope(self, *words, status=0):
        done, out, err = support.run(*words)
        self.assertEqual((done, err), (status, ""), out)
        return out

    def groups(self, path, *words):
        shown = json.loads(self.taskscope("show", path, "--format", "json", *words))
        return {group["key"]: group for group in shown["groups"]}

    def value(self, group, metric):
        return group["metrics"].get(metric, {"value": 0})["value"]


class OneRun(RunFileCase):
    SCRIPT = """exec 2>/dev/null
    for i in 1 2 3 4 5; do sh -c 'exit 3'; done
    for i in 1 2 3; do sh -c 'kill -9 $$'; done
    sleep 0.2
    exit 7
    """

    def setUp(self):
        super().setUp()
        self.live = self.save("it", "sh", "-c", self.SCRIPT, status=7)
        self.files = [self.path("it.tscope"), self.path("it.jsonl")]

    def test_both_files_give_the_report_of_the_run(self):
        for file in self.files:
            self.assertEqual(self.taskscope("report", file), self.live)
        summaries = [self.taskscope("report", file, "--format", "json") for file in self.files]
        self.assertEqual(*summaries)

    def test_both_files_are_the_same_run(self):
        shown = [json.loads(self.taskscope("show", file, "-g", "thread", "--format", "json"))
                 for file in self.files]
        self.assertEqual(*shown)
        for sides in (self.files, self.files[::-1]):
            compared = json.loads(self.taskscope("compare", *sides, "--format", "json"))
            self.assertEqual(compared["rows"], [])
            self.assertEqual(compared["host_changes"], [])

    @needs_events
    def test_both_files_show_the_programs(self):
        metrics = "process_count,failures,run_time_ns,wait_timer_ns,thread_count,end_ns"
        summary = json.loads(self.taskscope("report", self.files[0], "--format", "json"))
        for file in self.files:
            groups = self.groups(file, "-m", metrics)
            self.assertEqual(set(groups), {"sh", "sleep"})
            self.assertEqual(self.value(groups["sh"], "process_count"), 9)
            self.assertEqual(self.value(groups["sh"], "failures"), 9)
            self.assertEqual(self.value(groups["sleep"], "failures"), 0)
            self.assertEqual(sum(group["tasks"] for group in groups.values()), summary["threads_ever"])
            self.assertLessEqual(self.value(groups["sh"], "end_ns"), summary["wall_ns"])
            if summary["tracer"] == "bpf":
                self.assertGreater(self.value(groups["sleep"], "wait_timer_ns"), 190e6)

    @needs_events
    def test_each_process_has_its_end(self):
        groups = self.groups(self.files[0], "-g", "process", "-m", "exit_code,exit_signal,process_count")
        ends = {name: sorted(group["metrics"][name]["min"] for group in groups.values()
                             if name in group["metrics"]) for name in ("exit_code", "exit_signal")}
        self.assertEqual(ends, {"exit_code": [0, 3, 3, 3, 3, 3, 7], "exit_signal": [9, 9, 9]})

    def test_the_table_is_made_for_a_run_and_says_of_which(self):
        for file in self.files:
            shown = self.taskscope("show", file)
            self.assertRegex(shown.splitlines()[0], "^group +procs +run_time_ns +wait_(costly|time)_ns "
                                                    "+hiwater_rss_bytes +failures +wait_(time|costly)_ns$")
            self.assertIn("run of sh -c ", shown)
            self.assertNotIn("\\ ", shown)
            self.assertIn("## limits\n", self.taskscope("show", file, "--sections", "limits"))
            self.assertIn(", exited with 7", shown)

    def test_a_run_and_a_capture_are_not_compared(self):
        capture = self.path("capture.tscope")
        self.assertEqual(support.run("capture", "-p", str(os.getpid()), "-o", capture)[0], 0)
        status, _, err = support.run("compare", capture, self.files[0])
        self.assertEqual(status, 2)
        self.assertIn("cannot compare a run with a capture", err)
        status, _, err = support.run("report", capture)
        self.assertEqual(status, 2)
        self.assertIn("is a capture, which has no past to report", err)

    def test_what_no_side_has_is_explained_on_request(self):
        out = self.taskscope("compare", *self.files)
        self.assertRegex(out, r"\n[0-9]+ metrics were measured on no side \(-v says why\)\n$")
        for words in ("-v", ), ("-m", "policy,run_time_ns"):
            self.assertRegex(self.taskscope("compare", *words, *self.files),
                             "\nmeasured on no side: policy.*: run and attach do not read it\n")

    def test_runs_are_no_interval(self):
        status, _, err = support.run("compare", "--mode", "interval", *self.files)
        self.assertEqual(status, 2)
        self.assertIn("each run is a whole of its own", err)
        self.assertIn("mode: population", self.taskscope("compare", *self.files))


class Outputs(RunFileCase):
    def refuse(self, *outputs, says):
        words = [word for output in outputs for word in ("-o", self.path(output))]
        status, _, err = support.run("run", *words, "--", "true")
        self.assertEqual(status, 125)
        self.assertIn(says, err)

    def test_what_cannot_be_written_is_told_before_anything_starts(self):
        self.refuse("none/it.tscope", says="No such file or directory")
        self.refuse("it.ctprof.zst", says="ends in .tscope, .folded, ")
        self.refuse("a.tscope", "b.tscope", says="two files of one kind")
        self.refuse("a.jsonl", "b.jsonl", says="two files of one kind")


class Many(RunFileCase):
    METRICS = ["run_time_ns", "wait_time_ns", "minflt", "process_count", "failures", "thread_count"]

    def check(self, file):
        summary = json.loads(self.taskscope("report", file, "--format", "json"))
        self.assertGreaterEqual(summary["processes_ever"], MANY)
        self.assertGreater(summary["processes_folded"], 0)
        groups = self.groups(file, "-m", ",".join(self.METRICS))
        self.assertEqual(sum(self.value(group, "process_count") for group in groups.values()),
                         summary["processes_ever"])
        self.assertEqual(sum(self.value(group, "failures") for group in groups.values()), MANY)
        self.assertEqual(sum(group["tasks"] for group in groups.values()), summary["threads_ever"])
        self.assertEqual(sum(self.value(group, "minflt") for group in groups.values()), summary["minflt"])
        rows = self.groups(file, "-g", "process", "-m", ",".join(self.METRICS))
        for metric in self.METRICS:
            self.assertEqual(sum(self.value(group, metric) for group in groups.values()),
                             sum(self.value(group, metric) for group in rows.values()), metric)
        folded = [key for key in rows if key.endswith(" processes]")]
        self.assertEqual(folded, [f"sh[{summary['processes_folded']} processes]"])
        self.assertIn("are in rows that add them up", self.taskscope("show", file))

    @needs_events
    def test_processes_that_used_little_are_added_up_by_program(self):
        self.save("it", "sh", "-c", f"i=0; while [ $i -lt {MANY} ]; do (exit 1); i=$((i+1)); done")
        for file in ("it.tscope", "it.jsonl"):
            self.check(self.path(file))


class Compared(RunFileCase):
    def spin(self, name, steps, outputs=(".tscope",)):
        self.save(name, sys.executable, "-c", SPIN, str(steps), outputs=outputs)

    def test_two_runs_differ_by_what_they_did(self):
        self.spin("little", 100000)
        self.spin("much", 4000000, outputs=(".jsonl",))
        out = self.taskscope("compare", self.path("little.tscope"), self.path("much.jsonl"), "-m", "utime_ns,run_time_ns",
                             "--format", "json")
        rows = [row for row in json.loads(out)["rows"] if row["metric"] in ("utime_ns", "run_time_ns")]
        self.assertTrue(any(row["after"] > row["before"] for row in rows), rows)

    def test_what_can_be_missed_makes_lower_bounds(self):
        for way in WAYS:
            with self.subTest(way=way):
                file = self.path(way + ".tscope")
                self.assertEqual(support.run("run", "--source", way, "-o", file, "--", "true")[0], 0)
                out = self.taskscope("compare", file, file)
                self.assertEqual(out.count("  at least 1 thread of 1 process, by " + way), 2 * (way != "bpf"), out)
                self.assertEqual("note: before: at least, since something was missed: counts of tasks" in out,
                                 way != "bpf", out)

    def test_users_are_known(self):
        script = "sleep 0.5"
        users = {f"uid {os.getuid()}"}
        if support.is_root() and shutil.which("setpriv"):
            script += "; setpriv --reuid=65534 --clear-groups sleep 0.5; true"
            users.add("uid 65534")
        for way in WAYS:
            with self.subTest(way=way):
                files = [self.path(way + end) for end in (".tscope", ".jsonl")]
                self.assertEqual(support.run("run", "--source", way, "-o", files[0], "-o", files[1], "--", "sh", "-c",
                                             script)[0], 0)
                for file in files:
                    self.assertEqual(set(self.groups(file, "-g", "user")), users)
                    self.assertIn("\n(none): the cgroup is not known: run and attach do not record it",
                                  self.taskscope("show", file, "-g", "cgroup"))

    def test_three_against_three_have_the_exact_test(self):
        for i in range(3):
            self.spin(f"a{i}", 100000 + i)
            self.spin(f"b{i}", 4000000 + i)
        sides = [",".join(self.path(f"{side}{i}.tscope") for i in range(3)) for side in "ab"]
        out = self.taskscope("compare", *sides, "-m", "utime_ns", "--format", "json")
        rows = [row for row in json.loads(out)["rows"] if row["metric"] == "utime_ns"]
        self.assertTrue(any(abs(row.get("significance", {"p": 1})["p"] - 0.1) < 1e-9 for row in rows), rows)
        status, _, _ = support.run("compare", *sides, "--fail-on", "utime_ns > +50%")
        self.assertEqual(status, 1)


if __name__ == "__main__":
    support.main()
