#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lifecycle events of real processes that print what must be seen, by each source."""
import collections
import os
import pathlib
import signal
import subprocess
import unittest

import kernel
import support
from driver import parse

DRIVER = os.environ["TASKSCOPE_LIFE_DRIVER"]
WORKLOAD = os.environ["TASKSCOPE_LIFE_WORKLOAD"]
CGROUPS = pathlib.Path("/sys/fs/cgroup")
IS_V2 = (CGROUPS / "cgroup.controllers").exists()
MEGABYTE = 1 << 20
KERNEL_SOURCES = [way for way in kernel.WAYS if way != "procfs"]
SMALLEST_RING = os.sysconf("SC_PAGE_SIZE")


# Lets a process live until two more snapshots were taken.
SEEN_TWICE = ("seen=0; trap 'seen=$((seen + 1))' WINCH; sleep 1000 & "
              "while [ $seen -lt 3 ]; do wait; done; kill $!; wait $!; ")


class Life:
    """What the driver told of one command, and what that said of itself."""

    def __init__(self, source, *command, options=(), prefix=()):
        done = subprocess.run([*prefix, DRIVER, source, *options, "--", *map(str, command)],
                              capture_output=True, text=True, timeout=support.HANG)
        if done.returncode != 0:
            raise AssertionError(f"{source}: {done.stderr}")
        self.lines, self.said = parse(done.stdout), parse(done.stderr)
        self.losses, self.counts, self.wait = (
            next(line for line in self.lines if line["end"] == name)
            for name in ("losses", "counts", "wait"))

    def events(self, kind, **values):
        return [line for line in self.lines if line["kind"] == kind
                and all(line[key] == str(value) for key, value in values.items())]

    def one(self, kind, **values):
        found = self.events(kind, **values)
        if len(found) != 1:
            raise AssertionError(f"{len(found)} events {kind} with {values}")
        return found[0]

    def children(self, kind):
        """Of the command."""
        return self.events(kind, ppid=self.wait["pid"])


def needs(source):
    return unittest.skipUnless(source in KERNEL_SOURCES, f"needs {source}: BPF or the process connector")


