/* SPDX-License-Identifier: MIT */
/*
 * Command lines, and paths of programs, of processes that the task iterator listed: the only facts
 * that it does not report.  What an earlier sample read is used again.  The rest is read by pid,
 * and used only after a second walk has found the same process.
 */
#ifndef COLLECT_PROCESS_TEXTS_H
#define COLLECT_PROCESS_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "host/proc/proc_file.h"

struct capture;
struct walked_process;

/* All zeros is valid. */
struct process_texts {
	struct capture *capture;
	struct proc_buffer buffer;
	struct reader_pool *cmdlines; /* NULL until one is read */
	bool lacks_readers;	      /* they could not be started, which was counted */
	ARRAY_OF(uint32_t) fresh;     /* rows of processes that were read by pid */
	ARRAY_OF(uint32_t) readers;   /* for each of these: the row whose path it uses */
};

void process_texts_begin(struct process_texts *texts, struct capture *capture);

/* Adds a process.  0 or -ENOMEM. */
int process_texts_add(struct process_texts *texts, uint32_t row,
		      const struct walked_process *walked);

/* Takes over the directory fd of a process, to read its command line from there if it is wanted. */
void process_texts_read_cmdline(struct process_texts *texts, uint32_t row, int dir);

/* Waits for command lines and checks what was read by pid.  Ends the texts, also on failure. */
int process_texts_end(struct process_texts *texts);

#endif
