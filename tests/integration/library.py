# SPDX-License-Identifier: MIT
"""What tests of libtaskscope share: what its header declares, and running programs that use it."""
import json
import os
import re
import subprocess

import support

HEADER = support.ROOT / "include/taskscope.h"
EXAMPLES = support.ROOT / "examples"


def functions():
    """The functions that the header declares, but for its own inline ones."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    text = text[:text.index("static inline")]
    return sorted(re.findall(r"^[a-z][\w \*]*?\b(taskscope_\w+)\(", text, re.M))


def environment(**more):
    """Ours without TASKSCOPE*: where the program is, is no setting of the library."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TASKSCOPE")}
    return {**kept, **more}


def node(function):
    """The version of the library that has the function first."""
    return "TASKSCOPE_1.1" if function == "taskscope_due" else "TASKSCOPE_1.0"


def documented_keys():
    """The keys of each kind of line, as the guide has them."""
    text = (support.ROOT / "docs/scopes.md").read_text()
    table = text.partition("| kind | keys, after")[2].partition("\n\n")[0]
    keys = {}
    for kinds, names in re.findall(r"(?m)^\| (`.*?`) \| (`.*`)", table):
        for kind in re.findall(r"`(\w+)`", kinds):
            keys[kind] = ["kind", "pid", *re.findall(r"`(\w+)`", names)]
    return keys


def stacks(pid, program=support.TASKSCOPE):
    """Of each thread, by the name that it gave itself, or None: (labels, is it idle, progress)."""
    done = subprocess.run([program, "scopes", "-p", str(pid), "--format", "json"],
                          capture_output=True, timeout=support.HANG)
    if done.returncode != 0:
        return {}
    seen = {}
    for process in json.loads(done.stdout)["processes"]:
        for thread in process["threads"]:
            scopes = thread["scopes"]
            seen.setdefault(thread["name"], []).append(
                ([scope["label"] for scope in scopes], thread["idle"],
                 [(scope["count"], scope["total"]) for scope in scopes]))
    return seen
