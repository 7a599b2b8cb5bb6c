/* SPDX-License-Identifier: MIT */
/* The table of metrics: every row is whole, and the registry that others rely on is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "metric/metric.h"
#include "metric/reading.h"
#include "metric/wait.h"

#define DELAYS(family)                                                                             \
#family "_delay_count", #family "_delay_total_ns", #family "_delay_max_ns",                \
		#family "_delay_min_ns"

static const char *const primary_names[] = {
	"thread_count",
	"policy",
	"nice",
	"priority",
	"rt_priority",
	"cpu_affinity",
	"processor",
	"state",
	"ext_enabled",
	"nr_threads",
	"run_time_ns",
	"wait_time_ns",
	"timeslices",
	"voluntary_csw",
	"nonvoluntary_csw",
	"nr_wakeups",
	"nr_wakeups_local",
	"nr_wakeups_remote",
	"nr_wakeups_sync",
	"nr_wakeups_migrate",
	"nr_wakeups_affine",
	"nr_wakeups_affine_attempts",
	"nr_migrations",
	"nr_forced_migrations",
	"nr_failed_migrations_affine",
	"nr_failed_migrations_running",
	"nr_failed_migrations_hot",
	"wait_sum",
	"wait_count",
	"wait_max",
	"voluntary_sleep_ns",
	"sleep_max",
	"block_sum",
	"block_max",
	"iowait_sum",
	"iowait_count",
	"exec_max",
	"slice_max",
	"core_forceidle_sum",
	"fair_slice_ns",
	"allocated_bytes",
	"deallocated_bytes",
	"minflt",
	"majflt",
	"utime_ns",
	"stime_ns",
	"rchar",
	"wchar",
	"syscr",
	"syscw",
	"read_bytes",
	"write_bytes",
	"cancelled_write_bytes",
	DELAYS(cpu),
	DELAYS(blkio),
	DELAYS(swapin),
	DELAYS(freepages),
	DELAYS(thrashing),
	DELAYS(compact),
	DELAYS(wpcopy),
	DELAYS(irq),
	"hiwater_rss_bytes",
	"hiwater_vm_bytes",
};

static const char *const derived_names[] = {
	"affine_success_ratio",	  "avg_wait_ns",	   "cpu_efficiency",
	"avg_slice_ns",		  "involuntary_csw_ratio", "disk_io_fraction",
	"live_heap_estimate",	  "avg_iowait_ns",	   "avg_cpu_delay_ns",
	"avg_blkio_delay_ns",	  "avg_swapin_delay_ns",   "avg_freepages_delay_ns",
	"avg_thrashing_delay_ns", "avg_compact_delay_ns",  "avg_wpcopy_delay_ns",
	"avg_irq_delay_ns",	  "total_offcpu_delay_ns",
};

static const char *const process_names[] = {
	"ppid",
	"pgid",
	"session",
	"uid",
	"rss_bytes",
	"vm_bytes",
	"pss_bytes",
	"uss_bytes",
	"swap_bytes",
	"swap_pss_bytes",
	"open_fds",
	"fd_limit",
	"dead_run_time_ns",
	"dead_utime_ns",
	"dead_stime_ns",
	"dead_minflt",
	"dead_voluntary_csw",
	"dead_rchar",
	"child_utime_ns",
	"child_stime_ns",
};

static void every_row_is_named_explained_unique_and_found(void **state)
{
	(void)state;
	for (int id = 0; id < METRIC_COUNT; id++) {
		const struct metric *metric = &metrics[id];

		assert_non_null(metric->name);
		assert_non_null(metric->help);
		assert_true(strlen(metric->name) < 64); /* what a file has room for */
		assert_int_equal(strspn(metric->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
				 strlen(metric->name));
		assert_true(strlen(metric->help) > 5);
		assert_int_equal(metric->help[strlen(metric->help) - 1], '.');
		/* Also unique: a second row of that name would find the first. */
		assert_int_equal(metric_find(metric->name), id);
	}
	assert_int_equal(metric_find("no_such_metric"), -1);
	assert_int_equal(metric_find(""), -1);
}

