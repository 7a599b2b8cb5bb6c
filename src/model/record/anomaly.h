/* SPDX-License-Identifier: MIT */
/*
 * An anomaly is an episode: it opens once, when a rule begins to hold, and closes once, when the
 * rule has stopped to hold with some distance.  In between its peak and severity may rise.
 */
#ifndef MODEL_ANOMALY_H
#define MODEL_ANOMALY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"
#include "model/tree/tree_event.h"

enum anomaly_rule {
#define ANOMALY_RULE(id, ...) ANOMALY_##id,
#include "model/record/anomaly_rules.def"
	ANOMALY_RULE_COUNT,
};

struct anomaly_rule_info {
	const char *name;
	enum metric_unit unit;
	const char *help;
};

extern const struct anomaly_rule_info anomaly_rules[ANOMALY_RULE_COUNT];

/* The rule of that name, or -1. */
int anomaly_rule_find(const char *name);

enum anomaly_setting {
#define ANOMALY_SETTING(rule, id, ...) ANOMALY_SETTING_##id,
#include "model/record/anomaly_rules.def"
	ANOMALY_SETTING_COUNT,
};

struct anomaly_settings {
	double values[ANOMALY_SETTING_COUNT];
};

extern const struct anomaly_settings anomaly_defaults;

enum anomaly_severity {
	SEVERITY_LOW,
	SEVERITY_MEDIUM,
	SEVERITY_HIGH,
	SEVERITY_CRITICAL,
	SEVERITY_COUNT,
};

extern const char *const severity_names[SEVERITY_COUNT];

#define ANOMALY_TASKS 16
#define ANOMALY_DETAILS_SIZE 1024

struct anomaly {
	uint64_t id; /* of the episode, as the detector numbers it, from 1 on */
	enum anomaly_rule rule;
	enum anomaly_severity severity;
	uint64_t begin_unix_ns;
	uint64_t end_unix_ns; /* 0 while it is open */
	struct task_key task; /* the process concerned; all 0 when it is the host */
	char comm[TREE_COMM_SIZE];
	uint32_t uid;
	bool has_uid;
	double value; /* now */
	double peak;
	double threshold;
	struct task_key tasks[ANOMALY_TASKS]; /* the tasks concerned, the first of them */
	size_t task_count;
	char job[64];			    /* "" when it belongs to none */
	char details[ANOMALY_DETAILS_SIZE]; /* for people */
};

/* What happened to the episode. */
enum anomaly_change {
	ANOMALY_OPENED,
	ANOMALY_GREW, /* its severity rose */
	ANOMALY_CLOSED,
	ANOMALY_CHANGED, /* its value did, and nothing else: for the store, not worth a message */
};

/* Returns 0, or a negative errno that ends the walk. */
typedef int anomaly_sink(void *context, enum anomaly_change change, const struct anomaly *anomaly);

#endif
