# SPDX-License-Identifier: MIT
"""What `taskscope record` costs: CPU time and bytes each second next to atop and Debian's
prometheus-process-exporter, all in the same seconds; its budget; what looking at active threads each
second adds; and reading a week of it.

Bytes are those by which the file of a second recorder, which samples only, grows after its first tick,
tables for people and indexes included, and the share of a key frame: atop's file has no events either.
"""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
import urllib.request

QUICK = bool(os.environ.get("BENCH_QUICK"))
SECONDS = 15 if QUICK else 60
WARM = 5 # seconds until every tool has seen every task
RECORDED = 21 if QUICK else 61 # seconds of a recorder, with a tick every 5
CHAIN = 120 # ticks for each key frame
SAMPLES_ONLY = ["--no-events", "--no-activity"]
BUSY = 20
MIB = 1024 * 1024
EXPORTER = "prometheus-process-exporter"
ADDRESS = "127.0.0.1:19256"
# processes, threads in each, busy processes more
POPULATIONS = {"this host as it is": (0, 0, 0), "1,000 processes, 20 more busy": (1000, 1, BUSY),
               "10,000 threads": (10, 1000, 0)}
EXPORTER_CONFIG = """process_names:
  - name: "{{.Comm}}"
    cmdline:
    - '.+'
"""
WAKER = [sys.executable, "-c", "import time\nwhile True: time.sleep(0.01)"]
STORM = [sys.executable, "-c", """
import os
while True:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
"""]


@contextlib.contextmanager
def running(command, end=signal.SIGTERM):
    """The process, for as long as the block runs."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(end)
        process.wait()


def record(build, store, *options):
    return [build / "taskscope", "record", "-q", "--no-socket", "--store", store, *options]


def cpu_seconds(process):
    words = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def peak_bytes(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def scrape():
    try:
        with urllib.request.urlopen(f"http://{ADDRESS}/metrics", timeout=60) as answer:
            return bool(answer.read())
    except OSError: # it may also close the connection without an answer
        return False


def pass_time(seconds, is_scraped):
    """Waits, and scrapes each second, or as soon as the last answer is complete.  How many were."""
    end, answers = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        next_time = min(end, time.monotonic() + 1)
        answers += is_scraped and scrape()
        time.sleep(max(0, next_time - time.monotonic()))
    return answers


def cpu_of(processes, seconds):
    """By name, of one core, while the time passes."""
    begin = time.monotonic()
    before = {name: cpu_seconds(process) for name, process in processes.items()}
    pass_time(seconds, False)
    passed = time.monotonic() - begin
    return {name: (cpu_seconds(process) - before[name]) / passed
            for name, process in processes.items()}


def peers(scratch):
    """Those that are installed, by name."""
    config = pathlib.Path(scratch, "exporter.yaml")
    config.write_text(EXPORTER_CONFIG)
    commands = {"atop -w": ["atop", "-w", f"{scratch}/atop.raw", "1"],
                EXPORTER: [EXPORTER, "-config.path", config, "-web.listen-address", ADDRESS]}
    return {name: command for name, command in commands.items() if shutil.which(command[0])}


def growth(first, store):
    """Bytes a tick, after the first one, which has a key frame, and that frame's share."""
    with contextlib.closing(sqlite3.connect(store)) as database:
        count, = database.execute("SELECT count(*) FROM ticks").fetchone()
        key, = database.execute("SELECT length(frame) FROM ticks ORDER BY id").fetchone()
        threads, = database.execute("SELECT avg(threads) FROM ticks").fetchone()
    return (os.path.getsize(store) - os.path.getsize(first)) / (count - 1) + key / CHAIN, threads


def ticks_of(store, begin, end):
    with contextlib.closing(sqlite3.connect(store)) as database:
        return database.execute("SELECT count(*) FROM ticks WHERE ts_ns BETWEEN ? AND ?",
                                [begin * 10**9, end * 10**9]).fetchone()[0]


def atop_samples(raw, begin, end):
    """How many it took: a busy host makes it late.  The third word of a line is when."""
    lines = subprocess.run(["atop", "-r", raw, "-P", "CPL"], stdout=subprocess.PIPE, text=True).stdout
    return sum(begin <= int(line.split()[2]) <= end for line in lines.splitlines()
               if line.startswith("CPL"))


