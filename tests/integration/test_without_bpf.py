# SPDX-License-Identifier: MIT
"""A build without BPF programs and jemalloc works by the other sources, and says why there are no more."""
import json
import os
import subprocess

import support

PROGRAM = os.environ["TASKSCOPE_WITHOUT_BPF"]
REASON = "this build has no BPF programs (-Dbpf=disabled)"
NEEDS = "a build with -Dbpf=enabled"


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=support.HANG)


class WithoutBpf(support.TestCase):
    def test_doctor_names_the_build(self):
        found = json.loads(run("doctor", "--format", "json").stdout)
        sources = {source["name"]: source for source in found["sources"]}
        tracers = {tracer["name"]: tracer for tracer in found["tracers"]}
        for way in sources["task_iterator"], tracers["bpf"], found["lifecycle_sources"][0]:
            self.assertEqual((way["state"], way["reason"], way["needs"]),
                             ("unavailable", REASON, NEEDS))
        self.assertEqual(sources["stat"]["state"], "ok")
        self.assertEqual(tracers["procfs"]["state"], "ok")

    def test_capture_reads_procfs_and_keeps_the_reason(self):
        path = self.path("a.tscope")
        done = run("capture", "-q", "-p", str(os.getpid()), "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(run("show", path, "--format", "json").stdout)
        iterator = next(source for source in shown["sources"]
                        if source["name"] == "task_iterator")
        self.assertEqual(iterator["reason"], REASON)

    def test_heap_counters_are_absent_because_of_the_build(self):
        reason = "this build has no jemalloc support (-Djemalloc=disabled)"
        found = json.loads(run("doctor", "--format", "json").stdout)
        source = next(source for source in found["sources"] if source["name"] == "jemalloc")
        self.assertEqual((source["reason"], source["needs"]),
                         (reason, "a build with -Djemalloc=enabled"))
        path = self.path("a.tscope")
        self.assertEqual(run("capture", "-q", "-p", str(os.getpid()), "-o", path).returncode, 0)
        shown = json.loads(run("show", path, "--format", "json").stdout)
        self.assertIn(reason, shown["absent"]["allocated_bytes"])

    def test_run_follows_a_command(self):
        done = run("run", "-v", "--", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(REASON, done.stderr)

    def test_who_asks_for_bpf_is_refused(self):
        for words, status in [(["show", "--source", "bpf"], 2),
                              (["run", "--source", "bpf", "--", "true"], 125)]:
            done = run(*words)
            self.assertEqual(done.returncode, status)
            self.assertIn(REASON, done.stderr)


if __name__ == "__main__":
    support.main()
