/* SPDX-License-Identifier: MIT */
/* Jobs in a recording. */
#include "history_room.h"

#include <errno.h>
#include <string.h>

#include "store/history/job/history_jobs.h"
#include "store/snapshot_file.h"

static const struct made_host one = { 1, 1, BEGIN_NS, 5 * SECOND_NS };
static const struct job_instant begin = { BEGIN_NS, 1000 * SECOND_NS, "boot-a" };
static const struct job_query all = { .span = { 0, UINT64_MAX } };

static struct error error; /* of the last call */

static void expect_ok(int status)
{
	if (status < 0)
		fail_msg("%s", error.message);
}

#define OK(call)                                                                                   \
	do {                                                                                       \
		error = (struct error){ 0 };                                                       \
		expect_ok(call);                                                                   \
	} while (0)

static struct job_instant after(uint64_t seconds)
{
	return (struct job_instant){ begin.unix_ns + seconds * SECOND_NS,
				     begin.boottime_ns + seconds * SECOND_NS, "boot-a" };
}

static struct job make_job(const char *name, uint32_t uid, const struct job_instant *now)
{
	struct job job = { .name = name, .uid = uid, .root = { 77, 77, 5 }, .cmd = "make all" };

	job_begin(&job, now);
	return job;
}

struct seen {
	size_t count;
	uint64_t ids[16];
	struct job last;
	char name[64], absent[64], boot[64];
	double run_time;
};

static int see(void *context, const struct job *job)
{
	struct seen *seen = context;

	if (seen->count < 16)
		seen->ids[seen->count] = job->id;
	seen->count++;
	seen->last = *job;
	snprintf(seen->name, sizeof(seen->name), "%s", job->name);
	snprintf(seen->absent, sizeof(seen->absent), "%s", job->absent ? job->absent : "");
	snprintf(seen->boot, sizeof(seen->boot), "%s", job->boot_id ? job->boot_id : "");
	return 0;
}

static struct seen read_jobs(struct history *history, const struct job_query *query)
{
	struct seen seen = { 0 };

	OK(history_jobs(history, query, see, &seen, &error));
	return seen;
}

static void a_job_comes_back_as_it_was(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room), *reader;
	struct job job = make_job("nightly", 1000, &begin);
	struct job_instant later = after(90);
	struct seen seen;

	(void)state;
	job.steps = 3;
	job.absent = "nobody measured it";
	OK(history_put_job(writer, &job, &error));
	assert_true(job.id > 0);
	job_set(&job.figures, JOB_run_time_ns, 5e9);
	job_set(&job.figures, JOB_spawns, 0);
	job.memory = JOB_MEMORY_RSS;
	job.has_status = true;
	job.status = 256;
	job_end(&job, JOB_FAILURE, &later);
	OK(history_put_job(writer, &job, &error));
	OK(history_commit(writer, &error));
	reader = open_history(&room);
	seen = read_jobs(reader, &all);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.name, "nightly");
	assert_string_equal(seen.absent, "nobody measured it");
	assert_string_equal(seen.boot, "boot-a");
	assert_true(seen.last.id == job.id && seen.last.uid == 1000 && seen.last.steps == 3);
	assert_true(seen.last.root.pid == 77 && seen.last.root.start_ns == 5);
	assert_true(seen.last.outcome == JOB_FAILURE && seen.last.status == 256);
	assert_true(seen.last.duration_ns == 90 * SECOND_NS);
	assert_true(seen.last.end_unix_ns == later.unix_ns);
	assert_true(seen.last.memory == JOB_MEMORY_RSS);
	assert_true(seen.last.figures.present ==
		    (UINT64_C(1) << JOB_run_time_ns | UINT64_C(1) << JOB_spawns));
	assert_true(seen.last.figures.values[JOB_run_time_ns] == 5e9);
	history_close(reader);
	history_close(writer);
	remove_room(&room);
}

