# SPDX-License-Identifier: MIT
"""Programs that run already when taskscope comes.  case.py says what a case is."""
from case import HOLDER, REDIS_SERVER, Case, sh

GIL = """exec python3 -c "
import threading
def work():
    while True: pass
for _ in range(3): threading.Thread(target=work).start()
work()" """


def both(name, command, accept, truth, **more):
    """The same by attach and by why."""
    return [Case(f"{name}-{verb}", command, accept, truth, verb=verb, **more) for verb in ("attach", "why")]


CASES = [
    *both("deadlock", "$W/shapes $MS deadlock", "deadlock",
          "Two threads wait for ever for the mutex that the other has."),
    Case("flock-deadlock-attach", """python3 -c "
import fcntl, os, time
def take(mine, wanted):
    files = [open(name, 'w') for name in (mine, wanted)]
    fcntl.flock(files[0], fcntl.LOCK_EX)
    open(mine + '.taken', 'w')
    while not os.path.exists(wanted + '.taken'): time.sleep(0.01)
    fcntl.flock(files[1], fcntl.LOCK_EX)
if os.fork() == 0: take('left', 'right')
elif os.fork() == 0: take('right', 'left')
else: os.wait()" """, "deadlock", "Two processes wait for ever for the lock of a file that the other has.",
         verb="attach"),
    Case("stopped-why", sh("touch $BEGUN; kill -STOP $$"), "stopped", "A signal stopped it.", verb="why"),
    Case("frozen-attach", "$W/cpu_single $MS", "frozen", "Its cgroup is frozen.", verb="attach",
         limit="frozen"),
    Case("redis-idle-attach", sh(REDIS_SERVER), "poll", "No client is connected.", verb="attach",
         needs="redis-check-rdb"),
    Case("redis-script-attach", sh(REDIS_SERVER), "cpu", "It computes what a script of its one client says.",
         needs="redis-check-rdb redis-cli", verb="attach",
         beside="until redis-cli -p $PORT ping; do sleep 0.1; done; touch $BEGUN; "
                 "exec redis-cli -p $PORT eval 'while true do end' 0"),
    *both("gil", sh(GIL), "serialised lock", "Four threads compute, and the interpreter lets one at a time."),
    *both("flock", "flock wanted.lock true", "lock", "Another program has the lock of the file.",
          beside=HOLDER.format(60), named=r"python3|wanted\.lock"),
    Case("quota-why", "$W/cpu_single $MS", "cpu_quota", "It may have a fifth of a CPU.", verb="why",
         limit="cpu 0.2"),
    Case("pipe-reader-why", sh("sleep 60 | cat"), "pipe sleep", "cat waits for a writer that sleeps.",
         verb="why", target="cat", named="sleep"),
    Case("shell-child-why", sh("sha256sum /dev/zero; true"), "child cpu kernel_cpu",
         "The shell waits for its child, which computes.", verb="why", named="sha256sum"),
    Case("tail-attach", "tail -n 0 -f $DATA/small", "poll", "It waits for the file to grow.", verb="attach"),
    Case("strace-dd-attach", "strace -f -o /dev/null dd if=/dev/zero of=/dev/null bs=1", "traced",
         "strace stops dd twice for each call.", verb="attach", busy="run_queue", target="dd", needs="strace",
         named="strace"),
    Case("traced-why", """python3 -c "
import ctypes, os
pid = os.fork()
if pid == 0:
    ctypes.CDLL(None).ptrace(0, 0, 0, 0)
    os.execvp('sleep', ['sleep', '60'])
os.waitpid(pid, 0)
open('$BEGUN', 'w')
os.wait()" """, "traced", "Its debugger stopped it at its exec and lets it stand.", verb="why",
         target="sleep", named="python3"),
    Case("http-server-why", "python3 -m http.server --bind 127.0.0.1 $PORT", "poll network",
         "No client comes.", verb="why"),
    Case("hogs-why", "taskset -c 0 $W/cpu_single $MS", "run_queue",
         "Three loops of others share the one CPU that it may use.", verb="why",
         beside="taskset -c 0 $W/cpu_parallel 60000 3", named="cpu_parallel"),
    Case("pipeline-attach", sh("cat /dev/zero | gzip -9 | cat > /dev/null"), "pipe_stage child cpu",
         "gzip computes; one cat waits in a full pipe, the other for an empty one.", verb="attach",
         named="gzip"),
    Case("disk-why", sh("while :; do dd if=$DATA/big of=/dev/null bs=256k iflag=direct; done"), "disk child",
         "Each read waits for the disk.", verb="why", busy="run_queue", named="dd"),
    Case("write-limit-attach", sh("while :; do dd if=/dev/zero of=out bs=256k count=64 oflag=direct; done"),
         "blkio_limit", "The cgroup may write 4 MB a second.", verb="attach", limit="write 4M"),
    Case("redis-client-why",
         sh(f"({REDIS_SERVER}) & until redis-cli -p $PORT ping; do sleep 0.1; done; touch $BEGUN; "
            "redis-cli -p $PORT blpop nothing 0"),
         "network poll", "The client waits for an answer that does not come.", verb="why", target="redis-cli",
         needs="redis-check-rdb redis-cli", named="redis-server"),
]
