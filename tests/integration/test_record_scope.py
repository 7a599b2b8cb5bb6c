#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whose the figures of a recording are: of the tree or cgroup that is recorded, or of the host."""
import contextlib
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

import support
import test_cgroups
from recorder import Case, Recorder, rows

BUSY = "while :; do :; done"
# Children that use CPU and end before the next tick; prints what they used.
BURNER = """
import resource, subprocess, sys, time
sys.stdin.readline()
for _ in range(12):
    subprocess.run([sys.executable, "-S", "-c", "import time\\nwhile time.process_time() < 0.1: pass"])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, flush=True)
time.sleep(1000)
"""
OF_HOST = ["processes", "threads", "running_threads", "blocked_threads", "zombies"]


def memory_total():
    line = pathlib.Path("/proc/meminfo").read_text().splitlines()[0]
    return int(line.split()[1]) * 1024


class Scope(Case):
    def start(self, *words, **options):
        child = subprocess.Popen(words, start_new_session=True, **options)
        self.addCleanup(child.wait)
        self.addCleanup(self.end, child)
        return child

    def end(self, child):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    def check_names(self, host, scope):
        """Every figure says whose it is."""
        self.assertEqual(host["kind"], "host")
        self.assertEqual(host["scope"], scope)
        self.assertEqual(host["memory_total_bytes"], memory_total())
        for name in OF_HOST:
            self.assertNotIn(name, host)
            self.assertIn("scope_" + name, host)

    def test_a_tree_has_figures_of_its_own_everywhere(self):
        self.start("sh", "-c", BUSY)
        tree = self.start("sh", "-c", "sleep 1000 & sleep 1000")
        scope = f"tree of {tree.pid}"
        lines = self.path("r.jsonl")
        with Recorder(self, "-i", "200ms", "--tree", tree.pid, "--jsonl", lines) as recorder:
            support.wait_until(lambda: recorder.ask("latest")["host"].get("scope_threads") == 3)
            recorder.next_tick(2)
            latest = recorder.ask("latest")
            self.check_names(latest["host"], scope)
            self.check_names(recorder.ask("context")["host"], scope)
            self.assertEqual(latest["host"]["scope_processes"], 3)
            self.assertEqual(latest["host"]["scope_rss_bytes"],
                             sum(process["rss_bytes"] for process in latest["processes"]))
            self.assertAlmostEqual(latest["host"]["scope_cpu_percent"],
                                   sum(process["cpu_percent"] for process in latest["processes"]), delta=0.1)
            self.assertGreater(latest["host"]["cpu_busy_percent"], latest["host"]["scope_cpu_percent"])
            out = self.read("latest", "--socket", recorder.socket)
            self.assertIn(f"\n{scope}: CPU ", out)
            self.assertIn("\nhost: CPU ", out)
            status, out, err = support.run("stream", "--socket", recorder.socket, "-n", "3")
            self.assertEqual(status, 0, err)
            samples = [line for line in map(json.loads, out.splitlines()) if line["kind"] == "host"]
            self.check_names(samples[-1], scope)
        hosts = [line for line in map(json.loads, pathlib.Path(lines).read_text().splitlines()) if line["kind"] == "host"]
        self.check_names(hosts[-1], scope)
        self.check_store(recorder.store, scope)

    def test_a_tree_has_states_and_zombies_of_its_own(self):
        tree = self.start(sys.executable, "-S", "-c",
                          "import os, time\nif os.fork() == 0:\n    os._exit(0)\ntime.sleep(1000)")
        with Recorder(self, "-i", "200ms", "--tree", tree.pid) as recorder:
            support.wait_until(lambda: recorder.ask("latest")["host"].get("scope_zombies") == 1)
            latest = recorder.ask("latest")
            states = {process["pid"]: process["state"] for process in latest["processes"]}
            self.assertEqual(states.pop(tree.pid), "S")
            self.assertEqual(states, {latest["host"]["zombie_pids"][0]: "Z"})
        self.read("verify", recorder.store)

    def check_store(self, store, scope):
        self.assertEqual(set(rows(store, "SELECT scope, threads, memory_total_bytes FROM host_samples")),
                         {(scope, None, memory_total())})
        self.check_names(self.read_json("history", "--store", store)["samples"][-1], scope)
        one = self.read_json("history", "--store", store, "-m", "scope_threads")["samples"][-1]
        self.assertEqual((one["scope"], one["scope_threads"]), (scope, 3))
        first = next(csv.DictReader(io.StringIO(self.read("history", "--store", store, "--format", "csv"))))
        self.assertEqual(first["scope"], scope)
        self.assertIn("host cpu_busy_percent", self.read("history", "--store", store))
        self.assertIn(f"only {scope}", self.read("show", store))
        self.read("verify", store)

    def test_a_recording_of_the_host_has_no_scope(self):
        with Recorder(self, "-i", "200ms", "--no-activity") as recorder:
            recorder.next_tick()
        host = self.read_json("latest", "--store", recorder.store)["host"]
        self.assertEqual([name for name in host if name.startswith("scope")], [])
        self.assertGreater(host["threads"], 0)

    @unittest.skipUnless(support.is_root(), "only root sees every event")
    def test_cpu_of_a_tree_has_that_of_processes_between_two_ticks(self):
        tree = self.start(sys.executable, "-S", "-c", BURNER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with Recorder(self, "-i", "700ms", "--tree", tree.pid, store=self.path("tree.db")) as recorder:
            tree.stdin.write("go\n")
            tree.stdin.flush()
            used = float(tree.stdout.readline())
            recorder.next_tick(2)
        samples = rows(recorder.store, "SELECT ts_ns, scope_cpu_percent FROM host_samples ORDER BY 1")
        seen = sum(percent / 100 * (now - before) / 1e9 for (before, _), (now, percent) in zip(samples, samples[1:]))
        self.assertGreater(seen, 0.95 * used)
        self.assertLess(seen, 1.1 * used + 0.2)
        tree.stdin.close()
        tree.stdout.close()

    @unittest.skipUnless(support.is_root(), "making a cgroup needs root")
    def test_a_cgroup_has_figures_of_its_own(self):
        with test_cgroups.Cgroup(test_cgroups.trees()), \
                Recorder(self, "-i", "200ms", "--cgroup", "/" + test_cgroups.NAME) as recorder:
            recorder.next_tick(2)
            host = recorder.ask("latest")["host"]
        self.check_names(host, "cgroup /" + test_cgroups.NAME)
        self.assertEqual(host["scope_threads"], 1)
        self.assertLess(host["scope_cpu_percent"], 10)
        if "scope_memory_limit_bytes" in host:  # the memory controller is there
            self.assertEqual(host["scope_memory_limit_bytes"], 64 * test_cgroups.MEGABYTE)
            self.assertLessEqual(host["scope_memory_available_bytes"], 64 * test_cgroups.MEGABYTE)
            self.assertIn(host["scope_pressure_level"], ["none", "low", "medium", "high", "critical"])

    @unittest.skipUnless(support.is_root(), "making a cgroup needs root")
    def test_an_oom_kill_has_its_evidence(self):
        """And the anomaly of the cgroup's memory is not about the host's."""
        with test_cgroups.Cgroup(test_cgroups.trees()) as made, \
                Recorder(self, "-i", "200ms", "--cgroup", "/" + test_cgroups.NAME) as recorder:
            if "scope_memory_limit_bytes" not in recorder.ask("latest")["host"]:
                raise unittest.SkipTest("no memory controller")
            hold = "import sys\nsys.stdin.readline()\nkept = [bytearray(1 << 20) for _ in range(30)]\n" \
                   "sys.stdin.readline()\nkept += [bytearray(1 << 20) for _ in range(200)]"
            eater = self.start(sys.executable, "-S", "-c", hold, stdin=subprocess.PIPE)
            for directory in made.made:
                (directory / "cgroup.procs").write_text(str(eater.pid))
            support.wait_until(lambda: recorder.ask("latest")["host"].get("scope_threads") == 2)
            eater.stdin.write(b"\n")
            eater.stdin.flush()
            support.wait_until(lambda: recorder.ask("latest")["host"].get("scope_rss_bytes", 0)
                               > 30 * test_cgroups.MEGABYTE)
            eater.stdin.write(b"\n")
            eater.stdin.close()
            self.assertEqual(eater.wait(), -signal.SIGKILL)
            support.wait_until(lambda: rows(recorder.store, "SELECT 1 FROM events WHERE kind = 'exit' AND pid = ?",
                                            eater.pid))
            events = recorder.ask("events", pid=eater.pid, limit=10)["events"]
        oom, = [event for event in events if event["kind"] == "oom"]
        self.assertIn("the largest: ", oom["details"])
        self.assertIn("grown the most in a minute: ", oom["details"])
        self.assertEqual(oom["signal"], signal.SIGKILL)
        for peak, details in rows(recorder.store, "SELECT peak, details FROM anomalies WHERE rule = 'memory_pressure'"):
            self.assertLessEqual(peak, 64 * test_cgroups.MEGABYTE)
            self.assertIn(f"(of cgroup /{test_cgroups.NAME})", details)


if __name__ == "__main__":
    unittest.main()
