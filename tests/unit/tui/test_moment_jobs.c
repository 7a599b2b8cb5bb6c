/* SPDX-License-Identifier: MIT */
/* Jobs of a moment: how far they are, which processes are theirs, and what was known at the time. */
#include "hand_snapshot.h"

#include "base/clock.h"
#include "history_room.h"
#include "store/history/job/history_jobs.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_jobs.h"

static struct error error; /* of the last call */

/* ---- how far ---- */

static struct job_step steps[] = { { .name = "one", .outcome = JOB_SUCCESS },
				   { .name = "two", .outcome = JOB_FAILURE },
				   { .name = "three" } };

static struct moment with_steps(void)
{
	struct moment moment = { 0 };

	moment.steps.data = steps;
	moment.steps.count = 3;
	return moment;
}

static void steps_that_ended_are_done(void **state)
{
	const struct moment moment = with_steps();
	struct moment_job job = { .job.steps = 5, .step_count = 3, .elapsed_ns = 60 };
	struct job_progress progress = moment_job_progress(&moment, &job);
	uint64_t left_ns = 0;

	(void)state;
	assert_true(progress.is_known && !progress.is_by_time);
	assert_int_equal(progress.done, 2);
	assert_int_equal(progress.total, 5);
	assert_true(progress.share == 0.4);
	assert_true(moment_job_time_left(&moment, &job, &left_ns));
	assert_in_range(left_ns, 89, 90);
	job.first_step = 2;
	job.step_count = 1;
	assert_int_equal(moment_job_progress(&moment, &job).done, 0);
	assert_false(moment_job_time_left(&moment, &job, &left_ns)); /* nothing tells how fast */
}

static void more_steps_than_were_told_are_all(void **state)
{
	const struct moment moment = with_steps();
	const struct moment_job job = { .job.steps = 1, .step_count = 3, .elapsed_ns = 60 };
	struct job_progress progress = moment_job_progress(&moment, &job);
	uint64_t left_ns;

	(void)state;
	assert_int_equal(progress.total, 2);
	assert_true(progress.share == 1);
	assert_false(moment_job_time_left(&moment, &job, &left_ns));
}

static void without_steps_the_usual_time_tells(void **state)
{
	const struct moment moment = { 0 };
	struct moment_job job = { .elapsed_ns = 25, .usual_ns = 100 };
	struct job_progress progress = moment_job_progress(&moment, &job);
	uint64_t left_ns = 0;

	(void)state;
	assert_true(progress.is_known && progress.is_by_time);
	assert_true(progress.share == 0.25 && !progress.total);
	assert_true(moment_job_time_left(&moment, &job, &left_ns));
	assert_int_equal(left_ns, 75);
	job.elapsed_ns = 100;
	assert_true(moment_job_progress(&moment, &job).share == 0.99);
	assert_false(moment_job_time_left(&moment, &job, &left_ns));
	job.elapsed_ns = 25;
	job.job.outcome = JOB_SUCCESS;
	assert_false(moment_job_progress(&moment, &job).is_known);
	assert_false(moment_job_time_left(&moment, &job, &left_ns));
	job = (struct moment_job){ .elapsed_ns = 25 };
	assert_false(moment_job_progress(&moment, &job).is_known);
}

/* ---- whose ---- */

/* Job 1 has processes 10 (in step "two") and 20; job 2 has a cgroup. */
static struct moment_job jobs[] = { { .step_count = 3 }, { .job.cgroup = "/a" } };
static struct job_member members[] = { { 10, 10 * 10000000, 0, "two" },
				       { 20, 20 * 10000000, 0, NULL } };

static uint32_t put_process(struct snapshot *tasks, int32_t pid, int32_t parent, const char *cgroup)
{
	uint32_t row = hand_task(tasks, pid, pid, "x", cgroup);

	tasks->processes[tasks->tasks[row].process].parent = parent;
	return row;
}

