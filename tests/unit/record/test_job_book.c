/* SPDX-License-Identifier: MIT */
/* Which processes belong to which job and step, by scripted events and ticks. */
#include "hand_snapshot.h"

#include <signal.h>
#include <stdlib.h>

#include "model/record/life_event.h"
#include "model/record/process_totals.h"
#include "record/job/book/job_book.h"

#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define BEGIN (100 * SECOND)
#define MIB UINT64_C(1048576)

#define COUNTED                                                                                    \
	(UINT32_C(1) << JOB_processes | UINT32_C(1) << JOB_spawns | UINT32_C(1) << JOB_exits |     \
	 UINT32_C(1) << JOB_failed_exits | UINT32_C(1) << JOB_signals | UINT32_C(1) << JOB_kills | \
	 UINT32_C(1) << JOB_ooms | UINT32_C(1) << JOB_anomalies)

struct scene {
	struct job_book book;
	struct job_instant now;
	uint64_t next_id;
};

/* Number and start of a process are related, unless a test says otherwise. */
static struct task_key key_of(int32_t pid)
{
	return (struct task_key){ pid, pid, BEGIN - SECOND + (uint64_t)pid * 10 * MS };
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->book.counted = COUNTED;
	scene->book.knows_programs = true;
	scene->now = (struct job_instant){ 5 * BEGIN, BEGIN, "a-boot" };
	*state = scene;
	return scene ? 0 : -1;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	job_book_clear(&scene->book);
	free(scene);
	return 0;
}

static void pass(struct scene *scene, uint64_t ns)
{
	scene->now.unix_ns += ns;
	scene->now.boottime_ns += ns;
}

static struct book_job *begin(struct scene *scene, const char *name, int32_t pid,
			      uint64_t used_before_ns)
{
	const struct job row = { .id = ++scene->next_id, .name = name, .root = key_of(pid) };
	const struct job_use use = { .has_run_time = true,
				     .has_bytes = true,
				     .has_peak = true,
				     .run_time_ns = used_before_ns,
				     .peak_rss_bytes = 10 * MIB };
	const struct book_member *old = job_book_member(&scene->book, &row.root);
	struct book_job *job = job_book_begin(&scene->book, &row, &scene->now);

	assert_non_null(job);
	job->outer = old ? old->job->row.id : 0;
	assert_true(job_book_join(&scene->book, job, NULL, &row.root, &use, JOIN_LIVING));
	return job;
}

static struct book_job *send(struct scene *scene, const struct life_event *event)
{
	struct book_step *step;

	return job_book_take_event(&scene->book, event, &scene->now, &step);
}

static struct book_job *spawn_key(struct scene *scene, int32_t parent, struct task_key key)
{
	return send(scene,
		    &(struct life_event){ .kind = LIFE_SPAWN, .task = key, .parent_pid = parent });
}

static struct book_job *spawn(struct scene *scene, int32_t parent, int32_t pid)
{
	return spawn_key(scene, parent, key_of(pid));
}

static struct book_job *leave_key(struct scene *scene, struct task_key key, int status,
				  uint64_t cpu_ns, uint64_t peak_bytes)
{
	struct life_event event = {
		.kind = LIFE_EXIT,
		.task = key,
		.present = LIFE_HAS_STATUS | LIFE_HAS_PEAK,
		.status = status,
		.peak_rss_bytes = peak_bytes,
		.unix_ns = scene->now.unix_ns,
	};

	amounts_set(&event.amounts, AMOUNT_run_time_ns, cpu_ns);
	amounts_set(&event.amounts, AMOUNT_read_bytes, cpu_ns / 100);
	amounts_set(&event.amounts, AMOUNT_write_bytes, 0);
	return send(scene, &event);
}

static struct book_job *leave(struct scene *scene, int32_t pid, int status, uint64_t cpu_ns)
{
	return leave_key(scene, key_of(pid), status, cpu_ns, MIB);
}

static void assert_figure(const struct job_figures *figures, enum job_value value, double number)
{
	assert_true(job_has(figures, value));
	assert_float_equal(figures->values[value], number, 0.001);
}

