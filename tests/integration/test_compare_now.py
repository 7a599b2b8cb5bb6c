# SPDX-License-Identifier: MIT
"""compare -d: two captures of this host, and what it says in the end."""
import fcntl
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import support

METRICS = ["-m", "run_time_ns", "--sections", "primary"]


class Now(support.TestCase):
    def compare(self, *words):
        return json.loads(self.accept("compare", *words, "--all", "--format", "json"))

    def start(self, *words, **options):
        process = subprocess.Popen(words, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def terminal(self):
        """Both ends of a terminal that is 80 columns wide."""
        try:
            ends = os.openpty()
        except OSError as error:
            self.skipTest(f"no terminal can be had: {error}")
        for fd in ends:
            self.addCleanup(os.close, fd)
        fcntl.ioctl(ends[1], termios.TIOCSWINSZ, struct.pack("HHHH", 25, 80, 0, 0))
        return ends

    def interrupted(self, meanwhile, *words):
        """What a comparison says that is interrupted; it says on a terminal when it waits."""
        ours, theirs = self.terminal()
        process = self.start(support.TASKSCOPE, "compare", "-d", "1h", *words,
                             stdout=subprocess.PIPE, stderr=theirs)
        said = b""
        while b"captures again in" not in said:
            self.assertTrue(select.select([ours], [], [], support.HANG)[0], said)
            said += os.read(ours, 1 << 16)
        meanwhile()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=support.HANG)
        while select.select([ours], [], [], 0)[0]:
            said += os.read(ours, 1 << 16)
        return process.returncode, out, said.decode()

    def test_the_time_between_is_what_was_asked_for(self):
        started = time.monotonic_ns()
        found = self.compare("-d", "1s", "-p", os.getpid(), *METRICS)
        self.assertEqual(found["mode"], "interval")
        self.assertGreaterEqual(found["elapsed_ns"], 10 ** 9)
        self.assertLess(found["elapsed_ns"], time.monotonic_ns() - started)
        self.assertNotIn("file", found["before"][0])

    def test_an_interrupt_ends_the_waiting_and_not_the_comparison(self):
        started = time.monotonic_ns()
        status, out, _ = self.interrupted(lambda: time.sleep(1), "-p", str(os.getpid()), *METRICS,
                                          "--format", "json")
        self.assertEqual(status, 0)
        found = json.loads(out)
        self.assertLess(found["elapsed_ns"], time.monotonic_ns() - started)
        self.assertGreater(found["elapsed_ns"], 10 ** 9)

    def test_of_several_processes_some_may_end(self):
        child = self.start("sleep", "1000")
        status, out, _ = self.interrupted(lambda: (child.kill(), child.wait()), "-p",
                                          f"{os.getpid()},{child.pid}", *METRICS, "--all",
                                          "--format", "json")
        self.assertEqual(status, 0)
        found = json.loads(out)
        self.assertEqual([side[0]["processes"] for side in (found["before"], found["after"])], [2, 1])
        self.assertEqual(found["processes_ended"], 1)

    def test_all_processes_that_ended_are_an_error(self):
        child = self.start("sleep", "1000")
        status, out, err = self.interrupted(lambda: (child.kill(), child.wait()), "-p",
                                            str(child.pid))
        self.assertEqual((status, out), (2, b""))
        sentence = [line for line in err.split("\r") if line.strip()][-1]
        self.assertIn(f"{child.pid}", sentence)

    def test_progress_is_shown_on_a_terminal_alone(self):
        words = ["compare", "-d", "1s", "-p", str(os.getpid()), *METRICS]
        status, _, err = support.run(*words)
        self.assertEqual((status, err), (0, ""))
        try:
            for fd in os.openpty():
                os.close(fd)
        except OSError as error:
            self.skipTest(f"no terminal can be had: {error}")
        done = subprocess.run(["script", "-qec", " ".join([support.TASKSCOPE, *words]), "/dev/null"],
                              capture_output=True, stdin=subprocess.DEVNULL)
        self.assertIn(b"captures again in 1 s", done.stdout)

    def test_conditions_decide_the_exit_status(self):
        file = self.path("a.tscope")
        self.accept("capture", "-q", "-p", os.getpid(), "-o", file)
        for condition, extra, status, says in [
                ("nr_threads > 1", [], 0, ""),
                ("nr_threads >= 0", [], 1, "failed: nr_threads >= 0"),
                ("pcomm=nobody nr_threads > 1", [], 2, "not checked: pcomm=nobody"),
                ("pcomm=nobody nr_threads > 1", ["--fail-on-absent"], 2,
                 "not checked: pcomm=nobody"),
                ("nr_threads > +1%", ["-m", "majflt", "-g", "user"], 2,
                 "not checked: nr_threads > +1%: one interval has no percent"),
                ("nr_threads > +1%", ["--mode", "population"], 0, "")]:
            got, _, err = support.run("compare", file, file, "--fail-on", condition, *extra)
            self.assertEqual((got, err[:len(says)]), (status, says), condition)
    def test_conditions_are_of_names_and_not_of_their_patterns(self):
        """A name is meant unless a placeholder is written; then the pattern, also of one name."""
        for name in ["cc1", 'sp ace "x']:
            shutil.copy(shutil.which("sleep"), self.path(name))
        started = [subprocess.Popen([self.path(name), "60"]) for name in ["cc1", "cc1", 'sp ace "x']]
        file = self.path("names.tscope")
        try:
            self.accept("capture", "-q", "-p", ",".join(str(child.pid) for child in started), "-o", file)
        finally:
            for child in started:
                child.kill()
                child.wait()
        for condition, status in [("pcomm=cc1 nr_threads >= 0", 1), ("pcomm=cc1 nr_threads > 0", 0),
                                  ("pcomm=cc{N} nr_threads >= 0", 1), ("pcomm={H} nr_threads > 0", 2),
                                  (r'comm="sp ace \"x" minflt >= 0', 1), ("comm=* minflt > 0", 0)]:
            got, _, err = support.run("compare", file, file, "--fail-on", condition)
            self.assertEqual(got, status, f"{condition}: {err}")

    def test_conditions_on_readings_do_not_need_to_be_shown(self):
        file = self.path("a.tscope")
        self.accept("capture", "-q", "-p", os.getpid(), "-o", file)
        shown, hidden = ([*support.run("compare", file, file, *words, "--fail-on",
                                       "pressure cpu some total >= 0")][::2]
                         for words in [[], ["-m", "majflt"]])
        self.assertEqual(hidden, shown)

    def test_findings_are_in_json(self):
        file = self.path("a.tscope")
        self.accept("capture", "-q", "-p", os.getpid(), "-o", file)
        status, out, _ = support.run("compare", file, file, "--fail-on", "nr_threads >= 0", "--format",
                                     "json")
        self.assertEqual(status, 1)
        self.assertEqual([found["outcome"] for found in json.loads(out)["fail_on"]], ["failed"])


if __name__ == "__main__":
    support.main()
