# SPDX-License-Identifier: MIT
"""What docs/howto says is enough: a scratch copy gets what the pages show, and it works.

A metric is one row, which is read whichever way tasks are listed.  There is a row for each source
that has more values than the table has: AFFINITY, FD_DIRECTORY, FD_LIMIT, EACH, JEMALLOC and
IN_SCOPE have not, and a DECODED one is code besides.  The rows and the code of a command, a source,
a view and a wait category, and the row of a format, are those of the pages.
"""
import csv
import io
import json
import os
import pathlib
import shutil
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import support

ANCHOR = "/* Derived. */"
ROWS = {
    "parent_signal": "LEVEL, ORDINAL, THREAD, RANGE, IDENTITY, NONE, ANY, STAT(38, LEVEL)",
    "stack_bytes": 'BYTES, GAUGE, PROCESS, SUM, MEMORY, NONE, ANY, STATUS("VmStk", KIB)',
    "seccomp": 'LEVEL, ORDINAL, THREAD, RANGE, IDENTITY, NONE, ANY, STATUS("Seccomp", LEVEL)',
    "misspelt_bytes": 'BYTES, GAUGE, PROCESS, SUM, MEMORY, NONE, ANY, STATUS("VmStck", KIB)',
    "slices": "COUNT, COUNTER, THREAD, SUM, SCHEDULING, SCHED_INFO, ANY, SCHEDSTAT(3, COUNT)",
    "sched_prio": 'LEVEL, ORDINAL, THREAD, RANGE, SCHEDULING, NONE, ANY, SCHED("prio", LEVEL)',
    "io_calls": 'COUNT, COUNTER, THREAD, SUM, IO, TASK_IO_ACCOUNTING, ANY, IO("syscr", COUNT)',
    "shared_bytes": "BYTES, GAUGE, PROCESS, SUM, MEMORY, NONE, ANY, STATM(3, PAGES)",
    "anonymous_bytes": 'BYTES, GAUGE, PROCESS, SUM, MEMORY, NONE, ANY, SMAPS("Anonymous")',
    "ended_minflt": "COUNT, COUNTER, PROCESS, SUM, MEMORY, NONE, ANY, GROUP_STAT(10, COUNT)",
    "ended_rchar": "BYTES, COUNTER, PROCESS, SUM, IO, TASK_IO_ACCOUNTING, ANY, "
                   'GROUP_IO("rchar", BYTES)',
    "task_csw": "COUNT, COUNTER, THREAD, SUM, SCHEDULING, NONE, ANY, TASK(nvcsw, COUNT)",
    "group_threads": "COUNT, GAUGE, PROCESS, SUM, SCHEDULING, NONE, ANY, GROUP(nr_threads, COUNT)",
    "delay_waits": "COUNT, COUNTER, THREAD, SUM, DELAYS, TASK_DELAY_ACCT, ANY, "
                   "DELAY(blkio_count, COUNT)",
    "stats_wakeups": "COUNT, COUNTER, THREAD, SUM, SCHEDULING, SCHEDSTATS, ANY, "
                     "STATS(nr_wakeups, COUNT)",
    "asked_csw": "COUNT, COUNTER, THREAD, SUM, SCHEDULING, NONE, ANY, TASKSTATS(nvcsw, COUNT)",
}
# What the kernel counts only when told to is there, or absent, as the old row beside it is.
TWINS = {"delay_waits": "blkio_delay_count", "stats_wakeups": "nr_wakeups"}
NOT_IN_PROCFS = "procfs does not have it; the BPF task iterator does"


def keyed(path):
    lines = pathlib.Path(path).read_text(errors="replace").splitlines()
    return {key.strip(): value.split() for key, _, value in
            (line.partition(":") for line in lines) if value.strip()}


def thread_files(pid, tid):
    """What the kernel's own files say about a thread, by the names of the new rows."""
    task = pathlib.Path(f"/proc/{pid}/task/{tid}")
    status = keyed(task / "status")
    return {
        "parent_signal": int((task / "stat").read_text(errors="replace").rpartition(")")[2].split()[38 - 3]),
        "seccomp": int(status["Seccomp"][0]),
        "slices": int((task / "schedstat").read_text().split()[2]),
        "sched_prio": int(keyed(task / "sched")["prio"][0]),
        "io_calls": int(keyed(task / "io")["syscr"][0]),
        "asked_csw": int(status["voluntary_ctxt_switches"][0]),
        "task_csw": int(status["voluntary_ctxt_switches"][0]),
    }


