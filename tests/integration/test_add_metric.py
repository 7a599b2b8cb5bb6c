# SPDX-License-Identifier: MIT
"""A metric is one row: rows added to a scratch copy are read, whichever way tasks are listed.

There is a row for each source that has more values than the table has: AFFINITY, FD_DIRECTORY,
FD_LIMIT, EACH, JEMALLOC and IN_SCOPE have not, and a DECODED one is code besides.
"""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import support

ANCHOR = "/* Derived. */"
ROWS = {
    "parent_signal": "LEVEL, ORDINAL, THREAD, RANGE, IDENTITY, NONE, ANY, STAT(38, LEVEL)",
    "stack_bytes": 'BYTES, GAUGE, PROCESS, SUM, MEMORY, NONE, ANY, STATUS("VmStk", KIB)',
    "seccomp": 'LEVEL, ORDINAL, THREAD, RANGE, IDENTITY, NONE, ANY, STATUS("Seccomp", LEVEL)',
    "misspelt_bytes": 'BYTES, GAUGE, PROCESS, SUM, MEMORY, NONE, ANY, STATUS("VmStck", KIB)',
    "slices": "COUNT, COUNTER, THREAD, SUM, SCHEDULING, SCHED_INFO, ANY, SCHEDSTAT(3, COUNT)",
    "sched_prio": 'LEVEL, ORDINAL, THREAD, RANGE, SCHEDULING, NONE, ANY, SCHED("prio", LEVEL)',
    "io_calls": 'COUNT, COUNTER, THREAD, SUM, IO, TASK_IO_ACCOUNTING, ANY, IO("syscr", COUNT)',
    "shared_bytes": "BYTES, GAUGE, PROCESS, SUM, MEMORY, NONE, ANY, STATM(3, PAGES)",
    "anonymous_bytes": 'BYTES, GAUGE, PROCESS, SUM, MEMORY, NONE, ANY, SMAPS("Anonymous")',
    "ended_minflt": "COUNT, COUNTER, PROCESS, SUM, MEMORY, NONE, ANY, GROUP_STAT(10, COUNT)",
    "ended_rchar": "BYTES, COUNTER, PROCESS, SUM, IO, TASK_IO_ACCOUNTING, ANY, "
                   'GROUP_IO("rchar", BYTES)',
    "task_csw": "COUNT, COUNTER, THREAD, SUM, SCHEDULING, NONE, ANY, TASK(nvcsw, COUNT)",
    "group_threads": "COUNT, GAUGE, PROCESS, SUM, SCHEDULING, NONE, ANY, GROUP(nr_threads, COUNT)",
    "delay_waits": "COUNT, COUNTER, THREAD, SUM, DELAYS, TASK_DELAY_ACCT, ANY, "
                   "DELAY(blkio_count, COUNT)",
    "stats_wakeups": "COUNT, COUNTER, THREAD, SUM, SCHEDULING, SCHEDSTATS, ANY, "
                     "STATS(nr_wakeups, COUNT)",
    "asked_csw": "COUNT, COUNTER, THREAD, SUM, SCHEDULING, NONE, ANY, TASKSTATS(nvcsw, COUNT)",
}
# What the kernel counts only when told to is there, or absent, as the old row beside it is.
TWINS = {"delay_waits": "blkio_delay_count", "stats_wakeups": "nr_wakeups"}
NOT_IN_PROCFS = "procfs does not have it; the BPF task iterator does"


def keyed(path):
    lines = pathlib.Path(path).read_text(errors="replace").splitlines()
    return {key.strip(): value.split() for key, _, value in
            (line.partition(":") for line in lines) if value.strip()}


def thread_files(pid, tid):
    """What the kernel's own files say about a thread, by the names of the new rows."""
    task = pathlib.Path(f"/proc/{pid}/task/{tid}")
    status = keyed(task / "status")
    return {
        "parent_signal": int((task / "stat").read_text(errors="replace").rpartition(")")[2].split()[38 - 3]),
        "seccomp": int(status["Seccomp"][0]),
        "slices": int((task / "schedstat").read_text().split()[2]),
        "sched_prio": int(keyed(task / "sched")["prio"][0]),
        "io_calls": int(keyed(task / "io")["syscr"][0]),
        "asked_csw": int(status["voluntary_ctxt_switches"][0]),
        "task_csw": int(status["voluntary_ctxt_switches"][0]),
    }


def process_files(pid):
    statm = pathlib.Path(f"/proc/{pid}/statm").read_text().split()
    status = keyed(f"/proc/{pid}/status")
    return {
        "stack_bytes": int(status["VmStk"][0]) * 1024,
        "shared_bytes": int(statm[2]) * os.sysconf("SC_PAGESIZE"),
        "group_threads": int(status["Threads"][0]),
    }


NEEDS_ROOT = unittest.skipUnless(support.is_root(), "needs root, for the iterator and taskstats")


