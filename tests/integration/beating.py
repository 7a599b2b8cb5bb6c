# SPDX-License-Identifier: MIT
"""What tests of the heartbeat share: the program that has one, and what it writes."""
import contextlib
import json
import os
import re
import subprocess
import threading
import unittest

from support import HANG, run, wait_until

BEATING = os.environ["TASKSCOPE_BEATING"]

# Short enough to wait for, long enough for a machine with much else to do.
FAST = {"TASKSCOPE_HEARTBEAT": "300ms", "TASKSCOPE_STALL": "300ms"}
QUIET = {"TASKSCOPE_HEARTBEAT": "off", "TASKSCOPE_STALL": "off"}


class Lines:
    """What arrives at a descriptor, line by line."""

    def __init__(self, stream):
        self.lines = []
        self.stream = stream
        self.thread = threading.Thread(target=self.collect, daemon=True)
        self.thread.start()

    def collect(self):
        for line in self.stream:
            self.lines.append(line.decode().rstrip("\n"))

    def matching(self, pattern):
        return [line for line in list(self.lines) if re.search(pattern, line)]

    def wait(self, pattern, count=1):
        """The lines that match, once there are so many."""
        try:
            return wait_until(lambda: found if len(found := self.matching(pattern)) >= count else None)
        except AssertionError:
            raise AssertionError(f"no {pattern!r} in:\n" + "\n".join(self.lines)) from None


class Program:
    """One scene of the program, with what it writes."""

    def __init__(self, scene, environment, prefix=(), stderr=subprocess.PIPE):
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("TASKSCOPE")}
        self.process = subprocess.Popen([*prefix, BEATING, scene], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=stderr,
                                        env=inherited | environment)
        self.pid = self.process.pid
        self.out = Lines(self.process.stdout)
        self.err = Lines(self.process.stderr) if self.process.stderr else None

    def wait_for_beats(self, count):
        """So many whole heartbeats from now on: the first one may have begun before."""
        headline = r'^(\[taskscope\] |{"kind":"heartbeat",")pid'
        return self.err.wait(headline, len(self.err.matching(headline)) + count + 1)

    def seen(self):
        """What is seen of it from outside, now, or once it has something to show."""
        self.number("started")
        status, out, err = run("scopes", "-p", self.pid, "--stats", "--format", "json")
        if status != 0:
            raise AssertionError(err)
        return json.loads(out)["processes"][0]

    def wait_for_lost_lines(self):
        return wait_until(lambda: self.seen()["losses"]["lines"])

    def command(self):
        self.process.stdin.write(b"x")
        self.process.stdin.flush()

    def number(self, name):
        """The number that was said with that name: mostly of a thread."""
        return int(self.out.wait(f"^{name} ")[0].split()[1])

    def end(self):
        """Its exit status, after all that it wrote has arrived."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        status = self.process.wait(timeout=HANG)
        self.out.thread.join(HANG)
        if self.err:
            self.err.thread.join(HANG)
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


class HeartbeatTest(unittest.TestCase):
    def program(self, scene, environment=None, **options):
        program = Program(scene, FAST | (environment or {}), **options)
        self.addCleanup(program.kill)
        return program

    def assert_ends(self, program):
        self.assertEqual(program.end(), 0)
