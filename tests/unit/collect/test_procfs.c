/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "scene.h"

#define RULE "-------------------------------------------------------------------\n"

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

static struct snapshot *take(struct scene *scene)
{
	scene_open(scene, scene->tree.root);
	scene_collect(scene);
	return scene->capture.snapshot;
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

static void values_of_the_process_are_the_leaders(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	tree_task_text(&scene->tree, 100, 101, "status", "Uid:\t0\t55\t0\t0\nThreads:\t77\n");
	snapshot = take(scene);
	assert_int_equal(cell(snapshot, METRIC_uid, 100), 1000);
	assert_int_equal(cell(snapshot, METRIC_nr_threads, 100), 2);
}

static void an_id_below_zero_is_none(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	tree_task_text(&scene->tree, 100, 100, "stat",
		       "100 (leader) Z 0 -1 -1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 200 0 0\n");
	snapshot = take(scene);
	assert_int_equal(cell(snapshot, METRIC_ppid, 100), 0);
	assert_false(has_cell(snapshot, METRIC_pgid, 100));
	assert_false(has_cell(snapshot, METRIC_session, 100));
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
	assert_int_equal(snapshot->tally.tids_walked, 2);
	assert_false(has_cell(snapshot, METRIC_dead_minflt, 100));
}

static void a_process_is_known_though_its_leader_is_in_another_cgroup(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	tree_task_text(&scene->tree, 100, 100, "cgroup", "0::/elsewhere\n");
	scene->options.cgroup = "/v2 x:y";
	snapshot = take(scene);
	assert_int_equal(snapshot->task_count, 1);
	assert_int_equal(snapshot->tasks[0].tid, 101);
	assert_string_equal(snapshot_text(snapshot, snapshot->processes[0].pcomm), "leader");
	assert_int_equal(snapshot->processes[0].start_time_ns, 2000000000);
	assert_int_equal(cell(snapshot, METRIC_uid, 101), 1000);
	assert_int_equal(cell(snapshot, METRIC_rss_bytes, 101), 409 * 4096);
	assert_string_equal(snapshot_text(snapshot, snapshot->processes[0].cmdline), "prog -x");
}

static void a_number_below_zero_is_no_process_and_counted(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;

	write_process(&scene->tree);
	tree_task_text(&scene->tree, 100, 100, "stat",
		       "100 (leader) S 1 -1 100 0 -1 4194304 30 2 0 1 11 7 3 4 20 0 2 0 200 0 0\n");
	snapshot = take(scene);
	assert_int_equal(cell(snapshot, METRIC_ppid, 100), 1);
	assert_false(has_cell(snapshot, METRIC_pgid, 100));
	assert_int_equal(snapshot->tally.discarded_values, 1);
}

static void a_pipe_in_a_recorded_tree_holds_nobody_up(void **state)
{
	struct scene *scene = *state;
	struct snapshot *snapshot;
	char path[TREE_PATH];

	write_process(&scene->tree);
	tree_unlink(&scene->tree, "proc/100/task/101/schedstat");
	tree_path(&scene->tree, "proc/100/task/101/schedstat", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	snapshot = take(scene);
	assert_int_equal(snapshot->task_count, 2);
	assert_false(has_cell(snapshot, METRIC_run_time_ns, 101));
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
	scene->capture.error = &why;
	assert_int_equal(procfs_list(&scene->capture), -ENOENT);
	assert_true(strlen(why.message) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(a_recorded_process_fills_its_rows),
		SCENE_TEST(values_of_the_process_are_the_leaders),
		SCENE_TEST(an_id_below_zero_is_none),
		SCENE_TEST(a_peak_is_never_below_what_is_held),
		SCENE_TEST(without_what_is_held_the_iterators_note_is_no_peak),
		SCENE_TEST(affinity_is_limited_to_cpus_that_are_online),
		SCENE_TEST(dead_threads_have_what_the_living_do_not),
		SCENE_TEST(dead_totals_need_every_living_thread),
		SCENE_TEST(a_thread_without_stat_leaves_nothing_behind),
		SCENE_TEST(a_process_without_threads_is_gone),
		SCENE_TEST(a_stat_that_makes_no_sense_is_a_failure),
		SCENE_TEST(a_missing_file_makes_values_absent_not_zero),
		SCENE_TEST(a_kernel_thread_has_no_memory),
		SCENE_TEST(cgroup_paths_keep_blanks_and_colons),
		SCENE_TEST(cgroup_paths_of_a_v1_host_are_of_one_controller),
		SCENE_TEST(tasks_outside_the_cgroup_are_dropped_but_not_lost),
		SCENE_TEST(a_process_is_known_though_its_leader_is_in_another_cgroup),
		SCENE_TEST(a_number_below_zero_is_no_process_and_counted),
		SCENE_TEST(a_pipe_in_a_recorded_tree_holds_nobody_up),
		SCENE_TEST(only_the_processes_that_were_asked_for_are_read),
		SCENE_TEST(sources_that_are_off_are_not_opened),
		SCENE_TEST(values_behind_a_closed_gate_are_absent),
		SCENE_TEST(an_empty_proc_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
