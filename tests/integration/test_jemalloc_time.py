# SPDX-License-Identifier: MIT
"""What does not answer costs its own user: the others are read, and it is remembered who that was."""
import os
import pathlib
import signal
import subprocess
import unittest

import support
from heap import COUNTERS, HEAP, LIBRARY, Heap, HeapCase, as_user, built, needs_library, needs_root

ALICE, BOB = 12345, 12346
CACHE = pathlib.Path("/var/cache/taskscope/jemalloc")
SLOW = CACHE / f"slow-user-{ALICE}"


class SilentMount:
    """A file system with a copy of a file, inside a `with`, that can fall silent."""

    def __init__(self, folder, file, user=0):
        self.folder = folder
        self.file = os.path.join(folder, "file")
        self.command = [HEAP / "silent_mount", folder, file, str(user)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b"ready\n":
            raise unittest.SkipTest("needs FUSE")
        return self

    def fall_silent(self):
        self.process.stdin.write(b"x")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == b"silent\n"

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=support.HANG)
        self.process.stdout.close()


@needs_root
@needs_library
@unittest.skipUnless(built("silent_mount") and built("silent.so"), "needs a compiler")
class Slow(HeapCase):
    def setUp(self):
        super().setUp()
        SLOW.unlink(missing_ok=True)
        self.addCleanup(SLOW.unlink, missing_ok=True)

    def check_others(self, slow, others):
        """Whoever is not Alice has all numbers; she has none, and the tags that say why.

        On a busy machine a capture may not have the time to learn all; the next one goes on."""
        pids = ",".join(str(heap.pid) for heap in (*slow, *others))
        captures = (self.capture(pids) for _ in range(10))
        document = next(d for d in captures if self.tally(d)["read"] >= len(others))
        found = {(t["tid"], name): t[name] for t in document["threads"] for name in COUNTERS if name in t}
        expected = {}
        for heap in others:
            expected |= heap.expected
        self.assertEqual(found, expected, self.show)
        return self.tally(document)["failures"]

    def start(self, *heaps):
        """Stopped, so that they take no time from those who look at them."""
        heaps = [self.enterContext(heap) for heap in heaps]
        for heap in heaps:
            os.kill(heap.pid, signal.SIGSTOP)
            self.addCleanup(os.kill, heap.pid, signal.SIGCONT)
        return heaps

    def others(self):
        """Of Bob and of root, with a library that nobody has asked yet."""
        library = self.copy(LIBRARY)
        return self.start(Heap(HEAP / "plain", preload=library, prefix=as_user(BOB)),
                          Heap(HEAP / "plain", preload=library))

    def test_a_file_system_that_falls_silent(self):
        folder = self.path("mount")
        os.mkdir(folder)
        with SilentMount(folder, LIBRARY) as mount:
            slow = self.start(*(Heap(HEAP / "plain", preload=mount.file, prefix=as_user(ALICE))
                                for _ in range(3)))
            others = self.others()
            mount.fall_silent()
            for _ in range(2):  # the second one knows
                failures = self.check_others(slow, others)
                self.assertLessEqual(set(failures), {"target-blocked", "out-of-time"})
                self.assertEqual(sum(failures.values()), len(slow))
                self.assertTrue(SLOW.exists())

    def test_code_that_never_answers(self):
        """Root's, so that it is run at all; in processes of Alice."""
        slow = self.start(*(Heap(HEAP / "plain", preload=self.copy(HEAP / "silent.so", f"{number}.so"),
                                 prefix=as_user(ALICE), HEAP_AWAKE="1") for number in range(6)))
        others = self.others()
        failures = self.check_others(slow, others)
        self.assertLessEqual(set(failures), {"oracle-timeout", "out-of-time"})
        self.assertTrue(SLOW.exists())

    def test_who_was_slow_is_read_when_there_is_time(self):
        CACHE.mkdir(parents=True, exist_ok=True)
        with Heap(HEAP / "plain", preload=LIBRARY, prefix=as_user(ALICE)) as heap:
            self.check_equal(heap, self.capture(heap.pid))
            SLOW.write_text("taskscope jemalloc offsets 2 0 0 0 0 110 0 0\n")
            SLOW.chmod(0o600)
            self.check_equal(heap, self.capture(heap.pid))


if __name__ == "__main__":
    support.main()
