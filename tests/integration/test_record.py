# SPDX-License-Identifier: MIT
"""A recorder on this host: what it keeps, what it says, and what it survives."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import support
from recorder import Case, Recorder, rows


class Ticks(Case):
    def test_processes_and_the_host_are_sampled(self):
        with support.Workload() as workload, Recorder(self, "-i", "200ms") as recorder:
            recorder.next_tick(2)
            latest = recorder.ask("latest")
            found = [process for process in latest["processes"] if process["pid"] == workload.pid]
            self.assertEqual(len(found), 1)
            self.assertEqual(found[0]["nr_threads"], len(support.threads_of(workload.pid)))
            self.assertGreater(found[0]["rss_bytes"], 0)
            self.assertEqual(found[0]["ppid"], os.getpid())
            self.assertEqual(rows(recorder.store, "SELECT ppid FROM processes WHERE pid = ?", workload.pid),
                             [(os.getpid(),)])
            host = latest["host"]
            self.assertGreater(host["memory_total_bytes"], host["memory_available_bytes"])
            self.assertIn(host["pressure_level"], ["none", "low", "medium", "high", "critical", "unknown"])
            self.assertEqual(host["recorder_pid"], recorder.process.pid)
            self.assertGreater(host["recorder_rss_bytes"], 0)
            self.assertEqual(recorder.end(), 0)
        self.assertEqual(self.read("verify", recorder.store).count("damaged"), 0)
        shown = support.show_threads(f"{recorder.store}@latest")
        pids = {row["tgid"] for row in shown["threads"]} if "threads" in shown else None
        if pids is not None:
            self.assertIn(workload.pid, pids)

    def test_a_busy_thread_has_the_cpu_time_that_the_kernel_gave_it(self):
        with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy, \
                Recorder(self, "-i", "500ms") as recorder:
            try:
                recorder.next_tick(2)
                before, began = support.run_time(busy.pid), time.monotonic_ns()
                recorder.next_tick(3)
                used, took = support.run_time(busy.pid) - before, time.monotonic_ns() - began
                percent = next(process["cpu_percent"] for process in recorder.ask("latest")["processes"]
                               if process["pid"] == busy.pid)
            finally:
                busy.kill()
        self.assertLess(percent, 102)
        # Others may want the CPU as well, and not the same share at each moment.
        self.assertGreater(percent, 100 * used / took / 4)

    def test_only_a_tree_is_recorded_and_its_end_ends_the_recorder(self):
        script = "sleep 1000 & sleep 1000 & wait"
        with subprocess.Popen(["sh", "-c", script]) as root:
            support.wait_until(lambda: len(children_of(root.pid)) == 2)
            family = {root.pid, *children_of(root.pid)}
            with Recorder(self, "-i", "200ms", "--tree", root.pid) as recorder:
                recorder.next_tick()
                pids = {process["pid"] for process in recorder.ask("latest")["processes"]}
                self.assertEqual(pids, family)
                for pid in family:
                    os.kill(pid, signal.SIGKILL)
                root.wait()
                self.assertEqual(recorder.process.wait(timeout=support.HANG), 0)

    @unittest.skipUnless(support.is_root(), "only root sees every event")
    def test_lines_of_json(self):
        lines = self.path("r.jsonl")
        with Recorder(self, "-i", "200ms", "--jsonl", lines) as recorder:
            recorder.next_tick(2)
            subprocess.run(["true"], check=True)
            support.wait_until(lambda: '"kind":"exit"' in pathlib.Path(lines).read_text())
            recorder.next_tick()
        kinds = {json.loads(line)["kind"] for line in pathlib.Path(lines).read_text().splitlines()}
        self.assertLessEqual({"host", "process", "spawn", "exit"}, kinds)
        self.assertEqual(os.stat(lines).st_mode & 0o777, 0o600)


def children_of(pid):
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []


class Events(Case):
    def wait_for(self, recorder, kind, pid):
        def found():
            events = self.read_json("events", "--store", recorder.store, "--kind", kind, "-p", pid)["events"]
            return events or None

        return support.wait_until(found)[0]

    @unittest.skipUnless(support.is_root(), "only root sees every event")
    def test_ends_of_processes_with_status_and_sender(self):
        with Recorder(self, "-i", "200ms") as recorder:
            child = subprocess.Popen(["sh", "-c", "exit 7"])
            child.wait()
            event = self.wait_for(recorder, "exit", child.pid)
            self.assertEqual(event["exit_code"], 7)
            self.assertEqual(event["ppid"], os.getpid())
            victim = subprocess.Popen(["sleep", "1000"])
            victim.kill()
            victim.wait()
            event = self.wait_for(recorder, "exit", victim.pid)
            self.assertEqual(event["signal"], signal.SIGKILL)
            self.assertEqual(event["sender_pid"], os.getpid())
            event = self.wait_for(recorder, "kill", victim.pid)
            self.assertEqual(event["sender_pid"], os.getpid())

    @unittest.skipUnless(support.is_root(), "only root sees every event")
    def test_a_storm_is_kept_or_counted(self):
        with Recorder(self, "-i", "500ms") as recorder:
            begin = rows(recorder.store, "SELECT max(rowid) FROM events")[0][0] or 0
            # A name of its own: others run true(1) as well.
            program = shutil.copy("/bin/true", self.path("stormy"))
            script = f"i=0; while [ $i -lt 500 ]; do {program}; i=$((i+1)); done"
            subprocess.run(["sh", "-c", script], check=True)

            def ended():
                kept = rows(recorder.store, "SELECT count(*) FROM events WHERE rowid > ? AND kind = 'exit' "
                            "AND comm = 'stormy'", begin)[0][0]
                lost = rows(recorder.store, "SELECT coalesce(sum(lost), 0) FROM events WHERE rowid > ? "
                            "AND kind = 'lost'", begin)[0][0]
                return (kept, lost) if kept + lost >= 500 else None

            kept, lost = support.wait_until(ended)
        self.assertEqual(kept, 500, f"{lost} were lost")

    def test_names_cannot_break_an_output(self):
        name = b'a"\n\x1b[2J;'
        code = ("import ctypes, sys, time\n"
                f"ctypes.CDLL(None).prctl(15, {name!r})\nprint(flush=True)\nsys.stdin.read()")
        with Recorder(self, "-i", "200ms", "--jsonl", self.path("r.jsonl")) as recorder:
            with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as child:
                child.stdout.readline()
                recorder.next_tick(2)
                text = self.read("latest", "--socket", recorder.socket, "-n", "0")
                child.stdin.close()
                child.wait()
            self.wait_for(recorder, "exit", child.pid)
        for out in [text, self.read("events", "--store", recorder.store, "-n", "0"),
                    self.read("latest", "--store", recorder.store, "-n", "0"),
                    self.read("events", "--store", recorder.store, "--format", "csv"),
                    pathlib.Path(self.path("r.jsonl")).read_text()]:
            self.assertNotIn("\x1b", out)
        for line in pathlib.Path(self.path("r.jsonl")).read_text().splitlines():
            json.loads(line)


class Anomalies(Case):
    def test_a_runaway_opens_and_closes_once_and_a_command_hears_of_it(self):
        heard = self.path("heard")
        script = pathlib.Path(self.path("hear"))
        script.write_text(f"#!/bin/sh\ncat >>{heard}\n")
        script.chmod(0o755)
        # A tree, since on a busy host so many others run away that not every command is started.
        holder = subprocess.Popen(["sh", "-c", "(while :; do :; done) & echo $!; wait; sleep 1000"],
                                  stdout=subprocess.PIPE, start_new_session=True)
        self.addCleanup(holder.wait)
        self.addCleanup(os.killpg, holder.pid, signal.SIGKILL)
        self.addCleanup(holder.stdout.close)
        busy = int(holder.stdout.readline())
        with Recorder(self, "-i", "200ms", "--tree", holder.pid, "--threshold", "runaway_cpu_percent=5%",
                      "--threshold", "runaway_cpu_duration=1s", "--on-anomaly", script) as recorder:
            try:
                def found(state):
                    return [anomaly for anomaly in
                            self.read_json("anomalies", "--store", recorder.store)["anomalies"]
                            if anomaly.get("pid") == busy and anomaly["state"] == state]

                support.wait_until(lambda: found("open"))
                self.assertTrue(any(anomaly["pid"] == busy for anomaly in
                                    recorder.ask("context", pid=busy)["anomalies"]))
                self.assertIn("runaway_cpu", self.read("anomalies", "--open", "--store", recorder.store))
                self.assertRegex(self.read("latest", "--socket", recorder.socket),
                                 r"\n  [a-z]+ runaway_cpu: .* of a CPU, and has used 5.00 % or more for ")
            finally:
                os.kill(busy, signal.SIGKILL)
            closed = support.wait_until(lambda: found("close"))
            self.assertEqual(len(closed), 1)
            self.assertEqual(closed[0]["rule"], "runaway_cpu")
            self.assertGreaterEqual(closed[0]["end_ns"], closed[0]["begin_ns"])
            self.assertGreaterEqual(closed[0]["peak"], closed[0]["threshold"])

            def told():
                lines = pathlib.Path(heard).read_text().splitlines() if os.path.exists(heard) else []
                return [line for line in map(json.loads, lines) if line.get("pid") == busy] or None

            support.wait_until(lambda: (told() or []) and len(told()) == 2)
            self.assertEqual([line["state"] for line in told()], ["open", "close"])


class Reading(Case):
    def test_a_process_over_time(self):
        with support.Workload() as workload, Recorder(self, "-i", "200ms") as recorder:
            recorder.next_tick(4)
            points = self.read_json("history", "--store", recorder.store, "-p", workload.pid)["points"]
            self.assertGreaterEqual(len(points), 3)
            self.assertEqual({point["pid"] for point in points}, {workload.pid})
            self.assertTrue(all(point["value"] > 0 for point in points))
            times = [point["ts_ns"] for point in points]
            self.assertEqual(times, sorted(times))
            samples = self.read_json("history", "--store", recorder.store)["samples"]
            self.assertGreaterEqual(len(samples), 3)
            self.assertIn("load1", self.read("history", "--store", recorder.store))

    def test_two_instants_are_an_interval(self):
        with support.Workload() as workload, Recorder(self, "-i", "200ms") as recorder:
            recorder.next_tick(3)
        found = self.read_json("compare", f"{recorder.store}@-400ms", f"{recorder.store}@latest",
                               "-g", "process", "-n", "0")
        self.assertIn(str(workload.pid), json.dumps(found))

    def test_two_intervals_of_a_recording_are_compared(self):
        with Recorder(self, "-i", "200ms") as recorder:
            recorder.next_tick(24)  # spans are long enough for a busy host that misses some
        store = recorder.store
        for first, second in [(f"{store}@-4s..-2500ms", f"{store}@-1500ms..latest"),
                              (f"{store}@-4s..{os.path.basename(store)}@-2500ms",
                               f"{store}@-1500ms..latest")]:
            found = self.read_json("compare", first, second, "-n", "0")
            self.assertEqual(found["mode"], "intervals")
            self.assertIn("per_second", {row["values"] for row in found["rows"]})

    def test_without_a_recorder_the_store_is_read(self):
        with Recorder(self, "-i", "200ms") as recorder:
            recorder.next_tick()
        out = self.read("latest", "--store", recorder.store)
        self.assertIn("ago", out)
        self.refuse("latest", "--socket", recorder.socket, says="no recorder")
        self.assertIn("ago", self.read("latest", "--socket", recorder.socket, "--store", recorder.store))
        for words in ([], ["--socket", recorder.socket]):
            status, out, err = support.run("stream", "--store", recorder.store, *words)
            self.assertEqual(status, 0, err)
            self.assertIn("processes", json.loads(out))
            self.assertRegex(err, r"newest tick of the store, \d.* old")
        self.refuse("events", "--store", self.path("none.db"), says="none.db")
        self.refuse("events", "--store", recorder.store, "--kind", "exlt", says="exit")

    def test_a_socket_comes_before_a_store(self):
        with Recorder(self, "-i", "200ms") as recorder:
            recorder.next_tick()
            self.refuse("latest", "--store", self.path("none.db"), says="none.db")
            self.assertIn("ago", self.read("latest", "--socket", recorder.socket, "--store", self.path("none.db")))

    def test_a_reader_who_has_seen_enough_is_no_error(self):
        with Recorder(self, "-i", "200ms") as recorder:
            recorder.next_tick()
            for words in (["stream", "--socket", recorder.socket], ["events", "--follow", "--store", recorder.store]):
                with subprocess.Popen([support.TASKSCOPE, *words], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE) as reader:
                    reader.stdout.close()

                    def ended(reader=reader):
                        subprocess.run(["sleep", "0.3"], check=True)  # an event, also for one who polls
                        return reader.poll() is not None

                    support.wait_until(ended)
                    self.assertEqual((reader.returncode, reader.stderr.read()), (0, b""))

    @unittest.skipUnless(support.is_root(), "only root sees every event")
    def test_a_stream_has_samples_and_events(self):
        with Recorder(self, "-i", "200ms") as recorder:
            with subprocess.Popen([support.TASKSCOPE, "stream", "--socket", recorder.socket],
                                  stdout=subprocess.PIPE) as reader:
                kinds = set()
                while not {"host", "exit"} <= kinds:
                    subprocess.run(["true"], check=True)
                    kinds.add(json.loads(reader.stdout.readline())["kind"])
                reader.terminate()


class Hardship(Case):
    def test_a_second_recorder_is_refused(self):
        with Recorder(self, "-i", "200ms") as recorder:
            status, _, err = support.run("record", "--store", recorder.store, "--no-socket", "-d", "1s")
            self.assertEqual(status, 2)
            self.assertIn(recorder.store, err)
            recorder.next_tick()

    def test_a_recorder_that_is_killed_loses_at_most_one_tick(self):
        store = self.path("killed.db")
        for _ in range(3):
            with Recorder(self, "-i", "100ms", store=store) as recorder:
                recorder.next_tick(random.randrange(1, 4))
                last = recorder.ticks()
                recorder.end(signal.SIGKILL)
            kept = rows(store, "SELECT max(ts_ns) FROM ticks")[0][0]
            self.assertGreaterEqual(kept, last - 250_000_000)
            status, out, err = support.run("verify", store)
            self.assertEqual(status, 0, out + err)

    def test_verify_tells_programs_what_is_wrong(self):
        with Recorder(self, "-i", "100ms") as recorder:
            recorder.next_tick(3)
        self.assertEqual(json.loads(self.read("verify", recorder.store, "--format", "json")),
                         {"file": recorder.store, "ok": True, "faults": []})
        with contextlib.closing(sqlite3.connect(recorder.store)) as store, store:
            store.execute("UPDATE ticks SET frame = x'00' WHERE ts_ns = (SELECT max(ts_ns) FROM ticks)")
        status, out, err = support.run("verify", recorder.store, "--format", "json")
        found = json.loads(out)
        self.assertEqual((status, found["ok"]), (2, False), err)
        self.assertTrue(found["faults"])
        mended = self.path("mended.db")
        found = json.loads(self.read("verify", recorder.store, "--repair", mended, "--format", "json"))
        self.assertEqual((found["repaired"], found["left_out"] > 0), (mended, True), found)
        self.assertTrue(json.loads(self.read("verify", mended, "--format", "json"))["ok"])

    def test_a_recorder_that_was_stopped_says_what_it_missed(self):
        with Recorder(self, "-i", "100ms") as recorder:
            recorder.process.send_signal(signal.SIGSTOP)
            support.wait_until(lambda: "T" in pathlib.Path(
                f"/proc/{recorder.process.pid}/stat").read_text().rpartition(")")[2].split()[0])
            time.sleep(0.5)  # deadlines pass
            recorder.process.send_signal(signal.SIGCONT)
            support.wait_until(lambda: (rows(recorder.store, "SELECT sum(missed) FROM ticks")[0][0] or 0) >= 3)

    def test_bad_settings_are_refused(self):
        self.refuse("record", "-i", "1ms", says="100ms")
        self.refuse("record", "--threshold", "nonsense=1", "--store", self.path("x.db"), says="nonsense")
        self.refuse("record", "--tree", "0", says="--tree")
        self.refuse("record", "--config", self.path("none.conf"), says="none.conf")
        self.refuse("record", "--store", "/proc/x/r.db", "--no-socket", says="/proc/x")
        config = pathlib.Path(self.path("bad.conf"))
        config.write_text("interval = 1s\nintervall = 2s\n")
        config.chmod(0o600)
        self.refuse("record", "--config", config, says="line 2")

    def test_what_cannot_be_followed_leaves_no_store(self):
        store = self.path("none.db")
        for words in (["--tree", str(2**22 + 1)], ["--cgroup", "/no/such/group"]):
            self.refuse("record", *words, "--store", store, "--no-socket", says=words[1])
            self.assertFalse(os.path.exists(store))

    def test_a_recorder_that_cannot_begin_leaves_no_store(self):
        store = self.path("none.db")
        with Recorder(self, "-i", "1h", "--no-activity") as other:
            self.refuse("record", "--store", store, "--socket", other.socket, says=other.socket)
            self.assertFalse(os.path.exists(store))
            self.refuse("record", "--store", other.store, "--socket", self.path("s"), says="is in use")
        self.assertTrue(os.path.exists(other.store))
        self.refuse("record", "--store", store, "--no-socket", "--jsonl", "/proc/none/r.jsonl", says="r.jsonl")
        self.assertFalse(os.path.exists(store))
        self.assertFalse(os.path.exists(store + "-wal"))
        # One that was there stays.
        self.refuse("record", "--store", other.store, "--no-socket", "--jsonl", "/proc/none/r.jsonl", says="r.jsonl")
        self.read("verify", other.store)

    def test_settings_can_be_printed_and_read_again(self):
        config = pathlib.Path(self.path("r.conf"))
        config.touch(mode=0o600)
        printed = self.read("record", "--config", config, "-i", "2s", "--threshold", "zombie_duration=5s",
                            "--print-config")
        self.assertIn("interval = 2s", printed)
        self.assertIn("zombie_duration=5s", printed)
        self.assertIn("\nactivity = yes\n", printed)
        config.write_text(printed)
        self.assertEqual(self.read("record", "--config", config, "--print-config"), printed)

    def test_the_command_line_changes_only_what_it_names(self):
        config = pathlib.Path(self.path("r.conf"))
        config.touch(mode=0o600)
        config.write_text("threshold = zombie_duration=5s\nthreshold = stuck_d_duration=7s\nactivity = yes\n")
        printed = self.read("record", "--config", config, "--threshold", "stuck_d_duration=9s", "--no-activity",
                            "--print-config")
        self.assertIn("zombie_duration=5s", printed)
        self.assertIn("stuck_d_duration=9s", printed)
        self.assertIn("\nactivity = no\n", printed)
        self.assertIn("\nno-activity = yes\n", printed)

    @unittest.skipUnless(support.is_root(), "mounting takes root")
    def test_a_full_disk_is_said_and_survived(self):
        folder = self.path("small")
        os.mkdir(folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], check=True)
        try:
            ballast = pathlib.Path(folder, "ballast")
            with Recorder(self, "-i", "100ms", store=f"{folder}/r.db") as recorder:
                with open(ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
                    while True:
                        file.write(b"x" * 65536)
                before = recorder.ticks()
                recorder.next_tick(5)
                self.assertGreater(recorder.ticks(), before)
                ballast.unlink()
                at = recorder.ticks()
                support.wait_until(lambda: rows(recorder.store, "SELECT max(ts_ns) FROM ticks")[0][0] > at)
                self.assertEqual(recorder.end(), 0)
            self.assertIn("recording goes on", recorder.said)
            self.assertIn("writes to the store that failed", recorder.said)
            failed = rows(f"{folder}/r.db", "SELECT value FROM meta WHERE key = 'failed_writes'")
            self.assertGreater(int(failed[0][0]), 0)
            self.assertIn("again", recorder.said)
            status, out, err = support.run("verify", f"{folder}/r.db")
            self.assertEqual(status, 0, out + err)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


if __name__ == "__main__":
    unittest.main()
