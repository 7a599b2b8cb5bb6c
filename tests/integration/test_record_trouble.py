# SPDX-License-Identifier: MIT
"""A recorder in trouble: its disk, its clock, its memory, its store, and clients that it does not know."""
import glob
import json
import os
import pathlib
import socket
import sqlite3
import struct
import subprocess
import sys
import time
import unittest

import support
import test_cgroups
from test_record import Case, Recorder, rows

NOBODY = 65534


def as_nobody(test, *paths):
    """Words in front of a command that another user runs; opens the test's folders to that user."""
    os.chmod(test.path(""), 0o755)
    for path in paths:
        os.chown(path, NOBODY, NOBODY)
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


class ReadOnly(Case):
    def record_ticks(self, store):
        with Recorder(self, "-i", "200ms", store=store) as recorder:
            recorder.next_tick(2)
        os.chmod(store, 0o644)

    def assert_readable(self, store, prefix):
        for words in (["show", f"{store}@latest"], ["events", "--store", store], ["latest", "--store", store],
                      ["history", "--store", store], ["verify", store]):
            status, _, err = support.run(*words, prefix=prefix)
            self.assertEqual((status, err), (0, ""), words)

    @unittest.skipUnless(support.is_root(), "needs root to mount, and to be another user")
    def test_a_file_and_a_folder_that_cannot_be_written(self):
        folder = self.path("folder")
        os.mkdir(folder)
        store = f"{folder}/r.db"
        self.record_ticks(store)
        words = ["record", "--no-socket", "-d", "1s", "--config", self.path("empty.conf"), "--store"]
        mount = ["unshare", "-m", "sh", "-c", f'mount --bind {folder} {folder} && mount -o remount,bind,ro {folder} && exec "$@"', "sh"]
        status, _, err = support.run(*words, store, prefix=mount)
        self.assertEqual(status, 2, err)
        self.assertIn(f"cannot write {store}: Read-only file system", err)
        status, _, err = support.run(*words, f"{folder}/new/r.db", prefix=mount)
        self.assertEqual(status, 2, err)
        self.assertIn("cannot write", err)
        self.assert_readable(store, mount)
        os.chmod(store, 0o444)
        os.chmod(self.path("empty.conf"), 0o644)
        nobody = as_nobody(self, store, folder)
        os.chmod(folder, 0o555)
        os.chown(self.path("empty.conf"), NOBODY, NOBODY)
        status, _, err = support.run(*words, store, prefix=nobody)
        self.assertEqual(status, 2, err)
        self.assertIn(f"cannot write {store}: Permission denied", err)
        self.assert_readable(store, nobody)
        self.assertEqual(os.listdir(folder), ["r.db"])


class Clock(Case):
    def setUp(self):
        super().setUp()
        self.moved = self.path("moved")
        self.move(0)

    def move(self, seconds):
        # The recorder has the file mapped: it is changed in its place.
        with open(self.moved, "r+b" if os.path.exists(self.moved) else "w+b") as file:
            file.write(struct.pack("q", seconds))

    def test_a_clock_that_is_set_puts_nothing_out_of_order(self):
        recorder = Recorder(self, "-i", "100ms", "--threshold", "zombie_duration=100ms")
        recorder.words[:0] = ["env", f"LD_PRELOAD={os.environ['TASKSCOPE_MOVED_CLOCK']}", f"MOVED_CLOCK={self.moved}"]

        def ticks():
            return rows(recorder.store, "SELECT count(*) FROM ticks WHERE NOT is_burst")[0][0]

        def wait_for_ticks(count=5):
            end = ticks() + count
            support.wait_until(lambda: ticks() >= end)

        with recorder:
            wait_for_ticks()
            # An episode and a process that are there before and after.
            with subprocess.Popen(["sh", "-c", "exec sleep 1000"]) as child:
                for seconds in (7200, -3600, 0):
                    self.move(seconds)
                    wait_for_ticks()
                child.kill()
                os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
                support.wait_until(lambda: rows(recorder.store, "SELECT 1 FROM anomalies WHERE rule = 'zombie'"))
                self.move(-1800)
                wait_for_ticks()
            newest = self.read_json("show", f"{recorder.store}@latest")["host"]["captured_at_unix_ns"]
            self.assertLess(abs(newest / 1e9 - (recorder.ticks() / 1e9)), 60)
            latest = self.read_json("latest", "--store", recorder.store)
            self.assertLess(abs(latest["host"]["ts_ns"] - recorder.ticks()) / 1e9, 60)
            self.assertEqual(latest["host"]["ts_ns"], latest["processes"][0]["ts_ns"])
            self.assertEqual(recorder.end(), 0)
        self.assertEqual(rows(recorder.store, "SELECT count(*) FROM anomalies WHERE end_ns < begin_ns"), [(0,)])
        set_back = rows(recorder.store, "SELECT value FROM meta WHERE key = 'clock_set_back'")[0][0]
        self.assertEqual(len(set_back.split(",")), 2)
        status, out, err = support.run("verify", recorder.store)
        self.assertEqual((status, err), (0, ""), out)
        # By the time since boot they are in order, and none was missed because of it.
        times = [row[0] for row in rows(recorder.store, "SELECT boottime_ns FROM ticks ORDER BY id")]
        self.assertEqual(times, sorted(times))


