# SPDX-License-Identifier: MIT
"""Completion in the real shells: bash and zsh on a terminal, where a key is pressed, and fish, which says
what it would offer.  Each is asked the same; names of processes that strangers chose do no harm."""
import contextlib
import os
import pathlib
import pty
import select
import shutil
import subprocess
import tempfile
import time
import unittest

import support

# A name that a shell would run, or that a terminal or a script would take for something else.
HOSTILE = "zq$(touch own)"

SLEEPER = """
import ctypes, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
print(flush=True)
time.sleep(1000)
"""


@contextlib.contextmanager
def named(name):
    """A process of that name."""
    with subprocess.Popen(["python3", "-c", SLEEPER, name], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


class Terminal:
    """An interactive shell; `line` has the command line after a key was pressed."""

    def __init__(self, command, setup, folder, environment):
        self.result = pathlib.Path(folder) / "line"
        self.shown = ""
        pid, self.master = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.pid = pid
        self.type(setup + "\necho 're''ady'\n")
        self.wait_for("ready")

    def type(self, text):
        os.write(self.master, text.encode())

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.shown += os.read(self.master, 65536).decode(errors="replace")

    def wait_for(self, text):
        end = time.monotonic() + support.HANG
        while text not in self.shown:
            if time.monotonic() > end:
                raise AssertionError(f"no {text!r} in {self.shown!r}")
            self.read(0.1)

    def line(self, typed):
        """What the line becomes by TAB; \\C-t writes it to a file."""
        self.result.unlink(missing_ok=True)
        self.type("\x15" + typed + "\t\x14")

        def written():
            self.read(0.01)
            return self.result.exists() and self.result.read_text().endswith("\n")

        support.wait_until(written)
        return self.result.read_text()[:-1]

    def offers(self, typed, *expected):
        """That TAB, and again, shows all of these."""
        self.shown = ""
        self.type("\x15" + typed + "\t\t")
        for text in expected:
            self.wait_for(text)

    def close(self):
        with contextlib.suppress(OSError):
            self.type("\x15exit\n")
        os.close(self.master)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


class Case(support.TestCase):
    shell = None

    def setUp(self):
        super().setUp()
        if not shutil.which(self.shell):
            self.skipTest(f"there is no {self.shell}")
        bin_folder = pathlib.Path(self.folder.name) / "bin"
        bin_folder.mkdir()
        (bin_folder / "taskscope").symlink_to(os.path.abspath(support.TASKSCOPE))
        self.environment = {"PATH": f"{bin_folder}:{os.environ['PATH']}", "HOME": self.folder.name,
                            "TERM": "xterm", "COLUMNS": "200", "LANG": "C.UTF-8", "PS1": "> "}
        self.script = self.path("script")
        pathlib.Path(self.script).write_text(self.accept("--completions", self.shell))
        self.work = pathlib.Path(self.folder.name) / "work"
        self.work.mkdir()
        for name in ["first.tscope", "second.jsonl", "other.txt", "rec.db"]:
            (self.work / name).touch()

    def check(self, line, offers):
        """`line(typed)` is the line after TAB; `offers(typed, text...)` checks what is shown."""
        for typed, completed in [
                ("taskscope rep", "taskscope report "),
                ("taskscope help doc", "taskscope help doctor "),
                ("taskscope show --fore", "taskscope show --forest "),
                ("taskscope show --format js", "taskscope show --format json "),
                ("taskscope show --format=js", "taskscope show --format=json "),
                ("taskscope show -m minflt,majf", "taskscope show -m minflt,majflt "),
                ("taskscope show --metrics=minflt,majf", "taskscope show --metrics=minflt,majflt "),
                ("taskscope show -s wait_time_", "taskscope show -s wait_time_ns "),
                ("taskscope show --sections cgr", "taskscope show --sections cgroups "),
                ("taskscope compare --columns befo", "taskscope compare --columns before "),
                ("taskscope events --kind oo", "taskscope events --kind oom "),
                ("taskscope help fil", "taskscope help filter "),
                ("taskscope report sec", "taskscope report second.jsonl "),
                ("taskscope show fi", "taskscope show first.tscope "),
                ("taskscope events --store re", "taskscope events --store rec.db "),
                ("taskscope run -q -- tasksc", "taskscope run -q -- taskscope "),
                ("taskscope run -d 1s tasksc", "taskscope run -d 1s taskscope "),
                ("taskscope run -- cat oth", "taskscope run -- cat other.txt ")]:
            with self.subTest(typed=typed):
                self.assertEqual(line(typed), completed)
        # An operator follows; fish puts a blank before it, which means nothing.
        self.assertEqual(line("taskscope show --filter pcom").rstrip(), "taskscope show --filter pcomm")
        with named("harmless-name") as pid:
            offers("taskscope why -p ", str(pid), "harmless-name")
            self.assertEqual(line("taskscope why harml"), "taskscope why harmless-name ")
            self.assertEqual(line("taskscope show -p 1,harml"), "taskscope show -p 1,harmless-name ")
        with named(HOSTILE) as pid:
            offers("taskscope show -p 1,", f"1,{pid}", "touch own")
            self.check_quoted(line("taskscope history --name zq"))
        self.assertFalse((self.work / "own").exists())

    def check_quoted(self, line):
        """The shell would pass the name on as it is."""
        words = subprocess.run([self.shell, "-c", "printf '%s\\n' " + line.partition("--name ")[2]],
                               capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(words, [HOSTILE])


class Bash(Case):
    shell = "bash"
    SETUP = ("bind 'set bell-style none'; bind 'set completion-query-items 0'; bind 'set page-completions off'; "
             "bind -x '\"\\C-t\": printf \"%s\\n\" \"$READLINE_LINE\" > ../line'; source ../script")

    def start(self, *more):
        setup = "; ".join([self.SETUP, *more])
        terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], "cd work; " + setup, self.folder.name,
                            self.environment)
        self.addCleanup(terminal.close)
        return terminal

    def test_everything_is_completed(self):
        terminal = self.start()
        self.check(terminal.line, terminal.offers)

    def test_a_command_is_completed_by_its_own_completion(self):
        terminal = self.start("source /usr/share/bash-completion/bash_completion",
                              "_own() { COMPREPLY=(of-its-own); }; complete -F _own cat")
        self.assertEqual(terminal.line("taskscope run --color=never -- cat "),
                         "taskscope run --color=never -- cat of-its-own ")