/* A tick with processes that each have a parent, CPU time and memory. */
struct row {
	int32_t pid, parent;
	uint64_t cpu_ns, rss_bytes;
};

static void tick(struct scene *scene, const struct row *rows, size_t count, bool finds_new)
{
	struct snapshot *snapshot = hand_new();
	struct process_total *cpu;

	for (size_t i = 0; i < count; i++) {
		uint32_t task = hand_task(snapshot, rows[i].pid, rows[i].pid, "work", "/");
		uint32_t row = snapshot->tasks[task].process;

		snapshot->processes[row].start_time_ns = key_of(rows[i].pid).start_ns;
		snapshot->tasks[task].start_time_ns = key_of(rows[i].pid).start_ns;
		snapshot->processes[row].parent = rows[i].parent;
	}
	assert_int_equal(snapshot_finish(snapshot), 0);
	for (size_t i = 0; i < count; i++) {
		uint32_t row = (uint32_t)snapshot_find_process(snapshot, rows[i].pid);

		hand_set(snapshot, METRIC_run_time_ns, snapshot->processes[row].first_task,
			 rows[i].cpu_ns);
		hand_set(snapshot, METRIC_rss_bytes, row, rows[i].rss_bytes);
	}
	snapshot_set_fact_number(snapshot, FACT_boottime_ns, scene->now.boottime_ns);
	assert_int_equal(process_totals(snapshot, METRIC_run_time_ns, &cpu), 0);
	job_book_take_tick(&scene->book, snapshot, cpu, finds_new, &scene->now);
	free(cpu);
	snapshot_free(snapshot);
}

static void a_tree_belongs_to_its_job(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);

	assert_ptr_equal(spawn(scene, 10, 20), job);
	assert_ptr_equal(spawn(scene, 20, 30), job);
	assert_null(spawn(scene, 11, 21));
	/* The parent of a daemon ends; the daemon stays. */
	assert_ptr_equal(leave(scene, 20, 0, 5 * MS), job);
	assert_ptr_equal(spawn(scene, 30, 31), job);
	assert_int_equal(job->members, 3);
	assert_figure(&job->row.figures, JOB_processes, 4);
	assert_figure(&job->row.figures, JOB_spawns, 3);
	assert_figure(&job->row.figures, JOB_exits, 1);
	assert_figure(&job->row.figures, JOB_failed_exits, 0);
}

static void ended_processes_count_exactly(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);

	for (int32_t pid = 100; pid < 1100; pid++) {
		spawn(scene, 10, pid);
		leave(scene, pid, pid % 10 == 0 ? 3 << 8 : 0, 2 * MS + (uint64_t)pid);
	}
	assert_figure(&job->row.figures, JOB_run_time_ns, 2000.0 * MS + 599500);
	assert_figure(&job->row.figures, JOB_failed_exits, 100);
	assert_figure(&job->row.figures, JOB_processes, 1001);
	assert_figure(&job->row.figures, JOB_peak_rss_bytes, MIB);
	assert_true(job_has(&job->row.figures, JOB_read_bytes));
	assert_int_equal(scene->book.members.count, 1);
}

static void what_was_used_before_is_not_the_jobs(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 70 * SECOND);

	leave_key(scene, key_of(10), 0, 71 * SECOND, 10 * MIB);
	assert_figure(&job->row.figures, JOB_run_time_ns, 1.0 * SECOND);
	/* Its peak was there before. */
	assert_false(job_has(&job->row.figures, JOB_peak_rss_bytes));
	assert_true(job->ended.boottime_ns);
	assert_true(job->row.has_status);
}

static void a_reused_number_is_another_process(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);
	struct task_key again = { 20, 20, BEGIN + 50 * SECOND };

	spawn(scene, 10, 20);
	/* The exit of 20 was lost, and somebody else's child has its number. */
	assert_null(spawn_key(scene, 999, again));
	assert_null(leave_key(scene, again, 0, 90 * SECOND, 500 * MIB));
	assert_null(spawn_key(scene, 20, (struct task_key){ 40, 40, BEGIN + 60 * SECOND }));
	/* A child is not older than its parent: that one has another's number. */
	assert_null(spawn_key(scene, 10, (struct task_key){ 41, 41, BEGIN - 10 * SECOND }));
	assert_false(job_has(&job->row.figures, JOB_run_time_ns));
	assert_int_equal(job->gaps.unseen_ends, 1);
	assert_int_equal(job->members, 1);
}

