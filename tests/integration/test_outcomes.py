#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What correlate and estimate say of recordings whose jobs are known."""
import contextlib
import csv
import hashlib
import json
import os
import pathlib
import random
import sqlite3
import statistics
import unittest

import outcomes
import support
import test_cgroups

from outcomes import MIB, SECOND, job, line


class Case(support.TestCase):
    def store(self, lines):
        path = self.path("jobs.db")
        outcomes.write(path, lines)
        return path

    def ask(self, verb, *words):
        return json.loads(self.accept(verb, *words, "--json"))


def history(count, cause, seed=1):
    """Jobs of two names, of which those with much memory fail if that is the cause."""
    chance = random.Random(seed)
    for number in range(count):
        memory = chance.choice([100, 300, 700, 1500, 3000])
        fails = chance.random() < (0.8 if cause and memory == 3000 else 0.1)
        yield job(chance.choice(["nightly", "build"]), "failure" if fails else "success", number * 60,
                  chance.uniform(1, 500), peak_memory_bytes=memory * MIB, memory="rss",
                  run_time_ns=int(chance.uniform(1, 500) * SECOND), anomalies=chance.choice([0, 0, 1]))
        yield line("syscall", "-", "futex", 10, 0, 50 * SECOND)
        yield line("syscall", "-", "read" if fails else "write", 10, 0, 40 * SECOND if number % 2 else 400 * SECOND)