def process_files(pid):
    statm = pathlib.Path(f"/proc/{pid}/statm").read_text().split()
    status = keyed(f"/proc/{pid}/status")
    return {
        "stack_bytes": int(status["VmStk"][0]) * 1024,
        "shared_bytes": int(statm[2]) * os.sysconf("SC_PAGESIZE"),
        "group_threads": int(status["Threads"][0]),
    }


def blocks(page):
    """The code that a page shows."""
    text = (support.ROOT / f"docs/howto/add-a-{page}.md").read_text()
    return [textwrap.dedent(code) for code in re.findall(r"^ *```c\n(.*?)^ *```$", text, re.M | re.S)]


def insert(path, before, text):
    old = path.read_text()
    assert old.count(before) == 1, f"{path} has {before!r} {old.count(before)} times"
    path.write_text(old.replace(before, text + before))


def add_command(copy):
    row, code = blocks("command")
    insert(copy / "src/cli/verbs.def", "VERB(doctor)", row)
    (copy / "src/cli/verb/cmd_uptime.c").write_text(code)


def add_source(copy):
    row, order, code = blocks("source")
    insert(copy / "src/collect/sources.def", "SOURCE(HOST_CONTEXT,", row)
    insert(copy / "src/collect/sources.def", "COLLECTOR(host_context_collect,", order)
    (copy / "src/collect/host/entropy.c").write_text(code)
    insert(copy / "src/collect/meson.build", "'host/host_context.c'", "'host/entropy.c', ")


TIMES_HEADER = """
struct snapshot;
struct table;
void thread_times_columns(struct table *table);
void thread_times_rows(struct table *table, const struct snapshot *snapshot);
"""
TIMES_VERB = """
#include <errno.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/args/view_args.h"
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"
#include "render/thread_times.h"
#include "store/recording.h"

static struct {
	struct view_args view;
} args;

static const struct option options[] = {
	FORMAT_OPTION(args.view, "text|json|csv"),
	{ 0 },
};

%s
int verb_times(char **words, int count, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	int status = count ? recording_read(words[0], &snapshot, error) : -EINVAL;

	return status < 0 ? status : print(snapshot, view_format(&args.view), error);
}

const struct command command_times = {
	.name = "times", .arguments = "FILE", .summary = "", .description = "",
	.options = options, .words_max = 1,
};
"""


def add_view(copy):
    view, printing = blocks("view")
    (copy / "src/render/thread_times.h").write_text(TIMES_HEADER)
    (copy / "src/render/thread_times.c").write_text(view)
    insert(copy / "src/render/meson.build", "'terminal.c'", "'thread_times.c', ")
    insert(copy / "src/cli/verbs.def", "VERB(doctor)", "VERB(times)\n")
    (copy / "src/cli/verb/cmd_times.c").write_text(TIMES_VERB % printing)


# A .tscope file behind a line of its own: what matters here is that the row is all it takes.
FORMAT = r"""
#include "store/name/name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/snapshot_file.h"

#define LINE "a name\n"

bool name_is_likely(const void *bytes, size_t size)
{
	return size >= strlen(LINE) && memcmp(bytes, LINE, strlen(LINE)) == 0;
}

int name_encode(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		struct error *error)
{
	int status = snapshot_encode(snapshot, ret_bytes, ret_size, error);
	char *bytes = status < 0 ? NULL : realloc(*ret_bytes, *ret_size + strlen(LINE));

	if (status < 0 || !bytes)
		return status < 0 ? status : error_set(error, -ENOMEM, "not enough memory");
	memmove(bytes + strlen(LINE), bytes, *ret_size);
	memcpy(bytes, LINE, strlen(LINE));
	*ret_bytes = bytes;
	*ret_size += strlen(LINE);
	return 0;
}

int name_decode(const char *name, const void *bytes, size_t size, struct snapshot **ret,
		struct error *error)
{
	return snapshot_decode(name, (const char *)bytes + strlen(LINE), size - strlen(LINE), ret,
			       error);
}
"""


