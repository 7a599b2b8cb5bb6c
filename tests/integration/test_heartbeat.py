# SPDX-License-Identifier: MIT
"""The heartbeat of libtaskscope: what its lines tell."""
import json
import os
import re
import unittest

from beating import QUIET, HeartbeatTest
from support import wait_until


class HeadlineTest(HeartbeatTest):
    HEADLINE = (r"^\[taskscope\] pid=(\d+) elapsed=\S+ rss=\S+iB peak_rss=\S+iB process_threads=(\d+) "
                r"read_bytes=\S+ write_bytes=\S+ cpu=(\d+\.\d+)/(\d+) cores \(avg over (\S+)\) "
                r"instrumented_threads=(\d+) active=(.*)$")

    def test_one_line_tells_what_the_process_uses_and_does(self):
        program = self.program("steady")
        active = r'active="work" for \S+ progress=\d+/\? rate=\d+\.\d+/s$'
        line = program.err.wait(self.HEADLINE.replace("active=(.*)$", active))[0]
        pid, threads, _, cpus, _, instrumented, _ = re.match(self.HEADLINE, line).groups()
        self.assertEqual(int(pid), program.pid)
        self.assertIn(int(threads), (3, 4))  # a sanitizer has one, too
        self.assertEqual(int(cpus), len(os.sched_getaffinity(0)))
        self.assertEqual(int(instrumented), 1)
        self.assert_ends(program)

    def test_without_scopes_it_is_idle(self):
        program = self.program("idle")
        program.err.wait(r" instrumented_threads=0 active=<idle>$")
        self.assert_ends(program)

    def test_with_nothing_but_waiting_scopes_it_is_idle(self):
        program = self.program("pool")
        program.err.wait(r" instrumented_threads=1 active=<idle>$")
        program.err.wait(r' depth=1 deepest="pool" in_frame=\S+ updated_ago=\S+ idle=\S+$')
        self.assert_ends(program)

    def test_the_first_moments_are_no_window(self):
        """The thread may be late: then the window is long enough, and another program is asked."""
        for _ in range(20):
            program = self.program("dump", QUIET)
            line = program.err.wait(r"^\[taskscope\] pid=")[0]
            self.assert_ends(program)
            if "cpu=<warming-up> instrumented" in line:
                return
        self.fail(line)

    def test_short_intervals_have_a_window_too(self):
        program = self.program("steady", {"TASKSCOPE_HEARTBEAT": "50ms"})
        program.err.wait(r"^\[taskscope\] pid=.* cpu=\d")
        program.err.wait(r"^\[taskscope\] pid=", 12)
        self.assert_ends(program)
        lines = [line for line in program.err.lines if " elapsed=" in line]
        known = [" cpu=<warming-up>" not in line for line in lines]
        self.assertIn("final", lines[-1])
        self.assertEqual(known, sorted(known))

    def test_the_last_line_comes_at_the_end(self):
        program = self.program("idle", {"TASKSCOPE_HEARTBEAT": "1h"})
        program.number("started")
        self.assertEqual(program.end(), 0)
        self.assertEqual(len(program.err.lines), 1)
        self.assertRegex(program.err.lines[0], rf"^\[taskscope\] final pid={program.pid} elapsed=")

    def test_without_heartbeats_nothing_is_printed(self):
        program = self.program("idle", QUIET)
        program.number("started")
        self.assertEqual(program.end(), 0)
        self.assertEqual(program.err.lines, [])

    def test_used_cpus_are_those_of_the_window(self):
        """What was used before is in no window after it.  One thread cannot use two CPUs."""
        program = self.program("burner")
        lines = program.err.wait(r" cpu=(?!0\.0[012]/)\d+\.\d+/", 4)
        self.assertLess(min(float(re.match(self.HEADLINE, line)[3]) for line in lines), 1.5)
        program.command()
        program.err.wait(r" cpu=0\.0[012]/")
        self.assert_ends(program)


