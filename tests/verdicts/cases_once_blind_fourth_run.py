# SPDX-License-Identifier: MIT
"""The fourth corpus that was written by someone who had not seen the rules, and is no longer blind.

These are programs that taskscope starts; the other two files are of the same corpus.  Of 94 answers 9 were
wrong with a high score: a child that computes while its parent waits (three), a wrapper that waits for a
signal, sort in front of short stages, calls that look for a path in vain, a FIFO that nobody opens, and two
whose wall time hangs on something else than was expected of them.  Rules were mended after that.
"""
from once_blind_fourth_parts import GIL, HOGS, ONE_LOCK, THINKS, UNEQUAL, c, file, server, team
from case import HOLDER, Case, sh

# One thread or process that computes.
COMPUTES = [
    Case("blind4_perl_collatz", sh("""exec perl -MTime::HiRes=time -e '
my $end = time + $ENV{MS} / 1000; my $n = 1;
while (time < $end) { $n++; my $x = $n; $x = $x % 2 ? 3 * $x + 1 : $x / 2 while $x > 1 }'"""),
         "cpu", "One thread computes from beginning to end.", named="perl"),
    Case("blind4_bc_pi", sh("echo 'scale=2400; 4*a(1)' | bc -l"),
         "cpu", "bc has read its one line at once, and computes digits from then on.", named=r"\bbc\b",
         needs="bc"),
    Case("blind4_openssl_speed", "openssl speed -seconds 2 -bytes 8192 sha512",
         "cpu", "It hashes the same block over and over.", named="openssl", needs="openssl"),
    Case("blind4_node_sieve", sh("""exec node -e '
const end = Date.now() + Number(process.env.MS);
let n = 0;
while (Date.now() < end) {
    const sieve = new Uint8Array(1 << 16);
    for (let i = 2; i < 256; i++)
        if (!sieve[i])
            for (let j = i * i; j < sieve.length; j += i) sieve[j] = 1;
    n++;
}'"""), "cpu", "The one thread of the program strikes out numbers.", named="node", needs="node"),
    Case("blind4_compile_one_file", sh("exec gcc -O3 -c -o many.o many.c"),
         "cpu", "The compiler proper computes, and the driver waits for it.", named="cc1", needs="gcc",
         prepare=r"""python3 - > many.c <<'END'
for i in range(160):
    print(f'double f{i}(double *a, int n) {{ double s = {i}; for (int i = 0; i < n; i++) '
          f'for (int j = 0; j < {i % 9 + 2}; j++) s += a[i] * a[j] / (s + {i}) + a[i * j + {i % 3}]; '
          'return s; }')
END"""),
    Case("blind4_sqlite_recursion", sh("""exec sqlite3 :memory: 'WITH RECURSIVE n(i, x) AS (SELECT 1, 7
UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM n WHERE i < 5000000)
SELECT sum(x % 10) FROM n'"""), "cpu", "A query over numbers that it makes itself, in memory.",
         named="sqlite3", needs="sqlite3"),
    Case("blind4_xz_of_cached_file", sh("exec xz -6 -T1 -c part > /dev/null"),
         "cpu", "One thread compresses a file that is in the page cache.", named=r"\bxz\b", needs="xz",
         prepare="head -c 3000000 $DATA/text > part; cat part > /dev/null"),
    Case("blind4_pointer_chase", sh("exec ./chase $MS"),
         "cpu", "One thread follows pointers: to the system that is computing, however slow memory is.",
         needs="gcc", prepare=c("chase", r"""
int main(int argc, char **argv)
{
	unsigned n = 16 << 20, at = 0, *next = malloc(n * sizeof(*next));
	begin(argv);
	for (unsigned i = 0; i < n; i++)
		next[i] = (i * 1664525u + 1013904223u) % n;
	while (goes_on())
		for (int i = 0; i < 10000; i++)
			at = next[at];
	return at == n;
}""")),
    Case("blind4_two_threads_two_cpus", sh("exec ./team $MS"),
         "cpu", "Two threads compute the whole time, and there are two CPUs.", needs="gcc",
         prepare=c("team", team(2)), busy="run_queue oversubscribed"),
    Case("blind4_python_garbage_in_cycles", sh("""exec python3 -c "
import os, time
end = time.monotonic() + int(os.environ['MS']) / 1000
class Node:
    pass
while time.monotonic() < end:
    nodes = [Node() for _ in range(2000)]
    for node in nodes:
        node.me = node" """), "cpu gc",
         "One thread makes objects that refer to themselves, and collects them.", named="python"),
    Case("blind4_sort_then_count", sh("sort --parallel=1 -S 200M -k3,3 -k7 $DATA/text | uniq -c | tail -1"),
         "cpu pipe_stage serialised", "Nothing goes on before one thread of sort has sorted all lines.",
         named=r"\bsort\b", prepare="cat $DATA/text > /dev/null"),
]

