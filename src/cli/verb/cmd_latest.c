/* SPDX-License-Identifier: MIT */
/*
 * latest: the newest tick of a recorder.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parts/latest_document.h"
#include "cli/args/store_args.h"
#include "metric/unit.h"
#include "render/page.h"
#include "render/record/record_table.h"
#include "render/table/table.h"
#include "store/json_parse.h"

#define ANOMALIES_SHOWN 5

static struct {
	struct store_args store;
	struct view_args view;
	const char *socket;
} args;

static const struct option options[] = {
	STORE_OPTION(args.store),
	{ 0, "socket", OPTION_TEXT, &args.socket, "FILE", "the recorder's socket", NULL },
	LIMIT_OPTION(args.view, "show N processes, 0 for all (default: 15)"),
	FORMAT_OPTION(args.view, "text|json|csv"),
	{ 0 },
};

/* Columns of a process; the ids are keys of its JSON. */
static const struct table_column process_columns[] = {
	{ "pid", TABLE_RIGHT, .id = "pid", .unit = UNIT_ID },
	{ .id = "start_time_ns", .unit = UNIT_NS },
	{ "user", TABLE_LEFT, 3, .id = "user" },
	{ "program", TABLE_LEFT, .id = "comm" },
	{ "state", TABLE_LEFT, 4, .id = "state" },
	{ "% CPU", TABLE_RIGHT, .id = "cpu_percent", .unit = UNIT_LEVEL },
	{ "RSS", TABLE_RIGHT, .id = "rss_bytes", .unit = UNIT_BYTES },
	{ "threads", TABLE_RIGHT, 2, .id = "nr_threads", .unit = UNIT_COUNT },
	{ "files", TABLE_RIGHT, 3, .id = "open_fds", .unit = UNIT_COUNT },
	{ "command", TABLE_NAME, 5, .id = "cmd" },
};

static void put_process(struct table *table, const json_t *process)
{
	for (size_t i = 0; i < ARRAY_SIZE(process_columns); i++) {
		const json_t *value = json_object_get(process, process_columns[i].id);

		if (json_is_real(value))
			put_real(table, json_real_value(value));
		else if (json_is_integer(value))
			put_number(table, (uint64_t)json_integer_value(value));
		else
			put_string(table, json_string_value(value));
	}
}

static int compare_processes(const void *first, const void *second)
{
	static const char *const keys[] = { "cpu_percent", "rss_bytes" };
	const json_t *a = *(const json_t *const *)first, *b = *(const json_t *const *)second;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		double left = json_number_value(json_object_get(a, keys[i]));
		double right = json_number_value(json_object_get(b, keys[i]));

		if (left != right)
			return left > right ? -1 : 1;
	}
	return 0;
}

