# SPDX-License-Identifier: MIT
"""What the library shows to the linker, and that header, version script and manual say the same."""
import itertools
import os
import pathlib
import re
import shutil
import subprocess

import library
import support

BUILD = pathlib.Path(os.environ["TASKSCOPE_BUILD"])
SHARED = BUILD / "src/lib/libtaskscope.so"
STATIC = BUILD / "src/lib/libtaskscope.a"
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Werror"]
DIALECTS = [("c11", "c"), ("c17", "c"), ("gnu17", "c"), ("c++98", "c++"),
            ("c++11", "c++"), ("c++14", "c++"), ("c++17", "c++")]

# Every macro, twice in one block, and a label that is only known at run time, by way of a function
# that is inlined: what looks constant there must not become the label of the call site.
USES = r"""
#include <taskscope.h>
__attribute__((always_inline)) static inline struct taskscope_scope named(const char *label)
{
	return taskscope_enter(label);
}
int main(void)
{
	TASKSCOPE("one");
	TASKSCOPE("two"); TASKSCOPE("three");
	struct taskscope_scope first = named("first");
	struct taskscope_scope second = named("second");
	struct taskscope_scope literal = taskscope_enter("literal");
	struct taskscope_progress progress = taskscope_begin("progress", 1);
	taskscope_limit(progress.scope, TASKSCOPE_NEVER);
	taskscope_advance(&progress, 1);
	taskscope_end(&progress);
	taskscope_leave(literal);
	taskscope_leave(second);
	taskscope_leave(first);
	return 0;
}
"""


# Prints offset and size of a field.
FIELD = 'printf("%zu %zu\\n", offsetof({0}, {1}), sizeof((({0} *)0)->{1}));'


def documented_fields():
    """(structure, field, offset, size) of each row of the tables of the memory."""
    text = (support.ROOT / "docs/scopes.md").read_text()
    for structure, table in re.findall(r"### `(struct \w+)`\n(.*?)(?=\n###|\Z)", text, re.S):
        for offset, size, field in re.findall(r"(?m)^\| (\d+) \| (\d+) \| `(\w+)`", table):
            yield structure, field, int(offset), int(size)


def output_of(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, check=True,
                          text=True).stdout


class Library(support.TestCase):
    def test_the_header_declares_functions(self):
        names = library.functions()
        self.assertEqual(len(set(names)), len(names))
        self.assertIn("taskscope_start", names)
        self.assertIn("taskscope_begin_site", names)
        self.assertNotIn("taskscope_leave_pointer", names)

    def test_what_is_exported_is_what_the_header_declares(self):
        lines = output_of("nm", "-D", "--defined-only", SHARED).splitlines()
        symbols = [line.split() for line in lines]
        self.assertEqual(sorted(name for _, kind, name in symbols if kind != "A"),
                         sorted(f"{name}@@{library.node(name)}" for name in library.functions()))
        self.assertEqual([name for _, kind, name in symbols if kind == "A"],
                         ["TASKSCOPE_1.0", "TASKSCOPE_1.1"])

    def test_the_static_library_defines_nothing_else_that_could_clash(self):
        lines = output_of("nm", "-g", "--defined-only", STATIC).splitlines()
        self.assertEqual(sorted(line.split()[2] for line in lines if len(line.split()) == 3),
                         library.functions())

    def test_it_needs_the_c_library_and_nothing_else(self):
        needed = [line.split()[0] for line in output_of("ldd", SHARED).splitlines()]
        others = [name for name in needed
                  if not re.match(r"(linux-vdso|libc|/.*/ld-linux|ld-linux).*\.so", name)]
        self.assertEqual(others, [])
        self.assertIn("(SONAME)             Library soname: [libtaskscope.so.1]",
                      output_of("readelf", "-d", SHARED))

    def test_every_function_is_in_the_manual(self):
        page = (support.ROOT / "man/taskscope.h.3.scd").read_text()
        synopsis, rest = page.split("# DESCRIPTION")
        for name in library.functions():
            self.assertRegex(synopsis, rf"\b{name}\(")
            self.assertRegex(rest, rf"(?m)^\*[a-z].*\b{name}\(")
        for name in re.findall(r"^ \*\t(TASKSCOPE\w*)", library.HEADER.read_text(), re.M):
            self.assertIn(f"\n*{name}*\n", rest)

    def test_the_documented_memory_is_the_real_one(self):
        fields = list(documented_fields())
        prints = "".join(FIELD.format(structure, field) for structure, field, _, _ in fields)
        source = pathlib.Path(self.path("fields.c"))
        source.write_text('#include <stdio.h>\n#include "base/scope_layout.h"\n'
                          f"int main(void)\n{{\n{prints}\nreturn 0;\n}}\n")
        output_of("gcc", f"-I{support.ROOT}/src", source, "-o", self.path("fields"))
        real = [tuple(map(int, line.split())) for line in output_of(self.path("fields")).splitlines()]
        self.assertEqual([(offset, size) for _, _, offset, size in fields], real)
        # With no gap: every field is there.
        for structure in {field[0] for field in fields}:
            end = 0
            for _, _, offset, size in [field for field in fields if field[0] == structure]:
                self.assertEqual(offset, end)
                end += size

    def test_the_header_compiles_without_a_warning(self):
        source = pathlib.Path(self.path("uses"))
        source.write_text(USES)
        compilers = {"c": [name for name in ("gcc", "clang") if shutil.which(name)],
                     "c++": [name for name in ("g++", "clang++") if shutil.which(name)]}
        self.assertTrue(compilers["c"] and compilers["c++"])
        for (dialect, language), optimise in itertools.product(DIALECTS, ["-O0", "-O2"]):
            for compiler in compilers[language]:
                with self.subTest(compiler=compiler, dialect=dialect, optimise=optimise):
                    done = subprocess.run([compiler, f"-std={dialect}", *WARNINGS, optimise,
                                           f"-I{support.ROOT}/include", "-x", language, source,
                                           "-c", "-o", self.path("uses.o")],
                                          capture_output=True, text=True)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    support.main()
