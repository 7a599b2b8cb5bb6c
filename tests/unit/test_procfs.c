#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/error.h"
#include "collect/cmdline.h"
#include "collect/collector.h"
#include "tree.h"

#define RULE "-------------------------------------------------------------------\n"

/* A capture that the test makes itself, of a recorded tree or of this host. */
struct scene {
	struct tree tree;
	struct host *host;
	struct capture_options options;
	struct capture capture;
};

static void scene_open(struct scene *scene, const char *root)
{
	struct error error = { 0 };

	if (host_open(&scene->host, root, &error) < 0)
		fail_msg("%s", error.message);
	scene->capture = (struct capture){
		.host = scene->host,
		.options = &scene->options,
		.scale = { scene->host->tick_ns, scene->host->page_bytes },
	};
	gates_read(scene->host, scene->capture.gates);
	assert_int_equal(snapshot_new(&scene->capture.snapshot), 0);
}

static void scene_collect(struct scene *scene)
{
	struct error error = { 0 };

	if (procfs_collector.collect(&scene->capture, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(snapshot_finish(scene->capture.snapshot), 0);
	assert_int_equal(process_files_collect(&scene->capture), 0);
}

static void scene_close(struct scene *scene)
{
	snapshot_free(scene->capture.snapshot);
	host_close(scene->host);
}

static void write_stat(const struct tree *tree, int tgid, int tid, const char *comm, int threads,
		       int faults, int start)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "%d (%s) S 1 %d %d 0 -1 4194304 %d 2 0 1 11 7 3 4 20 0 %d 0 %d 3133440 361\n",
		 tid ? tid : tgid, comm, tgid, tgid, faults, threads, start);
	tree_task_text(tree, tgid, tid, "stat", text);
}

static void write_io(const struct tree *tree, int tgid, int tid, int bytes)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "rchar: %d\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n"
		 "cancelled_write_bytes: 0\n",
		 bytes);
	tree_task_text(tree, tgid, tid, "io", text);
}

/* A thread with all its files. */
static void write_thread(const struct tree *tree, int tgid, int tid, const char *comm, int threads,
			 int faults)
{
	write_stat(tree, tgid, tid, comm, threads, faults, 100 + tid);
	write_io(tree, tgid, tid, 1000);
	tree_task_text(tree, tgid, tid, "status",
		       "Name:\tx\nState:\tS (sleeping)\nUid:\t0\t1000\t0\t0\nVmHWM:\t    8 kB\n"
		       "Threads:\t2\nCpus_allowed_list:\t0-63\nvoluntary_ctxt_switches:\t9\n");
	tree_task_text(tree, tgid, tid, "schedstat", "500 60 7\n");
	tree_task_text(tree, tgid, tid, "sched",
		       "x (1, #threads: 1)\n" RULE "se.nr_migrations : 38\nwait_max : 1.500000\n"
		       "sleep_max : 0.-000500\n");
	tree_task_text(tree, tgid, tid, "cgroup",
		       "4:memory,hugetlb:/v1/a b:c\n1:cpu:/cpu\n0::/v2 x:y/z\n");
}