static struct moment with_members(struct snapshot *tasks)
{
	struct moment moment = with_steps();

	assert_int_equal(snapshot_finish(tasks), 0);
	moment.tasks = tasks;
	moment.jobs.data = jobs;
	moment.jobs.count = 2;
	moment.members.data = members;
	moment.members.count = 2;
	return moment;
}

/* "12", the job and step of the process; 0 is none. */
static void assert_place(const struct moment *moment, int32_t pid, uint32_t job, uint32_t step)
{
	uint32_t *in_jobs = NULL, *in_steps = NULL;
	int64_t row = snapshot_find_process(moment->tasks, pid);

	assert_true(row >= 0);
	assert_int_equal(moment_job_processes(moment, &in_jobs, &in_steps), 0);
	assert_int_equal(in_jobs[row], job);
	assert_int_equal(in_steps[row], step);
	free(in_jobs);
	free(in_steps);
}

static void processes_and_all_below_them_are_of_the_job(void **state)
{
	struct snapshot *tasks = hand_new();
	struct moment moment;

	(void)state;
	put_process(tasks, 10, 1, "/");
	put_process(tasks, 11, 10, "/");
	put_process(tasks, 12, 11, "/");
	put_process(tasks, 20, 1, "/");
	put_process(tasks, 30, 1, "/");
	put_process(tasks, 40, 41, "/"); /* a ring, as only a forged file has */
	put_process(tasks, 41, 40, "/");
	moment = with_members(tasks);
	assert_place(&moment, 10, 1, 2);
	assert_place(&moment, 11, 1, 2);
	assert_place(&moment, 12, 1, 2);
	assert_place(&moment, 20, 1, 0);
	assert_place(&moment, 30, 0, 0);
	assert_place(&moment, 40, 0, 0);
	tasks->processes[snapshot_find_process(tasks, 10)].start_time_ns++; /* another one */
	assert_place(&moment, 10, 0, 0);
	assert_place(&moment, 12, 0, 0);
	snapshot_free(tasks);
}

static void a_cgroup_has_all_that_is_in_it_and_below(void **state)
{
	struct snapshot *tasks = hand_new();
	struct moment moment;

	(void)state;
	put_process(tasks, 10, 1, "/a"); /* it is job 1's already */
	put_process(tasks, 31, 1, "/a");
	put_process(tasks, 32, 1, "/a/b");
	put_process(tasks, 33, 1, "/ab");
	put_process(tasks, 34, 1, "/");
	moment = with_members(tasks);
	assert_place(&moment, 10, 1, 2);
	assert_place(&moment, 31, 2, 0);
	assert_place(&moment, 32, 2, 0);
	assert_place(&moment, 33, 0, 0);
	assert_place(&moment, 34, 0, 0);
	jobs[1].job.cgroup = "/";
	assert_place(&moment, 33, 2, 0);
	jobs[1].job.cgroup = "/a";
	jobs[1].job.outcome = JOB_SUCCESS; /* what is there now came later */
	assert_int_equal(moment_running_jobs(&moment), 1);
	assert_place(&moment, 31, 0, 0);
	jobs[1].job.outcome = JOB_RUNNING;
	snapshot_free(tasks);
}

