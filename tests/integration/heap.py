# SPDX-License-Identifier: MIT
"""What the tests of heap counters share: programs with jemalloc, and captures of them."""
import atexit
import contextlib
import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import support

HEAP = pathlib.Path(os.environ["TASKSCOPE_HEAP"])
# Nobody but root, or who runs the tests, can write to it: code in it may be run.
TRUSTED = "/var/lib" if support.is_root() else os.path.expanduser("~")
NOBODY = 65534


def as_user(user, *capabilities):
    """A prefix to a command that makes who runs it a plain user, but for some capabilities."""
    sets = ",".join(f"+{capability}" for capability in capabilities)
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
            *([f"--inh-caps={sets}", f"--ambient-caps={sets}"] if sets else [])]


AS_NOBODY = as_user(NOBODY)
KEY = "taskscope-test-key"  # as heap_stranger.c has it
IN_OPEN = 0x20
COUNTERS = ("allocated_bytes", "deallocated_bytes")


def is_trusted(path):
    """Whether nobody but root and us can write to a folder, or put another in its place."""
    for place in (path, *path.parents):
        status = os.stat(place)
        if status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
            return False
    return True


def copy_to_trusted(folder):
    """What is built where anybody can write is not run by anybody who is careful."""
    place = tempfile.mkdtemp(dir=TRUSTED)
    os.chmod(place, 0o755)
    atexit.register(shutil.rmtree, place)
    shutil.copytree(folder, place, dirs_exist_ok=True)
    return pathlib.Path(place)


HEAP = HEAP if is_trusted(HEAP) else copy_to_trusted(HEAP)


def find_library():
    """The shared jemalloc of this machine, or None."""
    linked = subprocess.run(["ldd", HEAP / "linked"], capture_output=True).stdout.decode()
    paths = [line.split()[2] for line in linked.splitlines() if "libjemalloc.so" in line]
    return paths[0] if paths and os.path.exists(paths[0]) else None


def built(name):
    return (HEAP / name).exists()


LIBRARY = find_library() if built("linked") else None
needs_library = unittest.skipUnless(LIBRARY, "needs libjemalloc")
needs_archive = unittest.skipUnless(built("static") and built("inside"), "needs libjemalloc.a")
needs_root = unittest.skipUnless(support.is_root(), "needs root")


class Heap:
    """A program that runs inside a `with`, and what it said of itself."""

    def __init__(self, program, *arguments, preload=None, prefix=(), **environment):
        self.command = [*prefix, str(program), *map(str, arguments)]
        self.environment = dict(os.environ, **environment,
                                **({"LD_PRELOAD": str(preload)} if preload else {}))

    def __enter__(self):
        self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.roles = {}
        self.expected = {}
        self.listen()
        return self

    def listen(self):
        for line in self.process.stdout:
            words = line.decode().split()
            if words[0] == "process":
                self.pid = int(words[1])
            elif words[0] == "thread":
                self.roles[int(words[1])] = words[2]
            elif words[0] == "expect":
                self.expected[int(words[1]), words[2]] = int(words[3])
            elif words[0] == "ready":
                return
        raise AssertionError("the program ended before it was ready")

    def allocate_more(self):
        self.process.stdin.write(b"x")
        self.process.stdin.flush()
        self.listen()

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=support.HANG)
        self.process.stdout.close()


class Watch:
    """Whether anybody opened a file, inside a `with`."""

    def __init__(self, path):
        self.path = path
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        self.events = self.libc.inotify_init1(os.O_NONBLOCK)
        if self.libc.inotify_add_watch(self.events, os.fsencode(self.path), IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), self.path)
        return self

    def has_seen(self):
        with contextlib.suppress(BlockingIOError):
            return bool(os.read(self.events, 4096))
        return False

    def __exit__(self, *_):
        os.close(self.events)


def may_trace():
    """Whether Yama lets a user look at processes that are not their children."""
    setting = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    return support.is_root() or not setting.exists() or setting.read_text().strip() == "0"


