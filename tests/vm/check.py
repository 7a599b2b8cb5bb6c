#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures a known workload under one of Debian's kernels.

usage: check.py SERIES TASKSCOPE WORKLOAD

Both sources must see what the workload says about itself, agree with each other on every
metric of it, and have the scheduler statistics that kernels of this kind can give.
"""
import json
import operator
import sys

import vm

sys.path.insert(0, str(vm.HERE.parent))
import host_files  # noqa: E402

OPERATORS = {"==": operator.eq, ">=": operator.ge, "<=": operator.le}
SOURCES = ("bpf", "procfs")
MACHINE_ID_HASH = "a3dccd32d3776e6f"  # of the id that prepare.sh invents
DELAYS = ("blkio", "swapin", "freepages", "thrashing", "compact", "wpcopy")


class Workload:
    """What the workload printed."""

    def __init__(self, text):
        self.names, self.expectations = {}, []
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            if word == "process":
                self.pid, self.count = map(int, rest.split())
            elif word == "thread":
                tid, name = rest.split(" ", 1)
                self.names[int(tid)] = name
            elif word == "expect":
                tid, metric, relation, value = rest.split()
                self.expectations.append((int(tid), metric, relation, value))


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def rows(snapshot, workload):
    return {row["tid"]: row for row in snapshot["threads"] if row["tgid"] == workload.pid}


def holds(row, metric, relation, value):
    """Compares as numbers what is a number in the output."""
    seen = row[metric]
    return OPERATORS[relation](seen, int(value) if isinstance(seen, int) else value)


def check_rows(source, seen, workload):
    """The threads that the workload has, by name, each in its cgroup."""
    if sorted(seen) != sorted(workload.names) or len(seen) != workload.count:
        yield f"{source}: threads {sorted(seen)}, not {sorted(workload.names)}"
    for tid, row in seen.items():
        if row["comm"] != workload.names.get(tid):
            yield f"{source}: thread {tid} is called {row['comm']!r}"
        if row["cgroup"] != "/workload.slice" or row["pcomm"] != "workload":
            yield f"{source}: thread {tid} is in {row['cgroup']!r} of {row['pcomm']!r}"


def check_expectations(source, seen, workload, provided):
    for tid, metric, relation, value in workload.expectations:
        row = seen.get(tid, {})
        if metric not in row:
            if metric in provided:
                yield f"{source}: thread {tid} has no {metric}"
        elif not holds(row, metric, relation, value):
            yield (f"{source}: {metric} of {workload.names[tid]} is {row[metric]}, "
                   f"not {relation} {value}")


def check_agreement(seen):
    """Two captures of sleeping threads: whatever both have is the same."""
    bpf, procfs = (seen[source] for source in SOURCES)
    for tid in sorted(set(bpf) & set(procfs)):
        for key in sorted(set(bpf[tid]) & set(procfs[tid])):
            if bpf[tid][key] != procfs[tid][key]:
                yield f"{key} of thread {tid}: {bpf[tid][key]} by bpf, {procfs[tid][key]} by procfs"


def provided_by(metrics, source):
    """The metrics that a source knows how to find, by what the program itself says of them."""
    return {metric["name"] for metric in metrics["metrics"]
            if any(place.startswith("bpf ") == (source == "bpf") for place in metric["sources"])}


def check_statistics(source, seen, metrics):
    """Every thread has every scheduler statistic: they are on, and the kernel has them."""
    wanted = [metric["name"] for metric in metrics["metrics"] if metric["gate"] == "SCHEDSTATS"]
    if not wanted:
        yield "no metric needs scheduler statistics"
    for tid, row in seen.items():
        lacking = [name for name in wanted if name not in row]
        if lacking:
            yield f"{source}: thread {tid} has no {' '.join(lacking)}"


def check_delays(seen):
    """The workload was started with delay accounting on, which only the iterator can see."""
    for tid, row in seen.items():
        for family in DELAYS:
            if f"{family}_delay_count" not in row or f"{family}_delay_total_ns" not in row:
                yield f"bpf: thread {tid} has no delays of {family}"


def delays(row):
    """What a thread waited for, but for a CPU; the count is there even if the time cannot be."""
    return {key: value for key, value in row.items()
            if "_delay_count" in key and not key.startswith("cpu_")}


def check_taskstats(snapshot, seen):
    """Without the iterator the kernel is asked: it tells all of a thread that ever waited."""
    state = {source["name"]: source["state"] for source in snapshot["sources"]}["taskstats"]
    tally = snapshot["capture"].get("taskstats", {})
    if state != "ok" or tally.get("ok", 0) < len(seen["procfs"]):
        yield f"procfs: taskstats is {state}, {tally}"
    for tid, row in seen["procfs"].items():
        told, true = delays(row), delays(seen["bpf"][tid])
        if told != true and (told or any(true.values())):
            yield f"procfs: thread {tid} waited {told}, not {true}"
    if not any(delays(row) for row in seen["procfs"].values()):
        yield "procfs: no thread has delays"
    if "taskstats do not have it" not in snapshot["absent"].get("blkio_delay_max_ns", ""):
        yield f"procfs: blkio_delay_max_ns: {snapshot['absent'].get('blkio_delay_max_ns')}"


def check_host(source, snapshot, before, after):
    """What the machine's files said, the host of the snapshot says; nothing of it is lacking."""
    host = snapshot["host"]
    for difference in host_files.differences(host, before, after):
        yield f"{source}: {difference}"
    for name in ("pressure", "sched_tunables", "sched_debug"):
        if not host.get(name):
            yield f"{source}: the host has no {name}"
    if host.get("machine_id_hash") != MACHINE_ID_HASH or host.get("config_task_xacct") != "on":
        yield f"{source}: machine {host.get('machine_id_hash')}, {host.get('config_task_xacct')}"
    if set(host.get("pressure", {})) - {"irq"} != {"cpu", "memory", "io"}:
        yield f"{source}: pressure of {sorted(host.get('pressure', {}))}"


