#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzzes every parser for a while: usage: run.py SECONDS [PARSER...]

Inputs that reach new code are kept below build-fuzz/corpus; an input that breaks a parser is left
there as crash-*, and belongs into tests/fuzz/corpus/<parser>/ together with the repair.
"""
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
    print(f"== {parser}, {seconds} s", flush=True)
    return subprocess.run([
        target, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
        "-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={found}/",
        found, ROOT / "tests" / "fuzz" / "corpus" / parser]).returncode


def main():
    seconds, wanted = sys.argv[1], sys.argv[2:]
    folder, compiler, options, _ = tests.BUILDS[-1]
    if not tests.setup(folder, compiler, options) or \
            subprocess.run(["ninja", "-C", folder], cwd=ROOT).returncode != 0:
        return 1
    targets = [path for path in sorted((ROOT / folder / "tests/fuzz").glob("fuzz_*"))
               if path.is_file() and (not wanted or path.name.removeprefix("fuzz_") in wanted)]
    broken = [target.name for target in targets if fuzz(target, seconds) != 0]
    print(f"{len(targets)} parsers fuzzed, {len(broken)} broken" + "".join(f" {name}" for name in broken))
    return 1 if broken or not targets else 0


if __name__ == "__main__":
    sys.exit(main())
