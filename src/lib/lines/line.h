/* SPDX-License-Identifier: MIT */
/*
 * This room writes what the library prints.
 *
 * A line has a kind, then a list of named values.  The same list is written as text for people or
 * as one JSON object for programs.
 *
 * A line owns nothing: texts that are added must live until it is rendered.  Numbers do not depend
 * on the program's locale.
 */
#ifndef LIB_LINE_H
#define LIB_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <taskscope.h>

enum {
	LINE_FIELDS = 32,
	LINE_SIZE = 2048, /* the longest line, with a zero at its end */
};

/* A number that may be unknown: a value that could not be read is not 0. */
struct amount {
	bool is_known;
	uint64_t value;
};

static inline struct amount amount_of(uint64_t value)
{
	return (struct amount){ .is_known = true, .value = value };
}

enum line_kind {
	LINE_HEARTBEAT,
	LINE_FINAL,
	LINE_PHASE,
	LINE_PHASES_LEFT,
	LINE_UNINSTRUMENTED,
	LINE_UNINSTRUMENTED_LEFT,
	LINE_STALL,
	LINE_RECOVERED,
	LINE_STALLS_LEFT,
	LINE_STOPPED,
	LINE_SCOPE,
	LINE_LOST,
	LINE_WARNING,
};

enum line_type {
	LINE_COUNT,
	LINE_BYTES,
	LINE_DURATION, /* in nanoseconds */
	LINE_REAL,
	LINE_CORES, /* likewise; text shows less than a hundredth as 0 */
	LINE_LABEL, /* text, in quotes */
	LINE_WORD,  /* text */
};

struct line_value {
	enum line_type type;
	struct amount amount;
	double real;	  /* of LINE_REAL and LINE_CORES, if the amount is known */
	const char *text; /* of LINE_LABEL and LINE_WORD; NULL: unknown */
};

static inline struct line_value line_amount(enum line_type type, struct amount amount)
{
	return (struct line_value){ .type = type, .amount = amount };
}

static inline struct line_value line_real(enum line_type type, bool is_known, double real)
{
	return (struct line_value){ .type = type, .amount.is_known = is_known, .real = real };
}

static inline struct line_value line_text(enum line_type type, const char *text)
{
	return (struct line_value){ .type = type, .text = text };
}

struct line_field {
	const char *key;     /* in JSON with its unit; NULL: not in JSON */
	const char *form;    /* in text, with * for the value; NULL: a space, the key, "=*" */
	const char *missing; /* in text when there is no value; NULL: "<unknown>", "": left out */
	struct line_value value;
};

struct line {
	enum line_kind kind;
	unsigned int field_count;
	struct line_field fields[LINE_FIELDS];
};

/* Begins a line; its first value is the process. */
void line_begin(struct line *line, enum line_kind kind, int pid);
/* Adds a value; does nothing when the line is full.  For `form` and `missing` see line_field. */
void line_add_as(struct line *line, const char *key, const char *form, const char *missing,
		 struct line_value value);
/* Adds key=value, with "<unknown>" where there is none. */
void line_add(struct line *line, const char *key, struct line_value value);
void line_add_count(struct line *line, const char *key, uint64_t value);
void line_add_duration(struct line *line, const char *key, uint64_t nanoseconds);
/* thread=4243/worker; a name of "" is left out. */
void line_add_thread(struct line *line, int tid, const char *name);

enum taskscope_level line_level(enum line_kind kind);
/* Writes the line with a zero byte at its end, cut to fit `capacity`.  Returns the length. */
size_t line_render(const struct line *line, bool is_json, char *buffer, size_t capacity);

/* Writes 350ms 2.5s 45s 1m30s 1h01m01s; always cut, never rounded up. */
enum { LINE_DURATION_SIZE = 32 };
void line_format_duration(uint64_t nanoseconds, char *buffer, size_t capacity);
/* Writes 512B 1.9GiB */
void line_format_bytes(uint64_t bytes, char *buffer, size_t capacity);
/* Writes 7.1 0.98 0.0042 */
void line_format_real(double value, unsigned int most_decimals, char *buffer, size_t capacity);

#endif
