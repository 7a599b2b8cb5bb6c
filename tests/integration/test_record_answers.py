#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the socket of a recorder answers, and to whom; what it keeps when it begins again."""
import collections
import json
import os
import pathlib
import subprocess
import unittest

import support
from recorder import Case, Recorder, rows

NOBODY = 65534


class Answers(Case):
    @unittest.skipUnless(support.is_root(), "only root sees every event")
    def test_events_of_a_process_and_at_most_so_many(self):
        with Recorder(self, "-i", "1h") as recorder:
            children = [subprocess.Popen(["true"]) for _ in range(60)]
            for child in children:
                child.wait()
            last = children[-1].pid
            support.wait_until(lambda: any(event["kind"] == "exit" for event in
                                           recorder.ask("events", pid=last)["events"]))
            self.assertEqual({event["pid"] for event in recorder.ask("events", pid=last)["events"]}, {last})
            for limit, count in (1, 1), (70, 70), (0, 50), (-1, 50), (10001, 50):
                self.assertEqual(len(recorder.ask("events", limit=limit)["events"]), count)

    def test_what_surrounds_a_process_or_the_host(self):
        with Recorder(self, "-i", "200ms") as recorder:
            recorder.next_tick()
            context = recorder.ask("context", pid=os.getpid())
            self.assertEqual(context["process"]["pid"], os.getpid())
            self.assertNotIn("host", context)
            context = recorder.ask("context")
            self.assertGreater(context["host"]["memory_total_bytes"], 0)
            self.assertNotIn("process", context)
            self.assertEqual(recorder.reply("context", pid=2**31 - 1)["error"],
                             f"the last tick has no process {2**31 - 1}")
            for pid in -1, 2**31, 2**32 + os.getpid(), "x":
                for method in "context", "events":
                    self.assertEqual(recorder.reply(method, pid=pid)["error"],
                                     "pid is not the number of a process")

    @unittest.skipUnless(support.is_root(), "needs root to make a directory of somebody else")
    def test_no_socket_where_others_could_swap_it(self):
        place = pathlib.Path(self.folder.name, "theirs")
        place.mkdir()
        os.chown(place, NOBODY, NOBODY)
        done = subprocess.run([support.TASKSCOPE, "record", "--store", self.path("r.db"), "--socket", place / "s"],
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot listen at", done.stderr)
        self.assertEqual(list(place.iterdir()), [])

    @unittest.skipUnless(support.is_root(), "becomes somebody else")
    def test_command_lines_are_for_their_owner(self):
        def commands(uid):
            latest = recorder.ask("latest", uid=uid)
            return {process["pid"]: process.get("cmd") for process in latest["processes"]}

        def of_events(uid):
            events = recorder.ask("events", uid=uid, limit=10000)["events"]
            return {event["pid"]: event.get("cmd") for event in events if event["kind"] == "exec"}

        os.chmod(self.folder.name, 0o755)
        with Recorder(self, "-i", "200ms") as recorder:
            os.chmod(recorder.socket, 0o666)
            with subprocess.Popen(["sleep", "1001"]) as ours, \
                    subprocess.Popen(["sleep", "1002"], user=NOBODY, group=NOBODY) as theirs:
                try:
                    support.wait_until(lambda: {ours.pid, theirs.pid} <= set(commands(0)))
                    support.wait_until(lambda: {ours.pid, theirs.pid} <= set(of_events(0)))
                    for ask in commands, of_events:
                        found = ask(0)
                        self.assertEqual([found[ours.pid], found[theirs.pid]], ["sleep 1001", "sleep 1002"])
                        found = ask(NOBODY)
                        self.assertEqual([found[ours.pid], found[theirs.pid]], [None, "sleep 1002"])
                    context = recorder.ask("context", uid=NOBODY, pid=ours.pid)
                    self.assertNotIn("cmd", context["process"])
                finally:
                    ours.kill()
                    theirs.kill()


class Kept(Case):
    def test_a_process_that_does_nothing_has_one_line(self):
        lines = self.path("r.jsonl")
        with subprocess.Popen(["sleep", "1000"]) as idle, subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy:
            try:
                support.wait_until(lambda: support.comm_of(idle.pid) == "sleep")
                support.wait_for_idle(idle.pid)
                with Recorder(self, "-i", "200ms", "--jsonl", lines) as recorder:
                    recorder.next_tick(4)
            finally:
                idle.kill()
                busy.kill()
        told = collections.Counter(line.get("pid", line["kind"]) for line in
                                   map(json.loads, pathlib.Path(lines).read_text().splitlines())
                                   if line["kind"] in ("host", "process"))
        self.assertEqual(told[idle.pid], 1)
        self.assertGreaterEqual(told["host"], 5)
        self.assertGreater(told[busy.pid], 1)

    @unittest.skipUnless(support.is_root(), "only root sees every event")
    def test_what_is_too_old_is_dropped_at_the_beginning(self):
        with Recorder(self, "-i", "200ms") as recorder:
            child = subprocess.Popen(["true"])
            child.wait()
            support.wait_until(lambda: recorder.ask("events", pid=child.pid)["events"])
            recorder.next_tick()
        old = rows(recorder.store, "SELECT count(*) FROM ticks")[0][0]
        self.assertGreater(old, 1)
        with Recorder(self, "-i", "1h", "--keep-events", "1ms") as recorder:
            support.wait_until(lambda: not rows(recorder.store, "SELECT 1 FROM events WHERE pid = ?", child.pid))
            self.assertEqual(rows(recorder.store, "SELECT count(*) FROM ticks"), [(old + 1,)])


if __name__ == "__main__":
    unittest.main()
