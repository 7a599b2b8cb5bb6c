/* SPDX-License-Identifier: MIT */
/* The live line. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"
#include "render/run/run_text.h"
#include "render/scope/scope_amount.h"
#include "render/value.h"

#define LABEL_LEAST 8 /* columns; a label cut shorter says nothing */

struct live_line {
	struct text *out;
	size_t width;
	bool full; /* a field did not fit, so none follows */
};

static void add_field(struct live_line *line, const struct text *field)
{
	size_t gap = line->out->length ? 2 : 0;
	size_t wanted = text_width(text_string(line->out)) + gap + text_width(text_string(field));

	if (!field->length || line->full)
		return;
	line->full = wanted > line->width;
	if (line->full)
		return;
	text_append_string(line->out, gap ? "  " : "");
	text_append(line->out, text_string(field), field->length);
}

/* Growth of a counter per second; 0 where it was not measured. */
static double rate_of(const struct run_sample *before, const struct run_sample *now,
		      enum amount_id id, uint64_t elapsed_ns)
{
	uint64_t old = amounts_get(&before->amounts, id), new = amounts_get(&now->amounts, id);

	if (!elapsed_ns || new <= old || !amounts_has(&now->amounts, id))
		return 0;
	return (double)(new - old) * 1e9 / (double)elapsed_ns;
}

static void append_io(struct text *field, const struct run_sample *before,
		      const struct run_sample *now, uint64_t elapsed_ns)
{
	static const struct {
		enum amount_id id;
		const char *name;
	} directions[] = { { AMOUNT_read_bytes, "rd " }, { AMOUNT_write_bytes, "wr " } };

	for (size_t i = 0; i < 2; i++) {
		double rate = rate_of(before, now, directions[i].id, elapsed_ns);

		if (!amounts_has(&now->amounts, directions[i].id))
			continue;
		text_append_string(field, field->length ? " " : "");
		text_append_string(field, directions[i].name);
		unit_format_real(field, UNIT_BYTES, rate);
		text_append_string(field, rate >= 1 ? "/s" : "");
	}
}

static uint64_t growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void append_cores(struct text *field, const struct run_sample *before,
			 const struct run_sample *now, uint64_t elapsed_ns)
{
	uint64_t first, last;

	if (!run_sample_cpu(now, &last))
		return;
	run_sample_cpu(before, &first);
	text_format(field, "%.1f cores",
		    elapsed_ns ? (double)growth(first, last) / (double)elapsed_ns : 0);
}

static uint64_t amount_growth(const struct amounts *before, const struct amounts *now,
			      enum amount_id id)
{
	return growth(amounts_get(before, id), amounts_get(now, id));
}

/* Appends the longest wait since then: a costly one first, else a wait for work. */
static void append_wait(struct text *field, const struct amounts *before, const struct amounts *now)
{
	uint64_t wall = amount_growth(before, now, AMOUNT_wall_time_ns);
	uint64_t most[] = { amount_growth(before, now, AMOUNT_wait_time_ns), 0 };
	const char *names[] = { "queue", NULL };

	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		size_t place = waits[reason].kind == WAIT_COST ? 0 : 1;
		uint64_t grown =
			growth(amounts_waited(before, reason).ns, amounts_waited(now, reason).ns);

		if (grown <= most[place])
			continue;
		most[place] = grown;
		names[place] = waits[reason].name;
	}
	for (size_t i = 0; wall && i < 2; i++) {
		double share = (double)most[i] / (double)wall;

		if (share < 0.01)
			continue;
		text_format(field, "%s %.0f%%", names[i], share > 1 ? 100 : share * 100);
		return;
	}
}

static void append_memory(struct text *field, const struct run *run)
{
	uint64_t peak = run->sampling.peak_rss_bytes.value;

	if (!run->last.has_rss)
		return;
	text_append_string(field, "rss ");
	unit_format_real(field, UNIT_BYTES, (double)run->last.rss_bytes);
	text_append_string(field, " (peak ");
	unit_format_real(field, UNIT_BYTES,
			 (double)(peak > run->last.rss_bytes ? peak : run->last.rss_bytes));
	text_append_string(field, ")");
}

