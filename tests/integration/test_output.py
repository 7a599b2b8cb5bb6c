# SPDX-License-Identifier: MIT
"""What root writes into a place of others stays there, and nothing stays behind."""
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import time
import unittest

import support
from heap import built
from test_jemalloc_time import SilentMount

DRIVER = os.environ["TASKSCOPE_OUTPUT_DRIVER"]
TREE = support.ROOT / "tests/data/roots/debian-6.12"
OTHER = 65534
SECRET = "root's own\n"

# What somebody who can write to the place does to the path "place/way/file", as fast as they can.
ATTACK = """
import os, sys
place, victim = sys.argv[1:]
way, file = place + "/way", place + "/way/file"
def quietly(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        pass
def make(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666))
quietly(os.mkdir, place + "/aside", 0o777)
os.symlink(os.path.dirname(victim), place + "/leading")
os.symlink(victim, place + "/aside/file")
os.symlink(victim, place + "/linked")
print("ready", flush=True)
while True:
    quietly(make, file)
    quietly(os.unlink, file)
    quietly(os.symlink, victim, file)
    quietly(os.unlink, file)
    quietly(os.link, victim, file)
    quietly(os.rename, place + "/linked", file)
    quietly(os.symlink, victim, place + "/linked")
    quietly(os.rename, way, place + "/old")
    quietly(os.rename, place + "/leading", way)
    quietly(os.rename, way, place + "/leading")
    quietly(os.rename, place + "/aside", way)
    quietly(os.rename, way, place + "/aside")
    quietly(os.rename, place + "/old", way)
"""


