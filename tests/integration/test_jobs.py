#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Jobs: marks with and without a recorder, `run --job`, and how `jobs` lists them."""
import contextlib
import csv
import fcntl
import io
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

import outcomes
import kernel
import support
from recorder import Case, Recorder, rows

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


class Jobs(Case):
    def setUp(self):
        super().setUp()
        self.store = self.path("r.db")

    def mark(self, *words, **options):
        return self.accept("job", *words, "--store", self.store, **options).strip()

    def jobs(self, *words):
        return self.read_json("jobs", "--store", self.store, *words)["jobs"]

    def begin(self, *words, **options):
        """A process that ends with the test at the latest, however that ends."""
        child = subprocess.Popen(words, **options)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def assert_step_goes_on(self):
        """The second run, with less to do, adds to what the first had."""
        had = (0, 0, 0)
        for command in "sleep 0.01; sleep 0.01", "true":
            self.assertEqual(self.run_job("--job", "twice", "--step", "a", "--", "sh", "-c", command)[0], 0)
            (step,) = rows(self.store, "SELECT run_time_ns, processes, duration_ns FROM job_steps")
            self.assertTrue(all(now > before for now, before in zip(step, had)), (step, had))
            had = step
        if kernel.has_bpf():
            self.assertEqual(had[1], 4)

    def run_job(self, *words, prefix=()):
        return support.run("run", "-q", "--store", self.store, *words, prefix=prefix)


