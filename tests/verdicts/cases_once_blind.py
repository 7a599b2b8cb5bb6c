# SPDX-License-Identifier: MIT
"""Programs that were written by someone who had not seen the rules, and are no longer blind.

They were played once while the rules were frozen: 68 of 76 were right on a quiet machine, and 58 of the
66 answers with a score of 95 and more.  Rules were mended after that, so from then on they count like
all others.  case.py says what a case is.
"""
from case import HOLDER, REDIS_SERVER, Case, sh

# Makes $BEGUN as soon as somebody listens.
LISTENING = """exec python3 -c "
import socket, time
while True:
    try:
        socket.create_connection(('127.0.0.1', $PORT)).close()
        break
    except OSError:
        time.sleep(0.05)
open('$BEGUN', 'w')" """


def web(reply):
    """A web server that answers each request by these statements."""
    return f"""cat > server.py <<'END'
import http.server, os, sys, time
MS = int(os.environ['MS'])
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass
    def do_GET(self):
        {reply}
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler)
open(sys.argv[2], 'w')
server.serve_forever()
END
exec python3 server.py $PORT $READY"""


# Sends 4 KB, 20 times a second.
DRIP = web("""self.send_response(200)
        self.send_header('Content-Length', str(MS // 50 * 4096))
        self.end_headers()
        for i in range(MS // 50):
            self.wfile.write(bytes(4096))
            time.sleep(0.05)""")


def late(seconds):
    """Answers so many seconds after it was asked."""
    return web(f"""time.sleep({seconds})
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')""")


# Takes connections and never says a word.
SILENT = """exec python3 -c "
import socket
listener = socket.create_server(('127.0.0.1', $PORT))
open('$READY', 'w')
taken = []
while True:
    taken.append(listener.accept())" """