# Computes less than it would like to.
STARVED = [
    Case("blind4_eight_threads", sh("exec ./team $MS"),
         "oversubscribed run_queue cpu", "Eight threads want to compute on two CPUs.", needs="gcc",
         prepare=c("team", team(8))),
    Case("blind4_six_on_one_cpu", sh("exec taskset -c 0 ./team $MS"),
         "oversubscribed run_queue", "Six threads may use one CPU only, and another is free.", needs="gcc",
         prepare=c("team", team(6))),
    Case("blind4_nice_beside_hogs", sh("""exec nice -n 19 perl -MTime::HiRes=time -e '
my $end = time + 1.5 * $ENV{MS} / 1000; 1 while time < $end'"""),
         "run_queue", "Two strangers of a higher priority have both CPUs.", beside=HOGS),
    Case("blind4_pinned_beside_hogs", sh("""exec taskset -c 1 perl -MTime::HiRes=time -e '
my $end = time + 1.2 * $ENV{MS} / 1000; 1 while time < $end'"""),
         "run_queue", "Four strangers share its only CPU with it, and the other CPU is free.",
         beside="""for i in 1 2 3 4; do taskset -c 1 perl -e '1 while 1' & done; : > $READY; wait"""),
    Case("blind4_quota_hash", sh("""exec perl -MDigest::SHA=sha256 -MTime::HiRes=time -e '
my $end = time + 1.3 * $ENV{MS} / 1000; my $x = "a"; $x = sha256($x) while time < $end'"""),
         "cpu_quota", "Its cgroup may use a quarter of a CPU.", limit="cpu 0.25"),
    Case("blind4_quota_make", sh("exec make -s -j3"),
         "cpu_quota", "Three computing steps have 0.6 of a CPU.", limit="cpu 0.6", needs="make",
         prepare=file("Makefile", """all: a b c
a b c:
\t@perl -e '$$x = 0; $$x += $$_ % 7 for 1 .. 10000000'""")),
]

# Threads and processes that exclude each other.
LOCKS = [
    Case("blind4_one_mutex_four_threads", sh("exec ./locked $MS"),
         "lock serialised", "Nearly all work is done inside one mutex, which three of four wait for.",
         needs="gcc", prepare=c("locked", ONE_LOCK)),
    Case("blind4_python_gil", sh("exec python3 gil.py $MS $BEGUN"),
         "lock serialised", "Four threads compute in an interpreter that runs one at a time.",
         prepare=file("gil.py", GIL)),
    Case("blind4_flock_of_other", sh("exec flock wanted.lock true"),
         "lock", "Somebody else has locked the file for two seconds.", named="wanted.lock|python",
         beside=HOLDER.format(2), needs="flock"),
    Case("blind4_sqlite_busy", sh("exec sqlite3 -cmd '.timeout 20000' shop.db 'INSERT INTO t VALUES (2)'"),
         "lock sleep", "Another connection has a transaction open; sqlite3 asks again after short sleeps.",
         needs="sqlite3", prepare="sqlite3 shop.db 'CREATE TABLE t (x)'", beside="""exec python3 -c "
import sqlite3, time
db = sqlite3.connect('shop.db', isolation_level=None)
db.execute('BEGIN EXCLUSIVE')
open('$READY', 'w')
time.sleep(2)
db.execute('COMMIT')
time.sleep(60)" """),
    Case("blind4_cron_jobs_one_lock", sh("for i in 1 2 3 4 5; do flock job.lock sleep 0.4 & done; wait"),
         "lock serialised sleep", "Five jobs take turns, and each sleeps while it has the lock.",
         needs="flock"),
    Case("blind4_unequal_team", sh("exec ./unequal $MS"),
         "imbalance serialised", "At each barrier one thread waits for the other nine tenths of the time.",
         needs="gcc", prepare=c("unequal", UNEQUAL)),
    Case("blind4_pool_with_long_task", sh("exec python3 pool.py"),
         "imbalance cpu serialised", "One of six tasks takes eight times as long as all others together.",
         prepare=file("pool.py", """
import multiprocessing, time
def task(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool:
        pool.map(task, [2, 0.05, 0.05, 0.05, 0.05, 0.05], 1)""")),
    Case("blind4_turns", sh("exec ./turns $MS"),
         "serialised lock", "Two threads hand one token to each other and compute only while they have it.",
         busy="run_queue", needs="gcc", prepare=c("turns", r"""
static sem_t turn[2];
static void *player(void *number)
{
	long me = (long)number;
	while (goes_on()) {
		sem_wait(&turn[me]);
		burn(4);
		sem_post(&turn[!me]);
	}
	sem_post(&turn[!me]);
	return NULL;
}
int main(int argc, char **argv)
{
	begin(argv);
	sem_init(&turn[0], 0, 1);
	sem_init(&turn[1], 0, 0);
	start(2, player);
}""")),
    Case("blind4_spin_on_flag", sh("exec ./spin $MS"),
         "spinning kernel_cpu cpu sleep", "A thread yields in a loop until a flag is set, which is set late.",
         needs="gcc", prepare=c("spin", r"""
static volatile int flag;
static void *waiter(void *number)
{
	while (!flag)
		sched_yield();
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_create(&t, NULL, waiter, NULL);
	usleep(atoi(argv[1]) * 1000);
	flag = 1;
	pthread_join(t, NULL);
}""")),
]

