#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzzes every parser for a while, as many at a time as there are CPUs: usage: run.py SECONDS [PARSER...]

Inputs that reach new code are kept below build-fuzz/corpus; an input that breaks a parser is left
there as crash-*, and belongs into tests/fuzz/corpus/<parser>/ together with the repair.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import run as tests  # noqa: E402  (its table knows how the fuzz build is made)


def fuzz(target, seconds):
    parser = target.name.removeprefix("fuzz_")
    found = ROOT / "build-fuzz" / "corpus" / parser
    found.mkdir(parents=True, exist_ok=True)
    result = subprocess.run([
        target, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
        "-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={found}/",
        found, ROOT / "tests" / "fuzz" / "corpus" / parser],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(f"== {parser}, {seconds} s\n{result.stdout.decode(errors='replace')}", flush=True)
    return result.returncode


def main():
    seconds, wanted = sys.argv[1], sys.argv[2:]
    folder, compiler, options, _ = tests.BUILDS[-1]
    names = [source.stem for source in sorted((ROOT / "tests/fuzz").glob("fuzz_*.c"))
             if not wanted or source.stem.removeprefix("fuzz_") in wanted]
    targets = [ROOT / folder / "tests/fuzz" / name for name in names]
    if not tests.setup(folder, compiler, options) or \
            subprocess.run(["ninja", "-C", folder, *(f"tests/fuzz/{name}" for name in names)], cwd=ROOT).returncode != 0:
        return 1
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        codes = pool.map(lambda target: fuzz(target, seconds), targets)
        broken = [target.name for target, code in zip(targets, codes) if code != 0]
    print(f"{len(targets)} parsers fuzzed, {len(broken)} broken" + "".join(f" {name}" for name in broken))
    return 1 if broken or not targets else 0


if __name__ == "__main__":
    sys.exit(main())
