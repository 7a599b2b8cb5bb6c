/* SPDX-License-Identifier: MIT */
/* System calls of a thread, as the kernel side counts them. */
#include "actors.h"

#define READ 0
#define EXIT 231

static struct actor actor;
static struct sock inner = { .__sk_common.skc_family = 2 };
static struct socket socket_of = { .sk = &inner };
static struct file files[2];
static struct inode inodes[2] = { { .i_mode = S_IFIFO | 0600 }, { .i_mode = S_IFSOCK | 0777 } };

static int setup(void **state)
{
	(void)state;
	kernel_reset();
	actor_init(&actor, 10, 10, NULL);
	for (int i = 0; i < 2; i++) {
		files[i].f_inode = &inodes[i];
		files[i].f_op = i ? "socket" : "pipe";
		files[i].private_data = &socket_of;
		actor.descriptors[i] = &files[i];
	}
	kernel_current = &actor.task;
	join(&actor);
	((__u8 *)rules)[READ] = TREE_RULE_BY_FD;
	((__u8 *)rules)[TREE_CALL_NUMBERS + READ] = TREE_RULE_BY_FD;
	((__u8 *)rules)[EXIT] = TREE_RULE_ENDLESS;
	return 0;
}

static struct call_state *state_now(void)
{
	return bpf_task_storage_get(&calls, &actor.task, 0, 0);
}

static void call(__s64 number, __u64 ns, __s64 result)
{
	__u64 enter[] = { (__u64)&actor.registers, (__u64)number };
	__u64 leave[] = { (__u64)&actor.registers, (__u64)result };

	tree_sys_enter(enter);
	kernel_now += ns;
	tree_sys_exit(leave);
}

static struct tree_call_record *only_call(void)
{
	assert_int_equal(state_now()->slot_count, 1);
	return &state_now()->slots[0];
}

static void a_bucket_holds_twice_the_time_of_the_one_before(void **state)
{
	(void)state;
	for (__u64 i = 0; i < 1000; i++)
		assert_int_equal(bucket_of(i), i < 128 ? 0 : i < 256 ? 1 : i < 512 ? 2 : 3);
	for (__u32 i = 1; i < TREE_CALL_BUCKETS - 1; i++) {
		assert_int_equal(bucket_of(64ULL << i), i);
		assert_int_equal(bucket_of((64ULL << i) - 1), i - 1);
	}
	assert_int_equal(bucket_of((64ULL << 31) - 1), 30);
	assert_int_equal(bucket_of(64ULL << 31), 31);
	assert_int_equal(bucket_of(~0ULL), 31);
}

static void a_call_is_counted_with_its_time(void **state)
{
	struct tree_call_record expected = {
		.number = 5, .count = 3, .total_ns = 1400, .max_ns = 1000
	};

	(void)state;
	call(5, 300, 0);
	call(5, 1000, 1);
	call(5, 100, 7);
	expected.buckets[0] = expected.buckets[2] = expected.buckets[3] = 1;
	assert_memory_equal(only_call(), &expected, sizeof(expected));
	assert_int_equal(state_now()->slot_of[5], 1);
	assert_int_equal(state_now()->enter_ns, 0);
}

static void a_bucket_stops_when_it_is_full(void **state)
{
	(void)state;
	call(5, 1, 0);
	only_call()->buckets[0] = 0xfffffffe;
	call(5, 1, 0);
	call(5, 1, 0);
	assert_int_equal(only_call()->buckets[0], 0xffffffff);
	assert_int_equal(only_call()->count, 3);
}

static void errors_have_four_rows(void **state)
{
	static const __u64 rows[] = { 2ULL << 48 | 2, 4095ULL << 48 | 1, 4ULL << 48 | 3,
				      511ULL << 48 | 1 };

	(void)state;
	call(5, 1, -2);
	call(5, 1, -4095);
	call(5, 1, -2);
	call(5, 1, -512);
	call(5, 1, -516);
	call(5, 1, -4);
	call(5, 1, -511);
	assert_int_equal(only_call()->other_errors, 0);
	call(5, 1, -517);
	call(5, 1, -4096);
	call(5, 1, 3);
	assert_int_equal(only_call()->errors, 8);
	assert_memory_equal(only_call()->by_error, rows, sizeof(rows));
	assert_int_equal(only_call()->other_errors, 1);
}

static void what_has_no_result_has_no_error(void **state)
{
	(void)state;
	((__u8 *)rules)[5] = TREE_RULE_NO_RESULT;
	call(5, 1, -2);
	assert_int_equal(only_call()->count, 1);
	assert_int_equal(only_call()->errors, 0);
}

