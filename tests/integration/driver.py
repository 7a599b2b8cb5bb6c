# SPDX-License-Identifier: MIT
"""tree_driver, which follows a command with one way of tracing and prints every event."""
import os
import re
import subprocess

import support

DRIVER = os.environ["TASKSCOPE_TREE_DRIVER"]
NO_LOSSES = {"events": 0, "threads": 0, "unnamed_syscalls": 0, "waits": 0, "wakers": 0,
             "untracked_tasks": 0}


class Line(dict):
    """One line of the driver: what is not there is None."""

    def __missing__(self, key):
        return None


def parse(text):
    lines = []
    for line in text.splitlines():
        words = Line(re.findall(r"(\w+)=(\S*)", line))
        lines.append(words)
    return lines


class Told:
    """What the driver told of one command, and what that said of itself on standard error."""

    def __init__(self, source, *command, options=(), prefix=()):
        done = subprocess.run([*prefix, DRIVER, source, *options, "--", *map(str, command)],
                              capture_output=True, text=True, timeout=support.HANG)
        if done.returncode != 0:
            raise AssertionError(f"{source}: {done.stderr}")
        self.lines, self.said = parse(done.stdout), parse(done.stderr)
        self.tree, self.losses, self.wait = (
            {key: int(value) for key, value in line.items() if key != "end"}
            for name in ("tree", "losses", "wait") for line in self.lines if line["end"] == name)

    def events(self, name, **values):
        return [line for line in self.lines if line["event"] == name
                and all(line[key] == str(value) for key, value in values.items())]

    def ends(self):
        return self.events("process", ended=1)

    def root_end(self):
        (end,) = self.events("process", ended=1, pid=self.wait["pid"])
        return end
