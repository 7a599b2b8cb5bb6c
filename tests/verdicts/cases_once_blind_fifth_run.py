# SPDX-License-Identifier: MIT
"""The fifth corpus that was written by someone who had not seen the rules, and is no longer blind.

These are programs that taskscope starts; the other two files are of the same corpus.  Of 94 answers 5 were
wrong with a high score, and 113 of 124 programs were judged right: not a virtual machine below a script, jobs
that each take a file lock, syncs beside a thread that naps, programs below strace, a reader that is stopped,
nor which process was killed, for which rules were mended; and not what node collects in its main thread, nor
monitors of Java that are crossed, which cannot be seen from outside.
"""
from once_blind_fifth_parts import (ECHO, INDEX, MONITOR, OLD_SPACE, REDIS, RUBY_THREADS, TERMINAL, THRASH, c, file,
                          java, nginx)
from case import Case, sh


def ran(name, command, accept, truth, **more):
    return Case(f"blind5_{name}", command, accept, truth, **more)


# The rows of a triangle are dealt out by halves, and the second half is most of the work.
TRIANGLE = c("tri", r"""
static double sum[400];
int main(void)
{
	while (more()) {
		#pragma omp parallel for schedule(static)
		for (int i = 0; i < 400; i++)
			sum[i] = work((long)i * i / 8 * i / 50);
	}
}""", "-fopenmp")

COMPUTES = [
    ran("gawk_counts_words", sh("""exec gawk '{ for (i = 1; i <= NF; i++) count[$i]++ }
END { for (word in count) if (count[word] > most) most = count[word]; print most }' part part part"""),
        "cpu", "gawk counts the words of a file that is in the page cache.", named="gawk", needs="gawk",
        prepare="head -c 24000000 $DATA/text > part"),
    ran("gxx_templates", sh("exec g++ -O0 -c -o words.o words.cc"),
        "cpu", "The compiler proper computes, and the driver waits for it.", named="cc1plus", needs="g++",
        prepare=file("words.cc", """#include <map>
#include <regex>
#include <string>
std::map<std::string, int> count(const std::string &text)
{
	std::map<std::string, int> found;
	std::regex word("[a-z]+");
	for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i)
		found[i->str()]++;
	return found;
}""")),
    ran("key_of_many_rounds", sh("exec ssh-keygen -q -t ed25519 -a 200 -N secret -f key"),
        "cpu", "The passphrase is hashed 200 times on purpose.", named="ssh-keygen", needs="ssh-keygen"),
    ran("jq_groups", sh("exec jq -c 'group_by(.k) | map(length) | add' rows.json"),
        "cpu", "jq parses and groups rows of a file that is in the page cache.", named=r"\bjq\b", needs="jq",
        prepare="""python3 -c "
import json
print(json.dumps([{'k': i * 7919 % 1000, 'name': 'row%d' % i} for i in range(250000)]))" > rows.json"""),
    ran("ruby_queens", sh("exec ruby queens.rb"),
        "cpu", "One thread tries all places of nine queens.", named="ruby", needs="ruby",
        prepare=file("queens.rb", """
def place(row, columns, up, down)
  return 1 if row == 9
  (0...9).sum do |c|
    next 0 if columns[c] == 1 || up[row + c] == 1 || down[row - c + 9] == 1
    columns[c] = up[row + c] = down[row - c + 9] = 1
    found = place(row + 1, columns, up, down)
    columns[c] = up[row + c] = down[row - c + 9] = 0
    found
  end
end
180.times { place(0, [0] * 9, [0] * 20, [0] * 20) }""")),
    ran("git_repacks", sh("exec git -C copy -c pack.threads=1 repack -q -a -d -f --depth=60 --window=220"),
        "cpu", "git looks for deltas anew, in one thread.", named="git", needs="git",
        prepare="cp -r $DATA/repository copy"),
    ran("rhino_loop", sh("""exec rhino -opt -1 -e '
var end = Date.now() + Number(java.lang.System.getenv("MS")), x = 1;
while (Date.now() < end) for (var i = 0; i < 1000; i++) x = (x * 31 + i) % 65537;'"""),
        "cpu", "A script is interpreted on top of Java.", named="java|rhino|main", needs="rhino"),
    ran("php_similar_texts", sh("""exec php -r '
$a = str_repeat("the quick brown fox ", 14); $b = str_repeat("over the lazy dog ", 14);
for ($i = 0; $i < 2200; $i++) $n = similar_text($a . $i, $b . $i);'"""),
        "cpu", "It compares two texts over and over.", named="php", needs="php"),
]

