/* SPDX-License-Identifier: MIT */
/* Waits in scopes of libtaskscope, as the kernel side keeps them by their labels. */
#include "actors.h"

#define MS 1000000ULL
#define SLEEPING 1
#define AREA_NS 4711
#define SELF_OFFSET 16

/* What a program has in its memory. */
static struct program {
	char header[256];
	struct {
		__u64 before[2];
		__u64 block; /* the address, at SELF_OFFSET from the thread's pointer */
	} self;
	char block[256];
} program, other;

static struct actor idle, actor, thread;
static struct thread_state *state;

static void program_init(struct program *memory, __u64 area_ns)
{
	memset(memory, 0, sizeof(*memory));
	memcpy(memory->header + TREE_SCOPE_ANCHOR, &area_ns, sizeof(area_ns));
	memory->self.block = (__u64)memory->block;
}

static void open_scopes(struct program *memory, const __u16 *labels, __u32 depth)
{
	memcpy(memory->block + TREE_SCOPE_DEPTH, &depth, sizeof(depth));
	if (labels)
		memcpy(memory->block + TREE_SCOPE_PATH, labels, depth * sizeof(*labels));
}

#define SCOPES(memory, ...)                                                                        \
	open_scopes(memory, (const __u16[]){ __VA_ARGS__ },                                        \
		    sizeof((const __u16[]){ __VA_ARGS__ }) / sizeof(__u16))

static void announce(struct actor *who, struct program *memory)
{
	__u64 arguments[] = { (__u64)who, 0 };

	who->registers.di = PR_SET_NAME;
	who->registers.dx = (__u64)memory->header;
	who->registers.r10 = TREE_SCOPE_ANNOUNCE;
	who->registers.r8 = SELF_OFFSET;
	kernel_current = &who->task;
	tree_rename(arguments);
}

static int setup(void **nothing)
{
	(void)nothing;
	kernel_reset();
	scopes_used = 0;
	actor_init(&idle, 0, 0, NULL);
	actor_init(&actor, 10, 10, NULL);
	actor_init_thread(&thread, 11, &actor);
	program_init(&program, AREA_NS);
	program_init(&other, AREA_NS);
	actor.task.thread.fsbase = (unsigned long)&program.self;
	thread.task.thread.fsbase = (unsigned long)&other.self;
	kernel_current = &idle.task;
	state = join(&actor);
	switch_at(2 * MS, &idle, 0, &actor);
	return 0;
}

static __u64 sum_of(__u64 area_ns, const __u16 *labels, __u32 depth)
{
	struct tree_scope_key key = { .area_ns = area_ns, .pid = 10, .depth = depth };
	const __u64 *sum;

	memcpy(key.labels, labels, depth * sizeof(*labels));
	sum = bpf_map_lookup_elem(&scope_sums, &key);
	return sum ? *sum : 0;
}

static struct tree_scope_use *use_of(__s32 pid)
{
	return bpf_map_lookup_elem(&scope_uses, &pid);
}

#define SUM(...)                                                                                   \
	sum_of(AREA_NS, (const __u16[]){ __VA_ARGS__ },                                            \
	       sizeof((const __u16[]){ __VA_ARGS__ }) / sizeof(__u16))

/* The thread comes back; the time counts when it leaves again, here at once. */
static void come_back(__u64 now, struct actor *who)
{
	switch_at(now, &idle, 0, who);
	who->queue.clock = SCHEDULER_CLOCK(now);
	thread_leave(&who->task, thread_find(&who->task), now, scheduler_clock(&who->task));
}

static void sleep_for(struct actor *who, __u64 ns)
{
	switch_at(kernel_now, who, SLEEPING, &idle);
	come_back(kernel_now + ns, who);
}

static void a_wait_belongs_to_the_scopes_that_it_began_in(void **nothing)
{
	(void)nothing;
	announce(&actor, &program);
	SCOPES(&program, 3, 7);
	switch_at(3 * MS, &actor, SLEEPING, &idle);
	SCOPES(&program, 9);
	come_back(8 * MS, &actor);
	assert_int_equal(SUM(3, 7), 5 * MS);
	sleep_for(&actor, 2 * MS);
	assert_int_equal(SUM(9), 2 * MS);
	SCOPES(&program, 3, 7);
	sleep_for(&actor, MS);
	assert_int_equal(SUM(3, 7), 6 * MS);
	assert_int_equal(SUM(3), 0);
	assert_int_equal(losses[TREE_LOSS_SCOPES], 0);
}

static void being_pushed_off_counts_too(void **nothing)
{
	(void)nothing;
	announce(&actor, &program);
	SCOPES(&program, 3);
	switch_at(3 * MS, &actor, 0, &idle);
	come_back(4 * MS, &actor);
	assert_int_equal(SUM(3), MS);
}

static void outside_of_scopes_nothing_counts(void **nothing)
{
	(void)nothing;
	announce(&actor, &program);
	sleep_for(&actor, MS);
	program.self.block = 0;
	SCOPES(&program, 3);
	sleep_for(&actor, MS);
	assert_int_equal(SUM(3), 0);
	assert_int_equal(state->scope.depth, 0);
}

static void an_impossible_depth_is_ignored(void **nothing)
{
	(void)nothing;
	announce(&actor, &program);
	open_scopes(&program, NULL, TREE_SCOPE_FRAMES + 1);
	sleep_for(&actor, MS);
	assert_int_equal(state->scope.depth, 0);
	open_scopes(&program, NULL, 0xffffffff);
	sleep_for(&actor, MS);
	assert_int_equal(state->scope.depth, 0);
}