def add_format(copy):
    declarations, row = blocks("format")
    room = copy / "src/store/name"
    room.mkdir()
    (room / "name.h").write_text("#include <stdbool.h>\n#include <stddef.h>\n\nstruct error;\n"
                                 "struct snapshot;\n\n" + declarations)
    (room / "name.c").write_text(FORMAT)
    insert(copy / "src/store/meson.build", "'snapshot_file.c'", "'name/name.c', ")
    insert(copy / "src/store/snapshot_file.c", '#include "store/tscope/container.h"',
           '#include "store/name/name.h"\n')
    insert(copy / "src/store/snapshot_file.c", '\t{ ".tscope",', row)


def add_wait(copy):
    row, call = blocks("wait-category")
    insert(copy / "src/metric/waits.def", "WAIT(OTHER,", row)
    insert(copy / "src/metric/metrics.def", "METRIC_wait_memory_ns)", "METRIC_wait_queue_ns, ")
    calls = copy / "src/base/syscall/syscalls.def"
    name = call.partition(",")[0]
    text, count = re.subn(re.escape(name) + ",.*\n", call, calls.read_text())
    assert count == 1, call
    calls.write_text(text)


NEEDS_ROOT = unittest.skipUnless(support.is_root(), "needs root, for the iterator and taskstats")


def setUpModule():
    """Builds the copy, once for all."""
    scratch = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(scratch.cleanup)
    Copy.program = build_copy(pathlib.Path(scratch.name))


def add_metrics(copy):
    table = copy / "src/metric/metrics.def"
    rows = "".join(f'METRIC({name}, {row}, "New: {name}.")\n' for name, row in ROWS.items())
    insert(table, ANCHOR, rows + "\n")


