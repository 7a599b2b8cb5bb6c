/* SPDX-License-Identifier: MIT */
/*
 * events: what happened to processes while they were recorded.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/args/store_args.h"
#include "render/record/record_json.h"
#include "render/record/record_table.h"
#include "render/table/table.h"

#define EVENTS_IN_TEXT 100
#define DEFAULT_AGE_NS (3600 * NS_PER_SECOND)
#define EVENTS_BEFORE_FOLLOWING 10
#define FOLLOW_US 500000

static struct {
	struct store_args store;
	struct view_args view;
	const char *kinds;
	struct option_number pid;
	bool follow;
} args;

static const char kind_words[] =
#define LIFE_KIND(id, name, help) name "|"
#include "model/record/life_kinds.def"
	;

static const struct option options[] = {
	STORE_OPTION(args.store),
	SINCE_OPTION(args.store, "those of the last TIME of the recording (default: 1h)"),
	{ 0, "kind", OPTION_NAMES, &args.kinds, "LIST", "only these kinds, e.g. exit,oom",
	  kind_words },
	{ 'p', "pid", OPTION_NUMBER, &args.pid, "PID", "only of this process", NULL },
	{ 'f', "follow", OPTION_FLAG, &args.follow, NULL, "go on with events as they happen",
	  NULL },
	LIMIT_OPTION(args.view, "show the last N events, 0 for all (default: 100)"),
	FORMAT_OPTION(args.view, "text|json|csv"),
	{ 0 },
};

static int add_kind(const char *name, size_t length, uint32_t *kinds, struct error *error)
{
	struct suggestion suggestion = suggest_for(name, length);

	for (int i = 0; i < LIFE_KIND_COUNT; i++) {
		if (strlen(life_kind_names[i]) == length &&
		    strncmp(life_kind_names[i], name, length) == 0) {
			*kinds |= 1u << i;
			return 0;
		}
		suggest(&suggestion, life_kind_names[i]);
	}
	return error_set(error, -EINVAL, "there is no kind of event '%.*s'; %s", (int)length, name,
			 suggestion_hint(&suggestion, "", "`taskscope events --help` lists them"));
}

static int read_kinds(const char *list, uint32_t *kinds, struct error *error)
{
	int status = 0;

	while (list && *list && status == 0) {
		size_t length = strcspn(list, ",");

		status = add_kind(list, length, kinds, error);
		list += length + (list[length] == ',');
	}
	return status;
}

/* The store gives the newest first; people read the oldest first. */
struct kept_events {
	ARRAY_OF(struct life_event) events;
	struct text texts; /* of command lines and details, one after the other */
};

static void kept_events_free(struct kept_events *kept)
{
	array_free(&kept->events);
	text_free(&kept->texts);
}

/* Texts are offsets (plus one) until all are there, because the buffer moves. */
static const char *keep_text(struct kept_events *kept, const char *text)
{
	size_t offset = kept->texts.length;

	if (!text)
		return NULL;
	text_append(&kept->texts, text, strlen(text) + 1);
	return (const char *)(offset + 1);
}

static int keep_event(void *context, const struct life_event *event)
{
	struct kept_events *kept = context;
	struct life_event copy = *event;

	copy.cmd = keep_text(kept, event->cmd);
	copy.details = keep_text(kept, event->details);
	return array_append(&kept->events, copy) < 0 || kept->texts.failed ? -ENOMEM : 0;
}

static const char *kept_text(const struct kept_events *kept, const char *text)
{
	return text ? kept->texts.data + (size_t)text - 1 : NULL;
}

static int show_event(void *context, const struct life_event *event)
{
	struct row_output *output = context;

	if (output->format == FORMAT_JSON)
		life_event_json(output->json, event, true);
	else
		put_event(output->table, event);
	return output->table->failed ? -ENOMEM : 0;
}

/* Gives the kept events to the sink, oldest first. */
static int send_kept(struct kept_events *kept, life_event_sink *sink, void *context)
{
	int status = 0;

	for (size_t i = kept->events.count; i > 0 && status == 0; i--) {
		struct life_event *event = &kept->events.data[i - 1];

		event->cmd = kept_text(kept, event->cmd);
		event->details = kept_text(kept, event->details);
		status = sink(context, event);
	}
	return status;
}

