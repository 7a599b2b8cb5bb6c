# SPDX-License-Identifier: MIT
"""taskstats: what the kernel tells by netlink is what the task iterator sees, and a task that cannot
be known to be measured is absent."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import support
from kernel import has_bpf, has_taskstats

SWITCH = pathlib.Path("/proc/sys/kernel/task_delayacct")
UNPRIVILEGED = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
FAMILIES = ["blkio", "swapin", "freepages", "thrashing", "compact", "wpcopy", "irq"]

# Waits for storage, shares pages with a child and writes to them, then sleeps: so does each thread.
WAITING = """
import mmap, os, sys, tempfile, threading
def wait_for_storage():
    file = tempfile.TemporaryFile(dir="/var/tmp")  # /tmp may be memory
    fd = file.fileno()
    for _ in range(30):
        os.write(fd, b"x" * 65536)
        os.fsync(fd)
    block = mmap.mmap(-1, 65536)
    try:
        direct = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_DIRECT)
        for i in range(30):
            os.preadv(direct, [block], i * 65536)
    except OSError:
        pass
    done.wait()
done = threading.Barrier(4)
threads = [threading.Thread(target=lambda: (wait_for_storage(), never.wait()), daemon=True)
           for _ in range(3)]
never = threading.Event()
memory = bytearray(1 << 20)
for thread in threads:
    thread.start()
done.wait()
child = os.fork()
if child == 0:
    sys.stdin.read()
    os._exit(0)
for i in range(0, len(memory), 4096):
    memory[i] = 1
print("ready", flush=True)
sys.stdin.read()
"""


def captured(path, *words, prefix=()):
    status, _, err = support.run("capture", "-q", "-o", path, *words, prefix=prefix)
    return support.show_threads(path) if status == 0 else err


@contextlib.contextmanager
def accounting(on):
    """Switches delay accounting, and puts it back."""
    before = SWITCH.read_text()
    SWITCH.write_text(f"{on}\n")
    try:
        yield
    finally:
        SWITCH.write_text(before)


@contextlib.contextmanager
def sleeping(*command):
    """A process that says when it sleeps, and ends with its standard input."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        support.wait_for_idle(process.pid)
        yield process.pid
    finally:
        process.stdin.close()
        process.wait(timeout=support.HANG)
        process.stdout.close()


def waiting():
    return sleeping(sys.executable, "-c", WAITING)


def delays(thread):
    return {key: value for key, value in thread.items()
            if any(key.startswith(family + "_delay_") for family in FAMILIES + ["cpu"])}


def delay_records(thread):
    return {key: value for key, value in delays(thread).items() if not key.startswith("cpu_")}


def sources(document):
    return {source["name"]: source for source in document["sources"]}


@unittest.skipUnless(support.is_root() and SWITCH.exists() and has_taskstats(),
                     "needs root, and a kernel with CONFIG_TASKSTATS and CONFIG_TASK_DELAY_ACCT")
