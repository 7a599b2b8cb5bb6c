#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of ktstr's ctprof: what they can carry is the same in them as in our own."""
import json
import os
import shutil
import unittest

import support
from support import ROOT, TestCase, run, show_threads

ROOTS = ROOT / "tests/data/roots"
DATA = ROOT / "tests/data/ctprof"

IDENTITY = ["tid", "tgid", "comm", "pcomm", "cgroup", "start_time_ns"]
FOREIGN = "a ctprof file has no place for it"
# What the format writes for a value that is not there, and so cannot be told from it.
DEFAULTS = (0, False)
# Facts that the format has, but not as we have them.
OTHER_FACTS = ["online_cpus", "task_source"]


def flatten(value, name=""):
    """Nested readings as a flat dictionary."""
    if not isinstance(value, dict):
        return {name: value}
    flat = {}
    for key, member in value.items():
        flat.update(flatten(member, f"{name} {key}".strip()))
    return flat


class RoundTrip(TestCase):
    def capture(self, root, name):
        path = self.path(name)
        self.accept("capture", "-q", "--smaps", "--root", root, "-o", path)
        return show_threads(path)

    def each_root(self):
        for root in sorted(path for path in ROOTS.iterdir() if path.is_dir()):
            with self.subTest(root=root.name):
                yield self.capture(root, "a.tscope"), self.capture(root, "a.ctprof.zst")

    def compare_cells(self, ours, theirs, foreign):
        for name, value in ours.items():
            if name in theirs:
                self.assertEqual(value, theirs[name], f"{name} of {ours['comm']}")
            elif name not in foreign:
                self.assertIn(value, DEFAULTS, f"{name} of {ours['comm']}")

    def test_every_value_that_the_format_has_comes_back(self):
        for ours, theirs in self.each_root():
            foreign = {name for name, reason in theirs["absent"].items() if reason == FOREIGN}
            foreign |= {"cmdline", "exe", "user", "container"}
            self.assertEqual(len(ours["threads"]), len(theirs["threads"]))
            by_tid = {thread["tid"]: thread for thread in theirs["threads"]}
            for thread in ours["threads"]:
                got = by_tid[thread["tid"]]
                self.assertEqual([thread[name] for name in IDENTITY], [got[name] for name in IDENTITY])
                self.compare_cells(thread, got, foreign)

    def test_nothing_is_measured_that_was_not(self):
        for ours, theirs in self.each_root():
            by_tid = {thread["tid"]: thread for thread in ours["threads"]}
            for thread in theirs["threads"]:
                extra = thread.keys() - by_tid[thread["tid"]].keys()
                self.assertEqual(extra, set(), f"of {thread['comm']}")

    def test_cgroups_that_hold_a_task_come_back(self):
        for ours, theirs in self.each_root():
            mine = {row["path"]: flatten(row) for row in ours.get("cgroups", [])}
            held = {thread["cgroup"] for thread in ours["threads"]} & mine.keys()
            self.assertEqual(held, {row["path"] for row in theirs.get("cgroups", [])})
            for row in theirs.get("cgroups", []):
                for name, value in flatten(row).items():
                    self.assertEqual(value, mine[row["path"]].get(name), f"{name} of {row['path']}")

    def test_what_is_known_of_the_host_comes_back(self):
        for ours, theirs in self.each_root():
            facts = flatten(ours["host"])
            for name, value in flatten(theirs["host"]).items():
                if name not in OTHER_FACTS and name != "online_cpu_count":
                    self.assertEqual(value, facts.get(name), name)
            self.assertEqual(theirs["host"]["task_source"], "ctprof")
            self.assertNotIn("boot_id", theirs["host"])


class Files(TestCase):
    def test_the_kind_of_file_follows_the_longest_known_ending(self):
        for name in ["x", "x.zst", "x.ctprof", ".ctprof.zst", "x.tscope.bak"]:
            self.refuse("capture", "-o", self.path(name), says=".tscope or .ctprof.zst")
            self.assertFalse(os.path.exists(self.path(name)))

    def test_a_file_is_known_by_its_content(self):
        path = self.path("renamed.tscope")
        shutil.copy(DATA / "full.ctprof.zst", path)
        self.assertEqual(show_threads(path)["host"]["task_source"], "ctprof")

    def test_a_live_capture_replaces_the_file_and_is_read(self):
        path = self.path("live.ctprof.zst")
        with open(path, "w", encoding="utf-8") as file:
            file.write("old")
        self.accept("capture", "-p", os.getpid(), "-o", path)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(self.folder.name), ["live.ctprof.zst"])
        threads = show_threads(path)["threads"]
        self.assertIn(os.getpid(), [thread["tid"] for thread in threads])

    def test_what_is_damaged_or_something_else_is_one_sentence(self):
        whole = (DATA / "full.ctprof.zst").read_bytes()
        for name, content in {"cut": whole[:-20], "magic": whole[:4],
                              "bits": whole[:50] + b"\xff\xff" + whole[52:]}.items():
            path = self.path(name + ".ctprof.zst")
            with open(path, "wb") as file:
                file.write(content)
            self.refuse("show", path, says="not a ctprof file, or damaged")

    def test_absent_values_say_why(self):
        shown = show_threads(DATA / "defaults.ctprof.zst")
        self.assertIn("0 in a ctprof file", shown["absent"]["run_time_ns"])
        self.assertIn("unlimited or not measured", json.dumps(shown["cgroup_absent"]))
        status, out, _ = run("show", DATA / "defaults.ctprof.zst")
        self.assertEqual(status, 0)
        self.assertIn("0 in a ctprof file, which writes 0 for what it could not measure", out)


if __name__ == "__main__":
    support.main()