/* The busiest first, then the largest. */
static int put_processes(struct table *table, const json_t *processes, size_t most)
{
	size_t count = json_array_size(processes);
	CLEANUP(free_pointer) const json_t **order = calloc(count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		order[i] = json_array_get(processes, i);
	qsort(order, count, sizeof(*order), compare_processes);
	for (size_t i = 0; i < count && (!most || i < most); i++)
		put_process(table, order[i]);
	return table->failed ? -ENOMEM : 0;
}

/* Words that begin with a comma go on with what is before them. */
static void append_figure(struct text *out, const json_t *host, const char *key, const char *words,
			  enum metric_unit unit)
{
	const json_t *value = json_object_get(host, key);

	if (!json_is_number(value))
		return;
	text_append_string(out, words + (out->length ? 0 : strspn(words, ", ")));
	unit_format_real(out, unit, json_number_value(value));
	text_append_string(out, unit == UNIT_LEVEL ? " %" : "");
}

/* The first ones, each with its sentence. */
static void print_anomalies(FILE *out, const json_t *anomalies)
{
	size_t count = json_array_size(anomalies);

	fprintf(out, "%zu open anomal%s\n", count, count == 1 ? "y" : "ies");
	for (size_t i = 0; i < count && i < ANOMALIES_SHOWN; i++) {
		const json_t *anomaly = json_array_get(anomalies, i);
		static const char *const keys[] = { "severity", "rule", "details" };
		CLEANUP(text_free) struct text line = { 0 };

		for (size_t key = 0; key < ARRAY_SIZE(keys); key++) {
			const char *words = json_string_value(json_object_get(anomaly, keys[key]));

			text_append_string(&line, key == 0 ? "  " : key == 1 ? " " : ": ");
			text_append_escaped(&line, words ? words : "-", words ? strlen(words) : 1);
		}
		fprintf(out, "%s\n", text_string(&line));
	}
	if (count > ANOMALIES_SHOWN)
		fprintf(out, "  … %zu more: `taskscope anomalies --open` lists them\n",
			count - ANOMALIES_SHOWN);
	fputs("\n", out);
}

/* What is recorded comes first; without a scope that is the host. */
static void print_scope(FILE *out, const json_t *host, const char *scope)
{
	CLEANUP(text_free) struct text line = { 0 };
	CLEANUP(text_free) struct text name = { 0 };

	text_append_escaped(&name, scope, strlen(scope));
	append_figure(&line, host, "scope_cpu_percent", ", CPU ", UNIT_LEVEL);
	text_append_string(&line, line.length ? " of a core" : "");
	append_figure(&line, host, "scope_rss_bytes", ", RSS ", UNIT_BYTES);
	append_figure(&line, host, "scope_memory_bytes", ", memory ", UNIT_BYTES);
	append_figure(&line, host, "scope_memory_limit_bytes", ", limit ", UNIT_BYTES);
	append_figure(&line, host, "scope_threads", ", threads ", UNIT_COUNT);
	fprintf(out, "%s: %s\n", text_string(&name), text_string(&line));
}

static void print_host(FILE *out, const json_t *host)
{
	const char *scope = json_string_value(json_object_get(host, "scope"));
	CLEANUP(text_free) struct text when = { 0 };
	CLEANUP(text_free) struct text line = { 0 };
	uint64_t then_ns = (uint64_t)json_integer_value(json_object_get(host, "ts_ns"));
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	record_append_time(&when, then_ns);
	text_append_string(&when, ", ");
	unit_format(&when, UNIT_NS, now_ns > then_ns ? now_ns - then_ns : 0);
	append_figure(&line, host, "cpu_busy_percent", "CPU ", UNIT_LEVEL);
	append_figure(&line, host, "memory_used_bytes", ", memory used ", UNIT_BYTES);
	append_figure(&line, host, "memory_total_bytes", " of ", UNIT_BYTES);
	append_figure(&line, host, "pressure_io_some_percent", ", I/O pressure ", UNIT_LEVEL);
	append_figure(&line, host, "threads", ", threads ", UNIT_COUNT);
	fprintf(out, "%s ago\n", text_string(&when));
	if (scope)
		print_scope(out, host, scope);
	fprintf(out, "host: %s\n", text_string(&line));
}

static void print_least(FILE *out, const json_t *processes)
{
	size_t count = json_array_size(processes), least = 0;

	for (size_t i = 0; i < count; i++)
		least +=
			json_is_true(json_object_get(json_array_get(processes, i), "cpu_is_least"));
	if (least)
		fprintf(out,
			"%% CPU of %zu of %zu processes is at least that: what threads used that have "
			"ended is not known.\n",
			least, count);
}

static void print_gpu_absence(FILE *out, const char *reason)
{
	CLEANUP(text_free) struct text words = { 0 };

	if (!reason)
		return;
	text_append_escaped(&words, reason, strlen(reason));
	fprintf(out, "No figures of GPUs: %s.\n", text_string(&words));
}

static void release(json_t **value)
{
	json_decref(*value);
}

static int show(const char *document, struct error *error)
{
	CLEANUP(release) json_t *root = NULL;
	CLEANUP(table_clear) struct table table = { 0 };
	const json_t *host, *processes;
	json_error_t why;
	struct page page;
	int status = json_parse(document, strlen(document), 0, &root, &why);

	if (status < 0)
		return error_set(error, status, "the newest tick cannot be read: %s", why.text);
	host = json_object_get(root, "host");
	processes = json_object_get(root, "processes");
	table_add_columns(&table, process_columns, ARRAY_SIZE(process_columns));
	if (view_format(&args.view) == FORMAT_CSV) {
		table_stream_csv(&table, stdout);
		return put_processes(&table, processes, view_limit(&args.view, 0));
	}
	page_open(&page, stdout);
	print_host(page.out, host);
	print_anomalies(page.out, json_object_get(root, "anomalies"));
	status = put_processes(&table, processes, view_limit(&args.view, 15));
	if (status == 0)
		status = table_print(&table, &page.terminal, page.out);
	print_least(page.out, processes);
	print_gpu_absence(page.out, json_string_value(json_object_get(root, "gpu_absent")));
	if (page_close(&page) < 0 || status < 0)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}

int verb_latest(char **words, int count, struct error *error)
{
	CLEANUP(free_pointer) char *document = NULL;
	int status = -ENOENT;

	(void)words;
	(void)count;
	if (!args.store.store || args.socket)
		status = latest_from_recorder(args.socket, &document, error);
	if ((status == -ENOENT || status == -ECONNREFUSED) && (args.store.store || !args.socket))
		status = latest_from_store(&args.store, &document, error);
	else if (status == -ENOENT || status == -ECONNREFUSED)
		error_set(error, status, "no recorder listens at '%s'", args.socket);
	if (status < 0)
		return status;
	if (view_format(&args.view) == FORMAT_JSON)
		return printf("%.*s\n", (int)strcspn(document, "\n"), document) < 0 ? -EIO : 0;
	return show(document, error);
}

const struct command command_latest = {
	.name = "latest",
	.arguments = "",
	.summary = "the newest tick of a recorder",
	.description =
		"Asks the running recorder for its newest tick: figures of the host, and of the\n"
		"tree or cgroup if one is recorded, processes with their CPU (of one core, since\n"
		"the tick before) and memory, open anomalies. Where no recorder runs, it reads the\n"
		"newest tick of the store and says how old it is.",
	.examples = "taskscope latest\twhat the recorder sees\n"
		    "taskscope latest --format json\tfor programs\n"
		    "taskscope latest --store r.db\tthe end of a recording",
	.options = options,
	.words_max = 0,
};
