# SPDX-License-Identifier: MIT
"""Blind programs that taskscope runs."""
from blind6_parts import (ASLEEP_WITH_LOCK, BACKEND, DRIPS, PINNED_HOGS, PIPES_FULL, POSIX_HOLDER, WRITERS,
                          YIELDS, perl, python, ruby, uncached)
from case import Case, sh
from once_blind_fifth_parts import c, file, java, nginx


def ran(name, command, accept, truth, **more):
    return Case(f"blind6_{name}", command, accept, truth, **more)


PLAIN = [
    ran("sqlite_imports_and_groups", sh("""exec sqlite3 :memory: '.mode csv' '.import sales.csv sales' \
'create index by_shop on sales(shop, day)' \
'select shop, day, sum(amount) over (partition by shop order by day) as s from sales order by s limit 3'"""),
        "cpu", "All that it has is in memory, where it sorts and sums.", needs="sqlite3 gawk",
        prepare="""gawk 'BEGIN { print "shop,day,amount"; for (i = 0; i < 600000; i++)
print i * 7919 % 1009 "," i % 365 "," i * 31 % 997 }' > sales.csv"""),
    ran("perl_word_pairs", sh("""exec perl -ne '
for (my ($i, @w) = (0, split); $i < 8; $i++) { $n{substr($w[$i], 0, 2) . substr($w[$i + 1], 0, 2)}++ }
last if $. > 420000' $DATA/text"""), "cpu", "It splits the lines of a cached file and counts.", needs="perl"),
    ran("tclsh_sorts", "tclsh sorts.tcl", "cpu", "It sorts lists by a procedure of its own.", needs="tclsh",
        prepare=file("sorts.tcl", """
proc after_bang {a b} { expr {($a * 7919) % 10007 - ($b * 7919) % 10007} }
for {set i 0} {$i < 600000} {incr i} { lappend list [expr {($i * 31) % 100003}] }
puts [lindex [lsort -command after_bang $list] 0]""")),
    ran("guile_tak", ("guile", "-c", """
(use-modules (system base compile))
(compile '(let ()
  (define (tak x y z) (if (not (< y x)) z (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y))))
  (do ((i 0 (+ i 1))) ((= i 14)) (tak 27 18 (- 9 (modulo i 2))))))"""), "cpu", "Takeuchi's function.",
        needs="guile"),
    ran("m4_fibonacci", ("sh", "-c", "exec m4 fib.m4"), "cpu", "It expands a recursive macro.", needs="m4",
        prepare="""echo 'define(`fib'"'"', `ifelse(eval($1 < 2), 1, $1,
`eval(fib(decr($1)) + fib(decr(decr($1))))'"'"')'"'"')fib(30)' > fib.m4"""),
    ran("lz4_high", "lz4 -12 -f -q $DATA/text /dev/null", "cpu", "The file is cached, the level the highest.",
        needs="lz4"),
    ran("java_interpreted", sh("exec java -Xint -XX:+UseSerialGC -cp . Only"), "cpu",
        "One thread computes, without a compiler.", needs="java javac", prepare=java("Only", """
    public static void main(String[] a) throws Exception { while (go()) work(100000); }""")),
    ran("node_derives_key", ("node", "-e", "crypto.pbkdf2Sync('a', 'b', 4000000, 64, 'sha512')"), "cpu",
        "It derives a key in four million rounds.", needs="node"),
    ran("php_sorts", ("php", "-d", "memory_limit=-1", "-r", """
for ($i = 0; $i < 2000000; $i++) $list[] = $i * 7919 % 1000003;
usort($list, fn($a, $b) => $a % 1009 <=> $b % 1009);"""), "cpu", "It sorts by a function in PHP.",
        needs="php"),
    ran("git_greps_history", sh("""cd $DATA/repository
exec git -c safe.directory='*' grep -c -E '([a-m]+[n-z]+)+ .*(zz|qq)' $(cat $OLDPWD/versions)"""), "cpu",
        "It searches the files of each version, all of which are cached.", needs="git",
        prepare="git -c safe.directory='*' -C $DATA/repository rev-list -n 45 HEAD > versions"),
    ran("grep_back_references", sh("exec grep -c -E '(.)(.)(.)(.).*\\4\\3\\2\\1' part > count"), "cpu",
        "A pattern that is slow to look for, in a short file.", prepare="head -n 16000 $DATA/small > part"),
    ran("clang_long_file", "clang -w -O2 -c -o long.o $DATA/project/long.c", "cpu child",
        "It compiles one file.", named="clang", needs="clang"),
    ran("digest_of_cached_file", "openssl dgst -sha3-512 $DATA/big $DATA/big", "cpu", "The file is cached.",
        needs="openssl", prepare="cat $DATA/big > /dev/null"),
    ran("pytest_computes", sh("exec pytest-3 -q -p no:cacheprovider test_sums.py"), "cpu",
        "Six tests add up.", prepare=file("test_sums.py", """
import pytest
@pytest.mark.parametrize('n', range(6))
def test_sum(n):
    assert sum(i % (n + 2) for i in range(9000000)) > 0"""), needs="pytest-3"),
]

