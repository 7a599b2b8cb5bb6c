#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a capture costs, next to the tools people use today, what a comparison costs, what it costs to
run a command under taskscope (trees.py), with stacks (stacks.py), to open a scope (scopes.py), and to keep a recording
(recording.py): usage: run.py BUILD-FOLDER

Starts idle threads, lets each tool look at them, and prints CPU time (user and kernel), best of
three, the ratios, and whether each goal is met.  A missed goal is a word in the table, not an exit
status: how fast a machine is, is no property of the program.  BENCH_QUICK=1 looks once, and not at
the largest population.
"""
import ctypes.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import typing

import recording
import scopes
import screens
import stacks
import trees

QUICK = bool(os.environ.get("BENCH_QUICK"))
ROUNDS = 1 if QUICK else 3
# processes, threads in each
POPULATIONS = [(10, 100), (3000, 1), (10, 1000)] + ([] if QUICK else [(30, 1000)])
# samples of one sampling that stays open
SAMPLES = 4 if QUICK else 10
HEAP_THREADS = 1000
HEAP_TURNS = 15 if QUICK else 61
# threads in each of the two snapshots that are compared, every one with a name of its own
COMPARED = [30000, 100000]
# what makes a group of them: a tenth as many groups as threads, as many, and as many long keys
COMPARED_BY = ["pcomm", "comm-exact", "all"]
MIB = 1024 * 1024

# Debian's own interpreter, since the package belongs to it.
PSUTIL = ["/usr/bin/python3", "-c", """
import psutil
for process in psutil.process_iter(["pid", "name", "cpu_times", "memory_info"]):
    try:
        process.threads()
    except psutil.Error:
        pass
"""]


class Cost(typing.NamedTuple):
    cpu: float
    wall: float
    peak: int


def tools(taskscope, scratch):
    """Every command that is measured on every population, by the name that the table shows."""
    return {
        "capture": [taskscope, "capture", "-o", f"{scratch}/auto.tscope"],
        "capture --source procfs": [taskscope, "capture", "--source", "procfs",
                                    "-o", f"{scratch}/procfs.tscope"],
        "show": [taskscope, "show", f"{scratch}/auto.tscope"],
        "ps -eLf": ["ps", "-eLf"],
        "top -b -n1 -H": ["top", "-b", "-n1", "-H"],
        "pidstat -t -p ALL 1 1": ["pidstat", "-t", "-p", "ALL", "1", "1"],
        "atop -w FILE 1 1": ["atop", "-w", f"{scratch}/atop.raw", "1", "1"],
        "psutil": PSUTIL,
    }


def measure(build, command):
    with tempfile.TemporaryFile("w+") as errors:
        run = subprocess.run([build / "bench/measure", *command], stdout=subprocess.PIPE,
                             stderr=errors, text=True)
        cpu, wall, peak, status = (int(word) for word in run.stdout.split() or [0, 0, 0, 1])
        if status != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(map(str, command))}: exit status {status}\n{errors.read()}")
    return Cost(cpu / 1e9, wall / 1e9, peak)


def best(build, commands, scratch):
    """The cheapest of some rounds for each; they alternate, so that all see the same noise."""
    costs = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            costs[name].append(measure(build, command))
            pathlib.Path(scratch, "atop.raw").unlink(missing_ok=True)
    return {name: Cost(*(min(values) for values in zip(*seen))) for name, seen in costs.items()}


def measure_samples(build):
    """Seconds of CPU for opening a sampling with its first sample, and for the best later one."""
    run = subprocess.run([build / "bench/samples", str(SAMPLES)], stdout=subprocess.PIPE, check=True)
    first, *later = (int(line) / 1e9 for line in run.stdout.split())
    return first, min(later)


def threads_of_host():
    return int(pathlib.Path("/proc/loadavg").read_text().split("/")[1].split()[0])


class Load:
    """So many idle threads for as long as the block runs."""

    def __init__(self, build, processes, threads, preload=None):
        self.command = [build / "bench/threads", str(processes), str(threads)]
        self.environment = dict(os.environ, **({"LD_PRELOAD": preload} if preload else {}))

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=self.environment)
        if self.process.stdout.readline() != "ready\n":
            sys.exit("the load did not start")
        return self

    def __exit__(self, *exception):
        self.process.stdin.close()
        self.process.wait()

    def pids(self):
        return subprocess.run(["ps", "--ppid", str(self.process.pid), "-o", "pid="],
                              stdout=subprocess.PIPE, text=True).stdout.split()


def heap_extra(build, scratch, library, threads):
    """Seconds of CPU that heap counters add to a capture of one process with so many threads."""
    with Load(build, 1, threads, library) as load:
        with_heap = [build / "taskscope", "capture", "-q", "-p", ",".join(load.pids()),
                     "-o", f"{scratch}/heap.tscope"]
        without = [*with_heap, "--without", "jemalloc"]
        measure(build, with_heap)  # fills the cache of offsets
        summary = json.loads(subprocess.run([build / "taskscope", "show", f"{scratch}/heap.tscope",
                                             "--format", "json", "-n", "1"],
                                            stdout=subprocess.PIPE).stdout)["capture"]["jemalloc"]
        if summary["threads_read"] < threads or summary["stopped_ns"]:
            sys.exit(f"heap counters were not read, or threads stopped: {summary}")
        # Loading BPF varies by more than what is looked for: both take turns, the middle counts.
        return statistics.median(measure(build, with_heap).cpu - measure(build, without).cpu
                                 for _ in range(HEAP_TURNS))


def measure_heap(build, scratch):
    """Of HEAP_THREADS threads: seconds for all of it, and for what one thread does not need."""
    library = ctypes.util.find_library("jemalloc")
    if not library:
        return None
    whole = heap_extra(build, scratch, library, HEAP_THREADS)
    return whole, whole - heap_extra(build, scratch, library, 1)


def measure_compare(build, scratch):
    """Costs of comparing two snapshots, by number of threads and axis."""
    commands = {}
    for count in COMPARED:
        pair = [f"{scratch}/before{count}.tscope", f"{scratch}/after{count}.tscope"]
        subprocess.run([build / "bench/snapshots", str(count), *pair, "distinct"], check=True)
        for axis in COMPARED_BY:
            commands[count, axis] = [build / "taskscope", "compare", *pair, "-g", axis]
    return best(build, commands, scratch)


def measure_taskstats(build, load):
    """Nanoseconds of CPU for each thread of the load, by way of asking; none without privilege."""
    pids = load.pids()
    run = subprocess.run([build / "bench/taskstats", *pids], stdout=subprocess.PIPE, text=True)
    costs = {}
    for way, cost, answered in (line.split() for line in run.stdout.splitlines()):
        if int(answered):
            costs[way] = int(cost)
    return costs


def table(rows):
    """Prints rows of words, the first one a heading; all columns but the first flush right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rules = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    for row in [rows[0], rules, *rows[1:]]:
        cells = [row[0].ljust(widths[0])]
        cells += [word.rjust(width) for word, width in zip(row[1:], widths[1:])]
        print("| " + " | ".join(cells) + " |")
    print()


