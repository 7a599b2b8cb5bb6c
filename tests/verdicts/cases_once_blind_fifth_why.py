# SPDX-License-Identifier: MIT
"""Programs that `why` is asked about, of the corpus in cases_once_blind_fifth_run.py."""
from once_blind_fifth_parts import HOGS, INDEX, MONITORS_CROSSED, OLD_SPACE, REDIS, TERMINAL, c, file, java
from case import REDIS_SERVER, Case, sh


def asked(name, command, accept, truth, **more):
    return Case(f"blind5_why_{name}", command, accept, truth, verb="why", **more)


STUCK = [
    asked("java_deadlock", sh("exec java -XX:+UseSerialGC -cp . Crossed"), "deadlock lock",
          "Two threads each have the monitor that the other wants.", named="buyer|seller",
          needs="java javac", prepare=MONITORS_CROSSED),
    asked("asks_sort", sh("""exec python3 -c "
import subprocess
child = subprocess.Popen(['sort'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(b'b')
child.stdin.flush()
open('$BEGUN', 'w')
child.stdout.read(1)" """),
          "deadlock pipe", "It waits for what sort prints, and sort for the end of what it reads.",
          named="sort"),
    asked("upgrades_read_lock", sh("exec ./upgrade"), "deadlock lock",
          "It waits for the write lock while it has the read lock itself.", needs="gcc",
          prepare=c("upgrade", r"""
int main(void)
{
	static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	pthread_rwlock_rdlock(&lock);
	work(more());
	pthread_rwlock_wrlock(&lock);
}""")),
    asked("joins_with_lock", sh("exec ./joins"), "deadlock lock",
          "The main thread joins another while it has the mutex that the other wants.", needs="gcc",
          prepare=c("joins", r"""
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *saver(void *unused)
{
	pthread_mutex_lock(&lock);
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_mutex_lock(&lock);
	pthread_create(&t, NULL, saver, NULL);
	work(more());
	pthread_join(t, NULL);
}""")),
    asked("crossed_fifos", sh("mkfifo a b; (exec cat < a > b) & : > $BEGUN; cat < b > a"), "deadlock pipe",
          "Each opens the pipe that the other is to open next."),
    asked("php_wants_lock", sh("""exec php -r '$f = fopen("cron.lock", "c"); touch($argv[1]);
flock($f, LOCK_EX);' $BEGUN"""),
          "lock", "Another script has the lock.", named=r"cron\.lock|ruby", needs="php ruby",
          beside="""exec ruby -e 'f = File.open("cron.lock", "w"); f.flock(File::LOCK_EX)
File.write(ARGV[0], ""); sleep 60' $READY"""),
    asked("lock_between_processes", sh("exec python3 shared.py"), "lock",
          "Three processes want a lock of theirs, which the first has and sleeps.", target="waiter",
          prepare=file("shared.py", """
import ctypes, multiprocessing, os, time
lock = multiprocessing.Lock()
def want():
    ctypes.CDLL(None).prctl(15, b'waiter', 0, 0, 0)
    lock.acquire()
lock.acquire()
for i in range(2):
    multiprocessing.Process(target=want).start()
open(os.environ['BEGUN'], 'w')  # $BEGUN
time.sleep(60)""")),
]

HELD = [
    asked("reads_in_background", sh("exec python3 terminal.py $BEGUN bash -ic 'cat & echo; sleep 60'"),
          "stopped", "A job in the background is stopped, since it reads the terminal.", target="cat",
          prepare=TERMINAL),
    asked("downstream_stopped", sh("""yes | (: > $BEGUN; exec python3 -c '
import os, signal
os.kill(os.getpid(), signal.SIGSTOP)')"""),
          "pipe stopped pipe_stage", "The pipe is full, since the one that should read is stopped.",
          target="yes", named="python|pipe"),
    asked("at_breakpoint", sh("exec gdb -q -batch -ex 'break main' -ex run -ex 'shell : > $BEGUN; sleep 60' "
                              "./victim"),
          "traced stopped", "The debugger has stopped it at a breakpoint.", target="victim", needs="gdb gcc",
          named="gdb", prepare=c("victim", "int main(void) { return (int)work(more()); }", "-g")),
    asked("frozen_redis", sh(REDIS_SERVER), "frozen", "Its cgroup is frozen.", limit="frozen",
          needs="redis-check-rdb", target="redis-server"),
    asked("quota_of_little", sh(": > $BEGUN; exec tclsh loop.tcl"), "cpu_quota",
          "It computes with a tenth of a CPU.", limit="cpu 0.1", needs="tclsh",
          prepare=file("loop.tcl", "while 1 {incr x}")),
    asked("idle_class", sh(": > $BEGUN; exec chrt --idle 0 luajit -joff -e 'while true do end'"),
          "run_queue", "It may have what two strangers leave of the CPUs, and they leave little.",
          beside=HOGS, needs="chrt luajit lua5.4"),
    asked("java_collects", sh(f"exec java {OLD_SPACE} -cp . Index"), "gc",
          "What lives nearly fills the old space, which is collected again and again.", needs="java javac",
          prepare=INDEX),
    asked("asks_for_file", sh(": > $BEGUN; exec perl -e '1 until -e \"finished\"'"), "spinning kernel_cpu",
          "It asks without a pause for a file that nobody makes.", named="perl"),
    asked("regular_expression", sh("""exec python3 -c "
import re
open('$BEGUN', 'w')
re.match('(a+)+b', 'a' * 60)" """),
          "cpu", "The expression has more ways to fail than can be tried.", named="python"),
]