def measure_one(build, scratch):
    """Seconds of CPU for each sample, and its bytes: a busy host lets every tool miss some."""
    first, plain, raw = f"{scratch}/first.db", f"{scratch}/plain.db", pathlib.Path(scratch, "atop.raw")
    stores = {"record": f"{scratch}/events.db", "record, samples only": plain}
    commands = {"record": record(build, stores["record"], "-i", "1s"),
                "record, samples only": record(build, plain, "-i", "1s", *SAMPLES_ONLY), **peers(scratch)}
    subprocess.run(record(build, first, "-d", "100ms", *SAMPLES_ONLY), check=True)
    with contextlib.ExitStack() as stack:
        processes = {name: stack.enter_context(running(command)) for name, command in commands.items()}
        while EXPORTER in processes and processes[EXPORTER].poll() is None and not scrape():
            time.sleep(1)
        pass_time(WARM, EXPORTER in processes)
        begin, before = int(time.time()), {name: cpu_seconds(of) for name, of in processes.items()}
        size = raw.stat().st_size if raw.exists() else 0
        samples = {EXPORTER: pass_time(SECONDS, EXPORTER in processes)}
        end, cpu = int(time.time()), {name: cpu_seconds(of) - before[name] for name, of in processes.items()}
        size = raw.stat().st_size - size if raw.exists() else 0
    samples.update({name: ticks_of(store, begin, end) for name, store in stores.items()})
    if "atop -w" in processes:
        samples["atop -w"] = atop_samples(raw, begin, end)
    cost = {"cpu": {name: cpu[name] / max(samples[name], 1) for name in cpu}, "samples": samples,
            "atop": size / max(samples["atop -w"], 1) if size else None}
    cost["bytes"], cost["threads"] = growth(first, plain)
    for path in [*pathlib.Path(scratch).glob("*.db"), raw]:
        path.unlink(missing_ok=True)
    return cost


def measure_budget(build, scratch, load):
    """Sampling at 5 s with 2,000 threads; what a storm of processes adds; memory."""
    costs = {}
    slow = {name: record(build, f"{scratch}/{name}.db", "-i", "5s", *options)
            for name, options in {"events": ["--no-activity"], "plain": SAMPLES_ONLY}.items()}
    with contextlib.ExitStack() as stack:
        stack.enter_context(load(build, 2, 1000))
        processes = {name: stack.enter_context(running(command)) for name, command in slow.items()}
        pass_time(WARM + 1, False)
        costs["sampling"] = cpu_of(processes, SECONDS)["plain"]
        stack.enter_context(running(STORM, signal.SIGKILL))
        pass_time(1, False)
        storm = cpu_of(processes, SECONDS)
        costs["events"] = storm["events"] - storm["plain"]
    with load(build, 10 if QUICK else 30, 1000):
        with running(record(build, f"{scratch}/many.db", "-i", "1s")) as process:
            pass_time(SECONDS, False)
            costs["peak"] = peak_bytes(process)
    return costs


def recorder_share(build, store, *options):
    """CPU time of a recorder after its first two ticks, of one core, as it counts that itself."""
    subprocess.run(record(build, store, "-i", "5s", "-d", f"{RECORDED}s", *options), check=True)
    with contextlib.closing(sqlite3.connect(store)) as database:
        percents = [row[0] for row in database.execute("SELECT recorder_cpu_percent FROM host_samples ORDER BY ts_ns")]
    return statistics.median(percents[2:]) / 100


def measure_activity(build, scratch, load):
    """By population: what looking at active threads adds, and how many of them there were at once."""
    costs = {}
    for name, processes in ("2,000 threads", 2), ("10,000 threads", 10):
        store = f"{scratch}/active-{processes}.db"
        with load(build, processes, 1000):
            added = (recorder_share(build, store, "--activity") -
                     recorder_share(build, f"{scratch}/without-{processes}.db", "--no-activity"))
        with contextlib.closing(sqlite3.connect(store)) as database:
            active, = database.execute("SELECT avg(threads) FROM activity_walks").fetchone()
        costs[name] = {"added": max(added, 0), "active": active}
    return costs


def measure_week(build, scratch, best):
    """Seconds of wall time for reading a week of a made host."""
    store = f"{scratch}/week.db"
    subprocess.run([build / "bench/days", "days", store, "7", str(2048 * MIB)], check=True)
    ask = [build / "taskscope"]
    some = ["--store", store, "--since", "36500d"] # the made host lived long ago
    costs = best(build, {"events": [*ask, "events", *some], "history": [*ask, "history", *some],
                         "history of a process": [*ask, "history", *some, "-p", "1300", "-m", "rss_bytes"],
                         "open": [*ask, "show", f"{store}@latest", "-n", "1"]}, scratch)
    return {name: cost.wall for name, cost in costs.items()}


