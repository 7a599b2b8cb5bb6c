# SPDX-License-Identifier: MIT
"""A recorded root is read without touching the live host."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

import support

ROOTS = sorted(path for path in (support.ROOT / "tests/data/roots").iterdir() if path.is_dir())

# System calls that would ask the live host about its tasks or kernel.  Clocks are read without one.
FORBIDDEN = "bpf,uname,sched_getaffinity,prlimit64,socket,sysinfo,perf_event_open," \
            "process_vm_readv,ptrace,pidfd_open"


class Root(support.TestCase):
    def test_there_are_recorded_roots(self):
        self.assertGreaterEqual(len(ROOTS), 3)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_the_live_host_is_not_touched(self):
        root = ROOTS[0]
        log = self.path("strace.log")
        output = self.path("root.tscope")
        # Where the loader looks is not the program's doing.
        environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
        subprocess.run(["strace", "-f", "-o", log, "-e", "trace=" + FORBIDDEN + ",%file",
                        support.TASKSCOPE, "capture", "--root", root, "-o", output], check=True,
                       capture_output=True, env=environment)
        # The loader, and the C library's qsort(), which asks how much memory it may take.
        start_up = re.compile(r"prlimit64\(0, RLIMIT_(STACK|NOFILE)|execve\(|access\(\"/etc/ld\.so|"
                              r" sysinfo\(|/etc/ld\.so\.cache|\.so(\.\d+)*\"|/lib/|/usr/lib/|/proc/self/fd")
        # The way to the output: where it begins, and the new file by its own descriptor.
        way = r"openat\(AT_FDCWD, \"[./]\", O_RDONLY\|O_CLOEXEC\|O_PATH\|O_DIRECTORY|\"/dev/fd/\d+\""
        allowed = re.compile(re.escape(str(root)) + "|" + re.escape(self.folder.name) + "|" + way)
        for line in pathlib.Path(log).read_text().splitlines():
            if start_up.search(line) or allowed.search(line) or "+++" in line or "---" in line:
                continue
            # Whatever else is opened must be relative to a directory inside the root.
            self.assertRegex(line, r"(openat2?|newfstatat|faccessat2?|readlinkat)\(\d+, \"[^/]|"
                                   r"newfstatat\(\d+, \"\"", line)

    def test_no_clock_of_the_live_host_gets_into_the_file(self):
        for root in ROOTS:
            files = []
            for name in ["first.tscope", "second.tscope"]:
                self.accept("capture", "--root", root, "-o", self.path(name))
                files.append(pathlib.Path(self.path(name)).read_bytes())
                time.sleep(0.02)
            self.assertEqual(files[0], files[1], root)
            self.assertNotIn("duration_ns", support.show_threads(self.path(name))["host"])

    def test_links_that_lead_out_of_the_tree_are_refused(self):
        secret = pathlib.Path(self.path("secret"))
        secret.write_text("not yours")
        copy = pathlib.Path(self.path("copy"))
        shutil.copytree(ROOTS[0], copy, symlinks=True)
        for cmdline in copy.glob("proc/[0-9]*/cmdline"):
            cmdline.unlink()
            cmdline.symlink_to(secret)
        victim = next(copy.glob("proc/[1-9][0-9]/task"))
        shutil.rmtree(victim)
        victim.symlink_to("/proc/self/task")
        out = self.accept("show", "--root", copy, "-g", "thread", "--format", "json")
        self.assertNotIn("not yours", out)
        document = json.loads(out)
        self.assertNotIn(int(victim.parent.name), {t["tgid"] for t in document["threads"]})
        sources = {s["name"]: s for s in document["sources"]}
        self.assertGreater(sources["cmdline"]["failed"], 0)
        whole = pathlib.Path(self.path("whole"))
        whole.mkdir()
        (whole / "proc").symlink_to("/proc")
        self.refuse("show", "--root", whole, says="proc")

    def test_pipes_in_the_tree_are_not_waited_for(self):
        copy = pathlib.Path(self.path("copy"))
        shutil.copytree(ROOTS[0], copy, symlinks=True)
        for name in ["sched", "io", "status"]:
            for path in copy.glob("proc/1/task/1/" + name):
                path.unlink()
                os.mkfifo(path)
        self.accept("show", "--root", copy)

    def test_bpf_is_refused_on_a_recorded_root(self):
        self.refuse("capture", "--root", ROOTS[0], "--source", "bpf", "-o", self.path("x.tscope"),
                    says="--source bpf")

    def test_a_tree_without_proc_is_refused(self):
        self.refuse("show", "--root", self.folder.name, says="proc")

    def test_missing_files_make_values_absent_with_a_reason(self):
        copy = self.path("copy")
        shutil.copytree(ROOTS[0], copy, symlinks=True)
        for path in pathlib.Path(copy).glob("proc/[0-9]*/task/*/io"):
            path.unlink()
        for path in pathlib.Path(copy).glob("proc/[0-9]*/task/*/schedstat"):
            path.unlink()
        out = self.accept("show", "--root", copy, "-g", "thread", "--format", "json")
        document = json.loads(out)
        for metric in ["rchar", "run_time_ns", "timeslices"]:
            self.assertIn(metric, document["absent"])
            self.assertFalse(any(metric in t for t in document["threads"]))

    def host_gap(self, path, text=None):
        """A recording without a file, or with another text in it."""
        copy = pathlib.Path(self.path("host-gap"))
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(ROOTS[0], copy, symlinks=True)
        (copy / path).unlink()
        if text is not None:
            (copy / path).write_text(text)
        self.accept("capture", "-q", "--root", copy, "-o", self.path("gap.tscope"))
        return json.loads(self.accept("show", self.path("gap.tscope"), "--format", "json"))

    def test_each_fact_of_the_host_that_is_missing_has_a_reason(self):
        files = {"proc/sys/kernel/random/boot_id": "boot_id", "proc/cpuinfo": "cpu_model",
                 "proc/meminfo": "swap_free_bytes", "proc/loadavg": "loadavg",
                 "proc/uptime": "uptime_ns", "proc/cmdline": "kernel_cmdline",
                 "etc/machine-id": "machine_id_hash", "sys/devices/system/cpu/online": "online_cpus",
                 "sys/devices/system/cpu/smt/control": "smt",
                 "sys/kernel/mm/transparent_hugepage/enabled": "thp_enabled",
                 "taskscope-root": "page_size"}
        for path, fact in files.items():
            document = self.host_gap(path)
            self.assertNotIn(fact, document["host"])
            self.assertEqual(document["host_absent"][fact], "not in the recorded tree", path)
            source = next(s for s in document["sources"] if s["name"] == "host_context")
            self.assertEqual(source["state"], "partial")
            self.assertIn(fact, source["reason"])
            out = self.accept("show", self.path("gap.tscope"), "--sections", "host")
            self.assertRegex(out, r"absent, not in the recorded tree: .*" + fact)
            self.accept("show", self.path("gap.tscope"), "--format", "csv", "--sections", "host")
            self.accept("capture", "-q", "--root", self.path("host-gap"), "-o",
                        self.path("gap.ctprof.zst"))
            self.accept("show", self.path("gap.ctprof.zst"))

    def test_nonsense_is_no_fact(self):
        files = {"proc/sys/kernel/random/boot_id": "boot_id", "proc/loadavg": "loadavg",
                 "sys/devices/system/cpu/online": "online_cpus",
                 "sys/devices/system/cpu/smt/control": "smt"}
        for path, fact in files.items():
            document = self.host_gap(path, "\x01rubbish, 0-3\n")
            self.assertNotIn(fact, document["host"])
            self.assertEqual(document["host_absent"][fact], "its file makes no sense")

    def test_what_is_missing_of_one_process_is_counted(self):
        for name in ["cmdline", "exe"]:
            copy = pathlib.Path(self.path(name))
            shutil.copytree(ROOTS[0], copy, symlinks=True)
            (copy / "proc/1" / name).unlink()
            out = self.accept("show", "--root", copy, "-g", "thread", "--format", "json")
            source = next(s for s in json.loads(out)["sources"] if s["name"] == name)
            self.assertEqual((source["state"], source["failed"]), ("partial", 1))
            self.assertIn("not in the recorded tree", source["reason"])

    def test_a_zombie_without_a_status_file_has_no_descriptors(self):
        copy = pathlib.Path(self.path("zombie"))
        shutil.copytree(ROOTS[0], copy, symlinks=True)
        stats = [path for path in copy.glob("proc/[0-9]*/task/*/stat")
                 if re.search(rb"\) Z ", path.read_bytes())]
        self.assertTrue(stats)
        for stat in stats:
            (stat.parent / "status").unlink()
        out = self.accept("show", "--root", copy, "-g", "thread", "--format", "json")
        zombies = [t for t in json.loads(out)["threads"]
                   if t["tid"] in {int(path.parent.name) for path in stats}]
        for zombie in zombies:
            self.assertEqual(zombie["state"], "Z")
            self.assertNotIn("open_fds", zombie)
        self.assertIn("status file", json.loads(out)["absent"]["cpu_affinity"])
        self.assertNotIn("No data", out)


if __name__ == "__main__":
    support.main()
