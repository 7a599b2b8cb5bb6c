# SPDX-License-Identifier: MIT
"""The second corpus that was written by someone who had not seen the rules, and is no longer blind.

What limits each program follows from how it is built or started, and was checked by other means (getrusage
and samples of /proc) before taskscope was asked.  Four kinds were wrong with a high score: a loop of
waitpid() that does not block, Java's serial collector, a thread in the queue since before the attach, and
a lock that is not fair.  Rules were mended after that, so from then on they count like all others.
"""
from case import HOLDER, REDIS_SERVER, Case, sh

# The interpreter of the system: what comes first in PATH may be a script that looks for one.
PYTHON = "/usr/bin/python3"


def python(text):
    return (PYTHON, "-c", text)


def compiled(source):
    """Makes ./prog of C; `wanted` is for how many nanoseconds to go on."""
    return f"""cc -O1 -w -pthread -x c -o prog - <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static long now(void) {{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec; }}
static volatile unsigned sink;
static void work(long steps) {{ while (steps--) sink = sink * 31 + 7; }}
{source}
END"""


UNTIL = "long end = now() + atol(getenv(\"MS\")) * 1000000L; while (now() < end)"

# Busy loops of others; the first words say how they are started.
HOGS = "for i in {1}; do {0} luajit -e 'while true do end' & done; wait"

# Answers each request with some pieces of a body, and sleeps before each.
SLOW_HTTP = PYTHON + """ -c "
import http.server, time
class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        for _ in range({pieces}):
            time.sleep({pause})
            self.wfile.write(bytes(1000))
http.server.HTTPServer(('127.0.0.1', $PORT), Slow).serve_forever()" """

# Takes connections and says nothing.
SILENT = PYTHON + """ -c "
import socket
server = socket.create_server(('127.0.0.1', $PORT))
open('$READY', 'w')
kept = []
while True:
    kept.append(server.accept())
    open('$BEGUN', 'w')" """

RUN_CPU = [
    Case("openssl hashes", "openssl speed -seconds 2 -bytes 16384 -evp sha512", "cpu",
         "One thread hashes a buffer that stays in the cache of the CPU.", needs="openssl"),
    Case("xz presses hard", sh("exec xz -9e -T1 -c part > /dev/null"), "cpu",
         "One thread presses 2 MB of cached text at the slowest level.",
         prepare="head -c 2M $DATA/small > part", needs="xz"),
    Case("brotli presses hard", sh("exec brotli -q 11 -c part > /dev/null"), "cpu",
         "One thread presses 700 KB of cached text at the slowest level.",
         prepare="head -c 700K $DATA/small > part", needs="brotli"),
    Case("luajit adds", "luajit -e 'local s = 0; while os.clock() < 1.5 do for i = 1, 1e7 do s = s + i % 7 end end'",
         "cpu", "A loop in compiled code that asks for nothing but the time.", needs="luajit"),
    Case("php sorts", "php -r '$$e = hrtime(true) + 1.5e9; while (hrtime(true) < $$e) {"
         " mt_srand(1); for ($$a = [], $$i = 0; $$i < 20000; $$i++) $$a[] = mt_rand(); sort($$a); }'", "cpu",
         "It fills and sorts an array in memory that it keeps.", needs="php"),
    Case("bc computes pi", "bc -lq pi", "cpu", "A single thread divides long numbers.",
         prepare="printf 'scale=2500\\nx=4*a(1)\\nquit\\n' > pi", needs="bc"),
    Case("m4 expands", "m4 fib.m4", "cpu", "Macros that compute Fibonacci numbers read and write next to nothing.",
         prepare="""cat > fib.m4 <<'END'
define(`fib', `ifelse(eval($1 < 2), 1, $1, `eval(fib(eval($1 - 1)) + fib(eval($1 - 2)))')')fib(28)
END""", needs="m4"),
    Case("sqlite3 counts", ("sqlite3", ":memory:", "with recursive c(n) as (select 1 union all select n + 1 from c "
                            "limit 5000000) select sum(n * n % 7) from c"), "cpu",
         "A query without a table that keeps one row at a time.", needs="sqlite3"),
    Case("clang optimises", sh("exec clang -O3 -c $DATA/project/long.c -o long.o"), "cpu",
         "clang compiles one file in its own process.", needs="clang"),
    Case("git looks for a string", sh("cd $DATA/repository && exec git -c core.pager=cat log -S' 7' --oneline -M "
                                      "--find-copies-harder --all > /dev/null"), "cpu",
         "git unpacks and compares 120 cached versions in one thread.", needs="git"),
    Case("node sieves", ("node", "-e", "const a = new Uint8Array(4e6), e = Date.now() + 1500; while (Date.now() < e) {"
                         " a.fill(0); for (let i = 2; i < 2000; i++) if (!a[i]) for (let j = i * i; j < 4e6; j += i)"
                         " a[j] = 1; }"), "cpu", "A sieve in one array that is never given back.", needs="node"),
    Case("python goes back", python("import re; re.match('(a+)+b', 'a' * 26)"), "cpu",
         "The expression makes one thread try all ways to split the text."),
    Case("plzip on both CPUs", sh("exec plzip -6 -n 2 -B 512KiB -c part > /dev/null"), "cpu",
         "As many threads as the machine has CPUs press blocks that do not depend on each other.",
         busy="run_queue", prepare="head -c 6M $DATA/text > part", needs="plzip"),
    Case("cat reads what is cached", sh("exec cat $(yes $DATA/big | head -n 60) > /dev/null"), "kernel_cpu",
         "cat does nothing but let the kernel copy cached pages.", prepare="cat $DATA/big > /dev/null"),
    Case("head of the random device", sh("exec head -c 700M /dev/urandom > /dev/null"), "kernel_cpu",
         "The kernel computes the random bytes that head reads."),
    Case("wc of the kernel's symbols", sh("exec wc -l $(yes /proc/kallsyms | head -n 40) > out"),
         "kernel_cpu", "The kernel formats each line of this file anew, which takes longer than to count them."),
    Case("find asks for sizes", sh("exec find $(yes $DATA/tree | head -n 180) -size +1G"), "kernel_cpu",
         "For each of 540,000 cached files find makes a system call, and has nothing else to do.",
         prepare="find $DATA/tree -size +1G"),
]