CHILDREN = [
    ran("make_long_file", sh("exec make -s -j4 -C copy"),
        "child cpu", "Six short compilations are over long before the long one.", named="cc1|long",
        needs="make gcc", prepare="cp -r $DATA/project copy; sed -i s/-O3/-O2/ copy/Makefile"),
    ran("compress_unequal_files", sh("for i in 1 2 3 4; do xz -9e -T1 -k part$i & done; wait"),
        "child cpu", "Of four compressors that start at once, one has a file twenty times as large.",
        named=r"\bxz\b", needs="xz", prepare="""for i in 1 2 3; do head -c 60000 $DATA/small > part$i; done
head -c 2000000 $DATA/small > part4"""),
    ran("ninja_long_step", sh("exec ninja --quiet -j3"),
        "child cpu", "Three short steps run beside a long one, which computes alone in the end.",
        named="luajit|lua5", needs="ninja lua5.4", prepare=file("build.ninja", """
rule run
  command = lua5.4 -e "local x = 0 for i = 1, $n do x = (x + i * i) % 7 end" && touch $out
build a: run
  n = 500000
build b: run
  n = 500000
build c: run
  n = 500000
build d: run
  n = 150000000
build all: phony a b c d
default all""")),
    ran("script_cuts_lines", ("bash", "-c", """head -n 450 "$DATA/small" | while read -r line; do
word=$(echo "$line" | cut -d' ' -f3); [ -n "$word" ]; done"""),
        "fork_storm", "For each of 450 lines it starts a subshell and cut.", busy="run_queue"),
    ran("xargs_one_at_a_time", sh("find $DATA/tree -name '*.txt' | head -n 700 | xargs -n1 /usr/bin/wc -c "
                                  "> sizes"),
        "fork_storm", "A program is started for each of 700 files.", busy="run_queue"),
    ran("make_many_tiny_rules", sh("exec make -s"),
        "fork_storm", "900 rules each start a program that does nothing.", busy="run_queue", needs="make",
        prepare=r"""{ printf 'all:'; seq -f ' t%g' 900 | tr -d '\n'; printf '\n%%:\n\t@/bin/true\n'
} > Makefile"""),
    ran("php_shells_out", sh("exec php -r 'for ($i = 0; $i < 400; $i++) $s = shell_exec(\"id -u\");'"),
        "fork_storm", "For each of 400 questions it starts a shell and id.", busy="run_queue", needs="php"),
]

