/* SPDX-License-Identifier: MIT */
/* Correlation: made histories with a known cause, with none, and with too little data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "analyze/outcome/correlation.h"
#include "base/text.h"

#define MIB 1048576.0
#define JOBS_MOST 2000

static uint64_t seed;

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double uniform(void)
{
	return (double)(next() >> 11) / 9007199254740992.0;
}

static const char *const syscalls[] = { NULL, "futex", "read", "fsync" };
static const char *const names[] = { "build", "nightly", "import" };

/* A job with all values, which say nothing about each other. */
static struct outcome_job any_job(void)
{
	struct outcome_job job = { .name = names[next() % 3], .outcome = JOB_SUCCESS };

	outcome_job_set(&job, FACTOR_MEMORY, MIB * pow(2, 6 + 6 * uniform()));
	outcome_job_set(&job, FACTOR_CPU_TIME, 1e9 * pow(10, 3 * uniform()));
	outcome_job_set(&job, FACTOR_DURATION, 1e9 * pow(10, 3 * uniform()));
	outcome_job_set(&job, FACTOR_ANOMALY, uniform() < 0.3);
	outcome_job_set(&job, FACTOR_SYSCALL, 0);
	job.syscall = syscalls[next() % 4];
	return job;
}

static void fail_with(struct outcome_job *job, double chance)
{
	job->outcome = uniform() < chance ? JOB_FAILURE : JOB_SUCCESS;
}

static const struct outcome_group *find(const struct correlation *correlation, enum factor factor,
					unsigned index)
{
	for (size_t i = 0; i < correlation->groups.count; i++) {
		const struct outcome_group *group = &correlation->groups.data[i];

		if (group->factor == factor && group->index == index)
			return group;
	}
	return NULL;
}

static void memory_that_causes_failure_is_found(void **state)
{
	struct outcome_job jobs[200];
	struct correlation found;
	const struct outcome_group *group;
	struct text words = { 0 };

	(void)state;
	seed = 1;
	for (size_t i = 0; i < 200; i++) {
		jobs[i] = any_job();
		fail_with(&jobs[i], jobs[i].values[FACTOR_MEMORY] >= 2048 * MIB ? 0.8 : 0.1);
	}
	assert_int_equal(correlate(jobs, 200, &found), 0);
	assert_true(found.can_find);
	group = &found.groups.data[0];
	assert_int_equal(group->factor, FACTOR_MEMORY);
	assert_int_equal(group->judgement, GROUP_FOUND);
	assert_int_equal(group->index, 4);
	assert_true(group->rate > 0.6 && group->rate_low > 0.5 && group->rate_high < 1);
	assert_true(group->p <= group->corrected_p && group->corrected_p < 1e-6);
	assert_true(group->has_within && group->p_within < 1e-6 && group->names == 3);
	assert_int_equal(group->table.jobs + group->table.others, 200);
	outcome_group_sentence(&words, group);
	assert_string_equal(text_string(&words),
			    "jobs with a peak memory of 2 GiB or more fail more often");
	text_free(&words);
	correlation_clear(&found);
}

/* Each factor as the cause, in histories of 400 jobs: it is found in all of them. */
static void each_cause_is_found(void **state)
{
	(void)state;
	seed = 2;
	for (unsigned cause = 0; cause < FACTOR_COUNT; cause++)
		for (size_t history = 0; history < 20; history++) {
			struct outcome_job jobs[400];
			struct correlation found;
			bool is_found = false;

			for (size_t i = 0; i < 400; i++) {
				static const double over[FACTOR_COUNT] = { 2048 * MIB, 1.78e11,
									   1.78e11, 1, 1 };
				bool is_hit;

				jobs[i] = any_job();
				is_hit = cause == FACTOR_SYSCALL ?
						 jobs[i].syscall == syscalls[2] :
						 jobs[i].values[cause] >= over[cause];
				fail_with(&jobs[i], is_hit ? 0.6 : 0.1);
			}
			assert_int_equal(correlate(jobs, 400, &found), 0);
			for (size_t i = 0; i < found.groups.count; i++)
				is_found |= found.groups.data[i].factor == cause &&
					    found.groups.data[i].judgement == GROUP_FOUND;
			if (!is_found)
				fail_msg("cause %u, history %zu", cause, history);
			/* The strongest group is of the cause. */
			assert_int_equal(found.groups.data[0].factor, cause);
			assert_true(found.groups.data[0].rate > found.groups.data[0].other_rate);
			correlation_clear(&found);
		}
}