/* Whoever ends a job need not know what was measured. */
static void an_absent_figure_leaves_the_one_that_is_there(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);
	struct job job = make_job("a", 1, &begin);
	struct job_step step = { .name = "1", .begin_unix_ns = BEGIN_NS, .memory = JOB_MEMORY_PSS };
	struct seen seen;

	(void)state;
	job_set(&job.figures, JOB_run_time_ns, 7);
	job.memory = JOB_MEMORY_CGROUP;
	OK(history_put_job(writer, &job, &error));
	job.figures.present = 0;
	job.memory = JOB_MEMORY_UNKNOWN;
	OK(history_put_job(writer, &job, &error));
	seen = read_jobs(writer, &all);
	assert_true(job_has(&seen.last.figures, JOB_run_time_ns));
	assert_true(seen.last.figures.values[JOB_run_time_ns] == 7);
	assert_true(seen.last.memory == JOB_MEMORY_CGROUP);
	step.job = job.id;
	job_set(&step.figures, JOB_processes, 4);
	OK(history_put_step(writer, &step, &error));
	step.figures.present = 0;
	OK(history_put_step(writer, &step, &error));
	OK(history_commit(writer, &error));
	assert_true(ask(&room, "SELECT count(*) FROM job_steps WHERE processes = 4 AND memory = "
			       "'pss'") == 1);
	history_close(writer);
	remove_room(&room);
}

static void a_clock_that_is_set_gives_no_negative_duration(void **state)
{
	struct job job = make_job("a", 1, &begin), other = make_job("a", 1, &begin);
	struct job_step step = { .name = "1" };
	struct job_instant back = after(30), reboot = after(30);

	(void)state;
	back.unix_ns = begin.unix_ns - 3600 * SECOND_NS;
	job_step_begin(&step, &begin);
	job_step_end(&step, begin.boot_id, JOB_SUCCESS, &back);
	job_end(&job, JOB_SUCCESS, &back);
	assert_true(job.duration_ns == 30 * SECOND_NS && step.duration_ns == 30 * SECOND_NS);
	assert_true(job.end_unix_ns == back.unix_ns);
	/* After a reboot there is only the wall clock. */
	reboot.boot_id = "boot-b";
	reboot.boottime_ns = 3;
	job_end(&other, JOB_SUCCESS, &reboot);
	assert_true(other.duration_ns == 30 * SECOND_NS);
	reboot.unix_ns = 1;
	job_end(&other, JOB_SUCCESS, &reboot);
	assert_true(other.duration_ns == 1);
}

static void jobs_are_found_by_name_user_state_and_time(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);
	struct job_query query = all;
	uint64_t ids[6];
	struct seen seen;

	(void)state;
	for (uint64_t i = 0; i < 6; i++) {
		struct job_instant from = after(i * 100), to = after(i * 100 + 50);
		struct job job = make_job(i % 2 ? "odd" : "even", i < 3 ? 1000 : 2000, &from);

		if (i != 4)
			job_end(&job, i == 5 ? JOB_UNKNOWN : JOB_SUCCESS, &to);
		if (i == 5)
			job.end_unix_ns = 0;
		OK(history_put_job(writer, &job, &error));
		ids[i] = job.id;
	}
	OK(history_commit(writer, &error));
	seen = read_jobs(writer, &query);
	assert_true(seen.count == 6 && seen.ids[0] == ids[5] && seen.ids[5] == ids[0]);
	query.limit = 2;
	assert_int_equal(read_jobs(writer, &query).count, 2);
	query = all;
	query.name = "odd";
	seen = read_jobs(writer, &query);
	assert_true(seen.count == 3 && seen.ids[0] == ids[5]);
	query.has_uid = true;
	query.uid = 1000;
	seen = read_jobs(writer, &query);
	assert_true(seen.count == 1 && seen.ids[0] == ids[1]);
	query = all;
	query.running_only = true;
	seen = read_jobs(writer, &query);
	assert_true(seen.count == 1 && seen.ids[0] == ids[4] && seen.last.end_unix_ns == 0);
	query = all;
	query.ended_only = true;
	assert_int_equal(read_jobs(writer, &query).count, 5);
	query = all;
	query.id = ids[2];
	seen = read_jobs(writer, &query);
	assert_true(seen.count == 1 && seen.ids[0] == ids[2]);
	/* From the middle of the second on; up to the third. */
	query = all;
	query.span.from_unix_ns = after(120).unix_ns;
	query.span.to_unix_ns = after(250).unix_ns;
	seen = read_jobs(writer, &query);
	assert_true(seen.count == 2 && seen.ids[0] == ids[2] && seen.ids[1] == ids[1]);
	history_close(writer);
	remove_room(&room);
}

