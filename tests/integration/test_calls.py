#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sums of system calls by process, from BPF: each scope, calls under way, losses, our own calls."""
import os
import pathlib
import subprocess
import sys
import unittest

from support import HANG, TestCase, is_root, main, wait_until

DRIVER = os.environ["TASKSCOPE_CALLS_DRIVER"]

# Makes N calls of each kind when a line comes, and says so.
CALLER = """import os, sys
for line in sys.stdin:
    for _ in range(int(line)):
        os.getppid()
        try:
            os.rmdir("/nonexistent")
        except OSError:
            pass
    print("made", flush=True)
"""
# The same in a grandchild whose parent is gone.
FOREST = f"""import os, sys
os.read(0, 3)
if os.fork():
    os.wait()
    __import__("signal").pause()
elif os.fork() == 0:
    print(os.getpid(), flush=True)
    exec({CALLER!r})
"""


class Caller:
    def __init__(self, program=CALLER):
        self.process = subprocess.Popen([sys.executable, "-u", "-c", program], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid

    def make(self, count):
        print(count, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "made\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate(timeout=HANG)


class Sums:
    """The driver, inside a `with`."""

    def __init__(self, *words):
        self.process = subprocess.Popen([DRIVER, *map(str, words)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.said = self.process.stdout.readline().strip()

    def ask(self, word):
        print(word, file=self.process.stdin, flush=True)
        lines = []
        while (line := self.process.stdout.readline().strip()) != "done":
            assert line, "the driver ended"
            lines.append(line.split())
        return lines

    def read(self):
        """Calls, errors, time and the longest by (pid, name)."""
        return {(int(line[1]), line[3]): tuple(map(int, line[4:])) for line in self.ask("read")}

    def __enter__(self):
        assert self.said == "ready", self.said
        return self

    def __exit__(self, *_):
        self.process.communicate(timeout=HANG)


def start_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[19]) * 10**9 // os.sysconf("SC_CLK_TCK")


@unittest.skipUnless(is_root(), "needs root: BPF programs")
class Calls(TestCase):
    def test_each_call_of_a_process_counts_once(self):
        with Caller() as caller, Sums("pid", caller.pid) as sums:
            caller.make(1000)
            first = sums.read()
            self.assertEqual(first[caller.pid, "getppid"][:2], (1000, 0))
            self.assertEqual(first[caller.pid, "rmdir"][:2], (1000, 1000))
            calls, _, time_ns, max_ns = first[caller.pid, "rmdir"]
            self.assertLessEqual(max_ns, time_ns)
            self.assertGreaterEqual(max_ns * calls, time_ns)
            caller.make(7)
            self.assertEqual(sums.read()[caller.pid, "getppid"][:2], (7, 0))
            self.assertEqual({pid for pid, _ in first}, {caller.pid})

    def test_the_start_is_that_of_procfs(self):
        with Caller() as caller, Sums("pid", caller.pid) as sums:
            caller.make(1)
            self.assertEqual({int(line[2]) for line in sums.ask("read")}, {start_of(caller.pid)})

    def test_a_tree_keeps_orphans_and_has_no_strangers(self):
        with Caller(FOREST) as caller, Caller() as stranger, Sums("tree", caller.pid) as sums:
            print("go", file=caller.process.stdin, flush=True)
            orphan = int(caller.process.stdout.readline())
            caller.make(9)
            stranger.make(9)
            found = sums.read()
            self.assertEqual(found[orphan, "getppid"][0], 9)
            self.assertNotIn(stranger.pid, {pid for pid, _ in found})

    def test_children_are_members_from_their_first_call_on(self):
        program = "import os, sys\nsys.stdin.readline()\nfor _ in range(20):\n" \
            "    pid = os.fork()\n    if not pid:\n        os.getppid()\n        os._exit(0)\n" \
            "    os.waitpid(pid, 0)\nprint('made', flush=True)\nsys.stdin.read()"
        with Caller(program) as caller, Sums("tree", caller.pid) as sums:
            caller.make(1)
            found = sums.read()
        self.assertEqual(sum(1 for _, name in found if name == "getppid"), 20)
        self.assertEqual(sum(1 for _, name in found if name == "exit_group"), 20)

    def test_a_blocked_call_is_under_way_and_not_counted(self):
        with Caller() as caller:
            wait_until(lambda: "pipe" in pathlib.Path(f"/proc/{caller.pid}/wchan").read_text()
                       or pathlib.Path(f"/proc/{caller.pid}/syscall").read_text().startswith("0 "))
            with Sums("pid", caller.pid) as sums:
                now = sums.ask("now")
                self.assertEqual([(line[1], line[3], line[5]) for line in now],
                                 [(str(caller.pid), "read", "1")])
                self.assertEqual(sums.read(), {})
                caller.make(1)
                self.assertGreaterEqual(sums.read()[caller.pid, "read"][0], 1)
                wait_until(lambda: [line[5] for line in sums.ask("now")] == ["0"])

    def test_our_own_processes_are_left_out_and_counted(self):
        with Sums("host", "-") as sums:
            child = int(sums.ask("fork")[0][1])
            found = sums.read()
            self.assertNotIn(child, {pid for pid, _ in found})
            self.assertNotIn(sums.process.pid, {pid for pid, _ in found})
            self.assertGreaterEqual(int(sums.ask("lost")[0][4]), 1000)

    def test_a_full_table_counts_what_it_lost(self):
        with Caller() as caller, Sums("pid", caller.pid, 1) as sums:
            caller.make(100)
            found = sums.read()
            self.assertEqual(len(found), 1)
            lost = int(sums.ask("lost")[0][1])
            self.assertGreaterEqual(lost + sum(row[0] for row in found.values()), 200)
            self.assertGreater(lost, 0)

    def test_nothing_is_counted_while_it_is_paused(self):
        with Caller() as caller, Sums("pid", caller.pid) as sums:
            sums.ask("pause")
            caller.make(10)
            self.assertEqual(sums.read(), {})
            sums.ask("resume")
            caller.make(3)
            self.assertEqual(sums.read()[caller.pid, "getppid"][0], 3)

    def test_a_cgroup_has_those_who_are_in_it_now(self):
        folder = next((pathlib.Path(path) for path in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup")
                       if (pathlib.Path(path) / "cgroup.procs").exists()), None)
        if not folder:
            self.skipTest("no cgroup hierarchy")
        name = f"taskscope-calls-{os.getpid()}"
        (folder / name).mkdir()
        self.addCleanup((folder / name).rmdir)
        with Caller() as caller, Caller() as stranger, Sums("cgroup", f"/{name}") as sums:
            caller.make(1)
            self.assertEqual(sums.read(), {})
            (folder / name / "cgroup.procs").write_text(str(caller.pid))
            caller.make(4)
            stranger.make(4)
            self.assertEqual({key: row[0] for key, row in sums.read().items()
                              if key[1] == "getppid"}, {(caller.pid, "getppid"): 4})
            (folder / "cgroup.procs").write_text(str(caller.pid))

    def test_a_process_that_is_gone_is_a_sentence(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        sums = Sums("pid", gone.pid)
        sums.process.communicate(timeout=HANG)
        self.assertIn(f"there is no process {gone.pid}", sums.said)


if __name__ == "__main__":
    main()
