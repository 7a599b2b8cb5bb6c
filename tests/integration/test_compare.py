#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two captures with known work between them: what compare says is what the workload measured."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import kernel
import support
from support import ROOT, TASKSCOPE, TestCase, run

WORKLOAD = os.environ["TASKSCOPE_COMPARE_WORKLOAD"]
ROOTS = ROOT / "tests/data/roots"
MS = 10 ** 6
SECOND = 10 ** 9
NOBODY = 65534

IO = ["rchar", "syscr", "wchar", "syscw", "read_bytes"]
NUMBERS = ["run_time_ns", "minflt", "majflt", "voluntary_csw", *IO]
CHILDREN = ["child_time", "child_minflt", "child_majflt", "child_voluntary_csw"]
# A thread runs a little between its last look at the clock and its sleep, here and there.
CLOCK_SLACK = 3 * MS
# What is printed of children's time is rounded down to ticks of 10 ms or less, twice each side.
TICK_SLACK = 40 * MS

HAS_BPF = kernel.has_bpf()


def compare(*words, status=0, **options):
    """The JSON of a comparison, with rows that did not change."""
    got, out, err = run("compare", *words, "--all", "--format", "json", **options)
    if got != status:
        raise AssertionError(f"compare {words}: exit {got}: {err}")
    return json.loads(out)


def deltas(document, metric):
    """Known differences of a metric of groups, by group; of a restarted one, what its tasks did."""
    return {row["group"]: row["interval" if row["values"] == "per_task_second" else "delta"]
            for row in document["rows"] if row["metric"] == metric and "delta" in row}


def parent_of(stat):
    """By the text of a stat file: the second field after the name, which may have any bytes."""
    return int(stat.rpartition(b")")[2].split()[1])


