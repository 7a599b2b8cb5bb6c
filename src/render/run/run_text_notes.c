/* SPDX-License-Identifier: MIT */
/* Prints what is below the tables: other use, losses, what was not measured, what watching cost. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "metric/unit.h"
#include "model/tree/run_fields.h"
#include "render/run/loss_words.h"
#include "render/run/run_text_tables.h"

#define SHARE_SHOWN_NS 1000000000

static void separate(struct text *line, size_t start)
{
	text_append_string(line, line->length > start ? ", " : "");
}

static void print_line(FILE *out, const struct text *line, size_t start)
{
	if (line->length > start)
		fprintf(out, "%s\n", text_string(line));
}

static const struct {
	enum amount_id id;
	bool bytes;
	const char *one, *many; /* after the amount */
	bool only_if_any;
} used[] = {
	{ AMOUNT_read_bytes, true, " read from disk", " read from disk", false },
	{ AMOUNT_write_bytes, true, " written to disk", " written to disk", false },
	{ AMOUNT_net_rx_bytes, true, " received", " received", true },
	{ AMOUNT_net_tx_bytes, true, " sent", " sent", true },
	{ AMOUNT_minflt, false, " page fault", " page faults", false },
	{ AMOUNT_majflt, false, " from disk", " from disk", false },
	{ AMOUNT_voluntary_csw, false, " voluntary switch", " voluntary switches", false },
	{ AMOUNT_nonvoluntary_csw, false, " involuntary", " involuntary", false },
};

static void print_used(FILE *out, const struct run *run)
{
	const struct amounts *amounts = &run->tree->amounts;
	CLEANUP(text_free) struct text line = { 0 };
	size_t start;

	text_append_string(&line, "used: ");
	start = line.length;
	for (size_t i = 0; i < ARRAY_SIZE(used); i++) {
		if (!amounts_has(amounts, used[i].id) ||
		    (used[i].only_if_any && !amounts_get(amounts, used[i].id)))
			continue;
		separate(&line, start);
		unit_format(&line, used[i].bytes ? UNIT_BYTES : UNIT_COUNT,
			    amounts_get(amounts, used[i].id));
		text_append_string(&line, amounts_get(amounts, used[i].id) == 1 ? used[i].one :
										  used[i].many);
	}
	if (run->tracer_misses && line.length > start)
		text_append_string(&line, "; without processes that were not seen");
	print_line(out, &line, start);
}

static void print_scope(FILE *out, const struct run *run)
{
	uint64_t left_out = run->children_excluded.value;

	if (run->children_excluded.present)
		fprintf(out,
			"without children: %s%" PRIu64 " process%s that it started %s left out\n",
			run->tracer_misses ? "at least " : "", left_out, left_out == 1 ? "" : "es",
			left_out == 1 ? "was" : "were");
	if (run->since_start)
		fprintf(out, "counted from the start of each process, not from attaching\n");
}

static uint64_t lost_count(const struct run *run, const struct run_field *field)
{
	const void *at = run_field_at(run, field);

	return field->type == RUN_FIELD_OPTIONAL ? ((const struct run_number *)at)->value :
						   *(const uint64_t *)at;
}

static void print_losses(FILE *out, const struct run *run)
{
	CLEANUP(text_free) struct text line = { 0 };
	size_t start;

	text_append_string(&line, "lost: ");
	start = line.length;
	for (size_t i = 0; i < run_field_count; i++) {
		const struct run_field *field = &run_fields[i];
		uint64_t count = field->section == RUN_SECTION_LOSSES ? lost_count(run, field) : 0;

		if (!count)
			continue;
		separate(&line, start);
		text_format(&line, "%" PRIu64 " %s", count, loss_words(field->key, count));
	}
	print_line(out, &line, start);
}