class StormCase(support.TestCase):
    MADE = 10_000

    def check(self, source):
        life = Life(source, WORKLOAD, "storm", self.MADE, 1000, options=["-t"])
        self.assertEqual(life.said[0]["made"], str(self.MADE))
        codes = collections.Counter(int(line["status"]) >> 8 for line in life.children("exit"))
        self.assertEqual(codes, {code: self.MADE // 100 for code in range(100)})
        for kind in ("spawn", "exec"):
            seen = {(line["pid"], line["start"]) for line in life.children(kind)}
            ended = {(line["pid"], line["start"]) for line in life.children("exit")}
            self.assertEqual(len(life.children(kind)), self.MADE)
            self.assertEqual(seen, ended)
        self.assertEqual(life.losses["ring"], "0")
        self.assertEqual(life.events("lost"), [])
        return life

    @needs("bpf")
    def test_by_bpf(self):
        life = self.check("bpf")
        self.assertEqual(life.losses["backwards"], "0")  # the connector's CPUs send when they come to it
        for line in life.children("exit"):
            self.assertEqual(line["cmd"], f"{WORKLOAD},exit,{int(line['status']) >> 8}")
            self.assertEqual(line["comm"], "exe")

    @needs("connector")
    def test_by_the_connector(self):
        self.check("connector")


class UsageCase(support.TestCase):
    @needs("bpf")
    def test_short_children_use_what_the_kernel_charges_their_parent(self):
        life = Life("bpf", WORKLOAD, "burn", 1000, 2000, options=["-t"])
        used = sum(int(line["run_time_ns"]) for line in life.children("exit"))
        split = sum(int(line["utime_ns"]) + int(line["stime_ns"]) for line in life.children("exit"))
        charged = int(life.said[0]["cpu_ns"])
        self.assertLess(abs(used - charged), charged * 0.02)
        self.assertEqual(split, used)

    @needs("bpf")
    def test_threads_count_whoever_ends_last(self):
        life = Life("bpf", WORKLOAD, "threads", 200, 1000, options=["-t"])
        end = life.one("exit", pid=life.said[0]["child"])
        self.assertGreaterEqual(int(end["run_time_ns"]), 200 * 1_000_000)
        self.assertEqual(end["status"], life.said[0]["status"])
        self.assertGreaterEqual(int(end["voluntary_csw"]), 200)

    @needs("bpf")
    def test_children_do_not_count_as_the_process(self):
        life = Life("bpf", "sh", "-c", "head -c 1000000 /dev/zero | cat >/dev/null; exit 3",
                    options=["-t"])
        shell, head = life.one("exit", comm="sh"), life.one("exit", comm="head")
        self.assertGreaterEqual(int(head["rchar"]), 1_000_000)
        self.assertLess(int(shell["rchar"]), 500_000)
        self.assertEqual(shell["status"], str(3 << 8))

    @needs("bpf")
    def test_the_peak_is_that_of_the_last_program(self):
        life = Life("bpf", WORKLOAD, "memory", 64, options=["-t"])
        peak = int(life.one("exit", pid=life.wait["pid"])["peak_rss"])
        self.assertGreaterEqual(peak, 64 * MEGABYTE)
        self.assertLess(peak, 80 * MEGABYTE)


class EndCase(support.TestCase):
    @needs("bpf")
    def test_signals_and_who_sent_them(self):
        life = Life("bpf", WORKLOAD, "signals", options=["-t"])
        self.assertEqual(len(life.said), 5)
        for child in life.said:
            kind = "kill" if child["signal"] == str(int(signal.SIGKILL)) else "signal"
            sent, end = life.one(kind, pid=child["child"]), life.one("exit", pid=child["child"])
            for line in (sent, end):
                self.assertEqual(line["signal"], child["signal"])
                self.assertEqual(line["sender"], child["sender"])
                self.assertEqual(line["details"], "sent,by,life_workload")
            self.assertEqual(end["status"], child["status"])

    @needs("bpf")
    def test_a_broken_pipe_is_the_kernels(self):
        life = Life("bpf", "sh", "-c", "cat /dev/zero | true", options=["-t"])
        (sent,) = life.events("signal", signal=int(signal.SIGPIPE))
        self.assertEqual((sent["sender"], sent["comm"]), ("0", "cat"))
        self.assertEqual(sent["details"], "sent,by,the,kernel")

    def check_oom(self, tree, settings):
        directory = CGROUPS / tree / f"taskscope-test-{os.getpid()}"
        try:
            directory.mkdir()
        except OSError as error:
            raise unittest.SkipTest(f"no cgroup can be made here: {error}") from error
        self.addCleanup(directory.rmdir)
        for file, value in settings:
            if (directory / file).exists():
                (directory / file).write_text(str(value))
        enter = f"echo $$ > {directory}/cgroup.procs; exec {WORKLOAD} memory 256"
        life = Life("bpf", "sh", "-c", f"sh -c '{enter}'; true", options=["-t"])
        end = life.one("exit", cmd=f"{WORKLOAD},memory,256")
        oom = life.one("oom", pid=end["pid"], start=end["start"])
        self.assertEqual(oom["cmd"], end["cmd"])
        self.assertEqual((oom["signal"], end["status"]), ("9", "9"))
        self.assertEqual(life.one("kill", pid=end["pid"])["sender"], "0")

    @needs("bpf")
    def test_out_of_memory(self):
        if IS_V2:
            self.check_oom("", [("memory.max", 32 * MEGABYTE), ("memory.swap.max", 0)])
        else:
            self.check_oom("memory", [("memory.limit_in_bytes", 32 * MEGABYTE),
                                      ("memory.memsw.limit_in_bytes", 32 * MEGABYTE)])


class NameCase(support.TestCase):
    def check_rename(self, source, *options):
        life = Life(source, WORKLOAD, "rename", "new\nna\x01me", options=["-t", *options])
        renamed = life.one("rename", pid=life.wait["pid"])
        self.assertEqual(renamed["comm"], r"new\x0ana\x01me")
        self.assertEqual(life.one("exit", pid=life.wait["pid"])["comm"], r"new\x0ana\x01me")

        return renamed

    @needs("bpf")
    def test_rename(self):
        self.assertEqual(self.check_rename("bpf")["details"], "was,life_workload")

    @needs("connector")
    def test_rename_by_the_connector(self):
        self.check_rename("connector")

    @needs("bpf")
    def test_an_exec_is_no_rename(self):
        life = Life("bpf", "sh", "-c", "exec true", options=["-t"])
        self.assertEqual(life.events("rename"), [])
        self.assertEqual([line["comm"] for line in life.events("exec")], ["sh", "true"])

    @needs("bpf")
    def test_hostile_arguments(self):
        life = Life("bpf", "sh", "-c", '/bin/true "$(printf "a\\nb\\033[1m")" ""', options=["-t"])
        self.assertEqual(life.one("exec", comm="true")["cmd"], r"/bin/true,a\x0ab\x1b[1m")

    @needs("bpf")
    def test_a_command_line_that_is_too_long_says_so(self):
        life = Life("bpf", "/bin/true", "x" * 10000, options=["-t"])
        cmd = life.one("exec", comm="true")["cmd"]
        self.assertTrue(cmd.endswith("xxx..."))
        self.assertEqual(len(cmd), 4096)

    @needs("bpf")
    def test_names_of_processes_that_began_before(self):
        sleeper = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        life = Life("bpf", "sh", "-c", f"kill {sleeper.pid}", options=["-i", "100"])
        self.assertEqual(life.one("signal", pid=sleeper.pid)["cmd"], "sleep,1000")


class NamespaceCase(support.TestCase):
    def setUp(self):
        super().setUp()
        if not support.has_namespaces():
            self.skipTest("needs PID namespaces")

    @needs("bpf")
    def test_a_number_that_is_used_again(self):
        life = Life("bpf", "unshare", "--pid", "--fork", "--mount-proc", WORKLOAD, "reuse", 3,
                    options=["-t"])
        self.assertEqual(life.said[-1]["made"], "3")
        parent = life.one("exec", cmd=f"{WORKLOAD},reuse,3")["pid"]
        ends = life.events("exit", ppid=parent)
        self.assertEqual(sorted(int(line["status"]) >> 8 for line in ends), [0, 1, 2])
        self.assertEqual({(line["pid"], line["start"]) for line in ends},
                         {(line["pid"], line["start"]) for line in life.events("spawn", ppid=parent)})

    @needs("bpf")
    def test_the_watcher_is_in_the_namespace(self):
        """Numbers are those of the watcher, and the same number is another process each time."""
        life = Life("bpf", WORKLOAD, "reuse", 3, options=["-t"],
                    prefix=["unshare", "--pid", "--fork", "--mount-proc"])
        inner = life.said[-1]["inner"]
        ends = life.events("exit", pid=inner)
        self.assertEqual(sorted(int(line["status"]) >> 8 for line in ends), [0, 1, 2])
        self.assertEqual(len({line["start"] for line in ends}), 3)


class ScopeCase(support.TestCase):
    @needs("bpf")
    def test_all_of_the_host(self):
        life = Life("bpf", "true")
        self.assertEqual(life.one("exec", pid=life.wait["pid"])["comm"], "true")
        life.one("exit", pid=life.wait["pid"])

    def check_cgroup(self, source, middle="", options=()):
        tree = "" if IS_V2 else "memory"
        name = f"taskscope-test-{os.getpid()}"
        directory = CGROUPS / tree / name
        try:
            (directory / "below").mkdir(parents=True)
        except OSError as error:
            raise unittest.SkipTest(f"no cgroup can be made here: {error}") from error
        self.addCleanup(directory.rmdir)
        self.addCleanup((directory / "below").rmdir)
        enter = f"/bin/echo outside; echo $$ > {directory}/below/cgroup.procs; {middle}/bin/echo inside; :"
        life = Life(source, "sh", "-c", enter, options=["-c", f"/{name}", *options])
        return life

    @needs("bpf")
    def test_a_cgroup_and_what_is_below(self):
        life = self.check_cgroup("bpf")
        self.assertEqual([line["cmd"] for line in life.events("exec")], ["/bin/echo,inside"])
        life.one("exit", pid=life.wait["pid"])

    @needs("connector")
    def test_a_cgroup_by_the_connector(self):
        life = self.check_cgroup("connector", SEEN_TWICE, ["-i", "50"])
        self.assertEqual(len(life.events("exec", comm="echo")), 1)
        life.one("exit", pid=life.wait["pid"])

    def test_a_cgroup_by_polling(self):
        life = self.check_cgroup("polling", SEEN_TWICE, ["-i", "50"])
        life.one("exit", cmd="sleep,1000")
        self.assertEqual(life.events("exec", cmd="/bin/echo,outside"), [])

    def test_what_is_not_there_is_said(self):
        for options, words in ((["-c", "/no/such"], "there is no cgroup '/no/such'"),):
            done = subprocess.run([DRIVER, "polling", *options, "--", "true"], capture_output=True,
                                  text=True, timeout=support.HANG)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


class PollingCase(support.TestCase):
    def test_what_lives_long_enough_is_seen(self):
        life = Life("polling", "sh", "-c", SEEN_TWICE, options=["-t", "-i", "50"])
        sleeper = life.one("exit", cmd="sleep,1000")
        life.one("spawn", pid=sleeper["pid"], start=sleeper["start"])
        self.assertIsNone(sleeper["status"])
        self.assertEqual(life.wait["source"], "polling")


class LossCase(support.TestCase):
    """Every counter moves."""

    MADE = 300

    @needs("bpf")
    def test_a_full_ring(self):
        life = Life("bpf", WORKLOAD, "storm", self.MADE, 0,
                    options=["-t", "-d", "-r", str(SMALLEST_RING)])
        for kind in ("spawn", "exec", "exit"):
            lost = int(life.losses[f"ring_{kind}"])
            self.assertGreater(lost, 0)
            made = self.MADE + (kind != "spawn")
            self.assertEqual(len(life.events(kind)) + lost, made)
            told = sum(int(line["lost"]) for line in life.events("lost")
                       if f",{kind}:" in line["details"])
            self.assertEqual(told, lost)
        life = Life("bpf", "sh", "-c", f"for i in $(seq {self.MADE}); do kill -0 $$; "
                    "(kill -TERM $BASHPID) ; done; true", options=["-d", "-r", str(SMALLEST_RING)])
        self.assertGreater(int(life.losses["ring"]), 0)

    @needs("bpf")
    def test_more_events_than_are_wanted(self):
        life = Life("bpf", WORKLOAD, "storm", self.MADE, 0, options=["-t", "-b", "10"])
        counted = int(life.losses["counted"])
        self.assertGreater(counted, 0)
        self.assertEqual(sum(int(line["lost"]) for line in life.events("lost")), counted)
        kept = sum(len(life.events(kind)) for kind in ("spawn", "exec", "exit"))
        self.assertEqual(kept + counted, 3 * self.MADE + 2)
        self.assertTrue([line for line in life.events("lost", comm="exe")
                         if "exit,were,counted" in line["details"]])

    @needs("bpf")
    def test_kills_are_always_kept(self):
        life = Life("bpf", WORKLOAD, "signals", options=["-t", "-b", "1"])
        self.assertEqual(len(life.events("kill")), 1)
        self.assertEqual(len(life.events("exit")), 0)

    @needs("bpf")
    def test_a_full_table_of_names(self):
        life = Life("bpf", WORKLOAD, "storm", 10, 0, options=["-t", "-m", "1"])
        self.assertGreater(int(life.losses["processes"]), 0)
        self.assertEqual(len(life.children("exit")), 10)
        self.assertEqual({line["comm"] for line in life.children("exit")}, {"exe"})


if __name__ == "__main__":
    unittest.main()
