# SPDX-License-Identifier: MIT
"""What scopes of libtaskscope cost, next to the plain way with a mutex: see scopes.c.

The memory of a thread is what threads that open and close scopes, with statistics, add to the shared
memory that their process has in RAM.
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import threading

QUICK = bool(os.environ.get("BENCH_QUICK"))
TURNS = 100000 if QUICK else 1000000
THREADS = 256
KIB = 1024


class Scope(ctypes.Structure):
    _fields_ = [("handle", ctypes.c_uint64)]


def shared_bytes():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"RssShmem:\s*(\d+) kB", status).group(1)) * KIB


def print_memory(library):
    """Prints the bytes for each of many threads; for a process that does nothing else."""
    taskscope = ctypes.CDLL(library)
    taskscope.taskscope_enter.restype = Scope
    taskscope.taskscope_leave.argtypes = [Scope]
    if taskscope.taskscope_start(None) != 0 or not taskscope.taskscope_enter(b"first").handle:
        sys.exit("scopes are not recorded")
    before = shared_bytes()
    meet = threading.Barrier(THREADS + 1)

    def work():
        taskscope.taskscope_leave(taskscope.taskscope_enter(b"made at run time"))
        meet.wait()
        meet.wait()

    for _ in range(THREADS):
        threading.Thread(target=work).start()
    meet.wait()
    print((shared_bytes() - before) / THREADS)
    meet.wait()


def output_of(command, **settings):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("TASKSCOPE")}
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=True,
                          env={**environment, **settings}).stdout


def measure(build):
    """Nanoseconds of a pair by depth and threads: ours, the mutex's, ours with statistics; of a
    step; and bytes of a thread."""
    pairs, statistics, others = {}, {}, {}
    for line in output_of([build / "bench/scopes", TURNS]).splitlines():
        kind, *numbers = line.split()
        if kind == "pair":
            pairs[int(numbers[0]), int(numbers[1])] = [float(cost) for cost in numbers[2:]]
        elif kind == "statistics":
            statistics[int(numbers[0]), int(numbers[1])] = float(numbers[2])
        else:
            others[kind] = [float(cost) for cost in numbers]
    library = next((build / "src/lib").glob("libtaskscope.so.[0-9]"))
    memory = float(output_of([sys.executable, __file__, library], TASKSCOPE_STATISTICS="on"))
    return {"pairs": pairs, "statistics": statistics, "memory": memory, **others}


def threads_text(count):
    return "1 thread" if count == 1 else f"{count} threads"


def tables(costs):
    rows = [["enter and leave, ns", "scope", "with a mutex", "ratio", "scope with statistics",
             "statistics add"]]
    for (depth, threads), (ours, mutex) in costs["pairs"].items():
        counted = costs["statistics"][depth, threads]
        rows.append([f"depth {depth}, {threads_text(threads)}", f"{ours:.1f}", f"{mutex:.0f}",
                     f"1/{mutex / ours:.1f}", f"{counted:.1f}", f"{counted - ours:.1f}"])
    yield rows
    ours, atomic = costs["advance"]
    yield [["a step of progress, ns", "advance", "atomic add", "ratio"],
           ["1 thread", f"{ours:.2f}", f"{atomic:.2f}", f"{ours / atomic:.2f}"]]
    due, clock = costs["due"]
    yield [["others, ns", "ours", "its clock"],
           ["a pair with a label made at run time", f"{costs['made'][0]:.1f}", "-"],
           ["asking whether an interval is over", f"{due:.2f}", f"{clock:.2f}"]]


def due_ratio(costs):
    return costs["due"][0] / costs["due"][1]


def goals(costs):
    """As bench/run.py has them: text, figure, the largest allowed, how to print both."""
    fraction = (lambda ratio: f"1/{1 / ratio:.1f}")
    times = (lambda ratio: f"{ratio:.2f} times")
    pairs = costs["pairs"]
    for depth, threads, limit in [(1, 1, 1 / 5), (8, 1, 1 / 12), (1, 2, 1 / 15)]:
        ours, mutex = pairs[depth, threads]
        yield (f"a scope to one with a mutex, depth {depth}, {threads_text(threads)}",
               ours / mutex, limit, fraction)
    yield "a scope at depth 32, to depth 1", pairs[32, 1][0] / pairs[1, 1][0], 1.2, times
    yield ("a step of progress, to an atomic add", costs["advance"][0] / costs["advance"][1], 3,
           times)
    yield "asking whether an interval is over, to its clock", due_ratio(costs), 3, times
    yield ("memory of a thread with scopes", costs["memory"] / KIB, 8,
           lambda value: f"{value:.1f} KiB")


if __name__ == "__main__":
    print_memory(sys.argv[1])
