/* SPDX-License-Identifier: MIT */
/*
 * Parses the text of a task's files in proc: stat, and files with lines "key: value", such as
 * status.  Parsing is pure: it takes a file's text, ended by a NUL, and never reads beyond it.
 * Names may hold any bytes.
 */
#ifndef HOST_PROC_TASK_TEXT_H
#define HOST_PROC_TASK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TASK_STAT_BYTES 2048
#define TASK_STAT_FIELDS 64 /* more than any kernel has */

/* Fields of stat by their number in proc(5). */
enum task_stat_field {
	TASK_STAT_STATE = 3,
	TASK_STAT_PARENT = 4,
	TASK_STAT_FLAGS = 9,
	TASK_STAT_WAITED_USER = 16,
	TASK_STAT_WAITED_SYSTEM = 17,
	TASK_STAT_THREADS = 20,
	TASK_STAT_START = 22,
	TASK_STAT_START_CODE = 26,
	TASK_STAT_START_STACK = 28,
	TASK_STAT_ARGUMENTS = 48,
	TASK_STAT_EXIT_CODE = 52,
};

/* Where things are in the text of a stat file. */
struct task_stat {
	const char *comm; /* comm_length bytes, without a NUL */
	size_t comm_length;
	const char *fields[TASK_STAT_FIELDS]; /* by number, from TASK_STAT_STATE on */
	unsigned end;			      /* one more than the number of the last field */
};

/* The name reaches from the first '(' to the last ')'.  False when there is none, or no state. */
bool task_stat_parse(const char *text, struct task_stat *ret);
/*
 * The same, but only up to a field: finding all fields takes twice as long as up to the start
 * time.
 */
bool task_stat_parse_to(const char *text, enum task_stat_field last, struct task_stat *ret);
/* False when it is missing, not a number, below zero, or cut off. */
bool task_stat_number(const struct task_stat *stat, enum task_stat_field field, uint64_t *ret);
/* The same, but 0 instead of false. */
uint64_t task_stat_value(const struct task_stat *stat, enum task_stat_field field);
char task_stat_state(const struct task_stat *stat);
/*
 * The letter that proc shows for the kernel's own state, as its task_state_index() finds it: one of
 * R S D T t X Z P I.
 */
char task_state_letter(uint32_t state, uint32_t exit_state);
static inline bool task_state_is_dead(char state)
{
	return state == 'Z' || state == 'X';
}

/* Copies the name, cut if it is too long, and ends it with a NUL. */
void task_stat_copy_comm(const struct task_stat *stat, char *ret, size_t capacity);
/* Whether it has ended or is exiting. */
bool task_stat_is_ending(const struct task_stat *stat);
bool task_stat_is_kernel_thread(const struct task_stat *stat);

/*
 * Reads the file at `path` below a directory; *ret points into the buffer.  0, -EBADMSG, or
 * another negative errno.
 */
int task_stat_read(int directory, const char *path, char buffer[TASK_STAT_BYTES],
		   struct task_stat *ret);

/*
 * Whether any thread of the process, given by its directory, still runs: its leader may have ended
 * long before the others.
 */
bool process_has_living_thread(int process);

/*
 * Finds where the fields of a row, separated by blanks, begin: the fields from number `first` up
 * to before `end`, which is TASK_STAT_FIELDS at most.  Returns the number after the last one
 * found.
 */
unsigned task_row_split(const char *text, unsigned first, unsigned end,
			const char *fields[TASK_STAT_FIELDS]);

/* The value of a line "key: value", without its newline; NULL when there is no such line. */
const char *task_status_find(const char *text, const char *key, size_t *ret_length);
/* The number that the value begins with; false when there is none. */
bool task_status_number(const char *text, const char *key, uint64_t *ret);

struct task_schedstat {
	uint64_t cpu_ns;   /* on a CPU, exact */
	uint64_t queue_ns; /* waiting for one */
	uint64_t slices;   /* how often it got one */
};

/* False when a number is missing; then *ret is unchanged. */
bool task_schedstat_parse(const char *text, struct task_schedstat *ret);

/*
 * A number must be followed by one of these; otherwise it may have been cut off and look smaller.
 */
static inline bool task_text_is_end(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n';
}

static inline const char *task_text_skip_blanks(const char *cursor)
{
	while (*cursor == ' ' || *cursor == '\t')
		cursor++;
	return cursor;
}

#endif
