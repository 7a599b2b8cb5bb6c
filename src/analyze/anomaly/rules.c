/* SPDX-License-Identifier: MIT */
#include "analyze/anomaly/rules.h"

#include <math.h>
#include <string.h>

#include "analyze/anomaly/rule_texts.h"
#include "model/snapshot/snapshot.h"

/* A leak may fall by this share of its growth from one point to the next. */
#define LEAK_DIP 0.05
#define NS_OF_A_MINUTE 60e9

static double setting(const struct rule_subject *subject, enum anomaly_setting id)
{
	return subject->settings[id];
}

static double host_value(const struct rule_subject *subject, enum host_value value)
{
	return subject->host->values[value];
}

/* The value must have reached both the ratio and the absolute growth. */
static void measure_growth(struct known now, const struct past_values *past, uint64_t since_ns,
			   double ratio, double least, struct rule_measure *ret)
{
	uint64_t lowest;

	if (!now.is_known || past->count == 0 || !past_lowest(past, since_ns, &lowest))
		return;
	ret->is_known = ret->has_lasted = true;
	ret->value = now.value;
	ret->before = (double)lowest;
	ret->threshold = fmax(ret->before * ratio, ret->before + least);
	ret->far = ret->threshold > 0 ? ret->value / ret->threshold : 0;
}

static uint64_t time_before(const struct rule_subject *subject, double window_ns)
{
	uint64_t now = subject->processes->ns;

	return (double)now > window_ns ? now - (uint64_t)window_ns : 0;
}

static void measure_spike(const struct rule_subject *subject, struct rule_measure *ret)
{
	double window = setting(subject, ANOMALY_SETTING_memory_spike_window);

	ret->elapsed_ns = window;
	measure_growth(subject->process->rss, &subject->process->memory,
		       time_before(subject, window),
		       setting(subject, ANOMALY_SETTING_memory_spike_ratio),
		       setting(subject, ANOMALY_SETTING_memory_spike_bytes), ret);
}

static void measure_thread_leak(const struct rule_subject *subject, struct rule_measure *ret)
{
	double window = setting(subject, ANOMALY_SETTING_thread_leak_window);

	ret->elapsed_ns = window;
	measure_growth(subject->process->threads, &subject->process->thread_counts,
		       time_before(subject, window),
		       setting(subject, ANOMALY_SETTING_thread_leak_ratio),
		       setting(subject, ANOMALY_SETTING_thread_leak_count), ret);
}

/* Nothing is known before the whole window is. */
static void measure_leak(const struct rule_subject *subject, struct rule_measure *ret)
{
	const struct past_values *past = &subject->process->memory_long;
	double window = setting(subject, ANOMALY_SETTING_memory_leak_window);
	const struct past_point *begin = past_begin(past, subject->processes->ns, window);
	const struct past_point *last = past->count ? &past->points[past->count - 1] : NULL;
	double needed, growth;

	if (!subject->process->rss.is_known || !begin || begin == last ||
	    (double)(subject->processes->ns - begin->ns) < window)
		return;
	ret->is_known = ret->has_lasted = true;
	ret->elapsed_ns = (double)(last->ns - begin->ns);
	ret->before = (double)begin->value;
	ret->value = subject->process->rss.value;
	needed = fmax(ret->before * setting(subject, ANOMALY_SETTING_memory_leak_share) / 100,
		      setting(subject, ANOMALY_SETTING_memory_leak_bytes_per_minute) *
			      ret->elapsed_ns / NS_OF_A_MINUTE);
	growth = (double)last->value - ret->before;
	ret->threshold = ret->before + needed;
	if (needed > 0 && past_rises(past, begin, LEAK_DIP))
		ret->far = growth / needed;
}

/*
 * What a rule about the host looks at: the recorded cgroup, or the host for a tree and for all.  A cgroup
 * that says nothing of itself is not judged by the host's figures; one without processes is at ease.
 * False: nothing is to be measured.
 */
