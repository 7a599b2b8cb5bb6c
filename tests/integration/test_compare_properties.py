#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is true of every comparison, on the recorded roots and on parts of them that chance chose.

TASKSCOPE_SEED repeats a run; the seed is in the message of what fails.
"""
import collections
import itertools
import json
import os
import pathlib
import random
import sys

import support
from support import ROOT, TestCase, run

sys.path.append(str(ROOT / "tests/golden"))
import pairs

ROOTS = sorted(path for path in (ROOT / "tests/data/roots").iterdir() if path.is_dir())
CTPROF = sorted((ROOT / "tests/data/ctprof").glob("*.ctprof.zst"))
AXES = ["pcomm", "comm", "comm-exact", "cgroup", "process", "thread", "user", "scope",
        "container", "all"]
SEED = os.environ.get("TASKSCOPE_SEED", str(random.randrange(1 << 32)))
ROUNDS = 6
MIRROR = {"new": "gone", "gone": "new"}


def summed_metrics():
    """Metrics that add up, by name."""
    listed = json.loads(run("metrics", "--format", "json")[1])["metrics"]
    return [metric["name"] for metric in listed if metric["fold"] == "sum"]


def refuse_constant(word):
    raise AssertionError(f"{word} is not JSON")


def compare(*words):
    status, out, err = run("compare", *words, "--all", "--format", "json")
    if status != 0:
        raise AssertionError(f"compare {words}: {err}")
    return json.loads(out, parse_constant=refuse_constant)


def pids_of(root):
    return [int(path.name) for path in (root / "proc").iterdir() if path.name.isdigit()]


def work_of(row):
    """The change of a row; of a restarted group that is a rate, so what its tasks did."""
    return row.get("interval" if row["values"] == "per_task_second" else "delta", 0)


class Properties(TestCase):
    def setUp(self):
        super().setUp()
        self.random = random.Random(f"{SEED} {self.id()}")
        self.count = 0

    def capture(self, root, pids=None):
        self.count += 1
        path = self.path(f"{self.count}.tscope")
        chosen = ["-p", ",".join(map(str, sorted(pids)))] if pids else []
        self.accept("capture", "-q", "--smaps", "--root", root, *chosen, "-o", path)
        return path

    def part(self, root):
        """A capture of some of a root's processes."""
        pids = pids_of(root)
        return self.capture(root, self.random.sample(pids, self.random.randint(1, len(pids))))

    def snapshots(self):
        """Every root, parts of them, and files of another format."""
        whole = [self.capture(root) for root in ROOTS]
        parts = [self.part(self.random.choice(ROOTS)) for _ in range(ROUNDS)]
        return whole + parts + [str(path) for path in CTPROF]

    def later(self):
        """A root, and the same host ten seconds later, as the golden pairs have it."""
        before = ROOT / "tests/data/roots/debian-6.12"
        after = pathlib.Path(self.path("later"))
        pairs.later(before, after)
        return before, after

    def intervals(self):
        """Pairs of one boot: whole, and with processes that only one side has looked at."""
        before, after = self.later()
        yield self.capture(before), self.capture(after)
        for _ in range(ROUNDS):
            yield self.part(before), self.part(after)

    def check_nothing_moved(self, document, about):
        for row in document["rows"]:
            self.assertIn(row["state"], ["same", "absent"], (about, row))
            self.assertFalse(row.get("delta"), (about, row))
            self.assertFalse(row.get("per_second"), (about, row))
            self.assertEqual(row.get("before"), row.get("after"), (about, row))
            self.assertEqual(row["measured_before"], row["measured_after"], (about, row))
        for group in document["groups"]:
            self.assertEqual(group["tasks_before"], group["tasks_after"], (about, group))
            self.assertEqual((group.get("born", 0), group.get("ended", 0)), (0, 0), (about, group))
        self.assertEqual(document["host_changes"], [])

    def test_nothing_moves_between_a_snapshot_and_itself(self):
        for path in self.snapshots():
            for axis in AXES:
                for mode in ["auto", "population"]:
                    document = compare(path, path, "-g", axis, "--mode", mode)
                    self.assertTrue(document["rows"])
                    self.check_nothing_moved(document, (SEED, path, axis, mode))

    def keyed(self, document):
        """Rows by what they are about: a renamed group is one with either name."""
        renamed = {group["key"]: group["renamed_from"] for group in document["groups"]
                   if group.get("renamed_from")}
        rows = {}
        for row in document["rows"]:
            names = frozenset([row["group"], renamed.get(row["group"], row["group"])])
            key = row["section"], names, row["metric"]
            self.assertNotIn(key, rows)
            rows[key] = row
        return rows

    def check_mirrored(self, row, other, about):
        self.assertEqual(MIRROR.get(row["state"], row["state"]), other["state"], (about, row, other))
        for one, two in [("before", "after"), ("measured_before", "measured_after"),
                         ("per_task_second_before", "per_task_second_after")]:
            self.assertEqual((row.get(one), row.get(two)), (other.get(two), other.get(one)),
                             (about, row, other))
        self.assertEqual("delta" in row, "delta" in other, (about, row, other))
        if "delta" in row:
            self.assertEqual(row["delta"], -other["delta"], (about, row, other))

    def test_populations_the_other_way_round_are_the_negative(self):
        paths = self.snapshots()
        changed = 0
        for before, after in itertools.combinations(paths, 2):
            axis = self.random.choice(AXES)
            there = self.keyed(compare(before, after, "-g", axis, "--mode", "population"))
            back = self.keyed(compare(after, before, "-g", axis, "--mode", "population"))
            about = SEED, before, after, axis
            self.assertEqual(set(there), set(back), about)
            for key, row in there.items():
                self.check_mirrored(row, back[key], about)
                changed += bool(row.get("delta"))
        self.assertGreater(changed, 1000)

    def whole(self, document, names):
        """Sums over groups of what adds up: {"delta": ..., "before": ..., "after": ...} by metric.

        A difference that a group does not tell is in no sum, and which groups tell one is up to the
        axis: then there is no whole.
        """
        sums = collections.defaultdict(lambda: {"delta": 0, "before": 0, "after": 0})
        for row in document["rows"]:
            if row["metric"] not in names:
                continue
            account = sums[row["metric"]]
            if row["state"] == "absent":
                account.pop("delta", None)
            elif "delta" in account:
                account["delta"] += work_of(row)
            # Rates of a restarted group are in no sum.
            for side in ["before", "after"]:
                if row["values"] == "per_task_second":
                    account.pop(side, None)
                elif side in account:
                    account[side] += row.get(side, 0)
        return dict(sums)

    def check_wholes(self, pair, mode):
        """The sums of all axes are the same; gives those that every axis has."""
        names = set(summed_metrics())
        wholes = [self.whole(compare(*pair, "-g", axis, "--mode", mode), names) for axis in AXES]
        first = dict(wholes[0])
        self.assertGreater(len(first), 50)
        for axis, whole in zip(AXES, wholes):
            self.assertEqual(set(whole), set(first), (SEED, pair, mode, axis))
            for name, sums in whole.items():
                shared = set(sums) & set(first[name])
                first[name] = {key: first[name][key] for key in shared}
                self.assertEqual({key: sums[key] for key in shared}, first[name],
                                 (SEED, pair, mode, axis, name))
        return {name: sums for name, sums in first.items() if "delta" in sums}

    def test_the_groups_of_a_population_add_up_to_the_whole(self):
        paths = self.snapshots()
        told = 0
        for _ in range(2 * ROUNDS):
            whole = self.check_wholes(self.random.sample(paths, 2), "population")
            for name, sums in whole.items():
                self.assertEqual(sums["delta"], sums["after"] - sums["before"], (SEED, name))
                told += bool(sums["delta"])
        self.assertGreater(told, 100)

    def test_the_groups_of_an_interval_add_up_to_the_whole(self):
        told = 0
        for pair in self.intervals():
            whole = self.check_wholes(pair, "interval")
            told += sum(bool(sums["delta"]) for sums in whole.values())
        self.assertGreater(told, 10)

    def test_work_in_an_interval_is_never_below_nothing(self):
        counters = {metric["name"]
                    for metric in json.loads(run("metrics", "--format", "json")[1])["metrics"]
                    if metric["kind"] == "counter"}
        for pair in self.intervals():
            for axis in AXES:
                for row in compare(*pair, "-g", axis)["rows"]:
                    if row["metric"] in counters:
                        self.assertGreaterEqual(work_of(row), 0, (SEED, pair, axis, row))


if __name__ == "__main__":
    support.main()
