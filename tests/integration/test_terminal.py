# SPDX-License-Identifier: MIT
"""On a terminal no line of any view is wider than it; what is not a terminal gets lines as they are, but
of a report at most 80 columns."""
import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unicodedata

import support

RUNS = support.ROOT / "tests/data/runs"
ROOTS = support.ROOT / "tests/data/roots"


def width(line):
    """Terminal columns of a line without its colours."""
    line = re.sub(r"\033\[[0-9;]*m", "", line)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


def on_terminal(columns, *words):
    """What taskscope writes to a terminal so many columns wide."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([support.TASKSCOPE, *map(str, words)], stdin=subprocess.DEVNULL, stdout=slave,
                          stderr=subprocess.PIPE) as process:
        os.close(slave)
        output = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(master, 65536):
                output += piece
        os.close(master)
        error = process.stderr.read().decode()
        return process.wait(), output.decode().replace("\r\n", "\n"), error


class Terminal(support.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        for name in ["debian-6.1", "debian-6.12"]:
            status, _, error = support.run("capture", "-q", "--smaps", "--root", ROOTS / name, "-o",
                                           f"{self.folder}/{name}.tscope")
            self.assertEqual(status, 0, error)

    def check(self, columns, *words):
        status, out, error = on_terminal(columns, *words)
        self.assertEqual(status, 0, error)
        self.assertTrue(out)
        for line in out.split("\n"):
            self.assertLessEqual(width(line), columns, f"{words}: {line}")
        return out

    def test_no_line_of_a_view_is_wider_than_the_terminal(self):
        older, newer = f"{self.folder}/debian-6.1.tscope", f"{self.folder}/debian-6.12.tscope"
        views = [
            ("show", newer), ("show", newer, "-g", "process", "-n", "0"), ("show", newer, "-g", "all"),
            ("show", newer, "-g", "cgroup", "-m", "*_ns,cpu_affinity,policy"),
            ("show", newer, "--sections", "all"),
            ("show", newer, "--columns", "group,tasks,metric,value,measured,unit,tags,uptime"),
            ("compare", older, newer, "--mode", "population"),
            ("compare", older, newer, "-g", "cgroup", "--all", "-s", "run_time_ns"),
            ("metrics",), ("doctor",), ("doctor", "-v"), ("scopes",), ("why", "-d", "100ms", str(os.getpid())),
        ] + [("report", run, *more) for run in sorted(RUNS.iterdir()) for more in [(), ("-v",)]]
        for columns in [60, 80, 132]:
            for words in views:
                with self.subTest(columns=columns, words=words):
                    self.check(columns, *words)

    def test_columns_that_find_no_room_are_named(self):
        newer = f"{self.folder}/debian-6.12.tscope"
        out = self.check(80, "show", newer)
        self.assertRegex(out, r"(?m)^\d columns? more: .*open_fds.*\(a wider terminal, or -m\)$")
        self.assertNotRegex(self.check(200, "show", newer), "more: .*open_fds")
        # Columns that were asked for are never left out.
        out = self.check(80, "show", newer, "-m", "utime_ns,stime_ns,rss_bytes,open_fds,majflt,read_bytes")
        self.assertNotIn("more:", out)
        for name in ["utime_ns", "open_fds", "read_bytes"]:
            self.assertIn(name, out)

    def test_what_the_rows_are_ordered_by_is_never_left_out(self):
        out = self.check(60, "show", f"{self.folder}/debian-6.12.tscope", "-s", "open_fds")
        self.assertRegex(out.splitlines()[0], "group +tasks +open_fds ")
        out = self.check(60, "show", RUNS / "build.jsonl", "-s", "wait_time_ns")
        self.assertRegex(out.splitlines()[0], "group +procs +wait_time_ns ")

    def test_a_run_shows_count_time_waits_memory_and_failures_on_a_plain_terminal(self):
        out = self.check(80, "show", RUNS / "build.jsonl")
        self.assertRegex(out.splitlines()[0], "procs +run_time_ns +wait_costly_ns +hiwater_rss_bytes +failures")
        plain = f"{self.folder}/plain.tscope"
        status, _, error = support.run("run", "-q", "--source", "procfs", "-o", plain, "--", "sleep", "0.2")
        self.assertEqual(status, 0, error)
        out = self.check(80, "show", plain)
        self.assertRegex(out.splitlines()[0], "procs +run_time_ns +wait_(costly|time)_ns +hiwater_rss_bytes +failures")
        self.assertIn("at least 1 thread of 1 process", " ".join(out.split()))

    def test_a_pipe_is_cut_only_when_it_is_asked_for(self):
        words = ["show", f"{self.folder}/debian-6.12.tscope"]
        environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
        _, whole, _ = support.run(*words, env=environment)
        _, cut, _ = support.run(*words, env={**environment, "COLUMNS": "80"})
        self.assertGreater(max(map(width, whole.split("\n"))), 100)
        self.assertLessEqual(max(map(width, cut.split("\n"))), 80)

    def test_a_report_is_narrow_in_a_pipe_too_unless_it_is_the_long_one(self):
        environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
        for words, is_narrow in [([], True), (["-v"], False)]:
            _, out, _ = support.run("report", RUNS / "every_key.jsonl", *words, env=environment)
            self.assertEqual(max(map(width, out.split("\n"))) <= 80, is_narrow)


if __name__ == "__main__":
    support.main()
