/* SPDX-License-Identifier: MIT */
/*
 * history: a metric of a process, or of the host, over time.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/args/store_args.h"
#include "metric/metric.h"
#include "metric/unit.h"
#include "render/calls/calls_view.h"
#include "render/record/record_json.h"
#include "render/record/record_table.h"
#include "render/table/table.h"
#include "store/history/calls/history_calls.h"
#include "store/history/history_activity.h"

#define DEFAULT_AGE_NS (3600 * NS_PER_SECOND)
#define VALUES_MOST 16

static struct {
	struct store_args store;
	struct view_args view;
	struct option_number pid;
	const char *name;
	bool syscalls;
} args;

static const struct option options[] = {
	STORE_OPTION(args.store),
	SINCE_OPTION(args.store, "the last TIME of the recording (default: 1h)"),
	{ 'p', "pid", OPTION_NUMBER, &args.pid, "PID", "of this process", NULL },
	{ 0, "name", OPTION_TEXT, &args.name, "NAME", "of all processes of this name", NULL },
	{ 0, "syscalls", OPTION_FLAG, &args.syscalls, NULL,
	  "system calls of processes in each minute (record --syscalls)", NULL },
	METRICS_OPTION(args.view, "the metric, or figures of the host (default: rss_bytes; of the "
				  "host: CPU, memory, load, pressure)"),
	LIMIT_OPTION(args.view, "show the last N points, 0 for all"),
	FORMAT_OPTION(args.view, "text|json|csv"),
	{ 0 },
};

static const enum host_value shown_of_host[] = {
	HOST_VALUE_cpu_busy_percent,
	HOST_VALUE_load1,
	HOST_VALUE_memory_used_bytes,
	HOST_VALUE_pressure_cpu_some_percent,
	HOST_VALUE_pressure_memory_some_percent,
	HOST_VALUE_pressure_io_some_percent,
	HOST_VALUE_threads,
};

static const enum host_value shown_of_scope[] = {
	HOST_VALUE_scope_cpu_percent,
	HOST_VALUE_scope_rss_bytes,
	HOST_VALUE_scope_memory_bytes,
	HOST_VALUE_scope_threads,
	HOST_VALUE_cpu_busy_percent,
	HOST_VALUE_memory_used_bytes,
	HOST_VALUE_load1,
};

struct host_columns {
	enum host_value values[VALUES_MOST];
	size_t count;
	bool has_scope;
};

static int unknown_value(const char *name, size_t length, struct error *error)
{
	struct suggestion suggestion = suggest_for(name, length);

	for (int i = 0; i < METRIC_STORED; i++)
		if (strlen(metrics[i].name) == length && memcmp(metrics[i].name, name, length) == 0)
			return error_set(error, -EINVAL,
					 "%s is a metric of processes: give -p PID or --name NAME",
					 metrics[i].name);
	for (int i = 0; i < HOST_VALUE_COUNT; i++)
		suggest(&suggestion, host_values[i].name);
	return error_set(error, -EINVAL, "the host has no figure '%.*s'; %s", (int)length, name,
			 suggestion_hint(&suggestion, "",
					 "give -p PID or --name NAME for metrics of processes"));
}

static int read_host_columns(const char *list, struct host_columns *ret, struct error *error)
{
	if (!list)
		return 0;
	while (*list) {
		size_t length = strcspn(list, ",");
		char name[64];
		int found = -1;

		if (length < sizeof(name)) {
			snprintf(name, sizeof(name), "%.*s", (int)length, list);
			found = host_value_find(name);
		}
		if (found < 0)
			return unknown_value(list, length, error);
		if (ret->count == VALUES_MOST)
			return error_set(error, -EINVAL, "-m takes at most %d figures",
					 VALUES_MOST);
		ret->values[ret->count++] = (enum host_value)found;
		list += length + (list[length] == ',');
	}
	return 0;
}

/* What is shown when nothing was asked for. */
static void choose_columns(struct host_columns *columns)
{
	const enum host_value *shown = columns->has_scope ? shown_of_scope : shown_of_host;
	size_t count = columns->has_scope ? ARRAY_SIZE(shown_of_scope) : ARRAY_SIZE(shown_of_host);

	if (columns->count)
		return;
	memcpy(columns->values, shown, count * sizeof(*shown));
	columns->count = count;
}

struct shown {
	struct row_output output;
	struct host_columns columns;
	enum metric_id metric;
};

/* The store gives the newest first; people read the oldest first. */
struct kept_samples {
	ARRAY_OF(struct host_sample) samples;
};

static void kept_samples_free(struct kept_samples *kept)
{
	array_free(&kept->samples);
}

static int keep_sample(void *context, const struct host_sample *sample)
{
	struct kept_samples *kept = context;

	return array_append(&kept->samples, *sample);
}

