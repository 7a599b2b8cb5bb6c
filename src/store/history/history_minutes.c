/* SPDX-License-Identifier: MIT */
/*
 * Rolls the ticks of a minute up, for each process: the least, the mean and the most of what
 * minutes.def has.  A process whose figures stay the same has one row for up to an hour.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/collection/number_map.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history_parts.h"

#define MINUTE_NS (UINT64_C(60) * 1000000000)
#define MINUTES_PER_ROW 60
/* Start times are whole clock ticks, rounded down. */
#define TICK_NS UINT64_C(10000000)

static const struct {
	enum metric_id metric;
	double scale; /* 0: a level */
} figures[] = {
#define LEVEL(name, metric) { METRIC_##metric, 0 },
#define RATE(name, metric, scale) { METRIC_##metric, scale },
#include "store/history/minutes.def"
};

enum rate {
#define RATE(name, metric, scale) RATE_##name,
#include "store/history/minutes.def"
	RATE_COUNT,
};

#define FIGURES ARRAY_SIZE(figures)

struct figure {
	double least, most, sum;
	uint64_t count;
};

/* The counters of a thread at the last tick. */
struct thread_counters {
	int32_t tid;
	uint64_t start_ns;
	uint64_t values[RATE_COUNT];
	unsigned present; /* a bit for each */
};

struct minute_process {
	int32_t pid;
	uint64_t start_ns;
	uint64_t names; /* a hash: when it changes, the row is written again */
	int64_t row;	/* 0: not in the file */
	int64_t uid;	/* that the row has; USER_UNKNOWN: none */
	uint64_t tick;	/* that it was seen in last */
	uint64_t last_ns;
	struct figure figures[FIGURES];
	uint64_t samples;
	ARRAY_OF(struct thread_counters) threads;
	/* The row that may become longer. */
	int64_t last_row;
	uint64_t last_minute;
	unsigned last_minutes;
	struct figure last_figures[FIGURES];
};

struct minutes {
	struct number_map by_pid;
	ARRAY_OF(struct minute_process *) processes;
	ARRAY_OF(struct thread_counters) threads; /* of the process that is looked at */
	uint64_t minute;			  /* that is being added up; 0: none */
	uint64_t tick;
	uint64_t boottime_ns; /* of the last tick */
	char boot_id[64];
};

struct minutes *minutes_new(void)
{
	return calloc(1, sizeof(struct minutes));
}

static void process_free(struct minute_process *process)
{
	array_free(&process->threads);
	free(process);
}

static void minutes_clear(struct minutes *minutes)
{
	for (size_t i = 0; i < minutes->processes.count; i++)
		process_free(minutes->processes.data[i]);
	minutes->processes.count = 0;
	number_map_clear(&minutes->by_pid);
	minutes->boottime_ns = 0;
}

void minutes_free(struct minutes *minutes)
{
	if (!minutes)
		return;
	minutes_clear(minutes);
	array_free(&minutes->processes);
	array_free(&minutes->threads);
	free(minutes);
}

void minutes_forget_rows(struct minutes *minutes)
{
	for (size_t i = 0; i < minutes->processes.count; i++) {
		minutes->processes.data[i]->row = 0;
		minutes->processes.data[i]->last_row = 0;
	}
}

void minutes_forget_dropped(struct history *history)
{
	struct minutes *minutes = history->minutes;

	for (size_t i = 0; i < minutes->processes.count; i++) {
		struct minute_process *process = minutes->processes.data[i];
		sqlite3_stmt *statement = history_statement(history, STATEMENT_PROCESS_ROOM);

		process->last_row = 0;
		sqlite3_bind_int64(statement, 1, process->row);
		if (!statement || sqlite3_step(statement) != SQLITE_ROW)
			process->row = 0;
		sqlite3_reset(statement);
	}
	known_rows_forget(&history->known);
}

static void add_figure(struct minute_process *process, size_t index, double value)
{
	struct figure *figure = &process->figures[index];

	if (!figure->count || value < figure->least)
		figure->least = value;
	if (!figure->count || value > figure->most)
		figure->most = value;
	figure->sum += value;
	figure->count++;
}

/* Rounded, so that idle processes are the same in each minute: percent to hundredths. */
static double rounded(size_t index, double value)
{
	double places = figures[index].scale != 0 && figures[index].scale < 1 ? 100 : 1;

	return round(value * places) / places;
}

static bool same_figures(const struct minute_process *process)
{
	for (size_t i = 0; i < FIGURES; i++) {
		const struct figure *a = &process->figures[i], *b = &process->last_figures[i];

		if (!a->count != !b->count)
			return false;
		if (a->count && (rounded(i, a->least) != rounded(i, b->least) ||
				 rounded(i, a->most) != rounded(i, b->most) ||
				 rounded(i, a->sum / (double)a->count) !=
					 rounded(i, b->sum / (double)b->count)))
			return false;
	}
	return true;
}

