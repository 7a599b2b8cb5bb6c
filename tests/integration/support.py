# SPDX-License-Identifier: MIT
"""What the integration tests share: running taskscope, and the workload."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

TASKSCOPE = os.environ["TASKSCOPE"]
WORKLOAD = os.environ["TASKSCOPE_WORKLOAD"]
ROOT = pathlib.Path(os.environ["TASKSCOPE_SOURCE"])


def run(*words, prefix=(), **options):
    """Runs taskscope; gives status, standard output and standard error as text."""
    done = subprocess.run([*prefix, TASKSCOPE, *map(str, words)], capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=HANG, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def go_first():
    """For a process that is about to sample, or to be sampled: others of this host shall not decide."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -15)
    # Where each session has an equal share, that counts only inside of it.
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text("-15")


def show_threads(path):
    """The JSON of `show -g thread`, checked for success."""
    status, out, err = run("show", path, "-g", "thread", "--format", "json")
    if status != 0:
        raise AssertionError(f"show {path}: {err}")
    return json.loads(out)


def is_root():
    return os.geteuid() == 0


# Who runs the tests in the background may ignore or block signals, which every child would then do
# too.  These two are ignored by Python itself, and not by its children.
for _number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, [])

# What hangs is told from what is slow by this many seconds.
HANG = 300


def wait_until(condition, seconds=HANG):
    """The first true value of the condition."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def comm_of(pid):
    return pathlib.Path(f"/proc/{pid}/comm").read_text().rstrip("\n")


def run_time(pid):
    """For how long the first thread of a process was on a CPU, in nanoseconds."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def threads_of(pid):
    """The state of every thread of a process, and how often it was switched."""
    threads = {}
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        fields = dict(line.split(":", 1) for line in
                      path.read_text(errors="replace").splitlines() if ":" in line)
        threads[path.parent.name] = (fields["State"].split()[0],
                                     fields["voluntary_ctxt_switches"],
                                     fields["nonvoluntary_ctxt_switches"])
    return threads


def wait_for_idle(*pids):
    """Until all threads of these processes sleep, so that nobody is left to wake another.

    Who sleeps in two looks without a switch in between slept all the time.
    """
    def idle():
        looks = [[threads_of(pid) for pid in pids] for _ in range(2)]
        states = {thread[0] for threads in looks[0] for thread in threads.values()}
        return states <= {"S", "Z"} and looks[0] == looks[1]

    wait_until(idle)


# A PID namespace with a proc mount of its own; a container may forbid it even to root.
NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"]


def has_namespaces():
    return is_root() and subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode == 0


class Workload:
    """The workload, running and idle inside a `with`; knows what it said."""

    def __enter__(self):
        self.process = subprocess.Popen([WORKLOAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.names = {}
        self.roles = {}
        self.expected = []
        for line in self.process.stdout:
            words = line.decode().split()
            if words[0] == "process":
                self.pid = int(words[1])
            elif words[0] == "thread":
                self.roles[words[2]] = int(words[1])
                self.names[int(words[1])] = bytes.fromhex(words[3] if len(words) > 3 else "")
            elif words[0] == "expect":
                self.expected.append((int(words[1]), words[2], int(words[3]), int(words[4])))
            elif words[0] == "ready":
                wait_for_idle(self.pid)
                return self
        raise AssertionError("the workload ended before it was ready")

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=HANG)
        self.process.stdout.close()


# A Python program whose first thread ends at once, while another sleeps on.
LEADERLESS = """import ctypes, platform, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
print(flush=True)
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
"""


def wait_for_leaderless(process):
    """Until the first thread of such a program is a zombie."""
    process.stdout.readline()
    path = f"/proc/{process.pid}/stat"
    while pathlib.Path(path).read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)


class TestCase(unittest.TestCase):
    """Has a directory of its own, and checks for the one sentence that an error is."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def refuse(self, *words, says="", **options):
        """The command fails with exit 2, one sentence, and nothing on standard output.

        A mistake in an expression may be pointed at, by two lines more.
        """
        status, out, err = run(*words, **options)
        self.assertEqual(status, 2, f"{words}: {out}{err}")
        self.assertEqual(out, "")
        sentence, *pointer = err.splitlines()
        self.assertIn(len(pointer), (0, 2), err)
        self.assertEqual([line.strip() for line in pointer[1:]], ["^"] * len(pointer[1:]), err)
        self.assertIn(says, sentence)

    def accept(self, *words, **options):
        status, out, err = run(*words, **options)
        self.assertEqual(status, 0, f"{words}: {err}")
        return out


main = unittest.main  # by hand; meson runs a file by tap.py
