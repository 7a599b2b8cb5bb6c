# SPDX-License-Identifier: MIT
"""The steps of .ci/run must be able to fail: they count by their last line or by their status."""
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

STEPS = pathlib.Path(__file__).resolve().parent.parent / ".ci/steps.sh"
SUITE = STEPS.parent.parent / "tests/run.py"


class Steps(unittest.TestCase):
    def run_steps(self, *steps):
        """Exit status and last line of a script of such steps."""
        status, lines = self.print_steps(*steps)
        return status, lines[-1]

    def print_steps(self, *steps):
        script = f"results=$(mktemp); trap 'rm -f $results $results.remarks' EXIT; . {STEPS}\n" + \
            "".join(f"step name {step}\n" for step in steps) + "summary"
        done = subprocess.run(["bash", "-uo", "pipefail", "-c", script], capture_output=True,
                              text=True, timeout=120)
        return done.returncode, done.stdout.splitlines()

    def test_a_command_is_one(self):
        self.assertEqual(self.run_steps("true", "true"), (0, "2 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.run_steps("true", "false"), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_suite_is_as_many_as_it_says(self):
        said = "'echo first; echo {}; exit {}'"
        suite = "sh -c " + said.format("3 passed, 0 failed, 2 skipped", 0)
        self.assertEqual(self.run_steps(suite, "true"), (0, "4 passed, 0 failed, 2 skipped"))
        suite = "sh -c " + said.format("3 passed, 2 failed, 0 skipped", 1)
        self.assertEqual(self.run_steps(suite), (1, "3 passed, 2 failed, 0 skipped"))
        suite = "sh -c " + said.format("3 passed, 2 failed, 0 skipped; echo make: Error 1", 2)
        self.assertEqual(self.run_steps(suite), (1, "3 passed, 2 failed, 0 skipped"))

    def test_a_suite_that_fails_without_saying_so_has_failed(self):
        suite = "sh -c 'echo 3 passed, 0 failed, 0 skipped; exit 1'"
        self.assertEqual(self.run_steps(suite), (1, "3 passed, 1 failed, 0 skipped"))

    def test_what_failed_or_was_unsteady_is_named_again_at_the_end(self):
        said = "unsteady:\\n  a: x\\n\\nfailed:\\n  b: y\\n\\n3 passed, 1 failed, 0 skipped"
        status, lines = self.print_steps(f"sh -c 'printf \"{said}\\n\"; exit 1'", "true")
        self.assertEqual(status, 1)
        self.assertEqual(lines[-6:], ["name: unsteady:", "  a: x", "name: failed:", "  b: y", "",
                                      "4 passed, 1 failed, 0 skipped"])

    def test_a_word_that_the_suite_does_not_know_runs_nothing(self):
        for word, status in (("--help", 0), ("--unprivilegd", 2)):
            done = subprocess.run(["python3", SUITE, word], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, status, done.stderr)

    def test_a_step_that_cannot_be_is_skipped(self):
        self.assertEqual(self.run_steps("sh -c 'echo skipped: why; exit 77'", "true"),
                         (0, "1 passed, 0 failed, 1 skipped"))
        self.assertEqual(self.run_steps("sh -c 'exit 77'"), (1, "0 passed, 0 failed, 1 skipped"))

    def test_what_a_step_leaves_running_is_not_waited_for(self):
        with tempfile.NamedTemporaryFile("r") as file:
            self.run_steps(f"sh -c 'sleep 1000 & echo $! >{file.name}'")
            os.kill(int(file.read()), signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