static int lengthen_row(struct history *history, struct minute_process *process,
			struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_MINUTE_LONGER);
	int index = 0;

	bind_number(statement, &index, process->samples);
	bind_number(statement, &index, (uint64_t)process->last_row);
	process->last_minutes++;
	return history_step(history, statement, error);
}

static int insert_row(struct history *history, struct minute_process *process, uint64_t minute,
		      struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_MINUTE);
	int index = 0, status;

	bind_number(statement, &index, (uint64_t)process->row);
	bind_number(statement, &index, minute * MINUTE_NS);
	bind_number(statement, &index, process->samples);
	for (size_t i = 0; i < FIGURES; i++) {
		const struct figure *figure = &process->figures[i];
		double mean = figure->count ? figure->sum / (double)figure->count : 0;

		bind_real(statement, &index, figure->count, rounded(i, figure->least));
		bind_real(statement, &index, figure->count, rounded(i, mean));
		bind_real(statement, &index, figure->count, rounded(i, figure->most));
	}
	status = history_step(history, statement, error);
	process->last_row = sqlite3_last_insert_rowid(history->database.handle);
	if (status == 0)
		status = user_rooms_add_row(history, USER_PROCESSES, process->uid, error);
	process->last_minute = minute;
	process->last_minutes = 1;
	memcpy(process->last_figures, process->figures, sizeof(process->figures));
	return status;
}

static int note_seen(struct history *history, const struct minute_process *process,
		     struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_PROCESS_SEEN);
	int index = 0;

	bind_number(statement, &index, process->last_ns);
	bind_number(statement, &index, (uint64_t)process->row);
	return history_step(history, statement, error);
}

static int write_process(struct history *history, struct minute_process *process, uint64_t minute,
			 struct error *error)
{
	int status = 0;

	if (!process->samples || !process->row)
		return 0;
	if (process->last_row && process->last_minutes < MINUTES_PER_ROW &&
	    process->last_minute + process->last_minutes == minute && same_figures(process))
		status = lengthen_row(history, process, error);
	else
		status = insert_row(history, process, minute, error);
	if (status == 0)
		status = note_seen(history, process, error);
	process->samples = 0;
	memset(process->figures, 0, sizeof(process->figures));
	return status;
}

static int end_minute(struct history *history, struct error *error)
{
	struct minutes *minutes = history->minutes;
	int status = 0;

	for (size_t i = 0; i < minutes->processes.count && status == 0; i++)
		status = write_process(history, minutes->processes.data[i], minutes->minute, error);
	return status;
}

int minutes_flush(struct history *history, struct error *error)
{
	int status = history_begin(history, error);

	return status < 0 ? status : end_minute(history, error);
}

/* What the row of a process says, besides who it is. */
struct names {
	const char *comm, *cmd, *exe, *user, *cgroup;
	bool has_uid;
	uint64_t uid;
	int32_t parent;
};

static struct names names_of(const struct snapshot *snapshot, uint32_t row,
			     const struct task *first)
{
	const struct process *process = &snapshot->processes[row];
	struct names names = {
		.comm = snapshot_text(snapshot, process->pcomm),
		.cmd = process->cmdline ? snapshot_text(snapshot, process->cmdline) : NULL,
		.exe = process->exe ? snapshot_text(snapshot, process->exe) : NULL,
		.user = process->user ? snapshot_text(snapshot, process->user) : NULL,
		.cgroup = first && first->cgroup ? snapshot_text(snapshot, first->cgroup) : NULL,
		.parent = snapshot_parent(snapshot, row),
	};

	names.has_uid = snapshot_get(snapshot, METRIC_uid, row, &names.uid);
	return names;
}

static uint64_t hash_names(const struct names *names)
{
	const char *const texts[] = { names->comm, names->cmd, names->exe, names->user,
				      names->cgroup };
	uint64_t hash = (uint64_t)names->parent << 32 ^ names->uid;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		hash = texts[i] ? XXH3_64bits_withSeed(texts[i], strlen(texts[i]), hash) : hash + 1;
	return hash;
}

/* The frames have the whole command line. */
static void bind_names(sqlite3_stmt *statement, int *index, const struct names *names)
{
	bind_optional(statement, index, names->parent != 0, (uint64_t)names->parent);
	bind_text(statement, index, names->comm);
	bind_command(statement, index, names->cmd, COMMAND_BYTES);
	bind_text(statement, index, names->exe);
	bind_text(statement, index, names->user);
	bind_optional(statement, index, names->has_uid, names->uid);
	bind_text(statement, index, names->cgroup);
}

