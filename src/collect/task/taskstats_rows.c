/* SPDX-License-Identifier: MIT */
/*
 * Asks the kernel through taskstats for what neither the task iterator nor procfs has: the delays
 * of tasks that procfs listed, and metrics that only taskstats has.
 *
 * Questions are by tid, and a tid may have been given to a new task since it was listed.  The age
 * in the answer shows that: the listed task is at least as old as the time since it was listed,
 * and a new task with its tid is younger.
 *
 * taskstats does not say whether a task has a delay record.  A task that was started while
 * accounting was off shows 0 for ever; so does one that never waited, and a program cannot
 * distinguish the two.  So a task counts as measured once any of its delays is not 0.
 */
#include "collect/task/taskstats_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/collector.h"
#include "collect/task/delay.h"
#include "host/proc/proc_file.h"
#include "host/taskstats/taskstats_socket.h"

#define NS_PER_US 1000

/* Where a metric is in an answer. */
struct member {
	bool is_there;
	uint8_t member;
	uint8_t raw;
};

static const struct member members[METRIC_STORED] = {
/* clang-format off */
#define TASKSTATS(member_, raw_) .is_there = true, .member = TASKSTATS_##member_, .raw = RAW_##raw_
#define METRIC(id, unit, kind, scope, fold, section, gate, class, sources, help)                   \
	[METRIC_##id] = { sources },
#include "metric/metrics.def"
	/* clang-format on */
};

/*
 * Why cells stay empty although the kernel answered.  If there are several reasons, the last one
 * is reported.
 */
enum absence {
	ABSENT_NOT,
	ABSENT_IMPOSSIBLE,
	ABSENT_ENDED,
	ABSENT_UNRECORDED,
	ABSENCES,
};

static const char *const absence_reasons[ABSENCES] = {
	[ABSENT_IMPOSSIBLE] = "the kernel reported a delay that is longer than the task's life",
	[ABSENT_ENDED] = "some tasks ended before the kernel was asked about them",
	[ABSENT_UNRECORDED] = "no delay was recorded: none happened, or accounting was off when "
			      "the task was started",
};

/* The outcome of the questions, in numbers of tasks. */
struct taskstats_tally {
	uint64_t ok, eperm, esrch, other, not_opened;
};

struct reader {
	struct capture *capture;
	uint32_t iterated; /* rows that the iterator made */
	bool wanted[METRIC_STORED];
	uint64_t wanted_members;
	uint64_t answered_members; /* members that at least one answer had */
	uint8_t absences[METRIC_STORED];
	struct host_clock asked, answered;
	int refused; /* the error that makes further questions useless, or 0 */
	struct taskstats_tally tally;
};

/* Whether procfs has filled the metric for the tasks that it listed. */
static bool is_served(const struct capture *capture, const struct metric *metric)
{
	return (metric_source(metric, PLACE_STATUS) && capture->tallies[SOURCE_STATUS].read) ||
	       (metric_source(metric, PLACE_SCHEDSTAT) && capture->tallies[SOURCE_SCHEDSTAT].read);
}

/* Whether only taskstats has the metric. */
static bool is_alone(const struct metric *metric)
{
	return metric->sources[0].place == PLACE_TASKSTATS && !metric->sources[1].place;
}

/* Whether the row is to get the metric from taskstats. */
static bool is_asked(const struct reader *reader, enum metric_id id, uint32_t row)
{
	return reader->wanted[id] && (row >= reader->iterated || is_alone(&metrics[id]));
}

static void find_wanted(struct reader *reader)
{
	const struct capture *capture = reader->capture;
	bool has_others = reader->iterated < capture->snapshot->task_count;

	for (int id = 0; id < METRIC_STORED; id++) {
		if (!members[id].is_there || !capture->gates[metrics[id].gate].open ||
		    is_served(capture, &metrics[id]) || !(has_others || is_alone(&metrics[id])))
			continue;
		reader->wanted[id] = true;
		reader->wanted_members |= 1ull << members[id].member;
	}
}

static bool is_delay_record(enum metric_id id)
{
	return metrics[id].gate == GATE_TASK_DELAY_ACCT || metrics[id].gate == GATE_IRQ_DELAY;
}

/* Whether the task is known to have a delay record. */
static bool is_recorded(const struct taskstats_values *values)
{
	for (int id = 0; id < METRIC_STORED; id++)
		if (members[id].is_there && is_delay_record(id) &&
		    taskstats_has(values, members[id].member) && values->raw[members[id].member])
			return true;
	return false;
}

/*
 * Whether the answer is about the task that was listed.  Start times are compared in whole ticks.
 * For a task that existed when the capture began, only the start time counts; it is right across
 * suspends, which ages do not include.
 */
static bool is_listed_task(const struct reader *reader, const struct task *task,
			   const struct taskstats_values *values)
{
	const struct host_clock *began = &reader->capture->clock;
	uint64_t born = task->start_time_ns + reader->capture->scale.tick_ns;
	uint64_t least;

	if (!taskstats_has(values, TASKSTATS_ac_etime))
		return false;
	if (born <= began->boottime_ns)
		least = reader->asked.monotonic_ns - began->monotonic_ns;
	else
		least = reader->asked.boottime_ns > born ? reader->asked.boottime_ns - born : 0;
	return values->raw[TASKSTATS_ac_etime] >= least / NS_PER_US;
}

static void note_absence(struct reader *reader, enum metric_id id, enum absence absence)
{
	if (absence > reader->absences[id])
		reader->absences[id] = (uint8_t)absence;
}

/*
 * Whether the metric is a size: there the kernel's 0 means that the task has no memory or that no
 * value is kept.
 */
static bool is_size(enum metric_id id)
{
	return metrics[id].section == SECTION_MEMORY;
}

static int store_value(struct reader *reader, enum metric_id id, uint32_t row, uint64_t value)
{
	struct snapshot *snapshot = reader->capture->snapshot;
	const struct task *task = &snapshot->tasks[row];
	uint32_t cell = metrics[id].scope == METRIC_OF_THREAD ? row : task->process;
	uint64_t known;

	if (!metric_wanted(reader->capture, id) || snapshot_get(snapshot, id, cell, &known) ||
	    (is_size(id) && !value))
		return 0;
	if (!delay_is_possible(&snapshot->tally, id, value,
			       task_life_ns(task, reader->answered.boottime_ns))) {
		note_absence(reader, id, ABSENT_IMPOSSIBLE);
		return 0;
	}
	if (!snapshot->columns[id].values && snapshot_need_column(snapshot, id) < 0)
		return -ENOMEM;
	snapshot_set(snapshot, id, cell,
		     metric_from_raw(value, members[id].raw, &reader->capture->scale));
	return 0;
}

static int store_values(struct reader *reader, uint32_t row, const struct taskstats_values *values)
{
	bool recorded = is_recorded(values);
	int status = 0;

	reader->answered_members |= values->present;
	for (int id = 0; id < METRIC_STORED && status == 0; id++) {
		if (!is_asked(reader, id, row) || !taskstats_has(values, members[id].member))
			continue;
		if (is_delay_record(id) && !recorded)
			note_absence(reader, id, ABSENT_UNRECORDED);
		else
			status = store_value(reader, id, row, values->raw[members[id].member]);
	}
	return status;
}

static void lose_task(struct reader *reader, uint32_t row)
{
	reader->tally.esrch++;
	for (int id = 0; id < METRIC_STORED; id++)
		if (is_asked(reader, id, row))
			note_absence(reader, id, ABSENT_ENDED);
}

static int take_answer(struct reader *reader, uint32_t row, const struct taskstats_answer *answer)
{
	struct source_tally *tally = &reader->capture->tallies[SOURCE_TASKSTATS];
	const struct task *task = &reader->capture->snapshot->tasks[row];
	int status = answer->status;

	if (status == 0 && !is_listed_task(reader, task, &answer->values))
		status = -ESRCH;
	source_count(tally, status);
	if (status == 0) {
		reader->tally.ok++;
		return store_values(reader, row, &answer->values);
	}
	if (status == -ESRCH)
		lose_task(reader, row);
	else if (status == -EPERM)
		reader->tally.eperm++;
	else
		reader->tally.other++;
	return 0;
}

/*
 * Whether the error is about us or the socket, not about a task: then all further questions fail
 * too.
 */
static bool is_final(int status)
{
	return status == -EPERM || status == -ETIMEDOUT;
}

static void give_up(struct reader *reader, uint32_t first)
{
	const struct taskstats_answer refused = { .status = reader->refused };

	for (uint32_t row = first; row < reader->capture->snapshot->task_count; row++)
		(void)take_answer(reader, row, &refused);
	if (reader->refused == -EPERM)
		reader->capture->tallies[SOURCE_TASKSTATS].reason =
			"the kernel reports it only with CAP_NET_ADMIN";
}

static int ask_batch(struct reader *reader, struct taskstats_socket *socket, uint32_t first,
		     struct taskstats_answer *answers, size_t count)
{
	const struct capture *capture = reader->capture;

	for (size_t i = 0; i < count; i++)
		answers[i].tid = capture->snapshot->tasks[first + i].tid;
	(void)host_clock(capture->host, &reader->asked);
	reader->refused = taskstats_socket_ask(socket, answers, count);
	(void)host_clock(capture->host, &reader->answered);
	for (size_t i = 0; i < count; i++) {
		if (take_answer(reader, (uint32_t)(first + i), &answers[i]) < 0)
			return -ENOMEM;
		if (is_final(answers[i].status))
			reader->refused = answers[i].status;
	}
	return 0;
}

static bool is_useless(const struct reader *reader)
{
	return reader->answered_members && !(reader->answered_members & reader->wanted_members);
}

static int ask_all(struct reader *reader, struct taskstats_socket *socket, uint32_t first)
{
	CLEANUP(free_pointer)
	struct taskstats_answer *answers = calloc(TASKSTATS_BATCH, sizeof(*answers));
	size_t rows = reader->capture->snapshot->task_count;

	if (!answers)
		return -ENOMEM;
	while (first < rows && !reader->refused && !is_useless(reader)) {
		size_t count = rows - first < TASKSTATS_BATCH ? rows - first : TASKSTATS_BATCH;

		if (ask_batch(reader, socket, first, answers, count) < 0)
			return -ENOMEM;
		first += (uint32_t)count;
	}
	if (reader->refused)
		give_up(reader, first);
	return 0;
}

/* Sets reasons for the metrics that were asked for but not received. */
static int finish(struct reader *reader)
{
	static const char absent[] = "this kernel's taskstats do not have it";
	struct snapshot *snapshot = reader->capture->snapshot;
	int status = 0;

	for (int id = 0; id < METRIC_STORED && status == 0; id++) {
		bool has = reader->answered_members >> members[id].member & 1;

		if (!reader->wanted[id] || !reader->answered_members ||
		    snapshot_measured(snapshot, id) == snapshot_rows(snapshot, id))
			continue;
		if (!has)
			status = snapshot_set_absent(snapshot, id, absent);
		else if (reader->absences[id])
			status = snapshot_set_absent(snapshot, id,
						     absence_reasons[reader->absences[id]]);
	}
	return status;
}

static int note_tally(struct reader *reader)
{
	const struct taskstats_tally *tally = &reader->tally;
	const struct {
		const char *name;
		uint64_t count;
	} rows[] = {
		{ "taskstats ok", tally->ok },
		{ "taskstats eperm", tally->eperm },
		{ "taskstats esrch", tally->esrch },
		{ "taskstats other", tally->other },
		{ "taskstats not_opened", tally->not_opened },
	};
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && status == 0; i++)
		status = snapshot_note_number(reader->capture->snapshot, SHEET_CAPTURE,
					      rows[i].name, rows[i].count);
	return status;
}

