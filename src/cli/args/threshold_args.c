/* SPDX-License-Identifier: MIT */
#include "cli/args/threshold_args.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "metric/unit.h"

enum threshold_type {
	THRESHOLD_RATIO,
	THRESHOLD_PERCENT,
	THRESHOLD_BYTES,
	THRESHOLD_COUNT,
	THRESHOLD_DURATION,
};

static const struct {
	const char *name;
	enum threshold_type type;
	const char *help;
} thresholds[ANOMALY_SETTING_COUNT] = {
#define ANOMALY_SETTING(rule, id, type, value, help) { #id, THRESHOLD_##type, help },
#include "model/record/anomaly_rules.def"
};

const char threshold_words[] =
#define ANOMALY_SETTING(rule, id, type, value, help) #id "=|"
#include "model/record/anomaly_rules.def"
	;

static int unknown(const char *name, size_t length, struct error *error)
{
	struct suggestion suggestion = suggest_for(name, length);

	for (size_t i = 0; i < ARRAY_SIZE(thresholds); i++)
		suggest(&suggestion, thresholds[i].name);
	return error_set(error, -EINVAL, "there is no threshold '%.*s'; %s", (int)length, name,
			 suggestion_hint(&suggestion, "", "--print-config lists them"));
}

static int find(const char *name, size_t length)
{
	for (int i = 0; i < ANOMALY_SETTING_COUNT; i++)
		if (strlen(thresholds[i].name) == length &&
		    strncmp(thresholds[i].name, name, length) == 0)
			return i;
	return -1;
}

/* A duration is scanned as such; "64MiB", "90%" and plain numbers as amounts. */
static bool read_value(enum threshold_type type, const char *text, double *ret)
{
	enum metric_unit unit;
	const char *cursor = text;
	uint64_t ns;

	if (type == THRESHOLD_DURATION) {
		if (!parse_duration_ns(text, &ns))
			return false;
		*ret = (double)ns;
		return true;
	}
	if (!unit_scan(&cursor, ret, &unit) || *cursor)
		return false;
	if (unit == UNIT_RATIO && type == THRESHOLD_PERCENT)
		*ret *= 100;
	else if (unit == UNIT_RATIO || unit == UNIT_NS)
		return false;
	return unit != UNIT_BYTES || type == THRESHOLD_BYTES;
}

int threshold_args_read(const struct option_list *list, struct anomaly_settings *settings,
			struct error *error)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *text = list->values[i];
		size_t length = strcspn(text, "=");
		int found = find(text, length);

		if (found < 0)
			return unknown(text, length, error);
		if (!text[length] || !read_value(thresholds[found].type, text + length + 1,
						 &settings->values[found]))
			return error_set(error, -EINVAL,
					 "a threshold is NAME=VALUE, such as %s=..., not '%s'",
					 thresholds[found].name, text);
	}
	return 0;
}

void threshold_args_print(FILE *out, const struct anomaly_settings *settings)
{
	for (size_t i = 0; i < ARRAY_SIZE(thresholds); i++) {
		double value = settings->values[i];

		fprintf(out, "# %s\nthreshold = %s=", thresholds[i].help, thresholds[i].name);
		switch (thresholds[i].type) {
		case THRESHOLD_RATIO:
			fprintf(out, "%g\n", value);
			break;
		case THRESHOLD_PERCENT:
			fprintf(out, "%g%%\n", value);
			break;
		case THRESHOLD_BYTES:
		case THRESHOLD_COUNT:
			fprintf(out, "%" PRIu64 "\n", (uint64_t)value);
			break;
		case THRESHOLD_DURATION:
			fprintf(out, "%gs\n", value / 1e9);
			break;
		}
	}
}
