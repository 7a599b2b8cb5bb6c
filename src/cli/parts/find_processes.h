/* SPDX-License-Identifier: MIT */
/*
 * Finds the processes of a host that are meant by a name or a filter.  taskscope itself never is,
 * nor are the processes that it was started from, such as the shell.
 */
#ifndef CLI_FIND_PROCESSES_H
#define CLI_FIND_PROCESSES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct filter;
struct filter_args;
struct host;
struct snapshot;

/*
 * Each gives a snapshot of what was found, to free: 0, or an error with a sentence, also when
 * nothing was found.
 */
int find_processes(const struct host *host, const struct filter *filter, struct snapshot **ret,
		   struct error *error);
/* Those that are called so; if there are none, those whose name matches it as a glob. */
int find_processes_named(const struct host *host, const char *name, struct snapshot **ret,
			 struct error *error);

/*
 * The one process that the options mean.  A number alone is not looked up: it may be a thread's.
 * When there are several, they are listed on `out`.  0, or an error with a sentence.
 */
int find_one_process(const struct host *host, const struct filter_args *args, int32_t *ret,
		     FILE *out, struct error *error);

#endif