static void print_source(FILE *out, const struct source_report *source)
{
	CLEANUP(text_free) struct text line = { 0 };

	text_append_string(&line, source->state == SOURCE_PARTIAL ? "measured in part: " :
								    "not measured: ");
	text_append_escaped(&line, source->name, strlen(source->name));
	if (source->state != SOURCE_PARTIAL) {
		text_append_string(&line, " is ");
		text_append_string(&line, source_state_name(source->state));
	}
	if (source->reason) {
		text_append_string(&line, ": ");
		text_append_escaped(&line, source->reason, strlen(source->reason));
	}
	print_line(out, &line, 0);
}

/* With less it does not matter. */
#define STEAL_SHOWN 0.05

static void print_steal(FILE *out, const struct run *run, bool is_verbose)
{
	double stolen = (double)run->limits.host_steal_ns.value;
	double wanted = stolen + (double)run->limits.host_busy_ns.value;
	CLEANUP(text_free) struct text line = { 0 };

	if (stolen < (is_verbose ? 1 : STEAL_SHOWN * wanted + 1))
		return;
	text_append_string(&line, "steal: the hypervisor took ");
	unit_format(&line, UNIT_NS, run->limits.host_steal_ns.value);
	text_append_string(&line, " from this host's CPUs, ");
	unit_format_share(&line, stolen / wanted);
	text_append_string(&line, " of the time in which they had work");
	print_line(out, &line, 0);
}

/*
 * Most hosts have no energy counters that we may read and no hypervisor that takes their CPUs, and
 * few people ask for the others.
 */
static bool is_missed(const struct source_report *source)
{
	return strcmp(source->name, "energy") != 0 && strcmp(source->name, "steal") != 0 &&
	       (source->state != SOURCE_OFF || strcmp(source->name, "hardware_counters") != 0);
}

static void print_sources(FILE *out, const struct run *run)
{
	CLEANUP(text_free) struct text line = { 0 };

	for (size_t i = 0; i < run->source_count; i++)
		if (run->sources[i].state != SOURCE_OK && is_missed(&run->sources[i]))
			print_source(out, &run->sources[i]);
	if (!run->tracer_misses || !run->tracer)
		return;
	text_append_string(&line, "followed by ");
	text_append_escaped(&line, run->tracer, strlen(run->tracer));
	text_append_string(&line, ", which can miss ");
	text_append_escaped(&line, run->tracer_misses, strlen(run->tracer_misses));
	print_line(out, &line, 0);
}

static void print_self(FILE *out, const struct run *run)
{
	CLEANUP(text_free) struct text line = { 0 };
	const struct run_self *self = &run->self;
	uint64_t wall = run_wall_ns(run) + self->startup_ns;

	if (!run_self_is_known(self))
		return;
	text_append_string(&line, "taskscope itself: ");
	unit_format(&line, UNIT_NS, self->cpu_ns);
	text_append_string(&line, " CPU");
	/*
	 * In a short run, ending the watch takes more than the watching, and
	 * that is not in the run's time.
	 */
	if (wall >= SHARE_SHOWN_NS) {
		text_append_string(&line, " (");
		unit_format_share(&line, (double)self->cpu_ns / (double)wall);
		text_append_string(&line, " of a core)");
	}
	if (self->peak_rss_bytes.present) {
		text_append_string(&line, ", peak ");
		unit_format(&line, UNIT_BYTES, self->peak_rss_bytes.value);
	}
	text_append_string(&line, ", ready in ");
	unit_format(&line, UNIT_NS, self->startup_ns);
	text_format(&line, ", %" PRIu64 " sample%s", run->sampling.samples,
		    run->sampling.samples == 1 ? "" : "s");
	if (self->missed_ticks)
		text_format(&line, " (%" PRIu64 " missed)", self->missed_ticks);
	print_line(out, &line, 0);
}

void run_text_notes(FILE *out, const struct run *run, const struct run_text_options *options)
{
	fputs("\n", out);
	print_scope(out, run);
	if (options->is_verbose)
		print_used(out, run);
	run_text_hardware(out, run, options);
	print_steal(out, run, options->is_verbose);
	print_losses(out, run);
	print_sources(out, run);
	if (options->is_verbose)
		print_self(out, run);
	else
		fputs("-v also shows all threads, longest waits, processes, system calls, other use\n",
		      out);
}