RUN_CPU_OTHER = [
    Case("shell reads lines", sh("while read -r line; do :; done < part"), "tiny_io",
         "This shell reads one byte with each call.", prepare="head -c 3M $DATA/small > part"),
    Case("dd writes two bytes", "dd if=/dev/zero of=out bs=2 count=1300000", "tiny_io",
         "Each call moves two bytes."),
    Case("perl reads bytes", ("perl", "-e", 'use Time::HiRes "time"; my $e = time + $ENV{MS} / 1000; '
                              'open my $f, "<", $ARGV[0]; while (time < $e) { sysseek $f, 0, 0; '
                              'sysread $f, $_, 1 for 1 .. 50000 }', "/bin/sh"), "tiny_io",
         "It reads a cached file byte by byte, without a buffer.", needs="perl"),
    Case("shell waits for a file in a loop", sh("(sleep 1.5; : > done) & until test -e done; do :; done; wait"),
         "spinning", "Until the file is there, the shell asks for it again and again without a pause."),
    Case("perl waits for a child in a loop", ("perl", "-MPOSIX", "-e", "my $p = fork // die; if (!$p) { "
                                              "select undef, undef, undef, 1.5; POSIX::_exit(0) } "
                                              "1 while waitpid($p, WNOHANG) == 0"), "spinning",
         "It asks for the end of a sleeping child without ever blocking.", needs="perl"),
    Case("java collects in parallel", "java -XX:+UseParallelGC -XX:-UseGCOverheadLimit -Xms58m -Xmx58m "
         "-cp $DATA/classes Churn $MS", "gc",
         "44 MB of a heap of 58 MB are alive, so that each collection finds little and the next one comes soon.",
         busy="run_queue", needs="java javac"),
    Case("ruby collects", ("ruby", "-e", "a = Array.new(300_000) { |i| i.to_s }; "
                           "e = Process.clock_gettime(1) + 1.5; GC.start while Process.clock_gettime(1) < e"),
         "gc cpu", "Its only loop marks 300,000 live strings; the collector is part of the one thread that computes.",
         needs="ruby"),
    Case("find starts a program a file", sh("exec find $DATA/tree -name '*[0-2].txt' -exec true {} ';'"),
         "fork_storm",
         "900 processes that do nothing.", busy="run_queue"),
    Case("make of nothing", "make -s -f rules", "fork_storm", "500 targets whose recipes start /bin/true.",
         busy="run_queue", needs="make",
         prepare="{ echo all: $(seq -f t%g 500); seq -f 't%g: ; @/bin/true' 500; } > rules"),
    Case("xargs one at a time", "xargs -a numbers -n 1 basename", "fork_storm",
         "1,000 times it starts a process for one short name.", busy="run_queue", prepare="seq 1000 > numbers"),
    Case("perl asks for the date", ("perl", "-e", 'my $d; $d = `date +%s` for 1 .. 500'), "fork_storm",
         "500 processes for what a function of the language says.", busy="run_queue", needs="perl"),
    Case("python has bzip2 press", python("import subprocess; subprocess.run(['bzip2', '-9', '-c', 'part'], "
                                          "stdout=subprocess.DEVNULL, check=True)"), "child cpu",
         "The script does nothing but wait for bzip2, which computes.", named="bzip2",
         prepare="head -c 20M $DATA/text > part", needs="bzip2"),
    Case("make of one long file", "make -C project long.o", "child cpu",
         "make and cc only wait for the compiler proper, which computes.", named="cc1",
         prepare="cp -r $DATA/project .", needs="make cc"),
    Case("ninja of one test", "ninja --quiet", "child cpu", "ninja has one command to run, which computes.",
         named="luajit", needs="ninja luajit",
         prepare="""cat > build.ninja <<'END'
rule test
  command = luajit test.lua && touch $out
build done: test
END
echo 'local s = 0 while os.clock() < 1.5 do for i = 1, 1e7 do s = s + i % 7 end end' > test.lua"""),
    Case("xargs with one long part", "xargs -a parts -P 2 -n 1 luajit test.lua", "child imbalance cpu",
         "The first of two parts takes 1.5 s, the second 0.1 s: xargs waits for the one that computes alone.",
         prepare="printf '1.5\\n0.1\\n' > parts; echo 'local s = 0 while os.clock() < tonumber(arg[1]) do "
         "for i = 1, 1e6 do s = s + i % 7 end end' > test.lua", needs="luajit"),
    Case("threads of unequal work", "./prog", "imbalance",
         "At each barrier three threads wait for a fourth that has thirty times as much to do.",
         prepare=compiled("""static pthread_barrier_t barrier;
static void *run(void *argument) { for (int i = 0; i < 80; i++) {
	work(argument ? 600000 : 18000000); pthread_barrier_wait(&barrier); } return 0; }
int main() { pthread_t t[4]; pthread_barrier_init(&barrier, 0, 4);
	for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, run, (void *)i);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0); }"""), needs="cc"),
    Case("a loop split in halves", sh("OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive exec ./prog"), "imbalance",
         "OpenMP gives the first half of the steps to one thread and the second half to another, whose steps are by far "
         "longer.", needs="cc",
         prepare=compiled("""int main() { for (int turn = 0; turn < 12; turn++) {
#pragma omp parallel for schedule(static)
	for (long i = 0; i < 200; i++) work(i * i * i); } }""").replace("-pthread", "-fopenmp").replace(
             "sink = sink * 31 + 7", "asm volatile (\"\")")),
    Case("tar into xz", sh("tar -c -C $DATA tree | xz -9e -T1 | cat > /dev/null"), "pipe_stage cpu",
         "xz takes much longer than tar and cat, which wait for it; it computes all the time.", named=r"\bxz\b",
         needs="tar xz"),
    Case("zcat into a slow gawk", sh("zcat part.gz | gawk '{ for (i = 0; i < 40; i++) s += sin(s + NF) } "
                                     "END { print s }' | cat"), "pipe_stage cpu",
         "Of the stages, gawk computes 40 sines a line; the others wait for it.", named="gawk",
         prepare="head -n 300000 $DATA/text | gzip -1 > part.gz", needs="gawk"),
    Case("seq into factor", sh("seq 1000000000000000000 1000000000000050000 | factor | tail -n 1"),
         "pipe_stage cpu",
         "factor works on numbers of 19 digits, which take it longer than seq and tail take to pass them on.",
         named="factor"),
    Case("text into jq", sh("cat objects | jq -c '[.words[] | ascii_upcase | explode | add] | add' | wc -l"),
         "pipe_stage cpu", "jq computes on each letter; cat and wc move few bytes.", named="jq",
         prepare="head -n 25000 $DATA/small | sed 's/ /\",\"/g; s/^/{\"words\":[\"/; s/$/\"]}/' > objects",
         needs="jq"),
]

