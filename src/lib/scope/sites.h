/* SPDX-License-Identifier: MIT */
/*
 * Labels of call sites.  Each text is written into the shared memory once, for all call sites that
 * use it.
 */
#ifndef LIB_SITES_H
#define LIB_SITES_H

#include <stddef.h>
#include <stdint.h>

#include <taskscope.h>

/* The number of a call site for whose label there was no room; it is not tried again. */
#define SITE_LOST UINT32_MAX

/*
 * Returns the label's number for frames, 0 when there is no room.  Takes a lock.  The area must be
 * open.
 */
uint32_t site_register(struct taskscope_site *site);

/* How many bytes of a label are kept: a longer one is cut, never in the middle of a character. */
size_t label_length(const char *label);

#endif
