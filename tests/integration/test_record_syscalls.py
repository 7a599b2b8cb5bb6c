#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`record --syscalls`: rows of each minute, what clients are told, and strace underneath."""
import csv
import io
import json
import os
import pathlib
import shutil
import signal
import unittest

from recorder import Recorder, rows
from support import HANG, TestCase, is_root, main, run, wait_for_idle, wait_until
from test_calls import Caller
from test_trace import FORKER, HIDDEN_STRACE, Trace, is_alive, tracer_of


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


def traced(recorder):
    return (recorder.ask("latest") or {}).get("traced_pids", [])


def children_of(pid):
    return list(map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def counts(store):
    return dict(rows(store, "SELECT syscall, sum(calls) FROM process_syscalls GROUP BY 1"))


@unittest.skipUnless(is_root(), "needs root: ptrace")
@unittest.skipUnless(shutil.which("strace"), "needs strace")
class Strace(TestCase):
    def recorder(self, pid, *words):
        return Recorder(self, "--syscalls=strace", "-i", "100ms", "--tree", pid, *words)

    def test_its_summary_is_kept(self):
        with Caller() as caller, self.recorder(caller.pid) as recorder:
            wait_until(lambda: caller.pid in traced(recorder))
            tracer = tracer_of(caller.pid)
            self.assertEqual(pathlib.Path(f"/proc/{tracer}/comm").read_text(), "strace\n")
            caller.make(50)
            self.assertEqual(recorder.end(), 0)
            found = rows(recorder.store, "SELECT pid, calls, errors, time_ns > 0, max_ns > 0 FROM "
                         "process_syscalls AS c JOIN processes AS p ON p.id = c.process "
                         "WHERE syscall = 'rmdir'")
            self.assertEqual(found, [(caller.pid, 50, 50, 1, 1)])
            self.assertEqual(tracer_of(caller.pid), 0)
            self.assertFalse(is_alive(tracer))
            caller.make(1)

    def test_a_call_that_strace_interrupts_is_counted(self):
        """It goes on as restart_syscall, which is not a title of the table."""
        program = "import select, sys\npoll = select.poll()\npoll.register(0)\nprint(1, flush=True)\n" \
            "poll.poll(10**8)\nprint('woken', flush=True)\nsys.stdin.read()"
        with Caller(program) as caller:
            caller.process.stdout.readline()
            wait_for_idle(caller.pid)
            with self.recorder(caller.pid) as recorder:
                wait_until(lambda: caller.pid in traced(recorder))
                caller.process.stdin.write("\n")
                caller.process.stdin.flush()
                self.assertEqual(caller.process.stdout.readline(), "woken\n")
                recorder.end()
                self.assertEqual(counts(recorder.store)["restart_syscall"], 1)

    def test_our_own_processes_are_never_traced(self):
        """The recorder and its straces are in the tree that it records."""
        recorder = Recorder(self, "--syscalls=strace", "-i", "100ms")
        recorder.words = ["sh", "-c", 'sleep 1000 & "$0" "$@" --tree $$; kill $!', *recorder.words]
        with recorder:
            shell = recorder.process.pid
            wait_until(lambda: len(traced(recorder)) == 2)
            recorder.next_tick(3)
            for process in recorder.ask("latest")["processes"]:
                self.assertNotIn("syscalls", process)
                self.assertIn("once a minute", process["syscalls_absent"])
            own = recorder.ask("latest")["host"]["recorder_pid"]
            straces = children_of(own)
            self.assertEqual(len(straces), 2)
            self.assertEqual({tracer_of(pid) for pid in [own, *straces]}, {0})
            self.assertEqual({tracer_of(pid) for pid in traced(recorder)}, set(straces))
            self.assertIn(shell, traced(recorder))
            os.kill(own, signal.SIGTERM)
            recorder.process.communicate(timeout=HANG)

    def test_children_are_followed_by_the_same_strace(self):
        with Caller(FORKER) as caller, self.recorder(caller.pid) as recorder:
            wait_until(lambda: caller.pid in traced(recorder))
            caller.make(20)
            recorder.end()
            self.assertEqual(counts(recorder.store)["getppid"], 200)

    def test_when_strace_is_killed_another_one_begins(self):
        with Caller() as caller, self.recorder(caller.pid) as recorder:
            wait_until(lambda: caller.pid in traced(recorder))
            first = tracer_of(caller.pid)
            os.kill(first, signal.SIGKILL)
            wait_until(lambda: tracer_of(caller.pid) not in (0, first))
            wait_until(lambda: caller.pid in traced(recorder))
            caller.make(10)
            recorder.end()
            self.assertIn("was killed by signal 9", recorder.said)
            self.assertEqual(counts(recorder.store)["rmdir"], 10)
            self.assertEqual(rows(recorder.store, "SELECT value FROM meta WHERE key='lost_summaries'"),
                             [("1",)])

    def test_a_target_that_is_killed_leaves_its_summary(self):
        with Caller() as caller, self.recorder(caller.pid) as recorder:
            wait_until(lambda: caller.pid in traced(recorder))
            caller.make(10)
            os.kill(caller.pid, signal.SIGKILL)
            caller.process.wait()
            recorder.process.wait()
            recorder.end()
            self.assertEqual(counts(recorder.store)["rmdir"], 10)

    def test_no_strace_outlives_a_recorder_that_is_killed(self):
        with Caller() as caller, self.recorder(caller.pid) as recorder:
            tracer = wait_until(lambda: tracer_of(caller.pid))
            recorder.end(signal.SIGKILL)
            wait_until(lambda: not is_alive(tracer))
            self.assertEqual(tracer_of(caller.pid), 0)
            caller.make(1)

    def test_a_process_that_is_traced_already_is_named(self):
        with Caller() as caller, Trace(caller.pid) as trace:
            with self.recorder(caller.pid) as recorder:
                recorder.next_tick(2)
                recorder.end()
            self.assertIn(f"process {caller.pid} is already traced, by process {trace.strace} (strace)",
                          recorder.said)
            self.assertEqual(rows(recorder.store, "SELECT value FROM meta WHERE key='untraced_processes'"),
                             [("1",)])

    def test_a_process_that_was_refused_has_no_empty_list(self):
        with Caller() as caller, Trace(caller.pid), self.recorder(caller.pid) as recorder:
            recorder.next_tick(3)
            [process] = [row for row in recorder.ask("latest")["processes"] if row["pid"] == caller.pid]
            self.assertNotIn("syscalls", process)
            self.assertEqual(process["syscalls_absent"], "another program traces it")

    def test_without_strace_recording_goes_on(self):
        with Caller() as caller:
            recorder = self.recorder(caller.pid)
            recorder.words = [*HIDDEN_STRACE, *recorder.words]
            with recorder:
                recorder.next_tick()
                self.assertEqual(recorder.end(), 0)
            self.assertIn("no system calls (strace is not installed", recorder.said)

    def test_it_needs_a_scope(self):
        status, _, err = run("record", "--syscalls=strace", "--store", self.path("r.db"))
        self.assertEqual(status, 2)
        self.assertIn("needs --tree or --cgroup", err)


if __name__ == "__main__":
    main()
