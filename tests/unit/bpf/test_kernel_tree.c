/* SPDX-License-Identifier: MIT */
/* Who joins the tree, what they run, and what is sent them, as the kernel side tells. */
#include "actors.h"

static struct actor root, child, thread;
static struct tree_signal_record *told_signal;

/* A root that began, and a child and thread that are not there yet. */
static int setup(void **state)
{
	(void)state;
	kernel_reset();
	actor_init(&root, 10, 10, NULL);
	actor_init(&child, 11, 11, &root);
	actor_init_thread(&thread, 12, &root);
	kernel_current = &root.task;
	join(&root);
	return 0;
}

static struct process_state *process_of(__u32 tgid)
{
	return bpf_map_lookup_elem(&processes, &tgid);
}

static void check_head(const struct tree_record_head *head, enum tree_record_type type, __u64 size,
		       __s32 pid)
{
	assert_int_equal(head->type, type);
	assert_int_equal(head->size, size);
	assert_int_equal(head->pid, pid);
	assert_int_equal(head->tid, pid);
	assert_int_equal(head->start_ns, pid * 1000);
	assert_int_equal(head->time_ns, kernel_now);
}

static void a_child_joins(void **state)
{
	struct tree_fork_record *record;
	struct thread_state *found;

	(void)state;
	fork_to(&root, &child);
	record = sent(0);
	check_head(&record->head, TREE_RECORD_FORK, sizeof(*record), 11);
	assert_int_equal(kernel_sent[0].size, sizeof(*record));
	assert_int_equal(record->parent_pid, 10);
	assert_int_equal(record->inner_pid, 11);
	assert_int_equal(record->found, 0);
	assert_int_equal(record->euid, 0);
	assert_string_equal(record->comm, "actor of no 11");
	found = thread_find(&child.task);
	assert_int_equal(found->begin_ns, kernel_now);
	assert_int_equal(found->out_ns, kernel_now);
	assert_int_equal(found->reason, RUNNABLE);
	assert_int_equal(found->phase, PHASE_LEFT);
	assert_int_equal(process_of(11)->threads, 1);
	assert_int_equal(process_of(11)->is_root, 0);
}

static void a_thread_joins_its_process(void **state)
{
	struct tree_fork_record *record;

	(void)state;
	fork_to(&root, &thread);
	record = sent(0);
	assert_int_equal(record->head.pid, 10);
	assert_int_equal(record->head.tid, 12);
	assert_int_equal(record->parent_pid, 10);
	assert_int_equal(process_of(10)->threads, 2);
	assert_null(process_of(12));
}

static void who_has_not_begun_has_no_children(void **state)
{
	(void)state;
	thread_find(&root.task)->phase = PHASE_ARMED;
	fork_to(&root, &child);
	fork_to(&thread, &child);
	assert_null(thread_find(&child.task));
	assert_int_equal(kernel_sent_count, 0);
}

static void what_the_kernel_has_no_room_for_is_counted(void **state)
{
	(void)state;
	kernel_has_no_memory = true;
	fork_to(&root, &child);
	assert_int_equal(losses[TREE_LOSS_TASKS], 1);
	assert_int_equal(kernel_sent_count, 0);
	process_begin(&child.task, 0);
	assert_int_equal(losses[TREE_LOSS_TASKS], 2);
	process_find(&child.task, 0);
	assert_int_equal(losses[TREE_LOSS_TASKS], 3);
	kernel_has_no_memory = false;
	kernel_ring_is_full = true;
	fork_to(&root, &child);
	assert_int_equal(losses[TREE_LOSS_EVENTS], 1);
	assert_int_equal(losses[TREE_LOSS_TASKS], 3);
}

static void make_worker(void)
{
	__u64 arguments[] = { (__u64)&thread };

	tree_worker(arguments);
}

static void workers_of_the_kernel_join_the_process(void **state)
{
	(void)state;
	make_worker();
	assert_null(thread_find(&thread.task));
	thread.task.flags = PF_IO_WORKER;
	thread_find(&root.task)->phase = PHASE_ARMED;
	make_worker();
	assert_null(thread_find(&thread.task));
	thread_find(&root.task)->phase = PHASE_JOINED;
	make_worker();
	assert_non_null(thread_find(&thread.task));
	assert_int_equal(process_of(10)->threads, 2);
	kernel_reset();
	thread.task.flags = PF_USER_WORKER;
	make_worker();
	assert_null(thread_find(&thread.task));
}