PIPELINES = [
    ran("archive_into_brotli", sh("tar c part | brotli -q 7 -c | wc -c"), "pipe_stage cpu",
        "brotli compresses, and those around it wait for it.", named="brotli", busy="run_queue",
        needs="brotli", prepare="head -c 16000000 $DATA/text > part"),
    ran("dump_into_bzip2", sh("sqlite3 sales.db .dump | bzip2 -9 > dump.bz2"), "pipe_stage cpu",
        "bzip2 takes several times as long for a line as sqlite3.", named="bzip2", needs="sqlite3 bzip2",
        busy="run_queue", prepare="""sqlite3 sales.db "create table s(a, b); with recursive n(i) as
(select 1 union all select i + 1 from n where i < 800000)
insert into s select i, abs(random()) from n" """),
    ran("slow_producer_of_logs", sh("ruby logs.rb | grep -v zz | gzip -1 | wc -c"), "pipe_stage cpu",
        "The others are through with each line long before ruby has the next one.", named="ruby",
        needs="ruby", busy="run_queue", prepare=ruby("logs", """
puts (1..300).map { |i| (i * i).to_s(36) }.sort.join(' ')[0, 70] while more?""")),
    ran("sed_in_the_middle", sh("xz -dc part.xz | "
                                "sed -E 's/([a-z]+) ([a-z]+)$/\\2 \\1/; s/(.)(.)\\1/\\2/g' | "
                                "lz4 -1 > out.lz4"), "pipe_stage cpu", "sed rewrites, the others copy.",
        named=r"\bsed\b", needs="xz lz4", busy="run_queue",
        prepare="cat $DATA/small $DATA/small | xz -0 > part.xz"),
    ran("checks_zeroes", sh("head -c 1200M /dev/zero | cat | md5sum"), "pipe_stage cpu",
        "md5sum is slower than any copying.", named="md5sum", busy="run_queue"),
    ran("consumer_that_sleeps", sh("cat $DATA/small | perl eats.pl"), "pipe_stage sleep",
        "perl sleeps after each portion, as if it sent it somewhere.", named="perl", needs="perl",
        prepare=perl("eats", "my $part; sleep 0.1 while more() && sysread STDIN, $part, 65536;")),
]

