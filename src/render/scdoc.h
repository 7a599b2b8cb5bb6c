/* SPDX-License-Identifier: MIT */
/*
 * The source of man pages, as scdoc reads it.
 */
#ifndef RENDER_SCDOC_H
#define RENDER_SCDOC_H

struct text;

/* Appends words that are to be read as they are: what scdoc gives a meaning is escaped. */
void scdoc_append(struct text *out, const char *words);

#endif
