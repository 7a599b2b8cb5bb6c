#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`why` on processes in every state: each has an answer."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import unittest

from support import HANG, LEADERLESS, TestCase, comm_of, is_root, main, run, wait_for_idle, \
    wait_for_leaderless, wait_until

WORKLOADS = pathlib.Path(os.environ["TASKSCOPE_WORKLOADS"])
SHORT = "600ms"


def why(pid, *words):
    """The JSON of an answer."""
    status, out, err = run("why", "-p", pid, "-d", SHORT, "--format", "json", *words)
    if status != 0:
        raise AssertionError(f"why {pid}: {status} {err}")
    return json.loads(out)


class Child:
    """A process inside a `with`, killed at its end."""

    def __init__(self, *words, **options):
        options.setdefault("stdout", subprocess.DEVNULL)
        self.process = subprocess.Popen(list(map(str, words)), **options)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(timeout=HANG)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()


def state_of(pid):
    text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    return text[text.rindex(")") + 2]


def wait_for_state(pid, states):
    wait_until(lambda: state_of(pid) in states)


def channel_of(pid):
    return pathlib.Path(f"/proc/{pid}/wchan").read_text()


def children_of(pid):
    return list(map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def eight_threads(pid):
    tids = sorted(map(int, os.listdir(f"/proc/{pid}/task")))
    return tids if len(tids) == 8 else None


class Why(TestCase):
    def test_a_sleeper_is_asleep(self):
        with Child("sleep", 60) as child:
            wait_for_idle(child.pid)
            answer = why(child.pid)
        self.assertEqual(answer["kind"], "why")
        self.assertEqual((answer["pid"], answer["comm"], answer["state"]), (child.pid, "sleep", "S"))
        self.assertIn("nanosleep", answer["answer"])
        self.assertFalse(answer["ended"])
        [thread] = answer["threads"]
        self.assertEqual(thread["tid"], child.pid)
        self.assertEqual(thread["reason"], "timer")

    def test_a_reader_of_a_pipe_waits_for_its_other_end(self):
        with Child("cat", stdin=subprocess.PIPE) as child:
            wait_for_idle(child.pid)
            answer = why(child.pid)
        [thread] = answer["threads"]
        self.assertEqual(thread["syscall"], "read")
        self.assertEqual(thread["reason"], "pipe")
        self.assertEqual(thread["object"]["kind"], "pipe")
        self.assertIn("pipe:[", thread["object"]["name"])

    def test_a_loop_computes_or_has_no_cpu(self):
        with Child(WORKLOADS / "cpu_single", 60000) as child:
            answer = why(child.pid)
        self.assertEqual(answer["state"], "R")
        self.assertIn(answer["verdict"]["cause"], ("cpu", "run_queue"))
        [thread] = answer["threads"]
        self.assertGreater(thread["run_time_ns"], 0)

    def test_a_stopped_process_is_stopped_by_a_signal(self):
        with Child("sleep", 60) as child:
            os.kill(child.pid, signal.SIGSTOP)
            wait_for_state(child.pid, "T")
            answer = why(child.pid)
        self.assertEqual(answer["state"], "T")
        self.assertIn("stopped by a signal", answer["answer"])

    def test_a_traced_process_names_its_debugger(self):
        # Traced by a child of ours, which stops it at its exec.
        script = ("import ctypes, os, sys\n"
                  "libc = ctypes.CDLL(None)\n"
                  "pid = os.fork()\n"
                  "if pid == 0:\n"
                  "    libc.ptrace(0, 0, 0, 0)\n"
                  "    os.execvp('sleep', ['sleep', '60'])\n"
                  "os.waitpid(pid, 0)\n"
                  "print(pid, flush=True)\n"
                  "sys.stdin.read()\n")
        with Child(sys.executable, "-c", script, stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE) as tracer:
            pid = int(tracer.process.stdout.readline())
            answer = why(pid)
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(answer["tracer_pid"], tracer.pid)
        self.assertIn(f"stopped by a debugger, {tracer.pid}", answer["answer"])

    def test_a_zombie_waits_for_its_parent(self):
        with Child("sh", "-c", "exit 3") as child:
            wait_for_state(child.pid, "Z")
            # The dead are not watched: this takes no time.
            begin = time.monotonic()
            answer = why(child.pid, "-d", "1000s")
            self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(answer["state"], "Z")
        self.assertIn(f"waits for its parent {os.getpid()}", answer["answer"])
        self.assertEqual(answer["parent_pid"], os.getpid())
        if is_root():
            self.assertEqual(answer["exit_code"], 3)
            self.assertIn("exit code 3", answer["answer"])

    def test_one_whose_first_thread_ended_is_not_dead(self):
        with Child(sys.executable, "-c", LEADERLESS, stdout=subprocess.PIPE) as child:
            wait_for_leaderless(child.process)
            answer = why(child.pid)
        self.assertNotIn("dead", answer["answer"])
        self.assertNotIn("exit_code", answer)
        self.assertEqual(len(answer["threads"]), 2)

    def test_one_stuck_in_the_kernel_shows_where(self):
        # A vfork parent is in D until its child is done with its memory.
        script = ("import ctypes, os\n"
                  "libc = ctypes.CDLL(None)\n"
                  "pid = libc.vfork()\n"
                  "if pid == 0:\n"
                  "    libc.sleep(30)\n"
                  "    libc._exit(0)\n")
        with Child(sys.executable, "-c", script) as child:
            # Not a short wait for a disk, nor on its CPU still.
            wait_until(lambda: children_of(child.pid) and state_of(child.pid) == "D" and
                       channel_of(child.pid) != "0")
            answer = why(child.pid)
            text = run("why", child.pid, "-d", "100ms")[1]
            for pid in children_of(child.pid):
                os.kill(pid, signal.SIGKILL)
        self.assertEqual(answer["state"], "D")
        self.assertIn("uninterruptible", answer["answer"])
        self.assertIn("for at least", answer["answer"])
        [thread] = answer["threads"]
        if is_root():
            self.assertIn("vfork", thread["wait_channel"] + str(thread["kernel_stack"]))
            self.assertIn(f"{child.pid} in the kernel:", text)

    def test_one_that_ends_meanwhile_says_how(self):
        # It must live until it is watched, however long that takes here.
        for seconds in (1, 5, 25):
            with Child("sh", "-c", f"sleep {seconds}; exit 7") as child:
                answer = why(child.pid, "-d", "1000s")
            if answer["ended"]:
                break
        self.assertIn("ended while it was watched", answer["answer"])
        self.assertEqual(answer["exit_code"], 7)

    def test_one_that_ends_before_it_is_watched_is_not_waited_for(self):
        for milliseconds in range(0, 60, 6):
            with Child("sh", "-c", f"sleep {milliseconds / 1000}; exit 7") as child:
                answer = why(child.pid, "-d", "1000s")
            self.assertEqual(answer["ended"] or answer["state"] == "Z", True)
            if is_root():
                self.assertEqual(answer["exit_code"], 7)

    def test_one_that_waits_for_its_children_names_them(self):
        with Child("sh", "-c", f"{WORKLOADS / 'cpu_single'} 60000; true") as child:
            wait_until(lambda: [comm_of(pid) for pid in children_of(child.pid)] == ["cpu_single"]
                       and state_of(child.pid) == "S")
            answer = why(child.pid)
            for pid in children_of(child.pid):
                os.kill(pid, signal.SIGKILL)
        self.assertIn("waits for its children", answer["answer"])
        self.assertIn("cpu_single", answer["answer"])
        self.assertTrue(answer["by_children"])

    def test_a_thread_s_number_answers_for_its_process(self):
        with Child(WORKLOADS / "idle_pool", 60000) as child:
            tids = wait_until(lambda: eight_threads(child.pid))
            answer = why(tids[-1])
            text = run("why", tids[-1], "-d", "100ms")[1]
        self.assertEqual(answer["pid"], child.pid)
        self.assertEqual(sorted(thread["tid"] for thread in answer["threads"]), tids)
        self.assertIn(f"{tids[-1]} is a thread of it", text)

    def test_an_answer_has_at_most_twelve_lines_also_on_a_narrow_terminal(self):
        script = ("import threading, time\n"
                  "lock = threading.Lock()\n"
                  "def work():\n"
                  "    while True:\n"
                  "        with lock: time.sleep(0.002)\n"
                  "for _ in range(20): threading.Thread(target=work, daemon=True).start()\n"
                  "print('ready', flush=True)\n"
                  "time.sleep(1000)\n")
        with Child(sys.executable, "-c", script, stdout=subprocess.PIPE) as child:
            child.process.stdout.readline()
            for columns in ("80", "200"):
                status, out, _ = run("why", child.pid, "-d", "300ms", env={**os.environ, "COLUMNS": columns})
                self.assertEqual(status, 0)
                self.assertLessEqual(len(out.splitlines()), 12, out)
                self.assertLessEqual(max(map(len, out.splitlines())), int(columns), out)

    def test_a_name_of_a_stranger_does_not_steer_the_terminal(self):
        script = ("import ctypes, time\n"
                  "ctypes.CDLL(None).prctl(15, b'\\x1b[31m) R\\n(x', 0, 0, 0)\n"
                  "print('ready', flush=True)\n"
                  "time.sleep(60)\n")
        with Child(sys.executable, "-c", script, stdout=subprocess.PIPE) as child:
            child.process.stdout.readline()
            wait_for_idle(child.pid)
            status, out, _ = run("why", child.pid, "-d", "200ms")
            answer = why(child.pid)
        self.assertEqual(status, 0)
        self.assertNotIn("\x1b", out)
        self.assertEqual(answer["state"], "S")

    @unittest.skipUnless(is_root(), "kernel threads are seen by root")
    def test_a_kernel_thread_is_one(self):
        if not pathlib.Path("/proc/2/comm").exists() or \
                pathlib.Path("/proc/2/comm").read_text() != "kthreadd\n":
            self.skipTest("no kernel threads in this PID namespace")
        answer = why(2)
        self.assertTrue(answer["kernel_thread"])
        self.assertIn("it is a kernel thread", answer["answer"])
        self.assertIn("of a CPU", answer["answer"])

    @unittest.skipUnless(is_root(), "becomes somebody else")
    def test_without_privileges_it_says_what_could_not_be_seen(self):
        with Child("sleep", 60) as child:
            status, out, err = run("why", child.pid, "-d", "200ms", user=65534, group=65534)
        self.assertEqual(status, 0, err)
        self.assertIn(f"{child.pid} sleep: it is", out)
        self.assertIn("may not be read here", out)

    def test_a_blocked_client_waits_for_the_other_end(self):
        listener = socket.create_server(("127.0.0.1", 0))
        with listener, Child(WORKLOADS / "tcp_client", 60000, listener.getsockname()[1]) as child:
            connection, _ = listener.accept()
            with connection:
                wait_for_idle(child.pid)
                answer = why(child.pid)
        [thread] = answer["threads"]
        self.assertEqual(thread["syscall"], "read")
        if "reason" in thread:
            self.assertEqual(answer["verdict"]["cause"], "network")
            self.assertEqual(thread["reason"], "network")
            self.assertIn("the other end of sockets", answer["answer"])


class BadInput(TestCase):
    def test_a_dead_process_is_refused(self):
        child = subprocess.Popen(["true"])
        child.wait()
        self.refuse("why", "-p", child.pid, says="there is no process")

    def test_what_is_no_process_id_is_refused(self):
        for word in ("0", "99999999999", ""):
            self.refuse("why", f"--pid={word}", says="is not a process id")
        for word in ("-1", "12x", "no such name"):
            self.refuse("why", f"--pid={word}", says="no process is called")

    def test_no_process_is_refused(self):
        self.refuse("why", says="needs a process")

    def test_no_time_is_refused(self):
        self.refuse("why", "-p", os.getpid(), "-d", "0s", says="-d takes a time")


if __name__ == "__main__":
    main()