LOCKS = [
    ran("readers_behind_writers", sh("exec ./writers"), "lock serialised",
        "Three threads do all of their work with a read-write lock held for writing.", needs="gcc",
        busy="run_queue", prepare=WRITERS),
    ran("workers_lock_file", sh("exec perl workers.pl"), "lock serialised",
        "Four processes do nearly all of their work with a file locked.", needs="perl", busy="run_queue",
        prepare=perl("workers", """
for (1 .. 4) {
    next if fork;
    open my $lock, '>', 'lock';
    while (more()) {
        flock $lock, LOCK_EX;
        my $x = 1; $x = ($x * 31 + 7) % 1000003 for 1 .. 150000;
        flock $lock, LOCK_UN;
    }
    exit;
}
1 while wait > 0;""")),
    ran("waits_for_posix_lock", sh("exec perl wants.pl"), "lock",
        "Another process has the lock for as long as it wants it.", named="python", needs="perl",
        beside=POSIX_HOLDER.format(2.2), prepare=perl("wants", """
open my $file, '>', 'wanted.lock';
my $lock = pack 's s l! l! i', F_WRLCK, 0, 0, 0, 0;
fcntl $file, F_SETLKW, $lock or die $!;""")),
    ran("java_reentrant_lock", sh("exec java -XX:+UseSerialGC -cp . Desk"), "lock serialised",
        "Three threads do nearly all of their work with one lock.", busy="run_queue", needs="java javac",
        prepare=java("Desk", """
    static final java.util.concurrent.locks.ReentrantLock desk =
        new java.util.concurrent.locks.ReentrantLock(true);
    public static void main(String[] a) {
        for (int i = 0; i < 3; i++)
            new Thread(() -> { try {
                while (go()) { desk.lock(); work(2000000); desk.unlock(); work(1000); }
            } catch (Exception e) { } }, "guest-" + i).start();
    }""")),
    ran("sleeps_with_lock", sh("exec ruby asleep.rb"), "lock serialised sleep",
        "Four threads sleep, one after the other, since they do so with a lock.", needs="ruby",
        prepare=ASLEEP_WITH_LOCK),
    ran("node_waits_for_worker", sh("exec node hands.js"), "cpu serialised",
        "Of two threads one computes, and the other one waits for it.", needs="node",
        prepare=file("hands.js", """
const { Worker, isMainThread, workerData } = require('worker_threads');
if (isMainThread) {
    const done = new Int32Array(new SharedArrayBuffer(4));
    new Worker(__filename, { workerData: done });
    Atomics.wait(done, 0, 0);
} else {
    const limit = Date.now() + Number(process.env.MS);
    let x = 1;
    while (Date.now() < limit) for (let i = 0; i < 1e5; i++) x = (x * 31 + 7) % 65537;
    Atomics.store(workerData, 0, x + 1);
    Atomics.notify(workerData, 0);
}""")),
    ran("pipes_full_both_ways", sh("exec python3 full.py"), "deadlock pipe",
        "Each of two processes wants to write before it reads, and both pipes are full.", seconds=1.8,
        prepare=PIPES_FULL),
    ran("locks_itself_out", sh("exec ./itself"), "deadlock lock",
        "A thread asks for the mutex that it has.", needs="gcc", seconds=1.6, prepare=c("itself", r"""
static pthread_mutex_t account = PTHREAD_MUTEX_INITIALIZER;
static void pay(int amount)
{
	pthread_mutex_lock(&account);
	if (amount > 1)
		pay(amount / 2);
	pthread_mutex_unlock(&account);
}
int main(void)
{
	pay(5);
}""")),
    ran("java_locks_crossed", sh("exec java -XX:+UseSerialGC -cp . Pair"), "deadlock lock",
        "Two threads each have the lock that the other wants.", needs="java javac", seconds=2.5,
        prepare=java("Pair", """
    static void take(java.util.concurrent.locks.Lock first, java.util.concurrent.locks.Lock second,
                     CountDownLatch both) {
        first.lock();
        try { both.countDown(); both.await(); } catch (Exception e) { }
        second.lock();
    }
    public static void main(String[] a) throws Exception {
        var left = new java.util.concurrent.locks.ReentrantLock();
        var right = new java.util.concurrent.locks.ReentrantLock();
        CountDownLatch both = new CountDownLatch(2);
        new Thread(() -> take(left, right, both), "lefty").start();
        take(right, left, both);
    }""")),
]

