# SPDX-License-Identifier: MIT
"""The heartbeat of libtaskscope: where its lines go, and that they stand in nobody's way."""
import contextlib
import os
import pathlib
import re
import resource
import signal
import stat
import tempfile
import unittest

from beating import QUIET, HeartbeatTest, Lines
from support import HANG, threads_of, wait_until


def full_pipe():
    """Both ends of a pipe that takes no byte more; whoever writes to it would wait."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"\n" * 4096)
    os.set_blocking(writer, True)
    return reader, writer


class OutputTest(HeartbeatTest):
    def rounds(self, program):
        """How many rounds it has done by now."""
        count = len(program.out.matching("^rounds "))
        program.command()
        return int(program.out.wait("^rounds ", count + 1)[-1].split()[1])

    def test_lines_are_asked_for_by_function(self):
        program = self.program("dump", QUIET)
        program.err.wait(r"^\[taskscope\] pid=")
        self.assert_ends(program)

    def test_lines_are_asked_for_by_signal(self):
        program = self.program("steady", QUIET | {"TASKSCOPE_SIGNAL": "on"})
        program.number("steady")
        for count in (1, 2):
            os.kill(program.pid, signal.SIGUSR2)
            program.err.wait(r"^\[taskscope\] pid=", count)
            program.err.wait(r'^\[taskscope\] phase .* deepest="work"', count)
        self.assert_ends(program)

    def test_without_the_option_the_signal_keeps_its_meaning(self):
        program = self.program("idle", QUIET)
        program.number("started")
        os.kill(program.pid, signal.SIGUSR2)
        self.assertEqual(program.process.wait(timeout=HANG), -signal.SIGUSR2)

    def test_a_handler_of_the_program_stays(self):
        program = self.program("own-handler", QUIET | {"TASKSCOPE_SIGNAL": "on"})
        program.number("started")
        os.kill(program.pid, signal.SIGUSR2)
        program.out.wait("^own handler$")
        self.assert_ends(program)

    def test_after_the_stop_the_signal_does_nothing(self):
        program = self.program("stopped", QUIET | {"TASKSCOPE_SIGNAL": "on"})
        program.command()
        program.number("stopped")
        os.kill(program.pid, signal.SIGUSR2)
        self.assert_ends(program)
        self.assertEqual(program.err.lines, [])

    def test_the_programs_function_gets_each_line(self):
        program = self.program("log")
        program.out.wait(r"^logged 0 \[taskscope\] pid=")
        program.out.wait(r'^logged 1 \[taskscope\]\[STALL\] .* phase="take lock"')
        self.assertEqual(program.end(), 0)
        self.assertEqual(program.err.lines, [])
        self.assertTrue(program.out.matching(r"^logged 0 \[taskscope\] final "))

    def test_the_programs_function_may_end_the_program(self):
        program = self.program("deadly-log")
        self.assertEqual(program.process.wait(timeout=HANG), 7)

    def test_lines_go_to_a_file_that_is_the_users_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "lines")
            path.write_text("before\n")
            path.chmod(0o600)
            program = self.program("idle", {"TASKSCOPE_OUTPUT": str(path)})
            wait_until(lambda: "instrumented_threads" in path.read_text())
            self.assert_ends(program)
            self.assertTrue(path.read_text().startswith("before\n[taskscope] "))
            self.assertIn("[taskscope] final ", path.read_text())
            self.assertEqual(program.err.lines, [])

    def test_half_a_line_of_somebody_else_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "lines")
            path.write_text("half a li")
            program = self.program("idle", {"TASKSCOPE_OUTPUT": str(path)})
            wait_until(lambda: "instrumented_threads" in path.read_text())
            self.assert_ends(program)
            self.assertTrue(path.read_text().startswith("half a li\n[taskscope] "))

    def test_after_half_a_line_the_next_one_that_fits_is_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "lines")
            path.touch()
            program = self.program("idle", {"TASKSCOPE_OUTPUT": str(path)})
            wait_until(lambda: "instrumented_threads" in path.read_text())
            _, most = resource.prlimit(program.pid, resource.RLIMIT_FSIZE)
            # It does not write beyond the limit before it has it.
            program.process.send_signal(signal.SIGSTOP)
            wait_until(lambda: {thread[0] for thread in threads_of(program.pid).values()} == {"T"})
            full = path.stat().st_size + 1000
            resource.prlimit(program.pid, resource.RLIMIT_FSIZE, (full, most))
            program.process.send_signal(signal.SIGCONT)
            wait_until(lambda: path.stat().st_size == full)
            resource.prlimit(program.pid, resource.RLIMIT_FSIZE, (most, most))
            wait_until(lambda: path.stat().st_size > full)
            self.assert_ends(program)
            for line in path.read_text().splitlines():
                self.assertTrue(line.startswith("[taskscope]"), line)
                self.assertEqual(line.count("[taskscope]"), 1, line)

    def test_a_new_file_is_private(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "lines")
            program = self.program("idle", {"TASKSCOPE_OUTPUT": str(path)}, prefix=("sh", "-c",
                                   'umask 0; exec "$0" "$@"'))
            wait_until(path.exists)
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            self.assert_ends(program)

    def test_a_link_is_not_followed(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder, "target")
            target.write_text("")
            link = pathlib.Path(folder, "link")
            link.symlink_to(target)
            program = self.program("idle", {"TASKSCOPE_OUTPUT": str(link)})
            program.err.wait(r"^\[taskscope\]\[WARNING\] pid=\d+ .*link cannot be written \(.*\): "
                             "lines go to standard error$")
            program.err.wait(r"^\[taskscope\] pid=")
            self.assert_ends(program)
            self.assertEqual(target.read_text(), "")

    def test_a_reader_that_does_not_read_stops_nobody(self):
        """The pipe is full: threads go on, lines are counted as lost, and the end comes soon."""
        reader, writer = full_pipe()
        program = self.program("rounds", {"TASKSCOPE_HEARTBEAT": "50ms"}, stderr=writer)
        os.close(writer)
        for _ in range(3):
            program.wait_for_lost_lines()
            before = self.rounds(program)
            wait_until(lambda: self.rounds(program) > before)
        with open(reader, "rb") as stream:
            lines = Lines(stream)
            lost = lines.wait(r"^\[taskscope\]\[LOST\] pid=\d+ lines=\d+ were not taken by their reader$")
            self.assertGreater(int(re.search(r"lines=(\d+)", lost[0])[1]), 0)
            self.assert_ends(program)
            lines.thread.join(HANG)
        for line in lines.lines:
            self.assertRegex(line, r"^(\[taskscope\].*)?$")

    def test_the_end_does_not_wait_for_a_reader(self):
        reader, writer = full_pipe()
        program = self.program("rounds", {"TASKSCOPE_HEARTBEAT": "50ms"}, stderr=writer)
        os.close(writer)
        program.wait_for_lost_lines()
        self.assert_ends(program)
        os.close(reader)

    def test_a_reader_that_is_gone_ends_nobody(self):
        reader, writer = os.pipe()
        os.close(reader)
        program = self.program("rounds", {"TASKSCOPE_HEARTBEAT": "50ms"}, stderr=writer)
        os.close(writer)
        program.wait_for_lost_lines()
        before = self.rounds(program)
        wait_until(lambda: self.rounds(program) > before)
        self.assert_ends(program)

    def test_a_forked_child_has_a_heartbeat_of_its_own(self):
        program = self.program("fork", {"TASKSCOPE_STALL": "off"})
        child = program.number("child")
        program.err.wait(rf'^\[taskscope\] phase pid={program.pid} .* deepest="parent"', 2)
        program.err.wait(rf'^\[taskscope\] phase pid={child} .* deepest="child"', 2)
        self.assert_ends(program)
        self.assertFalse(program.err.matching(rf'pid={child} .* deepest="parent"'))
        self.assertEqual(len(program.err.matching(rf"final pid={child} ")), 1)
        self.assertEqual(len(program.err.matching(rf"final pid={program.pid} ")), 1)

    def test_without_its_thread_there_is_one_warning(self):
        program = self.program("threadless")
        self.assertEqual(program.number("started"), 0)
        self.assert_ends(program)
        self.assertEqual(len(program.err.lines), 1, program.err.lines)
        self.assertRegex(program.err.lines[0], r"^\[taskscope\]\[WARNING\] .*thread did not start")


if __name__ == "__main__":
    unittest.main()
