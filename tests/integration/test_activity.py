# SPDX-License-Identifier: MIT
"""What a recorder notes of active threads, and how it is summed."""
import contextlib
import os
import shutil
import sqlite3
import subprocess
import unittest

import support
from test_record import Case, Recorder, rows

WORKLOAD = os.environ["TASKSCOPE_ACTIVITY_WORKLOAD"]
SLACK = 0.1 # the wall clock may be corrected meanwhile, in seconds
EVIL = "\\x1b[31m\\x0a\";x" # as every output shows it


class Threads:
    """The workload inside a `with`; its threads by role."""

    def __enter__(self):
        self.process = subprocess.Popen([WORKLOAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.pid, self.tids = self.process.pid, {}
        for line in self.process.stdout:
            if line == "\n":
                break
            role, tid = line.split()
            self.tids[role] = int(tid)
        support.wait_until(lambda: self.state("idle") == "S" and self.state("parent") == "D")
        return self

    def state(self, role):
        with open(f"/proc/{self.pid}/task/{self.tids[role]}/stat", encoding="latin-1") as stat:
            return stat.read().rpartition(")")[2].split()[0]

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=support.HANG)
        self.process.stdout.close()


def whole_table(store, table):
    """Its rows; names of strangers may be any bytes."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        database.text_factory = bytes
        return database.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()


def walks(store):
    return rows(store, "SELECT count(*) FROM activity_walks")[0][0]


def wait_for_walks(recorder, count):
    support.wait_until(lambda: walks(recorder.store) >= count)


def samples(store, pid, tid=None):
    """State, wait, system call, stack, scope and name of each sample, but those of the first walk."""
    return rows(store, "SELECT a.state, wait, syscall, frames, scope, a.comm, a.ts_ns FROM activity AS a JOIN processes "
                "AS p ON p.id = process LEFT JOIN stacks ON hash = stack WHERE pid = ? AND (tid = ? OR ? IS NULL) AND "
                "a.ts_ns > (SELECT min(ts_ns) FROM activity_walks)", pid, tid, tid)


@unittest.skipUnless(support.is_root(), "needs BPF, which takes root here")
class Activity(Case):
    """Many looks at the same threads, which are not repeated for each test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not support.is_root():
            return
        case = cls("test_the_idle_thread_is_not_in_it")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        with Threads() as cls.threads, Recorder(case, "-i", "2s") as recorder:
            wait_for_walks(recorder, 6)
            cls.before = recorder.end()
        cls.store = recorder.store

    def of(self, role):
        found = samples(self.store, self.threads.pid, self.threads.tids[role])
        self.assertTrue(found, role)
        return found

    def check_stacks(self, function, stacks):
        """A busy host has no time for all stacks, and their number is counted; but some are there."""
        seen = [stack for stack in stacks if stack is not None]
        self.assertTrue(seen)
        for stack in seen:
            self.assertIn(function, stack)

    def test_the_idle_thread_is_not_in_it(self):
        self.assertEqual(samples(self.store, self.threads.pid, self.threads.tids["idle"]), [])

    def test_a_thread_that_runs_has_no_stack_on_its_cpu(self):
        for state, wait, call, stack, *_ in self.of("spin"):
            self.assertEqual(state, "R")
            self.assertIn(wait, ["running", "runnable"])
            if wait == "running":
                self.assertEqual((call, stack), (None, None))
            else:
                self.assertTrue(stack)

    def test_a_thread_in_short_sleeps(self):
        slept = [sample for sample in self.of("nap") if sample[0] == "S"]
        self.assertTrue(slept)
        for _, wait, call, _, scope, comm, _ in slept:
            self.assertEqual((wait, call, scope, comm), ("timer", "clock_nanosleep", "nap often", "nap"))
        self.check_stacks("nanosleep", [sample[3] for sample in slept])

    def test_a_thread_that_waits_for_a_pipe(self):
        slept = [sample for sample in self.of("echo") if sample[0] == "S"]
        self.assertTrue(slept)
        for _, wait, call, _, scope, *_ in slept:
            self.assertEqual((wait, call, scope), ("pipe", "read", None))
        self.check_stacks("pipe_read", [sample[3] for sample in slept])

    def test_a_thread_that_waits_uninterruptibly_is_in_each_look(self):
        found = self.of("parent")
        self.assertEqual(len(found), len({sample[6] for sample in found}))
        self.assertEqual(len(found), walks(self.store) - 1)
        for state, wait, call, *_ in found:
            self.assertEqual((state, wait), ("D", "child"))
            self.assertIn(call, ["vfork", "clone"])
        self.check_stacks("clone", [sample[3] for sample in found])

    def test_the_recorder_itself_is_not_in_it(self):
        recorder, = rows(self.store, "SELECT DISTINCT recorder_pid FROM host_samples")[0]
        self.assertEqual(samples(self.store, recorder, recorder), [])

    def test_each_stack_is_kept_once(self):
        stacks = rows(self.store, "SELECT count(*), count(DISTINCT frames) FROM stacks")[0]
        self.assertEqual(stacks[0], stacks[1])
        self.assertGreater(stacks[0], 0)

    def test_sums(self):
        shown = self.read_json("activity", "--store", self.store, "-g", "comm,wait", "-p", str(self.threads.pid))
        self.assertEqual(sum(group["samples"] for group in shown["activity"]), shown["samples"])
        self.assertEqual(shown["walks"], walks(self.store))
        parent, = [group for group in shown["activity"] if group["comm"] == "parent"]
        self.assertEqual((parent["wait"], parent["samples"]), ("child", walks(self.store)))
        self.assertEqual(parent["threads"], 1)
        self.assertAlmostEqual(parent["share"], parent["samples"] / shown["samples"], places=3)

    def test_keys_have_the_types_of_what_they_name(self):
        shown = self.read_json("activity", "--store", self.store, "-g", "pid,tid,stack,scope,user,cgroup,state")
        for group in shown["activity"]:
            self.assertIsInstance(group["pid"], int)
            self.assertIsInstance(group["tid"], int)
            self.assertTrue(group["stack"] is None or isinstance(group["stack"][0], str))
        self.assertIn("nap often", {group["scope"] for group in shown["activity"]})

    def test_one_second(self):
        at, = rows(self.store, "SELECT max(ts_ns) FROM activity_walks")[0]
        shown = self.read_json("activity", "--store", self.store, "--at", "latest", "-g", "comm")
        self.assertEqual((shown["walks"], shown["samples"]),
                         (1, rows(self.store, "SELECT count(*) FROM activity WHERE ts_ns = ?", shown["from_ns"])[0][0]))
        self.assertLessEqual(shown["from_ns"], at)

    def test_the_first_screen(self):
        text = self.accept("activity", "--store", self.store, "-g", "pcomm,comm,wait,stack",
                           env={**os.environ, "COLUMNS": "80"})
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        self.assertRegex(text.splitlines()[0], r"^\d{4}-\d\d-\d\d [\d:]+ and the \d+ seconds after it: [\d.]+ threads "
                         "active at once$")
        self.assertNotIn("\x1b", text)

    def test_hostile_names(self):
        for kind in "text", "csv":
            text = self.read("activity", "--store", self.store, "-g", "comm", "-n", "0", "--format", kind)
            self.assertNotIn("\x1b", text)
            self.assertIn("\\x1b[31m", text)
        shown = self.read_json("activity", "--store", self.store, "-g", "comm")
        self.assertIn(EVIL, {group["comm"] for group in shown["activity"]})

    def test_damage_is_named(self):
        lost = self.path("no-stacks.db")
        shutil.copy(self.store, lost)
        with contextlib.closing(sqlite3.connect(lost)) as database:
            database.execute("DROP TABLE stacks")
        for kind in "text", "json", "csv":
            status, _, err = support.run("activity", "--store", lost, "-g", "stack", "--format", kind)
            self.assertEqual(status, 2)
            self.assertIn(f"cannot read {lost}: it is damaged", err)

    def test_verify_and_repair_keep_it(self):
        self.assertIn("complete", self.read("verify", self.store))
        copy, lost = self.path("copy.db"), self.path("lost.db")
        self.read("verify", self.store, "--repair", copy)
        for table in "activity", "activity_walks", "stacks":
            self.assertEqual(*(whole_table(store, table) for store in (self.store, copy)))
        shutil.copy(copy, lost)
        with sqlite3.connect(lost) as database:
            database.execute("DELETE FROM stacks")
            database.execute("DELETE FROM processes WHERE pid = ?", (self.threads.pid,))
        database.close()
        status, out, err = support.run("verify", lost)
        self.assertEqual(status, 2)
        self.assertIn("rows of activity are of no process", out + err)
        self.assertIn("rows of activity have a stack that is not there", out + err)
        support.run("verify", lost, "--repair", self.path("mended.db"))
        self.assertEqual(rows(self.path("mended.db"), "SELECT count(*) FROM activity WHERE stack IS NOT NULL"), [(0,)])
        self.assertIn("complete", self.read("verify", self.path("mended.db")))


class Recording(Case):
    @unittest.skipUnless(support.is_root(), "needs BPF, which takes root here")
    def test_only_a_tree(self):
        with Threads() as threads, Threads() as others, Recorder(self, "-i", "2s", "--tree", threads.pid) as recorder:
            wait_for_walks(recorder, 3)
            recorder.end()
        self.assertTrue(samples(recorder.store, threads.pid))
        self.assertEqual(samples(recorder.store, others.pid), [])
        # The vfork child waits all the time, and the program itself is the only other.
        self.assertEqual(rows(recorder.store, "SELECT DISTINCT pid FROM activity JOIN processes ON id = process"),
                         [(threads.pid,)])

    @unittest.skipUnless(support.is_root(), "needs BPF, which takes root here")
    def test_each_second_is_looked_at_once(self):
        with Recorder(self, "-i", "1s") as recorder:
            wait_for_walks(recorder, 8)
            recorder.end()
        found = rows(recorder.store, "SELECT ts_ns / 1e9, missed FROM activity_walks ORDER BY 1")
        sample, uptime = rows(recorder.store, "SELECT ts_ns / 1e9, recorder_uptime_seconds FROM host_samples "
                              "ORDER BY ts_ns")[0]
        earliest = sample - uptime - 1 # the recorder began later than this
        second = 0
        # A look is never before its second, and the next one is not for a second that is over.
        for (last, _), (now, missed) in zip(found, found[1:]):
            second += 1 + missed
            self.assertLess(second, now - earliest + SLACK, found)
            self.assertGreater(second, last - found[0][0] - SLACK, found)

    def test_without_it(self):
        with Recorder(self, "-i", "200ms", "--no-activity") as recorder:
            recorder.next_tick()
            self.assertEqual(recorder.end(), 0)
        self.assertEqual(walks(recorder.store), 0)
        text = self.read("activity", "--store", recorder.store)
        self.assertEqual(text, "no activity was recorded: activity was not asked for\n")
        self.assertEqual(self.read_json("activity", "--store", recorder.store)["activity"], [])

    def test_without_bpf_it_says_why(self):
        with Recorder(self, "-i", "200ms", "--source", "procfs") as recorder:
            recorder.next_tick()
            recorder.end()
        self.assertIn("; no activity (", recorder.said)
        self.assertRegex(self.read("activity", "--store", recorder.store), "^no activity was recorded: .*BPF")

    def test_mistakes(self):
        self.refuse("record", "--activity", "--no-activity", says="exclude each other")
        self.refuse("activity", "-g", "pcom", says="did you mean pcomm?")
        self.refuse("activity", "-g", "wait,wait", says="-g has wait twice")
        self.refuse("activity", "-g", "", says="cannot be summed by ''")
        self.refuse("activity", "--at", "10:00", "--since", "1h", says="one second")
        self.refuse("activity", "-p", "0", says="the number of a process")


if __name__ == "__main__":
    unittest.main()
