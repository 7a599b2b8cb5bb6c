# SPDX-License-Identifier: MIT
"""Plays a case: makes what it needs, watches the command by taskscope, ends all that was started.

Needs the environment of the integration tests (see ../integration/support.py).
"""
import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import string
import subprocess
import sys
import tempfile
import time
import unittest

import data

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "integration"))
from support import TASKSCOPE, comm_of, go_first, is_root, wait_until  # noqa: E402

WORKLOADS = os.environ["TASKSCOPE_WORKLOADS"]
# Named after how it is made: what is made otherwise is other data.
DATA = pathlib.Path(os.environ["TASKSCOPE_BUILD"], "verdicts-data",
                    hashlib.sha256(pathlib.Path(data.__file__).read_bytes()).hexdigest()[:12])
CGROUPS = pathlib.Path("/sys/fs/cgroup")
RUN_MS, WATCHED_MS = 1500, 60000
WATCHED_FOR = "1500ms"
# After a command is in place, it goes on for this long before it is watched: its start is no part of it.
RUN_IN_SECONDS = 0.3
# What takes longer hangs.
HANG_SECONDS = 60
# Of the time of all CPUs: a case that lost more of it to others was not played on a quiet machine.
DISTURBED = 0.1
NUMBERS = itertools.count()


def device_of(folder):
    """The number of the disk (not of its partition) that a folder is on."""
    number = os.stat(folder).st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    path = pathlib.Path("/sys/dev/block", name)
    if (path / "partition").exists():
        return (path.resolve().parent / "dev").read_text().strip()
    return name if path.exists() else None


def size(text):
    return int(text.rstrip("KM")) << {"K": 10, "M": 20}.get(text[-1], 0)


def settings_of(limit):
    """Of a limit: for cgroup version 1 and 2 the controller and the files with what to write into them."""
    kind, _, value = limit.partition(" ")
    if kind == "cpu":
        quota = int(float(value) * 100000)
        return {1: ("cpu", [("cpu.shares", 262144), ("cpu.cfs_period_us", 100000),
                            ("cpu.cfs_quota_us", quota)]),
                2: ("cpu", [("cpu.weight", 10000), ("cpu.max", f"{quota} 100000")])}
    if kind == "memory":
        return {1: ("memory", [("memory.limit_in_bytes", size(value)),
                               ("memory.memsw.limit_in_bytes", size(value))]),
                2: ("memory", [("memory.max", size(value)), ("memory.swap.max", 0)])}
    if kind == "write":
        device = device_of(tempfile.gettempdir())
        if not device:
            raise unittest.SkipTest("no disk below the temporary files")
        return {1: ("blkio", [("blkio.throttle.write_bps_device", f"{device} {size(value)}")]),
                2: ("io", [("io.max", f"{device} wbps={size(value)}")])}
    if kind == "frozen":
        return {2: (None, [])}
    raise ValueError(limit)


def controls(folder, controller):
    """Whether the cgroups below this folder of version 2 can have the controller."""
    if not (folder / "cgroup.controllers").exists():
        return False
    if controller is None:
        return True
    with contextlib.suppress(OSError):
        (folder / "cgroup.subtree_control").write_text(f"+{controller}")
    return controller in (folder / "cgroup.subtree_control").read_text().split()


