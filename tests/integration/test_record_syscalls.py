#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`record --syscalls`: rows of each minute, what clients are told, and strace underneath."""
import csv
import io
import json
import unittest

from recorder import Recorder, rows
from support import TestCase, is_root, main, run, wait_until
from test_calls import Caller


def syscalls_of(recorder, pid):
    """What the last tick has of a process, by name; None as long as that is nothing."""
    found = [process for process in recorder.ask("latest")["processes"] if process["pid"] == pid]
    return {row["syscall"]: row for row in found[0].get("syscalls", [])} if found else None


@unittest.skipUnless(is_root(), "needs root: BPF programs")
class Bpf(TestCase):
    def test_a_recording_has_every_call_once(self):
        with Caller() as caller, Recorder(self, "--syscalls", "-i", "200ms", "--tree",
                                          caller.pid) as recorder:
            total = 0
            for count in (100, 20, 3):
                caller.make(count)
                total += count
                recorder.next_tick()
            recorder.end()
            found = rows(recorder.store, "SELECT sum(calls), sum(errors) FROM process_syscalls AS c "
                         "JOIN processes AS p ON p.id = c.process WHERE syscall = 'rmdir' AND pid = ?",
                         caller.pid)
            self.assertEqual(found, [(total, total)])
            self.assertEqual(rows(recorder.store, "SELECT ts_ns % 60000000000 FROM process_syscalls "
                                  "GROUP BY 1"), [(0,)])
            self.assertEqual(rows(recorder.store, "SELECT value FROM meta WHERE key = 'syscalls'"),
                             [("bpf",)])
            words = ("history", "--store", recorder.store, "--syscalls", "-p", caller.pid)
            status, out, _ = run(*words, "--json")
            self.assertEqual(status, 0)
            calls = {row["syscall"]: row for row in json.loads(out)["syscalls"]}
            self.assertEqual(sum(row["calls"] for row in json.loads(out)["syscalls"]
                                 if row["syscall"] == "getppid"), total)
            self.assertEqual(calls["getppid"]["comm"][:6], "python")
            listed = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv")[1])))
            self.assertEqual(sum(int(row["errors"]) for row in listed if row["syscall"] == "rmdir"),
                             total)
            self.assertRegex(run(*words)[1], r"usecs/call +max +calls +errors +syscall\n")

    def test_clients_are_told_the_calls_of_the_last_tick(self):
        with Caller() as caller, Recorder(self, "--syscalls", "-i", "200ms", "--tree",
                                          caller.pid) as recorder:
            def seen():
                caller.make(500)
                recorder.next_tick()
                return (syscalls_of(recorder, caller.pid) or {}).get("rmdir", {}).get("calls", 0) >= 500
            wait_until(seen)
            caller.make(500)
            recorder.next_tick()
            context = recorder.ask("context", pid=caller.pid)
            self.assertIn(context["syscall_hotspot"], ("rmdir", "read"))
            self.assertLessEqual(context["syscall_hotspot_share"], 1)
            self.assertNotIn("syscalls", recorder.ask("latest")["host"])

    def test_without_the_option_there_are_none(self):
        with Caller() as caller, Recorder(self, "-i", "200ms", "--tree", caller.pid) as recorder:
            recorder.next_tick()
            self.assertNotIn("syscalls", recorder.ask("latest")["processes"][0])
            recorder.end()
            self.assertEqual(rows(recorder.store, "SELECT count(*) FROM process_syscalls"), [(0,)])
            status, out, _ = run("history", "--store", recorder.store, "--syscalls")
            self.assertEqual(status, 0)
            self.assertIn("record --syscalls", out)


if __name__ == "__main__":
    main()
