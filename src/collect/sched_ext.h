/* SPDX-License-Identifier: MIT */
/*
 * The BPF scheduler of the host: whether one is loaded, its name, and what the
 * kernel counts about it.
 */
#ifndef COLLECT_SCHED_EXT_H
#define COLLECT_SCHED_EXT_H

struct capture;

/*
 * Fills "sched_ext ..." of the host's sheet.  A kernel without such schedulers
 * leaves it as it is, and the source says so.  0 or -ENOMEM.
 */
int sched_ext_collect(struct capture *capture);

#endif
