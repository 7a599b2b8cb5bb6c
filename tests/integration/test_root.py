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
        subprocess.run(["strace", "-f", "-o", log, "-e", "trace=" + FORBIDDEN + ",%file",
                        support.TASKSCOPE, "capture", "--root", root, "-o", output], check=True,
                       capture_output=True)
        # The loader, and the C library's qsort(), which asks how much memory it may take.
        start_up = re.compile(r"prlimit64\(0, RLIMIT_(STACK|NOFILE)|execve\(|access\(\"/etc/ld\.so|"
                              r" sysinfo\(|/etc/ld\.so\.cache|\.so(\.\d+)*\"|/lib/|/usr/lib/|/proc/self/fd")
        allowed = re.compile(re.escape(str(root)) + "|" + re.escape(self.folder.name))
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


if __name__ == "__main__":
    support.main()
