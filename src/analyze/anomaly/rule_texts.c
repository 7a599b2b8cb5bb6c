/* SPDX-License-Identifier: MIT */
#include "analyze/anomaly/rule_texts.h"

#include <inttypes.h>

#include "base/text.h"
#include "metric/unit.h"
#include "model/record/life_event.h"
#include "model/snapshot/snapshot.h"

#define ZOMBIES_NAMED 5
#define OOM_NAMED 10
#define CONCERNED_MOST 10 /* processes that hold the most when memory is short */

static void append_name(struct text *out, const struct followed *process)
{
	text_format(out, "%s (pid %" PRId32 ")", process->comm, process->key.pid);
}

static void append_amount(struct text *out, enum metric_unit unit, double value)
{
	unit_format(out, unit, value > 0 ? (uint64_t)(value + 0.5) : 0);
}

void describe_spike(const struct rule_subject *subject, const struct rule_measure *measure,
		    struct text *out)
{
	text_append_string(out, "resident memory of ");
	append_name(out, subject->process);
	text_append_string(out, " grew from ");
	append_amount(out, UNIT_BYTES, measure->before);
	text_append_string(out, " to ");
	append_amount(out, UNIT_BYTES, measure->value);
	text_append_string(out, " within ");
	append_amount(out, UNIT_NS, measure->elapsed_ns);
}

void describe_leak(const struct rule_subject *subject, const struct rule_measure *measure,
		   struct text *out)
{
	text_append_string(out, "resident memory of ");
	append_name(out, subject->process);
	text_append_string(out, " rose from ");
	append_amount(out, UNIT_BYTES, measure->before);
	text_append_string(out, " to ");
	append_amount(out, UNIT_BYTES, measure->value);
	text_append_string(out, " in ");
	append_amount(out, UNIT_NS, measure->elapsed_ns);
	text_append_string(out, ", by ");
	append_amount(out, UNIT_BYTES,
		      (measure->value - measure->before) / measure->elapsed_ns * 60e9);
	text_append_string(out, " a minute, and never fell");
}

enum host_value rule_memory_total(const struct host_sample *sample)
{
	return host_sample_narrowest(sample, HOST_VALUE_scope_memory_limit_bytes,
				     HOST_VALUE_memory_total_bytes);
}

/* Says whose figure it was, where the host and the scope have one each. */
static void append_whose(struct text *out, const struct host_sample *sample, enum host_value value)
{
	bool is_of_host = value == HOST_VALUE_memory_total_bytes ||
			  value == HOST_VALUE_pressure_io_full_percent;

	if (sample->scope[0])
		text_format(out, " (of %s)", is_of_host ? "the host" : sample->scope);
}

void describe_pressure(const struct rule_subject *subject, const struct rule_measure *measure,
		       struct text *out)
{
	enum host_value of = rule_memory_total(subject->host);
	double total = subject->host->values[of];

	append_amount(out, UNIT_BYTES, total - measure->value);
	text_append_string(out, " of ");
	append_amount(out, UNIT_BYTES, total);
	text_append_string(out, " of memory is available, ");
	unit_format_share(out, (total - measure->value) / total);
	append_whose(out, subject->host, of);
}

void describe_runaway(const struct rule_subject *subject, const struct rule_measure *measure,
		      struct text *out)
{
	append_name(out, subject->process);
	text_append_string(out, " uses ");
	unit_format_share(out, measure->value / 100);
	text_append_string(out, " of a CPU, and has used ");
	unit_format_share(out, measure->threshold / 100);
	text_append_string(out, " or more for ");
	append_amount(out, UNIT_NS, measure->elapsed_ns);
}

bool rule_is_old_zombie(const struct rule_subject *subject, const struct followed *process)
{
	return process->zombie_since_ns && !followed_has_ended(subject->processes, process) &&
	       (double)(subject->processes->ns - process->zombie_since_ns) >=
		       subject->settings[ANOMALY_SETTING_zombie_duration];
}

void describe_zombies(const struct rule_subject *subject, const struct rule_measure *measure,
		      struct text *out)
{
	const struct followed_processes *processes = subject->processes;
	size_t named = 0;

	append_amount(out, UNIT_COUNT, measure->value);
	text_append_string(out, measure->value == 1 ?
					" process has ended and its parent does not wait for it:" :
					" processes have ended and nobody waits for them:");
	for (size_t i = 0; i < processes->list.count && named < ZOMBIES_NAMED; i++) {
		const struct followed *process = processes->list.data[i];
		int32_t parent;

		if (!rule_is_old_zombie(subject, process))
			continue;
		text_append_string(out, named++ ? ", " : " ");
		append_name(out, process);
		parent = snapshot_parent(subject->now, process->row);
		if (parent)
			text_format(out, " of parent %" PRId32, parent);
	}
}

void describe_fds(const struct rule_subject *subject, const struct rule_measure *measure,
		  struct text *out)
{
	append_name(out, subject->process);
	text_format(out, " has %.0f files open and may have %.0f", measure->value,
		    subject->process->fd_limit.value);
}

