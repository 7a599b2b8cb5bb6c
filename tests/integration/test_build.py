# SPDX-License-Identifier: MIT
"""What is built from which options, and how: hardened, without what only tests need, for other machines."""
import glob
import json
import os
import pathlib
import shutil
import stat
import subprocess
import unittest

import support

BUILD = pathlib.Path(os.environ["TASKSCOPE_BUILD"])
HELPER = os.environ["TASKSCOPE_ORACLE_HELPER"]
LIBRARY = BUILD / "src/lib/libtaskscope.so"

# The compiler of this machine, told that it builds for another one whose programs cannot be run here.
CROSS = """[binaries]
c = 'gcc'
ar = 'ar'
objcopy = 'objcopy'
pkgconfig = 'pkg-config'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
[properties]
needs_exe_wrapper = true
"""


def options_of(folder):
    done = subprocess.run(["meson", "introspect", folder, "--buildoptions"], capture_output=True,
                          check=True)
    return {option["name"]: option["value"] for option in json.loads(done.stdout)}


def is_sanitized():
    return options_of(BUILD)["b_sanitize"] != "none"


def loader_folders():
    """Where the loader looks beside its own two folders, by its settings."""
    folders = []
    for path in ["/etc/ld.so.conf", *glob.glob("/etc/ld.so.conf.d/*.conf")]:
        folders += [line.strip() for line in pathlib.Path(path).read_text().splitlines()]
    return folders


class Banned(support.TestCase):
    HEADER = support.ROOT / "src/base/banned.h"

    def compile(self, compiler, line):
        return subprocess.run([compiler, "-x", "c", "-O2", "-Werror", "-D_GNU_SOURCE", "-D_FORTIFY_SOURCE=2",
                               "-include", self.HEADER, "-c", "-", "-o", "/dev/null"],
                              input=line, capture_output=True, text=True)

    def test_every_compiler_refuses_what_is_banned_and_nothing_else(self):
        for compiler in filter(shutil.which, ("gcc", "clang")):
            with self.subTest(compiler=compiler):
                done = self.compile(compiler, "int x;\n")
                self.assertEqual(done.returncode, 0, done.stderr)
                done = self.compile(compiler, "char b[9]; int f(void) { return sprintf(b, \"1\"); }\n")
                self.assertIn("poisoned", done.stderr)


