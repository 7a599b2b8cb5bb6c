/* SPDX-License-Identifier: MIT */
#include "host/code/name/name_answer.h"

#include <errno.h>
#include <string.h>

#include "base/collection/dictionary.h"
#include "host/code/service/code_protocol.h"

void kept_names_clear(struct kept_names *names)
{
	array_free(&names->ranges);
	array_free(&names->names);
}

bool name_answer_is_valid(const struct code_name_answer *answer, size_t size, uint64_t address)
{
	const size_t head = offsetof(struct code_name_answer, texts);
	size_t length = size > head ? size - head : 0;

	if (!length || size > sizeof(*answer) || answer->texts[0] || answer->texts[length - 1] ||
	    answer->count < 1 || answer->count > ELF_NAMES_MAX || answer->start > address ||
	    answer->end <= address)
		return false;
	for (uint32_t i = 0; i < answer->count; i++)
		if (answer->names[i].function >= length || answer->names[i].source >= length)
			return false;
	return true;
}

/* How many ranges start at or below the address. */
static size_t ranges_below(const struct kept_names *names, uint64_t address)
{
	return array_bisect(names->ranges.data, names->ranges.count, item->start <= address);
}

const struct kept_range *kept_names_find(const struct kept_names *names, uint64_t address)
{
	size_t below = ranges_below(names, address);
	const struct kept_range *range = below ? &names->ranges.data[below - 1] : NULL;

	return range && address < range->end ? range : NULL;
}

static int keep_name(struct kept_names *names, const struct code_name_answer *answer,
		     uint32_t index, struct dictionary *texts)
{
	const struct elf_name *told = &answer->names[index];
	const char *function = answer->texts + told->function;
	const char *source = answer->texts + told->source;
	struct kept_name name = { .line = told->line, .is_inlined = index + 1 < answer->count };

	if (dictionary_add(texts, function, strlen(function), &name.function) < 0 ||
	    dictionary_add(texts, source, strlen(source), &name.source) < 0)
		return -ENOMEM;
	return array_append(&names->names, name);
}

int kept_names_add(struct kept_names *names, const struct code_name_answer *answer,
		   uint64_t address, struct dictionary *texts)
{
	size_t place = ranges_below(names, address);
	struct kept_range range = { .start = answer->start,
				    .end = answer->end,
				    .function_start = answer->function_start,
				    .first = (uint32_t)names->names.count,
				    .count = answer->count };
	struct kept_range *ranges;

	if (array_reserve(&names->ranges, names->ranges.count + 1) < 0)
		return -ENOMEM;
	ranges = names->ranges.data;
	for (uint32_t i = 0; i < answer->count; i++)
		if (keep_name(names, answer, i, texts) < 0) {
			names->names.count = range.first;
			return -ENOMEM;
		}
	if (place && ranges[place - 1].end > range.start)
		range.start = ranges[place - 1].end;
	if (place < names->ranges.count && ranges[place].start < range.end)
		range.end = ranges[place].start;
	memmove(ranges + place + 1, ranges + place,
		(names->ranges.count - place) * sizeof(*ranges));
	ranges[place] = range;
	names->ranges.count++;
	return 0;
}