COMPUTES = [
    Case("once_blind_python_json", sh("""exec python3 -c "
import json, time
end = time.monotonic() + $MS / 1000
value = [{'name': str(i), 'size': i, 'parts': [i] * 5} for i in range(1000)]
while time.monotonic() < end:
    assert json.loads(json.dumps(value)) == value" """),
         "cpu", "It encodes and decodes JSON in memory until its time is over."),
    Case("once_blind_lua_sums", sh("""exec lua5.4 -e '
local s = 0
while os.clock() < 1.5 do for i = 1, 1000000 do s = s + i % 7 end end'"""),
         "cpu", "A loop of additions, which looks at the clock once in a million.", needs="lua5.4"),
    Case("once_blind_guile_fibonacci", sh("""exec guile --no-auto-compile -c '
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define end (+ (get-internal-real-time) (* 3/2 internal-time-units-per-second)))
(let loop () (if (< (get-internal-real-time) end) (begin (fib 15) (loop))))'"""),
         "cpu", "Recursive additions, without I/O, until its time is over.", needs="guile"),
    Case("once_blind_php_hashes", sh("""exec php -r '
$end = hrtime(true) + 1500000000;
for ($h = ""; hrtime(true) < $end;) for ($i = 0; $i < 20000; $i++) $h = md5($h . $i);'"""),
         "cpu", "It hashes short strings in memory until its time is over.", needs="php"),
    Case("once_blind_node_primes", sh("""exec node -e '
const end = Date.now() + 1500;
let n = 1000003, found = 0;
while (Date.now() < end)
    for (let k = 0; k < 100; k++, n += 2) {
        let d = 3;
        while (d * d <= n && n % d) d += 2;
        if (d * d > n) found++;
    }'"""), "cpu", "One thread divides numbers; nothing is allocated, read or written.", needs="node"),
    Case("once_blind_sqlite_recursive_query", sh("""exec sqlite3 :memory: "
with recursive c(x) as (select 1 union all select x + 1 from c where x < 5000000)
select sum(x * x % 7) from c;" """),
         "cpu", "A query without a table computes five million rows in memory.", needs="sqlite3"),
    Case("once_blind_ssh_keygen_rounds", "ssh-keygen -q -t ed25519 -a 250 -N secret -f key",
         "cpu", "The passphrase goes through 250 rounds of bcrypt; the key itself takes a millisecond.",
         needs="ssh-keygen"),
    Case("once_blind_sort_one_thread", sh("exec sort --parallel=1 -k 5 -o /dev/null $DATA/text $DATA/text"),
         "cpu", "1,200,000 lines of a file in the page cache are compared by one thread in memory.",
         prepare="cat $DATA/text > /dev/null"),
    Case("once_blind_gcc_one_file", sh("exec gcc -O3 -c -o long.o $DATA/project/long.c"),
         "child cpu", "The driver gcc does nothing but wait for cc1, which optimises 420 functions.",
         named="cc1", needs="gcc"),
    Case("once_blind_python_calls_bzip2", sh("""exec python3 -c "
import subprocess
subprocess.run(['bzip2', '-9kc'] + 4 * ['$DATA/small'], stdout=subprocess.DEVNULL, check=True)" """),
         "child cpu", "The interpreter waits for bzip2, which compresses 16 MB.", named="bzip2",
         needs="bzip2"),
    Case("once_blind_git_log_patches", sh("""for i in 1 2 3 4; do
git -C $DATA/repository log -p --word-diff > /dev/null || exit; done"""),
         "cpu child", "git computes the differences of 120 versions word by word, its objects are cached; "
         "a shell starts it four times.", named="git", needs="git",
         prepare="git -C $DATA/repository log -p > /dev/null"),
    Case("once_blind_tar_into_xz", sh("tar -cP $DATA/tree $DATA/small | xz -7 | wc -c"),
         "pipe_stage cpu", "xz needs more than ten times the CPU time of tar and wc together.", named="xz",
         prepare="tar -cP $DATA/tree $DATA/small | wc -c", needs="xz"),
    Case("once_blind_slow_python_stage", sh("""cat $DATA/small $DATA/small | python3 -c "
import re, sys
for line in sys.stdin:
    words = sorted(re.findall('[a-z]+', line), key=lambda word: word[::-1])
    print(*[word.title() for word in words if len(set(word)) > 1])" | tr a-z A-Z | wc -c"""),
         "pipe_stage cpu", "The second of four stages handles each line in Python; the others are quick.",
         named="python3"),
    Case("once_blind_xz_uneven_blocks",
         sh("exec xz -T2 -0 --block-size=64MiB --block-list=34MiB,4MiB -c $DATA/text > /dev/null"),
         "imbalance cpu", "One of two threads gets 34 MiB to compress, the other one less than 5.",
         needs="xz"),
    Case("once_blind_java_full_heap", sh("""exec java -XX:+UseParallelGC -Xmx36m -cp /usr/share/java/js.jar \
org.mozilla.javascript.tools.shell.Main -e '
var live = [], end = java.lang.System.currentTimeMillis() + 3500;
for (var i = 0; i < 52000; i++) live.push(new java.lang.StringBuilder(450));
for (i = 0; java.lang.System.currentTimeMillis() < end; i++)
    live[i * 7919 % 52000] = new java.lang.StringBuilder(450);'"""),
         "gc", "What is alive nearly fills the heap, so a collection follows another; a single thread "
         "makes garbage.", needs="java rhino"),
]

