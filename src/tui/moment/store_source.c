/* SPDX-License-Identifier: MIT */
/* Moments of a recording: its ticks, or minutes where these are gone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/order.h"
#include "base/error.h"
#include "model/record/activity.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history.h"
#include "store/history/history_activity.h"
#include "store/history/job/history_jobs.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_jobs.h"
#include "tui/moment/moment_source.h"
#include "tui/moment/store_moves.h"

#define EVENTS_MOST 100
#define EVENTS_AGE_NS (300 * NS_PER_SECOND)
/* A look at threads that was longer ago says nothing of the moment. */
#define WAITS_AGE_NS (2 * NS_PER_SECOND)

static int add_time(void *context, const struct host_sample *sample)
{
	struct store_source *store = context;
	size_t count = store->times.count;

	if (count && store->times.data[count - 1] <= sample->unix_ns)
		return 0; /* the clock was set back: its times were there already */
	return array_append(&store->times, sample->unix_ns);
}

static int add_opened(void *context, enum anomaly_change change, const struct anomaly *anomaly)
{
	struct store_source *store = context;

	(void)change;
	return array_append(&store->opened, anomaly->begin_unix_ns);
}

/* Those that a person would look for; that processes begin and end happens all the time. */
#define NOTABLE_EVENTS (1u << LIFE_SIGNAL | 1u << LIFE_KILL | 1u << LIFE_OOM | 1u << LIFE_LOST)
#define NOTABLE_MOST 100000

static int add_notable(void *context, const struct life_event *event)
{
	struct store_source *store = context;

	return array_append(&store->events, event->unix_ns);
}

static int add_edges(void *context, const struct job *job)
{
	struct store_source *store = context;
	struct history_span span = { job->begin_unix_ns, job->end_unix_ns };
	int status = array_append(&store->edges, job->begin_unix_ns);

	if (status == 0 && job->end_unix_ns)
		status = array_append(&store->edges, job->end_unix_ns);
	if (!job->end_unix_ns)
		span.to_unix_ns = job->outcome == JOB_RUNNING ? UINT64_MAX : job->begin_unix_ns;
	return status < 0 ? status : array_append(&store->jobs, span);
}

/*
 * The sample that was recorded has more than the snapshot tells: what the recorder knew of itself.  The
 * first one of a recorder has no shares of the CPUs; since the moment before, which the rows are about, they
 * are known.
 */
static int take_sample(void *context, const struct host_sample *sample)
{
	struct moment *moment = context;
	const struct host_sample made = moment->sample;

	moment->sample = *sample;
	for (int value = HOST_VALUE_cpu_busy_percent; value <= HOST_VALUE_cpu_steal_percent;
	     value++)
		if (host_sample_has(&made, (enum host_value)value) &&
		    !host_sample_has(sample, (enum host_value)value))
			host_sample_set(&moment->sample, (enum host_value)value,
					made.values[value]);
	/* The text is the store's, and goes with the row. */
	if (sample->jobs)
		moment->sample.jobs =
			arena_copy(&moment->arena, sample->jobs, strlen(sample->jobs));
	return 1;
}

static int add_wait(void *context, const struct activity_group *group)
{
	struct moment *moment = context;
	struct thread_wait wait = { 0 };

	if (!group->values[0] || !group->values[1])
		return 0;
	wait.tid = (int32_t)strtol(group->values[0], NULL, 10);
	/* The state says as much of those that run. */
	if (strcmp(group->values[1], ACTIVITY_RUNNING) != 0)
		snprintf(wait.what, sizeof(wait.what), "%s", group->values[1]);
	return array_append(&moment->waits, wait);
}

/* What the recorder's last look at active threads before the tick found; others are not known. */
static void add_waits(struct store_source *store, uint64_t time, struct moment *ret)
{
	uint64_t walk = history_activity_at(store->history, time);
	const struct activity_query query = {
		.span = { walk, walk },
		.keys = { ACTIVITY_BY_tid, ACTIVITY_BY_wait },
		.key_count = 2,
	};
	struct error ignored = { 0 };

	if (walk && walk + WAITS_AGE_NS >= time)
		(void)history_activity(store->history, &query, add_wait, ret, &ignored);
}

static int read_moment(struct store_source *store, size_t at, struct moment *ret,
		       struct error *error)
{
	uint64_t time = store->times.data[at];
	const struct history_span then = { time, time };
	bool goes_on = store->was_taken && at == store->at + 1;
	CLEANUP(snapshot_free_pointer) struct snapshot *before = NULL, *now = NULL;
	struct error ignored = { 0 };
	int status;

	if (!goes_on && time)
		(void)history_snapshot(store->history, time - 1, &before, &ignored);
	/* What is left of a minute says nothing of its last instant. */
	if (before && before->facts[FACT_resolution].present)
		snapshot_free(TAKE_PTR(before));
	status = history_snapshot(store->history, time, &now, error);
	if (status == 0)
		status = moment_make(ret, goes_on ? store->now : before, now);
	if (status < 0)
		return status;
	snapshot_free(store->now);
	store->now = TAKE_PTR(now);
	(void)history_samples(store->history, &then, 1, take_sample, ret, &ignored);
	moment_add_past(ret, store->history, time - EVENTS_AGE_NS, time, EVENTS_MOST);
	moment_add_jobs(ret, store->history, store->source.job, time);
	add_waits(store, time, ret);
	store->at = at;
	store->was_taken = true;
	return 0;
}

