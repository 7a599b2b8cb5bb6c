/* SPDX-License-Identifier: MIT */
/* Who is counted by the processors, from when on, and what is opened for that. */
#include "fake_watch.h"

#include <errno.h>
#include <string.h>

/* What was asked of the counters. */
static struct {
	unsigned opened, energies, added;
	bool exclude_children;
	pid_t tid;
	bool at_exec;
	int status;
} asked;

int __wrap_hardware_add(struct hardware_counters *counters, pid_t tid, bool at_exec);
void __wrap_hardware_open(struct hardware_counters *counters, const struct host *host,
			  const struct hardware_kind *kinds, bool exclude_children);
void __wrap_energy_open(struct energy *energy, const struct host *host, uint64_t now_ns);

int __wrap_hardware_add(struct hardware_counters *counters, pid_t tid, bool at_exec)
{
	(void)counters;
	asked.added++;
	asked.tid = tid;
	asked.at_exec = at_exec;
	return asked.status;
}

void __wrap_hardware_open(struct hardware_counters *counters, const struct host *host,
			  const struct hardware_kind *kinds, bool exclude_children)
{
	(void)counters;
	(void)host;
	assert_ptr_equal(kinds, hardware_kinds);
	asked.opened++;
	asked.exclude_children = exclude_children;
}

void __wrap_energy_open(struct energy *energy, const struct host *host, uint64_t now_ns)
{
	(void)energy;
	(void)host;
	assert_true(now_ns > 0);
	asked.energies++;
}

static struct setting setting;

static int setup(void **state)
{
	(void)state;
	memset(&setting, 0, sizeof(setting));
	attach(&setting);
	memset(&asked, 0, sizeof(asked));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	detach(&setting);
	return 0;
}

static void energy_of_the_past_is_not_known(void **state)
{
	(void)state;
	setting.options.exclude_children = true;
	watch_open_hardware(&setting.watch);
	assert_int_equal(asked.opened, 1);
	assert_int_equal(asked.energies, 1);
	assert_true(asked.exclude_children);
	setting.options.since_start = true;
	setting.options.exclude_children = false;
	watch_open_hardware(&setting.watch);
	assert_int_equal(asked.opened, 2);
	assert_int_equal(asked.energies, 1);
	assert_false(asked.exclude_children);
}

/* What a command does before it is itself is ours. */
static void a_command_counts_from_its_exec_and_members_at_once(void **state)
{
	(void)state;
	setting.options.hardware_counters = true;
	asked.status = -ENOMEM;
	assert_int_equal(watch_count_command(&setting.watch, 7), -ENOMEM);
	assert_int_equal(asked.tid, 7);
	assert_true(asked.at_exec);
	assert_int_equal(watch_count_members(&setting.watch), -ENOMEM);
	assert_int_equal(asked.added, 2);
	assert_int_equal(asked.tid, PID);
	assert_false(asked.at_exec);
}

static void members_that_ended_are_not_counted(void **state)
{
	struct tree_event end = { .type = TREE_THREAD, .time_ns = 5, .task = { PID, PID, 1 }, .account = { .ended = true } };

	(void)state;
	setting.options.hardware_counters = true;
	assert_int_equal(tree_apply(setting.watch.run->tree, &end), 0);
	assert_int_equal(watch_count_members(&setting.watch), 0);
	assert_int_equal(asked.added, 0);
}

static void nobody_is_counted_unasked_or_since_the_start(void **state)
{
	(void)state;
	assert_int_equal(watch_count_command(&setting.watch, 7), 0);
	assert_int_equal(watch_count_members(&setting.watch), 0);
	setting.options.hardware_counters = setting.options.since_start = true;
	assert_int_equal(watch_count_command(&setting.watch, 7), 0);
	assert_int_equal(watch_count_members(&setting.watch), 0);
	assert_int_equal(asked.added, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(energy_of_the_past_is_not_known),
		TEST(a_command_counts_from_its_exec_and_members_at_once),
		TEST(members_that_ended_are_not_counted),
		TEST(nobody_is_counted_unasked_or_since_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
