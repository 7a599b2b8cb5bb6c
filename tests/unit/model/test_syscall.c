/* SPDX-License-Identifier: MIT */
/* System calls: names and numbers, what they are for, what they wait for, and their statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "model/syscall/syscall.h"

static const char *name_of(enum syscall_abi abi, uint32_t number)
{
	static char buffer[SYSCALL_NAME_SIZE];

	return syscall_name(abi, number, buffer);
}

static unsigned rule_of(const char *name)
{
	return syscall_wait_rule(SYSCALL_NATIVE, (uint32_t)syscall_number(name));
}

static void every_name_in_the_headers_has_a_row(void **state)
{
	(void)state;
	for (const char *const *name = syscall_unfiled; *name; name++)
		print_error("syscalls.def has no row for %s\n", *name);
	assert_null(syscall_unfiled[0]);
}

static void rows_are_in_the_order_of_their_names(void **state)
{
	static const char *const names[] = {
#define SYSCALL(name, ...) #name,
#include "base/syscall/syscalls.def"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (i > 0 && strcmp(names[i - 1], names[i]) >= 0)
			fail_msg("%s is out of order", names[i]);
		assert_non_null(syscall_static_name(names[i]));
		assert_string_equal(syscall_static_name(names[i]), names[i]);
	}
}

static void numbers_are_those_of_this_machine(void **state)
{
	static const struct {
		long number;
		const char *name;
	} known[] = {
		{ SYS_read, "read" },
		{ SYS_futex, "futex" },
		{ SYS_restart_syscall, "restart_syscall" },
		{ SYS_mmap, "mmap" },
		{ SYS_clone3, "clone3" },
		{ SYS_epoll_pwait, "epoll_pwait" },
		{ SYS_fcntl, "fcntl" },
		{ SYS_fstat, "fstat" },
		{ SYS_exit_group, "exit_group" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_string_equal(name_of(SYSCALL_NATIVE, (uint32_t)known[i].number),
				    known[i].name);
		assert_int_equal(syscall_number(known[i].name), known[i].number);
	}
}

static void numbers_newer_than_the_headers_have_names(void **state)
{
	(void)state;
	assert_string_equal(name_of(SYSCALL_NATIVE, 435), "clone3");
	assert_string_equal(name_of(SYSCALL_NATIVE, 451), "cachestat");
	assert_string_equal(name_of(SYSCALL_NATIVE, 455), "futex_wait");
	assert_string_equal(name_of(SYSCALL_NATIVE, 469), "file_setattr");
	assert_int_equal(syscall_number("mseal"), 462);
}

#if defined(__x86_64__)
static void x86_64_has_its_old_numbers(void **state)
{
	(void)state;
	assert_string_equal(name_of(SYSCALL_NATIVE, 0), "read");
	assert_string_equal(name_of(SYSCALL_NATIVE, 202), "futex");
	assert_string_equal(name_of(SYSCALL_NATIVE, 219), "restart_syscall");
	assert_string_equal(name_of(SYSCALL_NATIVE, 232), "epoll_wait");
	assert_string_equal(name_of(SYSCALL_NATIVE, 335), "uretprobe");
	assert_string_equal(name_of(SYSCALL_NATIVE, 337), "syscall_337");
}

static void i386_tasks_have_a_table_of_their_own(void **state)
{
	(void)state;
	assert_string_equal(name_of(SYSCALL_COMPAT, 3), "read");
	assert_string_equal(name_of(SYSCALL_COMPAT, 7), "waitpid");
	assert_string_equal(name_of(SYSCALL_COMPAT, 240), "futex");
	assert_string_equal(name_of(SYSCALL_COMPAT, 422), "futex_time64");
	assert_string_equal(name_of(SYSCALL_COMPAT, 451), "cachestat");
	assert_string_equal(name_of(SYSCALL_COMPAT, 335), "rt_tgsigqueueinfo");
	assert_int_equal(syscall_wait_rule(SYSCALL_COMPAT, 3), WAIT_RULE_BY_FD);
	assert_int_equal(syscall_wait_rule(SYSCALL_COMPAT, 422), WAIT_RULE_FUTEX);
	assert_int_equal(syscall_number("waitpid"), -1);
}
#endif

static void numbers_without_a_name_are_shown_as_numbers(void **state)
{
	char buffer[SYSCALL_NAME_SIZE];

	(void)state;
	assert_string_equal(name_of(SYSCALL_NATIVE, 511), "syscall_511");
	assert_string_equal(name_of(SYSCALL_COMPAT, UINT32_MAX), "syscall_4294967295");
	assert_string_equal(name_of(SYSCALL_UNKNOWN, 0), "syscall_0");
	assert_ptr_equal(syscall_name(SYSCALL_UNKNOWN, 7, buffer), buffer);
	assert_int_equal(syscall_wait_rule(SYSCALL_NATIVE, 511), WAIT_OTHER);
	assert_int_equal(syscall_wait_rule(SYSCALL_UNKNOWN, 0), WAIT_OTHER);
	assert_int_equal(syscall_number("syscall_511"), -1);
	assert_int_equal(syscall_number(""), -1);
	assert_null(syscall_static_name(""));
	assert_int_equal(syscall_category_of("syscall_511"), SYSCALL_OTHER);
}

static void equal_names_are_equal_pointers(void **state)
{
	char copy[] = "openat";
	const char *name = syscall_static_name(copy);

	(void)state;
	assert_ptr_not_equal(name, copy);
	assert_ptr_equal(name, name_of(SYSCALL_NATIVE, SYS_openat));
	assert_ptr_equal(name, syscall_static_name(name));
	/* Inside a name is not at its start. */
	assert_null(syscall_static_name(name + 4));
}