RUN_STARVED = [
    Case("gzip with a quota", sh("exec gzip -9 -c part > /dev/null"), "cpu_quota",
         "It computes, and may use 0.4 of a CPU.", limit="cpu 0.4", prepare="head -c 14M $DATA/text > part"),
    Case("bash with a quota", ("bash", "-c", "i=0; while ((i < 250000)); do ((i++)); done"), "cpu_quota",
         "It computes, and may use a quarter of a CPU.", limit="cpu 0.25", needs="bash"),
    Case("two processes with a quota", "stress-ng --cpu 2 --cpu-method fft --timeout 2", "cpu_quota",
         "Two processes compute, and may use 0.6 of a CPU together.", limit="cpu 0.6", needs="stress-ng"),
    Case("a pipeline with a quota", sh("head -c 700M /dev/zero | md5sum"), "cpu_quota",
         "Both stages compute, and may use half a CPU together.", limit="cpu 0.5"),
    Case("others on the same CPU", "taskset -c 0 luajit -e 'local s = 0; while os.clock() < 0.4 do for i = 1, 1e6 do "
         "s = s + i % 7 end end'", "run_queue", "It may use only a CPU on which four others compute with equal rights.",
         beside=HOGS.format("taskset -c 0", "1 2 3 4"), needs="luajit taskset"),
    Case("nice among the impolite", sh("exec taskset -c 0,1 nice -n 6 gzip -9 -c part > /dev/null"), "run_queue",
         "Four others of a higher priority compute on the two CPUs.", prepare="head -c 6M $DATA/text > part",
         beside=HOGS.format("taskset -c 0,1", "1 2 3 4"), needs="luajit"),
    Case("openssl in eight", "taskset -c 0,1 openssl speed -multi 8 -seconds 2 -bytes 16384 -evp sha256",
         "oversubscribed",
         "Eight processes compute on two CPUs.", needs="openssl"),
    Case("xz with many threads", sh("exec taskset -c 0,1 xz -3 -T 9 --block-size=256KiB -c part > /dev/null"),
         "oversubscribed",
         "Nine threads press blocks on two CPUs.", prepare="head -c 12M $DATA/text > part", needs="xz"),
    Case("make with many jobs", "taskset -c 0,1 make -j 8 -f rules", "oversubscribed",
         "Eight tests compute at once on two CPUs.",
         needs="make luajit",
         prepare="""cat > rules <<'END'
all: 1 2 3 4 5 6 7 8
%: ; @luajit test.lua $@
END
echo 'local s = 0 while os.clock() < 0.5 do for i = 1, 1e6 do s = s + i % 7 end end' > test.lua"""),
    Case("perl with many children", ("taskset", "-c", "0,1", "perl", "-e",
         "for (1 .. 6) { next if fork; my $i = 0; $i++ while $i < 13e6; "
                                     "exit } 1 while wait > 0"), "oversubscribed",
         "Six children compute at once on two CPUs.", needs="perl"),
]

