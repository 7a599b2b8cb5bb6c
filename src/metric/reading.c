/* SPDX-License-Identifier: MIT */
#include "metric/reading.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"

/* clang-format off */
const struct reading readings[] = {
#define READING(pattern_, unit_, kind_, section_, help_)                                           \
	{ pattern_, UNIT_##unit_, READING_##kind_, SECTION_##section_, help_ },
#include "metric/readings.def"
};

static const char *const kind_names[] = {
	[READING_COUNTER] = "counter", [READING_GAUGE] = "gauge",     [READING_PEAK] = "peak",
	[READING_LIMIT] = "limit",     [READING_SETTING] = "setting", [READING_TEXT] = "text",
};
/* clang-format on */

const size_t reading_count = ARRAY_SIZE(readings);

const char *reading_kind_name(enum reading_kind kind)
{
	return kind_names[kind];
}

/* Goes back to the last star only, which is enough when stars match anything. */
static bool matches(const char *pattern, const char *name)
{
	const char *star = NULL, *again = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			again = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

const struct reading *reading_find(const char *name)
{
	size_t row = 0;

	while (row + 1 < reading_count && !matches(readings[row].pattern, name))
		row++;
	return &readings[row];
}

size_t reading_family(const char *name)
{
	const char *pattern = reading_find(name)->pattern;
	size_t length = strcspn(pattern, " ");
	size_t row = 0;

	while (strncmp(readings[row].pattern, pattern, length) != 0 ||
	       (readings[row].pattern[length] && readings[row].pattern[length] != ' '))
		row++;
	return row;
}