void describe_thread_leak(const struct rule_subject *subject, const struct rule_measure *measure,
			  struct text *out)
{
	append_name(out, subject->process);
	text_format(out, " went from %.0f thread%s to %.0f within ", measure->before,
		    measure->before == 1 ? "" : "s", measure->value);
	append_amount(out, UNIT_NS, measure->elapsed_ns);
}

static bool is_stuck(const struct rule_subject *subject, const struct sleeper *sleeper)
{
	return sleeper->key.pid == subject->process->key.pid &&
	       (double)(subject->processes->ns - sleeper->since_ns) >=
		       subject->settings[ANOMALY_SETTING_stuck_d_duration];
}

void describe_stuck(const struct rule_subject *subject, const struct rule_measure *measure,
		    struct text *out)
{
	size_t count = 0;

	for (size_t i = 0; i < subject->processes->sleepers.count; i++)
		count += is_stuck(subject, &subject->processes->sleepers.data[i]);
	text_format(out, "%zu thread%s of ", count, count == 1 ? "" : "s");
	append_name(out, subject->process);
	text_format(out, " %s in uninterruptible sleep, ", count == 1 ? "is" : "are");
	text_append_string(out, count == 1 ? "for " : "the first for ");
	append_amount(out, UNIT_NS, measure->value);
}

void describe_io_stall(const struct rule_subject *subject, const struct rule_measure *measure,
		       struct text *out)
{
	text_append_string(out, "all tasks that could have run waited for I/O for ");
	unit_format_share(out, measure->value / 100);
	text_append_string(out, " of the last 10 s");
	append_whose(out, subject->host,
		     host_sample_narrowest(subject->host, HOST_VALUE_scope_pressure_io_full_percent,
					   HOST_VALUE_pressure_io_full_percent));
}

/* The row of the process's thread that stalls the longest; -1 when none stalls. */
static int64_t stalled_row(const struct rule_subject *subject)
{
	const struct snapshot *now = subject->now;
	uint64_t value, longest = 0;
	int64_t found = -1;

	for (size_t row = now->processes[subject->process->row].first_task;
	     row < now->task_count && now->tasks[row].process == subject->process->row; row++) {
		if (!snapshot_get(now, METRIC_scope_stall_ns, (uint32_t)row, &value) ||
		    value <= longest)
			continue;
		longest = value;
		found = (int64_t)row;
	}
	return found;
}

void describe_stall(const struct rule_subject *subject, const struct rule_measure *measure,
		    struct text *out)
{
	int64_t row = stalled_row(subject);

	append_name(out, subject->process);
	text_append_string(out, " says that it has made no progress for ");
	append_amount(out, UNIT_NS, measure->value);
	if (row >= 0 && subject->now->tasks[row].scope)
		text_format(out, ", in %s",
			    snapshot_text(subject->now, subject->now->tasks[row].scope));
}

void describe_oom(const struct followed_processes *processes, const struct life_event *event,
		  struct text *out)
{
	const struct followed *list[OOM_NAMED];
	size_t count = followed_largest(processes, OOM_NAMED, list);

	text_format(out, "the kernel killed %s (pid %" PRId32 ") to get its memory", event->comm,
		    event->task.pid);
	for (size_t i = 0; i < count; i++) {
		text_append_string(out, i ? ", " : "; the largest: ");
		append_name(out, list[i]);
		text_append_string(out, " ");
		append_amount(out, UNIT_BYTES, list[i]->rss.value);
	}
	count = followed_growing(processes, OOM_NAMED, list);
	for (size_t i = 0; i < count; i++) {
		text_append_string(out, i ? ", " : "; grown the most in a minute: ");
		append_name(out, list[i]);
		text_append_string(out, " by ");
		append_amount(out, UNIT_BYTES, followed_growth(processes, list[i]));
	}
}

static void add_task(struct anomaly *anomaly, struct task_key key)
{
	if (anomaly->task_count < ANOMALY_TASKS)
		anomaly->tasks[anomaly->task_count++] = key;
}

void concern_process(const struct rule_subject *subject, struct anomaly *anomaly)
{
	add_task(anomaly, subject->process->key);
}

/* An anomaly of a process concerns its stuck threads; one of the host, all threads that wait. */
void concern_sleepers(const struct rule_subject *subject, struct anomaly *anomaly)
{
	for (size_t i = 0; i < subject->processes->sleepers.count; i++) {
		const struct sleeper *sleeper = &subject->processes->sleepers.data[i];

		if (!subject->process || is_stuck(subject, sleeper))
			add_task(anomaly, sleeper->key);
	}
}

void concern_zombies(const struct rule_subject *subject, struct anomaly *anomaly)
{
	const struct followed_processes *processes = subject->processes;

	for (size_t i = 0; i < processes->list.count; i++)
		if (rule_is_old_zombie(subject, processes->list.data[i]))
			add_task(anomaly, processes->list.data[i]->key);
}

void concern_largest(const struct rule_subject *subject, struct anomaly *anomaly)
{
	const struct followed *largest[CONCERNED_MOST];
	size_t count = followed_largest(subject->processes, CONCERNED_MOST, largest);

	for (size_t i = 0; i < count; i++)
		add_task(anomaly, largest[i]->key);
}