static void sort_times(uint64_t *times, size_t count)
{
	if (count)
		qsort(times, count, sizeof(uint64_t), compare_u64);
}

static void reverse_times(uint64_t *times, size_t count)
{
	for (size_t i = 0, j = count; i + 1 < j; i++) {
		uint64_t time = times[i];

		times[i] = times[--j];
		times[j] = time;
	}
}

/* When something happened, from the first moment on. */
static int read_marks(struct store_source *store, struct error *error)
{
	const struct history_span span = { store->from_unix_ns, UINT64_MAX };
	const struct anomaly_query anomalies = { .span = span };
	const struct event_query events = { .span = span,
					    .kinds = NOTABLE_EVENTS,
					    .limit = NOTABLE_MOST };
	const struct job_query jobs = { .span = span, .limit = NOTABLE_MOST };
	int status;

	store->opened.count = store->events.count = store->edges.count = store->jobs.count = 0;
	status = history_anomalies(store->history, &anomalies, add_opened, store, error);
	if (status == 0)
		status = history_events(store->history, &events, add_notable, store, NULL, error);
	if (status == 0)
		status = history_jobs(store->history, &jobs, add_edges, store, error);
	sort_times(store->opened.data, store->opened.count);
	sort_times(store->events.data, store->events.count);
	sort_times(store->edges.data, store->edges.count);
	return status;
}

static int add_later(void *context, const struct host_sample *sample)
{
	struct store_source *store = context;

	return array_append(&store->later, sample->unix_ns);
}

/* A recorder may still write it: whether there are moments that were not known. */
static bool read_later(struct store_source *store)
{
	uint64_t last = store->times.data[store->times.count - 1];
	const struct history_span span = { last + 1, UINT64_MAX };
	struct error ignored = { 0 };
	size_t count = store->times.count;

	store->later.count = 0;
	(void)history_samples(store->history, &span, 0, add_later, store, &ignored);
	/* The newest is the first, and the clock may have been set back meanwhile. */
	for (size_t i = store->later.count; i-- > 0;)
		if (store->later.data[i] > store->times.data[store->times.count - 1] &&
		    array_append(&store->times, store->later.data[i]) < 0)
			break;
	if (store->times.count > count)
		(void)read_marks(store, &ignored);
	return store->times.count > count;
}

static int take_store(struct moment_source *source, const struct move *move, struct moment *ret,
		      struct error *error)
{
	struct store_source *store = (struct store_source *)source;
	uint64_t asked = move->kind == MOVE_TO ? move->unix_ns : 0;
	size_t at = 0;
	int status;

	if (!store->was_taken) {
		asked = store->start_unix_ns;
		at = asked ? store_find_time(store, asked) : 0;
	} else if (!store_find_move(store, move, &at) &&
		   (!read_later(store) || !store_find_move(store, move, &at))) {
		return error_set(error, -ENODATA, "%s", store_no_moment(move));
	}
	/* Where the last known one is meant, there may be later ones by now. */
	if (store->was_taken && at + 1 == store->times.count && read_later(store))
		(void)store_find_move(store, move, &at);
	status = read_moment(store, at, ret, error);
	if (status == 0 && asked && asked != UINT64_MAX && asked != store->times.data[at])
		ret->asked_unix_ns = asked;
	return status;
}

static struct history *store_jobs(struct moment_source *source, struct error *error)
{
	(void)error;
	return ((struct store_source *)source)->history;
}

static void close_store(struct moment_source *source)
{
	struct store_source *store = (struct store_source *)source;

	snapshot_free(store->now);
	history_close(store->history);
	array_free(&store->times);
	array_free(&store->later);
	array_free(&store->opened);
	array_free(&store->events);
	array_free(&store->edges);
	array_free(&store->jobs);
	free(store);
}

static const struct moment_source_kind store_kind = {
	.can_move = true,
	.take = take_store,
	.ruler = store_make_ruler,
	.jobs = store_jobs,
	.close = close_store,
};

static int read_times(struct store_source *store, uint64_t age_ns, struct error *error)
{
	uint64_t end_ns = history_end(store->history);
	const struct history_span span = {
		.from_unix_ns = age_ns && age_ns < end_ns ? end_ns - age_ns : 0,
		.to_unix_ns = UINT64_MAX,
	};
	int status = history_samples(store->history, &span, 0, add_time, store, error);

	store->from_unix_ns = span.from_unix_ns;
	if (status == 0 && !store->times.count)
		return error_set(error, -ENODATA, "the recording has no ticks of that time");
	reverse_times(store->times.data, store->times.count);
	return status < 0 ? status : read_marks(store, error);
}

int store_source_open(struct history *history, uint64_t age_ns, uint64_t at_unix_ns,
		      struct moment_source **ret, struct error *error)
{
	struct store_source *store = calloc(1, sizeof(*store));
	int status;

	if (!store) {
		history_close(history);
		return error_set(error, -ENOMEM, "out of memory");
	}
	store->source.kind = &store_kind;
	store->history = history;
	store->start_unix_ns = at_unix_ns;
	status = read_times(store, age_ns, error);
	if (status < 0)
		close_store(&store->source);
	else
		*ret = &store->source;
	return status;
}