RUN_FILES = [
    Case("dd past the cache", sh("exec dd if=$DATA/big of=/dev/null iflag=direct bs=64k count=4000"), "disk",
         "Each read of 64 KB waits for the device, one after the other.", busy="run_queue"),
    Case("fio reads at random", "fio --name=a --rw=randread --bs=64k --direct=1 --ioengine=psync --size=64M "
         "--filename=file --runtime=1500ms --time_based --thread --output=/dev/null", "disk",
         "One thread waits for the device at each read.", prepare="head -c 64M $DATA/big > file; sync file",
         needs="fio", busy="run_queue"),
    Case("python maps a file that is not cached", python(
        "import mmap, os, random, time\nend = time.monotonic() + int(os.environ['MS']) / 1000\n"
        "file = open('file', 'rb')\nmapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\n"
        "mapped.madvise(mmap.MADV_RANDOM)\n"
        "while time.monotonic() < end: mapped[random.randrange(len(mapped))]"), "disk",
         "Each page that it touches, at random, must first come from the disk.",
         prepare="cat $DATA/big > file; sync file; dd if=file iflag=nocache count=0", busy="run_queue"),
    Case("python reads at random in eight threads", python(
        "import concurrent.futures, os, random, time\nend = time.monotonic() + int(os.environ['MS']) / 1000\n"
        "file = os.open(os.environ['DATA'] + '/big', os.O_RDONLY | os.O_DIRECT)\n"
        "def read(_):\n    import mmap\n    buffer = mmap.mmap(-1, 1 << 20)\n"
        "    while time.monotonic() < end: os.preadv(file, [buffer], random.randrange(200) << 20)\n"
        "list(concurrent.futures.ThreadPoolExecutor(8).map(read, range(8))) # $DATA/big"), "disk",
         "All threads wait for the device, which has 1 MB to bring for each read.", busy="run_queue"),
    Case("sqlite3 commits each row", sh("exec sqlite3 base < rows"), "fsync",
         "Each of 250 rows is a transaction of its own, which sqlite3 syncs to the disk.",
         prepare="{ echo 'create table t (a);'; seq -f 'insert into t values (%g);' 250; } > rows", needs="sqlite3",
         busy="run_queue"),
    Case("python keeps a journal", python("import os, time\nend = time.monotonic() + int(os.environ['MS']) / 1000\n"
                                          "file = os.open('journal', os.O_CREAT | os.O_WRONLY)\n"
                                          "while time.monotonic() < end:\n    os.write(file, bytes(300))\n    os.fsync(file)"),
         "fsync", "It syncs after each short line.", busy="run_queue"),
    Case("dd with synced writes", "dd if=/dev/zero of=out oflag=dsync bs=8k count=700", "fsync disk",
         "Each write returns only when the disk has it.", busy="run_queue"),
    Case("fio syncs", "fio --name=a --rw=write --bs=4k --fsync=1 --ioengine=psync --size=1M --time_based --runtime=1500ms "
         "--thread --filename=file --output=/dev/null", "fsync", "It syncs after each write of 4 KB.", needs="fio",
         busy="run_queue"),
    Case("dd with a write limit", "dd if=/dev/zero of=out oflag=direct bs=128k count=64", "blkio_limit",
         "Its cgroup may write 4 MB a second, and it has to write 8 MB.", limit="write 4M"),
    Case("fio with a write limit", "fio --name=a --rw=randwrite --direct=1 --bs=64k --ioengine=psync --size=5M "
         "--filename=file --thread --output=/dev/null", "blkio_limit",
         "Its cgroup may write 3 MB a second, and it has to write 5 MB.", limit="write 3M",
         prepare="head -c 5M $DATA/big > file; sync file", needs="fio"),
    Case("wc of a slow pipe", sh("exec wc -l < fifo"), "pipe", "Another one writes a line each 0.3 s.",
         prepare="mkfifo fifo", beside="{ for i in 1 2 3 4 5; do sleep 0.3; echo $i; done; } > fifo; sleep 60"),
    Case("cat into a slow pipe", sh("exec cat $DATA/small > fifo"), "pipe",
         "Another one takes 256 KB out of the pipe each 0.1 s.", prepare="mkfifo fifo",
         beside=PYTHON + """ -c "
import time
file = open('fifo', 'rb', buffering=0)
while True:
    time.sleep(0.1)
    left = 1 << 18
    while left > 0:
        left -= len(file.read(left)) or left" """),
    Case("question and answer by pipes", python(
        "import os, subprocess\ncat = subprocess.Popen(['cat'], stdin=-1, stdout=-1)\n"
        "for _ in range(80000):\n    os.write(cat.stdin.fileno(), bytes(4096))\n    os.read(cat.stdout.fileno(), 4096)\n"),
         "pipe kernel_cpu", "Two processes take turns: each waits for the other, for as long as the kernel takes to copy "
         "4 KB and to switch.", busy="run_queue"),
    Case("curl of a slow server", "curl -s -o body http://127.0.0.1:$PORT/", "network",
         "The server sends a piece of the body each 0.3 s.", beside=SLOW_HTTP.format(pieces=5, pause=0.3),
         needs="curl"),
    Case("ruby of a slow server", ("ruby", "-rnet/http", "-e", "4.times { Net::HTTP.get('127.0.0.1', '/', "
                                   "ENV['PORT'].to_i) }"), "network",
                                   "The server thinks for 0.4 s about each request.",
         beside=SLOW_HTTP.format(pieces=1, pause=0.4), needs="ruby"),
    Case("redis-cli waits for an element", "redis-cli -p $PORT blpop nothing 2", "network",
         "The server answers after 2 s that there is none.", beside=REDIS_SERVER,
         needs="redis-cli redis-check-rdb"),
    Case("wget of a throttled server", "wget -q -O body http://127.0.0.1:$PORT/small", "network",
         "nginx sends 1 MB a second of a file of 1.5 MB.", needs="wget nginx",
         prepare="head -c 1500K $DATA/small > small; chmod 711 .; chmod 644 small; cat > conf <<END\n"
         "daemon off; pid $PWD/pid; error_log $PWD/log; events {}\n"
         "http { access_log off; server { listen 127.0.0.1:$PORT; root $PWD; limit_rate 1000k; } }\nEND",
         beside="exec nginx -e $PWD/log -c $PWD/conf # $PORT"),
    Case("socat into a slow server", sh("exec socat -u OPEN:part TCP:127.0.0.1:$PORT"), "network",
         "The other end takes 1 MB each 0.2 s out of buffers that are full.",
         prepare="head -c 12M $DATA/big > part", needs="socat",
         beside=PYTHON + """ -c "
import socket, time
server = socket.create_server(('127.0.0.1', $PORT))
peer = server.accept()[0]
while True:
    time.sleep(0.2)
    peer.recv(1 << 20, socket.MSG_WAITALL)" """),
]