def population(count):
    return f"{count:,} {'processes' if (count, 1) in POPULATIONS else 'threads'}"


def taskstats_goals(taskstats):
    if len(taskstats) == 2:
        yield ("taskstats in batches, 10,000 threads", taskstats["batched"] / 1000, 4.5,
               lambda value: f"{value:.2f} us a thread")
        yield ("taskstats in batches to one by one, 10,000 threads",
               taskstats["batched"] / taskstats["single"], 0.7, lambda value: f"{value:.2f} times")


def heap_goals(heap):
    if heap is not None:
        yield (f"heap counters of a jemalloc process, {HEAP_THREADS:,} threads, all included",
               heap[0] * 1e6 / HEAP_THREADS, 3, lambda value: f"{value:.2f} us a thread")


def compare_goals(compared):
    few, many = COMPARED
    for axis in COMPARED_BY:
        cost = compared[many, axis]
        yield (f"compare -g {axis}, {many:,} threads a side", cost.wall, 0.5,
               lambda value: f"{value:.3f} s")
        yield (f"compare -g {axis}, {many:,} threads a side, CPU time", cost.cpu, 0.6,
               lambda value: f"{value:.3f} s")
        yield (f"compare -g {axis}, {many:,} threads a side, peak memory", cost.peak / MIB, 400,
               lambda value: f"{value:.0f} MiB")
        yield (f"compare -g {axis}, {few:,} to {many:,} threads a side",
               cost.cpu / compared[few, axis].cpu, 4, lambda value: f"{value:.2f} times")


def sample_goals(costs, sampled):
    fraction = (lambda ratio: f"1/{1 / ratio:.1f}")
    if "top -b -n1 -H" in costs[3000]:
        yield ("later sample to top -b -n1 -H, 3,000 processes",
               sampled[3000][1] / costs[3000]["top -b -n1 -H"].cpu, 1 / 10, fraction)
    yield ("later sample to a first capture, 10,000 threads",
           sampled[10000][1] / costs[10000]["capture"].cpu, 1 / 3, fraction)
    yield ("later sample, 10,000 threads", sampled[10000][1] * 1000, 12,
           lambda value: f"{value:.1f} ms")


