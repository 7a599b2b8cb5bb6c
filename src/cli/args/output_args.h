/* SPDX-License-Identifier: MIT */
/*
 * Checks of what -o names, for every verb that writes files.
 */
#ifndef CLI_OUTPUT_ARGS_H
#define CLI_OUTPUT_ARGS_H

struct error;

/* Refuses to write bytes that are no text to a terminal: 0, or -EINVAL with a sentence. */
int output_check_binary(const char *path, struct error *error);

#endif