class Build(support.TestCase):
    def refuse_tool(self, name, pattern="*"):
        """A program that comes before the one of this name, and fails for such arguments."""
        folder = pathlib.Path(self.path("bin"))
        folder.mkdir(exist_ok=True)
        tool = folder / name
        tool.write_text("#!/bin/sh\n"
                        f"case \" $* \" in {pattern}) exit 1 ;; esac\n"
                        f'exec {shutil.which(name)} "$@"\n')
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)

    def meson(self, *words, **extra):
        environment = {**os.environ, **extra, "PATH": f"{self.path('bin')}:{os.environ['PATH']}"}
        done = subprocess.run(["meson", *words], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def setup(self, *options):
        folder = self.path("build")
        self.meson("setup", folder, str(support.ROOT), *options)
        return folder

    def introspect(self, what):
        done = subprocess.run(["meson", "introspect", self.path("build"), f"--{what}"],
                              capture_output=True, check=True)
        return json.loads(done.stdout)

    def ninja(self, *targets):
        done = subprocess.run(["ninja", "-C", self.path("build"), *targets], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_library_alone_lands_where_it_is_looked_for(self):
        self.refuse_tool("dpkg-architecture")
        self.refuse_tool("pkg-config", "*lib[a-z]*|*jansson*|*cmocka*")
        self.setup("-Dlib-only=true", "--prefix=/usr/local")
        self.ninja()
        root = pathlib.Path(self.path("root"))
        self.meson("install", "-C", self.path("build"), "--no-rebuild", DESTDIR=str(root))
        files = {path.name: path for path in root.rglob("*")}
        self.assertIn("taskscope.h.3", files)
        self.assertNotIn("taskscope.1", files)
        folder = files["libtaskscope.so.1"].parent.relative_to(root)
        self.assertIn(f"/{folder}", loader_folders())
        searched = subprocess.run(["pkg-config", "--variable", "pc_path", "pkg-config"],
                                  capture_output=True, text=True, check=True).stdout.strip()
        self.assertIn(f"/{files['taskscope.pc'].parent.relative_to(root)}", searched.split(":"))

    def test_a_plain_build_needs_nothing_of_the_tests(self):
        self.refuse_tool("pkg-config", "*cmocka*")
        self.refuse_tool("cmake")
        folder = self.setup()
        names = {target["name"] for target in self.introspect("targets")
                 if target["build_by_default"]}
        self.assertIn("taskscope", names)
        places = [target["defined_in"] for target in self.introspect("targets")]
        self.assertFalse([place for place in places if "/tests/" in place or "/examples/" in place])
        self.assertFalse(names & {"demo", "threads", "measure"})
        self.assertFalse(options_of(folder)["werror"])

    def test_make_builds_nothing_of_the_tests_even_where_it_could(self):
        # A make that runs the tests would say where it goes.
        done = subprocess.run(["make", "-n", "--no-print-directory", "-f", support.ROOT / "Makefile",
                               "PACKAGES=true", "configure"],
                              cwd=self.folder.name, capture_output=True, text=True, check=True)
        self.assertIn("meson setup build ", done.stdout)
        command = done.stdout.replace("meson setup build ", f"meson setup build {support.ROOT} ")
        subprocess.run(["sh", "-e", "-c", command], cwd=self.folder.name, capture_output=True, check=True)
        steps = subprocess.run(["ninja", "-C", self.path("build"), "-n"], capture_output=True, text=True,
                               check=True).stdout
        self.assertIn("Linking target taskscope\n", steps)
        self.assertNotRegex(steps, "(object|target) (tests|examples|bench)/")

    def test_a_build_without_bpf_needs_no_tools_for_it(self):
        self.refuse_tool("pkg-config", "*libbpf*")
        self.refuse_tool("clang")
        self.refuse_tool("bpftool")
        self.setup("-Dbpf=disabled")
        self.assertFalse([target["name"] for target in self.introspect("targets")
                          if ".bpf.o" in target["name"]])
        self.assertNotIn("libbpf", [library["name"] for library in self.introspect("dependencies")])
        self.ninja("src/collect/libcollect.a.p/task_no_task_iterator.c.o",
                   "src/trace/libtrace.a.p/bpf_no_bpf_tracer.c.o")

    def test_a_build_without_jemalloc_has_none_of_its_code(self):
        self.setup("-Djemalloc=disabled")
        sources = [source for target in self.introspect("targets") for group in target["target_sources"]
                   for source in group.get("sources", [])]
        self.assertFalse([source for source in sources if "/host/oracle/" in source and "helper" not in source])
        self.assertFalse([source for source in sources if "/jemalloc/jemalloc" in source])
        self.ninja("src/collect/libcollect.a.p/jemalloc_no_jemalloc.c.o")

    def test_a_build_without_the_page_says_why(self):
        # Without what npm fetches, as where there is no network.
        self.refuse_tool("npm")
        folder = pathlib.Path(self.setup())
        self.ninja("src/export/web_page.h")
        self.assertTrue((folder / "web/report.html").read_text().startswith("npm could not fetch"))
        self.meson("configure", str(folder), "-Dweb=disabled")
        self.ninja("src/export/web_page.h")
        self.assertEqual((folder / "web/absent.txt").read_text(), "taskscope was built with -Dweb=disabled\n")

    def test_the_manual_is_made_without_the_program(self):
        cross = self.path("cross.ini")
        pathlib.Path(cross).write_text(CROSS)
        folder = pathlib.Path(self.setup("--cross-file", cross))
        self.ninja("man/taskscope.1", "man/taskscope-show.1", "man/taskscope-metrics.7")
        self.assertFalse((folder / "taskscope").exists())
        self.assertIn("show", (folder / "man/taskscope.1").read_text())


@unittest.skipIf(is_sanitized(), "sanitizers do the work of some of these")
class Hardening(support.TestCase):
    def read(self, path):
        done = subprocess.run(["readelf", "--wide", "--file-header", "--program-headers", "--dynamic",
                               "--dyn-syms", path], capture_output=True, text=True, check=True)
        return done.stdout

    def check(self, path, *, is_program, is_fortified=True):
        text = self.read(path)
        self.assertRegex(text, r"Type: +DYN")
        if is_program:
            self.assertRegex(text, r"FLAGS_1.*\bPIE\b")
        self.assertIn("GNU_RELRO", text)
        self.assertRegex(text, r"FLAGS_1.*\bNOW\b")
        self.assertRegex(text, r"GNU_STACK .* RW +0x")
        self.assertIn("__stack_chk_fail", text)
        if is_fortified:
            self.assertRegex(text, r"\b__\w+_chk\b")

    def test_the_program(self):
        self.check(support.TASKSCOPE, is_program=True)

    def test_the_library(self):
        self.check(LIBRARY, is_program=False)

    def test_the_embedded_helper(self):
        self.check(HELPER, is_program=True, is_fortified=False)  # it calls nothing that could be


if __name__ == "__main__":
    support.main()
