/* SPDX-License-Identifier: MIT */
/*
 * Labels that have a number: those of call sites, and some that are made at run time (see
 * lib/scope/made_labels.h).  Each text is written into the shared memory once, for all that use it.
 */
#ifndef LIB_SITES_H
#define LIB_SITES_H

#include <stdbool.h>
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

/*
 * Returns the number of the first `length` bytes of a text, as label_length() cuts it; 0 when there
 * is no room.  The caller holds LOCK_SITES.
 */
uint32_t label_number(const char *text, size_t length);
/* Whether the label with that number, which was read from a number in use, has this text. */
bool label_is(uint32_t number, const char *text, size_t length);

#endif
