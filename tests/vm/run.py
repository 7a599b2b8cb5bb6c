#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs trees of processes under taskscope, on one of Debian's kernels.

usage: run.py SERIES TASKSCOPE TREE_WORKLOAD

What was recorded of each process is held against what the process says about itself.
"""
import dataclasses
import json
import operator
import sys

import vm

NEAR = 0.02  # of CPU times, which the kernel itself rounds
CLOSE = 0.01  # of wall time, that a ledger may lack
REASONS = ("disk", "lock", "condition", "network", "pipe", "timer", "poll", "child", "memory",
           "stopped", "other")
NS_PER_MS = 1000000
OPERATORS = {"==": operator.eq, ">=": operator.ge, "<=": operator.le,
             "~": lambda seen, value: abs(seen - value) <= NEAR * value}


@dataclasses.dataclass
class Way:
    """One run of the job: how it ends, and what can be expected of it."""
    name: str
    tracer: str
    keys: tuple  # what records have, by the first part of the key; others need not be there
    complete: bool = True  # no process is missed
    apart: bool = True  # CPU time is exact of each process, not only of all
    waits: bool = True  # ledgers have reasons, and close
    status: int = 3


ENDS = ("exit_code", "signal")
WAYS = [
    Way("bpf", "bpf", (*ENDS, "cpu_time_ns", "sender_pid", "oom_killed", "hiwater_rss_bytes", "wait",
                       "syscalls", "rchar")),
    Way("quiet", "bpf", (*ENDS, "cpu_time_ns", "sender_pid", "wait")),
    Way("killed", "bpf", ENDS, status=137),
    Way("connector", "connector", (*ENDS, "cpu_time_ns"), apart=False, waits=False),
    Way("procfs", "procfs", (), complete=False, apart=False, waits=False),
]


class Said:
    """What the processes of a run printed."""

    def __init__(self, text):
        self.roles, self.expectations, self.children, self.left = {}, [], [], []
        self.sender, self.total = None, None
        for line in text.splitlines():
            word, *rest = line.split()
            if word == "role":
                self.roles[int(rest[0])] = rest[1]
            elif word == "expect":
                self.expectations.append((int(rest[0]), *rest[1:]))
            elif word == "children":
                self.children.append(tuple(map(int, rest)))
            elif word == "left":
                self.left.append(int(rest[0]))
            elif word == "total":
                self.total = tuple(map(int, rest))
            elif word == "sender":
                self.sender = int(rest[0])


class Run:
    """The lines about a run; pids are unique in it."""

    def __init__(self, path):
        self.lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.summary = self.lines[-1]
        self.exits = {line["pid"]: line for line in self.lines if line["kind"] == "exit"}
        # The last sample is taken when all accounts have come.
        self.end_ns = self.summary["begin_monotonic_ns"] + max(
            line["time_ns"] for line in self.lines if line["kind"] == "sample")


def look_up(record, key):
    """The value at a path of names, None when there is none; system calls are found by name."""
    for name in key.split("."):
        if "table" in record:
            record = {row["name"]: row for row in record["table"]}
        record = record.get(name)
        if record is None:
            return None
    return record


def check_expectations(way, run, said):
    for pid, key, relation, value in said.expectations:
        record = run.exits.get(pid)
        if record is None:
            if way.complete:
                yield f"nothing is known of the end of {pid}"
            continue
        if key == "cpu_time_ns" and (not way.complete or (relation == "~" and not way.apart)):
            continue  # what it used after the last look is in the total alone
        seen = look_up(record, key)
        if seen is None:
            if key.split(".")[0] in way.keys or (key.startswith("wait_") and "wait" in way.keys):
                yield f"{pid} {record['cmd']} has no {key}"
        elif not OPERATORS[relation](seen, int(value)):
            times = {name: time for name, time in record.items() if name.endswith("_ns") and time}
            yield f"{key} of {pid} {record['cmd']} is {seen}, not {relation} {value}: {times}"


def check_children(way, run, said):
    """Short ones are all there, with the CPU time that the kernel tells of them."""
    for parent, count, cpu_ns in said.children:
        found = [record for record in run.exits.values() if record["ppid"] == parent]
        if way.complete and len(found) != count:
            yield f"{len(found)} children of {parent}, not {count}"
        total = sum(record["cpu_time_ns"] for record in found)
        if way.apart and not OPERATORS["~"](total, cpu_ns):
            yield f"children of {parent} took {total} ns of CPU time, not {cpu_ns}"
    if said.total:
        seen = run.summary["cpu_time_ns"] + run.summary.get("unseen_cpu_ns", 0)
        least, most, time = said.total
        most += run.end_ns - time  # on its CPU, for all that the first process can tell
        if not least * (1 - NEAR) <= seen <= most * (1 + NEAR):
            yield f"all took {seen} ns of CPU time, not {least} to {most}"


def waited(row):
    return row["wait_time_ns"] + sum(row[f"wait_{reason}_ns"] for reason in REASONS)


def check_ledger(name, row):
    """What a thread did adds up to the time that it lived."""
    gap = row["wall_time_ns"] - row["run_time_ns"] - waited(row)
    if abs(gap) > CLOSE * row["wall_time_ns"]:
        yield f"the ledger of {name} lacks {gap} of {row['wall_time_ns']} ns: {row}"


def check_off_cpu(row):
    """A thread that ended was off its CPU once for each switch, but for the last."""
    count, switches = row["offcpu_count"], row["voluntary_csw"] + row["nonvoluntary_csw"]
    if abs(count - switches) > 1:
        yield f"{row['tid']} was off its CPU {count} times with {switches} switches"
    if not row["offcpu_min_ns"] * count <= waited(row) <= row["offcpu_max_ns"] * count:
        yield f"{row['tid']} was off its CPU for {waited(row)} ns: {row}"


def check_ledgers(run):
    threads = run.summary["threads"]
    for row in (row for row in threads if row.get("ended")):
        yield from check_off_cpu(row)
    # One that began after the last look has no ledger yet.
    for row in (row for row in threads if row.get("ended") or "run_time_ns" in row):
        yield from check_ledger(f"thread {row['tid']} of {row['pid']}", row)
    for record in run.exits.values():
        yield from check_ledger(f"process {record['pid']}", record)
    yield from check_ledger("the tree", run.summary)
    if len(threads) + run.summary["threads_folded"] != run.summary["threads_ever"]:
        yield f"{len(threads)} ledgers of {run.summary['threads_ever']} threads"
    unclear = run.summary["wait_other_ns"]
    if unclear > CLOSE * run.summary["wall_time_ns"]:
        yield f"blocked for no known reason for {unclear} ns"


def check_end(way, run):
    summary = run.summary
    if summary["kind"] != "summary" or summary["tracer"] != way.tracer:
        return [f"the last line is a {summary['kind']} of {summary.get('tracer')}"]
    status = summary.get("exit_code", 128 + summary.get("signal", 0))
    return [f"the command ended with {status}"] if status != way.status else []


def check_whole(way, run, said):
    """Nothing was lost where it need not be, and who stays behind is listed."""
    summary = run.summary
    for name in ("events", "threads_lost", "untracked_tasks", "strays", "lines"):
        if way.complete and summary["losses"][name]:
            yield f"lost: {summary['losses'][name]} {name}"
    running = sorted(record["pid"] for record in summary["running_processes"])
    if way.complete and running != said.left:
        yield f"{running} are still running, not {said.left}"
    if way.complete and len(run.exits) + len(running) != summary["processes_ever"]:
        yield f"{len(run.exits)} ends of {summary['processes_ever']} processes"
    if summary.get("sender_pid") != said.sender:
        yield f"killed by {summary.get('sender_pid')}, not {said.sender}"


def check_way(way, out):
    status = (out / f"{way.name}.status").read_text().strip()
    run, said = Run(out / f"{way.name}.jsonl"), Said((out / f"{way.name}.said").read_text())
    if status != str(way.status):
        yield f"taskscope ended with {status}"
    yield from check_end(way, run)
    yield from check_whole(way, run, said)
    yield from check_expectations(way, run, said)
    yield from check_children(way, run, said)
    if way.waits:
        yield from check_ledgers(run)


def check_attached(out):
    """A shell that starts a process each moment was watched for two seconds."""
    run = Run(out / "attached.jsonl")
    summary = run.summary
    if (out / "attached.status").read_text().strip() != "0" or summary["mode"] != "attach":
        yield "attach failed"
    if not 1900 * NS_PER_MS <= summary["wall_ns"] <= 10000 * NS_PER_MS:
        yield f"watched for {summary['wall_ns']} ns"
    if len(run.exits) < 4 or summary["processes_ever"] < 5:
        yield f"{len(run.exits)} ends of {summary['processes_ever']} processes"
    yield from check_ledgers(run)


def check_why(out):
    why = json.loads((out / "why.json").read_text())
    reasons = [thread.get("reason") for thread in why["threads"]]
    if why["verdict"]["cause"] != "sleep" or reasons != ["timer"]:
        yield f"it waits for {reasons}: {why['verdict']}"


def check_report(out):
    """A saved run is told again as it was."""
    report, run = json.loads((out / "report.json").read_text()), Run(out / "bpf.jsonl")
    for key in ("exit_code", "wall_ns", "cpu_time_ns", "processes_ever", "wall_time_ns", "verdict"):
        if report[key] != run.summary[key]:
            yield f"{key} is {report[key]}, was {run.summary[key]}"


def check_wall(out):
    """The first thread lived as long as the command took, seen from outside."""
    summary = Run(out / "bpf.jsonl").summary
    first = next(row for row in summary["threads"] if row["tid"] == summary["pid"])
    if abs(first["wall_time_ns"] - summary["wall_ns"]) > CLOSE * summary["wall_ns"]:
        yield f"{first['wall_time_ns']} ns of {summary['wall_ns']} ns"


CHECKS = {"wall": check_wall, "attach": check_attached, "why": check_why, "report": check_report}


def complaints_of(name, checked):
    """A check's complaints; a file that is missing or lacks what every run has is one, too."""
    try:
        yield from (f"{name}: {complaint}" for complaint in checked)
    except (OSError, ValueError, LookupError) as error:
        yield f"{name}: {error!r}"


def check(out):
    for way in WAYS:
        yield from complaints_of(way.name, check_way(way, out))
    for name, body_of in CHECKS.items():
        yield from complaints_of(name, body_of(out))


def figures(series, out):
    run, said = Run(out / "bpf.jsonl"), Said((out / "bpf.said").read_text())
    parts = [f"linux {series}: {run.summary['processes_ever']} processes",
             f"{len(said.expectations)} expectations"]
    for parent, _, cpu_ns in said.children:
        total = sum(line["cpu_time_ns"] for line in run.exits.values() if line["ppid"] == parent)
        parts.append(f"CPU of short children {total / cpu_ns:.4f} of what getrusage says")
    parts.append(f"ready in {run.summary['self']['startup_ns'] / NS_PER_MS:.0f} ms")
    return ", ".join(parts)


def body():
    series, taskscope, workload = sys.argv[1:]
    programs = {"/bin/taskscope": taskscope, "/bin/tree_workload": workload}
    with vm.boot(series, programs, vm.HERE / "run.job") as out:
        complaints = list(check(out))
        if complaints:
            log = (out / "log").read_text().splitlines()
            complaints += [line for line in log if line.startswith("taskscope: ")]
        else:
            print(figures(series, out))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(vm.main(body))