class Marks(Jobs):
    def test_a_job_without_a_recorder_has_times_and_an_outcome(self):
        self.assertEqual(self.mark("start", "nightly", "--steps", "3", "-p", os.getpid()), "1")
        self.mark("step", "nightly", "1")
        self.mark("step", "nightly", "build it")
        running, = self.jobs("--running")
        self.assertEqual((running["outcome"], running["step"], running["steps"]), ("running", "build it", 3))
        self.assertEqual(running["pid"], os.getpid())
        self.mark("end", "nightly", "--outcome", "failure")
        job, = self.jobs()
        self.assertEqual((job["id"], job["name"], job["outcome"]), (1, "nightly", "failure"))
        self.assertEqual(job["absent"], "no recorder ran: only its times and its outcome are known")
        self.assertNotIn("run_time_ns", job)
        self.assertGreater(job["duration_ns"], 0)
        self.assertEqual(rows(self.store, "SELECT step, outcome FROM job_steps ORDER BY id"),
                         [("1", "success"), ("build it", "failure")])
        self.assertEqual(rows(self.store, "SELECT kind FROM job_events ORDER BY id"),
                         [("start",), ("step",), ("step",), ("end",)])
        self.assertEqual(self.accept("verify", self.store), f"{self.store} is complete and right\n")

    def test_two_jobs_of_one_name_at_once(self):
        self.mark("start", "twin", "-p", os.getpid())
        self.mark("start", "twin", "-p", os.getpid())
        self.assertEqual([job["id"] for job in self.jobs("--running")], [2, 1])
        self.mark("step", "twin", "x")  # the newest
        self.mark("end", "#1", "--outcome", "success")
        self.mark("step", "2", "y")  # no job has that name
        self.mark("end", "twin", "--outcome", "failure")
        self.assertEqual([job["outcome"] for job in self.jobs()], ["failure", "success"])
        self.assertEqual(rows(self.store, "SELECT job, step FROM job_steps ORDER BY id"), [(2, "x"), (2, "y")])
        self.refuse("job", "end", "twin", "--outcome", "success", "--store", self.store,
                    says="no job 'twin' of yours runs")
        self.refuse("job", "end", "#1", "--outcome", "success", "--store", self.store, says="job 1 has ended")

    def test_without_a_process_it_is_the_caller(self):
        script = f"""
            "$0" job start script --store {self.store} > /dev/null
            "$0" jobs --running --format json --store {self.store}
            "$0" job end script --outcome success --store {self.store}
        """
        done = subprocess.Popen(["sh", "-c", script, support.TASKSCOPE], stdout=subprocess.PIPE)
        running, = json.loads(done.communicate()[0])["jobs"]
        self.assertEqual((running["pid"], done.returncode), (done.pid, 0))
        self.assertIn("sh -c", running["cmd"])
        self.assertEqual(self.jobs()[0]["outcome"], "success")

    def test_a_job_whose_process_is_gone_is_unknown(self):
        child = self.begin("sleep", "1000")
        self.mark("start", "lost", "-p", child.pid)
        self.mark("step", "lost", "1")  # it never ends
        child.kill()
        child.wait()
        self.assertEqual(self.jobs("--running"), [])
        self.assertEqual(self.jobs()[0]["outcome"], "unknown")
        # Nobody has written that; the next mark does.
        self.assertEqual(rows(self.store, "SELECT outcome FROM jobs"), [(None,)])
        self.mark("start", "next", "-p", os.getpid())
        self.assertEqual(rows(self.store, "SELECT outcome FROM jobs ORDER BY id"), [("unknown",), (None,)])
        self.assertEqual(rows(self.store, "SELECT outcome FROM job_steps"), [("unknown",)])
        self.refuse("job", "end", "lost", "--outcome", "success", "--store", self.store, says="no job 'lost'")

    def test_what_is_no_job(self):
        for words, says in (
                ((), "job needs start, step or end"),
                (("strat", "x"), "did you mean job start"),
                (("start",), "it is `taskscope job start NAME`"),
                (("start", ""), "give a job a name"),
                (("start", "a/b"), "no '/'"),
                (("start", "#7"), "does not begin with '#'"),
                (("start", "x" * 64), "at most 63 bytes"),
                (("start", "a\x1b[2J"), "cannot be shown"),
                (("start", "x", "-p", "0"), "is not the number of a process"),
                (("start", "x", "-p", str(2**31 - 1)), "there is no process"),
                (("start", "x", "--cgroup", "/no/such"), "there is no cgroup"),
                (("start", "x", "--cgroup", "/../.."), "there is no cgroup"),
                (("start", "x", "-p", "1", "--cgroup", "/"), "exclude each other"),
                (("start", "x", "--watch", self.path("none")), "cannot watch"),
                (("start", "x", "--outcome", "success"), "--outcome is for `job end`"),
                (("step", "x", "1", "--steps", "2"), "--steps is for `job start`"),
                (("end", "x"), "give --outcome"),
                (("end", "x", "--outcome", "good"), "success")):
            self.refuse("job", *words, "--store", self.store, says=says)
        self.assertEqual(os.listdir(self.folder.name), [])
        status, _, err = support.run("run", "--step", "1", "--", "true")
        self.assertEqual((status, err), (125, "taskscope: --step is for --job\n"))
        status, _, err = support.run("run", "--job", "a/b", "--", "true")
        self.assertEqual(status, 125, err)

    def test_marks_at_the_same_time_wait_for_each_other(self):
        words = [support.TASKSCOPE, "job", "start", "many", "-p", str(os.getpid()), "--store", self.store]
        marks = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(12)]
        ids = sorted(int(mark.communicate()[0]) for mark in marks)
        self.assertEqual((ids, {mark.returncode for mark in marks}), (list(range(1, 13)), {0}))

    def test_a_recorder_without_a_socket_takes_no_marks(self):
        recorder = Recorder(self, "-i", "200ms", "--no-socket", store=self.store, wait=False)
        at = recorder.words.index("--socket")
        del recorder.words[at:at + 2]
        with recorder:
            support.wait_until(lambda: os.path.exists(self.store) and rows(self.store, "SELECT name FROM "
                               "sqlite_schema WHERE name = 'meta'") and rows(self.store, "SELECT 1 FROM ticks"))
            self.refuse("job", "start", "x", "--store", self.store, says="takes no marks")
        self.assertEqual(self.mark("start", "x", "-p", os.getpid()), "1")

    def test_a_clock_that_is_set_gives_no_negative_duration(self):
        moved = pathlib.Path(self.path("moved"))
        prefix = ["env", f"LD_PRELOAD={os.environ['TASKSCOPE_MOVED_CLOCK']}", f"MOVED_CLOCK={moved}"]
        for number, seconds in enumerate((-7200, 7200)):
            moved.write_bytes(struct.pack("q", 0))
            self.mark("start", "jump", "-p", os.getpid())
            self.mark("step", "jump", "1")
            begin = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            moved.write_bytes(struct.pack("q", seconds))
            least = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - begin
            self.mark("end", "jump", "--outcome", "success", prefix=prefix)
            job, step = self.jobs()[0], rows(self.store, "SELECT duration_ns FROM job_steps")[number][0]
            self.assertEqual(job["end_ns"] < job["begin_ns"], seconds < 0)
            self.assertTrue(least < step <= job["duration_ns"] < 3600 * 10**9, job)
        status, _, err = self.run_job("--job", "jump", "--", "true", prefix=prefix)
        self.assertEqual(status, 0, err)
        self.assertLess(self.jobs()[0]["duration_ns"], 3600 * 10**9)
        self.accept("verify", self.store)

    @unittest.skipUnless(support.is_root(), "needs root to mount a small disk")
    def test_a_full_disk_is_one_sentence(self):
        disk = self.path("disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.store = f"{disk}/r.db"
        self.mark("start", "x", "-p", os.getpid())
        with open(f"{disk}/fill", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        self.refuse("job", "step", "x", "1", "--store", self.store, says="")
        status, _, err = self.run_job("--job", "y", "--", "sh", "-c", "exit 7")
        self.assertEqual(status, 7, err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn("the job is not kept", err)
        os.unlink(f"{disk}/fill")
        self.mark("end", "x", "--outcome", "success")
        self.accept("verify", self.store)

    def test_ten_thousand_jobs(self):
        outcomes.write(self.store, (outcomes.job(f"name {number % 7}", "success", number * 60, 5, run_time_ns=10**9)
                                    for number in range(10000)))
        self.mark("start", "last", "-p", os.getpid())
        self.assertEqual([job["id"] for job in self.jobs("-n", "3")], [10001, 10000, 9999])
        self.assertEqual(len(self.jobs("-n", "0")), 10001)
        self.assertEqual([job["name"] for job in self.jobs("--running")], ["last"])
        plan = rows(self.store, "EXPLAIN QUERY PLAN SELECT * FROM jobs WHERE name = 'x' ORDER BY id DESC")
        self.assertIn("jobs_by_name", str(plan))
        self.assertNotIn("TEMP B-TREE", str(plan))

    def test_formats(self):
        self.mark("start", "a b", "-p", os.getpid())
        self.mark("end", "a b", "--outcome", "success")
        first, second = self.accept("jobs", "--store", self.store).splitlines()
        self.assertRegex(first, "^id  job  outcome")
        self.assertRegex(second, "^ 1  a b  success")
        row, = csv.DictReader(io.StringIO(self.accept("jobs", "--store", self.store, "--format", "csv")))
        self.assertEqual((row["id"], row["name"], row["outcome"]), ("1", "a b", "success"))
        self.assertEqual(self.accept("jobs", "--store", self.store, "--running"), "no job runs\n")


class Runs(Jobs):
    def test_a_run_is_a_job_with_its_figures(self):
        status, _, err = self.run_job("--job", "build", "--step", "3", "--", sys.executable, "-c",
                                      "import os; x = bytearray(40 << 20); os._exit(5)")
        self.assertEqual((status, err), (5, ""))
        job, = self.jobs()
        self.assertEqual((job["name"], job["outcome"], job["exit_status"]), ("build", "failure", 5))
        if kernel.has_bpf():
            self.assertGreater(job["peak_memory_bytes"], 40 << 20)
            self.assertEqual(job["memory"], "rss")
            self.assertNotIn("absent", job)
        else:
            self.assertIn("without BPF", job["absent"])
        self.assertGreater(job["run_time_ns"], 0)
        self.assertGreaterEqual(job["processes"], 1)
        self.assertGreaterEqual(job["failed_exits"], 1)
        step, = rows(self.store, "SELECT step, outcome, run_time_ns FROM job_steps")
        self.assertEqual(step, ("3", "failure", job["run_time_ns"]))
        run, = rows(self.store, "SELECT run FROM job_runs")[0]
        pathlib.Path(self.path("run.tscope")).write_bytes(run)
        self.assertIn("exit", self.accept("report", self.path("run.tscope")))
        self.accept("verify", self.store)

    def test_what_happened_in_a_run_is_noted_without_a_recorder(self):
        script = "sh -c 'exit 3'; sh -c 'kill -9 $$'; exit 4"
        self.assertEqual(self.run_job("--job", "build", "--step", "1", "--", "sh", "-c", script)[0], 4)
        events = rows(self.store, "SELECT kind, details, step, count FROM job_events WHERE kind IN ('exit', 'kill')")
        if kernel.WAYS == ["procfs"]:
            self.assertIn(("exit", "exit status 4", "1", 1), events)
            return
        for details in "exit status 3", "ended by SIGKILL", "exit status 4":
            self.assertEqual(events.count(("exit", details, "1", 1)), 1, events)
        text = self.accept("report", "build", "--store", self.store)
        self.assertIn("exit status 3", text)
        if kernel.has_bpf():
            self.assertIn("SIGKILL, sent by process", text)
        self.accept("verify", self.store)

    def test_a_job_of_one_process_that_lives_5_ms(self):
        status, _, err = self.run_job("--job", "short", "--", "sleep", "0.005")
        self.assertEqual((status, err), (0, ""))
        job, = self.jobs()
        self.assertTrue(5 * 10**6 <= job["duration_ns"], job)
        self.assertEqual((job["outcome"], job["processes"]), ("success", 1))
        if kernel.has_bpf():
            self.assertGreater(job["peak_rss_bytes"], 0)

    def test_a_run_joins_the_job_that_runs(self):
        self.mark("start", "multi", "-p", os.getpid())
        for words in ("--step", "a"), ():
            self.assertEqual(self.run_job("--job", "multi", *words, "--", "true")[0], 0)
        self.assertEqual(self.run_job("--job", "other", "--", "true")[0], 0)
        self.mark("end", "multi", "--outcome", "success")
        self.assertEqual([job["name"] for job in self.jobs()], ["other", "multi"])
        steps = rows(self.store, "SELECT job, step, outcome, run_time_ns FROM job_steps ORDER BY id")
        self.assertEqual([step[:3] for step in steps], [(1, "a", "success"), (1, "2", "success")])
        job = self.jobs()[1]
        self.assertEqual(job["run_time_ns"], int(sum(step[3] for step in steps)))
        self.assertIn("figures are those of its steps", job["absent"])
        self.assertEqual(rows(self.store, "SELECT job, step FROM job_runs ORDER BY id"), [(1, "a"), (1, "2"), (2, None)])

    def test_a_step_that_is_run_again_goes_on(self):
        self.mark("start", "twice", "-p", os.getpid())
        self.assert_step_goes_on()

    def test_a_store_that_cannot_be_written_changes_nothing(self):
        folder = self.path("file")
        pathlib.Path(folder).touch()
        self.store = f"{folder}/r.db"
        status, out, err = support.run("run", "-q", "--job", "x", "--store", self.store, "--", "sh", "-c",
                                       "echo hello; exit 9")
        self.assertEqual((status, out), (9, "hello\n"))
        self.assertEqual(len(err.splitlines()), 1)
        self.assertIn("the job is not kept", err)

    def test_a_command_that_is_not_there(self):
        self.assertEqual(self.run_job("--job", "x", "--", self.path("none"))[0], 127)
        job, = self.jobs()
        self.assertEqual((job["outcome"], job["exit_status"]), ("failure", 127))

    @unittest.skipUnless(support.is_root(), "becomes somebody else")
    def test_a_plain_user_has_a_store_of_their_own(self):
        home = self.path("home")
        os.mkdir(home)
        os.chown(home, NOBODY, NOBODY)
        os.chmod(self.folder.name, 0o755)
        prefix = ["env", "-u", "XDG_STATE_HOME", f"HOME={home}", f"XDG_RUNTIME_DIR={home}", *AS_NOBODY]
        status, _, err = support.run("run", "-q", "--job", "mine", "--", "true", prefix=prefix)
        self.assertEqual((status, err), (0, ""))
        self.store = f"{home}/.local/state/taskscope/recording.db"
        job, = self.jobs()
        self.assertEqual((job["name"], job["outcome"], job["uid"]), ("mine", "success", NOBODY))
        self.assertEqual(os.stat(self.store).st_uid, NOBODY)
        child = self.begin("sleep", "1000", user=NOBODY, group=NOBODY)
        self.accept("job", "start", "running one", "-p", child.pid, prefix=prefix)
        for words, names in (("job", "end"), {"+running one"}), (("estimate",), {"+running one", "+mine"}), \
                (("run", "--job"), {"+running one", "+mine"}):
            offered = self.accept("--complete", *words, "", prefix=prefix).splitlines()
            self.assertEqual({line.split("\t")[0] for line in offered}, names)
        self.refuse("job", "start", "theirs", "-p", os.getpid(), prefix=prefix, says="belongs to another user")

    @unittest.skipUnless(support.is_root(), "becomes somebody else")
    def test_without_a_name_the_recording_of_the_running_recorder_is_meant(self):
        home = self.path("home")
        os.mkdir(home)
        os.chown(home, NOBODY, NOBODY)
        os.chmod(self.folder.name, 0o755)
        prefix = ["env", "-u", "XDG_STATE_HOME", f"HOME={home}", f"XDG_RUNTIME_DIR={home}", *AS_NOBODY]
        self.accept("run", "-q", "--job", "before", "--", "true", prefix=prefix)
        recorder = self.begin(*prefix, support.TASKSCOPE, "record", "-q", "--store", f"{home}/other.db", "-i", "1h")
        support.wait_until(lambda: os.path.exists(f"{home}/taskscope.sock"))
        self.accept("run", "-q", "--job", "mine", "--", "true", prefix=prefix)
        for words in ("jobs",), ("report", "mine"), ("correlate", "mine"):
            self.assertIn("1 job called mine" if words[0] == "correlate" else "mine",
                          self.accept(*words, prefix=prefix))
        self.refuse("report", "before", prefix=prefix, says="no job called 'before'")
        recorder.terminate()
        recorder.wait(support.HANG)
        self.assertIn("before", self.accept("report", "before", prefix=prefix))

    def test_a_recorder_that_is_stopped_holds_no_job_up(self):
        with Recorder(self, "-i", "1h", store=self.store) as recorder:
            recorder.process.send_signal(signal.SIGSTOP)
            status, out, err = support.run("run", "-q", "--job", "r", "--socket", recorder.socket, "--", "echo", "ran")
            self.assertEqual((status, out), (0, "ran\n"))
            self.assertIn("the recorder has not answered for 10 s: it is stopped or hangs", err)
            recorder.process.send_signal(signal.SIGCONT)


@unittest.skipUnless(support.is_root(), "only root sees every event")
class WithRecorder(Jobs):
    def test_the_recorder_measures_what_is_marked(self):
        with Recorder(self, "-i", "100ms", store=self.store) as recorder:
            child = self.begin(sys.executable, "-c", "x = bytearray(30 << 20); input()", stdin=subprocess.PIPE)
            self.mark("start", "held", "-p", child.pid)
            recorder.next_tick(3)
            support.wait_until(lambda: self.jobs()[0].get("peak_memory_bytes", 0) > 30 << 20)
            self.mark("end", "held", "--outcome", "success")
            job, = self.jobs()
        self.assertEqual((job["outcome"], job["processes"]), ("success", 1))
        self.assertIn("run_time_ns", job)

    def test_a_run_brings_its_own_figures(self):
        with Recorder(self, "-i", "100ms", store=self.store) as recorder:
            status, _, err = support.run("run", "-q", "--job", "r", "--step", "1", "--socket", recorder.socket, "--",
                                         "sh", "-c", "true; exit 4")
            self.assertEqual((status, err), (4, ""))
            job, = self.jobs()
            self.assertEqual((job["outcome"], job["exit_status"]), ("failure", 4))
            self.assertEqual(rows(self.store, "SELECT job, step FROM job_runs"), [(1, None)])
            self.assertEqual(rows(self.store, "SELECT run_time_ns FROM job_steps"), [(job["run_time_ns"],)])
            self.assertGreater(rows(self.store, "SELECT count(*) FROM job_syscalls")[0][0], 0)
        self.accept("verify", self.store)

    def test_a_step_that_is_run_again_goes_on(self):
        with Recorder(self, "-i", "100ms", store=self.store):
            self.mark("start", "twice", "-p", os.getpid())
            self.assert_step_goes_on()

    def test_what_is_no_run_is_not_kept(self):
        def end(fd):
            request = {"id": 5, "method": "job_end", "params": {"name": "x", "outcome": "success", "figures": {}}}
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(recorder.socket)
                socket.send_fds(client, [json.dumps(request).encode() + b"\n"], [fd])
                return json.loads(client.makefile().readline())

        with Recorder(self, "-i", "1h", store=self.store) as recorder:
            recorder.ask("job_start", name="x", pid=os.getpid())
            with open(self.store, "rb") as file:
                self.assertEqual(end(file.fileno())["error"], "a run comes as a sealed memfd")
            memory = os.memfd_create("garbage", os.MFD_ALLOW_SEALING)
            os.write(memory, b"garbage")
            self.assertEqual(end(memory)["error"], "a run comes as a sealed memfd")
            fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK)
            self.assertEqual(end(memory)["error"], "what came with the request is no run")
            os.close(memory)
            # One that is too large to come is a loss that is told.
            recorder.ask("job_end", name="x", outcome="success", figures={"spawns": 1}, run_bytes=10**9)
            self.assertIn("the run is not kept: it has 1000000000 bytes",
                          rows(self.store, "SELECT details FROM job_events WHERE kind = 'lost'")[0][0])
        self.assertEqual(rows(self.store, "SELECT count(*) FROM job_runs"), [(0,)])
        self.accept("verify", self.store)

    def test_a_recorder_that_is_killed_inside_a_job(self):
        stays, goes = (self.begin("sleep", "1000") for _ in range(2))
        with Recorder(self, "-i", "100ms", store=self.store) as recorder:
            self.mark("start", "stays", "-p", stays.pid)
            self.mark("start", "goes", "-p", goes.pid)
            self.mark("step", "stays", "1")
            recorder.next_tick(2)
            recorder.end(signal.SIGKILL)
        goes.kill()
        goes.wait()
        before = {job["name"]: job for job in self.jobs()}
        self.assertEqual((before["stays"]["outcome"], before["goes"]["outcome"]), ("running", "unknown"))
        self.assertEqual(before["stays"]["step"], "1")
        self.assertIn("run_time_ns", before["goes"])  # its report survives
        with Recorder(self, "-i", "100ms", store=self.store) as recorder:
            support.wait_until(lambda: rows(self.store, "SELECT outcome FROM jobs WHERE name = 'goes'") ==
                               [("unknown",)])
            self.mark("end", "stays", "--outcome", "success")
            after = {job["name"]: job for job in self.jobs()}
        self.assertEqual(after["stays"]["outcome"], "success")
        self.assertGreaterEqual(after["stays"]["run_time_ns"], before["stays"]["run_time_ns"])
        self.accept("verify", self.store)

    def test_a_recorder_that_dies_while_a_run_lasts(self):
        with Recorder(self, "-i", "100ms", store=self.store) as recorder:
            words = [support.TASKSCOPE, "run", "-q", "--job", "long", "--socket", recorder.socket, "--", "cat"]
            run = self.begin(*words, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            support.wait_until(lambda: rows(self.store, "SELECT 1 FROM jobs"))
            recorder.end(signal.SIGKILL)
            _, err = run.communicate(b"")
            self.assertEqual((run.returncode, err), (0, b""))
        job, = self.jobs()
        self.assertEqual((job["outcome"], job["processes"]), ("success", 1))

    def test_a_recorder_that_begins_while_a_run_lasts(self):
        words = [support.TASKSCOPE, "run", "-q", "--job", "long", "--store", self.store, "--", "cat"]
        run = self.begin(*words, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        support.wait_until(lambda: os.path.exists(self.store) and
                           rows(self.store, "SELECT 1 FROM sqlite_schema WHERE name = 'jobs'") and
                           rows(self.store, "SELECT 1 FROM jobs"))
        with Recorder(self, "-i", "100ms", store=self.store):
            _, err = run.communicate(b"")
        self.assertEqual((run.returncode, err), (0, b""))
        job, = self.jobs()
        self.assertEqual((job["outcome"], job["processes"]), ("success", 1))

    def test_a_recorder_tells_all_jobs_page_by_page(self):
        begin = int(time.time()) - outcomes.BEGIN - 7200
        lines = []
        for number in range(1203):
            fails = number % 3 == 0
            lines.append(outcomes.job("a" if number % 2 else "b", "failure" if fails else "success", begin + number, 5,
                                      run_time_ns=10**9 + number, peak_memory_bytes=(2 + number % 5) << 20))
            lines.append(outcomes.line("syscall", "-", "read" if fails else "write", 10, 0, 10**9))
        outcomes.write(self.store, lines)
        with Recorder(self, "-i", "1h", store=self.store) as recorder:
            asked = "--socket", recorder.socket
            listed = self.read_json("jobs", *asked, "-n", "0")["jobs"]
            self.assertEqual([job["id"] for job in listed], list(range(1203, 0, -1)))
            self.assertEqual(len(self.read_json("jobs", *asked, "-n", "777")["jobs"]), 777)
            answer = recorder.ask("jobs", name="a", limit=10**6)
            self.assertEqual((len(answer["jobs"]), len(answer["hotspots"])), (500, 500))
            for words in ("correlate",), ("correlate", "b"), ("estimate", "a"):
                told, read = (self.read_json(*words, *place) for place in (asked, ("--store", self.store)))
                self.assertEqual(told, read)
            groups = {group["group"]: group for group in self.read_json("correlate", *asked)["groups"]}
            self.assertEqual(groups["read() over 35 % of calls"]["rate"], 1)

    def test_a_user_without_a_recording_is_told_what_roots_recorder_said(self):
        home = self.path("home")
        os.mkdir(home)
        os.chmod(self.folder.name, 0o755)
        with Recorder(self, "-i", "1h", store=self.store) as recorder:
            os.chmod(recorder.socket, 0o666)
            recorder.ask("job_start", name="root's", pid=os.getpid())
            prefix = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /run && mkdir /run/taskscope && '
                      'touch /run/taskscope/taskscope.sock && mount --bind "$1" /run/taskscope/taskscope.sock && '
                      'shift && exec "$@"', "sh", recorder.socket,
                      "env", "-u", "XDG_STATE_HOME", "-u", "XDG_RUNTIME_DIR", f"HOME={home}", *AS_NOBODY]
            for word, says in ("root's", "no job called 'root's' of yours"), ("#1", "no job #1 of yours"), \
                    ("--latest", "no jobs of yours"):
                self.refuse("report", word, prefix=prefix, says=says)
            self.refuse("estimate", "root's", prefix=prefix, says="no job called 'root's'")
            self.assertIn("0 jobs", self.accept("correlate", prefix=prefix))

    def test_strangers_mark_their_own_only(self):
        os.chmod(self.folder.name, 0o755)
        theirs = self.path("theirs")
        os.mkdir(theirs)
        os.chown(theirs, NOBODY, NOBODY)
        child = self.begin("sleep", "1000", user=NOBODY, group=NOBODY)
        with Recorder(self, "-i", "1h", store=self.store) as recorder:
            os.chmod(recorder.socket, 0o666)

            def ask(method, uid=NOBODY, **params):
                return recorder.reply(method, uid=uid, **params)

            for params, says in (
                    ({"name": "x", "pid": os.getpid()}, "belongs to another user"),
                    ({"name": "x", "pid": child.pid, "start_time_ns": 1}, "is not the one that was meant"),
                    ({"name": "x", "pid": child.pid, "watch": "/root"}, "cannot watch"),
                    ({"name": "x", "pid": child.pid, "watch": "relative"}, "no absolute path"),
                    ({"name": "x", "cgroup": "/"}, "belongs to another user"),
                    ({"name": "x\x1b]0;evil\x07", "pid": child.pid}, "cannot be shown"),
                    ({"name": "y" * 1000, "pid": child.pid}, "at most"),
                    ({"pid": child.pid}, "give a job a name"),
                    ({"name": ["x"], "pid": child.pid}, "give a job a name")):
                self.assertIn(says, ask("job_start", **params)["error"], params)
            self.assertEqual(rows(self.store, "SELECT count(*) FROM jobs"), [(0,)])
            own = recorder.ask("job_start", name="root's", pid=os.getpid(), cmd="of root")["job"]
            self.assertEqual(ask("job_end", name="root's", outcome="failure")["result"]["job"], 0)
            self.assertIn("belongs to another user", ask("job_end", name=f"#{own}", outcome="failure")["error"])
            self.assertIn("belongs to another user", ask("job_step", name=str(own), step="1")["error"])
            job = ask("job_start", name="x", pid=child.pid, watch=theirs)["result"]["job"]
            self.assertEqual(rows(self.store, "SELECT uid FROM jobs WHERE id = ?", job), [(NOBODY,)])
            words = "jobs", "--socket", recorder.socket
            listed = json.loads(self.accept(*words, "--format", "json", prefix=AS_NOBODY))["jobs"]
            self.assertEqual([(item["id"], item["outcome"]) for item in listed], [(job, "running"), (own, "running")])
            self.assertEqual(self.jobs("--running")[1]["cmd"], "of root")
            self.assertNotIn("cmd", listed[1])
            self.assertEqual(listed[0]["watched"], theirs)
            self.assertEqual(ask("job_end", name="x", outcome="success")["result"]["job"], job)
            asked = "--socket", recorder.socket
            report = json.loads(self.accept("report", "x", *asked, "--format", "json", prefix=AS_NOBODY))
            self.assertEqual((report["job"]["id"], report["job"]["watched"]), (job, theirs))
            self.assertEqual([event["kind"] for event in report["events"]], ["start", "end"])
            self.assertIn(f"job x, #{job}: success", self.accept("report", f"#{job}", *asked, prefix=AS_NOBODY))
            self.assertIn(f"job x, #{job}: success", self.accept("report", "--latest", *asked, prefix=AS_NOBODY))
            self.assertEqual(ask("job_start", name="killed", pid=child.pid)["result"]["job"], job + 1)
            ask("job_end", name="killed", outcome="failure", status=signal.SIGKILL)
            self.assertIn("ended by SIGKILL", self.accept("report", "killed", *asked, prefix=AS_NOBODY))
            for name in "x", "killed":
                self.assertEqual(self.accept("report", name, *asked), self.accept("report", name, "--store", self.store))
            self.refuse("report", "x", *asked, "-o", self.path("x.html"), prefix=AS_NOBODY, says="there is no run of job x")
            self.assertEqual(support.run("run", "-q", "--job", "ran", *asked, "--", "sh", "-c", "exit 3", prefix=AS_NOBODY)[0], 3)
            for options, holds in (["-v"], "sh exited 3"), (["--format", "html"], "<html"):
                told = self.accept("report", "ran", *options, *asked, prefix=AS_NOBODY)
                self.assertEqual(told, self.accept("report", "ran", *options, "--store", self.store))
                self.assertIn(holds, told)
            self.assertIn("no job", ask("job_run", id=own)["error"])
            for word in "root's", f"#{own}":
                self.refuse("report", word, *asked, prefix=AS_NOBODY, says="no job ")
            self.assertIn("jobs are needed", self.accept("correlate", *asked, prefix=AS_NOBODY))
            for prefix, running in ((), 1), (AS_NOBODY, 0):
                found = json.loads(self.accept("correlate", *asked, "--format", "json", prefix=prefix))
                self.assertEqual((found["jobs"], found["running"]), (3, running))
            self.accept("estimate", "x", *asked)
            self.refuse("estimate", "root's", *asked, prefix=AS_NOBODY, says="no job called")
            self.accept("estimate", "x", *asked, prefix=AS_NOBODY)
            text = self.accept(*words, "-n", "1", prefix=AS_NOBODY).splitlines()
            self.assertRegex(text[1], f"^ *{job + 2}  ran +failure")
            self.assertEqual([item["id"] for item in
                              json.loads(self.accept(*words, "--running", "--format", "json"))["jobs"]], [own])
            figures = {"run_time_ns": 10**9, "processes": 1e300, "signals": -1, "anomalies": 1 << 62}
            ask("job_start", name="liar", pid=child.pid)
            ask("job_end", name="liar", outcome="success", figures=figures, duration_ns=1 << 62, status=1 << 31)
            for place in asked, ("--store", self.store):
                job = self.read_json("report", "liar", *place)["job"]
                self.assertEqual([job[name] for name in figures], [10**9, 1, 0, 0])  # those that cannot be are its own
                self.assertLess(job["duration_ns"], support.HANG * 10**9)
                self.assertNotIn("exit_status", job)
            replies = [ask("job_start", name="flood", pid=child.pid) for _ in range(70)]
            self.assertEqual(sum("result" in reply for reply in replies), 32)
            self.assertIn("jobs", replies[-1]["error"])
            self.assertEqual(recorder.ask("job_end", name=f"#{own}", outcome="success")["job"], own)


if __name__ == "__main__":
    support.main()
