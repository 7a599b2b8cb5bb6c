"""The heartbeat of libtaskscope: its lines, its stalls, and that it never stands in the way."""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import tempfile
import threading
import time
import unittest

from support import HANG, is_root, wait_until

BEATING = os.environ["TASKSCOPE_BEATING"]

# Short enough to wait for, long enough for a machine with much else to do.
FAST = {"TASKSCOPE_HEARTBEAT": "300ms", "TASKSCOPE_STALL": "300ms"}
QUIET = {"TASKSCOPE_HEARTBEAT": "off", "TASKSCOPE_STALL": "off"}


class Lines:
    """What arrives at a descriptor, line by line."""

    def __init__(self, stream):
        self.lines = []
        self.stream = stream
        self.thread = threading.Thread(target=self.collect, daemon=True)
        self.thread.start()

    def collect(self):
        for line in self.stream:
            self.lines.append(line.decode().rstrip("\n"))

    def matching(self, pattern):
        return [line for line in list(self.lines) if re.search(pattern, line)]

    def wait(self, pattern, count=1):
        """The lines that match, once there are so many."""
        try:
            return wait_until(lambda: found if len(found := self.matching(pattern)) >= count else None)
        except AssertionError:
            raise AssertionError(f"no {pattern!r} in:\n" + "\n".join(self.lines)) from None


