/* SPDX-License-Identifier: MIT */
/* How processes end, and the most memory that they had, as the kernel side tells. */
#include "actors.h"

static struct actor root, child, thread;

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

static void do_exit(struct actor *actor, bool is_last)
{
	__u64 arguments[] = { (__u64)actor, is_last };

	tree_exit(arguments);
}

static struct tree_process_record *end_of(struct actor *actor)
{
	kernel_sent_count = 0;
	do_exit(actor, true);
	return sent(0);
}

static void a_process_ends_with_its_last_thread(void **state)
{
	struct tree_process_record *record;

	(void)state;
	root.task.exit_code = 3 << 8;
	root.task.real_cred = &(struct cred){ .euid.val = 77 };
	do_exit(&root, false);
	assert_int_equal(kernel_sent_count, 0);
	assert_int_equal(process_of(10)->threads, 0);
	record = end_of(&root);
	check_head(&record->head, TREE_RECORD_PROCESS, sizeof(*record), 10);
	assert_int_equal(record->status, 3 << 8);
	assert_int_equal(record->has_sender, 0);
	assert_int_equal(record->oom_killed, 0);
	assert_int_equal(record->euid, 77);
	assert_int_equal(kernel_sent[0].flags, BPF_RB_NO_WAKEUP);
	assert_null(process_of(10));
	do_exit(&root, true);
	assert_int_equal(kernel_sent_count, 1);
}

static void the_end_of_a_root_wakes_the_reader(void **state)
{
	(void)state;
	process_of(10)->is_root = 1;
	end_of(&root);
	assert_int_equal(kernel_sent[0].flags, BPF_RB_FORCE_WAKEUP);
}

static void threads_are_counted_where_the_kernel_does_not_tell(void **state)
{
	(void)state;
	kernel_lacks = "struct trace_event_raw_sched_process_exit, group_dead";
	fork_to(&root, &thread);
	kernel_sent_count = 0;
	do_exit(&thread, true);
	root.signal.live.counter = 1;
	do_exit(&root, true);
	assert_int_equal(kernel_sent_count, 0);
	root.signal.live.counter = 0;
	do_exit(&root, false);
	assert_int_equal(kernel_sent_count, 1);
	process_begin(&root.task, 0);
	kernel_sent_count = 0;
	do_exit(&root, false);
	assert_int_equal(kernel_sent_count, 1);
}

static void an_end_without_room_is_counted(void **state)
{
	(void)state;
	kernel_ring_is_full = true;
	do_exit(&root, true);
	assert_int_equal(losses[TREE_LOSS_EVENTS], 1);
	assert_null(process_of(10));
}

static void strangers_and_those_that_have_not_begun_do_not_end(void **state)
{
	(void)state;
	process_begin(&child.task, 0);
	do_exit(&child, true);
	thread_find(&root.task)->phase = PHASE_ARMED;
	do_exit(&root, true);
	assert_int_equal(kernel_sent_count, 0);
}

static void the_status_of_a_group(void **state)
{
	struct tree_process_record *record;

	(void)state;
	root.task.exit_code = 1 << 8;
	root.signal.flags = SIGNAL_GROUP_EXIT;
	root.signal.group_exit_code = SIGKILL | 0x80;
	root.signal.oom_mm = &root.mm;
	process_of(10)->signal = SIGKILL;
	process_of(10)->sender_pid = 77;
	memcpy(process_of(10)->sender_comm, "sender is long", 15);
	record = end_of(&root);
	assert_int_equal(record->status, SIGKILL | 0x80);
	assert_int_equal(record->has_sender, 1);
	assert_int_equal(record->sender_pid, 77);
	assert_string_equal(record->sender_comm, "sender is long");
	assert_int_equal(record->oom_killed, 1);
	process_begin(&root.task, 0);
	process_of(10)->signal = SIGKILL;
	root.signal.group_exit_code = SIGTERM;
	record = end_of(&root);
	assert_int_equal(record->has_sender, 0);
	assert_int_equal(record->oom_killed, 0);
	process_begin(&root.task, 0);
	root.signal.group_exit_code = SIGKILL;
	root.signal.oom_mm = NULL;
	record = end_of(&root);
	assert_int_equal(record->oom_killed, 0);
}

