# SPDX-License-Identifier: MIT
"""The command line as people use it, and as they misuse it."""
import json
import os
import pathlib
import subprocess
import unittest

import support

VERBS = ["capture", "show", "compare", "metrics", "doctor"]


class Errors(support.TestCase):
    def test_unknown_words_are_refused_by_name(self):
        self.refuse("frobnicate", says="frobnicate")
        self.refuse("help", "frobnicate", says="frobnicate")
        self.refuse("show", "--frobnicate", says="--frobnicate")
        self.refuse("show", "-Z", says="-Z")
        self.refuse("capture", "stray", "-o", self.path("x.tscope"), says="no arguments")
        self.refuse("show", "-g", "nonsense", says="nonsense")
        self.refuse("show", "-m", "no_such_metric", says="no_such_metric")
        self.refuse("show", "-s", "no_such_metric", says="no_such_metric")
        self.refuse("show", "-s", "run_time_ns:sideways", says="sideways")
        self.refuse("show", "--columns", "group,nonsense", says="nonsense")
        self.refuse("show", "--format", "yaml", says="yaml")
        self.refuse("show", "-n", "many", says="many")
        self.refuse("show", "--without", "nonsense", says="nonsense")
        self.refuse("capture", "--source", "magic", "-o", self.path("x.tscope"), says="magic")
        self.refuse("metrics", "--format", "yaml", says="yaml")
        self.refuse("--completions", "csh", says="bash")

    def test_compare_checks_its_options_before_it_opens_a_file(self):
        files = [self.path("absent.tscope"), self.path("gone.tscope")]
        self.refuse("compare", *files, says="absent.tscope")
        for words, says in [
                (["-g", "nonsense"], "nonsense"), (["--mode", "sideways"], "sideways"),
                (["-m", "no_such_metric"], "no_such_metric"), (["-s", "policy"], "policy"),
                (["-s", "run_time_ns:up"], "up"), (["--sections", "primary,nonsense"], "nonsense"),
                (["--columns", "group,colour"], "colour"), (["--flatten", "/a["], "/a["),
                (["--no-normalize=words"], "words"), (["--fail-on", "run_time_ns > much"], "character 15"),
                (["--format", "json", "--columns", "group"], "--columns"), (["-n", "x"], "x"),
                (["-d", "soon"], "soon"), (["-p", ""], "-p"), (["--filter", "a"], "no field"), (["-d", "1s"], "absent.tscope")]:
            self.refuse("compare", *files, *words, says=says)

    def test_compare_needs_two_sides(self):
        self.refuse("compare", says="BEFORE")
        self.refuse("compare", self.path("one.tscope"), says="BEFORE")
        self.refuse("compare", "-d", "0", says="above 0")
        self.refuse("compare", "-d", "1s", "--root", "/", says="-d")
        self.refuse("compare", self.path("a") + ",", self.path("b"), says="empty name")

    def test_capture_without_an_output_file_is_refused(self):
        self.refuse("capture", says="-o")
        self.refuse("capture", "-o", self.path("x.txt"), says=".tscope")

    def test_pids_that_are_no_processes_are_refused(self):
        child = subprocess.Popen(["true"])
        child.wait()
        output = self.path("x.tscope")
        self.refuse("capture", "-p", child.pid, "-o", output, says=str(child.pid))
        for bad in ["0", "", "1,,2", "99999999999999999999"]:
            self.refuse("capture", "-p", bad, "-o", output, says="is not a process id")
        for bad in ["-1", "1x"]:
            self.refuse("capture", "-p", bad, "-o", output, says="no process is called")
        self.assertFalse(os.path.exists(output))

    def test_a_thread_is_not_taken_for_its_process(self):
        with support.Workload() as workload:
            tid = workload.roles["sleep"]
            self.refuse("capture", "-p", tid, "-o", self.path("x.tscope"), says=str(workload.pid))

    def test_a_cgroup_that_is_spelled_oddly_is_refused(self):
        for path in ["//a", "/a/../b", "/.", "/..", "a"]:
            self.refuse("capture", "--cgroup", path, "-o", self.path("x.tscope"), says="spelled")

    def test_a_capture_of_nothing_is_an_error(self):
        self.refuse("capture", "-o", self.path("x.tscope"), prefix=["prlimit", "--nofile=8"],
                    says="Too many open files")

    def test_a_file_that_may_not_grow_is_an_error(self):
        self.refuse("capture", "-o", self.path("x.tscope"), prefix=["prlimit", "--fsize=512"],
                    says="x.tscope")
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_missing_cgroup_is_refused(self):
        self.refuse("capture", "--cgroup", "/no/such/group", "-o", self.path("x.tscope"),
                    says="/no/such/group")

    def test_errors_do_not_steer_the_terminal(self):
        self.refuse("show", self.path("a\x1b[31m\nb.tscope"), says="a\\x1b[31m\\x0ab.tscope")
        self.refuse("\x1b[2J", says="\\x1b[2J")
        self.refuse("show", "/" + "x" * 300 + "/" + "y" * 3000, says="File name too long")

    def test_unreadable_files_are_refused(self):
        self.refuse("show", self.path("absent.tscope"), says="absent.tscope")
        self.refuse("show", self.folder.name)
        self.refuse("show", "--root", self.path("absent"), says="absent")