@unittest.skipUnless(support.is_root(), "only root can be led to a file of root's by others")
class Attack(support.TestCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder.name, 0o755)
        self.place = pathlib.Path(self.path("place"))
        self.victim = pathlib.Path(self.path("kept/file"))
        self.victim.parent.mkdir()
        self.victim.write_text(SECRET)
        self.before = os.stat(self.victim)

    def make_place(self, mode, owner=OTHER):
        """A directory that others can write to, with one in it."""
        (self.place / "way").mkdir(parents=True)
        for path in [self.place / "way", self.place]:
            os.chmod(path, mode)
            os.chown(path, owner, owner)

    def assert_kept(self):
        after = os.stat(self.victim)
        self.assertEqual(self.victim.read_text(), SECRET)
        self.assertEqual((after.st_ino, after.st_uid, after.st_mode),
                         (self.before.st_ino, self.before.st_uid, self.before.st_mode))
        self.assertEqual([entry.name for entry in self.victim.parent.iterdir()], ["file"])

    def write(self, how, path):
        done = subprocess.run([DRIVER, how, "1", path], capture_output=True, check=True, timeout=support.HANG)
        return done.stdout == b"1\n"

    def test_a_link_of_others_is_not_followed(self):
        for mode, owner in [(0o755, OTHER), (0o1777, OTHER), (0o1777, 0), (0o777, 0)]:
            self.make_place(mode, owner)
            file = self.place / "way/file"
            for how in ["replace", "stream"]:
                os.symlink(self.victim, file)
                os.lchown(file, OTHER, OTHER)
                self.assertFalse(self.write(how, file), (oct(mode), owner, how))
                self.assert_kept()
                os.unlink(file)
                os.symlink(self.victim.parent, self.place / "leading")
                os.lchown(self.place / "leading", OTHER, OTHER)
                self.assertFalse(self.write(how, self.place / "leading/file"), (oct(mode), owner, how))
                self.assert_kept()
                os.unlink(self.place / "leading")
            subprocess.run(["rm", "-r", self.place], check=True)

    def test_another_name_of_a_file_is_not_written_through(self):
        self.make_place(0o1777)
        for how in ["replace", "stream"]:
            file = self.place / "way/file"
            os.link(self.victim, file)
            self.assertTrue(self.write(how, file))
            self.assertEqual(file.read_text(), "written by root\n")
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
            self.assert_kept()
            os.unlink(file)

    def test_a_pipe_of_others_gets_nothing(self):
        self.make_place(0o1777)
        pipe = self.place / "way/file"
        os.mkfifo(pipe, 0o666)
        os.chown(pipe, OTHER, OTHER)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        for how in ["replace", "stream"]:
            self.assertFalse(self.write(how, pipe))
        self.assertEqual(os.read(reader, 10), b"")
        os.chown(pipe, 0, 0)
        self.assertTrue(self.write("stream", pipe))

    def test_the_way_up_from_a_directory_of_others_does_not_lead_to_ours(self):
        self.make_place(0o755)
        for how in ["replace", "stream"]:
            self.assertFalse(self.write(how, self.place / "../kept/file"))
            self.assert_kept()
            self.assertTrue(self.write(how, self.place / "way/../file"))
            os.unlink(self.place / "file")

    def test_ones_own_link_is_followed(self):
        for mode, owner in [(0o755, 0), (0o1777, 0)]:
            self.make_place(mode, owner)
            for how in ["replace", "stream"]:
                os.symlink(self.victim.parent, self.place / "leading")
                os.symlink("leading/file", self.place / "linked")
                self.assertTrue(self.write(how, self.place / "linked"))
                self.assertEqual(self.victim.read_text(), "written by root\n")
                self.assertTrue((self.place / "linked").is_symlink())
                os.unlink(self.place / "leading")
                os.unlink(self.place / "linked")
            subprocess.run(["rm", "-r", self.place], check=True)

    def test_ones_own_link_that_others_can_rename_is_not_followed(self):
        self.make_place(0o775, 0)
        os.chown(self.place, 0, OTHER)
        os.symlink(self.victim, self.place / "kept")
        subprocess.run(["mv", self.place / "kept", self.place / "file"], check=True, user=OTHER, group=OTHER,
                       extra_groups=[])
        for how in ["replace", "stream"]:
            self.assertFalse(self.write(how, self.place / "file"))
            self.assert_kept()

    @unittest.skipUnless(built("silent_mount"), "needs a compiler")
    def test_a_link_is_not_roots_because_the_file_system_of_another_says_so(self):
        self.make_place(0o755)
        target = pathlib.Path(self.path("target"))
        target.write_text(str(self.victim))
        os.chmod(self.place.parent, 0o1777)
        with SilentMount(self.place, target, OTHER):
            for how in ["replace", "stream"]:
                self.assertFalse(self.write(how, self.place / "link"))
                self.assert_kept()
        with SilentMount(self.place, target):
            self.assertTrue(self.write("stream", self.place / "link"))

    def test_whoever_changes_the_place_meanwhile_does_not_lead_elsewhere(self):
        for mode in [0o1777, 0o777]:
            self.make_place(mode)
            attacker = subprocess.Popen(["python3", "-c", ATTACK, self.place, self.victim],
                                        stdout=subprocess.PIPE, user=OTHER, group=OTHER, extra_groups=[])
            try:
                self.assertEqual(attacker.stdout.readline(), b"ready\n")
                for how in ["replace", "stream"]:
                    # Where the attacker stands still in a bad moment, none of them may be written.
                    support.wait_until(lambda how=how: int(subprocess.run(
                        [DRIVER, how, "3000", self.place / "way/file"], capture_output=True,
                        check=True).stdout))
                self.assertIsNone(attacker.poll())
            finally:
                attacker.kill()
                attacker.communicate()
            self.assert_kept()
            subprocess.run(["rm", "-r", self.place], check=True)

    def test_the_sentence_says_what_to_do(self):
        self.make_place(0o755)
        for name in ["x.tscope", "x.jsonl"]:
            os.symlink(self.victim, self.place / name)
            os.lchown(self.place / name, OTHER, OTHER)
        status, _, err = support.run("capture", "--root", TREE, "-o", self.place / "x.tscope")
        self.assertEqual(status, 2)
        self.assertRegex(err, "x.tscope: Permission denied: .*yours")
        status, _, err = support.run("run", "-o", self.place / "x.jsonl", "--", "true")
        self.assertEqual(status, 125)
        self.assertIn("Permission denied", err)
        self.assert_kept()


