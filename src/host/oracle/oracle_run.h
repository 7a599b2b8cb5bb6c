/* SPDX-License-Identifier: MIT */
/*
 * Runs the process of the oracle's code, traced from its first instruction; a part of
 * host/oracle/oracle.h.
 *
 * A file decides what the loader loads: the interpreter that it names, libraries along its
 * RUNPATH, and what these need in turn.  So the kernel stops the process at each file that it is
 * about to map, and the process is ended if the file is not trusted (host/oracle/trusted_file.h).
 */
#ifndef HOST_ORACLE_RUN_H
#define HOST_ORACLE_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct confined_job;

/* A running child. */
struct oracle_run {
	pid_t pid;
	uint64_t deadline_ns;
	struct stat own[2]; /* files that we made for it; all zeros for none */
	bool ended;	    /* and was reaped: its pid may be another process's by now */
};

struct oracle_question {
	int program; /* the fd that is executed */
	int keep;    /* another fd that stays open, or -1 */
	int (*prepare)(void *argument);
	int (*execute)(void *argument, int answer);
	void *argument;
};

/*
 * Starts a confined, traced child (CONFINE_PROGRAM).  Returns when its program is loaded and
 * before it has run one instruction: 0, with a run and a job that must be passed to oracle_end();
 * or a negative errno, with nothing to end.
 */
int oracle_begin(const struct oracle_question *question, unsigned timeout_ms,
		 struct oracle_run *run, struct confined_job *job);

/*
 * Continues it, with a signal or 0, until its next stop or its end.  Checks each file that it is
 * about to map: -EKEYREJECTED when one is not trusted.
 */
int oracle_go_on(struct oracle_run *run, int signal, int *ret_state);

/* Ends the child and closes the answer. */
void oracle_end(struct oracle_run *run, struct confined_job *job);

#endif
