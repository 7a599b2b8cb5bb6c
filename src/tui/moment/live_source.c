/* SPDX-License-Identifier: MIT */
/* Moments of this host, as they come. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "collect/capture.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_source.h"

/* A recording that has nothing newer is no longer written. */
#define RECORDER_SILENT_NS (60 * NS_PER_SECOND)
#define EVENTS_MOST 100
/* How far back the events of a moment go, so that people see the last ones. */
#define EVENTS_AGE_NS (300 * NS_PER_SECOND)

struct live_source {
	struct moment_source source;
	struct sampling *sampling;
	struct snapshot *before, *now;
	char *store; /* NULL: none */
	struct history *history;
};

/* A recorder may begin, end, or begin another file at any time. */
static void add_recorded(struct live_source *live, struct moment *moment)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	struct error ignored = { 0 };
	uint64_t end_ns;

	if (!live->history &&
	    (!live->store || history_open(live->store, &live->history, &ignored) < 0))
		return;
	end_ns = history_end(live->history);
	if (end_ns + RECORDER_SILENT_NS < now_ns) {
		history_close(live->history);
		live->history = NULL;
		return;
	}
	moment_add_past(moment, live->history, now_ns - EVENTS_AGE_NS, end_ns, EVENTS_MOST);
}

static int take_live(struct moment_source *source, const struct move *move, struct moment *ret,
		     struct error *error)
{
	struct live_source *live = (struct live_source *)source;
	struct snapshot *next;
	int status;

	if (move->kind != MOVE_ON)
		return error_set(error, -ENODATA,
				 "this is live, and has no past: --history shows a recording");
	status = sampling_take(live->sampling, &next, error);
	if (status < 0)
		return status;
	snapshot_free(live->before);
	live->before = live->now;
	live->now = next;
	status = moment_make(ret, live->before, live->now);
	if (status == 0)
		add_recorded(live, ret);
	return status;
}

static void close_live(struct moment_source *source)
{
	struct live_source *live = (struct live_source *)source;

	snapshot_free(live->before);
	snapshot_free(live->now);
	history_close(live->history);
	free(live->store);
	free(live);
}

static const struct moment_source_kind live_kind = {
	.is_live = true,
	.take = take_live,
	.close = close_live,
};

int live_source_open(struct sampling *sampling, const char *store, struct moment_source **ret,
		     struct error *error)
{
	struct live_source *live = calloc(1, sizeof(*live));

	if (live && store)
		live->store = strdup(store);
	if (!live || (store && !live->store)) {
		free(live);
		return error_set(error, -ENOMEM, "out of memory");
	}
	live->source.kind = &live_kind;
	live->sampling = sampling;
	*ret = &live->source;
	return 0;
}
