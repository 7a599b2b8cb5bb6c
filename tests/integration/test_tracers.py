# SPDX-License-Identifier: MIT
"""Ways to follow a tree, each on real processes; tree_driver prints what each tells."""
import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import support
from driver import DRIVER, NO_LOSSES, Told
from kernel import WAYS

SHELL = "/bin/sh"
TRUE = "/bin/true"

# What each way sees of processes that live a millisecond.
SEES_ALL = {"bpf": True, "connector": True, "procfs": False}
# Whether it knows what a thread waits for.
KNOWS_WAITS = {"bpf": True, "connector": False, "procfs": False}

THREADS = """
import os, sys, threading, time
def burn(seconds):
    while time.thread_time() < seconds:
        pass
threads = [threading.Thread(target=burn, args=(0.1,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if sys.argv[1] == "exec":
    def become():
        burn(0.2)
        os.execv("/bin/sh", ["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 7"])
    thread = threading.Thread(target=become)
    thread.start()
    thread.join()
"""


def loop(count, then="exit 0"):
    return f"i=0; while [ $i -lt {count} ]; do {TRUE}; i=$((i+1)); done; {then}"


def compiled(folder, text):
    """The program with that source."""
    program = pathlib.Path(folder, "program")
    subprocess.run(["cc", "-O2", "-pthread", "-o", program, "-x", "c", "-"], check=True, text=True,
                   input=text)
    return program


def followed(source, *command, **more):
    """What was told of a command, at last without a loss.

    The process connector tells of the whole host, and drops events while too much happens there.
    """
    for _ in range(20):
        told = Told(source, *command, **more)
        if source != "connector" or not told.losses["events"]:
            break
    return told