static void show_samples(struct shown *shown, const struct kept_samples *kept)
{
	for (size_t i = kept->samples.count; i > 0; i--) {
		const struct host_sample *sample = &kept->samples.data[i - 1];

		if (shown->output.format == FORMAT_JSON && !args.view.metrics)
			host_sample_json(shown->output.json, sample);
		else if (shown->output.format == FORMAT_JSON)
			host_values_json(shown->output.json, sample, shown->columns.values,
					 shown->columns.count);
		else
			put_sample(shown->output.table, sample, shown->columns.values,
				   shown->columns.count, shown->columns.has_scope);
	}
}

/* An empty column of a GPU has its reason in the store. */
static void say_gpu_absence(struct history *history, const struct shown *shown,
			    const struct kept_samples *kept)
{
	CLEANUP(free_pointer) char *lacks = history_meta(history, "gpu");
	const char *why =
		lacks ? "none in that time" : "they are there with `taskscope record --gpu`";
	CLEANUP(text_free) struct text words = { 0 };
	bool is_asked = false, is_known = false;

	for (size_t i = 0; i < shown->columns.count; i++) {
		enum host_value value = shown->columns.values[i];

		if (strncmp(host_values[value].name, "gpu_", 4) != 0)
			continue;
		is_asked = true;
		for (size_t k = 0; k < kept->samples.count; k++)
			is_known |= host_sample_has(&kept->samples.data[k], value);
	}
	if (!is_asked || is_known)
		return;
	if (lacks && lacks[0])
		why = lacks;
	text_append_escaped(&words, why, strlen(why));
	fprintf(stderr, "taskscope: no figures of GPUs: %s\n", text_string(&words));
}

static int show_host(struct history *history, struct shown *shown, struct error *error)
{
	CLEANUP(kept_samples_free) struct kept_samples kept = { 0 };
	struct history_span span = store_args_span(&args.store, history, DEFAULT_AGE_NS);
	int status = read_host_columns(args.view.metrics, &shown->columns, error);

	if (status == 0)
		status = history_samples(history, &span, view_limit(&args.view, 60), keep_sample,
					 &kept, error);
	if (status < 0)
		return status;
	for (size_t i = 0; i < kept.samples.count; i++)
		shown->columns.has_scope |= kept.samples.data[i].scope[0] != '\0';
	choose_columns(&shown->columns);
	sample_columns(shown->output.table, shown->columns.values, shown->columns.count,
		       shown->columns.has_scope);
	row_output_begin(&shown->output, "samples");
	show_samples(shown, &kept);
	status = row_output_end(&shown->output, "no samples of that time", error);
	if (status == 0)
		say_gpu_absence(history, shown, &kept);
	return status;
}

static void point_columns(struct table *table, enum metric_id id)
{
	const struct metric *metric = &metrics[id];
	const struct table_column columns[] = {
		{ .title = "time" },
		{ .id = "ts_ns" },
		{ "pid", TABLE_RIGHT, .id = "pid", .unit = UNIT_ID },
		{ .id = "start_time_ns", .unit = UNIT_NS },
		{ "program", TABLE_LEFT, 2, .id = "comm" },
		{ metric->name, TABLE_RIGHT, .id = "value", .unit = metric->unit },
		{ "least", TABLE_RIGHT, 1, .id = "least", .unit = metric->unit },
		{ "most", TABLE_RIGHT, 1, .id = "most", .unit = metric->unit },
		{ "of", TABLE_LEFT, 3, .id = "resolution" },
	};

	table_add_columns(table, columns, ARRAY_SIZE(columns));
}

static void put_point_value(struct table *table, enum metric_id id, double value)
{
	struct text *out;

	if (!table_is_for_people(table)) {
		put_real(table, value);
		return;
	}
	out = put_begin(table);
	unit_format_real(out, metrics[id].unit, value);
	text_append_string(out, metrics[id].kind == KIND_COUNTER ? "/s" : "");
	put_end(table);
}

static void put_point(struct table *table, enum metric_id id, const struct history_point *point)
{
	record_put_time(table, point->unix_ns);
	put_known(table, point->task.pid, (uint64_t)point->task.pid);
	put_known(table, point->task.start_ns, point->task.start_ns);
	put_string(table, point->comm);
	put_point_value(table, id, point->mean);
	put_point_value(table, id, point->least);
	put_point_value(table, id, point->most);
	put_string(table, point->is_minute ? "minute" : "sample");
}

static void point_json(struct json *json, enum metric_id id, const struct history_point *point)
{
	json_begin_object(json);
	json_member_u64(json, "ts_ns", point->unix_ns);
	json_member_i64(json, "pid", point->task.pid);
	json_member_u64(json, "start_time_ns", point->task.start_ns);
	json_member_given(json, "comm", point->comm);
	json_member_string(json, "metric", metrics[id].name);
	json_member_bool(json, "per_second", metrics[id].kind == KIND_COUNTER);
	json_member_double(json, "value", point->mean);
	json_member_double(json, "least", point->least);
	json_member_double(json, "most", point->most);
	json_member_string(json, "resolution", point->is_minute ? "minute" : "sample");
	json_end_object(json);
}

