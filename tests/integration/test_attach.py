#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`attach`: running trees are watched for a while and never touched."""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

import support
from kernel import WAYS
from support import HANG, TASKSCOPE, is_root, wait_until

NOBODY = 65534
UNPRIVILEGED = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
TICKS = 20 * 10 ** 6
KERNEL_THREAD = 0x00200000


def kernel_thread():
    """The pid of one, or None in a PID namespace that has none."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[6]) & KERNEL_THREAD:
            return int(folder.name)
    return None


# Writes a title over its arguments, as setproctitle() does, with NULs or blanks behind it.
TITLED = """import ctypes, sys, time
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
start, end = (int(fields[number - 3]) for number in (48, 49))
ctypes.memset(start, ord(sys.argv[1]) if sys.argv[1] else 0, end - start)
ctypes.memset(end - 1, 0, 1)
ctypes.memmove(start, b"demo: worker", 12)
print(flush=True)
time.sleep(1000)
"""


class AttachCase(support.TestCase):
    def target(self, *command, **options):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)

        def end():
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()

        self.addCleanup(end)
        return process

    def start(self, target, *words, **options):
        """Attaches to a target, and waits for the first look at it."""
        path = pathlib.Path(self.path("run.jsonl"))
        path.unlink(missing_ok=True)
        process = self.target(TASKSCOPE, "attach", "-p", str(target.pid), "-o", str(path), *words,
                              stderr=subprocess.PIPE, **options)
        wait_until(lambda: path.exists() and '"sample"' in path.read_text())
        return process

    def summary(self):
        return json.loads(pathlib.Path(self.path("run.jsonl")).read_text().splitlines()[-1])


class Watching(AttachCase):
    def test_a_title_leaves_no_empty_words(self):
        for padding in "", " ":
            target = self.target(sys.executable, "-c", TITLED, padding, "", "more", "words",
                                 stdout=subprocess.PIPE)
            target.stdout.readline()
            for way in WAYS:
                with self.subTest(way=way, padding=padding):
                    self.accept("attach", "-q", "-p", target.pid, "-d", "1ms", "--source", way,
                                "-o", self.path("run.jsonl"))
                    self.assertEqual(self.summary()["running_processes"][0]["cmd"], ["demo: worker"])
            self.accept("capture", "-p", target.pid, "-o", self.path("one.tscope"))
            shown = support.show_threads(self.path("one.tscope"))
            self.assertEqual([task["cmdline"] for task in shown["threads"]],
                             ["demo: worker"])

    def test_a_running_process_is_watched_for_a_while_and_goes_on(self):
        for way in WAYS:
            with self.subTest(way=way):
                target = self.target(sys.executable, "-c", "while True: pass")
                begin, used = time.monotonic(), support.run_time(target.pid)
                self.accept("attach", "-q", "-p", target.pid, "-d", "1s", "--source", way,
                            "-o", self.path("run.jsonl"))
                used = support.run_time(target.pid) - used
                self.assertLess(time.monotonic() - begin, HANG)
                self.assertIsNone(target.poll())
                summary = self.summary()
                self.assertEqual(summary["kind"], "summary")
                self.assertGreater(summary["wall_ns"], 0.9e9)
                self.assertGreater(summary["cpu_time_ns"], 0)
                # A tick may pass before a running thread's time is written down.
                self.assertLessEqual(summary["cpu_time_ns"], used + TICKS)
                self.assertLess(summary["cpu_time_ns"], summary["wall_ns"] * 1.1)
                self.assertEqual(summary["processes_ever"], 1)

    def test_children_that_begin_later_belong_to_it(self):
        for way in (way for way in WAYS if way != "procfs"):
            with self.subTest(way=way):
                target = self.target("sh", "-c", "while :; do /bin/true; sleep 0.02; done")
                process = self.start(target, "-q", "--source", way)
                path = pathlib.Path(self.path("run.jsonl"))
                wait_until(lambda: path.read_text().count('"kind":"exit"') > 10)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(timeout=HANG), 0)
                self.assertGreater(self.summary()["processes_ever"], 10)

    def test_it_ends_with_its_target(self):
        for way in WAYS:
            with self.subTest(way=way):
                target = self.target("sleep", "1000")
                process = self.start(target, "-q", "-d", "1000s", "--source", way)
                target.kill()
                target.wait()
                self.assertEqual(process.wait(timeout=HANG), 0)

    def test_a_process_whose_first_thread_ended_is_watched(self):
        for way in WAYS:
            with self.subTest(way=way):
                target = self.target(sys.executable, "-c", support.LEADERLESS,
                                     stdout=subprocess.PIPE)
                support.wait_for_leaderless(target)
                self.accept("attach", "-q", "-p", target.pid, "-d", "500ms", "--source", way,
                            "-o", self.path("run.jsonl"))
                summary = self.summary()
                self.assertEqual(summary["end"], "timed_out")
                self.assertGreater(summary["wall_ns"], 0.4e9)

    def test_who_can_look_at_nothing_any_more_says_so(self):
        for way in WAYS:
            with self.subTest(way=way):
                target = self.target("sleep", "1000")
                process = self.start(target, "-q", "--source", way)
                resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (3, 3))
                _, err = process.communicate(timeout=HANG)
                self.assertEqual(process.returncode, 2, err)
                self.assertIn(b"could not be looked at any more", err)
                self.assertIsNone(target.poll())

    def test_several_may_be_named_in_any_way(self):
        targets = [str(self.target("sleep", "100").pid) for _ in range(3)]
        self.accept("attach", "-q", "-p", ",".join(targets[:2]), targets[2], targets[0], "-d",
                    "300ms", "-o", self.path("run.jsonl"))
        self.assertEqual(self.summary()["processes_ever"], 3)

    def test_an_interrupt_detaches_and_reports(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                target = self.target("sleep", "100")
                process = self.start(target)
                process.send_signal(number)
                _, err = process.communicate(timeout=HANG)
                self.assertEqual(process.returncode, 0)
                self.assertGreater(len(err.splitlines()), 2)
                self.assertIsNone(target.poll())
                self.assertEqual(self.summary()["kind"], "summary")

    def test_a_hangup_that_is_ignored_does_not_detach(self):
        target = self.target("sleep", "1000")
        path = pathlib.Path(self.path("run.jsonl"))
        process = self.start(target, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        samples = path.read_text().count('"sample"')
        wait_until(lambda: path.read_text().count('"sample"') > samples + 1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=HANG), 0)

    def test_lines_may_go_to_standard_output(self):
        target = self.target("sleep", "100")
        out = self.accept("attach", "-q", "-p", target.pid, "-d", "300ms", "-o", "-")
        kinds = [json.loads(line)["kind"] for line in out.splitlines()]
        self.assertEqual((kinds[:2], kinds[-1]), (["env", "metadata"], "summary"))

    def test_we_are_not_in_the_tree_that_we_watch(self):
        """Our parent is watched, and so are all its children but us."""
        for way in WAYS:
            with self.subTest(way=way):
                self.accept("attach", "-q", "-p", os.getpid(), "-d", "500ms", "--source", way,
                            "-o", self.path("run.jsonl"))
                self.assertNotIn("taskscope", [member.get("comm") for member in
                                               self.summary().get("running_processes", [])])

    def test_all_are_named(self):
        pids = [self.target("sleep", "1000").pid for _ in range(3)]
        wait_until(lambda: all(pathlib.Path(f"/proc/{pid}/comm").read_text() == "sleep\n" for pid in pids))
        files = [self.path("it.tscope"), self.path("it.jsonl")]
        done = subprocess.run([TASKSCOPE, "attach", "-p", ",".join(map(str, pids)), "-d", "0.2s",
                               "-v", "-o", files[0], "-o", files[1]], capture_output=True, text=True, timeout=HANG)
        headline = done.stderr.splitlines()[0]
        self.assertIn("sleep (pid {}), sleep (pid {}) and sleep (pid {}) were watched for ".format(*pids), headline)
        for file in files:
            self.assertEqual(support.run("report", "-v", file)[1].splitlines()[0], headline)
            self.assertIn(": attached to {} {} {}: ".format(*pids), support.run("show", file)[1])


class Mistakes(AttachCase):
    def test_no_process(self):
        self.refuse("attach", says="needs a process")
        self.refuse("attach", "-p", "", says="process id")
        self.refuse("attach", "-p", "0", says="process id")
        self.refuse("attach", "-p", "12;13", says="no process is called")
        self.refuse("attach", "nonsense", says="no process is called")

    def test_a_dead_process(self):
        target = subprocess.Popen(["true"])
        target.wait()
        self.refuse("attach", "-p", target.pid, says=f"no process {target.pid}")

    def test_a_process_that_waits_for_its_parent(self):
        target = self.target("true")
        while pathlib.Path(f"/proc/{target.pid}/stat").read_text().rpartition(")")[2][1] != "Z":
            time.sleep(0.01)
        self.refuse("attach", "-p", target.pid, says="has ended")

    def test_a_kernel_thread(self):
        pid = kernel_thread()
        if pid is None:
            self.skipTest("no kernel thread is seen here")
        self.refuse("attach", "-p", pid, says="kernel thread")

    def test_taskscope_itself(self):
        done = subprocess.run(["sh", "-c", 'exec "$0" attach -p $$', TASKSCOPE],
                              capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"taskscope itself", done.stderr)

    def test_a_thread(self):
        script = "import threading, time\n" \
                 "threading.Thread(target=lambda: time.sleep(100)).start()\nprint(flush=True)"
        target = self.target(sys.executable, "-c", script, stdout=subprocess.PIPE)
        target.stdout.readline()
        tids = [int(entry.name) for entry in pathlib.Path(f"/proc/{target.pid}/task").iterdir()]
        thread = next(tid for tid in tids if tid != target.pid)
        self.refuse("attach", "-p", thread, says=f"a thread of process {target.pid}")

    @unittest.skipUnless(is_root() and shutil.which("setpriv"), "needs root to be someone else")
    def test_a_process_of_someone_else(self):
        if subprocess.run([*UNPRIVILEGED, TASKSCOPE, "--version"], capture_output=True).returncode:
            self.skipTest("nobody may not run the program")
        target = self.target("sleep", "100")
        self.refuse("attach", "-p", target.pid, says="another user", prefix=UNPRIVILEGED)

    def test_an_output_that_cannot_be_written(self):
        target = self.target("sleep", "100")
        self.refuse("attach", "-p", target.pid, "-o", self.path("nowhere/x.jsonl"), says="nowhere")
        self.refuse("attach", "-p", target.pid, "-o", self.path("x.txt"), says=".jsonl")
        os.symlink("/dev/full", self.path("full.jsonl"))
        self.refuse("attach", "-p", target.pid, "-o", self.path("full.jsonl"), says="No space left")


@unittest.skipUnless(is_root() and shutil.which("setpriv"), "needs root to be someone else")
class NoPrivilege(AttachCase):
    def test_an_own_process_may_be_attached_to(self):
        if subprocess.run([*UNPRIVILEGED, TASKSCOPE, "--version"], capture_output=True).returncode:
            self.skipTest("nobody may not run the program")
        target = self.target(*UNPRIVILEGED, "sleep", "100")
        wait_until(lambda: support.comm_of(target.pid) == "sleep")
        status, _, err = support.run("attach", "-p", target.pid, "-d", "300ms",
                                     prefix=UNPRIVILEGED)
        self.assertEqual(status, 0, err)


if __name__ == "__main__":
    support.main()
