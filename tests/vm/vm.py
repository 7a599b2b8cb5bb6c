# SPDX-License-Identifier: MIT
"""Boots one of Debian's kernels under QEMU, runs a job in it and brings its files back.

The machine's user space is one initramfs: busybox, the programs that the caller names with the
shared libraries they need, and `init`, which runs the caller's job and writes what the job
left in /out to the second serial port.  Kernels are downloaded once, into the user's cache.
"""
import contextlib
import io
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
QEMU = "qemu-system-x86_64"
# Emulation, since nested virtualisation is missing or broken in most places where tests run.  Its
# virtual CPUs take turns in one thread: with a thread each, a kernel that patches its own code (a
# jump label, such as scheduler statistics being switched on) now and then runs half of the patch.
ACCELERATOR = ["-accel", "tcg,thread=single", "-cpu", "max"]

DISK_BYTES = 16 << 20


class Unavailable(Exception):
    """Something that the test needs cannot be had here."""


class Failed(Exception):
    """The machine did not do its job."""


# Kernels


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "taskscope" / "kernels"


def newest_package(series, options):
    """The newest cloud kernel of a series that apt knows, or None."""
    pattern = rf"^linux-image-{re.escape(series)}\.[0-9.]*[0-9a-z.+~-]*-cloud-amd64$"
    answer = subprocess.run(["apt-cache", *options, "search", "--names-only", pattern],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    names = [line.split()[0] for line in answer.stdout.splitlines()]
    return max(names, key=lambda name: [int(part) for part in re.findall(r"\d+", name)],
               default=None)


def own_lists(scratch):
    """Options that let apt work without root on package lists of our own, fetched now."""
    for folder in ("lists/partial", "cache/archives/partial"):
        (scratch / folder).mkdir(parents=True)
    options = ["-o", f"Dir::State::Lists={scratch}/lists", "-o", f"Dir::Cache={scratch}/cache"]
    subprocess.run(["apt-get", *options, "-qq", "update"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return options


def download(series, scratch):
    """Fetches the newest kernel of a series; returns the image."""
    options = []
    package = newest_package(series, options)
    if not package:
        options = own_lists(scratch)
        package = newest_package(series, options)
    if not package:
        raise Unavailable(f"apt knows no Debian cloud kernel {series}")
    fetched = subprocess.run(["apt-get", *options, "download", package], cwd=scratch,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if fetched.returncode != 0:
        raise Unavailable(f"cannot download {package}: {fetched.stderr.strip().splitlines()[-1]}")
    archive = next(scratch.glob("linux-image-*.deb"))
    subprocess.run(["dpkg-deb", "-x", archive, scratch / "tree"], check=True)
    return next((scratch / "tree/boot").glob("vmlinuz-*"))


def kernel(series):
    """The image of a Debian kernel, e.g. of "6.1"; the first one fetched is kept."""
    folder = cache_folder() / series
    kept = sorted(folder.glob("vmlinuz-*"))
    if kept:
        return kept[-1]
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Unavailable("fetching Debian's kernels needs apt-get and dpkg-deb")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            image = download(series, pathlib.Path(scratch))
            return image.rename(folder / image.name)
    except OSError as error:
        raise Unavailable(f"cannot keep kernels in {folder}: {error}")


# The initramfs


class Archive:
    """A cpio archive as the kernel unpacks it ("newc"); making one needs no root."""

    def __init__(self):
        self.data = io.BytesIO()
        self.folders = set()
        self.count = 0

    def entry(self, name, mode, content=b"", device=(0, 0)):
        self.count += 1
        fields = [self.count, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name) + 1, 0]
        self.data.write(b"070701" + "".join(f"{field:08x}" for field in fields).encode())
        for part in (name.encode() + b"\0", content):
            self.data.write(part)
            self.data.write(b"\0" * (-self.data.tell() % 4))

    def folder(self, name):
        for path in [*reversed(pathlib.PurePosixPath(name).parents), pathlib.PurePosixPath(name)]:
            if path.name and path not in self.folders:
                self.folders.add(path)
                self.entry(str(path), stat.S_IFDIR | 0o755)

    def file(self, name, content):
        name = name.lstrip("/")
        self.folder(str(pathlib.PurePosixPath(name).parent))
        self.entry(name, stat.S_IFREG | 0o755, content)

    def finish(self):
        self.entry("TRAILER!!!", 0)
        return self.data.getvalue()


def tools(workload):
    """What every job of ours needs, by its name in the machine."""
    return {"/bin/workload": workload, "/lib/prepare.sh": HERE / "prepare.sh",
            "/bin/record-root.sh": HERE.parent.parent / "tools" / "record-root.sh"}


def libraries(program):
    """The shared libraries of a program and its loader, where the loader looks for them."""
    listing = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True).stdout
    return re.findall(r"(?:=> |^\s+)(/\S+)", listing, re.MULTILINE)


def initramfs(programs, job):
    """An archive with busybox, programs (name in the machine: file here) and the job to run."""
    busybox = shutil.which("busybox", path=os.environ.get("PATH", "") + ":/bin:/usr/bin")
    if not busybox:
        raise Unavailable("busybox is not installed")
    files = {"/init": HERE / "init", "/job": job, "/bin/busybox": busybox, **programs}
    for program in programs.values():
        files.update({path: path for path in libraries(program)})
    archive = Archive()
    for folder in ("proc", "sys", "dev", "etc", "tmp", "out"):
        archive.folder(folder)
    archive.entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    for name, path in files.items():
        archive.file(name, pathlib.Path(path).read_bytes())
    return archive.finish()


# The machine


def disk(scratch):
    """Options for an empty disk, /dev/nvme0n1: its driver is the one that Debian builds in."""
    with open(scratch / "disk", "wb") as file:
        file.truncate(DISK_BYTES)
    return ["-drive", f"file={scratch}/disk,if=none,id=disk,format=raw",
            "-device", "nvme,serial=1,drive=disk"]


def start(image, initrd, scratch, seconds):
    """Runs the machine until it switches itself off."""
    command = [
        QEMU, *ACCELERATOR, "-smp", "2", "-m", "512", "-nodefaults", "-display", "none",
        "-no-reboot", "-kernel", image, "-initrd", initrd,
        "-append", "console=ttyS0 panic=-1 quiet no_timer_check", *disk(scratch),
        "-serial", f"file:{scratch}/console", "-serial", f"file:{scratch}/result"]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failed(f"the machine did not finish in {seconds} s")
    except subprocess.CalledProcessError as error:
        raise Failed(f"{QEMU} ended with status {error.returncode}")


@contextlib.contextmanager
def boot(series, programs, job, seconds=1000):
    """Runs a job under a kernel; the block gets the folder with what the job left in /out."""
    if os.uname().machine != "x86_64":
        raise Unavailable("the emulated machine is an x86-64 one, this build is not")
    if not shutil.which(QEMU):
        raise Unavailable(f"{QEMU} is not installed")
    image = kernel(series)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        (scratch / "initrd").write_bytes(initramfs(programs, job))
        try:
            start(image, scratch / "initrd", scratch, seconds)
            with tarfile.open(scratch / "result", "r:gz") as result:
                result.extractall(scratch / "out")
        except (Failed, tarfile.TarError, EOFError, OSError) as error:
            console = (scratch / "console").read_text(errors="replace").splitlines()[-40:]
            raise Failed("\n".join([*console, f"linux {series}: {error}"]))
        status = (scratch / "out/status").read_text().strip()
        if status != "0":
            log = (scratch / "out/log").read_text(errors="replace")
            raise Failed(f"{log}\nlinux {series}: the job ended with status {status}")
        yield scratch / "out"


def main(body):
    """Runs a test's or tool's body and turns what can go wrong into an exit status."""
    try:
        return body()
    except Unavailable as reason:
        print(f"skipped: {reason}")
        return 77
    except Failed as reason:
        print(reason, file=sys.stderr)
        return 1