def goals(costs, startup, bytes_per_thread, taskstats, heap, compared):
    """What is promised: text, the measured figure, the largest one allowed, how to print both."""
    fraction = (lambda ratio: f"1/{1 / ratio:.1f}")
    times = (lambda ratio: f"{ratio:.2f} times")
    pairs = [("capture", "top -b -n1 -H", 3000, 1 / 5, fraction),
             ("capture", "top -b -n1 -H", 10000, 1 / 6, fraction),
             ("capture", "top -b -n1 -H", 30000, 1 / 12, fraction),
             ("capture --source procfs", "ps -eLf", 10000, 1.4, times),
             ("capture --source procfs", "ps -eLf", 30000, 1.4, times)]
    for ours, peer, count, limit, show in pairs:
        if peer in costs.get(count, {}):
            yield (f"{ours} to {peer}, {population(count)}",
                   costs[count][ours].cpu / costs[count][peer].cpu, limit, show)
    if 30000 in costs:
        yield ("capture above start-up, 10,000 to 30,000 threads",
               (costs[30000]["capture"].cpu - startup.cpu) /
               (costs[10000]["capture"].cpu - startup.cpu), 3.3, times)
        yield ("peak memory of capture, 30,000 threads",
               costs[30000]["capture"].peak / MIB, 96, lambda value: f"{value:.1f} MiB")
        yield ("file, 30,000 threads", bytes_per_thread[30000], 64,
               lambda value: f"{value:.1f} bytes a thread")
        yield ("show, 30,000 threads", costs[30000]["show"].cpu, 0.25,
               lambda value: f"{value:.3f} s")
    yield from taskstats_goals(taskstats)
    yield from heap_goals(heap)
    yield from compare_goals(compared)
    yield ("capture of this host as it is, wall time", startup.wall * 1000, 150,
           lambda value: f"{value:.0f} ms")


def report(costs, sampled, startup, host_threads, bytes_per_thread, taskstats, heap, compared,
           watched, stacked, scoped, recorded, shown):
    print(f"kernel {os.uname().release}, {os.cpu_count()} CPUs, "
          f"{'root' if os.geteuid() == 0 else 'unprivileged: capture cannot use BPF'}; "
          f"CPU seconds, user and kernel, best of {ROUNDS}; "
          f"idle threads on top of the {host_threads} of the host itself\n")
    counts = sorted(costs)
    heading = ["", *(population(count) for count in counts)]
    later = ["later sample, sources kept open", *(f"{sampled[count][1]:.3f}" for count in counts)]
    table([heading] + [[name, *(f"{costs[count][name].cpu:.3f}" for count in counts)]
                       for name in costs[counts[0]]] + [later])
    peaks = [f"{costs[count]['capture'].peak / MIB:.1f}" for count in counts]
    table([heading, ["capture, peak MiB", *peaks],
           ["file, bytes a thread", *(f"{bytes_per_thread[count]:.1f}" for count in counts)]])
    if heap is not None:
        print(f"heap counters of {HEAP_THREADS:,} threads: {heap[0] * 1e3:.1f} ms, of which "
              f"{heap[1] * 1e3:.1f} ms are reading; the rest is finding out that the process has "
              "jemalloc\n")
    for rows in [*trees.tables(watched), *stacks.tables(stacked), *scopes.tables(scoped), *recording.tables(recorded),
                 *screens.tables(shown)]:
        table(rows)
    promised = [*goals(costs, startup, bytes_per_thread, taskstats, heap, compared),
                *sample_goals(costs, sampled),
                *trees.goals(watched), *stacks.goals(stacked), *scopes.goals(scoped), *recording.goals(recorded),
                *screens.goals(shown)]
    table([["goal", "measured", "at most", "verdict"]] +
          [[text, show(value), show(limit), "met" if value <= limit else "missed"]
           for text, value, limit, show in promised])


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    costs, sampled, bytes_per_thread, taskstats = {}, {}, {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        commands = tools(build / "taskscope", scratch)
        for name in [name for name, command in commands.items() if not shutil.which(command[0])]:
            print(f"{name}: not installed, left out")
            del commands[name]
        host_threads = threads_of_host()
        startup = best(build, {"capture": commands["capture"]}, scratch)["capture"]
        for processes, threads in POPULATIONS:
            count = processes * threads
            with Load(build, processes, threads) as load:
                if count == 10000:
                    taskstats = measure_taskstats(build, load)
                costs[count] = best(build, commands, scratch)
                sampled[count] = measure_samples(build)
                size = pathlib.Path(scratch, "auto.tscope").stat().st_size
                bytes_per_thread[count] = size / threads_of_host()
        heap = measure_heap(build, scratch)
        compared = measure_compare(build, scratch)
        watched = trees.measure(build, scratch)
        stacked = stacks.measure(build, scratch)
        scoped = scopes.measure(build)
        recorded = recording.measure(build, scratch, Load, best)
        shown = screens.measure(build, Load)
    report(costs, sampled, startup, host_threads, bytes_per_thread, taskstats, heap, compared, watched,
           stacked, scoped, recorded, shown)


if __name__ == "__main__":
    main()
