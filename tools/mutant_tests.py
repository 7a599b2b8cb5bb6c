# SPDX-License-Identifier: MIT
"""The tests that mutants meet: which there are, how they are run, and what they killed before."""
import collections
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import threading

SECONDS = {"unit": 40, "fuzz": 40, "golden": 150, "integration": 300}
LIKELY = 12  # integration cases that are tried before all of them are

# The integration tests that mutants of a folder or file meet, by the longest name that fits; those that take
# minutes are left out.
INTEGRATION = {
    "src/base": ["cli", "ctprof"],
    "src/base/output/lines": ["run", "cli"],
    "src/base/output/place": ["output", "cli"],
    "src/metric": ["cli", "compare"],
    "src/model": ["run", "report"],
    "src/model/scope": ["phases", "scopes"],
    "src/host": ["doctor", "root", "cgroups", "cli"],
    "src/host/taskstats": ["taskstats"],
    "src/host/netlink": ["taskstats", "tracers"],
    "src/host/scope_file": ["scopes"],
    "src/host/oracle": ["jemalloc"],
    "src/host/elf": ["jemalloc", "scopes"],
    "src/host/confine": ["jemalloc"],
    "src/host/deadline": ["jemalloc", "silent"],
    "src/host/privilege": ["doctor", "capabilities"],
    "src/host/code": ["stack_names", "stacks"],
    "src/host/gpu": ["gpu"],
    "src/collect": ["agree", "root", "host_context", "cli"],
    "src/collect/cgroup": ["cgroups", "root"],
    "src/collect/activity": ["activity"],
    "src/collect/gpu": ["gpu"],
    "src/collect/process": ["memory", "agree"],
    "src/collect/scope": ["capture_scopes", "scopes"],
    "src/collect/host": ["host_context", "root"],
    "src/collect/jemalloc": ["jemalloc"],
    "src/collect/task/taskstats": ["taskstats"],
    "src/trace": ["tracers", "sources", "losses", "attach"],
    "src/trace/life": ["life", "record"],
    "src/trace/calls": ["calls", "trace"],
    "src/trace/stack": ["stack_copies", "stacks"],
    "src/trace/strace": ["trace"],
    "src/trace/bpf": ["sources", "branches", "losses", "tracers"],
    "src/analyze": ["compare", "compare_properties"],
    "src/analyze/anomaly": ["record"],
    "src/analyze/outcome": ["outcomes"],
    "src/analyze/verdict": ["verdict"],
    "src/store": ["ctprof", "cli"],
    "src/store/change": ["store", "record"],
    "src/store/history": ["store", "record"],
    "src/store/recording": ["store", "cli"],
    "src/store/run": ["report", "run"],
    "src/render": ["cli"],
    "src/render/compare": ["compare"],
    "src/render/calls": ["trace"],
    "src/render/outcome": ["outcomes", "report_job"],
    "src/render/record": ["record_verbs", "record"],
    "src/render/run": ["report", "run"],
    "src/render/scope": ["scopes"],
    "src/record": ["record", "record_answers", "record_between", "record_trouble"],
    "src/record/job": ["record_jobs", "jobs"],
    "src/export": ["export"],
    "src/tui": ["top", "top_views", "top_detail", "top_json"],
    "src/tui/moment": ["top_json", "top_views", "top"],
    "src/session": ["run", "attach"],
    "src/session/environment": ["membership"],
    "src/session/calls": ["trace"],
    "src/session/stack": ["stacks", "stack_names"],
    "src/session/phase": ["phases", "scopes"],
    "src/session/wait": ["wait_objects", "why"],
    "src/session/watch": ["run", "attach", "membership", "wait_objects"],
    "src/session/why": ["why"],
    "src/cli": ["cli"],
    "src/cli/config": ["record"],
    "src/cli/verb/cmd_activity": ["activity"],
    "src/cli/parts/activity": ["activity"],
    "src/cli/verb/cmd_anomalies": ["record_verbs", "record"],
    "src/cli/verb/cmd_attach": ["attach"],
    "src/cli/verb/cmd_compare": ["compare", "compare_now"],
    "src/cli/parts/compare": ["compare", "compare_now"],
    "src/cli/verb/cmd_doctor": ["doctor"],
    "src/cli/parts/doctor": ["doctor"],
    "src/cli/verb/cmd_events": ["record_verbs", "record"],
    "src/cli/verb/cmd_history": ["record_verbs", "record"],
    "src/cli/verb/cmd_latest": ["record_verbs", "record"],
    "src/cli/parts/latest": ["record_verbs", "record"],
    "src/cli/verb/cmd_record": ["record", "record_verbs", "record_between"],
    "src/cli/verb/cmd_report": ["report"],
    "src/cli/verb/cmd_run": ["run"],
    "src/cli/verb/cmd_scopes": ["scopes"],
    "src/cli/verb/cmd_top": ["top", "top_json"],
    "src/cli/verb/cmd_job": ["jobs"],
    "src/cli/parts/job": ["jobs"],
    "src/cli/parts/calls": ["trace"],
    "src/cli/verb/cmd_trace": ["trace"],
    "src/cli/verb/cmd_correlate": ["outcomes"],
    "src/cli/verb/cmd_estimate": ["outcomes"],
    "src/cli/verb/cmd_stream": ["record"],
    "src/cli/verb/cmd_verify": ["record_verbs", "store", "cli"],
    "src/cli/args/pid_list": ["scopes", "cli"],
    "src/cli/args/session_args": ["run", "attach"],
    "src/cli/verb/cmd_why": ["why"],
    "src/cli/parts/why": ["why"],
    "src/lib": ["lib-edges", "library", "heartbeat", "heartbeat_output"],
    "src/lib/heartbeat": ["heartbeat", "stalls", "heartbeat_output"],
    "bpf": ["branches", "sources", "losses", "tracers"],
    "bpf/cgroup": ["agree", "life"],
    "bpf/life": ["life", "record"],
    "bpf/signal": ["branches", "life"],
    "bpf/task": ["agree", "sources"],
}