LIMITS = [
    ran("lua_collects_often", ("lua5.4", "-e", """
local live = {}
for i = 1, 300000 do live[i] = { i } end
for i = 1, 450 do live[i] = { -i }; collectgarbage() end"""), "gc cpu",
        "It has all garbage collected, of which there is little, again and again.", needs="lua5.4"),
    ran("quota_of_pipeline", sh("tar c part | gzip -6 | wc -c"), "cpu_quota",
        "Its processes may use a quarter of a CPU.", limit="cpu 0.25",
        prepare="head -c 24000000 $DATA/text > part"),
    ran("quota_of_compiler", sh("exec gcc -O1 -w -c -o long.o $DATA/project/long.c"), "cpu_quota",
        "The compiler may use half a CPU.", limit="cpu 0.4", needs="gcc"),
    ran("quota_of_workers", sh("exec python3 workers.py"), "cpu_quota",
        "Two processes that compute may use half a CPU together.", limit="cpu 0.5",
        prepare=python("workers", """
for _ in range(2):
    if not os.fork():
        while more():
            work(10000)
        os._exit(0)
for _ in range(2):
    os.wait()""")),
    ran("supervisor_restarts", sh("""for try in $(seq 16); do
ruby -e 'x = []; 300.times { x << "r" * 1000000 }'; done; true"""), "oom_kill memory_limit",
        "The kernel kills each child before it is through, since its memory is too small.", needs="ruby",
        limit="memory 64M"),
    ran("commits_over_io_limit", sh("exec sqlite3 shop.db < commits.sql"), "blkio_limit",
        "Each commit has to bring to the disk what takes it a fifth of a second at that rate.",
        limit="write 256K", needs="sqlite3",
        prepare="""(echo 'create table s(a, b);'; for i in $(seq 12); do
echo "insert into s values ($i, randomblob(9000));"; done) > commits.sql"""),
    ran("descriptors_used_up", sh("ulimit -n 30; exec ruby opens.rb"), "fd_limit",
        "It cannot open what it wants, and tries again a little later.", needs="ruby",
        prepare=ruby("opens", """
kept = []
while more?
  begin
    kept << File.open('/dev/null')
  rescue Errno::EMFILE
    sleep 0.03
  end
end""")),
]

FILES = [
    ran("ruby_syncs", sh("exec ruby journal.rb"), "fsync disk", "It brings each entry to the disk.",
        needs="ruby", busy="run_queue", prepare=ruby("journal", """
File.open('journal', 'w') { |f| while more?; f.write("entry\\n"); f.fsync; end }""")),
    ran("java_forces", sh("exec java -XX:+UseSerialGC -Xshare:auto -cp . Journal"), "fsync disk",
        "It brings each entry to the disk.", needs="java javac", busy="run_queue", prepare=java("Journal", """
    public static void main(String[] a) throws Exception {
        var file = new java.io.RandomAccessFile("journal", "rw");
        while (go()) { file.writeBytes("an entry\\n"); file.getChannel().force(true); }
    }""")),
    ran("python_commits", sh("exec python3 bank.py"), "fsync disk", "Each row is a transaction of its own.",
        busy="run_queue", prepare=python("bank", """
import sqlite3
db = sqlite3.connect('bank.db', isolation_level=None)
db.execute('pragma journal_mode = wal')
db.execute('pragma synchronous = full')
db.execute('create table moves(a)')
while more():
    db.execute('insert into moves values (1)')""")),
    ran("fio_ring", "fio --name=r --filename=$DATA/big --readonly --rw=randread --bs=128k --size=256m "
        "--direct=1 --ioengine=io_uring --iodepth=4 --runtime=2 --time_based --thread --output=fio.txt",
        "disk", "Reads at random places that bypass the page cache.", needs="fio", busy="run_queue"),
    ran("maps_cold_file", sh("exec python3 looks.py"), "disk page_faults",
        "Each look at a mapped file is at a page that is not in memory.", busy="run_queue",
        prepare=uncached("$DATA/big", "cold") + python("looks", """
import mmap
view = mmap.mmap(os.open('cold', os.O_RDONLY), 0, prot=mmap.PROT_READ)
view.madvise(mmap.MADV_RANDOM)
at = 1
while more():
    at = (at * 1664525 + 1013904223) % (1 << 32)
    view[(at >> 8) * 4096 % len(view)]""")),
    ran("java_reads_bytes", sh("exec java -XX:+UseSerialGC -cp . Bytes $DATA/small"), "tiny_io kernel_cpu",
        "It reads a file without a buffer, a byte at a time.", needs="java javac", prepare=java("Bytes", """
    public static void main(String[] a) throws Exception {
        var file = new java.io.RandomAccessFile(a[0], "r");
        while (go()) for (int i = 0; i < 10000; i++) sink += file.read();
    }""")),
    ran("lua_without_buffer", ("lua5.4", "-e", """
local f = io.open('/dev/null', 'w'); f:setvbuf('no')
for i = 1, 4500000 do f:write('x') end"""), "tiny_io kernel_cpu",
        "It writes a byte at a time.", needs="lua5.4"),
    ran("reads_zeroes", sh("exec head -c 12G /dev/zero > /dev/null"), "kernel_cpu",
        "All that it wants is made by the kernel."),
    ran("disk_usage", sh("for i in 1 2 3; do du -s /usr; done"), "kernel_cpu",
        "It asks the kernel about each of very many files, all of which are cached.",
        prepare="du -s /usr"),
    ran("python_fresh_pages", sh("exec python3 fresh.py"), "mmap_churn page_faults kernel_cpu",
        "It has memory mapped, looks at each page, and gives it back.", prepare=python("fresh", """
import mmap
while more():
    with mmap.mmap(-1, 8 << 20) as block:
        block.madvise(mmap.MADV_NOHUGEPAGE)
        block[::4096]""")),
]

