/* SPDX-License-Identifier: MIT */
/* What a thread waits for, as the kernel side judges it. */
#include "actors.h"

#define CALL 7
#define SLEEPING 1

static struct actor actor, current;
static struct thread_state *thread;
static struct super_block block;
static struct inode inode = { .i_sb = &block };
static struct sock sock;
static struct socket socket_of = { &sock };
static struct file file = { .f_op = "some", .private_data = &socket_of, .f_inode = &inode };

static int setup(void **state)
{
	(void)state;
	kernel_reset();
	actor_init(&actor, 10, 10, NULL);
	actor_init(&current, 20, 20, NULL);
	kernel_current = &actor.task;
	thread = join(&actor);
	actor.registers.orig_ax = CALL;
	actor.registers.di = 5;
	actor.descriptors[5] = &file;
	file.f_op = "some";
	return 0;
}

static void rule(__u8 value)
{
	((__u8 *)rules)[CALL] = value;
}

static __u32 reason(void)
{
	return wait_reason_of(&actor.task, user_registers(&actor.task), &thread->wait, SLEEPING,
			      true);
}

static __u32 reason_of_another(void)
{
	return wait_reason_of(&actor.task, user_registers(&actor.task), &thread->wait, SLEEPING,
			      false);
}

/* By mode, and what is behind it. */
static __u32 class_of(unsigned short mode)
{
	memset(&thread->wait.descriptors, 0, sizeof(thread->wait.descriptors));
	inode.i_mode = mode;
	assert_int_equal(reason_of_another(), reason());
	return reason();
}

static void the_state_comes_before_the_call(void **state)
{
	static const __u32 stops[] = { __TASK_STOPPED, __TASK_TRACED, TASK_FROZEN };

	(void)state;
	rule(TREE_WAIT_TIMER);
	assert_int_equal(reason(), TREE_WAIT_TIMER);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(wait_reason_of(&actor.task, user_registers(&actor.task),
						&thread->wait, stops[i], true),
				 TREE_WAIT_STOPPED);
		assert_int_equal(thread->wait.object, TREE_STOPPED_SIGNAL + i);
	}
	actor.task.flags = PF_EXITING;
	assert_int_equal(reason(), TREE_WAIT_OTHER);
	actor.task.in_iowait = 1;
	assert_int_equal(reason(), TREE_WAIT_DISK);
	actor.task.in_memstall = 1;
	assert_int_equal(reason(), TREE_WAIT_MEMORY);
	kernel_lacks = "task->in_memstall";
	assert_int_equal(reason(), TREE_WAIT_DISK);
	kernel_lacks = "";
	actor.task.in_memstall = 0;
	actor.task.flags = PF_MEMALLOC;
	assert_int_equal(reason(), TREE_WAIT_MEMORY);
	actor.task.jobctl = JOBCTL_TRAP_FREEZE;
	assert_int_equal(reason(), TREE_WAIT_STOPPED);
	assert_int_equal(thread->wait.object, TREE_STOPPED_FROZEN);
}

static void who_is_in_no_call_waits_for_memory(void **state)
{
	(void)state;
	actor.registers.orig_ax = (unsigned long)-1;
	assert_int_equal(reason(), TREE_WAIT_MEMORY);
	actor.registers.orig_ax = 0;
	((__u8 *)rules)[0] = TREE_WAIT_POLL;
	assert_int_equal(reason(), TREE_WAIT_POLL);
}

