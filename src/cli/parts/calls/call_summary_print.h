/* SPDX-License-Identifier: MIT */
/*
 * Prints the summary of `trace --summary`.
 */
#ifndef CLI_CALL_SUMMARY_PRINT_H
#define CLI_CALL_SUMMARY_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "cli/args/view_args.h"

struct call_summary;
struct error;

/* 0, or a negative errno with a sentence. */
int call_summary_print(const struct call_summary *summary, const int32_t *pids, size_t count,
		       const struct view_args *view, struct error *error);

#endif
