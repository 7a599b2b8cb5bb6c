/* SPDX-License-Identifier: MIT */
/*
 * Writes lines in a thread of its own, so that whoever has them never waits: not for a terminal that
 * is held, a pipe that nobody reads, or a slow file system.  What does not fit into the buffer is left
 * out in whole lines, and a line says how many these were.
 */
#ifndef SESSION_LINE_WRITER_H
#define SESSION_LINE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_writer;

/* The descriptor stays the caller's, and must stay open.  NULL when memory runs out or there is no thread. */
struct line_writer *line_writer_start(int fd, size_t buffer_bytes);
/* Adds whole lines, each with its newline. */
void line_writer_put(struct line_writer *writer, const char *lines, size_t length);
/* 0, or the negative errno with which writing failed; then all further lines are left out. */
int line_writer_status(struct line_writer *writer);
/*
 * Waits until all is written, but not longer than this.  Returns how many lines were left out from the
 * beginning on.  The writer is gone afterwards; a thread that still waits ends with the program.
 */
uint64_t line_writer_finish(struct line_writer *writer, uint64_t wait_ns);

#endif
