# SPDX-License-Identifier: MIT
"""The examples do what they say, and can be watched from outside while they do."""
import json
import os
import pathlib
import re
import signal
import subprocess

import library
import support

EXAMPLES = pathlib.Path(os.environ["TASKSCOPE_BUILD"], "examples")
FINAL = r"(?m)^\[taskscope\] final pid=\d+ elapsed=\S+ rss=\S+ "


class Examples(support.TestCase):
    def example(self, name):
        path = EXAMPLES / name
        if not path.exists():
            self.skipTest(f"{name} was not built: there is no compiler for its language")
        return path

    def run_once(self, name, *words, **settings):
        """Runs it to its end; gives what it said, and the lines of the library."""
        done = subprocess.run([self.example(name), *words], capture_output=True, text=True,
                              timeout=support.HANG, env=library.environment(**settings))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def watch(self, name, *words, until):
        """Starts it with more work than it can do, until its scopes are as expected."""
        with subprocess.Popen([self.example(name), *words], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=library.environment()) as process:
            try:
                return support.wait_until(lambda: until(library.stacks(process.pid)))
            finally:
                process.send_signal(signal.SIGKILL)

    def test_plain_has_phases_and_progress(self):
        said, lines = self.run_once("plain", "20000", TASKSCOPE_HEARTBEAT="20ms")
        self.assertRegex(said, r"^mean \d+\.\d{3}\n$")
        self.assertRegex(lines, r'(?m)^\[taskscope\] pid=\d+ .* active="spread" for \S+ '
                                r"progress=\d+/20000 \(\d+%\)")
        self.assertRegex(lines, FINAL)

    def test_lines_have_the_keys_that_are_documented(self):
        _, lines = self.run_once("pool", "100", "20000", TASKSCOPE_HEARTBEAT="20ms",
                                 TASKSCOPE_STATISTICS="exit", TASKSCOPE_FORMAT="json",
                                 TASKSCOPE_PHASES="2")
        keys = library.documented_keys()
        seen = set()
        for line in lines.splitlines():
            if line.startswith("pool: "):
                continue
            entry = json.loads(line)
            self.assertEqual(list(entry), keys[entry["kind"]])
            seen.add(entry["kind"])
        self.assertLessEqual({"heartbeat", "phase", "phases_left", "scope", "final"}, seen)

    def test_plain_is_seen_from_outside(self):
        def spreads(stacks):
            return any(labels == ["spread"] and progress[0][1] == 1000000000 and progress[0][0] > 0
                       for threads in stacks.values() for labels, _, progress in threads)

        self.watch("plain", "1000000000", until=spreads)

    def test_plain_tells_its_labels_at_the_end(self):
        _, lines = self.run_once("plain", "10", TASKSCOPE_STATISTICS="exit")
        labels = re.findall(r'(?m)^\[taskscope\] scope pid=\d+ label="([^"]*)" count=1 ', lines)
        self.assertEqual(sorted(labels), ["heat the edge", "mean", "spread"])

    def test_pool_counts_with_all_threads(self):
        said, lines = self.run_once("pool", "100", "20000", TASKSCOPE_HEARTBEAT="20ms")
        self.assertEqual(said, "148933 primes below 2000000\n")
        self.assertRegex(lines, r"(?m)^\[taskscope\] phase pid=\d+ thread=\d+/primes-[0-3] depth=2 "
                                r'deepest="count primes"')
        self.assertRegex(lines, FINAL)

    def test_pool_has_busy_and_idle_workers(self):
        def half_idle(stacks):
            workers = [thread for name, threads in stacks.items()
                       if name and name.startswith("primes-") for thread in threads]
            busy = [labels for labels, idle, _ in workers if not idle]
            idle = [labels for labels, idle, _ in workers if idle]
            counters = [progress[0] for threads in stacks.values()
                        for labels, _, progress in threads if labels[:1] == ["all numbers"]]
            return busy == [["worker", "count primes"]] * 2 and idle == [["worker"]] * 2 and \
                len(counters) == 1 and counters[0][0] > 0

        self.watch("pool", "2", "100000000000", until=half_idle)

    def test_cpp_closes_scopes_when_exceptions_pass(self):
        said, lines = self.run_once("cpp", "10000", TASKSCOPE_STATISTICS="exit")
        self.assertEqual(said, "sum 49490100, broken 100\n")
        for label in ["parse", "record"]:
            self.assertRegex(lines, rf'(?m)^\[taskscope\] scope pid=\d+ label="{label}" count=10000 ')
        self.assertRegex(lines, FINAL)

    def test_cpp_is_seen_from_outside(self):
        def parses(stacks):
            first, second = stacks.get("parser-0"), stacks.get("parser-1")
            return first and second and first[0][0][:1] == ["part 0"] and \
                second[0][0][:1] == ["part 1"]

        self.watch("cpp", "100000000000", until=parses)


if __name__ == "__main__":
    support.main()