class Zsh(Case):
    shell = "zsh"

    def test_everything_is_completed(self):
        setup = ("cd work; unsetopt beep; LISTMAX=10000; bindkey -e; autoload -U compinit; compinit -u -D; "
                 "dump() { print -r -- $BUFFER > ../line }; zle -N dump; bindkey '^T' dump; source ../script")
        terminal = Terminal(["zsh", "-f", "-i"], setup, self.folder.name, self.environment)
        self.addCleanup(terminal.close)
        self.check(terminal.line, terminal.offers)
        self.assertEqual(terminal.line("taskscope run -- git --versi"), "taskscope run -- git --version ")

    def test_it_is_loaded_by_compinit(self):
        functions = pathlib.Path(self.folder.name) / "functions"
        functions.mkdir()
        shutil.copy(support.ROOT / "completions/taskscope.zsh", functions / "_taskscope")
        setup = ("cd work; unsetopt beep; LISTMAX=10000; bindkey -e; fpath=(../functions $fpath); autoload -U compinit; "
                 "compinit -u -D; dump() { print -r -- $BUFFER > ../line }; zle -N dump; bindkey '^T' dump")
        terminal = Terminal(["zsh", "-f", "-i"], setup, self.folder.name, self.environment)
        self.addCleanup(terminal.close)
        self.assertEqual(terminal.line("taskscope rep"), "taskscope report ")
        self.assertEqual(terminal.line("taskscope show --fore"), "taskscope show --forest ")


class Fish(Case):
    shell = "fish"

    def offered(self, typed):
        done = subprocess.run(["fish", "--no-config", "-c", "source ../script; complete --escape -C $argv[1]", typed],
                              env=self.environment, cwd=self.work, capture_output=True, text=True,
                              timeout=support.HANG)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_everything_is_completed(self):
        def line(typed):
            offered = [one.partition("\t")[0] for one in self.offered(typed)]
            self.assertEqual(len(offered), 1, offered)
            # complete -C gives it as it would be typed
            return typed[:len(typed) - len(typed.split(" ")[-1])] + offered[0] + " "

        def offers(typed, *expected):
            text = "\n".join(self.offered(typed))
            for one in expected:
                self.assertIn(one, text)

        self.check(line, offers)
        offers("taskscope show --fo", "--forest\t", "--format\t")


if __name__ == "__main__":
    support.main()
