# SPDX-License-Identifier: MIT
"""doctor: it answers wherever it is asked, and says what each source needs."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import support

ROOT = os.path.join(os.environ["TASKSCOPE_SOURCE"], "tests/data/roots/debian-6.12")
UNPRIVILEGED = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]

# More threads than doctor reads one by one.
MANY_THREADS = """
import subprocess, sys, threading
done = threading.Event()
threads = [threading.Thread(target=done.wait) for _ in range(2100)]
for thread in threads:
    thread.start()
status = subprocess.call([sys.argv[1], "doctor", "--format", "json"])
done.set()
sys.exit(status)
"""


class Doctor(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        os.chmod(scratch.name, 0o755)

    def doctor(self, *words, prefix=()):
        status, out, err = support.run("doctor", "-v", *words, prefix=prefix)
        self.assertEqual(status, 0, err)
        return out

    def public_taskscope(self):
        """The program where any user may run it."""
        path = self.scratch / "taskscope"
        shutil.copy(support.TASKSCOPE, path)
        os.chmod(path, 0o755)
        return path

    @unittest.skipUnless(support.has_namespaces(), "a PID namespace cannot be made here")
    def test_it_samples_processes_that_it_can_see(self):
        script = 'mount -o remount,hidepid=2 /proc || exit 77; "$@"; exit $?'
        done = subprocess.run([*support.NAMESPACE, "sh", "-c", script, "sh",
                               *UNPRIVILEGED, "/usr/bin/env", "python3", "-c", MANY_THREADS,
                               str(self.public_taskscope())], capture_output=True, timeout=support.HANG)
        if done.returncode == 77:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["capture"]["tids_walked"], 2100)

    @unittest.skipUnless(support.is_root(), "needs root to become another user")
    def test_each_source_that_does_not_work_says_what_it_needs(self):
        taskscope = self.public_taskscope()
        out = subprocess.run([*UNPRIVILEGED, taskscope, "doctor", "-v"], check=True,
                             capture_output=True, timeout=support.HANG).stdout.decode()
        done = subprocess.run([*UNPRIVILEGED, taskscope, "doctor", "--format", "json"],
                              check=True, capture_output=True, timeout=support.HANG)
        broken = [source for source in json.loads(done.stdout)["sources"]
                  if source["state"] not in ("ok", "not built")]
        self.assertTrue(broken)
        for source in broken:
            _, _, told = out.partition("  " + source["name"] + " ")
            told = told.split("\n")[:3]
            self.assertIn("needs: " + source["needs"], "\n".join(told), source["name"])

    @unittest.skipUnless(support.is_root(), "needs root to give and take rights")
    def test_names_of_the_kernels_functions_follow_its_settings(self):
        def found(prefix=()):
            out = subprocess.run([*prefix, self.public_taskscope(), "doctor", "--format", "json"], check=True,
                                 capture_output=True, timeout=support.HANG).stdout
            return json.loads(out)["kernel_name_sources"]

        hides = subprocess.run([*UNPRIVILEGED, "grep", "-qv", "^0* ", "/proc/kallsyms"], check=False).returncode == 1
        self.assertEqual([(way["name"], way["state"]) for way in found()], [("kallsyms", "ok")])
        if not hides:
            self.skipTest("this kernel shows its addresses to everybody")
        way = found(UNPRIVILEGED)[0]
        self.assertEqual(way["state"], "unavailable")
        self.assertIn("CAP_SYSLOG", way["reason"])

    def recorded(self, name="debian-6.1"):
        root = self.scratch / "root"
        shutil.copytree(support.ROOT / "tests/data/roots" / name, root, symlinks=True)
        return root

    def test_every_gap_of_a_capture_has_a_reason(self):
        """What `show` says is absent, doctor says too.

        Which metrics are depends on the tasks, which come and go: those are of a recorded host.
        """
        doctor = json.loads(self.doctor("--format", "json"))
        status, out, err = support.run("show", "--format", "json")
        self.assertEqual(status, 0, err)
        shown = json.loads(out)
        self.assertEqual(set(doctor["host_absent"]), set(shown["host_absent"]))
        self.assertTrue(doctor["absent"])
        self.assertTrue(set(doctor["cgroup_absent"]))
        text = self.doctor()
        for name in doctor["host_absent"]:
            family = name.split()[0]
            self.assertIn(family, text.partition("\nAbsent:\n")[2])
        recorded = ["--root", ROOT]
        text = self.doctor(*recorded)
        for name in json.loads(self.doctor(*recorded, "--format", "json"))["absent"]:
            self.assertIn(name, text.partition("\nAbsent:\n")[2])

    def test_show_and_doctor_agree(self):
        doctor = json.loads(self.doctor("--format", "json"))
        shown = json.loads(support.run("show", "--format", "json")[1])
        states = {source["name"]: source["state"] for source in shown["sources"]}
        for source in doctor["sources"]:
            if states[source["name"]] != "off":
                self.assertEqual(source["state"], states[source["name"]], source)

    def test_an_open_gate_needs_no_reason(self):
        for gate in json.loads(self.doctor("--format", "json"))["gates"]:
            self.assertEqual(gate["open"], gate["reason"] is None, gate)
        root = self.recorded()
        self.assertRegex(self.doctor("--root", root), r"\n  TASK_DELAY_ACCT +yes\n")

    def test_memory_in_detail_is_tried(self):
        smaps = next(source for source in json.loads(self.doctor("--format", "json"))["sources"]
                     if source["name"] == "smaps")
        self.assertIn(smaps["state"], ("ok", "partial"))
        self.assertGreaterEqual(smaps["read"], 1)

    @unittest.skipUnless(support.is_root(), "needs root to become another user")
    def test_strangers_need_a_capability_unless_it_is_there(self):
        done = subprocess.run([*UNPRIVILEGED, self.public_taskscope(), "doctor", "--format", "json"],
                              check=True, capture_output=True, timeout=support.HANG)
        smaps = next(source for source in json.loads(done.stdout)["sources"]
                     if source["name"] == "smaps")
        self.assertEqual((smaps["state"], smaps["read"], smaps["failed"]), ("partial", 1, 1))
        self.assertIn("CAP_SYS_PTRACE", smaps["needs"])
        for source in json.loads(self.doctor("--format", "json"))["sources"]:
            if (source["reason"] or "").startswith("Permission denied"):
                self.assertNotIn("CAP_", source["needs"])

    @unittest.skipUnless(support.has_namespaces(), "a PID namespace cannot be made here")
    def test_processes_that_are_hidden_are_told_of(self):
        script = 'mount -o remount,hidepid=2 /proc || exit 77; sleep 100 & "$@"; exit $?'
        command = [*support.NAMESPACE, "sh", "-c", script, "sh"]
        taskscope = self.public_taskscope()
        for prefix, state in ([], "ok"), (UNPRIVILEGED, "partial"):
            done = subprocess.run([*command, *prefix, taskscope, "doctor", "--format", "json"],
                                  capture_output=True, timeout=support.HANG)
            if done.returncode == 77:
                self.skipTest(done.stderr.decode())
            stat = next(source for source in json.loads(done.stdout)["sources"]
                        if source["name"] == "stat")
            self.assertEqual(stat["state"], state, stat)
            self.assertEqual("hidepid" in (stat["reason"] or ""), state == "partial", stat)
        done = subprocess.run([*command, *UNPRIVILEGED, taskscope, "show"], capture_output=True,
                              timeout=support.HANG)
        self.assertIn("hidepid", done.stdout.decode())

    @unittest.skipUnless(support.has_namespaces(), "a PID namespace cannot be made here")
    def test_a_mount_of_processes_alone_is_no_fault_of_the_kernel(self):
        script = 'mount -t proc -o subset=pid proc /proc || exit 77; "$@"; exit $?'
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount", "sh", "-c", script, "sh",
                               self.public_taskscope(), "doctor", "--format", "json"],
                              capture_output=True, timeout=support.HANG)
        if done.returncode == 77:
            self.skipTest(done.stderr.decode())
        document = json.loads(done.stdout)
        states = {source["name"]: source for source in document["sources"]}
        self.assertEqual(states["pressure"]["state"], "unavailable")
        self.assertIn("subset=pid", states["pressure"]["reason"])
        self.assertEqual(states["host_context"]["state"], "partial")
        for name in ("boot_id", "cpu_model", "total_memory_bytes", "pressure io some avg10"):
            self.assertIn("subset=pid", document["host_absent"][name])
        self.assertNotIn("CONFIG_PSI", json.dumps(document["host_absent"]))

    def test_a_recording_has_no_kernel_to_ask(self):
        root = self.recorded()
        sources = json.loads(self.doctor("--root", root, "--format", "json"))["sources"]
        iterator = next(source for source in sources if source["name"] == "task_iterator")
        self.assertEqual(iterator["state"], "off")
        self.assertEqual(iterator["reason"], "a recorded tree has no kernel to ask")
        self.assertIsNone(iterator["needs"])
        told = self.doctor("--root", root).partition("  task_iterator ")[2].split("\n")
        self.assertNotIn("needs:", told[2])

    def test_each_way_to_follow_processes_is_tried(self):
        """What doctor says works is what `run` can be told to use."""
        tracers = json.loads(self.doctor("--format", "json"))["tracers"]
        self.assertEqual([tracer["name"] for tracer in tracers], ["bpf", "connector", "procfs"])
        for tracer in tracers:
            status, _, err = support.run("run", "-q", "--source", tracer["name"], "true")
            self.assertEqual(status == 0, tracer["usable"], err)
            self.assertEqual(tracer["usable"], tracer["reason"] is None, tracer)
        self.assertTrue(tracers[-1]["usable"])
        self.assertIsNone(tracers[0]["misses"])

    def test_each_source_of_events_is_tried(self):
        """They need the same as the ways to follow a tree; the last one always works."""
        document = json.loads(self.doctor("--format", "json"))
        sources = document["lifecycle_sources"]
        self.assertEqual([source["name"] for source in sources], ["bpf", "connector", "polling"])
        self.assertEqual([source["usable"] for source in sources],
                         [tracer["usable"] for tracer in document["tracers"]])
        self.assertTrue(sources[-1]["usable"])

    @unittest.skipUnless(support.is_root(), "needs root to become another user")
    def test_better_ways_to_follow_processes_say_what_they_need(self):
        command = [*UNPRIVILEGED, self.public_taskscope(), "doctor", "-v"]
        out = subprocess.run(command, check=True, capture_output=True, timeout=support.HANG).stdout.decode()
        done = subprocess.run([*command, "--format", "json"], check=True, capture_output=True,
                              timeout=support.HANG)
        tracers = json.loads(done.stdout)["tracers"]
        self.assertEqual([tracer["state"] for tracer in tracers],
                         ["unavailable", "unavailable", "ok"])
        for tracer, capability in zip(tracers, ("CAP_BPF", "CAP_NET_ADMIN")):
            self.assertIn(capability, tracer["reason"])
            self.assertIn(capability, tracer["needs"])
            told = out.partition("\n  " + tracer["name"] + " ")[2].split("\n")
            self.assertEqual(told[1].strip(), "why: " + tracer["reason"])
            self.assertEqual(told[2].strip(), "needs: " + tracer["needs"])

    def test_in_a_recording_there_is_nobody_to_follow(self):
        document = json.loads(self.doctor("--root", ROOT, "--format", "json"))
        for tracer in document["tracers"] + document["lifecycle_sources"]:
            self.assertEqual((tracer["state"], tracer["needs"]), ("off", None))
            self.assertFalse(tracer["usable"])
            self.assertTrue(tracer["reason"])

    def brief(self, prefix=()):
        done = subprocess.run([*prefix, self.public_taskscope(), "doctor"], check=True, capture_output=True,
                              timeout=support.HANG, env={**os.environ, "COLUMNS": "80"})
        lines = done.stdout.decode().splitlines()
        self.assertLessEqual(len(lines), 23, lines)  # and the prompt
        self.assertLessEqual(max(map(len, lines)), 80, lines)
        return " ".join(done.stdout.decode().split())

    def test_it_fits_on_a_screen(self):
        text = self.brief()
        self.assertRegex(text, r"^taskscope works here: \d+ of \d+ metrics of \d+ processes")
        self.assertIn("doctor -v", text)
        document = json.loads(self.doctor("--format", "json"))
        self.assertEqual(text.count(": this adds "), min(3, len(document["changes"])))
        for change in document["changes"][:3]:
            command = change["command"].removesuffix(support.TASKSCOPE)  # the text is that of a copy
            self.assertIn(command, text.replace(" \\ ", " "))

    @unittest.skipUnless(support.is_root(), "needs root to become another user")
    def test_a_plain_user_is_told_what_would_add_most(self):
        text = self.brief(UNPRIVILEGED)
        self.assertIn("1. taskscope lacks capabilities: this adds ", text)
        self.assertIn("sudo setcap ", text)

    def test_changes_are_ranked_by_what_they_add(self):
        for change in json.loads(self.doctor("--format", "json"))["changes"]:
            self.assertGreater(change["metrics"] + len(change["features"]), 0, change)
            self.assertTrue(change["command"] and change["why"], change)
        adds = [change["metrics"] + len(change["features"])
                for change in json.loads(self.doctor("--format", "json"))["changes"]]
        self.assertEqual(adds, sorted(adds, reverse=True))
        self.assertEqual(json.loads(self.doctor("--root", ROOT, "--format", "json"))["changes"], [])

    def test_what_is_denied_although_we_may_is_said_in_plain_words(self):
        """A refusal of a source whose capability we have."""
        sentence = "although taskscope has the capability"
        document = json.loads(self.doctor("--format", "json"))
        denied = [source for source in document["sources"] if sentence in (source["needs"] or "")]
        self.assertEqual(bool(denied), sentence in self.brief())
        for source in denied:
            self.assertTrue(source["needs"].startswith("denied by a security module"), source)
        self.assertNotIn("needs: denied", self.doctor())

    def test_a_recording_that_is_not_there_is_said(self):
        status, out, err = support.run("doctor", "--root", self.scratch / "none")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("none", err)

    def test_no_cgroup_hierarchy_is_null(self):
        root = self.recorded()
        before = json.loads(self.doctor("--root", root, "--format", "json"))
        shutil.rmtree(root / "sys/fs")
        after = json.loads(self.doctor("--root", root, "--format", "json"))
        self.assertEqual(before["cgroup_hierarchy"], "v2")
        self.assertIsNone(after["cgroup_hierarchy"])


if __name__ == "__main__":
    support.main()
