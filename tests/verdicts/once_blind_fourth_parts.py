# SPDX-License-Identifier: MIT
"""What several programs of cases_once_blind_fourth_*.py are made of."""

PRELUDE = r"""#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double end;
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
/* Computes for so many milliseconds. */
static void burn(double ms)
{
	volatile double x = 1;
	for (double until = now() + ms / 1e3; now() < until;)
		for (int i = 0; i < 2000; i++)
			x = x * 1.0000001 + 1e-9;
}
static void begin(char **argv)
{
	end = now() + atof(argv[1]) / 1e3;
}
static int goes_on(void)
{
	return now() < end;
}
/* Makes $BEGUN, which says that it may be watched. */
static void begun(void)
{
	if (getenv("BEGUN"))
		close(open(getenv("BEGUN"), O_CREAT | O_WRONLY, 0600));
}
static void start(int n, void *(*f)(void *))
{
	pthread_t t[64];
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], NULL, f, (void *)i);
	begun();
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}
"""


def c(name, source):
    """A script that compiles this C program, whose first argument is for how many milliseconds to go on."""
    return f"cat > {name}.c <<'END'\n{PRELUDE}{source}\nEND\ngcc -O1 -pthread -o {name} {name}.c"


def file(name, text):
    """A script that makes a file."""
    return f"cat > {name} <<'END'\n{text}\nEND\n"


# Two loops that want the CPUs as much as any other program.
HOGS = """perl -e '1 while 1' & perl -e '1 while 1' & : > $READY; wait"""


def server(body):
    """Listens at $PORT and treats each connection, in a thread of its own, by these statements."""
    return f"""cat > server.py <<'END'
import socket, sys, threading, time
def serve(peer):
    {body}
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
open(sys.argv[2], 'w')
peers = []
while True:
    peers.append(listener.accept()[0])
    threading.Thread(target=serve, args=(peers[-1],), daemon=True).start()
END
exec python3 server.py $PORT $READY"""


# Takes a line, thinks for 0.2 s and answers with a line.
THINKS = server("""for line in peer.makefile():
        time.sleep(0.2)
        peer.sendall(b'ok\\n')""")

# Takes connections and what is sent, and never answers.
MUTE = server("""while peer.recv(4096):
        pass""")

# Each lock is held while the other is asked for.
CROSSED = r"""
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *cross(void *which)
{
	pthread_setname_np(pthread_self(), which ? "orders" : "stock");
	pthread_mutex_lock(which ? &one : &two);
	pthread_barrier_wait(&both);
	begun();
	pthread_mutex_lock(which ? &two : &one);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_barrier_init(&both, NULL, 2);
	start(2, cross);
}"""

# A team that meets at a barrier, one of which has ten times as much to do.
UNEQUAL = r"""
static pthread_barrier_t meet;
static volatile int last;
static void *member(void *number)
{
	while (!last) {
		burn(number ? 2 : 20);
		pthread_barrier_wait(&meet);
		if (!number && !goes_on())
			last = 1;
		pthread_barrier_wait(&meet);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	begin(argv);
	pthread_barrier_init(&meet, NULL, 2);
	start(2, member);
}"""

# Four threads that do nearly all of their work inside one lock.
ONE_LOCK = r"""
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *number)
{
	while (goes_on()) {
		pthread_mutex_lock(&lock);
		burn(2);
		pthread_mutex_unlock(&lock);
		burn(0.02);
		sched_yield();
	}
	return NULL;
}
int main(int argc, char **argv)
{
	begin(argv);
	start(4, worker);
}"""


def team(threads):
    """So many threads that only compute."""
    return f"""
static void *compute(void *number)
{{
	while (goes_on())
		burn(10);
	return NULL;
}}
int main(int argc, char **argv)
{{
	begin(argv);
	start({threads}, compute);
}}"""


# Threads of an interpreter that runs one of them at a time.
GIL = """
import sys, threading, time
end = time.monotonic() + int(sys.argv[1]) / 1000
def compute():
    x = 0
    while time.monotonic() < end:
        for i in range(1000):
            x += i * i
threads = [threading.Thread(target=compute) for _ in range(4)]
for thread in threads:
    thread.start()
open(sys.argv[2], 'w')
for thread in threads:
    thread.join()"""