/*
 * The first row to ask about.  For tasks that it listed, the iterator reported all but what only
 * taskstats has.
 */
static uint32_t first_row(const struct capture *capture)
{
	for (int id = 0; id < METRIC_STORED; id++)
		if (is_alone(&metrics[id]) && capture->gates[metrics[id].gate].open)
			return 0;
	return (uint32_t)capture->tallies[SOURCE_TASK_ITERATOR].read;
}

int taskstats_rows_fill(struct capture *capture, struct taskstats_socket *socket)
{
	struct reader reader = {
		.capture = capture,
		.iterated = (uint32_t)capture->tallies[SOURCE_TASK_ITERATOR].read,
	};
	uint32_t first = first_row(capture);
	int status = 0;

	find_wanted(&reader);
	if (socket)
		status = ask_all(&reader, socket, first);
	else
		reader.tally.not_opened = capture->snapshot->task_count - first;
	if (status == 0)
		status = finish(&reader);
	return status < 0 ? status : note_tally(&reader);
}

static int open_socket(struct capture *capture, struct taskstats_socket **ret)
{
	struct source_tally *tally = &capture->tallies[SOURCE_TASKSTATS];
	int status;

	if (!capture->host->live)
		tally->reason = "a recorded tree has no kernel to ask";
	else if (!proc_numbers_are_ours(capture->host))
		tally->reason = PROC_IS_FOREIGN;
	if (tally->reason)
		return -ENOTSUP;
	status = taskstats_socket_open(ret);
	if (status == -ENOENT)
		source_set_missing(tally, "this kernel was built without CONFIG_TASKSTATS");
	else if (status < 0)
		tally->reason = arena_copy(&capture->snapshot->arena, strerror(-status),
					   strlen(strerror(-status)));
	return status;
}

int taskstats_collect(struct capture *capture)
{
	CLEANUP(taskstats_socket_free_pointer) struct taskstats_socket *socket = NULL;

	if (first_row(capture) >= capture->snapshot->task_count ||
	    !source_wanted(capture, SOURCE_TASKSTATS))
		return 0;
	if (open_socket(capture, &socket) == -ENOMEM)
		return -ENOMEM;
	return taskstats_rows_fill(capture, socket);
}