class Program:
    """One scene of the program, with what it writes."""

    def __init__(self, scene, environment, prefix=(), stderr=subprocess.PIPE):
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("TASKSCOPE")}
        self.process = subprocess.Popen([*prefix, BEATING, scene], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=stderr,
                                        env=inherited | environment)
        self.pid = self.process.pid
        self.out = Lines(self.process.stdout)
        self.err = Lines(self.process.stderr) if self.process.stderr else None

    def command(self):
        self.process.stdin.write(b"x")
        self.process.stdin.flush()

    def thread(self, name):
        """The number of the thread that said its name."""
        return int(self.out.wait(f"^{name} ")[0].split()[1])

    def end(self):
        """Its exit status, after all that it wrote has arrived."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        status = self.process.wait(timeout=HANG)
        self.out.thread.join(HANG)
        if self.err:
            self.err.thread.join(HANG)
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


class HeartbeatTest(unittest.TestCase):
    def program(self, scene, environment=None, **options):
        program = Program(scene, FAST | (environment or {}), **options)
        self.addCleanup(program.kill)
        return program

    def assert_ends(self, program):
        self.assertEqual(program.end(), 0)


class HeadlineTest(HeartbeatTest):
    HEADLINE = (r"^\[taskscope\] pid=(\d+) elapsed=\S+ rss=\S+iB peak_rss=\S+iB process_threads=(\d+) "
                r"read_bytes=\S+ write_bytes=\S+ cpu=(\d+\.\d+)/(\d+) cores \(avg over (\S+)\) "
                r"instrumented_threads=(\d+) active=(.*)$")

    def test_one_line_tells_what_the_process_uses_and_does(self):
        program = self.program("steady")
        line = program.err.wait(self.HEADLINE)[0]
        pid, threads, _, cpus, _, instrumented, active = re.match(self.HEADLINE, line).groups()
        self.assertEqual(int(pid), program.pid)
        self.assertIn(int(threads), (3, 4))  # a sanitizer has one, too
        self.assertEqual(int(cpus), len(os.sched_getaffinity(0)))
        self.assertEqual(int(instrumented), 1)
        self.assertRegex(active, r'^"work" for \S+ progress=\d+/\? rate=\d+\.\d+/s$')
        self.assert_ends(program)

    def test_without_scopes_it_is_idle(self):
        program = self.program("idle")
        program.err.wait(r" instrumented_threads=0 active=<idle>$")
        self.assert_ends(program)

    def test_with_nothing_but_waiting_scopes_it_is_idle(self):
        program = self.program("pool")
        program.err.wait(r" instrumented_threads=1 active=<idle>$")
        program.err.wait(r' depth=1 deepest="pool" in_frame=\S+ updated_ago=\S+ idle=\S+$')
        self.assert_ends(program)

    def test_the_first_moments_are_no_window(self):
        """The thread may be late: then the window is long enough, and another program is asked."""
        for _ in range(20):
            program = self.program("dump", QUIET)
            line = program.err.wait(r"^\[taskscope\] pid=")[0]
            self.assert_ends(program)
            if "cpu=<warming-up> instrumented" in line:
                return
        self.fail(line)

    def test_the_last_line_comes_at_the_end(self):
        program = self.program("idle", {"TASKSCOPE_HEARTBEAT": "1h"})
        program.thread("started")
        self.assertEqual(program.end(), 0)
        self.assertEqual(len(program.err.lines), 1)
        self.assertRegex(program.err.lines[0], rf"^\[taskscope\] final pid={program.pid} elapsed=")

    def test_without_heartbeats_nothing_is_printed(self):
        program = self.program("idle", QUIET)
        program.thread("started")
        self.assertEqual(program.end(), 0)
        self.assertEqual(program.err.lines, [])

    def test_used_cpus_are_those_of_the_window(self):
        program = self.program("burner")
        cores = [float(re.match(self.HEADLINE, line)[3]) for line in program.err.wait(self.HEADLINE, 4)]
        self.assertGreater(max(cores), 0.02)
        self.assertLess(max(cores), 1.5)
        self.assert_ends(program)


class PhaseTest(HeartbeatTest):
    PHASE = (r'^\[taskscope\] phase pid=(\d+) thread=(\d+)/(\S+) depth=2 deepest="inner (\d+)" '
             r"in_frame=\S+ updated_ago=\S+$")

    def test_the_oldest_scopes_come_first_and_the_rest_is_counted(self):
        program = self.program("phases", {"TASKSCOPE_STALL": "off"})
        program.out.wait("^ready")
        workers = [int(line.split()[1]) for line in program.out.matching("^worker ")]
        program.err.wait(r"^\[taskscope\] phase pid=\d+ \.\.\. and 4 more threads$")
        end = next(i for i, line in enumerate(program.err.lines) if "and 4 more threads" in line)
        found = [re.match(self.PHASE, line) for line in program.err.lines[end - 8:end]]
        self.assertEqual([match[3] for match in found], [f"worker-{i}" for i in range(8)])
        self.assertEqual([int(match[4]) for match in found], list(range(8)))
        self.assertEqual([int(match[2]) for match in found], workers[:8])
        self.assert_ends(program)

    def test_the_number_of_lines_is_an_option(self):
        program = self.program("phases", {"TASKSCOPE_STALL": "off", "TASKSCOPE_PHASES": "11"})
        program.err.wait(r"phase pid=\d+ \.\.\. and 1 more thread$")
        self.assert_ends(program)

    def test_progress_has_a_rate_and_an_end(self):
        program = self.program("progress")
        line = program.err.wait(r"^\[taskscope\] phase .* progress=\d+/1000000 \(\d+%\) rate=", 3)[2]
        rate, hours = re.search(r" rate=(\d+\.\d+)/s eta=(\d+)h\d\dm\d\ds$", line).groups()
        # A step takes at least 5 ms.
        self.assertLess(float(rate), 200.1)
        self.assertAlmostEqual(int(hours), 1e6 / float(rate) / 3600, delta=max(2, int(hours) * 0.2))
        self.assert_ends(program)

    def test_without_a_total_there_is_no_end(self):
        program = self.program("endless")
        line = program.err.wait(r"^\[taskscope\] phase .* progress=\d+/\? rate=\d+\.\d+/s")[0]
        self.assertNotIn("eta", line)
        self.assert_ends(program)

    def test_who_burns_cpu_without_a_scope_is_named(self):
        program = self.program("burner")
        tid = program.thread("burner")
        program.err.wait(rf"^\[taskscope\] uninstrumented pid=\d+ thread={tid}/burner "
                         r"cpu=\d\.\d+ cores$")
        self.assertFalse(program.err.matching(r"uninstrumented .*/taskscope "))
        self.assert_ends(program)

    def test_who_works_in_scopes_is_not_uninstrumented(self):
        program = self.program("quota", {"TASKSCOPE_STALL": "off"})
        program.err.wait(r"^\[taskscope\] phase", 3)
        self.assertFalse(program.err.matching("uninstrumented"))
        self.assert_ends(program)


class JsonTest(HeartbeatTest):
    JSON = {"TASKSCOPE_FORMAT": "json"}

    def objects(self, program, kind, count=1):
        return [json.loads(line) for line in program.err.wait(rf'^{{"kind":"{kind}"', count)]

    def test_every_line_is_an_object(self):
        program = self.program("deadlock", self.JSON)
        stall = self.objects(program, "stall")[0]
        self.assertEqual((stall["pid"], stall["thread"], stall["thread_name"], stall["phase"]),
                         (program.pid, program.thread("locker"), "locker", "take lock"))
        self.assertEqual((stall["stall"], stall["state"], stall["syscall"]), ("waiting", "S", "futex"))
        self.assertGreaterEqual(stall["stuck_ns"], 300_000_000)
        self.assertIsNone(stall["progress"])
        program.command()
        self.assertGreaterEqual(self.objects(program, "recovered")[0]["after_ns"], 300_000_000)
        beat = self.objects(program, "heartbeat")[-1]
        self.assertEqual(set(beat), {
            "kind", "pid", "elapsed_ns", "rss_bytes", "peak_rss_bytes", "process_threads", "read_bytes",
            "write_bytes", "cpu_cores", "cpus", "window_ns", "instrumented_threads", "active",
            "active_ns", "progress", "progress_total", "rate", "eta_ns"})
        self.assertGreater(beat["rss_bytes"], 0)
        self.assert_ends(program)
        for line in program.err.lines:
            self.assertEqual(json.loads(line)["pid"], program.pid)
        self.assertEqual(json.loads(program.err.lines[-1])["kind"], "final")

    def test_any_label_gives_valid_json(self):
        program = self.program("labels", self.JSON | {"TASKSCOPE_STALL": "off"})
        phase = self.objects(program, "phase")[0]
        self.assertEqual(phase["deepest"], 'bell \\x07 "quoted" back\\slash \\xff grüß')
        self.assertEqual(phase["thread_name"], "na\\x0ame")
        self.assert_ends(program)

    def test_any_label_is_harmless_text(self):
        program = self.program("labels", {"TASKSCOPE_STALL": "off"})
        line = program.err.wait(r"\] phase ")[0]
        self.assertIn(r'deepest="bell \x07 \"quoted\" back\\slash \xff grüß"', line)
        self.assertIn(r"/na\x0ame depth", line)
        self.assert_ends(program)


class OutputTest(HeartbeatTest):
    def test_lines_are_asked_for_by_function(self):
        program = self.program("dump", QUIET)
        program.err.wait(r"^\[taskscope\] pid=")
        self.assert_ends(program)

    def test_lines_are_asked_for_by_signal(self):
        program = self.program("steady", QUIET | {"TASKSCOPE_SIGNAL": "on"})
        program.thread("steady")
        for count in (1, 2):
            os.kill(program.pid, signal.SIGUSR2)
            program.err.wait(r"^\[taskscope\] pid=", count)
            program.err.wait(r'^\[taskscope\] phase .* deepest="work"', count)
        self.assert_ends(program)

    def test_without_the_option_the_signal_keeps_its_meaning(self):
        program = self.program("idle", QUIET)
        program.thread("started")
        os.kill(program.pid, signal.SIGUSR2)
        self.assertEqual(program.process.wait(timeout=HANG), -signal.SIGUSR2)

    def test_a_handler_of_the_program_stays(self):
        program = self.program("own-handler", QUIET | {"TASKSCOPE_SIGNAL": "on"})
        program.thread("started")
        os.kill(program.pid, signal.SIGUSR2)
        program.out.wait("^own handler$")
        self.assert_ends(program)

    def test_after_the_stop_the_signal_has_its_default_again(self):
        program = self.program("rounds", QUIET | {"TASKSCOPE_SIGNAL": "on"})
        program.thread("started")
        program.process.send_signal(signal.SIGSTOP)
        program.process.stdin.close()
        program.process.send_signal(signal.SIGCONT)
        self.assertEqual(program.process.wait(timeout=HANG), 0)

    def test_the_programs_function_gets_each_line(self):
        program = self.program("log")
        program.out.wait(r"^logged 0 \[taskscope\] pid=")
        program.out.wait(r'^logged 1 \[taskscope\]\[STALL\] .* phase="take lock"')
        self.assertEqual(program.end(), 0)
        self.assertEqual(program.err.lines, [])
        self.assertTrue(program.out.matching(r"^logged 0 \[taskscope\] final "))

    def test_the_programs_function_may_end_the_program(self):
        program = self.program("deadly-log")
        self.assertEqual(program.process.wait(timeout=HANG), 7)

    def test_lines_go_to_a_file_that_is_the_users_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "lines")
            path.write_text("before\n")
            path.chmod(0o600)
            program = self.program("idle", {"TASKSCOPE_OUTPUT": str(path)})
            wait_until(lambda: "instrumented_threads" in path.read_text())
            self.assert_ends(program)
            self.assertTrue(path.read_text().startswith("before\n[taskscope] "))
            self.assertIn("[taskscope] final ", path.read_text())
            self.assertEqual(program.err.lines, [])

    def test_a_new_file_is_private(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "lines")
            program = self.program("idle", {"TASKSCOPE_OUTPUT": str(path)}, prefix=("sh", "-c",
                                   'umask 0; exec "$0" "$@"'))
            wait_until(path.exists)
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            self.assert_ends(program)

    def test_a_link_is_not_followed(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder, "target")
            target.write_text("")
            link = pathlib.Path(folder, "link")
            link.symlink_to(target)
            program = self.program("idle", {"TASKSCOPE_OUTPUT": str(link)})
            program.err.wait(r"^\[taskscope\]\[WARNING\] pid=\d+ .*link cannot be written \(.*\): "
                             "lines go to standard error$")
            program.err.wait(r"^\[taskscope\] pid=")
            self.assert_ends(program)
            self.assertEqual(target.read_text(), "")

    def test_a_reader_that_does_not_read_stops_nobody(self):
        """The pipe is full: threads go on, lines are counted as lost, and the end comes soon."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"\n" * 4096)
        os.set_blocking(writer, True)
        program = self.program("rounds", {"TASKSCOPE_HEARTBEAT": "50ms"}, stderr=writer)
        os.close(writer)
        last = 0
        for count in range(1, 6):
            time.sleep(0.5)
            program.command()
            rounds = int(program.out.wait("^rounds ", count)[-1].split()[1])
            self.assertGreater(rounds, last)
            last = rounds
        with open(reader, "rb") as stream:
            lines = Lines(stream)
            lost = lines.wait(r"^\[taskscope\]\[LOST\] pid=\d+ lines=\d+ were not taken by their reader$")
            self.assertGreater(int(re.search(r"lines=(\d+)", lost[0])[1]), 0)
            self.assert_ends(program)
            lines.thread.join(HANG)
        for line in lines.lines:
            self.assertRegex(line, r"^(\[taskscope\].*)?$")

    def test_the_end_does_not_wait_for_a_reader(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"\n" * 4096)
        os.set_blocking(writer, True)
        program = self.program("rounds", {"TASKSCOPE_HEARTBEAT": "50ms"}, stderr=writer)
        os.close(writer)
        program.thread("started")
        time.sleep(0.5)
        self.assert_ends(program)
        os.close(reader)

    def test_a_reader_that_is_gone_ends_nobody(self):
        reader, writer = os.pipe()
        os.close(reader)
        program = self.program("rounds", {"TASKSCOPE_HEARTBEAT": "50ms"}, stderr=writer)
        os.close(writer)
        program.thread("started")
        time.sleep(0.3)
        program.command()
        program.out.wait("^rounds ")
        self.assert_ends(program)

    def test_a_forked_child_has_a_heartbeat_of_its_own(self):
        program = self.program("fork", {"TASKSCOPE_STALL": "off"})
        child = program.thread("child")
        program.err.wait(rf'^\[taskscope\] phase pid={program.pid} .* deepest="parent"', 2)
        program.err.wait(rf'^\[taskscope\] phase pid={child} .* deepest="child"', 2)
        self.assert_ends(program)
        self.assertFalse(program.err.matching(rf'pid={child} .* deepest="parent"'))
        self.assertEqual(len(program.err.matching(rf"final pid={child} ")), 1)
        self.assertEqual(len(program.err.matching(rf"final pid={program.pid} ")), 1)

    def test_without_its_thread_there_is_one_warning(self):
        program = self.program("threadless")
        self.assertEqual(program.thread("started"), 0)
        self.assert_ends(program)
        self.assertEqual(len(program.err.lines), 1, program.err.lines)
        self.assertRegex(program.err.lines[0], r"^\[taskscope\]\[WARNING\] .*thread did not start")