/* Failures by chance alone: any finding is false.  At most 5 % of histories may have one. */
static void nothing_is_found_where_there_is_nothing(void **state)
{
	static struct outcome_job jobs[JOBS_MOST];
	size_t with_findings = 0, found_any_near = 0;

	(void)state;
	seed = 3;
	for (size_t history = 0; history < 1000; history++) {
		size_t count = 20 + next() % 380;
		double chance = 0.05 + 0.5 * uniform();
		struct correlation found;

		for (size_t i = 0; i < count; i++) {
			jobs[i] = any_job();
			fail_with(&jobs[i], chance);
		}
		assert_int_equal(correlate(jobs, count, &found), 0);
		with_findings += correlation_found(&found) > 0;
		for (size_t i = 0; i < found.groups.count; i++)
			found_any_near += found.groups.data[i].p < CORRELATION_ALPHA;
		correlation_clear(&found);
	}
	if (with_findings > 50)
		fail_msg("%zu of 1,000 histories have a false finding", with_findings);
	/* Without the correction there would be many. */
	assert_true(found_any_near > 200);
}

static void too_little_data_says_how_much_is_needed(void **state)
{
	struct outcome_job jobs[JOBS_MOST];
	struct correlation found;

	(void)state;
	seed = 4;
	for (size_t count = 0; count <= 7; count++) {
		uint64_t needed, failures;

		for (size_t i = 0; i < count; i++) {
			jobs[i] = any_job();
			jobs[i].outcome = i % 3 == 0 ? JOB_FAILURE : JOB_SUCCESS;
		}
		assert_int_equal(correlate(jobs, count, &found), 0);
		assert_false(found.can_find);
		assert_int_equal(correlation_found(&found), 0);
		assert_true(found.needed_jobs > count && found.needed_jobs < 100);
		assert_true(found.needed_failures > 0 && found.needed_failures < found.needed_jobs);
		needed = found.needed_jobs;
		failures = found.needed_failures;
		correlation_clear(&found);
		/* The same jobs over and over, up to about that number: then a group can pass. */
		for (size_t i = count; count && i < 2 * needed; i++)
			jobs[i] = jobs[i % count];
		if (count < 5)
			continue;
		assert_int_equal(correlate(jobs, 2 * needed, &found), 0);
		assert_true(found.can_find);
		assert_true(failures <= found.failures);
		correlation_clear(&found);
	}
}

static void without_failures_it_says_how_many_it_takes(void **state)
{
	static struct outcome_job jobs[60];
	struct correlation found;

	(void)state;
	seed = 5;
	for (size_t i = 0; i < 60; i++)
		jobs[i] = any_job();
	assert_int_equal(correlate(jobs, 60, &found), 0);
	assert_false(found.can_find);
	assert_int_equal(found.needed_jobs, 60);
	assert_true(found.needed_failures >= 2 && found.needed_failures < 20);
	correlation_clear(&found);
	for (size_t i = 0; i < 60; i++)
		jobs[i].outcome = JOB_FAILURE;
	assert_int_equal(correlate(jobs, 60, &found), 0);
	assert_false(found.can_find);
	assert_true(found.needed_failures > 40 && found.needed_failures < 60);
	correlation_clear(&found);
}

static void what_is_not_known_is_left_out_and_counted(void **state)
{
	struct outcome_job jobs[40];
	struct correlation found;
	const struct outcome_group *group;

	(void)state;
	seed = 6;
	for (size_t i = 0; i < 40; i++) {
		jobs[i] = any_job();
		jobs[i].outcome = i < 15 ? JOB_FAILURE : i < 36 ? JOB_SUCCESS : JOB_UNKNOWN;
		outcome_job_set(&jobs[i], FACTOR_MEMORY, i < 18 ? 3000 * MIB : 100 * MIB);
		if (i >= 10 && i < 15)
			jobs[i].present &= ~(1u << FACTOR_MEMORY);
		if (i == 39)
			jobs[i].outcome = JOB_RUNNING;
	}
	assert_int_equal(correlate(jobs, 40, &found), 0);
	assert_int_equal(found.jobs, 36);
	assert_int_equal(found.failures, 15);
	assert_int_equal(found.unknown, 3);
	assert_int_equal(found.running, 1);
	assert_int_equal(found.lacking[FACTOR_MEMORY], 5);
	assert_int_equal(found.lacking[FACTOR_DURATION], 0);
	/* Two groups are one test: the one that fails more often is left. */
	group = find(&found, FACTOR_MEMORY, 4);
	assert_non_null(group);
	assert_null(find(&found, FACTOR_MEMORY, 0));
	assert_int_equal(group->table.jobs, 13);
	assert_int_equal(group->table.failures, 10);
	assert_int_equal(group->table.others, 18);
	assert_int_equal(group->table.other_failures, 0);
	correlation_clear(&found);
}

