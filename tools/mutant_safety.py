# SPDX-License-Identifier: MIT
"""Keeps a mutant from harming the machine: it may do anything that the program under test could do by mistake."""
import contextlib
import ctypes
import errno
import os
import pathlib
import platform
import shutil
import struct
import subprocess


def forbid_signals_to_all():
    """A mutant may send a signal to -1, which means every process of the host, or to 1: for all that is
    started here, the kernel refuses that."""
    number = {"x86_64": 62, "aarch64": 129}[platform.machine()]
    load, is_equal, answer = 0x20, 0x15, 0x06
    steps = [(load, 0, 0, 0), (is_equal, 0, 6, number),                         # kill()
             (load, 0, 0, 16), (is_equal, 1, 0, 0xffffffff), (is_equal, 0, 3, 1),  # of -1 or 1
             (load, 0, 0, 24), (is_equal, 1, 0, 0),                             # with a signal
             (answer, 0, 0, 0x50000 | errno.EPERM), (answer, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    call = ctypes.CDLL(None, use_errno=True).prctl
    if os.geteuid() != 0:
        call(38, 1, 0, 0, 0)  # no new privileges, or a filter is not for us to set
    if call(22, 2, program) != 0:
        raise SystemExit("mutants: the kernel takes no filter, without which a mutant could end every process")


# Where tests make files; what is there now is hidden from mutants.  Only root can write to the last ones.
SCRATCH = {"/tmp": 0o1777, "/var/tmp": 0o1777, "/var/lib": 0o755, "/var/cache": 0o755}


@contextlib.contextmanager
def protected_files(copy):
    """A mutant may remove or overwrite any file.  What is started meanwhile can write only the copy, new
    folders inside the copy in the place of SCRATCH, the compiler's cache, and what the kernel offers in
    /proc, /sys and /dev.  Only root can arrange that; for a plain user nothing changes."""
    if os.geteuid() != 0:
        yield
        return
    call = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    if call.unshare(0x20000) != 0:  # CLONE_NEWNS
        raise SystemExit("mutants: no mount namespace, without which a mutant could remove any file")
    try:
        fd = os.open(copy, os.O_PATH)
        make_read_only(copy, pathlib.Path(f"/proc/{os.getpid()}/fd/{fd}"))
        os.close(fd)
        yield
    finally:
        if call.setns(before, 0) != 0:
            raise SystemExit(f"mutants: no way back to the files of all: {os.strerror(ctypes.get_errno())}")
        os.close(before)
        shutil.rmtree(copy / f"scratch-{os.getpid()}", ignore_errors=True)


def make_read_only(copy, opened):
    """All of this mount namespace, but what protected_files() names.  `opened` is the copy, too, even
    where its name is hidden."""
    mount = lambda *words: subprocess.run(["mount", "--no-canonicalize", *map(str, words)], check=True)  # noqa: E731
    mount("--make-rprivate", "/")
    places = {line.split()[4] for line in open("/proc/self/mountinfo", encoding="utf-8")}
    if shutil.which("ccache"):
        cache = subprocess.check_output(["ccache", "-k", "cache_dir"], text=True).strip()
        if os.path.isdir(cache):
            mount("--bind", cache, cache)
    for place, mode in SCRATCH.items():
        scratch = opened / f"scratch-{os.getpid()}" / place[1:]
        scratch.mkdir(parents=True)
        scratch.chmod(mode)
        mount("--bind", scratch, place)
    copy.mkdir(parents=True, exist_ok=True)
    mount("--bind", opened, copy)
    for place in sorted(places):
        if not place.startswith(("/proc", "/sys", "/dev", *SCRATCH)):
            mount("-o", "remount,bind,ro", place)
