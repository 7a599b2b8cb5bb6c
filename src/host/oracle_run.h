/* SPDX-License-Identifier: MIT */
/*
 * The process that the oracle's code runs in, traced from its first instruction; a part of
 * host/oracle.h.
 *
 * The loader goes where a file sends it: to the interpreter that it names, along its RUNPATH, after
 * what its libraries need in turn.  So the kernel stops the process at each file that it is about to
 * map, and what is not trusted (host/trusted_file.h) ends it.
 */
#ifndef HOST_ORACLE_RUN_H
#define HOST_ORACLE_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct confined_job;

/* A child at work. */
struct oracle_run {
	pid_t pid;
	uint64_t deadline_ns;
	struct stat own[2]; /* files that we made for it; all zeros for none */
	bool ended;	    /* and reaped: its pid may be another's by now */
};

struct oracle_question {
	int program; /* the fd that is executed */
	int keep;    /* another that stays open, or -1 */
	int (*prepare)(void *argument);
	int (*execute)(void *argument, int answer);
	void *argument;
};

/*
 * Starts a confined child (CONFINE_PROGRAM) that is traced and waits until its program is loaded
 * and not one instruction of it has run.  Returns 0 and a run and a job, which are to be given to
 * oracle_end(), or a negative errno and nothing to end.
 */
int oracle_begin(const struct oracle_question *question, unsigned timeout_ms,
		 struct oracle_run *run, struct confined_job *job);

/*
 * Lets it go on, with a signal or 0, up to its next stop or its end.  Each file that it is about to
 * map is looked at before: -EKEYREJECTED when it is not trusted.
 */
int oracle_go_on(struct oracle_run *run, int signal, int *ret_state);

/* Ends the child and closes the answer. */
void oracle_end(struct oracle_run *run, struct confined_job *job);

#endif