# Golden files come from recorded roots and files, which need none of these.
WITHOUT_GOLDEN = ("trace", "record", "session", "lib", "bpf")

# Who carries the programs of the kernel side, or is their kernel.
LOADERS = {"bpf": ["src/trace/bpf/tree_loader.c", "src/trace/life/life_bpf.c", "src/collect/task/task_iterator.c", "tests/unit/bpf/test_kernel_"]}


class Test:
    """A test of the build; `cases` are some of an integration test, none mean all."""

    def __init__(self, entry, targets):
        self.suite, self.name = entry["suite"][0].split(":")[1], entry["name"]
        self.command, self.seconds = entry["cmd"], SECONDS[self.suite]
        self.environment = dict(os.environ, **entry["env"])
        self.targets = [targets[name] for name in entry["depends"]]  # what it needs to be built
        self.is_parallel = entry["is_parallel"]
        self.sound = set()  # cases that passed on the tree as it is, after a mutant failed them

    def attempt(self, cases=(), over=None):
        """None if it passed, or what happened and which cases failed; ends all that it started."""
        options = ["--first", *cases] if self.suite == "integration" and "tap.py" in str(self.command) else []
        process = subprocess.Popen([*self.command, *options], env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        ending = over and threading.Thread(target=self.end_with, args=(process, over))
        try:
            if ending:
                ending.start()
            out, _ = process.communicate(timeout=self.seconds)
            if process.returncode in (0, 77) or over and over.is_set():
                return None
            failed = re.findall(r"^not ok \d+ - (\w+\.\w+)", out.decode(errors="replace"), re.M)
            return f"status {process.returncode}", failed[:1] if options else []
        except subprocess.TimeoutExpired:
            return "timeout", list(cases)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            if ending:
                ending.join()  # a process with threads cannot go back to the files of all: see mutant_safety.py

    @staticmethod
    def end_with(process, over):
        """Another test has killed already."""
        while process.poll() is None:
            if over.wait(0.05):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                return

    def holds(self, mutant):
        """Whether the mutant is part of the test, by what is there for debuggers."""
        if self.command[0] not in self.targets:
            return True
        program = pathlib.Path(self.command[0]).read_bytes()
        return any(name.encode() in program for name in LOADERS.get(mutant.layer, [str(mutant.path)]))


def tests_by_layer(text):
    """The dictionary at the start of a meson.build."""
    table = text[text.index("= {"):text.index("\n}")]
    return {layer: re.findall(r"'([^']+)'", names)
            for layer, names in re.findall(r"'(\w+)': \[(.*?)\]", table, re.DOTALL)}


class History:
    """Which tests killed mutants of which file; kept beside the copy."""

    def __init__(self, path):
        self.path = path
        self.kills = collections.Counter(json.loads(path.read_text()) if path.exists() else {})

    def add(self, mutant, test, cases):
        self.kills.update([test.name, f"{mutant.path} {test.name}"])
        self.kills.update(f"{mutant.layer}: {test.name} {case}" for case in cases)
        self.path.write_text(json.dumps(self.kills))

    def likely_cases(self, mutant, test):
        """Cases of an integration test that killed mutants of the layer."""
        start = f"{mutant.layer}: {test.name} "
        return [name[len(start):] for name, _ in self.kills.most_common() if name.startswith(start)][:LIKELY]

    def order(self, mutant, test):
        """Sorts the most likely killer first."""
        is_namesake = test.name.startswith(mutant.path.name.split(".")[0])
        return -self.kills[f"{mutant.path} {test.name}"], not is_namesake, -self.kills[test.name]
