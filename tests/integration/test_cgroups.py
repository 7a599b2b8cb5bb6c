#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A cgroup that is made here, with limits that are known, and a process in it."""
import json
import os
import pathlib
import subprocess
import unittest

import support

CGROUPS = pathlib.Path("/sys/fs/cgroup")
NAME = f"taskscope-test-{os.getpid()}"
IS_V2 = (CGROUPS / "cgroup.controllers").exists()
MEGABYTE = 1 << 20

# v1: tree, settings in the order in which they must be written.
V1 = {
    "memory": [("memory.limit_in_bytes", 64 * MEGABYTE)],
    "cpu": [("cpu.cfs_quota_us", 50000), ("cpu.cfs_period_us", 100000), ("cpu.shares", 512)],
    "cpuacct": [],
    "cpuset": [("cpuset.cpus", "0"), ("cpuset.mems", "0")],
    "pids": [("pids.max", 10)],
}
V2 = [("memory.max", 64 * MEGABYTE), ("cpu.max", "50000 100000"), ("cpu.weight", 50), ("pids.max", 10)]


def v1_numbers():
    """What the files of the v1 trees say about the cgroup, in the units of v2."""
    if IS_V2:
        return {}
    memory = CGROUPS / "memory" / NAME
    numbers = dict(line.split() for line in (memory / "memory.stat").read_text().splitlines())
    for name in ("memory.usage_in_bytes", "memory.max_usage_in_bytes"):
        numbers[name] = (memory / name).read_text()
    numbers = {name: int(number) for name, number in numbers.items()}
    usage = (CGROUPS / "cpuacct" / NAME / "cpuacct.usage").read_text()
    return {**numbers, "cpuacct.usage": int(usage) // 1000}


class Cgroup:
    """A cgroup of the same path in each tree, or in some of them, with a sleeping process."""

    def __init__(self, trees):
        self.trees = trees
        self.made = []

    def make(self, tree, settings):
        directory = CGROUPS / tree / NAME
        directory.mkdir()
        self.made.append(directory)
        for file, value in settings:
            if (directory / file).exists():
                (directory / file).write_text(str(value))
        (directory / "cgroup.procs").write_text(str(self.process.pid))

    def __enter__(self):
        self.process = subprocess.Popen(["sleep", "1000"])
        try:
            for tree in self.trees:
                self.make(tree, V2 if IS_V2 else V1[tree])
        except OSError as error:
            self.__exit__()
            raise unittest.SkipTest(f"no cgroup can be made here: {error}") from error
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for directory in self.made:
            directory.rmdir()


def trees():
    return [""] if IS_V2 else [tree for tree in V1 if (CGROUPS / tree / "tasks").exists()]


@unittest.skipUnless(support.is_root(), "making a cgroup needs root")
class Cgroups(support.TestCase):
    def show(self, pid, *words):
        path = self.path("one.tscope")
        self.accept("capture", "-q", "-p", pid, "-o", path, *words)
        shown = json.loads(self.accept("show", path, "--format", "json"))
        return {cgroup["path"]: cgroup for cgroup in shown["cgroups"]}, shown

    def test_limits_and_use_are_what_the_files_say(self):
        with Cgroup(trees()) as made:
            self.files = os.listdir(made.made[0])
            before = v1_numbers()
            cgroups, shown = self.show(made.process.pid)
            after = v1_numbers()
        self.assertEqual(sorted(cgroups), ["/", "/" + NAME])
        self.check_values(cgroups["/" + NAME])
        if before:
            self.check_v1(cgroups["/" + NAME], shown, before, after)

    def check_values(self, cgroup):
        expected = {
            "memory.max": 64 * MEGABYTE,
            "cpu.weight": 50,
            "cpu.max": {"quota_usec": 50000, "period_usec": 100000},
            "pids.max": 10,
            "pids.current": 1,
        }
        for name, value in expected.items():
            if not IS_V2 or name in self.files:  # v2: the controller may be off
                self.assertEqual(cgroup[name], value, name)

    def check_v1(self, cgroup, shown, before, after):
        """What stayed the same all the while must be what was shown."""
        seen = {
            "memory.usage_in_bytes": cgroup["memory.current"],
            "memory.max_usage_in_bytes": cgroup["memory.peak"],
            "total_rss": cgroup["memory.stat"]["anon"],
            "total_pgfault": cgroup["memory.stat"]["pgfault"],
            "cpuacct.usage": cgroup["cpu.stat"]["usage_usec"],
        }
        for name, value in seen.items():
            if before[name] == after[name]:
                self.assertEqual(value, before[name], name)
        self.assertEqual(cgroup["cpuset.cpus"], "0")
        self.assertEqual(cgroup["cpuset.cpus.effective"], "0")
        self.assertEqual(shown["cgroup_origins"]["memory.max"], "v1 memory: memory.limit_in_bytes")
        self.assertEqual(shown["cgroup_origins"]["cpu.max quota_usec"], "v1 cpu: cpu.cfs_quota_us")
        self.assertIn("no file that means the same", shown["cgroup_absent"]["memory.high"])

    @unittest.skipIf(IS_V2, "the host has one hierarchy")
    def test_a_cgroup_that_is_in_one_tree_only_has_nothing_of_the_others(self):
        with Cgroup(["memory"]) as made:
            os.mkdir(CGROUPS / "cpu" / NAME)  # of that name, with no task in it
            made.made.append(CGROUPS / "cpu" / NAME)
            cgroups, shown = self.show(made.process.pid)
        self.assertEqual(cgroups["/" + NAME]["memory.max"], 64 * MEGABYTE)
        self.assertNotIn("cpu.max", cgroups["/" + NAME])
        self.assertIn("cpu hierarchy its tasks are elsewhere",
                      shown["cgroup_absent"]["cpu.max quota_usec"])
        if "cpu.max" in cgroups["/"]:
            self.assertEqual(cgroups["/"]["cpu.max"]["quota_usec"], "max")

    def test_without_the_source_there_are_no_cgroups(self):
        cgroups, shown = self.show(os.getpid(), "--without", "cgroup_files")
        self.assertEqual(cgroups, {})
        states = {source["name"]: source["state"] for source in shown["sources"]}
        self.assertEqual(states["cgroup_files"], "off")


class WithoutPrivilege(support.TestCase):
    def test_every_parent_has_a_row(self):
        out = self.accept("show", "-p", os.getpid(), "--source", "procfs", "--format", "json")
        paths = {cgroup["path"] for cgroup in json.loads(out)["cgroups"]}
        for path in paths:
            parent = os.path.dirname(path)
            self.assertTrue(path.startswith("/..") or parent in paths, path)


if __name__ == "__main__":
    support.main()
