/* SPDX-License-Identifier: MIT */
/*
 * What holds for the whole process: whether scopes are recorded, and the options in force.
 */
#ifndef LIB_CONTROL_H
#define LIB_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include <taskscope.h>

struct control {
	bool is_on; /* read with relaxed atomic loads on the way of every scope */
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
 * The options with their defaults, then the environment's; what is wrong there is added to the
 * warnings.  NULL: nobody wants to know.
 */
void control_choose(const struct taskscope_options *options, struct control *ret,
		    struct warnings *warnings);

/* What the environment says about starting at all; a wrong value is a warning, likewise. */
enum control_wish {
	CONTROL_NO_WISH,
	CONTROL_ON,
	CONTROL_OFF,
};
enum control_wish control_wish(struct warnings *warnings);

#endif