static void an_exit_of_another_start_is_nobodys(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);

	assert_null(leave_key(scene, (struct task_key){ 10, 10, BEGIN + SECOND }, 0, SECOND, 0));
	assert_int_equal(job->members, 1);
	assert_int_equal(job->ended.boottime_ns, 0);
}

static void ticks_find_what_lost_events_did_not_tell(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);
	const struct row rows[] = {
		{ 10, 1, 0, MIB },
		{ 500, 10, 3 * SECOND, 2 * MIB },
		{ 501, 500, SECOND, MIB },
		/* It lived before the job. */
		{ 50, 10, 99 * SECOND, MIB },
	};

	pass(scene, 10 * SECOND);
	tick(scene, rows, ARRAY_SIZE(rows), false);
	assert_int_equal(job->members, 1);
	send(scene, &(struct life_event){ .kind = LIFE_LOST, .lost = 7 });
	assert_int_equal(job->gaps.lost_events, 7);
	tick(scene, rows, ARRAY_SIZE(rows), true);
	assert_int_equal(job->members, 3);
	assert_figure(&job->row.figures, JOB_run_time_ns, 4.0 * SECOND);
	assert_figure(&job->row.figures, JOB_peak_memory_bytes, 4.0 * MIB);
	assert_int_equal(job->row.memory, JOB_MEMORY_RSS);
	/* Gone, and no event told. */
	pass(scene, SECOND);
	tick(scene, rows, 1, true);
	assert_int_equal(job->members, 1);
	assert_int_equal(job->gaps.unseen_ends, 2);
	assert_figure(&job->row.figures, JOB_run_time_ns, 4.0 * SECOND);
}

static void an_exit_may_come_after_the_tick(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);
	const struct row rows[] = { { 10, 1, 0, MIB } };

	spawn(scene, 10, 20);
	pass(scene, SECOND);
	tick(scene, rows, 1, false);
	assert_int_equal(job->members, 2);
	leave(scene, 20, 0, 40 * MS);
	assert_figure(&job->row.figures, JOB_run_time_ns, 40.0 * MS);
	assert_int_equal(job->gaps.unseen_ends, 0);
}

static void one_that_has_ended_is_not_found_again(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);
	const struct row rows[] = { { 10, 1, 0, MIB }, { 500, 10, 3 * SECOND, 0 } };

	spawn(scene, 10, 500);
	pass(scene, 10 * SECOND);
	leave(scene, 500, 0, 3 * SECOND);
	/* Nobody has waited for it yet. */
	for (int i = 0; i < 3; i++)
		tick(scene, rows, 2, true);
	assert_figure(&job->row.figures, JOB_run_time_ns, 3.0 * SECOND);
	assert_figure(&job->row.figures, JOB_processes, 2);
	tick(scene, rows, 1, true);
	assert_int_equal(scene->book.ended.count, 0);
}

static void totals_never_fall(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, SECOND);
	const struct row much = { 10, 1, 5 * SECOND, 80 * MIB }, less = { 10, 1, 2 * SECOND, MIB };

	pass(scene, SECOND);
	tick(scene, &much, 1, false);
	assert_figure(&job->row.figures, JOB_run_time_ns, 4.0 * SECOND);
	assert_figure(&job->row.figures, JOB_peak_cpu_percent, 400);
	pass(scene, SECOND);
	tick(scene, &less, 1, false);
	assert_figure(&job->row.figures, JOB_run_time_ns, 4.0 * SECOND);
	assert_figure(&job->row.figures, JOB_peak_memory_bytes, 80.0 * MIB);
	assert_figure(&job->row.figures, JOB_peak_cpu_percent, 400);
	leave_key(scene, key_of(10), 0, 6 * SECOND, 0);
	assert_figure(&job->row.figures, JOB_run_time_ns, 5.0 * SECOND);
}

