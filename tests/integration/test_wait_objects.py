#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a wait was for: `why` names the lock and its holder, the other end, the file; and deadlocks."""
import contextlib
import fcntl
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

from kernel import has_bpf
from support import HANG, TASKSCOPE, TestCase, has_namespaces, is_root, main, run, wait_for_idle, wait_until

WORKLOAD = os.environ["TASKSCOPE_WAIT_WORKLOAD"]
CONVOY = pathlib.Path(os.environ["TASKSCOPE_WORKLOADS"]) / "lock_convoy"
SHORT = "200ms"
NOBODY = {"user": 65534, "group": 65534, "extra_groups": ()}

# Locks the files of its arguments with a call each, in their order.
LOCKER = """
import fcntl, os, struct, sys
print("ready", flush=True)
for path, how in zip(sys.argv[1::2], sys.argv[2::2]):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    if how == "flock":
        fcntl.flock(fd, fcntl.LOCK_EX)
    elif how == "ofd":
        fcntl.fcntl(fd, 38, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
    else:
        fcntl.lockf(fd, fcntl.LOCK_EX)
    print("has", path, flush=True)
    if path == sys.argv[1] and len(sys.argv) > 3:
        sys.stdin.readline()
"""


def why(pid, *words, **options):
    status, out, err = run("why", "-p", pid, "-d", SHORT, "--format", "json", *words, **options)
    if status != 0:
        raise AssertionError(f"why {pid}: {status} {err}")
    answer = json.loads(out)
    # On a busy host a read may miss its deadline.
    return why(pid, *words, **options) if answer["late"] else answer