static void threads_share_the_sums_of_their_process(void **nothing)
{
	(void)nothing;
	announce(&actor, &program);
	join(&thread);
	SCOPES(&program, 3);
	SCOPES(&other, 3);
	sleep_for(&actor, MS);
	switch_at(kernel_now, &actor, SLEEPING, &thread);
	sleep_for(&thread, 2 * MS);
	assert_int_equal(SUM(3), 3 * MS);
}

static void without_an_announcement_nothing_is_read(void **nothing)
{
	__u64 arguments[] = { (__u64)&actor, 0 };

	(void)nothing;
	SCOPES(&program, 3);
	actor.registers.di = PR_SET_NAME;
	kernel_current = &actor.task;
	tree_rename(arguments);
	assert_int_equal(scopes_used, 0);
	sleep_for(&actor, MS);
	assert_int_equal(SUM(3), 0);
}

static void another_program_of_the_process_starts_without_scopes(void **nothing)
{
	__u64 arguments[] = { (__u64)&actor };

	(void)nothing;
	announce(&actor, &program);
	SCOPES(&program, 3);
	tree_exec(arguments);
	sleep_for(&actor, MS);
	assert_int_equal(SUM(3), 0);
	program_init(&program, 99);
	announce(&actor, &program);
	SCOPES(&program, 3);
	sleep_for(&actor, MS);
	assert_int_equal(SUM(3), 0);
	assert_int_equal(sum_of(99, (const __u16[]){ 3 }, 1), MS);
}

static void a_thread_that_exits_is_not_read(void **nothing)
{
	(void)nothing;
	announce(&actor, &program);
	SCOPES(&program, 3);
	actor.task.flags |= PF_EXITING;
	sleep_for(&actor, MS);
	assert_int_equal(SUM(3), 0);
}

static void waits_without_room_are_counted(void **nothing)
{
	(void)nothing;
	announce(&actor, &program);
	SCOPES(&program, 3);
	kernel_has_no_memory = true;
	sleep_for(&actor, MS);
	assert_int_equal(losses[TREE_LOSS_SCOPES], 1);
	assert_int_equal(use_of(10)->lost, 1);
	assert_int_equal(use_of(10)->paths, 0);
}

/* Neither another announcement nor another program gives it more room. */
static void a_process_that_makes_up_paths_has_a_limit(void **nothing)
{
	__u64 arguments[] = { (__u64)&actor };

	(void)nothing;
	announce(&actor, &program);
	SCOPES(&program, 3);
	sleep_for(&actor, MS);
	assert_int_equal(use_of(10)->paths, 1);
	use_of(10)->paths = TREE_SCOPE_PATHS_MAX - 1;
	SCOPES(&program, 4);
	sleep_for(&actor, MS);
	SCOPES(&program, 5);
	sleep_for(&actor, MS);
	tree_exec(arguments);
	announce(&actor, &program);
	SCOPES(&program, 6);
	sleep_for(&actor, MS);
	SCOPES(&program, 3);
	sleep_for(&actor, MS);
	assert_int_equal(SUM(3), 2 * MS);
	assert_int_equal(SUM(4), MS);
	assert_int_equal(SUM(5), 0);
	assert_int_equal(SUM(6), 0);
	assert_int_equal(use_of(10)->paths, TREE_SCOPE_PATHS_MAX);
	assert_int_equal(use_of(10)->lost, 2);
	assert_int_equal(losses[TREE_LOSS_SCOPES], 2);
}

static void a_process_that_was_forgotten_gets_no_sums(void **nothing)
{
	__s32 pid = 10;

	(void)nothing;
	announce(&actor, &program);
	bpf_map_delete_elem(&scope_uses, &pid);
	SCOPES(&program, 3);
	sleep_for(&actor, MS);
	assert_int_equal(SUM(3), 0);
	assert_int_equal(losses[TREE_LOSS_SCOPES], 1);
}

/* Its number may soon be that of another one. */
static void a_process_that_ends_leaves_no_scopes_to_its_number(void **nothing)
{
	__u64 arguments[] = { (__u64)&actor, 1 };
	__s32 pid = 10;

	(void)nothing;
	announce(&actor, &program);
	assert_non_null(bpf_map_lookup_elem(&scope_places, &pid));
	process_begin(&actor.task, 0);
	tree_exit(arguments);
	assert_null(bpf_map_lookup_elem(&scope_places, &pid));
	assert_non_null(use_of(10));
}

#define SCOPE_TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCOPE_TEST(a_wait_belongs_to_the_scopes_that_it_began_in),
		SCOPE_TEST(being_pushed_off_counts_too),
		SCOPE_TEST(outside_of_scopes_nothing_counts),
		SCOPE_TEST(an_impossible_depth_is_ignored),
		SCOPE_TEST(threads_share_the_sums_of_their_process),
		SCOPE_TEST(without_an_announcement_nothing_is_read),
		SCOPE_TEST(another_program_of_the_process_starts_without_scopes),
		SCOPE_TEST(a_thread_that_exits_is_not_read),
		SCOPE_TEST(waits_without_room_are_counted),
		SCOPE_TEST(a_process_that_makes_up_paths_has_a_limit),
		SCOPE_TEST(a_process_that_was_forgotten_gets_no_sums),
		SCOPE_TEST(a_process_that_ends_leaves_no_scopes_to_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