static int show_past(struct history *history, const struct event_query *query, struct error *error)
{
	CLEANUP(kept_events_free) struct kept_events kept = { 0 };
	CLEANUP(table_clear) struct table table = { 0 };
	struct json json;
	struct row_output output = { view_format(&args.view), &table, &json };
	int status = history_events(history, query, keep_event, &kept, NULL, error);

	if (status < 0)
		return status;
	event_columns(&table);
	row_output_begin(&output, "events");
	status = send_kept(&kept, show_event, &output);
	return status < 0 ? error_set(error, status, "out of memory") :
			    row_output_end(&output, "no events", error);
}

/* Prints each event as a line of its own: JSON, CSV by the table, or text without a header. */
static int print_event(void *context, const struct life_event *event)
{
	CLEANUP(text_free) struct text line = { 0 };
	struct json json = json_line_writer(stdout);
	struct table *table = context;

	if (view_format(&args.view) == FORMAT_JSON) {
		life_event_json(&json, event, true);
		return 0;
	}
	if (view_format(&args.view) == FORMAT_CSV) {
		put_event(table, event);
		return table->failed ? -ENOMEM : 0;
	}
	event_line(&line, event);
	printf("%s\n", text_string(&line));
	return line.failed ? -ENOMEM : 0;
}

/* The last events first, then those that are added; ids of rows begin at 1. */
static int follow(struct history *history, struct event_query *query, struct error *error)
{
	CLEANUP(kept_events_free) struct kept_events kept = { 0 };
	CLEANUP(table_clear) struct table table = { 0 };
	uint64_t last_id = 0;
	int status = history_events(history, query, keep_event, &kept, &last_id, error);

	event_columns(&table);
	if (view_format(&args.view) == FORMAT_CSV)
		table_stream_csv(&table, stdout);
	if (status == 0)
		status = send_kept(&kept, print_event, &table);
	query->limit = 0;
	while (status == 0) {
		if (fflush(stdout) != 0 || ferror(stdout)) {
			if (errno == EPIPE) /* the reader has seen enough */
				clearerr(stdout);
			break;
		}
		usleep(FOLLOW_US);
		query->after_id = last_id;
		status = history_events(history, query, print_event, &table, &last_id, error);
	}
	return status;
}

int verb_events(char **words, int count, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	struct event_query query = {
		.pid = (int32_t)args.pid.value,
		.limit = view_limit(&args.view, EVENTS_IN_TEXT),
	};
	int status = read_kinds(args.kinds, &query.kinds, error);

	(void)words;
	(void)count;
	if (status == 0 && args.pid.given && (args.pid.value == 0 || args.pid.value > INT_MAX))
		status = error_set(error, -EINVAL, "-p takes the number of a process");
	if (status == 0)
		status = store_args_open(&args.store, &history, error);
	if (status == 0)
		query.span = store_args_span(&args.store, history, DEFAULT_AGE_NS);
	if (status < 0)
		return status;
	if (!args.follow)
		return show_past(history, &query, error);
	query.limit = args.view.limit.given ? query.limit : EVENTS_BEFORE_FOLLOWING;
	return follow(history, &query, error);
}

const struct command command_events = {
	.name = "events",
	.arguments = "",
	.summary = "what happened to processes that were recorded",
	.description =
		"Lists events of a recording, oldest first: processes that began (spawn), ran\n"
		"another program (exec), ended (exit: status, CPU time, peak memory), were sent\n"
		"a signal that ends or stops them (signal, kill), were killed for their memory\n"
		"(oom) or changed their name (rename). A row `lost` says how many events were not\n"
		"kept, and why.",
	.examples = "taskscope events --since 10m\tthe last ten minutes\n"
		    "taskscope events --kind oom,kill --since 7d\twho was killed this week\n"
		    "taskscope events -p 1234\tone process\n"
		    "taskscope events --follow\tas they happen",
	.options = options,
	.words_max = 0,
};
