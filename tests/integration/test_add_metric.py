# SPDX-License-Identifier: MIT
"""A metric is one row: a row added to a scratch copy shows up in `metrics`, JSON and CSV."""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess

import support

ROW = ('METRIC(exit_signal, ID, ORDINAL, THREAD, RANGE, IDENTITY, NONE, ANY,\n'
       '       STAT(38, LEVEL), "Signal that the parent gets when the task ends.")\n')
ANCHOR = "/* Derived. */"


class AddMetric(support.TestCase):
    def test_one_row_is_enough(self):
        copy = pathlib.Path(self.path("source"))
        shutil.copytree(support.ROOT, copy, symlinks=True,
                        ignore=shutil.ignore_patterns("build*", ".git", "data", "corpus"))
        table = copy / "src/metric/metrics.def"
        text = table.read_text()
        self.assertIn(ANCHOR, text)
        table.write_text(text.replace(ANCHOR, ROW + "\n" + ANCHOR))
        build = self.path("build")
        subprocess.run(["meson", "setup", build, copy], check=True, capture_output=True)
        subprocess.run(["ninja", "-C", build, "taskscope"], check=True, capture_output=True)
        program = os.path.join(build, "taskscope")

        def run(*words):
            return subprocess.run([program, *words], check=True, capture_output=True,
                                  text=True).stdout

        names = [m["name"] for m in json.loads(run("metrics", "--format", "json"))["metrics"]]
        self.assertIn("exit_signal", names)
        self.assertIn("exit_signal", run("metrics"))
        own = ["--source", "procfs", "-p", str(os.getpid()), "-g", "thread"]
        thread = json.loads(run("show", *own, "--format", "json"))["threads"][0]
        self.assertEqual(thread["exit_signal"], 17)
        rows = list(csv.reader(io.StringIO(run("show", *own, "--format", "csv"))))
        self.assertEqual(rows[1][rows[0].index("exit_signal")], "17")


if __name__ == "__main__":
    support.main()
