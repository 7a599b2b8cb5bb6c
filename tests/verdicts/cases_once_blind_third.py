# SPDX-License-Identifier: MIT
"""The third corpus that was written by someone who had not seen the rules, and is no longer blind.

What limits each follows from how it is built or started, and was checked by other means before taskscope was
asked.  Of 98 answers 7 were wrong with a high score: a parent that reads what its children
compute under a quota, many threads that pack on one CPU, one heavy thread at a barrier, storms of processes on
a busy machine, and sleeps of Java.  Rules were mended after that, so from then on they count like all others.
"""
from case import Case, HOLDER, REDIS_SERVER, sh


def python(text):
    return ("python3", "-c", "import os, sys, time, threading, socket\n"
            "end = time.monotonic() + int(os.environ['MS']) / 1000\n" + text)


def perl(text):
    return ("perl", "-MTime::HiRes=time,sleep", "-e", "$end = time + $ENV{MS} / 1000; " + text)


def file(name, text):
    return f"cat > {name} <<'END_OF_FILE'\n{text}\nEND_OF_FILE\n"


def c_program(text):
    head = "".join(f"#include <{name}.h>\n" for name in (
        "fcntl", "pthread", "sched", "stdio", "stdlib", "string", "sys/mman", "time", "unistd"))
    clock = """static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec + t.tv_nsec / 1e9; }
        static double end;
        static void burn(long n) { for (volatile long i = 0; i < n; i++); }
        #define BEGIN end = now() + atof(getenv("MS")) / 1000
        """
    return file("program.c", "#define _GNU_SOURCE\n" + head + clock + text) + \
        "gcc -O1 -pthread -fopenmp program.c -o program"


def java_program(text):
    return file("Program.java", "import java.util.*;\npublic class Program {\n"
                "static volatile long sink;\n"
                "static final long end = System.nanoTime() + Long.parseLong(System.getenv(\"MS\")) * 1000000L;\n"
                "static boolean more() { return System.nanoTime() < end; }\n"
                "static void burn(long n) { for (long i = 0; i < n; i++) sink = i; }\n"
                + text + "}") + "javac Program.java"


# Sends a head at once, then 200 bytes of a body each 300 ms, to each that connects.
SLOW_SERVER = """exec python3 -c "
import os, socket, threading, time
server = socket.create_server(('127.0.0.1', int(os.environ['PORT'])))
def serve(one):
    try:
        one.recv(4096)
        one.sendall(b'HTTP/1.0 200 OK\\r\\nContent-Length: ' + str(200 * {pieces}).encode() + b'\\r\\n\\r\\n')
        for _ in range({pieces}):
            time.sleep(0.3)
            one.sendall(b'x' * 200)
        one.close()
    except OSError:
        pass
open('$READY', 'w')
while True:
    threading.Thread(target=serve, args=[server.accept()[0]], daemon=True).start()" """

# Answers each line after 25 ms.
SLOW_ANSWERS = """exec python3 -c "
import os, socket, time
server = socket.create_server(('127.0.0.1', int(os.environ['PORT'])))
open('$READY', 'w')
one = server.accept()[0]
while one.recv(100):
    time.sleep(0.025)
    one.sendall(b'yes\\n')
time.sleep(60)" """

# Three busy loops that may run on CPU 0 only, with more weight than what has nice 19.
HOGS = """for i in 1 2 3; do taskset -c 0 perl -e '$e = time + 40; 1 while time < $e' & done
touch $READY; wait"""

# A line each 300 ms into a named pipe.
DRIP = """mkfifo drip; touch $READY; exec python3 -c "
import time
pipe = open('drip', 'wb', buffering=0)
while True:
    pipe.write(b'a line of a slow writer\\n' * 4)
    time.sleep(0.3)" """

LOOP = "$n = ($n * 3 + 1) % 1000003 while $i++ % 4096 or time < $end"