class StallTest(HeartbeatTest):
    STALL = r"^\[taskscope\]\[STALL\]"

    def assert_calm(self, program):
        """It went on, and nothing was taken for a stall."""
        self.assert_ends(program)
        self.assertFalse(program.err.matching(self.STALL), program.err.lines)

    def test_a_thread_that_waits_is_told_once_and_once_it_goes_on(self):
        program = self.program("deadlock")
        tid = program.thread("locker")
        line = program.err.wait(self.STALL)[0]
        self.assertRegex(line, rf'\[STALL\] pid={program.pid} thread={tid}/locker phase="take lock" '
                               r"stuck=\S+ kind=waiting state=S( wchan=\S*futex\S*)? syscall=futex$")
        program.err.wait(r"^\[taskscope\] pid=", len(program.err.matching(r"^\[taskscope\] pid=")) + 3)
        program.command()
        program.err.wait(rf'^\[taskscope\]\[RECOVERED\] pid={program.pid} thread={tid}/locker '
                         r'phase="take lock" after=\S+$')
        self.assert_ends(program)
        self.assertEqual(len(program.err.matching(self.STALL)), 1)
        self.assertEqual(len(program.err.matching("RECOVERED")), 1)

    def test_a_thread_that_burns_is_busy(self):
        # Where others want the CPUs too, it has to come before them.
        program = self.program("spin", prefix=("sh", "-c", 'chrt -r -p 1 $$; exec "$0" "$@"'))
        tid = program.thread("spinner")
        busy = rf'{self.STALL} pid=\d+ thread={tid}/spinner phase="spin" stuck=\S+ kind=busy'
        wait_until(lambda: program.err.matching(busy) or len(program.out.matching("^share ")) >= 20)
        shares = [int(line.split()[1]) for line in program.out.matching("^share ")]
        self.assert_ends(program)
        if not program.err.matching(busy) and max(shares) < 60:
            self.skipTest(f"there is no CPU to be busy with: {shares} per cent")
        self.assertTrue(program.err.matching(busy), program.err.lines)

    def test_a_thread_that_gets_no_cpu_is_starved(self):
        program = self.program("starve")
        program.err.wait(rf'{self.STALL} .*/hungry phase="starve" stuck=\S+ kind=starved')
        self.assert_ends(program)

    def test_a_scope_has_its_own_limit(self):
        program = self.program("limits", QUIET)
        program.err.wait(rf'{self.STALL} .* phase="own limit"')
        self.assert_ends(program)
        self.assertFalse(program.err.matching("without limit"))

    def test_the_end_of_a_thread_ends_its_stall(self):
        program = self.program("doomed")
        program.err.wait(rf'{self.STALL} .* phase="doomed"')
        program.err.wait(r'RECOVERED\] .* phase="doomed" after=')
        self.assert_ends(program)

    def test_many_stalls_are_told_in_few_lines(self):
        program = self.program("crowd", {"TASKSCOPE_HEARTBEAT": "2s"})
        program.err.wait(rf"{self.STALL} pid=\d+ \.\.\. and \d+ more stalls and recoveries$")
        end = next(i for i, line in enumerate(program.err.lines) if "more stalls" in line)
        told = [line for line in program.err.lines[:end] if re.search(self.STALL, line)]
        left = int(re.search(r"and (\d+) more", program.err.lines[end])[1])
        self.assertLessEqual(len(told), 8)
        self.assertEqual(len(told) + left, 20)
        self.assert_ends(program)

    def test_waiting_for_work_is_no_stall(self):
        program = self.program("pool")
        program.err.wait(r"^\[taskscope\] pid=", 6)
        self.assert_calm(program)

    def test_a_stopped_process_is_not_stalled(self):
        program = self.program("commanded", {"TASKSCOPE_STALL": "4s"})
        program.command()
        program.out.wait("^step")
        program.err.wait(r"^\[taskscope\] pid=", len(program.err.matching(r"^\[taskscope\] pid=")) + 1)
        program.process.send_signal(signal.SIGSTOP)
        time.sleep(6)
        program.process.send_signal(signal.SIGCONT)
        program.err.wait(rf"^\[taskscope\]\[STOPPED\] pid={program.pid} for=\S+: the whole process was "
                         "stopped, suspended or got no CPU$")
        program.command()
        program.out.wait("^step", 2)
        program.err.wait(r"^\[taskscope\] pid=", len(program.err.matching(r"^\[taskscope\] pid=")) + 2)
        self.assert_calm(program)
        self.assertEqual(len(program.err.matching("STOPPED")), 1)

    def test_a_thread_that_a_debugger_holds_is_not_stalled(self):
        program = self.program("steady", {"TASKSCOPE_STALL": "1s"})
        tid = program.thread("steady")
        with held_thread(tid):
            time.sleep(3)
        program.err.wait(r"^\[taskscope\] pid=", len(program.err.matching(r"^\[taskscope\] pid=")) + 2)
        self.assert_calm(program)

    @unittest.skipUnless(is_root(), "control groups are made by root")
    def test_a_throttled_process_is_not_stalled(self):
        with small_quota() as join:
            program = self.program("quota", {"TASKSCOPE_STALL": "400ms"},
                                   prefix=("sh", "-c", join + '; exec "$0" "$@"'))
            # Steps of 20 ms at 1% of a CPU: each takes longer than the limit.
            time.sleep(8)
            program.process.send_signal(signal.SIGKILL)
            program.process.wait(timeout=HANG)
        program.err.thread.join(HANG)
        self.assertTrue(program.err.matching(r"^\[taskscope\] phase"), program.err.lines)
        self.assertFalse(program.err.matching(self.STALL), program.err.lines)


PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000


@contextlib.contextmanager
def held_thread(tid):
    """Stops one thread as a debugger does.  Only the thread that attached may go on with it."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
        if libc.ptrace(request, tid, None, None) != 0:
            raise unittest.SkipTest(f"no tracing here: {os.strerror(ctypes.get_errno())}")
    os.waitpid(tid, WALL)
    try:
        yield
    finally:
        libc.ptrace(PTRACE_DETACH, tid, None, None)


@contextlib.contextmanager
def small_quota():
    """A control group with 1% of a CPU: the shell command that joins it."""
    old, new = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
    group = (old if old.is_dir() else new) / f"taskscope-test-{os.getpid()}"
    try:
        group.mkdir()
        if old.is_dir():
            (group / "cpu.cfs_period_us").write_text("100000")
            (group / "cpu.cfs_quota_us").write_text("1000")
        else:
            (group / "cpu.max").write_text("1000 100000")
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        raise unittest.SkipTest(f"no quota here: {error}") from None
    try:
        yield f"echo $$ > {group}/cgroup.procs"
    finally:
        wait_until(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


class StatisticsTest(HeartbeatTest):
    SCOPE = (r'^\[taskscope\] scope pid=\d+ label="%s" count=(\d+) total=\S+ mean=\S+ p50=\S+ p99=\S+ '
             r"max=\S+ cpu=(.*)$")

    def test_labels_are_summed_at_the_end(self):
        program = self.program("statistics", {"TASKSCOPE_STATISTICS": "exit", "TASKSCOPE_STALL": "400ms"})
        program.thread("started")
        self.assert_ends(program)
        for label, count in (("short", 50), ("long", 3), ("long, inside", 3)):
            line = program.err.matching(self.SCOPE % label)
            self.assertEqual(len(line), 1, program.err.lines)
            self.assertEqual(int(re.match(self.SCOPE % label, line[0])[1]), count)
        cpu = re.match(self.SCOPE % "long", program.err.matching(self.SCOPE % "long")[0])[2]
        self.assertRegex(cpu, r"^\d+(\.\d)?m?s \(sampled \d+ times\)$")
        self.assertRegex(program.err.lines[-1], r"^\[taskscope\] final ")

    def test_sampled_cpu_is_that_of_the_scope(self):
        program = self.program("statistics", {"TASKSCOPE_STATISTICS": "exit", "TASKSCOPE_STALL": "200ms",
                                              "TASKSCOPE_FORMAT": "json"})
        program.thread("started")
        self.assert_ends(program)
        sums = {line["label"]: line for line in map(json.loads, program.err.lines)
                if line["kind"] == "scope"}
        # It burns 900 ms in there; a tick of 50 ms at each end may go elsewhere.
        self.assertGreater(sums["long"]["cpu_ns"], 500_000_000)
        self.assertLess(sums["long"]["cpu_ns"], 1_200_000_000)
        self.assertEqual(sums["long"]["cpu_ns"], sums["long, inside"]["cpu_ns"])

    def test_without_the_option_there_are_none(self):
        program = self.program("statistics")
        program.thread("started")
        self.assert_ends(program)
        self.assertFalse(program.err.matching(r"^\[taskscope\] scope"))


if __name__ == "__main__":
    unittest.main()
