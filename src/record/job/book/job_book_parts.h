/* SPDX-License-Identifier: MIT */
/* What the files of the book share.  Private to src/record/job. */
#ifndef RECORD_JOB_BOOK_PARTS_H
#define RECORD_JOB_BOOK_PARTS_H

#include "record/job/book/job_book.h"

/* Takes a process out of the book. */
void job_book_leave(struct job_book *book, struct book_member *member);
/* It runs a program: one that is not taskscope's own any more counts from now on. */
void job_book_note_program(struct job_book *book, struct book_member *member);
/* Adds to a job and its step (NULL: none) what the source of events can count, and nothing else. */
void job_book_count(const struct job_book *book, struct book_job *job, struct book_step *step,
		    enum job_value value, double number);
/*
 * Ends the span over which CPU is a peak, if it is long enough, or is the last one and there is no
 * peak yet.  True when the peak rose.
 */
bool job_window_close(struct job_window *window, struct job_figures *figures, uint64_t now_ns,
		      bool is_last);

/* Adds what the process of that row uses of GPUs; then what a job uses is compared with its peaks. */
void job_book_take_gpu(struct book_member *member, const struct snapshot *snapshot, uint32_t row);
void job_book_raise_gpu(struct book_job *job);

#endif
