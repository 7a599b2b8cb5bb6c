#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `top` knows besides tasks: what rows wait for, their past, jobs, events, and moves in time to them."""
import json
import os
import signal
import subprocess
import time
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
        self.addCleanup(self.kill, process)
        return process

    @staticmethod
    def kill(process):
        """With all that it started; it may have ended, and was not waited for as long as it is not known."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)

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
            top.wait_for("PAST CPU S WAITS FOR")
            top.wait_for(rf"^ +{sleeper.pid} .* ▁+ S timer +sleep 1234$")
            # Others may leave it little of a CPU, but not nothing.
            top.wait_for(rf"^ +{busy.pid} .*[▂▃▄▅▆▇█][▁▂▃▄▅▆▇█]* R ")
        with self.top(*words, columns=120, term="linux") as top:
            top.wait_for(rf"^ +{sleeper.pid} .* _+ S timer +sleep 1234$")

    def test_the_past_of_rows_goes_on_behind_a_page(self):
        sleeper = self.start("sleep", "1234")
        with self.top("-i", "200ms", "-p", f"{sleeper.pid}", columns=120) as top:
            top.wait_for("sleep 1234$")
            top.send("Enter")
            top.wait_for("^  run_time_ns +[▁-█]{9}")
            top.send("Space", "Escape")
            top.wait_for(rf"^ +{sleeper.pid} .* ▁{{8}} S timer +sleep 1234$")

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

    def test_a_host_without_scopes_says_who_has_them(self):
        with self.top("-i", "200ms", "-p", os.getpid()) as top:
            top.wait_for("COMMAND$")
            top.send("6")
            top.wait_for("^ +1 .* \\(none\\)\nno scope is open: programs with libtaskscope have them")

    def test_a_scope_leaves_room_for_the_first_columns(self):
        worker = subprocess.Popen([os.environ["TASKSCOPE_SCOPE_WORKLOAD"]], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, env={**os.environ, "TASKSCOPE_HEARTBEAT": "off"})
        self.addCleanup(worker.wait)
        self.addCleanup(worker.stdout.close)
        self.addCleanup(worker.stdin.close)
        while worker.stdout.readline() != b"\n":
            pass
        with self.top("-i", "200ms", "-p", worker.pid) as top:
            top.wait_for(r"^ +PID +%cpu\S? +%wait +rss_bytes +PAST CPU S WAITS FOR +(SCOPE +)?COMMAND$")
            top.resize(130, 24)
            top.wait_for(r" rss_bytes .* SCOPE +COMMAND$")

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
            # Its name is whole, however little room there is for its command.
            top.wait_for(r"^ +1 running \[\|* *\] \d/3 .* nightly( |$)")
            top.send("Enter")
            top.wait_for("job #1 nightly")
            top.send("R", "8")
            top.wait_for(r"^ +1 success .* nightly")
            top.wait_for("  step two$")
            top.send("x")
            top.wait_for("^no job began or ended after this moment")
            top.send("X")
            top.wait_for("nightly")
        self.assertIsNone(job.poll())

    def live(self, *words, **options):
        """top beside a recorder whose store is in our folder, where the one of the host would be."""
        prefix, env = (), {"XDG_STATE_HOME": self.path("state"), "XDG_RUNTIME_DIR": self.path("state")}
        if support.is_root():
            prefix = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /run && mount -t tmpfs none /var/lib && '
                      'ln -s "$1" /var/lib/taskscope && shift && exec "$@"', "sh", self.path("state/taskscope")]
        return self.top("-i", "200ms", *words, prefix=prefix, env=env, **options)

    def recorder(self):
        os.makedirs(self.path("state/taskscope"), exist_ok=True)
        return recorder.Recorder(self, "--interval", "200ms", store=self.path("state/taskscope/recording.db"))

    def test_a_job_is_ended(self):
        other = self.start("sleep", "1235")
        with self.recorder() as running:
            job = self.recorded_job(running)
            with self.live() as top:
                top.wait_for("^1 job: nightly")
                top.send("8")
                top.wait_for(r"^ +1 running .* nightly")
                top.send("F9")
                top.wait_for("^15 SIGTERM")
                top.send("Enter")
                top.wait_for(r"^send SIGTERM to 1 process of job nightly\?")
                top.send("n")
                top.wait_for("nothing was sent")
                self.assertIsNone(job.poll())
                top.send("F9", "Enter")
                top.wait_for(r"^send SIGTERM to 1 process of job nightly\?")
                top.send("y")
                self.assertEqual(job.wait(timeout=support.HANG), -signal.SIGTERM)
                self.assertIsNone(other.poll())
                top.send("q")
                self.assertEqual(top.end(), 0)
        with self.live("--read-only") as top:
            top.wait_for("COMMAND$")
            top.send("8", "F9")
            top.wait_for("--read-only: nothing is signalled")

    def test_a_recorder_that_stops_and_begins_again(self):
        sleeper = self.start("sleep", "1234")
        with self.live(columns=120) as top:
            with self.recorder() as running:
                running.next_tick(2)
                top.send("8")
                top.wait_for("^no job ran in the hour before")
            top.wait_for("  live  recorder stopped")
            top.wait_for("^the recorder has stopped")
            # The store was moved away, and another one has begun.
            for name in os.listdir(self.path("state/taskscope")):
                os.rename(self.path("state/taskscope/" + name), self.path("state/taskscope/old." + name))
            with self.recorder() as running:
                job = self.recorded_job(running)
                top.wait_for(r"^ +1 running .* nightly")
                top.wait_for(lambda lines: "recorder" not in lines[0])
            self.assertIsNone(job.poll())
        self.assertIsNone(sleeper.poll())

    def test_a_recording_grows_while_it_is_shown(self):
        with recorder.Recorder(self, "--interval", "200ms") as running, \
                self.top("--store", running.store, "--filter", "pcomm=sleep cmd=*1236", rows=40) as top:
            top.wait_for("  recording( |$)")
            sleeper = self.start("sleep", "1236")
            support.wait_until(lambda: recorder.rows(running.store, "SELECT 1 FROM processes WHERE pid=?", sleeper.pid))
            running.next_tick(2)
            top.send("R")
            top.wait_for(r"^ +%d .*sleep 1236" % sleeper.pid)
            # The dead are shown where they lived, with what they did then.
            began = running.ticks()
            support.wait_until(lambda: running.ticks() > began + 10**9)
            sleeper.kill()
            sleeper.wait()
            support.wait_until(lambda: not any(row["pid"] == sleeper.pid for row in self.newest(running)))
            top.send("R")
            top.wait_for(lambda lines: not any("sleep 1236" in line for line in lines))
            top.send("b")
            top.wait_for("^time:")
            top.type(time.strftime("%H:%M:%S", time.gmtime(began // 10**9 + 1)))
            top.send("Enter")
            top.wait_for(r"^ +%d .*sleep 1236" % sleeper.pid)
            top.send("Enter")
            top.wait_for("^sleep  process %d" % sleeper.pid)
            top.wait_for("^The last five minutes of the process:")
            top.wait_for("^What its threads did in the minute before:")

    def newest(self, running):
        status, out, err = support.run("top", "--json", "--store", running.store)
        self.assertEqual(status, 0, err)
        return [{"pid": int(group["key"].rpartition("[")[2][:-1])} for group in json.loads(out)["groups"]]

    def test_moves_to_signals_and_events_below_the_table(self):
        with recorder.Recorder(self, "--interval", "200ms", "--tree", os.getpid()) as running:
            sleeper = self.start("sleep", "1234")
            running.next_tick(2)
            os.kill(sleeper.pid, signal.SIGCONT)
            other = self.start("sleep", "1233")
            # A recorder that polls sees the end only of those that it saw before.
            support.wait_until(lambda: recorder.rows(running.store, "SELECT 1 FROM processes WHERE pid=?", other.pid))
            os.kill(other.pid, signal.SIGTERM)
            other.wait()  # where a recorder polls, one that nobody waited for has not ended
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
