# SPDX-License-Identifier: MIT
"""Every source that this kernel offers works, and taskscope uses the best of them.

kernel.py says what is offered, without taskscope.  One that is offered and does not work fails
here, whatever other tests do without.
"""
import json
import os
import subprocess
import unittest

import kernel
import support

DRIVER = os.environ["TASKSCOPE_TREE_DRIVER"]

# Which rows a way fills: what each run says that it has, or has not.
ROWS = {
    "bpf": {"tree": "ok", "ledger": "ok", "syscalls": "ok", "critical_path": "ok"},
    "connector": {"tree": "partial", "ledger": "partial", "syscalls": "unavailable",
                  "critical_path": "unavailable"},
    "procfs": {"tree": "partial", "ledger": "partial", "syscalls": "unavailable",
               "critical_path": "unavailable"},
}

# What a capture from /proc has if the kernel has the file.
FILES = {name: f"/proc/self/{name}" for name in
         ("stat", "status", "schedstat", "sched", "io", "statm", "limits", "cmdline", "exe", "cgroup")}
FILES |= {"fds": "/proc/self/fd", "sched_ext": "/sys/kernel/sched_ext/state",
          "pressure": "/proc/pressure/cpu", "host_figures": "/proc/stat"}


class Ways(support.TestCase):
    def summary(self, *words):
        path = self.path("run.jsonl")
        self.accept("run", "-q", "-o", path, *words, "--", "true")
        with open(path, encoding="utf-8") as lines:
            return json.loads(lines.readlines()[-1])

    def test_root_has_them_all(self):
        """On a kernel of the kind that this is tested on; others say what they lack."""
        if not support.is_root() or not os.path.exists("/sys/kernel/btf/vmlinux"):
            self.skipTest("needs root and a kernel with type information")
        self.assertIn("bpf", kernel.WAYS)

    def test_each_follows_a_command(self):
        for way in kernel.WAYS:
            with self.subTest(way=way):
                done = subprocess.run([DRIVER, way, "--", "true"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("event=exec", done.stdout)

    def test_the_best_is_chosen(self):
        self.assertEqual(self.summary()["tracer"], kernel.WAYS[0])

    def test_each_can_be_asked_for_and_says_what_it_fills(self):
        for way in kernel.WAYS:
            with self.subTest(way=way):
                summary = self.summary("--source", way)
                self.assertEqual(summary["tracer"], way)
                states = {row["name"]: row["state"] for row in summary["sources"]}
                self.assertEqual({name: states[name] for name in ROWS[way]}, ROWS[way])

    def test_doctor_says_so(self):
        tracers = json.loads(self.accept("doctor", "--format", "json"))["tracers"]
        self.assertEqual([tracer["name"] for tracer in tracers if tracer["usable"]], kernel.WAYS)


class Capture(support.TestCase):
    def states(self, *words):
        path = self.path("x.tscope")
        self.accept("capture", "-q", "-p", os.getpid(), "-o", path, *words)
        return {row["name"]: row["state"] for row in support.show_threads(path)["sources"]}

    def test_each_file_of_the_kernel_is_a_source_that_works(self):
        states = self.states("--source", "procfs")
        for source, path in FILES.items():
            with self.subTest(source=source):
                self.assertEqual(states[source] == "ok", os.path.exists(path), states[source])

    @unittest.skipUnless(support.is_root(), "needs CAP_NET_ADMIN")
    def test_netlink_works(self):
        state = self.states("--source", "procfs")["taskstats"]
        self.assertEqual(state == "ok", kernel.has_taskstats(), state)

    @unittest.skipUnless(support.is_root(), "needs CAP_BPF")
    def test_the_iterator_works(self):
        state = self.states()["task_iterator"]
        self.assertEqual(state == "ok", kernel.has_bpf(), state)


if __name__ == "__main__":
    unittest.main()