class Taskstats(support.TestCase):
    def capture(self, pid, *words):
        document = captured(self.path("x.tscope"), "-p", pid, *words)
        self.assertIsInstance(document, dict, document)
        return document

    @unittest.skipUnless(has_bpf(), "needs the BPF task iterator")
    def test_it_tells_what_the_iterator_sees(self):
        with accounting(1), waiting() as pid:
            bpf = self.capture(pid, "--source", "bpf")
            procfs = self.capture(pid, "--source", "procfs")
        seen = {thread["tid"]: thread for thread in bpf["threads"]}
        self.assertEqual(set(seen), {thread["tid"] for thread in procfs["threads"]})
        nonzero, late = 0, []
        for thread in procfs["threads"]:
            told = delays(thread)
            late += set(told) - set(seen[thread["tid"]])
            for key in set(told) & set(seen[thread["tid"]]):
                self.assertEqual(seen[thread["tid"]][key], told[key], key)
                nonzero += told[key] != 0
            # What is not told is what never happened.
            for key in set(delay_records(seen[thread["tid"]])) - set(told):
                self.assertEqual(seen[thread["tid"]][key], 0, key)
        self.assertGreater(nonzero, 8)
        # The kernel may book more than the thread had lived at the first capture, but not at the second.
        discarded = [document["capture"]["discarded_values"] for document in (bpf, procfs)]
        self.assertEqual(len(late), discarded[0] - discarded[1], late)
        self.assertEqual(sources(bpf)["taskstats"]["state"], "off")
        self.assertIn("not needed", sources(bpf)["taskstats"]["reason"])
        self.assertEqual(procfs["capture"]["taskstats"]["ok"], len(seen))

    def test_a_task_that_waited_has_every_family(self):
        with accounting(1), waiting() as pid:
            document = self.capture(pid, "--source", "procfs")
        told = [delay_records(thread) for thread in document["threads"]]
        self.assertTrue(any(thread.get("blkio_delay_total_ns") or
                            thread.get("wpcopy_delay_total_ns") for thread in told))
        keys = {key for thread in told for key in thread}
        for family in FAMILIES[:3]:
            self.assertIn(f"{family}_delay_count", keys)
        # Some kernels book a wait from boot on, which is left out and counted.
        missing = [key for thread in told if thread for key in keys - set(thread)]
        self.assertEqual(len(missing), document["capture"]["discarded_values"], missing)

    def test_a_task_started_while_accounting_was_off_is_absent(self):
        with accounting(0), waiting() as pid:
            off = self.capture(pid, "--source", "procfs")
            with accounting(1):
                on = self.capture(pid, "--source", "procfs")
        for thread in off["threads"] + on["threads"]:
            self.assertEqual(delay_records(thread), {})
        self.assertIn("kernel.task_delayacct is 0", off["absent"]["blkio_delay_count"])
        self.assertIn("accounting was off when the task was started",
                      on["absent"]["blkio_delay_count"])

    def test_without_the_capability_it_is_named(self):
        program = self.path("taskscope")
        shutil.copy(support.TASKSCOPE, program)
        os.chmod(program, 0o755)
        os.chmod(self.folder.name, 0o777)
        subprocess.run([*UNPRIVILEGED, program, "capture", "-q", "--source", "procfs",
                        "-o", self.path("x.tscope")], check=True, timeout=support.HANG)
        document = support.show_threads(self.path("x.tscope"))
        self.assertEqual(sources(document)["taskstats"]["state"], "unavailable")
        for text in [sources(document)["taskstats"]["reason"],
                     document["absent"]["cpu_delay_max_ns"]]:
            self.assertIn("CAP_NET_ADMIN", text)
        self.assertEqual(document["capture"]["taskstats"]["eperm"], len(document["threads"]))
        told = subprocess.run([*UNPRIVILEGED, program, "doctor", "-v"], check=True, timeout=support.HANG,
                              capture_output=True).stdout.decode()
        self.assertIn("CAP_NET_ADMIN", told)

    def test_it_can_be_left_out(self):
        document = self.capture(os.getpid(), "--source", "procfs", "--without", "taskstats")
        self.assertEqual(sources(document)["taskstats"]["state"], "off")
        self.assertIn("--without taskstats", document["absent"]["cpu_delay_max_ns"])
        self.assertNotIn("taskstats", document["capture"])

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_a_full_queue_loses_nothing(self):
        # The first answer is the family's; the second call is told that answers were dropped.
        trace = ["strace", "-f", "-o", self.path("trace"), "-e", "trace=recvmmsg",
                 "-e", "inject=recvmmsg:error=ENOBUFS:when=2"]
        with accounting(1), waiting() as pid:
            document = captured(self.path("x.tscope"), "-p", pid, "--source", "procfs",
                                prefix=trace)
        if not isinstance(document, dict):
            self.skipTest(document)
        if "INJECTED" not in pathlib.Path(self.path("trace")).read_text():
            self.skipTest("strace cannot interfere here")
        self.assertEqual(document["capture"]["taskstats"]["ok"], len(document["threads"]))
        self.assertTrue(any(delay_records(thread) for thread in document["threads"]))


if __name__ == "__main__":
    support.main()