static void calls_are_filed_by_what_they_are_for(void **state)
{
	static const struct {
		const char *name;
		enum syscall_category category;
	} filed[] = {
		{ "splice", SYSCALL_FILE_IO },	    { "pread64", SYSCALL_FILE_IO },
		{ "newfstatat", SYSCALL_FILE_IO },  { "brk", SYSCALL_MEMORY },
		{ "unshare", SYSCALL_PROCESS },	    { "wait4", SYSCALL_PROCESS },
		{ "arch_prctl", SYSCALL_PROCESS },  { "recvmmsg", SYSCALL_NETWORK },
		{ "accept4", SYSCALL_NETWORK },	    { "clock_gettime", SYSCALL_TIME },
		{ "sched_yield", SYSCALL_TIME },    { "epoll_create", SYSCALL_IPC },
		{ "epoll_wait", SYSCALL_IPC },	    { "epoll_pwait", SYSCALL_IPC },
		{ "pselect6", SYSCALL_IPC },	    { "ppoll", SYSCALL_IPC },
		{ "futex", SYSCALL_IPC },	    { "pipe2", SYSCALL_IPC },
		{ "seccomp", SYSCALL_SECURITY },    { "setreuid", SYSCALL_SECURITY },
		{ "rt_sigreturn", SYSCALL_SIGNAL }, { "tgkill", SYSCALL_SIGNAL },
		{ "getrandom", SYSCALL_SYSTEM },    { "uname", SYSCALL_SYSTEM },
		{ "mount", SYSCALL_SYSTEM },	    { "restart_syscall", SYSCALL_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(filed) / sizeof(filed[0]); i++)
		if (syscall_category_of(filed[i].name) != filed[i].category)
			fail_msg("%s is filed under %s", filed[i].name,
				 syscall_category_names[syscall_category_of(filed[i].name)]);
	for (int i = 0; i < SYSCALL_CATEGORY_COUNT; i++)
		assert_non_null(syscall_category_names[i]);
}

static void a_blocked_call_has_a_reason_or_a_rule(void **state)
{
	(void)state;
	assert_int_equal(rule_of("read"), WAIT_RULE_BY_FD);
	assert_int_equal(rule_of("accept4"), WAIT_RULE_BY_FD);
	assert_int_equal(rule_of("sendto"), WAIT_RULE_BY_FD);
	assert_int_equal(rule_of("futex"), WAIT_RULE_FUTEX);
	assert_int_equal(rule_of("fcntl"), WAIT_RULE_FCNTL);
	assert_int_equal(rule_of("futex_waitv"), WAIT_CONDITION);
	assert_int_equal(rule_of("epoll_pwait2"), WAIT_POLL);
	assert_int_equal(rule_of("poll"), WAIT_RULE_POLL);
	assert_int_equal(rule_of("pselect6"), WAIT_RULE_POLL);
	assert_int_equal(rule_of("clock_nanosleep"), WAIT_TIMER);
	assert_int_equal(rule_of("wait4"), WAIT_CHILD);
	assert_int_equal(rule_of("clone3"), WAIT_CHILD);
	assert_int_equal(rule_of("flock"), WAIT_LOCK);
	assert_int_equal(rule_of("msgrcv"), WAIT_PIPE);
	assert_int_equal(rule_of("fsync"), WAIT_DISK);
	assert_int_equal(rule_of("msync"), WAIT_DISK);
	assert_int_equal(rule_of("openat"), WAIT_RULE_OPEN);
	assert_int_equal(rule_of("mmap"), WAIT_MEMORY);
	assert_int_equal(rule_of("exit_group"), WAIT_OTHER);
}

static void a_percentile_is_the_upper_end_of_its_bucket(void **state)
{
	struct syscall_stats stats = { 0 };

	(void)state;
	assert_int_equal(syscall_stats_percentile(&stats, 500), 0);
	stats.max_ns = 5000;
	stats.buckets[0] = 98;
	stats.buckets[1] = 1;
	stats.buckets[6] = 1;
	assert_int_equal(syscall_stats_percentile(&stats, 0), 128);
	assert_int_equal(syscall_stats_percentile(&stats, 500), 128);
	assert_int_equal(syscall_stats_percentile(&stats, 980), 128);
	assert_int_equal(syscall_stats_percentile(&stats, 981), 256);
	assert_int_equal(syscall_stats_percentile(&stats, 990), 256);
	/* Bucket 6 ends at 8192, but nothing took that long. */
	assert_int_equal(syscall_stats_percentile(&stats, 991), 5000);
	assert_int_equal(syscall_stats_percentile(&stats, 1000), 5000);
}

static void percentiles_of_large_counts_and_long_calls_do_not_overflow(void **state)
{
	struct syscall_stats stats = { .max_ns = UINT64_C(1) << 50 };

	(void)state;
	stats.buckets[3] = UINT64_C(1) << 62;
	stats.buckets[SYSCALL_BUCKETS - 1] = UINT64_C(1) << 60;
	assert_int_equal(syscall_stats_percentile(&stats, 800), 1024);
	assert_int_equal(syscall_stats_percentile(&stats, 801), UINT64_C(1) << 50);
}

static struct syscall_stats failed_with(uint32_t number, uint64_t count)
{
	struct syscall_stats stats = { .count = count, .errors = count };

	stats.by_error[0] = (struct syscall_error){ number, count };
	return stats;
}

static void errors_without_room_go_to_the_rest(void **state)
{
	struct syscall_stats sum = { 0 }, part;
	uint64_t errors = 0;

	(void)state;
	for (uint32_t number = 1; number <= SYSCALL_ERRORS + 2; number++) {
		part = failed_with(number, number);
		syscall_stats_add(&sum, &part);
		syscall_stats_add(&sum, &part);
	}
	for (uint32_t i = 0; i < SYSCALL_ERRORS; i++) {
		assert_int_equal(sum.by_error[i].number, i + 1);
		assert_int_equal(sum.by_error[i].count, 2 * (i + 1));
	}
	assert_int_equal(sum.by_error[SYSCALL_ERRORS].number, 0);
	assert_int_equal(sum.by_error[SYSCALL_ERRORS].count, 2 * (5 + 6));

	part = sum;
	syscall_stats_add(&sum, &part);
	assert_int_equal(sum.by_error[SYSCALL_ERRORS].count, 4 * (5 + 6));
	for (int i = 0; i <= SYSCALL_ERRORS; i++)
		errors += sum.by_error[i].count;
	assert_int_equal(errors, sum.errors);
}

static void sums_keep_the_longest_call_and_all_buckets(void **state)
{
	struct syscall_stats sum = { .count = 1, .total_ns = 10, .max_ns = 10 };
	struct syscall_stats part = { .count = 2, .total_ns = 300, .max_ns = 200 };

	(void)state;
	sum.buckets[0] = 1;
	part.buckets[0] = 1;
	part.buckets[1] = 1;
	syscall_stats_add(&sum, &part);
	assert_int_equal(sum.count, 3);
	assert_int_equal(sum.total_ns, 310);
	assert_int_equal(sum.max_ns, 200);
	assert_int_equal(sum.buckets[0], 2);
	assert_int_equal(sum.buckets[1], 1);
	syscall_stats_add(&part, &(struct syscall_stats){ .count = 1, .max_ns = 20 });
	assert_int_equal(part.max_ns, 200);
}

static void a_table_has_one_row_a_name(void **state)
{
	struct syscall_table table = { 0 };
	char known[] = "openat", unknown[] = "syscall_999";
	struct syscall_row *row = syscall_table_row(&table, known);

	(void)state;
	assert_non_null(row);
	assert_ptr_equal(row->name, syscall_static_name("openat"));
	assert_int_equal(row->category, SYSCALL_FILE_IO);
	assert_int_equal(row->stats.count, 0);
	row->stats.count = 3;
	row = syscall_table_row(&table, unknown);
	assert_int_equal(row->category, SYSCALL_OTHER);
	row->stats.count = 4;
	unknown[0] = '!';
	assert_string_equal(row->name, "syscall_999");
	assert_ptr_equal(syscall_table_row(&table, "syscall_999"), row);
	assert_int_equal(syscall_table_row(&table, "openat")->stats.count, 3);
	assert_int_equal(table.count, 2);
	assert_int_equal(syscall_table_total(&table), 7);
	syscall_table_clear(&table);
	assert_int_equal(table.count, 0);
	assert_null(table.rows);
	syscall_table_clear(&table);
}

static void a_table_holds_every_call_and_more(void **state)
{
	struct syscall_table table = { 0 };
	char name[SYSCALL_NAME_SIZE];
	uint32_t count = 2000;

	(void)state;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < count; i++)
			syscall_table_row(&table, syscall_name(SYSCALL_NATIVE, i, name))
				->stats.count++;
	assert_int_equal(table.count, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_string_equal(table.rows[i].name, name_of(SYSCALL_NATIVE, i));
		assert_int_equal(table.rows[i].stats.count, 2);
	}
	syscall_table_clear(&table);
}