/* Appends to a text of 200 bytes. */
static void append(char *text, const char *more)
{
	snprintf(text + strlen(text), 200 - strlen(text), "%s", more);
}

static int count_step(void *context, const struct job_step *step)
{
	char *names = context;

	append(names, step->name);
	append(names, job_outcome_names[step->outcome]);
	return 0;
}

static int count_event(void *context, const struct job_event *event)
{
	char *names = context;

	append(names, job_event_names[event->kind]);
	append(names, event->details ? event->details : "-");
	return 0;
}

static int count_syscall(void *context, const struct job_syscall *syscall)
{
	char *names = context;

	append(names, syscall->name);
	return 0;
}

static void steps_events_and_calls_belong_to_their_job(void **state)
{
	const struct job_syscall calls[] = { { "read", 5, 0, 10 }, { "futex", 2, 1, 900 } };
	struct room room = make_room();
	struct history *writer = create(&room);
	struct job job = make_job("a", 1, &begin), other = make_job("b", 2, &begin);
	struct job_instant later = after(1);
	struct job_step step = { .name = "1" };
	char steps[200] = "", events[200] = "", names[200] = "";

	(void)state;
	OK(history_put_job(writer, &job, &error));
	OK(history_put_job(writer, &other, &error));
	step.job = job.id;
	job_step_begin(&step, &begin);
	OK(history_put_step(writer, &step, &error));
	job_step_end(&step, job.boot_id, JOB_SUCCESS, &later);
	OK(history_put_step(writer, &step, &error));
	step = (struct job_step){ .name = "2", .job = job.id };
	job_step_begin(&step, &later);
	OK(history_put_step(writer, &step, &error));
	step.job = other.id;
	OK(history_put_step(writer, &step, &error));
	OK(history_add_job_event(
		writer, &(struct job_event){ .job = job.id, .kind = JOB_EVENT_START }, &error));
	OK(history_add_job_event(writer,
				 &(struct job_event){ .job = job.id,
						      .kind = JOB_EVENT_OOM,
						      .step = "1",
						      .details = "!",
						      .task = { 5, 5, 6 },
						      .context = "{}" },
				 &error));
	OK(history_put_job_syscalls(writer, job.id, NULL, calls, 2, &error));
	OK(history_put_job_syscalls(writer, job.id, "1", calls, 1, &error));
	OK(history_put_job_syscalls(writer, job.id, NULL, calls, 2, &error));
	OK(history_commit(writer, &error));
	OK(history_job_steps(writer, job.id, count_step, steps, &error));
	OK(history_job_events(writer, job.id, 0, count_event, events, &error));
	OK(history_job_syscalls(writer, job.id, NULL, 0, count_syscall, names, &error));
	OK(history_job_syscalls(writer, job.id, "1", 0, count_syscall, names, &error));
	assert_string_equal(steps, "1success2running");
	assert_string_equal(events, "start-oom!");
	assert_string_equal(names, "futexreadread");
	/* What the sums say is what counting them anew gives. */
	assert_true(ask(&room, "SELECT sum(bytes) FROM user_rows WHERE part = 'jobs'") ==
		    2 * (400 + 1 + 8) + 3 * 300 + 2 * 120 + 3 + 3 * 80);
	history_close(writer);
	assert_int_equal(history_verify(room.path, NULL, NULL, &(struct error){ 0 }), 0);
	remove_room(&room);
}

static bool is_seven(void *context, const struct job *job)
{
	(void)context;
	return job->root.pid == 7;
}

