# SPDX-License-Identifier: MIT
"""Pairs of snapshots for `compare`, made from recorded roots: a root and the same host ten seconds
later (threads and processes born and ended, known work done), one boot and another, cgroups of v1
and v2, and runs."""
import pathlib
import re
import shutil

SECOND = 10 ** 9

# name of the expected file below compare-, words after `compare`; A B: ten seconds of one boot
CASES = [
    ("interval.txt", ["A", "B", "-n", "6"]),
    ("intervals.txt", ["EXT..RELOAD", "A..B", "-n", "6"]),
    ("intervals.json", ["EXT..RELOAD", "A..B", "-m", "run_time_ns,rss_bytes,cpu_efficiency,policy",
                        "--sections", "primary,derived"]),
    ("intervals.csv", ["EXT..RELOAD", "A..B", "-g", "cgroup", "-m", "run_time_ns,rss_bytes"]),
    ("intervals-comm.txt", ["EXT..RELOAD", "A..B", "-g", "comm", "-m", "run_time_ns,rchar"]),
    ("intervals-runs.txt", ["EXT..RELOAD,EXT..RELOAD,EXT..RELOAD", "A..B,A..B,A..B", "-m",
                            "run_time_ns,rss_bytes"]),
    ("intervals-fail.txt", ["EXT..RELOAD", "A..B", "-m", "majflt", "--fail-on",
                            "pcomm=work* run_time_ns > +20%", "--fail-on", "rchar > +5%"]),
    ("all-metrics.txt", ["A", "B", "-n", "6", "--all-metrics", "--sections", "primary,delays"]),
    ("unchanged.txt", ["A", "B", "--all", "-n", "0", "-m", "run_time_ns,majflt,wait_max,state"]),
    ("interval.json", ["A", "B", "-m", "run_time_ns,rchar,rss_bytes,cpu_efficiency,policy,wait_max",
                       "--sections", "primary,derived"]),
    ("interval.csv", ["A", "B", "-m", "run_time_ns,rchar,rss_bytes,cpu_efficiency,policy,wait_max"]),
    ("interval-sort.txt", ["A", "B", "-g", "comm", "-m", "rchar,minflt", "-s",
                           "run_time_ns,cpu_efficiency:asc", "-n", "5"]),
    ("interval-columns.txt", ["A", "B", "-g", "process", "-m", "minflt", "--columns",
                              "section,group,metric,unit,delta,share,measured,state"]),
    ("columns-tags.txt", ["A", "B", "-m", "run_time_ns,wait_sum", "--columns",
                          "group,metric,arrow,uptime,tags"]),
    ("columns-tags.csv", ["A", "B", "-m", "run_time_ns,wait_sum", "--columns",
                          "group,metric,arrow,uptime,tags"]),
    ("backwards.txt", ["B", "A", "-m", "run_time_ns,rss_bytes"]),
    ("same.txt", ["A", "A"]),
    ("population.txt", ["OLD", "A", "--mode", "population", "-n", "6"]),
    ("population.json", ["OLD", "A", "--mode", "population", "-m", "run_time_ns,rss_bytes,nice"]),
    ("population.csv", ["OLD", "A", "--mode", "population", "-m", "run_time_ns,rss_bytes,nice"]),
    ("runs.txt", ["RUN1,RUN2,RUN3", "RUN4,RUN5,RUN6", "-m", "run_time_ns,wait_time_ns,policy"]),
    ("runs.json", ["RUN1,RUN2,RUN3", "RUN4,RUN5,RUN6", "-g", "process", "-m", "run_time_ns",
                   "--sections", "primary"]),
    ("reload.txt", ["EXT", "RELOAD", "--sections", "sched_ext,host", "--all"]),
    ("ctprof.txt", ["FULL", "DEFAULTS", "-n", "5"]),
    ("heap-metric.csv", ["DEFAULTS", "FULL", "-m", "allocated_bytes"]),
    ("fail.txt", ["A", "B", "-m", "majflt", "--fail-on", "pcomm=work* run_time_ns > 2s", "--fail-on",
                  "rchar > +5%", "--fail-on", "pcomm=nobody minflt > 1"]),
    ("fail-names.txt", ["A", "B", "-m", "majflt", "--all", "--fail-on", "comm=a)*{N} run_time_ns < 1ms",
                        "--fail-on", "comm=a)*1 run_time_ns < 1ms", "--fail-on",
                        "cgroup=/workload* run_time_ns > 1s", "--fail-on", "minflt > 1"]),
    ("filter.txt", ["A", "B", "-n", "6", "--filter", "pcomm=workload"]),
    ("filter-thread.txt", ["A", "B", "-g", "thread", "-m", "run_time_ns,rss_bytes", "--filter", "comm=b*"]),
    ("filter-cpu.json", ["A", "B", "-g", "thread", "-m", "run_time_ns", "--filter", "cpu>20",
                         "--sections", "primary,cgroup"]),
    ("filter-intervals.txt", ["EXT..RELOAD", "A..B", "-g", "thread", "-m", "run_time_ns", "--filter", "cpu>20"]),
    ("filter-population.txt", ["OLD", "A", "-m", "run_time_ns,rss_bytes", "-p", "1,sleep", "-c", "/"]),
    ("filter-population-cpu.txt", ["OLD", "A", "--filter", "cpu>20"]),
    ("filter-runs.txt", ["RUN1,RUN2,RUN3", "RUN4,RUN5,RUN6", "-m", "run_time_ns", "-u", "root",
                         "--filter", "comm=busy,init"]),
    ("left-out.csv", ["A", "B", "-n", "2"]),
    ("left-out-noise.csv", ["RUN1,RUN2,RUN3", "RUN4,RUN5,RUN6", "-m", "run_time_ns,minflt"]),
]
DISPLAYS = ["arrow", "full", "delta", "no-pct", "pct"]
CASES += [(f"display-{display}.txt", ["A", "B", "-n", "6", "--sections", "primary,derived", "--display",
                                      display]) for display in DISPLAYS]