class AddMetric(support.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.build = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.build.cleanup)
        copy = pathlib.Path(cls.build.name) / "source"
        shutil.copytree(support.ROOT, copy, symlinks=True,
                        ignore=shutil.ignore_patterns("build*", ".git", "data", "corpus"))
        table = copy / "src/metric/metrics.def"
        rows = "".join(f'METRIC({name}, {row}, "New: {name}.")\n' for name, row in ROWS.items())
        text = table.read_text()
        assert text.count(ANCHOR) == 1
        table.write_text(text.replace(ANCHOR, rows + "\n" + ANCHOR))
        build = os.path.join(cls.build.name, "build")
        # Nobody measures it: without optimization it is built in a third of the time.
        for command in (["meson", "setup", "-Dbuildtype=plain", build, copy],
                        ["ninja", "-C", build, "taskscope"]):
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        cls.program = os.path.join(build, "taskscope")

    def run_new(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def capture(self, *words):
        """Reasons for absence, and by number every thread with its values and its process's."""
        path = self.path("x.tscope")
        self.run_new("capture", "-o", path, *words)
        found, values = {}, {}
        for axis, rows, number in (("process", "processes", "tgid"), ("thread", "threads", "tid")):
            answer = json.loads(self.run_new("show", path, "--format", "json", "-g", axis))
            found.update(answer["absent"])
            for row in answer[rows]:
                values.setdefault(row[number], {}).update(row)
        return found, values

    def test_every_list_has_the_rows(self):
        names = [m["name"] for m in json.loads(self.run_new("metrics", "--format", "json"))["metrics"]]
        text = self.run_new("metrics")
        with support.Workload() as workload:
            rows = list(csv.DictReader(io.StringIO(self.run_new(
                "show", "-p", workload.pid, "-g", "thread", "--format", "csv"))))
        leader = next(row for row in rows if row["tid"] == str(workload.pid))
        for name in ROWS:
            self.assertIn(name, names)
            self.assertIn(name, text)
            self.assertIn(name, leader)
        self.assertEqual(leader["parent_signal"], "17")

    def check_files(self, *words):
        """Every value is what the kernel's files say of the idle workload."""
        with support.Workload() as workload:
            absent, threads = self.capture("-p", workload.pid, "--smaps", *words)
            self.assertLessEqual(set(workload.names), set(threads))
            for tid in threads:
                expected = thread_files(workload.pid, tid)
                if tid == workload.pid:
                    expected.update(process_files(workload.pid))
                for name, value in expected.items():
                    if absent.get(name) != NOT_IN_PROCFS:
                        self.assertEqual(threads[tid].get(name), value, f"{name} of {tid}")
            leader = threads[workload.pid]
            rollup = keyed(f"/proc/{workload.pid}/smaps_rollup")
            self.assertEqual(leader["anonymous_bytes"], int(rollup["Anonymous"][0]) * 1024)
            self.assertEqual(leader["ended_minflt"], leader["dead_minflt"])
            self.assertEqual(leader["ended_rchar"], leader["dead_rchar"])
        return absent, leader

    @NEEDS_ROOT
    def test_the_iterator_lists_and_files_add(self):
        absent, leader = self.check_files("--source", "bpf")
        missing = [name for name in ROWS if leader.get(name) is None and name not in TWINS]
        self.assertEqual(missing, ["misspelt_bytes"])
        self.assertEqual(absent["misspelt_bytes"], "this kernel does not report it")
        for name, twin in TWINS.items():
            self.assertEqual(leader.get(name), leader.get(twin), name)
            self.assertEqual(absent.get(name), absent.get(twin), name)

    @NEEDS_ROOT
    def test_procfs_lists(self):
        absent, leader = self.check_files("--source", "procfs")
        missing = [name for name in ROWS if leader.get(name) is None and name not in TWINS]
        self.assertEqual(missing, ["misspelt_bytes", "task_csw", "group_threads"])
        self.assertEqual(absent["misspelt_bytes"], "this kernel does not report it")
        for name in ("task_csw", "group_threads"):
            self.assertEqual(absent[name], NOT_IN_PROCFS)

    @NEEDS_ROOT
    def test_what_is_left_out_says_so(self):
        with support.Workload() as workload:
            absent, _ = self.capture("-p", workload.pid, "--without",
                                     "status,taskstats")
        for name in ("stack_bytes", "seccomp"):
            self.assertEqual(absent[name], "switched off by --without status")
        self.assertEqual(absent["asked_csw"], "switched off by --without taskstats")
        self.assertEqual(absent["anonymous_bytes"], "not asked for: --smaps reads it")

    @NEEDS_ROOT
    def test_kernel_threads_have_no_memory(self):
        absent, threads = self.capture()
        self.assertTrue(absent["stack_bytes"].startswith(
            "kernel threads and zombies have no memory of their own"), absent["stack_bytes"])
        kernel = [t for t in threads.values() if t["pcomm"] == "kthreadd"]
        self.assertEqual([t["seccomp"] for t in kernel], [0])
        self.assertEqual([t.get("stack_bytes") for t in kernel], [None])

    @NEEDS_ROOT
    def test_tasks_that_end_before_their_files_are_read_are_told(self):
        """Every task has the key, so that only one which ended meanwhile can lack it."""
        storm = subprocess.Popen(["sh", "-c", "while :; do true & /bin/true; done"])

        def told():
            absent, _ = self.capture("--source", "bpf", "--without", "jemalloc,scopes,cmdline")
            return absent.get("seccomp")

        try:
            self.assertEqual(support.wait_until(told),
                             "some tasks ended before their files, which alone have it, were read")
        finally:
            storm.kill()
            storm.wait()


if __name__ == "__main__":
    support.main()
