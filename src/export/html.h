/* SPDX-License-Identifier: MIT */
/*
 * Writes pages for a browser: one file that holds the program that draws it (web/) and one document with what it
 * draws.  The document is JSON, packed by gzip and written in base64, so that nothing in it can be taken for
 * HTML, whatever a process is called.  docs/html.md describes it.
 */
#ifndef EXPORT_HTML_H
#define EXPORT_HTML_H

#include <stddef.h>
#include <stdio.h>

struct compare_view;
struct error;
struct json;
struct profile;
struct run;

/* 0, or -ENOTSUP with a sentence: why this build has no page. */
int html_check(struct error *error);

/* The page of a run. */
int html_write_run(const struct run *run, FILE *out, struct error *error);

/* Two sides, each of one run or more, and how they compare. */
struct html_comparison {
	const struct run *const *before, *const *after;
	size_t before_count, after_count;
	const struct compare_view *view;
};

/* The page of a comparison.  All: 0, or a negative errno with a sentence; errors of `out` are the caller's to see. */
int html_write_comparison(const struct html_comparison *comparison, FILE *out, struct error *error);

/* Parts of the document. */
void html_run_document(FILE *out, const struct run *run);
void html_comparison_document(FILE *out, const struct html_comparison *comparison);
/* An object, or null when there is no profile. */
void html_profile(struct json *json, const struct profile *profile);

#endif
