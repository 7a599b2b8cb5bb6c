/* SPDX-License-Identifier: MIT */
/*
 * What the rules say to people: a sentence for each anomaly, and the tasks that it concerns.  Names
 * of processes are as the kernel has them; whoever prints them escapes them.
 */
#ifndef ANALYZE_RULE_TEXTS_H
#define ANALYZE_RULE_TEXTS_H

#include "analyze/anomaly/rules.h"

struct life_event;

typedef void rule_description(const struct rule_subject *subject,
			      const struct rule_measure *measure, struct text *out);

rule_description describe_spike, describe_leak, describe_pressure, describe_runaway,
	describe_zombies, describe_fds, describe_thread_leak, describe_stuck, describe_io_stall,
	describe_stall;

/* Add the tasks that an anomaly concerns: the process, threads in D, zombies, the largest processes. */
typedef void rule_concern(const struct rule_subject *subject, struct anomaly *anomaly);

rule_concern concern_process, concern_sleepers, concern_zombies, concern_largest;

/* Describes an OOM kill: its victim, and which processes were large or had grown in the last minute. */
void describe_oom(const struct followed_processes *processes, const struct life_event *event,
		  struct text *out);

/* What the total of memory belongs to: the limit of the cgroup, or the host. */
enum host_value rule_memory_total(const struct host_sample *sample);

/* Whether the process has been a zombie for long enough. */
bool rule_is_old_zombie(const struct rule_subject *subject, const struct followed *process);

#endif
