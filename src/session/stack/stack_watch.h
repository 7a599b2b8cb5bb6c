/* SPDX-License-Identifier: MIT */
/*
 * This room finds out where in its code a tree spends its time: takes copies of stacks and records of
 * mappings from the tracer, and makes the profile of the run.
 *
 *	stack_watch	takes them in the session's thread, and ends the profile
 *	stack_queue	hands them to a second thread
 *	stack_profile	that thread: unwinds, names and adds up
 *	stack_images	what each process had mapped, when
 *
 * Files of programs can be slow to read, or hostile; the session's thread, which passes on signals and
 * empties the kernel's rings, must not wait for them.
 */
#ifndef SESSION_STACK_WATCH_H
#define SESSION_STACK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct host;
struct phase_watch;
struct run;
struct run_self;
struct stack_watch;
struct tracer;
struct tracer_stack_options;

/*
 * Begins; *ret stays NULL, and the row "stacks" of the manifest says why, when there are none.  Borrows all.
 * 0 or -ENOMEM.
 */
int stack_watch_open(const struct host *host, const struct tracer *tracer,
		     const struct tracer_stack_options *options, struct run *run,
		     struct stack_watch **ret);
/*
 * NULL is allowed.  Returns false when its thread does not come back: what was borrowed must then stay as long as we
 * do.
 */
bool stack_watch_close(struct stack_watch *watch);

/* Takes what the tracer has.  `phases` knows the scopes of programs. */
void stack_watch_drain(struct stack_watch *watch, struct phase_watch *phases);

/* After the last drain, with the tree summed up: gives the profile to the run.  0 or -ENOMEM. */
int stack_watch_finish(struct stack_watch *watch);
/* Adds what the process that parses ELF files used; after that. */
void stack_watch_add_cost(const struct stack_watch *watch, struct run_self *self);

#endif
