#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bytes of sockets: what each process received and sent over a network, to the byte."""
import json
import os
import pathlib
import subprocess
import unittest

import support
from kernel import WAYS
from support import TASKSCOPE, wait_until

WORKLOAD = os.environ["TASKSCOPE_TRAFFIC_WORKLOAD"]
BOTH = ("net_rx_bytes", "net_tx_bytes")


def told(text):
    """What the workload says of itself: the bytes of each process."""
    return {int(pid): (int(received), int(sent))
            for pid, received, sent in map(str.split, text.splitlines())}


class Traffic(support.TestCase):
    def summary(self):
        return json.loads(pathlib.Path(self.path("run.jsonl")).read_text().splitlines()[-1])

    def lines_of(self, kind):
        lines = map(json.loads, pathlib.Path(self.path("run.jsonl")).read_text().splitlines())
        return [line for line in lines if line["kind"] == kind]

    def watch(self, *options, source="bpf"):
        status, out, err = support.run(
            "run", "-q", "-o", self.path("run.jsonl"), "-o", self.path("run.tscope"), *options,
            "--source", source, "--", WORKLOAD)
        self.assertEqual(status, 0, err)
        return told(out)

    def show(self, name):
        status, out, err = support.run("show", self.path(name), "-g", "process", "--format", "json",
                                       "-m", ",".join(BOTH))
        self.assertEqual(status, 0, err)
        return json.loads(out)

    @unittest.skipUnless("bpf" in WAYS, "needs BPF")
    def test_every_process_has_its_bytes(self):
        expected = self.watch()
        self.assertEqual(len(expected), 2)
        exits = {line["pid"]: tuple(line[key] for key in BOTH) for line in self.lines_of("exit")}
        self.assertEqual(exits, expected)
        sums = tuple(map(sum, zip(*expected.values())))
        self.assertEqual(tuple(self.summary()[key] for key in BOTH), sums)
        for name in ("run.tscope", "run.jsonl"):
            shown = self.show(name)["groups"]
            self.assertEqual(sorted(tuple(group["metrics"][key]["value"] for key in BOTH)
                                    for group in shown), sorted(expected.values()), name)

    @unittest.skipUnless("bpf" in WAYS, "needs BPF")
    def test_a_living_process_has_its_bytes(self):
        with subprocess.Popen([TASKSCOPE, "run", "-i", "10ms", "-q", "-o", self.path("run.jsonl"),
                               "--", WORKLOAD, "hold"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as process:
            expected = told(process.stdout.readline() + process.stdout.readline())
            self.assertEqual(len(expected), 2)
            sums = tuple(map(sum, zip(*expected.values())))
            wait_until(lambda: any(tuple(line.get(key) for key in BOTH) == sums
                                   for line in self.lines_of("sample")))
            process.stdin.close()
        self.assertEqual(process.returncode, 0)

    def test_without_system_calls_they_are_absent_with_a_reason(self):
        ways = [(("--no-syscalls",), "bpf")] if "bpf" in WAYS else []
        for options, source in [*ways, ((), "procfs")]:
            self.watch(*options, source=source)
            for key in BOTH:
                self.assertNotIn(key, self.summary())
            for name in ("run.tscope", "run.jsonl"):
                absent = json.dumps(self.show(name))
                self.assertIn("system calls were not counted", absent, (source, name))
                for group in self.show(name)["groups"]:
                    for key in BOTH:
                        self.assertIsNone(group["metrics"].get(key))


if __name__ == "__main__":
    unittest.main()
