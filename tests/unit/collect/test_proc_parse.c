/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/collection/array.h"
#include "collect/gate.h"
#include "collect/proc/proc_parse.h"
#include "collect/proc/user_names.h"

typedef void parser(const char *text, const struct proc_plan *plan, struct proc_values *ret);

struct parsed {
	struct proc_plan plan;
	struct proc_values values;
};

static void parse(struct parsed *parsed, enum metric_place place, parser *function,
		  const char *text)
{
	proc_plan_init(&parsed->plan, place, 0, NULL);
	function(text, &parsed->plan, &parsed->values);
}

static bool get(const struct parsed *parsed, enum metric_id id, uint64_t *ret)
{
	for (unsigned i = 0; i < parsed->plan.count; i++)
		if (parsed->plan.items[i].id == id && parsed->values.present >> i & 1) {
			*ret = parsed->values.raw[i];
			return true;
		}
	return false;
}

static void assert_value(const struct parsed *parsed, enum metric_id id, uint64_t expected)
{
	uint64_t value = 0;

	if (!get(parsed, id, &value))
		fail_msg("%s is absent", metrics[id].name);
	if (value != expected)
		fail_msg("%s is %llu, not %llu", metrics[id].name, (unsigned long long)value,
			 (unsigned long long)expected);
}

static void assert_absent(const struct parsed *parsed, enum metric_id id)
{
	uint64_t value;

	if (get(parsed, id, &value))
		fail_msg("%s is %llu, not absent", metrics[id].name, (unsigned long long)value);
}

/* Fields 3 to 52, each its own number but for the letter and the signed ones. */
#define STAT_TAIL                                                                                  \
	" S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 -2 -5 20 21 22 23 24 25 26 27 28 29 30 31 32 33 "  \
	"34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52\n"

#define RULE "-------------------------------------------------------------------\n"

static const char status_text[] = "Name:\tworker\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t7\n"
				  "Uid:\t1000\t1001\t1002\t1003\nVmPeak:\t    2048 kB\n"
				  "VmHWM:\t     512 kB\nThreads:\t12\n"
				  "Cpus_allowed:\tff\nCpus_allowed_list:\t0-3,6\n"
				  "voluntary_ctxt_switches:\t341\n"
				  "nonvoluntary_ctxt_switches:\t73\n";

static const char sched_text[] =
	"worker (7, #threads: 1)\n" RULE
	"se.exec_start                                :       1471609.899931\n"
	"se.nr_migrations                             :                   38\n"
	"se.statistics.sum_sleep_runtime              :          1000.000500\n"
	"sum_block_runtime                            :           400.000100\n"
	"wait_max                                     :             0.000007\n"
	"se.slice                                     :              1400000\n"
	"ext.enabled                                  :                    1\n"
	"current_node=0, numa_group_id=0\n";

static const char io_text[] = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
			      "write_bytes: 6\ncancelled_write_bytes: 18446744073709551615\n";

static void every_field_of_stat_lands_in_its_metric(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, PLACE_STAT, proc_parse_stat, "7 (worker)" STAT_TAIL);
	assert_value(&parsed, METRIC_ppid, 4);
	assert_value(&parsed, METRIC_minflt, 10);
	assert_value(&parsed, METRIC_child_majflt, 13);
	assert_value(&parsed, METRIC_utime_ns, 14);
	assert_value(&parsed, METRIC_child_stime_ns, 17);
	assert_value(&parsed, METRIC_priority, (uint64_t)-2);
	assert_value(&parsed, METRIC_nice, (uint64_t)-5);
	assert_value(&parsed, METRIC_processor, 39);
	assert_value(&parsed, METRIC_rt_priority, 40);
	assert_value(&parsed, METRIC_policy, 41);
}

static void a_name_may_hold_any_bytes(void **state)
{
	static const char *const names[] = {
		"",
		")",
		"(",
		"a) R 1 2",
		"two\nlines",
		"a b",
		"fifteen_bytes_x",
		"\xff\xfe\x80",
		") S 1 1 1 1",
		"\033[31m",
		"kworker/0:0-events_long_description",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct proc_identity identity;
		struct parsed parsed;
		char text[512];

		snprintf(text, sizeof(text), "7 (%s)%s", names[i], STAT_TAIL);
		assert_true(proc_parse_identity(text, &identity));
		assert_int_equal(identity.comm_length, strlen(names[i]));
		assert_memory_equal(identity.comm, names[i], identity.comm_length);
		assert_int_equal(identity.start_ticks, 22);
		assert_int_equal(identity.threads, 20);
		parse(&parsed, PLACE_STAT, proc_parse_stat, text);
		assert_value(&parsed, METRIC_minflt, 10);
	}
}

