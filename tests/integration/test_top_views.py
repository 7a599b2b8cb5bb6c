#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `top` knows besides tasks: what rows wait for, their past, jobs, events, and moves in time to them."""
import json
import os
import signal
import subprocess
import unittest

import recorder
import screen
import support


class Views(support.TestCase):
    def top(self, *words, **options):
        return screen.Program(support.TASKSCOPE, "top", *words, cwd=self.folder.name,
                              env={"XDG_CONFIG_HOME": self.path("config"), **options.pop("env", {})}, **options)

    def start(self, *words):
        process = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(os.killpg, process.pid, signal.SIGKILL)
        return process

    def recorded_job(self, running):
        """A job in its second of three steps, whose process sleeps; it is in some ticks."""
        job = self.start("sh", "-c", f"{support.TASKSCOPE} job start nightly --steps 3 --socket {running.socket} &&"
                         f"{support.TASKSCOPE} job step nightly one --socket {running.socket} &&"
                         f"{support.TASKSCOPE} job step nightly two --socket {running.socket} && exec sleep 1234")
        support.wait_until(lambda: recorder.rows(running.store, "SELECT 1 FROM job_steps WHERE step='two'"))
        running.next_tick(3)
        return job

    def test_a_row_says_what_it_waits_for_and_has_a_past(self):
        sleeper = self.start("sleep", "1234")
        busy = self.start("sh", "-c", "while :; do :; done")
        words = ("-i", "200ms", "-p", f"{sleeper.pid},{busy.pid}")
        with self.top(*words, columns=120) as top:
            top.wait_for("PAST CPU WAITS FOR")
            top.wait_for(rf"^ +{sleeper.pid} .* ▁+ S timer +sleep 1234$")
            top.wait_for(rf"^ +{busy.pid} .*[▃▄▅▆▇█]{{4}} R ")
        with self.top(*words, columns=120, term="linux") as top:
            top.wait_for(rf"^ +{sleeper.pid} .* _+ S timer +sleep 1234$")

    def test_a_file_has_no_jobs_and_says_so(self):
        file = self.path("a.tscope")
        status, _, err = support.run("capture", "-q", "-p", os.getpid(), "-o", file)
        self.assertEqual(status, 0, err)
        with self.top("a.tscope") as top:
            top.wait_for("COMMAND$")
            top.send("8")
            top.wait_for("^a file has no jobs")
            top.send("F9", "Enter", "F", "n", "8")
            top.wait_for("COMMAND$")
        status, _, err = support.run("top", "--json", "--job", "x", file)
        self.assertEqual(status, 2)
        self.assertIn("a file has no jobs", err)

    def test_jobs_of_a_recording(self):
        with recorder.Recorder(self, "--interval", "200ms") as running:
            job = self.recorded_job(running)
            status, _, err = support.run("job", "end", "nightly", "--outcome", "success", "--socket", running.socket)
            self.assertEqual(status, 0, err)
            running.next_tick(3)
        store = running.store
        status, out, err = support.run("top", "--json", "--store", store, "--history", "1h", "--job", "nightly")
        self.assertEqual(status, 0, err)
        moments = [json.loads(line) for line in out.splitlines()]
        with_rows = [moment for moment in moments if moment["groups"]]
        self.assertTrue(with_rows)
        self.assertFalse(moments[-1]["groups"])
        for moment in with_rows:
            [listed] = [entry for entry in moment["jobs"] if entry["job"]["outcome"] == "running"]
            self.assertEqual(listed["job"]["name"], "nightly")
            self.assertEqual(listed["now"]["processes"], len(moment["groups"]))
        last = moments[-1]["jobs"][0]
        self.assertEqual(last["job"]["outcome"], "success")
        self.assertEqual([step["name"] for step in last["steps"]], ["one", "two"])
        status, _, err = support.run("top", "--json", "--store", store, "--job", "absent")
        self.assertEqual((status, "no job 'absent'" in err), (2, True), err)

        with self.top("--store", store, "--history", "1h") as top:
            top.wait_for(r"^\d\d:\d\d:\d\d [-=J*! ^]+ \d\d:\d\d:\d\d$")
            top.send("8")
            top.wait_for("^ +ID STATE +PROGRESS +TIME +ETA")
            top.send("x")
            top.wait_for("^1 job: nightly")
            top.wait_for(r"^ +1 running \[\|* *\] \d/3 .* nightly")
            top.send("Enter")
            top.wait_for("job #1")
            top.send("R", "8")
            top.wait_for(r"^ +1 success .* nightly")
            top.wait_for("  step two$")
            top.send("x")
            top.wait_for("^no job began or ended after this moment")
            top.send("X")
            top.wait_for("nightly")
        self.assertIsNone(job.poll())

    def test_moves_to_signals_and_events_below_the_table(self):
        with recorder.Recorder(self, "--interval", "200ms", "--tree", os.getpid()) as running:
            sleeper = self.start("sleep", "1234")
            running.next_tick(2)
            os.kill(sleeper.pid, signal.SIGCONT)
            other = self.start("sleep", "1233")
            running.next_tick(1)
            os.kill(other.pid, signal.SIGTERM)
            support.wait_until(lambda: recorder.rows(
                running.store, "SELECT 1 FROM events WHERE kind='exit' AND pid=?", other.pid))
            running.next_tick(2)
            has_signals = recorder.rows(running.store, "SELECT 1 FROM events WHERE kind='signal'")
        with self.top("--store", running.store) as top:
            top.wait_for("COMMAND$")
            top.send("v")
            top.wait_for(rf"^\S+ \S+ +exit +{other.pid} ")
            top.send("v")
            top.wait_for(lambda lines: not any(" exit " in line for line in lines))
            top.send("W")
            if has_signals:
                top.send("v", "v")
                top.wait_for(rf"signal +{other.pid} ")
            else:
                top.wait_for("^no process got a signal before this moment")


if __name__ == "__main__":
    unittest.main()