def each(*sources):
    """Runs a test with each of these ways, as far as the kernel offers them."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            for source in sources or SEES_ALL:
                if source not in WAYS:
                    continue
                with self.subTest(source=source):
                    test(self, source)
        return run
    return decorate


class Tracers(unittest.TestCase):
    def assert_cpu(self, told):
        """All CPU time, within 2 % of what the kernel says."""
        self.assertAlmostEqual(told.tree["cpu_ns"] / told.wait["cpu_ns"], 1, delta=0.02)

    @each()
    def test_exit_codes_and_signals_are_those_of_wait(self, source):
        script = "sh -c 'sleep 0.3; exit 7'; sh -c 'sleep 0.3; kill -9 $$'; sleep 0.2; exit 3"
        told = followed(source, SHELL, "-c", script)
        statuses = {int(end["status"]) for end in told.ends() if end["status"]}
        self.assertEqual(int(told.root_end()["status"]), 3 << 8)
        self.assertLessEqual({7 << 8, 9}, statuses)
        self.assertEqual(told.tree["strays"], 0)

    @each()
    def test_the_command_is_told_with_its_arguments_and_parent(self, source):
        told = followed(source, SHELL, "-c", "sleep 0.2; true")
        fork = told.events("fork", pid=told.wait["pid"])[0]
        execs = told.events("exec", pid=told.wait["pid"])
        self.assertEqual(fork["found"], "0")
        self.assertEqual([line["arguments"] for line in execs], [f"{SHELL},-c,sleep,0.2;,true"])
        self.assertTrue(told.events("exec", comm="sleep", arguments="sleep,0.2"))

    @each()
    def test_short_children_are_counted_with_their_cpu_time(self, source):
        told = followed(source, SHELL, "-c", loop(200, "sleep 0.1; exit 4"))
        self.assert_cpu(told)
        self.assertEqual(int(told.root_end()["status"]), 4 << 8)
        if SEES_ALL[source]:
            self.assertEqual(told.tree["processes"], 202)
            self.assertEqual(len(told.ends()), 202)
            self.assertEqual(told.losses, NO_LOSSES)

    @each()
    def test_a_command_that_ends_at_once_is_a_tree_of_one(self, source):
        told = followed(source, TRUE)
        self.assertEqual(told.tree["processes"], 1)
        self.assertEqual(told.tree["exited"], 1)
        self.assertEqual(told.root_end()["status"], "0")

    @each()
    def test_a_command_that_cannot_be_executed_is_no_tree(self, source):
        told = followed(source, "/nowhere/at/all")
        self.assertEqual(told.wait["status"], 127 << 8)
        self.assertEqual(told.tree["processes"], 0)

    @each()
    def test_threads_have_accounts_of_their_own(self, source):
        told = followed(source, sys.executable, "-c", THREADS, "plain", options=["-i", "10"])
        ended = told.events("thread", ended=1)
        self.assertEqual(len(ended), 5)
        self.assert_cpu(told)
        for line in ended:
            if SEES_ALL[source] and line["tid"] != line["pid"]:
                self.assertGreater(int(line["cpu_time_ns"]), 80e6)
            self.assertGreaterEqual(int(line["wall_time_ns"]),
                                    int(line["run_time_ns"]) + int(line["wait_time_ns"]))
            self.assertAlmostEqual(int(line["cpu_time_ns"]) / int(line["run_time_ns"]), 1, delta=0.1)
            self.assertEqual(line["wait_lock_ns"] is not None, KNOWS_WAITS[source])
            self.assertEqual(line["offcpu_count"] is not None, KNOWS_WAITS[source])

    @each()
    def test_an_exec_by_another_thread_counts_nothing_twice(self, source):
        told = followed(source, sys.executable, "-c", THREADS, "exec", options=["-i", "20"])
        self.assert_cpu(told)
        self.assertEqual(told.tree["threads"], 6)
        self.assertEqual(int(told.root_end()["status"]), 7 << 8)
        self.assertTrue(told.events("exec", comm="sh", pid=told.wait["pid"]))

    @each()
    def test_accounts_never_fall(self, source):
        told = followed(source, SHELL, "-c", loop(150), options=["-i", "10"])
        last = {}
        for line in told.events("thread"):
            if line["cpu_time_ns"] is None:
                continue
            key = line["pid"], line["tid"], line["start"]
            self.assertGreaterEqual(int(line["cpu_time_ns"]), last.get(key, 0))
            last[key] = int(line["cpu_time_ns"])
        unseen = [int(line["unseen"] or 0) for line in told.events("process", pid=told.wait["pid"])]
        self.assertEqual(unseen, sorted(unseen))

    @each()
    def test_a_double_fork_stays_in_the_tree(self, source):
        # Looks must have seen the parent with its child.
        middle = "" if SEES_ALL[source] else "sleep 0.3"
        script = f"(sh -c 'sleep 0.8; exit 5' & {middle}) ; sleep 0.3; sleep 0.8"
        told = followed(source, SHELL, "-c", script, options=["-i", "20"])
        self.assertIn(5 << 8, [int(end["status"]) for end in told.ends() if end["status"]])

    @each()
    def test_what_runs_is_found_with_its_children(self, source):
        script = f"sleep 1 & {loop(20, 'sleep 0.7; wait; exit 6')}"
        told = followed(source, SHELL, "-c", script, options=["-a"])
        found = told.events("fork", found=1)
        self.assertEqual(found[0]["pid"], str(told.wait["pid"]))
        self.assertGreaterEqual(len(found), 2)
        self.assertTrue(told.events("exec", comm="sleep", arguments="sleep,1"))
        self.assertEqual(int(told.root_end()["status"]), 6 << 8)
        # What was used before is not its own.
        self.assertLess(told.tree["cpu_ns"], told.wait["cpu_ns"])

    @each()
    def test_threads_that_run_are_found_but_only_a_process_has_a_program(self, source):
        script = "import threading, time\nfor _ in range(3): threading.Thread(target=time.sleep, args=(2,)).start()"
        told = followed(source, sys.executable, "-c", script, options=["-a"])
        found = told.events("fork", found=1)
        self.assertGreater(len(found), 1)
        self.assertEqual({line["pid"] for line in found}, {str(told.wait["pid"])})
        self.assertEqual([line["tid"] for line in told.events("exec")], [str(told.wait["pid"])])

    @each()
    def test_memory_peaks_are_of_the_last_program(self, source):
        script = ("import os\nmemory = bytearray(64 << 20)\nmemory = None\n"
                  "os.execv('/bin/sh', ['sh', '-c', 'sleep 0.3; exit 1'])")
        told = followed(source, sys.executable, "-c", script, options=["-i", "20"])
        self.assertLess(int(told.root_end()["peak_rss"]), 32 << 20)

    @each("connector")
    def test_lost_events_are_counted_and_made_up_for(self, source):
        with tempfile.TemporaryDirectory() as folder:
            told = Told(source, compiled(folder, FORKS), "15000", options=["-d"])
        self.assertTrue(told.losses["events"])
        self.assert_cpu(told)
        self.assertIn(9 << 8, [int(end["status"]) for end in told.ends() if end["status"]])
        self.assertEqual(int(told.root_end()["status"]), 6 << 8)

    @each("bpf")
    def test_a_process_whose_beginning_was_lost_is_found(self, source):
        with tempfile.TemporaryDirectory() as folder:
            told = Told(source, compiled(folder, FORKS), "25000", options=["-d"])
        (end,) = told.events("process", ended=1, status=9 << 8)
        child = {"pid": end["pid"], "start": end["start"]}
        self.assertFalse(told.events("fork", **child), "it was not lost")
        self.assertTrue(told.events("thread", **child, ended=0))
        self.assertEqual(int(told.root_end()["status"]), 6 << 8)

    @each("bpf")
    def test_threads_that_the_kernel_makes_have_accounts(self, source):
        with tempfile.TemporaryDirectory() as folder:
            told = followed(source, compiled(folder, URING))
        if told.wait["status"]:
            self.skipTest("no io_uring")
        self.assert_cpu(told)
        workers = [line for line in told.events("thread", ended=1) if line["tid"] != line["pid"]]
        self.assertGreater(sum(int(line["cpu_time_ns"]) for line in workers),
                           0.5 * told.wait["cpu_ns"])
        self.assertEqual(told.tree["strays"], 0)

    @each("bpf")
    def test_all_threads_that_end_at_once_have_last_accounts(self, source):
        with tempfile.TemporaryDirectory() as folder:
            told = followed(source, compiled(folder, THREADS_AT_ONCE), "4000")
        self.assertEqual(told.wait["status"], 0)
        self.assertEqual(len(told.events("thread", ended=1)), 4001)
        self.assertEqual(told.losses, NO_LOSSES)

    @each("bpf")
    def test_a_process_lives_as_long_as_any_of_its_threads(self, source):
        with tempfile.TemporaryDirectory() as folder:
            told = followed(source, compiled(folder, WITHOUT_LEADER), options=["-a", "-i", "50"])
        end = told.root_end()
        self.assertEqual(int(end["status"]), 3 << 8)
        looks = told.events("process", pid=told.wait["pid"], ended=0)
        self.assertTrue(looks)
        for look in looks:
            self.assertGreater(int(look["rss"]), 0)
            self.assertGreater(int(look["fds"]), 0)

    @each("bpf")
    def test_a_signal_that_is_pending_keeps_its_sender(self, source):
        told = followed(source, sys.executable, "-c", TWO_SENDERS)
        signals = told.events("signal", number=15)
        self.assertEqual(len({line["pid"] for line in signals}), len(signals))

    def test_a_container_is_told_why_there_are_no_events(self):
        if not support.has_namespaces():
            self.skipTest("no PID namespaces")
        done = subprocess.run([*support.NAMESPACE, DRIVER, "connector", "--", TRUE],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 77)
        self.assertIn("container", done.stderr)
        told = Told("procfs", SHELL, "-c", "sleep 0.2; exit 2", prefix=support.NAMESPACE)
        self.assertEqual(int(told.root_end()["status"]), 2 << 8)
        self.assertEqual(told.wait["pid"], 2)

    def test_proc_alone_needs_no_privilege(self):
        prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        if not support.is_root():
            prefix = []
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = pathlib.Path(folder, "driver")
            copy.write_bytes(pathlib.Path(DRIVER).read_bytes())
            copy.chmod(0o755)
            done = subprocess.run([*prefix, copy, "procfs", "--", SHELL, "-c",
                                   loop(100, "sleep 0.2; exit 4")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("status=1024", done.stdout)


# Children that live as shortly as can be, then one that is born while events are lost.
FORKS = """
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **arguments)
{
	for (long i = 0; i < atol(arguments[1]); i++) {
		pid_t child = vfork();
		if (child == 0)
			_exit(0);
		waitpid(child, 0, 0);
	}
	int ends[2] = { -1, -1 };
	pid_t child = pipe(ends) ? -1 : fork();
	if (child == 0) {
		char byte;
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 0 ? 9 : 1);
	}
	raise(SIGSTOP);
	close(ends[1]);
	waitpid(child, 0, 0);
	return count > 1 ? 6 : 0;
}
"""

# Reads that io_uring hands to threads of its own.
URING = """
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#define READS 8
#define BYTES (16 << 20)
int main(void)
{
	struct io_uring_params ring = { 0 };
	int fd = syscall(SYS_io_uring_setup, READS, &ring);
	int source = open("/dev/urandom", O_RDONLY);
	char *target = malloc(BYTES);
	if (fd < 0 || source < 0)
		return 1;
	char *queue = mmap(0, ring.sq_off.array + ring.sq_entries * sizeof(unsigned),
			   PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	struct io_uring_sqe *entries = mmap(0, ring.sq_entries * sizeof(*entries),
					    PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					    IORING_OFF_SQES);
	if (queue == MAP_FAILED || entries == MAP_FAILED)
		return 1;
	for (unsigned i = 0; i < READS; i++) {
		memset(&entries[i], 0, sizeof(entries[i]));
		entries[i].opcode = IORING_OP_READ;
		entries[i].flags = IOSQE_ASYNC;
		entries[i].fd = source;
		entries[i].addr = (unsigned long)target;
		entries[i].len = BYTES;
		((unsigned *)(queue + ring.sq_off.array))[i] = i;
		__atomic_store_n((unsigned *)(queue + ring.sq_off.tail), i + 1, __ATOMIC_RELEASE);
		syscall(SYS_io_uring_enter, fd, 1, i + 1, IORING_ENTER_GETEVENTS, 0, 0);
	}
	return 0;
}
"""

# Threads that all end by one _exit().
THREADS_AT_ONCE = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_barrier_t all;
static void *thread(void *unused)
{
	getuid();
	getgid();
	usleep(1);
	pthread_barrier_wait(&all);
	pause();
	return unused;
}
int main(int count, char **arguments)
{
	long threads = count > 1 ? atol(arguments[1]) : 1;
	pthread_attr_t small;
	pthread_t handle;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 32768);
	pthread_barrier_init(&all, 0, threads + 1);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&handle, &small, thread, 0))
			return 9;
	pthread_barrier_wait(&all);
	usleep(200000);
	_exit(0);
}
"""

# The first thread ends, another one goes on.
WITHOUT_LEADER = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *thread(void *unused)
{
	sleep(3);
	exit(3);
	return unused;
}
int main(void)
{
	pthread_t handle;
	pthread_create(&handle, 0, thread, 0);
	pthread_exit(0);
}
"""

# A blocked signal is sent twice, by two processes.
TWO_SENDERS = """
import os, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
target = os.getpid()
for _ in range(2):
    child = os.fork()
    if child == 0:
        os.kill(target, signal.SIGTERM)
        os._exit(0)
    os.waitpid(child, 0)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
time.sleep(1)
"""

if __name__ == "__main__":
    unittest.main()
