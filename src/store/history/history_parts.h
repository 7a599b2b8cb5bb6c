/* SPDX-License-Identifier: MIT */
/* What the files of this room share about a recording that is open. */
#ifndef STORE_HISTORY_PARTS_H
#define STORE_HISTORY_PARTS_H

#include "base/collection/array.h"
#include "store/history/database/database.h"
#include "store/history/frame.h"
#include "store/history/history.h"
#include "store/tscope/bytes.h"

struct call_minutes;
struct minutes;
struct text;

/* Statements that are used again and again; each is prepared when it is first needed. */
enum statement_id {
	STATEMENT_TICK,
	STATEMENT_SAMPLE,
	STATEMENT_PROCESS,
	STATEMENT_PROCESS_FIND,
	STATEMENT_PROCESS_SEEN,
	STATEMENT_PROCESS_RENAMED,
	STATEMENT_PROCESS_EXIT,
	STATEMENT_PROCESS_ROOM,
	STATEMENT_MINUTE,
	STATEMENT_MINUTE_LONGER,
	STATEMENT_CALL,
	STATEMENT_PROCESS_USER,
	STATEMENT_EVENT,
	STATEMENT_ANOMALY,
	STATEMENT_ANOMALY_CHANGE,
	STATEMENT_META,
	STATEMENT_WALK,
	STATEMENT_STACK,
	STATEMENT_ACTIVITY,
	STATEMENT_USER,
	STATEMENT_JOB,
	STATEMENT_JOB_CHANGE,
	STATEMENT_JOB_USER,
	STATEMENT_STEP,
	STATEMENT_STEP_CHANGE,
	STATEMENT_JOB_EVENT,
	STATEMENT_PROCESS_JOB,
	STATEMENT_COUNT,
};

/* An episode of the detector, and its row. */
struct episode {
	uint64_t id;
	int64_t row;  /* 0: it was lost with its transaction */
	bool is_kept; /* the row is part of an earlier transaction */
};

#define KNOWN_PROCESSES 1024
#define KNOWN_STACKS 4096

/* Rows that were found or written lately; a place has the last that fell into it. */
struct known_rows {
	struct known_process {
		int32_t pid;
		uint64_t start_ns;
		int64_t row;
	} processes[KNOWN_PROCESSES];
	struct known_stack {
		uint64_t hash;
		uint64_t noted_ns; /* what its row has as last_ns */
	} stacks[KNOWN_STACKS];
};

#define USER_ROOMS 32
#define USER_UNKNOWN INT64_C(-1)

/* Parts of the file whose rows are of users. */
enum user_part {
	USER_EVENTS,
	USER_PROCESSES,
	USER_ANOMALIES,
	USER_JOBS,
	USER_JOB_RUNS,
	USER_CALLS,
	USER_PARTS
};

/* What the open transaction changes in the room that rows of users take. */
struct user_rooms {
	struct user_room {
		enum user_part part;
		int64_t uid, kept, bytes, dropped; /* dropped: before their age */
	} list[USER_ROOMS];
	size_t count;
	/* Of all users together, with what the transaction has; read from the file when not known. */
	int64_t bytes[USER_PARTS];
	bool is_known;
	int64_t added_bytes; /* by the transaction */
};

/* A stack that is seen on and on is noted again after this time, and may be dropped after twice that. */
#define STACK_NOTED_NS (UINT64_C(1800) * 1000000000)

/* history_activity.c: they may not be there any more. */
void known_rows_forget(struct known_rows *known);

struct history {
	struct database database;
	struct history_retention retention;
	bool is_damaged; /* found while writing: it is set aside when more is written, or at the end */

	/* Writing. */
	char *path;	/* as the caller wrote it */
	char *note;	/* that a new file was begun; NULL: none */
	bool is_begun;	/* the file was found to be a recording, or made one */
	bool is_new;	/* there was no file before */
	bool is_moment; /* it is open for a few rows, by no recorder */
	sqlite3_stmt *statements[STATEMENT_COUNT];
	bool in_transaction;
	unsigned commits;      /* since it was made smaller */
	bool is_tight;	       /* it was larger than allowed after that */
	bool is_making_room;   /* rows are dropped before their age */
	uint64_t dropped_rows; /* so */
	struct frame_writer *frames;
	struct bytes frame;
	int64_t chain;	       /* id of the last key frame's tick; 0: none */
	uint64_t chain_bytes;  /* of the frames since */
	uint64_t last_unix_ns; /* of the last tick */
	char boot_id[64];
	int64_t boot; /* its row */
	struct minutes *minutes;
	struct call_minutes *calls; /* NULL: there were none */
	struct known_rows known;
	struct user_rooms rooms;
	ARRAY_OF(struct episode) episodes;
	/* What the open transaction has, and what was lost with earlier ones. */
	uint64_t added_ticks, added_events, lost_ticks, lost_events;
	uint64_t told_ticks; /* of those that were lost: an event has them */
	char lost_reason[160];

	/* Reading: the chain that was read last, and how far. */
	struct frame_reader *reader;
	int64_t read_chain, read_tick;
};

/* Begins a transaction unless there is one.  0 or an error. */
int history_begin(struct history *history, struct error *error);
/* The statement, ready to be bound; NULL after a failure of SQLite. */
sqlite3_stmt *history_statement(struct history *history, enum statement_id id);
/* Runs a bound statement that gives no rows. */
int history_step(struct history *history, sqlite3_stmt *statement, struct error *error);
/* Drops the transaction, because of the error, and counts what was in it.  Returns `status`. */
int history_drop(struct history *history, int status, struct error *error);

