# SPDX-License-Identifier: MIT
"""Everything that was not seen, or is left out, is counted: each of these counters is made to move.

COUNTERS lists all that a run can tell, and the test that moves each.  One that is in the program and
not in the list fails.
"""
import json
import os
import pathlib
import re
import subprocess
import unittest

import support
from driver import NO_LOSSES, Told
from kernel import WAYS

WORKLOAD = os.environ["TASKSCOPE_BRANCHES"]
SOURCE = support.ROOT / "src"

# name in the output: the file of tests, and a line of the test that moves it
COUNTERS = {
    "losses.events": ("integration/test_losses.py", "def test_a_full_ring"),
    "losses.threads_lost": ("integration/test_losses.py", "def test_a_full_ring"),
    "losses.unnamed_syscalls": ("integration/test_branches.py", "def check_unnamed"),
    "losses.waits": ("integration/test_losses.py", 'told.losses["waits"]'),
    "losses.wakers": ("integration/test_branches.py", 'told.losses["wakers"]'),
    "losses.untracked_tasks": ("integration/test_losses.py", "def test_a_full_table"),
    "losses.strays": ("unit/model/test_tree.c", "an_event_of_a_stranger_is_counted"),
    "losses.lines": ("unit/base/test_lines.c", "lines.lost, 3"),
    "losses.looks": ("unit/session/test_watch.c", "watch.samples.failures.all, 1"),
    "losses.scopes": ("unit/session/test_phase_view.c", "losses.scopes, 1"),
    "losses.scope_waits": ("unit/bpf/test_kernel_scope.c", "losses[TREE_LOSS_SCOPES], 1"),
    "losses.labels": ("unit/model/test_phase.c", "phases.omitted"),
    "missed_ticks": ("unit/session/test_sampler.c", "missed"),
    "unseen_cpu_ns": ("unit/session/test_run_json.c", "unseen_cpu_ns"),
    "unnamed": ("integration/test_losses.py", "def test_calls_without_a_name"),
    "unnamed_ns": ("integration/test_losses.py", "def test_calls_without_a_name"),
    "unnamed_syscalls": ("integration/test_losses.py", "def test_calls_without_a_name"),
    "omitted": ("unit/session/test_run_json.c", r"\"omitted\":3"),
    "threads_omitted": ("unit/session/test_run_json.c", r"threads_omitted\":7"),
    "running_processes_omitted": ("unit/session/test_run_json.c",
                                  r"running_processes_omitted\":7199"),
    "processes_omitted": ("integration/test_gpu.py", "def test_more_users_than_are_listed"),
    "segments_omitted": ("unit/analyze/test_path_find_edges.c", "path->segments_omitted > 0"),
    "threads_folded": ("integration/test_losses.py", "def test_more_threads_than_are_kept"),
    "folded": ("unit/model/test_profile.c", "losses.folded, PROFILE_SAMPLES_MAX"),
    "unnamed_frames": ("unit/model/test_profile.c", "losses.unnamed_frames, 1"),
    "processes_folded": ("integration/test_losses.py", "def test_more_processes_than_are_kept"),
}
COUNTER_NAME = re.compile(r'"((?:\w*_)?(?:omitted|folded|unseen_cpu_ns|missed_ticks|unnamed\w*))"')


class List(unittest.TestCase):
    def test_every_counter_of_the_program_is_in_it(self):
        fields = (SOURCE / "model/tree/run_fields.def").read_text()
        names = {"losses." + name for name in re.findall(r'RUN_FIELD\(LOSSES, "(\w+)"', fields)}
        for path in (SOURCE / "store" / "run").rglob("run_json*.c"):
            names.update(COUNTER_NAME.findall(path.read_text()))
        names.update(name for name in COUNTER_NAME.findall(fields) if f"losses.{name}" not in names)
        self.assertEqual(names, set(COUNTERS))

    def test_every_one_has_its_test(self):
        for name, (path, line) in COUNTERS.items():
            with self.subTest(name=name):
                self.assertIn(line, (support.ROOT / "tests" / path).read_text())


def compiled(folder, text):
    program = pathlib.Path(folder, "program")
    subprocess.run(["cc", "-O2", "-pthread", "-o", program, "-x", "c", "-"], check=True, text=True,
                   input=text)
    return program


