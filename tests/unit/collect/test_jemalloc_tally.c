/* SPDX-License-Identifier: MIT */
/* What is said about all processes whose heap counters were to be read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "collect/jemalloc/jemalloc_tally.h"
#include "model/snapshot/snapshot.h"

static void count_many(struct jemalloc_tally *tally, enum jemalloc_tag tag, int error, int times)
{
	while (times--)
		jemalloc_tally_count(tally, tag, error);
}

static void assert_reason(const struct jemalloc_tally *tally, const char *part)
{
	struct text reason = { 0 };

	jemalloc_tally_reason(tally, &reason);
	if (!strstr(text_string(&reason), part))
		fail_msg("'%s' is not in '%s'", part, text_string(&reason));
	text_free(&reason);
}

static void every_tag_has_a_name_of_its_own_and_a_sentence(void **state)
{
	(void)state;
	for (int i = 0; i < JEMALLOC_TAG_COUNT; i++) {
		assert_true(strlen(jemalloc_tags[i].name) > 0);
		assert_true(strlen(jemalloc_tags[i].sentence) > 10);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(jemalloc_tags[i].name, jemalloc_tags[j].name);
	}
}

static void a_process_without_jemalloc_is_no_failure(void **state)
{
	struct jemalloc_tally tally = { .walked = 2 };

	(void)state;
	count_many(&tally, JEMALLOC_NOT_FOUND, 0, 2);
	assert_int_equal(tally.failed, 0);
	assert_int_equal(jemalloc_dominant(&tally), JEMALLOC_READ);
	assert_reason(&tally, "no captured process uses jemalloc");
}

static void a_process_that_ended_is_no_failure(void **state)
{
	struct jemalloc_tally tally = { 0 };

	(void)state;
	count_many(&tally, JEMALLOC_PID_MISSING, -ESRCH, 3);
	assert_int_equal(tally.failed, 0);
	assert_int_equal(tally.tags[JEMALLOC_PID_MISSING], 3);
}

static void the_most_frequent_failure_dominates(void **state)
{
	struct jemalloc_tally tally = { .walked = 9 };

	(void)state;
	count_many(&tally, JEMALLOC_NOT_FOUND, 0, 9); /* not a failure, however many */
	count_many(&tally, JEMALLOC_WAITPID, 0, 1);
	count_many(&tally, JEMALLOC_ORACLE_OFF, 0, 2);
	assert_int_equal(tally.failed, 3);
	assert_int_equal(jemalloc_dominant(&tally), JEMALLOC_ORACLE_OFF);
	assert_reason(&tally, "2 of 9 processes: ");
	assert_reason(&tally, "; 1 of 9 processes: other failures");
	assert_reason(&tally, "--no-jemalloc-oracle");
}

static void of_equal_failures_the_first_by_name_dominates(void **state)
{
	struct jemalloc_tally tally = { 0 };

	(void)state;
	count_many(&tally, JEMALLOC_WORKER_PANIC, 0, 2);
	count_many(&tally, JEMALLOC_ARCH_MISMATCH, 0, 2);
	count_many(&tally, JEMALLOC_LINK_MAP, 0, 2);
	assert_int_equal(jemalloc_dominant(&tally), JEMALLOC_ARCH_MISMATCH);
}

static void half_of_the_failures_for_want_of_rights_is_about_privilege(void **state)
{
	struct jemalloc_tally tally = { 0 };

	(void)state;
	assert_false(jemalloc_is_about_privilege(&tally));
	count_many(&tally, JEMALLOC_LINK_MAP, -ELOOP, 2);
	count_many(&tally, JEMALLOC_PTRACE_SEIZE, -ESRCH, 1);
	assert_false(jemalloc_is_about_privilege(&tally));
	count_many(&tally, JEMALLOC_PROCESS_VM_READV, -EPERM, 1);
	assert_true(jemalloc_is_about_privilege(&tally));
	count_many(&tally, JEMALLOC_PROCESS_VM_READV, -EFAULT, 1); /* no right would help */
	assert_false(jemalloc_is_about_privilege(&tally));
	count_many(&tally, JEMALLOC_READLINK_FAILURE, -EACCES, 1); /* hidden, for want of rights */
	assert_true(jemalloc_is_about_privilege(&tally));
}

static void a_capability_that_is_there_is_not_asked_for(void **state)
{
	struct jemalloc_tally tally = { .walked = 5, .has_capability = true };
	struct text reason = { 0 };

	(void)state;
	count_many(&tally, JEMALLOC_READLINK_FAILURE, -EACCES, 1);
	jemalloc_tally_reason(&tally, &reason);
	assert_string_equal(text_string(&reason),
			    "1 of 5 processes: may not be looked at; denied by a security module or a user "
			    "namespace, although taskscope has the capability");
	text_free(&reason);
}

