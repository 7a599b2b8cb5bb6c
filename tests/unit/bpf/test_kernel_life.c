/* SPDX-License-Identifier: MIT */
/* The programs that follow lives, as functions of a test that is the kernel. */
#include "life_actors.h"

#define GROUP_DEAD "struct trace_event_raw_sched_process_exit, group_dead"
#define VICTIM_IS_TASK "struct trace_event_raw_mark_victim, uid"

static int set_up(void **state)
{
	(void)state;
	while (kernel_value_count)
		free(kernel_values[--kernel_value_count].value);
	kernel_sent_count = kernel_output_size = 0;
	kernel_ring_used = 0;
	kernel_ring_is_full = kernel_has_no_memory = false;
	kernel_lacks = "";
	kernel_now = 1000000000;
	memset(losses, 0, sizeof(losses));
	lost_members = last_wake_ns = 0;
	reader_level = 0;
	scope = LIFE_SCOPE_HOST;
	scope_cgroup = 0;
	return 0;
}

static void made(struct actor *maker, struct actor *task)
{
	__u64 arguments[] = { (__u64)task, 0 };

	kernel_current = maker ? &maker->task : &task->task;
	life_new_task(arguments);
}

static void exits(struct actor *task, bool is_group_dead)
{
	__u64 arguments[] = { (__u64)task, is_group_dead };

	kernel_current = &task->task;
	task->task.group_leader->signal->live.counter--;
	life_exit(arguments);
}

static void leaves(struct actor *task, __u64 cpu)
{
	__u64 arguments[] = { 0, (__u64)task, 0, TASK_DEAD };

	task->task.se.sum_exec_runtime = cpu;
	life_switch(arguments);
}

static const void *sent(size_t place, enum life_record_type type)
{
	const struct life_record_head *head = (const void *)kernel_sent[place].bytes;

	assert_true(place < kernel_sent_count);
	assert_int_equal(head->type, type);
	assert_int_equal(head->size, kernel_sent[place].size);
	return head;
}

static void a_process_has_final_counters_at_its_last_switch(void **state)
{
	struct actor parent, child;
	const struct life_record_head *head;
	const struct life_exit_record *end;

	(void)state;
	actor_init(&parent, 1, NULL);
	actor_init(&child, 2, &parent);
	made(&parent, &child);
	head = sent(0, LIFE_RECORD_SPAWN);
	assert_int_equal(head->pid, 2);
	assert_int_equal(head->parent_pid, 1);
	assert_int_equal(head->euid, 7);
	assert_int_equal(head->start_ns, 2000);
	child.task.exit_code = 3 << 8;
	child.task.se.sum_exec_runtime = 5;
	child.task.ioac.read_bytes = 11;
	exits(&child, true);
	assert_int_equal(kernel_sent_count, 1);
	kernel_now += 5;
	leaves(&child, 100);
	end = sent(1, LIFE_RECORD_EXIT);
	assert_int_equal(end->status, 3 << 8);
	assert_int_equal(end->usage[LIFE_USAGE_run_time_ns], 100);
	assert_int_equal(end->usage[LIFE_USAGE_read_bytes], 11);
	assert_int_equal(end->head.time_ns, 1000000005);
	assert_true(end->present >> LIFE_USAGE_read_bytes & 1);
	assert_int_equal(kernel_value_count, 0);
}

static void other_switches_do_nothing(void **state)
{
	struct actor task;
	__u64 arguments[] = { 0, (__u64)&task, 0, 1 };

	(void)state;
	actor_init(&task, 2, NULL);
	exits(&task, true);
	life_switch(arguments);
	assert_int_equal(kernel_sent_count, 0);
	leaves(&task, 1);
	leaves(&task, 1);
	assert_int_equal(kernel_sent_count, 1);
}

/* The leader goes first; the thread that exits last leaves its CPU before another one. */
static void threads_may_leave_in_any_order(void **state)
{
	struct actor leader, first, second;
	const struct life_exit_record *end;

	(void)state;
	actor_init(&leader, 2, NULL);
	actor_init_thread(&first, 3, &leader);
	made(&leader, &first);
	actor_init_thread(&second, 4, &leader);
	made(&leader, &second);
	assert_int_equal(kernel_sent_count, 0);
	exits(&leader, false);
	leaves(&leader, 1);
	exits(&first, false);
	exits(&second, true);
	leaves(&second, 20);
	assert_int_equal(kernel_sent_count, 0);
	leaves(&first, 300);
	end = sent(0, LIFE_RECORD_EXIT);
	assert_int_equal(end->head.pid, 2);
	assert_int_equal(end->usage[LIFE_USAGE_run_time_ns], 321);
	assert_int_equal(kernel_value_count, 0);
}

