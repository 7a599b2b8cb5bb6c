# SPDX-License-Identifier: MIT
"""Branches of the kernel side that ordinary commands do not reach.

branches_workload says what must be seen of it; tree_driver tells what was seen.
"""
import os
import sys
import unittest

import support
from driver import NO_LOSSES, Told
from kernel import WAYS

WORKLOAD = os.environ["TASKSCOPE_BRANCHES"]
SLOTS = 28 + 84  # kinds of system calls that a thread has room for
WAKERS = 16
REASONS = ("disk", "lock", "condition", "network", "pipe", "timer", "poll", "child", "memory",
           "stopped", "other")


@unittest.skipUnless("bpf" in WAYS, "needs BPF")
class Branches(support.TestCase):
    def follow(self, role, **options):
        told = Told("bpf", WORKLOAD, role, self.folder.name, **options)
        self.assertEqual(told.wait["status"], 0)
        self.assertEqual(told.tree["strays"], 0)
        return told

    def said(self, told, name):
        lines = [line for line in told.said if line["said"] == name]
        self.assertTrue(lines)
        return lines

    def one(self, told, event, **values):
        found = told.events(event, **values)
        self.assertEqual(len(found), 1, f"{event} {values}: {found}")
        return found[0]

    def check_calls(self, told):
        for said in self.said(told, "call"):
            call = self.one(told, "call", pid=said["pid"], number=said["number"])
            for key in ("count", "errors", "sockets"):
                self.assertEqual(call[key], said[key], call)
            self.assertEqual(call["buckets"], call["count"])
            self.assertGreaterEqual(int(call["ns"]), int(call["max"]))
            self.assertGreaterEqual(int(call["max"]) * int(call["count"]), int(call["ns"]))

    def check_errors(self, told):
        for said in self.said(told, "error"):
            call = self.one(told, "call", pid=said["pid"], number=said["number"])
            self.assertEqual(call["errno" + said["errno"]], said["count"], call)

    def last(self, told, pid):
        return self.one(told, "thread", pid=pid, tid=pid, ended=1)

    def check_unnamed(self, told):
        """Each call is either under its name, whole, or among those without one."""
        seen = {line["number"]: int(line["count"]) for line in told.events("call")}
        missing = 0
        for said in self.said(told, "call"):
            if said["number"] in seen:
                self.assertEqual(seen[said["number"]], int(said["count"]))
            else:
                missing += int(said["count"])
        exit_group = 0 if self.EXIT_GROUP in seen else 1
        self.assertGreater(missing, 0)
        self.assertEqual(int(self.last(told, told.wait["pid"])["unnamed"]), missing + exit_group)
        self.assertEqual(told.losses, {**NO_LOSSES, "unnamed_syscalls": missing + exit_group})
        return seen

    EXIT_GROUP = {"x86_64": "231", "aarch64": "94"}[os.uname().machine]

    def test_more_kinds_of_calls_than_there_is_room_for(self):
        self.assertEqual(len(self.check_unnamed(self.follow("kinds"))), SLOTS)

    def test_numbers_beyond_the_table(self):
        seen = self.check_unnamed(self.follow("far"))
        self.assertEqual((seen["1000"], seen["1001"]), (3, 1))

    def test_calls_of_a_thread_that_lives_are_told_at_the_end(self):
        """By a look instead of a last account."""
        script = ("import os, subprocess, sys\n"
                  f"child = subprocess.Popen([{WORKLOAD!r}, 'stays'], stdout=subprocess.PIPE)\n"
                  "child.stdout.readline()\n"
                  "def is_asleep(folder):\n"
                  "    state = open(f'{folder}/stat').read().rpartition(')')[2].split()[0]\n"
                  "    return state == 'S' and open(f'{folder}/wchan').read() != '0'\n"
                  "while not is_asleep(f'/proc/{child.pid}'):\n"
                  "    pass")
        told = Told("bpf", sys.executable, "-c", script)
        (pid,) = {line["pid"] for line in told.said if line["said"] == "call"}
        os.kill(int(pid), 9)
        self.assertFalse(told.events("thread", pid=pid, ended=1))
        self.check_calls(told)
        # It may have waited for pages of its program as well.
        (waker,) = told.events("waker", pid=pid, reason="timer")
        self.assertEqual(waker["waker"], "0")
        self.assertEqual(told.events("thread", pid=pid)[-1]["now"], "poll")

    def test_errors_by_number(self):
        told = self.follow("errors")
        self.check_calls(told)
        self.check_errors(told)

    def test_interrupted_calls(self):
        told = self.follow("interrupted")
        self.check_calls(told)
        self.check_errors(told)

    def test_calls_on_sockets(self):
        self.check_calls(self.follow("descriptors"))

    def test_calls_on_sockets_that_threads_share(self):
        self.check_calls(self.follow("shared_descriptors"))

    def check_waits(self, told, reasons):
        for said in self.said(told, "wait"):
            thread = self.last(told, said["pid"])
            waited = {reason: int(thread[f"wait_{reason}_ns"]) for reason in REASONS}
            most = max(waited, key=waited.get)
            self.assertIn(most, reasons(said), waited)
            self.assertGreater(waited[most], 0.5 * int(thread["wall_time_ns"]), thread)
            parts = int(thread["run_time_ns"]) + int(thread["wait_time_ns"]) + sum(waited.values())
            self.assertAlmostEqual(parts / int(thread["wall_time_ns"]), 1, delta=0.01)
            self.assertGreaterEqual(int(thread["offcpu_max_ns"]), int(thread["offcpu_min_ns"]))
            longest = max(int(thread[f"wait_{reason}_max_ns"]) for reason in REASONS)
            self.assertGreaterEqual(int(thread["offcpu_max_ns"]), longest)

    def test_waits_of_every_kind(self):
        self.check_waits(self.follow("waits"), lambda said: [said["reason"]])

    def test_waits_that_began_before(self):
        """What is found waiting is asked what for, like what goes to wait."""
        def reasons(said):
            # A sleep that was stopped goes on by a call that does not say what it goes on with.
            return ["timer", "other"] if said["reason"] == "timer" else [said["reason"]]

        told = self.follow("long_waits", options=["-a", "-i", "100"])
        self.check_waits(told, reasons)
        for said in self.said(told, "wait"):
            looks = told.events("thread", pid=said["pid"], tid=said["pid"], ended=0)
            self.assertLessEqual({look["now"] for look in looks[1:]}, set(reasons(said)))

    def test_a_wait_that_the_kernel_counts_as_ready_time(self):
        self.check_waits(self.follow("moved", options=["-i", "100"]), lambda said: [said["reason"]])

    def test_looks_at_a_thread_that_runs_add_up(self):
        script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
        told = Told("bpf", "/bin/sh", "-c", script, options=["-i", "20"])
        looks = told.events("thread", tid=told.wait["pid"], ended=0)
        self.assertTrue(looks)
        for look in looks:
            waits = sum(int(look[f"wait_{reason}_ns"]) for reason in REASONS)
            parts = int(look["run_time_ns"]) + int(look["wait_time_ns"]) + waits
            self.assertAlmostEqual(parts, int(look["wall_time_ns"]), delta=2e5)

    def test_who_ended_waits(self):
        told = self.follow("wakers")
        for said in self.said(told, "waker"):
            row = self.one(told, "waker", pid=said["pid"], reason=said["reason"],
                           waker=said["waker"])
            self.assertEqual((row["count"], row["waker_tid"]), (said["count"], said["waker"]))
            self.assertEqual(row["comm"], "branches_worklo")
            self.assertEqual(row["ns"], row["longest"])
        self.assertEqual(told.losses, NO_LOSSES)

    def test_more_wakers_than_there_is_room_for(self):
        told = self.follow("many_wakers")
        said = self.said(told, "waker")
        rows = told.events("waker", pid=told.wait["pid"])
        self.assertEqual(len(rows), WAKERS)
        kept = [row for row in rows if row["reason"] == "pipe"]
        self.assertLessEqual({row["waker"] for row in kept}, {line["waker"] for line in said})
        lost = len(said) - sum(int(row["count"]) for row in kept)
        self.assertGreater(lost, 0)
        self.assertGreaterEqual(told.losses["wakers"], lost)

    def test_wakers_of_one_name(self):
        told = self.follow("children")
        (said,) = self.said(told, "waker")
        row = self.one(told, "waker", pid=said["pid"], reason="child", comm="offspring")
        self.assertEqual((row["waker"], row["count"]), (said["waker"], said["count"]))
        self.assertGreaterEqual(int(row["ns"]), int(row["longest"]))

    def test_nobody_ends_a_sleep(self):
        told = self.follow("sleeps")
        (said,) = self.said(told, "waker")
        row = self.one(told, "waker", pid=said["pid"], reason="timer")
        self.assertEqual((row["waker"], row["comm"], row["count"]), ("0", "", said["count"]))

    def check_ends(self, told):
        for said in self.said(told, "end"):
            end = self.one(told, "process", pid=said["pid"], ended=1)
            self.assertEqual(end["status"], said["status"])
            self.assertEqual(end["sender"] or "0", said["sender"])

    def test_children_in_every_way(self):
        told = self.follow("family")
        for said in self.said(told, "fork"):
            fork = self.one(told, "fork", pid=said["pid"])
            self.assertEqual((fork["parent"], fork["found"], fork["inner"]),
                             (said["parent"], "0", said["pid"]))
        self.check_ends(told)

    def check_signals(self, told):
        for said in self.said(told, "signal"):
            line = self.one(told, "signal", pid=said["pid"], number=said["number"])
            self.assertEqual(line["sender"], said["sender"])
            self.assertEqual(line["sender_comm"], "" if said["sender"] == "0" else "branches_worklo")
        for said in self.said(told, "quiet"):
            self.assertFalse(told.events("signal", pid=said["pid"], number=said["number"]))
        self.check_ends(told)

    def test_signals_and_who_sent_them(self):
        self.check_signals(self.follow("signals"))

    @unittest.skipUnless(support.has_namespaces(), "needs PID namespaces")
    def test_numbers_are_those_of_our_own_namespace(self):
        self.check_signals(self.follow("signals", prefix=support.NAMESPACE))

    @unittest.skipUnless(support.has_namespaces(), "needs PID namespaces")
    def test_numbers_inside_of_a_container(self):
        """Seen from outside: ours are others, and theirs are told too."""
        told = Told("bpf", *support.NAMESPACE, "/bin/sh", "-c", "/bin/true; exit 4")
        inner = [line for line in told.events("fork") if line["inner"] == "1"]
        self.assertEqual(len(inner), 1)
        self.assertNotEqual(inner[0]["pid"], "1")
        (end,) = told.events("process", pid=inner[0]["pid"], ended=1)
        self.assertEqual(int(end["status"]), 4 << 8)


if __name__ == "__main__":
    support.main()