PIPES = [
    Case("blind4_slow_producer", sh("""perl -e 'for (1 .. 250000) { my $x = 0; $x += $_ * 3 % 7 for 1 .. 120;
print "$x\\n" }' | wc -l"""),
         "pipe_stage cpu", "perl computes each line, and wc has nothing to do but to wait for them.",
         named="perl"),
    Case("blind4_slow_consumer", sh("head -c 28000000 $DATA/text | bzip2 -9 > /dev/null"),
         "pipe_stage cpu", "bzip2 computes all the time, and head waits for room in the pipe.",
         named="bzip2", needs="bzip2"),
    Case("blind4_backup_pipeline", sh("tar cf - -C part . | zstd -q -17 -T1 | openssl enc -aes-256-ctr -k a "
                                      "-pbkdf2 > out.zst"),
         "pipe_stage cpu", "Of three stages zstd is the slow one.", named="zstd", needs="zstd openssl",
         prepare="mkdir part; head -c 4000000 $DATA/text > part/text; sync part/text"),
    Case("blind4_report_every_moment", sh("for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.2; done | cat"),
         "sleep pipe_stage pipe", "The producer sleeps between lines.", named="sleep|\\bsh\\b"),
    Case("blind4_throttled_reader", sh("""yes | head -c 2000000 | perl -e '
while (sysread STDIN, my $x, 65536) { select undef, undef, undef, 0.05 }'"""),
         "sleep pipe_stage pipe", "The reader sleeps after each read, and the others wait for room.",
         named="perl"),
]

CHILDREN = [
    Case("blind4_script_sleeps", sh("echo one; sleep 1; echo two; sleep 1; echo three"),
         "sleep", "The script sleeps."),
    Case("blind4_make_chain", sh("exec make -s -j2 d"),
         "serialised cpu", "Each of four computing steps needs the one before it, so that one CPU is idle.",
         needs="make", prepare=file("Makefile", """STEP = @perl -e '$$x = 0; $$x += $$_ % 7 for 1 .. 9000000'
a: ; $(STEP)
b: a ; $(STEP)
c: b ; $(STEP)
d: c ; $(STEP)""")),
    Case("blind4_make_sleeping_steps", sh("exec make -s -j1"),
         "sleep serialised", "One step after the other, and each sleeps.", needs="make",
         prepare=file("Makefile", "all: a b c d e\na b c d e:\n\t@sleep 0.4")),
    Case("blind4_shell_loop_of_commands", sh("i=0; while [ $i -lt 1800 ]; do /bin/true; i=$((i+1)); done"),
         "fork_storm", "All it does is to start short programs.", busy="run_queue"),
    Case("blind4_find_exec", sh("exec find $DATA/tree -name '*1*.txt' -exec /usr/bin/basename {} ';'"),
         "fork_storm", "A program is started for each file.", busy="run_queue"),
]

WAITS = [
    Case("blind4_wait_for_file", sh("""exec python3 -c "
import os, time
while not os.path.exists('done'):
    time.sleep(0.05)" """),
         "sleep poll", "It sleeps, and looks now and then whether a file is there yet.",
         beside=": > $READY; sleep 2.5; : > done; exec sleep 60"),
    Case("blind4_curl_slow_server", sh("exec curl -s -o page http://127.0.0.1:$PORT/"),
         "network poll", "The server takes two seconds to answer.", needs="curl", beside=server(
             """peer.recv(4096)
    time.sleep(2)
    peer.sendall(b'HTTP/1.0 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')
    peer.close()""")),
    Case("blind4_chatty_client", sh("""exec python3 -c "
import os, socket
peer = socket.create_connection(('127.0.0.1', int(os.environ['PORT'])))
lines = peer.makefile()
for i in range(10):
    peer.sendall(b'next\\n')
    lines.readline()" """),
         "network", "Ten questions one after the other, and the server takes 0.2 s for each.",
         beside=THINKS),
]

