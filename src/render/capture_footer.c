#include "render/capture_footer.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analyze/losses.h"
#include "analyze/selection.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/snapshot.h"
#include "render/capture_note.h"

static void append_fact(struct text *out, const struct snapshot *snapshot, enum fact_id id,
			const char *before)
{
	const struct fact *fact = &snapshot->facts[id];

	if (!fact->present || !fact->text)
		return;
	text_append_string(out, before);
	text_append_escaped(out, fact->text, strlen(fact->text));
}

static void append_time(struct text *out, const struct fact *captured)
{
	time_t seconds = (time_t)(captured->number / 1000000000);
	struct tm parts;
	char words[64];

	if (captured->present && gmtime_r(&seconds, &parts) &&
	    strftime(words, sizeof(words), ", %Y-%m-%d %H:%M:%S UTC", &parts))
		text_append_string(out, words);
}

/* What was captured, where and when; the losses are at the end of the note. */
static void append_capture(struct text *out, const struct snapshot *snapshot)
{
	CLEANUP(text_free) struct text note = { 0 };

	capture_note(snapshot, &note);
	append_fact(out, snapshot, FACT_kernel_name, "");
	append_fact(out, snapshot, FACT_kernel_release, " ");
	append_fact(out, snapshot, FACT_arch, " ");
	append_fact(out, snapshot, FACT_online_cpus, ", cpus ");
	append_time(out, &snapshot->facts[FACT_captured_at_unix_ns]);
	append_fact(out, snapshot, FACT_filter, ", only ");
	text_append_string(out, snapshot->facts[FACT_kernel_name].present ? ": " : "");
	text_append_escaped(out, text_string(&note), note.length);
	text_append_string(out, "\n");
}

static void append_sources(struct text *out, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->source_count; i++) {
		const struct source_report *source = &snapshot->sources[i];

		if (source->state != SOURCE_PARTIAL && source->state != SOURCE_UNAVAILABLE)
			continue;
		text_append_string(out, "source ");
		text_append_escaped(out, source->name, strlen(source->name));
		text_format(out, " %s", source_state_name(source->state));
		if (source->reason) {
			text_append_string(out, ": ");
			text_append_escaped(out, source->reason, strlen(source->reason));
		}
		text_append_string(out, "\n");
	}
}

static void append_failures(struct text *out, const struct snapshot *snapshot)
{
	struct losses losses = losses_of(snapshot);

	if (!losses.dominant)
		return;
	text_format(out, "%" PRIu64 " reads failed, most often of ", losses.read_failures);
	text_append_escaped(out, losses.dominant->name, strlen(losses.dominant->name));
	text_format(out, " (%" PRIu64 ")\n", losses.dominant->failed);
	if (losses.kernel_config)
		text_append_string(out,
				   "most failures are of schedstat and io: the kernel may lack "
				   "CONFIG_SCHED_INFO or CONFIG_TASK_IO_ACCOUNTING\n");
}

/* A reason, and the shown metrics that lack values because of it. */
static void append_absence(struct text *out, const struct snapshot *snapshot,
			   const struct selection *shown, size_t first, const char *reason)
{
	const char *before = "not measured: ";
	enum metric_id cause;

	for (size_t i = first; i < shown->count; i++) {
		const char *other = absence_reason(snapshot, shown->ids[i], &cause);

		if (!other || strcmp(other, reason) != 0)
			continue;
		text_format(out, "%s%s", before, metrics[shown->ids[i]].name);
		before = ", ";
	}
	text_append_string(out, ": ");
	text_append_escaped(out, reason, strlen(reason));
	text_append_string(out, "\n");
}

static bool was_told(const struct snapshot *snapshot, const struct selection *shown, size_t index,
		     const char *reason)
{
	enum metric_id cause;

	for (size_t i = 0; i < index; i++) {
		const char *other = absence_reason(snapshot, shown->ids[i], &cause);

		if (other && strcmp(other, reason) == 0)
			return true;
	}
	return false;
}

void capture_footer(const struct snapshot *snapshot, const struct selection *shown,
		    struct text *out)
{
	enum metric_id cause;

	append_capture(out, snapshot);
	append_failures(out, snapshot);
	append_sources(out, snapshot);
	for (size_t i = 0; i < shown->count; i++) {
		const char *reason = absence_reason(snapshot, shown->ids[i], &cause);

		if (reason && !was_told(snapshot, shown, i, reason))
			append_absence(out, snapshot, shown, i, reason);
	}
}
