/* SPDX-License-Identifier: MIT */
/*
 * This room writes a run for other programs and for people: as folded stacks, as a pprof profile,
 * as a page for a browser.  They cannot be read back.
 *
 * An exporter is a const struct in a file of its own; exporter.c lists them.  The ending of a file
 * name chooses one, the longest that fits.
 */
#ifndef EXPORT_EXPORTER_H
#define EXPORT_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct error;
struct run;
struct text;

struct exporter {
	const char *ending;  /* ".folded" */
	const char *summary; /* for help: "folded stacks, for flame graph viewers" */
	bool is_binary;	     /* not for a terminal */
	bool needs_stacks;   /* there is nothing to write for a run without a profile */
	/* Why this build cannot write it: a negative errno with a sentence; or 0.  NULL: it can. */
	int (*check)(struct error *error);
	/* 0, or a negative errno with a sentence; errors of the stream are the caller's to see. */
	int (*write)(const struct run *run, FILE *out, struct error *error);
};

/* The exporter for a file name, or NULL. */
const struct exporter *exporter_find(const char *path);
/* Appends ".folded, .html, .pb.gz". */
void exporter_append_endings(struct text *out);

/*
 * Writes the run to a file, which replaces the old one at once when it is complete.  -ENODATA for a
 * run that lacks what the exporter needs.  All failures come with a sentence.
 */
int exporter_save(const struct exporter *exporter, const struct run *run, const char *path,
		  struct error *error);

/* The same for whatever `write` makes of `content`. */
typedef int export_writer(const void *content, FILE *out, struct error *error);
int export_save(const char *path, export_writer *write, const void *content, struct error *error);

#endif
