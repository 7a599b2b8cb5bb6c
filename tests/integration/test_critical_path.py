#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The critical path: what the wall time of a command hung on, found again where it is known."""
import json
import os
import subprocess
import sys
import threading
import time
import unittest

import support
from kernel import WAYS

# The column of proc/stat with the time that a hypervisor took.
STEAL = 8
BUSY = "import time\nwhile time.thread_time() < {}: pass\n"


def ns_of(path, **wanted):
    return sum(part["ns"] for part in path["by"]
               if all(part.get(key) == value for key, value in wanted.items()))


def stolen_ticks():
    """Of all CPUs since boot."""
    with open("/proc/stat", encoding="ascii") as text:
        return int(text.readline().split()[STEAL])


class PathCase(support.TestCase):
    def summary(self, *words):
        lines = self.path("run.jsonl")
        status, _, err = support.run(*words[:1], "-q", "-o", lines, *words[1:])
        self.assertIn(status, (0, 1), err)
        with open(lines, encoding="utf-8") as text:
            (summary,) = [line for line in map(json.loads, text) if line["kind"] == "summary"]
        return summary

    def check(self, summary):
        """Every moment of the wall time belongs to one part."""
        path = summary["critical_path"]
        self.assertEqual(path["total_ns"], summary["wall_ns"])
        self.assertEqual(sum(part["ns"] for part in path["by"]), path["total_ns"])
        self.assertEqual(path["not_seen_ns"], ns_of(path, kind="not_seen"))
        self.assertEqual(path["not_seen_ns"], 0, {"losses": summary["losses"], "path": path})
        end = 0
        for segment in path["segments"]:
            self.assertLessEqual(end, segment["begin_ns"])
            self.assertLess(segment["begin_ns"], segment["end_ns"])
            end = segment["end_ns"]
        self.assertLessEqual(end, path["total_ns"])
        self.assertLessEqual(len(path["segments"]), 200)
        return path

    def follow(self, *command, options=()):
        return self.check(self.summary("run", *options, "--", *command))

    def share(self, path, **wanted):
        """The share of the path without waits for a CPU, since others may have had all CPUs."""
        queued = ns_of(path, kind="run_queue")
        return ns_of(path, **wanted) / (path["total_ns"] - queued)

    def script(self, name, text):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path


@unittest.skipUnless("bpf" in WAYS, "needs BPF")
class Run(PathCase):
    def test_a_command_that_computes(self):
        path = self.follow(sys.executable, "-c", BUSY.format(0.3))
        self.assertGreater(self.share(path, kind="cpu"), 0.9)
        self.assertEqual(path["by"][0]["processes"], 1)

    def test_what_a_hypervisor_took_is_known_where_it_is_counted(self):
        before = stolen_ticks()
        summary = self.summary("run", "--", sys.executable, "-c", BUSY.format(0.1))
        host = summary["pressure"]["host"]
        (source,) = [one for one in summary["sources"] if one["name"] == "steal"]
        self.assertEqual(source["state"] == "ok", "steal_ns" in host, source)
        if before:
            # Each CPU has its own count of ticks: one may be told to one reader and not yet to the other.
            self.assertLessEqual(host["steal_ns"],
                                 (stolen_ticks() - before + 1) * 1e9 / os.sysconf("SC_CLK_TCK"))
            self.assertGreater(host["busy_ns"], 50e6)
        elif "steal_ns" not in host:
            self.assertNotIn("busy_ns", host)
            self.assertIn("since boot", source["reason"])

    def test_children_that_run_one_after_the_other(self):
        """Many short ones hide nothing: the sleep is what takes the time."""
        path = self.follow("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; sleep 0.5; :")
        self.assertGreater(ns_of(path, kind="timer", program="sleep", via="child"), 400e6)

    def test_a_slow_writer_holds_up_its_reader(self):
        path = self.follow("sh", "-c", "(sleep 0.4; echo) | cat; :")
        self.assertGreater(ns_of(path, kind="timer", program="sleep"), 300e6)
        self.assertLess(ns_of(path, program="cat"), ns_of(path, program="sleep"))

    def test_the_slower_part_of_a_pipeline(self):
        """The path is the reader that computes, though the command waited for the writer first."""
        reader = self.script("reader.py", "import sys\n"
                             "for line in sys.stdin:\n"
                             "    for i in range(60): sum(range(10000))\n")
        path = self.follow("sh", "-c", f"yes | head -300 | {sys.executable} {reader}; :")
        part = max((part for part in path["by"] if part["kind"] == "cpu"), key=lambda part: part["ns"])
        self.assertIn("reader.py", part["program"])
        self.assertGreater(self.share(path, kind="cpu", program=part["program"]), 0.8)

    def test_the_step_that_held_a_build_up_is_named(self):
        step = self.script("step.py", "import sys, time\n"
                           "while time.thread_time() < float(sys.argv[1]): pass\n")
        rules = "".join(f"{name}:\n\t{sys.executable} {step} {seconds} {name}\n"
                        for name, seconds in (("long", 0.6), ("short", 0.05), ("tiny", 0.02)))
        makefile = self.script("Makefile", "all: long short tiny\n" + rules)
        path = self.follow("make", "-s", "-j3", "-f", makefile)
        part = max((part for part in path["by"] if part["kind"] == "cpu"), key=lambda part: part["ns"])
        self.assertTrue(part["command"].endswith("0.6 long"), part)
        self.assertEqual(part["via"], "child")

    def test_a_thread_that_holds_a_lock(self):
        holder = ("import threading, time\n"
                  "lock = threading.Lock()\n"
                  "def hold():\n"
                  "    with lock:\n"
                  "        ready.set()\n"
                  "        time.sleep(0.5)\n"
                  "ready = threading.Event()\n"
                  "thread = threading.Thread(target=hold)\n"
                  "thread.start()\n"
                  "ready.wait()\n"
                  "with lock: pass\n")
        path = self.follow(sys.executable, "-c", holder)
        slept = [part for part in path["by"] if part["kind"] == "timer"]
        self.assertGreater(sum(part["ns"] for part in slept), 400e6)
        self.assertTrue(all(part.get("via") for part in slept), slept)

    def test_a_main_thread_that_ends_before_the_others(self):
        """The process goes on with them, and so does the path."""
        leaver = ("import ctypes, threading, time\n"
                  "threading.Thread(target=time.sleep, args=(0.4,)).start()\n"
                  "ctypes.CDLL(None).pthread_exit(None)\n")
        path = self.follow(sys.executable, "-c", leaver)
        self.assertGreater(ns_of(path, kind="timer"), 300e6)

    def test_the_threshold_rises_with_the_number_of_waits(self):
        turns = ("import os\n"
                 "a, b = os.pipe(), os.pipe()\n"
                 "child = os.fork()\n"
                 "for i in range(20000):\n"
                 "    if child:\n"
                 "        os.write(a[1], b'x'); os.read(b[0], 1)\n"
                 "    else:\n"
                 "        os.read(a[0], 1); os.write(b[1], b'x')\n"
                 "if not child: os._exit(0)\n"
                 "os.wait()\n")
        path = self.follow(sys.executable, "-c", turns)
        self.assertGreater(path["edges_per_second"], 100)
        self.assertIn(path["threshold_ns"], (0, 10000, 100000, 1000000, 10000000))

    def test_it_needs_no_system_calls_and_can_be_switched_off(self):
        self.follow("sleep", "0.1", options=["--no-syscalls"])
        summary = self.summary("run", "--no-critical-path", "--", "sleep", "0.1")
        self.assertNotIn("critical_path", summary)
        (source,) = [row for row in summary["sources"] if row["name"] == "critical_path"]
        self.assertEqual(source["state"], "off")

    def test_the_report_has_at_most_eight_lines_of_it(self):
        status, out, err = support.run("run", "--", "sh", "-c", "sleep 0.2 | cat; :")
        self.assertEqual(status, 0, err)
        _, found, rest = (out + err).partition("critical path: ")
        self.assertTrue(found)
        self.assertLessEqual(len(rest.partition("\n\n")[0].splitlines()), 8)
        self.assertIn("sleep", rest.partition("\n\n")[0])


