#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a small root under one of Debian's kernels: usage: record.py SERIES WORKLOAD DIRECTORY

This is how tests/data/roots/debian-* are made: the workload, init and one kernel thread, with
scheduler statistics and delay accounting on.
"""
import pathlib
import shutil
import sys

import vm


def body():
    series, workload, directory = sys.argv[1:]
    with vm.boot(series, vm.tools(workload), vm.HERE / "record.job") as out:
        shutil.copytree(out / "root", directory, symlinks=True)
    count = sum(path.is_file() for path in pathlib.Path(directory).rglob("*"))
    print(f"{directory}: {count} files")
    return 0


if __name__ == "__main__":
    sys.exit(vm.main(body))
