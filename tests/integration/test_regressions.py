# SPDX-License-Identifier: MIT
"""Regressions that were staged, beside noise: the digest of `compare` names the cause and the culprit.

Each test waits until the workloads have done so many rounds, which they tell, never for a time.
"""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import unittest

import support

SERVICE = os.environ["TASKSCOPE_SERVICE_WORKLOAD"]
CPU = min(os.sched_getaffinity(0))
DISPLAYS = ["arrow", "full", "delta", "no-pct", "pct"]
V1 = pathlib.Path("/sys/fs/cgroup")
# How often a steady service is compared with itself; stress.py asks for more.
STEADY_ROUNDS = int(os.environ.get("TASKSCOPE_STEADY_ROUNDS", "3"))


class Workload:
    """A service_workload that runs; it prints a line a round."""

    def __init__(self, test, name, *words, cpu=None, nice=None, cgroup=None):
        def prepare():
            if cpu is not None:
                os.sched_setaffinity(0, {cpu})
            if nice:
                support.go_first()
            for folder in cgroup or []:
                (folder / "cgroup.procs").write_text("0")

        self.process = subprocess.Popen([SERVICE, name, *map(str, words)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, preexec_fn=prepare)
        test.addCleanup(self.end)

    @property
    def pid(self):
        return self.process.pid

    def rounds(self, count):
        """Waits for so many more rounds than were read so far."""
        for _ in range(count):
            if not self.process.stdout.readline():
                raise AssertionError("the workload ended")

    def drain(self):
        """Forgets the rounds that were done already: those that are waited for are new ones."""
        os.set_blocking(self.process.stdout.fileno(), False)
        while self.process.stdout.read1(1 << 16):
            pass
        os.set_blocking(self.process.stdout.fileno(), True)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=support.HANG)


