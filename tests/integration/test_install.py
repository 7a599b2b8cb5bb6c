"""What `make install` puts where, and that the manual can be read."""
import os
import pathlib
import subprocess

import support


class Install(support.TestCase):
    def test_program_manual_and_completions_are_installed(self):
        subprocess.run(["meson", "install", "-C", os.environ["TASKSCOPE_BUILD"], "--no-rebuild"],
                       env={**os.environ, "DESTDIR": self.folder.name}, check=True,
                       capture_output=True)
        files = {path.name: path for path in pathlib.Path(self.folder.name).rglob("*")
                 if path.is_file()}
        self.assertTrue(os.access(next(p for p in pathlib.Path(self.folder.name).rglob("taskscope")
                                       if p.parent.name == "bin"), os.X_OK))
        for page in ["taskscope.1", "taskscope-capture.1", "taskscope-show.1",
                     "taskscope-metrics.1", "taskscope-doctor.1", "taskscope-metrics.7"]:
            text = files[page].read_text()
            self.assertIn(".TH", text)
            self.assertIn(".SH", text)
        self.assertIn("run_time_ns", files["taskscope-metrics.7"].read_text().replace("\\_", "_"))
        for name in ["_taskscope", "taskscope.fish"]:
            self.assertIn(name, files)


if __name__ == "__main__":
    support.main()
