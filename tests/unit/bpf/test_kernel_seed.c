/* SPDX-License-Identifier: MIT */
/* Tasks that run already and join the tree, and whose numbers they are shown by. */
#include "actors.h"

#define CALL 7
#define SLEEPING 1

static struct actor reader, root, child, thread;

static int setup(void **state)
{
	(void)state;
	kernel_reset();
	actor_init(&reader, 5, 5, NULL);
	actor_init(&root, 10, 10, &reader);
	actor_init(&child, 11, 11, &root);
	actor_init_thread(&thread, 12, &root);
	kernel_current = &reader.task;
	((__u8 *)rules)[CALL] = TREE_WAIT_TIMER;
	seed_pid = 10;
	return 0;
}

/* The record that a walk wrote of the task. */
static struct tree_fork_record *seed(struct actor *actor, enum tree_seed mode, __u64 pass)
{
	struct bpf_iter_meta meta = { 0 };
	struct bpf_iter__task context = { &meta, &actor->task };

	seed_mode = mode;
	seed_pass = pass;
	kernel_output_size = 0;
	tree_seed(&context);
	if (kernel_output_size)
		assert_int_equal(kernel_output_size, sizeof(struct tree_fork_record));
	return kernel_output_size ? (void *)kernel_output : NULL;
}

static struct process_state *process_of(__u32 tgid)
{
	return bpf_map_lookup_elem(&processes, &tgid);
}

static void the_end_of_a_walk_is_no_task(void **state)
{
	struct bpf_iter_meta meta = { 0 };
	struct bpf_iter__task context = { &meta, NULL };

	(void)state;
	tree_seed(&context);
	tree_sample(&context);
	assert_int_equal(kernel_output_size, 0);
}

static void a_process_that_runs_joins(void **state)
{
	struct tree_fork_record *record;
	struct thread_state *found;

	(void)state;
	root.task.on_cpu = 1;
	root.task.se.sum_exec_runtime = 700;
	root.task.sched_info.run_delay = 60;
	root.task.nvcsw = 3;
	record = seed(&root, TREE_SEED_PROCESS, 1);
	assert_int_equal(record->found, 1);
	assert_int_equal(record->head.pid, 10);
	assert_int_equal(record->head.tid, 10);
	assert_int_equal(record->head.start_ns, 10000);
	assert_int_equal(record->head.time_ns, kernel_now);
	assert_int_equal(record->parent_pid, 5);
	found = thread_find(&root.task);
	assert_int_equal(found->phase, PHASE_JOINED);
	assert_int_equal(found->reason, RUNNABLE);
	assert_int_equal(found->begin_ns, kernel_now);
	assert_int_equal(found->in_ns, kernel_now);
	assert_int_equal(found->out_ns, kernel_now);
	assert_int_equal(found->run_delay, 60);
	assert_int_equal(found->cpu_ns, 700);
	assert_int_equal(found->base[TREE_USAGE_run_time_ns], 700);
	assert_int_equal(found->base[TREE_USAGE_voluntary_csw], 3);
	assert_int_equal(process_of(10)->is_root, 1);
	assert_int_equal(process_of(10)->threads, 1);
}

static void what_waits_is_asked_what_for(void **state)
{
	struct thread_state *found;

	(void)state;
	root.task.__state = SLEEPING;
	root.registers.orig_ax = CALL;
	seed(&root, TREE_SEED_PROCESS, 1);
	found = thread_find(&root.task);
	assert_int_equal(found->phase, PHASE_LEFT);
	assert_int_equal(found->reason, TREE_WAIT_TIMER);
	seed(&thread, TREE_SEED_PROCESS, 1);
	assert_int_equal(thread_find(&thread.task)->reason, RUNNABLE);
	assert_int_equal(thread_find(&thread.task)->wait.call_reason, 0);
}

/* Each state is its own, though all are made in one place. */
static void nothing_of_one_task_is_left_in_the_next(void **state)
{
	(void)state;
	root.task.se.sum_exec_runtime = 700;
	root.task.utime = root.task.stime = 1;
	root.task.__state = SLEEPING;
	root.registers.orig_ax = CALL;
	seed(&root, TREE_SEED_PROCESS, 1);
	assert_int_equal(thread_find(&root.task)->user_ns, 350);
	assert_int_equal(thread_find(&root.task)->wait.call_reason, TREE_WAIT_TIMER + 1);
	seed(&thread, TREE_SEED_PROCESS, 1);
	assert_int_equal(thread_find(&thread.task)->user_ns, 0);
	assert_int_equal(thread_find(&thread.task)->system_ns, 0);
	assert_int_equal(thread_find(&thread.task)->wait.call_reason, 0);
	assert_int_equal(thread_find(&thread.task)->seed_pass, 1);
	assert_int_equal(process_of(10)->threads, 2);
}

