# SPDX-License-Identifier: MIT
"""Blind programs of the sixth corpus that taskscope is asked about."""
from blind6_parts import CROSSED_PROCESSES, PINNED_HOGS, perl, python, ruby
from case import HOLDER, REDIS_SERVER, Case, sh
from once_blind_fifth_parts import TERMINAL, c, file


def why(name, command, accept, truth, **more):
    return Case(f"blind6_why_{name}", command, accept, truth, verb="why", **more)


CASES = [
    why("make_waits_for_openssl", sh(": > $BEGUN; exec make -s"), "child_wait child cpu",
        "It waits for a program that computes.", named="openssl", needs="make openssl", target="make",
        prepare="printf 'all:\\n\\topenssl speed -seconds 60 sha512\\n' > Makefile"),
    why("writes_to_slow_pipe", sh(": > $BEGUN; cat /dev/zero | pv -q -L 100000 > /dev/null"),
        "pipe pipe_stage", "pv takes what it writes, and takes its time.", target="cat", needs="pv",
        named=r"\bpv\b"),
    why("reads_from_slow_pipe", sh("python3 slow.py | gzip -c"), "pipe pipe_stage",
        "It waits for what a Python program has to write.", target="gzip", named="python",
        prepare=python("slow", """
begin()
while True:
    time.sleep(0.3)
    os.write(1, b'a line\\n')""")),
    why("ruby_wants_flock", sh(": > $BEGUN; exec ruby -e 'File.open(\"wanted.lock\", \"w\").flock(2)'"),
        "lock", "Another process has the lock.", named="python", needs="ruby", beside=HOLDER.format(100)),
    why("descriptions_lock", sh("exec ./open_lock"), "lock",
        "Another process has the lock of the open file description.", needs="gcc",
        prepare=c("open_lock", r"""
static int take(void)
{
	struct flock all = {.l_type = F_WRLCK};
	return fcntl(open("shared", O_CREAT | O_RDWR, 0600), F_OFD_SETLKW, &all);
}
int main(void)
{
	int end[2];
	char c;
	if (pipe(end))
		return 1;
	if (fork() == 0) {
		take();
		close(end[0]);
		close(end[1]);
		pause();
	}
	close(end[1]);
	if (read(end[0], &c, 1))
		return 1;
	more();
	return take();
}""")),
    why("locks_of_processes_crossed", sh("exec python3 crossed.py"), "deadlock lock",
        "Two processes each have the lock that the other wants.", prepare=CROSSED_PROCESSES),
    why("thread_wants_own_lock", sh("exec python3 own.py"), "deadlock lock",
        "It asks for the lock that it has.", prepare=python("own", """
import threading
lock = threading.Lock()
def save():
    with lock:
        begin()
        tidy()
def tidy():
    with lock:
        pass
save()""")),
    why("system_v_semaphore", sh("exec unshare --ipc perl semaphore.pl"), "lock",
        "Another process has taken the semaphore and sleeps.", needs="perl unshare",
        prepare=perl("semaphore", """
use IPC::SysV qw(IPC_PRIVATE IPC_CREAT SETVAL SEM_UNDO);
my $id = semget IPC_PRIVATE, 1, IPC_CREAT | 0600;
semctl $id, 0, SETVAL, 1;
pipe my $in, my $out;
if (!fork) {
    semop $id, pack 's3', 0, -1, SEM_UNDO;
    close $in; close $out;
    sleep 100; exit;
}
close $out;
<$in>;
begin();
semop $id, pack 's3', 0, -1, SEM_UNDO;""")),
    why("dd_reads_directly", sh(""": > $BEGUN; while :; do
dd if=$DATA/big of=/dev/null bs=2k iflag=direct status=none; done"""), "disk",
        "Small reads, one at a time, that bypass the page cache.", target="dd", busy="run_queue"),
    why("ruby_syncs", sh("exec ruby journal.rb"), "fsync disk", "It brings each entry to the disk.",
        needs="ruby", busy="run_queue", prepare=ruby("journal", """
begin_now
File.open('journal', 'w') { |f| loop { f.write("entry\\n"); f.fdatasync } }""")),
    why("guile_sleeps", ("guile", "-c", """
(close-port (open-output-file (getenv "BEGUN"))) ; $BEGUN
(sleep 100)"""), "sleep poll", "It sleeps on purpose.", needs="guile"),
    why("node_interval", sh("exec node interval.js"), "sleep poll none",
        "It does next to nothing twice a second.", needs="node", prepare=file("interval.js", """
let n = 0;
setInterval(() => n++, 500);
require('fs').writeFileSync(process.env.BEGUN, ''); // $BEGUN""")),
    why("stopped_editor", sh("exec python3 terminal.py typed vim.tiny -u NONE"), "stopped",
        "Somebody has stopped it.", target="vim.tiny", needs="vim.tiny", prepare=TERMINAL,
        beside="""until [ -e typed ]; do sleep 0.02; done
for p in /proc/[0-9]*; do [ "$(cat $p/comm 2> /dev/null)" = vim.tiny ] && [ $p/cwd -ef . ] &&
kill -STOP ${p#/proc/}; done; : > $BEGUN; sleep 60"""),
    why("strace_delays", sh("exec strace -o /dev/null -e inject=getppid:delay_enter=100000 python3 asks.py"),
        "traced", "strace keeps it for a tenth of a second at each call.", target="python3", needs="strace",
        prepare=python("asks", """
begin()
while True:
    os.getppid()""")),
    why("frozen_database", sh("""exec sqlite3 :memory: '.shell : > $BEGUN' \
'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'"""), "frozen",
        "Its cgroup is frozen.", limit="frozen", needs="sqlite3"),
    why("php_with_quota", sh("exec php -r 'touch(getenv(\"BEGUN\")); while (true);'"), "cpu_quota",
        "It may use a fifth of a CPU.", limit="cpu 0.2", needs="php"),
    why("pinned_beside_php", sh("""exec taskset -c 0 lua5.4 -e '
io.open(os.getenv("BEGUN"), "w")  -- $BEGUN
while true do end'"""), "run_queue",
        "Three strangers want the only CPU that it may use.", named="php", beside=PINNED_HOGS,
        needs="lua5.4 php taskset"),
    why("no_datagram", sh("exec python3 hears.py"), "network poll none",
        "Nobody sends it anything.", prepare=python("hears", """
import socket
hears = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
hears.bind(('127.0.0.1', int(os.environ['PORT'])))
begin()
hears.recvfrom(100)""")),
    why("redis_cli_behind_script", sh(""": > $BEGUN; exec redis-cli -p $PORT get name"""), "network poll",
        "The server is busy with a script of somebody else.", needs="redis-check-rdb redis-cli",
        beside=REDIS_SERVER.replace("exec ./", "./") + """ > /dev/null &
until redis-cli -p $PORT ping > /dev/null 2>&1; do sleep 0.05; done
redis-cli -p $PORT EVAL 'local x = 0 while true do x = x + 1 end' 0 > /dev/null &
sleep 0.5; : > $READY; wait"""),
    why("pigz_many_threads", sh(": > $BEGUN; exec pigz -p $(($(nproc) * 4)) -c < /dev/zero"),
        "oversubscribed cpu", "Four threads that compute for each CPU.", busy="run_queue", needs="pigz"),
    why("tclsh_at_terminal", sh("exec python3 terminal.py $BEGUN tclsh"), "poll none",
        "It waits for what nobody types.", target="tclsh", needs="tclsh", prepare=TERMINAL),
    why("select_without_timeout", sh("exec php polls.php"), "spinning kernel_cpu",
        "It asks without a pause whether there is something to read, and there never is.", needs="php",
        prepare=file("polls.php", """<?php
[$one, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
touch(getenv('BEGUN')); // $BEGUN
while (true) { $r = [$one]; $w = $e = []; stream_select($r, $w, $e, 0); }""")),
]
