/* SPDX-License-Identifier: MIT */
/*
 * Runs the process of the oracle's code, traced from its first instruction; a part of
 * host/oracle/oracle.h.
 *
 * A file decides what the loader loads: the interpreter that it names, libraries along its
 * RUNPATH, and what these need in turn.  So the kernel stops the process at each file that it is
 * about to map, and the process is ended if the file is not trusted (host/confine/trusted_file.h).
 */
#ifndef HOST_ORACLE_RUN_H
#define HOST_ORACLE_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "host/confine/confine.h"

struct oracle_file;

struct oracle_question {
	const struct oracle_file *file;
	bool is_library;     /* it is preloaded into our helper; else it is executed itself */
	const char *mallctl; /* for the helper: the function's name, or "" */
};

/* A running child. */
struct oracle_run {
	const struct oracle_question *question;
	struct confined_job job;
	int file;	       /* our fd, which the asked file replaces in the child */
	int helper;	       /* our fd of the helper; -1: a program is asked */
	struct stat own[2];    /* of these two files that we made for it; all zeros for none */
	bool ended;	       /* and was reaped: its pid may be another process's by now */
	uint64_t begin_ns;     /* CLOCK_MONOTONIC */
	uint64_t own_queue_ns; /* how long we had waited for a CPU by then */
};

/*
 * Starts a confined, traced child (CONFINE_PROGRAM).  Returns when its program is loaded and
 * before it has run one instruction: 0, with a run that must be passed to oracle_end(); or a
 * negative errno, with nothing to end.
 */
int oracle_begin(const struct oracle_question *question, unsigned timeout_ms,
		 struct oracle_run *run);

/*
 * Continues it, with a signal or 0, until its next stop or its end.  Checks each file that it is
 * about to map: -EKEYREJECTED when one is not trusted.  At the deadline: -ETIMEDOUT, or -EBUSY
 * where it did not get the CPU time to be judged by.
 */
int oracle_go_on(struct oracle_run *run, int signal, int *ret_state);

/* The address of its entry point, which gives the load bias. */
int oracle_find_entry(const struct oracle_run *run, uint64_t *ret);

/* Ends the child and closes what belongs to it. */
void oracle_end(struct oracle_run *run);

#endif