class Files(support.TestCase):
    def setUp(self):
        super().setUp()
        self.good = self.path("good.tscope")
        self.accept("capture", "-p", os.getpid(), "-o", self.good)
        self.data = pathlib.Path(self.good).read_bytes()

    def refuse_bytes(self, data, says=""):
        path = pathlib.Path(self.path("bad.tscope"))
        path.write_bytes(data)
        self.refuse("show", path, says=says)

    def test_damaged_files_are_refused(self):
        self.refuse_bytes(b"", says="empty")
        self.refuse_bytes(b"hello world, this is no snapshot\n", says="not")
        self.refuse_bytes(self.data[:-1])
        self.refuse_bytes(self.data[:len(self.data) // 2])
        self.refuse_bytes(self.data + b"\0")
        for position in range(0, len(self.data), max(1, len(self.data) // 60)):
            flipped = bytearray(self.data)
            flipped[position] ^= 1 << (position % 8)
            self.refuse_bytes(bytes(flipped))

    def test_a_newer_file_is_refused_with_its_version(self):
        newer = bytearray(self.data)
        newer[8] = 99
        self.refuse_bytes(bytes(newer), says="newer")

    def test_damaged_sizes_and_sums_are_refused_in_little_memory(self):
        """The header's numbers and what follows, under a checksum that no longer fits; files that
        claim much under one that does are in the unit test of the decoder."""
        limit = 512 * 1024 * 1024
        for position in range(8, min(64, len(self.data) - 8), 8):
            claim = bytearray(self.data)
            claim[position:position + 8] = b"\xff" * 7 + b"\x7f"
            path = self.path("claim.tscope")
            pathlib.Path(path).write_bytes(claim)
            self.refuse("show", path, prefix=["prlimit", f"--as={limit}"])

    def test_files_are_private(self):
        self.assertEqual(os.stat(self.good).st_mode & 0o777, 0o600)

    def test_an_unwritable_path_keeps_the_old_file(self):
        self.refuse("capture", "-p", os.getpid(), "-o", self.path("no/such/dir.tscope"),
                    says="no/such/dir.tscope")
        self.refuse("capture", "-p", os.getpid(), "-o", "/proc/x.tscope", says="/proc/x.tscope")

    @unittest.skipUnless(support.is_root(), "needs root to mount a small disk")
    def test_a_full_disk_keeps_the_old_file(self):
        disk = self.path("disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], check=True)
        try:
            old = os.path.join(disk, "old.tscope")
            pathlib.Path(old).write_bytes(self.data[:1000])
            with open(os.path.join(disk, "filler"), "wb", buffering=0) as filler:
                try:
                    while filler.write(b"x" * 4096):
                        pass
                except OSError:
                    pass
            self.refuse("capture", "-o", old, says="No space left")
            self.assertEqual(pathlib.Path(old).read_bytes(), self.data[:1000])
            self.assertEqual(sorted(os.listdir(disk)), ["filler", "old.tscope"])
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([support.TASKSCOPE, "show", self.good], stdout=full,
                                  stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"standard output", done.stderr)


class Show(support.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workload = support.Workload().__enter__()
        cls.shared = support.tempfile.TemporaryDirectory()
        cls.file = os.path.join(cls.shared.name, "host.tscope")
        status, _, cls.summary = support.run("capture", "-o", cls.file)
        assert status == 0, cls.summary

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()
        cls.workload.__exit__()

    def test_capture_ends_with_one_summary_line(self):
        self.assertEqual(len(self.summary.splitlines()), 1)
        self.assertRegex(self.summary, r"\d+ threads of \d+ processes")

    def test_what_happens_now_is_shown_by_rates(self):
        shown = json.loads(self.accept("show", "-d", "1s", "-p", os.getpid(), "-m",
                                       "run_time_ns,rss_bytes", "--format", "json"))
        self.assertGreaterEqual(shown["interval_ns"], 10 ** 9)
        (group,) = shown["groups"]
        self.assertLess(group["metrics"]["run_time_ns"]["value"], 10 ** 9)
        out = self.accept("show", "-d", "100ms", "-i", "200ms", "--count", "3", "-p", os.getpid())
        self.assertEqual(out.count("%cpu is of one core"), 3)
        self.assertEqual(len([line for line in out.splitlines() if line.startswith("group")]), 3)
        out = self.accept("show", "-i", "100ms", "--count", "2", "-p", os.getpid())
        self.assertEqual(out.count("run_time_ns"), 2)
        for words, says in [(["-d", "1s", self.file], "-d"), (["-i", "0"], "above 0"),
                            (["--count", "3"], "-i"), (["-d", "1s", "--sections", "cgroups"], "-d")]:
            self.refuse("show", *words, says=says)

    def test_a_forest_has_children_below_their_parents(self):
        with subprocess.Popen(["sleep", "1000"]) as child:
            out = self.accept("show", "--forest", "-n", "0", "-m", "run_time_ns")
            child.kill()
        lines = {pid: next(line for line in out.splitlines() if f"[{pid}]" in line)
                 for pid in (os.getpid(), child.pid)}
        indents = {pid: len(line) - len(line.lstrip()) for pid, line in lines.items()}
        self.assertEqual(indents[child.pid], indents[os.getpid()] + 2)
        self.assertLess(out.index(lines[os.getpid()]), out.index(lines[child.pid]))
        self.refuse("show", "--forest", "-g", "user", says="-g process")

    def test_several_keys_sort(self):
        keys = [(-row["majflt"], -row["minflt"]) for row in json.loads(self.accept(
            "show", self.file, "-g", "thread", "-s", "majflt,minflt", "--format", "json"))["threads"]]
        self.assertEqual(keys, sorted(keys))
        self.assertGreater(len(keys), 1)
        self.refuse("show", self.file, "-s", "majflt,nonsense", says="nonsense")

    def test_every_axis_sorts_and_limits(self):
        for axis in ["pcomm", "comm", "comm-exact", "cgroup", "process", "thread", "user",
                     "scope", "container"]:
            out = self.accept("show", self.file, "-g", axis, "-n", "3", "-s", "wait_time_ns:asc")
            self.assertIn("wait_time_ns", out)
            document = json.loads(self.accept("show", self.file, "-g", axis, "--format", "json"))
            rows = document["threads" if axis == "thread" else "groups"]
            tasks = len(rows) if axis == "thread" else sum(g["tasks"] for g in rows)
            self.assertEqual(tasks, self.threads())

    def threads(self):
        return len(support.show_threads(self.file)["threads"])

    def test_json_of_groups_has_values_and_coverage(self):
        document = json.loads(self.accept("show", self.file, "-g", "process", "--format", "json"))
        group = next(g for g in document["groups"] if str(self.workload.pid) in g["key"])
        metrics = group["metrics"]
        self.assertEqual(group["tasks"], len(self.workload.names) + 1)
        self.assertEqual(metrics["thread_count"]["value"], group["tasks"])
        self.assertEqual(metrics["minflt"]["measured"], group["tasks"])
        self.assertEqual(metrics["rss_bytes"]["measured"], 1)
        self.assertIn("mode", metrics["state"])
        self.assertLessEqual(metrics["nice"]["min"], metrics["nice"]["max"])
        self.assertNotIn("allocated_bytes", metrics)
        self.assertIn("jemalloc", document["absent"]["allocated_bytes"])

    def test_json_of_threads_keeps_the_contract(self):
        document = support.show_threads(self.file)
        for key in ["format", "version", "host", "sources", "threads"]:
            self.assertIn(key, document)
        for source in document["sources"]:
            self.assertLessEqual({"name", "state", "reason", "read", "failed"}, set(source))
        for thread in document["threads"]:
            self.assertLessEqual({"tid", "tgid", "comm", "pcomm", "cgroup", "start_time_ns"},
                                 set(thread))

    def test_the_limit_holds_in_json_only_when_given(self):
        out = self.accept("show", self.file, "-g", "thread", "-n", "2", "--format", "json")
        self.assertEqual(len(json.loads(out)["threads"]), 2)

    def test_hostile_names_are_escaped_everywhere(self):
        threads = {t["tid"]: t["comm"] for t in support.show_threads(self.file)["threads"]}
        roles = self.workload.roles
        self.assertEqual(threads[roles["ansi"]], "\\x1b[31mred\\x1b[0m")
        self.assertEqual(threads[roles["newline"]], "two\\x0alines")
        self.assertEqual(threads[roles["invalid"]], "bad\\xff\\xfe")
        self.assertEqual(threads[roles["empty"]], "")
        self.assertEqual(threads[roles["full"]], "exactly15bytes!")
        self.assertEqual(threads[roles["bracket"]], "a) R 1 (2 3")
        for form in ["text", "csv", "json"]:
            for axis in ["thread", "comm", "comm-exact", "process"]:
                done = subprocess.run([support.TASKSCOPE, "show", self.file, "-g", axis, "-n", "0",
                                       "--format", form], capture_output=True, check=True)
                done.stdout.decode("utf-8")
                self.assertNotIn(b"\x1b", done.stdout)
                self.assertNotIn(b"two\nlines", done.stdout)

    def test_csv_is_rfc_4180(self):
        import csv
        import io
        out = self.accept("show", self.file, "-g", "thread", "--format", "csv")
        rows = list(csv.reader(io.StringIO(out, newline="")))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        self.assertEqual(len(rows) - 1, self.threads())
        comm = rows[0].index("comm")
        self.assertIn('"quoted",csv', [row[comm] for row in rows])

    def test_a_name_is_no_formula_for_who_opens_the_table(self):
        for command in [["show", self.file, "-g", "thread"], ["show", self.file, "-g", "comm-exact"],
                        ["compare", self.file, self.file, "-g", "comm-exact", "-a"]]:
            out = self.accept(*command, "--format", "csv")
            self.assertIn("\"'=cmd|'/C x'!A0\",", out)
            for line in out.splitlines():
                self.assertNotRegex(line, r"(^|,)\"?[=@+]")
            self.assertIn('"=cmd|\'/C x\'!A0"', self.accept(*command, "--format", "json"))

    def test_a_command_line_that_is_cut_says_so(self):
        long = subprocess.Popen(["sh", "-c", "read x", "x" * 5000], stdin=subprocess.PIPE)
        try:
            out = self.accept("show", "-p", long.pid, "-g", "thread", "--format", "json")
        finally:
            long.communicate(b"")
        self.assertRegex(json.loads(out)["threads"][0]["cmdline"], r"^sh -c read x x+\.\.\.$")

    def test_show_without_a_file_captures_now(self):
        out = self.accept("show", "-p", self.workload.pid, "-g", "process")
        self.assertIn(str(self.workload.pid), out)
        self.refuse("show", self.file, "--no-cmdline", says=self.file)

    def test_colour_only_on_a_terminal(self):
        self.assertNotIn("\x1b", self.accept("show", self.file))
        try:
            for fd in os.openpty():
                os.close(fd)
        except OSError as error:
            self.skipTest(f"no terminal can be had: {error}")
        for environment, coloured in [({}, True), ({"NO_COLOR": "1"}, False)]:
            clean = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
            done = subprocess.run(["script", "-qec", f"{support.TASKSCOPE} show {self.file}",
                                   "/dev/null"], capture_output=True, stdin=subprocess.DEVNULL,
                                  env={**clean, "TERM": "xterm", **environment})
            self.assertEqual(b"\x1b[" in done.stdout, coloured)

    def test_the_cgroup_filter_takes_a_cgroup_and_what_is_below(self):
        document = support.show_threads(self.file)
        threads = {t["tid"]: t for t in document["threads"]}
        cgroup = threads[self.workload.pid]["cgroup"]
        path = self.path("part.tscope")
        self.accept("capture", "--cgroup", cgroup, "-o", path)
        part = support.show_threads(path)["threads"]
        self.assertIn(self.workload.pid, {t["tid"] for t in part})
        inside = cgroup.rstrip("/") + "/"
        for thread in part:
            self.assertTrue((thread["cgroup"] + "/").startswith(inside), thread["cgroup"])


class Cgroups(support.TestCase):
    @unittest.skipUnless(support.is_root(), "needs root to make a cgroup")
    def test_paths_with_blanks_and_colons_are_whole(self):
        hierarchy = json.loads(self.accept("doctor", "--format", "json"))["cgroup_hierarchy"]
        top = pathlib.Path("/sys/fs/cgroup")
        if hierarchy.startswith("v1 "):
            top = top / hierarchy[3:]
        elif not (top / "cgroup.controllers").exists():
            top = top / "unified"
        lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
        own = next(line.split(":", 2)[2] for line in lines
                   if (hierarchy == "v2" and line.startswith("0::")) or
                   f":{hierarchy[3:]}:" in line)
        odd = f"odd name: with:colons {os.getpid()}"
        for parent in [top / own.lstrip("/"), top]:
            try:
                (parent / odd).mkdir()
            except OSError:
                continue
            break
        else:
            self.skipTest("no cgroup can be made here")
        group = parent / odd
        sleeper = subprocess.Popen(["sleep", "60"])
        try:
            (group / "cgroup.procs").write_text(str(sleeper.pid))
            for source in ["procfs", "auto"]:
                path = self.path(source + ".tscope")
                self.accept("capture", "--source", source, "--cgroup",
                            "/" + str(group.relative_to(top)), "-o", path)
                threads = support.show_threads(path)["threads"]
                self.assertEqual([t["tid"] for t in threads], [sleeper.pid])
                self.assertTrue(threads[0]["cgroup"].endswith("/" + odd))
        finally:
            sleeper.kill()
            sleeper.wait()
            group.rmdir()


class Tables(support.TestCase):
    def test_metrics_lists_every_metric_in_text_and_json(self):
        document = json.loads(self.accept("metrics", "--format", "json"))
        text = self.accept("metrics")
        self.assertGreaterEqual(len(document["metrics"]), 87 + 17)
        for metric in document["metrics"]:
            self.assertIn(metric["name"], text)
            self.assertTrue(metric["help"])
            self.assertLessEqual({"unit", "kind", "scope", "fold", "sources", "gate", "help"},
                                 set(metric))

    def test_doctor_explains_every_source(self):
        document = json.loads(self.accept("doctor", "--format", "json"))
        states = {s["name"]: s for s in document["sources"]}
        self.assertIn(states["jemalloc"]["state"], ("ok", "partial"))
        self.assertEqual(states["stat"]["state"], "ok")
        for source in document["sources"]:
            self.assertTrue(source["state"] == "ok" or source["reason"], source)
            self.assertTrue(source["needs"])
        text = self.accept("doctor", "-v")
        for name in states:
            self.assertIn(name, text)

    def test_help_names_every_option(self):
        overview = self.accept("help")
        for verb in VERBS:
            self.assertIn(verb, overview)
            text = self.accept("help", verb)
            self.assertEqual(text, self.accept(verb, "--help"))
            self.assertIn("Usage: taskscope " + verb, text)

    def test_version_is_printed(self):
        self.assertRegex(self.accept("--version"), r"^taskscope \d+\.\d+")


@unittest.skipUnless(support.is_root(), "needs root to give up privilege")
class Unprivileged(support.TestCase):
    PREFIX = ["setpriv", "--reuid=65534", "--clear-groups"]

    def setUp(self):
        super().setUp()
        os.chmod(self.folder.name, 0o777)
        reachable = subprocess.run([*self.PREFIX, support.TASKSCOPE, "--version"],
                                   capture_output=True).returncode == 0
        if not reachable:
            self.skipTest("the build folder is closed to other users")

    def test_it_works_on_procfs_and_says_what_is_missing(self):
        path = self.path("plain.tscope")
        with support.Workload() as workload:
            status, _, err = support.run("capture", "-o", path, prefix=self.PREFIX)
        self.assertEqual(status, 0, err)
        document = support.show_threads(path)
        sources = {s["name"]: s for s in document["sources"]}
        self.assertEqual(document["host"]["task_source"], "procfs")
        self.assertEqual(sources["task_iterator"]["state"], "unavailable")
        self.assertIn("CAP_BPF", sources["task_iterator"]["reason"])
        self.assertIn(sources["io"]["state"], ["partial", "unavailable"])
        self.assertIn("rchar", document["absent"])
        foreign = next(t for t in document["threads"] if t["tid"] == workload.pid)
        self.assertNotIn("rchar", foreign)
        self.assertIn("minflt", foreign)

    def test_a_foreign_pid_gives_what_may_be_seen(self):
        path = self.path("foreign.tscope")
        with support.Workload() as workload:
            status, _, err = support.run("capture", "-p", workload.pid, "-o", path,
                                         prefix=self.PREFIX)
        self.assertEqual(status, 0, err)
        threads = support.show_threads(path)["threads"]
        leader = next(t for t in threads if t["tid"] == workload.pid)
        self.assertNotIn("rchar", leader)
        self.assertIn("rss_bytes", leader)

    def test_asking_for_bpf_is_refused_with_the_capabilities(self):
        self.refuse("capture", "--source", "bpf", "-o", self.path("x.tscope"), says="CAP_BPF",
                    prefix=self.PREFIX)

    def test_doctor_names_the_missing_capability(self):
        status, out, err = support.run("doctor", "-v", prefix=self.PREFIX)
        self.assertEqual(status, 0, err)
        self.assertIn("CAP_BPF", out)


if __name__ == "__main__":
    support.main()
