/* SPDX-License-Identifier: MIT */
/*
 * Loads and attaches the BPF programs that follow a tree, as the options want them, and detaches
 * them quickly.
 */
#ifndef TRACE_TREE_LOADER_H
#define TRACE_TREE_LOADER_H

struct error;
struct host;
struct tracer_options;
struct tree_program;

/* Loads and attaches; on failure the error says why it does not work here. */
int tree_loader_open(const struct host *host, const struct tracer_options *options,
		     struct tree_program **ret, struct error *error);

void tree_loader_close(struct tree_program *program); /* NULL is allowed */

#endif