static void what_processes_use_is_added_up(void **state)
{
	struct snapshot *tasks = hand_new();
	struct job_use *of_jobs = NULL, *of_steps = NULL;
	struct moment moment;

	(void)state;
	for (int32_t pid = 10; pid <= 20; pid += 10) {
		uint32_t row = put_process(tasks, pid, 1, "/");

		hand_set(tasks, METRIC_run_time_ns, row, (uint64_t)pid);
		hand_set(tasks, METRIC_rss_bytes, tasks->tasks[row].process, (uint64_t)pid * 100);
	}
	hand_set(tasks, METRIC_run_time_ns, hand_task(tasks, 20, 21, "y", "/"), 5);
	tasks->interval_ns = 1000;
	moment = with_members(tasks);
	assert_int_equal(moment_job_uses(&moment, &of_jobs, &of_steps), 0);
	assert_int_equal(of_jobs[0].processes, 2);
	assert_int_equal(of_jobs[0].rss_bytes, 3000);
	assert_int_equal(of_jobs[0].run_time_ns, 35);
	assert_true(of_jobs[0].has_run_time && !of_jobs[1].has_run_time);
	assert_int_equal(of_jobs[1].processes, 0);
	assert_int_equal(of_steps[1].processes, 1);
	assert_int_equal(of_steps[1].run_time_ns, 10);
	free(of_jobs);
	free(of_steps);
	tasks->interval_ns = 0; /* totals say nothing of now */
	assert_int_equal(moment_job_uses(&moment, &of_jobs, &of_steps), 0);
	assert_false(of_jobs[0].has_run_time);
	free(of_jobs);
	free(of_steps);
	snapshot_free(tasks);
}

/* ---- what was known at the time ---- */

static struct job_instant at(uint64_t seconds)
{
	return (struct job_instant){ BEGIN_NS + seconds * SECOND_NS, (100 + seconds) * SECOND_NS,
				     MADE_BOOT_ID };
}

static uint32_t made_uid; /* of jobs that are put */

static uint64_t put_job(struct history *history, const char *name, uint64_t from, uint64_t to,
			enum job_outcome outcome)
{
	const struct job_instant begin = at(from), end = at(to);
	struct job job = { .name = name, .uid = made_uid };
	struct job_step step = { .name = "only" };

	job_begin(&job, &begin);
	assert_int_equal(history_put_job(history, &job, &error), 0);
	step.job = job.id;
	job_step_begin(&step, &begin);
	if (outcome != JOB_RUNNING) {
		job_set(&job.figures, JOB_run_time_ns, 7);
		job_set(&step.figures, JOB_run_time_ns, 7);
		job.memory = JOB_MEMORY_RSS;
		job.has_status = true;
		job_step_end(&step, MADE_BOOT_ID, outcome, &end);
		job_end(&job, outcome, &end);
		assert_int_equal(history_put_job(history, &job, &error), 0);
	}
	assert_int_equal(history_put_step(history, &step, &error), 0);
	if (outcome != JOB_RUNNING) {
		assert_int_equal(history_put_job_details(history, job.id, NULL, "limited", &error),
				 0);
		assert_int_equal(
			history_put_job_details(history, job.id, "only", "limited", &error), 0);
	}
	return job.id;
}

static struct moment read_at(struct history *history, const char *name, uint64_t seconds)
{
	struct moment moment = { 0 };

	moment_add_jobs(&moment, history, name, BEGIN_NS + seconds * SECOND_NS);
	return moment;
}

