#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scopes in `run` and `attach`: a program that tells what it does is believed, and no other changes."""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

import support
from kernel import WAYS
from support import HANG, TASKSCOPE, wait_until

PROGRAM = os.environ["TASKSCOPE_PHASE_WORKLOAD"]
MS = 10 ** 6
KEYS = ["pid", "start_time_ns", "comm", "label", "threads_ever", "wall_ns", "run_time_ns", "off_cpu_ns",
        "off_cpu_exact", "self_wall_ns", "self_run_time_ns", "self_off_cpu_ns", "samples", "count",
        "total_ns", "self_total_ns", "exact"]


def environment(**more):
    """Ours without TASKSCOPE*, which are settings of the library."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TASKSCOPE")}
    return {**kept, **more}


QUIET = environment(TASKSCOPE_OUTPUT="/dev/null")
COUNTING = {**QUIET, "TASKSCOPE_STATISTICS": "on"}


def told(out):
    """What the program says its phases took: (pid, label) to wall and CPU time."""
    phases = {}
    for line in out.splitlines():
        words = line.split()
        if words[:1] == ["phase"]:
            phases[int(words[1]), words[2]] = (int(words[3]), int(words[4]))
    return phases


class PhaseCase(support.TestCase):
    def lines(self):
        text = pathlib.Path(self.path("run.jsonl")).read_text()
        return [json.loads(line) for line in text.splitlines()]

    def summary(self):
        summary = self.lines()[-1]
        self.assertEqual(summary["kind"], "summary")
        return summary

    def phases(self):
        return {(phase["pid"], phase["label"]): phase for phase in self.summary()["phases"]}

    def labels(self):
        return {label for _, label in self.phases()}

    def run_program(self, *words, options=(), env=QUIET, status=0):
        """Runs the program below taskscope; gives what it printed."""
        done, out, err = support.run("run", "-q", "-o", self.path("run.jsonl"), *options, "--",
                                     PROGRAM, *words, env=env, preexec_fn=support.go_first)
        self.assertEqual(done, status, err)
        return out

    def check_time(self, phase, wall_ns, cpu_ns):
        """Sampled times are near to the real ones: half of it, and half a second more, is.

        What came after the last sample may be missing.  On a machine that is too busy for more
        than two that can be most of it.
        """
        self.assertGreater(phase["samples"], 0, phase)
        self.assertLess(phase["wall_ns"], wall_ns * 1.5 + 500 * MS, phase)
        if phase["samples"] > 2:
            self.assertGreater(phase["wall_ns"], wall_ns / 2, phase)
            self.assertGreater(phase["run_time_ns"], cpu_ns / 3 - 100 * MS, phase)
        self.assertLess(phase["run_time_ns"], cpu_ns * 1.5 + 500 * MS, phase)
        self.assertAlmostEqual(phase["wall_ns"], phase["run_time_ns"] + phase["off_cpu_ns"], delta=MS)


class Running(PhaseCase):
    def test_phases_have_the_time_that_the_program_says(self):
        for way in WAYS:
            with self.subTest(way=way):
                out = self.run_program("busy", 1000, "sleep", 1000, "progress", 1000,
                                       options=["--source", way])
                phases = self.phases()
                self.assertEqual(phases.keys(), told(out).keys())
                for key, times in told(out).items():
                    self.assertEqual(list(phases[key]), KEYS)
                    self.check_time(phases[key], *times)
                    self.assertEqual(phases[key]["threads_ever"], 1)
                    self.assertIs(phases[key]["exact"], False)
                    self.assertIs(phases[key]["off_cpu_exact"], way == "bpf")
                    self.assertIsNone(phases[key]["count"])
                    self.assertIsNone(phases[key]["total_ns"])
                self.assertIn({"name": "scopes", "state": "ok"}, self.summary()["sources"])

    def test_scopes_inside_of_others_count_for_both_and_threads_add_up(self):
        out = self.run_program("nested", 800, "workers", 3, 800)
        phases = self.phases()
        for key, times in told(out).items():
            self.check_time(phases[key], *times)
        pid = min(pid for pid, _ in phases)
        self.assertEqual(phases[pid, "worker"]["threads_ever"], 3)
        self.assertGreater(phases[pid, "worker"]["wall_ns"], 800 * MS * 1.5)
        self.assertGreaterEqual(phases[pid, "outer"]["wall_ns"],
                                phases[pid, "inner"]["wall_ns"] * 0.9)

    def test_a_program_that_counts_is_exact_also_between_two_samples(self):
        """With samples ten seconds apart there is none at all before the end."""
        for way in WAYS:
            with self.subTest(way=way):
                self.run_program("pause", 700, "quick", 1000, "pause", 10, env=COUNTING,
                                 options=["-i", "10s", "--source", way])
                (phase,) = self.summary()["phases"]
                self.assertEqual(phase["label"], "quick")
                self.assertEqual(phase["count"], 1000)
                self.assertGreater(phase["total_ns"], 0)
                self.assertIs(phase["exact"], True)
                self.assertEqual(phase["samples"], 0)
                for key in ("threads_ever", "wall_ns", "run_time_ns", "self_wall_ns"):
                    self.assertIsNone(phase[key])
                self.assertIs(phase["off_cpu_exact"], way == "bpf")
                self.assertEqual(phase["off_cpu_ns"] is None, way != "bpf")

    @unittest.skipUnless("bpf" in WAYS, "needs the BPF tracer")
    def test_time_off_the_cpu_is_exact_also_between_two_samples(self):
        """The program's own waits are all that it did but its CPU time; switching takes some of it."""
        out = self.run_program("waits", 300, "pause", 10,
                               options=["-i", "10s", "--source", "bpf"])
        phases = {label: phase for (_, label), phase in self.phases().items()}
        times = {label: wall - cpu for (_, label), (wall, cpu) in told(out).items()}
        for label in ("around", "within", "made_3"):
            self.assertIs(phases[label]["off_cpu_exact"], True)
            self.assertAlmostEqual(phases[label]["off_cpu_ns"], times[label],
                                   delta=times[label] * 0.1 + 5 * MS)
        self.assertAlmostEqual(
            phases["around"]["self_off_cpu_ns"],
            phases["around"]["off_cpu_ns"] - phases["within"]["off_cpu_ns"]
            - phases["made_3"]["off_cpu_ns"], delta=1)
        self.assertEqual(phases["within"]["self_off_cpu_ns"], phases["within"]["off_cpu_ns"])
        self.assertNotIn("scope_waits", self.summary()["losses"])

    @unittest.skipUnless("bpf" in WAYS, "needs the BPF tracer")
    def test_a_process_that_makes_up_scopes_takes_nothing_from_others(self):
        """The kernel side has room for 16,384 stacks of scopes, and 1,024 of each process."""
        script = '"$0" plain forge 20000; exec "$0" waits 300 pause 10'
        status, out, err = support.run(
            "run", "-q", "-o", self.path("run.jsonl"), "-i", "10s", "--source", "bpf", "--",
            "sh", "-c", script, PROGRAM, env=QUIET, preexec_fn=support.go_first)
        self.assertEqual(status, 0, err)
        times = {label: wall - cpu for (_, label), (wall, cpu) in told(out).items()}
        phases = {label: phase for (_, label), phase in self.phases().items()}
        for label in ("around", "within", "made_3"):
            self.assertIs(phases[label]["off_cpu_exact"], True)
            self.assertAlmostEqual(phases[label]["off_cpu_ns"], times[label],
                                   delta=times[label] * 0.1 + 5 * MS)
        lost = self.summary()["losses"]["scope_waits"]
        self.assertGreater(lost, 16384)
        self.assertIn({"name": "scopes", "state": "partial",
                       "reason": f"{lost} waits in scopes were lost"}, self.summary()["sources"])

    @unittest.skipUnless("bpf" in WAYS, "needs the BPF tracer")
    def test_a_process_that_lost_waits_has_no_exact_times(self):
        self.run_program("waits", 300, "forge", 2000, "pause", 10,
                         options=["-i", "10s", "--source", "bpf"])
        for phase in self.summary()["phases"]:
            self.assertIs(phase["off_cpu_exact"], False)
            if not phase["samples"]:
                self.assertIsNone(phase["off_cpu_ns"])
                self.assertIsNone(phase["run_time_ns"])

    def test_labels_made_at_run_time_are_counted_each_for_itself(self):
        """The first 64; what comes later is one row, and counted."""
        self.run_program("made", 70, "pause", 300, env=COUNTING)
        counts = {label: phase["count"] for (_, label), phase in self.phases().items()}
        for i in range(64):
            self.assertEqual(counts[f"made {i}"], 2)
        self.assertEqual(counts[""], 12)
        self.assertEqual(len(counts), 65)

    def test_a_scope_has_the_time_outside_of_scopes_inside_for_itself(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.run_program("half", 800, env=COUNTING, options=["--source", way])
                phases = {label: phase for (_, label), phase in self.phases().items()}
                outer, inner = phases["outer half"], phases["inner half"]
                for kind in ("wall_ns", "run_time_ns", "off_cpu_ns", "total_ns"):
                    self.assertLessEqual(outer["self_" + kind], outer[kind], kind)
                    self.assertEqual(inner["self_" + kind], inner[kind], kind)
                self.assertAlmostEqual(outer["self_total_ns"],
                                       outer["total_ns"] - inner["total_ns"], delta=MS)
                if outer["samples"] > 2 and inner["samples"] > 2:
                    self.assertAlmostEqual(outer["self_wall_ns"], outer["self_total_ns"],
                                           delta=outer["total_ns"] * 0.2 + 100 * MS)

    def test_a_program_that_is_killed_in_a_scope_was_there_until_then(self):
        out = self.run_program("busy", 600, "die", 600, status=128 + signal.SIGKILL)
        phases = self.phases()
        for key, times in told(out).items():
            self.check_time(phases[key], *times)

    def test_each_program_of_a_process_has_its_phases(self):
        for way in WAYS:
            with self.subTest(way=way):
                out = self.run_program("sleep", 600, "quick", 10, "exec", "busy", 600, "quick", 7,
                                       "exec", "plain", "pause", 300, "exec", "nested", 600,
                                       env=COUNTING, options=["--source", way])
                phases = self.phases()
                (pid,) = {pid for pid, _ in phases}
                for key, times in told(out).items():
                    self.check_time(phases[key], *times)
                self.assertEqual(phases[pid, "quick"]["count"], 17)
                self.assertEqual(phases[pid, "busy"]["count"], 1)
                self.assertEqual(phases[pid, "outer"]["count"], 1)
                self.assertEqual(phases[pid, "quick"]["comm"], "phase_workload")

    def test_a_forked_child_has_phases_of_its_own(self):
        for way in WAYS:
            with self.subTest(way=way):
                out = self.run_program("sleep", 400, "fork", "busy", 1000, "pause", 300,
                                       options=["--source", way])
                phases = self.phases()
                self.assertEqual(len({pid for pid, label in phases if label == "busy"}), 2)
                self.assertEqual(phases.keys(), told(out).keys())
                for key, times in told(out).items():
                    self.check_time(phases[key], *times)

    def test_programs_without_scopes_have_none(self):
        for words in (["sleep", "0.5"], [PROGRAM, "plain", "sleep", "500"]):
            with self.subTest(words=words):
                status, _, err = support.run("run", "-o", self.path("run.jsonl"), "--", *words)
                self.assertEqual(status, 0)
                self.assertEqual(self.summary()["phases"], [])
                self.assertIn({"name": "scopes", "state": "ok"}, self.summary()["sources"])
                self.assertNotIn("phases", err)
                self.assertNotIn("scopes", err)
                self.assertNotIn("scopes", {line["kind"] for line in self.lines()})

    @unittest.skipUnless(support.has_namespaces(), "needs PID namespaces")
    def test_a_program_in_a_pid_namespace_has_our_numbers(self):
        status, _, err = support.run("run", "-q", "-o", self.path("run.jsonl"), "--",
                                     *support.NAMESPACE, PROGRAM, "busy", "800", env=QUIET)
        self.assertEqual(status, 0, err)
        (phase,) = self.summary()["phases"]
        self.assertEqual(phase["label"], "busy")
        self.assertGreater(phase["pid"], 1)
        self.assertIsNotNone(phase["run_time_ns"])
        for line in self.lines():
            if line["kind"] == "scopes":
                for thread in line["processes"][0]["threads"]:
                    self.assertEqual(thread["tid"], phase["pid"])


class Help(support.TestCase):
    def test_run_and_attach_say_that_they_tell_scopes(self):
        for verb in ("run", "attach"):
            self.assertIn("libtaskscope", self.accept("help", verb))


class Lines(PhaseCase):
    def test_lines_tell_the_scopes_of_each_thread_when_they_changed(self):
        self.run_program("sleep", 800, "progress", 1000, "nested", 2000)
        lines = [line for line in self.lines() if line["kind"] == "scopes"]
        samples = sum(line["kind"] == "sample" for line in self.lines())
        self.assertGreater(len(lines), 2)
        self.assertLessEqual(len(lines), samples)
        states, counts = [], []
        for line in lines:
            self.assertEqual(list(line), ["kind", "ts_ms", "time_ns", "processes"])
            (process,) = line["processes"]
            self.assertEqual(list(process), ["pid", "start_time_ns", "threads"])
            for thread in process["threads"]:
                self.assertEqual(thread["tid"], process["pid"])
                for scope in thread["scopes"]:
                    self.assertEqual(list(scope), ["label", "age_ns", "count", "total"])
                    if scope["label"] == "progress":
                        self.assertEqual(scope["total"], 1000)
                        counts.append(scope["count"])
                    else:
                        self.assertIsNone(scope["count"])
                        self.assertIsNone(scope["total"])
            states.append([[(scope["label"], scope["count"]) for scope in thread["scopes"]]
                           for thread in process["threads"]])
        self.assertTrue(counts)
        self.assertEqual(counts, sorted(counts))
        for one, other in zip(states, states[1:]):
            self.assertNotEqual(one, other, "nothing changed")
        self.assertIn([[("outer", None), ("inner", None)]], states)

    def test_names_of_strangers_are_escaped(self):
        out = self.run_program("odd", 800)
        self.assertEqual(self.labels(), {r"odd\x1b[31m\xff"})
        text = self.accept("report", self.path("run.jsonl"))
        self.assertIn(r"odd\x1b[31m\xff", text)
        self.assertNotIn("\x1b[31m", out + text)


class Reports(PhaseCase):
    def test_the_report_has_a_table_and_a_saved_file_the_same(self):
        status, _, err = support.run("run", "-o", self.path("run.jsonl"), "--", PROGRAM,
                                     "busy", "500", "quick", "20", "sleep", "300", env=COUNTING)
        self.assertEqual(status, 0)
        self.assertRegex(err, r"(?m)^phases \(.*\)$")
        self.assertRegex(err, r"(?m)^phase_workload \d+ +quick .* 20 ")
        self.assertRegex(err, r"(?m)^phase_workload \d+ +busy +1 ")
        self.assertEqual(self.accept("report", self.path("run.jsonl")), err)
        again = json.loads(self.accept("report", "--format", "json", self.path("run.jsonl")))
        self.assertEqual(again["phases"], self.summary()["phases"])

    def test_both_kinds_of_files_have_the_same_phases(self):
        status, _, err = support.run("run", "-q", "-o", self.path("run.jsonl"), "-o",
                                     self.path("run.tscope"), "--", PROGRAM, "half", "300",
                                     "waits", "20", "quick", "5", env=COUNTING)
        self.assertEqual(status, 0, err)
        stored = json.loads(self.accept("report", "--format", "json", self.path("run.tscope")))
        self.assertEqual(stored["phases"], self.summary()["phases"])
        self.assertGreater(len(stored["phases"]), 4)

    def test_a_file_that_was_cut_off_says_that_there_are_no_phases(self):
        self.run_program("busy", 800)
        path = pathlib.Path(self.path("run.jsonl"))
        path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
        again = json.loads(self.accept("report", "--format", "json", path))
        self.assertIsNone(again["phases"])
        (row,) = [row for row in again["sources"] if row["name"] == "scopes"]
        self.assertEqual(row["state"], "unavailable")
        self.assertIn("summary", row["reason"])


class Attaching(PhaseCase):
    def start(self, *words, env=QUIET):
        process = subprocess.Popen([PROGRAM, *map(str, words)], env=env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, preexec_fn=support.go_first)

        def end():
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()

        self.addCleanup(end)
        return process

    def attach(self, process, *options):
        path = pathlib.Path(self.path("run.jsonl"))
        path.unlink(missing_ok=True)
        attached = subprocess.Popen([TASKSCOPE, "attach", "-q", "-p", str(process.pid), "-o",
                                     str(path), *options], stdin=subprocess.DEVNULL,
                                    preexec_fn=support.go_first)
        self.addCleanup(attached.wait)
        self.addCleanup(attached.kill)
        wait_until(lambda: path.exists() and '"sample"' in path.read_text())
        return attached

    def go_on(self, process):
        process.stdin.write("\n")
        process.stdin.flush()

    def await_ready(self, process):
        for line in process.stdout:
            if line.startswith("ready"):
                return
        self.fail("it ended before it was ready")

    def test_what_came_before_is_left_out(self):
        for way in WAYS:
            with self.subTest(way=way):
                process = self.start("quick", 100, "nested", 100, "ready", "quick", 20, "busy",
                                     800, env=COUNTING)
                self.await_ready(process)
                attached = self.attach(process, "--source", way)
                self.go_on(process)
                out = process.stdout.read()
                self.assertEqual(attached.wait(timeout=HANG), 0)
                phases = self.phases()
                self.assertEqual({label for _, label in phases}, {"quick", "busy"})
                self.assertEqual(phases[process.pid, "quick"]["count"], 20)
                self.check_time(phases[process.pid, "busy"], *told(out)[process.pid, "busy"])

    def test_a_scope_that_is_open_counts_from_the_attach_to_the_detach(self):
        for way in WAYS:
            with self.subTest(way=way):
                process = self.start("sleep", 100000)
                support.wait_for_idle(process.pid)
                time.sleep(0.5)
                attached = self.attach(process, "--source", way, "-d", "1s")
                self.assertEqual(attached.wait(timeout=HANG), 0)
                phase = self.phases()[process.pid, "sleep"]
                self.assertGreater(phase["wall_ns"], self.summary()["wall_ns"] / 2)
                self.assertLessEqual(phase["wall_ns"], self.summary()["wall_ns"] * 1.1 + 100 * MS)
                self.assertLess(phase["run_time_ns"], phase["wall_ns"] / 2)
                (line,) = [line for line in self.lines() if line["kind"] == "scopes"]
                (thread,) = line["processes"][0]["threads"]
                self.assertGreater(thread["scopes"][0]["age_ns"], 400 * MS)

    def test_children_of_it_that_begin_later_are_read_too(self):
        process = self.start("ready", "fork", "busy", 1000)
        self.await_ready(process)
        attached = self.attach(process)
        self.go_on(process)
        out = process.stdout.read()
        self.assertEqual(attached.wait(timeout=HANG), 0)
        phases = self.phases()
        self.assertEqual(len(phases), 2)
        for key, times in told(out).items():
            self.check_time(phases[key], *times)


class Terminal(PhaseCase):
    def drawn(self, columns, *words):
        """The live lines on a terminal of that width."""
        pid, terminal = pty.fork()
        if pid == 0:
            support.go_first()
            os.environ.update(QUIET, TERM="xterm")
            subprocess.run(["stty", "cols", str(columns)])
            os.execv(TASKSCOPE, [TASKSCOPE, "run", "--", PROGRAM, *map(str, words)])
        self.addCleanup(os.close, terminal)
        said, is_over, end = b"", False, time.monotonic() + HANG
        while not is_over and time.monotonic() < end:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                said += os.read(terminal, 65536)
            except OSError:
                is_over = True
        if not is_over:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        return [line.decode() for line in re.findall(rb"\r([^\r\n]+?)\x1b\[K\r", said)]

    def test_the_live_line_ends_with_the_scope_and_its_progress(self):
        lines = self.drawn(80, "progress", 3000)
        ends = [line for line in lines if re.search(r"  progress \d+% eta \S+ \w+$", line)]
        self.assertTrue(ends, lines)
        for line in lines:
            self.assertLess(len(line), 80, line)

    def test_a_narrow_line_has_a_label_that_is_cut_or_none(self):
        for line in self.drawn(34, "nested", 2000):
            self.assertLess(len(line), 34, line)


class Losses(PhaseCase):
    def test_a_process_that_may_not_be_looked_at_is_a_reason(self):
        """As a user, whoever runs as another one is not looked into."""
        if not support.is_root():
            self.skipTest("needs root to be two users")
        pathlib.Path(self.folder.name).chmod(0o777)
        program = shutil.copy(shutil.which("sleep"), self.path("sleep"))
        os.chmod(program, 0o4755)
        status, _, err = support.run(
            "run", "-q", "-o", self.path("run.jsonl"), "--", program, "1",
            prefix=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
        self.assertEqual(status, 0, err)
        self.assertIsNone(self.summary()["phases"])
        (row,) = [row for row in self.summary()["sources"] if row["name"] == "scopes"]
        self.assertEqual(row["state"], "unavailable")
        self.assertIn("CAP_SYS_PTRACE", row["reason"])


if __name__ == "__main__":
    support.main()