static void who_has_no_name_or_start_time_is_nobody(void **state)
{
	static const char *const texts[] = {
		"",
		"7",
		"7 (worker",
		"7 worker)" STAT_TAIL,
		")(" STAT_TAIL,
		"7 (worker)",
		"7 (worker) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22",
		"7 (worker) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 -22 23\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct proc_identity identity = { .threads = 99 };

		assert_false(proc_parse_identity(texts[i], &identity));
		assert_int_equal(identity.threads, 99);
	}
}

static void a_field_that_is_no_number_harms_no_other(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, PLACE_STAT, proc_parse_stat,
	      "7 (w) S x -5 6 7 8 9 99999999999999999999 11 12x 13 18446744073709551615 -15\n");
	assert_absent(&parsed, METRIC_ppid);
	assert_value(&parsed, METRIC_pgid, (uint64_t)-5);
	assert_value(&parsed, METRIC_session, 6);
	assert_absent(&parsed, METRIC_minflt);
	assert_value(&parsed, METRIC_child_minflt, 11);
	assert_absent(&parsed, METRIC_majflt);
	assert_value(&parsed, METRIC_utime_ns, UINT64_MAX);
	assert_absent(&parsed, METRIC_stime_ns);
	assert_absent(&parsed, METRIC_policy);
}

static void group_items_are_found_beside_those_of_the_thread(void **state)
{
	struct parsed parsed;

	(void)state;
	proc_plan_init(&parsed.plan, PLACE_IO, PLACE_GROUP_IO, NULL);
	proc_parse_keyed(io_text, &parsed.plan, &parsed.values);
	assert_value(&parsed, METRIC_rchar, 1);
	assert_value(&parsed, METRIC_dead_rchar, 1);
	assert_value(&parsed, METRIC_dead_syscw, 4);
	assert_int_equal(parsed.plan.own & parsed.plan.group, 0);
	assert_int_equal(__builtin_popcountll(parsed.plan.own),
			 __builtin_popcountll(parsed.plan.group));
}

static void metrics_behind_a_closed_gate_are_not_looked_for(void **state)
{
	struct gate gates[GATE_COUNT] = { 0 };
	struct proc_plan plan;

	(void)state;
	proc_plan_init(&plan, PLACE_IO, PLACE_GROUP_IO, gates);
	assert_int_equal(plan.count, 0);
	proc_plan_init(&plan, PLACE_SCHED, 0, gates);
	for (unsigned i = 0; i < plan.count; i++)
		assert_int_equal(metrics[plan.items[i].id].gate, GATE_NONE);
	gates[GATE_SCHEDSTATS].open = true;
	proc_plan_init(&plan, PLACE_SCHED, 0, gates);
	assert_true(plan.count > 10);
}

static void schedstat_and_statm_count_fields_from_one(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, PLACE_SCHEDSTAT, proc_parse_row, "229143522 32803720 414\n");
	assert_value(&parsed, METRIC_run_time_ns, 229143522);
	assert_value(&parsed, METRIC_wait_time_ns, 32803720);
	assert_value(&parsed, METRIC_timeslices, 414);
	assert_value(&parsed, METRIC_cpu_delay_count, 414);
	parse(&parsed, PLACE_SCHEDSTAT, proc_parse_row, "5\n");
	assert_value(&parsed, METRIC_run_time_ns, 5);
	assert_absent(&parsed, METRIC_wait_time_ns);
	parse(&parsed, PLACE_STATM, proc_parse_row, "765 409 382 5 0 123 0\n");
	assert_value(&parsed, METRIC_vm_bytes, 765);
	assert_value(&parsed, METRIC_rss_bytes, 409);
}

static void status_gives_letter_second_number_and_kibibytes(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, PLACE_STATUS, proc_parse_keyed, status_text);
	assert_value(&parsed, METRIC_state, 'S');
	assert_value(&parsed, METRIC_uid, 1001);
	assert_value(&parsed, METRIC_hiwater_rss_bytes, 512);
	assert_value(&parsed, METRIC_hiwater_vm_bytes, 2048);
	assert_value(&parsed, METRIC_nr_threads, 12);
	assert_value(&parsed, METRIC_voluntary_csw, 341);
	assert_value(&parsed, METRIC_nonvoluntary_csw, 73);
	parse(&parsed, PLACE_STATUS, proc_parse_keyed, "Name:\tkthreadd\nState:\t1\nUid:\t5\n");
	assert_int_equal(parsed.values.present, 0);
}