KERNEL = [
    Case("once_blind_dd_random_bytes", "dd if=/dev/urandom of=/dev/null bs=1M count=500 status=none",
         "kernel_cpu", "The kernel computes the random bytes inside of read; dd itself does nothing."),
    Case("once_blind_find_exec_true", sh("exec find $DATA/tree -name '1*.txt' -exec true {} ';'"),
         "fork_storm", "A process that does nothing is started for each of 1,111 files.", busy="run_queue"),
    Case("once_blind_shell_cuts_lines", sh("""while read -r line; do echo "$line" | cut -d ' ' -f 1; done \
< lines > /dev/null"""), "fork_storm", "Each of 500 lines takes two processes, which do next to nothing.",
         prepare="head -n 500 $DATA/small > lines", busy="run_queue"),
    Case("once_blind_bash_reads_fifo", sh("exec bash -c 'while read -r line; do :; done' < lines"),
         "tiny_io kernel_cpu", "bash must read what it cannot seek byte by byte: 1.5 million calls.",
         prepare="mkfifo lines", beside="exec head -c 1500000 $DATA/small > lines", needs="bash"),
    Case("once_blind_python_drops_pages", sh("""exec python3 -c "
import mmap, time
size = 64 << 20
area = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area.madvise(mmap.MADV_NOHUGEPAGE)
ones = bytes(size >> 12)
end = time.monotonic() + $MS / 1000
while time.monotonic() < end:
    area[::4096] = ones
    area.madvise(mmap.MADV_DONTNEED)" """),
         "page_faults", "It writes one byte into each of 16,384 fresh pages, gives them back, and again."),
    Case("once_blind_perl_big_strings", sh("""MALLOC_MMAP_THRESHOLD_=65536 exec perl -e '
for (1 .. 20000) { my $text = "a" x 131072; undef $text; }'"""),
         "mmap_churn page_faults", "malloc was told to map each string of 128 KiB on its own, and to unmap "
         "it when it is freed."),
    Case("once_blind_bash_waits_for_file", sh("exec bash -c 'until [ -e go ]; do :; done'"),
         "spinning", "It asks in a loop without a pause whether a file exists, which comes after 2.5 s.",
         beside="sleep 2.5; touch go; exec sleep 60", needs="bash"),
    Case("once_blind_make_too_many_jobs", sh("exec make -s -j $(($(nproc) * 4)) all"),
         "oversubscribed", "make runs four steps for each CPU at a time, and all of them only compute.",
         prepare="""count=$(($(nproc) * 4))
printf 'all: %s\\n' "$(seq -s ' ' $count)" > Makefile
printf '%%:\\n\\t@awk "BEGIN { while (i < 6000000) i++ }"\\n' >> Makefile""", needs="make"),
    Case("once_blind_python_threads_count", sh("""exec python3 -c "
import threading, time
end = time.monotonic() + 2
def count():
    n = 0
    while time.monotonic() < end:
        for i in range(1000):
            n += i
threads = [threading.Thread(target=count) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()" """),
         "serialised", "Four threads compute in Python, whose interpreter lock lets one of them run."),
    Case("once_blind_xargs_awk_quota", sh("""seq 4 | xargs -P 4 -n 1 \
awk 'BEGIN { while (i < 4000000) i++ }'"""),
         "cpu_quota", "Four processes only compute, in a cgroup with half a CPU.", limit="cpu 0.5"),
]

FILES = [
    Case("once_blind_perl_syncs_log", sh("""exec perl -MIO::Handle -MTime::HiRes=time -e '
open F, ">", "log"; $end = time + $ENV{MS} / 1000;
while (time < $end) { print F "an entry\\n"; F->flush; F->sync; }'"""),
         "fsync", "It waits for fsync after each line of ten bytes.", busy="run_queue"),
    Case("once_blind_dd_dsync", "dd if=/dev/zero of=out bs=4k count=400 oflag=dsync status=none",
         "fsync disk", "Each write of 4 KiB returns when the disk has it (O_DSYNC).", busy="run_queue"),
    Case("once_blind_dd_direct_reads", sh("exec dd if=$DATA/big of=/dev/null iflag=direct bs=64k status=none"),
         "disk", "Each read of 64 KiB goes past the page cache, and the device copies it into place.",
         busy="run_queue"),
    Case("once_blind_fio_write_limit", "fio --name=w --rw=write --bs=256k --size=6M --direct=1 --ioengine=psync "
         "--filename=out", "blkio_limit", "Writes past the page cache of 6 MiB at 4 MiB a second.",
         limit="write 4M", needs="fio"),
    Case("once_blind_python_rereads_limit", sh("""exec python3 -c "
import time
end = time.monotonic() + 3
with open('cold', 'rb', buffering=0) as file:
    while time.monotonic() < end:
        if not file.read(1 << 20):
            file.seek(0)" """),
         "memory_limit", "It reads 64 MB again and again, and its cgroup has not the memory to keep them.",
         prepare="head -c 64M $DATA/big > cold; sync cold; dd if=cold iflag=nocache count=0",
         limit="memory 32M"),
    Case("once_blind_node_out_of_memory", sh("""node -e '
const kept = [];
for (;;) kept.push(new Array(50000).fill(Math.random()));'; true"""),
         "oom_kill", "It keeps all that it allocates, in a cgroup with 160 MB.", limit="memory 160M",
         needs="node"),
    Case("once_blind_flock_in_perl", sh("""exec perl -e 'open F, ">>", "wanted.lock"; flock F, 2 or die'"""),
         "lock", "Another process has the lock of the file for three seconds.", named="python3",
         beside=HOLDER.format(3)),
    Case("once_blind_sqlite_database_locked", sh("""exec sqlite3 -cmd '.timeout 30000' base \
'insert into t values (1)'"""), "lock sleep",
         "Another process has the database locked for three seconds; sqlite sleeps and asks again.",
         prepare="sqlite3 base 'create table t (x)'", beside="""exec python3 -c "
import sqlite3, time
base = sqlite3.connect('base', isolation_level=None)
base.execute('begin exclusive')
open('$READY', 'w')
time.sleep(3)
base.execute('commit')" """, needs="sqlite3"),
]

