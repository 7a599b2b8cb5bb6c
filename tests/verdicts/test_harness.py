#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `make verdicts` counts as right, and how it counts."""
import pathlib
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
import run  # noqa: E402
import stage  # noqa: E402
from case import Case, sh  # noqa: E402

PIPELINE = Case("pipeline", sh("tar c . | gzip"), "pipe_stage cpu", "gzip is slow.", named=r"\bgzip\b",
                busy="run_queue")


def answer(cause, *evidence):
    return {"verdict": {"class": "cpu_bound", "cause": cause, "confidence": 0.9, "evidence": list(evidence)}}


def is_right(cause, *evidence, busy=False):
    return stage.judge_answer(PIPELINE, answer(cause, *evidence), busy)["right"]


def said(sure, right, load="quiet", blind=False):
    return {"confidence": sure, "right": right, "best": right, "load": load, "blind": blind}


class Judgement(unittest.TestCase):
    def test_each_accepted_cause_is_right_and_the_first_is_best(self):
        self.assertTrue(is_right("pipe_stage", "gzip (12)"))
        self.assertTrue(is_right("cpu", "gzip (12)"))
        self.assertTrue(stage.judge_answer(PIPELINE, answer("pipe_stage"), False)["best"])
        self.assertFalse(stage.judge_answer(PIPELINE, answer("cpu"), False)["best"])

    def test_another_cause_or_no_name_is_wrong(self):
        self.assertFalse(is_right("lock", "gzip (12)"))
        self.assertFalse(is_right("cpu", "tar (12)"))
        self.assertFalse(stage.judge_answer(PIPELINE, {}, False)["right"])

    def test_what_is_right_on_a_busy_machine_is_wrong_on_a_quiet_one(self):
        self.assertFalse(is_right("run_queue", "gzip (12)"))
        self.assertTrue(is_right("run_queue", "gzip (12)", busy=True))


class Table(unittest.TestCase):
    def test_rows_are_shares_and_columns_tell_blind_and_busy_apart(self):
        lines = run.table([said(0.97, True), said(0.895, False), said(0.894, True), said(1.0, True, "busy"),
                           said(0.5, False, blind=True), said(None, False)])
        rows = {line[:12].strip(): line[12:].split() for line in lines[2:]}
        nothing = ["0", "0", "-"]
        self.assertEqual(rows["90 to 100 %"], ["2", "1", "50%", "1", "1", "100%", *nothing, *nothing])
        self.assertEqual(rows["80 to 90 %"], ["1", "1", "100%", *nothing * 3])
        self.assertEqual(rows["0 to 60 %"], [*nothing * 2, "1", "0", "0%", *nothing])
        self.assertEqual(rows["no answer"], ["1", "0", "0%", *nothing * 3])
        self.assertEqual(rows["all"][:2], ["4", "2"])

    def test_the_record_counts_a_program_once_and_as_wrong_if_one_answer_was(self):
        answers = [{"case": case, "cause": cause, "right": right, "blind": case != "known"}
                   for case, cause, right in (("a", "cpu", True), ("a", "disk", False), ("b", "cpu", True),
                                              ("b", "cpu", True), ("known", "cpu", False))]
        self.assertEqual(run.record(answers), "right of said, blind: cpu 1/1, disk 0/1")


class Resuming(unittest.TestCase):
    def test_an_answer_is_kept_for_the_same_binary_and_case_only(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            binary = folder / "taskscope"
            binary.write_text("one")
            results = run.Results(folder / "verdicts.json", [binary])
            results.add("quiet", PIPELINE, False, {"right": True})
            again = run.Results(folder / "verdicts.json", [binary])
            self.assertTrue(again.find("quiet", PIPELINE)["right"])
            self.assertIsNone(again.find("busy", PIPELINE))
            other = Case("pipeline", sh("tar c . | xz"), "cpu", "xz is slow.")
            self.assertIsNone(again.find("quiet", other))
            binary.write_text("two")
            self.assertIsNone(run.Results(folder / "verdicts.json", [binary]).find("quiet", PIPELINE))


class Corpus(unittest.TestCase):
    def test_cases_are_well_formed(self):
        for case, _ in run.corpus(""):
            with self.subTest(case.name):
                self.assertIn(case.verb, ("run", "attach", "why"))
                self.assertTrue(case.causes and case.truth.endswith("."))
                self.assertFalse(case.target and case.verb == "run")
                self.assertFalse(case.seconds and case.verb != "run")


if __name__ == "__main__":
    unittest.main()