class Storm(Case):
    CAP = 1 << 20

    def size(self, store):
        return sum(os.stat(path).st_size for path in (store, f"{store}-wal") if os.path.exists(path))

    @unittest.skipUnless(support.is_root(), "needs root to be another user")
    def test_who_forks_without_end_loses_first_and_the_file_stays_small(self):
        storm = "while :; do for i in $(seq 200); do sleep 0.3 & done; wait; done"
        sizes = []
        with Recorder(self, "-i", "500ms", "--keep-bytes", self.CAP) as recorder, \
                subprocess.Popen([*as_nobody(self), "sh", "-c", storm]) as forks:
            def dropped():
                time.sleep(0.1)
                sizes.append(self.size(recorder.store))
                return rows(recorder.store, "SELECT dropped FROM user_rows WHERE part = 'processes' AND uid = ? "
                                            "AND dropped > 500", NOBODY)

            try:
                support.wait_until(dropped)
            finally:
                forks.kill()
            recorder.next_tick()
            self.assertEqual(recorder.end(), 0)
        # One tick may come on top.
        self.assertLess(max(sizes), 2 * self.CAP)
        self.assertEqual(rows(recorder.store, "SELECT count(*) FROM processes WHERE pid = ?", os.getpid()), [(1,)])
        self.assertIn("rows dropped before their age", recorder.said)
        status, out, err = support.run("verify", recorder.store)
        self.assertEqual((status, err), (0, ""), out)