static void each_table_has_rules_of_its_own(void **state)
{
	struct call call;

	(void)state;
	actor.registers = (struct pt_regs){ .bx = 1, .cx = 2, .di = 3, .si = 4, .orig_ax = CALL };
	call_read(&actor.task, user_registers(&actor.task), &call);
	assert_int_equal(call.abi, TREE_ABI_NATIVE);
	assert_int_equal(call.first, 3);
	assert_int_equal(call.second, 4);
	rule(TREE_WAIT_TIMER);
	((__u8 *)rules)[TREE_CALL_NUMBERS + CALL] = TREE_WAIT_LOCK;
	((__u8 *)rules)[TREE_CALL_NUMBERS - 1] = TREE_WAIT_CHILD;
	((__u8 *)rules)[TREE_CALL_NUMBERS] = TREE_WAIT_POLL;
	actor.task.thread_info.status = TS_COMPAT;
	call_read(&actor.task, user_registers(&actor.task), &call);
	assert_int_equal(call.abi, TREE_ABI_COMPAT);
	assert_int_equal(call.first, 1);
	assert_int_equal(call.second, 2);
	assert_int_equal(reason(), TREE_WAIT_LOCK);
	kernel_lacks = "task->thread_info.status";
	assert_int_equal(reason(), TREE_WAIT_TIMER);
	kernel_lacks = "";
	actor.task.thread_info.status = 0;
	actor.registers.orig_ax = X32_SYSCALL_BIT | CALL;
	call_read(&actor.task, user_registers(&actor.task), &call);
	assert_int_equal(call.abi, TREE_ABI_UNKNOWN);
	assert_int_equal(reason(), TREE_WAIT_OTHER);
	assert_int_equal(rule_of(TREE_ABI_UNKNOWN, CALL), TREE_WAIT_OTHER);
	actor.registers.orig_ax = TREE_CALL_NUMBERS;
	assert_int_equal(reason(), TREE_WAIT_OTHER);
	actor.registers.orig_ax = TREE_CALL_NUMBERS - 1;
	assert_int_equal(reason(), TREE_WAIT_CHILD);
	actor.registers.orig_ax = (unsigned)(-1 & ~X32_SYSCALL_BIT);
	call_read(&actor.task, user_registers(&actor.task), &call);
	assert_int_equal(call.abi, TREE_ABI_NATIVE);
	actor.registers.orig_ax = (unsigned)-1;
	call_read(&actor.task, user_registers(&actor.task), &call);
	assert_int_equal(call.abi, TREE_ABI_NATIVE);
}

static __u32 futex(__u64 operation, const void *word, __u32 value)
{
	actor.registers.di = (__u64)word;
	actor.registers.si = operation;
	actor.registers.dx = value;
	return reason();
}

#define WAIT_PRIVATE (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)
#define BITSET_PRIVATE (FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | 0x100)
#define BITSET_SHARED (FUTEX_WAIT_BITSET | 0x100)

static void a_futex_is_judged_by_its_operation_and_its_value(void **state)
{
	static const struct {
		__u64 operation;
		__u32 value;
		__u32 reason;
	} rows[] = {
		{ WAIT_PRIVATE, 2, TREE_WAIT_LOCK },		    /* mutexes of glibc and Go */
		{ WAIT_PRIVATE, 1, TREE_WAIT_LOCK },		    /* a mutex of two states */
		{ WAIT_PRIVATE, ~0U, TREE_WAIT_LOCK },		    /* libgomp */
		{ FUTEX_WAIT, FUTEX_WAITERS | 17, TREE_WAIT_LOCK }, /* robust, or of musl */
		{ WAIT_PRIVATE, 0, TREE_WAIT_CONDITION },	    /* a parked worker of Go */
		{ WAIT_PRIVATE, 8, TREE_WAIT_CONDITION },	    /* a barrier */
		{ BITSET_PRIVATE, 0, TREE_WAIT_CONDITION }, /* conditions of glibc, Java's parked */
		{ BITSET_PRIVATE, 2, TREE_WAIT_LOCK },	    /* reader-writer locks, Rust */
		{ BITSET_PRIVATE, 3, TREE_WAIT_LOCK },	    /* the same */
		{ BITSET_PRIVATE, 4, TREE_WAIT_CONDITION }, /* a counter */
		{ BITSET_PRIVATE, 0x80000001, TREE_WAIT_LOCK }, /* a timed robust mutex */
		{ BITSET_PRIVATE, ~0U, TREE_WAIT_CONDITION },	/* a parked thread of Rust */
		{ FUTEX_WAIT_REQUEUE_PI, 2, TREE_WAIT_CONDITION },
		{ 6 | FUTEX_PRIVATE_FLAG, 0, TREE_WAIT_LOCK }, /* a mutex that lends priority */
		{ 13, 0, TREE_WAIT_LOCK },
	};
	static __u32 words[sizeof(rows) / sizeof(rows[0])][16];

	(void)state;
	rule(TREE_RULE_FUTEX);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(futex(rows[i].operation, words[i], rows[i].value), rows[i].reason);
}

static void a_word_that_counts_is_not_a_lock(void **state)
{
	static __u32 words[2];

	(void)state;
	rule(TREE_RULE_FUTEX);
	assert_int_equal(futex(BITSET_PRIVATE, &words[0], 1), TREE_WAIT_CONDITION);
	assert_int_equal(futex(BITSET_PRIVATE, &words[0], 2), TREE_WAIT_CONDITION);
	assert_int_equal(futex(BITSET_PRIVATE, &words[1], 2), TREE_WAIT_LOCK);
	assert_int_equal(futex(BITSET_PRIVATE, &words[0], 3), TREE_WAIT_CONDITION);
	assert_int_equal(futex(BITSET_PRIVATE, &words[1], 2), TREE_WAIT_LOCK);
}

