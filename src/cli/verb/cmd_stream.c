/* SPDX-License-Identifier: MIT */
/*
 * stream: what a recorder sees, as it happens.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parts/latest_document.h"
#include "cli/args/store_args.h"
#include "metric/unit.h"
#include "record/socket/client.h"
#include "record/record_paths.h"
#include "render/page.h"
#include "render/record/record_table.h"
#include "render/table/table.h"
#include "store/json_parse.h"

static struct {
	struct store_args store;
	struct view_args view;
	const char *socket;
} args;

static const struct option options[] = {
	STORE_OPTION(args.store),
	{ 0, "socket", OPTION_TEXT, &args.socket, "FILE", "the recorder's socket", NULL },
	LIMIT_OPTION(args.view, "end after N lines"),
	FORMAT_OPTION_WITH(args.view, "how to print it (default: json)", "text|json|csv"),
	{ 0 },
};

/* Columns of CSV; the ids are keys of the objects.  What people see of them is in print_text(). */
static const struct table_column columns[] = {
	{ .id = "ts_ns", .unit = UNIT_NS },
	{ .id = "kind" },
	{ .id = "pid", .unit = UNIT_ID },
	{ .id = "start_time_ns", .unit = UNIT_NS },
	{ .id = "comm" },
	{ .id = "exit_code", .unit = UNIT_ID },
	{ .id = "signal", .unit = UNIT_ID },
	{ .id = "sender_pid", .unit = UNIT_ID },
	{ .id = "lost", .unit = UNIT_COUNT },
	{ .id = "rule" },
	{ .id = "state" },
	{ .id = "severity" },
	{ .id = "value", .unit = UNIT_LEVEL },
	{ .id = "scope" },
	{ .id = "scope_cpu_percent", .unit = UNIT_LEVEL },
	{ .id = "scope_rss_bytes", .unit = UNIT_BYTES },
	{ .id = "scope_pressure_level" },
	{ .id = "cpu_busy_percent", .unit = UNIT_LEVEL },
	{ .id = "memory_available_bytes", .unit = UNIT_BYTES },
	{ .id = "pressure_level" },
	{ .id = "cmd" },
	{ .id = "details" },
};

/* Anomalies have the time of what happened: their end, or their beginning. */
static const json_t *time_of(const json_t *object)
{
	static const char *const keys[] = { "ts_ns", "end_ns", "begin_ns" };
	const json_t *value = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !value; i++)
		value = json_object_get(object, keys[i]);
	return value;
}

static void put_object(struct table *table, const json_t *object)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		const json_t *value = i ? json_object_get(object, columns[i].id) : time_of(object);

		if (json_is_real(value))
			put_real(table, json_real_value(value));
		else if (json_is_integer(value))
			put_number(table, (uint64_t)json_integer_value(value));
		else
			put_string(table, json_string_value(value));
	}
}

/* The time, the kind, then the other columns that the object has: "pid 12 comm sh exit_code 1". */
static int print_text(const json_t *object)
{
	CLEANUP(text_free) struct text line = { 0 };
	struct page page;

	record_append_time(&line, (uint64_t)json_integer_value(time_of(object)));
	for (size_t i = 1; i < ARRAY_SIZE(columns); i++) {
		const json_t *value = json_object_get(object, columns[i].id);
		const char *words = json_string_value(value);

		if (!value || (words && !*words) || strcmp(columns[i].id, "start_time_ns") == 0)
			continue;
		text_format(&line, "  %s%s", i > 1 ? columns[i].id : "", i > 1 ? " " : "");
		if (words)
			text_append_escaped(&line, words, strlen(words));
		else if (json_is_integer(value) && columns[i].unit != UNIT_BYTES)
			text_format(&line, "%lld", (long long)json_integer_value(value));
		else
			unit_format_real(&line, columns[i].unit, json_number_value(value));
	}
	page_open(&page, stdout);
	fprintf(page.out, "%s\n", text_string(&line));
	return page_close(&page);
}

static enum view_format format(void)
{
	return args.view.format ? view_format(&args.view) : FORMAT_JSON;
}

static void begin_table(struct table *table)
{
	table_add_columns(table, columns, ARRAY_SIZE(columns));
	if (format() == FORMAT_CSV)
		table_stream_csv(table, stdout);
}

