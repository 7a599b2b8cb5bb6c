# SPDX-License-Identifier: MIT
"""Programs that taskscope attaches to, of the corpus in cases_once_blind_fourth_run.py."""
from once_blind_fourth_parts import CROSSED, GIL, HOGS, MUTE, ONE_LOCK, THINKS, UNEQUAL, c, file, team
from case import HOLDER, REDIS_SERVER, Case, sh


def attached(name, command, accept, truth, **more):
    return Case(f"blind4_on_{name}", command, accept, truth, verb="attach", **more)


CASES = [
    attached("perl_mandelbrot", sh("""exec perl -e '
open my $f, ">", $ARGV[0];
while (1) {
    my ($x, $y) = (0, 0);
    ($x, $y) = ($x*$x - $y*$y - 0.1, 2*$x*$y + 0.3) for 1 .. 1000;
}' $BEGUN"""),
             "cpu", "One thread computes without end.", named="perl"),
    attached("sqlite_join", sh(""": > $BEGUN; exec sqlite3 :memory: '
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
SELECT i + 1 FROM n WHERE i < 3000) SELECT count(*) FROM n a, n b, n c WHERE a.i * b.i % 7 = c.i % 5'"""),
             "cpu", "A join of numbers, in memory, takes for ever.", named="sqlite3", needs="sqlite3"),
    attached("compressor_in_pipe", sh(""": > $BEGUN
(while :; do cat $DATA/small; done) | xz -6 -T1 > /dev/null"""),
             "pipe_stage cpu", "xz computes, and the one before it waits for room in the pipe.",
             named=r"\bxz\b", needs="xz"),
    attached("python_gil", sh("exec python3 gil.py $MS $BEGUN"),
             "lock serialised", "Four threads compute in an interpreter that runs one at a time.",
             prepare=file("gil.py", GIL)),
    attached("one_mutex", sh("exec ./locked $MS"),
             "lock serialised", "Nearly all work is done inside one mutex, which three of four wait for.",
             needs="gcc", prepare=c("locked", ONE_LOCK)),
    attached("writers_of_a_table", sh("exec ./table $MS"),
             "lock serialised", "Three writers wait for a lock that is held nearly all the time by one of "
             "them.", needs="gcc", prepare=c("table", r"""
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void *writer(void *number)
{
	while (goes_on()) {
		pthread_rwlock_wrlock(&lock);
		burn(5);
		pthread_rwlock_unlock(&lock);
		burn(0.05);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	begin(argv);
	start(4, writer);
}""")),
    attached("crossed_locks", sh("exec ./crossed $MS"),
             "deadlock lock", "Two threads each have the lock that the other wants.", needs="gcc",
             prepare=c("crossed", CROSSED)),
    attached("unequal_team", sh("exec ./unequal $MS"),
             "imbalance serialised", "At each barrier one thread waits nine tenths of the time.",
             needs="gcc", prepare=c("unequal", UNEQUAL)),
    attached("idle_web_server", sh("""exec python3 -c "
import http.server
handler = http.server.SimpleHTTPRequestHandler
server = http.server.HTTPServer(('127.0.0.1', $PORT), handler)
open('$BEGUN', 'w')
server.serve_forever()" """),
             "poll network none", "A server that nobody asks anything waits for connections."),
    attached("idle_redis", sh(REDIS_SERVER), "poll network none",
             "A server that nobody asks anything waits for events, and looks around ten times a second.",
             needs="redis-check-rdb", target="redis-server"),
    attached("node_interval", sh("""exec node -e '
require("fs").writeFileSync(process.argv[1], ""); setInterval(() => 1, 100)' $BEGUN"""),
             "poll sleep none", "Nothing happens but a timer, ten times a second.", needs="node"),
    attached("java_sleeper", sh("exec java -cp . Nap $BEGUN"),
             "sleep none", "The program sleeps half a second at a time.", needs="java javac",
             prepare=file("Nap.java", """public class Nap {
public static void main(String[] a) throws Exception {
    new java.io.File(a[0]).createNewFile();
    while (true) Thread.sleep(500); } }""") + "javac -d . Nap.java"),
    attached("java_garbage", sh("exec java -XX:+UseSerialGC -Xmx64m -Xms64m -cp . Lists $MS $BEGUN"),
             "gc", "What lives nearly fills the heap, so that most of the time is that of collections.",
             needs="java javac", prepare=file("Lists.java", """import java.util.*;
public class Lists { public static void main(String[] a) throws Exception {
    long end = System.nanoTime() + Long.parseLong(a[0]) * 1000000L;
    ArrayDeque<long[]> live = new ArrayDeque<>();
    for (int i = 0; System.nanoTime() < end; i++) {
        live.add(new long[6]);
        if (live.size() > 700000) live.poll();
        if (i == 3000000) new java.io.File(a[1]).createNewFile();
    } } }""") + "javac -d . Lists.java"),
    attached("wants_flock", sh(": > $BEGUN; exec flock wanted.lock true"),
             "lock", "Somebody else has locked the file.", named="wanted.lock|python",
             beside=HOLDER.format(60), needs="flock"),
    attached("reader_of_slow_log", sh("exec cat log.pipe"),
             "pipe pipe_stage", "It reads a pipe, whose writer has something to say twice a second.",
             prepare="mkfifo log.pipe", beside="""exec 3<> log.pipe
while :; do echo line >&3; : > $BEGUN; sleep 0.5; done"""),
    attached("writer_without_reader", sh("""yes | (: > $BEGUN; exec sleep $((MS / 1000)))"""),
             "pipe pipe_stage sleep", "The pipe is full, since the one at its other end does not read.",
             named="sleep|pipe", target="yes"),
    attached("journal", sh("""exec perl -MIO::Handle -e '
open my $f, ">", "journal"; open my $b, ">", $ARGV[0];
while (1) { print $f "x" x 200, "\\n"; $f->flush; $f->sync; seek $f, 0, 0 if tell $f > 1000000 }' $BEGUN"""),
             "fsync disk", "Each line is brought to the disk before the next.", busy="run_queue"),
    attached("quota_two_threads", sh("exec ./team $MS"),
             "cpu_quota", "Two computing threads have 0.4 of a CPU.", limit="cpu 0.4", needs="gcc",
             prepare=c("team", team(2))),
    attached("starved_by_strangers", sh(""": > $BEGUN; exec nice -n 19 perl -e '1 while 1'"""),
             "run_queue", "Two strangers of a higher priority have both CPUs.", beside=HOGS),
    attached("backup_script", sh(""": > $BEGUN; while :; do for i in 1 2 3 4 5 6 7 8 9; do
/usr/bin/dirname /a/b$i > /dev/null; done; done"""),
             "fork_storm", "All it does is to start short programs.", busy="run_queue"),
    attached("asks_slow_server", sh("""exec python3 -c "
import socket
peer = socket.create_connection(('127.0.0.1', $PORT))
lines = peer.makefile()
open('$BEGUN', 'w')
while True:
    peer.sendall(b'next\\n')
    lines.readline()" """),
             "network", "It asks in a loop, and the server takes 0.2 s for each answer.", beside=THINKS),
    attached("pool_of_processes", sh("""exec python3 -c "
import os
for i in range(7):
    if os.fork() == 0:
        break
else:
    open('$BEGUN', 'w')
while True:
    pass" """),
             "oversubscribed run_queue cpu", "Eight processes want to compute on two CPUs."),
    attached("rewrites_buffers", sh("exec ./buffers $MS"),
             "page_faults mmap_churn kernel_cpu", "Memory is given back and touched again, page by page.",
             needs="gcc", prepare=c("buffers", r"""
int main(int argc, char **argv)
{
	char *p = mmap(NULL, 32 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, 32 << 20, MADV_NOHUGEPAGE);
	begin(argv);
	begun();
	while (goes_on()) {
		for (int i = 0; i < 32 << 20; i += 4096)
			p[i] = 1;
		madvise(p, 32 << 20, MADV_DONTNEED);
	}
}""")),
    attached("reads_byte_by_byte", sh("exec ./bytes $MS"),
             "tiny_io kernel_cpu", "A file of the page cache is read by calls for one byte each.",
             needs="gcc", prepare="head -c 100000 /dev/zero > input\n" + c("bytes", r"""
int main(int argc, char **argv)
{
	int fd = open("input", O_RDONLY);
	char byte;
	begin(argv);
	begun();
	while (goes_on()) {
		lseek(fd, 0, SEEK_SET);
		while (read(fd, &byte, 1) == 1)
			;
	}
}""")),
    attached("waits_for_mute_server", sh("""exec perl -MIO::Socket::INET -e '
my $s = IO::Socket::INET->new("127.0.0.1:$ENV{PORT}") or die; print $s "hello\\n"; $s->flush;
open my $b, ">", $ARGV[0]; close $b; my $answer = readline $s' $BEGUN"""),
             "network", "The server never answers.", beside=MUTE),
]
