# SPDX-License-Identifier: MIT
"""Memory in detail, and whose a process is: against what the kernel says of live processes."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import support

CONTAINER = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

# Its pages are its own but for those of the program itself: nobody else maps them.
SLEEPER = """
#include <unistd.h>

static volatile char bytes[5 << 20];

int main(void)
{
	for (unsigned i = 0; i < sizeof(bytes); i += 4096)
		bytes[i] = 1;
	if (write(1, "!", 1) != 1)
		return 1;
	for (;;)
		pause();
}
"""


def rollup(pid):
    """The values of smaps_rollup in bytes."""
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}


def show(*words, **options):
    status, out, err = support.run("show", "-g", "thread", "--format", "json", *words, **options)
    if status != 0:
        raise AssertionError(err)
    return json.loads(out)


def source(document, name):
    return next(s for s in document["sources"] if s["name"] == name)


def leader(document, pid):
    return next(t for t in document["threads"] if t["tid"] == pid)


def readings(document, pid):
    return next((p for p in document.get("processes", []) if p["tgid"] == pid), {})


class Memory(support.TestCase):
    @contextlib.contextmanager
    def sleeper(self, **options):
        """A program that is linked statically, stopped with memory of its own."""
        program = self.path("sleeper")
        if not os.path.exists(program):
            subprocess.run(["cc", "-static", "-O1", "-x", "c", "-o", program, "-"], check=True,
                           input=SLEEPER.encode(), capture_output=True)
        process = subprocess.Popen([program], stdout=subprocess.PIPE, **options)
        try:
            process.stdout.read(1)
            process.send_signal(signal.SIGSTOP)
            yield process.pid
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def same_before_and_after(self, pid, *words):
        """A document, and what the file said both before and after it was made."""
        for _ in range(20):
            before = rollup(pid)
            document = show("-p", pid, "--smaps", *words)
            if rollup(pid) == before:
                return document, before
        self.skipTest("the kernel does not leave the pages of a stopped process alone")

    def test_smaps_is_what_the_kernel_says(self):
        with self.sleeper() as pid:
            for way in ["auto", "procfs"]:
                document, expected = self.same_before_and_after(pid, "--source", way)
                self.assertEqual(readings(document, pid)["smaps"], expected)
                row = leader(document, pid)
                self.assertEqual(row["pss_bytes"], expected["Pss"])
                self.assertEqual(row["uss_bytes"], expected["Private_Clean"]
                                 + expected["Private_Dirty"] + expected["Private_Hugetlb"])
                self.assertEqual(row["swap_bytes"], expected["Swap"])
                self.assertEqual(row["swap_pss_bytes"], expected["SwapPss"])
                self.assertGreaterEqual(row["uss_bytes"] + row["swap_bytes"], 5 << 20)
                cost = document["capture"]["smaps_cost"]
                self.assertEqual((cost["read"], cost["late"]), (1, 0))
                self.assertGreater(cost["longest_ns"], 0)
                self.assertGreaterEqual(cost["elapsed_ns"], cost["longest_ns"])

    def test_smaps_survives_the_file(self):
        with self.sleeper() as pid:
            path = self.path("smaps.tscope")
            self.accept("capture", "-p", pid, "--smaps", "-o", path)
            document = support.show_threads(path)
            self.assertIn("Pss", readings(document, pid)["smaps"])
            self.assertGreater(leader(document, pid)["uss_bytes"], 0)
            self.assertEqual(document["capture"]["smaps_cost"]["read"], 1)

    def test_smaps_is_off_unless_asked_for(self):
        document = show("-p", os.getpid())
        self.assertEqual(source(document, "smaps")["state"], "off")
        self.assertIn("--smaps", source(document, "smaps")["reason"])
        self.assertIn("--smaps", document["absent"]["pss_bytes"])
        self.assertNotIn("pss_bytes", leader(document, os.getpid()))
        self.assertNotIn("smaps", readings(document, os.getpid()))
        self.assertNotIn("smaps_cost", document["capture"])
        self.refuse("show", "--smaps", "--without", "smaps", says="leave one out")

    def test_a_zombie_has_no_memory_and_that_is_no_failure(self):
        child = os.fork()
        if child == 0:
            os._exit(0)
        try:
            support.wait_until(lambda: "Z" in (look[0] for look in
                                               support.threads_of(child).values()))
            document = show("-p", f"{child},{os.getpid()}", "--smaps")
            self.assertEqual(source(document, "smaps")["failed"], 0)
            self.assertEqual(source(document, "exe")["failed"], 0)
            self.assertEqual(document["capture"]["smaps_cost"]["read"], 1)
            self.assertNotIn("pss_bytes", leader(document, child))
            self.assertNotIn("exe", leader(document, child))
        finally:
            os.waitpid(child, 0)

    @unittest.skipUnless(support.is_root() and shutil.which("setpriv")
                         and os.path.exists("/proc/2") and not os.path.exists("/proc/2/exe"),
                         "needs root, setpriv and a kernel thread")
    def test_having_no_memory_is_not_being_denied_it(self):
        nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        os.chmod(self.folder.name, 0o755)
        with self.sleeper() as pid:
            reason = show("-p", f"2,{pid}", "--smaps", prefix=nobody)["absent"]["pss_bytes"]
        self.assertIn("no memory of their own (1 of 2 processes)", reason)
        self.assertIn("Permission denied (1 of 1 reads)", reason)

    @unittest.skipUnless(support.is_root() and shutil.which("setpriv"), "needs root and setpriv")
    def test_without_privilege_strangers_are_absent_with_a_reason(self):
        nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        os.chmod(self.folder.name, 0o755)
        with self.sleeper() as pid, self.sleeper(user=65534, group=65534) as own:
            document = show("-p", f"{pid},{own}", "--smaps", prefix=nobody)
            for name in ["smaps", "exe"]:
                self.assertEqual(source(document, name)["state"], "partial")
                self.assertEqual(source(document, name)["failed"], 1)
                self.assertIn("Permission denied", source(document, name)["reason"])
            self.assertIn("CAP_SYS_PTRACE", document["absent"]["pss_bytes"])
            self.assertNotIn("pss_bytes", leader(document, pid))
            self.assertNotIn("exe", leader(document, pid))
            self.assertGreater(leader(document, own)["uss_bytes"], 0)
            self.assertEqual(leader(document, own)["exe"], self.path("sleeper"))
            self.assertEqual(leader(document, own)["user"], "nobody")
            for process in [pid, own]:  # what needs no right
                self.assertEqual(leader(document, process)["cmdline"], self.path("sleeper"))
                self.assertGreater(leader(document, process)["fd_limit"], 0)

    def test_the_program_is_as_the_kernel_calls_it(self):
        with self.sleeper() as pid:
            expected = os.readlink(f"/proc/{pid}/exe")
            for way in ["auto", "procfs"]:
                self.assertEqual(leader(show("-p", pid, "--source", way), pid)["exe"], expected)
            os.unlink(self.path("sleeper"))
            self.assertEqual(leader(show("-p", pid), pid)["exe"], expected + " (deleted)")
            self.assertNotIn("exe", leader(show("-p", pid, "--without", "exe"), pid))

    def test_a_process_that_changes_its_program_lends_its_path_to_nobody(self):
        """A race that a walk lost in one of four captures: its path was that of all who ran the program."""
        honest, other = self.path("honest"), self.path("other")
        loop = self.path("loop.sh")
        for program in [honest, other]:
            shutil.copy(os.path.realpath("/bin/sh"), program)
        pathlib.Path(loop).write_text('exec "$1" "$0" "$2" "$1"\n')
        with contextlib.ExitStack() as stack:
            for script in [[loop, other, honest], ["-c", "echo !; read line"]]:
                process = stack.enter_context(subprocess.Popen(
                    [honest, *script], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
                stack.callback(process.kill)
            process.stdout.read(1)
            for _ in range(20):
                self.assertEqual(leader(show(), process.pid).get("exe", honest), honest)

    @unittest.skipUnless(support.is_root() and os.path.exists("/proc/2")
                         and not os.path.exists("/proc/2/exe"), "needs root and a kernel thread")
    def test_a_kernel_thread_runs_no_program_and_that_is_no_failure(self):
        document = show("-p", "2", "--smaps")
        for name in ["exe", "smaps"]:
            self.assertEqual(source(document, name)["state"], "ok", source(document, name))
        self.assertNotIn("exe", leader(document, 2))

    def hierarchy(self):
        """Where the hierarchy is mounted that taskscope takes cgroup paths from."""
        name = json.loads(self.accept("doctor", "--format", "json"))["cgroup_hierarchy"]
        places = [pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/sys/fs/cgroup/unified")]
        if name and name.startswith("v1 "):
            places = [pathlib.Path("/sys/fs/cgroup", name[3:])]
        return next((p for p in places if (p / "cgroup.procs").exists()), None)

    @unittest.skipUnless(support.is_root(), "needs root")
    def test_a_container_is_recognised_by_its_cgroup(self):
        top = self.hierarchy()
        folder = top and top / "docker" / CONTAINER
        had_docker = top and (top / "docker").exists()
        try:
            folder.mkdir(parents=True)
        except (OSError, TypeError, AttributeError) as why:
            self.skipTest(f"no cgroup can be made: {why}")
        try:
            with self.sleeper() as pid:
                (folder / "cgroup.procs").write_text(str(pid))
                row = leader(show("-p", pid), pid)
                self.assertEqual(row["cgroup"], "/docker/" + CONTAINER)
                self.assertEqual(row["container"], {"runtime": "docker", "id": CONTAINER})
                out = self.accept("show", "-p", pid, "-g", "container", "-m", "thread_count")
                self.assertIn("docker " + CONTAINER[:12], out)
        finally:
            support.wait_until(lambda: not (folder / "cgroup.procs").read_text())
            folder.rmdir()
            if not had_docker:
                folder.parent.rmdir()


if __name__ == "__main__":
    support.main()