@unittest.skipUnless("bpf" in WAYS, "needs BPF")
class Attach(PathCase):
    def attach(self, program, stdin=None):
        process = subprocess.Popen([sys.executable, "-c", program], stdin=stdin,
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        if program.rstrip().endswith(")"):  # its last line waits
            support.wait_until(lambda: self.sleeps_on(process.pid))
        return self.check(self.summary("attach", "-d", "500ms", "-p", process.pid)), process.pid

    def sleeps_on(self, pid):
        """Whether the first thread sleeps, and was not switched for a while."""
        before = support.threads_of(pid)[str(pid)]
        time.sleep(0.2)
        return before[0] == "S" and support.threads_of(pid)[str(pid)] == before

    def test_a_process_that_computes(self):
        path, pid = self.attach("print(flush=True)\nwhile True: pass\n")
        self.assertEqual(path["tid"], pid)
        self.assertGreater(self.share(path, kind="cpu"), 0.9)

    def test_a_process_that_only_waits(self):
        path, pid = self.attach("import time\nprint(flush=True)\ntime.sleep(1000)\n")
        self.assertEqual(path["tid"], pid)
        self.assertGreater(self.share(path, kind="timer"), 0.9)

    def test_where_the_first_thread_only_waits_it_is_the_busiest(self):
        path, pid = self.attach("import threading, time\n"
                                "def work():\n"
                                "    while True: pass\n"
                                "threading.Thread(target=work, daemon=True).start()\n"
                                "print(flush=True)\n"
                                "threading.Event().wait()\n")
        self.assertTrue(path["of_busiest"])
        self.assertNotEqual(path["tid"], pid)
        self.assertGreater(self.share(path, kind="cpu"), 0.9)

    def test_a_wait_that_began_before_has_no_object_of_another_thread(self):
        reader, writer = os.pipe()
        is_over = threading.Event()

        def feed():
            while not is_over.wait(0.1):
                os.write(writer, b"x")

        feeder = threading.Thread(target=feed)
        feeder.start()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        self.addCleanup(feeder.join)
        self.addCleanup(is_over.set)
        path, _ = self.attach("import os, threading\n"
                              "def work():\n"
                              "    while os.read(0, 1): sum(range(10000))\n"
                              "threading.Thread(target=work, daemon=True).start()\n"
                              "print(flush=True)\n"
                              "threading.Event().wait()\n", stdin=reader)
        self.assertTrue(path["of_busiest"])
        objects = {segment.get("object") for segment in path["segments"]
                   if segment["kind"] == "pipe"}
        self.assertIn(os.fstat(reader).st_ino, objects)
        self.assertLessEqual(objects, {None, os.fstat(reader).st_ino})


class Elsewhere(PathCase):
    def test_another_tracer_says_why_there_is_none(self):
        summary = self.summary("run", "--source", "procfs", "--", "sleep", "0.1")
        self.assertNotIn("critical_path", summary)
        (source,) = [row for row in summary["sources"] if row["name"] == "critical_path"]
        self.assertEqual(source["state"], "unavailable")
        self.assertIn("BPF", source["reason"])


if __name__ == "__main__":
    unittest.main()
