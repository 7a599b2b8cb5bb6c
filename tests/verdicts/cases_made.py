# SPDX-License-Identifier: MIT
"""Programs that were written for the corpus: each has one limit.  case.py says what a case is."""
from case import Case, sh

SLOW_SERVER = """python3 -c "
import socket, time
listener = socket.create_server(('127.0.0.1', $PORT))
connection, _ = listener.accept()
while connection.recv(1):
    time.sleep(0.02)
    connection.sendall(b'x')
" """

CASES = [
    Case("cpu-single", "$W/cpu_single $MS", "cpu", "It computes in one thread.", core=True),
    Case("cpu-parallel", "$W/cpu_parallel $MS", "cpu", "Each CPU has one thread of it that computes.",
         core=True),
    Case("lock-convoy", "$W/lock_convoy $MS", "lock serialised",
         "Four threads compute under one mutex, so that one at a time does.", busy="run_queue", core=True),
    Case("fsync-writer", "$W/fsync_writer $MS", "fsync",
         "It writes a page and syncs it, and does nothing else.", busy="run_queue", core=True),
    Case("tiny-reads", "$W/tiny_reads $MS", "tiny_io", "It reads a cached file byte by byte.", core=True),
    Case("sleeper", "$W/sleeper $MS", "sleep", "It sleeps.", core=True),
    Case("poll-loop", "$W/poll_loop $MS", "poll", "It polls for an event that never comes.", core=True),
    Case("pipe-ping-pong", "$W/pipe_ping_pong $MS", "pipe",
         "Two processes pass one byte to and fro, and one always waits for the other.", busy="run_queue",
         core=True),
    Case("tcp-client", "$W/tcp_client $MS $PORT", "network", "The server answers each byte after 20 ms.",
         beside=SLOW_SERVER, core=True),
    Case("page-faults", "$W/page_faults $MS", "page_faults", "It touches fresh pages and gives them back.",
         core=True),
    Case("mmap-churn", "$W/mmap_churn $MS", "mmap_churn", "It maps and unmaps memory all the time.",
         core=True),
    Case("fork-storm", "$W/fork_storm $MS", "fork_storm", "It starts children that end at once.",
         busy="run_queue", core=True),
    Case("cpu-quota", "$W/cpu_parallel $MS", "cpu_quota",
         "A CPU for each thread, and 0.3 CPUs of quota for all.", limit="cpu 0.3", core=True),
    Case("oom-kill", "$W/memory_hog $MS 256", "oom_kill", "It wants 256 MB where 64 MB are allowed.",
         limit="memory 64M", core=True),
    Case("fd-leak", "$W/fd_leak $MS", "fd_limit", "All its opens fail, since no more files may be open.",
         core=True),
    Case("one-cpu-for-six", "taskset -c 0 $W/cpu_parallel $MS 6", "oversubscribed run_queue",
         "Six threads that compute may use one CPU only, and wait for each other to leave it.", core=True),
    Case("disk-reads", "$W/disk_reads $MS", "disk", "It reads past the page cache.", busy="run_queue",
         core=True),
    Case("idle-pool", "$W/idle_pool $MS", "cpu", "One thread computes; the seven others have no work.",
         core=True),

    Case("deadlock", "$W/shapes $MS deadlock", "deadlock",
         "Two threads wait for ever for the mutex that the other has.", seconds=1.5),
    Case("rwlock-convoy", "$W/shapes $MS rwlock", "lock serialised",
         "Four threads compute under one write lock.", busy="run_queue"),
    Case("semaphore-convoy", "$W/shapes $MS semaphore", "lock serialised",
         "Four processes compute under one semaphore in shared memory.", busy="run_queue"),
    Case("imbalance", "$W/shapes $MS imbalance", "imbalance",
         "In each round one thread works 20 ms, and the other, done after 1 ms, waits for it at a barrier.",
         named="heavy"),
    Case("condition-slept", "$W/shapes $MS hand_over", "sleep",
         "Consumers wait for a producer on a condition, and the producer sleeps between items."),
    Case("collector", "$W/shapes $MS collector", "gc",
         "The program stands still in nine of ten milliseconds, while its collector thread computes."),
    Case("yield-loop", "$W/shapes $MS yield", "spinning",
         "It yields until another thread, which sleeps, is ready.", busy="run_queue"),
    Case("empty-reads", "$W/shapes $MS empty_reads", "spinning",
         "It reads an empty pipe without waiting, in a loop."),
    Case("zero-polls", "$W/shapes $MS zero_polls", "spinning",
         "It polls an empty pipe with no timeout, in a loop."),
    Case("opens", "$W/shapes $MS opens", "kernel_cpu cpu",
         "It opens and closes a file: nearly all its CPU time is the kernel's."),
    Case("ticker", "$W/shapes $MS ticker", "cpu", "It computes, beside a thread that wakes up now and then."),
    Case("one-refusal", "$W/shapes $MS one_refusal", "cpu",
         "One open in all is refused for the limit of files, and then it computes."),
    Case("memory-fsync", "$W/shapes $MS memory_fsync", "cpu",
         "It computes a millisecond for each sync, and a sync of a file in memory takes none."),
    Case("aio-reads", "$W/shapes $MS aio_reads", "disk",
         "It reads past the page cache by io_submit, one block at a time.", busy="run_queue"),
    Case("ring-reads", "$W/shapes $MS ring_reads", "disk",
         "It reads past the page cache by io_uring_enter, one block at a time.", busy="run_queue"),
    Case("reads-and-sums", "$W/shapes $MS reads_and_sums", "disk",
         "Its one thread waits for the disk in 7 of 10 ms; nobody computes meanwhile.", busy="run_queue"),
    Case("memory-limit", "$W/shapes $MS mapped_reads", "memory_limit",
         "It goes round a mapped file of 64 MB with 24 MB of memory: each page is read again.",
         limit="memory 24M", busy="run_queue"),
    Case("oversubscribed", "$W/cpu_parallel $MS 24", "oversubscribed cpu",
         "It has many more threads that compute than there are CPUs."),
    Case("third-of-a-cpu", "taskset -c 0 $W/cpu_single $MS", "run_queue",
         "Two busy loops of another program have two thirds of the only CPU that it may use.",
         beside="taskset -c 0 $W/cpu_parallel 60000 2", named="cpu_parallel"),
    Case("nice-among-hogs", "nice -n 10 $W/cpu_single $MS", "run_queue",
         "Other programs want all CPUs twice over, and it is nicer than they are.",
         beside="exec $W/cpu_parallel 60000 $(($(nproc) * 2))", named="cpu_parallel"),
    Case("write-limit", "dd if=/dev/zero of=out bs=256k count=20 oflag=direct", "blkio_limit",
         "The cgroup may write 4 MB a second, and the disk could write a hundred times that.",
         limit="write 4M"),

    Case("true-then-sleep", sh("for i in $(seq 100); do /bin/true; done; sleep 1.5"), "sleep",
         "A hundred short children take less time than the sleep after them."),
    Case("sleeping-children", sh("for i in $(seq 600); do sleep 2.5 & done; wait"), "sleep",
         "All 600 children sleep, and the shell waits for them."),
    Case("job-poller",
         sh("timeout 1.5 $W/cpu_single 9000 & job=$!; while kill -0 $job; do sleep 0.05; done 2>/dev/null"),
         "child sleep cpu", "The shell looks every 50 ms whether a job that computes is done."),
    Case("uneven-children", sh("printf '200 200 200 1500' | xargs -n1 -P4 $W/cpu_single"),
         "child imbalance cpu", "One of four children computes several times as long as the others.",
         named="cpu_single"),
    Case("server-in-tree", sh("""python3 -c "
import socket, time
listener = socket.create_server(('127.0.0.1', $PORT))
open('up', 'w')
connection, _ = listener.accept()
while connection.recv(1):
    end = time.time() + 0.02
    while time.time() < end: pass
    connection.sendall(b'x')
" & while ! [ -e up ]; do sleep 0.02; done; $W/tcp_client 1500 $PORT"""), "child network cpu",
         "The client waits for a server that it brought along, which computes.", named="python"),
    Case("slow-writer", sh("for i in $(seq 15); do sleep 0.1; echo $i; done | gzip > out.gz"), "sleep",
         "gzip has nothing to do until the writer, which sleeps, ends."),
]
