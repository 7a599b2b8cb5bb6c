# SPDX-License-Identifier: MIT
"""How many bytes a recording takes, next to atop's raw file of the same host, each second in the same
seconds; and what CPU time storing a tick takes: see recording.c.

Bytes are those by which the whole file grows after its first tick, tables for people and indexes
included, and the share of a key frame.
"""
import contextlib
import os
import shutil
import sqlite3
import statistics
import subprocess

QUICK = bool(os.environ.get("BENCH_QUICK"))
TICKS = 15 if QUICK else 60
CHAIN = 120 # ticks for each key frame


def record(build, store, ticks):
    """What each tick took: threads, processes, CPU time in ns."""
    lines = subprocess.run([build / "bench/recording", store, str(ticks), "1000"], stdout=subprocess.PIPE,
                           check=True, text=True).stdout.splitlines()
    return [[int(word) for word in line.split()] for line in lines]


def bytes_per_tick(first, store):
    """The growth after the first tick, which has a key frame, and that frame's share."""
    with contextlib.closing(sqlite3.connect(store)) as database:
        key, = database.execute("SELECT length(frame) FROM ticks ORDER BY id").fetchone()
    return (os.path.getsize(store) - os.path.getsize(first)) / (TICKS - 1) + key / CHAIN


def measure_one(build, scratch, name):
    store, raw = f"{scratch}/{name}.db", f"{scratch}/{name}.raw"
    first = f"{scratch}/{name}-first.db"
    record(build, first, 1)
    atop = None
    if shutil.which("atop"):
        atop = subprocess.Popen(["atop", "-w", raw, "1", str(TICKS)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ticks = record(build, store, TICKS)
    if atop:
        atop.wait()
    threads = statistics.mean(tick[0] for tick in ticks)
    return {"threads": threads, "bytes": bytes_per_tick(first, store),
            "cpu": statistics.median(tick[2] for tick in ticks) / 1e9,
            "atop": os.path.getsize(raw) / TICKS if atop and os.path.exists(raw) else None}


def measure(build, scratch, load):
    """By population: this host as it is, and with 10,000 idle threads."""
    costs = {"this host as it is": measure_one(build, scratch, "idle")}
    with contextlib.ExitStack() as stack:
        stack.enter_context(load(build, 10, 1000))
        costs["10,000 threads"] = measure_one(build, scratch, "many")
    return costs


def tables(costs):
    rows = [["a recording, each second", *costs]]
    rows.append(["threads", *(f"{cost['threads']:,.0f}" for cost in costs.values())])
    rows.append(["bytes a tick", *(f"{cost['bytes']:,.0f}" for cost in costs.values())])
    rows.append(["atop -w, bytes a sample",
                 *(f"{cost['atop']:,.0f}" if cost["atop"] else "-" for cost in costs.values())])
    rows.append(["CPU of storing a tick, ms", *(f"{cost['cpu'] * 1e3:.1f}" for cost in costs.values())])
    yield rows


def goals(costs):
    """As bench/run.py has them."""
    many = costs["10,000 threads"]
    if many["atop"]:
        yield ("bytes of a recording to atop's raw file, 10,000 threads", many["bytes"] / many["atop"], 1 / 5,
               lambda ratio: f"1/{1 / ratio:.1f}")