CPU = [
    Case("once-blind-bc-pi", "bc -l -q pi.bc", "cpu", "bc computes digits of pi and reads a file of one line.",
         prepare="printf 'scale=2600\\nx=4*a(1)\\nquit\\n' > pi.bc", needs="bc"),
    Case("once-blind-lua-loop", ("lua5.4", "-e", "local n=1 for i=1,250000000 do n=(n*3+1)%1000003 end"), "cpu",
         "an arithmetic loop that makes no call.", needs="lua5.4"),
    Case("once-blind-openssl-speed", "openssl speed -seconds 2 -bytes 16384 -evp sha256", "cpu",
         "openssl hashes one buffer for two seconds.", needs="openssl"),
    Case("once-blind-xz-one-thread", "xz -T1 -2 -k -c part", "cpu", "xz packs 5 MB that are in the page cache.",
         prepare="head -c 5000000 $DATA/text > part; cat part > /dev/null", needs="xz"),
    Case("once-blind-sqlite-recursive", ("sqlite3", ":memory:", "with recursive c(x) as (values(1) union all select "
         "(x*3+1)%1000003 from c limit 6000000) select sum(x) from c;"), "cpu",
         "a query over no table, in memory.", needs="sqlite3"),
    Case("once-blind-node-loop", ("node", "-e", "const e=Date.now()+2500;let n=1;while(Date.now()<e)"
         "for(let i=0;i<1e6;i++)n=(n*3+1)%1000003"), "cpu", "an arithmetic loop in the one thread of the script.",
         needs="node"),
    Case("once-blind-gawk-loop", ("gawk", "BEGIN { for (i = 0; i < 3000000000; i++) n = (n * 3 + 1) % 1000003 }"),
         "cpu", "an arithmetic loop that makes no call.", verb="attach", needs="gawk"),
    Case("once-blind-php-loop", ("php", "-r", "$n = 1; while (true) $n = ($n * 3 + 1) % 1000003;"), "cpu",
         "an arithmetic loop that makes no call.", verb="why", needs="php"),
    Case("once-blind-ruby-loop", ("ruby", "-e", "n = 1; loop { n = (n * 3 + 1) % 1000003 }"), "cpu",
         "an arithmetic loop in one thread.", verb="attach", needs="ruby"),
    Case("once-blind-tcl-loop", "tclsh loop.tcl", "cpu", "an arithmetic loop that makes no call.", verb="why",
         prepare="echo 'proc f {} { set n 1; while 1 { set n [expr {($n*3+1)%1000003}] } }; f' > loop.tcl",
         needs="tclsh"),
    Case("once-blind-sort-numbers", "sort --parallel=1 -S 1G -n -o sorted numbers", "cpu",
         "sort compares 1.5 million numbers in memory with one thread.",
         prepare="perl -e 'srand 5; print int(rand 1e12), qq(\\n) for 1 .. 1500000' > numbers"),
]

CHILDREN = [
    Case("once-blind-make-one-perl", "make -s", "child cpu", "make waits for the one process of its one recipe, a loop.",
         named="perl", prepare="printf 'all:\\n\\t@perl -e \"1 while \\\\$$i++ < 100000000\"\\n' > Makefile"),
    Case("once-blind-script-bzip2", sh("mkdir d; cp part d; bzip2 -9 d/part; ls d > list"), "child cpu",
         "of four commands in turn, one packs 30 MB and the others are done at once.", named="bzip2",
         prepare="head -c 30000000 $DATA/text > part", needs="bzip2"),
    Case("once-blind-git-repack", "git -C repository repack -adfq --window=2000 --depth=100", "child cpu",
         "git's own child pack-objects compares many versions of a file by one thread.", named="git",
         prepare="git init -q repository; cd repository; git config pack.threads 1; git config user.name n; "
         "git config user.email e@example.org; for i in $(seq 1 70); do head -c $((i * 20000 + 600000)) $DATA/text "
         "> file; echo $i >> file; git add file; git commit -qm $i; done", needs="git"),
    Case("once-blind-subprocess-xz", python("import subprocess\nsubprocess.run(['xz', '-T1', '-2', '-kf', 'part'])"),
         "child cpu", "Python waits for the xz that it started.", named="xz",
         prepare="head -c 5000000 $DATA/text > part", needs="xz"),
    Case("once-blind-make-one-long", "make -s -j2", "child imbalance cpu",
         "five short recipes run beside one that takes fifty times as long and has no other to share with.",
         named="perl", prepare=file("Makefile", "all: a b c d e long\n.PHONY: all a b c d e long\n"
                                    "long:\n\t@perl -e '1 while $$i++ < 100000000'\n"
                                    "a b c d e:\n\t@perl -e '1 while $$i++ < 2000000'\n")),
    Case("once-blind-gcc-one-file", "gcc -O2 -c big.c -o big.o", "child cpu",
         "gcc waits for cc1, which compiles hundreds of functions.", named="cc1",
         prepare="perl -e 'for $f (1 .. 350) { print qq(int f$f(int *a, int n) { int s = $f; for (int i = 0; i < n; "
         "i++) { s += a[i] * $f; if (s % 7 == $f % 7) s ^= a[s & 15]; a[i & 7] += s >> 3; } return s; }\\n) }' > big.c",
         needs="gcc"),
    Case("once-blind-shell-waits-for-perl", sh("perl -e '1 while 1'; echo done"), "child cpu",
         "the shell waits for its child, which is a loop without an end.", verb="why", named="perl"),
    Case("once-blind-xargs-one-long", sh("printf '%s\\n' 1 60 1 1 1 1 | xargs -P2 -n1 perl -e "
         "'1 while $i++ < $ARGV[0] * 1500000'"), "child imbalance cpu",
         "of six processes, two at a time, one has sixty times as much to do.", named="perl"),
]

