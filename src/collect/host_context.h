/* SPDX-License-Identifier: MIT */
/*
 * What a host is like: facts about its kernel, CPUs and memory, and the settings
 * of its scheduler.
 *
 * Everything comes from files below the host's directories, so that a recorded
 * tree tells the same; what a file does not tell is absent.  The host's name is
 * left out on purpose, and of its machine id only a hash is kept.
 */
#ifndef COLLECT_HOST_CONTEXT_H
#define COLLECT_HOST_CONTEXT_H

struct capture;

/*
 * The facts that say where and when a snapshot was taken.  They are part of every
 * snapshot, whatever is switched off.
 */
void host_facts_identify(struct capture *capture);

/* The facts that describe the host. */
void host_facts_describe(struct capture *capture);

/*
 * The source: the facts that describe the host, and the scheduler's settings in
 * its sheet.  0 or -ENOMEM.
 */
int host_context_collect(struct capture *capture);

#endif