class Cgroup:
    """A cgroup of its own with one limit, inside a `with`: of version 2 where it can, else 1."""

    def __init__(self, limit):
        if not is_root():
            raise unittest.SkipTest("a limit of a cgroup needs root")
        self.frozen = limit == "frozen"
        for version, (controller, settings) in sorted(settings_of(limit).items(), reverse=True):
            for folder in [CGROUPS, CGROUPS / "unified"] if version == 2 else [CGROUPS / controller]:
                if controls(folder, controller) if version == 2 else (folder / "tasks").exists():
                    self.path = folder / f"taskscope-verdicts-{os.getpid()}-{next(NUMBERS)}"
                    self.settings = settings
                    return
        raise unittest.SkipTest(f"no cgroup here can limit: {limit}")

    def __enter__(self):
        self.path.mkdir()
        for name, value in self.settings:
            with contextlib.suppress(FileNotFoundError):
                (self.path / name).write_text(str(value))
        return self

    def __exit__(self, *_):
        self.freeze(False)
        with contextlib.suppress(AssertionError):
            wait_until(self.is_removed, 5)

    def is_removed(self):
        with contextlib.suppress(OSError):
            self.path.rmdir()
        return not self.path.exists()

    def freeze(self, on=True):
        if self.frozen:
            (self.path / "cgroup.freeze").write_text("1" if on else "0")
            wait_until(lambda: f"frozen {on:d}" in (self.path / "cgroup.events").read_text())

    def wrap(self, words):
        """The command that enters the cgroup and becomes these words: only they are limited."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.path / "cgroup.procs"), *words]


class NoAnswer(Exception):
    """taskscope failed; all else that is raised says that the case cannot be played."""


class Group:
    """A process group of its own inside a `with`, ended at its end."""

    def __init__(self, words, **options):
        self.process = subprocess.Popen(words, process_group=0, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=options.pop("prepare", go_first), **options)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for number in (signal.SIGCONT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)
        self.process.wait()


@contextlib.contextmanager
def load(hogs):
    """So many busy loops beside, of a tenth of the weight that the cases have."""
    def prepare():
        go_first()
        os.nice(10)

    with contextlib.ExitStack() as stack:
        for _ in range(hogs):
            stack.enter_context(Group([f"{WORKLOADS}/cpu_single", "3600000"], prepare=prepare))
        yield


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def listens(port):
    """Whether a socket listens there; a connection would be taken for the client's."""
    for name in ("tcp", "tcp6"):
        for line in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                return True
    return False


def descendants(pid):
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            for path in pathlib.Path(f"/proc/{one}/task").glob("*/children"):
                found += map(int, path.read_text().split())
    return found


def target_of(case, pid):
    if not case.target:
        return pid
    for one in descendants(pid):
        with contextlib.suppress(OSError):
            if comm_of(one) == case.target:
                return one
    return None


class Play:
    """One case in a folder of its own, with what its texts may name."""

    def __init__(self, case, folder):
        self.case = case
        self.folder = folder
        self.port = free_port()
        # The rest of our own environment might change what a program does.
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        self.environment = dict(kept, LC_ALL="C.UTF-8", W=WORKLOADS, DATA=str(DATA), PORT=str(self.port),
                                READY=f"{folder}/ready", BEGUN=f"{folder}/begun",
                                MS=str(RUN_MS if case.verb == "run" else WATCHED_MS))
        self.options = {"cwd": folder, "env": self.environment}

    def words(self):
        if isinstance(self.case.command, str):
            return shlex.split(string.Template(self.case.command).safe_substitute(self.environment))
        return list(self.case.command)

    def wait_for(self, file):
        wait_until(lambda: os.path.exists(self.environment[file]), HANG_SECONDS)

    def start_beside(self, stack):
        stack.enter_context(Group(["sh", "-c", self.case.beside], **self.options))
        if "$READY" in self.case.beside:
            self.wait_for("READY")
        if "$PORT" in self.case.beside and self.case.verb == "run":
            wait_until(lambda: listens(self.port), HANG_SECONDS)

    def taskscope(self, *words, out=subprocess.PIPE):
        try:
            done = subprocess.run([TASKSCOPE, *words], stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=subprocess.PIPE, timeout=HANG_SECONDS, preexec_fn=go_first,
                                  **self.options)
        except subprocess.TimeoutExpired as late:
            raise NoAnswer(str(late)) from late
        return done.returncode, (done.stdout or b"").decode(errors="replace"), \
            done.stderr.decode(errors="replace")

    def lines(self, *words):
        """The last of the JSON lines of a `run` or `attach`.  What the command writes must not wait for us."""
        path = self.folder / "taskscope.jsonl"
        status, _, err = self.taskscope(words[0], "-o", str(path), "-q", *words[1:], out=subprocess.DEVNULL)
        if not path.exists() or not path.stat().st_size:
            raise NoAnswer(f"{words}: {status} {err}")
        return json.loads(path.read_text().splitlines()[-1])

    def run(self, words):
        end = ["-d", f"{self.case.seconds}s"] if self.case.seconds else []
        answer = self.lines("run", *end, "--", *words)
        if answer.get("exit_code") and not end:
            raise AssertionError(f"the command failed: exit {answer['exit_code']}")
        return answer

    def ask(self, pid):
        if self.case.verb == "attach":
            return self.lines("attach", "-p", pid, "-d", WATCHED_FOR)
        status, out, err = self.taskscope("why", "-p", pid, "-d", WATCHED_FOR, "--format", "json")
        if status != 0:
            raise NoAnswer(f"why: {status} {err}")
        return json.loads(out)

    def watch(self, words, cgroup):
        with Group(words, **self.options) as group:
            if "$BEGUN" in self.case.texts:
                self.wait_for("BEGUN")
            pid = str(wait_until(lambda: target_of(self.case, group.pid), HANG_SECONDS))
            time.sleep(RUN_IN_SECONDS)
            if cgroup:
                cgroup.freeze()
            try:
                return self.ask(pid)
            finally:
                if cgroup:
                    cgroup.freeze(False)
                if not os.path.exists(f"/proc/{pid}"):
                    raise AssertionError("the command ended while it was watched")

    def __call__(self):
        with contextlib.ExitStack() as stack:
            cgroup = stack.enter_context(Cgroup(self.case.limit)) if self.case.limit else None
            if self.case.prepare:
                subprocess.run(["sh", "-ec", self.case.prepare], stdin=subprocess.DEVNULL,
                               capture_output=True, check=True, **self.options)
            words = cgroup.wrap(self.words()) if cgroup else self.words()
            if self.case.beside:
                self.start_beside(stack)
            if self.case.verb != "run":
                return self.watch(words, cgroup)
            return self.run(words)