PIPES = [
    ran("logs_through_python", sh("""gzip -dc part.gz | python3 -c "
import re, sys
date = re.compile(r'(\\w+) .*?(\\w+)$')
n = 0
for line in sys.stdin:
    n += sum(len(a) * len(b) for a, b in date.findall(line.swapcase())) + len(sorted(line))
print(n)" | cat"""),
        "pipe_stage cpu", "gzip could be much faster, but for the python after it.", named="python",
        prepare="head -c 12000000 $DATA/text | gzip -1 > part.gz"),
    ran("encrypted_backup", sh("tar cf - -C $DATA tree | brotli -q 11 -w 20 | age -r $(cat recipient) > "
                               "out.age"),
        "pipe_stage cpu", "tar and age are fast, brotli is not.", named="brotli", needs="brotli age",
        prepare="age-keygen 2> /dev/null | sed -n 's/.*public key: //p' > recipient"),
    ran("rate_of_pv", sh("head -c 6000000 /dev/zero | pv -q -L 4000000 | wc -c"),
        "sleep pipe_stage poll", "pv lets four million bytes a second through, and sleeps in between.",
        named=r"\bpv\b", needs="pv"),
    ran("sed_as_coprocess", sh("exec python3 echo.py"),
        "pipe tiny_io serialised", "Each line goes to a process and comes back before the next one is sent.",
        busy="run_queue", prepare=ECHO),
    ran("results_from_fifo", sh("exec wc -l results.fifo"),
        "pipe", "It reads what somebody outside writes now and then.", prepare="mkfifo results.fifo",
        beside="""exec 3<> results.fifo; : > $READY; exec 4> results.fifo 3>&-
for i in 1 2 3 4 5 6 7 8; do sleep 0.25; echo $i >&4; done; exec 4>&-; exec sleep 60"""),
    ran("perl_asks_unix_socket", sh("""exec perl -MIO::Socket::UNIX -e '
my $s = IO::Socket::UNIX->new("ask.socket") or die;
for (1 .. 8) { syswrite $s, "next\\n"; sysread $s, my $answer, 100 }'"""),
        "pipe", "The server at the other end of the Unix socket takes 0.2 s for each answer.",
        needs="socat", beside="""socat UNIX-LISTEN:ask.socket EXEC:'sh answers.sh' &
until [ -S ask.socket ]; do sleep 0.05; done; : > $READY; wait""",
        prepare=file("answers.sh", "while read -r line; do sleep 0.2; echo ok; done")),
]

THREADS = [
    ran("openmp_triangle", sh("OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive OMP_PROC_BIND=false exec ./tri"),
        "imbalance serialised", "The rows of a triangle are dealt out by halves, so that one thread has "
        "most of the work.", needs="gcc", prepare=TRIANGLE),
    ran("openmp_triangle_spins", sh("OMP_NUM_THREADS=2 OMP_WAIT_POLICY=active GOMP_SPINCOUNT=infinity "
                                    "exec ./tri"),
        "spinning imbalance cpu", "As above, but the thread that is through first spins until the other is.",
        busy="run_queue", needs="gcc", prepare=TRIANGLE),
    ran("node_workers_unequal", sh("exec node workers.js"),
        "imbalance cpu", "One of two workers gets a twelfth of the range, the other the rest.", named="node",
        needs="node", prepare=file("workers.js", """
const { Worker, isMainThread, workerData } = require('worker_threads');
if (isMainThread) {
    new Worker(__filename, { workerData: 120 });
    new Worker(__filename, { workerData: 1400 });
} else {
    const end = Date.now() + workerData;
    let x = 1;
    while (Date.now() < end) for (let i = 0; i < 1e5; i++) x = (x * 31 + i) % 65537;
}""")),
    ran("java_one_monitor", sh("exec java -XX:+UseSerialGC -cp . Ledger"),
        "lock serialised", "Four threads do nearly all of their work inside one monitor.",
        needs="java javac", prepare=MONITOR),
    ran("ruby_threads_take_turns", sh("exec ruby threads.rb"),
        "serialised lock", "Three threads compute in an interpreter that runs one at a time.",
        named="ruby", needs="ruby", prepare=RUBY_THREADS),
    ran("jobs_behind_flock", sh("""seq 4 | xargs -P4 -I{} flock build.lock lua5.4 -e '
local x = 0 for i = 1, 45000000 do x = (x + i * i) % 7 end'"""),
        "serialised lock", "Four jobs could run side by side, but for the lock that each computes behind.",
        needs="flock lua5.4"),
    ran("ninja_pool_of_one", sh("exec ninja --quiet -j4"),
        "serialised cpu", "All four steps are in a pool that lets one run at a time.", needs="ninja lua5.4",
        prepare=file("build.ninja", """
pool one
  depth = 1
rule run
  command = lua5.4 -e "local x = 0 for i = 1, 45000000 do x = (x + i * i) % 7 end" && touch $out
  pool = one
build a: run
build b: run
build c: run
build d: run
build all: phony a b c d
default all""")),
    ran("php_wants_lock", sh("exec php -r '$f = fopen(\"cron.lock\", \"c\"); flock($f, LOCK_EX);'"),
        "lock", "Another script has the lock for 1.8 s.", named=r"cron\.lock|perl", needs="php",
        beside="""exec perl -MFcntl=:flock -e 'open my $f, ">", "cron.lock"; flock $f, LOCK_EX;
open my $r, ">", $ARGV[0]; sleep 2; close $f; sleep 60' $READY"""),
]

