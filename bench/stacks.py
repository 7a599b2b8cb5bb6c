# SPDX-License-Identifier: MIT
"""What stacks cost, and how much of the time they tell, next to the same without them.

Ratios near 1 are medians of pairs that alternate, of what the command itself measures: the CPU time
of a loop, the turns of a ping-pong.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import time

import trees

PAIRS = 3 if trees.QUICK else 20
LOOP_MS = 300 if trees.QUICK else 1500
PINGS = 20000 if trees.QUICK else 200000
MIB = 1024 * 1024
# Debian's own interpreter, which has no frame pointers: computes, waits and takes locks in three threads.
PYTHON = ["/usr/bin/python3", "-c", """
import hashlib, json, threading, time
lock = threading.Lock()
def compute(n):
    return sum(i * i for i in range(n))
def encode():
    return json.loads(json.dumps({str(i): [i] * 20 for i in range(200)}))
def work(end):
    while time.monotonic() < end:
        with lock:
            compute(20000)
        encode()
        hashlib.sha256(b'x' * 100000).hexdigest()
        time.sleep(0.002)
end = time.monotonic() + %g
threads = [threading.Thread(target=work, args=(end,)) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
""" % (1 if trees.QUICK else 8)]


def printed(command):
    return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True, text=True).stdout


def ratios(measures, base):
    """The median ratio of each to the base; all are measured in turn, PAIRS times."""
    seen = {name: [] for name in measures}
    for _ in range(PAIRS):
        costs = {name: measure() for name, measure in measures.items()}
        for name, cost in costs.items():
            seen[name].append(cost / costs[base])
    return {name: statistics.median(ratio) for name, ratio in seen.items()}


def measure_loop(build, taskscope):
    once = int(printed([build / "bench/work", "timed", 20]))
    loop = [build / "bench/work", "timed", max(1, int(20 * LOOP_MS * 1e6 / once))]
    watch = [taskscope, "run", "-q"]
    return ratios({
        "bare": lambda: int(printed(loop)),
        "run --no-stacks": lambda: int(printed([*watch, "--no-stacks", "--", *loop])),
        "run": lambda: int(printed([*watch, "--", *loop])),
        "run -F 999": lambda: int(printed([*watch, "-F", "999", "--", *loop])),
    }, "bare")


def measure_pipe(taskscope):
    if not trees.have("perf", "taskset"):
        return {}
    cpu = str(max(os.sched_getaffinity(0)))
    ping = ["taskset", "-c", cpu, "perf", "bench", "sched", "pipe", "-l", str(PINGS)]
    watch = [taskscope, "run", "-q"]
    return ratios({"run --no-stacks": lambda: trees.turn_us([*watch, "--no-stacks", "--", *ping]),
                   "run": lambda: trees.turn_us([*watch, "--", *ping])}, "run --no-stacks")


def named_share(lines):
    """Of all frames of all stacks, each as often as its stack was captured."""
    frames = {line["id"]: "function" in line for line in lines if line["kind"] == "frame"}
    named = whole = 0
    for line in lines:
        if line["kind"] == "stack" and line["type"] != "waker":
            count = line.get("count", 0)
            whole += count * len(line.get("frames", []))
            named += count * sum(frames[number] for number in line.get("frames", []))
    return named / whole


def measure_python(taskscope, scratch):
    path = pathlib.Path(scratch, "python.jsonl")
    subprocess.run([taskscope, "run", "-q", "-F", "999", "-o", path, "--", *PYTHON], check=True)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    summary = lines[-1]
    sums = summary["profile"]
    stacks = sum(sums[kind]["count"] for kind in ("on_cpu", "off_cpu", "waker"))
    return {
        "on_cpu": sums["on_cpu"]["complete_ns"] / sums["on_cpu"]["ns"],
        "off_cpu": sums["off_cpu"]["complete_ns"] / sums["off_cpu"]["ns"],
        "named": named_share(lines),
        "unwind_us": sums["losses"]["unwind_ns"] / stacks / 1000,
        "rss": summary["self"]["hiwater_rss_bytes"],
    }


def measure_warm(build):
    """Microseconds to unwind a stack of python3 whose rules are known."""
    with subprocess.Popen(PYTHON, stdin=subprocess.DEVNULL) as python:
        time.sleep(0.5)
        out = printed([build / "bench/stacks", "2000", python.pid])
        python.terminate()
    return statistics.median(map(float, re.findall(r"([0-9.]+) us warm", out)))


def measure(build, scratch):
    taskscope = build / "taskscope"
    return {"loop": measure_loop(build, taskscope), "pipe": measure_pipe(taskscope),
            "python": measure_python(taskscope, scratch), "warm_us": measure_warm(build)}


def tables(costs):
    for title, key in ("a busy loop, its own CPU time", "loop"), ("pinned pipe ping-pong", "pipe"):
        if costs[key]:
            yield [[title, "ratio"], *([name, f"{ratio:.4f}"] for name, ratio in costs[key].items())]


def goals(costs):
    """As bench/run.py has them; what shall be large is told as what is missing."""
    times = (lambda ratio: f"{ratio:.3f} times")
    percent = (lambda share: f"{share * 100:.2f} %")
    python = costs["python"]
    yield "run with stacks of a busy loop, to bare", costs["loop"]["run"], 1.02, times
    yield "run -F 999 of a busy loop, to bare", costs["loop"]["run -F 999"], 1.06, times
    if costs["pipe"]:
        yield "pinned pipe ping-pong, to the same without stacks", costs["pipe"]["run"], 1.1, times
    yield "python3 on a CPU: time without a complete stack", 1 - python["on_cpu"], 0.05, percent
    yield "python3 off the CPU: time without a complete stack", 1 - python["off_cpu"], 0.05, percent
    yield "python3: frames without a name", 1 - python["named"], 0.02, percent
    yield "unwinding a stack of python3, warm", costs["warm_us"], 60, lambda us: f"{us:.1f} us"
    yield ("unwinding and naming, a stack of python3, all in all", python["unwind_us"], 60,
           lambda us: f"{us:.1f} us")
    yield ("peak memory of run with stacks, python3", python["rss"] / MIB, 128,
           lambda value: f"{value:.1f} MiB")
