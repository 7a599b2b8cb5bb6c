# SPDX-License-Identifier: MIT
"""How many bytes a recording takes, next to atop's raw file of the same host, each second in the same
seconds; what CPU time storing a tick takes: see recording.c; and what looking at active threads each second
adds to the CPU time of a recorder, as it counts that itself.

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
RECORDED = 21 if QUICK else 61 # seconds of a recorder, with a tick every 5
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


def recorder_share(build, store, *options):
    """CPU time of a recorder after its first two ticks, of one core."""
    subprocess.run([build / "taskscope", "record", "--store", store, "-i", "5s", "-d", f"{RECORDED}s",
                    "--no-socket", "-q", *options], check=True)
    with contextlib.closing(sqlite3.connect(store)) as database:
        percents = [row[0] for row in database.execute("SELECT recorder_cpu_percent FROM host_samples ORDER BY ts_ns")]
    return statistics.median(percents[2:]) / 100


def measure_activity(build, scratch, name):
    """What activity adds, and how many threads were active at once."""
    store = f"{scratch}/{name}-active.db"
    with_it, without = (recorder_share(build, store, "--activity"),
                        recorder_share(build, f"{scratch}/{name}-without.db", "--no-activity"))
    with contextlib.closing(sqlite3.connect(store)) as database:
        active, = database.execute("SELECT avg(threads) FROM activity_walks").fetchone()
    return {"added": max(with_it - without, 0), "active": active}


def measure(build, scratch, load):
    """By population: this host as it is, and with 2,000 and 10,000 idle threads."""
    costs = {"this host as it is": measure_one(build, scratch, "idle")}
    for name, processes in ("2,000 threads", 2), ("10,000 threads", 10):
        with load(build, processes, 1000):
            costs[name] = measure_one(build, scratch, str(processes))
            if os.geteuid() == 0:
                costs[name]["activity"] = measure_activity(build, scratch, str(processes))
    return costs


def tables(costs):
    rows = [["a recording, each second", *costs]]
    rows.append(["threads", *(f"{cost['threads']:,.0f}" for cost in costs.values())])
    rows.append(["bytes a tick", *(f"{cost['bytes']:,.0f}" for cost in costs.values())])
    rows.append(["atop -w, bytes a sample",
                 *(f"{cost['atop']:,.0f}" if cost["atop"] else "-" for cost in costs.values())])
    rows.append(["CPU of storing a tick, ms", *(f"{cost['cpu'] * 1e3:.1f}" for cost in costs.values())])
    rows.append(["threads active at once", *(f"{cost['activity']['active']:,.1f}" if "activity" in cost else "-"
                                            for cost in costs.values())])
    rows.append(["CPU that activity adds, of one core",
                 *(f"{cost['activity']['added']:.2%}" if "activity" in cost else "-" for cost in costs.values())])
    yield rows


def goals(costs):
    """As bench/run.py has them."""
    many = costs["10,000 threads"]
    for name, most in ("2,000 threads", 0.005), ("10,000 threads", 0.02):
        if "activity" not in costs[name]:
            continue
        yield (f"CPU that activity adds, {name}", costs[name]["activity"]["added"], most, lambda share: f"{share:.2%}")
    if many["atop"]:
        yield ("bytes of a recording to atop's raw file, 10,000 threads", many["bytes"] / many["atop"], 1 / 5,
               lambda ratio: f"1/{1 / ratio:.1f}")
