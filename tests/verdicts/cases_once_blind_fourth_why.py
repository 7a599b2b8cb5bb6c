# SPDX-License-Identifier: MIT
"""Programs that `why` is asked about, of the corpus in cases_once_blind_fourth_run.py."""
from once_blind_fourth_parts import CROSSED, HOGS, MUTE, c, file
from case import HOLDER, Case, sh


def asked(name, command, accept, truth, **more):
    return Case(f"blind4_why_{name}", command, accept, truth, verb="why", **more)


CASES = [
    asked("crossed_locks", sh("exec ./crossed $MS"),
          "deadlock", "Two threads each have the lock that the other wants.", named="orders|stock",
          needs="gcc", prepare=c("crossed", CROSSED)),
    asked("crossed_files", sh("exec python3 crossed.py $BEGUN"),
          "deadlock lock", "Two processes each have the file locked that the other wants.",
          named=r"(one|two)\.lock|python", prepare=file("crossed.py", """
import fcntl, os, sys, time
child = os.fork() == 0
names = ['one.lock', 'two.lock'] if child else ['two.lock', 'one.lock']
files = [open(name, 'w') for name in names]
fcntl.flock(files[0], fcntl.LOCK_EX)
time.sleep(0.3)
open(sys.argv[1], 'w')
fcntl.flock(files[1], fcntl.LOCK_EX)
time.sleep(60)""")),
    asked("locks_twice", sh("exec ./twice"),
          "deadlock lock", "The thread waits for a mutex that it has itself.", needs="gcc",
          prepare=c("twice", r"""
int main(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	begun();
	pthread_mutex_lock(&lock);
}""")),
    asked("python_locks_crossed", sh("exec python3 crossed.py $BEGUN"),
          "deadlock lock", "Two threads each have the lock that the other wants; these locks keep no owner.",
          prepare=file("crossed.py", """
import sys, threading
one, two, both = threading.Lock(), threading.Lock(), threading.Barrier(3)
def take(first, second):
    with first:
        both.wait()
        with second:
            pass
for pair in ((one, two), (two, one)):
    threading.Thread(target=take, args=pair).start()
both.wait()
open(sys.argv[1], 'w')""")),
    asked("unread_child", sh("""exec python3 -c "
import subprocess
child = subprocess.Popen(['head', '-c', '1000000', '/dev/zero'], stdout=subprocess.PIPE)
open('$BEGUN', 'w')
child.wait()" """),
          "deadlock pipe child_wait child", "The parent waits for the child's end, and the child for room in "
          "the pipe that the parent does not read.", named="head"),
    asked("holder_sleeps", sh("exec ./holder"),
          "lock sleep", "Four threads want a mutex whose holder sleeps.", named="holder|mutex", needs="gcc",
          prepare=c("holder", r"""
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *want(void *number)
{
	pthread_mutex_lock(&lock);
	return NULL;
}
int main(void)
{
	pthread_t t;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, want, NULL);
	begun();
	sleep(60);
}""")),
    asked("never_signalled", sh("exec ./forgotten"),
          "lock none", "Three workers wait for a condition that nobody signals, and one joins them.",
          needs="gcc", prepare=c("forgotten", r"""
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t job = PTHREAD_COND_INITIALIZER;
static void *worker(void *number)
{
	pthread_mutex_lock(&lock);
	pthread_cond_wait(&job, &lock);
	return NULL;
}
int main(void)
{
	start(3, worker);
}""")),
    asked("wants_flock", sh(": > $BEGUN; exec flock wanted.lock true"),
          "lock", "Somebody else has locked the file.", named="wanted.lock|python", needs="flock",
          beside=HOLDER.format(60)),
    asked("wants_record_lock", sh("""exec perl -MFcntl=:DEFAULT,:flock -e '
open my $f, "+<", "accounts" or die; open my $b, ">", $ARGV[0];
my $l = pack "s s x4 q q l", F_WRLCK, 0, 0, 0, 0; fcntl $f, F_SETLKW, $l' $BEGUN"""),
          "lock", "Somebody else has locked the record of the file.", named="accounts|python",
          beside="""exec python3 -c "
import fcntl, time
file = open('accounts', 'w')
fcntl.lockf(file, fcntl.LOCK_EX)
open('$READY', 'w')
time.sleep(60)" """),
    asked("stopped", sh(""": > $BEGUN; kill -STOP $$; sleep 60"""),
          "stopped", "It has been stopped by a signal."),
    asked("held_by_debugger", sh("exec ./tracer"),
          "traced stopped", "Its tracer keeps it stopped.", target="victim", needs="gcc",
          prepare=c("tracer", r"""
int main(void)
{
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, "victim");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGTRAP);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	begun();
	sleep(60);
}""")),
    asked("frozen", sh(": > $BEGUN; exec perl -e '1 while 1'"),
          "frozen", "Its cgroup is frozen.", limit="frozen"),
    asked("reads_terminal", sh("""exec python3 -c "
import os, pty, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp('cat', ['cat'])
open('$BEGUN', 'w')
time.sleep(60)" """),
          "none poll", "It waits for somebody to type something.", target="cat", named="tty|terminal|pts"),
    asked("pipe_nobody_opens", sh(": > $BEGUN; exec cat lonely.pipe"),
          "pipe none", "It opens a named pipe that nobody writes to.", prepare="mkfifo lonely.pipe"),
    asked("upstream_sleeps", sh("""(: > $BEGUN; exec sleep $((MS / 1000))) | tee copy"""),
          "pipe pipe_stage sleep", "It reads from a pipe whose only writer sleeps.", target="tee",
          named="sleep|pipe"),
    asked("shell_waits_for_sleep", sh(": > $BEGUN; sleep $((MS / 1000)); echo over"),
          "sleep child_wait child", "The shell waits for its child, which sleeps.", named="sleep"),
    asked("shell_waits_for_work", sh(""": > $BEGUN; perl -e '1 while 1'; echo over"""),
          "cpu child child_wait", "The shell waits for its child, which computes.", named="perl"),
    asked("joins_worker", sh("exec ./joins"),
          "cpu", "The main thread joins the one that computes.", named="crunch", needs="gcc",
          prepare=c("joins", r"""
static void *crunch(void *number)
{
	pthread_setname_np(pthread_self(), "cruncher");
	burn(60000);
	return NULL;
}
int main(void)
{
	start(1, crunch);
}""")),
    asked("mute_server", sh("""exec python3 -c "
import socket
peer = socket.create_connection(('127.0.0.1', $PORT))
peer.sendall(b'hello')
open('$BEGUN', 'w')
peer.recv(1)" """),
          "network", "The server never answers.", beside=MUTE, named=r"server|python|127\.0\.0\.1"),
    asked("datagrams", sh("""exec python3 -c "
import socket
listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener.bind(('127.0.0.1', $PORT))
open('$BEGUN', 'w')
listener.recv(1500)" """),
          "network none", "It waits for datagrams that nobody sends."),
    asked("idle_event_loop", sh("""exec python3 -c "
import asyncio
async def main():
    server = await asyncio.start_server(lambda r, w: None, '127.0.0.1', $PORT)
    open('$BEGUN', 'w')
    await server.serve_forever()
asyncio.run(main())" """),
          "poll network none", "An event loop without events: nobody connects."),
    asked("follows_log", sh(": > $BEGUN; exec tail -f quiet.log"),
          "poll none sleep", "It waits for lines that nobody writes.", prepare=": > quiet.log"),
    asked("waits_for_signal", sh("""exec perl -MPOSIX -e '
open my $b, ">", $ARGV[0]; close $b; POSIX::pause() while 1' $BEGUN"""),
          "none sleep poll", "It waits for a signal that nobody sends."),
    asked("yields_for_ever", sh("exec ./yields"),
          "spinning kernel_cpu cpu", "It asks in a loop for a flag that nobody sets, and yields in between.",
          needs="gcc", prepare=c("yields", r"""
static volatile int flag;
int main(void)
{
	begun();
	while (!flag)
		sched_yield();
}""")),
    asked("starved", sh(": > $BEGUN; exec nice -n 19 perl -e '1 while 1'"),
          "run_queue", "Two strangers of a higher priority have both CPUs.", beside=HOGS),
]
