#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory that runs out at some allocation: a sentence, the right status, and no half of an output."""
import json
import os
import pathlib
import subprocess

import support
from support import HANG, ROOT, TASKSCOPE

MEMORY = ("out of memory", "not enough memory", "Cannot allocate memory")
RUN = ROOT / "tests/data/runs/build.jsonl"
# Of thousands of allocations these many are tried, evenly; the first ones always, and all of the last ones,
# where the output is printed.  How many a live run needs differs a little from run to run.
SOME = 24
FIRST = 6
LAST = 40
MORE = 10


class OutOfMemory(support.TestCase):
    def try_once(self, words, when=""):
        environment = dict(os.environ, LD_PRELOAD=os.environ["TASKSCOPE_FAILING_MALLOC"],
                           FAILING_MALLOC=when, FAILING_MALLOC_COUNT=self.path("count"))
        done = subprocess.run([TASKSCOPE, *map(str, words)], env=environment, timeout=HANG,
                              capture_output=True, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def sweep(self, *words, makes=None):
        """What came of it when the K-th allocation failed, alone and with all after it."""
        whole = self.try_once(words)
        count = int(pathlib.Path(self.path("count")).read_text())
        chosen = {*range(1, FIRST), *range(FIRST, count, max(1, count // SOME)),
                  *range(max(1, count - LAST), count + MORE)}
        for number in sorted(chosen):
            for when in f"{number}", f"{number}/{10 * count}":
                with self.subTest(words=words, when=when, count=count):
                    if makes:
                        makes.unlink(missing_ok=True)
                    yield whole, self.try_once(words, when)

    def assert_sentence(self, err):
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertTrue(err.startswith("taskscope: "), err)
        self.assertTrue(any(words in err for words in MEMORY), err)

    def test_what_is_shown_is_whole_or_there_is_a_sentence(self):
        file = self.path("one.tscope")
        self.accept("capture", "-q", "-p", os.getpid(), "-o", file)
        for words in (["show", file], ["show", file, "--format", "json"], ["report", RUN],
                      ["report", RUN, "--format", "json"]):
            for whole, (status, out, err) in self.sweep(*words):
                if status == 0:  # without memory to break lines they stay as they are
                    self.assertEqual((out.split(), err), (whole[1].split(), whole[2]))
                else:
                    self.assertEqual(status, 2, err)
                    self.assert_sentence(err)

    def test_a_capture_is_written_or_there_is_a_sentence(self):
        file = pathlib.Path(self.path("one.tscope"))
        for _, (status, out, err) in self.sweep("capture", "-q", "-p", os.getpid(), "-o", file,
                                                makes=file):
            if status == 0:
                self.assertEqual((out, err), ("", ""))
                self.assertTrue(support.show_threads(file)["threads"])
            else:
                self.assertEqual((status, out), (2, ""), err)
                self.assert_sentence(err)
                self.assertFalse(file.exists())

    def test_a_command_that_ran_keeps_its_status(self):
        command = ["sh", "-c", "echo ran; exit 7"]
        for _, (status, out, err) in self.sweep("run", *command):
            if status == 125:
                self.assertEqual(out, "")
                self.assert_sentence(err)
            else:
                self.assertEqual((status, out), (7, "ran\n"), err)
                self.assertTrue(err.startswith("sh exited 7 after ") or
                                any(words in err for words in MEMORY), err)

    def test_lines_are_whole_or_there_is_a_sentence(self):
        file = pathlib.Path(self.path("run.jsonl"))
        for _, (status, out, err) in self.sweep("run", "-q", "-o", file, "sh", "-c",
                                                "echo ran; exit 7", makes=file):
            if status == 125:
                self.assertEqual(out, "")
                self.assert_sentence(err)
                continue
            self.assertEqual((status, out), (7, "ran\n"), err)
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            if not err:
                self.assertEqual(lines[-1]["kind"], "summary")
            else:
                self.assertTrue(any(words in err for words in MEMORY), err)


if __name__ == "__main__":
    support.main()
