# SPDX-License-Identifier: MIT
"""Two sources, one truth: the task iterator and procfs agree on the same idle tree, and both agree
with what the workload says about itself."""
import os
import subprocess
import unittest

import support
from kernel import has_bpf

# Gauges that idle tasks and the reader itself may still change between two captures.
MOVING = {"processor", "rss_bytes", "hiwater_rss_bytes", "state"}

# For a shell: until its child has become sleep(1).  Starts nothing, which would take a pid.
RUNS_SLEEP = 'while read name < /proc/$!/comm; test "$name" != sleep; do :; done'


def by_identity(document):
    return {(t["tgid"], t["tid"], t["start_time_ns"]): t for t in document["threads"]}


class Agree(support.TestCase):
    def capture(self, pid, source):
        path = self.path(source + ".tscope")
        self.accept("capture", "-p", pid, "--source", source, "-o", path)
        return support.show_threads(path)

    def check_expected(self, workload, document, optional=()):
        threads = {t["tid"]: t for t in document["threads"]}
        for tid, metric, at_least, at_most in workload.expected:
            if metric in optional and metric not in threads[tid]:
                continue
            self.assertIn(metric, threads[tid])
            self.assertGreaterEqual(threads[tid][metric], at_least, metric)
            self.assertLessEqual(threads[tid][metric], at_most, metric)

    def test_procfs_sees_what_the_workload_did(self):
        with support.Workload() as workload:
            document = self.capture(workload.pid, "procfs")
            self.check_expected(workload, document, optional={"dead_run_time_ns"})
            self.assertIn("dead_run_time_ns", document["absent"])

    @unittest.skipUnless(has_bpf(), "needs the BPF task iterator")
    def test_bpf_sees_what_the_workload_did(self):
        with support.Workload() as workload:
            self.check_expected(workload, self.capture(workload.pid, "bpf"))

    @unittest.skipUnless(has_bpf(), "needs the BPF task iterator")
    def test_both_sources_agree_on_every_metric_of_an_idle_tree(self):
        with support.Workload() as workload:
            by_bpf = self.capture(workload.pid, "bpf")
            by_procfs = self.capture(workload.pid, "procfs")
        bpf, procfs = by_identity(by_bpf), by_identity(by_procfs)
        self.assertEqual(set(bpf), set(procfs))
        self.assertEqual(len(bpf), len(workload.names) + 1)
        shared = 0
        for identity, thread in procfs.items():
            for key, value in thread.items():
                if key in MOVING or key not in bpf[identity]:
                    continue
                self.assertEqual(bpf[identity][key], value, f"{key} of {identity}")
                shared += 1
        self.assertGreater(shared, 30 * len(bpf))
        # What procfs measured, the iterator must measure too: it is the richer one.
        missing = {key for identity, t in procfs.items() for key in t if key not in bpf[identity]}
        self.assertEqual(missing, set())

    @unittest.skipUnless(has_bpf(), "needs the BPF task iterator")
    def test_captures_of_both_sources_join_on_start_time(self):
        paths = [self.path("a.tscope"), self.path("b.tscope")]
        self.accept("capture", "--source", "bpf", "-o", paths[0])
        self.accept("capture", "--source", "procfs", "-o", paths[1])
        bpf, procfs = (by_identity(support.show_threads(p)) for p in paths)
        self.assertGreater(len(set(bpf) & set(procfs)), 0.8 * min(len(bpf), len(procfs)))
        tids = {(i[0], i[1]): i for i in bpf}
        for identity in procfs:
            if identity[:2] in tids and identity[0] != os.getpid():
                # The same pid is the same task unless it was born in between.
                self.assertLessEqual(tids[identity[:2]][2], identity[2])

    @unittest.skipUnless(has_bpf(), "needs the BPF task iterator")
    def test_every_process_of_proc_is_in_a_bpf_capture(self):
        before = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        path = self.path("all.tscope")
        self.accept("capture", "-o", path)
        after = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        seen = {t["tgid"] for t in support.show_threads(path)["threads"]}
        self.assertEqual((before & after) - seen, set())

    @unittest.skipUnless(has_bpf(), "needs the BPF task iterator")
    @unittest.skipUnless(support.is_root() and os.path.exists("/proc/2/status"), "kernel threads cannot be seen here")
    def test_a_kernel_thread_has_no_memory(self):
        for source in ["procfs", "bpf"]:
            with self.subTest(source=source):
                [thread] = self.capture(2, source)["threads"]
                self.assertEqual({key for key in thread if key.endswith(("rss_bytes", "vm_bytes"))}, set())
                self.assertIn("run_time_ns", thread)

    def test_host_facts_are_those_of_this_host(self):
        host = self.capture(os.getpid(), "procfs")["host"]
        self.assertEqual(host["pid_namespace"], os.stat("/proc/self/ns/pid").st_ino)
        self.assertEqual(host["cgroup_namespace"], os.stat("/proc/self/ns/cgroup").st_ino)
        self.assertEqual(host["kernel_release"], os.uname().release)
        self.assertEqual(host["arch"], os.uname().machine)
        self.assertEqual(host["page_size"], os.sysconf("SC_PAGESIZE"))
        self.assertGreater(host["total_memory_bytes"], 2**20)
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot_id:
            self.assertEqual(host["boot_id"], boot_id.read().strip())

    @unittest.skipUnless(support.has_namespaces(), "a PID namespace cannot be made here")
    def test_inside_a_pid_namespace_its_numbers_are_shown(self):
        for source in ["procfs", "bpf"]:
            if source == "bpf" and not has_bpf():
                continue
            path = self.path(source + "-ns.tscope")
            script = f'sleep 60 & {RUNS_SLEEP}; {support.TASKSCOPE} capture -q ' \
                     f'--source {source} -o {path}; kill $!'
            subprocess.run([*support.NAMESPACE, "sh", "-c", script],
                           check=True, timeout=support.HANG)
            threads = support.show_threads(path)["threads"]
            self.assertEqual(min(t["tid"] for t in threads), 1)
            self.assertLess(max(t["tid"] for t in threads), 50)
            sleep = [t for t in threads if t["comm"] == "sleep"]
            self.assertEqual([t["ppid"] for t in sleep], [1])

    @unittest.skipUnless(has_bpf(), "needs the BPF task iterator")
    def test_descriptors_are_counted_beyond_the_first_words_of_their_table(self):
        files = [os.open("/dev/null", os.O_RDONLY) for _ in range(500)]
        try:
            counts = {source: self.capture(os.getpid(), source)["threads"][0]["open_fds"]
                      for source in ("bpf", "procfs")}
        finally:
            for file in files:
                os.close(file)
        self.assertGreater(counts["bpf"], 500)
        self.assertEqual(counts["bpf"], counts["procfs"])

    @unittest.skipUnless(support.has_namespaces() and has_bpf(), "needs namespaces and BPF")
    def test_a_foreign_proc_is_not_mixed_in(self):
        path = self.path("foreign.tscope")
        script = f"sleep 60 & {support.TASKSCOPE} capture -q -o {path}; kill $!"
        subprocess.run(["unshare", "--pid", "--fork", "sh", "-c", script], check=True, timeout=support.HANG)
        document = support.show_threads(path)
        self.assertLess(max(t["tid"] for t in document["threads"]), 50)
        self.assertEqual(document["capture"]["gap_filled"], 0)
        self.assertIn("PID namespace", document["absent"]["allocated_bytes"])

    def test_a_process_outlives_its_leader(self):
        child = subprocess.Popen([support.WORKLOAD, "leaderless"], stdout=subprocess.PIPE)
        try:
            support.wait_for_leaderless(child)
            for source in ["procfs"] + ["bpf"] * has_bpf():
                threads = {t["tid"]: t for t in self.capture(child.pid, source)["threads"]}
                self.assertEqual(len(threads), 2)
                leader = threads.pop(child.pid)
                self.assertEqual(leader["state"], "Z")
                self.assertGreater(leader["rss_bytes"], 8 << 20)
                self.assertGreaterEqual(leader["open_fds"], 3)
                self.assertIn("leaderless", leader["cmdline"])
        finally:
            child.kill()
            child.wait()
            child.stdout.close()

    @unittest.skipUnless(support.has_namespaces(), "a PID namespace cannot be made here")
    def test_a_reused_pid_is_another_task(self):
        first, second = self.path("first.tscope"), self.path("second.tscope")
        capture = f"{support.TASKSCOPE} capture -q -p $one -o"
        script = f"""
            sleep 60 & one=$!; {RUNS_SLEEP}; {capture} {first} || exit 1
            kill $one; wait $one
            echo $((one - 1)) > /proc/sys/kernel/ns_last_pid || exit 77
            sleep 60 & two=$!; {RUNS_SLEEP}; test $one = $two || exit 77
            {capture} {second} || exit 1
            kill $two"""
        done = subprocess.run([*support.NAMESPACE, "sh", "-c", script],
                              capture_output=True, timeout=support.HANG)
        if done.returncode == 77:
            self.skipTest("this kernel does not let the next pid be chosen")
        self.assertEqual(done.returncode, 0, done.stderr)
        before, after = (support.show_threads(p)["threads"][0] for p in [first, second])
        self.assertEqual(before["tid"], after["tid"])
        self.assertLess(before["start_time_ns"], after["start_time_ns"])

    def test_tasks_that_come_and_go_do_no_harm(self):
        script = "i=0; while [ $i -lt 3000 ]; do /bin/true; i=$((i + 1)); done"
        churn = [subprocess.Popen(["sh", "-c", script]) for _ in range(2)]
        try:
            for round_ in range(8):
                path = self.path("churn.tscope")
                self.accept("capture", "--source", "auto" if round_ % 2 else "procfs", "-o", path)
                document = support.show_threads(path)
                sources = {s["name"]: s for s in document["sources"]}
                for name in ["stat", "status", "statm", "cgroup"]:
                    self.assertEqual(sources[name]["failed"], 0, sources[name])
                identities = [(t["tgid"], t["tid"]) for t in document["threads"]]
                self.assertEqual(len(identities), len(set(identities)))
                # The workload of a test beside this one has a thread whose name is empty.
                self.assertTrue(all(t["comm"] for t in document["threads"] if t["tid"] == t["tgid"]))
        finally:
            for process in churn:
                process.kill()
                process.wait()


if __name__ == "__main__":
    support.main()