static int find_row(struct history *history, struct minute_process *process, struct error *error)
{
	sqlite3_stmt *statement = history_statement(history, STATEMENT_PROCESS_FIND);
	int index = 0;

	bind_number(statement, &index, (uint64_t)history->boot);
	bind_number(statement, &index, (uint64_t)process->pid);
	bind_number(statement, &index, process->start_ns);
	if (!statement || sqlite3_step(statement) != SQLITE_ROW)
		return history_drop(history, database_fail(&history->database, "write", error),
				    error);
	process->row = sqlite3_column_int64(statement, 0);
	sqlite3_reset(statement);
	return 0;
}

static int write_names(struct history *history, struct minute_process *process,
		       const struct names *names, uint64_t unix_ns, struct error *error)
{
	sqlite3_stmt *statement;
	int index = 0, status = 0;
	bool is_added;

	if (!process->row) {
		statement = history_statement(history, STATEMENT_PROCESS);
		bind_number(statement, &index, (uint64_t)history->boot);
		bind_number(statement, &index, (uint64_t)process->pid);
		bind_number(statement, &index, process->start_ns);
		bind_names(statement, &index, names);
		bind_number(statement, &index, unix_ns);
		bind_number(statement, &index, unix_ns);
		status = history_step(history, statement, error);
		is_added = sqlite3_changes(history->database.handle) > 0;
		if (status == 0)
			status = find_row(history, process, error);
		if (status < 0 || is_added)
			return status < 0 ?
				       status :
				       user_rooms_count_process(history, process->row, 1, error);
		index = 0;
	}
	status = user_rooms_count_process(history, process->row, -1, error);
	if (status < 0)
		return status;
	statement = history_statement(history, STATEMENT_PROCESS_RENAMED);
	bind_names(statement, &index, names);
	bind_number(statement, &index, (uint64_t)process->row);
	status = history_step(history, statement, error);
	return status < 0 ? status : user_rooms_count_process(history, process->row, 1, error);
}

static struct minute_process *add_process(struct minutes *minutes, const struct process *from)
{
	struct minute_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = from->tgid;
	process->start_ns = from->start_time_ns;
	if (array_reserve(&minutes->processes, minutes->processes.count + 1) < 0 ||
	    number_map_set(&minutes->by_pid, process->pid, process) < 0) {
		free(process);
		return NULL;
	}
	minutes->processes.data[minutes->processes.count++] = process;
	return process;
}

/* Reads the counters of the process's threads, from its first row on; returns how many. */
static size_t read_threads(struct minutes *minutes, const struct snapshot *snapshot, size_t first,
			   uint32_t process)
{
	size_t row = first;

	minutes->threads.count = 0;
	for (; row < snapshot->task_count && snapshot->tasks[row].process == process; row++) {
		const struct task *task = &snapshot->tasks[row];
		struct thread_counters counters = { task->tid, task->start_time_ns, { 0 }, 0 };

		for (size_t i = 0, rate = 0; i < FIGURES; i++) {
			if (figures[i].scale == 0)
				continue;
			if (snapshot_get(snapshot, figures[i].metric, (uint32_t)row,
					 &counters.values[rate]))
				counters.present |= 1u << rate;
			rate++;
		}
		if (array_append(&minutes->threads, counters) < 0)
			break;
	}
	return row - first;
}

/* What a counter grew by since the last tick; false when that is not known. */
static bool find_growth(const struct thread_counters *now, const struct thread_counters *before,
			uint64_t last_tick_ns, size_t rate, uint64_t *ret)
{
	uint64_t value = now->values[rate];

	if (!(now->present >> rate & 1))
		return false;
	if (!before) {
		*ret = value;
		return now->start_ns + TICK_NS > last_tick_ns;
	}
	*ret = value - before->values[rate];
	return before->present >> rate & 1 && value >= before->values[rate];
}

/* Threads of both ticks are sorted by tid. */
static const struct thread_counters *find_before(const struct minute_process *process,
						 const struct thread_counters *now, size_t *next)
{
	while (*next < process->threads.count && process->threads.data[*next].tid < now->tid)
		++*next;
	if (*next < process->threads.count && process->threads.data[*next].tid == now->tid &&
	    process->threads.data[*next].start_ns == now->start_ns)
		return &process->threads.data[*next];
	return NULL;
}

static void add_rates(struct minutes *minutes, struct minute_process *process, uint64_t boottime_ns)
{
	uint64_t sums[RATE_COUNT] = { 0 }, last = minutes->boottime_ns;
	bool is_known[RATE_COUNT] = { false };
	size_t next = 0, rate = 0;

	if (!last || boottime_ns <= last)
		return;
	for (size_t i = 0; i < minutes->threads.count; i++) {
		const struct thread_counters *now = &minutes->threads.data[i];
		const struct thread_counters *before = find_before(process, now, &next);
		uint64_t growth;

		for (rate = 0; rate < RATE_COUNT; rate++)
			if (find_growth(now, before, last, rate, &growth)) {
				sums[rate] += growth;
				is_known[rate] = true;
			}
	}
	for (size_t i = rate = 0; i < FIGURES; i++) {
		if (figures[i].scale == 0)
			continue;
		if (is_known[rate])
			add_figure(process, i,
				   (double)sums[rate] * 1e9 / (double)(boottime_ns - last) *
					   figures[i].scale);
		rate++;
	}
}

