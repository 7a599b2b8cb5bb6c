/* SPDX-License-Identifier: MIT */
/*
 * What a thread waits for, by the names that proc has for it: the link of a descriptor, and the
 * kernel function in which the thread sleeps.  Both are only compared, never opened.
 */
#ifndef MODEL_LINK_KIND_H
#define MODEL_LINK_KIND_H

/* What a descriptor is, by the beginning of its link in fd. */
struct link_kind {
	const char *begin, *kind;
	int reason; /* why a thread waits for it, or -1: a socket or a device may be of any kind */
};

const struct link_kind *link_kind_of(const char *link); /* NULL: not known */

/*
 * The enum wait_reason of a thread that sleeps in this kernel function ("wchan"), or -1 when the
 * name does not show it.  These names differ between kernels, so a known call says more.
 */
int channel_reason(const char *channel);

#endif
