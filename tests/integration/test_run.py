#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`run`: the command is left alone, its tree is seen whole, and mistakes are told in one sentence."""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
import unittest

import support
from kernel import WAYS
from support import HANG, TASKSCOPE, is_root, wait_until

NOBODY = 65534
UNPRIVILEGED = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
# Not a script that finds the right one: it opens files of its own.
REAL_PYTHON = os.path.realpath(sys.executable)
# A report that nobody reads is given up after this time.
PATIENCE = 10
# For a shell: until its child has become sleep(1).
RUNS_SLEEP = 'while read name < /proc/$!/comm; test "$name" != sleep; do :; done'
# Those that see every process, however short it lives.
EXACT = [source for source in WAYS if source != "procfs"]


def reachable_by_nobody():
    """Whether another user can run the program, and get a directory of his own."""
    if not is_root() or not shutil.which("setpriv"):
        return False
    return subprocess.run([*UNPRIVILEGED, TASKSCOPE, "--version"],
                          capture_output=True).returncode == 0


def children(pid):
    found = []
    for folder in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += map(int, (folder / "children").read_text().split())
    return found


def child_that_runs(pid, name):
    """The child of a process that runs this program; there may be others that end meanwhile."""
    for child in children(pid):
        with contextlib.suppress(OSError):
            if support.comm_of(child) == name:
                return child
    return None


