/* SPDX-License-Identifier: MIT */
/* The tables of this room, from its .def files. */
#include <string.h>

#include "model/record/anomaly.h"
#include "model/record/host_sample.h"
#include "model/record/life_event.h"

const char *const life_kind_names[LIFE_KIND_COUNT] = {
#define LIFE_KIND(id, name, help) name,
#include "model/record/life_kinds.def"
};

const char *const life_kind_helps[LIFE_KIND_COUNT] = {
#define LIFE_KIND(id, name, help) help,
#include "model/record/life_kinds.def"
};

const struct host_value_info host_values[HOST_VALUE_COUNT] = {
#define HOST_VALUE(id, unit, help) { #id, UNIT_##unit, help },
#include "model/record/host_samples.def"
};

const struct anomaly_rule_info anomaly_rules[ANOMALY_RULE_COUNT] = {
#define ANOMALY_RULE(id, name, unit, help) { name, UNIT_##unit, help },
#include "model/record/anomaly_rules.def"
};

const struct anomaly_settings anomaly_defaults = {
	.values = {
#define ANOMALY_SETTING(rule, id, type, value, help) value,
#include "model/record/anomaly_rules.def"
	},
};

const char *const pressure_level_names[PRESSURE_LEVEL_COUNT] = { "none", "low",	     "medium",
								 "high", "critical", "unknown" };
const char *const severity_names[SEVERITY_COUNT] = { "low", "medium", "high", "critical" };

int life_kind_find(const char *name)
{
	for (int i = 0; i < LIFE_KIND_COUNT; i++)
		if (strcmp(life_kind_names[i], name) == 0)
			return i;
	return -1;
}

bool host_value_is_of_host(enum host_value value)
{
	const char *name = host_values[value].name;

	return strncmp(name, "scope_", strlen("scope_")) != 0 &&
	       strncmp(name, "recorder_", strlen("recorder_")) != 0;
}

int host_value_find(const char *name)
{
	for (int i = 0; i < HOST_VALUE_COUNT; i++)
		if (strcmp(host_values[i].name, name) == 0)
			return i;
	return -1;
}

int anomaly_rule_find(const char *name)
{
	for (int i = 0; i < ANOMALY_RULE_COUNT; i++)
		if (strcmp(anomaly_rules[i].name, name) == 0)
			return i;
	return -1;
}
