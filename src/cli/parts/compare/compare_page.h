/* SPDX-License-Identifier: MIT */
/*
 * Writes a comparison of runs as a page for a browser (export/html.h).
 */
#ifndef CLI_COMPARE_PAGE_H
#define CLI_COMPARE_PAGE_H

struct compare_input;
struct compare_view;
struct error;

/* Refuses, before anything is read, a name that does not end in .html and a build without the page. */
int compare_page_check(const char *path, struct error *error);

/* Refuses a side with a snapshot that is no run. */
int compare_page_check_input(const struct compare_input *input, struct error *error);

/* Both sides are runs.  All: 0, or a negative errno with a sentence. */
int compare_page_write(const struct compare_input *input, const struct compare_view *view,
		       const char *path, struct error *error);

#endif