/* Threads of the actor's process, as its list has them. */
static void list_threads(struct actor *actors[], size_t count)
{
	struct list_head *last = &actor.signal.thread_head;

	for (size_t i = 0; i < count; i++) {
		last->next = &actors[i]->task.thread_node;
		last = last->next;
	}
	last->next = &actor.signal.thread_head;
}

static void who_waits_for_the_word_of_an_exit_joins_a_thread(void **state)
{
	struct actor first, second, *all[] = { &actor, &first, &second };
	int words[4] = { 0 };

	(void)state;
	actor_init_thread(&first, 11, &actor);
	actor_init_thread(&second, 12, &actor);
	first.task.clear_child_tid = &words[0];
	second.task.clear_child_tid = &words[1];
	list_threads(all, 3);
	rule(TREE_RULE_FUTEX);
	assert_int_equal(futex(BITSET_SHARED, &words[1], 12), TREE_WAIT_CHILD);
	assert_int_equal(futex(FUTEX_WAIT, &words[0], 2), TREE_WAIT_CHILD);
	/* A process-shared mutex, a condition. */
	assert_int_equal(futex(FUTEX_WAIT, &words[2], 2), TREE_WAIT_LOCK);
	assert_int_equal(futex(BITSET_SHARED, &words[3], 12), TREE_WAIT_CONDITION);
	assert_int_equal(futex(BITSET_PRIVATE, &words[1], 12), TREE_WAIT_CONDITION);
	actor.task.signal = NULL;
	assert_int_equal(futex(BITSET_SHARED, &words[1], 12), TREE_WAIT_CONDITION);
}

static void a_search_for_the_word_of_an_exit_ends(void **state)
{
	struct actor other;
	int word = 0;

	(void)state;
	actor_init_thread(&other, 11, &actor);
	actor.signal.thread_head.next = &other.task.thread_node;
	other.task.thread_node.next = &other.task.thread_node;
	rule(TREE_RULE_FUTEX);
	assert_int_equal(futex(BITSET_SHARED, &word, 11), TREE_WAIT_CONDITION);
}

static void a_process_shared_semaphore_is_a_lock(void **state)
{
	__u32 semaphore[4] = { 0, 1, FUTEX_PRIVATE_FLAG, 0 };

	(void)state;
	rule(TREE_RULE_FUTEX);
	assert_int_equal(futex(BITSET_SHARED, semaphore, 0), TREE_WAIT_LOCK);
	semaphore[1] = 0;
	assert_int_equal(futex(BITSET_SHARED, semaphore, 0), TREE_WAIT_CONDITION);
	semaphore[1] = 1;
	semaphore[2] = 0;
	assert_int_equal(futex(BITSET_SHARED, semaphore, 0), TREE_WAIT_CONDITION);
	/* The memory of another task cannot be read. */
	assert_int_equal(reason_of_another(), TREE_WAIT_LOCK);
	assert_int_equal(futex(BITSET_SHARED, NULL, 0), TREE_WAIT_CONDITION);
}

static void a_poll_of_nothing_is_a_sleep(void **state)
{
	(void)state;
	rule(TREE_RULE_POLL);
	actor.registers.di = actor.registers.si = 0;
	assert_int_equal(reason(), TREE_WAIT_TIMER);
	actor.registers.di = 5; /* select(5, ...) */
	assert_int_equal(reason(), TREE_WAIT_POLL);
	actor.registers.di = 0;
	actor.registers.si = 1;
	assert_int_equal(reason(), TREE_WAIT_POLL);
}

static void fcntl_waits_for_a_lock_or_its_file(void **state)
{
	static const unsigned long locks[] = { F_SETLKW, F_SETLKW64, F_OFD_SETLKW };

	(void)state;
	rule(TREE_RULE_FCNTL);
	inode.i_mode = S_IFIFO;
	for (int i = 0; i < 3; i++) {
		actor.registers.si = locks[i];
		assert_int_equal(reason(), TREE_WAIT_LOCK);
		actor.registers.si++;
		assert_int_equal(reason(), TREE_WAIT_PIPE);
	}
}