static void the_innermost_job_wins(void **state)
{
	struct scene *scene = *state;
	struct book_job *outer = begin(scene, "outer", 10, 0), *inner;

	spawn(scene, 10, 20);
	inner = begin(scene, "inner", 10, 0);
	assert_ptr_equal(spawn(scene, 10, 30), inner);
	assert_ptr_equal(spawn(scene, 20, 31), outer);
	assert_int_equal(inner->outer, outer->row.id);
	assert_int_equal(outer->gaps.lent, 1);
	leave(scene, 30, 0, 7 * MS);
	assert_figure(&inner->row.figures, JOB_run_time_ns, 7.0 * MS);
	assert_false(job_has(&outer->row.figures, JOB_run_time_ns));
	job_book_end(&scene->book, inner);
	assert_ptr_equal(spawn(scene, 10, 40), outer);
	assert_int_equal(outer->members, 4);
}

static void jobs_of_one_name_are_apart(void **state)
{
	struct scene *scene = *state;
	struct book_job *one = begin(scene, "same", 10, 0), *other = begin(scene, "same", 11, 0);

	assert_ptr_equal(spawn(scene, 10, 20), one);
	assert_ptr_equal(spawn(scene, 11, 21), other);
	leave(scene, 20, 0, MS);
	leave(scene, 21, 0, 2 * MS);
	assert_figure(&one->row.figures, JOB_run_time_ns, 1.0 * MS);
	assert_figure(&other->row.figures, JOB_run_time_ns, 2.0 * MS);
	job_book_end(&scene->book, one);
	assert_null(spawn(scene, 10, 22));
	assert_ptr_equal(spawn(scene, 11, 23), other);
}

static void a_process_belongs_to_the_step_in_which_it_began(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);
	const struct row root = { 10, 1, 3 * SECOND, MIB };
	struct book_step *first, *second;

	first = job_book_open_step(job, "1", NULL, &scene->now);
	spawn(scene, 10, 20);
	spawn(scene, 10, 21);
	leave(scene, 20, 0, 5 * MS);
	pass(scene, SECOND);
	second = job_book_open_step(job, "2", NULL, &scene->now);
	assert_false(first->is_open);
	assert_int_equal(first->row.duration_ns, SECOND);
	assert_string_equal(job->last_completed, "1");
	leave(scene, 21, 0, 6 * MS);
	spawn(scene, 10, 22);
	leave(scene, 22, 1 << 8, 9 * MS);
	assert_figure(&first->row.figures, JOB_run_time_ns, 11.0 * MS);
	assert_figure(&second->row.figures, JOB_run_time_ns, 9.0 * MS);
	assert_figure(&second->row.figures, JOB_failed_exits, 1);
	/* The job's first process began before all steps: it works for the one that runs. */
	pass(scene, SECOND);
	tick(scene, &root, 1, false);
	assert_figure(&second->row.figures, JOB_run_time_ns, 3009.0 * MS);
	assert_figure(&job->row.figures, JOB_run_time_ns, 3020.0 * MS);
}

static void what_was_counted_counts_once_after_a_smaller_reading(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);
	const struct task_key root = key_of(10);
	const struct job_use less = { .has_run_time = true, .run_time_ns = 4 * SECOND };
	const struct row first = { 10, 1, 5 * SECOND, MIB }, second = { 10, 1, 6 * SECOND, MIB };
	struct book_step *step;

	pass(scene, 10 * SECOND);
	tick(scene, &first, 1, false);
	step = job_book_open_step(job, "a", &root, &scene->now);
	assert_true(job_book_join(&scene->book, job, step, &root, &less, JOIN_LIVING));
	pass(scene, 10 * SECOND);
	tick(scene, &second, 1, false);
	assert_figure(&step->row.figures, JOB_run_time_ns, 1.0 * SECOND);
	assert_figure(&job->row.figures, JOB_run_time_ns, 6.0 * SECOND);
}

