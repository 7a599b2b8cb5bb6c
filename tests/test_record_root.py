# SPDX-License-Identifier: MIT
"""record-root.sh: what it must record, and what must never be in a recording."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent.parent / "tools" / "record-root.sh"
SECRET = "a-secret-word"
PROCESS_FILES = {"cmdline", "exe", "io", "limits", "smaps_rollup", "stat",
                 "statm"}
THREAD_FILES = {"task/TID/" + name
                for name in ("cgroup", "io", "sched", "schedstat", "stat", "status")}
HOST_FILES = {"boot_id", "cmdline", "cpuinfo", "diskstats", "interrupts", "loadavg", "meminfo", "net/dev",
              "net/sockstat", "osrelease", "ostype", "pressure/cpu", "pressure/io", "pressure/irq",
              "pressure/memory", "stat", "task_delayacct", "uptime", "vmstat"}
WORKLOAD = ["/bin/sh", "-c", "read line", SECRET]


class RecordRoot(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.scratch.name, "root")
        environment = dict(os.environ, WORD=SECRET)
        self.workload = subprocess.Popen(WORKLOAD, stdin=subprocess.PIPE, env=environment)

    def tearDown(self):
        self.workload.stdin.close()
        self.workload.wait()
        self.scratch.cleanup()

    def record(self, *shell, environment=None):
        command = [*shell, TOOL, "-p", str(self.workload.pid), self.root]
        subprocess.run(command, check=True, env=environment)
        facts = (self.root / "taskscope-root").read_text().splitlines()
        return dict(line.rsplit(" ", 1) for line in facts)

    def check_recording(self, facts):
        pid = str(self.workload.pid)
        process = self.root / "proc" / pid
        self.assertRegex((process / "stat").read_text(), rf"^{pid} \(sh\) ")
        self.assertEqual((process / "cmdline").read_bytes(), b"sh\0")
        self.assertRegex((process / "smaps_rollup").read_text(), "^0-0 [^\n]*\nRss: ")
        self.assertEqual(os.readlink(process / "exe"), os.readlink(f"/proc/{pid}/exe"))
        for name in ("stat", "status", "cgroup"):
            self.assertGreater((process / "task" / pid / name).stat().st_size, 0, name)
        self.assertEqual(int(facts["page_size"]), os.sysconf("SC_PAGE_SIZE"))
        self.assertEqual(int(facts["clock_ticks"]), os.sysconf("SC_CLK_TCK"))
        self.assertEqual(int(facts["pid_namespace"]), os.stat("/proc/self/ns/pid").st_ino)
        self.assertEqual(int(facts["open_fds " + pid]), len(os.listdir(f"/proc/{pid}/fd")))
        self.assertGreaterEqual(int(facts["boottime_ns"]), int(facts["monotonic_ns"]))
        self.assertIn(f":x:{os.getuid()}:", (self.root / "etc/passwd").read_text())

    def test_a_recording_holds_the_process_and_the_facts(self):
        self.check_recording(self.record())

    def test_a_recording_holds_nothing_that_is_not_read(self):
        self.record()
        process = self.root / "proc" / str(self.workload.pid)
        files = {str(path.relative_to(process)).replace(str(self.workload.pid), "TID")
                 for path in process.rglob("*") if path.is_file()}
        self.assertLessEqual(files, PROCESS_FILES | THREAD_FILES)
        files = {str(path.relative_to(self.root / "proc")) for path in (self.root / "proc").rglob("*")
                 if path.is_file() and process not in path.parents}
        files = {name.replace("sys/kernel/", "").replace("random/", "") for name in files}
        self.assertLessEqual({name for name in files if not name.startswith("sched_")}, HOST_FILES)

    def test_what_the_host_has_is_recorded(self):
        self.record()
        for name in ("proc/pressure/cpu", "proc/cpuinfo", "proc/uptime", "proc/loadavg",
                     "sys/devices/system/cpu/online", "sys/devices/system/node/has_cpu",
                     "sys/kernel/mm/transparent_hugepage/enabled", "sys/kernel/sched_ext/state",
                     *(f"proc/sys/kernel/{name}" for name in os.listdir("/proc/sys/kernel")
                       if name.startswith("sched_") and os.path.isfile("/proc/sys/kernel/" + name))):
            self.assertEqual((self.root / name).exists(), os.path.exists("/" + name), name)

    def test_the_cgroup_of_the_process_is_recorded(self):
        self.record()
        for line in pathlib.Path(f"/proc/{self.workload.pid}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            folder = pathlib.Path("/sys/fs/cgroup", controllers or "unified", path.lstrip("/"))
            if not re.search("[0-9a-f]{12}", path) and (folder / "memory.stat").is_file():
                self.assertTrue((self.root / str(folder)[1:] / "memory.stat").is_file(), folder)

    def test_only_plain_words_of_the_kernels_command_line_are_recorded(self):
        self.record()
        words = pathlib.Path("/proc/cmdline").read_text().split()
        plain = re.search('^PLAIN_WORDS="(.*)"$', TOOL.read_text(), re.M)[1].split("|")
        recorded = (self.root / "proc/cmdline").read_text().split()
        self.assertLessEqual(set(recorded), set(words))
        self.assertLessEqual({word for word in words if word.split("=")[0] in plain
                              and "--" not in words[:words.index(word)]}, set(recorded))
        self.assertFalse([word for word in recorded if re.search("UUID|root=|://", word)])

    def test_busybox_is_enough(self):
        busybox = shutil.which("busybox")
        if not busybox:
            self.skipTest("busybox is not installed")
        tools = pathlib.Path(self.scratch.name, "bin")
        tools.mkdir()
        subprocess.run([busybox, "--install", "-s", tools], check=True)
        self.check_recording(self.record(tools / "sh", environment={"PATH": str(tools)}))

    def test_arguments_environment_and_host_name_stay_at_home(self):
        self.record()
        boot_id = pathlib.Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
        words = [SECRET.encode(), boot_id]
        if os.path.exists("/etc/machine-id"):
            words += [word for word in [pathlib.Path("/etc/machine-id").read_bytes().strip()] if word]
        for path in self.root.rglob("*"):
            text = path.read_bytes() if path.is_file() else b""
            self.assertFalse([word for word in words if word in text], path)
        self.assertFalse((self.root / "proc/sys/kernel/hostname").exists())

    def test_recordings_of_one_boot_have_one_boot_id(self):
        path = "proc/sys/kernel/random/boot_id"
        self.record()
        first = (self.root / path).read_text()
        self.assertRegex(first, r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$")
        self.root = self.root.with_name("again")
        self.record()
        self.assertEqual((self.root / path).read_text(), first)

    def test_a_process_that_is_gone_leaves_nothing(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        subprocess.run([TOOL, "-p", str(gone.pid), self.root], check=True)
        self.assertFalse((self.root / "proc" / str(gone.pid)).exists())

    def test_a_recording_is_never_written_over(self):
        self.record()
        command = [TOOL, "-p", str(self.workload.pid), self.root]
        self.assertEqual(subprocess.run(command, stderr=subprocess.DEVNULL).returncode, 2)


if __name__ == "__main__":
    unittest.main()