@unittest.skipUnless(may_trace(), "needs root, or kernel.yama.ptrace_scope=0")
class HeapCase(support.TestCase):
    """What the tests below share; has none of its own."""

    def key_of(self, user):
        """A watch on a key that only its owner can read, in a folder that only its owner can enter."""
        self.place = os.path.join(TRUSTED, KEY)
        self.key = os.path.join(self.place, KEY)
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        os.makedirs(self.place, exist_ok=True)
        with open(self.key, "w", encoding="ascii"):
            os.chmod(self.key, 0o600)
        os.chmod(self.place, 0o700)
        for path in (self.key, self.place):
            os.chown(path, user, user)
        return self.enterContext(Watch(self.key))

    def capture(self, pid, *words, prefix=(), **options):
        path = self.path("heap.tscope")
        self.accept("capture", "-q", "-p", pid, "-o", path, *words, prefix=prefix, **options)
        return self.shown(path)

    def shown(self, path):
        self.show = support.run("show", path, "--sections", "heap")[1]
        return support.show_threads(path)

    def capture_as(self, user, pid, *words, capabilities=(), **environment):
        """By a user who has learned nothing yet, but what an earlier one in this test did."""
        folder = self.path(f"user-{user}")
        os.makedirs(folder, exist_ok=True)
        os.chown(folder, user, user)
        path = os.path.join(folder, "heap.tscope")
        self.accept("capture", "-q", "-p", pid, "-o", path, *words, prefix=as_user(user, *capabilities),
                    env=dict(os.environ, HOME=folder, XDG_CACHE_HOME=folder) | environment)
        return self.shown(path)

    def capture_as_nobody(self, pid, *words, **environment):
        return self.capture_as(NOBODY, pid, *words, **environment)

    def setUp(self):
        super().setUp()
        os.chmod(self.folder.name, 0o755)
        self.trusted = self.enterContext(tempfile.TemporaryDirectory(dir=TRUSTED))
        os.chmod(self.trusted, 0o755)

    def copy(self, file, name=None, folder=None, owner=None):
        """A copy that no cache knows; in a folder that only root can write to, unless it is told."""
        name = os.path.join(folder or self.trusted, name or os.path.basename(file))
        shutil.copyfile(file, name)
        os.chmod(name, 0o755)
        if owner is not None:
            os.chown(name, owner, owner)
        return name

    def tally(self, document):
        return document["capture"]["jemalloc"]

    def route(self, document, pid):
        return {p["tgid"]: p.get("jemalloc") for p in document["processes"]}.get(pid)

    def check_equal(self, heap, document):
        """All that it said, and nothing of any other thread."""
        threads = {t["tid"]: t for t in document["threads"]}
        found = {(tid, name): t[name] for tid, t in threads.items() for name in COUNTERS if name in t}
        self.assertEqual(found, heap.expected, self.show)
        self.assertEqual(set(heap.roles.values()), {"main", "idle", "sleeping", "spinning"})
        self.assertEqual(set(threads), set(heap.roles))
        tally = self.tally(document)
        self.assertEqual((tally["detected"], tally["read"], tally["failed"]), (1, 1, 0))
        self.assertEqual(tally["threads_read"], len(heap.roles))
        self.assertEqual(tally["stopped_ns"], 0)

    def check_all(self, heaps, document):
        """Each of several processes has its own numbers."""
        found = {(t["tid"], name): t[name] for t in document["threads"] for name in COUNTERS if name in t}
        expected = {}
        for heap in heaps:
            expected |= heap.expected
        self.assertEqual(found, expected)
        tally = self.tally(document)
        self.assertEqual((tally["detected"], tally["read"], tally["failed"]), (len(heaps),) * 2 + (0,))

    def check_absent(self, heap, document, tag, says):
        """No thread has a number, and the reason is everywhere that somebody may look."""
        for thread in document["threads"]:
            for name in COUNTERS:
                self.assertNotIn(name, thread)
        for name in COUNTERS:
            self.assertIn(says, document["absent"][name])
        self.assertEqual(self.route(document, heap.pid), tag)
        tally = self.tally(document)
        self.assertEqual((tally["read"], tally["failed"]), (0, 1))
        self.assertEqual(tally["dominant_failure"], tag)
        self.assertEqual(tally["failures"], {tag: 1})
        self.assertEqual(tally["stopped_ns"], 0)
        self.assertIn(tag, self.show)