static void steps_with_roots_run_side_by_side(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);
	struct task_key roots[] = { key_of(20), key_of(21) };
	struct book_step *steps[2];

	for (int i = 0; i < 2; i++) {
		spawn(scene, 10, roots[i].pid);
		steps[i] = job_book_open_step(job, i ? "b" : "a", &roots[i], &scene->now);
		job_book_join(&scene->book, job, steps[i], &roots[i], &job_use_nothing,
			      JOIN_LIVING);
	}
	assert_true(steps[0]->is_open && steps[1]->is_open);
	spawn(scene, 20, 30);
	spawn(scene, 21, 31);
	leave(scene, 30, 0, 3 * MS);
	leave(scene, 31, 0, 4 * MS);
	assert_figure(&steps[0]->row.figures, JOB_run_time_ns, 3.0 * MS);
	assert_figure(&steps[1]->row.figures, JOB_run_time_ns, 4.0 * MS);
	assert_figure(&job->row.figures, JOB_processes, 5);
	assert_figure(&job->row.figures, JOB_spawns, 4);
}

static void signals_are_counted(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);
	static const enum life_kind kinds[] = { LIFE_SIGNAL, LIFE_KILL, LIFE_OOM };

	spawn(scene, 10, 20);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		assert_ptr_equal(
			send(scene, &(struct life_event){ .kind = kinds[i], .task = key_of(20) }),
			job);
	assert_null(send(scene, &(struct life_event){ .kind = LIFE_KILL, .task = key_of(77) }));
	assert_figure(&job->row.figures, JOB_signals, 2);
	assert_figure(&job->row.figures, JOB_kills, 1);
	assert_figure(&job->row.figures, JOB_ooms, 1);
}

static void what_cannot_be_counted_is_absent(void **state)
{
	struct scene *scene = *state;
	struct book_job *job;

	scene->book.counted = UINT32_C(1) << JOB_processes | UINT32_C(1) << JOB_exits;
	job = begin(scene, "j", 10, 0);
	spawn(scene, 10, 20);
	send(scene, &(struct life_event){ .kind = LIFE_EXIT, .task = key_of(20) });
	assert_figure(&job->row.figures, JOB_exits, 1);
	assert_false(job_has(&job->row.figures, JOB_failed_exits));
	assert_false(job_has(&job->row.figures, JOB_signals));
	assert_false(job_has(&job->row.figures, JOB_run_time_ns));
}

static void too_many_processes_are_counted(void **state)
{
	struct scene *scene = *state;
	struct book_job *job;

	scene->book.members_max = 2;
	job = begin(scene, "j", 10, 0);
	spawn(scene, 10, 20);
	assert_null(spawn(scene, 10, 21));
	assert_int_equal(job->gaps.lost_members, 1);
	assert_figure(&job->row.figures, JOB_processes, 2);
}

static void who_only_marks_is_no_part(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);

	spawn(scene, 10, 20);
	job_book_exclude(&scene->book, &(struct task_key){ .pid = 20 });
	job_book_exclude(&scene->book, &(struct task_key){ .pid = 10 });
	assert_null(leave(scene, 20, 1 << 8, SECOND));
	assert_int_equal(job->members, 1);
	assert_figure(&job->row.figures, JOB_processes, 1);
	assert_figure(&job->row.figures, JOB_failed_exits, 0);
}

static void helpers_of_a_run_are_no_part(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);
	struct life_event kill = {
		.kind = LIFE_KILL, .task = key_of(20), .present = LIFE_HAS_SENDER, .sender_pid = 10
	};

	job_book_note_watcher(&scene->book, &(struct task_key){ .pid = 10 });
	assert_figure(&job->row.figures, JOB_processes, 0);
	assert_null(spawn(scene, 10, 20));
	spawn(scene, 10, 30);
	assert_ptr_equal(send(scene, &(struct life_event){ .kind = LIFE_EXEC, .task = key_of(30) }),
			 job);
	spawn(scene, 30, 40);
	assert_int_equal(job->members, 4);
	assert_int_equal(job->ours, 2);
	assert_null(send(scene, &kill));
	assert_null(leave(scene, 20, 9, SECOND));
	leave(scene, 40, 1 << 8, SECOND);
	assert_figure(&job->row.figures, JOB_processes, 2);
	assert_figure(&job->row.figures, JOB_spawns, 2);
	assert_figure(&job->row.figures, JOB_exits, 1);
	assert_figure(&job->row.figures, JOB_run_time_ns, SECOND);
	kill.task = key_of(30); /* the command, which -d ends */
	assert_ptr_equal(send(scene, &kill), job);
	assert_figure(&job->row.figures, JOB_kills, 1);
}

