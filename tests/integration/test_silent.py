# SPDX-License-Identifier: MIT
"""A process that holds its memory map for as long as it likes: nobody who looks at it waits for it."""
import os
import pathlib
import signal
import subprocess
import unittest

import support
from heap import built, needs_root
from kernel import WAYS
from support import TASKSCOPE
from test_jemalloc_time import SilentMount

@needs_root
@unittest.skipUnless(built("silent_mount"), "needs a compiler")
class Silent(support.TestCase):
    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.path("mount"))
        folder.mkdir()
        content = pathlib.Path(self.path("content"))
        content.write_bytes(b"x" * 65536)
        self.mount = self.enterContext(SilentMount(folder, content))
        # The kernel writes to a thread's rseq area when it moves to another CPU, which waits for the map.
        self.process = subprocess.Popen([os.environ["TASKSCOPE_MAP_HOLDER"], self.mount.file],
                                        env=dict(os.environ, GLIBC_TUNABLES="glibc.pthread.rseq=0"),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end)
        self.assertEqual(self.process.stdout.readline(), b"ready\n")
        self.mount.fall_silent()
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        self.assertEqual(self.process.stdout.readline(), b"held\n")

    def end(self):
        """The page is gone with the mount; before, not even a signal would end those who wait for it."""
        self.mount.process.stdin.close()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=support.HANG)
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()

    def ends(self, *words):
        """While the mount is silent."""
        command = subprocess.Popen([TASKSCOPE, *map(str, words)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            out, _ = command.communicate(timeout=support.HANG)
        except subprocess.TimeoutExpired:
            self.mount.process.stdin.close()
            command.kill()
            self.fail(f"{words} waits: {command.communicate()[0]}")
        self.assertEqual(command.returncode, 0, out)
        return out.decode()

    def test_attaching(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.ends("attach", "-q", "-p", self.process.pid, "-d", "500ms", "--source", way)

    def test_why(self):
        self.assertIn(str(self.process.pid), self.ends("why", "-p", self.process.pid, "-d", "300ms"))

    def test_a_capture_by_procfs(self):
        """What reads its memory for heap counters can be ended, too."""
        self.ends("capture", "-o", self.path("a.tscope"), "-p", self.process.pid, "--source", "procfs")

    def test_a_capture_by_the_best_source(self):
        self.ends("capture", "-o", self.path("a.tscope"), "-p", self.process.pid)

    def test_doctor(self):
        self.ends("doctor")

    def test_a_list_of_scopes(self):
        self.ends("scopes")


if __name__ == "__main__":
    unittest.main()
