# SPDX-License-Identifier: MIT
"""Heap counters from outside: every thread's numbers are those that jemalloc itself gives, however it
got into the program, with no thread stopped; and a target that lies costs a word about it, no more."""
import os
import pathlib
import shutil
import socket
import subprocess
import time
import unittest

import support

from heap import AS_NOBODY, COUNTERS, HEAP, LIBRARY, NOBODY, Heap, HeapCase, needs_archive, needs_library, needs_root


class Redis:
    """A redis server on a Unix socket, inside a `with`."""

    # Its package has other names for the one program, which goes by how it is called.
    PROGRAM = next(filter(None, map(shutil.which, ["redis-server", "redis-check-rdb"])), None)

    def __init__(self, folder):
        self.path = os.path.join(folder, "redis.socket")
        self.folder = folder

    def __enter__(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "",
             "--daemonize", "no", "--dir", self.folder, "--appendonly", "no"],
            executable=self.PROGRAM, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.pid = self.process.pid
        self.connection = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + support.HANG
        while True:
            try:
                self.connection.connect(self.path)
                break
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.05)
        self.answers = self.connection.makefile("rb")
        return self

    def send(self, *words):
        parts = [str(word).encode() for word in words]
        self.connection.sendall(b"*%d\r\n" % len(parts)
                                + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))

    def answer(self):
        line = self.answers.readline()
        if line[:1] != b"$":
            return line[1:].strip().decode()
        return self.answers.read(int(line[1:]) + 2)[:-2].decode()

    def ask(self, *words):
        self.send(*words)
        return self.answer()

    def memory(self):
        """What it says about its memory, by name."""
        lines = self.ask("INFO", "memory").splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def __exit__(self, *_):
        self.answers.close()
        self.connection.close()
        self.process.terminate()
        self.process.wait(timeout=support.HANG)