def children_of(pid):
    children = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if parent_of(path.read_bytes()) == pid:
                children.append(int(path.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
    return children


class KnownWork:
    """The workload: what it said last, and what it said in all."""

    def __init__(self, folder):
        path = os.path.join(folder, "direct")
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(os.urandom(1 << 16))
                os.fsync(file.fileno())
        self.process = subprocess.Popen([WORKLOAD, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.listen()

    def listen(self):
        """Everything until it is ready and asleep, with its children."""
        said = {}
        self.written = self.lines = 0
        for line in self.process.stdout:
            self.written += len(line)
            self.lines += 1
            words = line.decode().split()
            if words[0] == "ready":
                break
            if words[0] != "process":
                names = CHILDREN if words[0] == "children" else NUMBERS
                said[words[0], words[1]] = dict(zip(names, map(int, words[3:])), tid=int(words[2]))
        else:
            raise AssertionError("the workload ended")
        self.said = said
        support.wait_for_idle(*self.pids())

    def tell(self, command):
        self.process.stdin.write(command)
        self.process.stdin.flush()
        self.listen()

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=support.HANG)
        self.process.stdout.close()

    def pids(self):
        return [self.pid, *children_of(self.pid)]

    def io(self):
        """What the process has read and written in all, and what its living children have."""
        own = io_of(self.pid)
        children = [io_of(pid) for pid in children_of(self.pid)]
        return own, {name: sum(child[name] for child in children) for name in IO}


def io_of(pid):
    text = pathlib.Path(f"/proc/{pid}/io").read_text()
    return {name: int(value) for name, value in re.findall(r"(\w+): (\d+)", text)}


class Moment:
    """What an instance says of itself, and what the kernel says of its I/O, at one moment."""

    def __init__(self, worker):
        self.said = worker.said
        self.io, self.children_io = worker.io()
        self.written, self.lines = worker.written, worker.lines


class Went:
    """What one instance did between two moments.

    The kernel adds the I/O of children that were waited for to that of ended threads: `total` and
    `ended` have it too, but for what children that lived at the first moment had done until then.
    """

    def __init__(self, before, after):
        self.tids, self.threads = {}, {}
        for (kind, name), said in after.said.items():
            if kind == "thread":
                self.tids[name] = said["tid"]
                self.threads[name] = self.less(said, before.said.get((kind, name)))
        self.known = self.less(*(m.said["total", "knownwork"] for m in [after, before]))
        self.children = {name: after.said["children", "knownwork"][name] -
                         before.said["children", "knownwork"][name] for name in CHILDREN}
        for account in [self.threads["knownwork"], self.known]:
            account["rchar"] += 1
            account["syscr"] += 1
            account["wchar"] += after.written
            account["syscw"] += after.lines
        self.total = dict(self.known, **{name: after.io[name] - before.io[name] -
                                         before.children_io[name] for name in IO})
        self.ended = {name: self.total[name] - sum(t[name] for t in self.threads.values())
                      for name in NUMBERS}

    @staticmethod
    def less(after, before):
        if before:
            return {name: after[name] - before[name] for name in NUMBERS}
        # The sleep that a new thread is in came after what it said.
        return dict({name: after[name] for name in NUMBERS},
                    voluntary_csw=after["voluntary_csw"] + 1)


class Scene:
    """Two instances of the workload that work between two captures, one that is born meanwhile."""

    def __init__(self, folder):
        self.folder = folder
        self.workers = [KnownWork(folder), KnownWork(folder)]
        for worker in self.workers:
            worker.tell(b"m")
        first = [Moment(worker) for worker in self.workers]
        self.pids = [pid for worker in self.workers for pid in worker.pids()]
        self.capture("a", self.pids)
        self.went = []
        for worker, before in zip(self.workers, first):
            worker.tell(b"g")
            self.went.append(Went(before, Moment(worker)))
        self.fresh = KnownWork(folder)
        self.fresh.tell(b"m")
        self.workers.append(self.fresh)
        self.capture("b", [pid for worker in self.workers for pid in worker.pids()])
        self.fresh_io = self.fresh.io()[0]

    def capture(self, side, pids):
        """Of these processes by each source, and of the whole host."""
        chosen = ["-p", ",".join(map(str, pids))]
        self.write(f"{side}-procfs.tscope", "--source", "procfs", *chosen)
        if HAS_BPF:
            self.write(f"{side}.tscope", *chosen)
            self.write(f"{side}.ctprof.zst", *chosen)
            self.write(f"{side}-host.tscope")

    def write(self, name, *words):
        status, _, err = run("capture", "-q", *words, "-o", os.path.join(self.folder, name))
        if status != 0:
            raise AssertionError(err)

    def pair(self, which=""):
        return [os.path.join(self.folder, f"{side}{which}.tscope") for side in "ab"]

    def end(self):
        for worker in self.workers:
            worker.end()


class Interval(TestCase):
    """Looks at one scene from all sides."""

    @classmethod
    def setUpClass(cls):
        cls.scene_folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scene_folder.cleanup)
        cls.scene = Scene(cls.scene_folder.name)
        cls.addClassCleanup(cls.scene.end)

    def check(self, got, expected, name, slack=CLOCK_SLACK):
        self.assertIsNotNone(got, name)
        if name.endswith("run_time_ns"):
            self.assertGreaterEqual(got, expected - slack, name)
            self.assertLessEqual(got, expected + slack, name)
        else:
            self.assertEqual(got, expected, name)

    def check_group(self, document, group, expected, names=NUMBERS):
        for name in names:
            with self.subTest(axis=document["group_by"], group=group, metric=name):
                self.check(deltas(document, name).get(group), expected[name], name)

    def sums(self, accounts):
        return {name: sum(account[name] for account in accounts) for name in NUMBERS}

    def compare(self, axis, which="", *words):
        document = compare(*self.scene.pair(which), "-g", axis, "--no-normalize", *words)
        self.assertEqual(document["mode"], "interval")
        return document

    def fresh_life(self):
        """All that the one that was born in between has done: the sleep that it is in included."""
        said = self.scene.fresh.said["total", "knownwork"]
        life = {name: said[name] for name in ["run_time_ns", "minflt", "majflt"]}
        life["voluntary_csw"] = said["voluntary_csw"] + 1
        return {**life, **{name: self.scene.fresh_io[name] for name in IO}}

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_a_process_did_what_its_threads_did_the_ended_ones_too(self):
        for which in ["", "-host"]:
            document = self.compare("process", which)
            for worker, went in zip(self.scene.workers, self.scene.went):
                self.check_group(document, f"knownwork[{worker.pid}]", went.total)
                # Children read a few pages of their libraries.
                for name in IO:
                    self.assertGreaterEqual(went.total[name], went.known[name])
                    self.assertLess(went.total[name], went.known[name] + (1 << 14))

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_a_process_born_in_between_did_it_all_in_between(self):
        document = self.compare("process")
        self.check_group(document, f"knownwork[{self.scene.fresh.pid}]", self.fresh_life())
        row = [row for row in document["rows"] if row["metric"] == "minflt" and
               row["group"] == f"knownwork[{self.scene.fresh.pid}]"][0]
        self.assertEqual(row["state"], "new")
        self.assertNotIn("before", row)

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_processes_of_one_name_add_up(self):
        accounts = [went.total for went in self.scene.went] + [self.fresh_life()]
        expected = self.sums(accounts)
        for which in ["", "-host"]:
            self.check_group(self.compare("pcomm", which), "knownwork", expected)

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_each_thread_did_its_own_work_and_ended_ones_are_a_group(self):
        document = self.compare("thread")
        for went in self.scene.went:
            for name, expected in went.threads.items():
                self.check_group(document, f"{name}[{went.tids[name]}]", expected)
        self.check_group(document, "knownwork (exited threads)", self.sums(
            [went.ended for went in self.scene.went]))
        gone = [group for group in document["groups"] if group["key"].startswith("leaver[")]
        self.assertEqual([(g["tasks_before"], g["tasks_after"]) for g in gone if g["ended"]],
                         [(1, 0)] * 2)

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_threads_of_one_name_add_up_and_ended_ones_are_a_group(self):
        fresh = self.scene.fresh.said
        for axis in ["comm", "comm-exact"]:
            document = self.compare(axis)
            self.check_group(document, "newcomer",
                             self.sums([went.threads["newcomer"] for went in self.scene.went]))
            self.check_group(document, "stayer", self.sums(
                [went.threads["stayer"] for went in self.scene.went] +
                [Went.less(fresh["thread", "stayer"], None)]))
            self.check_group(document, "knownwork (exited threads)",
                             self.sums([went.ended for went in self.scene.went]))

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_every_axis_has_the_same_whole(self):
        # The workload, and the child of the one that has not told it to end yet.
        by_name = self.compare("pcomm")
        whole = {name: sum(deltas(by_name, name)[group] for group in ["knownwork", "knownchild"])
                 for name in NUMBERS}
        for axis in ["process", "pcomm", "comm", "comm-exact", "thread", "cgroup", "user",
                     "scope", "container", "all"]:
            document = self.compare(axis)
            self.assertEqual({name: sum(deltas(document, name).values()) for name in NUMBERS},
                             whole, axis)

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_a_rate_is_the_difference_over_the_time_between(self):
        document = self.compare("process")
        for row in document["rows"]:
            if row["metric"] == "run_time_ns" and "per_second" in row:
                self.assertAlmostEqual(row["per_second"],
                                       row["delta"] * SECOND / document["elapsed_ns"], delta=2)

    def child_before(self, worker):
        """What the child of this worker that lived at the first capture had done until then."""
        rows = support.show_threads(self.scene.pair()[0])["threads"]
        return next(row for row in rows if row.get("ppid") == worker.pid)

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_work_of_processes_that_ended_is_their_parents_childrens(self):
        """All of the child that was born in between, and of the other what it did since."""
        document = self.compare("process")
        for worker, went in zip(self.scene.workers, self.scene.went):
            group = f"knownwork[{worker.pid}]"
            until_then = self.child_before(worker)
            self.assertGreater(went.children["child_minflt"], 1400)
            for name in CHILDREN[1:]:
                self.assertEqual(deltas(document, name)[group],
                                 went.children[name] - until_then[name[len("child_"):]], name)
            spent = sum(deltas(document, name)[group]
                        for name in ["child_utime_ns", "child_stime_ns"])
            self.assertAlmostEqual(spent, went.children["child_time"] - until_then["utime_ns"] -
                                   until_then["stime_ns"], delta=TICK_SLACK)
        self.assertEqual(document["processes_ended"], 2)
        self.assertTrue(any("child_" in note for note in document["notes"]), document["notes"])

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_ratios_are_those_of_the_interval(self):
        """And of threads of which all is known: how long those waited that ended is not."""
        document = self.compare("process", "", "-m",
                                "cpu_efficiency,run_time_ns,wait_time_ns,dead_run_time_ns")
        for worker in self.scene.workers[:2]:
            group = f"knownwork[{worker.pid}]"
            run_time, ended, wait = (deltas(document, name)[group] for name in
                                     ["run_time_ns", "dead_run_time_ns", "wait_time_ns"])
            run_time -= ended
            row = [r for r in document["rows"] if r["group"] == group and
                   r["metric"] == "cpu_efficiency"][0]
            self.assertAlmostEqual(row["interval"], run_time / (run_time + wait), places=6)

    def test_without_totals_of_ended_threads_the_others_are_still_exact(self):
        """procfs has those of faults and I/O; of all else what lives counts, and it is said."""
        document = self.compare("process", "-procfs")
        for worker, went in zip(self.scene.workers, self.scene.went):
            alive = {name: sum(t[name] for t in went.threads.values()) for name in NUMBERS}
            expected = dict(went.total, run_time_ns=alive["run_time_ns"],
                            voluntary_csw=alive["voluntary_csw"])
            self.check_group(document, f"knownwork[{worker.pid}]", expected)
        self.assertTrue(any("ended" in note or "exited" in note for note in document["notes"]),
                        document["notes"])
        threads = self.compare("thread", "-procfs")
        for went in self.scene.went:
            for name, expected in went.threads.items():
                self.check_group(threads, f"{name}[{went.tids[name]}]", expected)

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_a_ctprof_file_on_a_side_gives_the_same_for_threads_that_stayed(self):
        ours, theirs = self.scene.pair(), [p.replace(".tscope", ".ctprof.zst")
                                           for p in self.scene.pair()]
        names = ["run_time_ns", "minflt", "majflt", "voluntary_csw"]
        for pair in [(theirs[0], ours[1]), (ours[0], theirs[1]), theirs]:
            document = compare(*pair, "-g", "comm-exact", "--mode", "population")
            expected = compare(*ours, "-g", "comm-exact", "--mode", "population")
            for name in names:
                self.assertEqual(deltas(document, name), deltas(expected, name), (pair, name))

    @unittest.skipUnless(HAS_BPF, "the BPF task iterator does not work here")
    def test_sides_in_the_wrong_order_are_no_interval(self):
        before, after = self.scene.pair()
        document = compare(after, before, "-g", "process")
        self.assertEqual(document["mode"], "population")
        self.assertTrue(any("older" in note for note in document["notes"]), document["notes"])
        forward = deltas(compare(before, after, "-g", "pcomm", "--mode", "population"), "minflt")
        back = deltas(compare(after, before, "-g", "pcomm"), "minflt")
        self.assertEqual({k: -v for k, v in forward.items()}, back)

    def test_several_files_a_side_are_runs(self):
        before, after = self.scene.pair("-procfs")
        document = compare(",".join([before] * 3), ",".join([after] * 3), "-g", "pcomm")
        self.assertEqual(document["mode"], "population")
        self.assertEqual([len(document[side]) for side in ["before", "after"]], [3, 3])
        row = [r for r in document["rows"] if r["metric"] == "minflt" and
               r["group"] == "knownwork"][0]
        self.assertAlmostEqual(row["significance"]["p"], 0.1)
        self.assertFalse(row["significance"]["noise"])
        self.assertTrue(all(r["significance"]["noise"] for r in document["rows"]
                            if "significance" in r and r["state"] == "same"))
        moved = json.loads(self.accept("compare", ",".join([before] * 3), ",".join([after] * 3),
                                       "-g", "pcomm", "--format", "json"))
        self.assertEqual([r for r in moved["rows"] if r["state"] == "same"], [])
        self.assertEqual(len(moved["rows"]) + sum(moved["unchanged"].values()) +
                         sum(moved["noise"].values()), len(document["rows"]))
        # Two runs a side can tell nothing.
        document = compare(",".join([before] * 2), ",".join([after] * 2), "-g", "pcomm")
        self.assertFalse(any("significance" in row for row in document["rows"]))

    def test_files_of_different_boots_are_populations(self):
        recorded = self.path("recorded.tscope")
        self.accept("capture", "-q", "--root", ROOTS / "debian-6.12", "-o", recorded)
        document = compare(recorded, self.scene.pair("-procfs")[1])
        self.assertEqual(document["mode"], "population")
        self.assertIn("kernel_release", {change["name"] for change in document["host_changes"]})
        self.assertTrue(any("boot" in note for note in document["notes"]), document["notes"])
        self.refuse("compare", recorded, self.scene.pair("-procfs")[1], "--mode", "interval",
                    says="boot")

    def test_conditions_decide_the_exit_status(self):
        pair = self.scene.pair("-procfs")
        for status, *conditions in [
                (1, "pcomm=knownwork run_time_ns > 100ms"),
                (0, "pcomm=knownwork run_time_ns > 100s"),
                (1, "pcomm=knownwork run_time_ns > 100s", "comm=stayer minflt >= 2000"),
                (2, "pcomm=nothing* run_time_ns > 1ns"),
                (1, "pcomm=nothing* run_time_ns > 1ns", "pcomm=knownwork run_time_ns > 100ms"),
                (2, "pcomm=knownwork run_time_ns > 5%/s"),
                (1, "pcomm=* minflt >= 2000"),
                (2, "pcomm=known* minflt > +1%"),
                (0, "comm=leaver minflt > 5000"),
                (1, "pcomm=knownwork rchar > 1KiB/s"),
                (0, "pcomm=knownwork rchar > 100GiB/s")]:
            words = [word for c in conditions for word in ["--fail-on", c]]
            got, out, err = run("compare", *pair, *words)
            self.assertEqual(got, status, f"{conditions}: {err}")
            self.assertTrue(out)
            self.assertEqual(bool(status), "run_time_ns" in err or "minflt" in err or
                             "rchar" in err if status else False, err)
        got, _, err = run("compare", *pair, "--fail-on-absent",
                          "--fail-on", "pcomm=nothing run_time_ns > 1ns")
        self.assertEqual(got, 2, err)
        self.assertIn("not checked: pcomm=nothing run_time_ns > 1ns: no group of either side is "
                      "called nothing\n", err)


class Refuse(TestCase):
    """What cannot be read is told before a file is opened: these files do not exist."""

    def point(self, *words, says, at):
        """Exit 2, a sentence, the text and a caret below the place."""
        status, out, err = run("compare", "none-a.tscope", "none-b.tscope", *words)
        self.assertEqual((status, out), (2, ""), err)
        sentence, text, caret = err.splitlines()
        self.assertIn(says, sentence)
        self.assertNotIn("none-a", err)
        self.assertEqual(text, "  " + words[-1])
        self.assertEqual(caret, " " * (2 + at) + "^")

    def test_bad_conditions_are_pointed_at(self):
        for text, says, at in [("run_time_n > 5", "run_time_n", 0),
                               ("pcomm=a run_time_ns", "", 19), ("run_time_ns = 5", "", 12),
                               ("run_time_ns > ", "", 14), ("run_time_ns > x", "", 14),
                               ("run_time_ns > 5MiB", "in ns", 14),
                               ("rss_bytes > 5s", "in bytes", 12),
                               ("pcomm=[a run_time_ns > 5", "", 6),
                               ("planet=a run_time_ns > 5", "planet", 0),
                               ("run_time_ns > +20% x", "", 19)]:
            with self.subTest(text=text):
                self.point("--fail-on", text, says=says, at=at)

    def test_bad_lists_and_globs_are_pointed_at(self):
        self.point("-s", "minflt,foo:asc", says="foo", at=7)
        self.point("-s", "minflt:up", says="up", at=7)
        self.point("-m", "run_time_ns,bogus", says="bogus", at=12)
        self.point("--flatten", "/a/[b", says="[", at=3)
        for words in [["--sections", "primary,nothing"], ["--columns", "group,nothing"],
                      ["-g", "nothing"], ["--mode", "nothing"], ["--format", "xml"], ["-n", "-1"],
                      ["--no-normalize=nothing"]]:
            status, out, err = run("compare", "none-a.tscope", "none-b.tscope", *words)
            self.assertEqual((status, out), (2, ""), err)
            self.assertNotIn("none-a", err)

    def test_no_file_is_opened_before_the_words_are_understood(self):
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        before = self.path("a.tscope")
        self.accept("capture", "-q", "--root", ROOTS / "debian-6.12", "-o", before)
        for words in [["--fail-on", "nothing > 5"], ["-s", "nothing"], ["--flatten", "["],
                      ["--sections", "x"]]:
            trace = self.path("trace")
            subprocess.run(["strace", "-f", "-o", trace, "-e", "trace=file", TASKSCOPE, "compare",
                            before, before, *words], capture_output=True)
            calls = pathlib.Path(trace).read_text()
            self.assertIn("execve", calls)
            self.assertNotIn("a.tscope", calls.split("\n", 1)[1], words)

    def test_files_that_are_missing_or_no_snapshots_are_named(self):
        good = self.path("good.tscope")
        self.accept("capture", "-q", "--root", ROOTS / "debian-6.12", "-o", good)
        empty = self.path("empty.tscope")
        pathlib.Path(empty).touch()
        self.refuse("compare", good, self.path("missing.tscope"), says="missing.tscope")
        self.refuse("compare", self.path("missing.tscope"), good, says="missing.tscope")
        self.refuse("compare", good, empty, says="empty.tscope")
        self.refuse("compare", good, f"{good},{empty}", says="empty.tscope")
        self.refuse("compare", good)
        self.refuse("compare")
        self.refuse("compare", good, good, good)
        self.refuse("compare", "-d", "1s", good, good)
        self.refuse("compare", "-d", "0s")


class Live(TestCase):
    def burner(self):
        child = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child.pid

    def test_two_captures_of_a_process_that_burns(self):
        pid = self.burner()
        begin, before = time.monotonic_ns(), support.run_time(pid)
        document = compare("-d", "1s", "-p", pid, "-g", "process")
        end, after = time.monotonic_ns(), support.run_time(pid)
        self.assertEqual(document["mode"], "interval")
        self.assertGreaterEqual(document["elapsed_ns"], SECOND)
        self.assertLess(document["elapsed_ns"], end - begin)
        (did,) = deltas(document, "run_time_ns").values()
        self.assertGreater(did, 0)
        self.assertLessEqual(did, after - before)
        # A tick may pass before a running thread's time is written down.
        self.assertLessEqual(did, document["elapsed_ns"] + 20 * MS)


@unittest.skipUnless(support.is_root() and shutil.which("setpriv"), "needs root to be someone else")
class Unprivileged(TestCase):
    PREFIX = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]

    def setUp(self):
        super().setUp()
        if subprocess.run([*self.PREFIX, TASKSCOPE, "--version"], capture_output=True).returncode:
            self.skipTest("nobody may not run the program")
        os.chmod(self.folder.name, 0o777)

    def test_files_are_compared(self):
        for name, root in [("a", "debian-6.1"), ("b", "debian-6.12")]:
            self.accept("capture", "-q", "--root", ROOTS / root, "-o", self.path(name + ".tscope"))
            os.chmod(self.path(name + ".tscope"), 0o644)
        words = ["compare", self.path("a.tscope"), self.path("b.tscope"), "--format", "json"]
        self.assertEqual(run(*words, prefix=self.PREFIX)[1], run(*words)[1])

    def test_this_host_is_compared_with_itself(self):
        child = subprocess.Popen([*self.PREFIX, "sh", "-c", "while :; do :; done"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        support.wait_until(lambda: support.comm_of(child.pid) == "sh")
        before = support.run_time(child.pid)
        document = compare("-d", "500ms", "-g", "process", prefix=self.PREFIX)
        self.assertEqual(document["mode"], "interval")
        found = deltas(document, "run_time_ns")[f"sh[{child.pid}]"]
        self.assertGreater(found, 0)
        self.assertLessEqual(found, support.run_time(child.pid) - before)


# Burns, waits for a capture, ends; the next one with the same number does less.  Threads and
# processes alike.
REUSE = r"""
import os, subprocess, sys, threading, time

def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

def task(seconds, gate, told):
    burn(seconds)
    told.append(threading.get_native_id())
    gate.wait()

def thread(seconds):
    gate, told = threading.Event(), []
    one = threading.Thread(target=task, args=(seconds, gate, told))
    one.start()
    while not told:
        time.sleep(0.01)
    return one, gate, told[0]

def process(seconds):
    read, write = os.pipe()
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write)
        burn(seconds)
        os.write(tell, b"!")
        os.read(read, 1)
        os._exit(0)
    os.read(told, 1)
    for fd in (read, told, tell):
        os.close(fd)
    return pid, write

def next_is(number):
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write(str(number - 1))

def capture(path):
    subprocess.run([sys.argv[1], "capture", "-q", "-o", path], check=True)

old_process, end = process(0.2)
old, gate, tid = thread(0.2)
capture(sys.argv[2])
os.close(end)
os.waitpid(old_process, 0)
gate.set()
old.join()
while os.path.exists(f"/proc/self/task/{tid}"):
    time.sleep(0.01)
try:
    next_is(old_process)
    new_process, end = process(0.05)
    next_is(tid)
    new, gate, new_tid = thread(0.05)
except OSError:
    sys.exit(77)
if (new_process, new_tid) != (old_process, tid):
    sys.exit(77)
capture(sys.argv[3])
gate.set()
os.close(end)
print(old_process, tid)
"""


@unittest.skipUnless(support.has_namespaces(), "a PID namespace cannot be made here")
class Reuse(TestCase):
    def test_a_reused_number_does_not_join_two_tasks(self):
        pair = [self.path("a.tscope"), self.path("b.tscope")]
        words = [*support.NAMESPACE, "/usr/bin/python3", "-c", REUSE, TASKSCOPE, *pair]
        done = subprocess.run(words, capture_output=True, text=True, timeout=support.HANG)
        if done.returncode == 77:
            self.skipTest("this kernel does not let the next pid be chosen")
        self.assertEqual(done.returncode, 0, done.stderr)
        process, thread = map(int, done.stdout.split())
        after = {t["tid"]: t for t in support.show_threads(pair[1])["threads"]}
        document = compare(*pair, "-g", "thread", "--no-normalize")
        for tid in [process, thread]:
            keys = {g["key"]: g for g in document["groups"] if f"[{tid}]" in g["key"]}
            self.assertEqual(sum(g["born"] for g in keys.values()), 1, keys)
            self.assertEqual(sum(g["ended"] for g in keys.values()), 1, keys)
            for metric in ["run_time_ns", "minflt"]:
                did = sum(deltas(document, metric).get(key, 0) for key in keys)
                self.assertEqual(did, after[tid][metric], (tid, metric))
            self.assertGreater(after[tid]["run_time_ns"], 40 * MS)
            self.assertLess(after[tid]["run_time_ns"], 150 * MS)
        # And the first capture, which was in itself.
        self.assertEqual(document["processes_ended"], 2)


if __name__ == "__main__":
    support.main()