static void where_programs_are_not_told_what_a_run_forks_counts(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);

	scene->book.knows_programs = false;
	job_book_note_watcher(&scene->book, &(struct task_key){ .pid = 10 });
	assert_ptr_equal(spawn(scene, 10, 20), job);
	assert_figure(&job->row.figures, JOB_processes, 1);
}

static void an_event_of_before_the_job_is_no_spawn(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);

	spawn(scene, 1, 10);
	assert_figure(&job->row.figures, JOB_spawns, 0);
	assert_figure(&job->row.figures, JOB_processes, 1);
}

static void a_run_itself_uses_nothing_of_its_job(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);
	const struct task_key run = { .pid = 20 };
	struct life_event kill = { .kind = LIFE_KILL, .task = key_of(20) };

	spawn(scene, 10, 20);
	assert_figure(&job->row.figures, JOB_spawns, 1);
	job_book_note_watcher(&scene->book, &run);
	job_book_note_watcher(&scene->book, &run);
	assert_figure(&job->row.figures, JOB_processes, 1);
	assert_figure(&job->row.figures, JOB_spawns, 0);
	/* A signal that it gets concerns the job; what it used, and that it ended, does not. */
	assert_ptr_equal(send(scene, &kill), job);
	assert_null(leave(scene, 20, 9, SECOND));
	assert_figure(&job->row.figures, JOB_kills, 1);
	assert_figure(&job->row.figures, JOB_exits, 0);
	assert_figure(&job->row.figures, JOB_failed_exits, 0);
	assert_int_equal(job->members, 1);
	assert_int_equal(job->ours, 0);
	assert_false(job_has(&job->row.figures, JOB_run_time_ns) &&
		     job->row.figures.values[JOB_run_time_ns] > 0);
}

static void a_short_job_has_a_peak_of_cpu(void **state)
{
	struct scene *scene = *state;
	struct book_job *job = begin(scene, "j", 10, 0);

	spawn(scene, 10, 20);
	pass(scene, 10 * MS);
	leave(scene, 20, 0, 5 * MS);
	job_book_close_windows(job, scene->now.boottime_ns, false);
	assert_false(job_has(&job->row.figures, JOB_peak_cpu_percent));
	job_book_close_windows(job, scene->now.boottime_ns, true);
	assert_figure(&job->row.figures, JOB_peak_cpu_percent, 50);
	assert_figure(&job->row.figures, JOB_peak_memory_bytes, MIB);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_tree_belongs_to_its_job),
		TEST(ended_processes_count_exactly),
		TEST(what_was_used_before_is_not_the_jobs),
		TEST(a_reused_number_is_another_process),
		TEST(an_exit_of_another_start_is_nobodys),
		TEST(ticks_find_what_lost_events_did_not_tell),
		TEST(an_exit_may_come_after_the_tick),
		TEST(one_that_has_ended_is_not_found_again),
		TEST(totals_never_fall),
		TEST(the_innermost_job_wins),
		TEST(jobs_of_one_name_are_apart),
		TEST(a_process_belongs_to_the_step_in_which_it_began),
		TEST(what_was_counted_counts_once_after_a_smaller_reading),
		TEST(steps_with_roots_run_side_by_side),
		TEST(signals_are_counted),
		TEST(what_cannot_be_counted_is_absent),
		TEST(too_many_processes_are_counted),
		TEST(who_only_marks_is_no_part),
		TEST(helpers_of_a_run_are_no_part),
		TEST(a_run_itself_uses_nothing_of_its_job),
		TEST(an_event_of_before_the_job_is_no_spawn),
		TEST(where_programs_are_not_told_what_a_run_forks_counts),
		TEST(a_short_job_has_a_peak_of_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
