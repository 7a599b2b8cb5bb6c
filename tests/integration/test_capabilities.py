# SPDX-License-Identifier: MIT
"""A plain user with CAP_BPF and CAP_PERFMON, and nothing else, is told what BPF tells."""
import itertools
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import unittest

import kernel
import support

NOBODY = 65534
PLAIN = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
GIVEN = [*PLAIN, "--inh-caps=-all,+bpf,+perfmon", "--ambient-caps=-all,+bpf,+perfmon",
         "--bounding-set=-all,+bpf,+perfmon"]
NUMBERS = {"cap_perfmon": kernel.CAP_PERFMON, "cap_bpf": kernel.CAP_BPF, "cap_dac_read_search": 2,
           "cap_sys_ptrace": 19, "cap_sys_resource": 24}


def give(path, names):
    """What `setcap NAMES+ep PATH` does."""
    bits = sum(1 << NUMBERS[name] for name in names.split(","))
    low, high = bits & 0xffffffff, bits >> 32
    os.setxattr(path, "security.capability", struct.pack("<IIIII", 0x02000001, low, 0, high, 0))


@unittest.skipUnless(support.is_root(), "needs root to give capabilities")
class Capabilities(support.TestCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder.name, 0o777)
        self.program = self.path("taskscope")
        shutil.copy(support.TASKSCOPE, self.program)
        os.chmod(self.program, 0o755)

    def as_user(self, prefix, *words):
        done = subprocess.run([*prefix, self.program, *words], capture_output=True, timeout=support.HANG,
                              stdin=subprocess.DEVNULL, cwd=self.folder.name)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def assert_follows(self, prefix):
        status, _, err = self.as_user(prefix, "run", "--source", "bpf", "-o", "run.jsonl", "--", "sh", "-c",
                                      "sleep 0.01; exit 7")
        self.assertEqual(status, 7, err)
        lines = pathlib.Path(self.path("run.jsonl")).read_text().splitlines()
        summary = json.loads(lines[-1])
        states = {source["name"]: source["state"] for source in summary["sources"]}
        self.assertEqual({states[name] for name in ("tree", "ledger", "syscalls", "critical_path")}, {"ok"})
        self.assertEqual((summary["processes_ever"], summary["execs"]), (2, 2))

    def test_the_two_are_enough_to_follow_a_tree(self):
        self.assert_follows(GIVEN)

    def test_the_two_are_enough_to_attach_to_ones_own(self):
        target = subprocess.Popen([*PLAIN, "sleep", "1000"])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        support.wait_until(lambda: support.comm_of(target.pid) == "sleep")
        status, _, err = self.as_user(GIVEN, "attach", "--source", "bpf", "-d", "50ms", "-o", "own.jsonl",
                                      "-p", str(target.pid))
        self.assertEqual(status, 0, err)
        summary = json.loads(pathlib.Path(self.path("own.jsonl")).read_text().splitlines()[-1])
        self.assertEqual(summary["tracer"], "bpf")

    def test_stacks_do_not_tell_addresses_that_the_kernel_hides(self):
        hidden = subprocess.run([*GIVEN, "grep", "-qv", "^0* ", "/proc/kallsyms"], check=False).returncode == 1
        if not hidden:
            self.skipTest("this kernel shows its addresses to everybody")
        while True:
            status, _, err = self.as_user(GIVEN, "run", "-o", "run.jsonl", "-o", "run.folded", "--", "sleep", "0.05")
            self.assertEqual(status, 0, err)
            lines = pathlib.Path(self.path("run.jsonl")).read_text()
            # A kernel that hides a process from BPF may have woken it there: then its own part is gone.
            if not json.loads(lines.splitlines()[-1])["profile"]["losses"].get("unseen"):
                break
        text = lines + pathlib.Path(self.path("run.folded")).read_text()
        self.assertIn("nanosleep;(hidden)_[k] ", text)
        self.assertNotRegex(text, "0xffff[0-9a-f]{12}")
        self.assertIn("CAP_SYSLOG", " ".join(err.split()))

    def test_what_needs_more_says_so(self):
        status, _, err = self.as_user(GIVEN, "attach", "--source", "bpf", "-d", "50ms", "-p", str(os.getpid()))
        self.assertEqual(status, 2)
        self.assertIn("CAP_SYS_PTRACE", err)
        status, _, err = self.as_user(GIVEN, "run", "--source", "connector", "--", "true")
        self.assertEqual(status, 125)
        self.assertIn("CAP_NET_ADMIN", err)

    def test_what_others_files_are_said_to_need_is_enough_and_all_of_it_is_needed(self):
        """A refusal is not put down to a security module while a capability is missing."""
        words = ["show", "-p", str(os.getpid()), "--source", "procfs", "--format", "json"]
        needs = json.loads(self.as_user(PLAIN, "doctor", "--format", "json")[1])["sources"]
        needs = next(source["needs"] for source in needs if source["name"] == "io")
        wanted = ["+" + name.lower() for name in re.findall(r"CAP_(\w+)", needs)]
        for some in itertools.chain([wanted], itertools.combinations(wanted, len(wanted) - 1)):
            given = ",".join(some)
            prefix = [*PLAIN, f"--inh-caps=-all,{given}", f"--ambient-caps=-all,{given}"]
            status, out, err = self.as_user(prefix, *words)
            self.assertEqual(status, 0, err)
            source = next(row for row in json.loads(out)["sources"] if row["name"] == "io")
            with self.subTest(given):
                self.assertEqual(source["failed"] == 0, len(some) == len(wanted), source)
                self.assertNotIn("security module", err)

    def test_the_two_are_enough_to_list_tasks(self):
        status, _, err = self.as_user(GIVEN, "capture", "--source", "bpf", "-o", "all.tscope")
        self.assertEqual(status, 0, err)
        self.assertEqual(support.show_threads(self.path("all.tscope"))["host"]["task_source"], "bpf")

    def sources(self):
        status, out, err = self.as_user(PLAIN, "doctor", "--format", "json")
        self.assertEqual(status, 0, err)
        document = json.loads(out)
        return {way["name"]: way for way in document["sources"] + document["tracers"]}

    def test_what_doctor_asks_for_is_enough(self):
        before = self.sources()
        commands = {re.search("`setcap ([a-z_,]+)[+]ep (.+)`", before[name]["reason"]).groups()
                    for name in ("task_iterator", "bpf")}
        self.assertEqual(len(commands), 1)
        names, path = commands.pop()
        self.assertEqual(os.path.realpath(path), os.path.realpath(self.program))
        give(path, names)
        after = self.sources()
        for name in ("task_iterator", "bpf"):
            self.assertEqual((before[name]["state"], after[name]["state"]), ("unavailable", "ok"), after[name])
        self.assert_follows(PLAIN)

    def changes(self):
        status, out, err = self.as_user(PLAIN, "doctor", "--json")
        self.assertEqual(status, 0, err)
        return json.loads(out)["changes"]

    def test_the_change_that_doctor_ranks_first_brings_what_it_says(self):
        """It is a command that can be copied; once it was run, the change is no longer asked for."""
        first = self.changes()[0]
        names, path = re.fullmatch("sudo setcap ([a-z_,]+)[+]ep (.+)", first["command"]).groups()
        self.assertEqual(len(first["features"]), 4)
        self.assertGreater(first["metrics"], 0)
        _, before, _ = self.as_user(PLAIN, "doctor")
        self.assertIn("or run it with sudo", " ".join(before.split()))
        give(path, names)
        self.assertNotIn("setcap", json.dumps(self.changes()))
        _, after, _ = self.as_user(PLAIN, "doctor")
        measured = [int(re.search(r"(\d+) of \d+ metrics", text)[1]) for text in (before, after)]
        self.assertGreater(measured[1], measured[0])
        self.assertIn("by bpf, with stacks", after)


if __name__ == "__main__":
    support.main()