/* Numbers that stand in one sentence count against the same whole. */
static void failed_and_hidden_processes_count_against_all(void **state)
{
	struct jemalloc_tally tally = { .walked = 536 };

	(void)state;
	count_many(&tally, JEMALLOC_ORACLE_OFF, 0, 3);
	count_many(&tally, JEMALLOC_READLINK_FAILURE, -EACCES, 1);
	assert_reason(&tally, "3 of 536 processes: their jemalloc has no debug");
	assert_reason(&tally, "; 1 of 536 processes: may not be looked at");
}

static void that_nothing_can_be_kept_is_told(void **state)
{
	struct jemalloc_tally tally = { .walked = 1, .cache_error = -EACCES };
	struct snapshot *snapshot;
	const struct column *column;
	uint64_t text = 0;

	(void)state;
	assert_int_equal(snapshot_new(&snapshot), 0);
	assert_int_equal(jemalloc_tally_note(&tally, snapshot), 0);
	column = sheet_find(&snapshot->sheets[SHEET_CAPTURE], "jemalloc cache_unavailable");
	assert_int_equal(column_get(column, 0, &text), CELL_TEXT);
	assert_non_null(strstr(snapshot_text(snapshot, (uint32_t)text), "Permission denied"));
	snapshot_free(snapshot);
}

static void processes_of_others_are_told_as_hidden_not_as_failed(void **state)
{
	struct jemalloc_tally tally = { .walked = 5 };

	(void)state;
	count_many(&tally, JEMALLOC_READLINK_FAILURE, -EACCES, 4);
	assert_int_equal(tally.failed, 0);
	assert_reason(&tally, "4 of 5 processes: may not be looked at; needs CAP_SYS_PTRACE");
}

static void a_capture_that_read_everything_needs_no_reason(void **state)
{
	struct jemalloc_tally tally = { .walked = 1 };
	struct text reason = { 0 };

	(void)state;
	count_many(&tally, JEMALLOC_READ, 0, 1);
	jemalloc_tally_reason(&tally, &reason);
	assert_int_equal(reason.length, 0);
	assert_int_equal(tally.read, 1);
	text_free(&reason);
}

static uint64_t note(const struct snapshot *snapshot, const char *name)
{
	uint64_t value = UINT64_MAX;

	column_get(sheet_find(&snapshot->sheets[SHEET_CAPTURE], name), 0, &value);
	return value;
}

static void the_summary_is_in_the_capture_sheet(void **state)
{
	struct jemalloc_tally tally = { .walked = 7, .detected = 3, .stopped_ns = 55 };
	struct snapshot *snapshot;

	(void)state;
	assert_int_equal(snapshot_new(&snapshot), 0);
	count_many(&tally, JEMALLOC_READ, 0, 2);
	count_many(&tally, JEMALLOC_PTRACE_SEIZE, -EPERM, 1);
	assert_int_equal(jemalloc_tally_note(&tally, snapshot), 0);
	assert_int_equal(note(snapshot, "jemalloc walked"), 7);
	assert_int_equal(note(snapshot, "jemalloc detected"), 3);
	assert_int_equal(note(snapshot, "jemalloc read"), 2);
	assert_int_equal(note(snapshot, "jemalloc failed"), 1);
	assert_int_equal(note(snapshot, "jemalloc privilege_dominant"), 1);
	assert_int_equal(note(snapshot, "jemalloc failures ptrace-seize"), 1);
	assert_int_equal(note(snapshot, "jemalloc stopped_ns"), 55);
	assert_string_equal(
		snapshot_text(snapshot, (uint32_t)note(snapshot, "jemalloc dominant_failure")),
		"ptrace-seize");
	assert_null(sheet_find(&snapshot->sheets[SHEET_CAPTURE], "jemalloc failures waitpid"));
	snapshot_free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tag_has_a_name_of_its_own_and_a_sentence),
		cmocka_unit_test(a_process_without_jemalloc_is_no_failure),
		cmocka_unit_test(a_process_that_ended_is_no_failure),
		cmocka_unit_test(the_most_frequent_failure_dominates),
		cmocka_unit_test(of_equal_failures_the_first_by_name_dominates),
		cmocka_unit_test(half_of_the_failures_for_want_of_rights_is_about_privilege),
		cmocka_unit_test(processes_of_others_are_told_as_hidden_not_as_failed),
		cmocka_unit_test(a_capability_that_is_there_is_not_asked_for),
		cmocka_unit_test(failed_and_hidden_processes_count_against_all),
		cmocka_unit_test(that_nothing_can_be_kept_is_told),
		cmocka_unit_test(a_capture_that_read_everything_needs_no_reason),
		cmocka_unit_test(the_summary_is_in_the_capture_sheet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