class Correlate(Case):
    def test_a_cause_is_found(self):
        store = self.store(history(200, True))
        found = self.ask("correlate", "--store", store)
        self.assertEqual((found["jobs"], found["names"], found["can_find"]), (200, 2, True))
        memory = next(group for group in found["groups"] if group["group"] == "peak memory 2 GiB or more")
        self.assertEqual(memory["judgement"], "found")
        self.assertEqual(memory["sentence"], "jobs with a peak memory of 2 GiB or more fail more often")
        self.assertGreater(memory["rate"], 0.6)
        self.assertLess(memory["rate_low"], memory["rate"])
        self.assertAlmostEqual(memory["confidence"], 1 - memory["corrected_p_value"])
        self.assertEqual(memory["jobs"] + memory["others"], 200)
        self.assertGreaterEqual(memory["corrected_p_value"], memory["p_value"])
        first, empty, sentence, *_ = self.accept("correlate", "--store", store).splitlines()
        self.assertRegex(first, r"^\d findings? among 200 jobs of 2 names, \d+ failed \(")
        self.assertRegex(sentence, "^jobs .* fail (more|less) often")

    def test_a_system_call_that_dominates_is_a_group(self):
        store = self.store(history(200, True))
        groups = {group["group"]: group for group in self.ask("correlate", "--store", store)["groups"]}
        # In half of the jobs another one has 400 s and futex 50 s; in the rest futex has 50 s of 90 s, and that one 40 s.
        self.assertEqual(groups["futex() over 35 % of calls"]["jobs"], 100)
        self.assertEqual(groups["read() over 35 % of calls"]["rate"], 1)

    def test_one_name_alone(self):
        store = self.store(history(200, True))
        found = self.ask("correlate", "nightly", "--store", store)
        self.assertEqual((found["name"], found["names"]), ("nightly", 1))
        self.assertLess(found["jobs"], 150)
        self.assertNotIn("within_names_p_value", found["groups"][0])

    def test_nothing_is_found_where_there_is_nothing(self):
        store = self.store(text for text in history(200, False) if "syscall" not in text)
        found = self.ask("correlate", "--store", store)
        self.assertEqual([group for group in found["groups"] if group["judgement"] == "found"], [])
        self.assertEqual(found["lacking"]["syscall"], 200)
        text = self.accept("correlate", "--store", store)
        self.assertRegex(text, "^nothing goes with failure, as far as can be told from 200 jobs")
        self.assertIn("left out: 200 with unknown system calls", text)

    def test_too_little_says_how_much_is_needed(self):
        store = self.store([job(outcome="failure" if number == 0 else "success", begin=number,
                                peak_memory_bytes=number * 500 * MIB) for number in range(5)]
                           + [job(outcome="running", begin=9, duration=0), job(outcome="unknown", begin=10, duration=0)])
        found = self.ask("correlate", "--store", store)
        self.assertEqual((found["jobs"], found["running"], found["unknown"]), (5, 1, 1))
        self.assertIs(found["can_find"], False)
        self.assertGreater(found["needed_jobs"], 5)
        text = self.accept("correlate", "--store", store)
        self.assertRegex(text, "^too little is known to find anything: 5 jobs, 1 failed")
        self.assertIn(f"at least about {found['needed_jobs']} jobs are needed", text)
        self.assertIn("left out: 1 that run, 1 of unknown outcome", text)

    def test_rows_for_programs(self):
        store = self.store(history(100, True))
        rows = list(csv.DictReader(self.accept("correlate", "--store", store, "--format", "csv").splitlines()))
        groups = self.ask("correlate", "--store", store)["groups"]
        self.assertEqual([row["group"] for row in rows], [group["group"] for group in groups])
        for row, group in zip(rows, groups):
            self.assertEqual({key for key, value in row.items() if value}, set(group))

    def test_reading_writes_nothing(self):
        store = pathlib.Path(self.store(history(50, True)))
        before = sorted(os.listdir(store.parent)), hashlib.sha256(store.read_bytes()).digest()
        self.accept("correlate", "--store", store)
        self.accept("estimate", "nightly", "--store", store)
        self.assertEqual((sorted(os.listdir(store.parent)), hashlib.sha256(store.read_bytes()).digest()), before)

    def test_a_recorder_keeps_findings_as_patterns(self):
        now = (outcomes.BEGIN + 600 * 60) * SECOND
        store = self.store([*history(600, True), line("correlate", now), line("correlate", now + 7)])
        with contextlib.closing(sqlite3.connect(store)) as database:
            rows = database.execute("SELECT ts_ns, kind, jobs, failures, rate, p_value, details FROM patterns "
                                    "WHERE name = 'jobs with a peak memory of 2 GiB or more fail more often'").fetchall()
        (at, kind, jobs, failures, rate, p_value, details), = rows
        details = json.loads(details)
        self.assertEqual((at, kind, jobs), (now + 7, "correlation", details["jobs"]))
        self.assertAlmostEqual(rate, failures / jobs)
        self.assertEqual(p_value, details["corrected_p_value"])
        self.assertLess(p_value, 0.05)

    def test_a_recorder_looks_back_a_week(self):
        now = (outcomes.BEGIN + 9 * 86400) * SECOND
        store = self.store([*history(200, True), line("correlate", now)])
        with contextlib.closing(sqlite3.connect(store)) as database:
            self.assertEqual(database.execute("SELECT count(*) FROM patterns").fetchone(), (0,))

    def test_a_name_that_nobody_has(self):
        store = self.store([job()])
        self.refuse("correlate", "x", "--store", store, says="no job called 'x'")
        self.refuse("estimate", "x", "--store", store, says="no job called 'x'")
        self.refuse("estimate", "--store", store, says="takes the name of a job")