STARVED = [
    ran("openssl_multi", sh("exec openssl speed -seconds 2 -bytes 16384 -multi 7 sha256"),
        "oversubscribed cpu", "Seven processes compute on two CPUs.", busy="run_queue", needs="openssl"),
    ran("plzip_nine_threads", sh("exec plzip -n 9 -B 256KiB -k -c part"),
        "oversubscribed cpu", "Nine threads compress on two CPUs.", busy="run_queue", needs="plzip",
        prepare="head -c 6000000 $DATA/text > part"),
    ran("gzip_beside_six", sh("exec gzip -6 -c part"),
        "run_queue", "Six strangers that compute want the two CPUs as well.",
        beside="for i in 1 2 3 4 5 6; do lua5.4 -e 'while true do end' & done; : > $READY; wait",
        prepare="head -c 22000000 $DATA/text > part", needs="lua5.4"),
    ran("pinned_beside_openssl", sh("exec taskset -c 0 luajit -joff -e 'for i = 1, 1.2e8 do end'"),
        "run_queue", "Three strangers have its only CPU as well.", needs="luajit openssl",
        beside="for i in 1 2 3; do taskset -c 0 openssl speed -seconds 60 -bytes 64 md5 & done; "
               ": > $READY; wait"),
    ran("quota_pigz", sh("exec pigz -9 -p 2 -c part"),
        "cpu_quota", "Two threads compress with half of a CPU.", limit="cpu 0.5", needs="pigz",
        prepare="head -c 38000000 $DATA/text > part"),
    ran("quota_java_start", sh("exec java -cp . Hello"),
        "cpu_quota", "A small program, but Java starts with a quarter of a CPU.", limit="cpu 0.25",
        needs="java javac", prepare=java("Hello", """
    public static void main(String[] a) throws Exception { work(400000000); System.out.println(sink); }""")),
]

MEMORY = [
    ran("java_parallel_gc", sh(f"exec java {OLD_SPACE} -cp . Index"),
        "gc", "What lives nearly fills the old space, which is collected again and again.",
        needs="java javac", prepare=INDEX),
    ran("ruby_collects_often", sh("""exec ruby -e '
live = Array.new(200000) { |i| i.to_s }
220.times { |i| live[i] = "x" * 90; GC.start }'"""),
        "gc cpu", "It has garbage collected after each small piece of work.", named="ruby|garbage|gc",
        needs="ruby"),
    ran("java_touches_heap", sh("exec java -XX:+UseSerialGC -XX:+AlwaysPreTouch -XX:-UseTransparentHugePages "
                                "-Xms800m -Xmx800m -version"),
        "page_faults kernel_cpu", "It touches each page of a heap of 800 MiB before it begins.",
        needs="java"),
    ran("writes_after_fork", sh("exec ./cow"),
        "page_faults kernel_cpu", "After each fork it writes to all pages that it shares with the child.",
        needs="gcc", prepare=c("cow", r"""
int main(void)
{
	size_t size = 96 << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, size, MADV_NOHUGEPAGE);
	memset(p, 1, size);
	while (more()) {
		int end[2];
		if (pipe(end))
			return 1;
		pid_t child = fork();
		if (child == 0) {
			char byte;
			close(end[1]);
			_exit(read(end[0], &byte, 1));
		}
		for (size_t i = 0; i < size; i += 4096)
			p[i]++;
		close(end[0]);
		close(end[1]);
		waitpid(child, NULL, 0);
	}
}""")),
    ran("malloc_maps_each_block", sh("MALLOC_MMAP_THRESHOLD_=65536 exec ./blocks"),
        "mmap_churn page_faults kernel_cpu", "Each block that it allocates and frees is a mapping of its own.",
        needs="gcc", prepare=c("blocks", r"""
int main(void)
{
	while (more())
		for (int i = 0; i < 100; i++) {
			volatile char *p = malloc(100000 + i * 4096);
			p[0] = p[50000] = 1;
			free((void *)p);
		}
}""")),
    ran("table_larger_than_limit", sh("exec ./thrash"),
        "memory_limit disk", "It reads a mapped file at random, a third of which fits into its cgroup.",
        limit="memory 32M", needs="gcc", prepare=THRASH),
    ran("report_killed", sh("""perl -e '
my @rows; while (1) { my $x = 0; $x += $_ for 1 .. 150000; push @rows, "x" x 200000 }'; true"""),
        "oom_kill memory_limit", "It keeps all rows until its cgroup has no more memory, and is killed.",
        named="perl", limit="memory 80M"),
]

