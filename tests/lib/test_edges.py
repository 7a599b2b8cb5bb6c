# SPDX-License-Identifier: MIT
"""libtaskscope in hard places: what it costs, what it lacks, and what the environment says."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

EDGES = os.environ["TASKSCOPE_EDGES"]
QUIET = os.environ["TASKSCOPE_QUIET"]
CALM = {"TASKSCOPE_HEARTBEAT": "off", "TASKSCOPE_STALL": "off"}


def plain_environment(**more):
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("TASKSCOPE")}
    return inherited | more


def run(*words, **environment):
    return subprocess.run(words, env=plain_environment(**environment), capture_output=True, text=True,
                          timeout=300, check=False)


def warnings(result):
    return [line for line in result.stderr.splitlines() if "WARNING" in line]


class Quiet(unittest.TestCase):
    """No lock, no allocation and no system call on the way."""

    def test_no_lock_and_no_allocation(self):
        result = run(QUIET)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("0 visits", result.stdout)

    def test_statistics_need_none_either(self):
        result = run(QUIET, TASKSCOPE_STATISTICS="on")
        self.assertEqual(result.returncode, 0, result.stdout)

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_no_system_call(self):
        with tempfile.NamedTemporaryFile() as trace:
            result = run("strace", "-f", "-o", trace.name, QUIET)
            self.assertEqual(result.returncode, 0, result.stderr)
            calls = trace.read().decode()
        threads = {}
        for line in calls.splitlines():
            tid, call = line.split(maxsplit=1)
            threads.setdefault(tid, []).append(call)
        watched = [calls for calls in threads.values() if any('"BEGIN' in call for call in calls)]
        self.assertEqual(len(watched), 3)
        for calls in watched:
            begin = next(i for i, call in enumerate(calls) if '"BEGIN' in call)
            end = next(i for i, call in enumerate(calls) if '"END' in call)
            between = [call for call in calls[begin + 1:end] if not re.match(r"<\.\.\. write resumed", call)]
            self.assertEqual(between, [])


class Lacking(unittest.TestCase):
    """Something is not to be had: the program goes on."""

    def expect(self, scene, line):
        result = run(EDGES, scene, **CALM)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.strip(), line)
        return result

    def test_everything_is_there(self):
        self.assertEqual(warnings(self.expect("start", "started: recorded, shared")), [])

    def test_without_descriptors_it_is_recorded_inside(self):
        result = self.expect("no-descriptors", "started: recorded, not shared")
        self.assert_hidden(result, "Too many open files")

    def test_with_few_descriptors_it_is_where_it_can_be(self):
        self.expect("few-descriptors", "started: recorded, shared")

    def test_where_files_are_small_it_is_recorded_inside(self):
        result = self.expect("small-files", "started: recorded, not shared")
        self.assert_hidden(result, "File too large")

    def assert_hidden(self, result, reason):
        (line,) = warnings(result)
        self.assertIn(f" scopes cannot be seen from outside: {reason}", line)

    def test_without_memory_nothing_is_recorded(self):
        self.expect("no-memory", "ENOMEM: not recorded, not shared")

    def test_without_a_key_for_threads_nothing_is_recorded(self):
        self.expect("no-keys", "EAGAIN: not recorded, not shared")

    def test_where_the_counter_of_ticks_is_forbidden_it_is_not_read(self):
        self.expect("forbidden-ticks", "another clock")

    def test_without_a_thread_there_is_one_warning(self):
        result = self.expect("no-threads", "started: recorded, shared")
        self.assertEqual(len(warnings(result)), 1, result.stderr)


class Logging(unittest.TestCase):
    """The program's own function is told of warnings, and may do what it likes."""

    def logged(self, scene, **environment):
        result = run(EDGES, scene, **(CALM | environment))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stderr, "")
        lines = result.stdout.splitlines()
        return [line for line in lines if line.startswith("log: ")], lines

    def test_wrong_values_go_to_the_function(self):
        (first,), _ = self.logged("log", TASKSCOPE_STALL="soon")
        self.assertRegex(first, r"^log: \[taskscope\]\[WARNING\] pid=\d+ TASKSCOPE_STALL=soon is not ")

    def test_it_may_stop(self):
        (first,), lines = self.logged("log-stops")
        self.assertIn("there is no heartbeat", first)
        self.assertEqual(lines[-1], "started: not recorded, shared")

    def test_it_may_fork(self):
        (_,), lines = self.logged("log-forks")
        self.assertEqual(lines[-1], "started: recorded, shared")

    def test_it_may_exit(self):
        (_,), lines = self.logged("log-exits")
        self.assertEqual(len(lines), 1)

    def test_it_may_stop_a_forked_child(self):
        (_,), lines = self.logged("child-log-stops")
        self.assertEqual(lines[-1], "child: not recorded, shared")


