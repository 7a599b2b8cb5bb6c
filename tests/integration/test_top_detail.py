#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All about a process in the screen of `top`, and keys that act: each on real processes."""
import glob
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import unittest

import screen
import support

JEMALLOC = glob.glob("/usr/lib/*/libjemalloc.so.2")
TABLE = r"^ +(PID|TID|TASKS) .*(COMMAND|NAME)$"


class Detail(support.TestCase):
    def top(self, *words, **options):
        return screen.Program(support.TASKSCOPE, "top", *words, cwd=self.folder.name,
                              env={"XDG_CONFIG_HOME": self.path("config")}, **options)

    def start(self, *words, **options):
        process = subprocess.Popen(words, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def python(self, code):
        """A process that said that it is ready, and then waits for its input's end."""
        process = self.start(sys.executable, "-c", code + "\nprint('ready', flush=True)\nimport sys\nsys.stdin.read()",
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def files(self, ending):
        return sorted(pathlib.Path(self.folder.name).glob("*" + ending))

    def test_files_limits_and_stack_of_a_living_process(self):
        process = self.python("import os, resource, socket\nresource.setrlimit(resource.RLIMIT_NOFILE, (123, 456))\n"
                              "kept = [os.eventfd(0) for _ in range(7)], [socket.socketpair() for _ in range(4)], "
                              "[os.memfd_create('x') for _ in range(5)]")
        stays = self.start("sleep", "4711")
        with self.top("-i", "100ms", "-p", f"{process.pid},{stays.pid}", rows=60) as top:
            top.wait_for(TABLE)
            top.send("/")
            top.type("eventfd")
            top.send("Enter", "Enter")
            top.wait_for("^Files, limits, memory and stack now:")
            top.wait_for(r"open files  \d+, .*8 sockets.*7 eventfds.*5 memfds")
            count = len(os.listdir(f"/proc/{process.pid}/fd"))
            top.wait_for(f"limit +open files: {count} of 123, at most 456")
            top.wait_for(r"memory +\d.* own, .* of files")
            top.wait_for("kernel stack of the first thread")
            if support.is_root():
                top.wait_for("pipe_read")
            process.stdin.close()
            process.wait()
            top.wait_for("it is not there: this is how it was")

    def test_many_open_files_are_bounded_and_counted(self):
        process = self.python("import os, resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (15000, 15000))\n"
                              "for _ in range(12000): os.dup(0)")
        with self.top("-i", "200ms", "-p", process.pid, rows=60) as top:
            top.wait_for(TABLE)
            top.send("Enter")
            count = len(os.listdir(f"/proc/{process.pid}/fd"))
            top.wait_for(rf"open files  {count}, .*, {count - 10000} whose kind was not read")

    @unittest.skipUnless(support.is_root(), "needs root, to become somebody else")
    def test_files_whose_kind_may_not_be_read_are_not_others(self):
        sleeper = self.start("sleep", "4711", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        lacks = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
        with self.top("-i", "200ms", "-p", sleeper.pid, rows=60, prefix=lacks) as top:
            top.wait_for(TABLE)
            top.send("Enter")
            top.wait_for("^  open files  3, 3 whose kind may not be read$")

    def test_why_answers_in_place(self):
        sleeper = self.start("sleep", "4711")
        with self.top("-i", "100ms", "-p", sleeper.pid) as top:
            top.wait_for("sleep 4711")
            top.send("y")
            top.wait_for(f"^Why: process {sleeper.pid}  runs for .*Escape ends it")
            top.wait_for(f"^Why: process {sleeper.pid}$")
            top.wait_for(r"(?i)sleep.*\n.*timer|timer.*|asleep")
            top.send("Escape")
            top.wait_for(TABLE)

    def test_why_has_a_row_of_each_thread(self):
        process = self.python("import threading, time\nfor _ in range(20):\n"
                              "    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()")
        with self.top("-i", "100ms", "-p", process.pid, rows=60) as top:
            top.wait_for(TABLE)
            top.send("y")
            top.wait_for(f"^Why: process {process.pid}$")
            for thread in os.listdir(f"/proc/{process.pid}/task"):
                top.wait_for(rf"^ +{thread} ")
            self.assertNotIn("-v", top.text())

    def test_a_page_that_asks_for_few_threads_says_which_has_all(self):
        process = self.python("import threading, time\nfor _ in range(50):\n"
                              "    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()")
        with self.top("-i", "100ms", "-p", process.pid, columns=120, rows=150) as top:
            top.wait_for(TABLE)
            top.send("Enter")
            top.wait_for(r"^  and \d+ more threads \(y shows all\)$")

    @unittest.skipUnless(support.is_root(), "needs BPF")
    def test_all_about_a_process_says_where_its_time_goes(self):
        process = self.python("import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True,"
                              " name='sleeper').start()")
        with self.top("-i", "200ms", "-p", process.pid, columns=120, rows=150) as top:
            top.wait_for(TABLE)
            top.send("Enter")
            top.wait_for(r"^Since this was opened:\n  run_time_ns +[▁▂▃▄▅▆▇█]+  \d+\.\d %, at most")
            top.wait_for(r"^  rss_bytes +█+  \d.* MiB, at most")
            top.wait_for(rf"^ +{process.pid} \S+ +S .* pipe$")
            top.wait_for("^Where its time goes, and its stacks, .*:$")
            top.wait_for(rf"^ +{process.pid} .* S .* pipe \d\d+ %")  # blocked by kind, as a share of the time
            top.wait_for(r" timer \d\d+ %")
            top.wait_for(r"pipe_read \(kernel\)")  # stacks of the kernel and of its own
            top.wait_for(r"^    read at |^    __GI___libc_read|^    _?_?read")
            top.wait_for("^System calls by time, .*:\n  % time .*syscall")
            children = f"/proc/{top.process.pid}/task/{top.process.pid}/children"
            top.send("Escape")
            top.wait_for(TABLE)
            support.wait_until(lambda: not pathlib.Path(children).read_text())
            top.send("Enter")
            top.wait_for("it is being asked for")
            top.send("F9")
            top.wait_for("^15 SIGTERM")
            top.send("Enter")
            top.wait_for(f"send SIGTERM to process {process.pid}")
            top.send("n", "q")
            self.assertEqual(top.end(), 0)
            self.assertTrue(top.is_restored())

    @unittest.skipUnless(JEMALLOC and support.is_root(), "needs root and jemalloc")
    def test_the_heap_is_read_while_somebody_looks(self):
        process = self.start(sys.executable, "-c", "import time\nwhile True:\n x = [bytes(10**5) for _ in range(99)]\n"
                             " time.sleep(0.02)", env=dict(os.environ, LD_PRELOAD=JEMALLOC[0]))
        with self.top("-i", "200ms", "-p", process.pid, columns=120, rows=200) as top:
            top.wait_for(TABLE)
            top.send("Enter")
            top.wait_for(r"^Heap:\n +allocated_bytes \d.* MiB/s  deallocated_bytes")

    def test_lines_that_are_too_wide_can_be_read(self):
        process = self.start("sleep", "1" * 200)
        with self.top("-i", "200ms", "-p", process.pid) as top:
            top.wait_for(TABLE)
            top.send("Enter")
            # All of it is on the screen, below where it begins.
            top.wait_for(lambda lines: sum(line.count("1") for line in lines[5:9]) >= 200 and
                         lines[5] == "  command  sleep" and lines[7].startswith(" " * 11 + "1"))
            top.wait_for(r"^  program  /")
            top.send("Right")
            top.wait_for(r"^d  sleep$")
            top.send("Left")
            top.wait_for(r"^  command  sleep$")

    @unittest.skipUnless(support.is_root(), "needs root")
    def test_the_processes_of_a_user_are_chosen(self):
        mine = self.start("sleep", "4711")
        other = self.start("sleep", "4712", user=12345)
        with self.top("-i", "200ms", "-p", f"{mine.pid},{other.pid}") as top:
            top.wait_for("sleep 4711")
            top.send("u")
            top.wait_for("^Processes of")
            top.send("Down", "Enter")  # the first one is all
            top.wait_for(lambda lines: sum("sleep 471" in line for line in lines) == 1)
            top.wait_for(r"  user \S+$")
            top.send("Escape")
            top.wait_for(lambda lines: sum("sleep 471" in line for line in lines) == 2)

    def test_leaving_the_page_ends_what_runs(self):
        sleeper = self.start("sleep", "4711")
        for key in ("Escape", "Ctrl-C"):
            with self.subTest(key=key), self.top("-i", "100ms", "-p", sleeper.pid) as top:
                top.wait_for("sleep 4711")
                top.send("y")
                top.wait_for("^Why: .*Escape ends it")
                children = f"/proc/{top.process.pid}/task/{top.process.pid}/children"
                self.assertTrue(pathlib.Path(children).read_text())
                top.send(key)
                top.wait_for(TABLE)
                support.wait_until(lambda: not pathlib.Path(children).read_text())
                top.send("q")
                self.assertEqual(top.end(), 0)
                self.assertTrue(top.is_restored())

    def test_a_moment_is_saved_and_never_replaces_a_file(self):
        sleeper = self.start("sleep", "4711")
        with self.top("-i", "100ms", "-p", sleeper.pid) as top:
            top.wait_for("sleep 4711")
            top.send("S")
            top.wait_for(r"^save to: taskscope-\d+\.tscope")
            top.type("\x15kept.tscope\r")
            top.wait_for("this moment was saved to kept.tscope")
            top.send("S")
            top.type("\x15kept.tscope\r")
            top.wait_for("kept.tscope was not written: there is a file of that name")
            top.send("S")
            top.type("\x15kept.txt\r")
            top.wait_for("tscope")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("kept.tscope")).st_mode), 0o600)
        self.assertEqual(support.run("show", self.path("kept.tscope"), "-g", "process")[0], 0)
        self.assertFalse(os.path.exists(self.path("kept.txt")))

    @unittest.skipUnless(support.is_root(), "only root can give a link to another user")
    def test_nothing_is_made_where_a_link_of_another_user_leads(self):
        target, link = self.path("target"), self.path("link")
        os.mkdir(target)
        os.symlink(target, link)
        os.lchown(link, 65534, 65534)
        before = os.stat(target).st_mtime_ns
        sleeper = self.start("sleep", "4711")
        with self.top("-i", "100ms", "-p", sleeper.pid) as top:
            top.wait_for("sleep 4711")
            top.send("S")
            top.type("\x15link/kept.tscope\r")
            top.wait_for("link/kept.tscope was not written: Permission denied")
        self.assertEqual(os.stat(target).st_mtime_ns, before)

    def test_what_changed_since_the_marked_moment(self):
        process = self.python("import signal\ndef burn(*_):\n while True: pass\nsignal.signal(signal.SIGUSR1, burn)")
        with self.top("-i", "100ms", "-p", process.pid) as top:
            top.wait_for(TABLE)
            top.send("c")
            top.wait_for("no moment is marked: m marks one")
            top.send("m")
            top.wait_for("this moment is marked")
            process.send_signal(10)
            support.wait_until(lambda: int(pathlib.Path(f"/proc/{process.pid}/stat").read_text().split()[13]) > 50)
            first = top.screen.lines()[0]
            top.wait_for(lambda lines: lines[0] != first)
            top.send("c")
            top.wait_for("^Changes since the marked moment$")
            top.wait_for(rf"python.*\[{process.pid}\]|\b{process.pid}\b")

    def test_read_only_refuses_to_act(self):
        sleeper = self.start("sleep", "4711")
        with self.top("-i", "100ms", "-p", sleeper.pid, "--read-only") as top:
            top.wait_for("sleep 4711")
            for key in ("F9", "s", "O", "S"):
                top.send(key)
                top.wait_for("--read-only: nothing is signalled, traced, profiled or saved")
                top.send("Escape")
                top.wait_for(lambda lines: "--read-only" not in lines[-2])
        self.assertFalse(self.files(".html") + self.files(".tscope"))

    def test_a_process_that_ended_is_not_asked(self):
        stays, goes = self.start("sleep", "4711"), self.start("sleep", "4712")
        with self.top("-i", "100ms", "-p", f"{stays.pid},{goes.pid}") as top:
            top.wait_for("sleep 4712")
            top.send("Space")
            top.wait_for("PAUSED")
            goes.kill()
            goes.wait()
            top.send("/")
            top.type("4712")
            top.send("Enter", "y")
            top.wait_for(f"process {goes.pid} has ended")

    @unittest.skipUnless(support.is_root(), "needs BPF")
    def test_a_profile_is_written_and_its_functions_shown(self):
        burner = self.start("sh", "-c", "while :; do :; done")
        with self.top("-i", "100ms", "-p", burner.pid, rows=60) as top:
            top.wait_for(TABLE)
            for ending, size in [(".html", 1000), (".folded", 10)]:
                top.send("O")
                top.wait_for(r"^profile .* to: taskscope-\d+-\d+\.html")
                top.type("\x15kept" + ending + "\r")
                top.wait_for(r"^Profile of 5 s.*runs for \d")
                top.wait_for(f"kept{ending} was written")
                # What people want to see is on the screen.
                top.wait_for("^  functions on the CPU")
                (page,) = self.files(ending)
                self.assertEqual(stat.S_IMODE(page.stat().st_mode), 0o600)
                self.assertGreater(page.stat().st_size, size)
                top.send("Escape")
                top.wait_for(TABLE)
            top.send("O")
            top.type("\x15kept.html\r")
            top.wait_for("kept.html was not written: there is a file of that name")

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_a_trace_shows_calls(self):
        process = self.start(sys.executable, "-c", "import os, time\nprint('ready', flush=True)\n"
                             "while True: os.getppid(); time.sleep(0.05)", stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        with self.top("-i", "100ms", "-p", process.pid) as top:
            top.wait_for(TABLE)
            top.send("s")
            top.wait_for(f"trace process {process.pid}, which stops it at every call")
            top.send("n")
            top.wait_for("nothing was traced")
            top.send("s", "y")
            top.wait_for("^Trace: strace stops the process at every call")
            top.wait_for(r"getppid\(\)")
            top.send("Escape")
            top.wait_for(TABLE)
        self.assertIsNone(process.poll())


if __name__ == "__main__":
    unittest.main()
