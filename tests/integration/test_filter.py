#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filters and names of processes: the same on this host and in every kind of file."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from kernel import WAYS
from recorder import Recorder
from support import HANG, TASKSCOPE, TestCase, comm_of, main, run, wait_for_idle, wait_until

# A process that starts another of its name; both wait for the end of their input.
MASTER = 'exec 3<&0; "$0" -c "read x" <&3 3<&- & read x'


class Named:
    """Processes with a name that nothing else on the host has, inside a `with`."""

    def __init__(self, test, kind, script):
        self.name = f"{kind}{os.getpid()}"[:15]
        self.program = test.path(self.name)
        if not os.path.exists(self.program):
            shutil.copy(shutil.which("dash") or shutil.which("sh"), self.program)
        self.script = script

    def __enter__(self):
        self.process = subprocess.Popen([self.program, "-c", self.script, self.program],
                                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.pid = self.process.pid
        wait_until(lambda: comm_of(self.pid) == self.name)
        return self

    def children(self):
        return list(map(int, pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()))

    def child(self):
        """The only child, once it has its name."""
        wait_until(lambda: self.children() and comm_of(self.children()[0]) == self.name)
        return self.children()[0]

    def __exit__(self, *_):
        self.process.kill()
        self.process.stdin.close()
        self.process.wait(timeout=HANG)


class Filter(TestCase):
    def tgids(self, *words):
        """The processes that `show` shows, and what it says of the filter."""
        out = json.loads(self.accept("show", *words, "-g", "thread", "--format", "json"))
        return sorted({thread["tgid"] for thread in out["threads"]}), out.get("filter")

    def test_a_file_is_filtered_as_this_host_is(self):
        file, ctprof = self.path("all.tscope"), self.path("all.ctprof.zst")
        with Named(self, "two", MASTER) as master:
            both = sorted([master.pid, master.child()])
            wait_for_idle(*both)
            self.accept("capture", "-q", "-o", file)
            self.accept("capture", "-q", "-o", ctprof)
            for words in (["-p", master.name], ["--filter", f"pcomm={master.name}"],
                          ["-p", f"{master.name[:-1]}?"], ["--filter", f"tree={master.pid}"],
                          ["-p", master.name, "--filter", "state=S comm!=nothing"]):
                for source in ([], [file], [ctprof]):
                    if source == [ctprof] and "tree" in words[-1]:
                        continue  # it has no place for parents
                    found, report = self.tgids(*source, *words)
                    self.assertEqual(found, both, (source, words))
                    if source:
                        self.assertEqual(report["left"], 2)
            found, _ = self.tgids(file, "-p", master.pid)
            self.assertEqual(found, [master.pid])
            found, _ = self.tgids(file, "--filter", f"ppid={master.pid}")
            self.assertEqual(found, [master.child()])
            user = os.geteuid()
            self.assertEqual(self.tgids(file, "-p", master.name, "-u", user)[0], both)
            self.assertEqual(self.tgids(file, "-p", master.name, "-u", user + 1)[0], [])
            self.assertEqual(self.tgids("-p", master.name, "-u", user + 1)[0], [])

    def test_a_cgroup_of_a_file_is_all_below_it(self):
        file = self.path("all.tscope")
        self.accept("capture", "-q", "-o", file)
        everything = json.loads(self.accept("show", file, "-g", "thread", "--format", "json"))["threads"]
        below = {}
        for thread in everything:
            path = thread.get("cgroup") or ""
            for end in [i for i, letter in enumerate(path) if letter == "/" and i] + [len(path)]:
                below.setdefault(path[:end] or "/", set()).add(thread["tgid"])
        for path, tgids in sorted(below.items())[:5]:
            if path.startswith("/") and path != "/" and not path.startswith("/.."):
                self.assertEqual(self.tgids(file, "-c", path)[0], sorted(tgids), path)

    def test_a_capture_writes_what_matches_and_says_so(self):
        file = self.path("some.tscope")
        with Named(self, "cap", MASTER) as master:
            both = sorted([master.pid, master.child()])
            status, _, err = run("capture", "-o", file, "--filter", f"process={master.name}")
            self.assertEqual(status, 0, err)
            self.assertIn(f"only tasks that match process={master.name}: 2 of", " ".join(err.split()))
        out = json.loads(self.accept("show", file, "-g", "process", "--format", "json"))
        self.assertEqual(out["host"]["filter"], f"process={master.name}")
        self.assertEqual(len(out["groups"]), 2)
        self.assertEqual(self.tgids(file)[0], both)

    @unittest.skipIf(WAYS == ["procfs"], "needs kernel events")
    def test_runs_are_filtered_in_both_forms(self):
        files = [self.path("run.tscope"), self.path("run.jsonl")]
        with Named(self, "once", "read x") as named:
            self.accept("run", "-q", "-o", files[0], "-o", files[1], "--", "sh", "-c",
                        f"'{named.program}' -c 'read x; exit 3'; sleep 0.01; exit 0")
        for file in files:
            out = json.loads(self.accept("show", file, "--filter", f"pcomm={named.name} exit_code=3",
                                         "--format", "json"))
            self.assertEqual([group["key"] for group in out["groups"]], [named.name])
            self.assertIn("run and attach do not record it",
                          " ".join(self.accept("show", file, "-c", "/").split()))

    def test_an_instant_of_a_recording_is_filtered(self):
        with Named(self, "rec", "read x") as named, Recorder(self, "--interval", "200ms") as recorder:
            recorder.next_tick(2)
            found, report = self.tgids(f"{recorder.store}@latest", "-p", named.name)
            self.assertEqual(found, [named.pid])
            self.assertEqual(report["left"], 1)

    def test_what_computes_is_found_by_its_share_of_a_core(self):
        with Named(self, "busy", "while :; do :; done") as busy, Named(self, "idle", "read x") as idle:
            wait_for_idle(idle.pid)

            def shown():
                found, _ = self.tgids("-d", "200ms", "--filter", f"cpu>0 process={busy.pid},{idle.pid}")
                return found
            self.assertEqual(wait_until(shown), [busy.pid])
            status, out, err = run("compare", "-d", "200ms", "-g", "process", "-m", "run_time_ns", "--filter",
                                   f"process={busy.name}", "--format", "json")
            self.assertEqual(status, 0, err)
            answer = json.loads(out)
            self.assertEqual([side["tasks"] for side in answer["before"] + answer["after"]], [1, 1])
            self.assertIn(f"{busy.name}[{busy.pid}]", [group["key"] for group in answer["groups"]])
        self.refuse("show", "--filter", "cpu>5", says="interval")

    def test_why_takes_a_name_of_one_process(self):
        with Named(self, "one", "read x") as named:
            wait_for_idle(named.pid)
            for words in ([named.name], ["-p", named.name], ["--filter", f"pcomm={named.name}"]):
                answer = json.loads(self.accept("why", *words, "-d", "200ms", "--format", "json"))
                self.assertEqual(answer["pid"], named.pid)

    def test_why_lists_several_processes_and_does_not_guess(self):
        with Named(self, "many", MASTER) as master:
            child = master.child()
            status, out, err = run("why", master.name)
            self.assertEqual((status, out), (2, ""))
            table, sentence = err.rsplit("\n", 2)[0], err.splitlines()[-1]
            self.assertIn(str(master.pid), table)
            self.assertIn(str(child), table)
            self.assertIn(f"{master.pid} started the others", sentence)
            answer = json.loads(self.accept("why", "--filter", f"ppid={master.pid}", "-d", "200ms",
                                            "--format", "json"))
            self.assertEqual(answer["pid"], child)
        self.refuse("why", "nobody's name", says="no process is called")

    def test_what_taskscope_was_started_from_never_matches(self):
        shell = Named(self, "own", "")
        done = subprocess.run([shell.program, "-c", f"'{TASKSCOPE}' why '{shell.name}'; exit $?"],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=HANG)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("only taskscope itself, or what it was started from", done.stderr)

    def test_attach_takes_all_of_a_name_and_all_that_match(self):
        with Named(self, "att", MASTER) as master:
            both = sorted([master.pid, master.child()])
            for number, words in enumerate(([master.name], ["--filter", f"pcomm={master.name}"],
                                            ["-u", os.geteuid(), "-p", master.name])):
                file = self.path(f"a{number}.jsonl")
                self.accept("attach", "-q", "-d", "100ms", "-o", file, *words)
                out = json.loads(self.accept("show", file, "-g", "thread", "--format", "json"))
                self.assertEqual(sorted({thread["tgid"] for thread in out["threads"]}), both)
        self.refuse("attach", "--filter", "pid=2147483647", says="no process matches")
        self.refuse("attach", "12", "--filter", "pid=1", says="given by -p")

    def test_scopes_of_programs_that_match(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TASKSCOPE")}
        with subprocess.Popen([os.environ["TASKSCOPE_SCOPES_PROGRAM"], "threads"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as program:
            try:
                program.stdout.readline()
                found = json.loads(self.accept("scopes", "--filter", f"pid={program.pid}", "--format", "json"))
                self.assertEqual([process["pid"] for process in found["processes"]], [program.pid])
            finally:
                program.kill()

    def test_mistakes_are_told_before_anything_is_read(self):
        for verb in (["show"], ["capture", "-o", self.path("x.tscope")], ["compare", "-d", "10s"],
                     ["attach"], ["scopes"], ["why"]):
            self.refuse(*verb, "--filter", "pcom=a", says="did you mean pcomm?")
        self.assertEqual(os.listdir(self.folder.name), [])


if __name__ == "__main__":
    main()