static void who_leaves_while_it_joins_is_seen_to(void **state)
{
	struct thread_state found = { .phase = PHASE_JOINED };

	(void)state;
	root.task.on_cpu = 1;
	seed_check(&root.task, &found);
	assert_int_equal(found.phase, PHASE_JOINED);
	root.task.on_cpu = 0;
	root.task.__state = SLEEPING;
	seed_check(&root.task, &found);
	assert_int_equal(found.phase, PHASE_LEFT);
	assert_int_equal(found.reason, TREE_WAIT_OTHER);
	found.phase = PHASE_JOINED;
	root.task.__state = 0;
	seed_check(&root.task, &found);
	assert_int_equal(found.reason, RUNNABLE);
	found = (struct thread_state){ .phase = PHASE_LEFT, .reason = 3 };
	seed_check(&root.task, &found);
	assert_int_equal(found.reason, 3);
}

static void an_armed_process_waits_for_its_program(void **state)
{
	(void)state;
	assert_non_null(seed(&root, TREE_SEED_ARM, 1));
	assert_int_equal(thread_find(&root.task)->phase, PHASE_ARMED);
	assert_int_equal(thread_find(&root.task)->pid, 10);
	assert_null(process_of(10));
}

static void a_record_that_did_not_fit_is_asked_for_again(void **state)
{
	(void)state;
	assert_non_null(seed(&root, TREE_SEED_PROCESS, 3));
	assert_non_null(seed(&root, TREE_SEED_PROCESS, 3));
	assert_int_equal(process_of(10)->threads, 1);
	assert_null(seed(&root, TREE_SEED_PROCESS, 4));
}

static void only_who_is_wanted_joins(void **state)
{
	(void)state;
	assert_null(seed(&child, TREE_SEED_PROCESS, 1));
	assert_null(seed(&child, TREE_SEED_FAMILY, 1));
	assert_null(seed(&thread, TREE_SEED_FAMILY, 1));
	seed_pid = 5;
	assert_null(seed(&reader, TREE_SEED_PROCESS, 1));
	seed_pid = 10;
	root.task.flags = PF_KTHREAD;
	assert_null(seed(&root, TREE_SEED_PROCESS, 1));
	root.task.flags = 0;
	root.task.exit_state = 1;
	assert_null(seed(&root, TREE_SEED_PROCESS, 1));
	root.task.exit_state = 0;
	assert_non_null(seed(&root, TREE_SEED_PROCESS, 1));
	assert_non_null(seed(&child, TREE_SEED_FAMILY, 2));
	assert_non_null(seed(&thread, TREE_SEED_FAMILY, 2));
	assert_int_equal(process_of(11)->is_root, 0);
	assert_int_equal(losses[TREE_LOSS_TASKS], 0);
}

static void who_there_is_no_memory_for_is_counted(void **state)
{
	(void)state;
	kernel_has_no_memory = true;
	assert_null(seed(&root, TREE_SEED_PROCESS, 1));
	assert_int_equal(losses[TREE_LOSS_TASKS], 1);
}

/* The reader, root and thread live in a namespace; the child is in one below it. */
static void enter_namespace(void)
{
	static int here, below;
	struct actor *const inside[] = { &reader, &root, &thread };

	for (int i = 0; i < 3; i++) {
		inside[i]->pid.level = 1;
		inside[i]->inner.nr = inside[i]->task.pid + 1000;
		inside[i]->inner.ns = (void *)&here;
	}
	child.pid.level = 1;
	child.inner = (struct upid){ .nr = 1, .ns = (void *)&below };
}

static void numbers_are_those_of_the_reader(void **state)
{
	const struct tree_fork_record *record;

	(void)state;
	enter_namespace();
	seed_pid = 1010;
	record = seed(&root, TREE_SEED_PROCESS, 1);
	assert_int_equal(reader_level, 1);
	assert_int_equal(reader_tgid, 5);
	assert_int_equal(record->head.pid, 1010);
	assert_int_equal(record->parent_pid, 1005);
	assert_int_equal(record->inner_pid, 1010);
	record = seed(&thread, TREE_SEED_PROCESS, 1);
	assert_int_equal(record->head.pid, 1010);
	assert_int_equal(record->head.tid, 1012);
	/* Of another namespace, and of one above. */
	assert_int_equal(pid_number(&child.pid), 0);
	assert_int_equal(pid_inner_number(&child.pid), 1);
	root.pid.level = 0;
	assert_int_equal(pid_number(&root.pid), 0);
}

static void the_reader_is_asked_once(void **state)
{
	struct bpf_iter_meta meta = { .seq_num = 1 };
	struct bpf_iter__task context = { &meta, &root.task };

	(void)state;
	reader_tgid = 99;
	tree_seed(&context);
	assert_int_equal(reader_tgid, 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(the_end_of_a_walk_is_no_task),
		TEST(a_process_that_runs_joins),
		TEST(what_waits_is_asked_what_for),
		TEST(nothing_of_one_task_is_left_in_the_next),
		TEST(who_leaves_while_it_joins_is_seen_to),
		TEST(an_armed_process_waits_for_its_program),
		TEST(a_record_that_did_not_fit_is_asked_for_again),
		TEST(only_who_is_wanted_joins),
		TEST(who_there_is_no_memory_for_is_counted),
		TEST(numbers_are_those_of_the_reader),
		TEST(the_reader_is_asked_once),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