static void do_exec(struct actor *actor)
{
	__u64 arguments[] = { (__u64)actor };

	tree_exec(arguments);
}

static void arguments_of(const char *text, size_t length)
{
	root.mm.arg_start = (unsigned long)text;
	root.mm.arg_end = root.mm.arg_start + length;
}

static void a_program_begins(void **state)
{
	struct tree_exec_record *record;

	(void)state;
	arguments_of("ls\0-l", 6);
	root.signal.maxrss = 40;
	process_of(10)->has_peak = 1;
	do_exec(&root);
	assert_int_equal(kernel_sent_count, 1);
	record = sent(0);
	check_head(&record->head, TREE_RECORD_EXEC,
		   offsetof(struct tree_exec_record, arguments) + 6, 10);
	assert_int_equal(kernel_sent[0].size, record->head.size);
	assert_string_equal(record->comm, "actor of no 10");
	assert_int_equal(record->length, 6);
	assert_int_equal(record->cut, 0);
	assert_memory_equal(record->arguments, "ls\0-l", 6);
	assert_int_equal(process_of(10)->exec_maxrss, 40);
	assert_int_equal(process_of(10)->has_peak, 0);
	do_exec(&child);
	assert_int_equal(kernel_sent_count, 1);
	kernel_ring_is_full = true;
	do_exec(&root);
	assert_int_equal(losses[TREE_LOSS_EVENTS], 1);
}

static void long_arguments_are_cut(void **state)
{
	static char text[TREE_RECORD_ARGUMENTS + 1];
	const struct tree_exec_record *record;

	(void)state;
	text[TREE_RECORD_ARGUMENTS - 1] = 'x';
	arguments_of(text, TREE_RECORD_ARGUMENTS);
	do_exec(&root);
	record = sent(0);
	assert_int_equal(record->length, TREE_RECORD_ARGUMENTS);
	assert_int_equal(record->cut, 0);
	assert_int_equal(record->arguments[TREE_RECORD_ARGUMENTS - 1], 'x');
	arguments_of(text, TREE_RECORD_ARGUMENTS + 1);
	do_exec(&root);
	record = sent(1);
	assert_int_equal(record->length, TREE_RECORD_ARGUMENTS);
	assert_int_equal(record->cut, 1);
	arguments_of(NULL, 5);
	do_exec(&root);
	record = sent(2);
	assert_int_equal(record->length, 0);
	assert_int_equal(record->cut, 1);
}

static void an_armed_task_begins_with_its_program(void **state)
{
	struct thread_state *found = thread_find(&root.task);
	struct tree_fork_record *record;

	(void)state;
	kernel_delete(&processes, 10);
	found->phase = PHASE_ARMED;
	found->in_ns = kernel_now - 500;
	found->armed_cpu = 2000;
	root.task.se.sum_exec_runtime = 2100;
	root.task.sched_info.run_delay = 33;
	root.task.nvcsw = 4;
	do_exec(&root);
	assert_int_equal(kernel_sent_count, 2);
	record = sent(0);
	check_head(&record->head, TREE_RECORD_FORK, sizeof(*record), 10);
	assert_int_equal(found->begin_ns, kernel_now);
	assert_int_equal(found->in_ns, kernel_now);
	assert_int_equal(found->out_ns, kernel_now);
	assert_int_equal(found->run_delay, 33);
	assert_int_equal(found->base[TREE_USAGE_run_time_ns], 2500);
	assert_int_equal(found->base[TREE_USAGE_voluntary_csw], 4);
	assert_int_equal(found->cpu_ns, 2500);
	assert_int_equal(found->phase, PHASE_JOINED);
	assert_int_equal(process_of(10)->is_root, 1);
	found->phase = PHASE_ARMED;
	found->in_ns = 0;
	do_exec(&root);
	assert_int_equal(found->base[TREE_USAGE_run_time_ns], 2100);
}