WAITS = [
    ran("curl_drips", sh("exec curl -s -o page http://127.0.0.1:$PORT/"), "network poll",
        "The server gives out a thousand bytes a second.", needs="curl", beside=DRIPS),
    ran("wget_is_polite", sh("exec wget -q --wait=1 -O page http://127.0.0.1:$PORT/a "
                             "http://127.0.0.1:$PORT/b http://127.0.0.1:$PORT/c"), "sleep",
        "It sleeps a second between any two pages, as told.", needs="wget nginx", named="wget",
        prepare="mkdir site; touch site/a site/b site/c; chmod -R a+rX .",
        beside=nginx("") + "exec nginx -p $PWD -e $PWD/error.log -c $PWD/nginx.conf"),
    ran("node_asks_backend", sh("exec node asks.js"), "network poll",
        "It waits a tenth of a second for each answer of a stranger.", needs="node",
        beside=BACKEND.format(100), prepare=file("asks.js", """
(async () => { for (let i = 0; i < 18; i++)
    await (await fetch('http://127.0.0.1:' + process.env.PORT)).text(); process.exit(); })()""")),
    ran("java_timer", sh("exec java -XX:+UseSerialGC -cp . Clock"), "sleep poll none",
        "It does next to nothing each fifty milliseconds.", needs="java javac", prepare=java("Clock", """
    public static void main(String[] a) throws Exception {
        var pool = Executors.newScheduledThreadPool(1);
        pool.scheduleAtFixedRate(() -> sink++, 0, 50, TimeUnit.MILLISECONDS);
        Thread.sleep(2500);
        pool.shutdownNow();
    }""")),
    ran("bash_waits_for_jobs", ("bash", "-c", "sleep 1.4 & sleep 1.8 & sleep 1.2 & wait"),
        "sleep child_wait child", "All that was started sleeps.", named="sleep"),
    ran("commit_hook_sleeps", sh("exec git commit -q --allow-empty -m a"), "sleep child child_wait",
        "The hook that git waits for sleeps.", named="sleep|pre-commit|hook", needs="git",
        prepare="""git init -q; git config user.name a; git config user.email a@b
printf '#!/bin/sh\nsleep 2\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit"""),
    ran("perl_calls_openssl", ("perl", "-e", "system qw(openssl dgst -sha3-512), ($ENV{DATA} . '/big') x 2"),
        "cpu child", "The program that it waits for computes.", named="openssl", needs="perl openssl"),
    ran("longest_of_three_steps", sh("cp $DATA/small a; brotli -q 11 -w 18 -c part > b; "
                                     "tar cf c a b"), "cpu child",
        "The second of three steps takes nearly all of the time, and computes.", named="brotli",
        needs="brotli", prepare="head -c 2400000 $DATA/small > part"),
    ran("stopped_by_another", sh("echo $$ > pid; mv pid wanted; exec perl computes.pl"), "stopped",
        "Another process stops it for most of its time.", needs="perl",
        beside="""until [ -e wanted ]; do sleep 0.02; done; sleep 0.2; kill -STOP $(cat wanted)
sleep 2.5; kill -CONT $(cat wanted)""",
        prepare=file("computes.pl", "$x = ($x * 31 + 7) % 1000003 for 1 .. 20000000;")),
    ran("breakpoint_never_true", sh("exec gdb -q -batch -ex 'break step if n < 0' -ex run ./counts"),
        "traced", "The debugger stops it at each step, to see whether it should.", needs="gdb gcc",
        busy="run_queue", prepare=c("counts", r"""
static volatile long sink;
__attribute__((noinline)) void step(long n)
{
	sink += n;
}
int main(void)
{
	for (long n = 0; n < 15000; n++)
		step(n);
}""", "-g")),
]