def build_copy(scratch):
    copy, build = scratch / "source", scratch / "build"
    shutil.copytree(support.ROOT, copy, symlinks=True,
                    ignore=shutil.ignore_patterns("build*", ".git", "data", "corpus"))
    for add in (add_metrics, add_command, add_source, add_view, add_format, add_wait):
        add(copy)
    # Nobody measures it: without optimization it is built in a third of the time.
    for command in (["meson", "setup", "-Dbuildtype=plain", "-Dweb=disabled", build, copy],
                    ["ninja", "-C", build, "taskscope"]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return build / "taskscope"


class Copy(support.TestCase):
    program = None

    def run_new(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class AddMetric(Copy):
    def capture(self, *words):
        """Reasons for absence, and by number every thread with its values and its process's."""
        path = self.path("x.tscope")
        self.run_new("capture", "-o", path, *words)
        found, values = {}, {}
        for axis, rows, number in (("process", "processes", "tgid"), ("thread", "threads", "tid")):
            answer = json.loads(self.run_new("show", path, "--format", "json", "-g", axis))
            found.update(answer["absent"])
            for row in answer[rows]:
                values.setdefault(row[number], {}).update(row)
        return found, values

    def test_every_list_has_the_rows(self):
        names = [m["name"] for m in json.loads(self.run_new("metrics", "--format", "json"))["metrics"]]
        text = self.run_new("metrics")
        with support.Workload() as workload:
            rows = list(csv.DictReader(io.StringIO(self.run_new(
                "show", "-p", workload.pid, "-g", "thread", "--format", "csv"))))
        leader = next(row for row in rows if row["tid"] == str(workload.pid))
        for name in ROWS:
            self.assertIn(name, names)
            self.assertIn(name, text)
            self.assertIn(name, leader)
        self.assertEqual(leader["parent_signal"], "17")

    def check_files(self, *words):
        """Every value is what the kernel's files say of the idle workload."""
        with support.Workload() as workload:
            absent, threads = self.capture("-p", workload.pid, "--smaps", *words)
            self.assertLessEqual(set(workload.names), set(threads))
            for tid in threads:
                expected = thread_files(workload.pid, tid)
                if tid == workload.pid:
                    expected.update(process_files(workload.pid))
                for name, value in expected.items():
                    if absent.get(name) != NOT_IN_PROCFS:
                        self.assertEqual(threads[tid].get(name), value, f"{name} of {tid}")
            leader = threads[workload.pid]
            rollup = keyed(f"/proc/{workload.pid}/smaps_rollup")
            self.assertEqual(leader["anonymous_bytes"], int(rollup["Anonymous"][0]) * 1024)
            self.assertEqual(leader["ended_minflt"], leader["dead_minflt"])
            self.assertEqual(leader["ended_rchar"], leader["dead_rchar"])
        return absent, leader

    @NEEDS_ROOT
    def test_the_iterator_lists_and_files_add(self):
        absent, leader = self.check_files("--source", "bpf")
        missing = [name for name in ROWS if leader.get(name) is None and name not in TWINS]
        self.assertEqual(missing, ["misspelt_bytes"])
        self.assertEqual(absent["misspelt_bytes"], "this kernel does not report it")
        for name, twin in TWINS.items():
            self.assertEqual(leader.get(name), leader.get(twin), name)
            self.assertEqual(absent.get(name), absent.get(twin), name)

    @NEEDS_ROOT
    def test_procfs_lists(self):
        absent, leader = self.check_files("--source", "procfs")
        missing = [name for name in ROWS if leader.get(name) is None and name not in TWINS]
        self.assertEqual(missing, ["misspelt_bytes", "task_csw", "group_threads"])
        self.assertEqual(absent["misspelt_bytes"], "this kernel does not report it")
        for name in ("task_csw", "group_threads"):
            self.assertEqual(absent[name], NOT_IN_PROCFS)

    @NEEDS_ROOT
    def test_what_is_left_out_says_so(self):
        with support.Workload() as workload:
            absent, _ = self.capture("-p", workload.pid, "--without",
                                     "status,taskstats")
        for name in ("stack_bytes", "seccomp"):
            self.assertEqual(absent[name], "switched off by --without status")
        self.assertEqual(absent["asked_csw"], "switched off by --without taskstats")
        self.assertEqual(absent["anonymous_bytes"], "not asked for: --smaps reads it")

    @NEEDS_ROOT
    def test_kernel_threads_have_no_memory(self):
        absent, threads = self.capture()
        self.assertTrue(absent["stack_bytes"].startswith(
            "kernel threads and zombies have no memory of their own"), absent["stack_bytes"])
        kernel = [t for t in threads.values() if t["pcomm"] == "kthreadd"]
        self.assertEqual([t["seccomp"] for t in kernel], [0])
        self.assertEqual([t.get("stack_bytes") for t in kernel], [None])

    @NEEDS_ROOT
    def test_tasks_that_end_before_their_files_are_read_are_told(self):
        """Every task has the key, so that only one which ended meanwhile can lack it."""
        storm = subprocess.Popen(["sh", "-c", "while :; do true & /bin/true; done"])

        def told():
            absent, _ = self.capture("--source", "bpf", "--without", "jemalloc,scopes,cmdline")
            return absent.get("seccomp")

        try:
            self.assertEqual(support.wait_until(told),
                             "some tasks ended before their files, which alone have it, were read")
        finally:
            storm.kill()
            storm.wait()


class AddCommand(Copy):
    def test_it_runs_and_is_described(self):
        self.assertRegex(self.run_new("uptime"), r"^\d")
        self.assertIn("how long the host has been up", self.run_new("help"))
        page = self.run_new("help", "uptime")
        self.assertIn("suspend included", page)
        self.assertNotIn("\nOptions:\n", page)
        self.assertIn("+uptime\t", self.run_new("--complete", "up"))

    def test_a_mistyped_one_is_suggested(self):
        done = subprocess.run([self.program, "uptme"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean uptime?", done.stderr)


class AddSource(Copy):
    def show(self, *words):
        found = json.loads(self.run_new("show", "--format", "json", *words))
        return found, {row["name"]: row["state"] for row in found["sources"]}

    def test_it_is_read(self):
        bits = int(pathlib.Path("/proc/sys/kernel/random/entropy_avail").read_text())
        found, states = self.show("-p", os.getpid())
        self.assertEqual((found["host"]["entropy"], states["entropy"]), (bits, "ok"))
        self.assertIn("random bits of the host", self.run_new("doctor", "-v"))

    def test_it_can_be_left_out(self):
        found, states = self.show("-p", os.getpid(), "--without", "entropy")
        self.assertNotIn("entropy", found["host"])
        self.assertEqual(states["entropy"], "off")

    def test_what_a_recorded_tree_lacks_is_absent_with_the_reason(self):
        found, states = self.show("--root", support.ROOT / "tests/data/roots/debian-6.1")
        self.assertNotIn("entropy", found["host"])
        self.assertEqual(found["host_absent"]["entropy"], "not in the recorded tree")
        self.assertEqual(states["entropy"], "unavailable")


class AddView(Copy):
    def test_text_json_and_csv_show_the_same(self):
        path = self.path("x.tscope")
        with support.Workload() as workload:
            self.run_new("capture", "-p", workload.pid, "-o", path)
        rows = json.loads(self.run_new("times", path, "--format", "json"))["threads"]
        lines = list(csv.DictReader(io.StringIO(self.run_new("times", path, "--format", "csv"))))
        self.assertGreaterEqual(len(rows), len(workload.names))
        self.assertEqual([line["run_time_ns"] for line in lines],
                         [str(row["run_time_ns"]) for row in rows])
        text = self.run_new("times", path).splitlines()
        self.assertEqual(text[0].split(), ["thread", "on", "cpu"])
        self.assertEqual(len(text), 1 + len(rows))


class AddFormat(Copy):
    def test_every_verb_takes_its_files(self):
        path = self.path("x.name")
        self.run_new("capture", "-p", os.getpid(), "-o", path)
        self.assertEqual(pathlib.Path(path).read_bytes()[:7], b"a name\n")
        found = json.loads(self.run_new("show", path, "-g", "thread", "--format", "json"))
        self.assertEqual({row["tgid"] for row in found["threads"]}, {os.getpid()})
        self.assertIn(path, self.run_new("compare", path, path))

    def test_it_keeps_runs(self):
        path = self.path("run.name")
        done = subprocess.run([self.program, "run", "-o", path, "--", "true"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(pathlib.Path(path).read_bytes()[:7], b"a name\n")
        self.assertIn("run of true: ", self.run_new("show", path))

    def test_sentences_know_it(self):
        for words, sentence in (
                (("capture", "-o", "x.txt"), "must end in .tscope or .name or .ctprof.zst"),
                (("report", self.captured()), "is a capture, which has no past to report")):
            done = subprocess.run([self.program, *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)

    def captured(self):
        path = self.path("x.name")
        self.run_new("capture", "-p", os.getpid(), "-o", path)
        return path


WAITER = """
import ctypes, os, time
libc = ctypes.CDLL(None)
attributes = (ctypes.c_long * 8)(0, 1, 8)
name = b"/taskscope-%d" % os.getpid()
queue = libc.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, attributes)
libc.mq_unlink(name)
end = time.time_ns() + 200_000_000
begin = time.monotonic_ns()
libc.mq_timedreceive(queue, ctypes.create_string_buffer(8), ctypes.c_size_t(8), None,
                     (ctypes.c_long * 2)(*divmod(end, 10**9)))
print(time.monotonic_ns() - begin)
"""


class AddWait(Copy):
    def test_it_is_three_metrics_and_part_of_its_sum(self):
        found = json.loads(self.run_new("metrics", "--format", "json"))["metrics"]
        names = [metric["name"] for metric in found]
        for name in ("wait_queue_ns", "wait_queue_count", "wait_queue_max_ns"):
            self.assertIn(name, names)

    @NEEDS_ROOT
    def test_a_run_knows_who_waited_and_how_long(self):
        path, lines = self.path("x.tscope"), self.path("x.jsonl")
        done = subprocess.run([self.program, "run", "-v", "-o", path, "-o", lines, "--",
                               "sh", "-c", f"true; {sys.executable} -c '{WAITER}'"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("costly waits (disk, lock, network, pipe, memory, queue, run queue)", done.stderr)
        waited = int(done.stdout)
        for file in (path, lines):
            rows = csv.DictReader(io.StringIO(self.run_new(
                "show", file, "-g", "all", "-m", "wait_queue_ns,wait_costly_ns", "--format", "csv")))
            found = max((int(row["wait_queue_ns"]), int(row["wait_costly_ns"])) for row in rows)
            self.assertLessEqual(found[0], waited)
            self.assertGreaterEqual(found[0], 100_000_000)
            self.assertGreaterEqual(found[1], found[0])


if __name__ == "__main__":
    support.main()
