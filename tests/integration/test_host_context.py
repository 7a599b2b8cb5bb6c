# SPDX-License-Identifier: MIT
"""The host of a snapshot, against the files of this one."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import support

sys.path.insert(0, str(support.ROOT / "tests"))
import host_files  # noqa: E402


def snapshot(*words, prefix=()):
    status, out, err = support.run("show", "-g", "pcomm", "--format", "json", *words,
                                   prefix=prefix)
    if status != 0:
        raise AssertionError(err)
    return json.loads(out)


def source(document, name):
    return next(entry for entry in document["sources"] if entry["name"] == name)


class HostContext(unittest.TestCase):
    def test_the_host_is_what_its_files_say(self):
        before = host_files.HostFiles()
        document = snapshot()
        after = host_files.HostFiles()
        self.assertEqual(list(host_files.differences(document["host"], before, after)), [])
        # debugfs is not for everyone, and on a kernel that is locked down for no one.
        hidden = "sched_debug features" in document["host_absent"]
        self.assertLessEqual(source(document, "host_context")["failed"], hidden)

    def test_pressure_is_there_where_the_kernel_has_it(self):
        document = snapshot()
        has_it = os.path.exists("/proc/pressure/memory")
        self.assertEqual("pressure" in document["host"], has_it)
        self.assertEqual(source(document, "pressure")["state"], "ok" if has_it else "missing")
        if has_it:
            self.assertNotIn("full", document["host"]["pressure"]["cpu"])
            for field in ("avg10", "avg60", "avg300", "total"):
                self.assertIn("not defined", document["host_absent"]["pressure cpu full " + field])

    def test_a_kernel_without_bpf_schedulers_says_so(self):
        document = snapshot()
        if os.path.isdir("/sys/kernel/sched_ext"):
            self.assertEqual(source(document, "sched_ext")["state"], "ok")
            return
        self.assertNotIn("sched_ext", document["host"])
        self.assertEqual(source(document, "sched_ext")["state"], "missing")
        self.assertIn("CONFIG_SCHED_CLASS_EXT", source(document, "sched_ext")["reason"])

    def test_a_recorded_host_has_what_this_one_may_lack(self):
        files = {"sys/kernel/sched_ext/state": "enabled\n", "sys/kernel/sched_ext/switch_all": "1\n",
                 "sys/kernel/sched_ext/nr_rejected": "0\n",
                 "sys/kernel/sched_ext/root/ops": "scx\x1b[1m_simple\n",
                 "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "schedutil\n",
                 "proc/pressure/irq": "full avg10=0.10 avg60=0.00 avg300=0.00 total=7\n"}
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "root")
            shutil.copytree(support.ROOT / "tests/data/roots/debian-6.12", root, symlinks=True)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            document = snapshot("--root", root)
        host = document["host"]
        self.assertEqual(host["sched_ext"], {"state": "enabled", "ops": "scx\\x1b[1m_simple",
                                             "switch_all": 1, "nr_rejected": 0})
        self.assertEqual(host["cpufreq_governor"], {"1": "schedutil"})
        self.assertEqual(host["pressure"]["irq"]["full"],
                         {"avg10": 10, "avg60": 0, "avg300": 0, "total": 7})
        self.assertEqual(source(document, "sched_ext")["state"], "ok")

    def test_neither_the_name_nor_the_id_of_the_machine_is_told(self):
        text = json.dumps(snapshot()["host"])
        self.assertNotIn(f'"{socket.gethostname()}"', text)
        try:
            identity = pathlib.Path("/etc/machine-id").read_text().strip()
        except OSError:
            self.skipTest("this host has no machine id")
        if identity:
            self.assertNotIn(identity, text)

    def test_a_source_that_is_off_tells_nothing(self):
        document = snapshot("--without", "pressure,host_context,sched_ext")
        for name in ("pressure", "sched_tunables", "sched_ext", "cpu_model", "kernel_cmdline"):
            self.assertNotIn(name, document["host"])
        for name in ("pressure", "sched_ext", "host_context"):
            self.assertEqual(source(document, name)["state"], "off")
        for name in ("kernel_release", "boot_id", "online_cpus"):
            self.assertIn(name, document["host"])

    def test_anyone_may_know(self):
        """But for debugfs nothing here needs a privilege."""
        prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        if not support.is_root():
            prefix = []
        elif subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
            self.skipTest("setpriv does not work here")
        before = host_files.HostFiles()
        before.settings.pop("sched_debug", None)
        try:
            document = snapshot(prefix=prefix)
        except PermissionError:
            self.skipTest("nobody may not run the program")
        self.assertEqual(list(host_files.differences(document["host"], before,
                                                     host_files.HostFiles())), [])


if __name__ == "__main__":
    unittest.main()
