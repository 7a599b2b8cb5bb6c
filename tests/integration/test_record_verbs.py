#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the verbs that read a recording print, of one whose content is known."""
import contextlib
import json
import os
import sqlite3
import subprocess
import unittest

import support

BEGIN = 1700000040  # of what the driver writes: 50 processes, every 5 s
SECOND = 10**9
NOBODY = 65534

EVENTS = [
    {"kind": "exit", "ts_ns": BEGIN * SECOND + 1, "pid": 7, "start_time_ns": 70, "ppid": 1, "comm": "sh",
     "cmd": "sh -c x", "exit_code": 3, "status": 3 << 8, "hiwater_rss_bytes": 4 << 20, "run_time_ns": 2 * SECOND},
    {"kind": "exit", "ts_ns": BEGIN * SECOND + 2, "pid": 8, "start_time_ns": 80, "ppid": 1, "comm": "sleep",
     "signal": 9, "status": 9, "sender_pid": 5},
    {"kind": "lost", "ts_ns": BEGIN * SECOND + 3, "comm": "true", "details": "too many", "lost": 12},
]
ANOMALIES = [
    {"rule": "runaway_cpu", "severity": "medium", "begin_ns": BEGIN * SECOND, "end_ns": (BEGIN + 60) * SECOND,
     "pid": 7, "start_time_ns": 70, "comm": "sh", "value": 97, "peak": 99, "threshold": 90, "details": "it runs"},
    {"rule": "zombie", "severity": "low", "begin_ns": (BEGIN + 1) * SECOND, "pid": 8, "start_time_ns": 80,
     "comm": "sleep", "value": 31, "peak": 31, "threshold": 30, "details": "nobody waits"},
]


def insert(store, table, rows):
    with contextlib.closing(sqlite3.connect(store)) as connection, connection:
        for row in rows:
            connection.execute(f"INSERT INTO {table}({', '.join(row)}) VALUES({', '.join('?' * len(row))})",
                               list(row.values()))


