/* SPDX-License-Identifier: MIT */
#include "render/record/record_table.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/kernel_names.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/record/anomaly.h"
#include "model/record/life_event.h"
#include "render/table/table.h"

void record_append_time(struct text *out, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_SECOND);
	struct tm local;
	char words[32];

	if (localtime_r(&seconds, &local) &&
	    strftime(words, sizeof(words), "%Y-%m-%d %H:%M:%S", &local))
		text_append_string(out, words);
	else
		text_format(out, "%lld", (long long)seconds);
}

void record_put_time(struct table *table, uint64_t unix_ns)
{
	if (table_is_for_people(table)) {
		record_append_time(put_begin(table), unix_ns);
		put_end(table);
	} else {
		put_empty(table);
	}
	put_number(table, unix_ns);
}

static const struct table_column event_table[] = {
	RECORD_TIME_COLUMNS("time", "ts_ns"),
	{ "event", TABLE_LEFT, .id = "kind" },
	{ "pid", TABLE_RIGHT, .id = "pid", .unit = UNIT_ID },
	{ "parent", TABLE_RIGHT, 3, .id = "ppid", .unit = UNIT_ID },
	{ .id = "start_time_ns", .unit = UNIT_NS },
	{ "program", TABLE_LEFT, .id = "comm" },
	{ .title = "what" },
	{ .id = "exit_code", .unit = UNIT_LEVEL },
	{ .id = "signal", .unit = UNIT_LEVEL },
	{ .id = "sender_pid", .unit = UNIT_ID },
	{ .id = "lost", .unit = UNIT_COUNT },
	{ "CPU", TABLE_RIGHT, 2, .id = "run_time_ns", .unit = UNIT_NS },
	{ "peak RSS", TABLE_RIGHT, 2, .id = "hiwater_rss_bytes", .unit = UNIT_BYTES },
	{ .id = "read_bytes", .unit = UNIT_BYTES },
	{ .id = "write_bytes", .unit = UNIT_BYTES },
	{ "command", TABLE_NAME, 4, .id = "cmd" },
	{ .id = "details" },
};

void event_columns(struct table *table)
{
	table_add_columns(table, event_table, ARRAY_SIZE(event_table));
}

static void append_end(struct text *out, int status)
{
	char name[KERNEL_NAME_SIZE];

	if (WIFSIGNALED(status))
		text_format(out, "%s%s", signal_name(WTERMSIG(status), name),
			    WCOREDUMP(status) ? ", core dumped" : "");
	else
		text_format(out, "exit %d", WEXITSTATUS(status));
}

/* What happened, in a few words. */
static void append_what(struct text *out, const struct life_event *event)
{
	size_t begin = out->length;
	char name[KERNEL_NAME_SIZE];

	if (event->kind == LIFE_EXIT && event->present & LIFE_HAS_STATUS)
		append_end(out, event->status);
	else if (event->signal)
		text_append_string(out, signal_name(event->signal, name));
	else if (event->kind == LIFE_LOST)
		text_format(out, "%llu events", (unsigned long long)event->lost);
	if (event->present & LIFE_HAS_SENDER && event->sender_pid)
		text_format(out, " from %d", (int)event->sender_pid);
	if (event->details && event->kind != LIFE_OOM) {
		text_append_string(out, out->length > begin ? ", " : "");
		text_append_escaped(out, event->details, strlen(event->details));
	}
}

void event_line(struct text *out, const struct life_event *event)
{
	record_append_time(out, event->unix_ns);
	text_format(out, "  %-6s", life_kind_names[event->kind]);
	if (event->task.pid)
		text_format(out, "  %7d", (int)event->task.pid);
	text_append_string(out, "  ");
	text_append_escaped(out, event->comm, strlen(event->comm));
	text_append_string(out, "  ");
	append_what(out, event);
	if (event->cmd && event->kind == LIFE_EXEC)
		text_append_escaped(out, event->cmd, strlen(event->cmd));
}

static void put_amount_of(struct table *table, const struct life_event *event, enum amount_id id)
{
	put_known(table, amounts_has(&event->amounts, id), amounts_get(&event->amounts, id));
}

void put_event(struct table *table, const struct life_event *event)
{
	bool is_exit = event->kind == LIFE_EXIT && event->present & LIFE_HAS_STATUS;
	bool is_signal = is_exit ? WIFSIGNALED(event->status) : event->signal != 0;

	record_put_time(table, event->unix_ns);
	put_string(table, life_kind_names[event->kind]);
	put_known(table, event->task.pid, (uint64_t)event->task.pid);
	put_known(table, event->parent_pid, (uint64_t)event->parent_pid);
	put_known(table, event->task.start_ns, event->task.start_ns);
	put_string(table, event->comm);
	append_what(put_begin(table), event);
	put_end(table);
	put_known(table, is_exit && !is_signal, is_exit ? (uint64_t)WEXITSTATUS(event->status) : 0);
	put_known(table, is_signal, (uint64_t)(is_exit ? WTERMSIG(event->status) : event->signal));
	put_known(table, event->present & LIFE_HAS_SENDER, (uint64_t)event->sender_pid);
	put_known(table, event->kind == LIFE_LOST, event->lost);
	put_amount_of(table, event, AMOUNT_run_time_ns);
	put_known(table, event->present & LIFE_HAS_PEAK, event->peak_rss_bytes);
	put_amount_of(table, event, AMOUNT_read_bytes);
	put_amount_of(table, event, AMOUNT_write_bytes);
	put_string(table, event->cmd);
	put_string(table, event->details);
}

