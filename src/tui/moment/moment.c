/* SPDX-License-Identifier: MIT */
#include "tui/moment/moment.h"

#include <errno.h>
#include <string.h>

#include "analyze/anomaly/host_figures.h"
#include "analyze/compare/interval_snapshot.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history.h"

void moment_clear(struct moment *moment)
{
	snapshot_free(moment->tasks);
	array_free(&moment->anomalies);
	array_free(&moment->events);
	array_free(&moment->waits);
	array_free(&moment->jobs);
	array_free(&moment->steps);
	array_free(&moment->members);
	arena_clear(&moment->arena);
	*moment = (struct moment){ 0 };
}

int moment_make(struct moment *moment, const struct snapshot *before, const struct snapshot *now)
{
	struct error refused = { 0 };
	int status = snapshot_copy_tasks(now, &moment->tasks);

	if (status < 0)
		return status;
	moment->read = now;
	host_figures(before, now, &moment->sample);
	moment->before_unix_ns = before ? before->facts[FACT_captured_at_unix_ns].number : 0;
	if (before)
		status = interval_snapshot_make(before, moment->tasks, "now", &refused);
	return status == -ENOMEM ? status : 0;
}

int moment_await_rates(struct moment *moment, const char *reason)
{
	struct snapshot *tasks = moment->tasks;
	int status = 0;

	for (int id = 0; id < METRIC_STORED && status == 0; id++) {
		struct column *column = &tasks->columns[id];
		size_t rows = snapshot_rows(tasks, (enum metric_id)id);

		if (metrics[id].kind != KIND_COUNTER || !column->values)
			continue;
		if (rows)
			memset(column->states, CELL_ABSENT, rows);
		status = snapshot_set_absent(tasks, (enum metric_id)id, reason);
	}
	return status;
}

static int add_anomaly(void *context, enum anomaly_change change, const struct anomaly *anomaly)
{
	struct moment *moment = context;

	(void)change;
	return array_append(&moment->anomalies, *anomaly);
}

static int add_event(void *context, const struct life_event *event)
{
	struct moment *moment = context;
	struct life_event kept = *event;

	if (event->cmd)
		kept.cmd = arena_copy(&moment->arena, event->cmd, strlen(event->cmd));
	if (event->details)
		kept.details = arena_copy(&moment->arena, event->details, strlen(event->details));
	return array_append(&moment->events, kept);
}

void moment_add_past(struct moment *moment, struct history *history, uint64_t from_unix_ns,
		     uint64_t to_unix_ns, size_t most)
{
	const struct history_span span = { from_unix_ns, to_unix_ns };
	const struct anomaly_query open = { .span = { to_unix_ns, to_unix_ns }, .limit = most };
	const struct event_query events = { .span = span, .limit = most };
	struct error ignored = { 0 };

	moment->has_recorder = true;
	(void)history_anomalies(history, &open, add_anomaly, moment, &ignored);
	(void)history_events(history, &events, add_event, moment, NULL, &ignored);
}