@contextlib.contextmanager
def child(*words, **options):
    """A process that ends with the block."""
    options.setdefault("stdout", subprocess.PIPE)
    process = subprocess.Popen(list(map(str, words)), **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait(timeout=HANG)
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()


@contextlib.contextmanager
def role(name, **options):
    """The workload, when all of its threads sleep."""
    with child(WORKLOAD, name, **options) as process:
        assert process.stdout.readline().startswith(b"ready")
        wait_for_idle(process.pid)
        yield process


def thread_of(answer, tid):
    [thread] = [thread for thread in answer["threads"] if thread["tid"] == tid]
    return thread


def named(answer, comm):
    [thread] = [thread for thread in answer["threads"] if thread["comm"] == comm]
    return thread


class Locks(TestCase):
    WHO = {}

    def assert_circle(self, answer, count):
        """Each member waits for the next one, and the last for the first."""
        circle = answer["deadlock"]
        self.assertEqual(len(circle), count)
        for i, member in enumerate(circle):
            after = circle[(i + 1) % count]
            self.assertEqual(member["object"]["holder"]["tid"], after["tid"])
        self.assertEqual(answer["verdict"]["cause"], "deadlock")
        self.assertIn("deadlocked", answer["answer"])

    def ask(self, pid):
        return why(pid, **self.WHO)

    def test_two_threads_that_take_two_locks_in_both_orders(self):
        with role("abba", **self.WHO) as process:
            answer = self.ask(process.pid)
            status, text, _ = run("why", process.pid, "-d", SHORT, **self.WHO)
        self.assert_circle(answer, 2)
        self.assertEqual({member["comm"] for member in answer["deadlock"]}, {"ring-0", "ring-1"})
        first, second = answer["deadlock"]
        self.assertEqual(first["object"]["kind"], "mutex")
        self.assertNotEqual(first["object"]["address"], second["object"]["address"])
        self.assertEqual(thread_of(answer, process.pid)["object"]["kind"], "thread")
        self.assertEqual(status, 0)
        self.assertIn(f"waits for mutex {first['object']['address']} held by {second['comm']}", text)
        self.assertLessEqual(len(text.splitlines()), 12)

    def test_three_threads(self):
        with role("three", **self.WHO) as process:
            self.assert_circle(self.ask(process.pid), 3)

    def test_a_circle_is_shown_in_full_or_says_how_many_more_there_are(self):
        with role("twelve", **self.WHO) as process:
            self.assert_circle(self.ask(process.pid), 12)
            short, full = (run("why", process.pid, "-d", SHORT, *words, **self.WHO)[1]
                           for words in ([], ["-v"]))
        members = re.compile(r"^  - thread \d+ \(ring-\d+\) waits for", re.MULTILINE)
        self.assertEqual(len(members.findall(full)), 12, full)
        [more] = re.findall(r"^  - and (\d+) more \(-v shows all\)$", short, re.MULTILINE)
        self.assertEqual(len(members.findall(short)) + int(more), 12, short)
        self.assertLessEqual(len(short.splitlines()), 12, short)
        self.assertRegex(short, r"\n  13 threads \(-v shows all\)\n")

    def test_robust_mutexes(self):
        with role("robust", **self.WHO) as process:
            self.assert_circle(self.ask(process.pid), 2)

    def test_a_thread_that_waits_for_itself(self):
        with role("self", **self.WHO) as process:
            answer = self.ask(process.pid)
        self.assert_circle(answer, 1)
        self.assertIn("waits for itself", answer["answer"])

    def test_a_thread_that_joins_one_that_wants_its_lock(self):
        with role("join_ring", **self.WHO) as process:
            answer = self.ask(process.pid)
        self.assert_circle(answer, 2)
        self.assertEqual({member["object"]["kind"] for member in answer["deadlock"]},
                         {"mutex", "thread"})

    def check_held(self, name, kind, holder):
        with role(name, **self.WHO) as process:
            answer = self.ask(process.pid)
        thread = thread_of(answer, process.pid)
        self.assertEqual(thread["reason"], "lock")
        self.assertEqual(thread["object"]["kind"], kind)
        self.assertEqual(thread["object"]["holder"],
                         {"pid": process.pid, "tid": named(answer, holder)["tid"], "comm": holder})
        self.assertNotIn("deadlock", answer)
        self.assertIn(f"held by {holder}", answer["answer"])

    def test_a_lock_names_its_holder(self):
        self.check_held("held", "mutex", "holder-0")

    def test_a_lock_that_lends_priority_names_its_holder(self):
        self.check_held("held_pi", "mutex", "holder-0")

    def test_a_robust_lock_names_its_holder(self):
        self.check_held("held_robust", "mutex", "holder-0")

    def test_a_lock_of_readers_and_writers_names_its_writer(self):
        self.check_held("rwlock", "rwlock", "writer-0")

    def test_a_wait_with_a_time_limit_is_not_a_deadlock(self):
        with role("timed", **self.WHO) as process:
            answer = self.ask(process.pid)
        self.assertNotIn("deadlock", answer)
        self.assertEqual(answer["threads"][0]["object"]["holder"]["tid"], process.pid)

    def test_a_join_names_the_thread(self):
        with role("join", **self.WHO) as process:
            answer = self.ask(process.pid)
        thread = thread_of(answer, process.pid)
        self.assertEqual(thread["reason"], "child")
        self.assertEqual(thread["object"]["kind"], "thread")
        self.assertEqual(thread["object"]["holder"]["comm"], "idle-0")

    def test_a_process_shared_semaphore_is_a_lock(self):
        with role("semaphore", **self.WHO) as process:
            [thread] = self.ask(process.pid)["threads"]
        self.assertEqual((thread["reason"], thread["object"]["kind"]), ("lock", "semaphore"))

    def test_a_condition_is_not_a_lock(self):
        with role("condition", **self.WHO) as process:
            [thread] = self.ask(process.pid)["threads"]
        self.assertEqual((thread["reason"], thread["object"]["kind"]), ("condition", "condition"))
        self.assertNotIn("holder", thread["object"])

    def test_a_mutex_between_processes_names_the_process_that_has_it(self):
        with child(WORKLOAD, "shared", **self.WHO) as process:
            pid = int(process.stdout.readline().split()[1])
            wait_for_idle(process.pid, pid)
            [thread] = self.ask(pid)["threads"]
        self.assertEqual(thread["object"]["holder"]["tid"], process.pid)


    def test_threads_that_pass_a_lock_on_are_not_a_deadlock(self):
        with child(CONVOY, 60000, **self.WHO) as process:
            wait_until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) > 2)
            for _ in range(3):
                self.assertNotIn("deadlock", self.ask(process.pid))


