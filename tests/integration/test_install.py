# SPDX-License-Identifier: MIT
"""What `make install` puts where, that the manual can be read, and that programs can be built with what
is installed alone."""
import os
import pathlib
import signal
import subprocess
import tempfile

import library
import support

# source, compiler, dialect, work that ends soon, what it then says, work that does not, a label
EXAMPLES = [
    ("plain.c", "gcc", "c11", ["10"], "mean ", ["1000000000"], "spread"),
    ("pool.c", "gcc", "c11", ["10", "100"], "168 primes below 1000\n", ["4", "100000000000"],
     "count primes"),
    ("cpp.cc", "g++", "c++11", ["1000"], "sum 494", ["100000000000"], "records"),
]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


class Install(support.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.root = pathlib.Path(scratch.name)
        subprocess.run(["meson", "install", "-C", os.environ["TASKSCOPE_BUILD"]],
                       env={**os.environ, "DESTDIR": scratch.name}, check=True, capture_output=True)
        cls.files = {path.name: path for path in cls.root.rglob("*") if path.is_file()}
        cls.program = next(path for path in cls.root.rglob("taskscope")
                           if path.parent.name == "bin")

    def test_program_manual_and_completions_are_installed(self):
        self.assertTrue(os.access(self.program, os.X_OK))
        for page in ["taskscope.1", "taskscope-capture.1", "taskscope-show.1",
                     "taskscope-metrics.1", "taskscope-doctor.1", "taskscope-scopes.1", "taskscope-trace.1",
                     "taskscope-metrics.7", "taskscope.h.3"]:
            text = self.files[page].read_text()
            self.assertIn(".TH", text)
            self.assertIn(".SH", text)
        self.assertIn("run_time_ns",
                      self.files["taskscope-metrics.7"].read_text().replace("\\_", "_"))
        for name in ["_taskscope", "taskscope.fish"]:
            self.assertIn(name, self.files)

    def test_every_function_leads_to_the_page_of_the_library(self):
        man3 = self.files["taskscope.h.3"].parent
        self.assertEqual(sorted(path.name for path in man3.iterdir()),
                         sorted(["taskscope.h.3", *(f"{name}.3" for name in library.functions())]))
        for name in library.functions():
            target = (man3 / f"{name}.3").read_text().splitlines()[-1].removeprefix(".so ")
            self.assertTrue((man3.parent / target).samefile(self.files["taskscope.h.3"]))

    def test_the_library_is_installed_with_its_header(self):
        self.assertEqual(self.files["taskscope.h"].parent.name, "include")
        folder = self.files["libtaskscope.a"].parent
        for name in ["libtaskscope.so", "libtaskscope.so.1"]:
            self.assertTrue((folder / name).samefile(self.files["libtaskscope.so.1.1.0"]))

    def flags(self, *options):
        """What pkg-config says, for an installation that is not at its place yet."""
        done = subprocess.run(["pkg-config", *options, "taskscope"], capture_output=True, text=True,
                              check=True,
                              env={**os.environ, "PKG_CONFIG_SYSROOT_DIR": str(self.root),
                                   "PKG_CONFIG_LIBDIR": str(self.files["taskscope.pc"].parent)})
        return done.stdout.split()

    def compile(self, source, compiler, dialect, *libraries):
        program = self.path("program")
        subprocess.run([compiler, f"-std={dialect}", *WARNINGS, *self.flags("--cflags"),
                        library.EXAMPLES / source, *libraries, "-o", program], check=True)
        return program

    def needs_library(self, program):
        done = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True)
        return "[libtaskscope.so.1]" in done.stdout

    def check(self, program, short, says, long, label):
        """It works, and the installed program sees what it does."""
        environment = library.environment(
            LD_LIBRARY_PATH=str(self.files["libtaskscope.so.1.1.0"].parent))
        done = subprocess.run([program, *short], capture_output=True, text=True, check=True,
                              timeout=support.HANG, env=environment)
        self.assertTrue(done.stdout.startswith(says), done.stdout)
        with subprocess.Popen([program, *long], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=environment) as process:
            try:
                support.wait_until(lambda: any(
                    label in labels
                    for threads in library.stacks(process.pid, self.program).values()
                    for labels, _, _ in threads))
            finally:
                process.send_signal(signal.SIGKILL)

    def check_examples(self, *libraries, is_shared):
        for source, compiler, dialect, *rest in EXAMPLES:
            with self.subTest(source=source):
                program = self.compile(source, compiler, dialect, *libraries)
                self.assertEqual(self.needs_library(program), is_shared)
                self.check(program, *rest)

    def test_programs_are_built_with_the_shared_library(self):
        self.check_examples(*self.flags("--libs"), is_shared=True)

    def test_programs_are_built_with_the_static_library(self):
        self.check_examples("-Wl,-Bstatic", *self.flags("--static", "--libs"), "-Wl,-Bdynamic",
                            is_shared=False)


if __name__ == "__main__":
    support.main()
