# SPDX-License-Identifier: MIT
"""Recordings with jobs whose content is known, made by the driver."""
import os
import subprocess

BEGIN = 1700000040
SECOND = 10**9
MIB = 1 << 20


def line(kind, *words, **values):
    return "\t".join([kind, *map(str, words), *(f"{key}={value}" for key, value in values.items())])


def job(name="nightly", outcome="success", begin=0, duration=60, **values):
    """A line of the driver; times in seconds, the beginning since BEGIN."""
    return line("job", name, outcome, int((BEGIN + begin) * SECOND), int(duration * SECOND), **values)


def step(name, outcome="success", begin=0, duration=30, **values):
    return line("step", name, outcome, int((BEGIN + begin) * SECOND), int(duration * SECOND), **values)


def event(kind, begin, pid, comm, details, *context):
    return line("event", kind, int((BEGIN + begin) * SECOND), pid, comm, details, *context)


def write(store, lines):
    subprocess.run([os.environ["TASKSCOPE_JOBS_DRIVER"], store], input="".join(f"{text}\n" for text in lines),
                   text=True, check=True)