KERNEL = [
    Case("once-blind-dd-urandom", "dd if=/dev/urandom of=/dev/null bs=64k count=12000", "kernel_cpu",
         "the kernel makes the random bytes, dd only passes them on."),
    Case("once-blind-dd-zero", "dd if=/dev/zero of=/dev/null bs=1M count=90000", "kernel_cpu",
         "the kernel clears a megabyte for each read, dd does nothing with it."),
    Case("once-blind-read-smaps", python("while True:\n  with open('/proc/self/smaps', 'rb', buffering=0) as f:\n"
         "    while f.read(1 << 16): pass"), "kernel_cpu", "the kernel walks page tables for each read of smaps.",
         verb="attach"),
    Case("once-blind-cat-zero", sh("exec cat /dev/zero > /dev/null"), "kernel_cpu",
         "the kernel clears a buffer for each read, cat does nothing with it.", verb="why"),
]

PIPES = [
    Case("once-blind-cat-xz-cat", sh("cat part | xz -T1 -2 | cat > packed"), "pipe_stage child",
         "xz packs what one cat reads and another writes.", named="xz",
         prepare="head -c 5000000 $DATA/text > part", needs="xz"),
    Case("once-blind-tar-bzip2", sh("tar cf - part | bzip2 -9 > packed"), "pipe_stage child",
         "tar reads far faster than bzip2 packs.", named="bzip2",
         prepare="head -c 30000000 $DATA/text > part", needs="bzip2"),
    Case("once-blind-seq-gawk-tail", sh("seq 100000000 | gawk '{ for (i = 0; i < 300; i++) n = (n * 3 + $1) % 10007 } "
         "NR == 130000 { exit } { print n }' | tail -n 1"), "pipe_stage child",
         "gawk computes 300 steps for each line that seq prints.", named="gawk", needs="gawk"),
    Case("once-blind-yes-perl-wc", sh("yes | perl -ne '$n = ($n * 3 + $_ ) % 7 for 1 .. 400; print' | wc -l"),
         "pipe_stage child", "perl loops for each line of yes, wc only counts them.", named="perl", verb="attach"),
    Case("once-blind-cat-fifo", sh("exec cat drip"), "pipe", "cat reads a named pipe that gets a line each 300 ms.",
         verb="why", beside=DRIP),
    Case("once-blind-gzip-fifo", sh("exec gzip -c < drip"), "pipe", "gzip reads a named pipe that gets a line each 300 ms.",
         verb="attach", beside=DRIP),
    Case("once-blind-perl-full-fifo", perl("open P, '>', 'full' or die; syswrite P, 'x' x 65536 while 1"), "pipe",
         "the reader takes one page in 100 ms, so the pipe is always full.", verb="attach",
         beside="mkfifo full; touch $READY; exec python3 -c \"\nimport os, time\npipe = os.open('full', os.O_RDONLY)\n"
         "while os.read(pipe, 4096): time.sleep(0.1)\""),
    Case("once-blind-slow-producer", sh("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.3; done | sort -n"),
         "sleep pipe_stage pipe child_wait", "sort waits for a loop that sleeps after each line."),
]

