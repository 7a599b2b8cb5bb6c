#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`top --json`: a line for each moment, with the figures that `show` has of it."""
import json
import os
import signal
import subprocess
import unittest

import recorder
import support

ROOTS = support.ROOT / "tests/data/roots"
METRICS = "run_time_ns,wait_time_ns,minflt,rss_bytes,state,cpu_efficiency"
SECOND = 10**9


class Top(recorder.Case):
    def lines(self, *words):
        return [json.loads(line) for line in self.read("top", "--json", *words).splitlines()]

    def show(self, *words):
        return self.read_json("show", *words)

    def check_tasks(self, line, document):
        """What both have of tasks is the same."""
        for key in ["interval_ns", "filter", "absent", "group_by", "groups", "threads"]:
            self.assertEqual(line.get(key), document.get(key), key)

    def test_a_file_has_one_moment_which_is_what_show_shows(self):
        path = self.path("a.tscope")
        self.read("capture", "-q", "--root", ROOTS / "debian-6.12", "-o", path)
        for words in [("-g", "process", "-s", "minflt"), ("-g", "thread"), ("-g", "cgroup", "-n", "2"),
                      ("-g", "user", "--filter", "rss_bytes>1M"), ("-p", "1", "-g", "process")]:
            with self.subTest(words=words):
                line, = self.lines(path, "-m", METRICS, *words)
                self.check_tasks(line, self.show(path, "-m", METRICS, *words))
                self.assertEqual(line["kind"], "moment")
                self.assertFalse(line["live"])
                self.assertNotIn("anomalies", line)
        line, = self.lines("--root", ROOTS / "debian-6.12", "-m", METRICS)
        self.assertEqual(line["groups"], self.lines(path, "-m", METRICS)[0]["groups"])

    def test_a_recording_has_a_line_for_each_tick_with_rates(self):
        burner = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        self.addCleanup(burner.wait)
        self.addCleanup(burner.kill)
        with recorder.Recorder(self, "-i", "100ms") as rec:
            rec.next_tick(4)
        times = [row[0] for row in recorder.rows(rec.store, "SELECT ts_ns FROM ticks WHERE NOT is_burst "
                                                            "ORDER BY ts_ns")]
        lines = self.lines("--store", rec.store, "--history", "1h", "-g", "thread", "-m", METRICS)
        self.assertEqual([line["ts_ns"] for line in lines], times)
        self.assertEqual(["interval_ns" in line for line in lines], [False] + [True] * (len(lines) - 1))

        newest, = self.lines("--store", rec.store, "-g", "thread", "-m", METRICS)
        self.assertTrue(newest == lines[-1])
        self.assertEqual(newest["host"], self.read_json("latest", "--store", rec.store)["host"])
        # Levels are those of the tick; rates are what was added since the one before.
        after, before = ({(row["tid"], row["start_time_ns"]): row for row in
                          self.show(f"{rec.store}@{name}", "-g", "thread", "-m", METRICS)["threads"]}
                         for name in ["latest", "-" + str((times[-1] - times[-2]) // 10**6 or 1) + "ms"])
        busy = 0
        for row in newest["threads"]:
            key = row["tid"], row["start_time_ns"]
            if row["tid"] == 0:
                continue  # threads that ended
            self.assertEqual(row.get("rss_bytes"), after[key].get("rss_bytes"))
            self.assertEqual(row.get("state"), after[key].get("state"))
            if key in before and row.get("run_time_ns") is not None:
                grown = after[key]["run_time_ns"] - before[key]["run_time_ns"]
                self.assertAlmostEqual(row["run_time_ns"], grown * SECOND / newest["interval_ns"], delta=1)
                busy += row["run_time_ns"] > 0
        self.assertGreater(busy, 0)

    def test_the_first_tick_of_another_recorder_has_rates_since_the_last_one_of_the_first(self):
        for _ in range(2):
            with recorder.Recorder(self, "-i", "100ms") as rec:
                rec.next_tick(2)
        lines = self.lines("--store", rec.store, "--history", "1h", "-m", METRICS)
        self.assertGreater(len(lines), 4)
        for line in lines[1:]:
            self.assertIn("cpu_busy_percent", line["host"], line["host"])

    def test_a_moment_between_two_ticks_says_so(self):
        with recorder.Recorder(self, "-i", "100ms") as rec:
            rec.next_tick(2)
        extent = [row[0] for row in recorder.rows(rec.store, "SELECT min(ts_ns), max(ts_ns) FROM ticks")][0]
        line, = self.lines("--store", rec.store, "--at", "-1ms")
        self.assertLess(line["ts_ns"], line["asked_ts_ns"])
        self.assertGreaterEqual(line["ts_ns"], extent)
        self.assertNotIn("asked_ts_ns", self.lines("--store", rec.store, "--at", "latest")[0])
        self.assertEqual(len(self.lines("--store", rec.store, "--at", "-1h", "--count", "2")), 2)

    def test_this_host_has_rates_from_the_first_line_on(self):
        burner = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        self.addCleanup(burner.wait)
        self.addCleanup(burner.kill)
        used = support.run_time(burner.pid)
        lines = self.lines("-i", "200ms", "--count", "2", "-p", burner.pid, "-m", "run_time_ns,rss_bytes")
        used = support.run_time(burner.pid) - used
        self.assertEqual(len(lines), 2)
        seen = 0
        for line in lines:
            self.assertTrue(line["live"])
            group, = line["groups"]
            self.assertEqual(group["key"], f"sh[{burner.pid}]")
            self.assertGreater(group["metrics"]["rss_bytes"]["value"], 0)
            seen += group["metrics"]["run_time_ns"]["value"] * line["interval_ns"] / SECOND
        self.assertGreater(seen, 0)
        self.assertLessEqual(seen, used * 1.001)

    def test_a_tree_and_a_filter_leave_others_out(self):
        parent = subprocess.Popen(["sh", "-c", "sleep 1000 & sleep 1000 & wait"], start_new_session=True)
        self.addCleanup(parent.wait)
        self.addCleanup(os.killpg, parent.pid, signal.SIGKILL)
        support.wait_until(lambda: len(self.lines(
            "-i", "100ms", "--count", "1", "--tree", parent.pid, "--filter", "comm=sleep")[0]["groups"]) == 2)
        line, = self.lines("-i", "100ms", "--count", "1", "--tree", parent.pid)
        self.assertEqual(len(line["groups"]), 3)
        self.assertIn(f"tree={parent.pid}", json.dumps(line["filter"]))

    def test_an_interrupt_ends_it_after_a_whole_line(self):
        top = subprocess.Popen([support.TASKSCOPE, "top", "--json", "-i", "100ms", "-n", "1"],
                               stdout=subprocess.PIPE)
        json.loads(top.stdout.readline())
        top.send_signal(signal.SIGINT)
        rest = top.stdout.read()
        self.assertEqual(top.wait(timeout=support.HANG), 0)
        for line in rest.splitlines():
            json.loads(line)
        top.stdout.close()

    def test_a_process_that_ends_leaves_a_sentence(self):
        sleeper = subprocess.Popen(["sleep", "1000"])
        top = subprocess.Popen([support.TASKSCOPE, "top", "--json", "-i", "100ms", "-p", str(sleeper.pid)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        json.loads(top.stdout.readline())
        sleeper.kill()
        sleeper.wait()
        _, error = top.communicate(timeout=support.HANG)
        top.stdout.close()
        self.assertEqual(top.returncode, 2)
        self.assertEqual(len(error.decode().splitlines()), 1, error)


if __name__ == "__main__":
    unittest.main()