static void count_pages(void)
{
	static __s32 *const here = (__s32 *)kernel_cpu_memory;
	struct bpf_iter_meta meta = { 0 };
	struct bpf_iter__task context = { &meta, &root.task };

	memset(kernel_cpu_memory, 0, sizeof(kernel_cpu_memory));
	landmark.type = (void *)kernel_cpu_memory;
	cpu_count = 2;
	tree_seed(&context);
	for (int i = 0; i < MM_COUNTERS; i++) {
		root.mm.rss_stat[i].count = 100 << i;
		root.mm.rss_stat[i].counters = here + i;
		here[i] = 1 << i;
		here[KERNEL_CPU_BYTES / 4 + i] = 16 << i;
		here[2 * KERNEL_CPU_BYTES / 4 + i] = 4096;
	}
}

static void the_peak_is_that_of_all_parts(void **state)
{
	const struct tree_process_record *record;

	(void)state;
	count_pages();
	record = end_of(&root);
	assert_int_equal(record->has_peak, 1);
	/* Swap, the third, is no memory. */
	assert_int_equal(record->peak_pages, 100 + 200 + 800 + 1 + 2 + 8 + 16 + 32 + 128);
	process_begin(&root.task, 0);
	root.mm.hiwater_rss = 5000;
	record = end_of(&root);
	assert_int_equal(record->peak_pages, 5000);
	process_begin(&root.task, 0);
	root.mm.rss_stat[0].count = -100000;
	record = end_of(&root);
	assert_int_equal(record->peak_pages, 5000);
}

static void the_peak_of_memory_that_is_gone(void **state)
{
	const struct tree_process_record *record;

	(void)state;
	root.task.mm = NULL;
	root.signal.maxrss = 50;
	process_of(10)->exec_maxrss = 49;
	process_of(10)->peak_pages = 7;
	process_of(10)->has_peak = 1;
	record = end_of(&root);
	assert_int_equal(record->peak_pages, 50);
	assert_int_equal(record->has_peak, 1);
	process_begin(&root.task, 0);
	process_of(10)->exec_maxrss = 50;
	process_of(10)->peak_pages = 7;
	record = end_of(&root);
	assert_int_equal(record->peak_pages, 7);
	assert_int_equal(record->has_peak, 0);
}

static void parts_of_too_many_cpus_are_not_added(void **state)
{
	(void)state;
	cpu_count = RESIDENT_CPUS_MAX;
	assert_true(resident_is_known());
	cpu_count++;
	assert_false(resident_is_known());
	root.mm.hiwater_rss = 9;
	assert_int_equal(end_of(&root)->has_peak, 0);
	cpu_count = 1;
}

static void deliver(int number, void *handler)
{
	struct k_sigaction action = { .sa.sa_handler = handler };
	__u64 arguments[] = { (__u64)number, 0, (__u64)&action };

	kernel_current = &root.task;
	tree_signal_deliver(arguments);
}

static void the_peak_is_kept_when_a_signal_comes(void **state)
{
	(void)state;
	cpu_count = 1;
	root.mm.hiwater_rss = 9;
	deliver(SIGTERM, (void *)1);
	deliver(SIGCHLD, NULL);
	deliver(0, NULL);
	deliver(SIGNALS + 1, NULL);
	assert_int_equal(process_of(10)->has_peak, 0);
	root.task.mm = NULL;
	deliver(SIGTERM, NULL);
	assert_int_equal(process_of(10)->has_peak, 0);
	root.task.mm = &root.mm;
	cpu_count = RESIDENT_CPUS_MAX + 1;
	deliver(SIGTERM, NULL);
	assert_int_equal(process_of(10)->has_peak, 0);
	cpu_count = 1;
	deliver(SIGTERM, NULL);
	assert_int_equal(process_of(10)->has_peak, 1);
	assert_int_equal(process_of(10)->peak_pages, 9);
	process_of(10)->has_peak = 0;
	deliver(SIGNALS, NULL);
	assert_int_equal(process_of(10)->has_peak, 1);
	kernel_delete(&threads, (__u64)&root);
	process_of(10)->has_peak = 0;
	deliver(SIGTERM, NULL);
	assert_int_equal(process_of(10)->has_peak, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(a_process_ends_with_its_last_thread),
		TEST(the_end_of_a_root_wakes_the_reader),
		TEST(threads_are_counted_where_the_kernel_does_not_tell),
		TEST(an_end_without_room_is_counted),
		TEST(strangers_and_those_that_have_not_begun_do_not_end),
		TEST(the_status_of_a_group),
		TEST(the_peak_is_that_of_all_parts),
		TEST(the_peak_of_memory_that_is_gone),
		TEST(parts_of_too_many_cpus_are_not_added),
		TEST(the_peak_is_kept_when_a_signal_comes),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
