/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/outcome/estimate.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "metric/unit.h"
#include "render/outcome/outcome_view.h"
#include "render/style.h"
#include "render/terminal.h"

#define TITLE_WIDTH 13

static const char *const keys[ESTIMATE_COUNT] = {
	[FACTOR_MEMORY] = "peak_memory_bytes",
	[FACTOR_CPU_TIME] = "run_time_ns",
	[FACTOR_DURATION] = "duration_ns",
};

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void append_quantile(struct text *out, enum metric_unit unit, const char *title,
			    const struct quantile *quantile, uint64_t needed)
{
	text_format(out, "%-6s  ", title);
	unit_format_real(out, unit, quantile->value);
	text_append_string(out, " (");
	unit_format_real(out, unit, quantile->low);
	text_append_string(out, " to ");
	unit_format_real(out, unit, quantile->high);
	text_format(out, ", confidence %.0f %%", 100 * quantile->confidence);
	if (quantile->confidence < ESTIMATE_CONFIDENCE)
		text_format(out, "; 95 %% takes %" PRIu64 " runs", needed);
	text_append_string(out, ")\n");
}

static void append_figure(struct text *out, const struct estimate *estimate, enum factor factor)
{
	const struct estimate_figure *figure = &estimate->figures[factor];

	text_format(out, "%-*s", TITLE_WIDTH, factors[factor].title);
	if (!estimate_knows(estimate, factor)) {
		text_format(out,
			    "known of %" PRIu64 " run%s, too few to say: %" PRIu64 " are needed\n",
			    figure->runs, plural(figure->runs), quantile_runs_needed(0.5));
		return;
	}
	append_quantile(out, factors[factor].unit, "median", &figure->median,
			quantile_runs_needed(0.5));
	text_format(out, "%*s", TITLE_WIDTH, "");
	append_quantile(out, factors[factor].unit, "p90", &figure->p90, quantile_runs_needed(0.9));
	text_format(out, "%*smost    ", TITLE_WIDTH, "");
	unit_format_real(out, factors[factor].unit, figure->most);
	text_append_string(out, "\n");
}

/* Peaks that were found in different ways are not quite the same thing. */
static void append_memory_ways(struct text *out, const struct estimate *estimate)
{
	const char *comma = "";
	size_t ways = 0;

	for (unsigned i = 0; i < JOB_MEMORY_COUNT; i++)
		ways += estimate->memory_runs[i] > 0;
	if (ways < 2 || !estimate_knows(estimate, FACTOR_MEMORY))
		return;
	text_format(out, "%*smixed   ", TITLE_WIDTH, "");
	for (unsigned i = 0; i < JOB_MEMORY_COUNT; i++)
		if (estimate->memory_runs[i]) {
			text_format(out, "%s%" PRIu64 " by %s", comma, estimate->memory_runs[i],
				    job_memory_names[i]);
			comma = ", ";
		}
	text_append_string(out, "\n");
}

static void append_runs(struct text *out, const struct estimate *estimate, const char *name)
{
	bool knows = false;

	for (unsigned i = 0; i < ESTIMATE_COUNT; i++)
		knows |= estimate_knows(estimate, i);
	text_append_escaped(out, name, strlen(name));
	text_format(out,
		    knows ? ": from %" PRIu64 " run%s that succeeded" :
			    ": too little is known: %" PRIu64 " run%s succeeded",
		    estimate->runs, plural(estimate->runs));
	if (!knows)
		text_format(out, ", at least %" PRIu64 " are needed", quantile_runs_needed(0.5));
	if (estimate->failed)
		text_format(out, "; %" PRIu64 " failed and %s left out", estimate->failed,
			    estimate->failed == 1 ? "is" : "are");
	if (estimate->unknown)
		text_format(out, "; %" PRIu64 " ended unseen", estimate->unknown);
}