/* It is not known how many of its threads were about to leave when it was first seen. */
static void the_last_thread_ends_a_process_that_had_several(void **state)
{
	struct actor leader, first, second;
	const struct life_exit_record *end;

	(void)state;
	actor_init(&leader, 2, NULL);
	actor_init_thread(&first, 3, &leader);
	actor_init_thread(&second, 4, &leader);
	leader.signal.sum_sched_runtime = 1000;
	exits(&first, false);
	leaves(&first, 10);
	exits(&second, false);
	exits(&leader, true);
	leaves(&second, 20);
	assert_int_equal(kernel_sent_count, 0);
	leaves(&leader, 300);
	end = sent(0, LIFE_RECORD_EXIT);
	assert_int_equal(end->usage[LIFE_USAGE_run_time_ns], 1330);
	/* What threads read that ended before is not known. */
	assert_false(end->present >> LIFE_USAGE_read_bytes & 1);
	assert_true(end->present >> LIFE_USAGE_minflt & 1);
}

static void an_older_kernel_does_not_say_who_is_last(void **state)
{
	struct actor leader, first;

	(void)state;
	kernel_lacks = GROUP_DEAD;
	actor_init(&leader, 2, NULL);
	actor_init_thread(&first, 3, &leader);
	made(&leader, &first);
	leader.task.exit_code = 9;
	exits(&first, false);
	exits(&leader, false);
	leaves(&leader, 1);
	assert_int_equal(kernel_sent_count, 0);
	leaves(&first, 2);
	assert_int_equal(((const struct life_exit_record *)sent(0, LIFE_RECORD_EXIT))->status, 9);
}

static void a_full_ring_is_counted_by_type(void **state)
{
	__u64 signal[] = { SIGTERM, 0, 0, 1, SIGNAL_DELIVERED };
	struct actor task, other;
	__u64 rename[] = { (__u64)&task, (__u64) "name" };
	__u64 victim[] = { (__u64)&task };
	__u64 exec[] = { (__u64)&task };

	(void)state;
	actor_init(&task, 2, NULL);
	actor_init(&other, 3, NULL);
	signal[2] = (__u64)&task;
	kernel_ring_is_full = true;
	made(&other, &task);
	life_exec(exec);
	life_rename(rename);
	life_signal(signal);
	life_oom(victim);
	exits(&task, true);
	leaves(&task, 1);
	for (int type = 0; type < LIFE_RECORD_MEMBER; type++)
		assert_int_equal(losses[type], 1);
	assert_int_equal(kernel_sent_count, 0);
}

static void no_memory_loses_an_exit_and_counts_it(void **state)
{
	struct actor task;

	(void)state;
	actor_init(&task, 2, NULL);
	kernel_has_no_memory = true;
	exits(&task, true);
	leaves(&task, 1);
	assert_int_equal(losses[LIFE_RECORD_EXIT], 1);
}

static void kernel_threads_have_no_lives(void **state)
{
	struct actor task;
	__u64 rename[] = { (__u64)&task, (__u64) "name" };

	(void)state;
	actor_init(&task, 2, NULL);
	task.task.flags = PF_KTHREAD;
	made(NULL, &task);
	life_rename(rename);
	exits(&task, true);
	leaves(&task, 1);
	assert_int_equal(kernel_sent_count, 0);
}

static void only_leaders_and_only_without_an_exec_are_renamed(void **state)
{
	struct actor task, thread;
	__u64 rename[] = { (__u64)&task, (__u64) "a new name that is long" };
	const struct life_rename_record *record;

	(void)state;
	actor_init(&task, 2, NULL);
	actor_init_thread(&thread, 3, &task);
	task.task.in_execve = 1;
	life_rename(rename);
	rename[0] = (__u64)&thread;
	life_rename(rename);
	assert_int_equal(kernel_sent_count, 0);
	rename[0] = (__u64)&task;
	task.task.in_execve = 0;
	life_rename(rename);
	record = sent(0, LIFE_RECORD_RENAME);
	assert_memory_equal(record->head.comm, "actor 2", 8);
	assert_memory_equal(record->comm, "a new name that", 16);
	/* Behind a short name there is nothing. */
	rename[1] = (__u64) "short";
	life_rename(rename);
	record = sent(1, LIFE_RECORD_RENAME);
	assert_memory_equal(record->comm, "short\0\0\0\0\0\0\0\0\0\0", 16);
}