static void every_stored_row_has_a_source_and_no_formula(void **state)
{
	(void)state;
	for (int id = 0; id < METRIC_STORED; id++) {
		const struct metric *metric = &metrics[id];

		assert_false(metric_is_derived((enum metric_id)id));
		assert_true(metric->sources[0].place != 0);
		assert_int_equal(metric->formula.count, 0);
		assert_int_not_equal(metric->kind, KIND_DERIVED);
		assert_int_not_equal(metric->fold, FOLD_FORMULA);
		for (size_t i = 0; i < METRIC_SOURCES && metric->sources[i].place; i++) {
			const struct metric_source *source = &metric->sources[i];

			assert_ptr_equal(metric_source(metric, source->place), source);
			assert_string_not_equal(metric_place_name(source->place), "");
		}
	}
	assert_null(metric_source(&metrics[METRIC_majflt], PLACE_JEMALLOC));
}

static void a_formula_takes_stored_metrics_that_fold_to_numbers(void **state)
{
	(void)state;
	for (int id = METRIC_STORED; id < METRIC_COUNT; id++) {
		const struct metric *metric = &metrics[id];

		assert_true(metric_is_derived((enum metric_id)id));
		assert_int_equal(metric->kind, KIND_DERIVED);
		assert_int_equal(metric->fold, FOLD_FORMULA);
		assert_in_range(metric->formula.kind, FORMULA_RATIO, FORMULA_SUM_AND_LARGER);
		assert_in_range(metric->formula.count, 2, FORMULA_INPUTS);
		for (unsigned i = 0; i < metric->formula.count; i++) {
			enum metric_id input = metric->formula.inputs[i];

			assert_true(input < METRIC_STORED);
			assert_true(metrics[input].fold == FOLD_SUM ||
				    metrics[input].fold == FOLD_MAX ||
				    metrics[input].fold == FOLD_MIN);
		}
	}
}

/* The sums that metrics.def spells out have each reason of waits.def in its place. */
static void sums_of_waits_have_every_reason_of_their_kind(void **state)
{
	(void)state;
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		char name[64];
		int found[] = { 0, 0 };

		snprintf(name, sizeof(name), "wait_%s_ns", waits[reason].name);
		for (int id = METRIC_wait_costly_ns; id <= METRIC_wait_for_work_ns; id++)
			for (unsigned i = 0; i < metrics[id].formula.count; i++)
				found[id - METRIC_wait_costly_ns] +=
					(int)metrics[id].formula.inputs[i] == metric_find(name);
		assert_int_equal(found[0], waits[reason].kind == WAIT_COST);
		assert_int_equal(found[1], waits[reason].kind == WAIT_WORK);
	}
}

/* Whether a fold makes sense of values of that kind. */
static bool fold_fits(enum metric_kind kind, enum metric_fold fold)
{
	switch (kind) {
	case KIND_COUNTER:
		return fold == FOLD_SUM;
	case KIND_PEAK:
		return fold == FOLD_MAX;
	case KIND_LOW:
		return fold == FOLD_MIN;
	case KIND_GAUGE:
		return fold == FOLD_SUM || fold == FOLD_MAX || fold == FOLD_MIN;
	case KIND_ORDINAL:
	case KIND_LIMIT:
	case KIND_SETTING:
		return fold == FOLD_RANGE;
	case KIND_CATEGORY:
	case KIND_TEXT:
		return fold == FOLD_MODE;
	case KIND_CPUSET:
		return fold == FOLD_CPUSET;
	case KIND_DERIVED:
		return fold == FOLD_FORMULA;
	}
	return false;
}

