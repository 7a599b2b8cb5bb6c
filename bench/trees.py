# SPDX-License-Identifier: MIT
"""What it costs to run a command under taskscope, next to the command alone and to peers.

Everything is wall time of the command as a user waits for it, start and end of the watching
included, the best of some rounds that alternate; only the ping-pong is asked for its own time, since
its turns are what is measured there.  It is pinned to one CPU: across CPUs it measures how CPUs
wake each other up.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

QUICK = bool(os.environ.get("BENCH_QUICK"))
ROUNDS = 1 if QUICK else 3
BYTES = 200000 if QUICK else 2000000   # of dd: a read and a write each
FEW_BYTES = 20000                      # for those that take a hundred times as long
PINGS = 20000 if QUICK else 200000
STORM = 500 if QUICK else 5000
HERD = 2000
LOOP_SECONDS = 2 if QUICK else 20
MIB = 1024 * 1024
TRACEFS = pathlib.Path("/sys/kernel/tracing")


def wall(command, **options):
    """Seconds that a command takes; its output is nobody's."""
    started = time.monotonic()
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
    took = time.monotonic() - started
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n"
                 f"{done.stderr.decode(errors='replace')}")
    return took


@contextlib.contextmanager
def beside(command):
    """A tool that watches the whole host while the block runs."""
    tool = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    time.sleep(2.0)
    if tool.poll() is not None:
        sys.exit(f"{' '.join(command)} ended at once")
    try:
        yield
    finally:
        tool.terminate()
        tool.wait()


def turn_us(command):
    """Microseconds for each round trip, as perf bench counts them."""
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(re.search(r"([0-9.]+) usecs/op", done.stdout).group(1))


def best(commands):
    """The shortest time of each; they take turns, so that all see the same noise."""
    times = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, measure in commands.items():
            times[name].append(measure())
    return {name: min(seen) for name, seen in times.items()}


def under(taskscope, command, *options):
    return lambda: wall([taskscope, "run", "-q", *options, "--", *command])


def watched_by(tool, command, measured=wall):
    def measure():
        with beside(tool):
            return measured(command)
    return measure


def have(*programs):
    return all(shutil.which(program) for program in programs)


def dd(count):
    return ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={count}", "status=none"]


def measure_dd(taskscope):
    """Nanoseconds for each system call."""
    calls = {"bare": BYTES, "run": BYTES, "run --no-syscalls": BYTES}
    commands = {"bare": lambda: wall(dd(BYTES)), "run": under(taskscope, dd(BYTES)),
                "run --no-syscalls": under(taskscope, dd(BYTES), "--no-syscalls")}
    if have("strace"):
        commands["strace -c -f"] = \
            lambda: wall(["strace", "-c", "-f", "-o", "/dev/null", *dd(FEW_BYTES)])
        calls["strace -c -f"] = FEW_BYTES
    if have("perf"):
        commands["perf trace -s"] = \
            lambda: wall(["perf", "trace", "-s", "-o", "/dev/null", *dd(FEW_BYTES)])
        calls["perf trace -s"] = FEW_BYTES
    if have("syscount"):
        commands["syscount -L"] = watched_by(["syscount", "-L", "-d", "3600"], dd(BYTES))
        calls["syscount -L"] = BYTES
    return {name: seconds * 1e9 / (2 * calls[name]) for name, seconds in best(commands).items()}


def measure_pipe(taskscope):
    """Microseconds for each round trip, both ends on one CPU."""
    if not have("perf", "taskset"):
        return {}
    cpu = str(max(os.sched_getaffinity(0)))
    ping = ["taskset", "-c", cpu, "perf", "bench", "sched", "pipe", "-l", str(PINGS)]
    watch = [taskscope, "run", "-q"]
    commands = {"bare": lambda: turn_us(ping), "run": lambda: turn_us([*watch, "--", *ping]),
                "run --no-syscalls": lambda: turn_us([*watch, "--no-syscalls", "--", *ping])}
    if have("offcputime"):
        commands["offcputime"] = watched_by(["offcputime", "3600"], ping, turn_us)
    return best(commands)


def measure_loop(build, taskscope):
    """Seconds of one busy thread."""
    once = wall([build / "bench/work", "loop", 100])
    loop = [build / "bench/work", "loop", max(1, int(100 * LOOP_SECONDS / once))]
    return best({"bare": lambda: wall(loop), "run": under(taskscope, loop)})


def summary_of(lines):
    return json.loads(pathlib.Path(lines).read_text().splitlines()[-1])