INPUT_OUTPUT = [
    ran("fio_syncs", sh("exec fio --name=log --rw=write --bs=4k --size=64m --fdatasync=1 --ioengine=psync "
                        "--runtime=2 --time_based --output=fio.txt --thread"),
        "fsync disk", "Each block is brought to the disk before the next.", busy="run_queue", needs="fio"),
    ran("node_saves_settings", sh("""exec node -e '
const fs = require("fs"), end = Date.now() + Number(process.env.MS);
while (Date.now() < end) {
    const fd = fs.openSync("settings.new", "w");
    fs.writeSync(fd, "x".repeat(3000));
    fs.fsyncSync(fd);
    fs.closeSync(fd);
    fs.renameSync("settings.new", "settings");
}'"""), "fsync disk", "Each version of the file is brought to the disk before it gets its name.",
        busy="run_queue", needs="node"),
    ran("fio_random_reads", sh("exec fio --name=reads --filename=$DATA/big --readonly --rw=randread --bs=64k "
                               "--size=256m --direct=1 --ioengine=psync --runtime=2 --time_based --thread "
                               "--output=fio.txt"),
        "disk", "Reads at random places, one at a time, that bypass the page cache.", busy="run_queue",
        needs="fio"),
    ran("fio_over_io_max", sh("exec fio --name=writes --rw=randwrite --bs=64k --size=6m --direct=1 --thread "
                              "--ioengine=psync --output=fio.txt"),
        "blkio_limit", "Six MiB are written where three a second are allowed.", limit="write 3M",
        needs="fio"),
    ran("dash_reads_lines", ("dash", "-c", 'while read -r line; do :; done < part'),
        "tiny_io kernel_cpu", "dash reads a byte at a time, so as not to take what is the next command's.",
        prepare="head -c 2500000 $DATA/small > part", needs="dash"),
    ran("socat_bytes", sh("exec socat -u -b 1 OPEN:part CREATE:copy"),
        "tiny_io kernel_cpu", "A read, a write and some questions for each byte.", needs="socat",
        prepare="head -c 220000 $DATA/small > part"),
    ran("find_over_and_over", sh("exec find $(yes $DATA/tree | head -n 180) -size +100k"),
        "kernel_cpu", "Names and inodes that are in memory are looked up by the kernel, file by file.",
        named="find"),
    ran("reads_kernel_symbols", sh("exec cat $(yes /proc/kallsyms | head -n 28)"),
        "kernel_cpu", "The kernel makes the text of its symbols anew at each read.", named=r"\bcat\b"),
]