/* Appends as many columns of a label as are allowed. */
static void append_label(struct text *field, const char *label, size_t columns)
{
	CLEANUP(text_free) struct text escaped = { 0 };
	const char *text;
	size_t length = 0, taken = 0;

	text_append_escaped(&escaped, label, strlen(label));
	text = text_string(&escaped);
	if (text_width(text) <= columns) {
		text_append_string(field, text);
		return;
	}
	while (text[length] && taken + 2 < columns) {
		size_t next = text_character(text + length, escaped.length - length);

		length += next ? next : 1;
		taken++;
	}
	text_append(field, text, length);
	text_append_string(field, "..");
}

/* 41% eta 1m23s, or how many were done, or how long it has been open. */
static void append_progress(struct text *field, const struct scope *scope)
{
	uint64_t left_ns;

	if (!scope->has_progress) {
		text_append_string(field, " ");
		unit_format(field, UNIT_NS, scope->age_ns);
	} else if (!scope->total) {
		text_format(field, " %" PRIu64, scope->count);
	} else {
		double share = (double)scope->count / (double)scope->total;

		text_format(field, " %.0f%%", share > 1 ? 100 : floor(share * 100));
	}
	if (!scope_time_left(scope, &left_ns) || !left_ns)
		return;
	text_append_string(field, " eta ");
	unit_format(field, UNIT_NS, left_ns);
}

/* Appends the scope that has the progress, and the one inside it that is open now. */
static void append_scope(struct text *field, const struct phase_now *now, size_t columns)
{
	CLEANUP(text_free) struct text progress = { 0 };
	const struct scope *scope = now->has_outer ? &now->outer : &now->innermost;
	size_t used;

	if (!now->present)
		return;
	append_progress(&progress, scope);
	used = text_width(text_string(&progress));
	if (used + LABEL_LEAST > columns)
		return;
	append_label(field, scope->label, columns - used);
	text_append_string(field, text_string(&progress));
	used = text_width(text_string(field)) + 2;
	if (!now->has_outer || used + LABEL_LEAST > columns)
		return;
	text_append_string(field, ": ");
	append_label(field, now->innermost.label, columns - used);
}

enum live_field { LIVE_ELAPSED, LIVE_TASKS, LIVE_CORES, LIVE_MEMORY, LIVE_IO, LIVE_WAIT, LIVE_END };

static void append_field(struct text *field, enum live_field which, const struct run *run,
			 const struct run_sample *before, uint64_t elapsed_ns)
{
	const struct run_sample *now = &run->last;

	switch (which) {
	case LIVE_ELAPSED:
		unit_format(field, UNIT_NS,
			    growth(run->begin_ns,
				   run->end_ns > now->time_ns ? run->end_ns : now->time_ns));
		break;
	case LIVE_TASKS:
		text_format(field, "%" PRIu64 " proc%s %" PRIu64 " thr", now->processes,
			    now->processes == 1 ? "" : "s", now->threads);
		break;
	case LIVE_CORES:
		append_cores(field, before, now, elapsed_ns);
		break;
	case LIVE_MEMORY:
		append_memory(field, run);
		break;
	case LIVE_IO:
		append_io(field, before, now, elapsed_ns);
		break;
	case LIVE_WAIT:
		append_wait(field, &before->amounts, &now->amounts);
		break;
	case LIVE_END:
		break;
	}
}

void run_text_live(struct text *out, const struct run *run, const struct run_sample *before,
		   size_t width)
{
	static const struct run_sample start;
	const struct run_sample *from = before && before->time_ns ? before : &start;
	uint64_t since = from->time_ns ? from->time_ns : run->begin_ns;
	CLEANUP(text_free) struct text scope = { 0 };
	struct live_line line = { .out = out, .width = width };
	size_t kept;

	append_scope(&scope, &run->now, width / 2);
	kept = scope.length ? text_width(text_string(&scope)) + 2 : 0;
	line.width -= kept;
	for (int which = 0; which < LIVE_END; which++) {
		CLEANUP(text_free) struct text field = { 0 };

		append_field(&field, which, run, from, growth(since, run->last.time_ns));
		add_field(&line, &field);
	}
	line.width += kept;
	line.full = false;
	add_field(&line, &scope);
}