static void opening_a_fifo_waits_for_its_other_end(void **state)
{
	struct nameidata walk = { &inode };

	(void)state;
	rule(TREE_RULE_OPEN);
	assert_int_equal(reason(), TREE_WAIT_DISK);
	actor.task.nameidata = &walk;
	inode.i_mode = S_IFREG;
	assert_int_equal(reason(), TREE_WAIT_DISK);
	inode.i_mode = S_IFIFO | 0600;
	assert_int_equal(reason(), TREE_WAIT_PIPE);
	assert_int_equal(reason_of_another(), TREE_WAIT_PIPE);
	walk.inode = NULL; /* of a path that has not led to a file yet */
	assert_int_equal(reason(), TREE_WAIT_DISK);
}

static void descriptors_are_judged_by_what_they_are(void **state)
{
	(void)state;
	rule(TREE_RULE_BY_FD);
	assert_int_equal(class_of(S_IFIFO | 0600), TREE_WAIT_PIPE);
	assert_int_equal(class_of(S_IFDIR), TREE_WAIT_DISK);
	assert_int_equal(class_of(S_IFBLK), TREE_WAIT_DISK);
	assert_int_equal(class_of(0600), TREE_WAIT_POLL);
	assert_int_equal(class_of(0120000), TREE_WAIT_OTHER);
	block.s_magic = 0xef53;
	assert_int_equal(class_of(S_IFREG | 0644), TREE_WAIT_DISK);
	block.s_magic = 0x09041934;
	assert_int_equal(class_of(S_IFREG), TREE_WAIT_POLL);
	block.s_magic = 0x01021994;
	assert_int_equal(class_of(S_IFREG), TREE_WAIT_OTHER);
	sock.__sk_common.skc_family = AF_UNIX;
	assert_int_equal(class_of(S_IFSOCK), TREE_WAIT_PIPE);
	sock.__sk_common.skc_family = AF_NETLINK;
	assert_int_equal(class_of(S_IFSOCK), TREE_WAIT_OTHER);
	sock.__sk_common.skc_family = 2;
	assert_int_equal(class_of(S_IFSOCK), TREE_WAIT_NETWORK);
}

static void terminals_are_polled(void **state)
{
	static const struct {
		__u32 major, reason;
	} rows[] = {
		{ 3, TREE_WAIT_OTHER },	 { 4, TREE_WAIT_POLL },	   { 5, TREE_WAIT_POLL },
		{ 6, TREE_WAIT_OTHER },	 { 135, TREE_WAIT_OTHER }, { 136, TREE_WAIT_POLL },
		{ 143, TREE_WAIT_POLL }, { 144, TREE_WAIT_OTHER }, { 1, TREE_WAIT_OTHER },
	};

	(void)state;
	rule(TREE_RULE_BY_FD);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		inode.i_rdev = rows[i].major << 20 | 3;
		assert_int_equal(class_of(S_IFCHR | 0666), rows[i].reason);
	}
}

static void what_is_no_file_is_something_else(void **state)
{
	(void)state;
	rule(TREE_RULE_BY_FD);
	inode.i_mode = S_IFIFO;
	actor.registers.di = 6;
	assert_int_equal(reason(), TREE_WAIT_OTHER);
	assert_int_equal(reason_of_another(), TREE_WAIT_OTHER);
	actor.descriptors[63] = &file;
	actor.registers.di = 63;
	assert_int_equal(reason(), TREE_WAIT_PIPE);
	assert_int_equal(reason_of_another(), TREE_WAIT_PIPE);
	actor.table.max_fds = 63;
	thread->wait.descriptors.last = 0;
	assert_int_equal(reason(), TREE_WAIT_OTHER);
	assert_int_equal(reason_of_another(), TREE_WAIT_OTHER);
	actor.files.fdt = NULL;
	thread->wait.descriptors.last = 0;
	assert_int_equal(reason(), TREE_WAIT_OTHER);
	assert_int_equal(reason_of_another(), TREE_WAIT_OTHER);
	actor.task.files = NULL;
	thread->wait.descriptors.last = 0;
	assert_int_equal(reason(), TREE_WAIT_OTHER);
	assert_int_equal(descriptor_class_of(&actor.task, &thread->wait.descriptors, 5),
			 TREE_WAIT_OTHER);
}

/* Whoever is the current task. */
static void a_task_has_files_of_its_own(void **state)
{
	static struct inode pipe = { .i_mode = S_IFIFO };
	static struct file other = { .f_op = "pipe", .f_inode = &pipe };

	(void)state;
	rule(TREE_RULE_BY_FD);
	inode.i_mode = S_IFDIR;
	current.descriptors[5] = &other;
	kernel_current = &current.task;
	assert_int_equal(reason_of_another(), TREE_WAIT_DISK);
	assert_int_equal(reason(), TREE_WAIT_DISK);
}