UNEVEN = [
    Case("once-blind-java-rounds", "java -Xmx128m Program", "imbalance",
         "in each round one of four threads has thirty times as much to do, and all meet at a barrier.",
         prepare=java_program("""
public static void main(String[] a) throws Exception {
  var barrier = new java.util.concurrent.CyclicBarrier(4);
  Thread[] all = new Thread[4];
  for (int t = 0; t < 4; t++) { final int me = t; all[t] = new Thread(() -> { try {
    for (int r = 0; r < 40; r++) { long stop = System.nanoTime() + (me == 0 ? 60000000L : 2000000L);
      while (System.nanoTime() < stop) burn(1000); barrier.await(); } } catch (Exception e) {} }); all[t].start(); }
  for (Thread t : all) t.join(); }"""), needs="java javac"),
    Case("once-blind-openmp-static", sh("OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=0 exec ./program"),
         "imbalance", "a static schedule gives thread 1 a twentieth of the work of thread 0.", needs="gcc",
         prepare=c_program("""int main(void) { BEGIN; end += 1; while (now() < end) {
             #pragma omp parallel for schedule(static, 1) num_threads(2)
             for (int i = 0; i < 2; i++) burn(i ? 2000000 : 40000000); } }""")),
    Case("once-blind-threads-one-long", "./program", "imbalance cpu",
         "of six threads five end after 20 ms of work, one after 2.5 s.", needs="gcc",
         prepare=c_program("""static void *work(void *p) { double stop = now() + (p ? 2.5 : 0.02);
             while (now() < stop) burn(10000); return 0; }
             int main(void) { pthread_t t[6]; for (long i = 0; i < 6; i++) pthread_create(t + i, 0, work, (void *)(i == 3));
             for (int i = 0; i < 6; i++) pthread_join(t[i], 0); }""")),
]

SPINNERS = [
    Case("once-blind-python-select-zero", python("import select\nserver = socket.create_server(('127.0.0.1', 0))\n"
         "while not select.select([server], [], [], 0)[0]: pass"), "spinning",
         "asks without waiting for a connection that never comes.", verb="why"),
    Case("once-blind-dash-file-appears", sh("while ! [ -e never ]; do :; done"), "spinning",
         "a shell asks again and again for a file that never appears.", verb="attach"),
    Case("once-blind-perl-nonblocking", ("perl", "-MIO::Socket", "-e", "($a, $b) = IO::Socket->socketpair(AF_UNIX, "
         "SOCK_STREAM, PF_UNSPEC); $a->blocking(0); 1 until sysread $a, $x, 100"), "spinning",
         "reads a socket without blocking, which never has anything.", verb="attach"),
    Case("once-blind-php-stream-select", ("php", "-r", "$s = stream_socket_server('tcp://127.0.0.1:0'); $e = "
         "microtime(true) + 2; while (microtime(true) < $e) { $r = [$s]; $w = null; $x = null; "
         "stream_select($r, $w, $x, 0); }"),
         "spinning", "asks without waiting for a connection that never comes.", needs="php"),
    Case("once-blind-yield-for-flag", "./program", "spinning", "yields the CPU until a flag is set, which a sleeper does.",
         needs="gcc", prepare=c_program("""static volatile int flag;
             static void *setter(void *p) { usleep(2500000); flag = 1; return p; }
             int main(void) { pthread_t t; pthread_create(&t, 0, setter, 0); while (!flag) sched_yield(); }""")),
]

GARBAGE = """
public static void main(String[] a) {
  Object[] live = new Object[1 << 19];
  for (int i = 0; i < live.length; i++) live[i] = new Object[] { new int[8], new int[8] };
  Random r = new Random(5);
  for (long n = 0; n % 256 != 0 || more(); n++) live[r.nextInt(live.length)] = new Object[] { new int[8], new int[8] }; }"""

COLLECTORS = [
    Case("once-blind-java-serial-gc", "java -XX:+UseSerialGC -Xmx78m -Xmn6m Program", "gc",
         "hardly any of the heap is free, so that it collects most of the time.",
         prepare=java_program(GARBAGE), needs="java javac"),
    Case("once-blind-java-parallel-gc", "java -XX:+UseParallelGC -Xmx84m -Xmn8m -XX:-UseGCOverheadLimit Program", "gc",
         "hardly any of the heap is free, so that it collects most of the time.", verb="attach",
         prepare=java_program(GARBAGE), needs="java javac"),
    Case("once-blind-java-g1", "java -XX:+UseG1GC -Xmx96m Program", "gc",
         "hardly any of the heap is free, so that it collects most of the time.", verb="why",
         prepare=java_program(GARBAGE), needs="java javac"),
]

STORMS = [
    Case("once-blind-shell-true", sh("i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i + 1)); done"), "fork_storm",
         "1500 processes that do nothing, one after the other."),
    Case("once-blind-find-exec", ("find", "d", "-type", "f", "-exec", "basename", "{}", ";"), "fork_storm",
         "a process for each of 1200 names.", prepare="mkdir d; cd d; seq 1200 | xargs touch"),
    Case("once-blind-make-many", "make -s", "fork_storm", "1500 targets, each of which starts a process that does nothing.",
         prepare="perl -e '@t = map { \"t$_\" } 1 .. 1500; print qq(all: @t\\n.PHONY: @t\\n@t:\\n\\t\\@/bin/true $_\\n)' "
         "> Makefile"),
    Case("once-blind-expr-loop", sh("while :; do n=$(expr 1 + 1); done"), "fork_storm",
         "a shell that starts expr for each sum.", verb="attach"),
]