static void the_prefix_of_a_sched_key_does_not_matter(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, PLACE_SCHED, proc_parse_sched, sched_text);
	assert_value(&parsed, METRIC_nr_migrations, 38);
	assert_value(&parsed, METRIC_fair_slice_ns, 1400000);
	assert_value(&parsed, METRIC_wait_max, 7);
	assert_value(&parsed, METRIC_block_sum, 400000100);
	assert_value(&parsed, METRIC_voluntary_sleep_ns, 600000400);
	assert_absent(&parsed, METRIC_wait_sum);
}

static void a_key_with_a_dot_must_be_the_whole_key(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, PLACE_SCHED, proc_parse_sched, sched_text);
	assert_value(&parsed, METRIC_ext_enabled, 1);
	parse(&parsed, PLACE_SCHED, proc_parse_sched,
	      "x\n" RULE
	      "foo.ext.enabled : 1\nenabled : 1\next.enabled.foo : 1\nenabled.ext : 1\n");
	assert_absent(&parsed, METRIC_ext_enabled);
}

static void a_name_that_looks_like_a_key_is_not_read(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, PLACE_SCHED, proc_parse_sched,
	      "a\nwait_max : 9 (7, #threads: 1)\n" RULE "wait_max : 0.000003\n");
	assert_value(&parsed, METRIC_wait_max, 3);
	parse(&parsed, PLACE_SCHED, proc_parse_sched, "a\n----\nwait_max : 9 (7, #threads: 1)\n");
	assert_int_equal(parsed.values.present, 0);
	parse(&parsed, PLACE_SCHED, proc_parse_sched, "a\n-------------\nwait_max : 9\n");
	assert_int_equal(parsed.values.present, 0);
}

static void times_below_zero_are_dropped_and_counted(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, PLACE_SCHED, proc_parse_sched,
	      "x\n" RULE "wait_max : -1.000500\nsleep_max : 0.-000500\nblock_max : -7\n"
	      "exec_max : 1.5\nslice_max : -\nnr_migrations : -3\n");
	assert_int_equal(parsed.values.negative, 3);
	assert_absent(&parsed, METRIC_wait_max);
	assert_absent(&parsed, METRIC_sleep_max);
	assert_absent(&parsed, METRIC_block_max);
	assert_absent(&parsed, METRIC_slice_max);
	assert_absent(&parsed, METRIC_nr_migrations);
	assert_value(&parsed, METRIC_exec_max, 1500000);
}

static void dotted_times_are_padded_cut_and_bounded(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, PLACE_SCHED, proc_parse_sched,
	      "x\n" RULE "wait_max : 2.1234567\nsleep_max : 3.\nblock_max : 77\n"
	      "exec_max : 18446744073709.551615\nslice_max : 18446744073709.551616\n"
	      "wait_sum : 99999999999999999999.0\niowait_sum : 1.0x\n");
	assert_value(&parsed, METRIC_wait_max, 2123456);
	assert_value(&parsed, METRIC_sleep_max, 3000000);
	assert_value(&parsed, METRIC_block_max, 77);
	assert_value(&parsed, METRIC_exec_max, UINT64_MAX);
	assert_absent(&parsed, METRIC_slice_max);
	assert_absent(&parsed, METRIC_wait_sum);
	assert_absent(&parsed, METRIC_iowait_sum);
	assert_int_equal(parsed.values.negative, 0);
}

static void sleep_needs_both_halves_and_is_never_below_zero(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, PLACE_SCHED, proc_parse_sched, "x\n" RULE "sum_sleep_runtime : 5.0\n");
	assert_absent(&parsed, METRIC_voluntary_sleep_ns);
	parse(&parsed, PLACE_SCHED, proc_parse_sched,
	      "x\n" RULE "sum_sleep_runtime : 5.0\nsum_block_runtime : -1.0\n");
	assert_absent(&parsed, METRIC_voluntary_sleep_ns);
	parse(&parsed, PLACE_SCHED, proc_parse_sched,
	      "x\n" RULE "sum_block_runtime : 6.0\nsum_sleep_runtime : 5.0\n");
	assert_value(&parsed, METRIC_voluntary_sleep_ns, 0);
}

/* Parses the first `length` bytes from memory that ends right behind them. */
static void parse_prefix(const struct parsed *whole, parser *function, const char *text,
			 size_t length)
{
	char *prefix = malloc(length + 1);
	struct proc_values values;

	assert_non_null(prefix);
	memcpy(prefix, text, length);
	prefix[length] = '\0';
	function(prefix, &whole->plan, &values);
	for (unsigned i = 0; i < whole->plan.count; i++)
		if (values.present >> i & 1) {
			assert_true(whole->values.present >> i & 1);
			assert_int_equal(values.raw[i], whole->values.raw[i]);
		}
	free(prefix);
}