static void a_job_whose_end_nobody_saw_is_unknown(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);
	struct job lost = make_job("a", 1, &begin), runs = make_job("a", 1, &begin);
	struct job ended = make_job("a", 1, &begin);
	struct job_instant later = after(1);
	struct job_step step = { .name = "1" };

	(void)state;
	runs.root.pid = 7;
	job_end(&ended, JOB_SUCCESS, &later);
	OK(history_put_job(writer, &lost, &error));
	OK(history_put_job(writer, &runs, &error));
	OK(history_put_job(writer, &ended, &error));
	step.job = lost.id;
	OK(history_put_step(writer, &step, &error));
	OK(history_close_lost_jobs(writer, is_seven, NULL, &error));
	OK(history_commit(writer, &error));
	assert_true(ask(&room, "SELECT count(*) FROM jobs WHERE outcome = 'unknown' AND end_ns IS "
			       "NULL AND id = 1") == 1);
	assert_true(ask(&room, "SELECT count(*) FROM jobs WHERE outcome IS NULL") == 1);
	assert_true(ask(&room, "SELECT count(*) FROM job_steps WHERE outcome = 'unknown'") == 1);
	/* One of which nothing more is known goes with its age as well. */
	OK(history_expire(writer, BEGIN_NS + history_retention_defaults.outcomes_ns + HOUR_NS,
			  &error));
	assert_true(ask(&room, "SELECT count(*) FROM jobs") == 1);
	assert_true(ask(&room, "SELECT id FROM jobs") == (double)runs.id);
	assert_true(ask(&room, "SELECT count(*) FROM job_steps") == 0);
	history_close(writer);
	remove_room(&room);
}

static void whole_runs_have_a_fifth_of_the_file(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct history *writer;
	char *bytes;
	void *back = NULL;
	size_t size = 0;

	(void)state;
	kept.bytes = 4 << 20;
	writer = create_with(&room, &kept);
	bytes = calloc(1, 1 << 20);
	for (uint64_t i = 0; i < 40; i++) {
		struct job_instant now = after(i);
		struct job job = make_job("a", i == 0 ? 1000 : 666, &now);

		job_end(&job, JOB_SUCCESS, &now);
		OK(history_put_job(writer, &job, &error));
		bytes[0] = (char)i;
		OK(history_put_job_run(writer, job.id, i % 2 ? "1" : NULL, bytes, 100000, &error));
		OK(history_commit(writer, &error));
		assert_true(ask(&room, "SELECT sum(length(run)) FROM job_runs") <=
			    (double)(kept.bytes / 5));
	}
	/* The reports stay, and so do the newest runs and the one of another user. */
	assert_true(ask(&room, "SELECT count(*) FROM jobs") == 40);
	assert_true(ask(&room, "SELECT count(*) FROM job_runs") >= 6);
	OK(history_job_run(writer, 40, "1", &back, &size, &error));
	assert_true(size == 100000 && *(char *)back == 39);
	free(back);
	OK(history_job_run(writer, 1, NULL, &back, &size, &error));
	free(back);
	assert_int_equal(history_job_run(writer, 2, "1", &back, &size, &error), -ENODATA);
	assert_int_equal(history_put_job_run(writer, 40, "2", bytes, 1 << 20, &error), -EFBIG);
	assert_true(ask(&room, "SELECT count(*) FROM jobs") == 40);
	free(bytes);
	history_close(writer);
	remove_room(&room);
}