STARVED = [
    Case("once-blind-perl-quota", perl(LOOP), "cpu_quota", "a loop that may have a quarter of a CPU.", limit="cpu 0.25"),
    Case("once-blind-gzip-quota", sh("while :; do gzip -9 -c $DATA/text; done > /dev/null"), "cpu_quota",
         "gzip may have 0.4 CPUs and wants one.", verb="attach", limit="cpu 0.4"),
    Case("once-blind-openssl-quota", "openssl speed -seconds 50 -multi 2 -bytes 16384 -evp sha256", "cpu_quota",
         "two processes that hash may have half a CPU together.", verb="attach", limit="cpu 0.5", needs="openssl"),
    Case("once-blind-nice-beside-hogs", "taskset -c 0 nice -n 19 perl -e '1 while $i++ < 1e12'", "run_queue",
         "three loops with more weight want the one CPU that it may use.", verb="attach", beside=HOGS),
    Case("once-blind-gzip-beside-hogs", sh("exec taskset -c 0 nice -n 19 sh -c 'while :; do gzip -c $DATA/text; done > "
         "/dev/null'"), "run_queue", "three loops with more weight want the one CPU that it may use.", verb="why",
         beside=HOGS),
    Case("once-blind-python-beside-hogs", ("taskset", "-c", "0", *python("i = 0\nwhile time.monotonic() < end + 2: i += 1")),
         "run_queue", "three loops of the same weight want the one CPU that it may use.", beside=HOGS),
    Case("once-blind-stress-eight", "stress-ng --cpu 8 --cpu-method int64 --timeout 3 --quiet", "oversubscribed",
         "eight loops share the CPUs, of which there are fewer.", needs="stress-ng"),
    Case("once-blind-pigz-one-cpu", sh("taskset -c 1 pigz -9 -p 8 -c $DATA/text $DATA/text $DATA/text > packed"),
         "oversubscribed", "eight threads that pack may use one CPU.", needs="pigz"),
    Case("once-blind-java-many-busy", "java Program", "oversubscribed", "ten busy threads share two CPUs.", verb="why",
         prepare=java_program("""public static void main(String[] a) { for (int t = 0; t < 10; t++)
             new Thread(() -> { while (more()) burn(100000); }).start(); }"""), needs="java javac"),
]

DISKS = [
    Case("once-blind-dd-direct-read", "dd if=big of=/dev/null bs=16k iflag=direct", "disk",
         "each read goes to the device and is waited for.", busy="run_queue",
         prepare="dd if=/dev/zero of=big bs=1M count=400 conv=fsync"),
    Case("once-blind-python-direct-reads", python("""import mmap, random
file = os.open('big', os.O_RDONLY | os.O_DIRECT)
piece = mmap.mmap(-1, 256 << 10)
while time.monotonic() < end + 1: os.preadv(file, [piece], random.randrange(1600) << 18)"""), "disk",
         "reads pieces of 256 KB past the cache, at random.", busy="run_queue",
         prepare="dd if=/dev/zero of=big bs=1M count=400 conv=fsync"),
    Case("once-blind-dd-direct-write", "dd if=/dev/zero of=out bs=16k count=25000 oflag=direct", "disk",
         "each write goes to the device and is waited for.", busy="run_queue"),
    Case("once-blind-sqlite-commits", "sqlite3 base.db '.read insert.sql'", "fsync",
         "each of 300 inserts is a transaction that is synced.", busy="run_queue", needs="sqlite3",
         prepare="(echo 'pragma synchronous=full; create table t(x);'; for i in $(seq 300); do echo \"insert into t "
         "values($i);\"; done) > insert.sql"),
    Case("once-blind-perl-sync", ("perl", "-MIO::Handle", "-e", "open F, '>', 'log'; while (1) { syswrite F, 'x' x 500; "
         "F->sync }"), "fsync", "syncs after each line of a log.", verb="attach", busy="run_queue"),
    Case("once-blind-dd-dsync", "dd if=/dev/zero of=out bs=4k oflag=dsync", "fsync disk",
         "each write waits until the device has it.", verb="why", busy="run_queue"),
    Case("once-blind-redis-append", sh(REDIS_SERVER + " --appendonly yes --appendfsync always"), "fsync",
         "syncs its log before each answer to a client that always asks.", verb="attach", busy="run_queue",
         beside="until redis-cli -p $PORT ping > /dev/null 2>&1; do sleep 0.1; done; touch $BEGUN; "
         "exec redis-benchmark -p $PORT -c 1 -n 10000000 -t set -q > /dev/null", needs="redis-check-rdb redis-cli"),
    Case("once-blind-dd-write-limit", "dd if=/dev/zero of=out bs=64k count=160 oflag=direct", "blkio_limit",
         "10 MB past the cache, where 4 MB a second are allowed.", limit="write 4M"),
    Case("once-blind-dd-write-limit-attach", "dd if=/dev/zero of=out bs=256k count=3000 oflag=direct", "blkio_limit",
         "writes past the cache, where 2 MB a second are allowed.", limit="write 2M", verb="attach"),
]

