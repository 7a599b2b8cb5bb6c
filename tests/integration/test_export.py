#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What report writes of a saved run for other programs: folded stacks, and a profile for pprof."""
import gzip
import json
import os
import pathlib
import re
import shutil
import sys
import unittest

import pprof
import support

STACKS = support.ROOT / "tests/data/runs/stacks.jsonl"
TREE = ("std::_Rb_tree<std::string, std::pair<std::string const, unsigned long>, "
        "std::less<std::string> >::_M_insert_unique")
BUILD_ID = "8f1c2d3e4b5a69788796a5b4c3d2e1f001122334"
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"

# As viewers take a line apart: frames, a blank, and the number behind the last one.
FOLDED = re.compile(r"^([^\x00-\x1f\x7f]+) (\d+)$")


class ExportCase(support.TestCase):
    def write(self, name, source=STACKS):
        path = self.path(name)
        self.assertEqual(support.run("report", source, "-o", path), (0, "", ""))
        return path

    def folded(self, source=STACKS):
        stacks = {}
        for line in pathlib.Path(self.write("it.folded", source)).read_text().splitlines():
            match = FOLDED.match(line)
            self.assertTrue(match, line)
            frames = tuple(match[1].split(";"))
            stacks[frames] = stacks.get(frames, 0) + int(match[2])
        return stacks


class Folded(ExportCase):
    def test_every_stack_has_a_line_with_its_time(self):
        worker = r"work\x3ber\x0a 1"
        self.assertEqual(self.folded(), {
            ("on-cpu", "make", "make", "main", "run_jobs", "hash_find"): 100000,
            ("on-cpu", "make", "make", "main", "run_jobs", "hash_find", "mix_[i]"): 800001,
            ("on-cpu", "make", "make", "main", "run_jobs", "read", "vfs_read_[k]"): 50000,
            ("on-cpu", "make", worker, "[not captured]"): 150000,
            ("on-cpu", "make", worker, "main", "run_jobs", TREE): 300000,
            ("on-cpu", "make", worker, "[truncated]", TREE,
             r"[stripped\x3b odd\x0a.so+0x777]"): 200000,
            ("on-cpu", "make", worker, "main", r"odd\x1b[31m\x3bname\xff with blanks"): 100000,
            ("off-cpu", "make", "make", "main", "run_jobs", "read", "vfs_read_[k]",
             "schedule_[k]"): 150000,
            ("off-cpu", "make", worker, "[not captured]"): 75000,
            ("off-cpu", "make", worker, "main", "run_jobs", "hash_find", "pthread_mutex_lock",
             "schedule_[k]"): 2400000,
        })

    def test_the_sum_is_that_of_all_times(self):
        total = sum(self.folded().values())
        self.assertEqual(total, round((1700001200 + 2625000000) / 1000))

    def test_writing_it_again_gives_the_same_bytes(self):
        for name in ("it.folded", "it.pb.gz"):
            first = pathlib.Path(self.write(name)).read_bytes()
            self.assertEqual(pathlib.Path(self.write(name)).read_bytes(), first)