static int show_point(void *context, const struct history_point *point)
{
	struct shown *shown = context;

	if (shown->output.format == FORMAT_JSON)
		point_json(shown->output.json, shown->metric, point);
	else
		put_point(shown->output.table, shown->metric, point);
	return shown->output.table->failed ? -ENOMEM : 0;
}

static int show_process(struct history *history, struct shown *shown, struct error *error)
{
	const char *name = args.view.metrics ? args.view.metrics : "rss_bytes";
	struct series_query query = {
		.span = store_args_span(&args.store, history, DEFAULT_AGE_NS),
		.pid = (int32_t)args.pid.value,
		.name = args.name,
		.limit = view_limit(&args.view, 60),
	};
	int found = metric_find(name);
	int status;

	if (found < 0 || found >= METRIC_STORED)
		return error_set(error, -EINVAL,
				 "history shows one stored metric, and '%s' is none; `taskscope "
				 "metrics` lists them",
				 name);
	shown->metric = query.metric = (enum metric_id)found;
	point_columns(shown->output.table, query.metric);
	row_output_begin(&shown->output, "points");
	status = history_series(history, &query, show_point, shown, error);
	return status < 0 ? status :
			    row_output_end(&shown->output, "nothing of that process in that time",
					   error);
}

static void call_point_columns(struct table *table)
{
	const struct table_column columns[] = {
		{ .title = "time" },
		{ .id = "ts_ns" },
		{ "pid", TABLE_RIGHT, .id = "pid", .unit = UNIT_ID },
		{ .id = "start_time_ns", .unit = UNIT_NS },
		{ "program", TABLE_LEFT, 2, .id = "comm" },
	};

	table_add_columns(table, columns, ARRAY_SIZE(columns));
	recorded_call_columns(table);
}

static int show_call(void *context, const struct call_point *point)
{
	struct shown *shown = context;
	struct table *table = shown->output.table;

	record_put_time(table, point->unix_ns);
	put_known(table, point->process.pid, (uint64_t)point->process.pid);
	put_known(table, point->process.start_ns, point->process.start_ns);
	put_string(table, point->comm);
	put_recorded_call(table, &point->line);
	return table->failed ? -ENOMEM : 0;
}

static int show_calls(struct history *history, struct shown *shown, struct error *error)
{
	const struct call_query query = {
		.span = store_args_span(&args.store, history, DEFAULT_AGE_NS),
		.pid = (int32_t)args.pid.value,
		.name = args.name,
		.limit = view_limit(&args.view, 60),
	};
	int status;

	call_point_columns(shown->output.table);
	row_output_begin(&shown->output, "syscalls");
	if (shown->output.format == FORMAT_JSON)
		table_stream_json(shown->output.table, shown->output.json);
	status = history_calls(history, &query, show_call, shown, error);
	return status < 0 ?
		       status :
		       row_output_end(&shown->output,
				      "no system calls of that time: they are there after a minute "
				      "of `taskscope record --syscalls`",
				      error);
}

int verb_history(char **words, int count, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	CLEANUP(table_clear) struct table table = { 0 };
	struct json json;
	struct shown shown = { .output = { view_format(&args.view), &table, &json } };
	int status = 0;

	(void)words;
	(void)count;
	if (args.pid.given && args.name)
		status = error_set(error, -EINVAL, "-p and --name exclude each other");
	if (args.pid.given && (args.pid.value == 0 || args.pid.value > INT_MAX))
		status = error_set(error, -EINVAL, "-p takes the number of a process");
	if (args.syscalls && args.view.metrics)
		status = error_set(error, -EINVAL, "--syscalls and -m exclude each other");
	if (status == 0)
		status = store_args_open(&args.store, &history, error);
	if (status < 0)
		return status;
	if (args.syscalls)
		return show_calls(history, &shown, error);
	return args.pid.given || args.name ? show_process(history, &shown, error) :
					     show_host(history, &shown, error);
}

const struct command command_history = {
	.name = "history",
	.arguments = "",
	.summary = "a metric of a process, or of the host, over time",
	.description =
		"Prints how a metric of a recording changed, oldest first. Counters are shown as\n"
		"what was added in a second. Where full samples are gone, or the time is long, a\n"
		"row is a minute: its least, mean and largest value. Without -p and --name it\n"
		"shows figures of the host, and those of the tree or cgroup that was recorded\n"
		"(scope_*); as JSON all of them, unless -m names some.\n"
		"\n"
		"With --syscalls a row is what a process did with one system call in a minute, if\n"
		"that was recorded: the 16 calls that took most time, and \"(others)\". Processes\n"
		"that no sample has seen have rows together, without a pid.",
	.examples = "taskscope history --since 2h\tCPU, memory, load and pressure of the host\n"
		    "taskscope history -p 1234 --since 2h -m rss_bytes\tmemory of a process\n"
		    "taskscope history --name nginx -m run_time_ns\tCPU of all nginx processes\n"
		    "taskscope history -p 1234 --syscalls\tits system calls, minute by minute\n"
		    "taskscope history -m disk_busy_percent --format csv\tfor a spreadsheet",
	.options = options,
	.words_max = 0,
};