static void a_kind_is_remembered_by_its_operations(void **state)
{
	(void)state;
	inode.i_mode = S_IFIFO;
	assert_int_equal(descriptor_class_of(&actor.task, &thread->wait.descriptors, 5),
			 TREE_WAIT_PIPE);
	assert_int_equal(thread->wait.descriptors.known[1].operations, (__u64)file.f_op);
	assert_int_equal(thread->wait.descriptors.known[1].class, TREE_WAIT_PIPE);
	inode.i_mode = S_IFDIR;
	assert_int_equal(descriptor_class_of(&actor.task, &thread->wait.descriptors, 5),
			 TREE_WAIT_PIPE);
	file.f_op = "other";
	assert_int_equal(descriptor_class_of(&actor.task, &thread->wait.descriptors, 5),
			 TREE_WAIT_DISK);
}

static void a_wait_soon_after_is_of_the_same_kind(void **state)
{
	(void)state;
	rule(TREE_RULE_BY_FD);
	inode.i_mode = S_IFIFO;
	thread->wait.now_ns = 50000;
	assert_int_equal(reason(), TREE_WAIT_PIPE);
	assert_int_equal(thread->wait.descriptors.last, (__u64)CALL << 32 | 5);
	assert_int_equal(thread->wait.descriptors.last_ns, 50000);
	actor.descriptors[5] = NULL;
	thread->wait.now_ns += AWAITED_NS - 1;
	assert_int_equal(reason(), TREE_WAIT_PIPE);
	thread->wait.now_ns++;
	assert_int_equal(reason(), TREE_WAIT_OTHER);
	actor.descriptors[5] = actor.descriptors[6] = &file;
	actor.registers.di = 6;
	assert_int_equal(reason(), TREE_WAIT_PIPE);
}

/* It is the current task then, so that the descriptor need not be examined each time. */
static void a_thread_that_leaves_the_cpu_is_judged_by_its_own_files(void **state)
{
	(void)state;
	rule(TREE_RULE_BY_FD);
	inode.i_mode = S_IFIFO;
	switch_at(1000, &actor, SLEEPING, &current);
	assert_int_equal(thread->reason, TREE_WAIT_PIPE);
	assert_int_equal(thread->wait.descriptors.last, (__u64)CALL << 32 | 5);
	assert_int_equal(thread->wait.descriptors.last_ns, 1000);
}

static void what_goes_on_is_what_it_was(void **state)
{
	(void)state;
	rule(TREE_RULE_RESTART);
	assert_int_equal(reason(), TREE_WAIT_OTHER);
	rule(TREE_WAIT_DISK);
	reason();
	assert_int_equal(thread->wait.call_reason, TREE_WAIT_DISK + 1);
	rule(TREE_RULE_RESTART | TREE_RULE_ENDLESS);
	assert_int_equal(reason(), TREE_WAIT_DISK);
	rule(TREE_WAIT_CHILD | TREE_RULE_NO_RESULT);
	assert_int_equal(reason(), TREE_WAIT_CHILD);
	rule(TREE_RULE_RESTART);
	assert_int_equal(reason(), TREE_WAIT_CHILD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(the_state_comes_before_the_call),
		TEST(who_is_in_no_call_waits_for_memory),
		TEST(each_table_has_rules_of_its_own),
		TEST(a_futex_is_judged_by_its_operation_and_its_value),
		TEST(a_word_that_counts_is_not_a_lock),
		TEST(who_waits_for_the_word_of_an_exit_joins_a_thread),
		TEST(a_search_for_the_word_of_an_exit_ends),
		TEST(a_process_shared_semaphore_is_a_lock),
		TEST(a_poll_of_nothing_is_a_sleep),
		TEST(fcntl_waits_for_a_lock_or_its_file),
		TEST(opening_a_fifo_waits_for_its_other_end),
		TEST(descriptors_are_judged_by_what_they_are),
		TEST(terminals_are_polled),
		TEST(what_is_no_file_is_something_else),
		TEST(a_task_has_files_of_its_own),
		TEST(a_kind_is_remembered_by_its_operations),
		TEST(a_wait_soon_after_is_of_the_same_kind),
		TEST(a_thread_that_leaves_the_cpu_is_judged_by_its_own_files),
		TEST(what_goes_on_is_what_it_was),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