static void append_fit(struct text *out, const struct estimate *estimate, const char *name,
		       const struct estimate_room *room)
{
	text_append_escaped(out, name, strlen(name));
	text_append_string(out,
			   estimate_fits(estimate, room) ? " fits now: " : " does not fit now: ");
	unit_format_real(out, UNIT_BYTES, estimate->figures[FACTOR_MEMORY].p90.value);
	text_append_string(out, " needed (p90), ");
	unit_format_real(out, UNIT_BYTES, room->memory_bytes);
	text_append_string(out, room->is_limit ? " left of this cgroup's limit" : " available");
}

static void append_cpus(struct text *out, const struct estimate *estimate,
			const struct estimate_room *room)
{
	double cpu = estimate->figures[FACTOR_CPU_TIME].median.value;
	double duration = estimate->figures[FACTOR_DURATION].median.value;

	text_format(out, "\n%.1f of %.0f CPUs are idle", room->idle_cpus, room->cpus);
	if (cpu > 0 && duration > 0)
		text_format(out, "; it mostly uses %.2g", cpu / duration);
	text_append_string(out, "\n");
}

int estimate_text(FILE *out, const struct terminal *terminal, const struct estimate *estimate,
		  const char *name, const struct estimate_room *room)
{
	CLEANUP(text_free) struct text text = { 0 };

	if (room)
		append_fit(&text, estimate, name, room);
	else
		append_runs(&text, estimate, name);
	style_line(out, terminal->colour, STYLE_HEADING, "%s", text_string(&text));
	text_clear(&text);
	if (room) {
		append_runs(&text, estimate, name);
		text_append_string(&text, "\n");
	}
	for (unsigned i = 0; i < ESTIMATE_COUNT && estimate->runs; i++) {
		text_append_string(&text, "\n");
		append_figure(&text, estimate, i);
		if (i == FACTOR_MEMORY)
			append_memory_ways(&text, estimate);
	}
	if (room && room->has_cpus)
		append_cpus(&text, estimate, room);
	fputs(text_string(&text), out);
	return text.failed ? -ENOMEM : 0;
}

static void quantile_json(struct json *json, const char *key, const struct quantile *quantile)
{
	json_member_object(json, key);
	json_member_fixed(json, "value", quantile->value, 0);
	json_member_fixed(json, "low", quantile->low, 0);
	json_member_fixed(json, "high", quantile->high, 0);
	json_member_fixed(json, "confidence", quantile->confidence, 4);
	json_end_object(json);
}

static void memory_ways_json(struct json *json, const struct estimate *estimate)
{
	json_member_object(json, "memory");
	for (unsigned i = 0; i < JOB_MEMORY_COUNT; i++)
		if (estimate->memory_runs[i])
			json_member_u64(json, job_memory_names[i], estimate->memory_runs[i]);
	json_end_object(json);
}

void estimate_json(struct json *json, const struct estimate *estimate, const char *name,
		   const struct estimate_room *room)
{
	json_begin_object(json);
	json_member_string(json, "name", name);
	json_member_u64(json, "runs", estimate->runs);
	json_member_u64(json, "failed", estimate->failed);
	json_member_u64(json, "running", estimate->running);
	json_member_u64(json, "unknown", estimate->unknown);
	json_member_u64(json, "needed_runs", quantile_runs_needed(0.5));
	for (unsigned i = 0; i < ESTIMATE_COUNT; i++) {
		json_member_object(json, keys[i]);
		json_member_u64(json, "runs", estimate->figures[i].runs);
		if (estimate_knows(estimate, i)) {
			quantile_json(json, "median", &estimate->figures[i].median);
			quantile_json(json, "p90", &estimate->figures[i].p90);
			json_member_fixed(json, "most", estimate->figures[i].most, 0);
		}
		if (i == FACTOR_MEMORY)
			memory_ways_json(json, estimate);
		json_end_object(json);
	}
	if (room) {
		json_member_bool(json, "fits", estimate_fits(estimate, room));
		json_member_fixed(json, "memory_available_bytes", room->memory_bytes, 0);
		json_member_bool(json, "is_cgroup_limit", room->is_limit);
	}
	if (room && room->has_cpus) {
		json_member_fixed(json, "idle_cpus", room->idle_cpus, 2);
		json_member_fixed(json, "cpus", room->cpus, 0);
	}
	json_end_object(json);
}
