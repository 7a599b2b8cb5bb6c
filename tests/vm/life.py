#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Follows the lives of processes on one of Debian's kernels.

usage: life.py SERIES LIFE_DRIVER LIFE_WORKLOAD TASKSCOPE

What was seen of each process is held against what the processes say about themselves; then a recorder
follows some more.
"""
import contextlib
import re
import sqlite3
import sys

import vm

NEAR = 0.02  # of CPU times, which the kernel itself rounds
MEGABYTE = 1 << 20


def parse(path):
    return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in path.read_text().splitlines()]


class Job:
    def __init__(self, out, name):
        if (out / f"{name}.status").read_text().strip() != "0":
            raise ValueError((out / f"{name}.said").read_text())
        self.seen, self.said = parse(out / f"{name}.seen"), parse(out / f"{name}.said")
        self.pid = next(line["pid"] for line in self.seen if line.get("end") == "wait")
        self.losses = next(line for line in self.seen if line.get("end") == "losses")

    def events(self, kind, **values):
        return [line for line in self.seen if line.get("kind") == kind
                and all(line.get(key) == str(value) for key, value in values.items())]

    def one(self, kind, **values):
        found = self.events(kind, **values)
        if len(found) != 1:
            raise ValueError(f"{len(found)} events {kind} with {values}")
        return found[0]


def check_storm(job, made=500):
    for kind in ("spawn", "exec", "exit"):
        if len(job.events(kind, ppid=job.pid)) != made:
            yield f"{len(job.events(kind, ppid=job.pid))} of {made} events {kind}"
    codes = sorted(int(line["status"]) >> 8 for line in job.events("exit", ppid=job.pid))
    if codes != sorted(i % 100 for i in range(made)):
        yield "statuses are wrong"
    if job.losses["ring"] != "0":
        yield f"losses: {job.losses}"


def check_burn(job):
    used = sum(int(line["run_time_ns"]) for line in job.events("exit", ppid=job.pid))
    charged = int(job.said[0]["cpu_ns"])
    if abs(used - charged) > NEAR * charged:
        yield f"children used {used}, the kernel charged {charged}"


def check_threads(job):
    end = job.one("exit", pid=job.said[0]["child"])
    if int(end["run_time_ns"]) < 20 * 2000 * 1000 or end["status"] != job.said[0]["status"]:
        yield f"the end of threads is {end}"


def check_signals(job):
    for child in job.said:
        end = job.one("exit", pid=child["child"])
        for key in ("signal", "sender", "status"):
            if end.get(key) != child[key]:
                yield f"{key} of {end} is not {child[key]}"


def check_rename(job):
    if job.one("rename", pid=job.pid)["comm"] != "other":
        yield "renamed to another name"


def check_memory(job):
    peak = int(job.one("exit", pid=job.pid)["peak_rss"])
    if not 64 * MEGABYTE <= peak <= 80 * MEGABYTE:
        yield f"peak is {peak}"


def check_oom(job):
    end = job.one("exit", status=9)
    oom = job.one("oom", pid=end["pid"], start=end["start"])
    if oom.get("cmd") != "life_workload,memory,64":
        yield f"the victim is {oom}"


def check_cgroup(job):
    if [line["cmd"] for line in job.events("exec")] != ["life_workload,exit,4"]:
        yield f"execs in the cgroup: {job.events('exec')}"
    job.one("exit", status=4 << 8)


def check_ring(job):
    for kind in ("spawn", "exec", "exit"):
        lost = int(job.losses[f"ring_{kind}"])
        if not lost or lost + len(job.events(kind)) != 100 + (kind != "spawn"):
            yield f"{lost} events {kind} were lost"


def check_polling(job):
    job.one("exit", ppid=job.pid)
    yield from ()


CHECKS = {"storm": check_storm, "burn": check_burn, "threads": check_threads,
          "signals": check_signals, "rename": check_rename, "memory": check_memory,
          "oom": check_oom, "cgroup": check_cgroup, "ring": check_ring,
          "connector": check_storm, "polling": check_polling}


def rows(out, store, query):
    with contextlib.closing(sqlite3.connect(out / store)) as connection:
        return connection.execute(query).fetchall()


def check_recorder(out, made=100):
    said = (out / "record.said").read_text() + (out / "small.said").read_text()
    if (out / "record.status").read_text() != "0\n" or said.count("events by bpf") != 1:
        yield said
    if "is complete and right" not in (out / "verify.said").read_text():
        yield (out / "verify.said").read_text()
    for kind in ("spawn", "exec", "exit"):
        found, = rows(out, "r.db", f"SELECT count(*) FROM events WHERE kind = '{kind}' AND ppid = "
                      "(SELECT max(pid) FROM events WHERE kind = 'exec' AND cmd = 'life_workload storm 100 0')")[0]
        if found != made:
            yield f"{found} of {made} events {kind} were recorded"
    if not rows(out, "r.db", "SELECT 1 FROM activity JOIN stacks ON hash = stack WHERE frames LIKE '%do_syscall_64%'"):
        yield ("no activity with a stack was recorded: "
               f"{rows(out, 'r.db', 'SELECT threads, missed, cost_ns FROM activity_walks')}, "
               f"{rows(out, 'r.db', 'SELECT DISTINCT shed FROM ticks')}, {rows(out, 'r.db', 'SELECT * FROM meta')}")
    # An emulated machine is so slow that the recorder may leave out files of cgroups.
    for scope, threads, cpu, limit in rows(out, "small.db", "SELECT scope, scope_threads, scope_cpu_percent, "
                                           "scope_memory_limit_bytes FROM host_samples AS h JOIN ticks AS t USING "
                                           "(ts_ns) WHERE coalesce(shed, '') NOT LIKE '%cgroups%' AND id > 1"):
        if (scope, threads, limit) != ("cgroup /small", 1, 16 * MEGABYTE) or cpu is None or cpu > 50:
            yield f"{scope}: {threads} threads, {cpu} %, limit {limit}"


def check(out):
    for name, checks in CHECKS.items():
        try:
            yield from (f"{name}: {complaint}" for complaint in checks(Job(out, name)))
        except (OSError, ValueError, LookupError, StopIteration) as error:
            yield f"{name}: {error!r}"
    try:
        yield from (f"recorder: {complaint}" for complaint in check_recorder(out))
    except (OSError, ValueError, LookupError, sqlite3.Error) as error:
        yield f"recorder: {error!r}"


def body():
    series, driver, workload, taskscope = sys.argv[1:]
    programs = {"/bin/life_driver": driver, "/bin/life_workload": workload, "/bin/taskscope": taskscope}
    with vm.boot(series, programs, vm.HERE / "life.job") as out:
        complaints = list(check(out))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(vm.main(body))