class Estimate(Case):
    def runs(self, count, memory=100, **values):
        return [job(begin=number, duration=number + 1, peak_memory_bytes=(number + memory) * MIB,
                    run_time_ns=(number + 1) * SECOND // 2, **values) for number in range(count)]

    def test_medians_and_p90(self):
        store = self.store([*self.runs(41), job(outcome="failure", duration=9999), job("other", duration=7777)])
        found = self.ask("estimate", "nightly", "--store", store)
        self.assertEqual((found["runs"], found["failed"]), (41, 1))
        durations = [number + 1 for number in range(41)]
        self.assertEqual(found["duration_ns"]["median"]["value"], statistics.median(durations) * SECOND)
        self.assertEqual(found["duration_ns"]["p90"]["value"], 37 * SECOND)
        self.assertEqual(found["duration_ns"]["most"], 41 * SECOND)
        self.assertEqual(found["run_time_ns"]["median"]["value"], 21 * SECOND // 2)
        self.assertEqual(found["peak_memory_bytes"]["median"]["value"], 120 * MIB)
        for figure in ("duration_ns", "run_time_ns", "peak_memory_bytes"):
            for quantile in ("median", "p90"):
                self.assertGreaterEqual(found[figure][quantile]["confidence"], 0.95)
        text = self.accept("estimate", "nightly", "--store", store)
        self.assertRegex(text, "^nightly: from 41 runs that succeeded; 1 failed and is left out\n")
        self.assertIn("peak memory  median  120 MiB (", text)

    def test_memory_that_was_found_in_different_ways(self):
        store = self.store([text + "\tmemory=rss" for text in self.runs(4)]
                           + [text + "\tmemory=cgroup" for text in self.runs(3)])
        self.assertEqual(self.ask("estimate", "nightly", "--store", store)["peak_memory_bytes"]["memory"],
                         {"cgroup": 3, "rss": 4})
        self.assertIn("\n             mixed   3 by cgroup, 4 by rss\n", self.accept("estimate", "nightly", "--store", store))

    def test_few_runs_have_less_confidence(self):
        store = self.store(self.runs(10))
        found = self.ask("estimate", "nightly", "--store", store)
        self.assertAlmostEqual(found["duration_ns"]["p90"]["confidence"], 1 - 0.9**10, places=3)
        self.assertIn("confidence 65 %; 95 % takes 29 runs)", self.accept("estimate", "nightly", "--store", store))

    def test_too_little_is_known(self):
        store = self.store([*self.runs(5), job(outcome="failure")])
        found = self.ask("estimate", "nightly", "--store", store)
        self.assertEqual((found["runs"], found["needed_runs"]), (5, 6))
        self.assertNotIn("median", found["duration_ns"])
        self.assertRegex(self.accept("estimate", "nightly", "--store", store),
                         "^nightly: too little is known: 5 runs succeeded, at least 6 are needed; 1 failed")

    def test_whether_it_fits(self):
        store = self.store([*self.runs(8)])
        status, out, err = support.run("estimate", "nightly", "--store", store, "--fits")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^nightly fits now: 106 MiB needed \(p90\), .* (available|left of this cgroup's limit)\n")
        self.assertRegex(out, r"of \d+ CPUs are idle; it mostly uses 0\.5\n")

    def test_what_does_not_fit(self):
        store = self.store(self.runs(8, memory=1 << 34))
        status, out, err = support.run("estimate", "nightly", "--store", store, "--fits")
        self.assertEqual((status, err), (1, ""))
        self.assertRegex(out, r"^nightly does not fit now: 16.0 PiB needed \(p90\), ")
        status, out, err = support.run("estimate", "nightly", "--store", store, "--fits", "--json")
        self.assertEqual((status, json.loads(out)["fits"]), (1, False))

    @unittest.skipUnless(support.is_root(), "making a cgroup needs root")
    def test_the_limit_of_the_cgroup_decides(self):
        store = self.store(self.runs(8))
        with test_cgroups.Cgroup(test_cgroups.trees()) as made:
            def enter():
                for directory in made.made:
                    (directory / "cgroup.procs").write_text(str(os.getpid()))

            if not any((directory / name).exists() for directory in made.made
                       for name in ("memory.max", "memory.limit_in_bytes")):
                raise unittest.SkipTest("no memory controller")
            status, out, err = support.run("estimate", "nightly", "--store", store, "--fits", preexec_fn=enter)
        self.assertEqual((status, err), (1, ""))
        self.assertRegex(out, r"^nightly does not fit now: 106 MiB needed \(p90\), \d\S* MiB left of this cgroup's limit")

    def test_nobody_knows_whether_it_fits(self):
        store = self.store([job(begin=number) for number in range(8)])
        status, out, err = support.run("estimate", "nightly", "--store", store, "--fits")
        self.assertEqual(status, 2)
        self.assertIn("cannot say whether 'nightly' fits", err)


if __name__ == "__main__":
    unittest.main()
