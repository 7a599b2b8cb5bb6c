#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where in the code the time went, for programs that are compiled and started in every way."""
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import tempfile
import unittest

from support import HANG, ROOT, TASKSCOPE, TestCase, comm_of, is_root, main, run, wait_until

SOURCE = ROOT / "tests/integration/chain_workload.c"
PHASES = os.environ["TASKSCOPE_PHASE_WORKLOAD"]
CHAIN = ["outer_call", "inner_call"]
FAST = ["-F", "999"]


def compile_chain(target, *options):
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O2", "-fomit-frame-pointer", "-fno-stack-clash-protection", *options,
                    "-o", target, SOURCE, "-ldl", "-lpthread"], check=True, timeout=HANG)


def has_chain(frames, wanted):
    """Whether the wanted frames follow each other."""
    return any(frames[i:i + len(wanted)] == wanted for i in range(len(frames)))


class Profile:
    """What `run` writes: weights of folded stacks, its lines and its summary."""

    def __init__(self, *words, options=(), prefix=(), status=0):
        with tempfile.TemporaryDirectory() as folder:
            folded, lines = pathlib.Path(folder) / "x.folded", pathlib.Path(folder) / "x.jsonl"
            code, _, errors = run("run", "-o", folded, "-o", lines, *FAST, *options, "--", *words,
                                  prefix=prefix)
            if code != status:
                raise AssertionError(f"{words}: {code} {errors}")
            self.text = errors
            self.stacks = [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1]))
                           for line in folded.read_text().splitlines()]
            self.lines = [json.loads(line) for line in lines.read_text().splitlines()]
        self.summary = self.lines[-1]

    def weight(self, kind, *wanted):
        """Microseconds of the stacks of a kind in which the frames follow each other."""
        return sum(weight for frames, weight in self.stacks
                   if frames[0] == kind and has_chain(frames, list(wanted)))

    def share_complete(self, key):
        """Of the time of stacks.  The clock of a CPU stands still while a hypervisor has it: so much has no stack on
        the CPU, but all time off the CPU must have one."""
        sums = self.summary["profile"][key]
        return sums["complete_ns"] / (sums["ns"] - (sums["missing_ns"] if key == "on_cpu" else 0))