static bool has_scope_to_judge(const struct rule_subject *subject, struct rule_measure *ret)
{
	const struct host_sample *host = subject->host;
	bool is_silent = strstr(host->scope, "cgroup ") &&
			 !host_sample_has(host, HOST_VALUE_scope_memory_bytes) &&
			 !host_sample_has(host, HOST_VALUE_scope_pressure_io_full_percent);

	if (is_silent && host_sample_has(host, HOST_VALUE_scope_processes) &&
	    host->values[HOST_VALUE_scope_processes] == 0)
		ret->is_known = ret->has_lasted = true;
	return !is_silent;
}

/* In use is what is not available, so that the value grows as it gets worse. */
static void measure_pressure(const struct rule_subject *subject, struct rule_measure *ret)
{
	enum host_value total_of = rule_memory_total(subject->host);
	enum host_value available_of =
		host_sample_narrowest(subject->host, HOST_VALUE_scope_memory_available_bytes,
				      HOST_VALUE_memory_available_bytes);
	double total = host_value(subject, total_of);
	double available = host_value(subject, available_of);
	double needed = total * setting(subject, ANOMALY_SETTING_memory_pressure_available) / 100;

	if (!has_scope_to_judge(subject, ret) || !host_sample_has(subject->host, total_of) ||
	    !host_sample_has(subject->host, available_of) || total <= 0)
		return;
	ret->is_known = ret->has_lasted = true;
	ret->value = total - available;
	ret->threshold = total - needed;
	/* Exactly at the threshold it does not hold yet. */
	ret->far = available < needed ? needed / fmax(available, 1) :
					fmin(needed / available, nextafter(1, 0));
}

static void measure_runaway(const struct rule_subject *subject, struct rule_measure *ret)
{
	const struct followed *process = subject->process;

	if (!process->cpu_percent.is_known)
		return;
	ret->is_known = true;
	ret->value = process->cpu_percent.value;
	ret->threshold = setting(subject, ANOMALY_SETTING_runaway_cpu_percent);
	ret->far = ret->threshold > 0 ? ret->value / ret->threshold : 0;
	ret->elapsed_ns = process->hot_since_ns ?
				  (double)(subject->processes->ns - process->hot_since_ns) :
				  0;
	ret->has_lasted = process->hot_since_ns &&
			  ret->elapsed_ns >= setting(subject, ANOMALY_SETTING_runaway_cpu_duration);
}

/* How many zombies are old enough. */
static void measure_zombies(const struct rule_subject *subject, struct rule_measure *ret)
{
	const struct followed_processes *processes = subject->processes;

	if (!host_sample_has(subject->host, HOST_VALUE_zombies) &&
	    !host_sample_has(subject->host, HOST_VALUE_scope_zombies))
		return;
	ret->is_known = ret->has_lasted = true;
	ret->threshold = 1;
	for (size_t i = 0; i < processes->list.count; i++)
		ret->value += rule_is_old_zombie(subject, processes->list.data[i]);
	ret->far = ret->value;
}

static void measure_fds(const struct rule_subject *subject, struct rule_measure *ret)
{
	const struct followed *process = subject->process;

	if (!process->fds.is_known || !process->fd_limit.is_known || process->fd_limit.value <= 0)
		return;
	ret->is_known = ret->has_lasted = true;
	ret->value = process->fds.value;
	ret->threshold = process->fd_limit.value *
			 setting(subject, ANOMALY_SETTING_fd_exhaustion_share) / 100;
	ret->far = ret->threshold > 0 ? ret->value / ret->threshold : 0;
}

/* A thread that woke up in between makes it 0 again. */
static void measure_stuck(const struct rule_subject *subject, struct rule_measure *ret)
{
	struct known stuck = subject->process->stuck_ns;

	if (!host_sample_has(subject->host, HOST_VALUE_blocked_threads) &&
	    !host_sample_has(subject->host, HOST_VALUE_scope_blocked_threads))
		/* no state is known */
		return;
	ret->is_known = ret->has_lasted = true;
	ret->value = stuck.is_known ? stuck.value : 0;
	ret->threshold = setting(subject, ANOMALY_SETTING_stuck_d_duration);
	ret->far = ret->threshold > 0 ? ret->value / ret->threshold : 0;
}

