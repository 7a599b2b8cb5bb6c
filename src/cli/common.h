/* SPDX-License-Identifier: MIT */
/*
 * What the options of all verbs were given (option.h has their table).
 */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

struct common_args {
	const char *color; /* NULL: auto */
};

extern struct common_args common_args;

#endif