class PhaseTest(HeartbeatTest):
    PHASE = (r'^\[taskscope\] phase pid=(\d+) thread=(\d+)/(\S+) depth=2 deepest="inner (\d+)" '
             r"in_frame=\S+ updated_ago=\S+$")
    LEFT = r"^\[taskscope\] phase pid=\d+ \.\.\. and 4 more threads$"

    def test_the_oldest_scopes_come_first_and_the_rest_is_counted(self):
        program = self.program("phases", {"TASKSCOPE_STALL": "off"})
        program.out.wait("^ready")
        workers = [int(line.split()[1]) for line in program.out.matching("^worker ")]
        program.wait_for_beats(2)
        lines = list(program.err.lines)
        end = max(i for i, line in enumerate(lines) if re.search(self.LEFT, line))
        found = [re.match(self.PHASE, line) for line in lines[end - 8:end]]
        self.assertEqual([match[3] for match in found], [f"worker-{i}" for i in range(8)])
        self.assertEqual([int(match[4]) for match in found], list(range(8)))
        self.assertEqual([int(match[2]) for match in found], workers[:8])
        self.assert_ends(program)

    def test_the_number_of_lines_is_an_option(self):
        program = self.program("phases", {"TASKSCOPE_STALL": "off", "TASKSCOPE_PHASES": "11"})
        program.err.wait(r"phase pid=\d+ \.\.\. and 1 more thread$")
        self.assert_ends(program)

    def test_progress_has_a_rate_and_an_end(self):
        program = self.program("progress")
        pattern = (r"^\[taskscope\] phase .* progress=\d+/1000000 \(\d+%\) "
                   r"rate=(\d+\.\d+)/s eta=(\d+)h\d\dm\d\ds$")
        rate, hours = re.search(pattern, program.err.wait(pattern, 3)[2]).groups()
        # A step takes at least 5 ms.
        self.assertLess(float(rate), 200.1)
        self.assertAlmostEqual(int(hours), 1e6 / float(rate) / 3600, delta=max(2, int(hours) * 0.2))
        self.assert_ends(program)

    def test_without_a_total_there_is_no_end(self):
        program = self.program("endless")
        line = program.err.wait(r"^\[taskscope\] phase .* progress=\d+/\? rate=\d+\.\d+/s")[0]
        self.assertNotIn("eta", line)
        self.assert_ends(program)

    def test_who_burns_cpu_without_a_scope_is_named(self):
        program = self.program("burner")
        tid = program.number("burner")
        program.err.wait(rf"^\[taskscope\] uninstrumented pid=\d+ thread={tid}/burner "
                         r"cpu=\d\.\d+ cores$")
        self.assertFalse(program.err.matching(r"uninstrumented .*/taskscope "))
        self.assert_ends(program)

    def test_who_works_in_scopes_is_not_uninstrumented(self):
        program = self.program("quota", {"TASKSCOPE_STALL": "off"})
        program.err.wait(r"^\[taskscope\] phase", 3)
        self.assertFalse(program.err.matching("uninstrumented"))
        self.assert_ends(program)


