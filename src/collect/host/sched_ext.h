/* SPDX-License-Identifier: MIT */
/*
 * Reads the state of the host's BPF scheduler: whether one is loaded, its name, and what the
 * kernel counts about it.
 */
#ifndef COLLECT_SCHED_EXT_H
#define COLLECT_SCHED_EXT_H

struct capture;

/*
 * Fills "sched_ext ..." of the host's sheet.  A kernel without BPF schedulers fills nothing, and
 * the source says so.  0 or -ENOMEM.
 */
int sched_ext_collect(struct capture *capture);

#endif