NETWORK = [
    Case("once_blind_wget_slow_server", sh("exec wget -q -O out http://127.0.0.1:$PORT/"),
         "network", "The server sends 4 KB, then nothing for 50 ms, thirty times.", beside=DRIP,
         needs="wget"),
    Case("once_blind_ab_late_answers", sh("exec ab -q -c 1 -n 60 http://127.0.0.1:$PORT/"),
         "network", "One request at a time, and the server thinks 25 ms about each.", beside=late(0.025),
         needs="ab"),
    Case("once_blind_php_fetches_page", sh("""exec php -r '
strlen(file_get_contents("http://127.0.0.1:" . getenv("PORT") . "/")) == 2 or exit(1);'"""),
         "network", "The server answers after 1.5 s, and nothing else is done meanwhile.",
         beside=late(1.5), needs="php"),
    Case("once_blind_ninja_downloads", "ninja",
         "network", "The only step of the build is curl, which waits for a server that answers after 2 s.",
         named="curl", prepare="""printf 'rule get\\n command = curl -s -o $out %s\\nbuild page: get\\n' \
http://127.0.0.1:$PORT/ > build.ninja""", beside=late(2), needs="ninja curl"),
    Case("once_blind_pytest_sleeps", "pytest-3 -q -p no:cacheprovider test_slow.py",
         "sleep", "Six tests, each of which sleeps for half a second and does nothing else.",
         prepare="""cat > test_slow.py <<'END'
import time
import pytest
@pytest.mark.parametrize('n', range(6))
def test_slow(n):
    time.sleep(0.5)
END""", needs="pytest-3"),
    Case("once_blind_shell_dates_and_sleeps", sh("""for i in 1 2 3 4 5 6 7 8; do date; sleep 0.2; done"""),
         "sleep", "Between eight calls of date it sleeps, 1.6 s in all."),
    Case("once_blind_xargs_sleepers", sh("seq 4 | xargs -P 4 -I N sleep 1.N"),
         "sleep", "Four processes sleep for up to 1.4 s, the others wait for them."),
    Case("once_blind_expect_sleeping_program", sh("""exec expect -c '
spawn -noecho sh -c "sleep 1.5; echo finished"; expect finished; wait'"""),
         "sleep", "The program that expect talks to sleeps for 1.5 s before it says a word.",
         needs="expect"),
    Case("once_blind_node_timer", sh("exec node -e 'setTimeout(() => {}, 2500)'"),
         "sleep poll", "A timer of 2.5 s is all there is to wait for; node waits for it in epoll_wait.",
         needs="node"),
    Case("once_blind_pv_rate_limit", sh("exec pv -q -L 2m $DATA/small > /dev/null"),
         "sleep poll", "pv was told to pass on 2 MB a second, and pauses to keep to that.", needs="pv"),
    Case("once_blind_rsync_bandwidth_limit", sh("exec rsync --whole-file --bwlimit=2m $DATA/small copy"),
         "sleep", "rsync was told to copy 2 MB a second, and sleeps to keep to that.", needs="rsync"),
]

