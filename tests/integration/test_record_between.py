#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a recorder does between its ticks, and what it says of itself."""
import os
import shutil
import signal
import subprocess
import time
import unittest

import support
from recorder import Case, Recorder, rows

BUSY = "while :; do :; done"
SENSITIVE = ["--threshold", "runaway_cpu_percent=5%", "--threshold", "runaway_cpu_duration=1s"]


class Between(Case):
    @unittest.skipUnless(support.is_root(), "only root sees every event")
    def test_events_do_not_wait_for_the_next_tick(self):
        with Recorder(self, "-i", "1h") as recorder:
            child = subprocess.Popen(["true"])
            child.wait()
            support.wait_until(lambda: self.read_json(
                "events", "--store", recorder.store, "--kind", "exit", "-p", child.pid)["events"])
            self.assertEqual(rows(recorder.store, "SELECT count(*) FROM ticks WHERE NOT is_burst"), [(1,)])

    @unittest.skipUnless(support.is_root(), "only root sees every event")
    def test_a_process_with_an_anomaly_is_sampled_more_often_until_it_is_over(self):
        def bursts():
            return rows(recorder.store, "SELECT processes, missed FROM ticks WHERE is_burst")

        def is_closed():
            return rows(recorder.store, "SELECT 1 FROM anomalies WHERE rule = 'runaway_cpu' AND end_ns")

        script = f"({BUSY}) & echo $!; wait; sleep 1000"
        with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True) as root:
            try:
                busy = int(root.stdout.readline())
                with Recorder(self, "-i", "2s", "--tree", root.pid, *SENSITIVE) as recorder:
                    support.wait_until(lambda: len(bursts()) >= 3)
                    os.kill(busy, signal.SIGKILL)
                    support.wait_until(is_closed)
                    seen = bursts()
                    recorder.next_tick(2)
                    self.assertEqual(bursts(), seen)
                self.assertEqual(set(seen), {(1, 0)})
                self.assertEqual(self.read("verify", recorder.store).count("damaged"), 0)
            finally:
                os.killpg(root.pid, signal.SIGKILL)


class End(Case):
    @unittest.skipUnless(support.is_root(), "only root sees every event")
    def test_what_was_counted_is_kept(self):
        program = shutil.copy("/bin/true", self.path("stormy"))
        with Recorder(self, "-i", "1h", "--events-per-second", "1") as recorder:
            for _ in range(50):
                subprocess.run([program], check=True)
        found = rows(recorder.store, "SELECT sum(coalesce(lost, 1)), sum(lost) FROM events WHERE comm = 'stormy'")
        self.assertEqual(found[0][0], 2 * 50)  # exec and exit
        self.assertGreater(found[0][1], 0)

    def test_after_its_duration(self):
        began = time.monotonic()
        with Recorder(self, "-i", "100ms", "-d", "1s", "--no-events", "--no-activity", wait=False) as recorder:
            self.assertEqual(recorder.process.wait(timeout=support.HANG), 0)
            self.assertGreaterEqual(time.monotonic() - began, 1)
        self.assertEqual(recorder.said, f"taskscope: recording to {recorder.store}, socket {recorder.socket}\n")
        self.assertEqual(rows(recorder.store, "SELECT count(*) FROM events"), [(0,)])


class Itself(Case):
    def test_what_it_uses_itself_is_recorded(self):
        began = time.monotonic()
        with Recorder(self, "-i", "100ms") as recorder:
            before = support.run_time(recorder.process.pid)
            recorder.next_tick(20)
            used = support.run_time(recorder.process.pid) - before
            host = recorder.ask("latest")["host"]
            self.assertLessEqual(host["recorder_uptime_seconds"], time.monotonic() - began)
            pid = recorder.process.pid
            recorder.process.send_signal(signal.SIGTERM)
            usage = os.wait4(pid, 0)[2]
            recorder.process.returncode = 0
        samples = rows(recorder.store, "SELECT ts_ns, recorder_cpu_percent FROM host_samples ORDER BY ts_ns")
        self.assertIsNone(samples[0][1])
        told = sum((now[0] - then[0]) * now[1] / 100 for then, now in zip(samples, samples[1:]))
        # Time and CPU time are not read at the same instant.
        self.assertGreater(told, used / 5)
        self.assertLess(told, 5e9 * (usage.ru_utime + usage.ru_stime))

    def test_its_losses_are_in_the_store_while_it_records(self):
        with subprocess.Popen(["sh", "-c", BUSY]) as busy, \
                Recorder(self, "-i", "200ms", "--on-anomaly", shutil.which("false"), *SENSITIVE) as recorder:
            try:
                support.wait_until(lambda: rows(recorder.store,
                                                "SELECT 1 FROM meta WHERE key = 'failed_commands' AND value > '0'"))
            finally:
                busy.kill()
        self.assertIn("commands of --on-anomaly that failed", recorder.said)


if __name__ == "__main__":
    unittest.main()