@unittest.skipUnless(is_root(), "becomes somebody else")
class Watched(TestCase):
    """`run` and `attach` search for a deadlock while its threads are still there."""

    def watch(self, *words, seconds=None):
        """The summary of a run that `words` ask for, and what a signal ended after some time."""
        lines = self.path("run.jsonl")
        watching = subprocess.Popen([TASKSCOPE, words[0], "-q", "-o", lines, *map(str, words[1:])],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with watching:
            if seconds is not None:
                watching.stdout.readline()  # the workload is ready
                time.sleep(seconds)
                watching.send_signal(signal.SIGINT)
            watching.stdout.read()  # whoever writes to a pipe without a reader is killed
        with open(lines, encoding="utf-8") as text:
            return [json.loads(line) for line in text][-1]

    def assert_found(self, summary, count):
        found = [member["comm"] for member in summary.get("deadlock", [])]
        self.assertEqual(sorted(found), [f"ring-{i}" for i in range(count)])
        self.assertEqual(summary["verdict"]["cause"], "deadlock")
        self.assertIn("wait for each other", summary["verdict"]["evidence"][0])
        for i, member in enumerate(summary["deadlock"]):
            after = summary["deadlock"][(i + 1) % count]
            self.assertRegex(member["waits_for"], rf"^mutex 0x\w+ held by {after['comm']} \({after['tid']}\)$")

    def until_found(self, *words, count, **options):
        """On a busy host a search may not be done in its time."""
        def search():
            summary = self.watch(*words, **options)
            return summary if "deadlock" in summary else None

        self.assert_found(wait_until(search), count)

    def test_attaching_for_some_time(self):
        with role("abba") as process:
            self.until_found("attach", "-d", SHORT, process.pid, count=2)

    def test_detaching(self):
        with role("abba") as process:
            lines = self.path("attach.jsonl")

            def search():
                with subprocess.Popen([TASKSCOPE, "attach", "-q", "-o", lines, str(process.pid)],
                                      stderr=subprocess.DEVNULL) as watching:
                    wait_until(lambda: os.path.exists(lines) and os.path.getsize(lines))
                    watching.send_signal(signal.SIGINT)
                with open(lines, encoding="utf-8") as text:
                    summary = [json.loads(line) for line in text][-1]
                os.unlink(lines)
                return summary if "deadlock" in summary else None

            self.assert_found(wait_until(search), 2)

    def test_a_command_whose_time_is_over(self):
        self.until_found("run", "-d", "1s", "--", WORKLOAD, "three", count=3)

    def test_a_command_that_is_interrupted(self):
        self.until_found("run", "--", WORKLOAD, "abba", seconds=0.5, count=2)

    def test_both_files_and_the_report_have_it(self):
        with role("abba") as process:
            for name in ("run.jsonl", "run.tscope"):
                def search(path=self.path(name)):
                    run("attach", "-q", "-d", SHORT, "-o", path, process.pid)
                    report = self.accept("report", path)
                    return report if "limited by deadlock" in report else None

                report = wait_until(search)
                self.assertIn("deadlock: each waits for the next", report)
                for thread in ("ring-0", "ring-1"):
                    self.assertRegex(report, rf"mutex 0x\w+ held by {thread} \(\d+\)\n")

    def test_a_command_that_ends_by_itself_had_none(self):
        """Though others in its tree wait for each other: nobody waits for them."""
        summary = self.watch("run", "--", "sh", "-c", f"{WORKLOAD} abba & sleep 2.5; kill -9 $!; wait; exit 3")
        self.assertEqual(summary["exit_code"], 3)
        self.assertNotIn("deadlock", summary)


@unittest.skipUnless(is_root(), "becomes somebody else")
class LocksOfOthers(Locks):
    """The same by a plain user, about processes of its own."""
    WHO = NOBODY


class Namespaces(TestCase):
    @unittest.skipUnless(has_namespaces(), "needs PID namespaces")
    def test_holders_have_our_numbers(self):
        """The memory of a process has the numbers of its own namespace."""
        with child("unshare", "--pid", "--fork", "--kill-child", WORKLOAD, "abba") as process:
            assert process.stdout.readline() == b"ready\n"
            path = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            pid = int(path.read_text())
            wait_for_idle(pid)
            answer = why(pid)
        tids = {thread["tid"] for thread in answer["threads"]}
        self.assertEqual(len(answer["deadlock"]), 2)
        for member in answer["deadlock"]:
            self.assertIn(member["tid"], tids)
            self.assertIn(member["object"]["holder"]["tid"], tids)


class Files(TestCase):
    def locker(self, *words):
        return child(sys.executable, "-c", LOCKER, *words, stdin=subprocess.PIPE)

    def path(self, name):
        return f"{self.folder.name}/{name}"

    def check_lock(self, how, lock):
        with open(self.path("file"), "w", encoding="ascii") as held:
            lock(held, fcntl.LOCK_EX)
            with self.locker(self.path("file"), how) as process:
                process.stdout.readline()
                wait_for_idle(process.pid)
                [thread] = why(process.pid)["threads"]
        self.assertEqual(thread["reason"], "lock")
        self.assertEqual(thread["object"]["kind"], "file_lock")
        self.assertEqual(thread["object"]["file"], self.path("file"))
        self.assertEqual(thread["object"]["holder"]["pid"], os.getpid())

    def test_flock_names_the_file_and_the_process(self):
        self.check_lock("flock", fcntl.flock)

    def test_fcntl_names_the_file_and_the_process(self):
        self.check_lock("fcntl", fcntl.lockf)

    def test_a_lock_of_an_open_file_names_the_process_where_that_owns_it(self):
        self.check_lock("ofd", fcntl.lockf)

    def check_ring(self, how):
        one, two = self.path("one"), self.path("two")
        with self.locker(one, how, two, how) as a, self.locker(two, how, one, how) as b:
            for process in (a, b):
                process.stdout.readline()
                self.assertTrue(process.stdout.readline().startswith(b"has"))
            for process in (a, b):
                process.stdin.write(b"\n")
                process.stdin.flush()
            wait_until(lambda: all(re.search("lock|setlk", pathlib.Path(f"/proc/{process.pid}/wchan").read_text())
                                   for process in (a, b)))
            answer = why(a.pid)
        self.assertEqual(answer["verdict"]["cause"], "deadlock")
        self.assertEqual({member["pid"] for member in answer["deadlock"]}, {a.pid, b.pid})
        self.assertEqual({member["object"]["file"] for member in answer["deadlock"]}, {one, two})

    @unittest.skipUnless(is_root(), "wait channels are seen by root")
    def test_two_processes_that_lock_two_files_in_both_orders(self):
        # With fcntl() the kernel itself finds the circle.
        self.check_ring("flock")

    @unittest.skipUnless(is_root(), "wait channels are seen by root")
    def test_two_processes_that_lock_two_open_files_in_both_orders(self):
        """The kernel does not say who has such a lock, but which open file has one."""
        self.check_ring("ofd")


class OtherEnds(TestCase):
    def ask(self, process):
        wait_for_idle(process.pid)
        [thread] = why(process.pid)["threads"]
        return thread

    def test_a_pipe_has_its_writer(self):
        with child("sleep", 1000, stdout=subprocess.PIPE) as writer, \
                child("cat", stdin=writer.stdout) as reader:
            writer.stdout.close()
            thread = self.ask(reader)
        self.assertEqual(thread["reason"], "pipe")
        self.assertEqual(thread["object"]["kind"], "pipe")
        self.assertEqual(thread["object"]["peer"], {"pid": writer.pid, "comm": "sleep"})
        self.assertEqual(thread["object"]["peer_count"], 1)

    def test_a_full_pipe_has_its_reader(self):
        with child("yes", stdout=subprocess.PIPE) as writer, \
                child("sleep", 1000, stdin=writer.stdout) as reader:
            writer.stdout.close()
            thread = self.ask(writer)
        self.assertEqual(thread["syscall"], "write")
        self.assertEqual(thread["object"]["peer"], {"pid": reader.pid, "comm": "sleep"})

    def test_a_pipe_with_a_name_has_its_writer(self):
        path = f"{self.folder.name}/fifo"
        os.mkfifo(path)
        with child("sh", "-c", f"exec sleep 1000 >{path}") as writer, \
                child("sh", "-c", f"exec cat <{path}") as reader:
            wait_until(lambda: pathlib.Path(f"/proc/{reader.pid}/comm").read_text() == "cat\n" and
                       pathlib.Path(f"/proc/{writer.pid}/comm").read_text() == "sleep\n")
            thread = self.ask(reader)
        if "wait_channel" not in thread:
            self.skipTest("needs CAP_SYS_PTRACE or a kernel that shows wait channels")
        self.assertEqual(thread["object"]["file"], path)
        self.assertEqual(thread["object"]["peer"]["pid"], writer.pid)

    def test_a_unix_socket_has_its_peer(self):
        ours, theirs = socket.socketpair()
        with ours, child("cat", stdin=theirs) as reader:
            theirs.close()
            thread = self.ask(reader)
        self.assertEqual(thread["reason"], "pipe")
        self.assertEqual(thread["object"]["kind"], "socket")
        self.assertEqual(thread["object"]["name"], "unix")
        self.assertEqual(thread["object"]["peer"]["pid"], os.getpid())

    def check_tcp(self, family, address):
        with socket.create_server((address, 0), family=family) as listener:
            port = listener.getsockname()[1]
            ours = socket.create_connection((address, port))
            theirs, _ = listener.accept()
            with ours, child("cat", stdin=theirs) as reader:
                theirs.close()
                thread = self.ask(reader)
                shown = f"[{address}]" if family == socket.AF_INET6 else address
                name = f"tcp {shown}:{port} to {shown}:{ours.getsockname()[1]}"
        self.assertEqual(thread["reason"], "network")
        self.assertEqual(thread["object"]["name"], name)
        self.assertEqual(thread["object"]["peer"]["pid"], os.getpid())

    def test_a_tcp_socket_has_its_peer(self):
        self.check_tcp(socket.AF_INET, "127.0.0.1")

    def test_a_tcp_socket_of_the_newer_protocol_has_its_peer(self):
        if not socket.has_dualstack_ipv6():
            self.skipTest("the host has no IPv6")
        self.check_tcp(socket.AF_INET6, "::1")

    def test_a_terminal_is_one(self):
        first, second = os.openpty()
        with child("cat", stdin=second) as reader:
            os.close(second)
            thread = self.ask(reader)
        os.close(first)
        self.assertEqual(thread["object"]["kind"], "terminal")
        self.assertTrue(thread["object"]["file"].startswith("/dev/pts/"))

    def test_a_child_is_named(self):
        with child("sh", "-c", "sleep 1000; true") as shell:
            wait_until(lambda: children_of(shell.pid))
            [sleeper] = children_of(shell.pid)
            wait_until(lambda: pathlib.Path(f"/proc/{sleeper}/comm").read_text() == "sleep\n")
            thread = self.ask(shell)
            os.kill(sleeper, signal.SIGKILL)
        self.assertEqual(thread["object"]["kind"], "child")
        self.assertEqual(thread["object"]["peer"], {"pid": sleeper, "comm": "sleep"})

    @unittest.skipUnless(is_root(), "the descriptors of all processes are seen by root")
    def test_a_parent_and_a_child_that_wait_for_each_other(self):
        """The child waits for input that only its parent could send."""
        script = ("import os\n"
                  "ours, theirs = os.pipe()\n"
                  "pid = os.fork()\n"
                  "if pid == 0:\n"
                  "    os.close(theirs)\n"
                  "    os.read(ours, 1)\n"
                  "print(pid, flush=True)\n"
                  "os.waitpid(pid, 0)\n")
        with child(sys.executable, "-c", script) as parent:
            pid = int(parent.stdout.readline())
            wait_for_idle(parent.pid, pid)
            answer, other = why(parent.pid), why(pid)
            os.kill(pid, signal.SIGKILL)
        for found in (answer, other):
            self.assertEqual(found["verdict"]["cause"], "deadlock")
            self.assertEqual({member["pid"] for member in found["deadlock"]}, {parent.pid, pid})

    def test_a_pipe_to_oneself_is_not_a_deadlock(self):
        """A signal handler may write to it."""
        script = "import os\nends = os.pipe()\nprint('ready', flush=True)\nos.read(ends[0], 1)\n"
        with child(sys.executable, "-c", script) as process:
            process.stdout.readline()
            wait_for_idle(process.pid)
            answer = why(process.pid)
        self.assertNotIn("deadlock", answer)
        self.assertEqual(answer["threads"][0]["object"]["peer"]["pid"], process.pid)


def children_of(pid):
    return list(map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


class Turns(TestCase):
    @unittest.skipUnless(has_bpf(), "needs BPF")
    def test_threads_that_pass_a_global_lock_on_have_a_holder(self):
        """Python's threads wait for a condition with a time limit."""
        if not hasattr(sys, "_is_gil_enabled"):
            script = ("import threading\n"
                      "def spin():\n"
                      "    while True:\n"
                      "        pass\n"
                      "for _ in range(3):\n"
                      "    threading.Thread(target=spin).start()\n"
                      "spin()\n")
            with child(sys.executable, "-c", script) as process:
                wait_until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 4)
                answers = [why(process.pid, "-d", "1s") for _ in range(3)]
            waits = [thread for answer in answers for thread in answer["threads"]
                     if "reason" in thread]
            held = [thread for thread in waits if thread["reason"] == "lock"]
            self.assertTrue(held, waits)
            for thread in held:
                self.assertEqual(thread["object"]["holder"]["pid"], process.pid)
                self.assertNotEqual(thread["object"]["holder"]["tid"], thread["tid"])


if __name__ == "__main__":
    main()
