# SPDX-License-Identifier: MIT
"""Copies of stacks, as the kernel side makes them, hold what the workload says of itself.

Nothing is unwound here: a copy is right when its program counter and stack pointer are where they must be,
and when the return addresses that must be in it are.
"""
import os
import unittest

import driver
import kernel

WORKLOAD = os.environ["TASKSCOPE_STACK_WORKLOAD"]
FREQUENCY = 99
PERIOD_NS = 10**9 // FREQUENCY
OFF_CPU_MIN_NS = 1000000
REASONS = ("disk", "lock", "condition", "network", "pipe", "timer", "poll", "child", "memory", "stopped",
           "other")


class Copies:
    def __init__(self, role, *options):
        """Where a kernel hides a process from BPF, the end of a wait may not be seen: then once more."""
        self.losses = {"unseen": 1}
        while self.losses["unseen"]:
            self.follow(role, *options)

    def follow(self, role, *options):
        self.told = driver.Told("bpf", WORKLOAD, role,
                                options=("-k", str(FREQUENCY), "-o", str(OFF_CPU_MIN_NS), *options))
        self.functions = {line["function"]: range(int(line["from"]), int(line["to"]))
                          for line in self.told.said if line["function"]}
        self.threads = {line["thread"]: line for line in self.told.said if line["thread"]}
        self.losses = next({key: int(value) for key, value in line.items() if key != "end"}
                           for line in self.told.lines if line["end"] == "stacks")

    def tid(self, thread):
        return self.threads[thread]["tid"]

    def stack_of(self, thread):
        line = self.threads[thread]
        return range(int(line["from"]), int(line["to"]))

    def stacks(self, kind, thread=None, **values):
        """Those that are of that kind, and of that thread of the workload."""
        return [line for line in self.told.lines if line["stack"] == kind
                and (thread is None or line["tid"] == self.tid(thread))
                and all(line[key] == str(value) for key, value in values.items())]

    def copies(self, kind, thread, **values):
        return self.stacks(kind, thread, inferred=0, user=1, **values)

    def is_in(self, name, address):
        return address in self.functions[name]

    def calls(self, stack, name):
        """Whether the copy has a return address in that function."""
        return any(self.is_in(name, int(word, 16)) for word in (stack["words"] or "").split(",") if word)

    def blocked_ns(self):
        """By thread, as the ledger has it last."""
        blocked = {}
        for line in self.told.lines:
            if line["event"] == "thread":
                blocked[line["tid"]] = sum(int(line[f"wait_{reason}_ns"]) for reason in REASONS)
        return blocked


def weight(stacks):
    return sum(int(stack["weight"]) for stack in stacks)