static void tables_add_up_by_name(void **state)
{
	struct syscall_table sum = { 0 }, part = { 0 };
	uint64_t unnamed = 0, unnamed_ns = 0;

	(void)state;
	syscall_table_row(&part, "read")->stats.count = 5;
	syscall_table_row(&part, "made_up")->stats.count = 1;
	part.by_category[SYSCALL_NETWORK] = 5;
	part.category_ns[SYSCALL_NETWORK] = 500;
	syscall_table_row(&sum, "made_up")->stats.count = 1;
	syscall_table_add(&sum, &part, &unnamed, &unnamed_ns);
	syscall_table_add(&sum, &part, &unnamed, &unnamed_ns);
	assert_int_equal(unnamed, 0);
	assert_int_equal(unnamed_ns, 0);
	syscall_table_clear(&part);
	assert_int_equal(sum.count, 2);
	assert_string_equal(sum.rows[0].name, "made_up");
	assert_int_equal(sum.rows[0].stats.count, 3);
	assert_int_equal(sum.rows[1].stats.count, 10);
	assert_int_equal(sum.by_category[SYSCALL_NETWORK], 10);
	assert_int_equal(sum.category_ns[SYSCALL_NETWORK], 1000);
	assert_int_equal(syscall_table_total(&sum), 13);
	syscall_table_clear(&sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_in_the_headers_has_a_row),
		cmocka_unit_test(rows_are_in_the_order_of_their_names),
		cmocka_unit_test(numbers_are_those_of_this_machine),
		cmocka_unit_test(numbers_newer_than_the_headers_have_names),
#if defined(__x86_64__)
		cmocka_unit_test(x86_64_has_its_old_numbers),
		cmocka_unit_test(i386_tasks_have_a_table_of_their_own),
#endif
		cmocka_unit_test(numbers_without_a_name_are_shown_as_numbers),
		cmocka_unit_test(equal_names_are_equal_pointers),
		cmocka_unit_test(calls_are_filed_by_what_they_are_for),
		cmocka_unit_test(a_blocked_call_has_a_reason_or_a_rule),
		cmocka_unit_test(a_percentile_is_the_upper_end_of_its_bucket),
		cmocka_unit_test(percentiles_of_large_counts_and_long_calls_do_not_overflow),
		cmocka_unit_test(errors_without_room_go_to_the_rest),
		cmocka_unit_test(sums_keep_the_longest_call_and_all_buckets),
		cmocka_unit_test(a_table_has_one_row_a_name),
		cmocka_unit_test(a_table_holds_every_call_and_more),
		cmocka_unit_test(tables_add_up_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
