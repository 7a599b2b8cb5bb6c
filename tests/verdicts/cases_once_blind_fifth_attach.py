# SPDX-License-Identifier: MIT
"""Programs that taskscope attaches to, of the corpus in cases_once_blind_fifth_run.py."""
from once_blind_fifth_parts import (ECHO, HOGS, MONITOR, MONITORS_CROSSED, REDIS, RUBY_THREADS, THRASH, c, file, java,
                          nginx)
from case import REDIS_SERVER, Case, sh


def attached(name, command, accept, truth, **more):
    return Case(f"blind5_on_{name}", command, accept, truth, verb="attach", **more)


# nginx, and what it gives out; its worker has the name nginx too.
SITE = nginx("gzip on; gzip_http_version 1.0; gzip_comp_level 9; gzip_types *;") + \
    ": > $BEGUN; exec nginx -p $PWD -e $PWD/error.log -c $PWD/nginx.conf"
PAGE = "mkdir site; head -c 1000000 $DATA/small > site/page; chmod -R a+rX ."

CASES = [
    attached("nginx_compresses", sh(SITE), "cpu", "It compresses a page anew for each of many requests.",
             busy="run_queue", named="nginx", needs="nginx ab", prepare=PAGE,
             beside="while :; do ab -q -c 4 -n 1000 -H 'Accept-Encoding: gzip' http://127.0.0.1:$PORT/page "
                    "> /dev/null 2>&1; sleep 0.05; done"),
    attached("idle_lighttpd", sh("exec lighttpd -D -f lighttpd.conf"), "poll network none",
             "A server that nobody asks anything.", needs="lighttpd",
             prepare="""mkdir site; echo "server.document-root = \\"$PWD/site\\"
server.bind = \\"127.0.0.1\\"
server.port = $PORT" > lighttpd.conf"""),
    attached("redis_script", sh(REDIS_SERVER), "cpu", "A client has it run a script without end.",
             named="redis", needs="redis-check-rdb redis-cli", target="redis-server",
             beside="""until redis-cli -p $PORT ping > /dev/null 2>&1; do sleep 0.05; done
: > $BEGUN; exec redis-cli -p $PORT EVAL 'local x = 0 while true do x = x + 1 end' 0"""),
    attached("redis_syncs_always", sh(REDIS_SERVER.replace("--save ''", "--save '' --appendonly yes "
                                                           "--appendfsync always")),
             "fsync disk", "It brings each change to the disk before it answers.", busy="run_queue",
             named="redis|aof|append", needs="redis-check-rdb redis-cli redis-benchmark",
             target="redis-server", beside="""until redis-cli -p $PORT ping > /dev/null 2>&1; do
sleep 0.05; done; : > $BEGUN; exec redis-benchmark -q -p $PORT -c 2 -n 100000000 -t set"""),
    attached("ruby_threads", sh("exec ruby threads.rb"), "serialised lock",
             "Three threads compute in an interpreter that runs one at a time.", named="ruby", needs="ruby",
             prepare=RUBY_THREADS),
    attached("java_monitor", sh("exec java -XX:+UseSerialGC -cp . Ledger"), "lock serialised",
             "Four threads do nearly all of their work inside one monitor.", needs="java javac",
             prepare=MONITOR),
    attached("java_deadlock", sh("exec java -XX:+UseSerialGC -cp . Crossed"), "deadlock lock",
             "Two threads each have the monitor that the other wants.", needs="java javac",
             prepare=MONITORS_CROSSED),
    attached("node_garbage", sh("exec node --expose-gc live.js $BEGUN"), "gc",
             "It has garbage collected after each small piece of work.", needs="node",
             prepare=file("live.js", """
const live = [];
for (let i = 0; i < 300000; i++) live.push({ id: i, tag: [i] });
require('fs').writeFileSync(process.argv[2], '');
for (let i = 0; ; i = (i + 1) % live.length) { live[i] = { id: i, tag: [i] }; gc(); }""")),
    attached("java_queue_of_work", sh("exec java -XX:+UseSerialGC -cp . Jobs"), "oversubscribed cpu",
             "Eight threads of a pool compute on two CPUs.", busy="run_queue", needs="java javac",
             prepare=java("Jobs", """
    public static void main(String[] a) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        for (int i = 0; i < 8; i++)
            pool.submit(() -> { while (go()) work(1000000); return 0; });
        pool.shutdown();
    }""")),
    attached("node_with_quota", sh("""exec node -e '
require("fs").writeFileSync(process.argv[1], "");
let x = 1; while (true) x = (x * 31 + 7) % 65537' $BEGUN"""),
             "cpu_quota", "It may use three tenths of a CPU.", limit="cpu 0.3", needs="node"),
    attached("xz_of_idle_class", sh(": > $BEGUN; exec chrt --idle 0 xz -T1 -c /dev/zero"), "run_queue",
             "It may have what two strangers leave of the CPUs, and they leave little.", beside=HOGS,
             needs="chrt xz lua5.4"),
    attached("rate_of_pv", sh(": > $BEGUN; exec pv -q -L 300000 /dev/zero"), "sleep poll",
             "pv sleeps on purpose, so as not to be faster than it was told.", needs="pv", named=r"\bpv\b"),
    attached("reads_log_by_line", ("dash", "-c", ": > $BEGUN; while :; do "
                                   "while read -r line; do :; done < part; done"),
             "tiny_io kernel_cpu", "dash reads a byte at a time.", needs="dash",
             prepare="head -c 3000000 $DATA/small > part"),
    attached("fio_reads", sh("exec fio --name=reads --filename=$DATA/big --readonly --rw=randread --bs=64k "
                             "--size=256m --direct=1 --ioengine=psync --runtime=60 --time_based --thread "
                             "--output=fio.txt"),
             "disk", "Reads at random places, one at a time, that bypass the page cache.", busy="run_queue",
             needs="fio"),
    attached("writes_over_io_max", sh(""": > $BEGUN
while :; do dd if=/dev/zero of=out bs=128k count=400 oflag=direct status=none; done"""),
             "blkio_limit", "Two MiB a second are allowed.", limit="write 2M"),
    attached("table_larger_than_limit", sh("exec ./thrash"), "memory_limit disk",
             "It reads a mapped file at random, a third of which fits into its cgroup.", limit="memory 32M",
             needs="gcc", prepare=THRASH),
    attached("python_maps_files", sh("""exec python3 -c "
import mmap, os
fd = os.open('small', os.O_RDONLY)
open('$BEGUN', 'w')
while True:
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as view:
        view[0]" """),
             "mmap_churn page_faults kernel_cpu", "It maps a file for each look at it.",
             prepare="head -c 100000 $DATA/small > small"),
    attached("calloc_large", sh("exec ./frames"), "page_faults mmap_churn kernel_cpu",
             "Each frame is fresh memory, whose pages are cleared one by one.", needs="gcc",
             prepare=c("frames", r"""
int main(void)
{
	while (more()) {
		volatile char *p = aligned_alloc(4096, 24 << 20);
		madvise((void *)p, 24 << 20, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < 24 << 20; i += 4096)
			p[i] = 1;
		free((void *)p);
	}
}""")),
    attached("health_checks", ("bash", "-c", """: > $BEGUN; while :; do
for pid in 1 2 3 4; do name=$(cat /proc/$pid/comm 2> /dev/null | tr a-z A-Z); done; done"""),
             "fork_storm", "All that it does is to start short programs.", busy="run_queue"),
    attached("server_without_descriptors", sh("ulimit -n 24; exec python3 accept.py"), "fd_limit spinning",
             "Somebody waits to be accepted, but there is no descriptor left, and it tries again at once.",
             prepare=file("accept.py", """
import os, socket
listener = socket.create_server(('127.0.0.1', int(os.environ['PORT'])), backlog=64)
kept = []
while True:
    try:
        kept.append(listener.accept()[0])
        if len(kept) == 9:
            open(os.environ['BEGUN'], 'w')  # $BEGUN
    except OSError:
        pass"""),
             beside="""exec python3 -c "
import socket, time
kept = []
while len(kept) < 50:
    try:
        kept.append(socket.create_connection(('127.0.0.1', $PORT)))
    except OSError:
        time.sleep(0.05)
time.sleep(60)" """),
    attached("coprocess", sh("exec python3 echo.py"), "pipe tiny_io serialised",
             "Each line goes to a process and comes back before the next one is sent.", busy="run_queue",
             prepare=ECHO),
    attached("wget_slow_mirror", sh(": > $BEGUN; exec wget -q -O page http://127.0.0.1:$PORT/page"),
             "network poll", "The server gives out a hundred thousand bytes a second.", needs="wget nginx curl",
             prepare="mkdir site; cp $DATA/text site/page; chmod -R a+rX .",
             beside=nginx("limit_rate 100000;") + """nginx -p $PWD -e $PWD/error.log -c $PWD/nginx.conf &
until curl -s -o head -r 0-9 http://127.0.0.1:$PORT/page; do sleep 0.05; done; : > $READY; wait"""),
    attached("stopped_backup", sh("""tar cf - -C $DATA tree tree tree tree | (: > $BEGUN; exec python3 -c '
import os, signal
os.read(0, 1000)
os.kill(os.getpid(), signal.SIGSTOP)')"""),
             "stopped pipe pipe_stage", "The one that takes what tar writes has been stopped by a signal.",
             named="python"),
    attached("rsync_with_limit", sh("exec rsync -r --bwlimit=100 $DATA/tree copy"), "sleep poll",
             "It sleeps on purpose, so as not to be faster than a hundred KiB a second.", named="rsync",
             needs="rsync"),
    attached("frozen_worker", sh(": > $BEGUN; exec luajit -joff -e 'while true do end'"), "frozen",
             "Its cgroup is frozen.", limit="frozen", needs="luajit"),
    attached("polls_with_no_timeout", sh("exec ./asks"), "spinning kernel_cpu",
             "It asks without a pause whether there is something to read, and there never is.", needs="gcc",
             prepare=c("asks", r"""
int main(void)
{
	int end[2];
	if (pipe(end))
		return 1;
	struct pollfd fd = {end[0], POLLIN, 0};
	while (more())
		for (int i = 0; i < 1000; i++)
			poll(&fd, 1, 0);
}""")),
    attached("slow_filter", sh(""": > $BEGUN; while :; do cat $DATA/small; done |
tclsh filter.tcl | grep -c zz"""), "pipe_stage cpu", "tclsh computes, and those around it wait for it.",
             named="tclsh", needs="tclsh", prepare=file("filter.tcl", """
while {[gets stdin line] >= 0} {
    set n 0
    foreach word [split $line] { for {set i 0} {$i < 40} {incr i} { incr n [string length $word] } }
    puts "$n $line"
}""")),
    attached("lua_under_strace", sh(": > $BEGUN; exec strace -f -o /dev/null lua5.4 -e "
                                    "'while true do io.open(\"/none\") end'"),
             "traced", "strace stops it twice at each call.", busy="run_queue", target="lua5.4",
             needs="strace lua5.4"),
    attached("threads_of_unequal_load", sh("exec ./unequal"), "imbalance serialised",
             "Each frame is over when the slowest of three threads is through, and it has nearly all work.",
             needs="gcc", prepare=c("unequal", r"""
static pthread_barrier_t frame;
static volatile double sink;
static volatile int over;
static void *draw(void *name)
{
	long rounds = strcmp(name, "shadows") ? 300000 : 6000000;
	pthread_setname_np(pthread_self(), name);
	while (!over) {
		sink = work(rounds);
		pthread_barrier_wait(&frame);
	}
	return NULL;
}
int main(void)
{
	pthread_t t;
	char *names[] = {"shadows", "sky", "ground"};
	pthread_barrier_init(&frame, NULL, 3);
	more();
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, draw, names[i]);
	pthread_join(t, NULL);
}"""), named="shadows"),
]