CASES += [(f"display-{display}-population.txt", ["OLD", "A", "-n", "6", "--sections", "primary",
                                                 "--display", display]) for display in DISPLAYS]
AXES = ["pcomm", "comm", "comm-exact", "cgroup", "process", "thread", "user", "scope", "container", "all"]
FORMATS = ["txt", "json", "csv"]
# What recorded roots do not have is in the files of another format.
SECTIONS = {name: ["A", "B"] for name in ["primary", "derived", "smaps", "cgroup", "limits",
                                          "memory.stat", "memory.events", "cgroup-pressure",
                                          "host-pressure", "host"]}
SECTIONS.update({"sched_ext": ["EXT", "RELOAD"], "delays": ["DEFAULTS", "FULL"],
                 "heap": ["DEFAULTS", "FULL"]})

CASES += [(f"interval-{axis}.txt", ["A", "B", "-g", axis, "-m", "run_time_ns,rss_bytes,cpu_efficiency"])
          for axis in AXES if axis != "pcomm"]
CASES += [(f"interval-{axis}.{form}", ["A", "B", "-g", axis, "-n", "4", "-m", "run_time_ns,rchar",
                                       "--sections", "primary"])
          for axis in AXES if axis != "pcomm" for form in ["json", "csv"]]
CASES += [(f"population-{axis}.{form}", ["OLD", "A", "-g", axis, "-n", "4", "-m",
                                         "run_time_ns,rss_bytes", "--sections", "primary"])
          for axis in AXES if axis != "pcomm" for form in FORMATS]
CASES += [(f"section-{section}.{form}", [*pair, "--sections", section, "-n", "8"])
          for section, pair in SECTIONS.items() for form in FORMATS]
CASES += [(f"population-section-{section}.{form}", ["OLD", "A", "--sections", section, "-n", "4"])
          for section, pair in SECTIONS.items() if pair[0] == "A" for form in FORMATS]
