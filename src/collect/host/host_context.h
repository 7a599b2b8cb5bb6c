/* SPDX-License-Identifier: MIT */
/*
 * Describes a host: facts about its kernel, CPUs and memory, and the settings of its scheduler.
 *
 * Everything is read from files below the host's directories, so that a recorded tree gives the
 * same.  What no file says is absent.  The host's name is left out on purpose, and only a hash of
 * its machine id is kept.
 */
#ifndef COLLECT_HOST_CONTEXT_H
#define COLLECT_HOST_CONTEXT_H

struct capture;
struct source_tally;

/*
 * The facts that say where and when a snapshot was taken.  They are part of every snapshot,
 * whichever sources are switched off.
 */
void host_facts_identify(struct capture *capture);

/* The facts that describe the host. */
void host_facts_describe(struct capture *capture);

/*
 * Collects the whole source: the facts that describe the host, and the scheduler's settings in the
 * host's sheet.  0 or -ENOMEM.
 */
int host_context_collect(struct capture *capture);

/* Larger than the longest of them, the kernel's command line. */
#define HOST_LINE_SIZE 8192

/*
 * Reads the first line of a file below directory fd `dir` (-1: there is no directory), without its
 * newline and trailing blanks.  Returns 0, -ENODATA when the line is empty, or the errno of
 * reading.  Counts a failure if the file exists but could not be read; `tally` may be NULL.
 */
int host_line_read(struct source_tally *tally, int dir, const char *path, char ret[HOST_LINE_SIZE]);

#endif