static void a_file_cut_anywhere_gives_true_values_or_none(void **state)
{
	static const struct {
		enum metric_place place;
		parser *function;
		const char *text;
	} files[] = {
		{ PLACE_STAT, proc_parse_stat, "7 (a) b)" STAT_TAIL },
		{ PLACE_STATUS, proc_parse_keyed, status_text },
		{ PLACE_SCHED, proc_parse_sched, sched_text },
		{ PLACE_IO, proc_parse_keyed, io_text },
		{ PLACE_SCHEDSTAT, proc_parse_row, "229143522 32803720 414\n" },
		{ PLACE_STATM, proc_parse_row, "765 409 382 5 0 123 0\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct parsed whole;

		parse(&whole, files[i].place, files[i].function, files[i].text);
		assert_true(whole.values.present);
		for (size_t length = 0; length <= strlen(files[i].text); length++)
			parse_prefix(&whole, files[i].function, files[i].text, length);
	}
}

static void the_soft_limit_on_open_files_is_found(void **state)
{
	uint64_t limit = 0;

	(void)state;
	assert_true(proc_parse_limits("Limit  Soft Limit  Hard Limit  Units\n"
				      "Max processes     96343     96343     processes\n"
				      "Max open files    1024      524288    files\n",
				      &limit));
	assert_int_equal(limit, 1024);
	assert_true(proc_parse_limits("Max open files  unlimited unlimited files\n", &limit));
	assert_int_equal(limit, UINT64_MAX);
	assert_false(proc_parse_limits("Max open files  1024", &limit));
	assert_false(proc_parse_limits("Max open files\n", &limit));
	assert_false(proc_parse_limits("Max open filesystems 5 5 x\n", &limit));
	assert_false(proc_parse_limits("", &limit));
}

static void users_are_known_by_their_first_name(void **state)
{
	struct user_names names = { 0 };
	const struct user_name *user;

	(void)state;
	text_append_string(&names.text,
			   "root:x:0:0::/:\n# comment:x:7:\n+nis:x:8:8::/:\n:x:9:9:\n"
			   "b:x:5:5::/:\na:x:5:5::/:\nbad:x:\nworse\nhuge:x:4294967296:1:\n"
			   "nobody:x:65534:65534::/:\ncut:x:6");
	assert_int_equal(user_names_parse(&names), 0);
	assert_int_equal(names.list.count, 4);
	user = user_names_find(&names, 5);
	assert_non_null(user);
	assert_memory_equal(user->name, "b", user->length);
	user = user_names_find(&names, 65534);
	assert_int_equal(user->length, 6);
	assert_null(user_names_find(&names, 7));
	assert_null(user_names_find(&names, 6));
	user_names_clear(&names);
}

/* What does not fit would be left out without a word. */
static void every_plan_has_room_for_all_metrics_of_its_file(void **state)
{
	static const enum metric_place pairs[][2] = {
		{ PLACE_STAT, PLACE_GROUP_STAT },
		{ PLACE_IO, PLACE_GROUP_IO },
	};
	struct proc_plan plan;

	(void)state;
	for (int place = 1; place < PLACE_COUNT; place++) {
		proc_plan_init(&plan, place, 0, NULL);
		assert_true(plan.count < PROC_ITEMS);
	}
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		proc_plan_init(&plan, pairs[i][0], pairs[i][1], NULL);
		assert_true(plan.count < PROC_ITEMS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_stat_lands_in_its_metric),
		cmocka_unit_test(a_name_may_hold_any_bytes),
		cmocka_unit_test(who_has_no_name_or_start_time_is_nobody),
		cmocka_unit_test(a_field_that_is_no_number_harms_no_other),
		cmocka_unit_test(group_items_are_found_beside_those_of_the_thread),
		cmocka_unit_test(metrics_behind_a_closed_gate_are_not_looked_for),
		cmocka_unit_test(schedstat_and_statm_count_fields_from_one),
		cmocka_unit_test(status_gives_letter_second_number_and_kibibytes),
		cmocka_unit_test(the_prefix_of_a_sched_key_does_not_matter),
		cmocka_unit_test(a_key_with_a_dot_must_be_the_whole_key),
		cmocka_unit_test(a_name_that_looks_like_a_key_is_not_read),
		cmocka_unit_test(times_below_zero_are_dropped_and_counted),
		cmocka_unit_test(dotted_times_are_padded_cut_and_bounded),
		cmocka_unit_test(sleep_needs_both_halves_and_is_never_below_zero),
		cmocka_unit_test(a_file_cut_anywhere_gives_true_values_or_none),
		cmocka_unit_test(every_plan_has_room_for_all_metrics_of_its_file),
		cmocka_unit_test(the_soft_limit_on_open_files_is_found),
		cmocka_unit_test(users_are_known_by_their_first_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
