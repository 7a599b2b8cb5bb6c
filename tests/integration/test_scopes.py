#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`scopes`: what programs with libtaskscope do, read from outside in every state they can be in."""
import contextlib
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys

from support import HANG, TestCase, comm_of, has_namespaces, is_root, main, run, \
    wait_for_idle, wait_until

PROGRAM = os.environ["TASKSCOPE_SCOPES_PROGRAM"]
NOBODY = 65534
MEMORY_LINK = "/memfd:taskscope (deleted)"


class Program:
    """One of the programs, inside a `with`; `number` is what it said when it was ready."""

    def __init__(self, *words, prefix=(), **options):
        # The library looks for names like those that the tests are told things by.
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("TASKSCOPE")}
        self.process = subprocess.Popen([*prefix, PROGRAM, *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=environment, **options)
        self.pid = self.process.pid

    def __enter__(self):
        words = self.process.stdout.readline().split()
        if len(words) != 2 or words[0] != b"ready":
            raise AssertionError(f"the program said {words}")
        self.number = int(words[1])
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.stdin.close()
        self.process.wait(timeout=HANG)
        self.process.stdout.close()


def scopes(*words, **options):
    """The JSON of an answer."""
    status, out, err = run("scopes", *words, "--format", "json", **options)
    if status != 0:
        raise AssertionError(f"scopes {words}: {status} {err}")
    return json.loads(out)


def process(pid, *words):
    """The only process of an answer."""
    found = scopes("-p", pid, *words)["processes"]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} processes")
    return found[0]


def labels(thread):
    return [scope["label"] for scope in thread["scopes"]]


def stacks(found):
    return sorted(labels(thread) for thread in found["threads"])


def memory_path(pid):
    """The memory of a process, by the first descriptor of that name."""
    for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            if os.readlink(path) == MEMORY_LINK:
                return path
    raise AssertionError("no memory")


