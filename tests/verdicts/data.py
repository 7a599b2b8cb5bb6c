# SPDX-License-Identifier: MIT
"""What the programs of the corpus work on, made once, always the same: $DATA/NAME for each below."""
import pathlib
import random
import re
import subprocess
import threading

LOCK = threading.Lock()

JAVA = {
    # Compiled once, so that no run of it waits for a compiler.
    "Sum": """public class Sum { public static void main(String[] a) {
        long end = System.nanoTime() + Long.parseLong(a[0]) * 1000000L, sum = 0;
        while (System.nanoTime() < end) for (int i = 0; i < 100000; i++) sum += sum * 31 + i;
        System.out.println(sum); } }""",
    # The live objects nearly fill the heap, so that collections find little, and come one after another.
    "Churn": """public class Churn { static byte[][] live = new byte[44000][];
        public static void main(String[] a) {
        long end = System.nanoTime() + Long.parseLong(a[0]) * 1000000L;
        for (int i = 0; i < live.length; i++) live[i] = new byte[1000];
        for (int i = 0; System.nanoTime() < end; i++) live[i * 7919 % live.length & 0x7fff] = new byte[1000];
        } }""",
    "Sleeper": """public class Sleeper { public static void main(String[] a) throws Exception {
        Thread.sleep(Long.parseLong(a[0])); } }""",
}


def words(count):
    generator = random.Random(1)
    known = ["".join(generator.choices("abcdefghijklmnopqrstuvwxyz", k=generator.randint(2, 11)))
             for _ in range(5000)]
    return "\n".join(" ".join(generator.choices(known, k=9)) for _ in range(count)) + "\n"


def make_text(path):
    """About 40 MB of lines."""
    path.write_text(words(600000))


def make_small(path):
    """About 4 MB of lines."""
    path.write_text(words(60000))


def make_big(path):
    """256 MB that do not compress."""
    path.write_bytes(random.Random(2).randbytes(16 << 20) * 16)


def make_copies(path):
    path.mkdir()
    for name in ("noise", "other"):
        (path / name).write_bytes(random.Random(name).randbytes(12 << 20) * 8)


def make_tree(path):
    """3,000 small files."""
    text = words(3000).splitlines()
    for i, line in enumerate(text):
        folder = path / str(i % 50)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i}.txt").write_text(line * 20)


def make_project(path):
    """A Makefile with six short compile steps and a long one."""
    path.mkdir()
    for i in range(6):
        (path / f"short{i}.c").write_text(f"int short{i}(int a) {{ return a + {i}; }}\n")
    body = "".join(f"double f{i}(double *a, int n) {{ double s = {i}; for (int i = 0; i < n; i++) "
                   f"for (int j = 0; j < {i % 7 + 3}; j++) s += a[i] * a[j] / (s + {i}) + a[i * j]; "
                   f"return s; }}\n" for i in range(420))
    (path / "long.c").write_text(body)
    objects = " ".join([f"short{i}.o" for i in range(6)] + ["long.o"])
    (path / "Makefile").write_text(f"all: {objects}\n%.o: %.c\n\t$(CC) -O3 -c -o $@ $<\n"
                                   "clean:\n\trm -f *.o\n")


def make_repository(path):
    """120 versions of 60 files."""
    path.mkdir()
    git = ["git", "-C", path, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"]
    subprocess.run([*git, "init", "-q"], check=True)
    lines = words(6000).splitlines()
    for version in range(120):
        for i in range(60):
            lines[(version * 61 + i * 97) % 6000] += f" {version}"
            (path / f"{i}.txt").write_text("\n".join(lines[i * 100:i * 100 + 100]))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", str(version)], check=True)


def make_classes(path):
    path.mkdir()
    for name, source in JAVA.items():
        (path / f"{name}.java").write_text(source)
    subprocess.run(["javac", "-d", path, *path.glob("*.java")], check=True)


def provide(folder, texts):
    """Makes what these texts name and is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(set(re.findall(r"\$DATA/([a-z]+)", texts))):
        with LOCK:
            if not (folder / name).exists():
                unfinished = pathlib.Path(f"{folder / name}.unfinished")
                subprocess.run(["rm", "-rf", unfinished], check=True)
                globals()[f"make_{name}"](unfinished)
                unfinished.rename(folder / name)
