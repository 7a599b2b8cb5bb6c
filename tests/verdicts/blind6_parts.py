# SPDX-License-Identifier: MIT
"""What several of the blind programs of the sixth corpus are made of."""
from once_blind_fifth_parts import c, file, java

# So long as $MS says, by language; each says at its first call, by $BEGUN, that it may be watched.
PY = """import os, sys, time
# $BEGUN, or not yet.
LIMIT = time.monotonic() + int(os.environ['MS']) / 1000
def begin():
    open(os.environ['BEGUN'], 'w').close()
def more():
    return time.monotonic() < LIMIT
def work(rounds):
    x = 1
    for _ in range(rounds):
        x = (x * 31 + 7) % 1000003
    return x
"""
RB = """# $BEGUN, or not yet.
LIMIT = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ENV['MS'].to_i / 1000.0
def begin_now = File.write(ENV['BEGUN'], '')
def more? = Process.clock_gettime(Process::CLOCK_MONOTONIC) < LIMIT
"""
PERL = """use strict; use warnings; use Fcntl ':DEFAULT', ':flock'; use Time::HiRes qw(time sleep);
# $BEGUN, or not yet.
my $limit = time + $ENV{MS} / 1000;
sub begin { open my $f, '>', $ENV{BEGUN}; }
sub more { time < $limit }
"""


def python(name, text):
    """A script that makes a program in Python."""
    return file(f"{name}.py", PY + text)


def ruby(name, text):
    return file(f"{name}.rb", RB + text)


def perl(name, text):
    return file(f"{name}.pl", PERL + text)


def uncached(source, name):
    """A script that makes a copy of a file of which nothing is in memory."""
    return f"cp {source} {name}; sync {name}; dd if={name} iflag=nocache count=0 status=none\n"


# So many loops that want the first CPU as much as any other program.
PINNED_HOGS = ("for i in 1 2 3; do taskset -c 0 php -r 'while (true);' & done; : > $READY; wait")

# Has an exclusive POSIX lock of wanted.lock.
POSIX_HOLDER = """exec python3 -c "
import fcntl, time
file = open('wanted.lock', 'w')
fcntl.lockf(file, fcntl.LOCK_EX)
open('$READY', 'w')
time.sleep({})" """

# Two processes of multiprocessing have a lock each and want the other's.
CROSSED_PROCESSES = python("crossed", """
import multiprocessing
def take(first, second, both):
    with first:
        both.wait()
        begin()
        with second:
            pass
one, two, both = multiprocessing.Lock(), multiprocessing.Lock(), multiprocessing.Barrier(2)
multiprocessing.Process(target=take, args=(one, two, both)).start()
take(two, one, both)""")

# The work is done by whichever process has the lock.
ONE_AT_A_TIME = python("ledger", """
import multiprocessing
def clerk(lock):
    while more():
        with lock:
            work(60000)
lock = multiprocessing.Lock()
clerks = [multiprocessing.Process(target=clerk, args=(lock,)) for _ in range(3)]
for one in clerks:
    one.start()
begin()
for one in clerks:
    one.join()""")

# The live objects fill nearly all of the heap.
CACHE = java("Cache", """
    public static void main(String[] a) throws Exception {
        HashMap<Integer, byte[]> live = new HashMap<>();
        int room = Integer.parseInt(a[0]);
        for (int i = 0; i < room; i++) live.put(i, new byte[1000]);
        for (int i = 0; i % 1000 != 0 || go(); i++) live.put((int) (i * 7919L % room), new byte[1000]);
    }""")

# Each of four threads sleeps, as if for an answer, while it has the lock.
ASLEEP_WITH_LOCK = ruby("asleep", """
gate = Mutex.new
begin_now
4.times.map { Thread.new { gate.synchronize { sleep 0.02 } while more? } }.each(&:join)""")

# A mutex whose holder inherits the priority of who waits, and so the kernel knows the holder.
INHERITING = c("inherits", r"""
static pthread_mutex_t lock;
static volatile double sink;
static void *clerk(void *unused)
{
	while (more()) {
		pthread_mutex_lock(&lock);
		sink = work(400000);
		pthread_mutex_unlock(&lock);
		sink = work(1000);
	}
	return unused;
}
int main(void)
{
	pthread_mutexattr_t kind;
	pthread_t t[4];
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&lock, &kind);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, clerk, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}""")

# Writes more than a pipe holds to a child that does the same, and neither reads.
PIPES_FULL = python("full", """
import subprocess
child = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
begin()
child.stdin.write(b'x' * 1000000)
child.stdin.close()
child.stdout.read()""")

# Serves slowly: a small piece of the page, ten times a second.
DRIPS = """exec python3 -c "
import socket, threading, time
def serve(peer):
    peer.recv(1000)
    peer.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2400\\r\\n\\r\\n')
    for _ in range(24):
        time.sleep(0.1)
        peer.sendall(b'x' * 100)
    peer.close()
listener = socket.create_server(('127.0.0.1', $PORT))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],)).start()" """

# Answers each request after a while.
BACKEND = """exec node -e '
require("http").createServer((q, r) => setTimeout(() => r.end("ok"), {})).listen('$PORT', "127.0.0.1")' """

# Three threads want a read-write lock for writing, nearly always.
WRITERS = c("writers", r"""
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile double sink;
static void *edit(void *unused)
{
	while (more()) {
		pthread_rwlock_wrlock(&lock);
		sink = work(2000000);
		pthread_rwlock_unlock(&lock);
	}
	return unused;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, edit, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}""")

# A thread waits by yielding.
YIELDS = c("yields", r"""
#include <sched.h>
static volatile int done;
static void *wait_for_it(void *unused)
{
	while (!done)
		sched_yield();
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, wait_for_it, NULL);
	usleep(1800000);
	done = 1;
	pthread_join(t, NULL);
}""")