static void a_job_runs_until_its_end(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct moment moment;

	(void)state;
	put_job(history, "a", 10, 40, JOB_SUCCESS);
	moment = read_at(history, NULL, 9);
	assert_int_equal(moment.jobs.count, 0);
	moment_clear(&moment);

	moment = read_at(history, NULL, 39);
	assert_int_equal(moment.jobs.count, 1);
	assert_int_equal(moment.jobs.data[0].job.outcome, JOB_RUNNING);
	assert_int_equal(moment.jobs.data[0].elapsed_ns, 29 * SECOND_NS);
	assert_int_equal(moment.jobs.data[0].job.end_unix_ns, 0);
	assert_int_equal(moment.jobs.data[0].job.duration_ns, 0);
	assert_int_equal(moment.jobs.data[0].job.figures.present, 0);
	assert_int_equal(moment.jobs.data[0].job.memory, JOB_MEMORY_UNKNOWN);
	assert_false(moment.jobs.data[0].job.has_status);
	assert_null(moment.jobs.data[0].job.details);
	assert_int_equal(moment.jobs.data[0].step_count, 1);
	assert_int_equal(moment.steps.data[0].outcome, JOB_RUNNING);
	assert_int_equal(moment.steps.data[0].duration_ns, 29 * SECOND_NS);
	assert_int_equal(moment.steps.data[0].end_unix_ns, 0);
	assert_int_equal(moment.steps.data[0].figures.present, 0);
	assert_null(moment.steps.data[0].details);
	moment_clear(&moment);

	moment = read_at(history, NULL, 40);
	assert_int_equal(moment.jobs.data[0].job.outcome, JOB_SUCCESS);
	assert_int_equal(moment.jobs.data[0].elapsed_ns, 30 * SECOND_NS);
	assert_string_equal(moment.jobs.data[0].job.details, "limited");
	assert_int_equal(moment.steps.data[0].outcome, JOB_SUCCESS);
	assert_int_equal(moment.steps.data[0].duration_ns, 30 * SECOND_NS);
	assert_string_equal(moment.steps.data[0].details, "limited");
	moment_clear(&moment);

	moment = read_at(history, NULL, 40 + 3601); /* an hour and more ago */
	assert_int_equal(moment.jobs.count, 0);
	moment_clear(&moment);
	history_close(history);
	remove_room(&room);
}

static void what_is_usual_is_the_median_of_successes_before(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct moment moment;

	(void)state;
	put_job(history, "a", 0, 10, JOB_SUCCESS);
	put_job(history, "a", 20, 90, JOB_SUCCESS);
	put_job(history, "a", 100, 120, JOB_SUCCESS);
	put_job(history, "a", 130, 131, JOB_FAILURE);
	put_job(history, "b", 130, 131, JOB_SUCCESS);
	put_job(history, "a", 200, 0, JOB_RUNNING);
	put_job(history, "a", 210, 500, JOB_SUCCESS); /* it ends after the moment */
	moment = read_at(history, "a", 220);
	assert_int_equal(moment.jobs.count, 6);
	assert_int_equal(moment_running_jobs(&moment), 2);
	assert_int_equal(moment.jobs.data[0].job.begin_unix_ns, at(210).unix_ns);
	assert_int_equal(moment.jobs.data[1].job.begin_unix_ns, at(200).unix_ns);
	assert_int_equal(moment.jobs.data[2].job.begin_unix_ns, at(130).unix_ns);
	assert_int_equal(moment.jobs.data[5].job.begin_unix_ns, at(0).unix_ns);
	assert_int_equal(moment.jobs.data[0].usual_ns, 20 * SECOND_NS);
	assert_int_equal(moment.jobs.data[1].usual_ns, 20 * SECOND_NS);
	assert_int_equal(moment.jobs.data[2].usual_ns, 0); /* it is over */
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(moment.jobs.data[i].first_step, i);
	moment_clear(&moment);
	history_close(history);
	remove_room(&room);
}

static void what_is_usual_is_not_for_other_users_to_say(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct moment moment;

	(void)state;
	put_job(history, "a", 0, 10, JOB_SUCCESS);
	put_job(history, "a", 200, 0, JOB_RUNNING);
	made_uid = 5000;
	for (uint64_t i = 0; i < 5; i++)
		put_job(history, "a", 20 + i, 190, JOB_SUCCESS);
	made_uid = 0;
	moment = read_at(history, "a", 220);
	assert_int_equal(moment.jobs.data[0].usual_ns, 10 * SECOND_NS);
	moment_clear(&moment);
	history_close(history);
	remove_room(&room);
}

static void jobs_that_run_are_shown_however_many_came_after_them(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct moment moment;

	(void)state;
	put_job(history, "runs", 0, 0, JOB_RUNNING);
	put_job(history, "then", 0, 150, JOB_SUCCESS);
	for (uint64_t i = 0; i < 60; i++)
		put_job(history, "noise", 10 + i, 11 + i, JOB_SUCCESS);
	moment = read_at(history, NULL, 100);
	assert_int_equal(moment_running_jobs(&moment), 2);
	assert_string_equal(moment.jobs.data[0].job.name, "then");
	assert_string_equal(moment.jobs.data[1].job.name, "runs");
	assert_in_range(moment.jobs.count, 3, 62);
	moment_clear(&moment);
	history_close(history);
	remove_room(&room);
}