CHILDREN = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **arguments)
{
	for (long i = 0; count > 1 && i < atol(arguments[1]); i++) {
		pid_t child = vfork();
		if (child == 0)
			_exit(0);
		waitpid(child, 0, 0);
	}
	return 0;
}
"""

# Threads that live at the same time, then end one after another.
THREADS = """
#include <pthread.h>
#include <stdlib.h>
static void *end(void *unused)
{
	return unused;
}
int main(int count, char **arguments)
{
	for (long i = 0; count > 1 && i < atol(arguments[1]); i++) {
		pthread_t thread;
		pthread_create(&thread, 0, end, 0);
		pthread_join(thread, 0);
	}
	return 0;
}
"""


@unittest.skipUnless("bpf" in WAYS, "needs BPF")
class Bpf(support.TestCase):
    def test_a_full_ring(self):
        """Nothing is read before the end: what fits is told, and all else is counted."""
        children = 30000
        told = Told("bpf", compiled(self.folder.name, CHILDREN), children, options=["-e"])
        self.assertGreater(told.losses["events"], 0)
        self.assertGreater(told.losses["threads"], 0)
        self.assertGreater(told.losses["waits"], 0)
        seen = sum(len(told.events(name)) for name in ("fork", "exec")) + len(told.ends())
        self.assertEqual(seen + told.losses["events"], 2 * (children + 1) + 1)
        self.assertEqual(len(told.events("thread", ended=1)) + told.losses["threads"], children + 1)

    def test_a_full_table(self):
        """Processes that there is no room for are counted; each is told nothing of but its threads."""
        told = Told("bpf", "/bin/sh", "-c", "/bin/true; /bin/true; exit 3", options=["-f"])
        self.assertEqual(told.losses, {**NO_LOSSES, "untracked_tasks": 3})
        self.assertEqual(len(told.events("thread", ended=1)), 3)


@unittest.skipUnless("connector" in WAYS, "needs the process connector")
class Connector(support.TestCase):
    def test_a_full_socket(self):
        """Nothing is read before the end, and no later event tells how many were lost."""
        told = Told("connector", compiled(self.folder.name, CHILDREN), 40000, options=["-e"])
        self.assertLess(told.tree["processes"], 40001)
        self.assertGreater(told.losses["events"], 0)


class Summary(support.TestCase):
    def summary(self, *command, options=()):
        path = self.path("run.jsonl")
        self.accept("run", "-q", "-o", path, *options, "--", *command)
        return json.loads(pathlib.Path(path).read_text().splitlines()[-1])

    @unittest.skipUnless("bpf" in WAYS, "needs BPF")
    def test_calls_without_a_name(self):
        summary = self.summary(WORKLOAD, "kinds")
        unnamed = summary["losses"]["unnamed_syscalls"]
        self.assertGreater(unnamed, 0)
        self.assertEqual(summary["syscalls"]["unnamed"], unnamed)
        self.assertGreater(summary["syscalls"]["unnamed_ns"], 0)
        (row,) = summary["threads"]
        self.assertEqual(row["unnamed_syscalls"], unnamed)
        named = sum(call["count"] for call in summary["syscalls"]["table"])
        self.assertEqual(summary["syscalls"]["total"], named + unnamed)

    @unittest.skipUnless("bpf" in WAYS, "needs BPF")
    def test_more_threads_than_are_kept(self):
        threads = 6000
        summary = self.summary(compiled(self.folder.name, THREADS), threads)
        self.assertEqual(summary["losses"]["threads_lost"], 0)
        self.assertEqual(summary["threads_ever"], threads + 1)
        self.assertGreater(summary["threads_folded"], 0)
        self.assertEqual(len(summary["threads"]) + summary["threads_folded"], threads + 1)

    @unittest.skipUnless("bpf" in WAYS, "needs BPF")
    def test_more_processes_than_are_kept(self):
        children = 6000
        summary = self.summary(compiled(self.folder.name, CHILDREN), children)
        self.assertEqual(summary["losses"]["events"], 0)
        self.assertEqual(summary["processes_ever"], children + 1)
        self.assertGreater(summary["processes_folded"], 0)


if __name__ == "__main__":
    support.main()
