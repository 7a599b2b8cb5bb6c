# SPDX-License-Identifier: MIT
"""What the screen of `taskscope top` costs next to htop, top and atop, each with threads shown, once a
second, in a terminal of its own, on a host with THREADS more threads.

CPU is what the process used from its third second on; the first screen is there when titles of
columns are; a key is answered when the first byte after it is.  A snapshot of ROWS_OF_FILE threads is opened as well.
"""
import fcntl
import os
import pathlib
import pty
import select
import shutil
import signal
import statistics
import struct
import subprocess
import tempfile
import termios
import time

THREADS = 10000
SECONDS = 10
KEYS = 20
ROWS_OF_FILE = 100000
FILE = "taskscope top FILE"
COLUMNS, ROWS = 160, 50
OURS = "taskscope top -g thread"
MIB = 1024 * 1024


def commands(build):
    every = {OURS: [build / "taskscope", "top", "-g", "thread"], "htop -d 10": ["htop", "-d", "10"],
             "top -d 1 -H": ["top", "-d", "1", "-H"], "atop -y 1": ["atop", "-y", "1"]}
    return {name: command for name, command in every.items() if shutil.which(command[0])}


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


class Terminal:
    """The program, and a terminal that reads all that it writes."""

    def __init__(self, command, folder):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environment = dict(os.environ, TERM="xterm-256color", LANG="C.UTF-8", HOME=folder, XDG_CONFIG_HOME=folder)
        self.begin = time.monotonic()
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment,
                                        start_new_session=True)
        os.close(slave)
        self.written = 0

    def read(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return b""
        data = os.read(self.master, 1 << 16)
        self.written += len(data)
        return data

    def first_screen(self):
        seen = b""
        while b"PID" not in seen and b"TID" not in seen:
            seen = seen[-8:] + self.read(10)
        return time.monotonic() - self.begin

    def watch(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def press(self):
        """Seconds from a key to what it changes."""
        while self.read(0.05):
            pass
        begin = time.monotonic()
        os.write(self.master, b"j")
        self.read(10)
        return time.monotonic() - begin

    def close(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self.master)


def measure_one(command, name):
    with tempfile.TemporaryDirectory() as folder:
        terminal = Terminal(command, folder)
        try:
            cost = {"first": terminal.first_screen()}
            terminal.watch(3)
            begin, before, written = time.monotonic(), cpu_seconds(terminal.process.pid), terminal.written
            terminal.watch(SECONDS)
            seconds = time.monotonic() - begin
            cost["cpu"] = (cpu_seconds(terminal.process.pid) - before) / seconds
            cost["bytes"] = (terminal.written - written) / seconds
            if name == OURS:
                cost["key"] = statistics.median(terminal.press() for _ in range(KEYS))
            cost["peak"] = peak_bytes(terminal.process.pid)
            return cost
        finally:
            terminal.close()


def measure_file(build):
    """The first screen of a large snapshot, with a row for each thread."""
    with tempfile.TemporaryDirectory() as folder:
        pair = [f"{folder}/before.tscope", f"{folder}/after.tscope"]
        subprocess.run([build / "bench/snapshots", str(ROWS_OF_FILE), *pair, "distinct"], check=True)
        terminal = Terminal([build / "taskscope", "top", "-g", "thread", pair[0]], folder)
        try:
            return {"first": terminal.first_screen(), "peak": peak_bytes(terminal.process.pid)}
        finally:
            terminal.close()


def measure(build, load):
    with load(build, 100, THREADS // 100):
        costs = {name: measure_one(command, name) for name, command in commands(build).items()}
    return {**costs, FILE: measure_file(build)}


def tables(costs):
    yield [[f"a screen each second, {THREADS:,} threads", "CPU ms a second", "first screen ms", "peak MiB",
            "bytes a second"],
           *([name, f"{cost['cpu'] * 1000:.1f}", f"{cost['first'] * 1000:.0f}", f"{cost['peak'] / MIB:.1f}",
              f"{cost['bytes']:,.0f}"] for name, cost in costs.items() if name != FILE)]


def goals(costs):
    fraction = (lambda ratio: f"1/{1 / ratio:.1f}")
    ours = costs[OURS]
    for peer in costs:
        if peer not in (OURS, FILE) and costs[peer]["cpu"]:
            yield f"{OURS} to {peer}, CPU, {THREADS:,} threads", max(ours["cpu"], 1e-6) / costs[peer]["cpu"], 1 / 10, fraction
    yield f"first screen, {THREADS:,} threads", ours["first"], 0.3, lambda value: f"{value:.2f} s"
    yield f"from a key to the screen, {THREADS:,} threads", ours["key"] * 1000, 50, lambda value: f"{value:.1f} ms"
    yield f"peak memory of the screen, {THREADS:,} threads", ours["peak"] / MIB, 64, lambda value: f"{value:.1f} MiB"
    yield f"first screen of a snapshot, {ROWS_OF_FILE:,} threads", costs[FILE]["first"], 1, lambda value: f"{value:.2f} s"
