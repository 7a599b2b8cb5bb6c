#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which members of a tree count, since when, and in what environment they ran."""
import json
import os
import pathlib
import platform
import subprocess
import sys
import unittest

import support
from kernel import WAYS
from support import TASKSCOPE

PYTHON = os.path.realpath(sys.executable)
CHILDREN = "/bin/true; /bin/true; (/bin/true; :); exit 0"
BEFORE = 6_000_000
# A thread that ends, then the main thread: both compute, and write to nowhere; then it waits.
OLD = f"""
import os, sys, threading, time
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
    with open(os.devnull, "wb", 0) as out:
        out.write(bytes({BEFORE} // 2))
thread = threading.Thread(target=work, args=(0.3,))
thread.start()
thread.join()
work(0.3)
print("ready", flush=True)
sys.stdin.readline()
"""


class MembersCase(support.TestCase):
    def outputs(self):
        return "-o", self.path("run.jsonl"), "-o", self.path("run.tscope")

    def summary(self):
        return json.loads(pathlib.Path(self.path("run.jsonl")).read_text().splitlines()[-1])

    def succeed(self, *words, **options):
        status, out, err = support.run(*words, **options)
        self.assertEqual(status, 0, err)
        return out, err

    def reports(self):
        """The report of both files, as JSON."""
        return [json.loads(self.succeed("report", "--format", "json", self.path(name))[0])
                for name in ("run.jsonl", "run.tscope")]