class Many(Case):
    def test_many_threads_at_once_stay_within_memory_or_are_shed(self):
        most = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
        wanted = min(30000, most // 2)
        with Recorder(self, "-i", "500ms") as recorder, \
                subprocess.Popen([os.environ["TASKSCOPE_MANY_THREADS"], str(wanted)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE) as crowd:
            recorder.next_tick()
            crowd.stdin.write(b"\n")
            crowd.stdin.flush()
            count = int(crowd.stdout.readline())
            if count < 10000:
                crowd.stdin.close()
                self.skipTest("this host has no room for 10,000 threads")

            def seen():
                found = [process["nr_threads"] for process in recorder.ask("latest")["processes"]
                         if process["pid"] == crowd.pid]
                return found == [count + 1]

            support.wait_until(seen)
            recorder.next_tick(6)
            crowd.stdin.close()
            crowd.wait()
            recorder.next_tick()
            self.assertEqual(recorder.end(), 0)
        ticks = rows(recorder.store, "SELECT recorder_rss_bytes, shed FROM ticks JOIN host_samples USING (ts_ns) "
                                     "WHERE ticks.threads >= ? ORDER BY id", 10000)
        for before, after in zip(ticks, ticks[1:]):
            if before[0] > 64 << 20:
                self.assertIsNotNone(after[1], ticks)
        status, out, err = support.run("verify", recorder.store)
        self.assertEqual((status, err), (0, ""), out)


class Damage(Case):
    def test_a_store_that_turns_out_damaged_is_set_aside_and_recording_goes_on(self):
        with Recorder(self, "-i", "200ms") as recorder:
            recorder.next_tick(2)
        page = rows(recorder.store, "SELECT rootpage FROM sqlite_schema WHERE name = 'ticks'")[0][0]
        with open(recorder.store, "r+b") as file:
            file.seek(4096 * (page - 1))
            file.write(b"\x5a" * 4096)
        with Recorder(self, "-i", "200ms", store=recorder.store) as second:
            support.wait_until(lambda: glob.glob(f"{second.store}.damaged-*"))
            before = second.ticks()
            support.wait_until(lambda: newest(second.store) > before)
            self.assertEqual(second.end(), 0)
        self.assertIn("was damaged: it is r.db.damaged-", second.said)
        self.assertIn("again", second.said)
        self.assertEqual(rows(second.store, "SELECT missed > 0 FROM ticks ORDER BY id LIMIT 1"), [(1,)])
        self.read("verify", second.store)
        self.assertEqual(support.run("verify", glob.glob(f"{second.store}.damaged-*[0-9]")[0])[0], 2)


def newest(store):
    try:
        return rows(store, "SELECT max(ts_ns) FROM ticks")[0][0] or 0
    except sqlite3.Error:
        return 0


ASK = """
import json, socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
lines = client.makefile()
for method in sys.argv[2:]:
    client.sendall(json.dumps({"id": method, "method": method}).encode() + b"\\n")
    print(lines.readline(), end="")
"""


class Strangers(Case):
    @unittest.skipUnless(support.is_root(), "needs root to be another user")
    def test_other_users_see_command_lines_of_their_own_processes_only(self):
        nobody = as_nobody(self)
        with Recorder(self, "-i", "200ms") as recorder, \
                subprocess.Popen(["sh", "-c", "sleep 1000; : ours-secret"]) as ours, \
                subprocess.Popen([*nobody, "sh", "-c", "sleep 1000; : theirs-own"]) as theirs:
            self.assertEqual(os.stat(recorder.socket).st_mode & 0o777, 0o660)
            os.chown(recorder.socket, -1, NOBODY)
            recorder.next_tick(2)
            done = subprocess.run([*nobody, sys.executable, "-c", ASK, recorder.socket, "latest", "events", "context",
                                   "nonsense"], capture_output=True, text=True, check=True)
            for child in (ours, theirs):
                for pid in [child.pid, *map(int, pathlib.Path(
                        f"/proc/{child.pid}/task/{child.pid}/children").read_text().split())]:
                    os.kill(pid, 9)
        latest, events, context, nonsense = map(json.loads, done.stdout.splitlines())
        commands = {process["pid"]: process.get("cmd") for process in latest["result"]["processes"]}
        self.assertIsNone(commands[ours.pid])
        self.assertIn("theirs-own", commands[theirs.pid])
        self.assertNotIn("ours-secret", done.stdout)
        self.assertIn("events", events["result"])
        self.assertEqual(context["id"], "context")
        self.assertIn("pressure_level", context["result"]["host"])
        self.assertGreater(context["result"]["host"]["recorder_rss_bytes"], 0)
        self.assertEqual((nonsense["id"], "result" in nonsense), ("nonsense", False))
        self.assertIn("no such method", nonsense["error"])

    def test_a_refusal_is_an_error_everywhere(self):
        path = self.path("refusing")
        for verb in ("latest", "stream"):
            for reply, says in ((b'{"id":null,"error":"go \\u001b away"}\n', "the recorder refused: go \\x1b away"),
                                (b"hello\n", "the recorder answered nonsense")):
                with socket.socket(socket.AF_UNIX) as server:
                    server.bind(path)
                    server.listen()
                    with subprocess.Popen([support.TASKSCOPE, verb, "--socket", path], stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE) as client:
                        connection, _ = server.accept()
                        connection.sendall(reply)
                        out, err = client.communicate(timeout=support.HANG)
                        connection.close()
                    self.assertEqual((client.returncode, out), (2, b""))
                    self.assertIn(says, err.decode())
                os.unlink(path)


class Reading(Case):
    def test_every_verb_takes_a_store_and_a_format(self):
        with support.Workload() as workload, Recorder(self, "-i", "200ms") as recorder:
            recorder.next_tick(3)
            for verb in ("events", "anomalies", "history", "latest", "stream"):
                for form in ("text", "json", "csv"):
                    out = self.read(verb, "--store", recorder.store, "--format", form)
                    if form == "json":
                        json.loads(out)
            for form, begins in (("text", "20"), ("csv", "ts_ns,kind,pid,"), ("json", "{")):
                out = self.read("stream", "--socket", recorder.socket, "-n", 3, "--format", form)
                self.assertTrue(out.startswith(begins), out)
                self.assertEqual(len(out.splitlines()), 3 + (form == "csv"))
            samples = self.read_json("history", "--store", recorder.store, "-m", "load1,threads")["samples"]
            self.assertLessEqual(set(samples[0]), {"kind", "ts_ns", "load1", "threads"})
        latest = self.read_json("latest", "--store", recorder.store)
        found = [process for process in latest["processes"] if process["pid"] == workload.pid]
        self.assertGreaterEqual(found[0]["cpu_percent"], 0)

    def test_what_is_at_least_that_is_marked(self):
        with Recorder(self, "-i", "200ms", "--source", "procfs") as recorder:
            recorder.next_tick(2)
        processes = self.read_json("latest", "--store", recorder.store)["processes"]
        least = sum("cpu_is_least" in process for process in processes)
        text = self.read("latest", "--store", recorder.store)
        said = f"% CPU of {least} of {len(processes)} processes is at least that: "
        self.assertEqual(said in text, least > 0)
        self.assertGreater(least, 0)

    def test_the_recorder_knows_its_memory_when_it_is_not_in_the_tree(self):
        with subprocess.Popen(["sleep", "1000"]) as child:
            with Recorder(self, "-i", "200ms", "--tree", child.pid) as recorder:
                tree = recorder.ask("latest")
            child.kill()
        self.assertGreater(tree["host"]["recorder_rss_bytes"], 0)

    @unittest.skipUnless(support.is_root(), "making a cgroup needs root")
    def test_the_recorder_knows_its_memory_when_it_is_not_in_the_cgroup(self):
        with test_cgroups.Cgroup(test_cgroups.trees()) as made, \
                Recorder(self, "-i", "200ms", "--cgroup", "/" + test_cgroups.NAME) as recorder:
            group = recorder.ask("latest")
        self.assertEqual([process["pid"] for process in group["processes"]], [made.process.pid])
        self.assertGreater(group["host"]["recorder_rss_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
