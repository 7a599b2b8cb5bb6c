# SPDX-License-Identifier: MIT
"""Whose code is run to find heap counters: root's and one's own, and nobody else's.

A stranger's library opens a key as soon as its code runs, and the key is watched."""
import os
import shutil
import subprocess
import unittest

import support
from heap import HEAP, LIBRARY, Heap, HeapCase, as_user, built, needs_library, needs_root

ALICE, BOB, NOBODY = 12345, 12346, 65534
FRESH = ["unshare", "--mount", "sh", "-c",
         'mkdir -p /var/cache/taskscope && mount -t tmpfs none /var/cache/taskscope && exec "$@"', "sh"]


@needs_root
@unittest.skipUnless(built("stranger") and built("stranger.so"), "needs a compiler")
class Strangers(HeapCase):
    def setUp(self):
        super().setUp()
        self.lair = self.path("alice")
        os.mkdir(self.lair)
        os.chown(self.lair, ALICE, ALICE)

    def targets(self, owner=ALICE, folder=None):
        """Processes of Alice with her own library, and with her own program."""
        folder = folder or self.lair
        library = self.copy(HEAP / "stranger.so", folder=folder, owner=owner)
        program = self.copy(HEAP / "stranger", folder=folder, owner=owner)
        yield Heap(HEAP / "plain", preload=library, prefix=as_user(ALICE), HEAP_AWAKE="1")
        yield Heap(program, prefix=as_user(ALICE), HEAP_AWAKE="1")

    def check_not_run(self, watch, targets, capture):
        for target in targets:
            with target as heap:
                self.check_absent(heap, capture(heap.pid), "oracle-untrusted", "run as its owner")
                self.assertFalse(watch.has_seen(), "a stranger's code has opened the key")

    def test_what_is_trusted_runs(self):
        """Else nothing below could fail: the same files, of root and in root's folder."""
        for target in self.targets(owner=0, folder=self.trusted):
            with target as heap:
                watch = self.key_of(NOBODY)
                document = self.capture(heap.pid)
                self.assertIn(", oracle, ", self.route(document, heap.pid))
                self.assertTrue(watch.has_seen())

    def test_with_capabilities_instead_of_root(self):
        """Bob may look at Alice's process; her code would read what is Bob's."""
        capabilities = ("sys_ptrace", "checkpoint_restore", "dac_read_search")
        self.check_not_run(self.key_of(BOB), self.targets(),
                           lambda pid: self.capture_as(BOB, pid, capabilities=capabilities))

    def test_as_root_in_a_private_folder(self):
        """Who is in a folder need not enter it."""
        watch = self.key_of(0)
        os.chmod(self.key, 0o644)
        self.check_not_run(watch, self.targets(), lambda pid: self.capture(pid, cwd=self.place))

    def test_as_root_beside_others_who_are_nobody(self):
        """Nobody is a user as any other, who may have files and processes."""
        self.check_not_run(self.key_of(NOBODY), self.targets(), self.capture)

    def test_files_that_root_has_in_a_strangers_folder(self):
        self.check_not_run(self.key_of(NOBODY), self.targets(owner=0), self.capture)

    def test_from_inside_a_container(self):
        """Its root's files, at a path that is root's here too, are not the host's."""
        watch = self.key_of(NOBODY)
        host = [self.copy(HEAP / name) for name in ("stranger.so", "stranger")]
        inside = ["unshare", "--mount", "sh", "-c",
                  f'mount -t tmpfs none "{self.trusted}" && cp "{HEAP}/stranger" "{HEAP}/stranger.so" '
                  f'"{self.trusted}" && exec "$@"', "sh"]
        self.check_not_run(watch, [
            Heap(HEAP / "plain", prefix=[*inside, "env", f"LD_PRELOAD={host[0]}"], HEAP_AWAKE="1"),
            Heap(host[1], prefix=inside, HEAP_AWAKE="1")], self.capture)

    def test_its_owner_can_have_it_run(self):
        home = os.path.join(self.trusted, "home")
        os.mkdir(home)
        os.chown(home, ALICE, ALICE)
        for target in self.targets(folder=home):
            with target as heap:
                watch = self.key_of(ALICE)
                document = self.capture_as(ALICE, heap.pid)
                self.assertIn(", oracle, ", self.route(document, heap.pid))
                self.assertTrue(watch.has_seen())


@needs_root
class Distribution(HeapCase):
    """What the packages of the system bring is asked, by root and by others."""

    def check(self, heap, says):
        for document in (self.capture(heap.pid, prefix=FRESH), self.capture_as(ALICE, heap.pid)):
            self.assertIn(says, self.route(document, heap.pid) or "")
            self.assertEqual(self.tally(document)["read"], 1)

    @needs_library
    def test_the_library(self):
        with Heap(HEAP / "plain", preload=LIBRARY, prefix=as_user(ALICE)) as heap:
            self.check(heap, "library, oracle, ")

    @unittest.skipUnless(shutil.which("redis-check-rdb"), "needs redis")
    def test_redis(self):
        path = self.path("socket")
        os.chmod(self.folder.name, 0o777)
        with subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", ""],
                              executable=shutil.which("redis-check-rdb"), cwd=self.folder.name,
                              user=ALICE, group=ALICE, extra_groups=[], stdout=subprocess.DEVNULL) as redis:
            try:
                support.wait_until(lambda: os.path.exists(path))
                self.check(redis, "oracle, ")
            finally:
                redis.terminate()


if __name__ == "__main__":
    support.main()
