#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The screen of `top`, in a terminal: what it shows, what keys do, and how it leaves the terminal."""
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import unittest

import screen
import support

ROOTS = support.ROOT / "tests/data/roots"
EXPECTED = support.ROOT / "tests/data/screens"
KEYS = re.findall(r'^KEY\((\w+),\s*"((?:[^"\\]|\\.)*)"', (support.ROOT / "src/tui/screen/keys.def").read_text(), re.M)
TABLE = r"^ +(PID|TID|TASKS) .*(COMMAND|NAME)$"
TITLES = r"^ +(PID|TID|TASKS|ID) "  # of any view, however little of it fits
BEGIN = 1700000040  # of what the driver writes: 50 processes, every 5 s


class Top(support.TestCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("a.tscope")
        status, _, err = support.run("capture", "-q", "--root", ROOTS / "debian-6.12", "-o", self.file)
        self.assertEqual(status, 0, err)

    def top(self, *words, prefix=(), **options):
        return screen.Program(support.TASKSCOPE, "top", *words, cwd=self.folder.name, prefix=prefix,
                              env={"XDG_CONFIG_HOME": self.path("config")}, **options)

    def sleeper(self, *words):
        process = subprocess.Popen(["sleep", *(words or ["1000"])])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def store(self):
        store = self.path("r.db")
        subprocess.run([os.environ["TASKSCOPE_HISTORY_DRIVER"], "write", store, "20"], check=True,
                       stdout=subprocess.DEVNULL)
        return store

    def check_screen(self, name, program):
        path = EXPECTED / name
        program.settle()
        if os.environ.get("TASKSCOPE_ACCEPT") == "1":
            EXPECTED.mkdir(exist_ok=True)
            path.write_text(program.text() + "\n")
        self.assertEqual(program.text() + "\n", path.read_text(), name)

    def test_a_prompt_has_a_line_of_its_own_afterwards(self):
        with self.top("a.tscope", term="linux") as top:
            top.wait_for("^F1Help")
            top.send("q")
            self.assertEqual(top.end(), 0)
            self.assertEqual(top.screen.lines()[-1], "")
            self.assertIn("COMMAND", top.text())

    def test_of_a_cgroup_what_limits_it_is_shown_first(self):
        with self.top("a.tscope", "-p", "150", columns=100, rows=120) as top:
            top.wait_for(TABLE)
            top.send("Enter")
            top.wait_for(r"^Cgroup /workload.slice:\n(  \S.*\n)*  cpu.pressure some avg10 +0.13 %\n(  \S.*\n)*"
                         r"  and \d\d more \(v shows them\)$")
            self.assertIsNone(re.search("memory.max|nr_throttled|memory.pressure", top.text()))
            top.send("v")
            top.wait_for("^  memory.max +max$")
            top.wait_for("^  memory.pressure some avg10 +0")
            self.assertNotIn("shows them", top.text())
            top.send("v")
            top.wait_for(r"^  and \d\d more \(v shows them\)$")

    def test_screens_are_as_expected_at_any_size(self):
        for columns, rows in [(80, 24), (120, 40), (40, 12), (20, 5)]:
            with self.subTest(columns=columns, rows=rows), \
                    self.top("a.tscope", columns=columns, rows=rows) as top:
                top.wait_for(lambda lines: lines[-1].startswith("F1Help"))
                self.check_screen(f"file-{columns}x{rows}.txt", top)
                for line in top.screen.lines():
                    self.assertLessEqual(len(line), columns)

    def test_views_are_as_expected(self):
        views = [("2", "threads", r"^ +TID"), ("3", "cgroups", "^ +TASKS"), ("4", "users", "^ +TASKS"),
                 ("t", "tree", "Z   sh$"), ("?", "keys", "^Keys"), ("F2", "columns", "^Columns"),
                 ("F6", "sort", "^Sort by"), ("Enter", "detail", "^Threads:")]
        for key, name, shows in views:
            with self.subTest(name=name), self.top("a.tscope", "--no-mouse") as top:
                top.wait_for(TABLE)
                top.send(key)
                top.wait_for(shows)
                self.check_screen(f"{name}.txt", top)

    def test_screens_of_a_recording_are_as_expected(self):
        self.store()
        no_activity = "no activity was recorded.*\n.*\n.*Where they stood.*\n.*no activity"
        for columns, rows, keys, shows, name in [
                (80, 24, "", "made", "80x24"), (120, 40, "", "made", "120x40"), (40, 12, "", "made", "40x12"),
                (20, 5, "", "made", "20x5"), (80, 24, "2", "^ +TID ", "threads"), (100, 50, "\r", no_activity, "detail"),
                (80, 24, "v", "22:15:00  spawn", "events")]:
            with self.subTest(name=name), \
                    self.top("--store", "r.db", "--history", "1h", columns=columns, rows=rows) as top:
                top.wait_for(lambda lines: lines[-1].startswith("F1Help"))
                top.send("R")
                top.wait_for("^r.db .*22:15:35")
                top.type(keys)
                top.wait_for(shows)
                self.check_screen(f"recording-{name}.txt", top)

    def test_a_long_path_leaves_room_for_the_time(self):
        folder = pathlib.Path(self.path("d" * 90))
        folder.mkdir()
        os.rename(self.store(), folder / "r.db")
        for columns in [40, 80]:
            with self.subTest(columns=columns), self.top("--store", folder / "r.db", columns=columns) as top:
                top.wait_for(r"^/\S*…\S*/r\.db .*\b22:15:35 .*recording")

    def test_figures_of_a_recording_are_those_of_the_same_moment_as_json(self):
        store = self.store()
        status, out, err = support.run("top", "--json", "--store", store, "--at", "22:14:35", "-m",
                                       "run_time_ns,rss_bytes,minflt", "-s", "minflt", "-n", "10")
        self.assertEqual(status, 0, err)
        moment = json.loads(out)
        status, out, err = support.run("show", store + "@22:14:35", "--format", "json", "-g", "process", "-m", "rss_bytes")
        self.assertEqual(status, 0, err)
        shown = {group["key"]: group["metrics"] for group in json.loads(out)["groups"]}
        with self.top("--store", store, "--at", "22:14:35", "-m", "run_time_ns,rss_bytes,minflt", "-s", "minflt",
                      columns=120) as top:
            top.wait_for("22:14:35")
            top.settle()
            lines = {line.split()[0]: line.split() for line in top.screen.lines() if line.lstrip()[:4].isdigit()}
        self.assertEqual(len(moment["groups"]), 10)
        for group in moment["groups"]:
            pid = re.search(r"\[(\d+)\]$", group["key"])[1]
            metrics = {name: value["value"] for name, value in group["metrics"].items()}
            self.assertEqual(metrics["rss_bytes"], shown[group["key"]]["rss_bytes"]["value"])
            row = " ".join(lines[pid])
            self.assertIn(f" {metrics['rss_bytes'] / 2**20:#.3g} MiB ", row)
            self.assertIn(f" {metrics['run_time_ns'] / 1e7:#.3g} % " if metrics["run_time_ns"] else " 0 % ", row)

    def test_figures_are_those_of_show(self):
        status, out, _ = support.run("show", self.file, "-g", "process", "-m", "minflt,rss_bytes", "-s", "minflt",
                                     "--columns", "group")
        rows = [line.split() for line in out.splitlines()]
        with self.top("a.tscope", "-m", "minflt,rss_bytes", "-s", "minflt") as top:
            top.wait_for(TABLE)
            top.settle()
            shown = [line.split() for line in top.screen.lines()[5:10]]
        for line, row in zip(shown, rows[1:]):
            pid = re.search(r"\[(\d+)\]$", row[0])[1]
            self.assertEqual(line[0], pid)
            figures = row[1:]
            self.assertEqual(line[2:2 + len(figures)], figures)

    def test_every_key_is_pressed_and_the_screen_lives_on(self):
        sleeper = self.sleeper()
        for words in [("a.tscope",), ("--store", self.store(), "--history", "1h"),
                      ("-i", "200ms", "-p", sleeper.pid, "--read-only")]:
            with self.subTest(words=words), self.top(*words) as top:
                top.wait_for(TABLE)
                for name, keys in KEYS:
                    for key in keys.encode().decode("unicode_escape").split():
                        if name == "QUIT":
                            continue
                        top.send(key, "Escape", "Escape", "?")
                        top.wait_for("^Keys ")
                        top.send("Escape")
                        top.wait_for(TITLES)
                top.send("q")
                self.assertEqual(top.end(), 0)
                self.assertTrue(top.is_restored())

    def test_every_key_is_harmless_at_any_size(self):
        for columns, rows in [(20, 5), (200, 60)]:
            with self.subTest(columns=columns, rows=rows), self.top("a.tscope") as top:
                top.wait_for(TABLE)
                top.resize(columns, rows)
                for name, keys in KEYS:
                    for key in keys.encode().decode("unicode_escape").split():
                        if name != "QUIT":
                            top.send(key, "Escape", "Escape")
                            top.read()
                top.resize(80, 24)
                top.send("?")
                top.wait_for("^Keys ")
                top.send("Escape", "q")
                self.assertEqual(top.end(), 0)
                self.assertTrue(top.is_restored())

    def test_sorting_goes_both_ways_by_any_column(self):
        def numbers(top):
            return [int(line.split()[2]) for line in top.screen.lines()[5:-1] if line.split()[2:3] and
                    line.split()[2].isdigit()]

        with self.top("a.tscope", "-m", "nr_threads,open_fds,rss_bytes", "-s", "nr_threads") as top:
            top.wait_for("nr_threads▼")
            top.settle()
            down = numbers(top)
            self.assertEqual(down, sorted(down, reverse=True))
            top.send("I")
            top.wait_for(r"nr_threads▲")
            top.settle()
            up = numbers(top)
            self.assertEqual(up, sorted(up))
            top.send(">")
            top.wait_for("open_fds▼")
            top.send("M")
            top.wait_for("rss_bytes▼")
            top.send("F6", "Down", "Enter")
            top.wait_for("open_fds▼")
            row = next(i for i, line in enumerate(top.screen.lines()) if " PID " in line)

            def click(title):
                column = top.screen.lines()[row].index(title)
                top.type(f"\x1b[<0;{column + 2};{row + 1}M\x1b[<0;{column + 2};{row + 1}m")

            click("nr_threads")
            top.wait_for("nr_threads▼")
            click("nr_threads")
            top.wait_for("nr_threads▲")
            click("PID")
            top.wait_for("^ +PID▲")
            top.settle()
            pids = [int(line.split()[0]) for line in top.screen.lines()[row + 1:-1] if line]
            self.assertEqual(pids, sorted(pids))
            click("COMMAND")
            top.wait_for("COMMAND▲$")
            top.send("I")
            top.wait_for("COMMAND▼$")
            top.send("F6", "End", "Enter")
            top.wait_for("^ +PID▲")
            top.send(">")
            top.wait_for("nr_threads▼")
            click("PID")
            top.wait_for("^ +PID▲")
        # It is kept, as what was chosen with keys is.
        with self.top("a.tscope", "-m", "state") as top:
            top.wait_for("^ +PID▲")
            click("state")
            top.wait_for("^state are words")

    def test_the_wheel_moves_the_mark_and_a_click_sets_it(self):
        with self.top("a.tscope") as top:
            top.wait_for(TABLE)
            top.settle()
            row = next(i for i, line in enumerate(top.screen.lines()) if " PID " in line)
            pids = [line.split()[0] for line in top.screen.lines()[row + 1:row + 6]]

            def shows(pid):
                top.send("Enter")
                top.wait_for(rf"  process {pid}(,|$)")
                top.send("Escape")
                top.wait_for(TABLE)

            shows(pids[0])
            for wheel, at in [(65, 1), (65, 2), (64, 1)]:
                top.type(f"\x1b[<{wheel};5;8M")
                shows(pids[at])
            top.type(f"\x1b[<0;5;{row + 5}M\x1b[<0;5;{row + 5}m")
            shows(pids[3])
            top.send("?")
            top.wait_for("^Keys ")
            top.type("\x1b[<65;5;8M")
            top.wait_for(lambda lines: not any(line.startswith("Keys ") for line in lines))
            top.type("\x1b[<64;5;8M")
            top.wait_for("^Keys ")

    def test_a_host_with_many_threads_is_shown(self):
        wanted = min(30000, int(pathlib.Path("/proc/sys/kernel/pid_max").read_text()) // 2)
        crowd = subprocess.Popen([os.environ["TASKSCOPE_MANY_THREADS"], str(wanted)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        with crowd, self.top("-p", f"{crowd.pid},{os.getpid()}", "-i", "500ms", rows=260) as top:
            crowd.stdin.write(b"\n")
            crowd.stdin.flush()
            count = int(crowd.stdout.readline())
            if count < 10000:
                crowd.stdin.close()
                self.skipTest("this host has no room for 10,000 threads")
            top.wait_for(rf"  threads {count + 2}: ")
            top.wait_for(rf"^ +{crowd.pid} .* S timer x{count + 1} |^ +{crowd.pid} .* S \S* ?x{count + 1} ")
            top.send("2")
            top.wait_for(r"^ +TID ")
            top.send("End")
            top.wait_for(r"^ +\d+ .* many_threads$")
            top.send("Home", "Enter")
            top.wait_for(rf"  process {crowd.pid}, began")
            top.wait_for("^  and %d more$" % (count + 1 - 200))
            top.wait_for("^  open files  ")
            top.send("Escape", "1")
            top.wait_for(r"^ +PID ")
            crowd.stdin.close()
            crowd.wait()
            top.wait_for("^processes 1 ")
            top.send("q")
            self.assertEqual(top.end(), 0)

    def test_a_filter_is_typed_applied_and_kept(self):
        with self.top("a.tscope") as top:
            top.wait_for(TABLE)
            top.send("f")
            top.type("pcomm=workload")
            top.wait_for("filter: pcomm=workload")
            top.send("Enter")
            top.wait_for(r"filter pcomm=workload$")
            top.wait_for(lambda lines: all("workload" in line for line in lines[5:-1] if line))
            top.send("f")
            top.type("\x15pcom=x\r")
            top.wait_for("has no field 'pcom'")
            top.wait_for("filter pcomm=workload")
            top.send("f")
            top.type("\x15\r")
            top.wait_for(lambda lines: "filter" not in lines[3])

    def test_a_name_is_found(self):
        with self.top("a.tscope", "-g", "thread", "--no-mouse") as top:
            top.wait_for(TABLE)
            top.send("/")
            top.type("sleep")
            top.wait_for("find: sleep")
            top.send("Enter", "Enter")
            top.wait_for("^sleep  process")

    def test_columns_are_chosen_and_kept_for_the_next_time(self):
        with self.top("a.tscope", columns=120) as top:
            top.wait_for("wait_time_ns")
            top.send("F2")
            top.wait_for(r"\[x\] run_time_ns")
            top.send("Down", "Space")
            top.wait_for(r"\[ \] wait_time_ns")
            top.send("Up", ">", "Escape")
            top.wait_for(r"rss_bytes  +run_time_ns▼")
            top.send("q")
            self.assertEqual(top.end(), 0)
        self.assertEqual(pathlib.Path(self.path("config/taskscope/top.conf")).read_text().splitlines()[1],
                         "metrics = rss_bytes,run_time_ns,nr_threads,read_bytes,write_bytes")
        with self.top("a.tscope", columns=120) as top:
            top.wait_for(r"rss_bytes  +run_time_ns▼")
            self.assertNotIn("wait_time_ns", top.text())

    def test_other_keys_are_chosen_and_lines_of_the_config_stay(self):
        config = pathlib.Path(self.path("config/taskscope/top.conf"))
        config.parent.mkdir(parents=True)
        config.write_text("# mine\nkeys = tree=x,F8 help=Ctrl-T\nno-mouse = yes\nsort = rss_bytes:desc\n")
        config.chmod(0o600)
        with self.top("a.tscope") as top:
            top.wait_for("rss_bytes▼")
            top.send("Ctrl-T")
            top.wait_for(r"^  x F8 +tree +processes below")
            top.send("Escape")
            top.wait_for(TABLE)
            top.send("x")
            top.wait_for("Z   sh$")
            top.wait_for(lambda lines: lines[-1].startswith("Ctrl-THelp"))
            top.send("q")
            self.assertEqual(top.end(), 0)
        lines = config.read_text().splitlines()
        self.assertEqual(lines[-3:], ["# mine", "keys = tree=x,F8 help=Ctrl-T", "no-mouse = yes"])
        self.assertIn("forest = yes", lines)
        for keys, says in [("tree", "NAME=KEY"), ("tres=x", "no key has the name 'tres'"), ("tree=Ctrl", "is no key")]:
            with self.subTest(keys=keys), self.top("a.tscope", "--keys", keys) as top:
                self.assertEqual(top.end(), 2)
                self.assertIn(says, " ".join(top.process.stderr.read().decode().split()))

    def test_it_goes_on_live_pauses_and_follows(self):
        burner = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        self.addCleanup(burner.wait)
        self.addCleanup(burner.kill)
        with self.top("-i", "100ms") as top:
            top.wait_for("%cpu▼ +%wait")
            first = top.screen.lines()[0]
            top.wait_for(lambda lines: lines[0] != first)
            top.send("Space")
            top.wait_for("PAUSED")
            top.send("Space")
            top.wait_for("  live")
            top.send("/")
            top.type("while :;")
            top.send("Enter", "F")
            top.wait_for("following")

    def test_what_was_not_shown_is_read_when_it_is_asked_for(self):
        sleeper = self.sleeper()
        with self.top("-i", "100ms", "-p", sleeper.pid, "-m", "run_time_ns", "-g", "thread", rows=60) as top:
            top.wait_for("%cpu▼")
            top.send("f")
            top.type("nice>19")
            top.wait_for(lambda lines: not any("sleep" in line for line in lines[5:]))
            top.send("Ctrl-U")
            top.type("nice<20")
            top.wait_for(rf"^ *{sleeper.pid} .*sleep")
        with self.top("-i", "100ms", "-p", sleeper.pid, "-m", "run_time_ns", rows=200) as top:
            top.wait_for("%cpu▼")
            top.send("Enter")
            top.wait_for("policy SCHED_OTHER")

    def test_a_signal_is_sent_to_the_very_process(self):
        sleeper = self.sleeper("4711")
        with self.top("-i", "100ms", "-p", sleeper.pid) as top:
            top.wait_for("sleep 4711")
            top.send("F9")
            top.wait_for("^15 SIGTERM")
            top.send("Enter")
            top.wait_for(f"send SIGTERM to process {sleeper.pid}")
            top.send("n")
            top.wait_for("nothing was sent")
            self.assertIsNone(sleeper.poll())
            top.send("F9", "Enter")
            top.wait_for("y or n")
            top.send("y")
            self.assertEqual(sleeper.wait(timeout=support.HANG), -signal.SIGTERM)

    def test_a_process_that_ended_gets_no_signal(self):
        stays, goes = self.sleeper("4711"), self.sleeper("4712")
        with self.top("-i", "100ms", "-p", f"{stays.pid},{goes.pid}", "-s", "group") as top:
            top.wait_for("sleep 4712")
            top.send("Space")
            top.wait_for("PAUSED")
            goes.kill()
            goes.wait()
            top.send("/")
            top.type("4712")
            top.send("Enter", "F9")
            top.wait_for(f"process {goes.pid} has ended")

    @unittest.skipUnless(support.has_namespaces(), "needs a PID namespace")
    def test_a_process_that_took_the_number_of_another_gets_no_signal(self):
        # Starts a sleeper and top; when told so, gives the sleeper's number to another one.
        script = """import os, subprocess, sys
first = subprocess.Popen(["sleep", "4711"])
top = subprocess.Popen(sys.argv[2:] + ["-p", str(first.pid)])
open(sys.argv[1] + "/go").read()
first.kill()
first.wait()
open("/proc/sys/kernel/ns_last_pid", "w").write(str(first.pid - 1))
second = subprocess.Popen(["sleep", "4712"])
open(sys.argv[1] + "/done", "w").write(f"{first.pid} {second.pid}")
top.wait()
sys.exit(second.poll() is not None)
"""
        os.mkfifo(self.path("go"))
        program = screen.Program(support.TASKSCOPE, "top", "-i", "100ms", env={"XDG_CONFIG_HOME": self.path("config")},
                                 prefix=[*support.NAMESPACE, "python3", "-c", script, self.folder.name])
        with program as top:
            top.wait_for("sleep 4711")
            top.send("Space")
            top.wait_for("PAUSED")
            pathlib.Path(self.path("go")).write_text("")
            first, second = support.wait_until(lambda: os.path.exists(self.path("done")) and
                                               pathlib.Path(self.path("done")).read_text().split())
            self.assertEqual(first, second)
            top.send("F9")
            top.wait_for("has ended; its number is another one's now")
            top.send("q")
            self.assertEqual(top.end(), 0)

    def test_read_only_sends_nothing(self):
        with self.top("-i", "100ms", "-p", self.sleeper().pid, "--read-only") as top:
            top.wait_for(TABLE)
            top.send("F9")
            top.wait_for("--read-only: nothing is signalled")

    def test_a_recording_is_walked_through(self):
        store = self.store()
        with contextlib.closing(sqlite3.connect(store)) as connection, connection:
            connection.execute(
                "INSERT INTO anomalies(rule, severity, begin_ns, end_ns, pid, start_time_ns, comm, value, peak, "
                "threshold, details) VALUES('runaway_cpu', 'high', ?, ?, 1000, 1000000000, 'made-0', 97, 99, 90, 'x')",
                ((BEGIN + 33) * 10**9, (BEGIN + 47) * 10**9))
        with self.top("--store", store, "--history", "1h", columns=100) as top:
            top.wait_for("22:14:00 .*recording")
            for key, shows in [("]", "22:14:05"), ("[", "22:14:00"), ("e", "22:14:35"), ("]", "22:14:40"),
                               ("E", "22:14:35"), ("R", "22:15:35"), ("{", "22:14:35"), ("}", "22:15:35"),
                               ("(", "22:14:00"), ("r", "22:14:00")]:
                top.send(key)
                top.wait_for(f"^r?.*{shows}")
            top.send("e")
            top.wait_for("1 anomaly: runaway_cpu made-0")
            top.send("b")
            top.type("22:15:02\r")
            top.wait_for("22:15:00 .*between ticks")
            top.send("r")
            top.wait_for("22:14:00")
            top.send("[")
            top.wait_for("this is the first moment")
        with self.top("--store", store, "--history", "1h", "-i", "100ms", columns=100) as top:
            top.wait_for("22:14:00")
            top.send("Space")  # plays
            top.wait_for("22:15:35")
            top.wait_for("no more moments")

    def test_the_terminal_is_restored_whatever_ends_it(self):
        for number, status in [(signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGHUP, 0),
                               (signal.SIGSEGV, -signal.SIGSEGV), (signal.SIGABRT, -signal.SIGABRT)]:
            with self.subTest(number=number), self.top("a.tscope") as top:
                top.wait_for(TABLE)
                self.assertFalse(top.is_restored())
                top.process.send_signal(number)
                self.assertEqual(top.end(), status)
                self.assertTrue(top.is_restored())

    def test_a_recording_that_goes_away_under_it_does_no_harm(self):
        def truncate(store):
            os.truncate(store, os.stat(store).st_size // 3 // 4096 * 4096)

        def garble(store):
            with open(store, "r+b") as file:
                file.seek(4096)
                file.write(b"\xa5" * (os.stat(store).st_size - 4096))

        def replace(store):
            os.unlink(store)
            pathlib.Path(store).write_bytes(b"not a recording")

        for harm in [os.unlink, truncate, garble, replace]:
            store = self.store()
            with self.subTest(harm=harm.__name__), self.top("--store", store, "--history", "1h") as top:
                top.wait_for(TABLE)
                harm(store)
                top.send("]", "]", "}", "{", "[", "e", "End", "Enter", "Escape")
                top.send("?")
                top.wait_for("^Keys ")
                top.send("Escape")
                top.wait_for(TABLE)
                top.send("q")
                self.assertEqual(top.end(), 0)
                self.assertTrue(top.is_restored())
            pathlib.Path(store).unlink(missing_ok=True)

    def test_terminals_of_many_kinds_show_the_table(self):
        for term in ["xterm", "xterm-256color", "linux", "tmux-256color", "screen", "vt100"]:
            if subprocess.run(["infocmp", term], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                continue
            with self.subTest(term=term), self.top("a.tscope", term=term) as top:
                top.wait_for(TABLE)
                top.send("q")
                self.assertEqual(top.end(), 0)
                self.assertTrue(top.is_restored())

    def test_it_can_be_stopped_and_continued(self):
        with self.top("a.tscope") as top:
            top.wait_for(TABLE)
            os.write(top.master, b"\x1a")
            support.wait_until(lambda: pathlib.Path(f"/proc/{top.process.pid}/stat").read_text()
                               .rpartition(")")[2].split()[0] == "T")
            while top.read():
                pass
            self.assertTrue(top.is_restored())
            top.screen.resize(100, 30)
            top.set_size()
            top.process.send_signal(signal.SIGCONT)
            top.wait_for(lambda lines: lines[29].startswith("F1Help"))
            top.wait_for(TABLE)

    def test_any_size_is_painted(self):
        with self.top("a.tscope") as top:
            top.wait_for(TABLE)
            for columns, rows in [(20, 5), (200, 60), (1, 1), (33, 7), (500, 3), (80, 24)]:
                top.resize(columns, rows)
                top.wait_for(lambda lines: any(lines) or rows < 3)
            top.wait_for(lambda lines: lines[23].startswith("F1Help"))

    def test_a_terminal_without_a_screen_is_told_what_to_do(self):
        for term in ["dumb", "", "no-such-terminal"]:
            with self.subTest(term=term), self.top("a.tscope", term=term) as top:
                self.assertEqual(top.end(), 2)
                self.assertRegex(top.process.stderr.read().decode(), "give\\s+--json")
        self.refuse("top", self.file, says="needs a terminal")

    def test_names_of_strangers_do_not_reach_the_terminal(self):
        name = "\x1b[2Jevil\x07\u202e"
        process = subprocess.Popen(["python3", "-c", "open('/proc/self/comm', 'wb').write(bytes.fromhex('%s'))\n"
                                    "print(flush=True)\nimport time\ntime.sleep(1000)" % name.encode().hex()[:30]],
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        with self.top("-i", "100ms", "-p", process.pid, "-g", "thread", "-m", "run_time_ns", columns=120) as top:
            top.wait_for(r"\\x1b\[2Jevi")
            self.assertNotIn(b"\x1b[2Jevil", top.raw)

    def test_a_wide_name_is_cut_in_its_middle(self):
        sleeper = subprocess.Popen(["sh", "-c", "exec sleep 1000", "界" * 90 + "end"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        burner = subprocess.Popen(["sh", "-c", "while :; do :; done", "界" * 90 + "end"])
        self.addCleanup(burner.wait)
        self.addCleanup(burner.kill)
        with self.top("-i", "100ms", "-p", burner.pid) as top:
            line = top.wait_for(r"^ +%d .*sh -c.*…界*end$" % burner.pid)[0]
            self.assertLessEqual(sum(2 if c == "界" else 1 for c in line), 80)

    @unittest.skipUnless(support.has_namespaces(), "needs a PID namespace")
    def test_random_keys_and_sizes_do_no_harm(self):
        count = int(os.environ.get("TASKSCOPE_RANDOM_KEYS", "300"))
        seed = int(os.environ.get("TASKSCOPE_SEED", "0")) or random.randrange(10**9)
        choice = random.Random(seed)
        names = [key for _, keys in KEYS for key in keys.encode().decode("unicode_escape").split()
                 if key not in ("F10", "q")] + list("abcxyz019=*>%,:'\"") + ["\x7f", "\x15", "界", "\x1b[<64;5;5M"]
        words = [support.TASKSCOPE, "top", "-i", "100ms"]
        inside = ["sh", "-c", "sleep 1000 & sleep 1000 & exec \"$@\"", "sh"]
        program = screen.Program(*words, prefix=[*support.NAMESPACE, *inside],
                                 env={"XDG_CONFIG_HOME": self.path("config")})
        with self.subTest(seed=seed), program as top:
            top.wait_for(TABLE)
            for _ in range(count):
                if choice.random() < 0.05:
                    top.resize(choice.randrange(1, 150), choice.randrange(1, 50))
                top.send(choice.choice(names))
                top.read()
                self.assertIsNone(top.process.poll(), f"seed {seed}: {top.text()}")
            top.resize(80, 24)
            top.send("Escape", "Escape", "Escape", "?")
            top.wait_for("^Keys ")
            top.send("Escape", "q")
            status = top.end()
            self.assertEqual(status, 0, f"seed {seed}: {top.process.stderr.read().decode()}")
            self.assertTrue(top.is_restored())


if __name__ == "__main__":
    unittest.main()