def pending_signals(pid):
    """Those that were sent to a process and that it has not taken yet."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    mask = int(next(line.split()[1] for line in lines if line.startswith("ShdPnd:")), 16)
    return {number for number in signal.valid_signals() if mask >> (number - 1) & 1}


class RunCase(support.TestCase):
    def lines(self, name="run.jsonl"):
        text = pathlib.Path(self.path(name)).read_text()
        return [json.loads(line) for line in text.splitlines(True) if line.endswith("\n")]

    def watch(self, *command, way=None, options=(), status=0, **more):
        """Runs a command; gives the lines that were written about it."""
        words = ["run", "-o", self.path("run.jsonl"), "-q", *options]
        if way:
            words += ["--source", way]
        done, out, err = support.run(*words, "--", *command, **more)
        self.assertEqual(done, status, err)
        self.out, self.err = out, err
        return self.lines()

    def until(self, name):
        """A command for a shell that waits for a file with this name, or for the end of the test."""
        return f"until test -e {self.path(name)} || ! test -d {self.folder.name}; do sleep 0.05; done"

    def start(self, *words, **options):
        process = subprocess.Popen([TASKSCOPE, "run", *map(str, words)], stdin=subprocess.DEVNULL,
                                   **options)
        self.addCleanup(process.kill)
        return process

    def refuse_run(self, *words, status=125, says="", **options):
        """One sentence, nothing on standard output, and the status of a failure of ours."""
        done, out, err = support.run("run", *words, **options)
        self.assertEqual((done, out), (status, ""), f"{words}: {err}")
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertTrue(err.startswith("taskscope: "), err)
        self.assertIn(says, err)


class Status(RunCase):
    def test_every_exit_code_is_passed_on(self):
        for code in range(256):
            done, _, err = support.run("run", "-q", "--source", WAYS[-1], "sh", "-c",
                                       f"exit {code}")
            self.assertEqual((done, err), (code, ""))

    def test_codes_are_those_of_the_command_in_every_way(self):
        for way in WAYS:
            for code in (0, 1, 124, 125, 126, 127, 255):
                with self.subTest(way=way, code=code):
                    summary = self.watch("sh", "-c", f"exit {code}", way=way, status=code)[-1]
                    self.assertEqual(summary["kind"], "summary")
                    self.assertEqual(summary["exit_code"], code)

    def test_a_signal_is_128_and_its_number(self):
        for way in WAYS:
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT,
                           signal.SIGKILL, signal.SIGPIPE, signal.SIGTERM, signal.SIGUSR1):
                with self.subTest(way=way, signal=number.name):
                    summary = self.watch("sh", "-c", f"ulimit -c 0; kill -{int(number)} $$",
                                         way=way, status=128 + number)[-1]
                    self.assertEqual(summary["signal"], number)
                    self.assertNotIn("exit_code", summary)

    def test_a_command_that_is_not_there(self):
        self.refuse_run("there-is-no-such-command", status=127, says="there-is-no-such-command")
        self.refuse_run("./there-is-none", status=127, says="./there-is-none")

    def test_a_command_that_cannot_be_executed(self):
        pathlib.Path(self.path("plain")).write_text("#!/bin/sh\n")
        os.chmod(self.path("plain"), 0o644)
        self.refuse_run(self.path("plain"), status=126, says="Permission denied")
        self.refuse_run(self.folder.name, status=126)

    def test_a_script_without_its_interpreter(self):
        pathlib.Path(self.path("script")).write_text("#!/no/such/interpreter\n")
        os.chmod(self.path("script"), 0o755)
        self.refuse_run(self.path("script"), status=127)

    def test_the_path_is_searched(self):
        pathlib.Path(self.path("here")).write_text("#!/bin/sh\nexit 9\n")
        os.chmod(self.path("here"), 0o755)
        environment = dict(os.environ, PATH=f"/nonexistent:{self.folder.name}:/bin:/usr/bin")
        self.assertEqual(support.run("run", "-q", "here", env=environment)[0], 9)

    def test_a_command_that_dies_at_once(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.assertEqual(self.watch("true", way=way)[-1]["exit_code"], 0)
                self.assertEqual(self.watch("sh", "-c", "kill -9 $$", way=way,
                                            status=137)[-1]["signal"], 9)

    def sleeper(self, pid):
        """The child that runs sleep, once it sleeps."""
        child = child_that_runs(pid, "sleep")
        stat = pathlib.Path(f"/proc/{child}/stat").read_text() if child else ""
        return child if ") S " in stat else None

    def test_a_command_that_is_killed(self):
        for way in WAYS:
            with self.subTest(way=way):
                process = self.start("-q", "-o", self.path("run.jsonl"), "--source", way,
                                     "sleep", "100")
                # The kernel gives the new name before it tells of the exec, from which on we watch.
                victim = wait_until(lambda: self.sleeper(process.pid))
                os.kill(victim, signal.SIGKILL)
                self.assertEqual(process.wait(timeout=HANG), 137)
                summary = self.lines()[-1]
                self.assertEqual(summary["signal"], 9)
                if way == "bpf":
                    self.assertEqual(summary["sender_pid"], os.getpid())


class Mistakes(RunCase):
    def test_no_command(self):
        self.refuse_run(says="needs a command")
        self.refuse_run("--", says="needs a command")
        self.refuse_run("-q", says="needs a command")

    def test_options_that_are_none(self):
        self.refuse_run("--nonsense", "true", says="--nonsense")
        self.refuse_run("-i", "soon", "true", says="--interval")
        self.refuse_run("-i", "0", "true", says="--interval")
        self.refuse_run("-i", "2h", "true", says="--interval")
        self.refuse_run("-d", "0", "true", says="--duration")
        self.refuse_run("-o", says="--output")
        self.refuse_run("--source", "magic", "true", says="--source")

    def test_an_output_of_another_kind(self):
        self.refuse_run("-o", self.path("run.csv"), "true", says=".jsonl")
        self.refuse_run("-o", "-", "-o", "-.folded", "true", says="standard output twice")

    def never_runs(self, *words, **more):
        marker = self.path("marker")
        self.refuse_run(*words, "--", "touch", marker, **more)
        self.assertFalse(os.path.exists(marker))

    def test_an_output_that_cannot_be_written_is_found_before_the_command_starts(self):
        self.never_runs("-o", self.path("nowhere/run.jsonl"), says="nowhere")
        os.mkdir(self.path("folder.jsonl"))
        self.never_runs("-o", self.path("folder.jsonl"), says="folder.jsonl")
        os.symlink("/dev/full", self.path("full.jsonl"))
        self.never_runs("-o", self.path("full.jsonl"),
                        says="No space left on device: nothing was started; write it elsewhere")
        os.mkfifo(self.path("pipe.jsonl"))
        self.never_runs("-o", self.path("pipe.jsonl"), says="pipe.jsonl")

    @unittest.skipUnless(reachable_by_nobody(), "needs root to be someone else")
    def test_an_output_of_someone_else(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "mine.jsonl").write_text("")
        (folder / "mine.jsonl").chmod(0o600)
        folder.chmod(0o755)
        self.never_runs("-o", folder / "mine.jsonl", says="Permission denied", prefix=UNPRIVILEGED)

    def test_an_output_that_fails_later_does_not_touch_the_command(self):
        path = self.path("pipe.jsonl")
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        runs = pathlib.Path(self.path("runs"))
        process = self.start("-q", "-o", path, "sh", "-c", f": >'{runs}'; {self.until('go')}; /bin/true; echo done",
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not runs.exists():  # what cannot be written before that keeps the command from running
            if select.select([reader], [], [], 0.01)[0]:
                os.read(reader, 1 << 20)
        os.close(reader)
        pathlib.Path(self.path("go")).touch()
        out, err = process.communicate(timeout=HANG)
        self.assertEqual((process.returncode, out), (0, b"done\n"), err)
        self.assertEqual(len(err.splitlines()), 1)
        self.assertIn(b"could not be written", err)

    @unittest.skipUnless(EXACT, "needs kernel events")
    def test_a_reader_of_the_lines_that_stops_holds_nobody(self):
        path = self.path("pipe.jsonl")
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        process = self.start("-q", "-o", path, "sh", "-c", "trap 'echo told; exit 3' TERM; "
                             "i=0; while :; do /bin/true; i=$((i+1)); "
                             "[ $i = 300 ] && echo ready; done", stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.readline(), b"told\n")
        process.stdout.close()
        # It goes on: all that waited arrives.
        text = b""
        while process.poll() is None or select.select([reader], [], [], 0)[0]:
            select.select([reader], [], [], 0.1)
            with contextlib.suppress(BlockingIOError):
                piece = os.read(reader, 1 << 16)
                text += piece
                if not piece and process.poll() is not None:
                    break
        self.assertEqual(process.returncode, 3)
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual(lines[-1]["losses"]["lines"], 0)
        self.assertGreater(len([line for line in lines if line["kind"] == "exit"]), 250)

    @unittest.skipUnless(is_root(), "needs root for a small file system")
    def test_a_full_disk_keeps_whole_lines_and_the_summary_and_leaves_the_command_alone(self):
        """Filled by the lines themselves, or by the command, which takes what is left of it."""
        small = pathlib.Path(self.path("small"))
        small.mkdir()
        fill = f"cat /dev/zero > {small}/zeros 2>&-; "
        for command in "", fill:
            with self.subTest(command=command):
                subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", small], check=True)
                try:
                    self.fill_disk(small / "run.jsonl", command)
                finally:
                    subprocess.run(["umount", small], check=True)

    def fill_disk(self, path, command):
        loop = "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done; echo done; exit 3"
        done, out, err = support.run("run", "-q", "-o", path, "sh", "-c", command + loop)
        self.assertEqual((done, out), (3, "done\n"), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn("No space left", err)
        text = path.read_text()
        self.assertTrue(text.endswith("\n"))
        *_, summary = map(json.loads, text.splitlines())
        self.assertEqual((summary["kind"], summary["exit_code"]), ("summary", 3))
        self.assertEqual(summary["processes_ever"], 302 if command else 301)
        self.assertGreater(summary["losses"]["lines"], 0)
        self.assertIn(f"{summary['losses']['lines']} lines", err)
        self.assertTrue(summary["brief"])
        self.assertEqual(len(summary["threads"]) + summary["threads_omitted"],
                         summary["threads_ever"])
        self.assertIn("exited 3", self.accept("report", path))
        self.assertLess(path.stat().st_blocks * 512 - path.stat().st_size, 8192, "no room is kept")


class LeftAlone(RunCase):
    # What a process inherits, as the kernel and the shell tell it.
    INHERITED = """grep -E '^(Sig(Blk|Ign|Cgt)|CapInh|CapPrm|CapEff|CapBnd|NoNewPrivs|Seccomp|Uid|Gid)' /proc/self/status
        ulimit -a; ulimit -Ha; nice; umask; pwd; env | grep -v ^_= | sort; id
        awk '{ print $5, $6, $7, $8 }' /proc/$$/stat; cat /proc/self/oom_score_adj
        cut -d: -f2- /proc/self/cgroup; taskset -p $$ | sed 's/.*://'; ls /proc/self/fd | wc -l"""

    def both(self, *command, words=("-q",), **options):
        """What a command prints by itself, and under taskscope."""
        plain = subprocess.run(command, capture_output=True, **options)
        watched = subprocess.run([TASKSCOPE, "run", *words, *command], capture_output=True,
                                 **options)
        self.assertEqual(plain.stderr, watched.stderr)
        self.assertEqual(plain.returncode, watched.returncode)
        return plain.stdout.decode(), watched.stdout.decode()

    def test_a_command_inherits_what_we_did(self):
        for way in WAYS:
            with self.subTest(way=way):
                plain, watched = self.both("sh", "-c", self.INHERITED, stdin=subprocess.DEVNULL,
                                           words=("-q", "--source", way))
                self.assertEqual(plain, watched)

    def test_ignored_and_blocked_signals_stay_so(self):
        numbers = (signal.SIGPIPE, signal.SIGINT, signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP,
                   signal.SIGQUIT, signal.SIGUSR1)

        def ignore():
            for number in numbers:
                signal.signal(number, signal.SIG_IGN)

        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK, numbers)

        command = ["sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status; exit 7"]
        for prepare in (ignore, block):
            with self.subTest(prepare.__name__):
                plain, watched = (subprocess.run([*before, *command], capture_output=True,
                                                 restore_signals=False, preexec_fn=prepare)
                                  for before in ((), (TASKSCOPE, "run", "-q")))
                self.assertEqual((plain.stdout, plain.returncode),
                                 (watched.stdout, watched.returncode))

    def test_an_ignored_end_of_children_does_not_hide_the_status(self):
        done = subprocess.run([TASKSCOPE, "run", "-q", "sh", "-c", "exit 5"],
                              preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 5)

    def test_limits_are_those_of_the_shell(self):
        def prepare():
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300))

        plain, watched = self.both("sh", "-c", "ulimit -a; ulimit -Ha", preexec_fn=prepare)
        self.assertEqual(plain, watched)

    def test_no_descriptor_of_ours_is_left(self):
        show = [sys.executable, "-c", "import os; print(sorted(os.listdir('/proc/self/fd')))"]
        with open(os.devnull) as inherited:
            for way in WAYS:
                with self.subTest(way=way):
                    plain, watched = self.both(*show, stdin=subprocess.DEVNULL,
                                               words=("-q", "--source", way, "-o",
                                                      self.path("run.jsonl")),
                                               pass_fds=[inherited.fileno()])
                    self.assertEqual(plain, watched)
                    self.assertIn(f"'{inherited.fileno()}'", watched)

    def test_closed_standard_streams_stay_closed_and_are_not_mixed_up(self):
        show = "import os; fd = os.open(os.environ['OUT'], os.O_WRONLY | os.O_CREAT); " \
               "os.write(fd, b'%d' % fd)"
        for closed in (0, 1, 2):
            with self.subTest(closed=closed):
                environment = dict(os.environ, OUT=self.path(f"out{closed}"))
                done = subprocess.run(["sh", "-c", f'exec "$0" run -o "$1" "$2" -c "$3" {closed}>&-',
                                       TASKSCOPE, self.path("run.jsonl"), REAL_PYTHON, show],
                                      env=environment, capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(pathlib.Path(self.path(f"out{closed}")).read_text(), str(closed))
                self.assertEqual(self.lines()[-1]["kind"], "summary")

    def test_standard_input_passes_through(self):
        data = os.urandom(1 << 20)
        done = subprocess.run([TASKSCOPE, "run", "-q", "cat"], input=data, capture_output=True)
        self.assertEqual((done.returncode, done.stdout == data), (0, True))

    def test_a_flood_of_output_passes_through(self):
        process = self.start("-q", "sh", "-c", "yes | head -c 100000000", stdout=subprocess.PIPE)
        size = 0
        while piece := process.stdout.read(1 << 20):
            size += len(piece)
        process.stdout.close()
        self.assertEqual((process.wait(timeout=HANG), size), (0, 100000000))

    def test_a_reader_that_goes_away_ends_the_command_as_always(self):
        done = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" run -q yes | head -n 1',
                               TASKSCOPE], capture_output=True, timeout=HANG)
        self.assertEqual((done.returncode, done.stdout), (141, b"y\n"))

    def test_options_after_the_first_word_are_the_commands(self):
        done, out, _ = support.run("run", "-q", "echo", "-q", "--help", "-h", "--", "x")
        self.assertEqual((done, out), (0, "-q --help -h -- x\n"))
        done, out, _ = support.run("run", "-q", "--", "echo", "--version")
        self.assertEqual(done, 0)

    def test_help_is_ours_before_the_first_word(self):
        done, out, _ = support.run("run", "-o", "file.jsonl", "--help")
        self.assertEqual(done, 0)
        self.assertIn("Usage: taskscope run", out)

    def test_a_full_pipe_as_standard_error_does_not_hold_the_command(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        fcntl.fcntl(writer, fcntl.F_SETFL, 0)
        process = self.start("sh", "-c", "echo done", stdout=subprocess.PIPE, stderr=writer)
        os.close(writer)
        # Before the report is given up: nobody makes room in the pipe.
        self.assertEqual(process.stdout.readline(), b"done\n")
        self.assertIsNone(process.poll())
        process.stdout.close()
        self.assertEqual(process.wait(timeout=PATIENCE + HANG), 0)

    def test_a_report_goes_to_standard_error_alone(self):
        done, out, err = support.run("run", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((done, out), (0, "out\n"))
        self.assertTrue(err.startswith("err\n"))
        self.assertGreater(len(err.splitlines()), 2)
        self.assertNotIn("\r", err)
        self.assertNotIn("\033", err)

    def setuid_copy(self, owner):
        """A copy of id(1) that runs as its owner; skipped where the file system forbids that."""
        path = self.path("id")
        shutil.copy(shutil.which("id"), path)
        os.chown(path, owner, owner)
        os.chmod(path, 0o4755)
        os.chmod(self.folder.name, 0o755)
        return path

    @unittest.skipUnless(is_root(), "needs root to make one")
    def test_a_setuid_command_of_root(self):
        plain, watched = self.both(self.setuid_copy(NOBODY), "-u")
        self.assertEqual(plain, watched)

    @unittest.skipUnless(reachable_by_nobody(), "needs root to be someone else")
    def test_a_setuid_command_of_someone_else(self):
        path = self.setuid_copy(0)
        plain = subprocess.run([*UNPRIVILEGED, path, "-u"], capture_output=True)
        done, out, err = support.run("run", "-q", path, "-u", prefix=UNPRIVILEGED)
        self.assertEqual((done, out), (0, plain.stdout.decode()), err)


class Signals(RunCase):
    def test_signals_that_were_meant_for_the_command_are_passed_on(self):
        numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1,
                   signal.SIGUSR2)
        script = "trap 'exit 33' INT QUIT TERM HUP USR1 USR2; echo ready; " \
                 "while :; do sleep 0.05; done"
        for number in numbers:
            with self.subTest(signal=number.name):
                process = self.start("sh", "-c", script, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE)
                process.stdout.readline()
                process.send_signal(number)
                out, err = process.communicate(timeout=HANG)
                self.assertEqual(process.returncode, 33)
                self.assertGreater(len(err.splitlines()), 2, "the report still comes")

    def test_what_the_tree_sends_is_not_sent_back(self):
        """By a child to the whole group, and by the command to its parent.

        Who sees only those that live long enough must not come too late for the child.
        """
        for way in WAYS:
            stay = "" if way in EXACT else self.until(f"taken-{way}")
            script = "trap 'echo caught' INT; trap 'exit 5' USR1; trap 'exit 6' TERM; " \
                     f"sh -c 'trap : INT; kill -INT 0; echo sent; {stay}'; kill -USR1 $PPID; " \
                     "echo ready; while :; do sleep 0.05; done"
            with self.subTest(way=way):
                process = self.start("-q", "--source", way, "--", "sh", "-c", script,
                                     stdout=subprocess.PIPE, start_new_session=True)
                self.addCleanup(process.stdout.close)
                self.assertEqual(process.stdout.readline(), b"sent\n")
                wait_until(lambda: signal.SIGINT not in pending_signals(process.pid))
                pathlib.Path(self.path(f"taken-{way}")).touch()
                said = [process.stdout.readline() for _ in range(2)]
                self.assertEqual(said, [b"caught\n", b"ready\n"])
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.stdout.read(), b"")
                self.assertEqual(process.wait(timeout=HANG), 6)

    def test_a_command_that_never_exits_is_ended_after_a_while(self):
        begin = time.monotonic()
        summary = self.watch("sleep", "1000", options=["-d", "300ms"], status=124)[-1]
        self.assertLess(time.monotonic() - begin, HANG)
        self.assertEqual(summary["signal"], signal.SIGTERM)

    def test_a_command_that_ends_in_time_keeps_its_status(self):
        self.watch("sh", "-c", "exit 6", options=["-d", "20s"], status=6)

    def test_a_command_that_does_not_obey_is_killed_five_seconds_later(self):
        # It inherits that the signal is ignored, so that it never obeys.
        begin = time.monotonic()
        summary = self.watch("sleep", "1000", options=["-d", "1s"], status=124,
                             preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))[-1]
        self.assertGreater(time.monotonic() - begin, 5.9)
        self.assertLess(time.monotonic() - begin, HANG)
        self.assertEqual(summary["signal"], signal.SIGKILL)

    def test_a_stopped_command_can_be_ended(self):
        self.watch("sh", "-c", "kill -STOP $$", options=["-d", "500ms"], status=124)

    def test_a_killed_taskscope_leaves_a_readable_file_and_the_command(self):
        script = f"until test -e {self.path('go')}; do /bin/true; sleep 0.01; done; " \
                 f"touch {self.path('end')}"
        process = self.start("-q", "-o", self.path("run.jsonl"), "sh", "-c", script)
        path = pathlib.Path(self.path("run.jsonl"))
        wait_until(lambda: path.exists() and path.read_text().count("\n") > 20)
        process.kill()
        process.wait()
        pathlib.Path(self.path("go")).touch()
        text = path.read_text()
        lines = [json.loads(line) for line in text.splitlines(True) if line.endswith("\n")]
        self.assertEqual([line["kind"] for line in lines[:2]], ["env", "metadata"])
        self.assertGreater(len(lines), 10)
        wait_until(lambda: os.path.exists(self.path("end")))

    def test_what_happened_is_in_the_file_of_a_killed_taskscope(self):
        script = f"""sh -c 'exit 7'; sh -c 'kill -SEGV $$'; echo ready; {self.until('go')}"""
        for way in EXACT:
            with self.subTest(way=way):
                process = self.start("-q", "--source", way, "-o", self.path("run.jsonl"), "--",
                                     "sh", "-c", script, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL)
                self.addCleanup(process.stdout.close)
                self.assertEqual(process.stdout.readline(), b"ready\n")
                wait_until(lambda: sum(line["kind"] == "exit" for line in self.lines()) >= 2)
                process.kill()
                process.wait()
                out = self.accept("report", self.path("run.jsonl"), "--format", "json")
                exits = [line for line in self.lines() if line["kind"] == "exit"]
                self.assertEqual({line.get("exit_code", line.get("signal")) for line in exits},
                                 {7, signal.SIGSEGV})
                self.assertEqual(json.loads(out)["exited"], 2)
        pathlib.Path(self.path("go")).touch()


class Terminal(RunCase):
    """On a terminal of its own."""

    def spawn(self, *words, modes=()):
        """taskscope as the leader of a session on a new terminal; gives its pid and the terminal."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm"
            if modes:
                subprocess.run(["stty", *modes])
            os.execv(TASKSCOPE, [TASKSCOPE, "run", *words])
        self.addCleanup(os.close, terminal)
        self.said = b""
        return pid, terminal

    def listen(self, terminal, until=None, seconds=HANG):
        """Reads until something was said, or everyone left the terminal."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and (until is None or until not in self.said):
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                self.said += os.read(terminal, 65536)
            except OSError:
                return
        if until is not None:
            self.assertIn(until, self.said)

    def status(self, pid):
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_an_interrupt_goes_to_the_command_and_the_report_still_comes(self):
        pid, terminal = self.spawn("sh", "-c", "echo ready; exec sleep 100")
        self.listen(terminal, b"ready")
        os.write(terminal, b"\x03")
        self.listen(terminal)
        self.assertEqual(self.status(pid), 128 + signal.SIGINT)
        self.assertGreater(self.said.count(b"\n"), 3)

    def test_a_command_may_handle_the_interrupt(self):
        pid, terminal = self.spawn("sh", "-c", "trap 'echo caught; exit 3' INT; echo ready; "
                                   "while :; do sleep 0.05; done")
        self.listen(terminal, b"ready")
        os.write(terminal, b"\x03")
        self.listen(terminal)
        self.assertIn(b"caught", self.said)
        self.assertEqual(self.status(pid), 3)

    # Counts interrupts, and tells them when it is asked to end.  A second one of a signal of a lower
    # number would come before the TERM that was sent after it.
    COUNTING = """if True:
        import os, signal
        caught = []
        def say(*words):
            os.write(1, " ".join(words).encode() + b"\\n")
        def end(*_):
            say("caught", *caught)
            os._exit(3)
        def catch(number, _):
            caught.append(signal.Signals(number).name)
            say("noted")
        for number in (signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, catch)
        signal.signal(signal.SIGTERM, end)
        say("ready")
        while True:
            signal.pause()
        """

    def test_what_is_typed_reaches_the_command_once(self):
        for key, name in (b"\x03", b"SIGINT"), (b"\x1c", b"SIGQUIT"):
            with self.subTest(name):
                pid, terminal = self.spawn("-q", REAL_PYTHON, "-c", self.COUNTING)
                self.listen(terminal, b"ready")
                os.write(terminal, key)
                self.listen(terminal, b"noted")
                os.kill(pid, signal.SIGTERM)
                self.listen(terminal)
                self.assertIn(b"caught %s\r\n" % name, self.said)
                self.assertEqual(self.status(pid), 3)

    def test_an_interrupt_that_was_sent_reaches_the_command_of_a_terminal_too(self):
        pid, terminal = self.spawn("-q", REAL_PYTHON, "-c", self.COUNTING)
        self.listen(terminal, b"ready")
        os.kill(pid, signal.SIGINT)
        self.listen(terminal, b"noted")
        os.kill(pid, signal.SIGTERM)
        self.listen(terminal)
        self.assertIn(b"caught SIGINT\r\n", self.said)
        self.assertEqual(self.status(pid), 3)

    def test_a_hangup_of_the_terminal_ends_the_command(self):
        """The kernel tells the leader of the session alone, which is taskscope here."""
        pid, terminal = self.spawn("-q", "sh", "-c", f"echo ready; {self.until('never')}")
        self.listen(terminal, b"ready")
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), terminal)
        self.assertEqual(self.status(pid), 128 + signal.SIGHUP)

    def test_the_modes_of_the_terminal_stay_as_they_are(self):
        pid, terminal = self.spawn("sh", "-c", "echo ready; sleep 1; read line; echo got $line")
        before = termios.tcgetattr(terminal)
        self.listen(terminal, b"ready")
        time.sleep(1)
        self.assertEqual(termios.tcgetattr(terminal), before)
        os.write(terminal, b"words\n")
        self.listen(terminal)
        self.assertIn(b"got words", self.said)
        self.assertEqual(self.status(pid), 0)

    def test_the_live_line_is_drawn_in_place_and_erased(self):
        begin = time.monotonic()
        pid, terminal = self.spawn("sh", "-c", self.until("drawn"))
        while self.said.count(b"\033[K\r") < 3:
            self.listen(terminal, seconds=0.1)
            self.assertLess(time.monotonic() - begin, HANG)
        pathlib.Path(self.path("drawn")).touch()
        self.listen(terminal)
        self.assertEqual(self.status(pid), 0)
        drawn = self.said.count(b"\033[K\r")
        self.assertGreater(drawn, 2)
        self.assertLessEqual(drawn, 4 * (time.monotonic() - begin) + 2, "four times a second")
        live = self.said[:self.said.rindex(b"\033[K\r")]
        self.assertNotIn(b"\n", live)

    def test_nothing_is_drawn_when_quiet_or_while_the_screen_is_someone_elses(self):
        pid, terminal = self.spawn("-q", "sleep", "1.5")
        self.listen(terminal)
        self.assertEqual((self.status(pid), self.said), (0, b""))
        pid, terminal = self.spawn("sleep", "1.5", modes=["-icanon", "-echo"])
        self.listen(terminal)
        self.assertEqual(self.status(pid), 0)
        self.assertNotIn(b"\033[K\r", self.said)

    def test_a_stopped_job_goes_on(self):
        """A shell with job control runs taskscope; Ctrl-Z stops all of it, fg lets it go on."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.addCleanup(os.close, terminal)
        self.said = b""
        os.write(terminal, f"PS1=; {TASKSCOPE} run -q sh -c 'echo rea''dy; {self.until('go')}; "
                 f"echo e''nd'\n".encode())
        self.listen(terminal, b"ready\r\n")
        os.write(terminal, b"\x1a")
        self.listen(terminal, b"Stopped")
        pathlib.Path(self.path("go")).touch()
        self.listen(terminal, seconds=1)
        self.assertNotIn(b"\nend\r\n", self.said)
        os.write(terminal, b"fg\n")
        self.listen(terminal, b"\nend\r\n")
        os.write(terminal, b"echo status $?; exit\n")
        self.listen(terminal, b"status 0")
        self.listen(terminal)
        os.waitpid(pid, 0)


