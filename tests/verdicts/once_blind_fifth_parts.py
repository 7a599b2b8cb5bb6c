# SPDX-License-Identifier: MIT
"""What several programs of cases_once_blind_fifth_*.py are made of."""

PRELUDE = r"""#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
static double limit;
/* Whether the time, $MS, is not over; says at its first call, by $BEGUN, that it may be watched. */
static int more(void)
{
	if (limit == 0) {
		limit = seconds() + atof(getenv("MS")) / 1e3;
		close(open(getenv("BEGUN"), O_CREAT | O_WRONLY, 0600));
	}
	return seconds() < limit;
}
static double work(long rounds)
{
	double x = 1;
	for (long i = 0; i < rounds; i++)
		x = x * 1.0000001 + 1 / x;
	return x;
}
"""


def file(name, text):
    """A script that makes a file."""
    return f"cat > {name} <<'EOT'\n{text}\nEOT\n"


def c(name, source, flags=""):
    """A script that compiles a C program."""
    return file(f"{name}.c", PRELUDE + source) + f"gcc -O1 -pthread {flags} -o {name} {name}.c\n"


def java(name, body):
    """A script that compiles a class whose main has this body; go() is more() of the C programs."""
    return file(f"{name}.java", """import java.util.*;
import java.util.concurrent.*;
public class %s {
    static long limit;
    static volatile long sink;
    // Makes $BEGUN at its first call.
    static synchronized boolean go() throws Exception {
        if (limit == 0) {
            limit = System.nanoTime() + Long.parseLong(System.getenv("MS")) * 1000000L;
            new java.io.File(System.getenv("BEGUN")).createNewFile();
        }
        return System.nanoTime() < limit;
    }
    static void work(int rounds) {
        long x = 1;
        for (int i = 0; i < rounds; i++) x = x * 31 + i ^ x >>> 7;
        sink = x;
    }
%s
}""" % (name, body)) + f"javac -d . {name}.java\n"


# Two loops that want the CPUs as much as any other program.
HOGS = "lua5.4 -e 'while true do end' & lua5.4 -e 'while true do end' & : > $READY; wait"

# A redis server at $PORT, which can be asked once $READY is there.
REDIS = """ln -s $(command -v redis-check-rdb) redis-server
./redis-server --port $PORT --save '' > /dev/null &
until redis-cli -p $PORT ping > /dev/null 2>&1; do sleep 0.05; done
: > $READY
"""


def nginx(settings):
    """nginx at $PORT, which gives out the folder `site` with these settings."""
    return """mkdir logs; cat > nginx.conf <<EOT
daemon off; worker_processes 1; pid $PWD/nginx.pid; error_log $PWD/error.log;
events { worker_connections 64; }
http { access_log off; client_body_temp_path $PWD/t1; proxy_temp_path $PWD/t2; fastcgi_temp_path $PWD/t3;
uwsgi_temp_path $PWD/t4; scgi_temp_path $PWD/t5; %s
server { listen 127.0.0.1:$PORT; root $PWD/site; } }
EOT
""" % settings


# Runs the words after the first, a file to be made, at a terminal of their own at which nobody types.
TERMINAL = file("terminal.py", """
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = os.read(terminal, 4096)
open(sys.argv[1], 'w')
while shown:
    shown = os.read(terminal, 4096)""")

# What lives nearly fills the old space of the heap, as given by OLD_SPACE.
OLD_SPACE = "-XX:+UseParallelGC -Xmn24m -Xms96m -Xmx96m"
INDEX = java("Index", """
    public static void main(String[] a) throws Exception {
        ArrayDeque<long[]> live = new ArrayDeque<>();
        while (go()) for (int i = 0; i < 1000; i++) {
            live.add(new long[9]);
            if (live.size() > 700000) live.poll();
        }
    }""")

# One monitor, inside which four threads do nearly all of their work.
MONITOR = java("Ledger", """
    static final Object book = new Object();
    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 4; i++)
            new Thread(() -> { try {
                while (go()) { synchronized (book) { work(3000000); } work(20000); }
            } catch (Exception e) { } }, "clerk-" + i).start();
    }""")

# Each monitor is held while the other is asked for.
MONITORS_CROSSED = java("Crossed", """
    static final Object cart = new Object(), stock = new Object();
    static final CountDownLatch both = new CountDownLatch(2);
    static void take(Object first, Object second) {
        synchronized (first) {
            try { both.countDown(); both.await(); go(); } catch (Exception e) { }
            synchronized (second) { work(1); }
        }
    }
    public static void main(String[] a) throws Exception {
        new Thread(() -> take(cart, stock), "buyer").start();
        new Thread(() -> take(stock, cart), "seller").start();
    }""")

# Threads of an interpreter that runs one of them at a time.
RUBY_THREADS = file("threads.rb", """
# $BEGUN says that it may be watched.
limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ENV['MS'].to_i / 1000.0
threads = 3.times.map do
  Thread.new do
    x = 0
    x = (x * 31 + 7) % 1000003 while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
  end
end
File.write(ENV['BEGUN'], '')
threads.each(&:join)""")

# What is mapped is three times as large as the memory that the cgroup may have.
THRASH = c("thrash", r"""
int main(void)
{
	size_t size = 96 << 20;
	int fd = open("table", O_CREAT | O_RDWR, 0600);
	static char block[1 << 20];
	for (size_t i = 0; i < size; i += sizeof(block)) {
		if (write(fd, block, sizeof(block)) < 0)
			return 1;
		fdatasync(fd);
	}
	volatile char *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	madvise((void *)p, size, MADV_RANDOM);
	unsigned at = 1, sum = 0;
	while (more()) {
		at = at * 1664525u + 1013904223u;
		sum += p[(at >> 4) % (size >> 12) << 12];
	}
	return sum == 1;
}""")

# Reads from a pipe or Unix socket what a process of its own gives back, a line at a time.
ECHO = file("echo.py", """
import os, subprocess, time
# $BEGUN says that it may be watched.
child = subprocess.Popen(['sed', '-u', 's/a/b/'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
limit = time.monotonic() + int(os.environ['MS']) / 1000
open(os.environ['BEGUN'], 'w')
while time.monotonic() < limit:
    child.stdin.write(b'abc\\n')
    child.stdout.read(4)
child.stdin.close()""")