static void a_flood_of_jobs_pushes_out_only_its_own(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct history *writer;
	struct job mine = make_job("mine", 1000, &begin);
	struct job_instant later = after(1);

	(void)state;
	kept.bytes = 1 << 20;
	writer = create_with(&room, &kept);
	job_end(&mine, JOB_SUCCESS, &later);
	OK(history_put_job(writer, &mine, &error));
	for (uint64_t i = 0; i < 1000; i++) {
		struct job_instant from = after(i + 2);
		struct job job = make_job("flood", 666, &from);

		OK(history_put_job(writer, &job, &error));
		for (uint64_t k = 0; k < 5; k++)
			OK(history_add_job_event(writer,
						 &(struct job_event){ .job = job.id,
								      .unix_ns = from.unix_ns,
								      .details = "an event" },
						 &error));
		OK(history_put_step(writer, &(struct job_step){ .job = job.id, .name = "1" },
				    &error));
		if (i < 999)
			job_end(&job, JOB_FAILURE, &from);
		OK(history_put_job(writer, &job, &error));
		OK(history_commit(writer, &error));
	}
	assert_true(ask(&room, "SELECT count(*) FROM jobs WHERE uid = 1000") == 1);
	assert_true(ask(&room, "SELECT count(*) FROM jobs") < 400);
	assert_true(ask(&room, "SELECT count(*) FROM jobs WHERE outcome IS NULL") == 1);
	assert_true(ask(&room, "SELECT count(*) FROM job_steps WHERE job NOT IN (SELECT id FROM "
			       "jobs)") == 0);
	assert_true(ask(&room, "SELECT sum(bytes) FROM user_rows WHERE part = 'jobs'") < 140000);
	history_close(writer);
	remove_room(&room);
}

static int note_pattern(void *context, const struct pattern *pattern)
{
	char *text = context;

	snprintf(text + strlen(text), 200 - strlen(text), "%s:%s:%.2f ",
		 pattern_kind_names[pattern->kind], pattern->name, pattern->p_value);
	return 0;
}

static int sum_jobs(void *context, const struct pattern *pattern)
{
	*(uint64_t *)context += pattern->jobs;
	return 0;
}

static void jobs_of_an_anomaly_are_counted(void **state)
{
	struct room room = make_room();
	struct pattern pattern = {
		.unix_ns = 5, .kind = PATTERN_ANOMALY, .name = "a", .adds = true
	};
	struct history *writer = create(&room);
	uint64_t jobs = 0;

	(void)state;
	for (int i = 0; i < 5; i++) {
		pattern.jobs = i % 2 == 0;
		OK(history_put_pattern(writer, &pattern, &error));
	}
	OK(history_commit(writer, &error));
	OK(history_patterns(writer, &always, 0, sum_jobs, &jobs, &error));
	assert_int_equal(jobs, 3);
	history_close(writer);
	remove_room(&room);
}

static void a_pattern_that_is_seen_again_is_the_same(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);
	struct pattern pattern = { .unix_ns = 5, .name = "memory", .p_value = 0.04 };
	char text[200] = "";

	(void)state;
	OK(history_put_pattern(writer, &pattern, &error));
	pattern.kind = PATTERN_ANOMALY;
	pattern.unix_ns = 6;
	OK(history_put_pattern(writer, &pattern, &error));
	/* The same one again; nothing was tested. */
	pattern.unix_ns = 7;
	pattern.p_value = 0.01;
	OK(history_put_pattern(writer, &pattern, &error));
	OK(history_commit(writer, &error));
	OK(history_patterns(writer, &always, 0, note_pattern, text, &error));
	assert_string_equal(text, "anomaly:memory:0.00 correlation:memory:0.04 ");
	history_close(writer);
	remove_room(&room);
}