TINY = [
    Case("once-blind-dd-single-bytes", "dd if=/dev/zero of=out bs=1 count=1500000", "tiny_io",
         "a read and a write for each byte."),
    Case("once-blind-dash-read-lines", sh("while read -r line; do :; done < part"), "tiny_io",
         "dash reads its input byte by byte.", prepare="head -c 4000000 $DATA/text > part"),
    Case("once-blind-perl-bytes", perl("open F, '>', 'out'; syswrite F, 'x' while 1"), "tiny_io",
         "a write for each byte of a file.", verb="attach"),
]

NETWORK = [
    Case("once-blind-curl-slow", sh("exec curl -s -o page http://127.0.0.1:$PORT/"), "network",
         "the server sends a piece each 300 ms.", beside=SLOW_SERVER.format(pieces=8), needs="curl"),
    Case("once-blind-wget-slow", sh("exec wget -q -O page http://127.0.0.1:$PORT/"), "network",
         "the server sends a piece each 300 ms.", verb="why", beside=SLOW_SERVER.format(pieces=300), needs="wget"),
    Case("once-blind-ruby-http", ("ruby", "-rnet/http", "-e", "Net::HTTP.get(URI(%(http://127.0.0.1:#{ENV['PORT']}/)))"),
         "network", "the server sends a piece each 300 ms.", verb="attach",
         beside=SLOW_SERVER.format(pieces=300), needs="ruby"),
    Case("once-blind-perl-questions", ("perl", "-MIO::Socket::INET", "-e", "$s = IO::Socket::INET->new(PeerAddr => "
         "qq(127.0.0.1:$ENV{PORT})); for (1 .. 90) { syswrite $s, qq(so?\\n); sysread $s, $x, 100 }"), "network",
         "90 questions, each of which is answered after 25 ms.", beside=SLOW_ANSWERS),
    Case("once-blind-redis-blpop", sh("exec redis-cli -p $PORT blpop nothing 0"), "network",
         "waits for the answer of a server that has none.", verb="why",
         beside="(until redis-cli -p $PORT ping > /dev/null 2>&1; do sleep 0.1; done; touch $READY) & " + REDIS_SERVER,
         needs="redis-check-rdb redis-cli"),
    Case("once-blind-java-socket", "java Program", "network", "reads a socket that gets a piece each 300 ms.", verb="attach",
         beside=SLOW_SERVER.format(pieces=300), needs="java javac", prepare=java_program("""
             public static void main(String[] a) throws Exception {
             var s = new java.net.Socket("127.0.0.1", Integer.parseInt(System.getenv("PORT")));
             s.getOutputStream().write("GET / HTTP/1.0\\r\\n\\r\\n".getBytes());
             while (s.getInputStream().read(new byte[1000]) > 0); }""")),
]