static void bounds_belong_to_the_group_above(void **state)
{
	static const double at[] = { 255, 256, 511.9, 512, 1024, 2047, 2048, 90000 };
	static const unsigned group_of[] = { 0, 1, 1, 2, 3, 3, 4, 4 };
	struct outcome_job jobs[8];
	struct correlation found;
	uint64_t counts[5] = { 0 };

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		jobs[i] = (struct outcome_job){ .name = "a", .outcome = JOB_SUCCESS };
		outcome_job_set(&jobs[i], FACTOR_MEMORY, at[i] * MIB);
		counts[group_of[i]]++;
	}
	assert_int_equal(correlate(jobs, 8, &found), 0);
	assert_int_equal(found.groups.count, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(find(&found, FACTOR_MEMORY, i)->table.jobs, counts[i]);
	correlation_clear(&found);
}

static void quarters_are_of_the_values_and_equal_values_stay_together(void **state)
{
	struct outcome_job jobs[16];
	struct correlation found;

	(void)state;
	for (size_t i = 0; i < 16; i++) {
		jobs[i] = (struct outcome_job){ .name = "a", .outcome = JOB_SUCCESS };
		outcome_job_set(&jobs[i], FACTOR_DURATION, (double)(16 - i) * 1e9);
		outcome_job_set(&jobs[i], FACTOR_CPU_TIME, 7e9);
	}
	assert_int_equal(correlate(jobs, 16, &found), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(find(&found, FACTOR_DURATION, i)->table.jobs, 4);
	assert_true(find(&found, FACTOR_DURATION, 3)->low == 13e9);
	assert_int_equal(find(&found, FACTOR_CPU_TIME, 3)->table.jobs, 16);
	assert_int_equal(find(&found, FACTOR_CPU_TIME, 3)->judgement, GROUP_ALONE);
	correlation_clear(&found);
}

/* One name fails often and is large: the group is found, and the test within names says why. */
static void a_group_that_is_one_name_says_so(void **state)
{
	static struct outcome_job jobs[400];
	struct correlation found;
	const struct outcome_group *group;

	(void)state;
	seed = 7;
	for (size_t i = 0; i < 400; i++) {
		bool is_large = uniform() < (i < 100 ? 0.8 : 0.1);

		jobs[i] = any_job();
		jobs[i].name = i < 100 ? "nightly" : "build";
		outcome_job_set(&jobs[i], FACTOR_MEMORY, is_large ? 3000 * MIB : 100 * MIB);
		fail_with(&jobs[i], i < 100 ? 0.7 : 0.05);
	}
	assert_int_equal(correlate(jobs, 400, &found), 0);
	group = find(&found, FACTOR_MEMORY, 4);
	assert_int_equal(group->judgement, GROUP_FOUND);
	assert_string_equal(group->main_name, "nightly");
	assert_true(group->main_jobs * 10 > group->table.jobs * 6);
	assert_int_equal(group->names, 2);
	assert_true(group->has_within && group->p_within > 0.05);
	correlation_clear(&found);
}

static void a_job_gives_what_it_has(void **state)
{
	struct job job = { .name = "nightly",
			   .outcome = JOB_FAILURE,
			   .begin_unix_ns = 9000,
			   .end_unix_ns = 4000,
			   .duration_ns = 3000 };
	struct outcome_job outcome;

	(void)state;
	job_set(&job.figures, JOB_peak_memory_bytes, 5 * MIB);
	outcome = outcome_job_of(&job);
	assert_int_equal(outcome.present, 1u << FACTOR_MEMORY | 1u << FACTOR_DURATION);
	assert_true(outcome.values[FACTOR_DURATION] == 3000);
	assert_int_equal(outcome.outcome, JOB_FAILURE);
	job.duration_ns = 0;
	assert_int_equal(outcome_job_of(&job).present, 1u << FACTOR_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_causes_failure_is_found),
		cmocka_unit_test(each_cause_is_found),
		cmocka_unit_test(nothing_is_found_where_there_is_nothing),
		cmocka_unit_test(too_little_data_says_how_much_is_needed),
		cmocka_unit_test(without_failures_it_says_how_many_it_takes),
		cmocka_unit_test(what_is_not_known_is_left_out_and_counted),
		cmocka_unit_test(bounds_belong_to_the_group_above),
		cmocka_unit_test(quarters_are_of_the_values_and_equal_values_stay_together),
		cmocka_unit_test(a_group_that_is_one_name_says_so),
		cmocka_unit_test(a_job_gives_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