CASES += [
    ("different-boots.txt", ["OLD", "A", "-m", "run_time_ns"]),
    ("hybrid-interval.txt", ["HYBRID", "LATER", "-n", "6"]),
    ("hybrid-interval.json", ["HYBRID", "LATER", "-m", "run_time_ns,nice", "--sections",
                              "primary,cgroup", "-n", "6"]),
    ("hybrid-population.txt", ["A", "HYBRID", "-n", "6"]),
    ("hybrid-population.csv", ["A", "HYBRID", "-g", "cgroup", "-n", "6"]),
]


def edit(path, pattern, replacement):
    text = path.read_text(errors="surrogateescape")
    new, count = re.subn(pattern, replacement, text, flags=re.M)
    assert count, f"nothing in {path} matches {pattern}"
    path.write_text(new, errors="surrogateescape")


def add(path, pattern, amount):
    """Adds to the number that the pattern's first group is."""
    edit(path, pattern, lambda found: found[0].replace(found[1], str(int(found[1]) + amount)))


def set_stat(path, **fields):
    """Sets fields of a stat file, counted from 1 as proc(5) does: f22=900."""
    head, tail = path.read_text(errors="surrogateescape").rsplit(") ", 1)
    words = tail.split(" ")
    for name, value in fields.items():
        words[int(name[1:]) - 3] = str(value)
    path.write_text(head + ") " + " ".join(words), errors="surrogateescape")


def rename_task(folder, old, new, name):
    """Makes a copy of a task another one, born after the first capture."""
    for path in folder.rglob("*"):
        if path.name == "stat":
            edit(path, rf"^{old} \(.*\)", f"{new} ({name})")
            set_stat(path, f22=900)
        elif path.name == "status":
            edit(path, r"^Name:\t.*", f"Name:\t{name}")
            edit(path, rf"^Pid:\t{old}$", f"Pid:\t{new}")


def pass_time(root, seconds):
    for clock in ["captured_at_unix_ns", "monotonic_ns", "boottime_ns"]:
        add(root / "taskscope-root", rf"^{clock} (\d+)", seconds * SECOND)


def work(root):
    """Known work: 2.5 s of CPU, 3 MiB read, 7 faults that waited, memory, a higher peak."""
    task = root / "proc/150/task"
    edit(task / "163/schedstat", r"^(\d+) (\d+) (\d+)",
         lambda found: f"{int(found[1]) + 2500000000} {int(found[2]) + 300000000} "
                       f"{int(found[3]) + 100}")
    set_stat(task / "163/stat", f10=101, f12=7)
    add(task / "166/io", r"^rchar: (\d+)", 3 << 20)
    add(task / "166/io", r"^read_bytes: (\d+)", 1 << 20)
    edit(task / "163/sched", r"^wait_max .*", "wait_max                     :       120.000000")
    edit(root / "proc/150/statm", r"^(\d+) (\d+)", lambda found: f"{found[1]} {int(found[2]) + 256}")


def change_cgroup(root):
    group = root / "sys/fs/cgroup/workload.slice"
    add(group / "cpu.stat", r"^usage_usec (\d+)", 2500000)
    add(group / "memory.current", r"^(\d+)", 1 << 20)
    edit(group / "memory.max", r"^max", str(64 << 20))
    add(group / "memory.events", r"^high (\d+)", 3)
    add(group / "memory.stat", r"^anon (\d+)", 1 << 20)
    add(group / "cpu.pressure", r"^some .* total=(\d+)", 250000)
    add(root / "proc/pressure/cpu", r"^some .* total=(\d+)", 400000)
    edit(root / "proc/sys/kernel/sched_rr_timeslice_ms", r"^\d+", "25")


def later(root, copy):
    """The same host ten seconds later."""
    shutil.copytree(root, copy, symlinks=True)
    process = copy / "proc/150/task"
    pass_time(copy, 10)
    work(copy)
    change_cgroup(copy)
    shutil.rmtree(process / "171")
    shutil.copytree(process / "164", process / "180", symlinks=True)
    rename_task(process / "180", 164, 180, "born")
    shutil.rmtree(copy / "proc/153")
    shutil.copytree(copy / "proc/152", copy / "proc/190", symlinks=True)
    shutil.move(copy / "proc/190/task/152", copy / "proc/190/task/190")
    rename_task(copy / "proc/190", 152, 190, "fresh")


