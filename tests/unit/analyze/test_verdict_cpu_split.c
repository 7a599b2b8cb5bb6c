/* SPDX-License-Identifier: MIT */
/* What CPU time was for: the exact parts of a second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/verdict/verdict_facts.h"

#define SECOND 1e9

/* All in the kernel; reads of one byte are all its calls. */
static struct tree_sums reads(double on_cpu, double count, double ns, double faults)
{
	struct tree_sums sums = {
		.on_cpu = on_cpu, .in_kernel = on_cpu, .faults = faults, .bytes_per_move = 1
	};

	sums.calls = sums.lists[LIST_READ] = (struct call_sum){ count, ns };
	return sums;
}

static void expect(const struct tree_sums *sums, enum cpu_purpose purpose, double part)
{
	double parts[CPU_PURPOSES], sum = 0;

	verdict_cpu_split(sums, parts);
	assert_float_equal(parts[purpose], part, 0.001);
	for (size_t i = 0; i < CPU_PURPOSES; i++)
		sum += parts[i];
	assert_float_equal(sum, 1, 0.001);
}

/* Where page faults explain the rest of the kernel's time, entry and exit take 200 ns a call. */
static void a_call_takes_its_latency_and_its_entry(void **state)
{
	struct tree_sums sums = reads(2 * SECOND, 1e6, 0.5 * SECOND, 1.08e6);

	(void)state;
	expect(&sums, CPU_TINY, 0.35);
	expect(&sums, CPU_FAULTING, 0.65);
	/* With fewer faults, the calls explain it: 1 us at most. */
	sums.faults = 1.06e6;
	expect(&sums, CPU_TINY, 0.629);
	sums = reads(2 * SECOND, 1e6, 0.2 * SECOND, 0);
	expect(&sums, CPU_TINY, 0.6);
}

static void a_short_read_takes_at_least_a_quarter_of_a_microsecond(void **state)
{
	struct tree_sums sums = reads(SECOND, 1e6, 0.01 * SECOND, 7.1e5);

	(void)state;
	expect(&sums, CPU_TINY, 0.25);
}

static void a_fault_takes_so_much_at_most(void **state)
{
	struct tree_sums sums = reads(SECOND, 3e5, 0, 1e5);

	(void)state;
	sums.bytes_per_move = -1;
	expect(&sums, CPU_FAULTING, 0.5); /* 5 us beside many calls */
	sums = reads(SECOND, 1000, 0, 2000);
	sums.bytes_per_move = -1;
	expect(&sums, CPU_FAULTING, 0.4); /* 200 us, for huge pages, beside few */
}

static void the_more_bytes_a_call_moves_the_less_is_overhead(void **state)
{
	struct tree_sums sums = reads(SECOND, 1e6, 0.8 * SECOND, 0);

	(void)state;
	sums.bytes_per_move = 64;
	expect(&sums, CPU_TINY, 1);
	sums.bytes_per_move = 288;
	expect(&sums, CPU_TINY, 0.5);
	sums.bytes_per_move = 512;
	expect(&sums, CPU_TINY, 0);
}

static void reads_of_at_least_a_page_from_a_disk_are_disk_work(void **state)
{
	struct tree_sums sums = reads(SECOND, 1e5, 0.95 * SECOND, 0);

	(void)state;
	sums.disk_waits = 1000;
	sums.read_from_disk = 1;
	sums.bytes_per_move = 4096;
	expect(&sums, CPU_DISK, 1);
	sums.bytes_per_move = 4095;
	expect(&sums, CPU_DISK, 0.01);
	sums.bytes_per_move = 4096;
	sums.disk_waits = 999; /* not one in a hundred */
	expect(&sums, CPU_DISK, 0.01);
}

static void up_to_four_writes_belong_to_a_sync(void **state)
{
	struct tree_sums sums = { .on_cpu = SECOND, .in_kernel = SECOND, .bytes_per_move = -1 };

	(void)state;
	sums.lists[LIST_SYNC] = (struct call_sum){ 1000, 0.1 * SECOND };
	sums.lists[LIST_WRITE] = (struct call_sum){ 4000, 0.3 * SECOND };
	sums.calls = (struct call_sum){ 1e5, 0.9 * SECOND };
	expect(&sums, CPU_SYNCING, 0.405);
	sums.lists[LIST_WRITE].count = 4001;
	expect(&sums, CPU_SYNCING, 0.101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_takes_its_latency_and_its_entry),
		cmocka_unit_test(a_short_read_takes_at_least_a_quarter_of_a_microsecond),
		cmocka_unit_test(a_fault_takes_so_much_at_most),
		cmocka_unit_test(the_more_bytes_a_call_moves_the_less_is_overhead),
		cmocka_unit_test(reads_of_at_least_a_page_from_a_disk_are_disk_work),
		cmocka_unit_test(up_to_four_writes_belong_to_a_sync),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
