/* SPDX-License-Identifier: MIT */
/*
 * Labels that a program makes at run time.  The first 64 different texts get numbers, like labels
 * of call sites, so that they have statistics of their own.  Finding a text that has a number takes
 * no lock; only giving it one does.
 */
#ifndef LIB_MADE_LABELS_H
#define LIB_MADE_LABELS_H

#include <stdint.h>

/*
 * Returns the number of a text, 0 when it has none because others came first.  To be called between
 * self_begin_change() and self_end_change(); the area must be open.
 */
uint32_t made_label_number(const char *text);

#endif
