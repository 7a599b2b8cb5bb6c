# SPDX-License-Identifier: MIT
"""A capture keeps what threads of programs with libtaskscope are doing."""
import csv
import io
import json
import os
import shutil
import subprocess
import unittest

import support
from support import run

WORKLOAD = os.environ["TASKSCOPE_SCOPE_WORKLOAD"]
NOBODY = 65534
UNPRIVILEGED = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
NONSENSE = """import os
fd = os.memfd_create("taskscope")
os.write(fd, b"nonsense" * 100000)
os.dup2(fd, 200)
"""
OTHER = "import os\nos.dup2(os.memfd_create('other'), 200)\n"
STAY = "import time\nprint(flush=True)\ntime.sleep(1000)\n"
SCOPE_KEYS = ["scope", "scope_age_ns", "scope_count", "scope_total"]


class Program:
    """The program inside a `with`; `expected` is what each thread said of itself, by tid."""

    def __init__(self, *words, prefix=(), heartbeat="off"):
        self.words = [*prefix, WORKLOAD, *words]
        self.environment = {**os.environ, "TASKSCOPE_HEARTBEAT": heartbeat}

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=self.environment)
        self.pid = self.process.pid
        self.expected = {}
        for line in self.process.stdout:
            if line == b"\n":
                return self
            tid, *words = line.decode().rstrip("\n").split("\t")
            label, count, total = [None if word == "-" else word for word in words]
            self.expected[int(tid)] = (label, count and int(count), total and int(total))
        raise AssertionError("the program ended before it was ready")

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=support.HANG)
        self.process.stdout.close()

    def labels(self):
        return sorted(label or "" for label, _, _ in self.expected.values())

    def tid_of(self, label):
        return next(tid for tid, said in self.expected.items() if said[0] == label)

    def next_row(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()


def told(thread):
    return thread.get("scope"), thread.get("scope_count"), thread.get("scope_total")


def source_of(document):
    return next(source for source in document["sources"] if source["name"] == "scopes")


class CaptureScopes(support.TestCase):
    PREFIX = []

    def program(self, *words, **options):
        return Program(*words, prefix=self.PREFIX, **options)

    def accept(self, *words, **options):
        return super().accept(*words, prefix=self.PREFIX, **options)

    def hold(self, code):
        """A process without the library, of the user who captures: it runs the code and stays."""
        process = subprocess.Popen([*self.PREFIX, "/usr/bin/python3", "-c", code + STAY],
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        return process.pid

    def capture(self, name, *words, **options):
        path = self.path(name)
        self.accept("capture", "-q", "-o", path, *words, **options)
        return path

    def threads(self, path, program):
        """Every thread of the program but the library's own, by tid."""
        threads = {thread["tid"]: thread for thread in support.show_threads(path)["threads"]
                   if thread["tgid"] == program.pid}
        others = set(threads) - set(program.expected)
        self.assertLessEqual({threads.pop(tid)["comm"] for tid in others}, {"taskscope"})
        return threads

    def assert_as_told(self, path, program):
        threads = self.threads(path, program)
        self.assertEqual({tid: told(thread) for tid, thread in threads.items()}, program.expected)
        for thread in threads.values():
            self.assertEqual("scope_age_ns" in thread, "scope" in thread)

    def test_each_thread_has_its_innermost_scope_from_either_way_of_listing(self):
        with self.program() as program:
            for lister in ["auto", "procfs"]:
                path = self.capture("one.tscope", "--source", lister, "-p", program.pid)
                self.assert_as_told(path, program)
                document = support.show_threads(path)
                self.assertEqual(source_of(document),
                                 {"name": "scopes", "state": "ok", "reason": None, "read": 1,
                                  "failed": 0})
                self.assertEqual(document["absent"]["scope_age_ns"], "the thread is in no scope")

    def test_it_is_found_in_a_capture_of_the_whole_host(self):
        with self.program() as program:
            self.assert_as_told(self.capture("all.tscope"), program)

    def test_the_age_is_that_of_the_scope_and_grows(self):
        with self.program() as program:
            ages = []
            for name in ["a.tscope", "b.tscope"]:
                path = self.capture(name, "-p", program.pid)
                document = support.show_threads(path)
                ages.append(self.threads(path, program)[program.tid_of("solve")])
                age = ages[-1]["scope_age_ns"]
                since_start = (document["host"]["boottime_ns"] +
                               document["host"]["duration_ns"] - ages[-1]["start_time_ns"])
                self.assertLess(0, age)
                self.assertLess(age, since_start + 20_000_000)  # start times are whole ticks
            self.assertLess(ages[0]["scope_age_ns"], ages[1]["scope_age_ns"])

    def test_a_moved_descriptor_is_found_by_the_name_of_the_heartbeat(self):
        with self.program("moved", heartbeat="1h") as program:
            self.assert_as_told(self.capture("moved.tscope"), program)

    def test_show_has_a_column_where_a_thread_is_in_a_scope(self):
        with self.program() as program:
            path = self.capture("one.tscope", "-p", program.pid)
            lines = self.accept("show", path, "-g", "thread", "-n", "0").splitlines()
            self.assertEqual(lines[0].split()[:3], ["group", "tasks", "scope"])
            line = next(line for line in lines if f"[{program.tid_of('solve')}]" in line)
            self.assertRegex(line, r"  solve \([0-9.]+ ?[mu]?s, 412/1000\)  ")
            line = next(line for line in lines if f"[{program.tid_of(None)}]" in line)
            self.assertRegex(line, r" 1  -  ")
            self.assertIn("part 7 \\x1b (", "\n".join(lines))
            path = self.capture("none.tscope", "-p", self.hold(""))
            head = self.accept("show", path, "-g", "thread").splitlines()[0]
            self.assertNotIn("scope", head)
            out = self.accept("show", path, "-g", "thread", "--columns", "group,scope")
            self.assertRegex(out.splitlines()[1], r"\]  -  ")

    def test_scopes_make_groups(self):
        with self.program() as program:
            path = self.capture("one.tscope", "-p", program.pid)
            document = json.loads(self.accept("show", path, "-g", "scope", "--format", "json"))
            groups = {group["key"]: group for group in document["groups"]}
            self.assertEqual(document["group_by"], "scope")
            self.assertEqual(sorted(groups), program.labels())
            self.assertEqual(groups["solve"]["metrics"]["scope_count"],
                             {"value": 412, "measured": 1})
            self.assertNotIn("scope_age_ns", groups[""]["metrics"])
            lines = self.accept("show", path, "-g", "scope", "-m", "scope_*").splitlines()
            self.assertEqual(lines[0].split(), ["group", "tasks", "scope_age_ns", "scope_count",
                                                "scope_total", "scope_stall_ns"])
            self.assertTrue(any(line.startswith("(none) ") for line in lines))

    def test_csv_has_a_column_with_and_without_scopes(self):
        with self.program() as program:
            path = self.capture("one.tscope", "-p", program.pid)
            rows = csv.DictReader(io.StringIO(self.accept("show", path, "-g", "thread", "--format",
                                                          "csv")))
            labels = {int(row["tid"]): row["scope"] for row in rows}
            for tid, (label, _, _) in program.expected.items():
                self.assertEqual(labels[tid], label or "")

    def test_compare_groups_by_what_threads_do_at_the_end(self):
        with self.program() as program:
            before = self.capture("before.tscope", "-p", program.pid)
            loader = program.tid_of("load matrix")
            program.next_row()
            after = support.wait_until(lambda: self.capture_where(program, loader, "row 1"))
            document = json.loads(self.accept("compare", before, after, "-g", "scope", "-m",
                                              "thread_count,scope_age_ns", "--all", "--format",
                                              "json"))
            self.assertEqual(document["mode"], "interval")
            rows = {(row["group"], row["metric"]): row for row in document["rows"]}
            self.assertNotIn("after", rows["load matrix", "thread_count"])
            self.assertNotIn("before", rows["row 1", "thread_count"])
            self.assertGreater(rows["solve", "scope_age_ns"]["delta"], 0)
            text = self.accept("compare", before, after, "-g", "scope", "-m", "scope_age_ns")
            self.assertRegex(text, r"(?m)^solve +1 +scope_age_ns ")

    def capture_where(self, program, tid, label):
        path = self.capture("after.tscope", "-p", program.pid)
        return path if self.threads(path, program)[tid].get("scope") == label else None

    def test_the_source_can_be_left_out(self):
        with self.program() as program:
            document = support.show_threads(self.capture("one.tscope", "-p", program.pid,
                                                         "--without", "scopes"))
            for thread in document["threads"]:
                self.assertFalse(set(SCOPE_KEYS) & set(thread))
            self.assertEqual(source_of(document)["state"], "off")
            self.assertEqual(document["absent"]["scope_age_ns"],
                             "switched off by --without scopes")

    def test_who_does_not_use_it_is_told(self):
        document = support.show_threads(self.capture("none.tscope", "-p", self.hold("")))
        nobody = "none of the processes uses libtaskscope"
        self.assertEqual(source_of(document), {"name": "scopes", "state": "ok", "reason": nobody,
                                               "read": 1, "failed": 0})
        self.assertEqual(document["absent"]["scope_count"], nobody)

    def test_a_memory_that_is_nonsense_is_a_reason_and_no_failure(self):
        path = self.capture("nonsense.tscope", "-p", self.hold(NONSENSE))
        document = support.show_threads(path)
        self.assertEqual(source_of(document)["state"], "unavailable")
        self.assertRegex(source_of(document)["reason"], "^the scopes of process .* cannot be read")
        self.assertIn("cannot be read", document["absent"]["scope_age_ns"])

    def test_another_file_in_the_place_is_nobodys_scopes(self):
        document = support.show_threads(self.capture("other.tscope", "-p", self.hold(OTHER)))
        self.assertEqual(source_of(document)["state"], "ok")
        self.assertEqual(document["absent"]["scope_age_ns"],
                         "none of the processes uses libtaskscope")

    def test_a_recorded_tree_has_none(self):
        root = support.ROOT / "tests/data/roots/debian-6.12"
        document = support.show_threads(self.capture("root.tscope", "--root", root))
        reason = "a recorded tree has no memory to read"
        self.assertEqual(source_of(document)["state"], "off")
        self.assertEqual(source_of(document)["reason"], reason)
        self.assertEqual(document["absent"]["scope_total"], reason)

    def test_doctor_has_a_row(self):
        with self.program():
            document = json.loads(self.accept("doctor", "--format", "json"))
            self.assertIn(source_of(document)["state"], ["ok", "partial"])
            self.assertTrue(source_of(document)["usable"])


@unittest.skipUnless(support.is_root() and shutil.which("setpriv"), "needs root to be someone else")
class CaptureScopesUnprivileged(CaptureScopes):
    """The same as a plain user: all of one's own processes, of others an absence with its reason."""

    PREFIX = UNPRIVILEGED

    def setUp(self):
        super().setUp()
        os.chmod(self.folder.name, 0o777)
        if run("metrics", prefix=UNPRIVILEGED)[0] != 0:
            self.skipTest("nobody may not run the program")

    def test_it_is_found_in_a_capture_of_the_whole_host(self):
        with self.program() as program:
            self.assert_as_told(self.capture("all.tscope"), program)
            source = source_of(support.show_threads(self.path("all.tscope")))
            self.assertEqual(source["state"], "partial")
            self.assertRegex(source["reason"], r"^Permission denied \(\d+ of \d+ reads\)")

    def test_others_are_absent_with_the_reason(self):
        with Program() as program:
            document = support.show_threads(self.capture("one.tscope", "-p", program.pid))
            for thread in document["threads"]:
                self.assertFalse(set(SCOPE_KEYS) & set(thread))
            self.assertEqual(source_of(document)["state"], "unavailable")
            self.assertRegex(document["absent"]["scope_age_ns"],
                             r"^no process that could be read uses libtaskscope; Permission denied "
                             r"\(1 of 1 reads\); needs CAP_SYS_PTRACE")


if __name__ == "__main__":
    support.main()