def measure_storm(build, taskscope, scratch):
    """Many short processes: seconds, and how exact the account of them is."""
    storm = [build / "bench/work", "storm", STORM]
    lines = pathlib.Path(scratch, "storm.jsonl")
    seconds = best({"bare": lambda: wall(storm), "run": under(taskscope, storm)})
    done = subprocess.run([taskscope, "run", "-q", "-o", lines, "--", *map(str, storm)],
                          stdout=subprocess.PIPE, check=True)
    exits = [json.loads(line) for line in lines.read_text().splitlines()
             if line.startswith('{"kind":"exit"') or '"kind": "exit"' in line[:20]]
    children = [one for one in exits if one["cmd"] == ["/bin/true"]]
    seen_us = sum(one["cpu_time_ns"] for one in children) / 1000
    return seconds, len(children), abs(seen_us / int(done.stdout) - 1) * 100


def measure_startup(build, taskscope):
    """Milliseconds from our start to the command's first line."""
    best_ms = None
    for _ in range(max(ROUNDS, 3)):
        started = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        done = subprocess.run([taskscope, "run", "-q", "--", build / "bench/work", "clock"],
                              stdout=subprocess.PIPE, check=True)
        took = (int(done.stdout) - started) / 1e6
        best_ms = took if best_ms is None else min(took, best_ms)
    return best_ms


def measure_herd(build, taskscope, scratch, *options):
    """Peak memory of taskscope, in bytes, with many processes to watch."""
    lines = pathlib.Path(scratch, "herd.jsonl")
    wall([taskscope, "run", "-q", *options, "-o", lines, "--", build / "bench/work", "herd", HERD, 3000])
    summary = summary_of(lines)
    if summary["processes_ever"] != HERD + 1:
        sys.exit(f"{summary['processes']} processes seen of {HERD + 1}")
    return summary["self"]["hiwater_rss_bytes"]


def measure(build, scratch):
    taskscope = build / "taskscope"
    return {
        "dd": measure_dd(taskscope),
        "pipe": measure_pipe(taskscope),
        "loop": measure_loop(build, taskscope),
        "storm": measure_storm(build, taskscope, scratch),
        "startup": measure_startup(build, taskscope),
        "herd": measure_herd(build, taskscope, scratch),
        "herd without stacks": measure_herd(build, taskscope, scratch, "--no-stacks"),
    }


def ratio_rows(title, unit, costs):
    """A table of one workload: its name, then a row for each way to run it."""
    yield [title, unit, "to bare"]
    for name, cost in costs.items():
        yield [name, f"{cost:.3f}", f"{cost / costs['bare']:.2f}"]


def tables(costs):
    yield list(ratio_rows(f"dd bs=1 count={BYTES}", "ns a call", costs["dd"]))
    if costs["pipe"]:
        yield list(ratio_rows(f"perf bench sched pipe -l {PINGS}, one CPU", "us a turn",
                              costs["pipe"]))
    yield list(ratio_rows("a busy loop", "s", costs["loop"]))
    yield list(ratio_rows(f"{STORM:,} x /bin/true", "s", costs["storm"][0]))


def goals(costs):
    """As bench/run.py has them: text, figure, the largest allowed, how to print both."""
    times = (lambda ratio: f"{ratio:.2f} times")
    dd_costs, pipe, loop = costs["dd"], costs["pipe"], costs["loop"]
    storm, children, error = costs["storm"]
    yield "run of dd bs=1, to bare", dd_costs["run"] / dd_costs["bare"], 2.3, times
    if "strace -c -f" in dd_costs:
        yield ("run of dd bs=1, to strace -c -f, per call",
               dd_costs["run"] / dd_costs["strace -c -f"], 1 / 60,
               lambda ratio: f"1/{1 / ratio:.0f}")
    if pipe:
        yield "run of a pinned pipe ping-pong, to bare", pipe["run"] / pipe["bare"], 1.4, times
        yield ("run --no-syscalls of a pinned pipe ping-pong, to bare",
               pipe["run --no-syscalls"] / pipe["bare"], 1.1, times)
    yield "run of a busy loop, to bare", loop["run"] / loop["bare"], 1.02, \
        lambda ratio: f"{ratio:.3f} times"
    yield f"run of {STORM:,} x /bin/true, to bare", storm["run"] / storm["bare"], 1.2, times
    yield f"exits not recorded, of {STORM:,}", STORM - children, 0, lambda count: f"{count}"
    yield ("their CPU time, off from getrusage by", error, 2, lambda percent: f"{percent:.2f} %")
    yield "run, until the command executes", costs["startup"], 60, lambda ms: f"{ms:.0f} ms"
    mib = (lambda value: f"{value:.1f} MiB")
    yield (f"peak memory of run --no-stacks, {HERD:,} processes",
           costs["herd without stacks"] / MIB, 64, mib)
    yield f"peak memory of run, {HERD:,} processes", costs["herd"] / MIB, 128, mib
