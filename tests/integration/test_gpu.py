# SPDX-License-Identifier: MIT
"""GPUs, with stand-ins for NVIDIA's library and nvidia-smi, in everything that shows them."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import support
from recorder import Recorder, rows

GIB = 1 << 30
STAND_INS = os.environ.get("TASKSCOPE_TEST_GPU", "")


@unittest.skipUnless(support.is_root(), "needs a place that only root can write to")
class Gpu(unittest.TestCase):
    """What is to be run is in a place that nobody else can write to."""

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="taskscope-test-gpu.", dir="/var/lib")
        self.addCleanup(shutil.rmtree, self.place)
        os.chmod(self.place, 0o755)
        subprocess.run(["cp", "-RT", STAND_INS, self.place], check=True)
        subprocess.run(["chmod", "-R", "go-w", self.place], check=True)

    def taskscope(self, name, *arguments, status=0):
        """Runs it with the stand-ins of that name."""
        environment = dict(os.environ, TASKSCOPE_GPU_PATH=f"{self.place}/{name}")
        done = subprocess.run([support.TASKSCOPE, *arguments], env=environment, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def say(self, name, lines):
        """What the stand-in says about processes of the first GPU."""
        with open(f"{self.place}/{name}/processes", "w", encoding="utf-8") as out:
            out.write(lines)

    def path(self, name):
        return f"{self.place}/{name}"

    def sleeper(self):
        process = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process.pid


class Capture(Gpu):
    def test_devices_are_readings_and_processes_have_metrics(self):
        pid = self.sleeper()
        self.say("two", f"{pid} {3 * GIB} 37\n")
        done = self.taskscope("two", "show", "--gpu", "-p", str(pid), "-g", "process", "--json")
        shown = json.loads(done.stdout)
        [group] = shown["groups"]
        self.assertEqual(group["metrics"]["gpu_memory_bytes"]["value"], 3 * GIB)
        self.assertEqual(group["metrics"]["gpu_busy_percent"]["value"], 37)
        text = self.taskscope("two", "show", "--gpu", "-p", str(pid), "--sections", "gpu").stdout
        self.assertRegex(text, r"gpu 1 busy +90.0 %")
        self.assertRegex(text, r"gpu 0 memory_total_bytes +16.0 GiB")
        self.assertRegex(text, r"gpu 0 name +Pretend 0")

    def test_a_file_keeps_them(self):
        pid = self.sleeper()
        self.say("two", f"{pid} {GIB} 5\n")
        file = self.path("c.tscope")
        self.taskscope("two", "capture", "-q", "--gpu", "-p", str(pid), "-o", file)
        text = self.taskscope("empty", "show", file, "--sections", "gpu").stdout
        self.assertRegex(text, r"sleep +1 +1.00 GiB +5")
        self.assertRegex(text, r"gpu 1 temperature_celsius +51")

    def test_without_the_option_nothing_is_opened(self):
        text = self.taskscope("ends", "show", "--sections", "gpu", "-p", str(os.getpid())).stdout
        self.assertIn("not asked for: --gpu reads it", text)
        self.assertNotIn("Pretend", text)

    def test_what_fails_has_a_reason(self):
        for name, reason in [
                ("empty", "NVML is not installed (libnvidia-ml.so.1); nvidia-smi is not installed"),
                ("init-error", "NVML: the NVIDIA driver is not loaded; nvidia-smi is not installed"),
                ("lost", "absent, the GPU is lost: it has fallen off the bus: gpu 1 *"),
                ("unsupported", "absent, this GPU does not report it: gpu 0 power_milliwatts"),
                ("smi-garbage", "nvidia-smi: the driver's answer cannot be true"),
                ("smi-fails", "nvidia-smi: the NVIDIA driver is not loaded")]:
            with self.subTest(name):
                text = self.taskscope(name, "show", "--gpu", "-p", str(os.getpid()), "--sections",
                                      "gpu").stdout
                self.assertIn(reason, text)

    def test_a_strangers_library_is_not_loaded(self):
        os.chmod(self.path("two"), 0o777)
        text = self.taskscope("two", "show", "--gpu", "-p", str(os.getpid()), "--sections", "gpu").stdout
        self.assertIn("NVML is not used: others can change libnvidia-ml.so.1", text)

    def test_doctor_names_the_way(self):
        for options in [], ["-v"]:
            self.assertIn("NVML tells of 2 GPUs", self.taskscope("two", "doctor", *options).stdout)
            self.assertIn("nvidia-smi tells of 2 GPUs", self.taskscope("smi", "doctor", *options).stdout)
        self.assertIn("  --gpu             nothing: NVML is not installed", self.taskscope("empty", "doctor").stdout)
        found = json.loads(self.taskscope("empty", "doctor", "--json").stdout)
        [gpu] = [source for source in found["sources"] if source["name"] == "gpu"]
        self.assertEqual(gpu["state"], "missing")
        self.assertIn("libnvidia-ml.so.1", gpu["needs"])


class Recording(Gpu):
    def record(self, name, *options):
        os.environ["TASKSCOPE_GPU_PATH"] = self.path(name)
        self.addCleanup(os.environ.pop, "TASKSCOPE_GPU_PATH")
        return Recorder(self, "--gpu", "-i", "200ms", "--no-events", *options)

    def test_samples_of_the_host_have_them(self):
        pid = self.sleeper()
        self.say("two", f"{pid} {2 * GIB} 11\n")
        with self.record("two") as recorder:
            support.wait_until(lambda: "gpu_busy_percent" in recorder.ask("latest")["host"])
            recorder.next_tick(2)
        [row] = rows(recorder.store, "SELECT gpu_busy_percent, gpu_memory_used_bytes, "
                     "gpu_memory_total_bytes, gpu_temperature_celsius, gpu_power_watts "
                     "FROM host_samples WHERE gpu_busy_percent IS NOT NULL LIMIT 1")
        self.assertEqual(row, (90, 8 * GIB + 1, 32 * GIB, 51, 122.001))
        latest = json.loads(self.taskscope("empty", "latest", "--store", recorder.store, "--json").stdout)
        self.assertEqual(latest["host"]["gpu_busy_percent"], 90)
        text = self.taskscope("empty", "history", "--store", recorder.store, "-m", "gpu_power_watts").stdout
        self.assertIn("122", text)
        text = self.taskscope("empty", "show", recorder.store, "-p", str(pid), "-m", "gpu_memory_bytes").stdout
        self.assertIn("2.00 GiB", text)

    def test_a_job_has_what_its_processes_used(self):
        """Those of a mark, of which a second one is in a step, and not what others use."""
        pids = [self.sleeper() for _ in range(3)]
        self.say("two", "".join(f"{pid} {(i + 1) * GIB} {10 * (i + 1)}\n" for i, pid in enumerate(pids)))
        with self.record("two") as recorder:
            job = recorder.ask("job_start", name="gpu", pid=pids[0])["job"]
            recorder.ask("job_step", name="gpu", step="1", pid=pids[1])
            support.wait_until(lambda: rows(recorder.store, "SELECT 1 FROM jobs WHERE peak_gpu_busy_percent = 30"))
            recorder.ask("job_end", name="gpu", outcome="success")
            figures = "SELECT peak_gpu_memory_bytes, peak_gpu_busy_percent FROM"
            self.assertEqual(rows(recorder.store, f"{figures} jobs WHERE id = ?", job), [(3 * GIB, 30)])
            self.assertEqual(rows(recorder.store, f"{figures} job_steps"), [(2 * GIB, 20)])
            text = self.taskscope("empty", "report", "gpu", "--store", recorder.store).stdout
            self.assertRegex(text, "GPUs +3.00 GiB held at most, 30 % used at most")

    def test_why_there_are_none_is_said(self):
        with self.record("empty") as recorder:
            recorder.next_tick(2)
            self.assertIn("gpu_absent", recorder.ask("latest"))
        self.assertEqual(recorder.said.count("no figures of GPUs ("), 1)
        latest = json.loads(self.taskscope("empty", "latest", "--store", recorder.store, "--json").stdout)
        self.assertIn(latest["gpu_absent"], recorder.said)
        done = self.taskscope("empty", "history", "--store", recorder.store, "-m", "gpu_busy_percent")
        self.assertIn(latest["gpu_absent"], done.stderr)

    def test_a_driver_that_hangs_does_not_stop_the_recorder(self):
        with self.record("hangs") as recorder:
            recorder.next_tick(3)
            self.assertNotIn("gpu_busy_percent", recorder.ask("latest")["host"])


class Run(Gpu):
    def test_the_report_has_what_the_tree_used(self):
        lines, file = self.path("r.jsonl"), self.path("r.tscope")
        processes = self.path("two/processes")
        # Ends when an answer about it was taken.
        script = (f'echo "$$ {3 * GIB} 37" >{processes}; '
                  f'until [ -e {self.path("two/told")} ]; do sleep 0.1; done')
        done = self.taskscope("two", "run", "--gpu", "-o", lines, "-o", file, "--", "sh", "-c", script)
        self.assertRegex(done.stderr.replace("\n  ", " "),
                         r"gpu: this held at most 3.00 GiB, used at most 37.0 % of one, "
                         r"the busiest was at most 90.0 % busy, all held at most 8.00 GiB of 32.0 GiB, "
                         r"51 °C, 122 W")
        with open(lines, encoding="utf-8") as out:
            summary = json.loads(out.readlines()[-1])
        self.assertEqual(summary["gpu"]["tree_memory_peak_bytes"], 3 * GIB)
        self.assertEqual(summary["gpu"]["tree_busy_peak_percent"], 37)
        self.assertEqual(summary["gpu"]["power_peak_milliwatts"], 122001)
        [user] = summary["gpu"]["processes"]
        self.assertEqual((user["pid"], user["comm"], user["memory_peak_bytes"], user["busy_peak_percent"]),
                         (summary["pid"], "sh", 3 * GIB, 37))
        self.assertNotIn("time_ns", user)
        for saved in lines, file:
            report = self.taskscope("empty", "report", saved)
            self.assertIn("gpu: this held at most 3.00 GiB", report.stdout)
            self.assertRegex(report.stdout, rf"{summary['pid']} +sh +3.00 GiB +37.0 % +-")
            again = json.loads(self.taskscope("empty", "report", saved, "--format", "json").stdout)
            self.assertEqual(again["gpu"], summary["gpu"])
        text = self.taskscope("empty", "show", file, "--sections", "gpu").stdout
        self.assertRegex(text, r"gpu run tree_memory_peak_bytes +3.00 GiB")

    def test_more_users_than_are_listed(self):
        lines, users = self.path("r.jsonl"), 40
        children, told = self.path("two/processes"), self.path("two/told")
        # The stand-in hears of all of them at once.
        script = (f'for i in $(seq {users}); do sleep 1000 & echo "$! $((i << 20)) 0"; done >{children}.new; '
                  f'rm -f {told}; mv {children}.new {children}; until [ -e {told} ]; do sleep 0.1; done; '
                  'kill $(jobs -p)')
        self.taskscope("two", "run", "-q", "--gpu", "-o", lines, "--", "bash", "-c", script)
        with open(lines, encoding="utf-8") as out:
            gpu = json.loads(out.readlines()[-1])["gpu"]
        self.assertEqual([user["memory_peak_bytes"] >> 20 for user in gpu["processes"]],
                         list(range(users, users - 32, -1)))
        self.assertEqual(gpu["processes_omitted"], users - 32)

    def test_a_short_command_waits_for_a_first_answer(self):
        done = self.taskscope("two", "run", "--gpu", "--", "true")
        self.assertIn("gpu: the busiest was at most 90.0 % busy", done.stderr)

    def test_what_fails_is_said(self):
        done = self.taskscope("init-error", "run", "--gpu", "--", "true")
        self.assertIn("not measured: gpu is missing: NVML: the NVIDIA driver is not loaded",
                      done.stderr.replace("\n  ", " "))
        self.assertNotIn("gpu", self.taskscope("two", "run", "--", "true").stderr)
        lines = self.path("run.jsonl")
        for words in ("init-error", "run", "--gpu"), ("two", "run"):
            self.taskscope(*words, "-q", "-o", lines, "--", "true")
            with open(lines, encoding="utf-8") as out:
                self.assertNotIn("gpu", json.loads(out.readlines()[-1]))

    def test_attach(self):
        pid = self.sleeper()
        self.say("two", f"{pid} {GIB} 7\n")
        done = self.taskscope("two", "attach", "--gpu", "-d", "1s", str(pid))
        self.assertIn("gpu: this held at most 1.00 GiB, used at most 7.00 % of one",
                      done.stderr.replace("\n  ", " "))


if __name__ == "__main__":
    unittest.main()
