/* SPDX-License-Identifier: MIT */
/*
 * What a person chose on the screen of top, kept for the next time: a configuration file
 * (cli/config.h) with options of top.
 */
#ifndef CLI_TOP_CONFIG_H
#define CLI_TOP_CONFIG_H

#include <limits.h>

struct error;
struct view_choice;

/* $XDG_CONFIG_HOME/taskscope/top.conf.  0, or -ENOENT when there is no place for it. */
int top_config_path(char ret[PATH_MAX]);

/* Replaces the file; makes its folder.  0, or a negative errno with a sentence. */
int top_config_save(const struct view_choice *choice, struct error *error);

#endif