class Regressions(support.TestCase):
    def setUp(self):
        super().setUp()
        Workload(self, "noise", "noise").rounds(3)

    def capture(self, name, *workloads):
        """Of the whole host, or of these workloads alone: others that wait do not decide then."""
        path = pathlib.Path(self.path(f"{name}.tscope"))
        pids = ",".join(str(workload.pid) for workload in workloads)
        self.accept("capture", "-q", "-o", path, *(["-p", pids] if pids else []))
        return path

    def digest(self, *words):
        found = json.loads(self.accept("compare", *words, "--format", "json", "-n", "1"))["digest"]
        self.assertLessEqual(len(found), 12)
        for line in found:
            self.assertLessEqual(len(line["sentence"]), 80)
            self.assertNotEqual(line.get("who", ""), "taskscope")
        text = self.accept("compare", *words).splitlines()
        self.assertEqual([line["sentence"] for line in found], text[:len(found)])
        return found

    def assert_says(self, digest, resource, who, metric=None):
        for line in digest:
            if line["resource"] == resource and line.get("who") == who and metric in (
                    None, line["row"]["metric"]):
                return line
        return self.fail(f"nothing of {resource} and {who}:\n" +
                         "\n".join(line["sentence"] for line in digest))

    def shop(self):
        """A service that has the CPU for itself most of the time."""
        return Workload(self, "shop-server", "serve", 8, 100, 1000, 20000, cpu=CPU, nice=True)

    def test_a_neighbour_that_steals_the_cpu(self):
        shop = self.shop()
        shop.rounds(50)
        before, ours = self.capture("before"), self.capture("ours", shop)
        thief = Workload(self, "thief", "burn", 3, cpu=CPU, nice=True)
        thief.rounds(60)
        digest = self.digest(before, self.capture("after"))
        self.assertGreater(self.assert_says(digest, "cpu", "thief", "run_time_ns")["delta"], 10 ** 9)
        digest = self.digest(ours, self.capture("ours-after", shop, thief))
        self.assert_says(digest, "cpu", "thief", "run_time_ns")
        self.assert_says(digest, "cpu wait", "shop-server", "wait_time_ns")

    def test_a_neighbour_that_steals_the_cpu_in_two_intervals(self):
        shop = self.shop()
        shop.rounds(20)
        a, ours_a = self.capture("a"), self.capture("ours-a", shop)
        shop.drain()
        shop.rounds(60)
        b, ours_b = self.capture("b"), self.capture("ours-b", shop)
        thief = Workload(self, "thief", "burn", 3, cpu=CPU, nice=True)
        c, ours_c = self.capture("c"), self.capture("ours-c", shop, thief)
        thief.rounds(60)
        d, ours_d = self.capture("d"), self.capture("ours-d", shop, thief)
        digest = self.digest(f"{a}..{b.name}", f"{c}..{d.name}")
        self.assert_says(digest, "cpu", "thief", "run_time_ns")
        digest = self.digest(f"{ours_a}..{ours_b.name}", f"{ours_c}..{ours_d.name}")
        self.assert_says(digest, "cpu", "thief", "run_time_ns")
        self.assert_says(digest, "cpu wait", "shop-server", "wait_time_ns")

    def cgroups(self):
        """The folders of a new cgroup: where limits are set, and all that its tasks must be in."""
        name = f"regression-{os.getpid()}"
        unified = [V1 / name] if (V1 / "cgroup.controllers").exists() else []
        folders = unified or [V1 / controller / name for controller in ("cpu", "memory")]
        try:
            for folder in folders:
                folder.mkdir()
                self.addCleanup(folder.rmdir)
        except OSError as error:
            self.skipTest(f"no cgroup can be made: {error}")
        if unified:
            with contextlib.suppress(OSError):
                (V1 / "cgroup.subtree_control").write_text("+cpu")
        if not (folders[0] / "cpu.max").exists() and not (folders[0] / "cpu.cfs_quota_us").exists():
            self.skipTest("cgroups have no cpu controller here")
        return name, folders

    def test_a_throttled_cgroup(self):
        name, folders = self.cgroups()
        shop = Workload(self, "shop-server", "serve", 2, 100, 2000, 0, cgroup=folders)
        shop.rounds(20)
        before = self.capture("before")
        if (folders[0] / "cpu.max").exists():
            (folders[0] / "cpu.max").write_text("10000 100000")
        else:
            (folders[0] / "cpu.cfs_quota_us").write_text("10000")

        def throttled():
            counts = dict(line.split() for line in
                          (folders[0] / "cpu.stat").read_text().splitlines())
            return int(counts["nr_throttled"]) >= 15

        support.wait_until(throttled)
        digest = self.digest(before, self.capture("after"))
        # Of the limits only another that changed on the host may come before.
        self.assert_says(digest, "limits", f"/{name}",
                         "cpu.max quota_usec")
        self.assert_says(digest, "limits reached", f"/{name}",
                         "cpu.stat throttled_usec")
        first = digest[0]["resource"]
        self.assertIn(first, ("settings", "limits"))

    def test_a_leak(self):
        before = self.capture("before")
        leak = Workload(self, "leaky", "leak", 4096, 256 << 10)
        leak.rounds(64)
        line = self.assert_says(self.digest(before, self.capture("after")), "memory", "leaky",
                                "rss_bytes")
        self.assertGreaterEqual(line["delta"], 256 << 20)

    def serve(self, hold_us):
        return Workload(self, "shop-server", "serve", 4, hold_us, 1000, 0)

    def test_a_lock_that_is_held_longer_after_a_restart_in_two_captures(self):
        old = self.serve(100)
        old.rounds(400)
        before = self.capture("before")
        old.end()
        new = self.serve(20000)
        new.rounds(20)
        digest = self.digest(before, self.capture("after"))
        line = self.assert_says(digest, "restarts", "shop-server", "run_time_ns")
        self.assertIn("it sleeps more", line["sentence"])
        self.assertIn("burns no more CPU", line["sentence"])
        self.assertIn("`taskscope attach` tells why shop-server sleeps",
                      [each["sentence"] for each in digest])

    def attach(self, name, workload):
        path = pathlib.Path(self.path(f"{name}.tscope"))
        self.accept("attach", "-q", "-d", "1s", "-o", path, workload.pid)
        return path

    @unittest.skipUnless(support.is_root(), "only root follows all waits")
    def test_a_lock_that_is_held_longer_after_a_restart_in_two_attaches(self):
        old = self.serve(100)
        old.rounds(20)
        before = self.attach("before", old)
        old.end()
        new = self.serve(20000)
        new.rounds(4)
        digest = self.digest(before, self.attach("after", new))
        line = self.assert_says(digest, "waiting", "shop-server", "wait_lock_ns")
        self.assertGreater(line["delta"], 0)

    def test_a_steady_service_is_no_regression(self):
        steady = Workload(self, "steady", "steady", 50, 10, nice=True)
        steady.rounds(2)
        paths = []
        for name in range(2 + 2 * STEADY_ROUNDS):
            paths.append(self.capture(name))
            steady.drain()
            steady.rounds(20)
        for first in range(0, 2 * STEADY_ROUNDS, 2):
            a, b, c, d = paths[first:first + 4]
            status, _, err = support.run("compare", f"{a}..{b.name}", f"{c}..{d.name}", "--fail-on",
                                         "pcomm=steady run_time_ns > +20%")
            self.assertEqual((status, err), (0, ""))
        status, _, err = support.run("compare", a, b, "--fail-on", "pcomm=steady run_time_ns > +20%")
        self.assertEqual(status, 2)
        self.assertIn("one interval has no percent", err)
        self.assertIn("A..B C..D", err)

    def test_an_interval_against_now(self):
        steady = Workload(self, "steady", "steady", 50, 10, nice=True)
        steady.rounds(2)
        a = self.capture("a")
        steady.drain()
        steady.rounds(20)
        b = self.capture("b")
        found = json.loads(self.accept("compare", f"{a}..{b.name}", "-d", "1s", "-m", "run_time_ns",
                                       "--all", "--format", "json"))
        self.assertEqual(found["mode"], "intervals")
        self.assertNotIn("file", found["after"][0])
        (row,) = [row for row in found["rows"] if row["group"] == "steady"]
        self.assertEqual(row["values"], "per_second")
        for side in ("before", "after"):
            self.assertGreater(row[side], 0.1e9)
            self.assertLess(row[side], 0.3e9)

    def test_every_screen_fits_80_columns(self):
        a, b = self.capture("a"), self.capture("b")
        c, d = self.capture("c"), self.capture("d")
        for words in ([a, b], [a, b, "--all-metrics"], [a, b, "--mode", "population"],
                      [f"{a}..{b.name}", f"{c}..{d.name}"],
                      [f"{a}..{b.name},{a}..{c.name},{a}..{d.name}"] * 2,
                      [a, b, "-g", "all"], [a, b, "-g", "cgroup", "-v"],
                      [a, b, "-s", "run_time_ns,rss_bytes"], [a, b, "--all", "--sections", "all"],
                      *([a, b, "--display", display] for display in DISPLAYS)):
            out = self.accept("compare", *words, env={**os.environ, "COLUMNS": "80"})
            widest = max(out.splitlines(), key=len)
            self.assertLessEqual(len(widest), 80, f"{words}: {widest}")

    def test_the_tree_of_all_axes_has_every_thread_once(self):
        a, b = self.capture("a"), self.capture("b")
        whole = len(json.loads(self.accept("show", a, "-g", "thread", "-m", "thread_count", "--format",
                                           "json"))["threads"])
        lines = self.accept("show", a, "-g", "all", "-n", "0", "-m", "thread_count", "--columns",
                            "tasks,group").split("\n\n")[0].splitlines()[1:]
        tops = [line for line in lines if re.match(r" *[0-9]+  [^ ]", line)]
        self.assertLess(len(tops), len(lines))
        self.assertEqual(sum(int(line.split()[0]) for line in tops), whole)
        found = json.loads(self.accept("compare", a, b, "-g", "all", "-m", "thread_count", "--all",
                                       "--format", "json"))
        for group in found["groups"]:
            self.assertTrue(group["key"].startswith(group["parent"] + "/"), group)
            self.assertTrue(group["parent"].startswith(group["cgroup"] + " "), group)
        self.assertEqual(sum(group["tasks_before"] for group in found["groups"]), whole)

    def test_runs_have_the_figures_of_the_host(self):
        files = [self.path("one.tscope"), self.path("two.jsonl")]
        for file in files:
            self.accept("run", "-q", "-o", file, "--", "sleep", "0.1")
        found = json.loads(self.accept("compare", *files, "--sections", "host-usage", "--all", "--format",
                                       "json"))
        states = {row["metric"]: row["state"] for row in found["rows"]}
        for metric in ("stat cpu user", "stat cpu idle", "stat ctxt", "meminfo MemFree", "vmstat pgmajfault"):
            self.assertIn(states.get(metric), ("same", "changed"), metric)
        # What counts up is of the run alone, not since boot.
        (idle,) = [row for row in found["rows"] if row["metric"] == "stat cpu idle"]
        self.assertLess(idle["before"], 10 ** 9 * 60 * os.cpu_count())


if __name__ == "__main__":
    support.main()