class Tree(RunCase):
    # Lives until there are lines of three looks more at it.
    SAMPLED = """looks() { grep -c '"kind":"sample"' "$0"; }; enough=$(($(looks) + 3))
        until test "$(looks)" -ge $enough; do sleep 0.05; done"""

    def test_lines_are_of_known_kinds_and_the_summary_is_the_last(self):
        for way in WAYS:
            with self.subTest(way=way):
                pathlib.Path(self.path("run.jsonl")).unlink(missing_ok=True)
                lines = self.watch("sh", "-c", self.SAMPLED, self.path("run.jsonl"), way=way)
                kinds = [line["kind"] for line in lines]
                self.assertEqual(kinds[:2], ["env", "metadata"])
                self.assertEqual(kinds[-1], "summary")
                self.assertEqual(kinds.count("summary"), 1)
                self.assertGreaterEqual(kinds.count("sample"), 3)
                self.assertLessEqual(set(kinds), {"env", "metadata", "sample", "tree", "event",
                                                  "exit", "states", "frame", "stack", "summary"})
                self.assertTrue(all("ts_ms" in line for line in lines))

    @unittest.skipUnless(EXACT, "needs kernel events")
    def test_short_children_are_all_counted(self):
        script = "import subprocess\nfor _ in range(200):\n subprocess.run(['true'])"
        for way in EXACT:
            with self.subTest(way=way):
                lines = self.watch(sys.executable, "-c", script, way=way)
                exits = [line for line in lines if line["kind"] == "exit"]
                self.assertEqual(len(exits), 201)
                self.assertEqual(len({line["pid"] for line in exits}), 201)
                self.assertTrue(all(line["exit_code"] == 0 for line in exits))
                self.assertEqual(lines[-1]["processes_ever"], 201)

    @unittest.skipUnless(EXACT, "needs kernel events")
    def test_each_process_has_one_exit_line_with_its_end(self):
        script = "sh -c 'exit 3'; sh -c 'kill -9 $$'; exit 0"
        for way in EXACT:
            with self.subTest(way=way):
                lines = self.watch("sh", "-c", script, way=way)
                exits = [line for line in lines if line["kind"] == "exit"]
                ends = sorted((line.get("exit_code", -1), line.get("signal", 0)) for line in exits)
                self.assertEqual(ends, [(-1, 9), (0, 0), (3, 0)])

    def test_lines_are_for_their_owner_alone(self):
        self.watch("true")
        self.assertEqual(os.stat(self.path("run.jsonl")).st_mode & 0o777, 0o600)

    def test_totals_never_fall(self):
        for way in WAYS:
            with self.subTest(way=way):
                loop = "i=0; while [ $i -lt 60 ]; do head -c 100000 /dev/zero | cat > /dev/null; " \
                       "sleep 0.01; i=$((i+1)); done"
                samples = [line for line in self.watch("sh", "-c", loop, way=way)
                           if line["kind"] == "sample"]
                for key in ("cpu_time_ns", "rchar", "voluntary_csw"):
                    values = [line[key] for line in samples if key in line]
                    self.assertEqual(values, sorted(values), key)

    @unittest.skipUnless("bpf" in WAYS, "needs the kernel side")
    def test_each_time_off_the_cpu_is_counted_once(self):
        script = "import time\nfor _ in range(300):\n time.sleep(0.001); sum(range(10000))"
        summary = self.watch(sys.executable, "-c", script, way="bpf", options=["-i", "10ms"])[-1]
        thread = summary["threads"][0]
        count, waited = thread["offcpu_count"], thread["wall_time_ns"] - thread["run_time_ns"]
        switches = thread["voluntary_csw"] + thread["nonvoluntary_csw"]
        self.assertGreaterEqual(count, 300)
        self.assertAlmostEqual(count, switches, delta=1)
        self.assertGreater(thread["offcpu_min_ns"], 0)
        self.assertLessEqual(thread["offcpu_min_ns"] * count, waited)
        self.assertGreaterEqual(thread["offcpu_max_ns"] * count, waited)
        self.assertEqual(summary["offcpu"]["total_events"], summary["offcpu_count"])
        self.assertEqual(summary["offcpu"]["min_time_ns"], summary["offcpu_min_ns"])

    def test_members_that_outlive_the_command_are_listed_as_running(self):
        for way in WAYS:
            with self.subTest(way=way):
                begin = time.monotonic()
                pathlib.Path(self.path("run.jsonl")).unlink(missing_ok=True)
                summary = self.watch("sh", "-c", f"sleep 1000 > /dev/null 2>&1 & {RUNS_SLEEP}; "
                                     f"{self.SAMPLED}; exit 2", self.path("run.jsonl"), way=way,
                                     status=2)[-1]
                self.assertLess(time.monotonic() - begin, HANG)
                for running in summary["running_processes"]:
                    os.kill(running["pid"], signal.SIGKILL)
                self.assertEqual([running["comm"] for running in summary["running_processes"]], ["sleep"])

    def test_they_can_be_waited_for(self):
        os.mkfifo(self.path("end"))
        for way in WAYS:
            with self.subTest(way=way):
                pathlib.Path(self.path("run.jsonl")).unlink(missing_ok=True)
                # It learns of the command's end, and goes on for a while.
                script = f"(read end; sleep 0.7) < $1 & exec 3> $1; {self.SAMPLED}; exit 2"
                summary = self.watch("sh", "-c", script, self.path("run.jsonl"), self.path("end"),
                                     way=way, options=["--wait-all"], status=2)[-1]
                self.assertEqual(summary.get("running_processes", []), [])
                self.assertGreater(summary["wall_ns"], summary["command_wall_ns"] + 0.6e9)
                self.assertGreater(summary["wall_ns"], summary["command_wall_ns"])
                self.assertRegex(self.accept("report", "-v", self.path("run.jsonl")).splitlines()[0],
                                 r"^sh exited 2 after .*s; the last of its processes ended "
                                 r"after .*s: ")

    def test_a_command_that_nobody_outlives_has_one_end(self):
        for way in WAYS:
            with self.subTest(way=way):
                summary = self.watch("true", way=way, options=["--wait-all"])[-1]
                self.assertNotIn("command_wall_ns", summary)

    def test_figures_of_one_report_are_the_same(self):
        """Cores by the headline and by the evidence, and the parts of the time on a CPU."""
        loop = "i=0; while test $i -lt 100000; do i=$((i+1)); done; exec dd if=/dev/zero bs=1 " \
               "count=100000 of=/dev/null"
        for way in WAYS:
            with self.subTest(way=way):
                summary = self.watch("sh", "-c", loop, way=way)[-1]
                report = self.accept("report", "-v", self.path("run.jsonl"))
                busy = set(re.findall(r"([\d.]+) of \d+ cores busy", report))
                self.assertEqual(len(busy), 1, report)
                self.assertEqual(summary["utime_ns"] + summary["stime_ns"], summary["cpu_time_ns"])
                rows = {line.split()[0]: line.split() for line in report.splitlines() if line}
                self.assertTrue(rows["user"][1].startswith("~"))
                self.assertTrue(rows["kernel"][1].startswith("~"))

    def test_what_can_be_missed_makes_lower_bounds(self):
        for way in WAYS:
            with self.subTest(way=way):
                summary = self.watch("sleep", "0.2", way=way)[-1]
                headline = self.accept("report", "-v", self.path("run.jsonl")).splitlines()[0]
                exact = way == "bpf"
                self.assertEqual("at_least" not in summary, exact)
                self.assertEqual(": 1 process," in headline, exact, headline)
                self.assertEqual(": at least 1 process, at least " in headline, not exact, headline)

    def test_one_that_was_started_right_before_the_end_is_waited_for(self):
        for way in EXACT:
            for _ in range(3):
                with self.subTest(way=way):
                    lines = self.watch("sh", "-c", "sleep 0.7 & exit 4", way=way,
                                       options=["--wait-all"], status=4)
                    self.assertEqual(lines[-1].get("running_processes", []), [])

    def test_what_watching_cost_is_told(self):
        lines = self.watch("sh", "-c", "sleep 0.5")
        self.assertGreater(lines[-1]["self"]["cpu_time_ns"], 0)
        self.assertLess(lines[-1]["self"]["hiwater_rss_bytes"], 128 << 20)
        self.assertIn("startup_ns", lines[-1]["self"])
        lines = self.watch("sh", "-c", "sleep 0.5", options=["--no-stacks"])
        self.assertLess(lines[-1]["self"]["hiwater_rss_bytes"], 64 << 20)

    def test_samples_become_rare_while_nothing_happens(self):
        lines = self.watch("sleep", "6")
        samples = [line for line in lines if line["kind"] == "sample"]
        self.assertGreater(len(samples), 3)
        self.assertLess(len(samples), lines[-1]["wall_ns"] / 1e9 * 10 / 2, "ten a second at first")