/* The row of a boot that began then, added when it is new; 0 after a failure. */
int64_t history_boot(struct history *history, const char *boot_id, uint64_t begin_unix_ns);

/* history_event.c: how many bytes of its command line an event's row keeps. */
size_t history_event_command(const struct life_event *event);
/* history_event.c: the SQL of its statements. */
const char *history_event_sql(enum statement_id id);
/* job/history_jobs_write.c: the same of jobs; false: it is no statement of jobs. */
bool history_job_sql(enum statement_id id, struct text *sql);
/* Drops what belongs to jobs that are gone.  0 or an error. */
int history_drop_of_no_job(struct database *database, struct error *error);
/* history_write.c: commits, without a look at the size of the file. */
int history_commit_rows(struct history *history, struct error *error);
/* Commits if the transaction is large for such a file. */
int history_commit_large(struct history *history, struct error *error);

/*
 * history_users.c: the room that the rows of each user take.  A row was added; for processes this is one
 * of their minutes.
 */
int user_rooms_add_event(struct history *history, const struct life_event *event,
			 struct error *error);
int user_rooms_add_row(struct history *history, enum user_part part, int64_t uid,
		       struct error *error);
/* Adds (1) or takes away (-1) the row of a process and its minutes, as they are in the file. */
extern const char user_process_sql[];
int user_rooms_count_process(struct history *history, int64_t row, int sign, struct error *error);
/* Adds a change to the sums of the transaction.  0 or an error.  The bytes of jobs are counted by history_jobs_write.c. */
#define JOB_BYTES 400
#define JOB_STEP_BYTES 300
#define JOB_EVENT_BYTES 120
#define JOB_SYSCALL_BYTES 80
#define JOB_RUN_BYTES 100
int user_rooms_note(struct history *history, const struct user_room *change, struct error *error);
int user_rooms_flush(struct history *history, struct error *error);
/* Forgets what the transaction was to change. */
void user_rooms_forget(struct history *history);
/* How many bytes of the file the part may have. */
uint64_t user_part_most(const struct history *history, enum user_part part);
int user_rooms_recount(struct database *database, struct error *error);
/* history_user_drops.c: drop rows by age. */
int history_drop_events(struct history *history, uint64_t before, struct error *error);
int history_drop_anomalies(struct history *history, uint64_t before, struct error *error);
int history_drop_jobs(struct history *history, uint64_t before, struct error *error);
int history_drop_job_events(struct history *history, uint64_t before, struct error *error);
int history_drop_job_runs(struct history *history, uint64_t before, struct error *error);
int history_drop_calls(struct history *history, uint64_t before, struct error *error);
int history_drop_minutes(struct history *history, uint64_t before, struct error *error);
int history_drop_processes(struct history *history, uint64_t before, struct error *error);
/* Drops a tenth of a part, of the users who have most. */
int history_drop_heaviest(struct history *history, enum user_part part, struct error *error);
/* Whether a part has more than its share of the file; keeps all within it. */
bool history_exceeds_shares(struct history *history);
int history_limit_users(struct history *history, struct error *error);

/* history_expire.c: drops the oldest when the file is larger than it may be. */
int history_limit_size(struct history *history, struct error *error);

/* history_minutes.c: one-minute roll-ups of processes. */
struct minutes *minutes_new(void);
void minutes_free(struct minutes *minutes);
/* Adds a tick; writes the minute that it ends. */
int minutes_add(struct history *history, const struct snapshot *snapshot, uint64_t unix_ns,
		struct error *error);
/* Writes the minute that is not over. */
int minutes_flush(struct history *history, struct error *error);
/* The rows that were written last are not there: the transaction was dropped. */
void minutes_forget_rows(struct minutes *minutes);
/* Rows of processes or minutes may have been deleted. */
void minutes_forget_dropped(struct history *history);

/* history_create.c: sets the damaged file aside and begins a new one. */
int history_renew(struct history *history, struct error *error);

/*
 * history_clock.c: where the wall clock was set back.  Between two such ticks, times are in order of
 * their ids.
 */
#define CLOCK_STEPS 32
struct clock_steps {
	int64_t ticks[CLOCK_STEPS]; /* the first after each step, in order */
	size_t count;
};

void clock_steps_read(struct history *history, struct clock_steps *ret);
/* Call it before the tick is added.  0 or an error. */
int clock_steps_note(struct history *history, int64_t tick, uint64_t unix_ns, struct error *error);

/* history_open() for something that takes long. */
int history_open_for(const char *path, bool takes_long, struct history **ret, struct error *error);

/* Reading. */
struct tick_place {
	int64_t id, chain;
	uint64_t unix_ns;
};

/* Reads the frames of the tick's chain up to it. */
int history_read_tick(struct history *history, const struct tick_place *tick, struct snapshot **ret,
		      struct error *error);
/* The subject of a sentence about a tick. */
void history_name_time(uint64_t unix_ns, char *name, size_t size);
void history_name_tick(const struct history *history, uint64_t unix_ns, char *name, size_t size);
int history_minute_snapshot(struct history *history, uint64_t at_unix_ns, struct snapshot **ret,
			    struct error *error);

#endif