@unittest.skipUnless(shutil.which("protoc"), "needs protoc")
class Pprof(ExportCase):
    def setUp(self):
        super().setUp()
        self.profile = pprof.Profile(self.write("it.pb.gz"))

    def sample(self, *innermost):
        found = [sample for sample in self.profile.samples
                 if tuple(frame[0] for frame in sample[0])[:len(innermost)] == innermost]
        self.assertEqual(len(found), 1, innermost)
        return found[0]

    def test_it_says_what_its_values_are(self):
        self.assertEqual(self.profile.types, [("samples", "count"), ("cpu", "nanoseconds"),
                                              ("off_cpu", "nanoseconds")])
        fields = self.profile.fields
        self.assertEqual(fields["period"], [1000000000 // 99])
        self.assertEqual(fields["time_nanos"], [1700000000000000000])
        self.assertEqual(fields["duration_nanos"], [2000000000])

    def test_the_sums_are_those_of_the_run(self):
        sums = [sum(sample[1][i] for sample in self.profile.samples) for i in range(3)]
        self.assertEqual(sums, [154 + 40, 1700001200, 2625000000])

    def test_a_sample_has_frames_values_and_labels(self):
        frames, values, labels = self.sample("schedule", "pthread_mutex_lock")
        self.assertEqual(frames[2:], [("hash_find", "hash.c", 41), ("run_jobs", "job.c", 88),
                                      ("main", "main.c", 1200)])
        self.assertEqual(values, (20, 0, 2400000000))
        self.assertEqual(labels, {"process": "make", "thread": r"work;er\x0a 1", "pid": 100,
                                  "tid": 101, "wait": "lock", "scope": "load > parse"})
        self.assertNotIn("wait", self.sample("mix")[2])

    def test_inlined_frames_share_a_location(self):
        frames, values, _ = self.sample("mix")
        self.assertEqual(frames[:2], [("mix", "hash.h", 12), ("hash_find", "hash.c", 41)])
        self.assertEqual(values, (79, 800000400, 0))
        lines = sorted(len(place.get("line", [])) for place in self.profile.locations.values())
        self.assertEqual(lines[-2:], [1, 2])

    def test_what_is_missing_is_named(self):
        self.assertEqual(self.sample(r"odd\x1b[31m;name\xff with blanks")[1], (10, 100000000, 0))
        self.assertEqual([frame[0] for frame in self.sample("0x777")[0]],
                         ["0x777", TREE, "[truncated]"])
        missing = [sample[1] for sample in self.profile.samples
                   if sample[0][0][0] == "[not captured]"]
        self.assertEqual(sorted(missing), [(0, 0, 75000000), (0, 150000000, 0)])

    def test_mappings_have_their_build_ids(self):
        files = {self.profile.file_of(place) for place in self.profile.locations.values()}
        self.assertLessEqual({("/usr/bin/make", BUILD_ID), (LIBC, "cc00"), ("[kernel]", "")}, files)
        first = self.profile.mappings[1]
        self.assertEqual(self.profile.fields["string_table"][first["filename"][0]], "/usr/bin/make")
        for key in ("has_functions", "has_filenames", "has_line_numbers", "has_inline_frames"):
            self.assertEqual(first[key], [True], key)
        for place in self.profile.locations.values():
            if "mapping_id" in place:
                mapping = self.profile.mappings[place["mapping_id"][0]]
                self.assertLess(place["address"][0], mapping["memory_limit"][0])


class Live(ExportCase):
    """A program that computes and waits."""

    PROGRAM = """
import threading, time
lock = threading.Lock()
def wait():
    with lock:
        pass
lock.acquire()
thread = threading.Thread(target=wait, name="waiter")
thread.start()
end = time.process_time() + 0.5
while time.process_time() < end:
    pass
lock.release()
thread.join()
"""

    def setUp(self):
        super().setUp()
        files = [self.path("it" + ending) for ending in (".jsonl", ".tscope", ".folded", ".pb.gz")]
        words = [word for file in files for word in ("-o", file)]
        status, _, err = support.run("run", *words, "-q", "--", sys.executable, "-c", self.PROGRAM)
        if "the run would have no stacks" in err:
            self.skipTest("needs BPF: " + err)
        self.assertEqual((status, err), (0, ""))
        self.summary = json.loads(pathlib.Path(files[0]).read_text().splitlines()[-1])

    @staticmethod
    def lines(path):
        return sorted(pathlib.Path(path).read_text().splitlines())

    def test_all_files_of_a_run_agree(self):
        for name in ("it.jsonl", "it.tscope"):
            made = self.path("made.folded")
            self.assertEqual(support.run("report", self.path(name), "-o", made), (0, "", ""))
            self.assertEqual(len(self.lines(made)), len(self.lines(self.path("it.folded"))))
            self.assertEqual(self.lines(made), self.lines(self.path("it.folded")), name)
        reports = [support.run("report", self.path(name), "--format", "json")[1]
                   for name in ("it.jsonl", "it.tscope")]
        profiles = [json.loads(report)["profile"] for report in reports]
        self.assertEqual(profiles[0], self.summary["profile"])
        self.assertEqual(profiles[1], self.summary["profile"])

    def test_what_it_did_is_in_it(self):
        profile = self.summary["profile"]
        self.assertGreater(profile["on_cpu"]["count"], 0)
        self.assertGreater(profile["off_cpu"]["count"], 0)
        stacks = self.lines(self.path("it.folded"))
        for kind in ("on_cpu", "off_cpu"):
            first = kind.replace("_", "-") + ";"
            total = sum(int(line.rsplit(" ", 1)[1]) for line in stacks if line.startswith(first))
            self.assertAlmostEqual(total, profile[kind]["ns"] / 1000, delta=1)
        self.assertTrue(any("_PyEval_EvalFrameDefault" in line for line in stacks
                            if line.startswith("on-cpu;python")), stacks)


class Trouble(ExportCase):
    def test_a_run_without_stacks_is_refused(self):
        source = STACKS.with_name("build.jsonl")
        for name in ("it.folded", "it.pb.gz"):
            path = self.path(name)
            self.assertEqual(support.run("report", source, "-o", path),
                             (2, "", f"taskscope: cannot write '{path}': the run has no stacks\n"))
            self.assertFalse(os.path.exists(path))

    def test_without_stacks_nothing_is_started(self):
        for name in ("it.folded", "it.pb.gz"):
            path, trace = self.path(name), self.path("trace")
            reason = "proc does not show where in its code a thread is: that needs BPF"
            refusal = f"taskscope: cannot write '{path}': the run would have no stacks: {reason}\n"
            self.assertEqual(support.run("run", "--source", "procfs", "-o", path, "--", "touch", trace),
                             (125, "", refusal))
            self.assertEqual(support.run("attach", "--source", "procfs", "-o", path, "-p", os.getpid(), "-d", "1h"),
                             (2, "", refusal))
            self.assertFalse(os.path.exists(path))
            self.assertFalse(os.path.exists(trace))

    def test_a_file_that_cannot_be_written_leaves_the_others(self):
        good, bad = self.path("it.folded"), self.path("none/it.pb.gz")
        status, out, err = support.run("report", STACKS, "-o", bad, "-o", good)
        self.assertEqual((status, out), (2, ""))
        self.assertIn(f"cannot write to '{bad}': No such file or directory", err)
        self.assertTrue(pathlib.Path(good).read_text())

    def test_a_full_disk_keeps_the_old_file(self):
        for name in ("it.pb.gz", "it.html", "it.folded"):
            old = self.path(name)
            pathlib.Path(old).write_text("old")
            status, _, err = support.run("report", STACKS, "-o", old,
                                         prefix=["prlimit", "--fsize=64"])
            self.assertEqual(status, 2, err)
            self.assertIn(f"cannot write to '{old}': File too large", err)
            self.assertEqual(pathlib.Path(old).read_text(), "old")

    def test_the_gzip_is_whole(self):
        with gzip.open(self.write("it.pb.gz")) as file:
            self.assertGreater(len(file.read()), 1000)


if __name__ == "__main__":
    unittest.main()