class Programs(HeapCase):
    def check_program(self, name, source, route, preload=None):
        with self.subTest(program=name, source=source), Heap(HEAP / name, preload=preload) as heap:
            document = self.capture(heap.pid, "--source", source)
            self.check_equal(heap, document)
            self.assertTrue(self.route(document, heap.pid).startswith(route))
            heap.allocate_more()
            self.check_equal(heap, self.capture(heap.pid, "--source", source))

    def check_by_each_source(self, name, route, preload=None):
        for source in ("auto", "procfs"):
            self.check_program(name, source, route, preload)

    @needs_library
    def test_a_library_that_the_program_is_linked_with(self):
        self.check_by_each_source("linked", "library,")

    @needs_library
    def test_a_library_that_was_preloaded(self):
        self.check_by_each_source("plain", "library,", preload=LIBRARY)

    @needs_archive
    def test_jemalloc_inside_a_dynamic_program(self):
        self.check_by_each_source("inside", "executable,")

    @needs_archive
    def test_jemalloc_inside_a_static_program(self):
        self.check_by_each_source("static", "executable,")

    def test_debug_information_in_the_program(self):
        self.check_by_each_source("described", "executable,")

    def test_a_library_that_is_opened_while_the_program_runs(self):
        """Its storage has no fixed place: each thread's is found by that thread's own list."""
        self.check_by_each_source("opens", "library,")

    def test_debug_information_in_a_file_of_its_own(self):
        self.check_by_each_source("apart", "executable,")

    @needs_archive
    def test_a_stripped_program_says_why_not(self):
        for name in ("inside_stripped", "static_stripped"):
            with self.subTest(program=name), Heap(HEAP / name) as heap:
                self.check_absent(heap, self.capture(heap.pid), "symbols-stripped", "stripped")

    def test_a_program_without_jemalloc_is_no_failure(self):
        with support.Workload() as workload:
            document = self.capture(workload.pid)
        tally = self.tally(document)
        self.assertEqual((tally["walked"], tally["detected"], tally["failed"]), (1, 0, 0))
        for thread in document["threads"]:
            self.assertNotIn("allocated_bytes", thread)

    @needs_library
    def test_processes_of_one_program_are_told_apart(self):
        """The same file, with and without a preloaded library."""
        with Heap(HEAP / "described") as without, \
                Heap(HEAP / "described", preload=LIBRARY) as preloaded, \
                Heap(HEAP / "linked") as linked:
            pids = f"{without.pid},{linked.pid},{preloaded.pid}"
            document = self.capture(pids)
            self.assertEqual(self.tally(document)["read"], 3)
            threads = {t["tid"]: t for t in document["threads"]}
            for heap in (without, linked):
                for (tid, name), value in heap.expected.items():
                    self.assertEqual(threads[tid][name], value)

    def start_all(self, heaps):
        return [self.enterContext(heap) for heap in heaps]

    def start_copies(self):
        """Processes of one program that are all alike but for the file of their library; its copies."""
        libraries = [LIBRARY] + [self.copy(LIBRARY, f"copy-{number}.so") for number in range(3)]
        return self.start_all(Heap(HEAP / "plain", preload=each) for each in libraries), libraries

    def capture_all(self, heaps):
        """On a busy machine a capture may not have the time to ask all of them."""
        pids = ",".join(str(heap.pid) for heap in heaps)
        support.wait_until(lambda: self.tally(self.capture(pids))["read"] == len(heaps))
        return pids

    @needs_library
    def test_copies_of_a_library_in_processes_of_one_program(self):
        heaps, _ = self.start_copies()
        self.check_all(heaps, self.capture(self.capture_all(heaps)))

    @needs_library
    @needs_root  # a file that has no name any more is opened by its mapping
    def test_a_copy_that_was_replaced_since_it_was_asked(self):
        heaps, libraries = self.start_copies()
        self.capture_all(heaps)
        os.replace(self.copy(LIBRARY, "upgrade.so"), libraries[1])
        heaps += self.start_all([Heap(HEAP / "plain", preload=libraries[1])])
        pids = self.capture_all(heaps)
        for source in ("auto", "procfs"):
            self.check_all(heaps, self.capture(pids, "--source", source))
        # Nor do they drive each other out of what is kept.
        document = self.capture(pids)
        routes = {self.route(document, heap.pid).split(", ")[1] for heap in heaps}
        self.assertEqual(routes, {"cached"})

    @needs_archive
    def test_symbols_in_a_file_of_their_own(self):
        """Without debug information they are enough to ask the program itself."""
        self.check_by_each_source("inside_named", "executable,")

    @needs_archive
    def test_a_debug_file_without_a_word_about_it(self):
        with Heap(HEAP / "inside_unnamed") as heap:
            self.check_absent(heap, self.capture(heap.pid), "debug-file-silent", "debug file")

    @needs_root
    def test_a_library_that_never_answers_is_asked_once(self):
        library = self.copy(HEAP / "silent.so")
        watch = self.key_of(NOBODY)
        with Heap(HEAP / "plain", preload=library, HEAP_AWAKE="1") as heap:
            # It is asked again as long as the CPUs were too busy to blame it.
            support.wait_until(lambda: self.route(self.capture(heap.pid), heap.pid) == "oracle-timeout")
            self.assertTrue(watch.has_seen())
            self.check_absent(heap, self.capture(heap.pid), "oracle-timeout", "in time")
            self.assertFalse(watch.has_seen())
            document = self.capture(heap.pid, "--no-jemalloc-oracle")
            self.check_absent(heap, document, "oracle-off", "--no-jemalloc-oracle")

    @needs_library
    def test_no_oracle_is_asked_when_it_is_off(self):
        library = self.copy(LIBRARY)
        with Heap(HEAP / "plain", preload=library) as heap:
            document = self.capture(heap.pid, "--no-jemalloc-oracle")
            self.check_absent(heap, document, "oracle-off", "--no-jemalloc-oracle")
            self.check_equal(heap, self.capture(heap.pid))
            # Nor is what it once said believed then.
            document = self.capture(heap.pid, "--no-jemalloc-oracle")
            self.check_absent(heap, document, "oracle-off", "--no-jemalloc-oracle")

    @needs_library
    def test_a_source_that_is_left_out_is_not_read(self):
        with Heap(HEAP / "linked") as heap:
            document = self.capture(heap.pid, "--without", "jemalloc")
            self.assertNotIn("jemalloc", document["capture"])
            self.assertNotIn("allocated_bytes", document["threads"][0])
            self.assertIn("allocated_bytes", document["absent"])

    @needs_library
    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_no_thread_is_stopped(self):
        trace = self.path("trace")
        with Heap(HEAP / "linked") as heap:
            self.check_equal(heap, self.capture(heap.pid))  # the offsets are known now
            for source in ("auto", "procfs"):
                strace = ["strace", "-f", "-o", trace, "-e", "trace=ptrace,process_vm_readv,kill"]
                self.check_equal(heap, self.capture(heap.pid, "--source", source, prefix=strace))
                calls = pathlib.Path(trace).read_text()
                self.assertIn("process_vm_readv", calls)
                self.assertNotIn("ptrace(", calls)
                self.assertNotIn("SIGSTOP", calls)

    @needs_library
    def test_a_thousand_threads(self):
        with Heap(HEAP / "linked", 1000) as heap:
            for source in ("auto", "procfs"):
                self.check_equal(heap, self.capture(heap.pid, "--source", source))

    def check_churn(self, heap, captures=8):
        """No thread has a number that is another's, and those that stay have theirs."""
        for source in ("auto", "procfs"):
            for _ in range(captures):
                document = self.capture(heap.pid, "--source", source)
                found = [(t["tid"], t["allocated_bytes"], t["deallocated_bytes"])
                         for t in document["threads"] if "allocated_bytes" in t]
                wrong = [row for row in found if set(row[1:]) - {0, row[0]}]
                self.assertEqual(wrong, [], source)
                self.assertGreaterEqual(len(found), 1 + 4)

    def test_a_thread_that_took_the_stack_of_another(self):
        for name in ("churn", "churn_linked"):
            with self.subTest(program=name), Heap(HEAP / name) as heap:
                self.check_churn(heap)

    @needs_library
    @needs_root
    def test_another_pid_namespace(self):
        """Threads have other numbers inside than here."""
        if not support.has_namespaces():
            self.skipTest("needs namespaces")
        with Heap(HEAP / "linked", prefix=support.NAMESPACE) as heap:
            pid = self.inner_pid(heap.process.pid)
            for source in ("auto", "procfs"):
                document = self.capture(pid, "--source", source)
                found = sorted(t[name] for t in document["threads"] for name in COUNTERS)
                self.assertEqual(found, sorted(heap.expected.values()), source)
                self.assertEqual(self.tally(document)["stopped_ns"], 0, source)

    @needs_root
    def test_another_pid_namespace_where_threads_come_and_go(self):
        """Those that stay are read, although they have other numbers inside."""
        if not support.has_namespaces():
            self.skipTest("needs namespaces")
        with Heap(HEAP / "churn_linked", prefix=support.NAMESPACE) as heap:
            for source in ("auto", "procfs"):
                document = self.capture(self.inner_pid(heap.process.pid), "--source", source)
                self.assertGreaterEqual(self.tally(document)["threads_read"], 1 + 4)

    @needs_library
    @needs_root
    def test_another_pid_namespace_with_the_numbers_of_a_process_here(self):
        """Each of two processes whose threads have the same numbers has its own values."""
        if not support.has_namespaces():
            self.skipTest("needs namespaces")
        with Heap(HEAP / "linked") as here, \
                Heap(HEAP / "linked", prefix=[*support.NAMESPACE, "sh", "-c",
                                              f'echo {here.pid - 1} >/proc/sys/kernel/ns_last_pid; "$@"; true',
                                              "sh"]) as there:
            self.assertEqual(here.pid, there.pid)
            here.allocate_more()
            pid = self.inner_pid(self.inner_pid(there.process.pid))
            for source in ("auto", "procfs"):
                document = self.capture(f"{here.pid},{pid}", "--source", source)
                self.assertEqual(self.tally(document)["read"], 2, self.show)
                self.assertEqual(self.tally(document)["stopped_ns"], 0, source)
                for heap, tgid in ((here, here.pid), (there, pid)):
                    found = sorted(t[name] for t in document["threads"] if t["tgid"] == tgid
                                   for name in COUNTERS)
                    self.assertEqual(found, sorted(heap.expected.values()), source)

    def inner_pid(self, parent):
        tasks = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        self.assertEqual(len(tasks), 1)
        return int(tasks[0])