static void add_levels(struct minute_process *process, const struct snapshot *snapshot,
		       uint32_t row)
{
	uint64_t value;

	for (size_t i = 0; i < FIGURES; i++)
		if (figures[i].scale == 0 && snapshot_get(snapshot, figures[i].metric, row, &value))
			add_figure(process, i, (double)value);
}

static void keep_threads(struct minutes *minutes, struct minute_process *process)
{
	__typeof__(process->threads) held = process->threads;

	process->threads.data = minutes->threads.data;
	process->threads.count = minutes->threads.count;
	process->threads.capacity = minutes->threads.capacity;
	minutes->threads.data = held.data;
	minutes->threads.count = 0;
	minutes->threads.capacity = held.capacity;
}

static int add_row(struct history *history, const struct snapshot *snapshot, uint32_t row,
		   size_t *next_task, uint64_t unix_ns, uint64_t boottime_ns, struct error *error)
{
	struct minutes *minutes = history->minutes;
	const struct process *from = &snapshot->processes[row];
	struct minute_process *process = number_map_get(&minutes->by_pid, from->tgid);
	size_t first = *next_task;
	struct names names;
	int status = 0;

	*next_task += read_threads(minutes, snapshot, first, row);
	names = names_of(snapshot, row, *next_task > first ? &snapshot->tasks[first] : NULL);
	if (!process || process->start_ns != from->start_time_ns)
		process = add_process(minutes, from);
	if (!process)
		return error_set(error, -ENOMEM, "not enough memory");
	if (!process->row || process->names != hash_names(&names))
		status = write_names(history, process, &names, unix_ns, error);
	if (status < 0)
		return status;
	process->names = hash_names(&names);
	process->uid = names.has_uid ? (int64_t)names.uid : USER_UNKNOWN;
	process->tick = minutes->tick;
	process->last_ns = unix_ns;
	process->samples++;
	add_levels(process, snapshot, row);
	add_rates(minutes, process, boottime_ns);
	keep_threads(minutes, process);
	return 0;
}

/* Processes that this tick did not see have ended: what they have is written and forgotten. */
static int sweep(struct history *history, struct error *error)
{
	struct minutes *minutes = history->minutes;
	size_t kept = 0, i = 0;
	int status = 0;

	for (; i < minutes->processes.count && status == 0; i++) {
		struct minute_process *process = minutes->processes.data[i];

		if (process->tick == minutes->tick) {
			minutes->processes.data[kept++] = process;
			continue;
		}
		status = write_process(history, process, minutes->minute, error);
		number_map_forget(&minutes->by_pid, process->pid, process);
		process_free(process);
	}
	for (; i < minutes->processes.count; i++)
		minutes->processes.data[kept++] = minutes->processes.data[i];
	minutes->processes.count = kept;
	return status;
}

static int begin_tick(struct history *history, const struct snapshot *snapshot, uint64_t unix_ns,
		      struct error *error)
{
	struct minutes *minutes = history->minutes;
	const struct fact *boot = &snapshot->facts[FACT_boot_id];
	int status = 0;

	minutes->tick++;
	if (minutes->minute != unix_ns / MINUTE_NS) {
		status = end_minute(history, error);
		minutes->minute = unix_ns / MINUTE_NS;
	}
	if (boot->present && strncmp(minutes->boot_id, boot->text, sizeof(minutes->boot_id) - 1)) {
		minutes_clear(minutes);
		memset(minutes->boot_id, 0, sizeof(minutes->boot_id));
		memcpy(minutes->boot_id, boot->text,
		       strnlen(boot->text, sizeof(minutes->boot_id) - 1));
	}
	return status;
}

int minutes_add(struct history *history, const struct snapshot *snapshot, uint64_t unix_ns,
		struct error *error)
{
	const struct fact *boottime = &snapshot->facts[FACT_boottime_ns];
	uint64_t boottime_ns = boottime->present ? boottime->number : 0;
	int status = begin_tick(history, snapshot, unix_ns, error);
	size_t next_task = 0;

	for (uint32_t row = 0; row < snapshot->process_count && status == 0; row++)
		status = add_row(history, snapshot, row, &next_task, unix_ns, boottime_ns, error);
	if (status == 0)
		status = sweep(history, error);
	history->minutes->boottime_ns = boottime_ns;
	return status;
}
