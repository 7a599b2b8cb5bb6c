/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tree.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "model/syscall/syscall.h"
#include "session/why/process_state.h"

/* Fields 4 to 52 of stat: parent 40, flags as given, start time 777, exit code as given. */
#define STAT_TEXT(id, comm, state, flags, code)                                                    \
	id " (" comm ") " state " 40 40 40 0 -1 " flags " 0 0 0 0 1 2 0 0 20 0 1 0 777 0 0 "       \
	   "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 " code "\n"

static void task_file(struct tree *tree, const char *pid, const char *tid, const char *name,
		      const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "proc/%s/task/%s/%s", pid, tid, name);
	tree_text(tree, path, text);
}

static void process_file(struct tree *tree, const char *pid, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "proc/%s/%s", pid, name);
	tree_text(tree, path, text);
}

static void begin(struct tree *tree)
{
	tree_make(tree);
	tree_directory(tree, "sys");
	tree_directory(tree, "etc");
	process_file(tree, "40", "comm", "parent\n");
}

/* Process 50, its leader as `stat` says. */
static void add_process(struct tree *tree, const char *stat, const char *status)
{
	process_file(tree, "50", "stat", stat);
	process_file(tree, "50", "status", status);
	task_file(tree, "50", "50", "stat", stat);
}

static int look(const struct tree *tree, int32_t pid, struct process_state *ret,
		struct error *error)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;

	assert_int_equal(host_open(&host, tree->root, error), 0);
	return process_state_read(host, pid, ret, error);
}

static void link_object(const struct tree *tree, const char *path, const char *target)
{
	char full[TREE_PATH];

	tree_directory(tree, "proc/50/fd");
	tree_path(tree, path, full);
	assert_int_equal(symlink(target, full), 0);
}

static void a_blocked_reader_shows_its_call_and_its_object(void **state)
{
	CLEANUP(process_state_clear) struct process_state found = { 0 };
	struct error error = { 0 };
	struct tree tree;
	char call[64];

	(void)state;
	begin(&tree);
	add_process(&tree, STAT_TEXT("50", "a) R (b", "S", "4194304", "0"),
		    "Tgid:\t50\nTracerPid:\t0\n");
	snprintf(call, sizeof(call), "%d 0x3 0x0 0x1 0x0 0x0 0x0 0x7 0x8\n",
		 syscall_number("read"));
	task_file(&tree, "50", "50", "syscall", call);
	task_file(&tree, "50", "50", "wchan", "anon_pipe_read");
	task_file(&tree, "50", "50", "schedstat", "1234 567 8\n");
	link_object(&tree, "proc/50/fd/3", "pipe:[99]");
	assert_int_equal(look(&tree, 50, &found, &error), 0);
	assert_string_equal(found.comm, "a) R (b");
	assert_int_equal(found.state, 'S');
	assert_int_equal(found.parent_pid, 40);
	assert_string_equal(found.parent_comm, "parent");
	assert_int_equal(found.start_ticks, 777);
	assert_false(found.is_kernel_thread);
	assert_int_equal(found.threads.count, 1);
	assert_string_equal(found.threads.data[0].channel, "anon_pipe_read");
	assert_string_equal(found.threads.data[0].link, "pipe:[99]");
	assert_int_equal(found.threads.data[0].cpu_ns, 1234);
	assert_int_equal(found.threads.data[0].queue_ns, 567);
	assert_int_equal(task_state_reason(&found.threads.data[0]), WAIT_PIPE);
	tree_remove(&tree);
}

static void a_thread_in_d_shows_its_kernel_stack(void **state)
{
	CLEANUP(process_state_clear) struct process_state found = { 0 };
	struct error error = { 0 };
	struct tree tree;

	(void)state;
	begin(&tree);
	add_process(&tree, STAT_TEXT("50", "x", "S", "0", "0"), "Tgid:\t50\n");
	task_file(&tree, "50", "51", "stat", STAT_TEXT("51", "worker", "D", "0", "0"));
	task_file(&tree, "50", "51", "stack",
		  "[<0>] io_schedule+0x46/0x70\n[<0>] folio_wait [ext4]\n[<0>]\nbroken");
	assert_int_equal(look(&tree, 51, &found, &error), -ESRCH);
	assert_int_equal(look(&tree, 50, &found, &error), 0);
	assert_int_equal(found.threads.count, 2);
	assert_int_equal(found.thread_count, 2);
	assert_int_equal(found.threads.data[1].state, 'D');
	assert_int_equal(found.threads.data[1].frames, 2);
	assert_string_equal(found.threads.data[1].stack[0], "io_schedule");
	assert_string_equal(found.threads.data[1].stack[1], "folio_wait");
	tree_remove(&tree);
}

/* All threads are counted, also those beyond the number that is read. */
static void so_many_threads_are_read_and_all_are_counted(void **state)
{
	CLEANUP(process_state_clear) struct process_state found = { 0 };
	struct error error = { 0 };
	struct tree tree;

	(void)state;
	begin(&tree);
	add_process(&tree, STAT_TEXT("50", "many", "S", "4194304", "0"), "Tgid:\t50\n");
	for (int tid = 51; tid < 50 + TASK_STATE_THREADS + 3; tid++) {
		char name[16], stat[512];

		snprintf(name, sizeof(name), "%d", tid);
		snprintf(stat, sizeof(stat), STAT_TEXT("%d", "many", "S", "4194304", "0"), tid);
		task_file(&tree, "50", name, "stat", stat);
	}
	assert_int_equal(look(&tree, 50, &found, &error), 0);
	assert_int_equal(found.threads.count, TASK_STATE_THREADS);
	assert_int_equal(found.thread_count, TASK_STATE_THREADS + 3);
	tree_remove(&tree);
}

