/* SPDX-License-Identifier: MIT */
/*
 * The environment of a run: facts of the host, its name, and the CPUs that the command may use.
 */
#ifndef SESSION_ENVIRONMENT_H
#define SESSION_ENVIRONMENT_H

struct error;
struct watch;

/*
 * Keeps the environment in the run and writes its line, if either is wanted.  Call it before the
 * command starts: what it inherits is ours.  0, or a negative errno with a sentence.
 */
int environment_write(struct watch *watch, struct error *error);

#endif