/* PSI must be above the threshold, not at it. */
static void measure_io_stall(const struct rule_subject *subject, struct rule_measure *ret)
{
	enum host_value of =
		host_sample_narrowest(subject->host, HOST_VALUE_scope_pressure_io_full_percent,
				      HOST_VALUE_pressure_io_full_percent);

	if (!has_scope_to_judge(subject, ret) || !host_sample_has(subject->host, of))
		return;
	ret->is_known = ret->has_lasted = true;
	ret->value = host_value(subject, of);
	ret->threshold = setting(subject, ANOMALY_SETTING_io_stall_percent);
	ret->far = ret->threshold > 0 ? ret->value / ret->threshold : 0;
	if (ret->value == ret->threshold)
		ret->far = nextafter(1, 0);
}

/* The program's own heartbeat decides when no progress is a stall; a process without one has none. */
static void measure_stall(const struct rule_subject *subject, struct rule_measure *ret)
{
	struct known stall = subject->process->stall_ns;

	if (!stall.is_known)
		return;
	ret->is_known = ret->has_lasted = true;
	ret->value = stall.value;
	ret->far = stall.value > 0;
}

/* clang-format off */
const struct rule rules[ANOMALY_RULE_COUNT] = {
	/* measure, describe, concern, of the host, closes below, severity, how far, open for so many seconds */
	[ANOMALY_MEMORY_SPIKE]    = { measure_spike,       describe_spike,       concern_process,  false, 0.9,  SEVERITY_LOW,    { 1.5, 2, 4 },      { 0 } },
	[ANOMALY_MEMORY_LEAK]     = { measure_leak,        describe_leak,        concern_process,  false, 0.8,  SEVERITY_LOW,    { 2, 5, 10 },       { 3600, 14400, 43200 } },
	[ANOMALY_MEMORY_PRESSURE] = { measure_pressure,    describe_pressure,    concern_largest,  true,  0.8,  SEVERITY_MEDIUM, { 1.5, 2 },         { 120, 600 } },
	[ANOMALY_RUNAWAY_CPU]     = { measure_runaway,     describe_runaway,     concern_process,  false, 0.9,  SEVERITY_LOW,    { 2, 4, 8 },        { 300, 1800, 7200 } },
	[ANOMALY_ZOMBIE]          = { measure_zombies,     describe_zombies,     concern_zombies,  true,  1,    SEVERITY_LOW,    { 10, 100, 1000 },  { 600, 3600, 86400 } },
	[ANOMALY_FD_EXHAUSTION]   = { measure_fds,         describe_fds,         concern_process,  false, 0.95, SEVERITY_LOW,    { 1.1, 1.15, 1.2 }, { 600, 3600 } },
	[ANOMALY_THREAD_LEAK]     = { measure_thread_leak, describe_thread_leak, concern_process,  false, 0.9,  SEVERITY_LOW,    { 2, 5, 10 },       { 600, 3600 } },
	[ANOMALY_STUCK_D]         = { measure_stuck,       describe_stuck,       concern_sleepers, false, 1,    SEVERITY_MEDIUM, { 5, 30 },          { 0 } },
	[ANOMALY_OOM]             = { NULL,                NULL,                 NULL,             false, 1,    SEVERITY_HIGH,   { 0 },              { 0 } },
	[ANOMALY_IO_STALL]        = { measure_io_stall,    describe_io_stall,    concern_sleepers, true,  0.75, SEVERITY_MEDIUM, { 2, 4 },           { 60, 300 } },
	[ANOMALY_STALL]           = { measure_stall,       describe_stall,       concern_process,  false, 1,    SEVERITY_MEDIUM, { 0 },              { 300, 1800 } },
};
/* clang-format on */

static int steps_reached(const double *steps, double value)
{
	int reached = 0;

	while (reached < RULE_STEPS && steps[reached] > 0 && value >= steps[reached])
		reached++;
	return reached;
}

enum anomaly_severity rule_severity(const struct rule *rule, double far, double open_seconds)
{
	int by_far = steps_reached(rule->far, far);
	int by_time = steps_reached(rule->seconds, open_seconds);
	int severity = (int)rule->severity + (by_far > by_time ? by_far : by_time);

	return severity < SEVERITY_CRITICAL ? (enum anomaly_severity)severity : SEVERITY_CRITICAL;
}
