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

/* Shares of time and loads cannot be added up: take the largest. */
#define FOLD_OF(unit, kind) (unit == UNIT_CENTIPERCENT || unit == UNIT_HUNDREDTHS ? FOLD_MAX : kind)

const struct metric readings[] = {
#define READING(pattern, unit_, kind_, section_, help_)                                            \
	{ .name = pattern, .unit = UNIT_##unit_, .kind = KIND_##kind_, .scope = METRIC_OF_ROW,     \
	  .fold = FOLD_OF(UNIT_##unit_, KIND_FOLD_##kind_), .section = SECTION_##section_,         \
	  .help = help_ },
#include "metric/readings.def"
};
/* clang-format on */

const size_t reading_count = ARRAY_SIZE(readings);

/* The first letter of each pattern.  Every reading of every sample is looked up: most rows differ here. */
static const char first_letters[] = {
#define READING(pattern, ...) (pattern)[0],
#include "metric/readings.def"
};

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

	while (row + 1 < reading_count &&
	       ((first_letters[row] != *name && first_letters[row] != '*') ||
		!matches(readings[row].name, name)))
		row++;
	return &readings[row];
}

/* The first row that begins with the same word as the pattern. */
static unsigned family_of(const char *pattern)
{
	size_t length = strcspn(pattern, " ");
	unsigned row = 0;

	while (first_letters[row] != *pattern ||
	       strncmp(readings[row].name, pattern, length) != 0 ||
	       (readings[row].name[length] && readings[row].name[length] != ' '))
		row++;
	return row;
}

struct metric reading_metric(const char *name)
{
	struct metric metric = *reading_find(name);

	metric.family = family_of(metric.name);
	metric.name = name;
	return metric;
}

bool reading_is_known(const char *name)
{
	return reading_find(name) < &readings[reading_count - 1];
}
