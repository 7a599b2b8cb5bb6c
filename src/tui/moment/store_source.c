/* SPDX-License-Identifier: MIT */
/* Moments of a recording: its ticks, or minutes where these are gone. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_source.h"

#define EVENTS_MOST 100
#define EVENTS_AGE_NS (300 * NS_PER_SECOND)

struct store_source {
	struct moment_source source;
	struct history *history;
	ARRAY_OF(uint64_t) times;  /* of all moments, oldest first; no time is there twice */
	ARRAY_OF(uint64_t) opened; /* when anomalies did, oldest first */
	size_t at;		   /* the moment that was taken last, if any was */
	bool was_taken;
	uint64_t start_unix_ns; /* what is taken first; 0: the first moment */
	struct snapshot *now;
};

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

static int compare_times(const void *first, const void *second)
{
	uint64_t a = *(const uint64_t *)first, b = *(const uint64_t *)second;

	return a < b ? -1 : a > b;
}

/* The newest moment at or before that time; the first one before all. */
static size_t find_time(const struct store_source *store, uint64_t unix_ns)
{
	size_t low = 0, high = store->times.count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (store->times.data[middle] <= unix_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The first moment at or after an anomaly opened, the next one from here on or back. */
static bool find_anomaly(const struct store_source *store, bool is_next, size_t *ret)
{
	bool is_found = false;

	for (size_t i = 0; i < store->opened.count; i++) {
		size_t at = find_time(store, store->opened.data[i]);

		if (store->times.data[at] < store->opened.data[i] && at + 1 < store->times.count)
			at++;
		if (is_next ? at > store->at && !is_found : at < store->at) {
			*ret = at;
			is_found = true;
		}
	}
	return is_found;
}

static uint64_t shifted(uint64_t unix_ns, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (ns < 0)
		return size < unix_ns ? unix_ns - size : 0;
	return size < UINT64_MAX - unix_ns ? unix_ns + size : UINT64_MAX;
}

static bool find_move(const struct store_source *store, const struct move *move, size_t *ret)
{
	size_t at = store->at, last = store->times.count - 1;

	switch (move->kind) {
	case MOVE_ON:
		*ret = at + 1;
		return at < last;
	case MOVE_BACK:
		*ret = at - 1;
		return at > 0;
	case MOVE_BY:
		*ret = find_time(store, shifted(store->times.data[at], move->ns));
		/* A step that is shorter than the next gap leads across it. */
		if (*ret == at && move->ns > 0 && at < last)
			*ret = at + 1;
		return *ret != at;
	case MOVE_TO:
		*ret = find_time(store, move->unix_ns);
		return true;
	case MOVE_FIRST:
		*ret = 0;
		return true;
	case MOVE_LAST:
		*ret = last;
		return true;
	case MOVE_TO_NEXT_ANOMALY:
		return find_anomaly(store, true, ret);
	case MOVE_TO_LAST_ANOMALY:
		return find_anomaly(store, false, ret);
	}
	return false;
}

static const char *no_moment(enum move_kind kind)
{
	switch (kind) {
	case MOVE_TO_NEXT_ANOMALY:
		return "no anomaly opened after this moment";
	case MOVE_TO_LAST_ANOMALY:
		return "no anomaly opened before this moment";
	case MOVE_BACK:
		return "this is the first moment";
	default:
		return "the recording has no more moments";
	}
}

/* The sample that was recorded has more than the snapshot tells: what the recorder knew of itself. */
static int take_sample(void *context, const struct host_sample *sample)
{
	*(struct host_sample *)context = *sample;
	return 1;
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
	(void)history_samples(store->history, &then, 1, take_sample, &ret->sample, &ignored);
	moment_add_past(ret, store->history, time - EVENTS_AGE_NS, time, EVENTS_MOST);
	store->at = at;
	store->was_taken = true;
	return 0;
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
		at = asked ? find_time(store, asked) : 0;
	} else if (!find_move(store, move, &at)) {
		return error_set(error, -ENODATA, "%s", no_moment(move->kind));
	}
	status = read_moment(store, at, ret, error);
	if (status == 0 && asked && asked != UINT64_MAX && asked != store->times.data[at])
		ret->asked_unix_ns = asked;
	return status;
}

static void close_store(struct moment_source *source)
{
	struct store_source *store = (struct store_source *)source;

	snapshot_free(store->now);
	history_close(store->history);
	array_free(&store->times);
	array_free(&store->opened);
	free(store);
}

static const struct moment_source_kind store_kind = {
	.can_move = true,
	.take = take_store,
	.close = close_store,
};

static void reverse_times(struct store_source *store)
{
	uint64_t *times = store->times.data;

	for (size_t i = 0, j = store->times.count; i + 1 < j; i++) {
		uint64_t time = times[i];

		times[i] = times[--j];
		times[j] = time;
	}
}

static int read_times(struct store_source *store, uint64_t age_ns, struct error *error)
{
	uint64_t end_ns = history_end(store->history);
	const struct history_span span = {
		.from_unix_ns = age_ns && age_ns < end_ns ? end_ns - age_ns : 0,
		.to_unix_ns = UINT64_MAX,
	};
	const struct anomaly_query anomalies = { .span = span };
	int status = history_samples(store->history, &span, 0, add_time, store, error);

	if (status == 0)
		status = history_anomalies(store->history, &anomalies, add_opened, store, error);
	if (status < 0)
		return status;
	if (!store->times.count)
		return error_set(error, -ENODATA, "the recording has no ticks of that time");
	reverse_times(store);
	if (store->opened.count)
		qsort(store->opened.data, store->opened.count, sizeof(uint64_t), compare_times);
	return 0;
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
