/* SPDX-License-Identifier: MIT */
/*
 * An order that is taken names each metric once; written out again it is the
 * same order.  One that is refused has a sentence and a position.
 */
#include "analyze/group/sort_spec.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "fuzz_text.h"

static void check_taken(const struct sort_spec *spec)
{
	CLEANUP(text_free) struct text text = { 0 };
	struct error error = { 0 };
	struct sort_spec again;

	fuzz_require(spec->count >= 1 && spec->count <= SORT_KEYS_MAX);
	for (size_t i = 0; i < spec->count; i++)
		text_format(&text, "%s%s:%s", i ? "," : "", metrics[spec->keys[i].metric].name,
			    spec->keys[i].ascending ? "asc" : "desc");
	fuzz_require(sort_spec_parse(text_string(&text), &again, &error) == 0);
	fuzz_require(again.count == spec->count);
	for (size_t i = 0; i < spec->count; i++)
		fuzz_require(again.keys[i].metric == spec->keys[i].metric &&
			     again.keys[i].ascending == spec->keys[i].ascending);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_pointer) char *text = fuzz_text(data, size);
	struct error error = { 0 };
	struct sort_spec spec;

	if (sort_spec_parse(text, &spec, &error) == 0) {
		check_taken(&spec);
		return 0;
	}
	fuzz_require(error.message[0] != '\0');
	fuzz_require(error.caret <= strlen(error.excerpt));
	return 0;
}
