/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/collection/array.h"
#include "patience.h"
#include "scene.h"

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

/* How many threads of a process are in that state. */
static unsigned threads_in_state(pid_t pid, char state)
{
	unsigned count = 0;
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	assert_non_null(tasks);
	while ((entry = readdir(tasks)))
		count += entry->d_name[0] != '.' &&
			 task_state((pid_t)strtol(entry->d_name, NULL, 10)) == state;
	closedir(tasks);
	return count;
}

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
	WAIT_UNTIL(threads_in_state(family->pid, 'S') == 2);
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
	/* A name has room for 15 bytes. */
	assert_string_equal(snapshot_text(snapshot, snapshot->processes[0].pcomm),
			    "test_procfs_liv");
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

#define SLEEPERS 50

/* The first thread works, the others sleep: reading them all takes a while. */
static void busy_child(int stop)
{
	for (int i = 0; i < SLEEPERS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, stay, &stop))
			_exit(1);
	}
	for (;;)
		touch_pages(NULL);
}

static void what_moves_while_it_is_read_is_not_put_on_the_dead(void **state)
{
	struct scene *scene = *state;
	uint64_t faults = 0;
	int32_t pid;
	int stop[2];

	assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		busy_child(stop[0]);
	WAIT_UNTIL(threads_in_state(pid, 'S') == SLEEPERS);
	scene->options.pids = &pid;
	scene->options.pid_count = 1;
	scene_open(scene, NULL);
	scene_collect(scene);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(stop[0]);
	close(stop[1]);
	assert_true(scene->capture.snapshot->task_count > 1);
	/* No thread of it has ended: 0 is right, absent is honest. */
	if (snapshot_get(scene->capture.snapshot, METRIC_dead_minflt, 0, &faults))
		assert_int_equal(faults, 0);
}

/* What the iterator would have left: the process, but not all of its threads. */
static void list_partly(struct snapshot *snapshot, pid_t tgid, bool leader)
{
	struct task task = { .tid = tgid, .start_time_ns = UINT64_MAX };
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
	assert_int_equal(procfs_name_leaders(&scene->capture), 0);
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

/* As if the iterator had listed all tasks but one: a process that is a child of ours. */
static void list_all_but_one(struct scene *scene)
{
	struct task task = { .start_time_ns = 1 };
	struct snapshot *snapshot;
	uint32_t row;

	snapshot_free(scene->capture.snapshot);
	assert_int_equal(snapshot_new(&scene->capture.snapshot), 0);
	snapshot = scene->capture.snapshot;
	assert_int_equal(snapshot_process(snapshot, INT32_MAX, &task.process), 0);
	assert_int_equal(snapshot_need_column(snapshot, METRIC_nr_threads), 0);
	assert_int_equal(snapshot_need_column(snapshot, METRIC_ppid), 0);
	snapshot_set(snapshot, METRIC_nr_threads, task.process, 1);
	snapshot_set(snapshot, METRIC_ppid, task.process, (uint64_t)getpid());
	scene->capture.tasks_before = procfs_count_tasks(scene->capture.host);
	assert_true(scene->capture.tasks_before > 2);
	while (snapshot->task_count + 1 < scene->capture.tasks_before) {
		task.tid++;
		assert_int_equal(snapshot_add_task(snapshot, &task, &row), 0);
	}
}

static uint64_t fill_gaps(struct scene *scene, uint64_t tasks_too_many)
{
	list_all_but_one(scene);
	scene->capture.tasks_before += tasks_too_many;
	assert_int_equal(procfs_fill_gaps(&scene->capture), 0);
	return scene->capture.snapshot->tally.gap_filled;
}

/* Other processes may start and end while we count: then proc is listed, and we count again. */
static void proc_is_listed_only_when_the_kernel_has_more_tasks_than_rows(void **state)
{
	struct scene *scene = *state;
	struct family hidden;
	struct rusage usage;
	int32_t pids[2];

	family_start(&hidden);
	pids[0] = getpid();
	pids[1] = hidden.pid;
	scene->options.pids = pids;
	scene->options.pid_count = 2;
	scene_open(scene, NULL);
	/* We are found as a parent, and that is all that was missing. */
	WAIT_UNTIL(fill_gaps(scene, 0) == 1);
	assert_int_equal(fill_gaps(scene, 1), 3);
	family_end(&hidden, &usage);
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
	assert_int_equal(scene->capture.tallies[SOURCE_STATM].failed, 0);
	assert_int_equal(snapshot->tally.processes_ended, 1);
}

static void threads_of_a_process_that_took_over_a_number_fill_no_gap(void **state)
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
	snapshot = scene->capture.snapshot;
	list_partly(snapshot, pid, true);
	snapshot->processes[0].start_time_ns = 1;
	assert_int_equal(procfs_fill_gaps(&scene->capture), 0);
	assert_int_equal(snapshot->task_count, 1);
	assert_int_equal(snapshot->tally.gap_filled, 0);
	family_end(&family, &usage);
}

static void a_leader_younger_than_its_thread_is_of_another_process(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	scene_open(scene, NULL);
	snapshot = scene->capture.snapshot;
	list_partly(snapshot, getpid(), true);
	snapshot->tasks[0].start_time_ns = 1;
	assert_int_equal(procfs_name_leaders(&scene->capture), 0);
	assert_int_equal(snapshot->processes[0].start_time_ns, 0);
	assert_int_equal(snapshot->processes[0].pcomm, 0);
}

/* Sets the limit so that no fd can be had, and gives what it was. */
static struct rlimit use_up_fds(void)
{
	struct rlimit limit, none;
	int next = dup(0);

	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ (rlim_t)next, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	return limit;
}

static void a_process_that_cannot_be_opened_is_a_failure_of_each_source(void **state)
{
	static const enum source_id lost[] = { SOURCE_STATM, SOURCE_FDS, SOURCE_LIMITS,
					       SOURCE_CMDLINE };
	struct scene *scene = *state;
	struct rlimit limit;

	scene_open(scene, NULL);
	list_partly(scene->capture.snapshot, getpid(), true);
	assert_int_equal(snapshot_finish(scene->capture.snapshot), 0);
	limit = use_up_fds();
	assert_int_equal(process_files_collect(&scene->capture), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(scene->capture.snapshot->tally.processes_ended, 0);
	for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
		assert_int_equal(scene->capture.tallies[lost[i]].failed, 1);
		assert_int_equal(scene->capture.tallies[lost[i]].error, EMFILE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(a_live_process_is_what_it_says_it_is),
		SCENE_TEST(what_moves_while_it_is_read_is_not_put_on_the_dead),
		SCENE_TEST(our_own_process_agrees_with_system_calls),
		SCENE_TEST(gaps_are_filled_and_counted),
		SCENE_TEST(proc_is_listed_only_when_the_kernel_has_more_tasks_than_rows),
		SCENE_TEST(a_process_that_took_over_a_number_is_not_mixed_in),
		SCENE_TEST(threads_of_a_process_that_took_over_a_number_fill_no_gap),
		SCENE_TEST(a_leader_younger_than_its_thread_is_of_another_process),
		SCENE_TEST(a_process_that_cannot_be_opened_is_a_failure_of_each_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
