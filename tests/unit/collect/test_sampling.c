/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "child.h"
#include "scene.h"

#define MOVED "taskscope-test-sampling"

/* Two processes that live from the first sample to the last, and one that ends in between. */
struct pair {
	struct host *host;
	struct sampling *sampling;
	struct snapshot *before, *after;
	pid_t changed, ended;
	int commands; /* of the process that changes */
};

static void take(struct sampling *sampling, struct snapshot **ret)
{
	struct error error = { 0 };

	if (sampling_take(sampling, ret, &error) < 0)
		fail_msg("%s", error.message);
}

static const struct process *find_process(const struct snapshot *snapshot, pid_t pid)
{
	for (uint32_t row = 0; row < snapshot->process_count; row++)
		if (snapshot->processes[row].tgid == pid)
			return &snapshot->processes[row];
	return NULL;
}

static const char *cmdline_of(const struct snapshot *snapshot, pid_t pid)
{
	const struct process *process = find_process(snapshot, pid);

	assert_non_null(process);
	return snapshot_text(snapshot, process->cmdline);
}

static const char *name_of(const struct snapshot *snapshot, pid_t tid)
{
	return snapshot_text(snapshot, task_of(snapshot, tid)->comm);
}

/* Takes another name when it reads an n, and another program when it reads an x. */
static void obey(int commands)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(commands, &byte, 1) == 1) {
		if (byte == 'n')
			prctl(PR_SET_NAME, "renamed");
		else
			execlp("tail", "tail", "-f", "/dev/null", (char *)NULL);
	}
	_exit(1);
}

