# SPDX-License-Identifier: MIT
"""layers.py must be able to fail: each rule is broken once in a scratch tree."""
import pathlib
import tempfile
import unittest

import layers


class Layers(unittest.TestCase):
    def complaints(self, path, text):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            file = root / path
            file.parent.mkdir(parents=True)
            file.write_text(text)
            count, complaints = layers.check(root)
            self.assertEqual(count, 1)
            return complaints

    def accepts(self, path, text):
        self.assertEqual(self.complaints(path, text), [])

    def refuses(self, path, text):
        self.assertEqual(len(self.complaints(path, text)), 1)

    def test_an_include_may_point_down(self):
        self.accepts("src/collect/a.c", '#include "host/host.h"\n#include "base/text.h"\n')
        self.accepts("src/collect/a.c", '#include <stdio.h>\n#include "task.skel.h"\n')

    def test_an_include_may_not_point_up(self):
        self.refuses("src/base/a.c", '#include "metric/metric.h"\n')

    def test_an_include_may_not_point_to_a_neighbour(self):
        self.refuses("src/model/a.h", '#  include "host/host.h"\n')
        self.refuses("src/store/a.c", '#include "collect/collect.h"\n')

    def test_an_include_names_its_folder(self):
        self.refuses("src/base/a.c", '#include "text.h"\n')

    def test_the_kernel_side_sees_nothing_of_the_program(self):
        self.refuses("bpf/a.bpf.c", '#include "base/text.h"\n')
        self.accepts("bpf/a.bpf.c", '#include "task.h"\n')

    def test_the_library_shares_a_layout_and_a_table(self):
        self.accepts("src/lib/a.c", '#include "base/scope_layout.h"\n')
        self.accepts("src/lib/a.c", '#include "base/syscall/syscall_numbers.def"\n')
        self.refuses("src/lib/a.c", '#include "base/text.h"\n')

    def test_a_new_folder_needs_a_row(self):
        self.refuses("src/utils/a.c", "\n")

    def test_only_host_spells_proc(self):
        self.accepts("src/host/a.c", 'int a = open("/proc", 0);\n')
        self.refuses("src/collect/a.c", 'int a = open("/proc/self/stat", 0);\n')

    def test_comments_and_sentences_may_speak_of_proc(self):
        self.accepts("src/collect/a.c", '/* "/proc/stat" */\nchar q = \'"\'; // "/proc"\n')
        self.accepts("src/metric/a.def", 'ROW(a, "as in /proc/PID/stat")\n')

    def test_a_folder_has_room_for_so_many_files(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "src/base"
            folder.mkdir(parents=True)
            for number in range(layers.ROOM_MAX):
                (folder / f"file{number}.c").write_text("\n")
            self.assertEqual(layers.check(pathlib.Path(scratch))[1], [])
            (folder / "one_more.h").write_text("\n")
            self.assertEqual(len(layers.check(pathlib.Path(scratch))[1]), 1)


if __name__ == "__main__":
    unittest.main()
