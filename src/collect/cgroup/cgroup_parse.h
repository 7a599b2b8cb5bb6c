/* SPDX-License-Identifier: MIT */
/*
 * Parses the files of a cgroup, by the few formats that they have.
 *
 * Parsers never fail on a text: a line that makes no sense is left out and counted.  Keys are
 * short and of plain characters, so that they can become names of readings.
 */
#ifndef COLLECT_CGROUP_PARSE_H
#define COLLECT_CGROUP_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "model/snapshot/sheet.h"

enum cgroup_format {
	CGROUP_NUMBER,
	CGROUP_SIGNED,
	CGROUP_LIMIT,	 /* a number, or "max" */
	CGROUP_PAIR,	 /* of cpu.max: a limit and the period that it is for */
	CGROUP_KEYS,	 /* lines "key number" */
	CGROUP_NESTED,	 /* lines "device key=number ..." */
	CGROUP_DEVICES,	 /* lines "device key number" */
	CGROUP_LIST,	 /* numbers and ranges, kept as text */
	CGROUP_PRESSURE, /* pressure.h parses these */
	CGROUP_FORMAT_COUNT,
};

/* Longest key, with its NUL. */
#define CGROUP_KEY_SIZE 80

struct cgroup_value {
	char key[CGROUP_KEY_SIZE]; /* "usage_usec", "8:0 rbytes"; "" for a file of one value */
	enum cell_state state;	   /* never CELL_ABSENT */
	uint64_t number;	   /* a signed one is two's complement */
	const char *text;	   /* of CELL_TEXT; in the text that is parsed */
	size_t length;
};

/* Where values go.  take() returns 0, or a negative errno that ends the parsing. */
struct cgroup_sink {
	int (*take)(struct cgroup_sink *sink, const struct cgroup_value *value);
};

/*
 * Gives each value of a text, which is ended by a NUL, to the sink.  Returns how many pieces of
 * the text made no sense, or the error of take().
 */
int cgroup_parse(enum cgroup_format format, const char *text, struct cgroup_sink *sink);

#endif