static void a_zombie_has_its_exit_status(void **state)
{
	CLEANUP(process_state_clear) struct process_state found = { 0 };
	struct error error = { 0 };
	struct tree tree;

	(void)state;
	begin(&tree);
	add_process(&tree, STAT_TEXT("50", "x", "Z", "0", "768"), "Tgid:\t50\n");
	assert_int_equal(look(&tree, 50, &found, &error), 0);
	assert_true(found.is_dead);
	assert_true(found.has_exit_status);
	assert_int_equal(found.exit_status, 768);
	tree_remove(&tree);
}

static void a_process_whose_first_thread_ended_is_not_dead(void **state)
{
	CLEANUP(process_state_clear) struct process_state found = { 0 };
	struct error error = { 0 };
	struct tree tree;

	(void)state;
	begin(&tree);
	add_process(&tree, STAT_TEXT("50", "x", "Z", "4", "0"), "Tgid:\t50\n");
	task_file(&tree, "50", "51", "stat", STAT_TEXT("51", "worker", "S", "0", "0"));
	assert_int_equal(look(&tree, 50, &found, &error), 0);
	assert_int_equal(found.state, 'Z');
	assert_false(found.is_dead);
	assert_false(found.has_exit_status);
	tree_remove(&tree);
}

static void a_kernel_thread_is_known_by_its_flag(void **state)
{
	CLEANUP(process_state_clear) struct process_state found = { 0 };
	struct error error = { 0 };
	struct tree tree;

	(void)state;
	begin(&tree);
	add_process(&tree, STAT_TEXT("50", "kworker/0:1", "I", "2129984", "0"), "Tgid:\t50\n");
	task_file(&tree, "50", "50", "syscall", "0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n");
	assert_int_equal(look(&tree, 50, &found, &error), 0);
	assert_true(found.is_kernel_thread);
	assert_false(found.threads.data[0].in_call);
	tree_remove(&tree);
}

static void a_debugger_is_named(void **state)
{
	CLEANUP(process_state_clear) struct process_state found = { 0 };
	struct error error = { 0 };
	struct tree tree;

	(void)state;
	begin(&tree);
	process_file(&tree, "60", "comm", "gdb\n");
	add_process(&tree, STAT_TEXT("50", "x", "t", "0", "0"), "Tgid:\t50\nTracerPid:\t60\n");
	assert_int_equal(look(&tree, 50, &found, &error), 0);
	assert_int_equal(found.tracer_pid, 60);
	assert_string_equal(found.tracer_comm, "gdb");
	tree_remove(&tree);
}

static void files_that_are_cut_or_senseless_are_no_answer(void **state)
{
	static const char *const stats[] = {
		"", "50", "50 (x", "50 (x)", "50 x) S", "50 (x) ", ")("
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++) {
		struct process_state found = { .pid = -7 };
		struct error error = { 0 };
		struct tree tree;

		begin(&tree);
		add_process(&tree, stats[i], "Tgid:\t50\n");
		assert_int_equal(look(&tree, 50, &found, &error), -EBADMSG);
		assert_int_equal(found.pid, -7);
		assert_true(error.message[0]);
		tree_remove(&tree);
	}
}

static void set_object(struct task_state *thread, const char *object)
{
	snprintf(thread->link, sizeof(thread->link), "%s", object);
}

static void a_call_on_a_terminal_waits_for_events_and_one_on_a_file_for_the_disk(void **state)
{
	struct task_state thread = { .in_call = true };

	(void)state;
	thread.call.number = (uint32_t)syscall_number("read");
	set_object(&thread, "/dev/pts/3");
	assert_int_equal(task_state_reason(&thread), WAIT_POLL);
	set_object(&thread, "/home/x");
	assert_int_equal(task_state_reason(&thread), WAIT_DISK);
	set_object(&thread, "socket:[1]");
	assert_int_equal(task_state_reason(&thread), -1);
	thread.call.number = (uint32_t)syscall_number("wait4");
	assert_int_equal(task_state_reason(&thread), WAIT_CHILD);
	thread.in_call = false;
	assert_int_equal(task_state_reason(&thread), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_blocked_reader_shows_its_call_and_its_object),
		cmocka_unit_test(a_thread_in_d_shows_its_kernel_stack),
		cmocka_unit_test(so_many_threads_are_read_and_all_are_counted),
		cmocka_unit_test(a_zombie_has_its_exit_status),
		cmocka_unit_test(a_process_whose_first_thread_ended_is_not_dead),
		cmocka_unit_test(a_kernel_thread_is_known_by_its_flag),
		cmocka_unit_test(a_debugger_is_named),
		cmocka_unit_test(files_that_are_cut_or_senseless_are_no_answer),
		cmocka_unit_test(
			a_call_on_a_terminal_waits_for_events_and_one_on_a_file_for_the_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
