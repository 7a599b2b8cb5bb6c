/* SPDX-License-Identifier: MIT */
#include "tui/moment/store_moves.h"

#include <string.h>

size_t store_find_time(const struct store_source *store, uint64_t unix_ns)
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

/* The first moment at or after one of these times, the next one from here on or back. */
static bool find_mark(const struct store_source *store, const uint64_t *marks, size_t count,
		      bool is_next, size_t *ret)
{
	bool is_found = false;

	for (size_t i = 0; i < count; i++) {
		size_t at = store_find_time(store, marks[i]);

		if (store->times.data[at] < marks[i] && at + 1 < store->times.count)
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

bool store_find_move(const struct store_source *store, const struct move *move, size_t *ret)
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
		*ret = store_find_time(store, shifted(store->times.data[at], move->ns));
		/* A step that is shorter than the next gap leads across it. */
		if (*ret == at && move->ns > 0 && at < last)
			*ret = at + 1;
		return *ret != at;
	case MOVE_TO:
		*ret = store_find_time(store, move->unix_ns);
		return true;
	case MOVE_FIRST:
		*ret = 0;
		return true;
	case MOVE_LAST:
		*ret = last;
		return true;
	case MOVE_TO_NEXT_ANOMALY:
		return find_mark(store, store->opened.data, store->opened.count, true, ret);
	case MOVE_TO_LAST_ANOMALY:
		return find_mark(store, store->opened.data, store->opened.count, false, ret);
	case MOVE_TO_NEXT_EVENT:
		return find_mark(store, store->events.data, store->events.count, true, ret);
	case MOVE_TO_LAST_EVENT:
		return find_mark(store, store->events.data, store->events.count, false, ret);
	case MOVE_TO_NEXT_JOB_EDGE:
		return find_mark(store, store->edges.data, store->edges.count, true, ret);
	case MOVE_TO_LAST_JOB_EDGE:
		return find_mark(store, store->edges.data, store->edges.count, false, ret);
	}
	return false;
}

const char *store_no_moment(const struct move *move)
{
	switch (move->kind) {
	case MOVE_TO_NEXT_ANOMALY:
		return "no anomaly opened after this moment";
	case MOVE_TO_LAST_ANOMALY:
		return "no anomaly opened before this moment";
	case MOVE_TO_NEXT_EVENT:
		return "no process got a signal after this moment";
	case MOVE_TO_LAST_EVENT:
		return "no process got a signal before this moment";
	case MOVE_TO_NEXT_JOB_EDGE:
		return "no job began or ended after this moment";
	case MOVE_TO_LAST_JOB_EDGE:
		return "no job began or ended before this moment";
	case MOVE_BACK:
		return "this is the first moment";
	default:
		return move->ns < 0 ? "this is the first moment" :
				      "the recording has no more moments";
	}
}

static size_t part_of(const struct ruler *ruler, uint64_t unix_ns)
{
	double all = (double)(ruler->to_unix_ns - ruler->from_unix_ns) + 1;
	double share =
		unix_ns > ruler->from_unix_ns ? (double)(unix_ns - ruler->from_unix_ns) / all : 0;

	/* What is far behind the end may be no number of parts. */
	return share < 1 ? (size_t)(share * (double)ruler->count) : ruler->count - 1;
}

static void mark_times(struct ruler *ruler, const uint64_t *times, size_t count,
		       enum ruler_mark mark)
{
	for (size_t i = 0; i < count; i++)
		if (times[i] >= ruler->from_unix_ns && times[i] <= ruler->to_unix_ns)
			ruler->marks[part_of(ruler, times[i])] |= (uint8_t)mark;
}

/* From tick to tick there is no gap, unless more than a few would have been due. */
static void mark_ticks(const struct store_source *store, struct ruler *ruler)
{
	const uint64_t *times = store->times.data;
	uint64_t usual = store->times.count > 1 ? times[1] - times[0] : 0;

	mark_times(ruler, times, store->times.count, RULER_TICK);
	for (size_t i = 2; i < store->times.count; i++)
		if (times[i] - times[i - 1] < usual)
			usual = times[i] - times[i - 1];
	for (size_t i = 1; i < store->times.count; i++)
		if (times[i] - times[i - 1] <= 3 * usual)
			for (size_t part = part_of(ruler, times[i - 1]);
			     part < part_of(ruler, times[i]); part++)
				ruler->marks[part] |= RULER_TICK;
}

void store_make_ruler(struct moment_source *source, struct ruler *ruler)
{
	const struct store_source *store = (const struct store_source *)source;

	ruler->from_unix_ns = store->times.data[0];
	ruler->to_unix_ns = store->times.data[store->times.count - 1];
	memset(ruler->marks, 0, sizeof(ruler->marks));
	mark_ticks(store, ruler);
	mark_times(ruler, store->events.data, store->events.count, RULER_EVENT);
	mark_times(ruler, store->opened.data, store->opened.count, RULER_ANOMALY);
	mark_times(ruler, store->edges.data, store->edges.count, RULER_JOB_EDGE);
	for (size_t i = 0; i < store->jobs.count; i++) {
		const struct history_span *job = &store->jobs.data[i];
		size_t last = part_of(ruler, job->to_unix_ns);

		if (job->from_unix_ns > ruler->to_unix_ns || job->to_unix_ns < ruler->from_unix_ns)
			continue;
		for (size_t part = part_of(ruler, job->from_unix_ns); part <= last; part++)
			ruler->marks[part] |= RULER_JOB;
	}
	ruler->at = part_of(ruler, store->times.data[store->at]);
}
