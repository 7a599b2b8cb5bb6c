#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole outputs on recorded roots, compared with the files in expected/.

A case is a line of CASES, run on every root below tests/data/roots; every run below tests/data/runs is
reported.  TASKSCOPE_ACCEPT=1 writes what comes out as what is expected: read the difference before you
commit it.  Examples in the README and in docs are run as well: what they show must be what comes out.
"""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import pairs

HERE = pathlib.Path(__file__).resolve().parent
ROOTS = HERE.parent / "data/roots"
CTPROF = HERE.parent / "data/ctprof"
RUNS = HERE.parent / "data/runs"
TASKSCOPE = os.environ["TASKSCOPE"]
ACCEPT = os.environ.get("TASKSCOPE_ACCEPT") == "1"
os.environ.pop("COLUMNS", None)  # outputs that are not cut to a terminal's width

# name of the expected file, words after `show FILE`
CASES = [
    ("process.txt", ["-g", "process", "-n", "0"]),
    ("pcomm.txt", []),
    ("comm.txt", ["-g", "comm", "-s", "voluntary_csw", "-n", "5"]),
    ("cgroup.txt", ["-g", "cgroup", "-m", "thread_count,minflt,cpu_affinity,state,policy,nice"]),
    ("all.txt", ["-g", "all", "-m", "run_time_ns,minflt", "-n", "12"]),
    ("flatten.txt", ["-g", "cgroup", "-m", "thread_count", "--flatten", "/odd*",
                     "--flatten", "/*.slice"]),
    ("literal.txt", ["-g", "all", "-m", "thread_count", "-n", "6", "-s", "group",
                     "--no-normalize"]),
    ("user.txt", ["-g", "user", "-m", "*_csw,cpu_efficiency"]),
    ("long.txt", ["-g", "process", "-n", "2", "--columns",
                  "group,tasks,metric,value,measured,tags,uptime"]),
    ("sections.txt", ["-g", "process", "-n", "3", "--sections", "all"]),
    ("readings.csv", ["--format", "csv", "--sections",
                      "cgroups,limits,memory.stat,memory.events,pressure,host"]),
    ("thread.json", ["-g", "thread", "--format", "json"]),
    ("process.json", ["-g", "process", "--format", "json"]),
    ("thread.csv", ["-g", "thread", "--format", "csv"]),
    ("filtered.json", ["-g", "process", "--format", "json", "-m", "run_time_ns", "--filter",
                       "rss_bytes>1M comm!=idle", "-u", "root"]),
]

# Words after `show FILE -g thread -m thread_count,rss_bytes`: which tasks of a file are left.
FILTERS = """
--filter 'pcomm=workload comm=b*'
--filter 'pcomm=workload' --filter 'comm!=b*,n*'
--filter 'rss_bytes>1500K'
--filter 'rss_bytes<=1500K state=S'
--filter 'comm="a) S (b 1"'
--filter 'policy=SCHED_FIFO,SCHED_BATCH'
--filter 'tree=init cpu_affinity=0'
--filter 'nice>5'
--filter 'cgroup=/workload.slice/**'
--filter 'user!=root'
--filter 'cmd=*sleep*'
--filter 'scope=solve'
--filter 'comm=nobody'
--filter 'cpu>5'
--filter 'wait_disk_ns>1s'
-p 1,sleep
-c /workload.slice
-c /
-u 0
-u nobody
"""

VERBS = re.findall(r"^VERB\((\w+)\)$", (HERE.parent.parent / "src/cli/verbs.def").read_text(), re.M)

# Command lines that are refused before anything is read.
MISTAKES = """
shwo
help shwo
help show more
--version more
--completions csh
show a b
metrics a
show --grup-by comm
show -z
show -qz
show -g procces
show --format
show -n
show -n many
show --smaps=yes
show -s policy
show -s minflt:up
show -s minflt,majfit
show -s minflt,
show --count 3
show -d 0
show --forest -g user
show -d 1s --sections cgroups
compare -d 1s a
compare a..b
show -m majflt,runtime_ns
show --columns group,metrc
show --columns group --format json
show --sections io,memry
show --sections io,host --format csv
show --without stat,status,maps
show --without stat,
show -p 12,
show -p 0
show -p 2147483648
show -p 12x
show 17
show --filter
show --filter 'pcom=a'
show --filter 'rss_bytes>1s'
show --filter 'comm=a comm>b'
show --filter 'comm="a'
show -u 'a b'
show --no-normalize=all
show --flatten /a[
show tests -p 12
capture
capture -o x.txt
compare
compare x.tscope
compare x.tscope, y.tscope
compare -d 0
compare -d soon
compare -d 1s --root /
compare x.tscope y.tscope -p 1
compare x.tscope y.tscope --mode intervall
compare x.tscope y.tscope -s policy
compare x.tscope y.tscope --columns befor
compare x.tscope y.tscope --columns group,arrow,after
compare x.tscope y.tscope --display percent
compare x.tscope y.tscope --display pct --columns group
compare x.tscope y.tscope --display pct --format csv
compare x.tscope y.tscope --sections primry
compare x.tscope y.tscope --format json --columns group
compare x.tscope y.tscope --fail-on 'rss_bytes > 1s'
compare x.tscope y.tscope --fail-on 'pcomm=\u00e4* minflt ~ 1'
why
why 12 -p 12
why 0
why 2147483648
why twelve
why --filter 'comm'
why 12 -d 0
why 12 -d 3600.1s
scopes -p 1,x
scopes x
attach
attach 12 -d 0s
attach 12 --interval 999us
attach 12 --interval 3601s
attach 12 -o x.json
attach 12 -o .jsonl
attach 12 -o none/x.jsonl
run
run -o - -o -.folded -- true
show --json --format csv
show --format csv --json
show --color=often
show -d 1h30
compare - -
events --store -
record --store -
report -o - build.jsonl
run -o x.txt -- true
run -F 0 -- true
run -F 10001 -- true
run -F fast -- true
attach 12 --off-cpu-min 2h
attach 12 --off-cpu-min 0
attach 12 --no-stacks -F 99
run --no-stacks -o x.folded -- true
attach 12 -o a.folded -o b.folded
report -o x.txt none.jsonl
report -o x.folded none.jsonl
run -d 0 -- true
run --interval 999us -- true
run -z -- true
report
report none.jsonl
report none.tscope
show none.tscope
top --count 3
top --json --count 0
top -n 5
top -i 10ms
top a b
top a.tscope --store r.db
top --store r.db --source bpf
top --tree 0
top --json -s policy
top --json --filter 'pcom=a'
top --json --at noon --store none.db
show none.ctprof.zst
show --root none
capture --root none -o x.tscope
compare none.tscope none.tscope
compare -d 1ms --root none
doctor --root none
doctor more
"""


def taskscope(*words, folder=None, with_notes=False):
    """What it prints; on standard error only if it failed, or notes are asked for."""
    done = subprocess.run([TASKSCOPE, *map(str, words)], capture_output=True, cwd=folder,
                          stdin=subprocess.DEVNULL, timeout=300)
    return done.stdout + done.stderr if done.returncode or with_notes else done.stdout


def outputs(root, folder):
    """Every case on one root, as (expected file, output)."""
    snapshot = os.path.join(folder, root.name + ".tscope")
    taskscope("capture", "-q", "--root", root, "-o", snapshot)
    for name, words in CASES:
        yield root.name + "-" + name, taskscope("show", snapshot, *words)
    yield root.name + "-doctor.json", taskscope("doctor", "--root", root, "--format", "json")
    yield root.name + "-doctor.txt", taskscope("doctor", "-v", "--root", root)
    yield root.name + "-doctor-brief.txt", taskscope("doctor", "--root", root)
    yield root.name + "-filters.txt", filtered(root)
    yield root.name + "-smaps.txt", taskscope("show", "--root", root, "--smaps", "-g", "process",
                                             "-n", "0", "-m",
                                             "rss_bytes,pss_bytes,uss_bytes,swap_bytes")
    yield root.name + "-smaps.json", taskscope("show", "--root", root, "--smaps", "--sections",
                                              "memory", "-g", "comm", "-n", "5", "--format", "json")
    yield root.name + "-filtered.txt", shown(["show", snapshot], FILTERS)
    # A name stands for the processes that have it, also where the tree is read now.
    yield root.name + "-named.txt", shown(["show", "--root", root],
                                          "-p sleep\n-p 'sl*'\n-p nobody\n-u root --filter 'rss_bytes>1500K'")
    # A file and a capture shown at once are the same.
    yield root.name + "-pcomm.txt", taskscope("show", "--root", root)


def shown(words, lines):
    """What each line of filters leaves, or the sentence about what is wrong with it."""
    said = b""
    for line in lines.strip().split("\n"):
        done = subprocess.run([TASKSCOPE, *words, "-g", "thread", "-m", "thread_count,rss_bytes", "-n", "0",
                               *shlex.split(line)], capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
        said += f"$ {line}\n".encode() + done.stdout + done.stderr + f"exit {done.returncode}\n".encode()
    return said


def filtered(root):
    """Which tasks each filter leaves, or the sentence about what is wrong with it."""
    first = min(int(path.name) for path in (root / "proc").iterdir() if path.name.isdigit())
    threads = sorted(path for path in (root / "proc").glob("*/task/*") if path.name != path.parent.parent.name)
    filters = [["-c", path] for path in ("/", "//", "/workload.slice", "/workload.slice/", "workload.slice",
                                         "/..", "/.", "/./workload.slice", "/workload.slice/..", "/..workload",
                                         "/workload.slice//x", "/nothing")]
    filters += [["-p", str(first)], ["-p", f"{first},{threads[0].parent.parent.name}"], ["-p", "2147483647"],
                ["-p", min(path.name for path in threads)], ["--without", "stat,status"], ["--no-cmdline"],
                ["--source", "bpf"], ["-p", str(first), "-c", "/"]]
    said = b""
    for words in filters:
        done = subprocess.run([TASKSCOPE, "show", "--root", root, "-g", "process", "-m", "thread_count", "-n", "0",
                               *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
        said += f"$ {' '.join(words)}\n".encode() + done.stdout + done.stderr + f"exit {done.returncode}\n".encode()
    return said


def told(folder):
    """What the program says of itself, and of command lines that are wrong, as (expected file, output)."""
    yield "help.txt", b"".join(taskscope("help", *words) for words in [[], *([verb] for verb in VERBS), ["filter"]])
    said = b""
    for line in MISTAKES.strip().split("\n"):
        done = subprocess.run([TASKSCOPE, *shlex.split(line)], capture_output=True, cwd=folder,
                              stdin=subprocess.DEVNULL, timeout=300)
        said += f"$ taskscope {line}\n".encode() + done.stdout + done.stderr
        said += f"exit {done.returncode}\n".encode()
    yield "mistakes.txt", said


def difference(name, expected, got):
    lines = difflib.unified_diff(expected.decode().splitlines(), got.decode().splitlines(),
                                 name, "got", lineterm="")
    return list(lines)[:40]


def differs(name, got):
    path = HERE / "expected" / name
    if ACCEPT:
        path.write_bytes(got)
    return difference("expected/" + name, path.read_bytes() if path.exists() else b"", got)


def without_size(output):
    """How well a file compresses is up to the library's version."""
    return re.sub(rb"(tscope), [0-9.]+ [KMG]?i?B\n", rb"\1\n", output)


def tour(folder):
    """The commands in the README and docs that need nothing but taskscope, with what these say they print."""
    os.symlink(HERE.parent, os.path.join(folder, "tests"))
    project = HERE.parent.parent
    for path in [project / "README.md", *sorted(project.glob("docs/*.md"))]:
        for words, expected in re.findall(r"```\n\$ taskscope ([^\n|;]*)\n(.*?)```", path.read_text(), re.S):
            # A part of an output, or a process, depends on the host.
            if "\n..." in "\n" + expected or re.search(r"-p \d", words):
                continue
            done = subprocess.run([TASKSCOPE, *shlex.split(words)], capture_output=True, cwd=folder)
            got = without_size(done.stdout + done.stderr)
            if ACCEPT and got != without_size(expected.encode()):
                path.write_text(path.read_text().replace(expected, got.decode()))
                continue
            yield f"{path.name}: {words}", difference(path.name, without_size(expected.encode()), got)


def cases(folder):
    for name, got in told(folder):
        yield name, differs(name, got)
    for root in sorted(path for path in ROOTS.iterdir() if path.is_dir()):
        for name, got in outputs(root, folder):
            yield name, differs(name, got)
    for name in ["full", "defaults"]:
        got = taskscope("show", CTPROF / f"{name}.ctprof.zst", "-g", "thread", "--sections", "all")
        yield f"ctprof-{name}.txt", differs(f"ctprof-{name}.txt", got)
    # Files of ktstr and runs are filtered like all others.
    got = shown(["show", CTPROF / "full.ctprof.zst"], "--filter 'minflt>0'\n--filter 'comm=*[0-9]'\n-u root")
    got += shown(["show", RUNS / "build.jsonl"],
                 "--filter 'run_time_ns>100ms'\n-p make\n--filter 'tree=make wait_disk_ns>0'\n-c /")
    yield "filtered-others.txt", differs("filtered-others.txt", got)
    for run in sorted(RUNS.iterdir()):
        for kind in ["text", "json"]:
            name = f"report-{run.stem}.{'txt' if kind == 'text' else 'json'}"
            yield name, differs(name, taskscope("report", run, "--format", kind))
    for name, *words in [("two-rows", "-v", "-n", "2"), ("verbose", "-v")]:
        got = taskscope("report", RUNS / "every_key.jsonl", *words)
        yield f"report-{name}.txt", differs(f"report-{name}.txt", got)
    pairs.make(folder, ROOTS, CTPROF,
               lambda root, file: taskscope("capture", "-q", "--smaps", "--root", root, "-o", file))
    for name, words in pairs.CASES:
        got = taskscope("compare", *pairs.words_of(name, words), folder=folder,
                        with_notes=name.startswith("left-out"))
        yield f"compare-{name}", differs(f"compare-{name}", got)
    yield from tour(folder)


def main():
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in cases(folder):
            count += 1
            failed += bool(lines)
            print("not ok" if lines else "ok", count, "-", name)
            for line in lines:
                print("#", line)
    print(f"1..{count}")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