IDLE = [
    asked("sqlite_prompt", sh("exec python3 terminal.py $BEGUN sqlite3"), "none poll",
          "It waits for somebody to type something.", target="sqlite3", needs="sqlite3", prepare=TERMINAL),
    asked("git_waits_for_editor", sh("""cd copy; exec python3 ../terminal.py $BEGUN git \
-c user.name=a -c user.email=a@b -c core.editor=vim.tiny commit --allow-empty"""),
          "none child_wait poll", "git waits for the editor, and the editor for somebody to type something.",
          target="git", named="vim", needs="git vim.tiny", prepare=TERMINAL + "git init -q copy"),
    asked("passphrase", sh("exec python3 terminal.py $BEGUN ssh-keygen -t ed25519 -f key"), "none poll",
          "It waits for somebody to type a passphrase.", target="ssh-keygen", needs="ssh-keygen",
          prepare=TERMINAL),
    asked("make_waits_for_sleep", sh("exec make -s"), "sleep child_wait child",
          "make waits for the shell of a recipe, and that for sleep.", named="sleep", needs="make",
          prepare=file("Makefile", "all:\n\t@: > $$BEGUN; sleep 60; echo over")),
    asked("waits_for_paused_child", sh("""exec perl -e '
if (my $child = fork) { waitpid $child, 0 } else {
$0 = "paused"; open my $b, ">", $ARGV[0]; close $b; sleep }' $BEGUN"""),
          "child_wait poll none", "It waits for a child, which waits for a signal that nobody sends."),
    asked("joins_idle_thread", sh("exec ./idle"), "child_wait poll none",
          "It joins a thread, which waits for a signal that nobody sends.", needs="gcc",
          prepare=c("idle", r"""
static void *listen(void *unused)
{
	pthread_setname_np(pthread_self(), "listener");
	work(more());
	pause();
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, listen, NULL);
	pthread_join(t, NULL);
}""")),
    asked("ruby_queue", sh("""exec ruby -e '
queue = Queue.new
Thread.new { File.write(ARGV[0], ""); sleep 60; queue << 1 }
queue.pop' $BEGUN"""),
          "sleep poll", "It waits for another thread to give it something, and that one sleeps.",
          needs="ruby"),
    asked("java_empty_queue", sh("exec java -XX:+UseSerialGC -cp . Queue0"), "poll none",
          "It takes from a queue that nobody puts anything into.", needs="java javac",
          prepare=java("Queue0", """
    public static void main(String[] a) throws Exception {
        go();
        new LinkedBlockingQueue<String>().take();
    }""")),
    asked("node_server", sh("""exec node -e '
require("http").createServer().listen(process.env.PORT, "127.0.0.1",
() => require("fs").writeFileSync(process.argv[1], ""))' $BEGUN"""),
          "poll network none", "A server that nobody asks anything.", needs="node"),
    asked("blocking_pop", sh(": > $BEGUN; exec redis-cli -p $PORT BLPOP jobs 0"), "network poll",
          "The server answers when there is a job, which there never is.", named=r"redis|127\.0\.0\.1",
          needs="redis-cli redis-check-rdb", beside=REDIS + "wait"),
    asked("peer_does_not_read", sh("""exec python3 -c "
import socket
peer = socket.create_connection(('127.0.0.1', $PORT))
open('$BEGUN', 'w')
peer.sendall(bytes(100000000))" """),
          "network", "It sends more than fits, and the other end does not read.",
          named=r"ruby|127\.0\.0\.1", needs="ruby", beside="""exec ruby -rsocket -e '
s = TCPServer.new("127.0.0.1", ENV["PORT"].to_i)
File.write(ARGV[0], "")
c = s.accept
sleep 60' $READY"""),
    asked("listener_is_full", sh(": > $BEGUN; exec wget -q -T 60 -O page http://127.0.0.1:$PORT/"), "network",
          "It connects to a server that accepts nobody, and whose queue is full.", named=r"127\.0\.0\.1|wget",
          needs="wget", beside="""exec python3 -c "
import socket, time
listener = socket.socket()
listener.bind(('127.0.0.1', $PORT))
listener.listen(0)
others = [socket.socket() for _ in range(4)]
for other in others:
    other.setblocking(False)
    other.connect_ex(('127.0.0.1', $PORT))
time.sleep(0.2)
open('$READY', 'w')
time.sleep(60)" """),
    asked("unix_socket_is_full", sh("""exec perl -MSocket -e '
socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, 0;
if (!fork) { close $a; $0 = "lazy"; sleep }
close $b; open my $f, ">", $ARGV[0]; close $f; syswrite $a, "x" x 100000 while 1' $BEGUN"""),
          "pipe", "It writes to a Unix socket, and its child at the other end does not read."),
    asked("fifo_without_reader", sh("mkfifo out; : > $BEGUN; exec tee out < /dev/null"), "pipe none",
          "It opens a named pipe that nobody reads."),
    asked("shell_prompt", sh("exec python3 terminal.py $BEGUN bash --norc -i"), "none poll",
          "A shell waits for somebody to type a command.", target="bash", prepare=TERMINAL),
]

CASES = STUCK + HELD + IDLE