static void write_host(const struct tree *tree)
{
	tree_text(tree, "taskscope-root", "clock_ticks 100\npage_size 4096\nopen_fds 100 7\n");
	tree_text(tree, "etc/passwd", "root:x:0:0::/:\nalice:x:1000:1000::/:\n");
	tree_text(tree, "sys/devices/system/cpu/online", "0-3,6\n");
	tree_text(tree, "sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	tree_text(tree, "proc/sys/kernel/sched_schedstats", "1\n");
}

/* Two threads of one process that has lost others. */
static void write_process(const struct tree *tree)
{
	write_host(tree);
	write_thread(tree, 100, 100, "leader", 2, 30);
	write_thread(tree, 100, 101, "a) R 1 2\n\xff", 2, 20);
	write_stat(tree, 100, 0, "leader", 2, 57, 200);
	write_io(tree, 100, 0, 2500);
	tree_task_text(tree, 100, 0, "statm", "765 409 382 5 0 123 0\n");
	tree_task_text(tree, 100, 0, "limits", "Max open files   1024   4096   files\n");
	tree_bytes(tree, "proc/100/cmdline", "prog\0-x\0", 8);
}

static int make_tree(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	tree_make(&scene->tree);
	*state = scene;
	return 0;
}

static int remove_tree(void **state)
{
	struct scene *scene = *state;

	scene_close(scene);
	tree_remove(&scene->tree);
	free(scene);
	return 0;
}

static struct snapshot *take(struct scene *scene)
{
	scene_open(scene, scene->tree.root);
	scene_collect(scene);
	return scene->capture.snapshot;
}

/* The row that a thread's or its process's values of a metric are in. */
static uint32_t row_of(const struct snapshot *snapshot, enum metric_id id, int32_t tid)
{
	for (uint32_t row = 0; row < snapshot->task_count; row++)
		if (snapshot->tasks[row].tid == tid)
			return metrics[id].scope == SCOPE_THREAD ? row :
								   snapshot->tasks[row].process;
	fail_msg("there is no thread %" PRId32, tid);
	return 0;
}

static uint64_t cell(const struct snapshot *snapshot, enum metric_id id, int32_t tid)
{
	uint64_t value = 0;

	if (!snapshot_get(snapshot, id, row_of(snapshot, id, tid), &value))
		fail_msg("%s of %" PRId32 " is absent", metrics[id].name, tid);
	return value;
}

static bool has_cell(const struct snapshot *snapshot, enum metric_id id, int32_t tid)
{
	uint64_t value;

	return snapshot_get(snapshot, id, row_of(snapshot, id, tid), &value);
}

static const struct task *task_of(const struct snapshot *snapshot, int32_t tid)
{
	return &snapshot->tasks[row_of(snapshot, METRIC_state, tid)];
}

static void a_recorded_process_fills_its_rows(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;
	const struct process *process;

	write_process(&scene->tree);
	snapshot = take(scene);
	assert_int_equal(snapshot->task_count, 2);
	assert_int_equal(snapshot->process_count, 1);
	process = &snapshot->processes[0];
	assert_int_equal(process->tgid, 100);
	assert_int_equal(process->start_time_ns, 2000000000);
	assert_string_equal(snapshot_text(snapshot, process->pcomm), "leader");
	assert_string_equal(snapshot_text(snapshot, process->user), "alice");
	assert_string_equal(snapshot_text(snapshot, process->cmdline), "prog -x");
	assert_string_equal(snapshot_text(snapshot, task_of(snapshot, 101)->comm),
			    "a) R 1 2\n\xff");
	assert_int_equal(task_of(snapshot, 101)->start_time_ns, 2010000000);
	assert_int_equal(cell(snapshot, METRIC_minflt, 101), 20);
	assert_int_equal(cell(snapshot, METRIC_utime_ns, 101), 110000000);
	assert_int_equal(cell(snapshot, METRIC_state, 100), 'S');
	assert_int_equal(cell(snapshot, METRIC_uid, 100), 1000);
	assert_int_equal(cell(snapshot, METRIC_run_time_ns, 100), 500);
	assert_int_equal(cell(snapshot, METRIC_nr_migrations, 100), 38);
	assert_int_equal(cell(snapshot, METRIC_wait_max, 100), 1500000);
	assert_int_equal(cell(snapshot, METRIC_vm_bytes, 100), 765 * 4096);
	assert_int_equal(cell(snapshot, METRIC_rss_bytes, 100), 409 * 4096);
	assert_int_equal(cell(snapshot, METRIC_open_fds, 100), 7);
	assert_int_equal(cell(snapshot, METRIC_fd_limit, 100), 1024);
	assert_false(has_cell(snapshot, METRIC_wait_sum, 100));
	assert_int_equal(snapshot->tally.negative_dotted_values, 2);
	assert_int_equal(snapshot->tally.vanished, 0);
}

static void a_peak_is_never_below_what_is_held(void **state)
{
	struct scene *scene = *state;

	write_process(&scene->tree);
	assert_int_equal(cell(take(scene), METRIC_hiwater_rss_bytes, 100), 409 * 4096);
}

static void without_what_is_held_the_iterators_note_is_no_peak(void **state)
{
	struct scene *scene = *state;

	write_process(&scene->tree);
	tree_unlink(&scene->tree, "proc/100/statm");
	scene_open(scene, scene->tree.root);
	scene->capture.tallies[SOURCE_TASK_ITERATOR].read = 1;
	scene_collect(scene);
	assert_false(has_cell(scene->capture.snapshot, METRIC_hiwater_rss_bytes, 100));
}

static void affinity_is_limited_to_cpus_that_are_online(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	snapshot = take(scene);
	assert_string_equal(
		snapshot_text(snapshot, (uint32_t)cell(snapshot, METRIC_cpu_affinity, 100)),
		"0-3,6");
	assert_int_equal(scene->capture.tallies[SOURCE_AFFINITY].read, 2);
}

static void dead_threads_have_what_the_living_do_not(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	snapshot = take(scene);
	assert_int_equal(cell(snapshot, METRIC_dead_minflt, 100), 7);
	assert_int_equal(cell(snapshot, METRIC_dead_majflt, 100), 0);
	assert_int_equal(cell(snapshot, METRIC_dead_rchar, 100), 500);
	/* Two living threads have more than the process: something moved meanwhile. */
	assert_false(has_cell(snapshot, METRIC_dead_wchar, 100));
}

static void dead_totals_need_every_living_thread(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	write_stat(&scene->tree, 100, 0, "leader", 3, 57, 200);
	snapshot = take(scene);
	assert_false(has_cell(snapshot, METRIC_dead_minflt, 100));
	assert_false(has_cell(snapshot, METRIC_dead_rchar, 100));
}

static void a_thread_without_stat_leaves_nothing_behind(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	tree_task_text(&scene->tree, 100, 102, "schedstat", "1 2 3\n");
	tree_task_text(&scene->tree, 100, 103, "stat", "");
	snapshot = take(scene);
	assert_int_equal(snapshot->task_count, 2);
	assert_int_equal(snapshot->tally.vanished, 2);
	assert_int_equal(scene->capture.tallies[SOURCE_SCHEDSTAT].read, 2);
	assert_int_equal(scene->capture.tallies[SOURCE_STATUS].failed, 0);
	assert_false(has_cell(snapshot, METRIC_dead_minflt, 100));
}

static void a_process_without_threads_is_gone(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	tree_directory(&scene->tree, "proc/300/task");
	tree_directory(&scene->tree, "proc/301");
	snapshot = take(scene);
	assert_int_equal(snapshot->process_count, 1);
	assert_int_equal(snapshot->tally.vanished, 2);
}

static void a_stat_that_makes_no_sense_is_a_failure(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	tree_task_text(&scene->tree, 100, 102, "stat", "nonsense\n");
	snapshot = take(scene);
	assert_int_equal(snapshot->task_count, 2);
	assert_int_equal(snapshot->tally.vanished, 0);
	assert_int_equal(scene->capture.tallies[SOURCE_STAT].failed, 1);
	assert_int_equal(scene->capture.tallies[SOURCE_STAT].error, EBADMSG);
}

static void a_missing_file_makes_values_absent_not_zero(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	tree_unlink(&scene->tree, "proc/100/task/101/io");
	snapshot = take(scene);
	assert_true(has_cell(snapshot, METRIC_rchar, 100));
	assert_false(has_cell(snapshot, METRIC_rchar, 101));
	assert_true(has_cell(snapshot, METRIC_run_time_ns, 101));
	assert_int_equal(scene->capture.tallies[SOURCE_IO].read, 1);
	assert_int_equal(scene->capture.tallies[SOURCE_IO].failed, 1);
	assert_non_null(scene->capture.tallies[SOURCE_IO].reason);
	assert_false(has_cell(snapshot, METRIC_dead_rchar, 100));
	assert_true(has_cell(snapshot, METRIC_dead_minflt, 100));
}

static void a_kernel_thread_has_no_memory(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_host(&scene->tree);
	write_stat(&scene->tree, 2, 2, "kthreadd", 1, 0, 1);
	tree_task_text(&scene->tree, 2, 2, "status", "Name:\tkthreadd\nUid:\t0\t0\t0\t0\n");
	tree_task_text(&scene->tree, 2, 0, "statm", "0 0 0 0 0 0 0\n");
	tree_task_text(&scene->tree, 2, 0, "cmdline", "");
	snapshot = take(scene);
	assert_false(has_cell(snapshot, METRIC_rss_bytes, 2));
	assert_false(has_cell(snapshot, METRIC_vm_bytes, 2));
	assert_false(has_cell(snapshot, METRIC_hiwater_rss_bytes, 2));
	assert_false(has_cell(snapshot, METRIC_open_fds, 2));
	assert_int_equal(scene->capture.tallies[SOURCE_STATM].read, 1);
	assert_int_equal(scene->capture.tallies[SOURCE_CMDLINE].read, 1);
	assert_int_equal(scene->capture.tallies[SOURCE_FDS].failed, 1);
	assert_int_equal(snapshot->processes[0].cmdline, 0);
}

static void cgroup_paths_keep_blanks_and_colons(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	snapshot = take(scene);
	assert_string_equal(snapshot_text(snapshot, snapshot->tasks[0].cgroup), "/v2 x:y/z");
}

static void cgroup_paths_of_a_v1_host_are_of_one_controller(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	tree_unlink(&scene->tree, "sys/fs/cgroup/cgroup.controllers");
	tree_text(&scene->tree, "sys/fs/cgroup/memory/notify_on_release", "0\n");
	snapshot = take(scene);
	assert_string_equal(scene->host->cgroup.name, "v1 memory");
	assert_string_equal(snapshot_text(snapshot, snapshot->tasks[0].cgroup), "/v1/a b:c");
}

static void tasks_outside_the_cgroup_are_dropped_but_not_lost(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	tree_task_text(&scene->tree, 100, 101, "cgroup", "0::/v2 x:yy\n");
	scene->options.cgroup = "/v2 x:y";
	snapshot = take(scene);
	assert_int_equal(snapshot->task_count, 1);
	assert_int_equal(snapshot->tasks[0].tid, 100);
	assert_int_equal(snapshot->tally.vanished, 0);
	assert_false(has_cell(snapshot, METRIC_dead_minflt, 100));
}

static void only_the_processes_that_were_asked_for_are_read(void **state)
{
	static const int32_t pids[] = { 200 };
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	write_thread(&scene->tree, 200, 200, "other", 1, 5);
	scene->options.pids = pids;
	scene->options.pid_count = 1;
	snapshot = take(scene);
	assert_int_equal(snapshot->task_count, 1);
	assert_int_equal(snapshot->tasks[0].tid, 200);
}

static void sources_that_are_off_are_not_opened(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	scene->options.without = 1u << SOURCE_IO | 1u << SOURCE_SCHED | 1u << SOURCE_CMDLINE |
				 1u << SOURCE_USERS | 1u << SOURCE_STATM | 1u << SOURCE_STAT |
				 1u << SOURCE_CGROUP | 1u << SOURCE_AFFINITY | 1u << SOURCE_FDS;
	snapshot = take(scene);
	assert_int_equal(snapshot->task_count, 2);
	assert_false(has_cell(snapshot, METRIC_rchar, 100));
	assert_false(has_cell(snapshot, METRIC_nr_migrations, 100));
	assert_false(has_cell(snapshot, METRIC_minflt, 100));
	assert_false(has_cell(snapshot, METRIC_cpu_affinity, 100));
	assert_false(has_cell(snapshot, METRIC_rss_bytes, 100));
	assert_int_equal(snapshot->processes[0].cmdline, 0);
	assert_int_equal(snapshot->processes[0].user, 0);
	assert_int_equal(snapshot->tasks[0].cgroup, 0);
	assert_int_equal(scene->capture.tallies[SOURCE_IO].read, 0);
	/* Who a task is does not depend on what is measured. */
	assert_string_equal(snapshot_text(snapshot, snapshot->tasks[0].comm), "leader");
	assert_int_equal(snapshot->tasks[0].start_time_ns, 2000000000);
}

static void values_behind_a_closed_gate_are_absent(void **state)
{
	struct scene *scene = *state;

	write_process(&scene->tree);
	scene_open(scene, scene->tree.root);
	scene->capture.gates[GATE_SCHEDSTATS].open = false;
	scene->capture.gates[GATE_SCHED_INFO] = (struct gate){ .reason = "closed" };
	scene_collect(scene);
	assert_false(has_cell(scene->capture.snapshot, METRIC_wait_max, 100));
	assert_true(has_cell(scene->capture.snapshot, METRIC_nr_migrations, 100));
	assert_false(has_cell(scene->capture.snapshot, METRIC_run_time_ns, 100));
	assert_int_equal(scene->capture.tallies[SOURCE_SCHEDSTAT].read, 0);
	assert_string_equal(scene->capture.tallies[SOURCE_SCHEDSTAT].reason, "closed");
	assert_int_equal(scene->capture.snapshot->tally.negative_dotted_values, 0);
}

static void an_empty_proc_is_refused(void **state)
{
	struct scene *scene = *state;
	struct error why = { 0 };

	tree_directory(&scene->tree, "proc/self");
	scene_open(scene, scene->tree.root);
	assert_int_equal(procfs_collector.collect(&scene->capture, &why), -ENOENT);
	assert_true(strlen(why.message) > 0);
}

static void a_command_line_that_blocks_holds_up_nobody(void **state)
{
	struct scene *scene = *state;
	struct cmdline_queue *queue;
	struct snapshot *snapshot;
	char path[TREE_PATH];
	uint32_t row;
	int writer;

	write_host(&scene->tree);
	tree_directory(&scene->tree, "proc/1");
	tree_text(&scene->tree, "proc/2/cmdline", "quick");
	scene_open(scene, scene->tree.root);
	snapshot = scene->capture.snapshot;
	assert_int_equal(snapshot_process(snapshot, 1, &row), 0);
	assert_int_equal(snapshot_process(snapshot, 2, &row), 0);
	/* Opening a pipe that nobody writes to blocks, as the lock on a memory map would. */
	tree_path(&scene->tree, "proc/1/cmdline", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(cmdline_start(true, &queue), 0);
	cmdline_add(queue, 0, tree_open(&scene->tree, "proc/1"));
	cmdline_add(queue, 1, tree_open(&scene->tree, "proc/2"));
	assert_int_equal(cmdline_finish(queue, &scene->capture), 0);
	assert_string_equal(snapshot_text(snapshot, snapshot->processes[1].cmdline), "quick");
	assert_int_equal(snapshot->processes[0].cmdline, 0);
	assert_int_equal(scene->capture.tallies[SOURCE_CMDLINE].read, 1);
	assert_int_equal(scene->capture.tallies[SOURCE_CMDLINE].failed, 1);
	assert_non_null(strstr(scene->capture.tallies[SOURCE_CMDLINE].reason, "deadline"));
	writer = open(path, O_WRONLY | O_CLOEXEC); /* lets the reader go */
	assert_true(writer >= 0);
	close(writer);
}

/* A thread that stays until the pipe that it reads is closed. */
static void *stay(void *pipe)
{
	char byte;

	return read(*(int *)pipe, &byte, 1) < 0 ? pipe : NULL;
}

static void *touch_pages(void *unused)
{
	size_t length = 200 * (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	madvise(pages, length, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < length; i += (size_t)sysconf(_SC_PAGESIZE))
		((volatile char *)pages)[i] = 1;
	munmap(pages, length);
	return NULL;
}

/* Runs in a child of one living and one dead thread beside its first. */
static void child(int ready, int stop)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, touch_pages, NULL) || pthread_join(thread, NULL) ||
	    pthread_create(&thread, NULL, stay, &stop) || write(ready, "", 1) != 1)
		_exit(1);
	stay(&stop);
	_exit(0);
}

