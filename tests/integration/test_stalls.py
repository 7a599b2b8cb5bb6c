# SPDX-License-Identifier: MIT
"""Stalls in libtaskscope: which threads are told to be stuck, and why, and which are not."""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import signal
import time
import unittest

from beating import QUIET, HeartbeatTest
from support import HANG, is_root, run, wait_until


PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000


@contextlib.contextmanager
def held_thread(tid):
    """Stops one thread as a debugger does.  Only the thread that attached may go on with it."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
        if libc.ptrace(request, tid, None, None) != 0:
            raise unittest.SkipTest(f"no tracing here: {os.strerror(ctypes.get_errno())}")
    os.waitpid(tid, WALL)
    try:
        yield
    finally:
        libc.ptrace(PTRACE_DETACH, tid, None, None)


@contextlib.contextmanager
def small_quota():
    """A control group with 1% of a CPU: the shell command that joins it.  Who did has ended by the end.

    What others of this host want does not count: who is throttled is not starved, too.
    """
    old, new = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
    group = (old if old.is_dir() else new) / f"taskscope-test-{os.getpid()}"
    try:
        group.mkdir()
        if old.is_dir():
            (group / "cpu.cfs_period_us").write_text("100000")
            (group / "cpu.cfs_quota_us").write_text("1000")
            (group / "cpu.shares").write_text("262144")
        else:
            (group / "cpu.max").write_text("1000 100000")
            (group / "cpu.weight").write_text("10000")
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        raise unittest.SkipTest(f"no quota here: {error}") from None
    try:
        yield f"echo $$ > {group}/cgroup.procs"
    finally:
        wait_until(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


class StallTest(HeartbeatTest):
    STALL = r"^\[taskscope\]\[STALL\]"

    def assert_calm(self, program):
        """It went on, and nothing was taken for a stall."""
        self.assert_ends(program)
        self.assertFalse(program.err.matching(self.STALL), program.err.lines)

    def test_a_thread_that_waits_is_told_once_and_once_it_goes_on(self):
        program = self.program("deadlock")
        tid = program.number("locker")
        line = program.err.wait(self.STALL)[0]
        self.assertRegex(line, rf'\[STALL\] pid={program.pid} thread={tid}/locker phase="take lock" '
                               r"stuck=\S+ kind=waiting state=S( wchan=\S*futex\S*)? syscall=futex$")
        program.wait_for_beats(2)
        program.command()
        program.err.wait(rf'^\[taskscope\]\[RECOVERED\] pid={program.pid} thread={tid}/locker '
                         r'phase="take lock" after=\S+$')
        self.assert_ends(program)
        self.assertEqual(len(program.err.matching(self.STALL)), 1)
        self.assertEqual(len(program.err.matching("RECOVERED")), 1)

    def test_a_capture_says_how_long_it_makes_no_progress(self):
        program = self.program("deadlock")
        tid = program.number("locker")
        program.err.wait(self.STALL)
        status, out, err = run("show", "-p", program.pid, "-g", "thread", "-m", "scope_stall_ns", "--format", "json")
        self.assertEqual(status, 0, err)
        stalls = {thread["tid"]: thread.get("scope_stall_ns") for thread in json.loads(out)["threads"]}
        self.assertGreater(stalls[tid], 0)
        program.command()
        program.err.wait("RECOVERED")
        self.assert_ends(program)

    def test_a_thread_that_burns_is_busy(self):
        # Where others want the CPUs too, it has to come before them.
        program = self.program("spin", prefix=("sh", "-c", 'chrt -r -p 1 $$; exec "$0" "$@"'))
        tid = program.number("spinner")
        busy = rf'{self.STALL} pid=\d+ thread={tid}/spinner phase="spin" stuck=\S+ kind=busy'
        wait_until(lambda: program.err.matching(busy) or len(program.out.matching("^share ")) >= 20)
        shares = [int(line.split()[1]) for line in program.out.matching("^share ")]
        self.assert_ends(program)
        if not program.err.matching(busy) and max(shares) < 60:
            self.skipTest(f"there is no CPU to be busy with: {shares} per cent")
        self.assertTrue(program.err.matching(busy), program.err.lines)

    def test_a_thread_that_gets_no_cpu_is_starved(self):
        program = self.program("starve")
        program.err.wait(rf'{self.STALL} .*/hungry phase="starve" stuck=\S+ kind=starved')
        self.assert_ends(program)

    def test_a_scope_has_its_own_limit(self):
        program = self.program("limits", QUIET)
        program.err.wait(rf'{self.STALL} .* phase="own limit"')
        self.assert_ends(program)
        self.assertFalse(program.err.matching("without limit"))

    def test_the_end_of_a_thread_ends_its_stall(self):
        program = self.program("doomed")
        program.err.wait(rf'{self.STALL} .* phase="doomed"')
        program.command()
        program.err.wait(r'RECOVERED\] .* phase="doomed" after=')
        self.assert_ends(program)

    def test_many_stalls_are_told_in_few_lines(self):
        """Of those in one interval; the threads need not all stall in the same."""
        left = rf"{self.STALL} pid=\d+ \.\.\. and (\d+) more stalls and recoveries$"
        told = rf"{self.STALL} pid=\d+ thread="
        program = self.program("crowd", {"TASKSCOPE_HEARTBEAT": "3s"})

        def count():
            hidden = [int(re.search(left, line)[1]) for line in program.err.matching(left)]
            return len(program.err.matching(told)) + sum(hidden)

        wait_until(lambda: count() >= 20)
        lines = list(program.err.lines)
        self.assert_ends(program)
        self.assertTrue([line for line in lines if re.search(left, line)], lines)
        for interval in re.split(r"(?m)^\[taskscope\] pid=", "\n".join(lines)):
            self.assertLessEqual(len(re.findall(f"(?m){told}", interval)), 8)

    def test_waiting_for_work_is_no_stall(self):
        program = self.program("pool")
        program.number("pool")
        program.wait_for_beats(5)
        self.assert_calm(program)

    def test_a_stopped_process_is_not_stalled(self):
        """The limit is far more than the time that it runs between its steps, however slow that is."""
        program = self.program("commanded", {"TASKSCOPE_STALL": "10s"})
        program.command()
        program.out.wait("^step")
        program.wait_for_beats(1)
        program.process.send_signal(signal.SIGSTOP)
        time.sleep(12)
        program.process.send_signal(signal.SIGCONT)
        program.err.wait(rf"^\[taskscope\]\[STOPPED\] pid={program.pid} for=\S+: the whole process was "
                         "stopped, suspended or got no CPU$")
        program.command()
        program.out.wait("^step", 2)
        program.wait_for_beats(1)
        self.assert_calm(program)
        self.assertEqual(len(program.err.matching("STOPPED")), 1)

    def test_a_thread_that_a_debugger_holds_is_not_stalled(self):
        program = self.program("steady", {"TASKSCOPE_STALL": "5s"})
        tid = program.number("steady")
        with held_thread(tid):
            time.sleep(8)
        program.wait_for_beats(1)
        self.assert_calm(program)

    @unittest.skipUnless(is_root(), "control groups are made by root")
    def test_a_throttled_process_is_not_stalled(self):
        with small_quota() as join:
            program = self.program("quota", {"TASKSCOPE_STALL": "400ms"},
                                   prefix=("sh", "-c", join + '; exec "$0" "$@"'))
            try:
                # Steps of 20 ms at 1% of a CPU: each takes longer than the limit.
                program.err.wait(r"^\[taskscope\] phase .* progress=[3-9]/\?")
            finally:
                program.process.kill()
                program.process.wait(timeout=HANG)
        program.err.thread.join(HANG)
        self.assertFalse(program.err.matching(self.STALL), program.err.lines)


if __name__ == "__main__":
    unittest.main()
