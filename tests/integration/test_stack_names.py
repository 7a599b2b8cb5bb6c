#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names in stacks: programs in every shape print which functions a stack of theirs must have."""
import os
import pathlib
import re
import subprocess
import unittest

import kernel
import support

SOURCE = support.ROOT / "tests/integration/names_workload.c"
CPLUSPLUS = """
#include <ctime>
#include <cstdio>
namespace shapes {
volatile unsigned long sum;
template <typename Number> struct square {
    __attribute__((noinline)) static void area(Number rounds)
    {
        for (Number i = 0; i < rounds; i++)
            sum = sum + i;
    }
};
}
int main()
{
    std::puts("main;shapes::square<unsigned long>::area(unsigned long)");
    while (std::clock() < CLOCKS_PER_SEC)
        shapes::square<unsigned long>::area(1000000);
}
"""


@unittest.skipUnless(kernel.has_bpf(), "needs BPF")
class StackNames(support.TestCase):
    def build(self, name, *options, compiler="cc", source=SOURCE):
        path = self.path(name)
        subprocess.run([compiler, "-O2", "-fomit-frame-pointer", "-Wl,--build-id=sha1", *options, "-o", path,
                        str(source), "-ldl"], check=True)
        return path

    def stacks(self, *command, prefix=()):
        """The stacks on the CPU, and what the command printed: functions from the outermost on."""
        out = self.path("it.folded")
        done = subprocess.run([support.TASKSCOPE, "run", "-q", "-F", "199", "-o", out, "--", *prefix, *command],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=support.go_first,
                              timeout=support.HANG, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = pathlib.Path(out).read_text().splitlines()
        stacks = [line.rpartition(" ")[0] for line in lines if line.startswith("on-cpu;")]
        self.assertTrue(stacks)
        return stacks, done.stdout.strip()

    def assert_named(self, *command, prefix=()):
        stacks, told = self.stacks(*command, prefix=prefix)
        self.assertTrue(any(told in stack for stack in stacks), (told, stacks))

    def test_programs_of_every_kind_have_names(self):
        for name, *options in [("pie", "-g0", "-fPIE", "-pie"), ("fixed", "-g0", "-fno-pie", "-no-pie"),
                               ("static", "-g0", "-static")]:
            with self.subTest(name):
                self.assert_named(self.build(name, *options), "program")

    def test_inlined_functions_are_between_their_callers_and_what_they_call(self):
        stacks, told = self.stacks(self.build("debug", "-g"), "program")
        told = told.replace(";", ";compute_inlined_[i];")
        self.assertTrue(any(f"main;{told}" in stack for stack in stacks), (told, stacks))

    def test_names_of_cplusplus_are_those_of_its_source(self):
        source = pathlib.Path(self.path("shapes.cc"))
        source.write_text(CPLUSPLUS)
        self.assert_named(self.build("cplusplus", compiler="c++", source=source))

    def test_a_program_that_deletes_its_file_has_names(self):
        self.assert_named(self.build("deleted"), "deleted")

    def test_a_library_that_is_loaded_later_has_names(self):
        library = self.build("library.so", "-shared", "-fPIC", "-DLIBRARY")
        self.assert_named(self.build("program"), "library", library)

    def test_functions_without_a_name_are_shown_by_their_module(self):
        program = self.build("stripped", "-s")
        stacks, told = self.stacks(program, "program")
        self.assertFalse(any(told in stack for stack in stacks))
        self.assertTrue(any(re.search(r"__libc_start_call_main;main;\[stripped\+0x[0-9a-f]+\];", stack)
                            for stack in stacks), stacks)

    def strip(self, program, debug):
        subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
        subprocess.run(["strip", program], check=True)

    def test_a_stripped_program_is_named_by_the_debug_file_beside_it(self):
        program = self.build("apart", "-g0")
        self.strip(program, program + ".debug")
        self.assert_named(program, "program")

    @unittest.skipUnless(support.is_root(), "needs root")
    def test_a_debug_file_is_found_where_the_process_sees_it(self):
        root = pathlib.Path(self.path("root"))
        root.mkdir()
        program = self.build("root/program", "-static")
        notes = subprocess.run(["readelf", "-n", program], check=True, capture_output=True, text=True).stdout
        build_id = re.search(r"Build ID: (\w+)", notes)[1]
        place = root / "usr/lib/debug/.build-id" / build_id[:2]
        place.mkdir(parents=True)
        self.strip(program, str(place / (build_id[2:] + ".debug")))
        os.chmod(root, 0o755)
        self.assert_named("/program", "program", prefix=("chroot", str(root)))

    def test_code_of_a_jit_compiler_has_the_names_of_its_map(self):
        self.assert_named(self.build("jit"), "jit")

    @unittest.skipUnless(support.is_root() and support.has_namespaces(), "needs root and PID namespaces")
    def test_the_map_of_a_jit_compiler_has_the_pid_of_its_namespace(self):
        self.assert_named(self.build("jit"), "jit", prefix=support.NAMESPACE)


if __name__ == "__main__":
    unittest.main()
