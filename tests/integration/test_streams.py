# SPDX-License-Identifier: MIT
"""A file named - is standard input or output, in every verb that reads or writes files; and what is printed
there has colours only where they are wanted."""
import json
import os
import pathlib
import pty
import re
import resource
import subprocess

import support

RUNS = support.ROOT / "tests/data/runs"
CTPROF = support.ROOT / "tests/data/ctprof"
ROOT = support.ROOT / "tests/data/roots/debian-6.12"
COLOUR = re.compile("\033\\[")


def piped(data, *words, environment=None):
    done = subprocess.run([support.TASKSCOPE, *map(str, words)], input=data, capture_output=True,
                          timeout=support.HANG, env=environment)
    return done.returncode, done.stdout, done.stderr.decode()


def on_terminal(*words, environment=None):
    """Status and what it says where standard output is a terminal."""
    master, slave = pty.openpty()
    done = subprocess.run([support.TASKSCOPE, *map(str, words)], stdin=subprocess.DEVNULL, stdout=slave,
                          stderr=subprocess.PIPE, timeout=support.HANG, env=environment)
    os.close(slave)
    output = b""
    try:
        while piece := os.read(master, 65536):
            output += piece
    except OSError:  # the other end is closed
        pass
    os.close(master)
    return done.returncode, output.decode(), done.stderr.decode()


class Input(support.TestCase):
    def setUp(self):
        super().setUp()
        self.snapshot = self.path("snapshot.tscope")
        self.accept("capture", "-q", "--root", ROOT, "-o", self.snapshot)

    def same(self, path, *words):
        """A verb says the same about a file and about the pipe that it comes through."""
        with open(path, "rb") as file:
            data = file.read()
        status, out, err = piped(data, *["-" if word == path else word for word in words])
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.decode().replace("standard input", "FILE"),
                         self.accept(*words).replace(str(path), "FILE"))

    def test_snapshots_runs_and_files_of_ktstr_are_read(self):
        run, ctprof = RUNS / "build.jsonl", sorted(CTPROF.glob("*.zst"))[0]
        saved = self.path("run.tscope")
        self.assertEqual(support.run("run", "-q", "-o", saved, "--", "true")[0], 0)
        for path in [self.snapshot, run, ctprof, saved]:
            with self.subTest(path=path):
                self.same(path, "show", path)
                self.same(path, "show", path, "--json")
                self.same(path, "verify", path)
        for path in [run, saved]:
            self.same(path, "report", path)
        self.same(run, "report", run, "-o", "-.html")

    def test_one_side_of_a_comparison_is_read(self):
        with open(self.snapshot, "rb") as file:
            data = file.read()
        for sides in [("-", self.snapshot), (self.snapshot, "-")]:
            status, out, err = piped(data, "compare", *sides, "--mode", "population")
            self.assertEqual((status, err), (0, ""))
            self.assertIn(b"nothing changed", out)
        status, _, err = piped(data, "compare", "-", "-")
        self.assertEqual(status, 2)
        self.assertIn("standard input can be read only once", err)

    def test_what_cannot_come_through_a_pipe_is_refused_in_one_sentence(self):
        store = self.path("r.db")
        self.accept("record", "-q", "--store", store, "-i", "100ms", "-d", "300ms", "--no-socket")
        with open(store, "rb") as file:
            data = file.read()
        for words in [("show", "-"), ("verify", "-"), ("report", "-"), ("compare", self.snapshot, "-")]:
            status, out, err = piped(data, *words)
            self.assertEqual((status, out), (2, b""), words)
            self.assertEqual(err, "taskscope: a recording cannot be read from standard input: give the name "
                                  "of its file\n")
        for verb in ["events", "anomalies", "activity", "history", "latest", "stream", "record"]:
            self.refuse(verb, "--store", "-", says="a recording is a file")
        self.refuse("verify", store, "--repair", "-", says="a recording is a file")

    def test_bad_input_is_refused_in_one_sentence(self):
        for data in [b"", b"garbage\n", b"{garbage\n", b"\0" * 100000, pathlib.Path(self.snapshot).read_bytes()[:-1]]:
            for verb in ["show", "verify", "report"]:
                status, out, err = piped(data, verb, "-")
                self.assertEqual((status, out, err.count("\n")), (2, b"", 1), err)
                self.assertIn("standard input", err)

    def test_what_has_no_end_is_not_kept(self):
        """Nothing of ours begins so: it is refused long before it has as many bytes as a snapshot may have."""
        for verb in ["show", "verify", "report"]:
            with open("/dev/zero", "rb") as zeros:
                done = subprocess.run([support.TASKSCOPE, verb, "-"], stdin=zeros, capture_output=True, text=True,
                                      timeout=support.HANG,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (256 << 20,) * 2))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, "taskscope: standard input is neither a snapshot nor a run\n")


