#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording on disk: killed, full, read while it grows, damaged."""
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import time
import unittest

import support

DRIVER = os.environ["TASKSCOPE_HISTORY_DRIVER"]
KILLS = int(os.environ.get("TASKSCOPE_KILLS", "20"))
DAYS = int(os.environ.get("TASKSCOPE_DAYS", "0"))


def ask(path, sql):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        return database.execute(sql).fetchone()[0]


class HistoryCase(support.TestCase):
    def start(self, *words):
        process = subprocess.Popen([DRIVER, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def good(self, path):
        self.assertEqual(support.run("verify", path)[::2], (0, ""))


class Killed(HistoryCase):
    def test_at_most_the_tick_under_way_is_lost(self):
        chance = random.Random(7)
        for kill in range(KILLS):
            # A recording lives through many kills, but each one takes longer to verify.
            path = self.path(f"r{kill // 25}.db")
            writer = self.start("write", path, 0)
            told = -1
            end = time.monotonic() + chance.random() * 0.3
            # Wait for the first tick, so that every round has some, then for an instant of any kind.
            while told < 0 or time.monotonic() < end:
                told = int(writer.stdout.readline())
            writer.send_signal(signal.SIGKILL)
            rest = writer.stdout.read().split()
            writer.wait()
            told = int(rest[-1]) if rest else told
            self.good(path)
            status, out, err = support.run("show", f"{path}@latest", "--format", "json")
            self.assertEqual((status, err), (0, ""))
            kept = (json.loads(out)["host"]["captured_at_unix_ns"] // 10**9 - 1700000040) // 5
            self.assertIn(kept, (told, told + 1))
            self.assertEqual(ask(path, "SELECT count(*) FROM ticks"), kept + 1)


class Shared(HistoryCase):
    def test_it_is_read_while_it_grows(self):
        path = self.path("r.db")
        writer = self.start("write", path, 0)
        writer.stdout.readline()
        for _ in range(5):
            told = int(writer.stdout.readline())
            status, out, err = support.run("show", f"{path}@latest", "--format", "json")
            self.assertEqual((status, err), (0, ""))
            self.assertGreaterEqual((json.loads(out)["host"]["captured_at_unix_ns"] // 10**9 - 1700000040) // 5,
                                    told)
            self.good(path)
            self.assertIsNone(writer.poll())

    def test_a_second_writer_is_refused(self):
        path = self.path("r.db")
        writer = self.start("write", path, 0)
        writer.stdout.readline()
        second = subprocess.run([DRIVER, "write", path, "1"], capture_output=True, text=True)
        self.assertEqual(second.returncode, 2)
        self.assertEqual(second.stderr, f"{path} is in use: the recorder with pid {writer.pid} writes it; "
                                        "choose another with --store\n")

    def test_two_instants_are_an_interval(self):
        path = self.path("r.db")
        self.start("write", path, 100).wait()
        status, out, err = support.run("compare", f"{path}@-5m", f"{path}@latest", "--format", "json",
                                       "-m", "run_time_ns")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("interval", out)
        status, out, _ = support.run("show", path, "-g", "pcomm", "--format", "json")
        self.assertEqual(status, 0)
        self.assertIn("made-{N}", out)

    def test_a_directory_that_cannot_be_written_is_enough_to_read(self):
        folder = self.path("folder")
        os.mkdir(folder)
        path = os.path.join(folder, "r.db")
        self.start("write", path, 10).wait()
        os.chmod(folder, 0o555)
        self.addCleanup(os.chmod, folder, 0o755)
        self.assertEqual(support.run("show", path)[::2], (0, ""))
        self.assertEqual(os.listdir(folder), ["r.db"])


class Broken(HistoryCase):
    @unittest.skipUnless(support.is_root(), "needs root to mount a small disk")
    def test_a_full_disk_loses_ticks_and_says_so(self):
        disk = self.path("disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        path = os.path.join(disk, "r.db")
        filler = pathlib.Path(disk, "filler")
        filler.write_bytes(b"x" * (1 << 20))
        writer = self.start("write", path, 0)
        support.wait_until(lambda: "failed" in writer.stdout.readline())
        line = support.wait_until(lambda: next((line for line in writer.stdout if "failed" in line), ""))
        self.assertIn("no space is left: free some, or keep less", line)
        filler.unlink()
        support.wait_until(lambda: writer.stdout.readline().strip().isdigit())
        writer.kill()
        writer.wait()
        self.good(path)
        self.assertGreater(ask(path, "SELECT sum(missed) FROM ticks"), 0)
        self.assertIn("no space is left", ask(path, "SELECT details FROM events WHERE kind='lost'"))

    def test_damaged_pages_are_told_and_saved_around(self):
        path, saved = self.path("r.db"), self.path("saved.db")
        self.start("write", path, 400).wait()
        data = bytearray(pathlib.Path(path).read_bytes())
        middle = len(data) // 8192 * 4096
        data[middle:middle + 4096] = b"\x5a" * 4096
        pathlib.Path(path).write_bytes(data)
        status, out, err = support.run("verify", path)
        self.assertEqual(status, 2)
        self.assertIn("is damaged in", err)
        self.assertIn("damaged", out)
        status, out, err = support.run("verify", path, "--repair", saved)
        self.assertEqual((status, err), (0, ""))
        self.good(saved)
        self.assertGreater(ask(saved, "SELECT count(*) FROM ticks"), 100)

    def test_other_files_are_checked_too(self):
        capture = self.path("a.tscope")
        self.assertEqual(support.run("capture", "-p", os.getpid(), "-o", capture)[0], 0)
        self.good(capture)
        data = bytearray(pathlib.Path(capture).read_bytes())
        data[len(data) // 2] ^= 1
        pathlib.Path(capture).write_bytes(data)
        self.assertEqual(support.run("verify", capture)[0], 2)
        self.assertEqual(support.run("verify", capture, "--repair", self.path("b"))[0], 2)
        self.assertEqual(support.run("verify")[0], 2)


@unittest.skipUnless(DAYS, "make stress plays many days")
class Long(HistoryCase):
    def test_many_days_stay_below_the_cap(self):
        path, cap = self.path("r.db"), 32 << 20
        done = subprocess.run([DRIVER, "days", path, str(DAYS), str(cap)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLessEqual(os.path.getsize(path), cap)
        newest = ask(path, "SELECT max(ts_ns) FROM ticks")
        day = 24 * 3600 * 10**9
        self.assertLess(newest - ask(path, "SELECT min(ts_ns) FROM ticks"), 1.1 * day)
        self.assertGreater(newest - ask(path, "SELECT min(ts_ns) FROM process_minutes"), 6.9 * day)
        self.assertLess(newest - ask(path, "SELECT min(ts_ns) FROM process_minutes"), 7.2 * day)
        self.assertGreater(newest - ask(path, "SELECT min(ts_ns) FROM host_minutes"), 6.9 * day)
        self.good(path)


if __name__ == "__main__":
    unittest.main()