class Format(unittest.TestCase):
    """Warnings of the start look like all other lines, and go where these go."""

    WRONG = {"TASKSCOPE": "perhaps", "TASKSCOPE_STALL": "soon", "TASKSCOPE_FORMAT": "json"}

    def messages(self, text):
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual({line["kind"] for line in lines}, {"warning"})
        self.assertTrue(all(line["pid"] > 0 for line in lines))
        return [line["message"] for line in lines]

    def test_with_json_every_line_is_an_object(self):
        result = run(EDGES, "start", **(CALM | self.WRONG))
        self.assertEqual(len(self.messages(result.stderr)), 2)

    def test_without_a_thread_too(self):
        result = run(EDGES, "no-threads", **(CALM | self.WRONG))
        messages = self.messages(result.stderr)
        self.assertEqual(len(messages), 3)
        self.assertIn("there is no heartbeat", messages[2])

    def test_without_a_start_too(self):
        result = run(EDGES, "linked", **(CALM | self.WRONG))
        self.assertEqual(len(self.messages(result.stderr)), 1)

    def test_a_file_has_them_all(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lines")
            result = run(EDGES, "no-threads", **(CALM | self.WRONG), TASKSCOPE_OUTPUT=path)
            self.assertEqual(result.stderr, "")
            with open(path, encoding="utf-8") as lines:
                self.assertEqual(len(self.messages(lines.read())), 3)

    def test_a_file_that_cannot_be_had_is_one_more(self):
        result = run(EDGES, "no-threads", **(CALM | self.WRONG), TASKSCOPE_OUTPUT="/nowhere/lines")
        messages = self.messages(result.stderr)
        self.assertEqual(sum("/nowhere/lines cannot be written" in text for text in messages), 2)


class Environment(unittest.TestCase):
    """What a deployed program is told from outside."""

    def told(self, scene, **environment):
        result = run(EDGES, scene, **(CALM | environment))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_without_a_start_nothing_is_recorded(self):
        result = self.told("linked")
        self.assertEqual(result.stdout, "linked: not recorded, not shared\n")
        self.assertEqual(result.stderr, "")

    def test_on_needs_no_start(self):
        self.assertEqual(self.told("linked", TASKSCOPE="on").stdout, "linked: recorded, shared\n")

    def test_off_wins_over_the_start(self):
        self.assertEqual(self.told("start", TASKSCOPE="off").stdout, "started: not recorded, not shared\n")

    def test_wrong_values_are_one_warning_each(self):
        result = self.told("start", TASKSCOPE="perhaps", TASKSCOPE_STALL="soon")
        self.assertEqual(result.stdout, "started: recorded, shared\n")
        self.assertEqual(len(warnings(result)), 2, result.stderr)
        self.assertIn("TASKSCOPE=perhaps", result.stderr)
        self.assertIn("TASKSCOPE_STALL=soon", result.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a program of another user")
    def test_a_program_with_more_privilege_does_not_look_there(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            privileged = os.path.join(folder, "privileged")
            shutil.copy(EDGES, privileged)
            os.chown(privileged, 65534, 65534)
            os.chmod(privileged, 0o4755)
            if os.statvfs(folder).f_flag & os.ST_NOSUID:
                self.skipTest("no program has more privilege here")
            result = run(privileged, "linked", TASKSCOPE="on", TASKSCOPE_STALL="soon")
            self.assertEqual(result.stdout, "linked: not recorded, not shared\n")
            self.assertEqual(result.stderr, "")


class Exit(unittest.TestCase):
    def test_scopes_at_the_end_are_harmless(self):
        result = run(EDGES, "exit", **CALM)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "before: recorded, shared\nafter: not recorded, shared\n")

    def test_a_program_ends_with_its_last_thread(self):
        for scene in ("first-thread-ends", "worker-ends-last"):
            for environment in (CALM, {}, CALM | {"TASKSCOPE_STALL": "100ms"}):
                with self.subTest(scene=scene, environment=environment):
                    result = run(EDGES, scene, **environment)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertEqual(result.stdout, "after: not recorded, shared\n")
                    final = [line for line in result.stderr.splitlines() if " final " in line]
                    self.assertEqual(len(final), 0 if environment else 1)
                    self.assertNotIn("rss=<unknown>", result.stderr)

    def test_signals_reach_it_until_its_end(self):
        result = run(EDGES, "signal-at-the-end", **CALM)
        self.assertEqual(result.returncode, -signal.SIGTERM)

    def last_words(self, scene):
        """The processes, parent first, and those that had a last line."""
        result = run(EDGES, scene)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split(), re.findall(r"final pid=(\d+)", result.stderr)

    def test_a_child_without_scopes_has_no_last_words(self):
        (parent, _), told = self.last_words("silent-child")
        self.assertEqual(told, [parent])

    def test_a_child_with_scopes_has_its_own(self):
        (parent, child), told = self.last_words("child")
        self.assertEqual(told, [child, parent])


if __name__ == "__main__":
    unittest.main()
