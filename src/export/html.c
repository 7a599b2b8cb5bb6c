/* SPDX-License-Identifier: MIT */
#include "export/html.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "export/exporters.h"
#include "export/packed_stream.h"
#include "export/web_page.h" /* made from web/ */

/* Where the document belongs.  A page without it is a sentence: why there is none. */
static const char mark[] = "@DOCUMENT@";

static const char *find_mark(void)
{
	return memmem(web_page, sizeof(web_page), mark, sizeof(mark) - 1);
}

int html_check(struct error *error)
{
	CLEANUP(text_free) struct text reason = { 0 };

	if (find_mark())
		return 0;
	text_append(&reason, (const char *)web_page, sizeof(web_page));
	return error_set(error, -ENOTSUP, "cannot write a page for a browser: %.*s",
			 (int)strcspn(text_string(&reason), "\n"), text_string(&reason));
}

typedef void document_writer(FILE *out, const void *content);

static int write_packed(document_writer *writer, const void *content, FILE *out)
{
	FILE *letters = base64_stream(out);
	FILE *packed = gzip_stream(letters);
	bool failed = !letters || !packed;

	if (packed) {
		writer(packed, content);
		failed |= ferror(packed) != 0;
		failed |= fclose(packed) != 0;
	}
	if (letters)
		failed |= fclose(letters) != 0;
	return failed && !ferror(out) ? -ENOMEM : 0;
}

static int write_page(document_writer *writer, const void *content, FILE *out, struct error *error)
{
	const char *begin = (const char *)web_page, *place = find_mark();
	const char *rest = place ? place + sizeof(mark) - 1 : NULL;
	int status = html_check(error);

	if (status < 0)
		return status;
	fwrite(begin, 1, (size_t)(place - begin), out);
	status = write_packed(writer, content, out);
	if (status < 0)
		return error_set(error, status, "out of memory: there is no page");
	fwrite(rest, 1, sizeof(web_page) - (size_t)(rest - begin), out);
	return 0;
}

static void write_run(FILE *out, const void *run)
{
	html_run_document(out, run);
}

int html_write_run(const struct run *run, FILE *out, struct error *error)
{
	return write_page(write_run, run, out, error);
}

static void write_comparison(FILE *out, const void *comparison)
{
	html_comparison_document(out, comparison);
}

int html_write_comparison(const struct html_comparison *comparison, FILE *out, struct error *error)
{
	return write_page(write_comparison, comparison, out, error);
}

const struct exporter exporter_html = {
	.ending = ".html",
	.summary = "a page for a browser, with timelines and flame graphs",
	.check = html_check,
	.write = html_write_run,
};