class Ended(support.TestCase):
    def test_nothing_stays_behind(self):
        """Ended at any moment, a capture has written its file or none, and no other."""
        before = time.monotonic()
        self.accept("capture", "-q", "--root", TREE, "-o", self.path("whole.tscope"))
        took = time.monotonic() - before
        whole = pathlib.Path(self.path("whole.tscope")).read_bytes()
        place = pathlib.Path(self.path("place"))
        place.mkdir()
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGKILL):
            for part in range(12):
                capture = subprocess.Popen([support.TASKSCOPE, "capture", "-q", "--root", TREE, "-o",
                                            place / "new.tscope"])
                time.sleep(took * part / 10)
                capture.send_signal(number)
                capture.wait(timeout=support.HANG)
                names = [entry.name for entry in place.iterdir()]
                self.assertIn(names, [[], ["new.tscope"]])
                if names:
                    self.assertEqual((place / "new.tscope").read_bytes(), whole)
                    os.unlink(place / "new.tscope")

    def end_driver(self, prefix, number, call, when, old):
        """Ends the driver in one of its calls; what is in the place then is the old file or the new one."""
        place = pathlib.Path(self.path("place"))
        place.mkdir()
        if old:
            (place / "file").write_bytes(old)
        subprocess.run([*prefix, "strace", "-o", self.path("log"), "-e", f"trace={call}", "-e",
                        f"inject={call}:signal={number}:when={when}", DRIVER, "replace", "1",
                        place / "file"], capture_output=True, timeout=support.HANG)
        names = [entry.name for entry in place.iterdir()]
        self.assertIn(names, [["file"]] if old else [[], ["file"]], (old, call, when, number))
        for name in names:
            self.assertIn((place / name).read_bytes(), [old, b"written by root\n"])
            os.unlink(place / name)
        place.rmdir()

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_nothing_stays_behind_after_any_call(self):
        for call, when in [("write", 1), ("fsync", 1), ("linkat", 1), ("linkat", 2), ("renameat", 1)]:
            for number in ["HUP", "TERM", "KILL"]:
                self.end_driver([], number, call, when, None)
                # A file that is replaced has two names for as long as it takes to rename one of them.
                if number != "KILL" or (call, when) not in [("linkat", 2), ("renameat", 1)]:
                    self.end_driver([], number, call, when, b"old")

    @unittest.skipUnless(support.is_root() and shutil.which("strace"), "only root can take /dev away")
    def test_a_file_that_must_have_a_name_loses_it_before_a_signal_comes(self):
        for call in ["openat", "write", "fsync", "renameat"]:
            for number in ["HUP", "TERM"]:
                for old in [None, b"old"]:
                    self.end_driver(["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev && exec "$@"', "sh"],
                                    number, call, 1, old)


class Sentence(support.TestCase):
    """What failed, on what, why, and what to do: the same for every verb with -o."""

    def refuse_both(self, name, says):
        for verb, suffix, status in [(("capture", "-p", os.getpid()), "tscope", 2), (("run",), "jsonl", 125)]:
            path = self.path(f"{name}.{suffix}")
            command = ["--", "true"] if verb[0] == "run" else []
            done, out, err = support.run(*verb, "-o", path, *command)
            self.assertEqual((done, out), (status, ""), err)
            self.assertIn(path, err)
            self.assertIn(says, err)

    def test_a_directory_that_is_not_there(self):
        self.refuse_both("nowhere/x", "No such file or directory: make its directory first")

    @unittest.skipUnless(support.is_root(), "needs root to give a directory away")
    def test_a_link_of_others(self):
        os.mkdir(self.path("place"))
        for suffix in ("tscope", "jsonl"):
            os.symlink("/var/empty/x", self.path(f"place/x.{suffix}"))
        os.chown(self.path("place"), OTHER, OTHER)
        self.refuse_both("place/x", "write to a directory that is yours, by a path without links of others")


if __name__ == "__main__":
    support.main()
