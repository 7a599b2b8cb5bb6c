/* SPDX-License-Identifier: MIT */
/*
 * Writes the source of man pages for scdoc.
 */
#ifndef RENDER_SCDOC_H
#define RENDER_SCDOC_H

struct text;

/* Appends plain words: characters with a meaning in scdoc are escaped. */
void scdoc_append(struct text *out, const char *words);

#endif
