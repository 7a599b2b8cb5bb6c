#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs one file of unittest cases and prints every case, as TAP writes it: usage: tap.py FILE [CASE...]

Without names (Class.test_name) it runs all; with --first it ends with the first that fails.
A skip says why, also when it is a part of a case (a subTest) or a whole class: nothing that did not
run looks as if it had passed.  What the cases themselves print goes to standard error.  The exit
status is 77 if all of them were skipped.
"""
import importlib
import os
import pathlib
import sys
import unittest


class Result(unittest.TestResult):
    """Prints `ok 1 - Class.test_name`, or `not ok` and on standard error the trace."""

    def __init__(self, module, out):
        super().__init__()
        self.module, self.out, self.count = module, out, 0

    def line(self, verdict, test, remark=""):
        self.count += 1
        name = " ".join(test.id().replace(f"{self.module}.", "").replace("#", "").split())
        print(f"{verdict} {self.count} - {name}{remark}", file=self.out, flush=True)

    def fail(self, test, error):
        self.line("not ok", test)
        print(self._exc_info_to_string(error, test), file=sys.stderr, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("ok", test, " # SKIP " + " ".join(reason.split()))

    @unittest.result.failfast
    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.fail(test, error)

    @unittest.result.failfast
    def addError(self, test, error):
        super().addError(test, error)
        self.fail(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.fail(subtest, error)
            self.shouldStop |= self.failfast


def main(path, *words):
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.parent))
    result = Result(path.stem, out)
    result.failfast = "--first" in words
    module, names = importlib.import_module(path.stem), [word for word in words if word != "--first"]
    loader = unittest.defaultTestLoader
    (loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)).run(result)
    print(f"1..{result.count}", file=out, flush=True)
    if not result.wasSuccessful() or not result.count:
        return 1
    return 77 if len(result.skipped) == result.count else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:]))
