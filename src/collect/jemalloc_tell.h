/* SPDX-License-Identifier: MIT */
/* What is said about heap counters once all processes were looked at.  Only for jemalloc.c. */
#ifndef COLLECT_JEMALLOC_TELL_H
#define COLLECT_JEMALLOC_TELL_H

struct capture;
struct jemalloc_tally;

/* Fills the source's report, the reason of missing cells and the tally of the snapshot.  0, -ENOMEM. */
int jemalloc_tell(struct capture *capture, const struct jemalloc_tally *tally);

#endif