static const struct table_column anomaly_table[] = {
	{ .id = "begin_ns" },	   { .id = "end_ns" },	  { .id = "rule" },
	{ .id = "state" },	   { .id = "severity" },  { .id = "pid", .unit = UNIT_ID },
	{ .id = "start_time_ns" }, { .id = "comm" },	  { .id = "value" },
	{ .id = "peak" },	   { .id = "threshold" }, { .id = "unit" },
	{ .id = "job" },	   { .id = "details" },
};

void anomaly_columns(struct table *table)
{
	table_add_columns(table, anomaly_table, ARRAY_SIZE(anomaly_table));
}

void put_anomaly(struct table *table, const struct anomaly *anomaly)
{
	const struct anomaly_rule_info *rule = &anomaly_rules[anomaly->rule];

	put_number(table, anomaly->begin_unix_ns);
	put_known(table, anomaly->end_unix_ns, anomaly->end_unix_ns);
	put_string(table, rule->name);
	put_string(table, anomaly->end_unix_ns ? "close" : "open");
	put_string(table, severity_names[anomaly->severity]);
	put_known(table, anomaly->task.pid, (uint64_t)anomaly->task.pid);
	put_known(table, anomaly->task.start_ns, anomaly->task.start_ns);
	put_string(table, anomaly->comm);
	put_real(table, anomaly->value);
	put_real(table, anomaly->peak);
	put_real(table, anomaly->threshold);
	put_string(table, metric_unit_name(rule->unit));
	put_string(table, anomaly->job);
	put_string(table, anomaly->details);
}

static void append_length(struct text *out, const struct anomaly *anomaly)
{
	if (!anomaly->end_unix_ns)
		text_append_string(out, "open");
	else if (anomaly->end_unix_ns > anomaly->begin_unix_ns)
		unit_format(out, UNIT_NS, anomaly->end_unix_ns - anomaly->begin_unix_ns);
	else
		text_append_string(out, "at once");
}

static const enum style severity_styles[SEVERITY_COUNT] = {
	[SEVERITY_MEDIUM] = STYLE_WARNING,
	[SEVERITY_HIGH] = STYLE_BAD,
	[SEVERITY_CRITICAL] = STYLE_BAD,
};

/* Values of anomalies are real numbers; people read them in the unit of the rule. */
void anomaly_lines(struct text *out, const struct anomaly *anomaly, bool colour)
{
	const struct anomaly_rule_info *rule = &anomaly_rules[anomaly->rule];
	CLEANUP(text_free) struct text length = { 0 };

	append_length(&length, anomaly);
	record_append_time(out, anomaly->begin_unix_ns);
	text_format(out, "  %8s  %-15s  %s%-8s%s  peak ", text_string(&length), rule->name,
		    style_on(colour, severity_styles[anomaly->severity]),
		    severity_names[anomaly->severity],
		    style_off(colour, severity_styles[anomaly->severity]));
	unit_format_real(out, rule->unit, anomaly->peak);
	text_append_string(out, rule->unit == UNIT_LEVEL ? " %\n    " : "\n    ");
	text_append_escaped(out, anomaly->details, strlen(anomaly->details));
	text_append_string(out, "\n");
}

static const char *const host_titles[HOST_VALUE_COUNT] = {
#define HOST_VALUE(id, ...) "host " #id,
#include "model/record/host_samples.def"
};

void sample_columns(struct table *table, const enum host_value *values, size_t count,
		    bool has_scope)
{
	static const struct table_column time_columns[] = { RECORD_TIME_COLUMNS("time", "ts_ns") };

	table_add_columns(table, time_columns, ARRAY_SIZE(time_columns));
	if (has_scope)
		table_add_column(table,
				 (struct table_column){ "scope", TABLE_LEFT, .id = "scope" });
	for (size_t i = 0; i < count; i++) {
		bool is_titled = has_scope && host_value_is_of_host(values[i]);
		const char *name = host_values[values[i]].name;

		table_add_column(table, (struct table_column){
						is_titled ? host_titles[values[i]] : name,
						TABLE_RIGHT,
						.priority = (unsigned)i,
						.id = name,
						.unit = host_values[values[i]].unit,
					});
	}
}

void put_sample(struct table *table, const struct host_sample *sample,
		const enum host_value *values, size_t count, bool has_scope)
{
	record_put_time(table, sample->unix_ns);
	if (has_scope)
		put_string(table, sample->scope);
	for (size_t i = 0; i < count; i++) {
		enum metric_unit unit = host_values[values[i]].unit;

		if (!host_sample_has(sample, values[i]))
			put_absent(table, NULL);
		else if (unit == UNIT_LEVEL)
			put_real(table, sample->values[values[i]]);
		else
			put_number(table, (uint64_t)sample->values[values[i]]);
	}
}
