#include "render/capture_note.h"

#include <inttypes.h>

#include "base/text.h"
#include "metric/unit.h"
#include "model/snapshot.h"

static void add_loss(struct text *out, uint64_t count, const char *what)
{
	if (count)
		text_format(out, "%s%" PRIu64 " %s", out->length ? "; " : "", count, what);
}

void capture_losses(const struct snapshot *snapshot, struct text *out)
{
	const struct capture_tally *tally = &snapshot->tally;

	add_loss(out, tally->vanished, "tasks ended while being read");
	add_loss(out, tally->gap_filled, "tasks not listed by the iterator, read from procfs");
	add_loss(out, tally->discarded_values, "impossible values discarded");
	add_loss(out, tally->negative_dotted_values, "negative times discarded");
	for (size_t i = 0; i < snapshot->source_count; i++) {
		const struct source_report *source = &snapshot->sources[i];

		if (source->failed)
			text_format(out, "%s%s: %" PRIu64 " of %" PRIu64 " reads failed",
				    out->length ? "; " : "", source->name, source->failed,
				    source->read + source->failed);
	}
}

static size_t absent_metrics(const struct snapshot *snapshot)
{
	size_t count = 0;

	for (int id = 0; id < METRIC_STORED; id++)
		count += snapshot->absent[id] && snapshot_measured(snapshot, id) == 0;
	return count;
}

void capture_note(const struct snapshot *snapshot, struct text *out)
{
	const struct fact *source = &snapshot->facts[FACT_task_source];
	const struct fact *duration = &snapshot->facts[FACT_duration_ns];
	struct text losses = { 0 };

	text_format(out, "%zu threads of %zu processes", snapshot->task_count,
		    snapshot->process_count);
	if (source->present)
		text_format(out, " by %s", source->text);
	if (duration->present) {
		text_append_string(out, " in ");
		unit_format(out, UNIT_NS, duration->number);
	}
	if (absent_metrics(snapshot))
		text_format(out, "; %zu of %d metrics absent", absent_metrics(snapshot),
			    METRIC_STORED);
	capture_losses(snapshot, &losses);
	if (losses.length)
		text_format(out, "; %s", text_string(&losses));
	text_free(&losses);
}