RUN_WAITS = [
    Case("flock held by another", "flock wanted.lock true", "lock", "Another process has the lock for 1.5 s.",
         beside=HOLDER.replace("python3", PYTHON).format(1.5), needs="flock"),
    Case("ruby waits for a file lock", ("ruby", "-e",
         "File.open('wanted.lock', 'w') { |f| f.flock(File::LOCK_EX) }"),
         "lock", "Another process has the lock for 2 s.", beside=HOLDER.replace("python3", PYTHON).format(2),
         needs="ruby"),
    Case("sqlite3 finds the base locked", ("sqlite3", "base", ".timeout 20000", "insert into t values (1)"),
         "lock sleep", "Another process is in a transaction for 1.5 s; sqlite3 sleeps and tries again until it ends.",
         prepare="sqlite3 base 'create table t (a)'", needs="sqlite3",
         beside=PYTHON + """ -c "
import sqlite3, time
base = sqlite3.connect('base', isolation_level=None)
base.execute('begin exclusive')
open('$READY', 'w')
time.sleep(1.7)
base.execute('commit')" """),
    Case("python threads compute", python(
        "import threading\ndef work():\n    for i in range(25000000): pass\n"
        "threads = [threading.Thread(target=work) for _ in range(4)]\n"
        "for t in threads: t.start()\nfor t in threads: t.join()"), "serialised lock",
         "The interpreter lets one of four threads compute at a time."),
    Case("threads share one lock", "./prog", "serialised lock",
         "Three threads do all their work inside of one mutex.",
         prepare=compiled("""static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *argument) { """ + UNTIL + """ {
	pthread_mutex_lock(&mutex); work(300000); pthread_mutex_unlock(&mutex); } return 0; }
int main() { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, run, 0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0); }"""), needs="cc"),
    Case("a mutex locked twice", "./prog", "deadlock lock", "Its only thread waits for a mutex that it has itself.",
         seconds=1.5, needs="cc", prepare=compiled("""int main() {
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&mutex); pthread_mutex_lock(&mutex); }""")),
    Case("fresh memory again and again", "./prog", "page_faults",
         "It touches each page of 256 MB once, gives them back without unmapping them, and starts again.",
         needs="cc", prepare=compiled("""int main() { size_t size = 256 << 20;
	char *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, size, MADV_NOHUGEPAGE);
	""" + UNTIL + """ { for (size_t i = 0; i < size; i += 4096) p[i] = 1;
		madvise(p, size, MADV_DONTNEED); } }""")),
    Case("python makes long strings", python(
        "import os, time\nend = time.monotonic() + int(os.environ['MS']) / 1000\n"
        "while time.monotonic() < end: b'x' * (48 << 20)"), "page_faults mmap_churn",
         "malloc maps 48 MB for each string, each of its pages is touched once, then all is unmapped."),
    Case("malloc above its threshold", "env MALLOC_MMAP_THRESHOLD_=65536 ./prog", "mmap_churn",
         "malloc maps each block anew and free unmaps it; only one page of it is touched.", needs="cc",
         prepare=compiled("int main() { " + UNTIL + """
	for (int i = 0; i < 100; i++) { char *volatile p = malloc(300000); free(p); } }""")),
    Case("python maps more than fits", python(
        "import mmap, os, random, time\nend = time.monotonic() + int(os.environ['MS']) / 1000\n"
        "file = open('file', 'rb')\nmapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\n"
        "while time.monotonic() < end: mapped[random.randrange(len(mapped))]"), "memory_limit disk",
         "Its cgroup may have 40 MB, so that the pages of a file of 128 MB, which it touches all the time, must come "
         "from the disk again and again.", limit="memory 40M",
         prepare="head -c 128M $DATA/big > file; sync file; dd if=file iflag=nocache count=0"),
    Case("tail of endless zeros", sh("tail /dev/zero; true"), "oom_kill",
         "tail looks for the end of a line and keeps all that it read, in a cgroup that may have 48 MB.",
         limit="memory 48M"),
    Case("perl doubles a string", sh("perl -e '$s = q(a) x 1e6; $s .= $s while 1'; sleep 0.3"), "oom_kill",
         "Its cgroup may have 64 MB, and the string grows for ever.", limit="memory 64M", needs="perl"),
    Case("python runs out of files", sh("ulimit -n 24; exec " + PYTHON + """ -c "
import os, time
kept, end = [], time.monotonic() + 1.5
while time.monotonic() < end:
    try: kept.append(open('/dev/null'))
    except OSError: time.sleep(0.01)" """), "fd_limit",
         "It may have 24 files and tries again when it cannot open one more."),
    Case("perl sleeps by select", ("perl", "-e", "select undef, undef, undef, 0.25 for 1 .. 6"), "sleep",
         "It waits for no file, only for time.", needs="perl"),
    Case("curl tries again", sh("curl -s --retry 2 --retry-delay 1 --retry-connrefused http://127.0.0.1:$PORT/; true"),
         "sleep", "Nobody listens there, which is known at once; curl sleeps for 1 s before each of two more tries.",
         needs="curl"),
    Case("a script that tries again", sh("i=0; until test $i = 6; do sleep 0.25; i=$((i + 1)); done"),
         "sleep child_wait", "The shell waits for one sleep after the other."),
    Case("node waits for a timer", ("node", "-e", "setTimeout(() => {}, 2000)"), "sleep poll",
         "Its loop waits for events in epoll, and the only one is its own timer.", needs="node"),
    Case("gawk waits for a child", ("gawk", "BEGIN { system(\"sleep 1.5\") }"), "sleep child_wait",
         "gawk waits for its child, which sleeps.", needs="gawk"),
    Case("a server without clients", (PYTHON, "-m", "http.server", "--bind", "127.0.0.1", "0"), "poll",
         "It polls a socket to which nobody connects.", seconds=2),
]