static void jobs_that_ended_are_shown_however_many_run(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct moment moment;

	(void)state;
	put_job(history, "ended", 0, 5, JOB_SUCCESS);
	for (uint64_t i = 0; i < 50; i++)
		put_job(history, "runs", 10 + i, 0, JOB_RUNNING);
	moment = read_at(history, NULL, 100);
	assert_int_equal(moment_running_jobs(&moment), 50);
	assert_int_equal(moment.jobs.count, 51);
	assert_string_equal(moment.jobs.data[50].job.name, "ended");
	moment_clear(&moment);
	history_close(history);
	remove_room(&room);
}

static void the_steps_of_one_job_leave_room_for_those_of_others(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct moment moment;
	char name[16];
	uint64_t id;

	(void)state;
	put_job(history, "few", 0, 0, JOB_RUNNING);
	id = put_job(history, "many", 1, 0, JOB_RUNNING);
	for (int i = 0; i < 600; i++) {
		struct job_step step = { .job = id, .name = name };
		const struct job_instant begin = at(2);

		snprintf(name, sizeof(name), "%d", i);
		job_step_begin(&step, &begin);
		assert_int_equal(history_put_step(history, &step, &error), 0);
	}
	moment = read_at(history, NULL, 100);
	assert_string_equal(moment.jobs.data[1].job.name, "few");
	assert_int_equal(moment.jobs.data[1].step_count, 1);
	moment_clear(&moment);
	history_close(history);
	remove_room(&room);
}

static void members_are_those_that_the_recorder_saw(void **state)
{
	const struct task_key seen = { 1000, 1000, SECOND_NS }; /* as the made ticks have it */
	struct room room = make_room();
	struct history *history = create(&room);
	struct moment moment;
	uint64_t id;

	(void)state;
	add_tick(history, &small, 0);
	put_job(history, "other", 0, 0, JOB_RUNNING);
	id = put_job(history, "a", 1, 0, JOB_RUNNING);
	put_job(history, "over", 1, 2, JOB_SUCCESS);
	assert_int_equal(history_put_process_job(history, MADE_BOOT_ID, &seen, id, "only", &error),
			 0);
	moment = read_at(history, NULL, 5);
	assert_string_equal(moment.jobs.data[0].job.name, "a");
	assert_int_equal(moment.members.count, 1);
	assert_int_equal(moment.members.data[0].pid, 1000);
	assert_int_equal(moment.members.data[0].start_ns, SECOND_NS);
	assert_int_equal(moment.members.data[0].job, 0);
	assert_string_equal(moment.members.data[0].step, "only");
	moment_clear(&moment);
	history_close(history);
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_that_ended_are_done),
		cmocka_unit_test(more_steps_than_were_told_are_all),
		cmocka_unit_test(without_steps_the_usual_time_tells),
		cmocka_unit_test(processes_and_all_below_them_are_of_the_job),
		cmocka_unit_test(a_cgroup_has_all_that_is_in_it_and_below),
		cmocka_unit_test(what_processes_use_is_added_up),
		cmocka_unit_test(a_job_runs_until_its_end),
		cmocka_unit_test(what_is_usual_is_the_median_of_successes_before),
		cmocka_unit_test(what_is_usual_is_not_for_other_users_to_say),
		cmocka_unit_test(jobs_that_run_are_shown_however_many_came_after_them),
		cmocka_unit_test(jobs_that_ended_are_shown_however_many_run),
		cmocka_unit_test(the_steps_of_one_job_leave_room_for_those_of_others),
		cmocka_unit_test(members_are_those_that_the_recorder_saw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
