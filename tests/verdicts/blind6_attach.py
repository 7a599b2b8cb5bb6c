# SPDX-License-Identifier: MIT
"""Blind programs of the sixth corpus that taskscope attaches to."""
from blind6_parts import CACHE, INHERITING, ONE_AT_A_TIME, PINNED_HOGS, perl, python, uncached
from case import REDIS_SERVER, Case, sh
from once_blind_fifth_parts import TERMINAL, file, java, nginx


def attached(name, command, accept, truth, **more):
    return Case(f"blind6_on_{name}", command, accept, truth, verb="attach", **more)


CASES = [
    attached("php_server_computes", sh("exec php -S 127.0.0.1:$PORT page.php"), "cpu",
             "Somebody always has a page computed.", busy="run_queue", needs="php curl", named="php",
             prepare=file("page.php", "<?php for ($i = $x = 0; $i < 12000000; $i++) $x += $i % 7; echo $x;"),
             beside="""until curl -s http://127.0.0.1:$PORT/ > /dev/null; do sleep 0.05; done
: > $BEGUN; exec curl -s "http://127.0.0.1:$PORT/?[1-100000]" > /dev/null"""),
    attached("idle_java_server", sh("exec java -XX:+UseSerialGC -cp . Site"), "poll network none",
             "A server that nobody asks anything.", needs="java javac", prepare=java("Site", """
    public static void main(String[] a) throws Exception {
        var at = new java.net.InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT")));
        com.sun.net.httpserver.HttpServer.create(at, 9).start();
        go();
    }""")),
    attached("nginx_waits_for_backend", sh(nginx("").replace(
        "root $PWD/site;", "location / { proxy_pass http://127.0.0.1:$(cat port); }") +
             "exec nginx -p $PWD -e $PWD/error.log -c $PWD/nginx.conf"), "poll network none",
             "It passes on what another server takes a tenth of a second for.", needs="nginx node",
             beside="exec node backend.js # $READY", prepare=file("backend.js", """
// Makes $READY and $BEGUN.
const http = require('http'), fs = require('fs');
const slow = http.createServer((q, r) => setTimeout(() => r.end('ok'), 100));
slow.listen(0, '127.0.0.1', () => {
    fs.writeFileSync('port', '' + slow.address().port);
    fs.writeFileSync(process.env.READY, '');
    const ask = () => http.get({ port: process.env.PORT, host: '127.0.0.1' }, r => {
        fs.writeFileSync(process.env.BEGUN, '');
        r.resume().on('end', ask);
    }).on('error', () => setTimeout(ask, 50));
    ask();
});""")),
    attached("redis_short_scripts", sh(REDIS_SERVER), "cpu",
             "Four clients have it run short scripts all the time.", busy="run_queue", named="redis",
             target="redis-server", needs="redis-check-rdb redis-cli redis-benchmark",
             beside="""until redis-cli -p $PORT ping > /dev/null 2>&1; do sleep 0.05; done
: > $BEGUN; exec redis-benchmark -q -p $PORT -c 4 -n 1000000000 \\
eval 'for i = 1, 3000 do redis.call("incr", "x") end' 0"""),
    attached("tclsh_timer", sh("exec tclsh ticks.tcl"), "sleep poll none",
             "It does next to nothing each twenty milliseconds.", needs="tclsh", prepare=file("ticks.tcl", """
proc tick {} { incr ::count; after 20 tick }
close [open $env(BEGUN) w]; # $BEGUN
tick
vwait forever""")),
    attached("node_too_many_workers", sh("exec node many.js"), "oversubscribed cpu",
             "Four threads that compute for each CPU.", busy="run_queue", needs="node",
             prepare=file("many.js", """
const { Worker, isMainThread } = require('worker_threads');
if (isMainThread) {
    for (let i = 0; i < 4 * require('os').cpus().length; i++)
        new Worker(__filename).on('online', () => require('fs').writeFileSync(process.env.BEGUN, ''));
} else {
    let x = 1;  // $BEGUN
    while (true) x = (x * 31 + 7) % 65537;
}""")),
    attached("processes_share_lock", sh("exec python3 ledger.py"), "lock serialised",
             "Three processes do all of their work with one lock.", busy="run_queue",
             prepare=ONE_AT_A_TIME),
    attached("mutex_that_inherits", sh("exec ./inherits"), "lock serialised",
             "Four threads do nearly all of their work with one mutex.", needs="gcc", busy="run_queue",
             prepare=INHERITING),
    attached("frozen_pigz", sh(": > $BEGUN; exec pigz -c < /dev/zero"), "frozen", "Its cgroup is frozen.",
             limit="frozen", needs="pigz"),
    attached("rsync_daemon", sh("exec rsync --daemon --no-detach --address=127.0.0.1 --port=$PORT "
                                "--config=rsyncd.conf"), "poll network none",
             "A server that nobody asks anything.", needs="rsync",
             prepare='echo "log file = $PWD/log" > rsyncd.conf'),
    attached("bzip2_with_quota", sh(": > $BEGUN; exec bzip2 -c /dev/zero"), "cpu_quota",
             "It may use a quarter of a CPU.", limit="cpu 0.25", needs="bzip2"),
    attached("pinned_beside_php", sh("""exec taskset -c 0 perl -e '
open my $f, ">", $ENV{BEGUN}; 1 while 1  # $BEGUN'"""), "run_queue",
             "Three strangers want the only CPU that it may use.", named="php", beside=PINNED_HOGS,
             needs="perl php taskset"),
    attached("perl_at_terminal", sh("""exec python3 terminal.py $BEGUN \
perl -e '$| = 1; print "name? "; <STDIN>'"""), "poll none",
             "It waits for what nobody types.", target="perl", needs="perl", prepare=TERMINAL),
    attached("perl_asks_programs", sh("exec perl asks.pl"), "fork_storm",
             "All that it does is to start short programs.", busy="run_queue", needs="perl",
             prepare=perl("asks", "begin(); while (1) { my $name = `uname -n; id -u`; }")),
    attached("java_heap_nearly_full", sh("exec java -XX:+UseSerialGC -Xmn16m -Xms100m -Xmx100m -cp . Cache "
                                         "72000"), "gc", "The live objects nearly fill the heap.",
             needs="java javac", prepare=CACHE),
    attached("php_under_strace", sh("exec php asks.php"), "traced",
             "strace, which came later, stops it twice at each call.", busy="run_queue", needs="php strace",
             prepare=file("asks.php", """<?php
file_put_contents('pid', getmypid());
while (true) { clearstatcache(); file_exists('/none'); }"""),
             beside="""until [ -s pid ]; do sleep 0.02; done; strace -o /dev/null -p $(cat pid) &
until grep -q 'TracerPid:.[1-9]' /proc/$(cat pid)/status; do sleep 0.02; done; : > $BEGUN; wait"""),
    attached("cache_larger_than_limit", sh(": > $BEGUN; while :; do cat cold; done > /dev/null"),
             "memory_limit disk", "It reads a file again and again, of which a third fits into its cgroup.",
             limit="memory 32M", busy="run_queue", prepare=uncached("$DATA/copies/other", "cold")),
    attached("python_syncs_each_write", sh("exec python3 log.py"), "fsync disk",
             "Each of its writes returns when the disk has it.", busy="run_queue", prepare=python("log", """
fd = os.open('log', os.O_RDWR | os.O_CREAT)
begin()
while True:
    os.pwritev(fd, [b'an entry of a log'], 0, os.RWF_DSYNC)""")),
    attached("timeout_waits", sh(": > $BEGUN; exec timeout 100 sleep 100"), "child_wait child sleep",
             "It waits for a program that sleeps.", named="sleep"),
    attached("rounds_of_unequal_work", sh("exec python3 rounds.py"), "imbalance serialised cpu",
             "Each round is over when the last of three processes is, one of which has nearly all work.",
             prepare=python("rounds", """
import multiprocessing
def task(n):
    return work(400000 if n == 0 else 4000)
with multiprocessing.Pool(3) as pool:
    begin()
    while more():
        pool.map(task, range(3), chunksize=1)""")),
    attached("perl_in_the_middle", sh(""": > $BEGUN; while :; do cat $DATA/small; done |
perl -ne '$n += ord for split //; print "$n $_"' | gzip -1 | wc -c"""), "pipe_stage cpu",
             "perl looks at each letter, and those around it wait for it.", named="perl", needs="perl",
             busy="run_queue"),
]
