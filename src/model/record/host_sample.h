/* SPDX-License-Identifier: MIT */
/*
 * A sample of the host as a whole: a few figures that people plot and query.
 */
#ifndef MODEL_HOST_SAMPLE_H
#define MODEL_HOST_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

enum host_value {
#define HOST_VALUE(id, ...) HOST_VALUE_##id,
#include "model/record/host_samples.def"
	HOST_VALUE_COUNT,
};

struct host_value_info {
	const char *name;
	enum metric_unit unit;
	const char *help;
};

/* Whether it is of the host, not of the scope or the recorder: the name says so. */
bool host_value_is_of_host(enum host_value value);

extern const struct host_value_info host_values[HOST_VALUE_COUNT];

/* The value of that name, or -1. */
int host_value_find(const char *name);

/* How short of memory something is. */
enum pressure_level {
	PRESSURE_NONE,
	PRESSURE_LOW,
	PRESSURE_MEDIUM,
	PRESSURE_HIGH,
	PRESSURE_CRITICAL,
	PRESSURE_UNKNOWN, /* neither PSI nor available memory could be read */
	PRESSURE_LEVEL_COUNT,
};

extern const char *const pressure_level_names[PRESSURE_LEVEL_COUNT];

#define HOST_SAMPLE_ZOMBIES 32
#define HOST_SAMPLE_SCOPE_SIZE 256

struct host_sample {
	uint64_t unix_ns;
	uint64_t present; /* a bit for each enum host_value */
	double values[HOST_VALUE_COUNT];
	char scope[HOST_SAMPLE_SCOPE_SIZE]; /* "cgroup PATH" or "tree of PID"; "": the whole host */
	enum pressure_level pressure_level; /* of the host */
	enum pressure_level
		scope_pressure_level; /* of the cgroup; unknown for a tree or the host */
	int32_t recorder_pid;
	int32_t zombie_pids[HOST_SAMPLE_ZOMBIES]; /* the first of the scope's */
	size_t zombie_pid_count;
	/* How far each running job is: a JSON array, of whoever made the sample; NULL: none runs. */
	const char *jobs;
};

_Static_assert(HOST_VALUE_COUNT <= 64, "one presence bit for each");

static inline bool host_sample_has(const struct host_sample *sample, enum host_value value)
{
	return sample->present >> value & 1;
}

static inline void host_sample_set(struct host_sample *sample, enum host_value value, double number)
{
	sample->values[value] = number;
	sample->present |= UINT64_C(1) << value;
}

static inline bool host_sample_has_scope_level(const struct host_sample *sample)
{
	return sample->scope[0] && sample->scope_pressure_level != PRESSURE_UNKNOWN;
}

/* The figure of the scope; that of the host where the scope has none of its own. */
static inline enum host_value host_sample_narrowest(const struct host_sample *sample,
						    enum host_value scope, enum host_value host)
{
	return host_sample_has(sample, scope) ? scope : host;
}

#endif
