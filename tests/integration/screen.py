# SPDX-License-Identifier: MIT
"""A terminal for tests: runs a program in a pty, and knows what its screen shows."""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata

import support

SEQUENCE = re.compile(rb"\x1b\[([?>]?)([0-9;]*)([A-Za-z@`])|\x1b\][^\x07]*\x07|\x1b[()].|\x1b[=>78MDEHc]")
# What keys send, on xterm; others are their letter.
SENT = {"Up": "\x1bOA", "Down": "\x1bOB", "Right": "\x1bOC", "Left": "\x1bOD", "Home": "\x1bOH", "End": "\x1bOF",
        "PageUp": "\x1b[5~", "PageDown": "\x1b[6~", "Enter": "\r", "Space": " ", "Escape": "\x1b",
        "F1": "\x1bOP", "F2": "\x1bOQ", "F3": "\x1bOR", "F4": "\x1bOS", "F5": "\x1b[15~", "F6": "\x1b[17~",
        "F9": "\x1b[20~", "F10": "\x1b[21~"}


def sent(name):
    if name.startswith("Ctrl-"):
        return chr(ord(name[5]) - ord("@"))
    return SENT.get(name, name)


class Screen:
    """What a terminal of xterm's kind shows of the bytes that it was sent."""

    def __init__(self, columns, rows):
        self.rest = b""
        self.alternate = self.cursor_hidden = False
        self.resize(columns, rows)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]
        self.x = self.y = 0
        self.top, self.bottom = 0, rows - 1

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def scroll(self, count, top=None):
        top = self.top if top is None else top
        for _ in range(abs(count)):
            if count > 0:
                del self.cells[top]
                self.cells.insert(self.bottom, [" "] * self.columns)
            else:
                del self.cells[self.bottom]
                self.cells.insert(top, [" "] * self.columns)

    def put(self, character):
        width = 0 if unicodedata.combining(character) else \
            2 if unicodedata.east_asian_width(character) in "WF" else 1
        if not width:
            return
        if self.x + width > self.columns:
            self.x = 0
            self.line_feed()
        self.cells[self.y][self.x] = character
        if width == 2:
            self.cells[self.y][self.x + 1] = ""
        self.x += width

    def line_feed(self):
        if self.y == self.bottom:
            self.scroll(1)
        else:
            self.y = min(self.y + 1, self.rows - 1)

    def control(self, code):
        if code == 13:
            self.x = 0
        elif code == 10:
            self.line_feed()
        elif code == 8:
            self.x = max(0, min(self.x, self.columns - 1) - 1)
        elif code == 9:
            self.x = min(self.columns - 1, self.x // 8 * 8 + 8)

    def blank(self, row, begin, end):
        for column in range(max(0, begin), min(end, self.columns)):
            self.cells[row][column] = " "

    def command(self, private, numbers, letter):
        values = [int(number or 0) for number in numbers.split(b";")] if numbers else []
        first = values[0] if values else 0
        count = first or 1
        row = self.cells[min(self.y, self.rows - 1)]
        if private:
            for value in values:
                if value == 1049:
                    self.alternate = letter == "h"
                elif value == 25:
                    self.cursor_hidden = letter == "l"
        elif letter == "H":
            self.y = min(count, self.rows) - 1
            self.x = min(values[1] if len(values) > 1 and values[1] else 1, self.columns) - 1
        elif letter == "d":
            self.y = min(count, self.rows) - 1
        elif letter in "G`":
            self.x = min(count, self.columns) - 1
        elif letter == "A":
            self.y = max(0, self.y - count)
        elif letter == "B":
            self.y = min(self.rows - 1, self.y + count)
        elif letter == "C":
            self.x = min(self.columns - 1, self.x + count)
        elif letter == "D":
            self.x = max(0, self.x - count)
        elif letter == "J":
            self.blank(self.y, self.x if first == 0 else 0, self.columns if first != 1 else self.x + 1)
            for other in range(self.rows):
                if first == 2 or (first == 0 and other > self.y) or (first == 1 and other < self.y):
                    self.blank(other, 0, self.columns)
        elif letter == "K":
            self.blank(self.y, 0 if first else self.x, self.x + 1 if first == 1 else self.columns)
        elif letter == "X":
            self.blank(self.y, self.x, self.x + count)
        elif letter == "P":
            del row[self.x:self.x + count]
            row.extend([" "] * (self.columns - len(row)))
        elif letter == "@":
            row[self.x:self.x] = [" "] * count
            del row[self.columns:]
        elif letter == "L":
            self.scroll(-count, self.y)
        elif letter == "M":
            self.scroll(count, self.y)
        elif letter == "S":
            self.scroll(count)
        elif letter == "T":
            self.scroll(-count)
        elif letter == "b":
            for _ in range(count):
                self.put(self.last)
        elif letter == "r":
            self.top = count - 1
            self.bottom = (values[1] if len(values) > 1 and values[1] else self.rows) - 1
            self.x = self.y = 0
        elif letter != "m" and letter not in "hlnct":
            raise AssertionError(f"unknown sequence: {numbers} {letter}")

    def feed(self, data):
        data = self.rest + data
        self.rest = b""
        at = 0
        while at < len(data):
            if data[at] == 27:
                found = SEQUENCE.match(data, at)
                if not found:
                    self.rest = data[at:]
                    return
                if found[3]:
                    self.command(found[1], found[2], found[3].decode())
                elif found[0] == b"\x1bM":
                    if self.y == self.top:
                        self.scroll(-1)
                    else:
                        self.y -= 1
                at = found.end()
            elif data[at] < 32:
                self.control(data[at])
                at += 1
            else:
                length = 1 if data[at] < 128 else 2 if data[at] < 0xe0 else 3 if data[at] < 0xf0 else 4
                if at + length > len(data):
                    self.rest = data[at:]
                    return
                self.last = data[at:at + length].decode()
                self.put(self.last)
                at += length


class Program:
    """A program with a terminal of its own, inside a `with`."""

    def __init__(self, *words, columns=80, rows=24, term="xterm-256color", cwd=None, env=None, prefix=()):
        self.words = [*prefix, *map(str, words)]
        self.screen = Screen(columns, rows)
        self.env = dict(os.environ, TERM=term, LANG="C.UTF-8", LC_ALL="C.UTF-8", TZ="UTC", **(env or {}))
        self.env.update(COLUMNS="33", LINES="7")  # as a shell may have exported them: the terminal's own size counts
        self.cwd = cwd
        self.raw = b""

    def __enter__(self):
        self.master, self.slave = pty.openpty()
        self.set_size()
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(self.words, stdin=self.slave, stdout=self.slave, stderr=subprocess.PIPE,
                                        env=self.env, cwd=self.cwd, start_new_session=True,
                                        preexec_fn=self.take_terminal)
        return self

    @staticmethod
    def take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        os.close(self.master)
        os.close(self.slave)

    def set_size(self):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", self.screen.rows, self.screen.columns, 0, 0))

    def resize(self, columns, rows):
        self.read()
        self.screen.resize(columns, rows)
        self.set_size()
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGWINCH)

    def read(self, seconds=0.0):
        """Takes what is there; whether there was anything."""
        ready = select.select([self.master], [], [], seconds)[0]
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.raw += data
        self.screen.feed(data)
        return True

    def send(self, *names):
        for name in names:
            os.write(self.master, sent(name).encode())

    def type(self, text):
        os.write(self.master, text.encode())

    def text(self):
        return "\n".join(self.screen.lines())

    def wait_for(self, condition):
        """Until the screen is so: a pattern, or a function of its lines."""
        if isinstance(condition, str):
            pattern = re.compile(condition, re.M)
            condition = lambda lines: pattern.search("\n".join(lines))
        end = time.monotonic() + support.HANG
        while time.monotonic() < end:
            found = condition(self.screen.lines())
            if found:
                return found
            if not self.read(0.1) and self.process.poll() is not None and not self.read():
                raise AssertionError(f"it ended with {self.process.returncode}: "
                                     f"{self.process.stderr.read().decode()}\n{self.text()}")
        raise AssertionError("the screen never was so:\n" + self.text())

    def settle(self):
        """Until it waits for keys, and all that it wrote was read."""
        while True:
            support.wait_for_idle(self.process.pid)
            if not self.read():
                return
            while self.read():
                pass

    def end(self):
        """Its exit status, after it wrote all."""
        end = time.monotonic() + support.HANG
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        while self.read():
            pass
        return self.process.wait(timeout=1)

    def is_restored(self):
        """Whether the terminal is as it was before."""
        return termios.tcgetattr(self.slave) == self.before and not self.screen.alternate and \
            not self.screen.cursor_hidden