class Output(support.TestCase):
    def test_a_capture_goes_through_a_pipe(self):
        for ending, says in [("", "threads of"), (".tscope", "threads of"), (".ctprof.zst", "ctprof")]:
            status, data, err = piped(b"", "capture", "--root", ROOT, "-o", f"-{ending}")
            self.assertEqual(status, 0, err)
            self.assertIn("standard output", err)
            status, out, err = piped(data, "show", "-")
            self.assertEqual((status, err), (0, ""))
            self.assertIn(says, out.decode())
        self.assertFalse(os.path.exists("-.tscope"))

    def test_of_a_run_lines_are_printed_and_what_the_command_prints_is_beside_them(self):
        status, out, err = piped(b"", "run", "-q", "-o", "-", "--", "sh", "-c", "echo printed; exit 3")
        self.assertEqual((status, err), (3, "printed\n"))
        kinds = [json.loads(line)["kind"] for line in out.decode().splitlines()]
        self.assertEqual((kinds[0], kinds[-1]), ("env", "summary"))
        status, data, err = piped(b"", "run", "-q", "-o", "-.tscope", "--", "echo", "printed")
        self.assertEqual((status, err), (0, "printed\n"))
        status, out, err = piped(data, "report", "-")
        self.assertEqual(status, 0, err)
        self.assertIn(b"echo exited 0", out)

    def test_lines_of_a_run_stay_in_their_file_beside_a_page_that_is_printed(self):
        lines = self.path("run.jsonl")
        status, page, err = piped(b"", "run", "-q", "-o", lines, "-o", "-.html", "--", "echo", "printed")
        self.assertEqual((status, err), (0, "printed\n"))
        self.assertNotIn(b'{"kind":"env"', page)
        with open(lines) as file:
            kinds = [json.loads(line)["kind"] for line in file]
        self.assertEqual((kinds[0], kinds[-1]), ("env", "summary"))

    def test_profiles_go_through_a_pipe(self):
        page = self.accept("report", RUNS / "build.jsonl", "-o", "-.html")
        self.assertIn("<html", page)
        self.refuse("report", RUNS / "build.jsonl", "-o", "-", says="such as -.folded")

    def test_lines_of_a_recording_are_printed(self):
        out = self.accept("record", "-q", "--store", self.path("r.db"), "--jsonl", "-", "-i", "100ms", "-d", "500ms",
                          "--no-socket")
        self.assertTrue(all("kind" in json.loads(line) for line in out.splitlines()))
        self.assertTrue(out)

    def test_a_terminal_gets_no_binary(self):
        for words in [("capture", "--root", ROOT, "-o", "-"), ("run", "-q", "-o", "-.tscope", "--", "true"),
                      ("report", RUNS / "build.jsonl", "-o", "-.pb.gz")]:
            status, out, err = on_terminal(*words)
            self.assertEqual((status, out), (125 if words[0] == "run" else 2, ""))
            self.assertIn("cannot write a binary file to a terminal", err)


class Colour(support.TestCase):
    WORDS = [("show", "--root", ROOT), ("report", RUNS / "build.jsonl"), ("doctor",)]

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        return {**kept, "TERM": "xterm", **more}

    def test_auto_is_a_terminal_that_wants_colours(self):
        for words in self.WORDS:
            for environment, has in [(self.environment(), True), (self.environment(NO_COLOR="1"), False),
                                     (self.environment(TERM="dumb"), False)]:
                for when in [(), ("--color=auto",)]:
                    _, out, err = on_terminal(*words, *when, environment=environment)
                    self.assertEqual(bool(COLOUR.search(out)), has, (words, when, err))
            self.assertIsNone(COLOUR.search(self.accept(*words)))

    def test_the_option_decides_everywhere(self):
        for words in self.WORDS:
            self.assertRegex(self.accept(*words, "--color=always", env=self.environment(NO_COLOR="1")), COLOUR)
            _, out, _ = on_terminal(*words, "--color", "never", environment=self.environment())
            self.assertIsNone(COLOUR.search(out))

    def test_colours_change_nothing_else(self):
        for words in self.WORDS[:2]:
            coloured = self.accept(*words, "--color=always")
            self.assertEqual(re.sub("\033\\[[0-9;]*m", "", coloured), self.accept(*words))
            for form in ["--json", "--format=csv"][:1 if words[0] == "report" else 2]:
                self.assertIsNone(COLOUR.search(self.accept(*words, form, "--color=always")))

    def test_failures_and_headings_have_their_colours(self):
        status, _, err = support.run("run", "--color=always", "--", "false")
        self.assertEqual(status, 1)
        self.assertIn("\033[1;31mfalse exited 1", err)
        path = self.path("a.tscope")
        self.accept("capture", "-q", "--root", ROOT, "-o", path)
        self.assertIn("\033[1m## host", self.accept("show", path, "--sections", "host", "--color=always"))


if __name__ == "__main__":
    support.main()
