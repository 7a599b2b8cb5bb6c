/* SPDX-License-Identifier: MIT */
/*
 * Labels of call sites: written once into the shared memory, the same text once for all of them.
 */
#ifndef LIB_SITES_H
#define LIB_SITES_H

#include <stddef.h>
#include <stdint.h>

#include <taskscope.h>

/* The number of a call site whose label found no room: it is not tried again. */
#define SITE_LOST UINT32_MAX

/* The label's number for frames, 0 when there is no room.  Takes a lock; the area is open. */
uint32_t site_register(struct taskscope_site *site);

/* How many bytes of a label are kept: a long one is cut between two characters. */
size_t label_length(const char *label);

/* Around a fork. */
void sites_lock(void);
void sites_unlock(void);

#endif