@unittest.skipUnless(kernel.has_bpf(), "needs BPF")
class StackCopies(unittest.TestCase):
    def assert_all_time_is_there(self, copies):
        """Each thread's blocked time is in its stacks, but for what is counted as lost."""
        lost = sum(copies.losses[key] for key in ("dropped_ns", "short_ns", "fault_ns"))
        missing = 0
        for tid, blocked in copies.blocked_ns().items():
            there = weight(stack for stack in copies.stacks("off-cpu") if stack["tid"] == tid)
            self.assertLessEqual(there, blocked)
            missing += blocked - there
        self.assertEqual(missing, lost)

    def assert_at_home(self, copies, thread, stacks):
        """They are copies of the stack of that thread, from its stack pointer on."""
        home = copies.stack_of(thread)
        for stack in stacks:
            self.assertIn(int(stack["sp"]), home)
            self.assertEqual(stack["address"], stack["sp"])

    def test_a_function_that_spins_is_sampled(self):
        copies = Copies("spin")
        stacks = copies.copies("on-cpu", "first")
        inside = [stack for stack in stacks if copies.is_in("spin_here", int(stack["pc"]))]
        self.assertGreater(len(inside), len(stacks) / 2)
        self.assert_at_home(copies, "first", inside)
        # Where the machine itself waits for a CPU, some are missing, but there are never too many.
        (last,) = [line for line in copies.told.lines
                   if line["event"] == "thread" and line["ended"] == "1"]
        self.assertEqual({int(stack["weight"]) for stack in stacks}, {PERIOD_NS})
        self.assertLessEqual(weight(copies.stacks("on-cpu")), int(last["wall_time_ns"]) + 2 * PERIOD_NS)

    def test_a_nested_sleep_has_its_callers(self):
        copies = Copies("nest")
        stacks = [stack for stack in copies.copies("off-cpu", "first", reason="timer")
                  if int(stack["weight"]) >= OFF_CPU_MIN_NS]
        self.assertGreater(len(stacks), 0)
        for stack in stacks:
            self.assertTrue(copies.calls(stack, "sleep_inner") and copies.calls(stack, "sleep_outer"))
            self.assertTrue(stack["kernel"])
        self.assert_at_home(copies, "first", stacks)
        self.assert_all_time_is_there(copies)

    def test_a_wait_never_has_the_stack_of_another_thread(self):
        copies = Copies("pair")
        for thread, own, others in (("first", "sleep_outer", "sleep_other"),
                                    ("second", "sleep_other", "sleep_outer")):
            stacks = copies.copies("off-cpu", thread, reason="timer")
            self.assertGreater(len(stacks), 0)
            self.assert_at_home(copies, thread, stacks)
            for stack in stacks:
                self.assertTrue(copies.calls(stack, own))
                self.assertFalse(copies.calls(stack, others))
        self.assert_all_time_is_there(copies)

    def test_short_blocks_are_sampled_and_all_their_time_is_there(self):
        copies = Copies("doze")
        self.assertGreater(len(copies.copies("off-cpu", "first", reason="timer")), 0)
        self.assertGreater(weight(copies.stacks("off-cpu", "first", inferred=1)), 0)
        self.assert_all_time_is_there(copies)

    def test_a_page_fault_has_its_stack(self):
        copies = Copies("fault")
        if not copies.threads.get("first") or copies.told.wait["status"]:
            self.skipTest("there is no userfaultfd")
        stacks = [stack for stack in copies.copies("off-cpu", "first", syscall=-1)
                  if copies.is_in("touch", int(stack["pc"]))]
        self.assertGreater(len(stacks), 0)
        self.assert_at_home(copies, "first", stacks)
        inferred = [stack for stack in copies.stacks("off-cpu", "first", inferred=1)
                    if copies.is_in("touch", int(stack["pc"]))]
        self.assertGreater(weight(inferred), 10 * 25000000)
        self.assert_all_time_is_there(copies)

    def test_threads_that_stay_blocked_have_their_stacks(self):
        copies = Copies("remain")
        (stack,) = copies.copies("off-cpu", "second")
        self.assert_at_home(copies, "second", [stack])
        self.assertEqual(stack["reason"], "poll")
        stacks = copies.copies("off-cpu", "first")
        self.assertTrue(copies.calls(stacks[-1], "sleep_outer"))
        self.assert_at_home(copies, "first", stacks)
        self.assert_all_time_is_there(copies)
        os.kill(int(copies.threads["first"]["tid"]), 9)

    def test_who_ends_a_long_wait_shows_where(self):
        copies = Copies("wake")
        woken = {line["tid"] for line in copies.told.said if line["thread"] == "second"}
        stacks = copies.stacks("waker", "first", reason="lock")
        self.assertGreater(len(stacks), 0)
        self.assertLessEqual({stack["woken"] for stack in stacks}, woken)
        self.assert_at_home(copies, "first", stacks)

    def test_without_calls_there_are_stacks_too(self):
        copies = Copies("nest", "-c")
        self.assertGreater(len(copies.copies("off-cpu", "first", reason="timer")), 0)
        self.assert_all_time_is_there(copies)

    def test_the_mappings_come_before_the_stacks_that_need_them(self):
        copies = Copies("nest")
        pid = copies.tid("first")
        lines = copies.told.lines
        first = next(place for place, line in enumerate(lines) if line["stack"] == "off-cpu"
                     and copies.calls(line, "sleep_inner"))
        images = [line for line in lines[:first] if line["image"] == "map" and line["pid"] == pid]
        inner = copies.functions["sleep_inner"][0]
        (program,) = [line for line in images if int(line["from"]) <= inner < int(line["to"])]
        self.assertEqual(program["path"], os.path.realpath(WORKLOAD))
        self.assertEqual([line["image"] for line in lines if line["pid"] == pid and line["image"]
                          and line["image"] != "map"][0], "exec")
        self.assertEqual([line["image"] for line in lines if line["pid"] == pid and line["image"]][-1],
                         "end")


if __name__ == "__main__":
    unittest.main()