ATTACH = [
    Case("tclsh computes, attached", "tclsh loop.tcl", "cpu", "A loop that calls nothing.", verb="attach",
         prepare="echo 'proc f {} { while 1 { incr i } }; f' > loop.tcl", needs="tclsh"),
    Case("lz4 in both directions, attached", sh("exec lz4 -b9 -i60 $DATA/small > /dev/null 2>&1"), "cpu",
         "One thread presses and unpacks a buffer in memory.", verb="attach", needs="lz4"),
    Case("dd of zeros, attached", "dd if=/dev/zero of=/dev/null bs=1M", "kernel_cpu",
         "The kernel clears the buffer of dd again and again.", verb="attach"),
    Case("ruby writes bytes, attached", ("ruby", "-e", "f = File.open('out', 'w'); loop { f.syswrite('a') }"),
         "tiny_io",
         "Each call writes one byte to a file.", verb="attach", needs="ruby"),
    Case("a nonblocking read, attached", python(
        "import os\nr, w = os.pipe()\nos.set_blocking(r, False)\nwhile True:\n    try: os.read(r, 1)\n"
        "    except BlockingIOError: pass"), "spinning", "It asks an empty pipe again and again without blocking.",
         verb="attach"),
    Case("java collects alone, attached", "java -XX:+UseSerialGC -Xms54m -Xmx54m -cp $DATA/classes Churn $MS", "gc",
         "44 MB of a heap of 54 MB are alive, so that each collection finds little and the next one comes soon.",
         verb="attach", needs="java javac"),
    Case("a script that presses, attached", sh("while :; do xz -9e -T1 -c part > /dev/null; done"), "child cpu",
         "The shell does nothing but wait for xz, which computes.", named=r"\bxz\b", verb="attach",
         prepare="head -c 3M $DATA/small > part", needs="xz"),
    Case("children copy memory, attached", "./prog", "page_faults",
         "Each child writes once to each page of 256 MB that it shares with its parent, and the kernel copies them.",
         verb="attach", needs="cc",
         prepare=compiled("""#include <sys/wait.h>
int main() { size_t size = 256 << 20; char *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, size, MADV_NOHUGEPAGE); memset(p, 1, size);
	while (1) { if (!fork()) { for (size_t i = 0; i < size; i += 4096) p[i] = 2; _exit(0); } wait(0); } }""")),
    Case("shell script with many programs, attached", sh("while :; do name=$(basename /a/b/c.txt .txt); done"),
         "fork_storm", "For each name it starts a process.", verb="attach", busy="run_queue"),
    Case("sed in the middle, attached", sh("yes 'the quick brown fox jumps over the lazy dog' | "
                                           "sed -E 's/(.*)o(.*)o(.*)/\\3o\\2o\\1/; s/(.*)e(.*)/\\2\\1/' | cat > /dev/null"),
         "pipe_stage cpu", "sed matches with groups; yes and cat wait for it.", named=r"\bsed\b", verb="attach"),
    Case("node with a quota, attached", ("node", "-e", "while (true);"), "cpu_quota",
         "It computes, and may use 0.2 of a CPU.", limit="cpu 0.2", verb="attach", needs="node"),
    Case("yes and md5sum with a quota, attached", sh("yes | md5sum"), "cpu_quota",
         "Both compute, and may use 0.7 of a CPU together.", limit="cpu 0.7", verb="attach"),
    Case("the least priority, attached", "taskset -c 0,1 nice -n 34 perl -e '1 while 1'", "run_queue",
         "Four others of a far higher priority compute on two CPUs.", verb="attach", needs="perl luajit",
         beside=HOGS.format("taskset -c 0,1", "1 2 3 4")),
    Case("a pool of eight, attached", python(
        "import multiprocessing, os\nos.sched_setaffinity(0, {0, 1})\ndef work(_):\n    while True: pass\n"
        "if __name__ == '__main__': multiprocessing.Pool(8).map(work, range(8))"), "oversubscribed",
         "Eight processes compute on two CPUs.", verb="attach"),
    Case("stress-ng in seven, attached", "taskset -c 0,1 stress-ng --cpu 7 --cpu-method int64", "oversubscribed",
         "Seven processes compute on two CPUs.", verb="attach", needs="stress-ng"),
    Case("fio mixes, attached", "fio --name=a --rw=randrw --bs=64k --direct=1 --ioengine=psync --size=32M --filename=file "
         "--time_based --runtime=60 --thread --output=/dev/null", "disk",
         "One thread waits for the device at each call.",
         verb="attach", prepare="head -c 32M $DATA/big > file; sync file; touch $BEGUN", needs="fio",
         busy="run_queue"),
    Case("perl syncs, attached", ("perl", "-MIO::Handle", "-e",
         'open my $f, ">", "log"; while (1) { syswrite $f, "line\\n"; '
                                  '$f->sync }'), "fsync", "It syncs each line.", verb="attach", needs="perl",
                                  busy="run_queue"),
    Case("dd with a write limit, attached", "dd if=/dev/zero of=out oflag=direct bs=64k count=4000", "blkio_limit",
         "Its cgroup may write 2 MB a second.", limit="write 2M", verb="attach"),
    Case("wc at the end of a slow pipe, attached", sh("while :; do sleep 0.4; echo a; done | wc -l"), "pipe",
         "A line comes each 0.4 s.", verb="attach", target="wc"),
    Case("perl waits for a greeting, attached", ("perl", "-MIO::Socket::INET", "-e",
                                                 'my $s; $s = IO::Socket::INET->new("127.0.0.1:$ENV{PORT}") until $s; <$s>'),
         "network", "The server never says a word.", verb="attach", beside=SILENT, needs="perl"),
    Case("node waits for an answer, attached", ("node", "-e",
         "const g = () => require('http').get({port: process.env.PORT})"
                                                ".on('error', () => setTimeout(g, 100)); g()"), "network poll",
         "Its loop waits for events in epoll, and the only one would be an answer that never comes.", verb="attach",
         beside=SILENT, needs="node"),
    Case("perl waits for a semaphore, attached", ("perl", "-e", 'open F, "<", "id"; my $id = <F>; '
                                                  'semop($id, pack("s!3", 0, -1, 0))'), "lock",
         "Another process has the semaphore.", verb="attach", needs="perl",
         beside="""exec perl -e 'my $id = semget(0, 1, 0600 | 01000); 
open F, ">", "id"; print F $id; close F; open R, ">", $ENV{READY}; # $READY
my $parent = $$; if (!fork) { setpgrp; sleep 1 while getppid == $parent; semctl($id, 0, 0, 0); exit } sleep 60'"""),
    Case("ruby threads compute, attached", ("ruby", "-e",
         "3.times.map { Thread.new { loop { 1 + 1 } } }.each(&:join)"),
         "serialised lock", "The interpreter lets one of three threads compute at a time.", verb="attach",
         needs="ruby"),
    Case("python in a circle of locks, attached", python(
        "import threading, time\na, b = threading.Lock(), threading.Lock()\ndef run(first, second):\n"
        "    with first:\n        time.sleep(0.2)\n        with second: pass\n"
        "threading.Thread(target=run, args=(a, b)).start()\nrun(b, a)"), "deadlock lock",
         "Each of two threads waits for the lock that the other has.", verb="attach"),
    Case("a parent that does not read, attached", python(
        "import subprocess\nsubprocess.Popen(['seq', '1000000'], stdout=subprocess.PIPE).wait()"),
         "pipe deadlock child_wait", "The child waits for room in the pipe, and its reader waits for the child.",
         verb="attach"),
    Case("redis-cli at intervals, attached", "redis-cli -p $PORT -r -1 -i 0.4 ping", "sleep",
         "It sleeps for 0.4 s between questions that are answered at once.", verb="attach",
         beside="(until redis-cli -p $PORT ping; do sleep 0.1; done; touch $READY) & " + REDIS_SERVER,
         needs="redis-cli redis-check-rdb"),
    Case("nginx without clients, attached", sh("exec nginx -e $PWD/log -c $PWD/conf"), "poll",
         "Nobody connects.", verb="attach", needs="nginx",
         prepare="echo \"daemon off; pid $PWD/pid; error_log $PWD/log; events {} http { access_log off; "
         "server { listen 127.0.0.1:$PORT; } }\" > conf"),
    Case("tail follows a file, attached", "tail -f log", "poll", "Nobody writes to the file.", verb="attach",
         prepare="echo a > log"),
    Case("cat at a terminal, attached", ("expect", "-c", "spawn cat; sleep 60"), "poll",
         "Nobody types.", verb="attach", target="cat", needs="expect"),
    Case("make waits for a recipe, attached", "make -f rules", "child_wait sleep",
         "make waits for its child, which sleeps.", verb="attach", prepare="echo 'all: ; @sleep 60' > rules",
         needs="make"),
    Case("a stopped compressor, attached", sh("gzip < /dev/zero > /dev/null & sleep 0.1; kill -STOP $!; touch $BEGUN; wait"),
         "stopped", "A signal stopped it.", verb="attach", target="gzip"),
    Case("a frozen pipeline, attached", sh("yes | sha1sum"), "frozen", "Its cgroup is frozen.", limit="frozen",
         verb="attach"),
]

