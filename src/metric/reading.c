/* SPDX-License-Identifier: MIT */
#include "metric/reading.h"

#include <stdbool.h>
#include <string.h>

#include "base/collection/array.h"

/* clang-format off */
#define KIND_FOLD_COUNTER FOLD_SUM
#define KIND_FOLD_GAUGE   FOLD_SUM
#define KIND_FOLD_PEAK    FOLD_MAX
#define KIND_FOLD_LIMIT   FOLD_RANGE
#define KIND_FOLD_SETTING FOLD_RANGE
#define KIND_FOLD_TEXT    FOLD_MODE

/* Shares of time cannot be added up: take the largest. */
#define FOLD_OF(unit, kind) (unit == UNIT_CENTIPERCENT ? FOLD_MAX : kind)

const struct metric readings[] = {
#define READING(pattern, unit_, kind_, section_, help_)                                            \
	{ .name = pattern, .unit = UNIT_##unit_, .kind = KIND_##kind_, .scope = METRIC_OF_ROW,     \
	  .fold = FOLD_OF(UNIT_##unit_, KIND_FOLD_##kind_), .section = SECTION_##section_,         \
	  .help = help_ },
#include "metric/readings.def"
};
/* clang-format on */

const size_t reading_count = ARRAY_SIZE(readings);

/* A mismatch goes back to the last star only: enough, since a star matches anything. */
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

const struct metric *reading_find(const char *name)
{
	size_t row = 0;

	while (row + 1 < reading_count && !matches(readings[row].name, name))
		row++;
	return &readings[row];
}

struct metric reading_metric(const char *name)
{
	struct metric metric = *reading_find(name);

	metric.name = name;
	return metric;
}

bool reading_is_known(const char *name)
{
	return reading_find(name) < &readings[reading_count - 1];
}

size_t reading_family(const char *name)
{
	const char *pattern = reading_find(name)->name;
	size_t length = strcspn(pattern, " ");
	size_t row = 0;

	while (strncmp(readings[row].name, pattern, length) != 0 ||
	       (readings[row].name[length] && readings[row].name[length] != ' '))
		row++;
	return row;
}