ATTACHED = [
    Case("once_blind_redis_idle", sh(REDIS_SERVER), "poll", "A server without a client waits for one.",
         verb="attach", beside=LISTENING, needs="redis-check-rdb"),
    Case("once_blind_nginx_idle", sh("exec nginx -e error.log -p $PWD -c nginx.conf -g 'daemon off;'"),
         "poll", "A web server without a request: its worker is in epoll_wait.", verb="attach",
         prepare="""cat > nginx.conf <<END
pid nginx.pid;
worker_processes 1;
events {}
http { access_log off; server { listen 127.0.0.1:$PORT; return 204; } }
END""", beside=LISTENING, needs="nginx"),
    Case("once_blind_vim_at_terminal", sh("exec script -qec 'vim.tiny -u NONE text' /dev/null"),
         "poll", "An editor waits for a key that nobody presses.", verb="attach", target="vim.tiny",
         needs="script vim.tiny"),
    Case("once_blind_redis_syncs_each_write", sh(REDIS_SERVER + " --appendonly yes --appendfsync always"),
         "fsync", "One client sets a value at a time, and each is synced before the answer.",
         verb="attach", beside=LISTENING.replace("exec ", "") +
         "; exec redis-benchmark -q -p $PORT -c 1 -t set -n 1000000", busy="run_queue",
         needs="redis-check-rdb redis-benchmark"),
    Case("once_blind_asyncio_too_many_clients", sh("""ulimit -n 16; exec python3 -c "
import asyncio
async def talk(reader, writer):
    await reader.read()
async def serve():
    server = await asyncio.start_server(talk, '127.0.0.1', $PORT)
    await server.serve_forever()
asyncio.run(serve())" """),
         "fd_limit", "30 clients want to stay connected with a server that may have 16 open files.",
         verb="attach", beside="""exec python3 -c "
import socket, time
kept = []
while len(kept) < 30:
    try:
        kept.append(socket.create_connection(('127.0.0.1', $PORT)))
    except OSError:
        time.sleep(0.05)
open('$BEGUN', 'w')
time.sleep(60)" """),
    Case("once_blind_openssl_quota", "openssl speed -seconds 60 sha256", "cpu_quota",
         "It only computes, in a cgroup with three tenths of a CPU.", verb="attach", limit="cpu 0.3",
         needs="openssl"),
    Case("once_blind_gzip_behind_others", sh("exec nice -n 15 taskset -c 0 gzip -9 < /dev/urandom > /dev/null"),
         "run_queue", "It may use one CPU, and a busy loop with a much greater weight may use no other.",
         verb="attach", beside="exec taskset -c 0 sh -c 'while :; do :; done'", needs="taskset"),
    Case("once_blind_stress_ng_too_many", sh("exec stress-ng -q --cpu $(($(nproc) * 5)) --timeout 60"),
         "oversubscribed", "Five processes for each CPU do nothing but compute.", verb="attach",
         needs="stress-ng"),
    Case("once_blind_awk_frozen", "awk 'BEGIN { while (1) i++ }'", "frozen",
         "A busy loop, but its cgroup is frozen.", verb="attach", limit="frozen"),
    Case("once_blind_yes_into_pv", sh("yes | pv -q -L 100k > /dev/null"), "pipe",
         "yes writes into a pipe whose reader takes 100 KB a second.", verb="attach", target="yes",
         needs="pv yes"),
    Case("once_blind_curl_slow_server", sh("exec curl -s -o out http://127.0.0.1:$PORT/"), "network",
         "The server sends 4 KB, then nothing for 50 ms, and so on.", verb="attach", beside=DRIP,
         needs="curl"),
    Case("once_blind_perl_asks_socket", sh("""exec perl -MIO::Socket::INET -e '
my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ENV{PORT}) or die;
$s->blocking(0);
1 until $s->sysread(my $text, 100);'"""),
         "spinning", "It reads a socket that does not block and has nothing, again and again.",
         verb="attach", beside=SILENT),
    Case("once_blind_cat_random_device", sh("exec cat /dev/urandom > /dev/null"), "kernel_cpu",
         "The kernel computes the random bytes; cat itself does nothing.", verb="attach"),
    Case("once_blind_fio_random_reads", sh("""exec fio --name=r --rw=randread --bs=4k --size=256M --direct=1 \
--ioengine=psync --time_based --runtime=60 --readonly --filename=$DATA/big \
--exec_prerun="touch $BEGUN" """), "disk",
         "Each read of 4 KiB goes past the page cache, and only one is asked for at a time.",
         verb="attach", busy="run_queue", needs="fio"),
    Case("once_blind_make_sleeping_step", sh("exec make -s"), "sleep child_wait",
         "make waits for its only step, which sleeps.", verb="attach",
         prepare="printf 'all:\\n\\t@sleep 60; true\\n' > Makefile", needs="make"),
    Case("once_blind_gawk_endless", "gawk 'BEGIN { while (1) i++ }'", "cpu", "An endless loop of additions.",
         verb="attach", needs="gawk"),
]