def made_jobs(count):
    """Lines for the driver: jobs of 20 names in a week, each with its system calls."""
    chance = random.Random(1)
    week = 7 * 86400 * 10**9
    for number in range(count):
        begin, duration = 1700000040 * 10**9 + week * number // count, int(10 ** chance.uniform(9, 12))
        yield "\t".join(["job", f"job-{chance.randrange(20)}", chance.choice(["success", "success", "failure"]), str(begin),
                         str(duration), "cmd=make all", "memory=rss", f"peak_memory_bytes={int(2 ** chance.uniform(24, 33))}",
                         f"run_time_ns={duration}", f"anomalies={chance.randrange(2)}"])
        for name in chance.sample(["futex", "read", "write", "fsync", "poll", "wait4", "openat", "close"], 6):
            yield f"syscall\t-\t{name}\t100\t2\t{int(chance.expovariate(1e-9))}"


def measure_jobs(build, scratch, best):
    """Wall time of asking a recording with 10,000 jobs."""
    store = pathlib.Path(scratch, "jobs.db")
    subprocess.run([build / "bench/jobs", store], input="\n".join(made_jobs(10000)) + "\n", text=True, check=True)
    asked = {"jobs": ["jobs", "-n", "0"], "correlate": ["correlate"], "estimate": ["estimate", "job-7"]}
    found = best(build, {name: [build / "taskscope", *words, "--store", store] for name, words in asked.items()}, scratch)
    return {name: cost.wall for name, cost in found.items()}


def measure(build, scratch, load, best):
    costs = {"by population": {}}
    for name, (processes, threads, busy) in POPULATIONS.items():
        with contextlib.ExitStack() as stack:
            if processes:
                stack.enter_context(load(build, processes, threads))
            for _ in range(busy):
                stack.enter_context(running(WAKER, signal.SIGKILL))
            costs["by population"][name] = measure_one(build, scratch)
    costs["budget"] = measure_budget(build, scratch, load)
    costs["activity"] = measure_activity(build, scratch, load) if os.geteuid() == 0 else {}
    costs["week"] = measure_week(build, scratch, best)
    costs["jobs"] = measure_jobs(build, scratch, best)
    return costs


def tables(costs):
    seen = costs["by population"]
    rows = [["a recording, each second", *seen]]
    rows.append(["threads", *(f"{cost['threads']:,.0f}" for cost in seen.values())])
    rows.append(["bytes a tick", *(f"{cost['bytes']:,.0f}" for cost in seen.values())])
    rows.append(["atop -w, bytes a sample",
                 *(f"{cost['atop']:,.0f}" if cost["atop"] else "-" for cost in seen.values())])
    for name in next(iter(seen.values()))["cpu"]:
        rows.append([f"CPU of {name}, ms a sample",
                     *(f"{cost['cpu'][name] * 1000:.1f}" for cost in seen.values())])
    yield rows
    if not costs["activity"]:
        return
    rows = [["activity, each second", *costs["activity"]]]
    rows.append(["threads active at once", *(f"{cost['active']:,.1f}" for cost in costs["activity"].values())])
    rows.append(["CPU that it adds, of one core", *(f"{cost['added']:.2%}" for cost in costs["activity"].values())])
    yield rows


def peer_goals(seen):
    fraction = (lambda ratio: f"1/{1 / ratio:.1f}")
    many = seen["10,000 threads"]["cpu"]
    for peer in ["atop -w", EXPORTER]:
        if peer in many:
            yield (f"CPU of record to {peer}, a sample, 10,000 threads", many["record"] / many[peer],
                   1 / 10, fraction)
    for name, cost in seen.items():
        if cost["atop"]:
            yield f"bytes of a recording to atop's raw file, {name}", cost["bytes"] / cost["atop"], 1 / 5, fraction


def goals(costs):
    """As bench/run.py has them."""
    percent = (lambda value: f"{value * 100:.2f} %")
    budget, week = costs["budget"], costs["week"]
    yield from peer_goals(costs["by population"])
    yield "record, 2,000 threads each 5 s, of one core", budget["sampling"], 0.005, percent
    yield "events of a storm of processes, of one core more", budget["events"], 0.05, percent
    yield (f"peak memory of record, {10 if QUICK else 30},000 threads", budget["peak"] / MIB, 64,
           lambda value: f"{value:.1f} MiB")
    for name, most in ("2,000 threads", 0.005), ("10,000 threads", 0.02):
        if name in costs["activity"]:
            yield f"CPU that activity adds, {name}", costs["activity"][name]["added"], most, percent
    for name, wall in costs["jobs"].items():
        yield f"{name}, 10,000 jobs in a recording, wall time", wall, 0.5, lambda value: f"{value * 1000:.0f} ms"
    for name, wall in week.items():
        yield (f"{name}, 7 days of a recording, wall time", wall, 0.05 if name == "open" else 0.3,
               lambda value: f"{value * 1000:.0f} ms")
