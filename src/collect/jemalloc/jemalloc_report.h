/* SPDX-License-Identifier: MIT */
/* Writes the report about heap counters after all processes were read.  Only for jemalloc.c. */
#ifndef COLLECT_JEMALLOC_REPORT_H
#define COLLECT_JEMALLOC_REPORT_H

struct capture;
struct jemalloc_tally;

/*
 * Fills the source's report, the reason of missing cells and the tally of the snapshot.  0,
 * -ENOMEM.
 */
int jemalloc_report(struct capture *capture, const struct jemalloc_tally *tally);

#endif