static void kind_fold_and_unit_of_a_row_agree(void **state)
{
	(void)state;
	for (int id = 0; id < METRIC_COUNT; id++) {
		const struct metric *metric = &metrics[id];
		const char *end = strrchr(metric->name, '_');

		assert_true(fold_fits(metric->kind, metric->fold));
		assert_int_equal(metric->kind == KIND_CPUSET, metric->unit == UNIT_CPUS);
		if (end && strcmp(end, "_ns") == 0)
			assert_int_equal(metric->unit, UNIT_NS);
		if (end && strcmp(end, "_bytes") == 0)
			assert_int_equal(metric->unit, UNIT_BYTES);
		if (end && strcmp(end, "_ratio") == 0)
			assert_int_equal(metric->unit, UNIT_RATIO);
	}
}

static void readings_are_described_like_metrics(void **state)
{
	struct metric metric = reading_metric("memory.stat anon");

	(void)state;
	for (size_t i = 0; i < reading_count; i++) {
		assert_true(fold_fits(readings[i].kind, readings[i].fold));
		assert_int_equal(readings[i].scope, METRIC_OF_ROW);
	}
	assert_string_equal(metric.name, "memory.stat anon");
	assert_int_equal(metric.unit, UNIT_BYTES);
	assert_int_equal(metric.fold, FOLD_SUM);
	assert_int_equal(reading_find("cpu.pressure some avg10")->fold, FOLD_MAX);
	assert_true(reading_is_known("memory.max"));
	assert_false(reading_is_known("what is that"));
}

static void the_87_primary_and_17_derived_metrics_are_there(void **state)
{
	(void)state;
	assert_int_equal(ARRAY_SIZE(primary_names), 87);
	assert_int_equal(ARRAY_SIZE(derived_names), 17);
	assert_int_equal(METRIC_COUNT - METRIC_STORED, 20);
	for (size_t i = 0; i < ARRAY_SIZE(primary_names); i++)
		assert_in_range(metric_find(primary_names[i]), 0, METRIC_STORED - 1);
	for (size_t i = 0; i < ARRAY_SIZE(derived_names); i++)
		assert_in_range(metric_find(derived_names[i]), METRIC_STORED, METRIC_COUNT - 1);
}

static void what_belongs_to_a_process_is_folded_once_for_it(void **state)
{
	static const char *const also[] = { "nr_threads", "hiwater_rss_bytes", "hiwater_vm_bytes" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(process_names); i++) {
		int id = metric_find(process_names[i]);

		assert_in_range(id, 0, METRIC_STORED - 1);
		assert_int_equal(metrics[id].scope, METRIC_OF_PROCESS);
	}
	for (size_t i = 0; i < ARRAY_SIZE(also); i++)
		assert_int_equal(metrics[metric_find(also[i])].scope, METRIC_OF_PROCESS);
	assert_int_equal(metrics[METRIC_run_time_ns].scope, METRIC_OF_THREAD);
}

static void assert_word(const char *word)
{
	assert_non_null(word);
	assert_string_not_equal(word, "");
}

static void every_list_has_a_word_for_each_of_its_members(void **state)
{
	(void)state;
	for (int unit = UNIT_NS; unit <= UNIT_CPUS; unit++)
		assert_word(metric_unit_name((enum metric_unit)unit));
	for (int kind = KIND_COUNTER; kind <= KIND_DERIVED; kind++)
		assert_word(metric_kind_name((enum metric_kind)kind));
	for (int scope = METRIC_OF_THREAD; scope <= METRIC_OF_PROCESS; scope++)
		assert_word(metric_scope_name((enum metric_scope)scope));
	for (int fold = FOLD_SUM; fold <= FOLD_FORMULA; fold++)
		assert_word(metric_fold_name((enum metric_fold)fold));
	for (int section = 0; section < SECTION_COUNT; section++)
		assert_word(metric_section_name((enum metric_section)section));
	for (int gate = GATE_NONE + 1; gate < GATE_COUNT; gate++)
		assert_word(metric_gate_name((enum metric_gate)gate));
	for (int class = CLASS_ANY + 1; class <= CLASS_FAIR_POLICY; class ++)
		assert_word(metric_class_name((enum metric_class) class));
	for (int place = PLACE_STAT; place < PLACE_COUNT; place++)
		assert_word(metric_place_name((enum metric_place)place));
	assert_string_equal(metric_gate_name(GATE_NONE), "");
	assert_string_equal(metric_class_name(CLASS_ANY), "");
}