static void a_call_that_does_not_return_is_counted_at_once(void **state)
{
	__u64 enter[] = { (__u64)&actor.registers, EXIT };

	(void)state;
	cpu_count = 1;
	actor.mm.hiwater_rss = 77;
	tree_sys_enter(enter);
	assert_int_equal(only_call()->count, 1);
	assert_int_equal(only_call()->total_ns, 0);
	assert_int_equal(only_call()->buckets[0], 1);
	assert_int_equal(state_now()->enter_ns, 0);
	__u32 tgid = 10;
	struct process_state *process = bpf_map_lookup_elem(&processes, &tgid);
	assert_int_equal(process->peak_pages, 77);
	assert_int_equal(process->has_peak, 1);
}

static void one_that_returns_remembers_no_peak(void **state)
{
	__u32 tgid = 10;
	struct process_state *process;

	(void)state;
	call(5, 1, 0);
	process = bpf_map_lookup_elem(&processes, &tgid);
	assert_int_equal(process->has_peak, 0);
}

static void an_exit_without_an_enter_is_nothing(void **state)
{
	__u64 leave[] = { (__u64)&actor.registers, 0 };

	(void)state;
	tree_sys_exit(leave);
	assert_null(state_now());
	call(-1, 5, 0);
	assert_int_equal(state_now()->slot_count, 0);
	call(5, 1, 0);
	tree_sys_exit(leave);
	assert_int_equal(only_call()->count, 1);
	call(-1, 5, 0);
	assert_int_equal(only_call()->count, 1);
}

static void only_members_that_began_have_calls(void **state)
{
	(void)state;
	thread_find(&actor.task)->phase = PHASE_ARMED;
	call(5, 1, 0);
	assert_null(state_now());
	kernel_reset();
	call(5, 1, 0);
	assert_null(state_now());
}

static void calls_without_memory_are_counted(void **state)
{
	(void)state;
	kernel_has_no_memory = true;
	call(5, 1, 0);
	call(6, 1, 0);
	assert_int_equal(thread_find(&actor.task)->lost_calls, 2);
	assert_int_equal(losses[TREE_LOSS_CALLS], 2);
}

static void tables_of_calls_are_apart(void **state)
{
	(void)state;
	call(5, 1, 0);
	actor.task.thread_info.status = TS_COMPAT;
	call(5, 1, 0);
	actor.task.thread_info.status = 0;
	call(X32_SYSCALL_BIT | 5, 1, 0);
	call(TREE_CALL_NUMBERS, 1, 0);
	call(TREE_CALL_NUMBERS - 1, 1, 0);
	for (__u32 i = 0; i < 5; i++)
		assert_int_equal(state_now()->slots[i].count, 1);
	assert_int_equal(state_now()->slot_count, 5);
	assert_int_equal(state_now()->slots[1].abi, TREE_ABI_COMPAT);
	assert_int_equal(state_now()->slots[2].abi, TREE_ABI_UNKNOWN);
	assert_int_equal(state_now()->slots[2].number, X32_SYSCALL_BIT | 5);
	assert_int_equal(state_now()->slot_of[TREE_CALL_NUMBERS + 5], 2);
	assert_int_equal(state_now()->slot_of[2 * TREE_CALL_NUMBERS + 5], 3);
	assert_int_equal(state_now()->slot_of[2 * TREE_CALL_NUMBERS], 4);
	assert_int_equal(state_now()->slot_of[TREE_CALL_NUMBERS - 1], 5);
}

static void who_shares_a_place_and_comes_second_has_no_name(void **state)
{
	(void)state;
	call(1000, 10, 0);
	call(1064, 20, 0);
	call(1000, 10, 0);
	call(X32_SYSCALL_BIT | (1000 & 63), 5, 0);
	assert_int_equal(only_call()->count, 2);
	assert_int_equal(state_now()->unnamed_calls, 2);
	assert_int_equal(state_now()->unnamed_ns, 25);
	assert_int_equal(losses[TREE_LOSS_CALLS], 2);
	call(1024, 5, 0);
	call(1088, 5, 0);
	assert_int_equal(state_now()->unnamed_calls, 3);
}

