/* SPDX-License-Identifier: MIT */
/*
 * --threshold NAME=VALUE: the numbers that decide what is an anomaly.  anomaly_rules.def lists them.
 */
#ifndef CLI_THRESHOLD_ARGS_H
#define CLI_THRESHOLD_ARGS_H

#include <stdio.h>

#include "cli/option.h"
#include "model/record/anomaly.h"

struct error;

/* For completion and --help. */
extern const char threshold_words[];

/* Changes what the list names.  0, or -EINVAL with a sentence. */
int threshold_args_read(const struct option_list *list, struct anomaly_settings *settings,
			struct error *error);

/* Prints all of them as lines of a configuration file. */
void threshold_args_print(FILE *out, const struct anomaly_settings *settings);

#endif