static void a_child_of_a_member_is_a_member(void **state)
{
	struct actor member, child, stranger, unlucky;
	struct bpf_iter_meta meta = { .seq_num = 1 };
	struct bpf_iter__task walked = { &meta, &member.task };

	(void)state;
	scope = LIFE_SCOPE_TREE;
	actor_init(&member, 2, NULL);
	actor_init(&child, 3, &member);
	actor_init(&stranger, 4, NULL);
	made(&member, &child);
	assert_int_equal(kernel_sent_count, 0);
	walk_mode = LIFE_WALK_ROOT;
	walk_pid = 2;
	walk_pass = 1;
	life_walk(&walked);
	life_walk(&walked); /* again, as if its record had not fitted */
	assert_int_equal(kernel_output_size, 2 * sizeof(struct life_record_head));
	walk_mode = LIFE_WALK_FAMILY;
	walk_pass = 2;
	walked.task = &stranger.task;
	life_walk(&walked);
	walked.task = &child.task;
	life_walk(&walked);
	assert_int_equal(kernel_output_size, 3 * sizeof(struct life_record_head));
	exits(&child, true);
	leaves(&child, 1);
	exits(&stranger, true);
	leaves(&stranger, 1);
	assert_int_equal(kernel_sent_count, 1);
	actor_init(&unlucky, 5, &stranger);
	made(&stranger, &unlucky); /* what a stranger makes is none either */
	exits(&unlucky, true);
	leaves(&unlucky, 1);
	assert_int_equal(kernel_sent_count, 1);
	made(&member, &stranger);
	sent(1, LIFE_RECORD_SPAWN);
	kernel_has_no_memory = true;
	actor_init(&unlucky, 5, &member);
	made(&member, &unlucky);
	assert_int_equal(lost_members, 1);
}

static void a_cgroup_has_those_below_it(void **state)
{
	struct actor inside, outside, below;

	(void)state;
	scope = LIFE_SCOPE_CGROUP;
	scope_cgroup = 2;
	actor_init(&inside, 2, NULL);
	actor_init(&outside, 3, NULL);
	actor_init(&below, 4, NULL);
	below.cgroup.level = 2;
	below.cgroup.ancestors[0] = &outside.cgroup;
	below.more_ancestors[0] = &inside.cgroup;
	below.more_ancestors[1] = &below.cgroup;
	made(NULL, &inside);
	made(NULL, &outside);
	made(NULL, &below);
	assert_int_equal(kernel_sent_count, 2);
	assert_int_equal(((const struct life_record_head *)sent(1, LIFE_RECORD_SPAWN))->pid, 4);
}

static void an_older_kernel_tells_the_number_of_a_victim_alone(void **state)
{
	__u64 arguments[] = { 77 };
	const struct life_record_head *head;

	(void)state;
	kernel_lacks = VICTIM_IS_TASK;
	reader_level = 1;
	life_oom(arguments);
	assert_int_equal(kernel_sent_count, 0);
	reader_level = 0;
	life_oom(arguments);
	head = sent(0, LIFE_RECORD_OOM);
	assert_int_equal(head->pid, 77);
	assert_int_equal(head->start_ns, 0);
}

static void wake_ups_are_few(void **state)
{
	struct actor task;

	(void)state;
	actor_init(&task, 2, NULL);
	made(NULL, &task);
	made(NULL, &task);
	kernel_ring_used = LIFE_RING_BYTES / 4 + 1;
	made(NULL, &task);
	kernel_ring_used = 0;
	kernel_now += WAKE_NS;
	made(NULL, &task);
	assert_int_equal(kernel_sent[0].flags, BPF_RB_FORCE_WAKEUP);
	assert_int_equal(kernel_sent[1].flags, BPF_RB_NO_WAKEUP);
	assert_int_equal(kernel_sent[2].flags, BPF_RB_FORCE_WAKEUP);
	assert_int_equal(kernel_sent[3].flags, BPF_RB_FORCE_WAKEUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_process_has_final_counters_at_its_last_switch, set_up),
		cmocka_unit_test_setup(other_switches_do_nothing, set_up),
		cmocka_unit_test_setup(threads_may_leave_in_any_order, set_up),
		cmocka_unit_test_setup(the_last_thread_ends_a_process_that_had_several, set_up),
		cmocka_unit_test_setup(an_older_kernel_does_not_say_who_is_last, set_up),
		cmocka_unit_test_setup(a_full_ring_is_counted_by_type, set_up),
		cmocka_unit_test_setup(no_memory_loses_an_exit_and_counts_it, set_up),
		cmocka_unit_test_setup(kernel_threads_have_no_lives, set_up),
		cmocka_unit_test_setup(only_leaders_and_only_without_an_exec_are_renamed, set_up),
		cmocka_unit_test_setup(a_child_of_a_member_is_a_member, set_up),
		cmocka_unit_test_setup(a_cgroup_has_those_below_it, set_up),
		cmocka_unit_test_setup(an_older_kernel_tells_the_number_of_a_victim_alone, set_up),
		cmocka_unit_test_setup(wake_ups_are_few, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
