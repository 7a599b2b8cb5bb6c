# SPDX-License-Identifier: MIT
"""What the files of a host say about it, read by other means than taskscope's.

`differences()` holds the "host" of a snapshot against the files as they were before and after it.
"""
import pathlib
import re

MEMORY = {"total_memory_bytes": "MemTotal", "swap_total_bytes": "SwapTotal",
          "hugepages_total": "HugePages_Total", "hugepages_free": "HugePages_Free",
          "hugepage_size_bytes": "Hugepagesize"}
LINES = {"kernel_name": "proc/sys/kernel/ostype", "kernel_release": "proc/sys/kernel/osrelease",
         "boot_id": "proc/sys/kernel/random/boot_id", "kernel_cmdline": "proc/cmdline",
         "online_cpus": "sys/devices/system/cpu/online",
         "smt": "sys/devices/system/cpu/smt/control",
         "thp_enabled": "sys/kernel/mm/transparent_hugepage/enabled",
         "thp_defrag": "sys/kernel/mm/transparent_hugepage/defrag"}
# Patterns of the files that are settings, by the word that goes before their names.
SETTINGS = {"sched_tunables": "proc/sys/kernel/sched_*", "sched_debug": "sys/kernel/debug/sched/*",
            "cpufreq_governor": "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"}
KNOBS = {"base_slice_ns", "min_granularity_ns", "latency_ns", "wakeup_granularity_ns",
         "migration_cost_ns", "nr_migrate", "tunable_scaling", "features", "preempt",
         "latency_warn_ms"}
SCHED_EXT = ("state", "switch_all", "nr_rejected", "hotplug_seq", "enable_seq")


def list_count(text):
    """How many numbers a list such as "0-3,8" has."""
    ends = [[int(end) for end in part.split("-")] for part in text.split(",") if part]
    return sum(part[-1] - part[0] + 1 for part in ends)


class HostFiles:
    """The files below a root, read at once."""

    def __init__(self, root="/"):
        self.root = pathlib.Path(root)
        self.pressure = self.read_pressure()
        self.settings = self.read_settings()
        self.facts = self.read_facts()
        self.loadavg = " ".join((self.line("proc/loadavg") or "").split()[:3])
        self.uptime_ns = round(float(self.line("proc/uptime").split()[0]) * 100) * 10**7

    def text(self, path):
        try:
            return (self.root / path).read_text(errors="surrogateescape")
        except OSError:
            return None

    def line(self, path):
        """The first line without blanks at its end, or None when there is nothing to read."""
        return (self.text(path) or "").split("\n")[0].rstrip(" \t") or None

    def read_pressure(self):
        found = {}
        for resource in ("cpu", "memory", "io", "irq"):
            for line in (self.text("proc/pressure/" + resource) or "").splitlines():
                word, *pairs = line.split()
                if (resource, word) == ("cpu", "full"):  # means nothing for a whole host
                    continue
                found.setdefault(resource, {})[word] = {
                    key: int(value.replace(".", "")) for key, value in
                    (pair.split("=") for pair in pairs)}
        return found

    def setting_name(self, family, path):
        if family == "cpufreq_governor":
            return path.parent.parent.name[len("cpu"):]
        return path.name if family != "sched_debug" or path.name in KNOBS else None

    def read_settings(self):
        found = {}
        for family, pattern in SETTINGS.items():
            for path in self.root.glob(pattern):
                name = self.setting_name(family, path)
                value = self.line(path.relative_to(self.root)) if name else None
                if value:
                    found.setdefault(family, {})[name] = value
        extension = {name: self.line("sys/kernel/sched_ext/" + name) for name in SCHED_EXT}
        if extension["state"]:
            found["sched_ext"] = {name: value if name == "state" else int(value)
                                  for name, value in extension.items() if value}
        return found

    def read_facts(self):
        facts = {name: self.line(path) for name, path in LINES.items()}
        memory = dict(re.findall(r"^(\w+): +(\d+(?: kB)?)$", self.text("proc/meminfo"), re.M))
        for name, key in MEMORY.items():
            number, *unit = memory.get(key, "").split() or [None]
            facts[name] = number and int(number) * (1024 if unit else 1)
        first = (self.text("proc/cpuinfo") or "").split("\n\n")[0]
        cpu = dict(re.findall(r"^([^\t:]+?)\s*: ?(.*)$", first, re.M))
        facts["cpu_model"], facts["cpu_vendor"] = cpu.get("model name"), cpu.get("vendor_id")
        nodes = self.line("sys/devices/system/node/has_cpu")
        facts["numa_nodes"] = list_count(nodes) if nodes else 1
        accounting = self.line("proc/sys/kernel/task_delayacct")
        if accounting:
            facts["task_delayacct"] = {"1": "on", "0": "runtime-off"}[accounting]
        return facts


def pressure_differences(seen, before, after):
    """Totals never fall; averages are only known to be there."""
    if {resource: sorted(lines) for resource, lines in seen.items()} != {
            resource: sorted(lines) for resource, lines in before.items()}:
        yield f"pressure of {seen}, not {before}"
        return
    for resource, lines in seen.items():
        for line, values in lines.items():
            low, high = (files[resource][line] for files in (before, after))
            if not low["total"] <= values["total"] <= high["total"] or set(values) != set(low):
                yield f"pressure {resource} {line}: {values}, not from {low} to {high}"


def differences(host, before, after):
    """Sentences about what of a snapshot's host is not what its files said."""
    for name, value in before.facts.items():
        if host.get(name) != value and host.get(name) != after.facts[name]:
            yield f"{name} is {host.get(name)!r}, not {value!r}"
    for family in (*SETTINGS, "sched_ext"):
        if host.get(family, {}) not in (before.settings.get(family, {}),
                                        after.settings.get(family, {})):
            yield f"{family} is {host.get(family)}, not {before.settings.get(family)}"
    yield from pressure_differences(host.get("pressure", {}), before.pressure, after.pressure)
    if not re.fullmatch(r"(\d+\.\d\d ?){3}", host["loadavg"]) or (
            before.loadavg == after.loadavg != host["loadavg"]):
        yield f"loadavg is {host['loadavg']}, not {before.loadavg}"
    if not before.uptime_ns <= host["uptime_ns"] <= after.uptime_ns:
        yield f"uptime_ns {host['uptime_ns']} is not from {before.uptime_ns} to {after.uptime_ns}"
    if not 0 < host["available_memory_bytes"] <= host["total_memory_bytes"]:
        yield f"{host['available_memory_bytes']} bytes of memory are available"
    if not 0 <= host["swap_free_bytes"] <= host["swap_total_bytes"]:
        yield f"{host['swap_free_bytes']} bytes of swap are free"
