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

extern const struct host_value_info host_values[HOST_VALUE_COUNT];

/* The value of that name, or -1. */
int host_value_find(const char *name);

/* How short of memory the scope is. */
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

struct host_sample {
	uint64_t unix_ns;
	uint64_t present; /* a bit for each enum host_value */
	double values[HOST_VALUE_COUNT];
	enum pressure_level pressure_level;
	int32_t recorder_pid;
	int32_t zombie_pids[HOST_SAMPLE_ZOMBIES]; /* the first of them */
	size_t zombie_pid_count;
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

#endif