/*
 * What the recorder sends is shown as it is, or as people and spreadsheets like it; of a whole tick
 * these get the line of the host.
 */
static int print_line(struct table *table, const char *line, size_t length, struct error *error)
{
	json_t *root = NULL;
	const json_t *object;
	json_error_t why;
	int status = 0;

	if (format() == FORMAT_JSON)
		printf("%.*s\n", (int)length, line);
	else
		status = json_parse(line, length, 0, &root, &why);
	if (status < 0)
		return error_set(error, status, "the recorder sent nonsense: %s", why.text);
	object = json_object_get(root, "host");
	if (!object)
		object = root;
	if (format() == FORMAT_CSV)
		put_object(table, object);
	else if (format() == FORMAT_TEXT)
		status = print_text(object);
	json_decref(root);
	return status < 0 ? status : fflush(stdout) == 0 ? 0 : -errno;
}

static int print_lines(struct client *client, struct error *error)
{
	CLEANUP(table_clear) struct table table = { 0 };
	const char *line = NULL;
	size_t length = 0;
	unsigned long long printed = 0;
	int status = client_answer(client, &line, &length, error);

	begin_table(&table);
	while (status == 0 && (!args.view.limit.value || printed++ < args.view.limit.value)) {
		status = client_next(client, &line, &length, error);
		if (status == 0)
			status = print_line(&table, line, length, error);
	}
	if (status == -EPIPE && ferror(stdout)) { /* the reader has seen enough */
		clearerr(stdout);
		return 0;
	}
	return status == -ENODATA ? error_set(error, status, "the recorder ended") : status;
}

/* How old the newest tick is; the document is ours. */
static void say_age(const char *document)
{
	CLEANUP(text_free) struct text age = { 0 };
	uint64_t now_ns = clock_ns(CLOCK_REALTIME), then_ns = 0;
	json_t *root = NULL;
	json_error_t why;

	if (json_parse(document, strcspn(document, "\n"), 0, &root, &why) == 0)
		then_ns = (uint64_t)json_integer_value(
			json_object_get(json_object_get(root, "host"), "ts_ns"));
	json_decref(root);
	unit_format(&age, UNIT_NS, now_ns > then_ns ? now_ns - then_ns : 0);
	fprintf(stderr,
		"taskscope: no recorder answers: this is the newest tick of the store, %s old\n",
		text_string(&age));
}

static int print_latest(struct error *error)
{
	CLEANUP(table_clear) struct table table = { 0 };
	CLEANUP(free_pointer) char *document = NULL;
	int status = latest_from_store(&args.store, &document, error);

	if (status < 0)
		return status;
	say_age(document);
	begin_table(&table);
	return print_line(&table, document, strcspn(document, "\n"), error);
}

int verb_stream(char **words, int count, struct error *error)
{
	CLEANUP(client_close) struct client client = { .fd = -1 };
	char path[PATH_MAX];
	int status = args.socket ? 0 : record_socket_path(path);

	(void)words;
	(void)count;
	if (args.store.store && !args.socket)
		return print_latest(error);
	if (status == 0)
		status = client_open(&client, args.socket ? args.socket : path, error);
	if ((status == -ENOENT || status == -ECONNREFUSED) && (args.store.store || !args.socket))
		return print_latest(error);
	if (status == -ENOENT || status == -ECONNREFUSED)
		return error_set(error, status, "no recorder listens at '%s'", args.socket);
	if (status == 0)
		status = client_ask(&client, "stream", error);
	return status < 0 ? status : print_lines(&client, error);
}

const struct command command_stream = {
	.name = "stream",
	.arguments = "",
	.summary = "what a recorder sees, as it happens",
	.description =
		"Prints a line of JSON for each sample of the host, event and anomaly that the\n"
		"running recorder sees, until Ctrl-C; `kind` says which it is. --format has lines\n"
		"for people, too. A reader that is too slow is disconnected. Where no recorder\n"
		"runs, or with --store alone, it prints the newest tick of the store, and how old\n"
		"it is.",
	.examples = "taskscope stream | jq 'select(.kind == \"oom\")'\tonly OOM kills",
	.options = options,
	.words_max = 0,
};
