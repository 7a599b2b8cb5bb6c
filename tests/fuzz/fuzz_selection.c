/* SPDX-License-Identifier: MIT */
/*
 * A list that is taken has at least one metric and each only once; one that is
 * refused has a sentence and a position.  The same bytes are read as sections.
 */
#include "analyze/group/selection.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "fuzz_text.h"

static void check_error(const struct error *error)
{
	fuzz_require(error->message[0] != '\0');
	fuzz_require(error->caret <= strlen(error->excerpt));
}

static void check_taken(const struct selection *selection)
{
	bool seen[METRIC_COUNT] = { false };

	fuzz_require(selection->count >= 1 && selection->count <= METRIC_COUNT);
	for (size_t i = 0; i < selection->count; i++) {
		fuzz_require(selection->ids[i] < METRIC_COUNT);
		fuzz_require(!seen[selection->ids[i]]);
		seen[selection->ids[i]] = true;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_pointer) char *text = fuzz_text(data, size);
	struct error error = { 0 }, section_error = { 0 };
	struct selection selection;
	uint32_t sections;

	if (selection_parse(text, &selection, &error) == 0)
		check_taken(&selection);
	else
		check_error(&error);
	if (sections_parse(text, &sections, &section_error) == 0)
		fuzz_require(sections != 0 && (sections & ~ALL_SECTIONS) == 0);
	else
		check_error(&section_error);
	return 0;
}
