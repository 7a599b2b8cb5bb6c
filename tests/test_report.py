# SPDX-License-Identifier: MIT
"""report.py and tap.py must be able to fail: what did not run is counted, named and, unless allowed,
a failure."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import report

HERE = pathlib.Path(__file__).resolve().parent
SKIPS = """# who	test	reason
root	vm/linux *	no kernel*
user	*	needs root
"""
CASES = """
import unittest

class Cases(unittest.TestCase):
    def test_good(self):
        print("ok 7 - not a case")

    def test_partly(self):
        for way in ("bpf", "procfs"):
            with self.subTest(way=way):
                if way == "bpf":
                    self.skipTest("no bpf # here")

    @unittest.skip("some other\\nday")
    def test_skipped(self):
        pass

class Whole(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("nothing works")

    def test_never(self):
        pass
"""
BAD_CASES = """
import unittest

class Cases(unittest.TestCase):
    def test_bad(self):
        self.fail()

    def test_partly(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertEqual(number, 1)
"""


def line(name, result, output=""):
    return json.dumps({"name": f"taskscope:{name}", "result": result, "stdout": output,
                       "starttime": 1, "duration": 1.5})


class Counting(unittest.TestCase):
    def read(self, *lines, who="root"):
        found = report.Report(report.allowed_skips(who, SKIPS))
        found.add_log("build", lines)
        return found

    def counts(self, *lines, who="root"):
        return list(self.read(*lines, who=who).lines())[-1].strip()

    def test_a_test_without_cases_is_one(self):
        self.assertEqual(self.counts(line("unit / a", "OK"), line("unit / b", "FAIL"),
                                     line("unit / c", "TIMEOUT"), line("unit / d", "ERROR")),
                         "1 passed, 3 failed, 0 skipped")

    def test_cases_are_counted_each(self):
        self.assertEqual(self.counts(line("unit / a", "ERROR", "ok 1 - x\nnot ok 2 - y\n1..2\n")),
                         "1 passed, 1 failed, 0 skipped")

    def test_a_program_that_dies_after_its_cases_has_failed(self):
        self.assertEqual(self.counts(line("unit / a", "TIMEOUT", "ok 1 - x\n")),
                         "1 passed, 1 failed, 0 skipped")

    def test_a_skip_that_is_allowed_is_named(self):
        found = self.read(line("vm / linux 6.1", "SKIP", "skipped: no kernel to be had\n"))
        self.assertEqual(found.skipped, ["vm/linux 6.1: skipped: no kernel to be had"])
        self.assertEqual(found.failed, [])

    def test_a_skip_that_is_not_allowed_has_failed(self):
        for said in ("no qemu", ""):
            found = self.read(line("vm / linux 6.1", "SKIP", said))
            self.assertEqual(found.failed, [f"vm/linux 6.1: skipped: {said}"])
            self.assertEqual(found.skipped, [])

    def test_a_case_that_is_skipped_is_not_passed(self):
        output = "ok 1 - x\nok 2 - y # SKIP needs root\n1..2\n"
        self.assertEqual(self.counts(line("integration / a", "OK", output), who="user"),
                         "1 passed, 0 failed, 1 skipped")
        self.assertEqual(self.counts(line("integration / a", "OK", output)),
                         "1 passed, 1 failed, 0 skipped")

    def test_a_second_try_that_passes_is_named(self):
        found = report.Report([])
        found.add_log("build", [line("integration / a", "FAIL", "ok 1 - x\nnot ok 2 - y\n1..2\n")],
                      [line("integration / a", "OK", "ok 1 - x\nok 2 - y\n1..2\n")])
        self.assertEqual((found.passed, found.failed, found.unsteady), (2, [], ["integration/a: y"]))
        self.assertIn("  integration/a: y", list(found.lines()))

    def test_a_second_try_that_fails_has_failed(self):
        bad = line("integration / a", "FAIL", "ok 1 - x\nnot ok 2 - y\n1..2\n")
        found = report.Report([])
        found.add_log("build", [bad], [bad])
        self.assertEqual((found.passed, found.failed, found.unsteady), (1, ["integration/a: y"], []))

    def test_only_tests_of_real_processes_have_a_second_try(self):
        bad = [line("unit / a", "FAIL"), line("integration / b", "TIMEOUT"), line("integration / c", "OK")]
        self.assertEqual(report.second_tries(bad), ["b"])

    def test_many_failures_are_no_accident(self):
        bad = [line(f"integration / {i}", "FAIL") for i in range(report.SECOND_TRIES + 1)]
        self.assertEqual(report.second_tries(bad), [])

    def test_the_list_in_the_tree_can_be_read(self):
        rows = report.allowed_skips("root", (HERE / "skips.txt").read_text())
        self.assertNotIn(("*", "*"), rows)


class Cases(unittest.TestCase):
    def tap(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "test_sample.py"
            file.write_text(text)
            return subprocess.run([sys.executable, HERE / "tap.py", file], capture_output=True,
                                  text=True)

    def test_whatever_did_not_run_is_named(self):
        done = self.tap(CASES)
        self.assertEqual(done.returncode, 0)
        found = report.Report([("*", "*")])
        found.add_test("a", "OK", done.stdout)
        self.assertEqual(found.passed, 1)
        self.assertEqual(found.skipped, [
            "a: Cases.test_partly (way='bpf'): skipped: no bpf # here",
            "a: Cases.test_skipped: skipped: some other day",
            "a: setUpClass (Whole): skipped: nothing works"])

    def test_whatever_failed_is_named(self):
        done = self.tap(BAD_CASES)
        self.assertEqual(done.returncode, 1)
        found = report.Report([])
        found.add_test("a", "FAIL", done.stdout)
        self.assertEqual(found.failed, ["a: Cases.test_bad", "a: Cases.test_partly (number=0)",
                                        "a: Cases.test_partly (number=2)"])

    def test_a_file_without_cases_has_failed(self):
        self.assertEqual(self.tap("").returncode, 1)


if __name__ == "__main__":
    unittest.main()
