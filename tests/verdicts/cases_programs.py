# SPDX-License-Identifier: MIT
"""Programs of Debian, run by taskscope, in many languages.  case.py says what a case is."""
from case import HOLDER, REDIS_SERVER, Case, sh

CASES = [
    # They compute.
    Case("gzip", "gzip -9 -c $DATA/text", "cpu", "One thread compresses a file that is cached.",
         prepare="cat $DATA/text > /dev/null"),
    Case("pigz", "pigz -9 -p 2 -c $DATA/text", "cpu", "Its threads compress.", needs="pigz"),
    Case("sort", "sort --parallel=1 -S 500M -k3 -o out $DATA/text", "cpu", "It compares keys in memory."),
    Case("python", "python3 -c 'sum(i * i % 7 for i in range(15000000))'", "cpu", "A loop."),
    Case("openssl", "openssl speed -seconds 1 -elapsed rsa4096", "cpu", "It signs and verifies.",
         needs="openssl"),
    Case("java-sum", "java -cp $DATA/classes Sum 2000", "cpu",
         "One thread computes; the many others of the virtual machine have nothing to do.",
         needs="java javac"),
    Case("node", "node -e 'let s = 0; for (let e = Date.now() + 1500; Date.now() < e;) s++'", "cpu",
         "One thread computes; the others of the runtime wait for work.", needs="node"),
    Case("jq", sh("seq 1500000 | jq -s 'map(. % 7) | add'"), "pipe_stage child cpu",
         "jq computes, seq is done long before.", needs="jq", named="jq"),
    Case("git-repack", "git -C repository repack -adfq --window=400 --depth=50", "child cpu",
         "git waits for its child pack-objects, which looks for deltas.", prepare="cp -r $DATA/repository .",
         needs="git", named="git|pack-objects"),

    # One of a tree holds the rest up.
    Case("tar-gzip", sh("tar cf - -C $DATA text | gzip > out.tgz"), "pipe_stage child cpu",
         "tar has read the file long before gzip has compressed it.", named="gzip"),
    Case("gzip-xz", sh("head -c 14000000 $DATA/text | gzip -1 | xz -T1 -6 | cat > out"),
         "pipe_stage child cpu", "gzip is fast, xz is slow, and cat does nothing.", named="xz", needs="xz"),
    Case("tar-slow-consumer", sh("tar cf - -C $DATA text | (sleep 2; cat > /dev/null)"), "sleep pipe_stage",
         "tar waits in a full pipe while the consumer sleeps.", named="sleep"),
    Case("python-producer",
         sh("python3 -c 'for i in range(1200000): print(i * i % 977)' | sort -n -S 100M -u"),
         "pipe_stage child cpu", "sort waits for the lines, which Python takes its time to print.",
         named="python3"),
    Case("make", "make -s -j4 -C project", "child cpu",
         "Six short compile steps end at once, the long one holds the build up.",
         prepare="cp -r $DATA/project .", named=r"cc1|long\.c", needs="make gcc"),
    Case("sh-child", sh("sha256sum $DATA/big; true"), "child cpu",
         "The shell waits for its child, which computes.", named="sha256sum"),
    Case("python-subprocess", "python3 -c 'import subprocess; subprocess.run([\"sleep\", \"1.5\"])'",
         "sleep child", "It waits for a child, which sleeps.", named="sleep"),
    Case("find-exec", r"find $DATA/tree/1 $DATA/tree/2 $DATA/tree/3 $DATA/tree/4 $DATA/tree/5 $DATA/tree/6 "
         r"$DATA/tree/7 $DATA/tree/8 $DATA/tree/9 -type f -exec /bin/true {} ;", "fork_storm",
         "A child for each file, and none has anything to do.", busy="run_queue"),

    # They wait for each other.
    Case("python-gil", """python3 -c "
import threading
def work():
    for i in range(10000000): i * i
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]" """, "serialised lock",
         "Four threads compute, and the interpreter lets one at a time."),
    Case("ruby-gvl", "ruby -e '4.times.map { Thread.new { 12_000_000.times { |i| i * i } } }.each(&:join)'",
         "serialised lock", "Four threads compute, and the interpreter lets one at a time.", needs="ruby"),
    Case("flock-wait", "flock wanted.lock true", "lock", "Another program has the lock of the file for 2 s.",
         beside=HOLDER.format(2), named=r"python3|wanted\.lock"),
    Case("java-gc", "java -Xmx64m -Xms64m -XX:+UseParallelGC -cp $DATA/classes Churn 2000", "gc",
         "The live objects nearly fill the heap, so that it collects all the time.", needs="java javac"),

    # They wait for a device, a server, a clock.
    Case("dd-direct", "dd if=$DATA/big of=/dev/null bs=16k iflag=direct count=12000", "disk",
         "Each read waits for the disk.", busy="run_queue"),
    Case("dd-dsync", "dd if=/dev/zero of=out bs=4k count=800 oflag=dsync", "fsync disk",
         "Each write waits until it is on the disk.", busy="run_queue"),
    Case("sqlite-inserts",
         sh("exec sqlite3 out.db < sql"), "fsync disk", "Each insert is a transaction, with several syncs.",
         prepare="(echo 'create table t(a);'; seq -f 'insert into t values(%.0f);' 150) > sql",
         busy="run_queue", needs="sqlite3"),
    Case("dd-tiny", "dd if=/dev/zero of=/dev/null bs=1 count=2000000", "tiny_io", "Two calls for each byte."),
    Case("dd-tiny-uncached", "dd if=$DATA/copies/noise of=/dev/null bs=8 count=1000000", "tiny_io",
         "A call for each eight bytes: read-ahead has the file in memory before they come.",
         prepare="dd if=$DATA/copies/noise iflag=nocache count=0"),
    Case("urandom", "dd if=/dev/urandom of=/dev/null bs=1M count=700", "kernel_cpu cpu",
         "The kernel computes the bytes."),
    Case("python-buffers",
         "python3 -c 'import time\ne = time.time() + 1.5\nwhile time.time() < e: bytearray(64 << 20)'",
         "page_faults mmap_churn", "It takes 64 MB of fresh pages and gives them back, again and again."),
    Case("curl-slow", "curl -sS -o out http://127.0.0.1:$PORT/", "network",
         "The server sends a little every 20 ms.", needs="curl", named="python", beside="""exec python3 -c "
import socket, time
listener = socket.create_server(('127.0.0.1', $PORT))
connection, _ = listener.accept()
connection.recv(4096)
connection.sendall(b'HTTP/1.0 200 OK\\r\\nContent-Length: 80000\\r\\n\\r\\n')
for _ in range(80):
    time.sleep(0.02)
    connection.sendall(b'x' * 1000)
time.sleep(60)" """),
    Case("curl-first-byte", "curl -sS -o out http://127.0.0.1:$PORT/", "network",
         "The server thinks for 1.5 s.", needs="curl", named="python", beside="""exec python3 -c "
import http.server, time
class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(1.5)
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(('127.0.0.1', $PORT), Slow).serve_forever()" """),
    Case("redis-blocked", "redis-cli -p $PORT blpop nothing 1.5", "network",
         "The server answers when its timeout is over.", needs="redis-cli redis-check-rdb",
         beside=REDIS_SERVER,
         named="redis-server"),
    Case("perl-connect",
         """perl -MIO::Socket -e '$$s = IO::Socket::INET->new("127.0.0.1:$PORT"); print $$s "GET"; <$$s>'""",
         "network", "The server never answers, and ends after 1.5 s.",
         beside="exec socat -u TCP-LISTEN:$PORT,bind=127.0.0.1 'SYSTEM:sleep 1.5'", needs="socat"),
    Case("rsync-bwlimit", "rsync --bwlimit=2m $DATA/small copy", "sleep",
         "It sleeps so as not to be faster than it may be.", needs="rsync"),
    Case("asyncio-sleep", "python3 -c 'import asyncio; asyncio.run(asyncio.sleep(1.5))'", "sleep poll",
         "Its event loop waits in epoll for a timer of its own."),
    Case("java-sleep", "java -cp $DATA/classes Sleeper 2500", "sleep",
         "The program sleeps after the virtual machine started.", needs="java javac"),
    Case("tcl-after", "tclsh after.tcl", "sleep poll", "It waits for a timer.",
         prepare="echo 'after 1500' > after.tcl", needs="tclsh"),

    # A cgroup limits them.
    Case("xz-quota", "xz -T1 -1 -c $DATA/small", "cpu_quota", "It may have a quarter of a CPU.",
         limit="cpu 0.25", needs="xz"),
    Case("grep-thrash", sh("for i in 1 2 3 4 5 6; do cat $DATA/big > /dev/null; done"), "memory_limit",
         "The file would stay in memory between the readings, if the cgroup might have more than 16 MB.",
         limit="memory 16M", busy="run_queue", prepare="dd if=$DATA/big iflag=nocache count=0"),
    Case("strace-dd", "strace -f -o /dev/null dd if=/dev/zero of=/dev/null bs=1 count=20000",
         "traced kernel_cpu cpu", "dd is stopped by strace twice for each call.", busy="run_queue",
         needs="strace", named="strace"),
]