@unittest.skipUnless(reachable_by_nobody(), "needs root to be someone else")
class NoPrivilege(RunCase):
    def test_a_folder_that_may_not_be_searched_is_no_command(self):
        os.mkdir(self.path("shut"), 0o700)
        self.refuse_run("there-is-no-such-command", status=127, prefix=UNPRIVILEGED,
                        env={**os.environ, "PATH": f"{self.path('shut')}:{os.environ['PATH']}"})

    def test_a_command_is_run_and_what_is_missing_is_told(self):
        os.chmod(self.folder.name, 0o777)
        lines = self.watch("sh", "-c", "echo out; exit 3", status=3, prefix=UNPRIVILEGED)
        self.assertEqual(self.out, "out\n")
        manifest = json.dumps(lines[1])
        self.assertIn("unavailable", manifest)
        self.assertEqual(lines[-1]["exit_code"], 3)

    def test_the_report_says_so(self):
        done, _, err = support.run("run", "true", prefix=UNPRIVILEGED)
        self.assertEqual(done, 0)
        self.assertGreater(len(err.splitlines()), 2)

    def test_asking_for_more_is_refused(self):
        self.refuse_run("--source", "bpf", "true", says="bpf", prefix=UNPRIVILEGED)


if __name__ == "__main__":
    support.main()