/* Whether the child's signal to the root is told. */
static bool is_told_of(int number, __u64 info, int result)
{
	__u64 arguments[] = { (__u64)number, info, (__u64)&root, 0, (__u64)result };

	kernel_sent_count = 0;
	kernel_current = &child.task;
	tree_signal(arguments);
	told_signal = kernel_sent_count ? sent(0) : NULL;
	return told_signal != NULL;
}

static void a_signal_is_told_with_its_sender(void **state)
{
	struct kernel_siginfo info = { .si_code = 0 };

	(void)state;
	assert_true(is_told_of(SIGTERM, (__u64)&info, SIGNAL_DELIVERED));
	check_head(&told_signal->head, TREE_RECORD_SIGNAL, sizeof(*told_signal), 10);
	assert_int_equal(told_signal->number, SIGTERM);
	assert_int_equal(told_signal->sender_pid, 11);
	assert_string_equal(told_signal->sender_comm, "actor of no 11");
	assert_int_equal(process_of(10)->signal, SIGTERM);
	info.si_code = 1;
	assert_true(is_told_of(SIGTERM, (__u64)&info, SIGNAL_LOST_INFO));
	assert_int_equal(told_signal->sender_pid, 0);
	assert_string_equal(told_signal->sender_comm, "");
	assert_int_equal(process_of(10)->sender_comm[1], 0);
	assert_true(is_told_of(SIGTERM, 0, SIGNAL_DELIVERED));
	assert_int_equal(told_signal->sender_pid, 11);
	assert_true(is_told_of(SIGTERM, SEND_SIG_PRIV, SIGNAL_DELIVERED));
	assert_int_equal(told_signal->sender_pid, 0);
	child.task.tgid = 10;
	assert_true(is_told_of(SIGTERM, 0, SIGNAL_DELIVERED));
	assert_int_equal(told_signal->sender_pid, 0);
	kernel_ring_is_full = true;
	assert_false(is_told_of(SIGTERM, 0, SIGNAL_DELIVERED));
	assert_int_equal(losses[TREE_LOSS_EVENTS], 1);
}

static void signals_that_end_nothing_are_not_told(void **state)
{
	static const int quiet[] = { -1, 0, SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGNALS + 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++)
		assert_false(is_told_of(quiet[i], 0, SIGNAL_DELIVERED));
	for (int result = 1; result < 4; result++)
		assert_false(is_told_of(SIGTERM, 0, result));
	assert_int_equal(process_of(10)->signal, 0);
	assert_true(is_told_of(SIGNALS, 0, SIGNAL_DELIVERED));
	thread_find(&root.task)->phase = PHASE_ARMED;
	assert_false(is_told_of(SIGTERM, 0, SIGNAL_DELIVERED));
	thread_find(&root.task)->phase = PHASE_JOINED;
	kernel_delete(&processes, 10);
	assert_false(is_told_of(SIGTERM, 0, SIGNAL_DELIVERED));
	process_begin(&root.task, 0);
	kernel_delete(&threads, (__u64)&root);
	assert_false(is_told_of(SIGTERM, 0, SIGNAL_DELIVERED));
}

static void signals_with_a_handler_are_told_if_people_send_them(void **state)
{
	static const int people[] = { SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM };

	(void)state;
	for (int i = 0; i < 64; i++)
		root.handlers.action[i].sa.sa_handler = (void *)1;
	for (int i = 0; i < 5; i++)
		assert_true(is_told_of(people[i], 0, SIGNAL_DELIVERED));
	assert_false(is_told_of(10, 0, SIGNAL_DELIVERED));
	assert_int_equal(process_of(10)->signal, 10);
	root.handlers.action[9].sa.sa_handler = NULL;
	assert_true(is_told_of(10, 0, SIGNAL_DELIVERED));
	assert_false(is_told_of(11, 0, SIGNAL_DELIVERED));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(a_child_joins),
		TEST(a_thread_joins_its_process),
		TEST(who_has_not_begun_has_no_children),
		TEST(what_the_kernel_has_no_room_for_is_counted),
		TEST(workers_of_the_kernel_join_the_process),
		TEST(a_program_begins),
		TEST(long_arguments_are_cut),
		TEST(an_armed_task_begins_with_its_program),
		TEST(a_signal_is_told_with_its_sender),
		TEST(signals_that_end_nothing_are_not_told),
		TEST(signals_with_a_handler_are_told_if_people_send_them),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