MANY = [
    ran("ninja_chain", sh("exec ninja"), "serialised child cpu",
        "Each step needs the one before, so that one runs at a time.", named="gawk", needs="ninja gawk",
        prepare=file("build.ninja", """rule step
  command = gawk 'BEGIN { for (i = 0; i < 4000000; i++) s += i % 7 }' && touch $out
""" + "\n".join(f"build s{i}: step s{i - 1}" for i in range(1, 11))) + "touch s0"),
    ran("make_far_too_many_jobs", sh("exec make -s -j$(($(nproc) * 5)) all"), "oversubscribed cpu",
        "Five jobs that compute for each CPU.", busy="run_queue", needs="make openssl",
        prepare="ln -s $DATA/copies/noise noise; printf '%%:\\n\\topenssl dgst -sha3-512 noise\\n"
                "all: 1 2 3 4 5 6 7 8 9 10\\n' > Makefile"),
    ran("pool_of_eight", sh("exec python3 pool.py"), "oversubscribed cpu",
        "Four processes that compute for each CPU.", busy="run_queue", prepare=python("pool", """
import multiprocessing
def task(n):
    while more():
        work(1000)
count = 4 * os.cpu_count()
multiprocessing.Pool(count).map(task, range(count), chunksize=1)""")),
    ran("pinned_beside_php", sh("exec taskset -c 0 bzip2 -c part"), "run_queue",
        "Three strangers want the only CPU that it may use.", named="php", needs="php bzip2 taskset",
        beside=PINNED_HOGS, prepare="head -c 12000000 $DATA/text > part"),
    ran("ruby_asks_programs", ("ruby", "-e", "900.times { |i| `expr #{i} + 1` }"), "fork_storm",
        "All that it does is to start short programs.", needs="ruby", busy="run_queue"),
    ran("bash_subshells", ("bash", "-c", "for i in {1..1500}; do x=$(echo $i); done"),
        "fork_storm kernel_cpu", "A process for each round, though no program.", busy="run_queue"),
    ran("gawk_system", ("gawk", 'BEGIN { for (i = 0; i < 1300; i++) system("true") }'), "fork_storm",
        "A shell for each of many commands that do nothing.", busy="run_queue", needs="gawk"),
    ran("dash_asks_signal", ("dash", "-c", "sleep 1.6 & while kill -0 $! 2> /dev/null; do :; done"),
        "spinning kernel_cpu", "It asks without a pause whether another process is there.", needs="dash"),
    ran("yields_until_flag", sh("exec ./yields"), "spinning",
        "A thread yields again and again until another one, which sleeps, is through.", needs="gcc",
        prepare=YIELDS),
    ran("java_spins", sh("exec java -XX:+UseSerialGC -cp . Spins"), "spinning cpu",
        "One thread looks without a pause at what another, which sleeps, will set.", needs="java javac",
        prepare=java("Spins", """
    static volatile boolean done;
    public static void main(String[] a) throws Exception {
        new Thread(() -> { try { Thread.sleep(1800); } catch (Exception e) { } done = true; }).start();
        while (!done) Thread.onSpinWait();
    }""")),
    ran("redis_intrinsic_latency", "redis-cli --intrinsic-latency 2", "cpu spinning",
        "It looks at the clock all the time, to see when it did not run.", needs="redis-cli"),
]

CASES = PLAIN + PIPELINES + LOCKS + LIMITS + FILES + WAITS + MANY