class Verbs(support.TestCase):
    def setUp(self):
        super().setUp()
        self.store = self.path("r.db")
        subprocess.run([os.environ["TASKSCOPE_HISTORY_DRIVER"], "write", self.store, "20"], check=True,
                       stdout=subprocess.DEVNULL)

    def lines(self, verb, *words):
        return self.accept(verb, "--store", self.store, *words).splitlines()

    def cells(self, verb, *words):
        return [line.split() for line in self.lines(verb, *words)]

    def test_latest_has_the_largest_first(self):
        self.assertEqual(self.lines("latest", "-n", "2", "--format", "csv"), [
            "pid,start_time_ns,user,comm,state,cpu_percent,rss_bytes,nr_threads,open_fds,cmd",
            "5900,1000000000,nobody,made-9,,,52428800,4,8,made --number 49",
            "5800,1000000000,nobody,made-8,,,51380224,4,8,made --number 48"])
        self.assertEqual(len(self.lines("latest", "--format", "csv")), 1 + 50)
        age, host, anomalies, empty, head, *rows = self.lines("latest")
        self.assertRegex(age, " ago$")
        self.assertRegex(host, "^host: ")
        self.assertEqual((anomalies, empty), ("0 open anomalies", ""))
        self.assertEqual(head.split()[:3], ["pid", "user", "program"])
        self.assertEqual(rows[0], "5900  nobody  made-9   -          -  50.0 MiB        4      8  made --number 49")
        self.assertEqual(len(rows), 15)
        latest = json.loads("\n".join(self.lines("latest", "--format", "json")))
        self.assertEqual(latest["host"]["ts_ns"], (BEGIN + 19 * 5) * SECOND)
        self.assertEqual(len(latest["processes"]), 50)

    def test_events_are_chosen_by_kind_process_and_number(self):
        insert(self.store, "events", EVENTS)
        # The end of the recording is what counts, not now.
        self.assertEqual(len(self.lines("events", "--since", "94s", "--format", "csv")), 1 + 19)
        found = self.lines("events", "--format", "csv")
        self.assertEqual(len(found), 1 + 20 + len(EVENTS))
        self.assertEqual(found[2:5], [f"{BEGIN}000000001,exit,7,1,70,sh,3,,,,2000000000,4194304,,,sh -c x,",
                                      f"{BEGIN}000000002,exit,8,1,80,sleep,,9,5,,,,,,,",
                                      f"{BEGIN}000000003,lost,,,,true,,,,12,,,,,,too many"])
        with subprocess.Popen([support.TASKSCOPE, "events", "--store", self.store, "--since", "9999d", "--format", "csv",
                               "--follow", "-n", "100"], stdout=subprocess.PIPE, text=True) as reader:
            self.assertEqual([reader.stdout.readline().rstrip("\n") for _ in found], found)
            reader.terminate()
        self.assertEqual([row[2:4] for row in self.cells("events", "--since", "9999d", "--kind", "exit")[1:]],
                         [["exit", "7"], ["exit", "8"]])
        self.assertEqual([row[2:4] for row in self.cells("events", "--since", "9999d", "-p", "8")[1:]],
                         [["exit", "8"]])
        self.assertEqual([row[2:4] for row in self.cells("events", "--since", "9999d", "-n", "1")[1:]],
                         [["spawn", "1300"]])
        text = "\n".join(self.lines("events", "--since", "9999d"))
        self.assertRegex(text, r"exit +7 +1 +sh .*2\.00 s +4\.00 MiB +sh -c x")
        found = json.loads("\n".join(self.lines("events", "--since", "9999d", "-p", "7", "--format", "json")))
        self.assertEqual(found["events"], [{key: value for key, value in EVENTS[0].items() if key != "status"}])

    def test_anomalies_that_are_open_and_all(self):
        insert(self.store, "anomalies", ANOMALIES)
        # What happened is there however narrow the terminal is.
        self.assertEqual([row[2:] if row[0][0] == "2" else row for row in self.cells("anomalies")], [
            ["open", "zombie", "low", "peak", "31"], ["nobody", "waits"],
            ["60.0", "s", "runaway_cpu", "medium", "peak", "99", "%"], ["it", "runs"]])
        self.assertTrue(all(len(line) <= 80 for line in self.lines("anomalies")))
        self.assertEqual(self.lines("anomalies", "--open", "--format", "csv")[1:], [
            f"{BEGIN + 1}000000000,,zombie,open,low,8,80,sleep,31,31,30,count,,nobody waits"])
        self.assertEqual(self.lines("latest")[2], "1 open anomaly")

    def test_the_past_of_a_process_of_a_name_and_of_the_host(self):
        self.assertEqual(self.lines("history", "-p", "1"), ["nothing of that process in that time"])
        self.assertEqual(len(self.lines("history", "-p", "1000", "--since", "11s", "--format", "csv")), 1 + 3)
        self.assertEqual(self.lines("history", "-p", "1000", "-n", "2", "--since", "9999d", "--format", "csv"), [
            "ts_ns,pid,start_time_ns,comm,value,least,most,resolution",
            f"{BEGIN + 90}000000000,1000,1000000000,made-0,1048576,1048576,1048576,sample",
            f"{BEGIN + 95}000000000,1000,1000000000,made-0,1048576,1048576,1048576,sample"])
        busy = self.lines("history", "--name", "made-0", "-m", "run_time_ns", "-n", "3", "--since", "9999d", "--format",
                          "csv")[1:]
        self.assertEqual([line.split(",")[1:5] for line in busy], [
            [str(pid), "1000000000", "made-0", "100000000"] for pid in (1000, 3000, 5000)])
        self.assertEqual(self.lines("history", "-m", "load1", "-n", "2", "--since", "9999d", "--format", "csv"), [
            "ts_ns,load1", f"{BEGIN + 90}000000000,8", f"{BEGIN + 95}000000000,9"])
        self.refuse("history", "--store", self.store, "-m", "rss_bytes", says="rss_bytes is a metric of processes")
        self.refuse("history", "--store", self.store, "-m", "load2", says="did you mean load1")

    def test_a_file_is_found_right(self):
        self.assertEqual(self.accept("verify", self.store), f"{self.store} is complete and right\n")
        saved = self.path("saved.db")
        self.assertEqual(self.accept("verify", self.store, "--repair", saved),
                         f"{saved} has all that can be read of {self.store}; 0 rows or ticks were left out\n")
        snapshot = self.path("s.tscope")
        self.accept("capture", "-q", "-p", os.getpid(), "-o", snapshot)
        self.assertEqual(self.accept("verify", snapshot), f"{snapshot} is complete and right\n")
        self.refuse("verify", snapshot, "--repair", saved, says="no recording")

    @unittest.skipUnless(support.is_root(), "becomes somebody else")
    def test_a_plain_user_records_below_the_folder_of_state(self):
        os.chmod(self.folder.name, 0o755)
        state = {"XDG_STATE_HOME": self.path("state"), "PATH": os.environ["PATH"]}
        words = ["-d", "200ms", "-i", "100ms", "--no-events"]
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        os.mkdir(self.path("state"))
        os.chown(self.path("state"), NOBODY, NOBODY)
        self.accept("record", *words, env=state, **who)
        path = self.path("state/taskscope/recording.db")
        self.assertEqual(self.accept("verify", path), f"{path} is complete and right\n")
        self.refuse("record", *words, env={"PATH": os.environ["PATH"]}, says="set HOME", **who)


if __name__ == "__main__":
    unittest.main()
