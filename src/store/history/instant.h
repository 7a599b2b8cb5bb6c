/* SPDX-License-Identifier: MIT */
/*
 * Instants of a recording as people write them after its name: r.db@latest, r.db@10:04,
 * r.db@10:04:31, r.db@-5m (before the newest tick), r.db@2024-05-01T10:04:31+02:00.
 */
#ifndef STORE_INSTANT_H
#define STORE_INSTANT_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct history_span;

/*
 * The instant that a text means, in a recording of that extent.  A time of day is local time, and
 * the newest such time in the recording; a date without a zone is local time, too.  0, or -EINVAL
 * with a sentence.
 */
int instant_parse(const char *text, const struct history_span *extent, uint64_t *ret_unix_ns,
		  struct error *error);

#endif