def check_sched_ext(source, snapshot, has_it):
    """Debian's kernels have no BPF schedulers so far; one that has them has none loaded."""
    report = next(entry for entry in snapshot["sources"] if entry["name"] == "sched_ext")
    if has_it:
        if snapshot["host"].get("sched_ext", {}).get("state") != "disabled":
            yield f"{source}: sched_ext is {snapshot['host'].get('sched_ext')}"
    elif "sched_ext" in snapshot["host"] or "CONFIG_SCHED_CLASS_EXT" not in str(report["reason"]):
        yield f"{source}: sched_ext is {report}"


def check_doctor(doctor):
    """What was on and readable is called so."""
    states = {source["name"]: source["state"] for source in doctor["sources"]}
    for name in ("task_iterator", "stat", "status", "schedstat", "sched", "io", "statm", "fds",
                 "taskstats", "pressure", "host_context"):
        if states.get(name) != "ok":
            yield f"doctor: {name} is {states.get(name)}"
    for tracer in doctor["tracers"]:
        if not tracer["usable"]:
            yield f"doctor: processes cannot be followed by {tracer['name']}: {tracer['reason']}"
    closed = {gate["name"] for gate in doctor["gates"] if not gate["open"]}
    for name in {"SCHED_INFO", "SCHEDSTATS", "TASK_IO_ACCOUNTING", "TASK_DELAY_ACCT"} & closed:
        yield f"doctor: {name} is closed"


def check_source(series, source, snapshot, seen, workload, metrics):
    release = snapshot["host"]["kernel_release"]
    if not release.startswith(series + "."):
        yield f"{source}: kernel {release}, not {series}"
    if snapshot["host"]["task_source"] != source:
        yield f"{source}: the capture was made by {snapshot['host']['task_source']}"
    yield from check_rows(source, seen, workload)
    yield from check_expectations(source, seen, workload, provided_by(metrics, source))
    yield from check_statistics(source, seen, metrics)


def check_syscalls(summary, workload):
    """A shell that opens and closes a file all the time, and the threads of the workload, which wait."""
    calls = {row["syscall"]: row for row in summary["syscalls"]}
    waiting = sum(row["under_way"] for row in calls.values())
    if not calls.get("close", {}).get("calls") or calls["close"]["time_ns"] == 0:
        yield f"trace --summary: no calls of a busy shell: {sorted(calls)}"
    if not workload.count <= waiting <= workload.count + 1:
        yield f"trace --summary: {waiting} calls under way, of {workload.count} threads that wait"
    if summary["lost_calls"] or summary["lost_threads"]:
        yield "trace --summary: something was lost"


def check(series, out):
    workload = Workload((out / "workload").read_text())
    metrics = load(out / "metrics.json")
    snapshots = {source: load(out / f"{source}.json") for source in SOURCES}
    seen = {source: rows(snapshots[source], workload) for source in SOURCES}
    for source in SOURCES:
        yield from check_source(series, source, snapshots[source], seen[source], workload, metrics)
    before, after = (host_files.HostFiles(out / when) for when in ("before", "after"))
    for source in SOURCES:
        yield from check_host(source, snapshots[source], before, after)
        yield from check_sched_ext(source, snapshots[source], "sched_ext" in before.settings)
    yield from check_agreement(seen)
    yield from check_delays(seen["bpf"])
    yield from check_taskstats(snapshots["procfs"], seen)
    yield from check_doctor(load(out / "doctor.json"))
    yield from check_syscalls(load(out / "syscalls.json"), workload)
    shared = set.intersection(*(set().union(*seen[source].values()) for source in SOURCES))
    print(f"linux {series}: {workload.count} threads, {len(workload.expectations)} expectations, "
          f"{len(shared)} keys in both captures")


def body():
    series, taskscope, workload = sys.argv[1:]
    programs = {**vm.tools(workload), "/bin/taskscope": taskscope}
    with vm.boot(series, programs, vm.HERE / "check.job") as out:
        complaints = list(check(series, out))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(vm.main(body))