class Scopes(TestCase):
    def check_threads(self, found, pid, tids):
        self.assertEqual(found["pid"], pid)
        self.assertTrue(found["on"])
        self.assertEqual([thread["tid"] for thread in found["threads"]], tids)
        first, *others = found["threads"]
        self.assertEqual(labels(first), ["load matrix", "solve"])
        load, solve = first["scopes"]
        self.assertEqual((load["count"], load["total"], load["rate"], load["eta_ns"]),
                         (None, None, None, None))
        self.assertEqual((solve["count"], solve["total"]), (412, 1000))
        self.assertGreater(solve["rate"], 0)
        self.assertGreater(solve["eta_ns"], 0)
        self.assertGreaterEqual(load["age_ns"], solve["age_ns"])
        self.assertGreater(found["age_ns"], solve["age_ns"])
        worker = next(thread for thread in others if "tile 7" in labels(thread))
        self.assertEqual(labels(worker), ["tile 7", "rows"])
        self.assertEqual(worker["name"], "worker\\x1b[31m")
        self.assertEqual(worker["comm"], "kernels-name")
        self.assertEqual((worker["scopes"][1]["count"], worker["scopes"][1]["total"]), (33, None))
        idle = next(thread for thread in others if thread is not worker)
        self.assertEqual(labels(idle), ["queue"])
        self.assertTrue(idle["idle"])
        self.assertFalse(worker["idle"])

    @staticmethod
    def scoped_tids(pid):
        """Its threads but the heartbeat, which has its name once all of them sleep."""
        wait_for_idle(pid)
        return [tid for tid in sorted(map(int, os.listdir(f"/proc/{pid}/task")))
                if pathlib.Path(f"/proc/{pid}/task/{tid}/comm").read_text() != "taskscope\n"]

    def test_every_thread_and_scope_is_there(self):
        with Program("threads") as program:
            wait_for_idle(program.pid)
            found = process(program.pid)
            self.check_threads(found, program.pid, self.scoped_tids(program.pid))
        self.assertEqual({thread["state"] for thread in found["threads"]}, {"S"})
        self.assertEqual(set(found["losses"].values()), {0})
        self.assertNotIn("statistics", found)

    def test_the_text_has_a_line_for_each(self):
        with Program("threads") as program:
            wait_for_idle(program.pid)
            status, out, err = run("scopes", "-p", program.pid)
            name = comm_of(program.pid)
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertRegex(lines[0], rf"^{name} {program.pid}: 3 threads, 5 scopes, on for \S+ \w+$")
        self.assertRegex(out, rf"(?m)^  {program.pid} {name}  S  changed \S+ \w+ ago$")
        self.assertRegex(out, r"(?m)^    load matrix +\d\S* \S+$")
        self.assertRegex(out, r"(?m)^      solve +\d\S* \w+ +412/1000 \(41%\)  \S+( \w)?/s  eta \S+ \w+$")
        self.assertRegex(out, r"(?m)^      rows +\d\S* \w+ +33/\?  \S+( \w)?/s$")
        self.assertRegex(out, r"(?m)^  \d+ worker\\x1b\[31m  S  changed \S+ \w+ ago$")
        self.assertRegex(out, rf"(?m)^  \d+ {name}  S  idle \S+ \w+$")
        self.assertNotIn("\033", out)
        self.assertEqual(len(lines), 9)

    def test_ages_are_those_of_the_clock(self):
        with Program("threads") as program:
            first = process(program.pid)
            wait_until(lambda: process(program.pid)["age_ns"] > first["age_ns"] + 300_000_000)
            second = process(program.pid)
        grown = second["age_ns"] - first["age_ns"]
        for before, after in zip(first["threads"], second["threads"]):
            for old, new in zip(before["scopes"], after["scopes"]):
                self.assertAlmostEqual(new["age_ns"] - old["age_ns"], grown, delta=20_000_000)

    def test_a_stopped_process_is_read(self):
        with Program("threads") as program:
            tids = self.scoped_tids(program.pid)
            os.kill(program.pid, signal.SIGSTOP)
            found = wait_until(lambda: self.in_state(program.pid, "T"))
            self.check_threads(found, program.pid, tids)
            self.assertTrue(self.in_state(program.pid, "T"))

    @staticmethod
    def in_state(pid, state):
        """The process when all of its threads are in a state."""
        found = process(pid)
        return found if {thread["state"] for thread in found["threads"]} == {state} else None

    def test_a_deadlock_is_read(self):
        with Program("deadlock") as program:
            found = wait_until(lambda: self.deadlocked(program.pid))
        self.assertEqual(stacks(found), [["a, then b", "the other lock"],
                                         ["b, then a", "the other lock"]])

    @staticmethod
    def deadlocked(pid):
        found = process(pid)
        return found if all(len(stack) == 2 for stack in stacks(found)) else None

    def test_a_forked_child_has_scopes_of_its_own(self):
        with Program("fork") as program:
            parent = process(program.pid)
            child = process(program.number)
        self.assertEqual(stacks(parent), [["parent's work"]])
        self.assertEqual(child["pid"], program.number)
        self.assertEqual([thread["tid"] for thread in child["threads"]], [program.number])
        self.assertEqual(labels(child["threads"][0])[-1], "child's work")

    def test_a_child_that_uses_none_has_none(self):
        with Program("fork-unused") as program:
            self.refuse("scopes", "-p", program.number, says="has no scopes")
            found = [one["pid"] for one in scopes()["processes"]]
        self.assertIn(program.pid, found)
        self.assertNotIn(program.number, found)

    def test_another_program_in_the_same_process_has_none(self):
        with Program("exec") as program:
            self.refuse("scopes", "-p", program.pid, says="has no scopes")

    def test_a_program_without_the_library_has_none(self):
        with Program("none") as program:
            self.refuse("scopes", "-p", program.pid, says=f"process {program.pid} has no scopes")
            self.refuse("scopes", program.pid, says="has no scopes")

    def test_a_program_that_closed_its_descriptors_is_read(self):
        if not is_root():
            self.skipTest("a mapping is opened with a capability only")
        with Program("closefrom") as program:
            self.assertEqual(stacks(process(program.pid)), [["closed"]])
            found = [one["pid"] for one in scopes()["processes"]]
        self.assertIn(program.pid, found)

    def test_closed_descriptors_take_a_capability(self):
        if not is_root():
            self.skipTest("only root can be somebody else")
        with Program("closefrom", user=NOBODY, group=NOBODY, extra_groups=[]) as program:
            self.refuse("scopes", "-p", program.pid, says="has closed the descriptor",
                        user=NOBODY, group=NOBODY, extra_groups=[])

    def test_a_program_with_many_descriptors_is_read(self):
        with Program("descriptors") as program:
            self.assertEqual(stacks(process(program.pid)), [["moved"]])
            found = [one["pid"] for one in scopes()["processes"]]
        self.assertIn(program.pid, found)

    def test_a_thread_names_its_process(self):
        with Program("threads") as program:
            tid = self.scoped_tids(program.pid)[1]
            self.check_threads(process(tid), program.pid, self.scoped_tids(program.pid))

    def test_numbers_of_another_namespace_are_ours(self):
        if not has_namespaces():
            self.skipTest("no PID namespace can be made")
        with Program("threads", prefix=["unshare", "--pid", "--fork", "--kill-child"]) as program:
            children = pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children")
            pid = int(children.read_text())
            found = process(pid)
            self.check_threads(found, pid, self.scoped_tids(pid))
            around = [one["pid"] for one in scopes()["processes"]]
        self.assertEqual(found["threads"][0]["own_tid"], 1)
        self.assertIn(pid, around)

    def test_another_user_is_refused_with_a_sentence(self):
        if not is_root():
            self.skipTest("only root can be somebody else")
        with Program("threads") as program:
            self.refuse("scopes", "-p", program.pid, says="may not be read", user=NOBODY,
                        group=NOBODY)
            status, out, err = run("scopes", user=NOBODY, group=NOBODY)
            found = scopes(user=NOBODY, group=NOBODY)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"(?m)^\d+ process(es)? with scopes may not be read: ")
        self.assertNotIn(program.pid, [one["pid"] for one in found["processes"]])
        self.assertGreaterEqual(found["denied_with_scopes"], 1)
        self.assertGreaterEqual(found["denied"], found["denied_with_scopes"])

    def test_an_owner_without_privileges_may_read(self):
        if not is_root():
            self.skipTest("only root can be somebody else")
        with Program("threads", user=NOBODY, group=NOBODY, extra_groups=[]) as program:
            found = scopes("-p", program.pid, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertEqual(labels(found["processes"][0]["threads"][0]), ["load matrix", "solve"])

    def test_several_processes_are_shown_and_the_missing_one_is_said(self):
        with Program("threads") as first, Program("deep") as second:
            found = scopes("-p", f"{first.pid},{second.pid}")["processes"]
            status, out, err = run("scopes", "-p", f"{first.pid},1073741824")
        self.assertEqual([one["pid"] for one in found], [first.pid, second.pid])
        self.assertEqual(status, 2)
        self.assertIn("load matrix", out)
        self.assertEqual(err, "taskscope: there is no process 1073741824\n")

    def test_bad_words_are_refused(self):
        self.refuse("scopes", "-p", "0", says="process id")
        self.refuse("scopes", "-p", "no such name", says="no process is called")
        self.refuse("scopes", "--format", "xml", says="text")

    def test_statistics_by_label(self):
        with Program("statistics") as program:
            found = process(program.pid, "--stats")
            status, out, _ = run("scopes", "-p", program.pid, "--stats")
        uses = {use["label"]: use for use in found["statistics"]}
        step, long = uses["step"], uses["long"]
        self.assertEqual((step["count"], long["count"]), (100, 1))
        self.assertGreaterEqual(step["total_ns"], 100_000_000)
        self.assertAlmostEqual(step["mean_ns"], step["total_ns"] / 100, delta=1)
        self.assertGreaterEqual(step["p50_ns"], 1_000_000 // 2)
        self.assertGreaterEqual(step["p99_ns"], step["p50_ns"])
        self.assertGreaterEqual(step["max_ns"], step["p99_ns"])
        self.assertGreaterEqual(long["max_ns"], 100_000_000)
        self.assertEqual(long["max_ns"], long["total_ns"])
        for i in range(64):
            self.assertEqual(uses[f"made {i}"]["count"], 1)
        self.assertEqual(uses[None]["count"], 30)
        self.assertEqual(found["losses"]["unnumbered"], 30)
        self.assertLessEqual(long["self_ns"], long["total_ns"])
        self.assertEqual(status, 0)
        self.assertRegex(out, r"(?m)^scope +count +total +self +mean +p50 +p99 +max +cpu \(sampled\)$")
        self.assertRegex(out, r"(?m)^step +100 ")
        self.assertRegex(out, r"(?m)^<other> +30 ")

    def test_statistics_that_are_not_taken_are_absent(self):
        with Program("threads") as program:
            found = process(program.pid, "--stats")
            _, out, _ = run("scopes", "-p", program.pid, "--stats")
        self.assertIsNone(found["statistics"])
        self.assertIn("no statistics: ", out)

    def test_a_stall_is_shown(self):
        with Program("stall") as program:
            found = wait_until(lambda: self.stalled(program.pid))
            _, out, _ = run("scopes", "-p", program.pid)
        thread = found["threads"][0]
        self.assertEqual(thread["stall"], "waiting")
        self.assertEqual(thread["stalled_scope"], 1)
        self.assertGreaterEqual(thread["stalled_ns"], 300_000_000)
        self.assertEqual(thread["scopes"][1]["stall_limit_ms"], 300)
        self.assertIsNone(thread["scopes"][0]["stall_limit_ms"])
        self.assertRegex(out, r"(?m)  S  STALLED \S+ \w+ \(waiting\)$")
        self.assertRegex(out, r"(?m)^      stuck .*<- no progress$")

    @staticmethod
    def stalled(pid):
        found = process(pid)
        return found if found["threads"][0]["stall"] else None

    def test_a_program_that_stopped_it_says_so(self):
        with Program("stop") as program:
            found = process(program.pid)
            _, out, _ = run("scopes", "-p", program.pid)
        self.assertFalse(found["on"])
        self.assertRegex(out.splitlines()[0], r"stopped; began \S+ \w+ ago$")

    def test_what_is_too_deep_is_counted(self):
        with Program("deep") as program:
            found = process(program.pid)
            _, out, _ = run("scopes", "-p", program.pid)
        self.assertEqual(len(found["threads"][0]["scopes"]), 40)
        self.assertEqual(found["threads"][0]["hidden"], 10)
        self.assertEqual(found["losses"]["depth"], 10)
        self.assertIn("1 thread, 50 scopes", out)
        self.assertIn("lost: 10 scopes too deep", out)
        self.assertIn("and 10 deeper scopes", out)

    def test_a_thread_that_is_gone_is_left_out(self):
        with Program("vanish") as program:
            self.assertEqual(stacks(process(program.pid)), [["here"]])

    def test_a_thread_that_never_holds_still_is_read(self):
        with Program("hot") as program:
            for _ in range(20):
                thread = process(program.pid)["threads"][0]
                self.assertEqual(labels(thread)[0], "outer")
                self.assertLessEqual(len(thread["scopes"]), 3)
                if not thread["torn"]:
                    self.assertIn(labels(thread)[1:], [[], ["first"], ["first", "second"]])

    def test_the_program_is_not_disturbed(self):
        with Program("threads") as program:
            def switches():
                paths = pathlib.Path(f"/proc/{program.pid}/task").glob("*/status")
                return [line for path in sorted(paths)
                        if (path.parent / "comm").read_text() != "taskscope\n"
                        for line in path.read_text().splitlines() if "ctxt_switches" in line]
            wait_for_idle(program.pid)
            before = switches()
            for _ in range(5):
                process(program.pid, "--stats")
            self.assertEqual(switches(), before)

    def test_nobody_on_the_host_is_no_error(self):
        if not has_namespaces():
            self.skipTest("no PID namespace can be made")
        status, out, err = run("scopes", prefix=["unshare", "--pid", "--fork", "--mount-proc"])
        self.assertEqual((status, out, err),
                         (0, "no process that may be read here has scopes\n", ""))

    def hold(self, setup):
        """A process with something at descriptor 200, made by Python code."""
        holder = subprocess.Popen(
            [sys.executable, "-c", f"import os\n{setup}\nprint('ready', flush=True)\ninput()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def end():
            holder.kill()
            holder.wait(timeout=HANG)
            holder.stdin.close()
            holder.stdout.close()

        self.addCleanup(end)
        self.assertEqual(holder.stdout.readline(), b"ready\n")
        return holder.pid

    def test_a_file_with_such_a_name_is_not_opened(self):
        """It could be served by a program that never answers."""
        if not has_namespaces():
            self.skipTest("no namespace can be made")
        with Program("threads") as program:
            memory = memory_path(program.pid).read_bytes()
        pathlib.Path(self.path("memory")).write_bytes(memory)
        offset = self.pid_offset(memory, program.pid)
        pid = self.hold(f"""
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x00020000) == 0
assert libc.mount(b"none", b"/", None, 0x44000, None) == 0
assert libc.mount(b"none", b"/mnt", b"tmpfs", 0, None) == 0
fd = os.open("/mnt/memfd:taskscope", os.O_RDWR | os.O_CREAT)
memory = bytearray(open({self.path("memory")!r}, "rb").read())
struct.pack_into("i", memory, {offset}, os.getpid())
os.write(fd, memory)
os.unlink("/mnt/memfd:taskscope")
assert libc.umount2(b"/mnt", 2) == 0
os.dup2(fd, 200)
os.close(fd)
""")
        self.assertEqual(os.readlink(f"/proc/{pid}/fd/200"), MEMORY_LINK)
        self.refuse("scopes", "-p", pid, says="has no scopes")

    @staticmethod
    def pid_offset(memory, pid):
        """Where the header has the process's number."""
        found = [at for at in range(0, 224, 4) if struct.unpack_from("i", memory, at)[0] == pid]
        if len(found) != 1:
            raise AssertionError(f"the number is at {found}")
        return found[0]

    def test_nonsense_is_refused_and_counted(self):
        pid = self.hold("""
fd = os.memfd_create("taskscope")
os.write(fd, b"nonsense" * 1000)
os.dup2(fd, 200)
""")
        self.refuse("scopes", "-p", pid, says="does not begin like such a memory")
        self.assertGreaterEqual(scopes()["unreadable"], 1)

    def test_who_reads_the_memory_of_another_has_no_scopes(self):
        with Program("threads") as program:
            path = memory_path(program.pid)
            pid = self.hold(f"os.dup2(os.open({str(path)!r}, os.O_RDONLY), 200)")
            self.refuse("scopes", "-p", pid, says="has no scopes")
            self.assertNotIn(pid, [one["pid"] for one in scopes()["processes"]])

    def test_a_memory_that_shrinks_ends_nothing(self):
        with Program("threads") as program:
            memory = memory_path(program.pid).read_bytes()
        pathlib.Path(self.path("memory")).write_bytes(memory)
        pid = self.hold(f"""
import struct, threading
memory = bytearray(open({self.path("memory")!r}, "rb").read())
struct.pack_into("i", memory, {self.pid_offset(memory, program.pid)}, os.getpid())
fd = os.memfd_create("taskscope")
os.write(fd, memory)
os.dup2(fd, 200)
def shrink():
    while True:
        for size in (0, 100, 5000, 90000, 100000, 5000000):
            os.ftruncate(fd, size)
            os.pwrite(fd, memory, 0)
threading.Thread(target=shrink, daemon=True).start()
""")
        for _ in range(50):
            status, out, err = run("scopes", "-p", pid, "--stats")
            self.assertIn(status, (0, 2))
            self.assertEqual(len(err.splitlines()), 1 if status else 0)


if __name__ == "__main__":
    main()
