/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc/jemalloc_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/jemalloc/jemalloc_tally.h"

static int report_source(struct capture *capture, const struct jemalloc_tally *tally,
			 const char *reason)
{
	struct source_tally *source = &capture->tallies[SOURCE_JEMALLOC];
	uint64_t failed = tally->failed + tally->tags[JEMALLOC_READLINK_FAILURE];

	source->read = tally->walked - failed;
	source->failed = failed;
	if (tally->walked && !failed)
		return 0;
	source->error = failed ? EPERM : 0;
	source->reason = tally->walked ?
				 arena_copy(&capture->snapshot->arena, reason, strlen(reason)) :
				 "there is no process to look at";
	return source->reason ? 0 : -ENOMEM;
}

/*
 * Most processes use another allocator.  That is not a failure, but the reason why they have no
 * counters.
 */
static void absent_text(const struct jemalloc_tally *tally, const char *reason, struct text *out)
{
	uint64_t others = tally->tags[JEMALLOC_NOT_FOUND];

	if (others && (tally->read || reason[0]) && others < tally->walked)
		text_format(out, "%" PRIu64 " of %" PRIu64 " processes do not use jemalloc%s",
			    others, tally->walked, reason[0] ? "; " : "");
	text_append_string(out, reason);
	if (!out->length)
		text_append_string(out, "the process does not use jemalloc");
}

int jemalloc_report(struct capture *capture, const struct jemalloc_tally *tally)
{
	static const enum metric_id counters[] = { METRIC_allocated_bytes,
						   METRIC_deallocated_bytes };
	CLEANUP(text_free) struct text reason = { 0 };
	CLEANUP(text_free) struct text absent = { 0 };
	struct snapshot *snapshot = capture->snapshot;
	int status;

	jemalloc_tally_reason(tally, &reason);
	absent_text(tally, text_string(&reason), &absent);
	if (reason.failed || absent.failed)
		return -ENOMEM;
	status = report_source(capture, tally, text_string(&reason));
	for (size_t i = 0; i < ARRAY_SIZE(counters) && status == 0; i++)
		if (snapshot_measured(snapshot, counters[i]) < snapshot->task_count)
			status = snapshot_set_absent(snapshot, counters[i], text_string(&absent));
	return status < 0 ? status : jemalloc_tally_note(tally, snapshot);
}
