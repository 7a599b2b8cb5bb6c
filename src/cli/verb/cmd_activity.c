/* SPDX-License-Identifier: MIT */
/*
 * activity: what the threads of a recording were doing.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/args/store_args.h"
#include "cli/parts/activity_print.h"
#include "store/history/history_activity.h"
#include "store/history/instant.h"

#define DEFAULT_KEYS "pcomm,wait"
#define DEFAULT_AGE_NS (600 * NS_PER_SECOND)
#define GROUPS_IN_TEXT 20
/* A walk that is further from the time that was asked for says nothing about it. */
#define NEAR_NS (5 * NS_PER_SECOND)

static struct {
	struct store_args store;
	struct view_args view;
	const char *keys, *until, *at;
	struct option_number pid;
} args;

static const char key_words[] =
#define ACTIVITY_KEY(id, ...) #id "|"
#include "model/record/activity_keys.def"
	;

static const struct option options[] = {
	STORE_OPTION(args.store),
	SINCE_OPTION(args.store, "the last TIME of the recording (default: 10m)"),
	{ 0, "until", OPTION_TEXT, &args.until, "TIME", "up to this time instead, e.g. 10:05",
	  NULL },
	{ 0, "at", OPTION_TEXT, &args.at, "TIME", "only this second, e.g. 10:04:31", NULL },
	{ 'p', "pid", OPTION_NUMBER, &args.pid, "PID", "only of this process", NULL },
	{ 'g', "group-by", OPTION_NAMES, &args.keys, "KEYS",
	  "sum by these (default: " DEFAULT_KEYS ")", key_words },
	LIMIT_OPTION(args.view, "show N groups, 0 for all (default: 20)"),
	FORMAT_OPTION(args.view, "text|json|csv"),
	{ 0 },
};

static int add_key(struct activity_query *query, const char *name, size_t length,
		   struct error *error)
{
	struct suggestion suggestion = suggest_for(name, length);

	for (int i = 0; i < ACTIVITY_KEY_COUNT; i++) {
		if (strlen(activity_keys[i].name) != length ||
		    strncmp(activity_keys[i].name, name, length) != 0) {
			suggest(&suggestion, activity_keys[i].name);
			continue;
		}
		for (size_t j = 0; j < query->key_count; j++)
			if ((int)query->keys[j] == i)
				return error_set(error, -EINVAL, "-g has %s twice",
						 activity_keys[i].name);
		query->keys[query->key_count++] = (enum activity_key)i;
		return 0;
	}
	return error_set(
		error, -EINVAL, "activity cannot be summed by '%.*s'; %s", (int)length, name,
		suggestion_hint(&suggestion, "", "`taskscope activity --help` lists the keys"));
}

static int read_keys(struct activity_query *query, const char *list, struct error *error)
{
	int status;

	do {
		size_t length = strcspn(list, ",");

		status = add_key(query, list, length, error);
		list += length;
	} while (status == 0 && *list++);
	return status;
}

static int check(struct activity_query *query, struct error *error)
{
	if (args.pid.given && (args.pid.value == 0 || args.pid.value > INT_MAX))
		return error_set(error, -EINVAL, "-p takes the number of a process");
	if (args.at && (args.until || args.store.since.given))
		return error_set(error, -EINVAL,
				 "--at is one second: leave out --since and --until");
	query->pid = (int32_t)args.pid.value;
	query->limit = view_limit(&args.view, GROUPS_IN_TEXT);
	return read_keys(query, args.keys ? args.keys : DEFAULT_KEYS, error);
}

/* All of the recording; its last second may come after its last tick. */
static bool find_extent(struct history *history, struct history_span *ret)
{
	uint64_t newest = history_activity_at(history, UINT64_MAX);

	if (!history_extent(history, ret))
		return false;
	if (newest > ret->to_unix_ns)
		ret->to_unix_ns = newest;
	return true;
}

static int read_instant(struct history *history, const char *text, uint64_t *ret,
			struct error *error)
{
	struct history_span extent = { 0 };
	struct error ignored = { 0 };

	if (!find_extent(history, &extent))
		return error_set(error, -ENODATA, "the recording has no tick yet");
	if (instant_parse(text, &extent, ret, &ignored) == 0)
		return 0;
	return error_set(error, -EINVAL,
			 "'%s' is not a time: write latest, 10:04, 10:04:31, -5m or "
			 "2024-05-01T10:04:31",
			 text);
}

/* The walk of that second; if there is none, the ticks before it say why. */
static int find_second(struct history *history, struct history_span *ret, struct error *error)
{
	uint64_t at = 0, walk;
	int status = read_instant(history, args.at, &at, error);

	if (status < 0)
		return status;
	walk = history_activity_at(history, at / NS_PER_SECOND * NS_PER_SECOND + NS_PER_SECOND - 1);
	*ret = (struct history_span){ walk, walk };
	if (!walk || at > walk + NEAR_NS)
		*ret = (struct history_span){ at > NEAR_NS ? at - NEAR_NS : 0, at };
	return 0;
}

static int find_span(struct history *history, struct history_span *ret, struct error *error)
{
	uint64_t age = args.store.since.given ? args.store.since.value : DEFAULT_AGE_NS;
	uint64_t end = UINT64_MAX;
	int status = args.until ? read_instant(history, args.until, &end, error) : 0;

	if (status == 0 && !args.until) {
		*ret = store_args_span(&args.store, history, DEFAULT_AGE_NS);
		return 0;
	}
	*ret = (struct history_span){ end > age ? end - age : 0, end };
	return status;
}

int verb_activity(char **words, int count, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	CLEANUP(free_pointer) char *lacks = NULL;
	CLEANUP(free_pointer) char *no_stacks = NULL;
	struct activity_query query = { 0 };
	struct activity_view view = { .query = &query, .format = view_format(&args.view) };
	int status = check(&query, error);

	(void)words;
	(void)count;
	if (status == 0)
		status = store_args_open(&args.store, &history, error);
	if (status == 0)
		status = (args.at ? find_second : find_span)(history, &query.span, error);
	if (status == 0)
		status = history_activity_totals(history, &query, &view.totals, error);
	if (status < 0)
		return status;
	/* What a recorder adds from now on is not in the totals. */
	if (view.totals.walks)
		query.span = view.totals.span;
	view.lacks = lacks = history_meta(history, "activity");
	view.no_stacks = no_stacks = history_meta(history, "activity_stacks");
	return activity_print(history, &view, error);
}

const struct command command_activity = {
	.name = "activity",
	.arguments = "",
	.summary = "what the threads of a recording were doing, second by second",
	.description =
		"Sums what active threads did while they were recorded. Each second the recorder\n"
		"notes every thread that runs, wants a CPU (runnable), waits uninterruptibly, or\n"
		"sleeps in a system call that it entered since the second before; threads that\n"
		"sleep for longer are idle and not in it. A sample is one thread in one second:\n"
		"100 samples in 10 seconds are 10 threads at once on average. Kernel stacks are\n"
		"known of all but threads that were on a CPU.",
	.examples =
		"taskscope activity\twhat the host was doing in the last ten minutes of it\n"
		"taskscope activity --at 10:04:31 -g pcomm,syscall,stack\tthat second, and where\n"
		"taskscope activity --since 1h -g wait,stack -n 10\tin which functions\n"
		"taskscope activity -p 1234 -g comm,wait\tthe threads of a process",
	.options = options,
	.words_max = 0,
};