ASKED = [
    Case("once_blind_flocks_in_a_circle", sh("""
both() { until [ -e first ] && [ -e second ]; do sleep 0.05; done; touch $BEGUN; }
(flock 8; touch first; both; flock 9) 8> a 9> b &
(flock 8; touch second; both; flock 9) 8> b 9> a &
wait"""), "deadlock",
         "Each of two shell scripts has a lock that the other one waits for.", verb="why",
         needs="flock"),
    Case("once_blind_flock_command_waits", "flock wanted.lock true", "lock",
         "Another process has the lock of the file.", verb="why", named="python3",
         beside=HOLDER.format(60), needs="flock"),
    Case("once_blind_perl_stopped", sh("exec perl -e 'kill STOP => $$; 1 while 1'"), "stopped",
         "It sent itself SIGSTOP.", verb="why"),
    Case("once_blind_gdb_holds_bzip2", sh("""exec gdb -q -batch -ex starti -ex "shell touch $BEGUN; sleep 60" \
--args bzip2 -c $DATA/small"""), "traced", "gdb stopped it at its first instruction.",
         verb="why", target="bzip2", needs="gdb bzip2"),
    Case("once_blind_tail_follows_file", sh("exec tail -f log"), "poll",
         "Nothing is added to the file that it follows.", verb="why", prepare="echo a line > log"),
    Case("once_blind_age_reads_fifo", sh("exec age -d -i key < encrypted"), "pipe",
         "Who has the other end of the FIFO open never writes.", verb="why",
         prepare="mkfifo encrypted; age-keygen -o key", beside="exec sleep 60 > encrypted", needs="age"),
    Case("once_blind_redis_cli_blpop", sh("exec redis-cli -p $PORT blpop jobs 0"), "network",
         "It asked the server for the next job, and there is none.", verb="why",
         beside="(" + LISTENING.replace("$BEGUN", "$READY") + ") & " + REDIS_SERVER,
         needs="redis-check-rdb redis-cli"),
    Case("once_blind_rhino_sleeps", sh("""exec java -cp /usr/share/java/js.jar \
org.mozilla.javascript.tools.shell.Main -e '
new java.io.File(java.lang.System.getenv("BEGUN")).createNewFile(); // $BEGUN
java.lang.Thread.sleep(60000);'"""), "sleep", "Its only thread of its own sleeps for a minute.",
         verb="why", needs="java rhino"),
    Case("once_blind_php_server_idle", sh("exec php -S 127.0.0.1:$PORT"), "poll",
         "A web server without a request.", verb="why", beside=LISTENING, needs="php"),
    Case("once_blind_python_locks_in_a_circle", sh("""exec python3 -c "
import threading
locks = threading.Lock(), threading.Lock()
both = threading.Barrier(2)
def take(first, second):
    with locks[first]:
        both.wait()
        open('$BEGUN', 'w')
        with locks[second]:
            pass
threading.Thread(target=take, args=(0, 1)).start()
take(1, 0)" """), "deadlock lock", "Each of two threads has a lock that the other one waits for.",
         verb="why"),
    Case("once_blind_tclsh_after", sh("echo 'after 60000' > script; exec tclsh script"), "sleep poll",
         "It pauses for a minute; that Tcl does so in select is its own affair.", verb="why",
         needs="tclsh"),
    Case("once_blind_rsync_silent_server", sh("exec rsync rsync://127.0.0.1:$PORT/all/ copy"), "network",
         "It waits for the greeting of a server that took the connection and says nothing.", verb="why",
         beside=SILENT, needs="rsync"),
    Case("once_blind_python_prompt", sh("""exec expect -c '
spawn -noecho python3 -q; expect ">>>"; exec touch $env(BEGUN); # $BEGUN
sleep 60'"""), "poll", "The interpreter waits at its prompt for what nobody types.", verb="why",
         target="python3", needs="expect"),
    Case("once_blind_sort_waits_for_input", sh("(echo b; sleep 60) | sort"), "pipe",
         "sort cannot go on before its input ends, and who writes it sleeps.", verb="why", target="sort"),
    Case("once_blind_lua_endless", "lua5.4 -e 'local i = 0 while true do i = i + 1 end'", "cpu",
         "An endless loop of additions.", verb="why", needs="lua5.4"),
    Case("once_blind_bash_waits_for_sleep", "bash -c 'sleep 60 & wait'", "sleep child_wait",
         "It waits for a child, which sleeps.", verb="why", needs="bash"),
]

CASES = COMPUTES + KERNEL + FILES + NETWORK + ATTACHED + ASKED
