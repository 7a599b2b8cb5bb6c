# SPDX-License-Identifier: MIT
"""No line of any verb is wider than 80 columns when COLUMNS says 80: help, errors, tables, footers, live
lines.  Among the processes are some with long and hostile names."""
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unicodedata

import outcomes
import support

RUNS = support.ROOT / "tests/data/runs"
ROOTS = support.ROOT / "tests/data/roots"
VERBS = re.findall(r"(?m)^VERB\((\w+)\)$", (support.ROOT / "src/cli/verbs.def").read_text())
COLUMNS = 80
# Names that are wide, that no terminal shows, and that have no blank to break them at.
NAMES = ["漢字漢字漢", "a\033[31mb\nc\td", "e\u0301e\u0301e\u0301e\u0301e\u0301", "nobreaknobreak1"]

SLEEPER = """
import ctypes, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
print(flush=True)
time.sleep(1000)
"""


def width(line):
    """Terminal columns of a line, without its colours."""
    line = re.sub(r"\033\[[0-9;]*[mK]", "", line)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def environment():
    return {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm"}


class Width(support.TestCase):
    @classmethod
    def setUpClass(cls):
        """A recording, captures and a run while processes with such names and long arguments are there."""
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        long = "x" * 300
        cls.pids = []
        for name in NAMES:
            process = stack.enter_context(subprocess.Popen(["python3", "-c", SLEEPER, name, long],
                                                           stdout=subprocess.PIPE))
            stack.callback(process.kill)
            process.stdout.readline()
            cls.pids.append(process.pid)
        folder = cls.scratch / ("d" * 100) / ("e" * 100)
        folder.mkdir(parents=True)
        cls.store, cls.before, cls.after, cls.run_file = (str(folder / name) for name in
                                                          ("r.db", "a.tscope", "b.tscope", "run.tscope"))
        cls.jobs = str(folder / "jobs.db")
        # All fail that use much memory: a finding.
        outcomes.write(cls.jobs, [line for i in range(120) for line in (
            outcomes.job(NAMES[i % 2].replace("\n", "").replace("\t", ""), ["success", "failure"][i % 3 == 0], begin=i, duration=i + 1,
                         cmd=f"make {long}", peak_memory_bytes=[1, 3 << 30][i % 3 == 0], run_time_ns=i, signals=2),
            outcomes.step(long, begin=i), outcomes.event("kill", i + 1, 7, NAMES[0], f"SIGKILL, {long}"),
            outcomes.line("syscall", "-", "futex", 9, 9, 9))])
        for words in [("capture", "-q", "--smaps", "-o", cls.before),
                      ("record", "-q", "--store", cls.store, "-i", "200ms", "-d", "1s", "--no-socket"),
                      ("capture", "-q", "--smaps", "-o", cls.after),
                      ("run", "-q", "-o", cls.run_file, "--", "sh", "-c", f"echo {long} >/dev/null; sleep 0.1; ls /")]:
            status, _, error = support.run(*words)
            if status:
                raise AssertionError(error)

    def check(self, *words, statuses=(0,)):
        status, out, err = support.run(*words, env=environment())
        self.assertIn(status, statuses, err)
        for line in (out + err).split("\n"):
            self.assertLessEqual(width(line), COLUMNS, f"{words}: {line}")
        self.assertTrue(out + err, words)

    def check_all(self, *commands, **more):
        for words in commands:
            with self.subTest(words=words):
                self.check(*words, **more)

    def test_help(self):
        self.check("help")
        self.check_all(*(("help", verb) for verb in VERBS))

    def test_every_verb(self):
        """Each verb is here at least once, with a text for people."""
        pid, store, long_name = str(self.pids[1]), ("--store", self.store), "z" * 60
        commands = [
            ("run", "--", "sleep", "0.01"), ("run", "-v", "--", "sleep", "0.01"),
            ("attach", "-d", "100ms", *map(str, self.pids)),
            ("why", pid, "-d", "100ms"), ("why", pid, "-d", "100ms", "-v", "--stacks"),
            ("scopes",), ("scopes", "--stats"),
            ("report", self.run_file), ("report", self.run_file, "-v", "-n", "0"),
            ("trace", "--summary", "-p", pid, "-d", "100ms"),
            ("report", "--latest", "--store", self.jobs), ("report", "#1", "--store", self.jobs),
            ("job", "start", long_name, "--store", self.jobs), ("jobs", "--store", self.jobs),
            ("correlate", "--store", self.jobs), ("estimate", NAMES[0], "--store", self.jobs),
            ("estimate", NAMES[0], "--store", self.jobs, "--fits"),
            *(("report", run, "-v") for run in sorted(RUNS.iterdir())),
            ("record", "--print-config"), ("record", *store, "-i", "200ms", "-d", "300ms", "--no-socket"),
            ("events", *store, "-n", "0"), ("anomalies", *store), ("activity", *store),
            ("activity", *store, "-g", "pcomm,comm,wait,syscall,stack", "-n", "0"),
            ("history", *store), ("history", *store, "-p", pid), ("history", *store, "-p", pid, "-m", "run_time_ns"),
            ("latest", *store, "-n", "0"), ("stream", *store, "--format", "text"),
            ("capture", "-o", str(self.scratch / "c.tscope")),
            ("show",), ("show", "-n", "0"), ("show", "-g", "process", "-n", "0"), ("show", "-g", "all", "-n", "0"),
            ("show", "-g", "thread", "-n", "0", "-v"), ("show", "--forest", "-n", "0"), ("show", "-d", "100ms"),
            ("show", "--sections", "all", "-n", "5"), ("show", "-g", "cgroup", "-m", "*"),
            ("show", self.before), ("show", f"{self.store}@latest"),
            ("compare", self.before, self.after), ("compare", self.before, self.after, "-g", "process", "-v"),
            ("compare", self.before, self.after, "--all", "-n", "20"), ("compare", "-d", "100ms"),
            ("compare", self.run_file, self.run_file, "--all"),
            ("verify", self.store), ("verify", self.before),
            ("metrics",), ("doctor",), ("doctor", "-v"),
            *(("doctor", "-v", "--root", root) for root in sorted(ROOTS.iterdir())),
        ]
        self.assertEqual({words[0] for words in commands} | {"top"}, set(VERBS)) # top prints JSON, or fills a screen
        self.check_all(*(words for words in commands if words[0] != "trace"))
        # Without the capabilities it is a sentence.
        self.check_all(*(words for words in commands if words[0] == "trace"), statuses=(0, 2))

    def test_mistakes(self):
        long = "y" * 200
        self.check_all((long,), ("show", f"--{long}"), ("show", long), ("show", "-m", f"majflt,{long}"),
                       ("show", "-d", long), ("show", "--format", "jsn"), ("show", "-g", long),
                       ("compare", self.before), ("compare", self.before, long),
                       ("compare", self.before, self.after, "--fail-on", f"{long} > 1"),
                       ("capture",), ("capture", "-o", long), ("report", self.before), ("why",), ("why", long),
                       ("verify", long), ("events", "--store", long), ("events", "--store", self.store, "--kind", long),
                       ("history", "--store", self.store, "-p", "1", "-m", long), ("record", "--threshold", long),
                       ("metrics", "x"), ("doctor", "x"), statuses=(2,))
        self.check_all(("run",), ("run", "-o", long, "--", "true"), ("attach",), statuses=(2, 125))

    def test_live_lines(self):
        """On a terminal; what is drawn over itself are lines, too."""
        for words in [("run", "--", "sleep", "1.2"), ("attach", "-d", "1200ms", str(self.pids[0])),
                      ("show", "-d", "100ms", "-i", "200ms", "--count", "2"), ("compare", "-d", "700ms")]:
            with self.subTest(words=words):
                master, slave = pty.openpty()
                fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
                with subprocess.Popen([support.TASKSCOPE, *words], stdin=slave, stdout=slave, stderr=slave,
                                      env=environment(), start_new_session=True) as process:
                    os.close(slave)
                    output = b""
                    with contextlib.suppress(OSError):  # the other end is closed
                        while piece := os.read(master, 65536):
                            output += piece
                    os.close(master)
                self.assertEqual(process.returncode, 0)
                for line in re.split("[\r\n]+", output.decode()):
                    self.assertLessEqual(width(line), COLUMNS, f"{words}: {line}")


if __name__ == "__main__":
    support.main()
