#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Jobs that a recorder measures: real processes that say what must be seen of them."""
import contextlib
import json
import os
import pathlib
import pwd
import signal
import socket
import subprocess
import sys
import unittest

import heap
import support
import test_cgroups
from recorder import Case, Recorder, rows
from test_jemalloc_time import SilentMount

WORKLOAD = os.environ["TASKSCOPE_JOB_WORKLOAD"]
FIGURES = ("run_time_ns", "peak_memory_bytes", "peak_rss_bytes", "peak_cpu_percent", "processes", "spawns", "exits",
           "failed_exits", "signals", "kills", "ooms", "anomalies")


def children_of(pid):
    return list(map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# Moves directories to and fro.
MOVER = """
import os, sys
print(flush=True)
while True:
    for path in sys.argv[1:]:
        for _ in range(100):
            os.rename(path, path[:-1] + "y")
            os.rename(path[:-1] + "y", path)
"""


class Work:
    """A process that does what it is told; it is the first one of a job."""

    def __init__(self, test, **options):
        self.process = subprocess.Popen([WORKLOAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True, **options)
        test.addCleanup(self.end)
        self.pid = self.answer()["pid"]

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def do(self, *words):
        self.send(*words)
        return self.answer()

    def send(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@unittest.skipUnless(support.is_root(), "only root sees every event")
class Jobs(Case):
    def mark(self, recorder, *words, uid=None):
        options = {} if uid is None else {"user": uid}
        status, out, err = support.run("job", *words, "--socket", recorder.socket, "--store", recorder.store, **options)
        self.assertEqual(status, 0, err)
        return out.strip()

    def start(self, recorder, name, *options, **more):
        return int(self.mark(recorder, "start", name, *options, **more).lstrip("#"))

    def starts(self, recorder, name, *options):
        """False where this host was too busy to read a directory in time."""
        status, _, err = support.run("job", "start", name, *options, "--socket", recorder.socket)
        if status != 0:
            self.assertIn("took longer than a second", err)
        return status == 0

    def end(self, recorder, job, outcome="success", **more):
        self.mark(recorder, "end", f"#{job}", "--outcome", outcome, **more)

    def row(self, recorder, job, table="jobs", key="id"):
        columns = [name for _, name, *_ in rows(recorder.store, f"PRAGMA table_info({table})")]
        return [dict(zip(columns, row)) for row in rows(recorder.store, f"SELECT * FROM {table} WHERE {key}=?", job)]

    def job(self, recorder, job):
        return self.row(recorder, job)[0]

    def steps(self, recorder, job):
        return {step["step"]: step for step in self.row(recorder, job, "job_steps", "job")}

    def events(self, recorder, job):
        return self.row(recorder, job, "job_events", "job")

    def kinds(self, recorder, job):
        return [event["kind"] for event in self.events(recorder, job)]

    def assert_near(self, found, expected, share=0.02, slack=0):
        self.assertGreaterEqual(found, expected * (1 - share) - slack)
        self.assertLessEqual(found, expected * (1 + share) + slack)

    def test_a_thousand_children_are_counted_exactly(self):
        """More events than are kept, and none of them lives at a tick for sure."""
        with Recorder(self, "-i", "1s", "--events-per-second", "50") as recorder:
            work = Work(self)
            work.do("use", 50)
            job = self.start(recorder, "thousand", "-p", work.pid)
            used = work.do("children", 1000, 2)
            self.end(recorder, job)
            found = self.job(recorder, job)
        self.assert_near(found["run_time_ns"], used["self_ns"] + used["children_ns"])
        self.assertEqual((found["processes"], found["spawns"], found["exits"], found["failed_exits"]),
                         (1001, 1000, 1000, 0))
        self.assertIsNone(found["absent"])
        self.assertEqual(found["outcome"], "success")
        self.assertGreater(found["peak_rss_bytes"], 100000)
        self.assertGreaterEqual(found["peak_memory_bytes"], found["peak_rss_bytes"])
        self.assertEqual(found["memory"], "rss")

    def test_a_job_of_5_ms_is_measured(self):
        """No tick sees it."""
        with Recorder(self, "-i", "1h") as recorder:
            work = Work(self)
            job = self.start(recorder, "brief", "-p", work.pid)
            used = work.do("children", 1, 5)
            self.end(recorder, job)
            found = self.job(recorder, job)
            idle = self.start(recorder, "idle", "-p", work.pid)
            self.end(recorder, idle)
            self.assertGreater(self.job(recorder, idle)["peak_memory_bytes"], 100000)
            self.assertLess(self.job(recorder, idle)["run_time_ns"], 1000000)
        self.assertGreaterEqual(used["children_ns"], 5000000)
        self.assert_near(found["run_time_ns"], used["self_ns"] + used["children_ns"], slack=500000)
        self.assertEqual((found["processes"], found["spawns"], found["exits"]), (2, 1, 1))
        self.assertGreater(found["peak_cpu_percent"], 0)
        self.assertGreater(found["peak_rss_bytes"], 100000)

    def test_what_happens_is_logged_with_its_surroundings(self):
        with Recorder(self, "-i", "1s") as recorder:
            work = Work(self)
            job = self.start(recorder, "events", "-p", work.pid, "--steps", "2")
            self.mark(recorder, "step", "events", "one")
            work.do("fail", 3)
            self.mark(recorder, "step", "events", "two")
            work.do("kill", int(signal.SIGTERM))
            work.do("kill", int(signal.SIGKILL))
            recorder.next_tick(2)
            progress = recorder.ask("latest")["host"]["jobs"]
            context = recorder.ask("context", pid=work.pid)
            self.end(recorder, job, "failure")
            found, steps, events = (ask(recorder, job) for ask in (self.job, self.steps, self.events))
            samples = rows(recorder.store, "SELECT running_jobs, active_steps, jobs FROM host_samples ORDER BY ts_ns")
            processes = rows(recorder.store, "SELECT pid, job, job_step FROM processes WHERE job IS NOT NULL")
        self.assertEqual([(one["id"], one["name"], one["total_steps"], one["last_completed_step"], one["current_step"],
                           one["status"]) for one in progress], [(job, "events", 2, "one", "two", "running")])
        self.assertEqual((context["running_jobs"], context["active_steps"]), (1, 1))
        self.assertIn("pressure_level", context)
        self.assertIn("rss_bytes", context["process"])
        self.assertEqual(samples[0], (0, 0, None))
        self.assertIn((1, 1), [sample[:2] for sample in samples])
        self.assertIn("events", [one["name"] for sample in samples for one in json.loads(sample[2] or "[]")])
        self.assertIn((work.pid, job), [row[:2] for row in processes])
        self.assertEqual((found["failed_exits"], found["signals"], found["kills"], found["ooms"]), (3, 2, 1, 0))
        self.assertEqual([steps[name]["failed_exits"] for name in ("one", "two")], [1, 2])
        self.assertEqual([steps[name]["outcome"] for name in ("one", "two")], ["success", "failure"])
        kinds = [event["kind"] for event in events]
        self.assertEqual((kinds[0], kinds[-1]), ("start", "end"))
        for kind, count in (("step", 2), ("exit", 3), ("signal", 1), ("kill", 1)):
            self.assertEqual(kinds.count(kind), count, kind)
        self.assertEqual([event["step"] for event in events if event["kind"] == "exit"], ["one", "two", "two"])
        self.assertIn("exit status 3", [event["details"] for event in events])
        for event in events:
            context = json.loads(event["context"])
            self.assertEqual(context["running_jobs"], 1, event)
            self.assertIn("pressure_level", context)

    def test_two_jobs_of_one_name_are_apart(self):
        with Recorder(self, "-i", "1s") as recorder:
            works = [Work(self), Work(self)]
            jobs = [self.start(recorder, "same", "-p", work.pid) for work in works]
            self.assertEqual(len({*jobs}), 2)
            used = [work.do("children", 5, 10 + 30 * i) for i, work in enumerate(works)]
            for job in jobs:
                self.end(recorder, job)
            for job, use in zip(jobs, used):
                found = self.job(recorder, job)
                self.assert_near(found["run_time_ns"], use["self_ns"] + use["children_ns"], slack=500000)
                self.assertEqual(found["spawns"], 5)

    def test_a_daemon_stays_in_its_job(self):
        with Recorder(self, "-i", "1s") as recorder:
            work = Work(self)
            job = self.start(recorder, "daemon", "-p", work.pid)
            daemon = work.do("daemon", 60)["daemon"]
            recorder.next_tick(2)
            self.end(recorder, job)
            found = self.job(recorder, job)
            members = rows(recorder.store, "SELECT pid FROM processes WHERE job=?", job)
            os.kill(daemon, signal.SIGKILL)
        self.assertIn((daemon,), members)
        self.assertGreaterEqual(found["run_time_ns"], 60000000)
        self.assertEqual((found["processes"], found["exits"]), (3, 1))

    def test_children_of_before_belong_to_a_process_that_is_named(self):
        with Recorder(self, "-i", "1s") as recorder:
            work = Work(self)
            work.do("many", 3)
            job = self.start(recorder, "family", "-p", work.pid)
            self.end(recorder, job)
            self.assertEqual(self.job(recorder, job)["processes"], 4)
            # A script is a job from then on: what it forked before, and the marks, are not.
            script = (f'sleep 1000 & {support.TASKSCOPE} job start script --socket "$1" --store "$2"; sh -c "exit 7"; '
                      f'{support.TASKSCOPE} job end script --outcome failure --socket "$1" --store "$2"; kill $!')
            out = subprocess.run(["bash", "-c", script, "script", recorder.socket, recorder.store], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            found = self.job(recorder, int(out.stdout.strip().lstrip("#")))
        self.assertEqual((found["processes"], found["spawns"], found["failed_exits"]), (2, 1, 1))

    def test_the_innermost_job_has_the_process(self):
        with Recorder(self, "-i", "1s") as recorder:
            work = Work(self)
            outer = self.start(recorder, "outer", "-p", work.pid)
            inner = self.start(recorder, "inner", "-p", work.pid)
            work.do("children", 2, 20)
            self.end(recorder, inner)
            work.do("children", 3, 20)
            self.end(recorder, outer)
            found = [self.job(recorder, job) for job in (outer, inner)]
        self.assertEqual([job["spawns"] for job in found], [3, 2])
        self.assertIn("1 of its processes belonged to another job", found[0]["absent"])
        self.assertIsNone(found[1]["absent"])

    def test_a_job_ends_with_its_first_process(self):
        """Its outcome is the exit status, where nobody marks it; steps that run end with it."""
        with Recorder(self, "-i", "1s") as recorder:
            works = [Work(self), Work(self)]
            jobs = [self.start(recorder, f"ends{i}", "-p", work.pid) for i, work in enumerate(works)]
            self.mark(recorder, "step", "ends1", "endless")
            for status, work in enumerate(works):
                work.send("exit", status)
                work.process.wait()
            support.wait_until(lambda: all(self.job(recorder, job)["outcome"] for job in jobs))
            self.assertEqual([self.job(recorder, job)["outcome"] for job in jobs], ["success", "failure"])
            self.assertEqual([os.waitstatus_to_exitcode(self.job(recorder, job)["exit_status"]) for job in jobs], [0, 1])
            self.assertEqual(self.steps(recorder, jobs[1])["endless"]["outcome"], "failure")
            support.wait_until(lambda: "jobs" not in recorder.ask("latest")["host"])

    def test_a_job_survives_the_recorder(self):
        with Recorder(self, "-i", "1s") as recorder:
            work, lost = Work(self), Work(self)
            job = self.start(recorder, "long", "-p", work.pid)
            gone = self.start(recorder, "gone", "-p", lost.pid)
            self.mark(recorder, "step", "long", "1")
            work.do("children", 20, 10)
            work.do("memory", 32)
            recorder.next_tick(2)
            recorder.end(signal.SIGKILL)
        before = self.job(recorder, job)
        self.assertIsNone(before["outcome"])
        self.assertGreater(before["run_time_ns"], 200000000)
        lost.end()
        with Recorder(self, "-i", "1s", store=recorder.store) as again:
            self.assertEqual(self.job(again, gone)["outcome"], "unknown")
            self.assertEqual([one["id"] for one in again.ask("latest")["host"]["jobs"]], [job])
            used = work.do("children", 10, 10)
            self.end(again, job)
            after = self.job(again, job)
            self.assertEqual(self.steps(again, job)["1"]["outcome"], "success")
        for name in FIGURES:
            self.assertGreaterEqual(after[name], before[name], name)
        self.assert_near(after["run_time_ns"], before["run_time_ns"] + used["children_ns"] + used["self_ns"],
                         slack=20000000)
        self.assertEqual((after["spawns"], after["processes"]), (30, 31))
        self.assertIn("no recorder ran for", after["absent"])

    def test_what_was_not_measured_is_absent(self):
        with Recorder(self, "-i", "1s", "--no-events") as recorder:
            work = Work(self)
            job = self.start(recorder, "blind", "-p", work.pid)
            work.do("children", 1, 1)
            work.do("many", 2)
            recorder.next_tick(2)
            self.end(recorder, job)
            found = self.job(recorder, job)
        self.assertEqual([found[name] for name in ("spawns", "exits", "failed_exits", "signals", "kills", "ooms")],
                         [None] * 6)
        self.assertEqual(found["processes"], 3)
        self.assertIn("followed no events", found["absent"])

    def test_a_part_of_the_host_has_jobs_of_its_own_alone(self):
        inside, outside = Work(self), Work(self)
        with Recorder(self, "-i", "1s", "--tree", inside.pid) as recorder:
            reply = recorder.reply("job_start", name="far", pid=outside.pid)
            self.assertIn("not in the part of the host that is recorded", reply["error"])
            job = self.start(recorder, "near", "-p", inside.pid)
            inside.do("children", 3, 1)
            self.end(recorder, job)
            found = self.job(recorder, job)
        self.assertEqual(found["spawns"], 3)
        self.assertIn("a part of the host only", found["absent"])

    def test_an_anomaly_is_one_of_its_job(self):
        with Recorder(self, "-i", "1s", "--threshold", "memory_spike_bytes=16MiB") as recorder:
            work = Work(self)
            job = self.start(recorder, "greedy", "-p", work.pid)
            recorder.next_tick(2)
            work.do("memory", 64)
            support.wait_until(lambda: "anomaly" in self.kinds(recorder, job))
            self.assertEqual({one.get("job") for one in recorder.ask("context", pid=work.pid)["anomalies"]}, {"greedy"})
            self.end(recorder, job)
            found = self.job(recorder, job)
            anomalies = rows(recorder.store, "SELECT rule, job FROM anomalies WHERE pid=?", work.pid)
            patterns = rows(recorder.store, "SELECT kind, name FROM patterns")
        self.assertIn(("memory_spike", "greedy"), anomalies)
        self.assertGreaterEqual(found["anomalies"], 1)
        self.assertIn(("anomaly", "memory_spike of job_workload in job greedy"), patterns)
        self.assertGreater(found["peak_memory_bytes"], 64 << 20)

    def test_system_calls_of_a_job(self):
        with Recorder(self, "-i", "1s", "--syscalls") as recorder:
            work = Work(self)
            job = self.start(recorder, "calls", "-p", work.pid)
            self.mark(recorder, "step", "calls", "1")
            work.do("children", 7, 1)
            self.end(recorder, job)
            find = lambda: {(row["step"], row["name"]): row for row in self.row(recorder, job, "job_syscalls", "job")}
            # A tick inside of the job has written earlier calls.
            calls = support.wait_until(lambda: find() if find().get((None, "wait4"), {}).get("calls") == 7 else None)
        self.assertEqual(calls["1", "wait4"]["calls"], 7)
        self.assertGreaterEqual(calls[None, "wait4"]["time_ns"], 7000000)

    def test_the_last_calls_come_with_the_end_of_the_recorder(self):
        """No tick comes after them."""
        with Recorder(self, "-i", "1h", "--syscalls") as recorder:
            work = Work(self)
            job = self.start(recorder, "calls", "-p", work.pid)
            work.do("children", 7, 1)
            recorder.end()
            calls = {row["name"]: row["calls"] for row in self.row(recorder, job, "job_syscalls", "job")}
        self.assertEqual(calls["wait4"], 7)

    def test_a_run_is_no_part_of_its_job(self):
        """The taskscope of `run --job` and its helpers, which take much longer than the command."""
        words = [support.TASKSCOPE, "run", "-q", "--job", "outer", "--step", "1", "--"]
        with Recorder(self, "-i", "200ms", "--syscalls") as recorder:
            script = "read x; \"$@\" sh -c 'sleep 0.01; exit 3'; \"$@\" sleep 1000; read x"
            shell = subprocess.Popen(["sh", "-c", script, "sh", *words[:2], "--socket", recorder.socket, *words[2:]],
                                     stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.addCleanup(shell.communicate)
            self.addCleanup(shell.kill)
            job = self.start(recorder, "outer", "-p", shell.pid)
            shell.stdin.write(b"\n")
            shell.stdin.flush()
            # sh -c, sleep 0.01 and sleep 1000, besides the shell itself
            support.wait_until(lambda: self.job(recorder, job)["processes"] == 4)
            recorder.next_tick(2)
            found = self.job(recorder, job)
            self.assertEqual((found["spawns"], found["exits"], found["failed_exits"]), (3, 2, 1))
            self.assertLess(found["peak_rss_bytes"], 8 << 20)
            progress, = recorder.ask("latest")["host"]["jobs"]
            self.assertEqual(progress["processes"], 2)
            run, = children_of(shell.pid)
            command, = [pid for pid in children_of(run) if pathlib.Path(f"/proc/{pid}/comm").read_text() == "sleep\n"]
            self.addCleanup(os.kill, command, signal.SIGKILL)
            os.kill(run, signal.SIGKILL)
            support.wait_until(lambda: "kill" in self.kinds(recorder, job))
            self.end(recorder, job)
            support.wait_until(lambda: self.row(recorder, job, "job_syscalls", "job"))
            names = {row["name"] for row in self.row(recorder, job, "job_syscalls", "job")}
            found = self.job(recorder, job)
        self.assertNotIn("bpf", names)
        self.assertIn("wait4", names)
        self.assertEqual((found["processes"], found["kills"] >= 1), (4, True))
        self.assertLess(found["peak_memory_bytes"], 16 << 20)

    @heap.needs_root
    def test_a_cgroup_is_a_job(self):
        with test_cgroups.Cgroup(test_cgroups.trees()) as group, Recorder(self, "-i", "500ms") as recorder:
            job = self.start(recorder, "group", "--cgroup", "/" + test_cgroups.NAME)
            work = Work(self)
            for directory in group.made:
                (directory / "cgroup.procs").write_text(str(work.pid))
            support.wait_until(lambda: (work.pid, job) in rows(recorder.store, "SELECT pid, job FROM processes"))
            work.do("memory", 40)
            used = work.do("children", 20, 10)
            self.end(recorder, job)
            found = self.job(recorder, job)
            work.end()
        self.assert_near(found["run_time_ns"], used["children_ns"] + used["self_ns"], slack=100000000)
        self.assertGreater(found["peak_memory_bytes"], 40 << 20)
        self.assertEqual(found["memory"], "cgroup")
        self.assertEqual((found["processes"], found["spawns"]), (22, 20 + 1))

    def test_files_below_a_directory_are_events(self):
        watched = pathlib.Path(self.path("watched"))
        (watched / "sub").mkdir(parents=True)
        (watched / "old").write_text("1")
        (watched / "link").symlink_to("/tmp")
        with Recorder(self, "-i", "1s") as recorder:
            work = Work(self)
            job = self.start(recorder, "files", "-p", work.pid, "--watch", watched)
            (watched / "sub" / "new").write_text("2")
            (watched / "old").write_text("3")
            (watched / "later").mkdir()
            support.wait_until(lambda: "file_changed" in self.kinds(recorder, job))
            (watched / "later" / "deep").write_text("4")
            (watched / "sub" / "new").unlink()
            self.end(recorder, job)
            files = [(event["kind"], event["details"]) for event in self.events(recorder, job)
                     if event["kind"].startswith("file_")]
        for event in (("file_created", "sub/new"), ("file_changed", "old"), ("file_created", "later/deep"),
                      ("file_deleted", "sub/new")):
            self.assertIn(event, files)
        self.assertNotIn(("file_created", "old"), files)

    def test_a_file_belongs_to_the_step_in_which_it_changed(self):
        """However soon the next step begins, and however often the same file changes."""
        watched = pathlib.Path(self.path("watched"))
        watched.mkdir()
        with Recorder(self, "-i", "1s") as recorder:
            job = self.start(recorder, "files", "-p", Work(self).pid, "--watch", watched)
            for step in "one", "two":
                recorder.ask("job_step", name="files", step=step)
                (watched / "log").write_text(step)
                (watched / step).write_text("")
            recorder.ask("job_end", name="files", step="two", outcome="success")
            (watched / "after").write_text("")
            self.end(recorder, job)
            files = [(event.get("step"), event["kind"], event["details"]) for event in self.events(recorder, job)
                     if event["kind"].startswith("file_")]
        self.assertEqual(files, [("one", "file_created", "log"), ("one", "file_created", "one"),
                                 ("two", "file_changed", "log"), ("two", "file_created", "two"),
                                 (None, "file_created", "after")])

    def test_a_directory_that_is_renamed_has_its_new_path(self):
        watched = pathlib.Path(self.path("watched"))
        (watched / "old" / "deep").mkdir(parents=True)
        (watched / "gone").mkdir()
        elsewhere = pathlib.Path(self.path("elsewhere"))
        with Recorder(self, "-i", "1s") as recorder:
            work = Work(self)
            job = self.start(recorder, "files", "-p", work.pid, "--watch", watched)
            (watched / "old").rename(watched / "new")
            (watched / "gone").rename(elsewhere)
            (watched / "made").mkdir()
            (watched / "made" / "first").write_text("0")
            (watched / "made").rename(watched / "moved")
            (watched / "mark").write_text("1")
            support.wait_until(lambda: "file_created" in self.kinds(recorder, job))
            (watched / "new" / "deep" / "file").write_text("2")
            (watched / "moved" / "second").write_text("2")
            (elsewhere / "private").write_text("3")
            self.end(recorder, job)
            files = [event["details"] for event in self.events(recorder, job) if event["kind"] == "file_created"]
        # Where it was when it was made depends on when the recorder looked.
        self.assertIn(files.pop(next(i for i, file in enumerate(files) if file.endswith("/first"))),
                      ("made/first", "moved/first"))
        self.assertEqual(sorted(set(files)), ["mark", "moved/second", "new/deep/file"])

    def test_whoever_renames_without_end_does_not_keep_others_from_being_measured(self):
        name = "x" * 240
        with Recorder(self, "-i", "1s") as recorder:
            work, tops = Work(self), []
            for i in range(8):
                top = pathlib.Path(self.path(f"watched{i}"), name)
                deep = top.joinpath(*[name] * 9)
                deep.mkdir(parents=True)
                for k in range(480):
                    (deep / str(k)).mkdir()
                support.wait_until(lambda: self.starts(recorder, f"files{i}", "-p", work.pid, "--watch", top.parent))
                tops.append(str(top))
            mover = subprocess.Popen([sys.executable, "-c", MOVER, *tops], stdout=subprocess.PIPE)
            self.addCleanup(mover.communicate)
            self.addCleanup(mover.kill)
            mover.stdout.readline()
            recorder.next_tick()
            used, ticks = cpu_seconds(recorder.process.pid), 5
            recorder.next_tick(ticks)
            self.assertLess((cpu_seconds(recorder.process.pid) - used) / ticks, 1.5)

    def test_a_directory_that_is_gone_when_a_recorder_takes_up_the_job_is_said(self):
        watched = pathlib.Path(self.path("watched"))
        watched.mkdir()
        with Recorder(self, "-i", "200ms") as recorder:
            work = Work(self)
            job = self.start(recorder, "files", "-p", work.pid, "--watch", watched)
            recorder.end()
            watched.rmdir()
        with Recorder(self, "-i", "200ms", store=recorder.store) as recorder:
            recorder.next_tick(2)
            self.end(recorder, job)
            self.assertIn(f"cannot watch {watched}", self.job(recorder, job)["absent"])

    def test_a_part_of_the_jobs_is_kept_for_root(self):
        with Recorder(self, "-i", "1h") as recorder:
            os.chmod(recorder.socket, 0o666)
            os.chmod(os.path.dirname(recorder.socket), 0o755)
            answers = []
            for uid in range(40000, 40009):
                work = Work(self, user=uid)
                answers += [recorder.reply("job_start", uid=uid, name=f"j{i}", pid=work.pid) for i in range(33)]
            taken = [answer for answer in answers if "error" not in answer]
            self.assertEqual(len(taken), 240)
            self.assertTrue(self.start(recorder, "root", "-p", Work(self).pid))

    @heap.needs_root
    @unittest.skipUnless(heap.built("silent_mount"), "needs a compiler")
    def test_nobody_waits_for_a_file_system_that_does_not_answer(self):
        folder, content = pathlib.Path(self.path("mount")), pathlib.Path(self.path("content"))
        folder.mkdir()
        content.write_text("x")
        with SilentMount(folder, content) as mount, Recorder(self, "-i", "500ms") as recorder:
            work = Work(self)
            mount.fall_silent()
            reply = recorder.reply("job_start", name="silent", pid=work.pid, watch=str(folder))
            self.assertIn("cannot watch", reply["error"])
            recorder.next_tick(2)

    @heap.needs_root
    @unittest.skipUnless(heap.built("silent_mount"), "needs a compiler")
    def test_nobody_waits_to_close_a_file_that_came_with_a_request(self):
        folder, content = pathlib.Path(self.path("mount")), pathlib.Path(self.path("content"))
        folder.mkdir()
        content.write_text("x")
        with Recorder(self, "-i", "500ms") as recorder, SilentMount(folder, content) as mount, \
                socket.socket(socket.AF_UNIX) as client:
            file = os.open(mount.file, os.O_RDONLY)
            mount.fall_silent()
            client.connect(recorder.socket)
            socket.send_fds(client, [b'{"id":1,"method":"jobs"}\n'], [file])
            recorder.next_tick(2)

    @heap.needs_root
    def test_a_stranger_learns_nothing_of_others_files(self):
        nobody = pwd.getpwnam("nobody").pw_uid
        root = pathlib.Path(self.path("shared"))
        secret = root / "secret"
        secret.mkdir(parents=True)
        (root / "open").mkdir()
        (secret / "inside").mkdir()
        for path, mode, owner in ((root.parent, 0o755, 0), (root, 0o755, nobody), (root / "open", 0o755, nobody),
                                  (secret, 0o700, 0), (secret / "inside", 0o755, nobody)):
            path.chmod(mode)
            os.chown(path, owner, owner)
        with Recorder(self, "-i", "1s") as recorder:
            os.chmod(recorder.socket, 0o666)
            work = Work(self, user=nobody)
            for path, says in ((secret, "cannot watch"), (secret / "inside", "cannot watch"),
                               (root.parent, "belongs to another user")):
                reply = recorder.reply("job_start", uid=nobody, name="spy", pid=work.pid, watch=str(path))
                self.assertIn(says, reply["error"])
            job = self.start(recorder, "spy", "-p", work.pid, "--watch", root, uid=nobody)
            self.assertEqual(1, len(recorder.reply("jobs", uid=nobody)["result"]["jobs"]))
            (secret / "hidden").write_text("1")
            (secret / "inside" / "hidden").write_text("1")
            (root / "open" / "seen").write_text("1")
            self.end(recorder, job, uid=nobody)
            details = [event["details"] for event in self.events(recorder, job)]
        self.assertIn("open/seen", details)
        self.assertFalse([text for text in details if text and "hidden" in text])


if __name__ == "__main__":
    unittest.main()