static void there_is_room_for_many_kinds(void **state)
{
	struct call_state_more *more;

	(void)state;
	for (int i = 0; i < TREE_CALLS_MAX + 2; i++)
		call(10 + i, 7, 0);
	call(10 + TREE_CALL_SLOTS, 7, 0);
	more = bpf_task_storage_get(&calls_more, &actor.task, 0, 0);
	for (__u32 i = 0; i < TREE_CALL_SLOTS; i++)
		assert_int_equal(state_now()->slots[i].number, 10 + i);
	for (__u32 i = 0; i < TREE_CALL_SLOTS_MORE; i++)
		assert_int_equal(more->slots[i].number, 10 + TREE_CALL_SLOTS + i);
	assert_int_equal(more->slots[0].count, 2);
	assert_int_equal(more->slots[TREE_CALL_SLOTS_MORE - 1].count, 1);
	assert_int_equal(state_now()->slot_count, TREE_CALLS_MAX);
	assert_int_equal(state_now()->unnamed_calls, 2);
	assert_int_equal(state_now()->unnamed_ns, 14);
	call(EXIT, 1, 0);
	assert_int_equal(state_now()->unnamed_calls, 3);
	assert_int_equal(state_now()->unnamed_ns, 14);
}

static void without_memory_for_more_kinds_they_have_no_name(void **state)
{
	(void)state;
	for (int i = 0; i < TREE_CALL_SLOTS; i++)
		call(10 + i, 7, 0);
	kernel_has_no_memory = true;
	call(9, 7, 0);
	assert_int_equal(state_now()->slot_count, TREE_CALL_SLOTS);
	assert_int_equal(state_now()->unnamed_calls, 1);
}

static void read_at(__u32 fd)
{
	actor.registers.di = fd;
	call(READ, 3, 0);
}

static void calls_on_sockets_are_counted(void **state)
{
	(void)state;
	read_at(0);
	assert_int_equal(only_call()->socket_count, 0);
	read_at(1);
	read_at(1);
	assert_int_equal(only_call()->socket_count, 2);
	assert_int_equal(only_call()->socket_ns, 6);
	read_at(2);
	read_at(63);
	read_at(64);
	assert_int_equal(only_call()->socket_count, 2);
	actor.descriptors[63] = &files[1];
	read_at(63);
	assert_int_equal(only_call()->socket_count, 3);
	actor.task.thread_info.status = TS_COMPAT;
	actor.registers.bx = 1;
	call(READ, 3, 0);
	assert_int_equal(state_now()->slots[1].socket_count, 1);
}

/* Only what could open a descriptor makes all forgotten. */
static void what_a_descriptor_is_is_remembered(void **state)
{
	(void)state;
	read_at(1);
	actor.descriptors[1] = &files[0];
	read_at(1);
	assert_int_equal(only_call()->socket_count, 2);
	call(5, 1, 0);
	read_at(1);
	assert_int_equal(state_now()->slots[0].socket_count, 2);
	actor.descriptors[5] = &files[1];
	read_at(5);
	read_at(1);
	assert_int_equal(state_now()->slots[0].socket_count, 3);
}

static void files_that_are_shared_are_looked_up_each_time(void **state)
{
	(void)state;
	actor.files.count.counter = 2;
	read_at(1);
	assert_int_equal(state_now()->files.known[1].number, 0);
	actor.descriptors[1] = &files[0];
	read_at(1);
	assert_int_equal(only_call()->socket_count, 1);
	actor.files.count.counter = 1;
	actor.descriptors[1] = &files[1];
	read_at(1);
	assert_int_equal(state_now()->files.known[1].number, 2);
	assert_int_equal(only_call()->socket_count, 2);
	/* Only a call of its own, clone(), makes a thread share its files. */
	actor.files.count.counter = 2;
	call(5, 1, 0);
	actor.descriptors[1] = &files[0];
	read_at(1);
	assert_int_equal(state_now()->slots[0].socket_count, 2);
	assert_int_equal(state_now()->files.known[1].number, 0);
}

/* Another thread closed the file, and its memory is that of another. */
static void the_memory_of_a_file_may_be_that_of_another(void **state)
{
	(void)state;
	actor.files.count.counter = 2;
	read_at(1);
	files[1].f_inode = &inodes[0];
	files[1].f_op = "pipe";
	read_at(1);
	assert_int_equal(only_call()->socket_count, 1);
	files[1].f_inode = &inodes[1];
	files[1].f_op = "socket";
	read_at(1);
	assert_int_equal(only_call()->socket_count, 2);
}

/* Calls READ on the socket, whose result means what `rule` says. */
static void move(__u8 rule, __s64 result)
{
	((__u8 *)traffic_rules)[READ] = rule;
	actor.registers.di = 1;
	call(READ, 1, result);
}

static void expect_traffic(__u64 received, __u64 sent)
{
	assert_int_equal(state_now()->traffic.received, received);
	assert_int_equal(state_now()->traffic.sent, sent);
}