@needs_root
class Places(HeapCase):
    """Where taskscope itself lacks something, it does not blame those it looks at."""

    # A copy, so that files must be read; with debug information, so that no code is run.
    def test_no_dev_null(self):
        inside = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev && exec "$@"', "sh"]
        with Heap(self.copy(HEAP / "described")) as heap:
            self.check_equal(heap, self.capture(heap.pid, prefix=inside))

    def test_few_descriptors(self):
        few = ["sh", "-c", 'ulimit -n 20; exec "$@"', "sh"]
        with Heap(self.copy(HEAP / "described")) as heap:
            document = self.capture(heap.pid, prefix=few)
            if self.tally(document)["read"]:
                self.check_equal(heap, document)
                return
            self.assertIn("too many open files", document["absent"]["allocated_bytes"])
            self.assertIn("ulimit -n", document["absent"]["allocated_bytes"])
            self.assertEqual(self.tally(document)["failures"], {"no-descriptors": 1})


@needs_root
class Users(HeapCase):
    @needs_library
    def test_a_plain_user_reads_what_is_theirs(self):
        with Heap(HEAP / "linked", prefix=AS_NOBODY) as heap:
            self.check_equal(heap, self.capture_as_nobody(heap.pid))

    @needs_library
    def test_a_plain_user_is_told_what_is_not(self):
        with Heap(HEAP / "linked") as heap:
            document = self.capture_as_nobody(heap.pid)
            for name in COUNTERS:
                self.assertNotIn(name, document["threads"][0])
                self.assertIn("CAP_SYS_PTRACE", document["absent"][name])
            self.assertEqual(self.tally(document)["read"], 0)

    @needs_library
    def test_a_program_of_a_plain_user_is_read_by_root(self):
        with Heap(HEAP / "plain", preload=self.copy(LIBRARY), prefix=AS_NOBODY) as heap:
            self.check_equal(heap, self.capture(heap.pid))

    @needs_library
    def test_a_library_that_is_gone_from_its_folder(self):
        """Nobody can say any more whose it was, unless it was asked before."""
        library = self.copy(LIBRARY)
        with Heap(HEAP / "plain", preload=library) as heap:
            os.unlink(library)
            self.check_absent(heap, self.capture(heap.pid), "oracle-untrusted", "restart the process")
        library = self.copy(LIBRARY)
        with Heap(HEAP / "plain", preload=library) as heap:
            self.check_equal(heap, self.capture(heap.pid))
            os.unlink(library)
            self.check_equal(heap, self.capture(heap.pid))

    @needs_library
    def test_a_plain_user_is_told_of_a_library_that_is_out_of_reach(self):
        """It was deleted; only its very mapping leads to it, and that takes a right."""
        library = self.copy(LIBRARY)
        with Heap(HEAP / "plain", preload=library, prefix=AS_NOBODY) as heap:
            os.unlink(library)
            document = self.capture_as_nobody(heap.pid)
            for name in COUNTERS:
                self.assertIn("CAP_CHECKPOINT_RESTORE", document["absent"][name])
            tally = self.tally(document)
            self.assertEqual((tally["failed"], tally["failures"]), (1, {"file-unreadable": 1}))
            self.assertIs(tally["privilege_dominant"], True)

    @needs_library
    def test_a_plain_user_reads_a_program_that_is_gone_from_its_folder(self):
        for name in ("linked", "described"):
            program = self.copy(HEAP / name)
            with self.subTest(program=name), Heap(program, prefix=AS_NOBODY) as heap:
                os.unlink(program)
                self.check_equal(heap, self.capture_as_nobody(heap.pid))

    @needs_library
    def test_a_plain_user_who_can_keep_nothing_is_told(self):
        with Heap(HEAP / "linked", prefix=AS_NOBODY) as heap:
            document = self.capture_as_nobody(heap.pid)
            self.check_equal(heap, document)
            self.assertNotIn("cache_unavailable", self.tally(document))
            document = self.capture_as_nobody(heap.pid, HOME="/", XDG_CACHE_HOME="/")
            self.check_equal(heap, document)
            reason = self.tally(document)["cache_unavailable"]
            self.assertRegex(reason, "Permission denied|Read-only file system")
            self.assertIn("cache_unavailable", self.show)