static void a_category_has_the_word_that_the_kernel_uses(void **state)
{
	char buffer[32];

	(void)state;
	assert_string_equal(metric_category_text(UNIT_POLICY, 0, buffer), "SCHED_OTHER");
	assert_string_equal(metric_category_text(UNIT_POLICY, 5, buffer), "SCHED_IDLE");
	assert_string_equal(metric_category_text(UNIT_POLICY, 7, buffer), "SCHED_EXT");
	assert_string_equal(metric_category_text(UNIT_POLICY, 4, buffer), "SCHED_UNKNOWN(4)");
	assert_string_equal(metric_category_text(UNIT_POLICY, 8, buffer), "SCHED_UNKNOWN(8)");
	assert_non_null(strstr(metric_category_text(UNIT_POLICY, UINT64_MAX, buffer), "UNKNOWN"));
	assert_string_equal(metric_category_text(UNIT_BOOL, 0, buffer), "false");
	assert_string_equal(metric_category_text(UNIT_BOOL, 1, buffer), "true");
	assert_string_equal(metric_category_text(UNIT_STATE, 'S', buffer), "S");
	assert_string_equal(metric_category_text(UNIT_STATE, 0x1b, buffer), "?");
	assert_string_equal(metric_category_text(UNIT_STATE, 0x100 + 'S', buffer), "?");
	assert_string_equal(metric_category_text(UNIT_COUNT, UINT64_MAX, buffer),
			    "18446744073709551615");
}

static void raw_values_become_the_stored_unit_and_saturate(void **state)
{
	static const struct raw_scale scale = { .tick_ns = 10000000, .page_bytes = 4096 };

	(void)state;
	assert_true(metric_from_raw(3, RAW_TICKS, &scale) == 30000000);
	assert_true(metric_from_raw(3, RAW_KIB, &scale) == 3072);
	assert_true(metric_from_raw(3, RAW_PAGES, &scale) == 12288);
	assert_true(metric_from_raw(39999999, RAW_FLOORED, &scale) == 30000000);
	assert_true(metric_from_raw(7, RAW_NS, &scale) == 7);
	assert_true(metric_from_raw((uint64_t)-5, RAW_LEVEL, &scale) == (uint64_t)-5);
	assert_true(metric_from_raw(UINT64_MAX / 2, RAW_TICKS, &scale) == UINT64_MAX);
	assert_true(metric_from_raw(UINT64_MAX / 2, RAW_KIB, &scale) == UINT64_MAX);
	assert_true(metric_from_raw(UINT64_MAX, RAW_PAGES, &scale) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_named_explained_unique_and_found),
		cmocka_unit_test(every_stored_row_has_a_source_and_no_formula),
		cmocka_unit_test(a_formula_takes_stored_metrics_that_fold_to_numbers),
		cmocka_unit_test(sums_of_waits_have_every_reason_of_their_kind),
		cmocka_unit_test(kind_fold_and_unit_of_a_row_agree),
		cmocka_unit_test(readings_are_described_like_metrics),
		cmocka_unit_test(the_87_primary_and_17_derived_metrics_are_there),
		cmocka_unit_test(what_belongs_to_a_process_is_folded_once_for_it),
		cmocka_unit_test(every_list_has_a_word_for_each_of_its_members),
		cmocka_unit_test(a_category_has_the_word_that_the_kernel_uses),
		cmocka_unit_test(raw_values_become_the_stored_unit_and_saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
