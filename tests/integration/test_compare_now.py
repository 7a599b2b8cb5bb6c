"""compare -d: two captures of this host, and what it says in the end."""
import json
import os
import shutil
import signal
import subprocess
import threading
import time

import support

METRICS = ["-m", "run_time_ns", "--sections", "primary"]


def short_lived():
    """A process that ends after half a second, and is waited for at once."""
    child = subprocess.Popen(["sleep", "0.5"])
    threading.Thread(target=child.wait).start()
    return child.pid


class Now(support.TestCase):
    def compare(self, *words):
        return json.loads(self.accept("compare", *words, "--all", "--format", "json"))

    def test_the_time_between_is_what_was_asked_for(self):
        found = self.compare("-d", "1s", "-p", os.getpid(), *METRICS)
        self.assertEqual(found["mode"], "interval")
        self.assertGreaterEqual(found["elapsed_ns"], 10 ** 9)
        self.assertLess(found["elapsed_ns"], 5 * 10 ** 9)
        self.assertNotIn("file", found["before"][0])

    def test_an_interrupt_ends_the_waiting_and_not_the_comparison(self):
        words = [support.TASKSCOPE, "compare", "-d", "1h", "-p", str(os.getpid()), *METRICS,
                 "--format", "json"]
        started = time.monotonic()
        with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        found = json.loads(out)
        self.assertLess(found["elapsed_ns"], (time.monotonic() - started) * 10 ** 9)
        self.assertGreater(found["elapsed_ns"], 10 ** 9)

    def test_of_several_processes_some_may_end(self):
        pid = short_lived()
        found = self.compare("-d", "1.5s", "-p", f"{os.getpid()},{pid}", *METRICS)
        self.assertEqual([side[0]["processes"] for side in (found["before"], found["after"])], [2, 1])
        self.assertEqual(found["processes_ended"], 1)

    def test_all_processes_that_ended_are_an_error(self):
        pid = short_lived()
        self.refuse("compare", "-d", "1.5s", "-p", pid, says=str(pid))

    def test_progress_is_shown_on_a_terminal_alone(self):
        words = ["compare", "-d", "1s", "-p", str(os.getpid()), *METRICS]
        status, _, err = support.run(*words)
        self.assertEqual((status, err), (0, ""))
        try:
            for fd in os.openpty():
                os.close(fd)
        except OSError as error:
            self.skipTest(f"no terminal can be had: {error}")
        done = subprocess.run(["script", "-qec", " ".join([support.TASKSCOPE, *words]), "/dev/null"],
                              capture_output=True, stdin=subprocess.DEVNULL)
        self.assertIn(b"captures again in 1 s", done.stdout)

    def test_conditions_decide_the_exit_status(self):
        file = self.path("a.tscope")
        self.accept("capture", "-q", "-p", os.getpid(), "-o", file)
        for condition, extra, status, says in [
                ("nr_threads > 1", [], 0, ""),
                ("nr_threads >= 0", [], 1, "failed: nr_threads >= 0"),
                ("pcomm=nobody nr_threads > 1", [], 2, "not checked: pcomm=nobody"),
                ("pcomm=nobody nr_threads > 1", ["--fail-on-absent"], 2,
                 "not checked: pcomm=nobody"),
                ("nr_threads > +1%", ["-m", "majflt", "-g", "user"], 0, "")]:
            got, _, err = support.run("compare", file, file, "--fail-on", condition, *extra)
            self.assertEqual((got, err[:len(says)]), (status, says), condition)
    def test_conditions_are_of_names_and_not_of_their_patterns(self):
        """Two of a name that looks like a number have a pattern, which nobody would write."""
        for name in ["cc1", 'sp ace "x']:
            shutil.copy(shutil.which("sleep"), self.path(name))
        started = [subprocess.Popen([self.path(name), "60"]) for name in ["cc1", "cc1", 'sp ace "x']]
        file = self.path("names.tscope")
        try:
            self.accept("capture", "-q", "-p", ",".join(str(child.pid) for child in started), "-o", file)
        finally:
            for child in started:
                child.kill()
                child.wait()
        for condition, status in [("pcomm=cc1 nr_threads >= 0", 1), ("pcomm=cc1 nr_threads > 0", 0),
                                  ("pcomm={H} nr_threads >= 0", 1), ("pcomm=cc{N} nr_threads > 0", 2),
                                  (r'comm="sp ace \"x" minflt >= 0', 1), ("comm=* minflt > 0", 0)]:
            got, _, err = support.run("compare", file, file, "--fail-on", condition)
            self.assertEqual(got, status, f"{condition}: {err}")

    def test_conditions_on_readings_do_not_need_to_be_shown(self):
        file = self.path("a.tscope")
        self.accept("capture", "-q", "-p", os.getpid(), "-o", file)
        shown, hidden = ([*support.run("compare", file, file, *words, "--fail-on",
                                       "pressure cpu some total >= 0")][::2]
                         for words in [[], ["-m", "majflt"]])
        self.assertEqual(hidden, shown)

    def test_findings_are_in_json(self):
        file = self.path("a.tscope")
        self.accept("capture", "-q", "-p", os.getpid(), "-o", file)
        status, out, _ = support.run("compare", file, file, "--fail-on", "nr_threads >= 0", "--format",
                                     "json")
        self.assertEqual(status, 1)
        self.assertEqual([found["outcome"] for found in json.loads(out)["fail_on"]], ["failed"])


if __name__ == "__main__":
    support.main()