WAITS = [
    ran("wget_at_limited_rate", sh("exec wget -q -O page http://127.0.0.1:$PORT/page"),
        "network poll", "The server gives out one million bytes a second.", needs="wget nginx",
        prepare="mkdir site; head -c 1800000 $DATA/small > site/page; chmod -R a+rX .",
        beside=nginx("limit_rate 1000000;") + "exec nginx -p $PWD -e $PWD/error.log -c $PWD/nginx.conf"),
    ran("redis_blocking_pop", sh("exec redis-cli -p $PORT BLPOP jobs 2"),
        "network poll", "The server answers when there is a job, which there is not for two seconds.",
        needs="redis-cli redis-check-rdb", beside=REDIS + "wait"),
    ran("ab_slow_pages", sh("exec ab -q -n 24 -c 3 http://127.0.0.1:$PORT/"),
        "network poll", "The server takes 0.2 s for each page.", needs="ab socat",
        beside="exec socat TCP-LISTEN:$PORT,bind=127.0.0.1,fork,reuseaddr,backlog=32 EXEC:'sh page.sh'",
        prepare=file("page.sh", """read -r line; sleep 0.2
printf 'HTTP/1.0 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\nok\\n'""")),
    ran("php_looks_for_jobs", sh("exec php -r 'for ($i = 0; $i < 15; $i++) usleep(100000);'"),
        "sleep", "It sleeps a tenth of a second fifteen times.", needs="php"),
    ran("retries_until_up", sh("""for i in 1 2 3 4 5 6 7; do
curl -s http://127.0.0.1:$PORT/ && break; sleep 0.25; done; true"""),
        "sleep", "Nobody listens, and it sleeps before it tries again.", needs="curl"),
    ran("expect_sleeps", ("expect", "-c", "for {set i 0} {$i < 6} {incr i} { sleep 0.3 }"),
        "sleep poll", "A script that sleeps six times.", needs="expect"),
    ran("waits_for_signal", sh("""exec python3 -c "
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
open('pid.new', 'w').write(str(os.getpid()))
os.rename('pid.new', 'pid')
signal.sigwait([signal.SIGUSR1])" """),
        "poll none", "It waits for a signal, which somebody sends 1.5 s later.",
        beside="until [ -e pid ]; do sleep 0.05; done; sleep 1.5; kill -USR1 $(cat pid); exec sleep 60"),
    ran("stopped_for_a_while", sh("echo $$ > pid; kill -STOP $$; exec true"),
        "stopped", "It stops itself, and somebody lets it go on 1.5 s later.",
        beside="until [ -s pid ]; do sleep 0.05; done; sleep 1.5; while kill -CONT $(cat pid); do "
               "sleep 0.2; done; exec sleep 60"),
    ran("under_strace", sh("""exec strace -f -o /dev/null perl -MTime::HiRes=time -e '
my $end = time + $ENV{MS} / 1000; while (time < $end) { -e "/none" }'"""),
        "traced", "strace stops it twice at each call.", busy="run_queue", named="strace", needs="strace"),
    ran("perl_asks_for_child", sh("""exec perl -MPOSIX=:sys_wait_h -MTime::HiRes=usleep -e '
if (!fork) { usleep(1000 * $ENV{MS}); exit } 1 until waitpid(-1, WNOHANG)'"""),
        "spinning kernel_cpu", "It asks without a pause whether the child, which sleeps, is over.",
        named="perl"),
    ran("dash_waits_for_file", ("dash", "-c", "until [ -e finished ]; do :; done"),
        "spinning kernel_cpu", "It asks without a pause for a file, which is made 1.5 s later.",
        needs="dash", beside=": > $READY; sleep 1.7; : > finished; exec sleep 60"),
    ran("coprocess_of_sort", ("bash", "-c", "coproc sort; echo b >&${COPROC[1]}; read -r line <&${COPROC[0]}"),
        "deadlock pipe", "It waits for what sort prints, and sort for the end of what it reads.",
        named="sort", seconds=2),
    ran("sqlite_prompt", sh("exec python3 terminal.py $BEGUN sqlite3"),
        "none poll", "A program at a terminal waits for somebody to type something.", needs="sqlite3",
        seconds=2, prepare=TERMINAL),
    ran("descriptors_leak", sh("""ulimit -n 60; exec lua5.4 -e '
local kept = {}
while os.clock() < 1.5 do
  local file = io.open("/etc/passwd")
  if file then kept[#kept + 1] = file end
end'"""), "fd_limit spinning", "It has no descriptor left for another file, and tries on.", needs="lua5.4"),
]

CASES = COMPUTES + CHILDREN + PIPES + THREADS + STARVED + MEMORY + INPUT_OUTPUT + WAITS
