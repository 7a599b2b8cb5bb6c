"""doctor: it answers wherever it is asked, and says what each source needs."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import support

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
        status, out, err = support.run("doctor", *words, prefix=prefix)
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
                               str(self.public_taskscope())], capture_output=True, timeout=120)
        if done.returncode == 77:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["capture"]["tids_walked"], 2100)

    @unittest.skipUnless(support.is_root(), "needs root to become another user")
    def test_each_source_that_does_not_work_says_what_it_needs(self):
        taskscope = self.public_taskscope()
        out = subprocess.run([*UNPRIVILEGED, taskscope, "doctor"], check=True,
                             capture_output=True, timeout=120).stdout.decode()
        done = subprocess.run([*UNPRIVILEGED, taskscope, "doctor", "--format", "json"],
                              check=True, capture_output=True, timeout=120)
        broken = [source for source in json.loads(done.stdout)["sources"]
                  if source["state"] not in ("ok", "not built")]
        self.assertTrue(broken)
        for source in broken:
            _, _, told = out.partition("  " + source["name"] + " ")
            told = told.split("\n")[:3]
            self.assertIn("needs: " + source["needs"], "\n".join(told), source["name"])

    def test_no_cgroup_hierarchy_is_null(self):
        root = self.scratch / "root"
        shutil.copytree(support.ROOT / "tests/data/roots/debian-6.1", root, symlinks=True)
        before = json.loads(self.doctor("--root", root, "--format", "json"))
        shutil.rmtree(root / "sys/fs")
        after = json.loads(self.doctor("--root", root, "--format", "json"))
        self.assertEqual(before["cgroup_hierarchy"], "v2")
        self.assertIsNone(after["cgroup_hierarchy"])


if __name__ == "__main__":
    support.main()
