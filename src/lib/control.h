/* SPDX-License-Identifier: MIT */
/*
 * Settings of the whole process: what is recorded, and the options in force.
 */
#ifndef LIB_CONTROL_H
#define LIB_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include <taskscope.h>

/* Every scope reads this, with relaxed atomic loads. */
struct recording {
	bool is_on;
	bool has_statistics;
};

extern struct recording recording;

/* The options in force.  They change only while the library starts, under LOCK_START. */
struct control {
	bool has_statistics;
	uint32_t heartbeat_ms; /* 0: none */
	uint32_t stall_ms;     /* TASKSCOPE_NEVER: none */
	uint32_t phase_lines;
	bool prints_statistics; /* at the end */
	bool is_json;
	bool dumps_on_signal;
	const char *output; /* a file, or NULL: standard error */
	void (*log)(void *context, enum taskscope_level level, const char *line);
	void *log_context;
};

extern struct control control;

struct warnings;

/*
 * Fills `ret` from the options and their defaults, then from the environment.  Adds a warning for
 * each wrong value; `warnings` may be NULL.
 */
void control_choose(const struct taskscope_options *options, struct control *ret,
		    struct warnings *warnings);

/* What the environment says about starting at all.  A wrong value adds a warning. */
enum control_wish {
	CONTROL_NO_WISH,
	CONTROL_ON,
	CONTROL_OFF,
};
enum control_wish control_wish(struct warnings *warnings);

#endif