WHY = [
    Case("why guile computes", "guile --no-auto-compile -c '(let loop ((i 0)) (loop (+ i 1)))'", "cpu",
         "A loop that calls nothing.", verb="why", needs="guile"),
    Case("why an event loop does not sleep", ("node", "-e", "const f = () => setImmediate(f); f()"), "spinning",
         "Its loop has always one more thing to do, which is nothing, and so asks for events without blocking.",
         verb="why", needs="node"),
    Case("why dd is slow", "dd if=/dev/zero of=/dev/null bs=1", "tiny_io", "Each call moves one byte.", verb="why"),
    Case("why cat has no end", sh("exec cat /dev/zero > /dev/null"), "kernel_cpu",
         "The kernel clears the buffer of cat again and again.", verb="why"),
    Case("why perl reads the same again", ("perl", "-e", 'open my $f, "<", "file"; while (1) { '
                                           'sysseek $f, 131072 * int rand 1500, 0; sysread $f, $_, 131072 }'),
                                           "memory_limit disk",
         "Its cgroup may have 48 MB, so that parts of a file of 192 MB must come from the disk again and again.",
         limit="memory 48M", verb="why", needs="perl", busy="run_queue",
         prepare="head -c 192M $DATA/big > file; sync file; dd if=file iflag=nocache count=0"),
    Case("why ruby has a quota", ("ruby", "-e", "loop { 1 + 1 }"), "cpu_quota",
         "It computes, and may use 0.3 of a CPU.",
         limit="cpu 0.3", verb="why", needs="ruby"),
    Case("why an idle policy", "chrt -i 0 taskset -c 0 lua5.4 -e 'while true do end'", "run_queue",
         "Two others compute on the only CPU that it may use, and have a higher policy.", verb="why",
         beside=HOGS.format("taskset -c 0 nice -n 34", "1 2"), target="lua5.4", needs="chrt taskset lua5.4 luajit"),
    Case("why dd reads slowly", sh("while :; do dd if=$DATA/big of=/dev/null iflag=direct bs=64k; done"), "disk",
         "Each read of 64 KB waits for the device.", verb="why", busy="run_queue"),
    Case("why redis is slow", sh("ln -s $(command -v redis-check-rdb) redis-server; exec ./redis-server --port $PORT "
                                 "--save '' --appendonly yes --appendfsync always"), "fsync",
         "It syncs its journal before it answers each of the writes that come one after the other.", verb="why",
         beside="until redis-cli -p $PORT ping; do sleep 0.1; done; touch $BEGUN; "
         "exec redis-benchmark -p $PORT -c 1 -n 100000000 -t set",
         needs="redis-cli redis-benchmark redis-check-rdb", busy="run_queue"),
    Case("why yes does not go on", sh("yes | { sleep 60; cat; }"), "pipe", "Nobody takes anything out of the pipe.",
         verb="why", target="yes"),
    Case("why sort has not begun", sh("{ while :; do echo a; sleep 0.3; done; } | sort"), "pipe",
         "The pipe that it reads has a line each 0.3 s.", verb="why", target="sort"),
    Case("why git hears nothing", "git ls-remote git://127.0.0.1:$PORT/project", "network",
         "The server takes the connection and says nothing.", verb="why", beside=SILENT, needs="git"),
    Case("why php waits", ("php", "-r", "flock(fopen('wanted.lock', 'w'), LOCK_EX);"), "lock",
         "Another process has the lock.", verb="why", beside=HOLDER.replace("python3", PYTHON).format(60),
         needs="php"),
    Case("why three threads are no faster", "./prog", "serialised lock",
         "All threads do all their work inside of one lock, which is for reading and writing.", verb="why",
         needs="cc",
         prepare=compiled("""static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void *run(void *argument) { while (1) {
	pthread_rwlock_wrlock(&lock); work(500000); pthread_rwlock_unlock(&lock); } return 0; }
int main() { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, run, 0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0); }""")),
    Case("why nothing moves", "./prog", "deadlock", "Each of two threads waits for the mutex that the other has.",
         verb="why", needs="cc", prepare=compiled("""static pthread_mutex_t m[2] = { PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER }; static pthread_barrier_t barrier;
static void *run(void *argument) { long i = (long)argument; pthread_mutex_lock(&m[i]);
	pthread_barrier_wait(&barrier); pthread_mutex_lock(&m[!i]); return 0; }
int main() { pthread_t t; pthread_barrier_init(&barrier, 0, 2); pthread_create(&t, 0, run, (void *)1);
	run(0); }""")),
    Case("why two files lock each other", sh("flock a sh -c 'sleep 0.2; flock b true' & "
                                             "flock b sh -c 'sleep 0.2; flock a true' & wait"), "deadlock lock",
         "Each of two processes waits for the file lock that the other has.", verb="why", needs="flock"),
    Case("why a server refuses", sh("ulimit -n 16; exec " + PYTHON + """ -c "
import os, selectors, socket
server = socket.create_server(('127.0.0.1', $PORT))
server.setblocking(False)
poll, kept = selectors.DefaultSelector(), []
poll.register(server, selectors.EVENT_READ)
while True:
    poll.select()
    try: kept.append(server.accept())
    except OSError: open('$BEGUN', 'w') if not kept else None" """), "fd_limit spinning",
         "It has all the files that it may have, so that accept fails and the poll returns at once.", verb="why",
         beside=PYTHON + """ -c "
import os, socket, time
kept = []
while len(kept) < 40:
    try: kept.append(socket.create_connection(('127.0.0.1', $PORT)))
    except ConnectionRefusedError: time.sleep(0.05)
open('$BEGUN', 'w')
time.sleep(60)" """),
    Case("why java rests", "java -cp $DATA/classes Sleeper $MS", "sleep", "Its main thread sleeps for a minute.",
         verb="why", needs="java javac"),
    Case("why lighttpd rests", sh("exec lighttpd -D -f conf"), "poll", "Nobody connects.", verb="why",
         needs="lighttpd",
         prepare="echo \"server.document-root = \\\"$PWD\\\"\nserver.port = $PORT\nserver.bind = \\\"127.0.0.1\\\"\" > conf"),
    Case("why vim rests", ("expect", "-c", "set env(TERM) xterm; spawn vim.tiny -u NONE file; sleep 60"), "poll",
         "Nobody types.", verb="why", target="vim.tiny", needs="expect vim.tiny"),
    Case("why git does not commit", sh("exec git -c user.name=a -c user.email=a@b -c core.editor='sleep 60 #' commit "
                                       "--allow-empty"), "child_wait sleep",
         "git waits for its editor, which sleeps.", verb="why", prepare="git init -q", needs="git"),
    Case("why it has stopped", sh("kill -STOP $$; sleep 60"), "stopped", "It has stopped itself.", verb="why"),
    Case("why the debugger has it", ("gdb", "-q", "-nx", "-batch", "-ex", "starti", "-ex",
         "shell touch $BEGUN; sleep 60",
                                     "--args", "luajit", "-e", "print(1)"), "traced",
         "gdb holds it at its first instruction.", verb="why", target="luajit", needs="gdb luajit"),
    Case("why it is slow below strace", "strace -o /dev/null dd if=/dev/zero of=/dev/null bs=1", "traced",
         "strace stops it twice at each of its calls, which are all that it does.", verb="why", target="dd",
         needs="strace"),
    Case("why it is frozen", "luajit -e 'while true do end'", "frozen", "Its cgroup is frozen.", limit="frozen",
         verb="why", needs="luajit"),
]

CASES = RUN_CPU + RUN_CPU_OTHER + RUN_STARVED + RUN_FILES + RUN_WAITS + ATTACH + WHY