def later_hybrid(root, copy):
    """A host with cgroup v1 five seconds later: work, a thread less, less memory, a limit."""
    shutil.copytree(root, copy, symlinks=True)
    pass_time(copy, 5)
    task = copy / "proc/24160/task"
    for tid, ms in [(24188, 750), (24191, 20)]:
        edit(task / f"{tid}/schedstat", r"^(\d+)",
             lambda found, ns=ms * 1000000: str(int(found[1]) + ns))
    set_stat(task / "24192/stat", f18=25, f19=5)
    shutil.rmtree(task / "24199")
    for path in task.parent.rglob("stat"):
        set_stat(path, f20=13)
    for path in task.rglob("status"):
        edit(path, r"^Threads:\t\d+", "Threads:\t13")
    group = copy / "sys/fs/cgroup/memory/workload.slice"
    add(group / "memory.usage_in_bytes", r"^(\d+)", -(1 << 20))
    edit(group / "memory.limit_in_bytes", r"^\d+", str(128 << 20))


def run(root, copy, number):
    """One of several runs: the last three do more."""
    shutil.copytree(root, copy, symlinks=True)
    edit(copy / "proc/150/task/163/schedstat", r"^\d+",
         str(100000000 + number * 1000000 + (number > 3) * 500000000))
    edit(copy / "proc/1/task/1/schedstat", r"^\d+", str(1700000000 + [2, 4, 1, 5, 0, 3][number - 1] * 1000000))


def load_scheduler(root, copy, seconds, enable_seq, rejected):
    """A BPF scheduler; each load of one begins its counter again."""
    shutil.copytree(root, copy, symlinks=True)
    pass_time(copy, seconds)
    state = copy / "sys/kernel/sched_ext"
    (state / "root").mkdir(parents=True)
    for name, value in {"state": "enabled", "switch_all": 1, "nr_rejected": rejected,
                        "hotplug_seq": 0, "enable_seq": enable_seq, "root/ops": "simple"}.items():
        (state / name).write_text(f"{value}\n")


def make(folder, roots, ctprof, capture):
    """All snapshots that the cases name, in the folder; the words to write for them."""
    folder = pathlib.Path(folder)
    sources = {"A": roots / "debian-6.12", "OLD": roots / "debian-6.1"}
    later(sources["A"], folder / "later")
    sources["B"] = folder / "later"
    sources["HYBRID"], sources["LATER"] = roots / "hybrid-6.18", folder / "hybrid-later"
    later_hybrid(sources["HYBRID"], sources["LATER"])
    for number in range(1, 7):
        sources[f"RUN{number}"] = folder / f"run{number}.root"
        run(sources["A"], sources[f"RUN{number}"], number)
    load_scheduler(sources["A"], folder / "ext.root", 0, 3, 9)
    load_scheduler(sources["A"], folder / "reload.root", 10, 4, 1)
    sources["EXT"], sources["RELOAD"] = folder / "ext.root", folder / "reload.root"
    for name, root in sources.items():
        capture(root, folder / (name.lower() + ".tscope"))
    for name in ["full", "defaults"]:
        shutil.copy(ctprof / f"{name}.ctprof.zst", folder)


def words_of(name, words):
    """A case's words with files in the place of their names, in the format that its name says."""
    def file_of(word):
        if word in ("FULL", "DEFAULTS"):
            return word.lower() + ".ctprof.zst"
        return word.lower() + ".tscope" if re.fullmatch(r"[A-Z]+[0-9]?", word) else word

    def files_of(word):
        return ",".join("..".join(map(file_of, part.split(".."))) for part in word.split(","))

    form = name.rsplit(".", 1)[1].replace("txt", "text")
    return [files_of(word) for word in words[:2]] + words[2:] + [
        "--format", form]