LOCKS = [
    Case("once-blind-flock-held", "flock wanted.lock true", "lock", "another process has the lock of the file.",
         beside=HOLDER.format(2.5), named="python"),
    Case("once-blind-perl-flock", ("perl", "-MFcntl=:flock", "-e", "open F, '>>', 'wanted.lock'; flock F, LOCK_EX"), "lock",
         "another process has the lock of the file.", verb="why", beside=HOLDER.format(60), named="python"),
    Case("once-blind-python-lockf", python("import fcntl\nfile = open('region', 'r+')\nfcntl.lockf(file, fcntl.LOCK_EX)"),
         "lock", "another process has the lock of the file.", verb="attach",
         beside="echo > region; exec python3 -c \"\nimport fcntl, time\nfile = open('region', 'r+')\n"
         "fcntl.lockf(file, fcntl.LOCK_EX)\nopen('$READY', 'w')\ntime.sleep(60)\""),
    Case("once-blind-sqlite-busy", ("sqlite3", "base.db", ".timeout 60000", "insert into t values (1);"), "lock sleep",
         "another process has the database locked, and sqlite sleeps between its attempts.", verb="attach",
         prepare="sqlite3 base.db 'create table t(x);'", needs="sqlite3",
         beside="exec python3 -c \"\nimport sqlite3, time\nbase = sqlite3.connect('base.db', isolation_level=None)\n"
         "base.execute('begin exclusive')\nopen('$READY', 'w')\ntime.sleep(60)\""),
    Case("once-blind-python-gil", python("def work():\n  n = 1\n  while time.monotonic() < end + 1: n = (n * 3 + 1) % 1000003\n"
         "all = [threading.Thread(target=work) for _ in range(4)]\n"
         "for one in all: one.start()\nfor one in all: one.join()"), "serialised",
         "four threads compute, of which the interpreter lets one run."),
    Case("once-blind-ruby-gvl", ("ruby", "-e", "4.times.map { Thread.new { n = 1; loop { n = (n * 3 + 1) % 1000003 } } }"
         ".each(&:join)"), "serialised", "four threads compute, of which the interpreter lets one run.", verb="attach",
         needs="ruby"),
    Case("once-blind-java-synchronized", "java -XX:+UseSerialGC Program", "serialised lock",
         "four threads compute, each for 3 ms with one lock.", prepare=java_program("""
             static final Object one = new Object();
             public static void main(String[] a) { for (int t = 0; t < 4; t++) new Thread(() -> { while (more())
             { synchronized (one) { long stop = System.nanoTime() + 3000000; while (System.nanoTime() < stop)
             burn(1000); } burn(1000); } }).start(); }"""), needs="java javac"),
    Case("once-blind-mutex-turns", "./program", "serialised lock", "four threads compute, nearly always with one mutex.",
         verb="attach", needs="gcc", prepare=c_program("""static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
             static void *work(void *p) { while (now() < end) { pthread_mutex_lock(&m); burn(3000000);
             pthread_mutex_unlock(&m); burn(30000); } return p; }
             int main(void) { BEGIN; pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(t + i, 0, work, 0);
             for (int i = 0; i < 4; i++) pthread_join(t[i], 0); }""")),
    Case("once-blind-mutex-circle", "./program", "deadlock", "two threads want the mutex that the other has.", verb="why",
         needs="gcc", prepare=c_program("""static pthread_mutex_t m[2] = { PTHREAD_MUTEX_INITIALIZER,
             PTHREAD_MUTEX_INITIALIZER };
             static void *work(void *p) { long i = (long)p; pthread_mutex_lock(m + i); usleep(200000);
             pthread_mutex_lock(m + 1 - i); return p; }
             int main(void) { pthread_t t[2]; for (long i = 0; i < 2; i++) pthread_create(t + i, 0, work, (void *)i);
             for (int i = 0; i < 2; i++) pthread_join(t[i], 0); }""")),
    Case("once-blind-java-circle", "java Program", "deadlock lock", "two threads want the monitor that the other has.",
         verb="why", needs="java javac", prepare=java_program("""
             static void take(Object a, Object b) { synchronized (a) { try { Thread.sleep(200); } catch (Exception e) {}
             synchronized (b) { sink++; } } }
             public static void main(String[] x) { Object a = new Object(), b = new Object();
             new Thread(() -> take(a, b)).start(); new Thread(() -> take(b, a)).start(); }""")),
    Case("once-blind-flock-circle", python("""import fcntl
child = os.fork()
names = ['one', 'two'] if child else ['two', 'one']
first = open(names[0], 'w'); fcntl.flock(first, fcntl.LOCK_EX); time.sleep(0.5)
second = open(names[1], 'w'); fcntl.flock(second, fcntl.LOCK_EX)"""), "deadlock",
         "parent and child each want the file lock that the other has.", verb="why"),
]