static void open_pair(struct pair *pair, enum task_lister lister)
{
	const struct capture_options options = { .lister = lister };
	struct error error = { 0 };
	int ends[2];

	assert_int_equal(host_open(&pair->host, NULL, &error), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pair->changed = fork();
	if (pair->changed == 0)
		obey(ends[0]);
	close(ends[0]);
	pair->commands = ends[1];
	pair->ended = child_start("/bin/sleep", "1000", NULL, 0);
	WAIT_UNTIL(task_state(pair->changed) == 'S');
	assert_int_equal(sampling_open(pair->host, &options, &pair->sampling, &error), 0);
	take(pair->sampling, &pair->before);
	child_end(pair->ended);
}

static void close_pair(struct pair *pair)
{
	close(pair->commands);
	child_end(pair->changed);
	if (pair->host->cgroup.fd >= 0)
		(void)unlinkat(pair->host->cgroup.fd, MOVED, AT_REMOVEDIR);
	sampling_close(pair->sampling);
	snapshot_free(pair->before);
	snapshot_free(pair->after);
	host_close(pair->host);
}

static bool is_called(pid_t pid, const char *name)
{
	CLEANUP(close_fd) int fd = -1;
	char path[64], text[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 &&
	       strncmp(text, name, strlen(name)) == 0;
}

static void a_later_sample_sees_what_began_and_what_ended(enum task_lister lister)
{
	struct pair pair = { 0 };
	pid_t born;

	open_pair(&pair, lister);
	born = child_start("/bin/sleep", "2000", NULL, 0);
	take(pair.sampling, &pair.after);
	assert_non_null(find_process(pair.before, pair.ended));
	assert_null(find_process(pair.after, pair.ended));
	assert_null(find_process(pair.before, born));
	assert_string_equal(cmdline_of(pair.after, born), "/bin/sleep 2000");
	assert_string_equal(name_of(pair.after, born), "sleep");
	child_end(born);
	close_pair(&pair);
}

static void a_later_sample_sees_an_exec(enum task_lister lister)
{
	struct pair pair = { 0 };
	const struct process *process;

	open_pair(&pair, lister);
	assert_int_equal(write(pair.commands, "x", 1), 1);
	WAIT_UNTIL(is_called(pair.changed, "tail") && task_state(pair.changed) == 'S');
	take(pair.sampling, &pair.after);
	assert_non_null(strstr(cmdline_of(pair.before, pair.changed), "test_sampling"));
	assert_string_equal(cmdline_of(pair.after, pair.changed), "tail -f /dev/null");
	process = find_process(pair.after, pair.changed);
	assert_string_equal(snapshot_text(pair.after, process->pcomm), "tail");
	assert_non_null(strstr(snapshot_text(pair.after, process->exe), "/tail"));
	close_pair(&pair);
}

static void a_later_sample_sees_a_new_name(enum task_lister lister)
{
	struct pair pair = { 0 };

	open_pair(&pair, lister);
	assert_int_equal(write(pair.commands, "n", 1), 1);
	WAIT_UNTIL(is_called(pair.changed, "renamed") && task_state(pair.changed) == 'S');
	take(pair.sampling, &pair.after);
	assert_string_equal(name_of(pair.after, pair.changed), "renamed");
	assert_string_not_equal(name_of(pair.before, pair.changed), "renamed");
	close_pair(&pair);
}

/* Where we may, the process is also moved to a cgroup of its own. */
static void move(const struct pair *pair, bool *ret_moved)
{
	CLEANUP(close_fd) int procs = -1;
	char pid[16];
	int length = snprintf(pid, sizeof(pid), "%d", (int)pair->changed);

	*ret_moved = false;
	if (pair->host->cgroup.fd < 0 || mkdirat(pair->host->cgroup.fd, MOVED, 0755) < 0)
		return;
	procs = openat(pair->host->cgroup.fd, MOVED "/cgroup.procs", O_WRONLY | O_CLOEXEC);
	*ret_moved = procs >= 0 && write(procs, pid, (size_t)length) == length;
}

static void a_later_sample_sees_affinity_and_cgroup(enum task_lister lister)
{
	struct pair pair = { 0 };
	cpu_set_t cpus, first;
	bool moved;
	int cpu = 0;

	open_pair(&pair, lister);
	assert_int_equal(sched_getaffinity(pair.changed, sizeof(cpus), &cpus), 0);
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	CPU_ZERO(&first);
	CPU_SET(cpu, &first);
	assert_int_equal(sched_setaffinity(pair.changed, sizeof(first), &first), 0);
	move(&pair, &moved);
	take(pair.sampling, &pair.after);
	if (CPU_COUNT(&cpus) > 1)
		assert_string_not_equal(
			snapshot_text(pair.before, (uint32_t)cell(pair.before, METRIC_cpu_affinity,
								  pair.changed)),
			snapshot_text(pair.after, (uint32_t)cell(pair.after, METRIC_cpu_affinity,
								 pair.changed)));
	if (moved)
		assert_string_equal(
			snapshot_text(pair.after, task_of(pair.after, pair.changed)->cgroup),
			"/" MOVED);
	close_pair(&pair);
}

#define BOTH(test)                                                                                 \
	static void test##_by_the_best_way(void **state)                                           \
	{                                                                                          \
		(void)state;                                                                       \
		test(LIST_AUTO);                                                                   \
	}                                                                                          \
	static void test##_by_procfs(void **state)                                                 \
	{                                                                                          \
		(void)state;                                                                       \
		test(LIST_PROCFS);                                                                 \
	}

BOTH(a_later_sample_sees_what_began_and_what_ended)
BOTH(a_later_sample_sees_an_exec)
BOTH(a_later_sample_sees_a_new_name)
BOTH(a_later_sample_sees_affinity_and_cgroup)

static void processes_that_all_ended_are_told(void **state)
{
	struct error error = { 0 };
	struct sampling *sampling;
	struct snapshot *snapshot;
	struct host *host;
	int32_t pid = child_start("/bin/sleep", "1000", NULL, 0);
	const struct capture_options options = { .pids = &pid, .pid_count = 1 };

	(void)state;
	assert_int_equal(host_open(&host, NULL, &error), 0);
	assert_int_equal(sampling_open(host, &options, &sampling, &error), 0);
	take(sampling, &snapshot);
	snapshot_free(snapshot);
	child_end(pid);
	assert_int_equal(sampling_take(sampling, &snapshot, &error), -ESRCH);
	assert_non_null(strstr(error.message, "has ended"));
	sampling_close(sampling);
	host_close(host);
}

static void a_sampling_goes_on_with_other_processes(void **state)
{
	struct host *host = NULL;
	struct sampling *sampling = NULL;
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	int32_t first = child_start("/bin/sleep", "1000", NULL, 0);
	const int32_t others[] = { first, child_start("/bin/sleep", "2000", NULL, 0) };
	const struct capture_options options = { .pids = &first, .pid_count = 1 };

	(void)state;
	assert_int_equal(host_open(&host, NULL, &error), 0);
	assert_int_equal(sampling_open(host, &options, &sampling, &error), 0);
	take(sampling, &snapshot);
	assert_int_equal(snapshot->process_count, 1);
	snapshot_free(snapshot);
	sampling_set_pids(sampling, others, 2);
	take(sampling, &snapshot);
	assert_int_equal(snapshot->process_count, 2);
	snapshot_free(snapshot);
	/* One that has ended is not in it. */
	child_end(first);
	take(sampling, &snapshot);
	assert_int_equal(snapshot->process_count, 1);
	assert_non_null(find_process(snapshot, others[1]));
	snapshot_free(snapshot);
	child_end(others[1]);
	sampling_close(sampling);
	host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_later_sample_sees_what_began_and_what_ended_by_the_best_way),
		cmocka_unit_test(a_later_sample_sees_what_began_and_what_ended_by_procfs),
		cmocka_unit_test(a_later_sample_sees_an_exec_by_the_best_way),
		cmocka_unit_test(a_later_sample_sees_an_exec_by_procfs),
		cmocka_unit_test(a_later_sample_sees_a_new_name_by_the_best_way),
		cmocka_unit_test(a_later_sample_sees_a_new_name_by_procfs),
		cmocka_unit_test(a_later_sample_sees_affinity_and_cgroup_by_the_best_way),
		cmocka_unit_test(a_later_sample_sees_affinity_and_cgroup_by_procfs),
		cmocka_unit_test(processes_that_all_ended_are_told),
		cmocka_unit_test(a_sampling_goes_on_with_other_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