static void bytes_of_sockets_add_up(void **state)
{
	(void)state;
	move(TREE_TRAFFIC_RECEIVED, 100);
	move(TREE_TRAFFIC_SENT, 30);
	move(TREE_TRAFFIC_SENT, 7);
	expect_traffic(100, 37);
	move(TREE_TRAFFIC_SENT, -11);
	move(TREE_TRAFFIC_SENT, 0);
	move(0, 1000);
	read_at(0);
	expect_traffic(100, 37);
}

static void only_sockets_of_a_network_have_traffic(void **state)
{
	static const unsigned short others[] = { AF_UNIX, AF_NETLINK };

	(void)state;
	for (int i = 0; i < 2; i++) {
		inner.__sk_common.skc_family = others[i];
		call(5, 1, 0);
		move(TREE_TRAFFIC_RECEIVED, 100);
	}
	inner.__sk_common.skc_family = 2;
	expect_traffic(0, 0);
	move(TREE_TRAFFIC_RECEIVED, 1); /* as is known of that descriptor */
	expect_traffic(0, 0);
	call(5, 1, 0);
	move(TREE_TRAFFIC_RECEIVED, 1);
	expect_traffic(1, 0);
	assert_int_equal(state_now()->slots[1].socket_count, 4);
}

static void what_is_peeked_at_is_not_received(void **state)
{
	(void)state;
	actor.registers.dx = MSG_PEEK;
	move(TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_FLAGS_3, 5);
	expect_traffic(0, 0);
	move(TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_FLAGS_4, 5);
	expect_traffic(5, 0);
	actor.registers.r10 = MSG_ERRQUEUE;
	move(TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_FLAGS_4, 5);
	expect_traffic(5, 0);
	actor.registers.dx = actor.registers.r10 = 0x40;
	move(TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_FLAGS_3, 5);
	move(TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_FLAGS_4, 5);
	expect_traffic(15, 0);
}

static void messages_have_their_own_lengths(void **state)
{
	struct {
		char header[56];
		__u32 length, padding;
	} messages[3] = { { .length = 10 }, { .length = 200 }, { .length = 3000 } };
	struct {
		char header[28];
		__u32 length;
	} compat[2] = { { .length = 4 }, { .length = 50 } };

	(void)state;
	actor.registers.si = (unsigned long)messages;
	move(TREE_TRAFFIC_SENT | TREE_TRAFFIC_MESSAGES, 2);
	expect_traffic(0, 210);
	move(TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_MESSAGES, 3);
	expect_traffic(3210, 210);
	actor.task.thread_info.status = TS_COMPAT;
	((__u8 *)traffic_rules)[TREE_CALL_NUMBERS + READ] =
		TREE_TRAFFIC_SENT | TREE_TRAFFIC_MESSAGES;
	actor.registers.bx = 1;
	actor.registers.cx = (unsigned long)compat;
	call(READ, 1, 2);
	expect_traffic(3210, 264);
}

static void without_files_nothing_is_a_socket(void **state)
{
	(void)state;
	actor.task.files = NULL;
	read_at(1);
	actor.task.files = &actor.files;
	actor.files.fdt = NULL;
	read_at(1);
	assert_int_equal(only_call()->count, 2);
	assert_int_equal(only_call()->socket_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(a_bucket_holds_twice_the_time_of_the_one_before),
		TEST(a_call_is_counted_with_its_time),
		TEST(a_bucket_stops_when_it_is_full),
		TEST(errors_have_four_rows),
		TEST(what_has_no_result_has_no_error),
		TEST(a_call_that_does_not_return_is_counted_at_once),
		TEST(one_that_returns_remembers_no_peak),
		TEST(an_exit_without_an_enter_is_nothing),
		TEST(only_members_that_began_have_calls),
		TEST(calls_without_memory_are_counted),
		TEST(tables_of_calls_are_apart),
		TEST(who_shares_a_place_and_comes_second_has_no_name),
		TEST(there_is_room_for_many_kinds),
		TEST(without_memory_for_more_kinds_they_have_no_name),
		TEST(calls_on_sockets_are_counted),
		TEST(what_a_descriptor_is_is_remembered),
		TEST(files_that_are_shared_are_looked_up_each_time),
		TEST(the_memory_of_a_file_may_be_that_of_another),
		TEST(bytes_of_sockets_add_up),
		TEST(only_sockets_of_a_network_have_traffic),
		TEST(what_is_peeked_at_is_not_received),
		TEST(messages_have_their_own_lengths),
		TEST(without_files_nothing_is_a_socket),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
