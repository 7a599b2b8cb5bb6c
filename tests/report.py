# SPDX-License-Identifier: MIT
"""Counts what meson's tests did, case by case, and names every case that failed or did not run."""
import fnmatch
import json
import re

# A case in the output of a test, as TAP writes it.
CASE = re.compile(r"^(not )?ok \d+ *(?:- )?([^#\n]*?) *(?:# *(SKIP)\b *(.*))?$", re.MULTILINE)
BAD = {"FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS"}
SLOWEST = 15
SECOND_TRIES = 8


def allowed_skips(who, text):
    """The rows of skips.txt that hold for `who`, as patterns of a name and of a reason."""
    rows = [re.split(r"\t+", line) for line in text.splitlines() if line and line[0] != "#"]
    return [(name, reason) for row_who, name, reason in rows if row_who in (who, "all")]


def second_tries(lines):
    """The tests of a testlog.json that deserve a second try, as meson names them.

    Those of real processes on a real kernel: what else the machine does can get in their way.  All others
    do the same each time.  If many fail, that is no accident."""
    tests = [json.loads(line) for line in lines]
    bad = [test["name"].rpartition(" / ")[2] for test in tests
           if test["result"] in BAD and ("integration / " in test["name"] or "vm / " in test["name"])]
    return bad if len(bad) <= SECOND_TRIES else []


class Report:
    """All that was run.  A skip that is not among those allowed is a failure."""

    def __init__(self, allowed):
        self.allowed = allowed
        self.passed = 0
        self.failed = []  # names
        self.unsteady = []  # names of those that failed, and passed when run again
        self.skipped = []  # names, each with the reason
        self.times = []  # (seconds, name)
        self.builds = []  # (folder, seconds of building, seconds of testing)

    def add_log(self, folder, lines, lines_again=()):
        """Adds every test of a testlog.json; returns when the first one started.

        `lines_again` are of those that were run a second time: one that passes then counts as passed, and
        what had failed in it is named."""
        tests = [json.loads(line) for line in lines]
        again = {test["name"]: test for test in map(json.loads, lines_again)}
        for test in tests:
            name = test["name"].partition(":")[2].replace(" / ", "/")
            self.times.append((test["duration"], f"{folder}: {name}"))
            second = again.get(test["name"])
            if second and second["result"] not in BAD:
                first = Report(self.allowed)
                first.add_test(name, test["result"], test["stdout"])
                self.unsteady += first.failed
                test = second
            self.add_test(name, test["result"], test["stdout"])
        return min((test["starttime"] for test in tests), default=None)

    def add_test(self, name, result, output):
        """Adds the cases of a test, or the test itself if its output lists none."""
        failed = len(self.failed)
        cases = CASE.findall(output)
        for refused, case, skipped, reason in cases:
            self.add_case(f"{name}: {case}", "FAIL" if refused else skipped or "OK", reason)
        if not cases:
            self.add_case(name, result, output.strip().rpartition("\n")[2].removeprefix("skipped: "))
        elif result in BAD and len(self.failed) == failed:
            self.failed.append(f"{name}: {result} outside of its cases")

    def add_case(self, name, result, reason):
        if result == "SKIP":
            known = any(fnmatch.fnmatchcase(name, row[0]) and fnmatch.fnmatchcase(reason, row[1])
                        for row in self.allowed)
            (self.skipped if known else self.failed).append(f"{name}: skipped: {reason}")
        elif result in BAD:
            self.failed.append(name)
        else:
            self.passed += 1

    def lines(self):
        """What is worth knowing at the end; the counts are the last line."""
        yield "\nwhat takes the time:"
        for folder, building, testing in self.builds:
            yield f"{building:6.0f} s  {folder}: building\n{testing:6.0f} s  {folder}: testing"
        yield from (f"{seconds:6.0f} s  {name}"
                    for seconds, name in sorted(self.times, reverse=True)[:SLOWEST])
        for title, names in (("skipped", self.skipped), ("unsteady", self.unsteady),
                             ("failed", self.failed)):
            if names:
                yield f"\n{title}:"
                yield from (f"  {name}" for name in names)
        yield f"\n{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"