static void run_sql(const struct room *room, const char *sql)
{
	sqlite3 *handle = NULL;

	assert_int_equal(sqlite3_open(room->path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(handle);
}

static void note_fault(void *context, const char *sentence)
{
	char *text = context;

	snprintf(text + strlen(text), 1000 - strlen(text), "%s\n", sentence);
}

static void damage_is_found_and_repaired(void **state)
{
	struct room room = make_room(), fixed;
	struct history *writer = create(&room);
	struct job job = make_job("a", 1, &begin);
	char text[1000] = "";

	(void)state;
	fixed = room;
	snprintf(fixed.path, sizeof(fixed.path), "%s/fixed.db", room.directory);
	add_tick(writer, &one, 0);
	OK(history_put_job(writer, &job, &error));
	OK(history_put_step(writer, &(struct job_step){ .job = 9, .name = "1" }, &error));
	OK(history_put_job_run(writer, job.id, NULL, "no run", 6, &error));
	OK(history_commit(writer, &error));
	history_close(writer);
	assert_int_equal(history_verify(room.path, note_fault, text, &error), 2);
	assert_non_null(strstr(text, "1 rows of job_steps are of no job"));
	assert_non_null(strstr(text, "the run of job 1"));
	run_sql(&room, "DELETE FROM job_runs");
	OK(history_repair(room.path, fixed.path, note_fault, text, &error));
	assert_int_equal(history_verify(fixed.path, note_fault, text, &error), 0);
	assert_true(ask(&fixed, "SELECT count(*) FROM jobs") == 1);
	assert_true(ask(&fixed, "SELECT count(*) FROM job_steps") == 0);
	remove_room(&room);
}

/* As a version wrote them that had no jobs yet. */
static void files_of_an_earlier_version_get_the_tables(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room), *reader;
	struct job job = make_job("a", 1, &begin);
	char text[1000] = "";

	(void)state;
	add_tick(writer, &one, 0);
	history_close(writer);
	run_sql(&room,
		"DROP TABLE jobs; DROP TABLE job_steps; DROP TABLE job_events; DROP TABLE "
		"job_syscalls; DROP TABLE job_runs; ALTER TABLE processes DROP COLUMN job; "
		"CREATE TABLE jobs(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, "
		"begin_ns INTEGER NOT NULL, end_ns INTEGER, outcome TEXT, exit_status INTEGER, pid "
		"INTEGER, start_time_ns INTEGER, cgroup TEXT, uid INTEGER, cmd TEXT, run_time_ns "
		"INTEGER, peak_rss_bytes INTEGER, read_bytes INTEGER, write_bytes INTEGER, "
		"processes INTEGER, details TEXT); CREATE INDEX jobs_name ON jobs(name, begin_ns)");
	reader = open_history(&room);
	assert_int_equal(read_jobs(reader, &all).count, 0);
	OK(history_job_events(reader, 1, 0, count_event, text, &error));
	OK(history_job_steps(reader, 1, count_step, text, &error));
	history_close(reader);
	assert_int_equal(history_verify(room.path, note_fault, text, &(struct error){ 0 }), 0);
	writer = create(&room);
	OK(history_put_job(writer, &job, &error));
	OK(history_put_step(writer, &(struct job_step){ .job = job.id, .name = "1" }, &error));
	OK(history_commit(writer, &error));
	assert_int_equal(read_jobs(writer, &all).count, 1);
	history_close(writer);
	assert_string_equal(text, "");
	remove_room(&room);
}

static void a_process_is_of_its_job(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);
	struct snapshot *snapshot = made_snapshot(&one, 0);
	const struct task_key process = { (int32_t)snapshot->processes[0].tgid, 0,
					  snapshot->processes[0].start_time_ns };

	(void)state;
	add_tick(writer, &one, 0);
	add_tick(writer, &one, 20);
	OK(history_put_process_job(writer, snapshot->facts[FACT_boot_id].text, &process, 5, "2",
				   &error));
	OK(history_commit(writer, &error));
	assert_true(ask(&room, "SELECT count(*) FROM processes WHERE job = 5 AND job_step = '2'") ==
		    1);
	snapshot_free(snapshot);
	history_close(writer);
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_comes_back_as_it_was),
		cmocka_unit_test(an_absent_figure_leaves_the_one_that_is_there),
		cmocka_unit_test(a_clock_that_is_set_gives_no_negative_duration),
		cmocka_unit_test(jobs_are_found_by_name_user_state_and_time),
		cmocka_unit_test(steps_events_and_calls_belong_to_their_job),
		cmocka_unit_test(a_job_whose_end_nobody_saw_is_unknown),
		cmocka_unit_test(whole_runs_have_a_fifth_of_the_file),
		cmocka_unit_test(a_flood_of_jobs_pushes_out_only_its_own),
		cmocka_unit_test(a_pattern_that_is_seen_again_is_the_same),
		cmocka_unit_test(jobs_of_an_anomaly_are_counted),
		cmocka_unit_test(damage_is_found_and_repaired),
		cmocka_unit_test(files_of_an_earlier_version_get_the_tables),
		cmocka_unit_test(a_process_is_of_its_job),
	};

	return cmocka_run_group_tests_name("history_jobs", tests, NULL, NULL);
}