KERNEL = [
    Case("blind4_fsync_each_line", sh("""exec python3 -c "
import os, time
end = time.monotonic() + int(os.environ['MS']) / 1000
with open('journal', 'wb', 0) as file:
    while time.monotonic() < end:
        file.write(bytes(512))
        os.fsync(file.fileno())" """),
         "fsync disk", "Each line is brought to the disk before the next.", busy="run_queue"),
    Case("blind4_sqlite_autocommit", sh("""exec python3 -c "
import sqlite3, time
end = time.monotonic() + $MS / 1000
db = sqlite3.connect('shop.db', isolation_level=None)
db.execute('CREATE TABLE t (x)')
while time.monotonic() < end:
    db.execute('INSERT INTO t VALUES (1)')" """),
         "fsync disk", "Each row is a transaction, and each transaction is brought to the disk.",
         busy="run_queue"),
    Case("blind4_direct_reads", sh("""timeout 2 sh -c 'while :; do
dd if=$DATA/big of=/dev/null bs=16k iflag=direct 2> /dev/null; done' || true"""),
         "disk", "Reads that bypass the page cache, one at a time.", busy="run_queue"),
    Case("blind4_direct_writes_limited", sh("exec dd if=/dev/zero of=out bs=256k count=32 oflag=direct"),
         "blkio_limit", "8 MB are written where 4 MB a second are allowed.", limit="write 4M"),
    Case("blind4_map_touch_unmap", sh("exec ./maps $MS"),
         "mmap_churn page_faults kernel_cpu", "Memory is mapped, touched once and unmapped, again and again.",
         needs="gcc", prepare=c("maps", r"""
int main(int argc, char **argv)
{
	begin(argv);
	while (goes_on()) {
		char *p = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(p, 8 << 20, MADV_NOHUGEPAGE);
		for (int i = 0; i < 8 << 20; i += 4096)
			p[i] = 1;
		munmap(p, 8 << 20);
	}
}""")),
    Case("blind4_dd_bytes", sh("exec dd if=/dev/zero of=out bs=1 count=1500000"),
         "tiny_io kernel_cpu", "A byte for each of three million calls."),
    Case("blind4_random_bytes", sh("exec head -c 600000000 /dev/urandom > /dev/null"),
         "kernel_cpu cpu", "The kernel computes random bytes."),
    Case("blind4_stat_storm", sh("exec ./stats $MS"),
         "kernel_cpu spinning", "Nearly all CPU time is that of calls which look for a path, in vain.", needs="gcc",
         prepare=c("stats", r"""
int main(int argc, char **argv)
{
	struct stat s;
	begin(argv);
	while (goes_on())
		for (int i = 0; i < 1000; i++)
			stat("/usr/lib/../lib/../lib/../lib/../lib/../lib/none", &s);
}""")),
    Case("blind4_oom_in_cgroup", sh("""for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do python3 -c "
parts = []
while True:
    parts.append(bytearray(b'x') * (1 << 20))"; done; true"""),
         "oom_kill memory_limit", "It takes memory until its cgroup has no more and it is killed, again and "
         "again.",
         limit="memory 64M"),
    Case("blind4_descriptors_used_up", sh("""ulimit -n 40; exec perl -MTime::HiRes=time,sleep -e '
my $end = time + $ENV{MS} / 1000; my @open;
while (time < $end) { if (open my $f, "<", "/etc/passwd") { push @open, $f } else { sleep 0.02 } }'"""),
         "fd_limit sleep", "It may have 40 files open, and tries in vain to open one more."),
    Case("blind4_java_full_heap", sh("exec java -XX:+UseSerialGC -Xmx48m -Xms48m -cp . Cache $MS"),
         "gc", "What lives nearly fills the heap, so that most of the time is that of collections.",
         needs="java javac", prepare=file("Cache.java", """import java.util.*;
public class Cache { public static void main(String[] a) {
    long end = System.nanoTime() + Long.parseLong(a[0]) * 1000000L;
    Map<Integer, String> cache = new HashMap<>();
    for (int i = 0; System.nanoTime() < end; i++) {
        cache.put(i % 340000, new String("entry" + i));
    } } }""") + "javac -d . Cache.java"),
]

CASES = COMPUTES + STARVED + LOCKS + PIPES + CHILDREN + WAITS + KERNEL