class ExcludeChildren(MembersCase):
    def test_only_the_command_counts(self):
        for way in WAYS:
            with self.subTest(way=way):
                _, err = self.succeed("run", *self.outputs(), "--exclude-children", "--source", way,
                                      "--", "sh", "-c", CHILDREN)
                summary = self.summary()
                self.assertEqual(summary["processes_ever"], 1)
                self.assertNotIn("unseen_cpu_ns", summary)
                left_out = summary["children_excluded"]
                if way == "bpf":
                    self.assertEqual(left_out, 4)
                self.assertIn(f"{left_out} process", err)
                self.assertIn("left out", err)
                for report in self.reports():
                    self.assertEqual(report["children_excluded"], left_out)
                lines = pathlib.Path(self.path("run.jsonl")).read_text().splitlines()
                pids = {line["pid"] for line in map(json.loads, lines)
                        if line["kind"] in ("exit", "event")}
                self.assertEqual(pids, {summary["pid"]})

    def test_without_the_option_nothing_is_left_out(self):
        _, err = self.succeed("run", *self.outputs(), "--", "sh", "-c", CHILDREN)
        self.assertNotIn("children_excluded", self.summary())
        self.assertNotIn("left out", err)

    def test_of_attach_it_is_those_that_were_named(self):
        child = [PYTHON, "-c", "import subprocess, sys; "
                 "child = subprocess.Popen(['cat']); print(child.pid, flush=True); child.wait()"]
        with subprocess.Popen(child, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            process.stdout.readline()
            for way in WAYS:
                self.succeed("attach", "-p", process.pid, "-d", "100ms", "--exclude-children",
                             "--source", way, *self.outputs())
                summary = self.summary()
                self.assertEqual([one["pid"] for one in summary["running_processes"]],
                                 [process.pid])
                self.assertEqual(summary["children_excluded"], 1)
            process.stdin.close()

    def test_a_comparison_says_that_one_side_is_smaller(self):
        self.succeed("run", "-q", "-o", self.path("all.tscope"), "--", "true")
        self.succeed("run", "-q", "-o", self.path("own.tscope"), "--exclude-children", "--", "true")
        out, err = self.succeed("compare", self.path("all.tscope"), self.path("own.tscope"))
        self.assertIn("limited to different tasks", out + err)


class SinceProcessStart(MembersCase):
    def setUp(self):
        super().setUp()
        self.process = subprocess.Popen([PYTHON, "-c", OLD], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.process.communicate, "")
        self.process.stdout.readline()

    def attach(self, way, *options):
        return self.succeed("attach", "-p", self.process.pid, "-d", "100ms", "--source", way,
                            *self.outputs(), *options)[1]

    def test_counters_begin_with_the_process(self):
        for way in WAYS:
            with self.subTest(way=way):
                err = self.attach(way, "--since-process-start")
                summary = self.summary()
                self.assertIs(summary["since_process_start"], True)
                self.assertGreaterEqual(summary["run_time_ns"], 580e6)  # ended threads: in ticks
                self.assertGreaterEqual(summary["cpu_time_ns"], 580e6)
                self.assertGreaterEqual(summary["wall_ns"], summary["run_time_ns"])
                self.assertGreaterEqual(summary["wchar"], BEFORE)
                self.assertLess(summary["wchar"], BEFORE + 100000)
                self.assertIn("from the start of each process", err)

    def test_what_nobody_counted_before_is_absent_with_that_reason(self):
        self.attach(WAYS[0], "--since-process-start")
        summary = self.summary()
        for key in ("wall_time_ns", "wait_disk_ns", "offcpu_count", "net_rx_bytes"):
            self.assertNotIn(key, summary)
        if "bpf" in WAYS:
            reasons = {row["name"]: row.get("reason") for row in summary["sources"]}
            for name in ("ledger", "syscalls", "critical_path"):
                self.assertIn("--since-process-start", reasons[name])
        self.assertEqual(summary["pressure"]["host"].keys() - {"online_cpus"}, set())
        for name in ("run.jsonl", "run.tscope"):
            out, _ = self.succeed("show", self.path(name), "-m", "wait_disk_ns,run_time_ns")
            self.assertIn("counters count from the start of each process", out)
            if "bpf" in WAYS:
                self.assertIn("--since-process-start", out)

    def test_without_it_they_begin_with_attaching(self):
        for way in WAYS:
            self.attach(way)
            summary = self.summary()
            self.assertNotIn("since_process_start", summary)
            self.assertLess(summary["run_time_ns"], 300e6)
            self.assertLess(summary.get("wchar", 0), BEFORE)

    def test_run_does_not_know_it(self):
        status, _, err = support.run("run", "--since-process-start", "--", "true")
        self.assertEqual(status, 125)
        self.assertEqual(len(err.splitlines()), 1, err)


class Environment(MembersCase):
    def test_it_is_in_every_output(self):
        self.succeed("run", "-q", *self.outputs(), "--", "true")
        first = json.loads(pathlib.Path(self.path("run.jsonl")).read_text().splitlines()[0])
        for found in (first, *(report["environment"] for report in self.reports())):
            self.assertEqual(found["hostname"], platform.node())
            self.assertEqual(found["online_cpus"],
                             pathlib.Path("/sys/devices/system/cpu/online").read_text().strip())
            self.assertIn("numa_nodes", found)
            self.assertTrue(found.get("cpufreq_governor") or found["absent"]["cpufreq_governor"])

    def test_the_affinity_is_that_of_the_command(self):
        cpu = min(os.sched_getaffinity(0))
        self.succeed("run", "-q", *self.outputs(), "--", "true", prefix=["taskset", "-c", str(cpu)])
        for report in self.reports():
            self.assertEqual(report["environment"]["affinity"], str(cpu))

    def test_the_affinity_is_that_of_the_process_attached_to(self):
        cpu = min(os.sched_getaffinity(0))
        with subprocess.Popen(["taskset", "-c", str(cpu), "cat"], stdin=subprocess.PIPE) as process:
            support.wait_until(lambda: support.comm_of(process.pid) == "cat")
            self.succeed("attach", "-q", "-p", process.pid, "-d", "50ms", *self.outputs())
            process.stdin.close()
        self.assertEqual(self.summary()["environment"]["affinity"], str(cpu))

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "needs two CPUs")
    def test_a_comparison_says_what_differs(self):
        cpu = min(os.sched_getaffinity(0))
        for name in ("one", "all"):
            self.succeed("run", "-q", "-o", self.path(f"{name}.tscope"), "-o",
                         self.path(f"{name}.jsonl"), "--", "true",
                         prefix=["taskset", "-c", str(cpu)] if name == "one" else [])
        for kind in ("tscope", "jsonl"):
            out, err = self.succeed("compare", self.path(f"one.{kind}"), self.path(f"all.{kind}"))
            self.assertRegex(out + err, rf"affinity +{cpu} +\S")


if __name__ == "__main__":
    unittest.main()
