/* SPDX-License-Identifier: MIT */
/*
 * The rules of a detector: how each measures a process or the host, when its episode closes, and how
 * severe it is.  One row for each rule; docs/anomalies.md has the same table.
 */
#ifndef ANALYZE_ANOMALY_RULES_H
#define ANALYZE_ANOMALY_RULES_H

#include "analyze/anomaly/followed.h"
#include "model/record/host_sample.h"

struct text;

/* What a rule looks at. */
struct rule_subject {
	const struct followed_processes *processes;
	const struct followed *process; /* NULL: the host */
	const struct snapshot *now;
	const struct host_sample *host;
	const double *settings; /* by enum anomaly_setting */
};

struct rule_measure {
	bool is_known;	 /* else nothing opens and nothing closes */
	bool has_lasted; /* as long as the rule asks for */
	double value, threshold;
	double far; /* 1 where the rule begins to hold, 2 when it is twice as far; below 1 it does not */
	double before; /* what the value grew from, of rules about growth */
	double elapsed_ns;
};

#define RULE_STEPS 3 /* each makes it one step more severe */

struct rule {
	void (*measure)(const struct rule_subject *subject, struct rule_measure *ret);
	/* One sentence for people. */
	void (*describe)(const struct rule_subject *subject, const struct rule_measure *measure,
			 struct text *out);
	/* Adds the tasks concerned. */
	void (*concern)(const struct rule_subject *subject, struct anomaly *anomaly);
	bool is_of_host;
	double closes_below;		/* an open episode closes when `far` is below this */
	enum anomaly_severity severity; /* when it opens */
	double far[RULE_STEPS];		/* 0: no further step */
	double seconds[RULE_STEPS];	/* that it is open */
};

/* NULL for `measure`: the rule follows from an event. */
extern const struct rule rules[ANOMALY_RULE_COUNT];

/* The severity of an episode that is so far and open so long. */
enum anomaly_severity rule_severity(const struct rule *rule, double far, double open_seconds);

#endif