struct family {
	pid_t pid;
	int stop;
};

static void family_start(struct family *family)
{
	int ready[2], stop[2];
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
	family->pid = fork();
	assert_true(family->pid >= 0);
	if (family->pid == 0) {
		close(stop[1]);
		child(ready[1], stop[0]);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	usleep(20000); /* until both threads sleep */
	close(ready[0]);
	close(ready[1]);
	close(stop[0]);
	family->stop = stop[1];
}

static void family_end(struct family *family, struct rusage *usage)
{
	close(family->stop);
	assert_int_equal(wait4(family->pid, NULL, 0, usage), family->pid);
}

static void a_live_process_is_what_it_says_it_is(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;
	struct family family;
	struct rusage usage;
	int32_t pid;

	family_start(&family);
	pid = family.pid;
	scene->options.pids = &pid;
	scene->options.pid_count = 1;
	scene_open(scene, NULL);
	scene_collect(scene);
	snapshot = scene->capture.snapshot;
	family_end(&family, &usage);
	assert_int_equal(snapshot->task_count, 2);
	assert_int_equal(cell(snapshot, METRIC_nr_threads, pid), 2);
	assert_int_equal(cell(snapshot, METRIC_ppid, pid), getpid());
	assert_int_equal(cell(snapshot, METRIC_state, pid), 'S');
	assert_true(cell(snapshot, METRIC_dead_minflt, pid) >= 200);
	assert_true(cell(snapshot, METRIC_dead_minflt, pid) + cell(snapshot, METRIC_minflt, pid) <=
		    (uint64_t)usage.ru_minflt);
	assert_int_equal(cell(snapshot, METRIC_dead_majflt, pid), 0);
	assert_string_equal(snapshot_text(snapshot, snapshot->processes[0].pcomm), "test_procfs");
	assert_int_equal(snapshot->tally.vanished, 0);
}

static void our_own_process_agrees_with_system_calls(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;
	struct rusage before, after;
	struct rlimit limit;
	cpu_set_t cpus;
	int32_t pid = getpid();
	char cpu_count[32];

	scene->options.pids = &pid;
	scene->options.pid_count = 1;
	scene_open(scene, NULL);
	assert_int_equal(getrusage(RUSAGE_THREAD, &before), 0);
	scene_collect(scene);
	assert_int_equal(getrusage(RUSAGE_THREAD, &after), 0);
	snapshot = scene->capture.snapshot;
	assert_int_equal(snapshot->tasks[0].tid, pid);
	assert_true(cell(snapshot, METRIC_minflt, pid) >= (uint64_t)before.ru_minflt);
	assert_true(cell(snapshot, METRIC_minflt, pid) <= (uint64_t)after.ru_minflt);
	assert_true(cell(snapshot, METRIC_voluntary_csw, pid) >= (uint64_t)before.ru_nvcsw);
	assert_true(cell(snapshot, METRIC_voluntary_csw, pid) <= (uint64_t)after.ru_nvcsw);
	assert_true(cell(snapshot, METRIC_utime_ns, pid) / 1000 <=
		    (uint64_t)after.ru_utime.tv_sec * 1000000 + (uint64_t)after.ru_utime.tv_usec);
	assert_true(cell(snapshot, METRIC_hiwater_rss_bytes, pid) >=
		    cell(snapshot, METRIC_rss_bytes, pid));
	assert_int_equal(cell(snapshot, METRIC_uid, pid), geteuid());
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(cell(snapshot, METRIC_fd_limit, pid), limit.rlim_cur);
	assert_true(cell(snapshot, METRIC_open_fds, pid) >= 3);
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	snprintf(cpu_count, sizeof(cpu_count), "%s",
		 snapshot_text(snapshot, (uint32_t)cell(snapshot, METRIC_cpu_affinity, pid)));
	assert_int_equal(cpulist_count(cpu_count), CPU_COUNT(&cpus));
}

/* What the iterator would have left: the process, but not all of its threads. */
static void list_partly(struct snapshot *snapshot, pid_t tgid, bool leader)
{
	struct task task = { .tid = tgid };
	uint32_t row;

	assert_int_equal(snapshot_process(snapshot, tgid, &task.process), 0);
	assert_int_equal(snapshot_need_column(snapshot, METRIC_nr_threads), 0);
	if (!leader)
		return;
	snapshot_set(snapshot, METRIC_nr_threads, task.process, 2);
	assert_int_equal(snapshot_add_task(snapshot, &task, &row), 0);
}

static void gaps_are_filled_and_counted(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;
	struct family first, second;
	struct rusage usage;
	int32_t pids[2];

	family_start(&first);
	family_start(&second);
	pids[0] = first.pid;
	pids[1] = second.pid;
	scene->options.pids = pids;
	scene->options.pid_count = 2;
	scene_open(scene, NULL);
	snapshot = scene->capture.snapshot;
	list_partly(snapshot, first.pid, true);
	assert_int_equal(procfs_fill_gaps(&scene->capture), 0);
	assert_int_equal(snapshot->tally.gap_filled, 3);
	assert_int_equal(snapshot->task_count, 4);
	assert_int_equal(snapshot->process_count, 2);
	/* The row that was there is left as it was; the others are read. */
	assert_false(has_cell(snapshot, METRIC_minflt, first.pid));
	assert_true(has_cell(snapshot, METRIC_minflt, second.pid));
	assert_true(has_cell(snapshot, METRIC_dead_minflt, second.pid));
	assert_int_equal(procfs_fill_gaps(&scene->capture), 0);
	assert_int_equal(snapshot->tally.gap_filled, 3);
	family_end(&second, &usage); /* it holds the first one's pipe open */
	family_end(&first, &usage);
}

static void a_process_that_took_over_a_number_is_not_mixed_in(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;
	int32_t pid = getpid();

	scene->options.pids = &pid;
	scene->options.pid_count = 1;
	scene_open(scene, NULL);
	snapshot = scene->capture.snapshot;
	list_partly(snapshot, pid, true);
	snapshot->processes[0].start_time_ns = 1;
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(process_files_collect(&scene->capture), 0);
	assert_false(has_cell(snapshot, METRIC_rss_bytes, pid));
	assert_int_equal(snapshot->processes[0].cmdline, 0);
	assert_int_equal(scene->capture.tallies[SOURCE_STATM].read, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_recorded_process_fills_its_rows),
		TEST(a_peak_is_never_below_what_is_held),
		TEST(without_what_is_held_the_iterators_note_is_no_peak),
		TEST(affinity_is_limited_to_cpus_that_are_online),
		TEST(dead_threads_have_what_the_living_do_not),
		TEST(dead_totals_need_every_living_thread),
		TEST(a_thread_without_stat_leaves_nothing_behind),
		TEST(a_process_without_threads_is_gone),
		TEST(a_stat_that_makes_no_sense_is_a_failure),
		TEST(a_missing_file_makes_values_absent_not_zero),
		TEST(a_kernel_thread_has_no_memory),
		TEST(cgroup_paths_keep_blanks_and_colons),
		TEST(cgroup_paths_of_a_v1_host_are_of_one_controller),
		TEST(tasks_outside_the_cgroup_are_dropped_but_not_lost),
		TEST(only_the_processes_that_were_asked_for_are_read),
		TEST(sources_that_are_off_are_not_opened),
		TEST(values_behind_a_closed_gate_are_absent),
		TEST(an_empty_proc_is_refused),
		TEST(a_command_line_that_blocks_holds_up_nobody),
		TEST(a_live_process_is_what_it_says_it_is),
		TEST(our_own_process_agrees_with_system_calls),
		TEST(gaps_are_filled_and_counted),
		TEST(a_process_that_took_over_a_number_is_not_mixed_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