class Outsiders:
    """The share of all CPU time, inside a `with`, of processes that are no descendants of ours, and of
    other guests of the machine that this one runs on."""

    def __enter__(self):
        self.before, self.began = self.ticks(), time.monotonic()
        return self

    def __exit__(self, *_):
        after = self.ticks()
        taken = sum(after[one] - self.before[one] for one in after.keys() & self.before.keys())
        whole = (time.monotonic() - self.began) * os.sysconf("SC_CLK_TCK") * os.cpu_count()
        # What a process reaps counts in full, also from before.
        self.share = min(1, taken / whole)

    @staticmethod
    def ticks():
        """By process: what it and the children that it has reaped used up."""
        ours = set(descendants(os.getpid()))
        found = {"steal": int(pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])}
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if int(name) not in ours:
                    text = pathlib.Path("/proc", name, "stat").read_text(errors="replace")
                    fields = text.rpartition(")")[2].split()
                    found[name, fields[19]] = sum(map(int, fields[11:15]))
        return found


def make_ready(case):
    """Makes the data of a case; SkipTest where it cannot be played here."""
    missing = [name for name in case.needs.split() if not shutil.which(name)]
    if missing:
        raise unittest.SkipTest(f"not installed: {' '.join(missing)}")
    data.provide(DATA, case.texts)


def play(case):
    """What taskscope answers, as JSON."""
    with tempfile.TemporaryDirectory(prefix="verdict-") as folder:
        return Play(case, pathlib.Path(folder))()


def judge_answer(case, answer, busy):
    """What an answer says of a case, and whether that is right."""
    accepted = case.causes + case.busy.split() * busy
    verdict = answer.get("verdict") or {}
    cause = verdict.get("cause")
    named = re.search(case.named, json.dumps([verdict, answer.get("answer")]), re.I) is not None
    return {
        "cause": cause,
        "class": verdict.get("class"),
        "score": verdict.get("score", verdict.get("confidence")),
        "confidence": verdict.get("confidence"),
        "evidence": [text for text in [answer.get("answer"), *verdict.get("evidence", [])] if text],
        "named": named,
        "best": cause == case.causes[0],
        "right": cause in accepted and named,
    }


def judge(case, busy=False):
    """Plays a case, which is also busy where others take the CPUs."""
    make_ready(case)
    began = time.monotonic()
    with Outsiders() as outsiders:
        answer = play(case)
    return {**judge_answer(case, answer, busy or outsiders.share > DISTURBED),
            "outsiders": round(outsiders.share, 3), "seconds": round(time.monotonic() - began, 2)}