class Hostile(HeapCase):
    """Whatever a target does, the capture ends soon, says so, and reads the others."""

    def check_survives(self, target_pid, heap, seconds=support.HANG):
        for source in ("auto", "procfs"):
            start = time.monotonic()
            document = self.capture(f"{target_pid},{heap.pid}", "--source", source)
            self.assertLess(time.monotonic() - start, seconds)
            found = {(t["tid"], name): t[name] for t in document["threads"] for name in COUNTERS
                     if t["tgid"] == heap.pid}
            self.assertEqual(found, heap.expected)
            yield document

    @needs_library
    def test_targets_that_lie_about_their_memory(self):
        for way in ("loop", "names", "lists", "churn"):
            with self.subTest(way=way), Heap(HEAP / "linked") as heap, \
                    Heap(HEAP / "hostile", way, preload=LIBRARY) as hostile:
                for document in self.check_survives(hostile.pid, heap):
                    self.assertTrue(self.route(document, hostile.pid))
                self.assertIsNone(hostile.process.poll())

    @needs_library
    def test_threads_are_stopped_where_nothing_else_tells(self):
        """And what that took is told."""
        with Heap(HEAP / "hostile", "lists", preload=LIBRARY) as hostile:
            tally = self.tally(self.capture(hostile.pid, "--source", "procfs"))
            self.assertEqual((tally["threads_read"], tally["threads_missed"]), (5, 0))
            self.assertGreater(tally["stopped_ns"], 0)
            support.wait_for_idle(hostile.pid)

    @needs_library
    def test_files_that_are_damaged(self):
        good = pathlib.Path(HEAP / "described").read_bytes()
        debug = good.rindex(b"cant_access_tsd_items")
        for name, start, end in (("sections", len(good) - 2000, len(good)),
                                 ("debug", debug - 3000, debug), ("cut", None, None)):
            with self.subTest(damage=name), Heap(HEAP / "linked") as heap, \
                    Heap(self.damaged(good, name, start, end)) as target:
                for document in self.check_survives(target.pid, heap):
                    self.assertEqual(self.tally(document)["read"], 1)
                    self.assertEqual(sum(self.tally(document)["failures"].values()), 1)

    def damaged(self, good, name, start, end):
        """A program that runs all the same: what is damaged is not loaded."""
        bad = good[:-4000] if start is None else good[:start] + b"\xa5" * (end - start) + good[end:]
        path = self.path(name)
        with open(path, "wb") as out:
            out.write(bad)
        os.chmod(path, 0o755)
        return path


@unittest.skipUnless(Redis.PROGRAM, "needs redis")
class Server(HeapCase):
    KEYS = 20000
    VALUE = 1000

    def heap_of(self, redis, *words):
        """Bytes that its threads hold by our reading."""
        document = self.capture(redis.pid, *words)
        self.assertEqual(self.tally(document)["read"], 1, self.show)
        self.assertGreater(len(document["threads"]), 3)
        return sum(t["allocated_bytes"] - t["deallocated_bytes"] for t in document["threads"])

    def test_redis_holds_what_it_says(self):
        with Redis(self.folder.name) as redis:
            if "jemalloc" not in redis.memory()["mem_allocator"]:
                self.skipTest("this redis does not use jemalloc")
            before = self.heap_of(redis)
            for i in range(self.KEYS):
                redis.send("SET", f"key:{i}", "v" * self.VALUE)
                redis.answer()
            for source in ("auto", "procfs"):
                held = self.heap_of(redis, "--source", source)
                said = int(redis.memory()["used_memory"])
                self.assertGreater(held - before, self.KEYS * self.VALUE)
                self.assertLess(abs(held - said), 0.03 * said, f"{held} here, {said} by redis")


if __name__ == "__main__":
    support.main()