class JsonTest(HeartbeatTest):
    JSON = {"TASKSCOPE_FORMAT": "json"}

    def objects(self, program, kind, count=1):
        return [json.loads(line) for line in program.err.wait(rf'^{{"kind":"{kind}"', count)]

    def test_every_line_is_an_object(self):
        program = self.program("deadlock", self.JSON)
        stall = self.objects(program, "stall")[0]
        self.assertEqual((stall["pid"], stall["thread"], stall["thread_name"], stall["phase"]),
                         (program.pid, program.number("locker"), "locker", "take lock"))
        self.assertEqual((stall["stall"], stall["state"], stall["syscall"]), ("waiting", "S", "futex"))
        self.assertGreaterEqual(stall["stuck_ns"], 300_000_000)
        self.assertIsNone(stall["progress"])
        program.command()
        self.assertGreaterEqual(self.objects(program, "recovered")[0]["after_ns"], 300_000_000)
        beat = self.objects(program, "heartbeat")[-1]
        self.assertEqual(set(beat), {
            "kind", "pid", "elapsed_ns", "rss_bytes", "peak_rss_bytes", "process_threads", "read_bytes",
            "write_bytes", "cpu_cores", "cpus", "window_ns", "instrumented_threads", "active",
            "active_ns", "progress", "progress_total", "rate", "eta_ns"})
        self.assertGreater(beat["rss_bytes"], 0)
        self.assert_ends(program)
        for line in program.err.lines:
            self.assertEqual(json.loads(line)["pid"], program.pid)
        self.assertEqual(json.loads(program.err.lines[-1])["kind"], "final")

    def test_a_window_begins_with_the_heartbeat_before(self):
        """And not with the program; a heartbeat may be late."""
        def is_short(beat):
            return 2 * (beat["window_ns"] or beat["elapsed_ns"]) < beat["elapsed_ns"]

        program = self.program("steady", self.JSON)
        wait_until(lambda: any(map(is_short, self.objects(program, "heartbeat"))))
        self.assert_ends(program)

    def test_any_label_gives_valid_json(self):
        program = self.program("labels", self.JSON | {"TASKSCOPE_STALL": "off"})
        phase = self.objects(program, "phase")[0]
        self.assertEqual(phase["deepest"], 'bell \\x07 "quoted" back\\slash \\xff grüß')
        self.assertEqual(phase["thread_name"], "na\\x0ame")
        self.assert_ends(program)

    def test_any_label_is_harmless_text(self):
        program = self.program("labels", {"TASKSCOPE_STALL": "off"})
        line = program.err.wait(r"\] phase ")[0]
        self.assertIn(r'deepest="bell \x07 \"quoted\" back\\slash \xff grüß"', line)
        self.assertIn(r"/na\x0ame depth", line)
        self.assert_ends(program)


class StatisticsTest(HeartbeatTest):
    SCOPE = (r'^\[taskscope\] scope pid=\d+ label="%s" count=(\d+) total=\S+ self=\S+ mean=\S+ p50=\S+ p99=\S+ '
             r"max=\S+ cpu=(.*)$")

    def wait_for_samples(self, program, cpu_ns):
        """Until the long scopes were seen to use so much CPU time."""
        def has_samples():
            found = {use["label"]: use["sampled_cpu_ns"] for use in program.seen()["statistics"]}
            return (found.get("long, inside") or 0) >= cpu_ns

        wait_until(has_samples)

    def test_labels_are_summed_at_the_end(self):
        program = self.program("statistics", {"TASKSCOPE_STATISTICS": "exit", "TASKSCOPE_STALL": "400ms"})
        program.command()
        self.wait_for_samples(program, 1)
        self.assert_ends(program)
        for label, count in (("short", 50), ("long", 3), ("long, inside", 3)):
            line = program.err.matching(self.SCOPE % label)
            self.assertEqual(len(line), 1, program.err.lines)
            self.assertEqual(int(re.match(self.SCOPE % label, line[0])[1]), count)
        cpu = re.match(self.SCOPE % "long", program.err.matching(self.SCOPE % "long")[0])[2]
        self.assertRegex(cpu, r"^\d+(\.\d)?m?s \(sampled \d+ times\)$")
        self.assertRegex(program.err.lines[-1], r"^\[taskscope\] final ")

    def test_sampled_cpu_is_that_of_the_scope(self):
        """Each scope has some of the time in which it was open, and none of any other time."""
        program = self.program("statistics", {"TASKSCOPE_STATISTICS": "exit", "TASKSCOPE_STALL": "200ms",
                                              "TASKSCOPE_FORMAT": "json"})
        program.number("short")
        program.wait_for_beats(1)
        program.command()
        self.wait_for_samples(program, 500_000_000)
        program.command()
        program.number("long")
        program.wait_for_beats(1)
        self.assert_ends(program)
        sums = {line["label"]: line["cpu_ns"] for line in map(json.loads, program.err.lines)
                if line["kind"] == "scope"}
        self.assertLessEqual(sums["short"] or 0, program.number("before"))
        self.assertLessEqual(sums["long"], program.number("cpu"))
        self.assertLessEqual(sums["long, inside"], sums["long"])
        self.assertGreaterEqual(sums["long, inside"], 500_000_000)

    def test_without_the_option_there_are_none(self):
        program = self.program("statistics")
        program.number("started")
        self.assert_ends(program)
        self.assertFalse(program.err.matching(r"^\[taskscope\] scope"))


if __name__ == "__main__":
    unittest.main()