MEMORY = [
    Case("once-blind-drop-and-touch", "./program", "page_faults", "drops its pages and takes them again, one by one.",
         needs="gcc", prepare=c_program("""int main(void) { BEGIN; size_t n = 64 << 20;
             char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
             madvise(p, n, MADV_NOHUGEPAGE); while (now() < end + 1) { for (size_t i = 0; i < n; i += 4096) p[i] = 1;
             madvise(p, n, MADV_DONTNEED); } }""")),
    Case("once-blind-map-and-unmap", "./program", "mmap_churn", "makes and drops a mapping of a page, which it never uses.",
         verb="attach", needs="gcc", prepare=c_program("""int main(void) { while (1) munmap(mmap(0, 4096, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096); }""")),
    Case("once-blind-perl-large-strings", perl("while (time < $end + 1) { my $x = 'a' x 50_000_000; undef $x }"),
         "page_faults mmap_churn", "takes 50 MB of fresh pages for each string and gives them back."),
    Case("once-blind-python-grows", python("all = []\nwhile True: all.append(bytearray(b'x') * 1000000)"), "oom_kill",
         "grows without end where 48 MB are allowed.", limit="memory 48M"),
    Case("once-blind-child-grows", sh("perl -e 'push @a, q(x) x 1000000 while 1'; sleep 0.5; echo over"), "oom_kill",
         "a child grows without end where 32 MB are allowed.", limit="memory 32M"),
    Case("once-blind-cache-too-small", python("""import random
file = os.open('big', os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
while True: os.pread(file, 4096, random.randrange(100 * 256) * 4096)"""), "memory_limit disk",
         "reads 100 MB again and again, of which the cache may keep less than 32 MB.", limit="memory 32M",
         verb="attach", busy="run_queue", prepare="dd if=/dev/zero of=big bs=1M count=100 oflag=direct"),
]

IDLE = [
    Case("once-blind-sleep", "sleep 2.5", "sleep", "it sleeps."),
    Case("once-blind-shell-sleeps", sh("for i in 1 2 3 4 5 6 7 8; do sleep 0.3; done"), "sleep",
         "eight sleeps, one after the other."),
    Case("once-blind-java-sleep", "java Program", "sleep", "sleeps 50 ms again and again.", verb="why", needs="java javac",
         prepare=java_program("public static void main(String[] a) throws Exception "
                              "{ while (more()) Thread.sleep(50); }")),
    Case("once-blind-node-timers", ("node", "-e", "let n = 0; const i = setInterval(() => { if (++n == 12) "
         "clearInterval(i) }, 200)"), "sleep poll", "a timer each 200 ms, and nothing else.", needs="node"),
    Case("once-blind-http-server-idle", sh("exec python3 -m http.server --bind 127.0.0.1 $PORT"), "poll network",
         "a server that nobody asks.", verb="attach"),
    Case("once-blind-tail-follow", "tail -f quiet.log", "poll", "follows a file that does not grow.", verb="why",
         prepare="echo > quiet.log"),
    Case("once-blind-terminal", ("python3", "-c", "import os, pty, time\nif pty.fork()[0]: time.sleep(60)\n"
         "else: os.execvp('cat', ['cat'])"), "poll", "waits for a line of its terminal, where nobody writes.",
         verb="why", target="cat"),
    Case("once-blind-wait-for-child", ("bash", "-c", "sleep 50 & wait; echo over"), "child_wait sleep",
         "the shell waits for a child that sleeps.", verb="attach", needs="bash"),
    Case("once-blind-stops-itself", sh("kill -STOP $$"), "stopped", "it has sent SIGSTOP to itself.", verb="why"),
    Case("once-blind-perl-stopped", sh("exec perl -e 'if (!fork) { sleep 1; kill STOP => getppid; sleep 1; "
         "open F, q(>), $ARGV[0]; exit } 1 while 1' $BEGUN"), "stopped", "its child has stopped it.", verb="attach"),
    Case("once-blind-gdb-holds", sh("tail -f /dev/null | gdb -q -nx -ex starti --args sleep 60"), "traced",
         "gdb has halted it at its start.", verb="why", target="sleep", needs="gdb"),
    Case("once-blind-frozen-loop", perl(LOOP), "frozen", "its cgroup is frozen.", verb="why", limit="frozen"),
    Case("once-blind-descriptors", sh("ulimit -n 24; exec python3 -c \"\nimport socket, time\nall = []\nwhile True:\n  try: "
         "all.append(socket.socket())\n  except OSError: time.sleep(0.002)\""), "fd_limit sleep",
         "wants more descriptors than 24 and tries again and again.", verb="attach"),
]

CASES = [*CPU, *CHILDREN, *KERNEL, *PIPES, *UNEVEN, *SPINNERS, *COLLECTORS, *STORMS, *STARVED, *DISKS, *TINY,
         *NETWORK, *LOCKS, *MEMORY, *IDLE]
