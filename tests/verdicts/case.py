# SPDX-License-Identifier: MIT
"""One program of the corpus, with what limits it: the format of every cases_*.py and of blind.py.

A truth is known because the program was built to have it, never because of what taskscope says of it.

command   what is watched: words, split as a shell would; or sh(TEXT), which is `sh -c TEXT`.
          Names that both may use: $W (folder of the workloads: `$W/shapes` lists its shapes), $DATA
          (folder of data.py: naming $DATA/text makes it), $PORT (a free port of the loopback interface),
          $READY (a file: if `beside` makes it, the command starts only then), $BEGUN (a file: attach and
          why wait for it), $MS (for how long to go on: 1500 for `run`, a minute for `attach` and `why`,
          which end the command when they are through).
verb      run: taskscope starts the command; attach, why: it is watched for 1.5 s after it started.
accept    the causes that are right, best first, in one string; the words of causes.def.
truth     why that is so, in one sentence.
busy      causes that are right too while others want the CPUs: for a program of many short waits, since
          it is the next one to run after each of them, and not the one that runs.
named     a regular expression that the answer must contain: who or what it is.
beside    a shell script that runs outside the watched tree, from before the command to its end.
prepare   a shell script that runs to its end before.
limit     "cpu 0.3" (CPUs), "memory 32M", "write 4M" (bytes a second) or "frozen": the command is in a
          cgroup of its own with that limit, which needs root.
target    attach, why: watch the descendant of that name instead of the command.
seconds   run: end the command after that time, since it does not end by itself.
needs     programs without which the case is left out.
core      also played by tests/integration/test_verdict.py.
"""
import dataclasses
import importlib
import pathlib


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    command: object
    accept: str
    truth: str
    verb: str = "run"
    busy: str = ""
    named: str = ""
    beside: str = ""
    prepare: str = ""
    limit: str = ""
    target: str = ""
    seconds: float = 0
    needs: str = ""
    core: bool = False

    @property
    def causes(self):
        return self.accept.split()

    @property
    def texts(self):
        """All that may name $DATA, $PORT or $READY."""
        return " ".join([self.command if isinstance(self.command, str) else " ".join(self.command),
                         self.beside, self.prepare])


def cases_of(names):
    """The cases of all modules here whose files have such names."""
    modules = [importlib.import_module(path.stem)
               for path in sorted(pathlib.Path(__file__).resolve().parent.glob(names))]
    return [case for module in modules for case in getattr(module, "CASES", [])]


def sh(text):
    return ("sh", "-c", text)


# A redis server, of the package redis-tools: which it is depends on the name it is called by.
REDIS_SERVER = "ln -s $(command -v redis-check-rdb) redis-server; exec ./redis-server --port $PORT --save ''"

# Has the lock of wanted.lock for so many seconds.
HOLDER = """exec python3 -c "
import fcntl, time
file = open('wanted.lock', 'w')
fcntl.flock(file, fcntl.LOCK_EX)
open('$READY', 'w')
time.sleep({})" """