@unittest.skipUnless(is_root(), "stacks need BPF")
class Stacks(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.place = pathlib.Path(cls.folder.name)
        cls.place.chmod(0o755)
        cls.plain = cls.place / "chain"
        compile_chain(cls.plain)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check_chain(self, program, *words, bottom="_start", first=CHAIN[0]):
        """Burns and sleeps 200 ms; each is at the end of the chain, with callers to the outermost."""
        profile = Profile(program, *words, "burn", 200, "sleep", 200)
        burnt = profile.weight("on-cpu", *CHAIN, "burn_here")
        slept = profile.weight("off-cpu", *CHAIN, "sleep_here")
        off_cpu = profile.summary["profile"]["off_cpu"]
        self.assertGreater(burnt, 100_000, profile.stacks)
        self.assertGreaterEqual(slept, 199_000, profile.stacks)
        self.assertLess(off_cpu["missing_ns"] + off_cpu["inferred_ns"], off_cpu["ns"] / 100, profile.stacks)
        for frames, _ in profile.stacks:
            if "sleep_here" in frames or "burn_here" in frames:
                self.assertEqual(frames[3], bottom, frames)
                self.assertIn(first, frames)
        return profile

    def test_the_chain_is_complete_without_frame_pointers(self):
        profile = self.check_chain(self.plain)
        self.assertGreater(profile.share_complete("on_cpu"), 0.95)
        self.assertGreater(profile.share_complete("off_cpu"), 0.95)
        self.assertIn("burn_here", profile.text)
        self.assertIn("sleep_here", profile.text)

    def test_a_stack_with_pages_that_nobody_touched(self):
        profile = Profile(self.plain, "array", 100)
        self.assertGreaterEqual(
            profile.weight("off-cpu", "_start", "__libc_start_main", "__libc_start_call_main", "main",
                           "array_call", "inner_call", "sleep_here"), 99_000, profile.stacks)

    def test_a_program_without_position_independent_code(self):
        compile_chain(self.place / "fixed", "-no-pie")
        self.check_chain(self.place / "fixed")

    def test_a_static_program(self):
        compile_chain(self.place / "static", "-static", "-Wl,--no-warnings")
        self.check_chain(self.place / "static")

    def test_names_of_a_stripped_program_come_from_its_debug_file(self):
        stripped, debug = self.place / "stripped", self.place / ".debug/stripped.debug"
        compile_chain(stripped, "-g")
        debug.parent.mkdir()
        subprocess.run(["objcopy", "--only-keep-debug", stripped, debug], check=True)
        subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", stripped], check=True)
        profile = self.check_chain(stripped)
        sources = {line["function"]: line.get("source", "") for line in profile.lines
                   if line["kind"] == "frame" and "function" in line}
        self.assertTrue(sources["burn_here"].endswith("chain_workload.c"), sources)

    def test_a_stripped_program_has_addresses(self):
        stripped = self.place / "bare"
        compile_chain(stripped, "-s")
        profile = Profile(stripped, "sleep", 100)
        weights = [(frames, weight) for frames, weight in profile.stacks if weight > 90_000]
        self.assertEqual(len(weights), 1, profile.stacks)
        self.assertTrue(any(frame.startswith("[bare+0x") for frame in weights[0][0]), weights)

    def test_a_file_that_is_deleted_while_it_runs(self):
        copy = self.place / "deleted"
        shutil.copy(self.plain, copy)
        self.check_chain(copy, "unlink")
        self.assertFalse(copy.exists())

    def test_a_program_that_only_its_mount_namespace_has(self):
        hidden = self.place / "hidden"
        hidden.mkdir()
        shutil.copy(self.plain, hidden / "chain")
        over = self.place / "over"
        over.mkdir()
        script = f"mount --bind {hidden} {over} && exec {over}/chain burn 200 sleep 200"
        profile = Profile("unshare", "--mount", "--propagation", "private", "sh", "-c", script)
        self.assertGreaterEqual(profile.weight("off-cpu", *CHAIN, "sleep_here"), 199_000, profile.stacks)
        self.assertGreater(profile.weight("on-cpu", *CHAIN, "burn_here"), 100_000, profile.stacks)

    def test_a_library_that_is_loaded_later(self):
        library = self.place / "libchain.so"
        compile_chain(library, "-shared", "-fPIC", "-DIS_LIBRARY")
        profile = Profile(self.plain, "load", library, "burn", 200, "load", library, "sleep", 200)
        chain = ["main", "chain_of_library", *CHAIN]
        self.assertGreater(profile.weight("on-cpu", *chain, "burn_here"), 100_000, profile.stacks)
        self.assertGreaterEqual(profile.weight("off-cpu", *chain, "sleep_here"), 199_000, profile.stacks)
        modules = {line["module"] for line in profile.lines
                   if line["kind"] == "frame" and line.get("function") == "chain_of_library"}
        self.assertEqual(modules, {str(library)})

    @unittest.skipUnless(platform.machine() == "x86_64", "the code is of x86-64")
    def test_code_that_is_made_at_run_time_has_the_name_of_its_map(self):
        profile = Profile(self.plain, "jit", 200)
        self.assertGreaterEqual(profile.weight("off-cpu", "made_at_run_time", "sleep_here"), 199_000,
                                profile.stacks)

    def test_a_wait_never_carries_the_stack_of_another_thread(self):
        profile = Profile(self.plain, "threads", "threads", "threads")
        for frames, weight in profile.stacks:
            if frames[0] == "off-cpu" and "thread_burns" in frames:
                self.assertNotIn("sleep_here", frames)
            if frames[0] == "on-cpu" and weight > 2000:
                self.assertNotIn("sleep_here", frames)
        self.assertGreaterEqual(
            profile.weight("off-cpu", "thread_waits", *CHAIN, "sleep_here"), 3 * 299_000, profile.stacks)
        self.assertGreater(
            profile.weight("on-cpu", "thread_burns", *CHAIN, "burn_here"), 450_000, profile.stacks)
        self.assertTrue(all(frames[3] == "clone3" for frames, _ in profile.stacks
                            if "thread_waits" in frames), profile.stacks)

    def test_blocked_time_is_that_of_the_ledger(self):
        profile = Profile(self.plain, "sleep", 50, "threads", "burn", 50)
        blocked = sum(value for key, value in profile.summary.items()
                      if key.startswith("wait_") and key.endswith("_ns") and not key.endswith("_max_ns")
                      and key not in ("wait_time_ns", "wait_costly_ns", "wait_for_work_ns"))
        off_cpu = profile.summary["profile"]["off_cpu"]["ns"]
        folded = sum(weight for frames, weight in profile.stacks if frames[0] == "off-cpu")
        self.assertLessEqual(abs(off_cpu / 1000 - folded), len(profile.stacks) + 1)
        self.assertAlmostEqual(off_cpu / blocked, 1, delta=0.01)

    def test_threads_that_are_blocked_all_the_time_have_their_stacks(self):
        with subprocess.Popen([self.plain, "hold"], stdout=subprocess.PIPE) as held:
            try:
                self.assertEqual(held.stdout.readline(), b"held\n")
                with tempfile.TemporaryDirectory() as folder:
                    folded = pathlib.Path(folder) / "x.folded"
                    status, _, errors = run("attach", "-p", held.pid, "-d", "300ms", "-q", "-o", folded)
                    self.assertEqual(status, 0, errors)
                    text = folded.read_text()
                status, out, errors = run("why", "-p", held.pid, "-d", "200ms", "--stacks")
                self.assertEqual(status, 0, errors)
                status, document, _ = run("why", "-p", held.pid, "-d", "200ms", "--stacks",
                                          "--format", "json")
            finally:
                held.kill()
        held_us = sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                      if ";clone3;start_thread;thread_is_held;" in line)
        self.assertGreaterEqual(held_us, 2 * 299_000, text)
        self.assertIn(";main;held_here;", text)
        self.assertIn("\n  thread_is_held\n", out)
        self.assertIn("\n  held_here\n  main\n", out)
        stacks = json.loads(document)["stacks"]
        self.assertEqual(len(stacks), 3)
        functions = sorted(frame["function"] for stack in stacks for frame in stack["frames"]
                           if frame.get("function") in ("held_here", "thread_is_held"))
        self.assertEqual(functions, ["held_here", "thread_is_held", "thread_is_held"])

    def test_samples_have_the_scopes_of_their_thread(self):
        def scopes(profile):
            return {line["scope"] for line in profile.lines
                    if line["kind"] == "stack" and line["type"] == "on-cpu" and "scope" in line}

        profile = Profile(PHASES, "busy", 400, "nested", 400)
        self.assertIn("busy", scopes(profile))
        self.assertIn("outer > inner", scopes(profile))
        self.assertNotIn("(not known)", " ".join(scopes(profile)))

    def test_short_processes_cost_nothing_but_time(self):
        script = f"for i in $(seq 100); do {self.plain} burn 3; done"
        profile = Profile("sh", "-c", script)
        self.assertGreater(profile.weight("on-cpu", *CHAIN, "burn_here"), 50_000, profile.stacks)

    def test_the_process_that_parses_files_sees_nothing_of_the_kernels_rings(self):
        def helper():
            """Of taskscope's children, the one that is not the command."""
            children = pathlib.Path(f"/proc/{watcher.pid}/task/{watcher.pid}/children").read_text()
            return next((pid for pid in children.split() if comm_of(pid) == comm_of(watcher.pid)), None)

        with subprocess.Popen([TASKSCOPE, "run", "-q", "--", self.plain, "hold"],
                              stdout=subprocess.PIPE) as watcher:
            try:
                self.assertEqual(watcher.stdout.readline(), b"held\n")
                pid = wait_until(helper)
                own = pathlib.Path(f"/proc/{watcher.pid}/maps").read_text()
                seen = pathlib.Path(f"/proc/{pid}/maps").read_text()
            finally:
                watcher.terminate()
        self.assertIn("bpf-map", own)
        self.assertNotIn("bpf-map", seen)

    def test_without_stacks_there_are_none(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = pathlib.Path(folder) / "x.jsonl"
            status, _, errors = run("run", "--no-stacks", "-o", lines, "--", self.plain, "sleep", 20)
            summary = json.loads(lines.read_text().splitlines()[-1])
        self.assertEqual(status, 0, errors)
        self.assertNotIn("profile", summary)
        self.assertNotIn("functions", errors)

    def test_damaged_rules_of_unwinding_cost_a_loss_and_nothing_else(self):
        damaged = self.place / "damaged"
        bytes_ = bytearray(self.plain.read_bytes())
        sections = subprocess.run(["readelf", "-SW", self.plain], check=True, capture_output=True,
                                  text=True).stdout
        for line in sections.splitlines():
            if " .eh_frame " in line:
                words = line.split(".eh_frame ")[1].split()
                start, size = int(words[2], 16), int(words[3], 16)
        for place in range(start, start + size, 3):
            bytes_[place] ^= 0xa5
        damaged.write_bytes(bytes_)
        damaged.chmod(0o755)
        profile = Profile(damaged, "burn", 100, "sleep", 100)
        losses = profile.summary["profile"]["losses"]
        self.assertGreater(losses["truncated"] + losses["bad_files"], 0, losses)
        off_cpu = profile.summary["profile"]["off_cpu"]
        self.assertGreaterEqual(off_cpu["ns"], 99_000_000)

    def test_its_end_is_the_commands_own_whatever_the_stacks_do(self):
        Profile("sh", "-c", f"{self.plain} burn 50; exit 3", status=3)
        Profile("sh", "-c", "kill -TERM $$", status=128 + signal.SIGTERM)


if __name__ == "__main__":
    main()
