/* SPDX-License-Identifier: MIT */
/* The sentences of a digest. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/digest/digest_parts.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "metric/unit.h"

#define SHORTEST_NAME 8 /* columns */

/* Appends a name in so many columns: a longer one loses its middle. */
static void append_name(struct text *out, const char *name, size_t columns)
{
	CLEANUP(text_free) struct text whole = { 0 };

	text_append_escaped(&whole, name, strlen(name));
	text_append_cut_at(out, text_string(&whole), columns, (columns - 1) / 2);
}

int digest_say(struct digester *digester, struct digest_line line, const char *before,
	       const struct text *after)
{
	CLEANUP(text_free) struct text sentence = { 0 };
	struct digest *digest = digester->digest;
	size_t used = text_width(before) + text_width(text_string(after));
	size_t room = used + SHORTEST_NAME < DIGEST_COLUMNS ? DIGEST_COLUMNS - used : SHORTEST_NAME;

	if (digest->lines.count >= DIGEST_LINES)
		return 0;
	text_append_string(&sentence, before);
	if (line.who)
		append_name(&sentence, line.who[0] ? line.who : "(none)", room);
	text_append(&sentence, text_string(after), after->length);
	line.sentence = arena_copy(&digest->arena, text_string(&sentence), sentence.length);
	if (line.who)
		line.who = arena_copy(&digest->arena, line.who, strlen(line.who));
	if (line.metric)
		line.metric = arena_copy(&digest->arena, line.metric, strlen(line.metric));
	if (!line.group)
		line.group = line.who;
	if (sentence.failed || after->failed || !line.sentence)
		return -ENOMEM;
	return array_append(&digest->lines, line);
}

/* The amount that is all of it; 0: not known. */
static double capacity_of(const struct digester *digester, enum digest_capacity capacity)
{
	switch (capacity) {
	case CAPACITY_CPUS:
		return digester->cpus * digester->seconds * 1e9;
	case CAPACITY_MEMORY:
		return digester->memory;
	default:
		return 0;
	}
}

static struct digest_line line_of(const struct digester *digester, const struct digest_rule *rule,
				  const struct mover *mover)
{
	double capacity = capacity_of(digester, rule->capacity);
	struct digest_line line = {
		.resource = rule->resource,
		.who = mover->who,
		.group = mover->group,
		.has_delta = true,
		.delta = mover->moved,
		.section = mover->section,
		.metric = mover->metric->name,
		.is_filtered = digester->layout->runs[0].snapshot->filter.text != NULL,
	};

	if (mover->total > 0) {
		line.has_share = true;
		line.share = fmin(fabs(mover->moved) / mover->total, 1);
	}
	if (capacity > 0) {
		line.has_capacity = true;
		line.of_capacity = mover->moved / capacity;
	}
	return line;
}

/* In a sentence two digits are enough. */
static void append_percent(struct text *out, double share)
{
	text_format(out, fabs(share) < 0.0995 ? "%.1f %%" : "%.0f %%", share * 100);
}

static void append_share(struct text *out, const struct digest_line *line, const char *of)
{
	if (!line->has_share)
		return;
	text_append_string(out, ", ");
	append_percent(out, line->share);
	text_append_string(out, line->is_filtered ? " of what is left" : of);
}

/* " (+49 % of the host": the sign only for changes. */
static void append_capacity(struct text *out, const struct digest_line *line, bool is_change)
{
	text_append_string(out, is_change && line->of_capacity > 0 ? " (+" : " (");
	append_percent(out, line->of_capacity);
	text_append_string(out, " of the host)");
}

/* The singular is the plural without its last letter. */
static void append_object(struct text *out, const char *object, bool is_one)
{
	size_t length = strlen(object);

	if (is_one && length && object[length - 1] == 's')
		length--;
	text_format(out, "%s%.*s", length ? " " : "", (int)length, object);
}

/* "used 9.81 s of CPU (49 % of the host), 91 % of all" */
static void append_done(struct text *out, const struct digest_rule *rule, const struct mover *mover,
			const struct digest_line *line)
{
	enum metric_unit unit = mover->metric->unit;

	text_format(out, " %s ", rule->past);
	unit_format_real(out, unit, mover->moved);
	append_object(out, rule->object, unit == UNIT_COUNT && mover->moved == 1);
	if (mover->children * 2 > mover->moved)
		text_append_string(out, " by its children");
	if (line->has_capacity) {
		append_capacity(out, line, false);
	} else if (unit != UNIT_COUNT || line->rate >= 1) {
		text_append_string(out, " (");
		unit_format_real(out, unit, line->rate);
		text_append_string(out, "/s)");
	}
	append_share(out, line, " of all");
}

/* " ms/s for a CPU", but " K page faults/s" */
static void append_unit(struct text *out, const char *object, const char *suffix, bool is_count,
			bool is_rate)
{
	const char *rate = is_rate ? "/s" : "";

	text_format(out, "%s%s%s%s%s", suffix, is_count ? "" : rate, object[0] ? " " : "", object,
		    is_count ? rate : "");
}

/* "uses 0.50 → 0.95 CPUs (+22 % of the host), 80 % of what moved" */
static void append_course(struct text *out, const struct digester *digester,
			  const struct digest_rule *rule, const struct mover *mover,
			  const struct digest_line *line)
{
	bool is_total = digester->form == DIGEST_TOTALS;
	enum metric_unit unit = mover->metric->unit;
	struct unit_scale scale =
		unit_scale_for(unit, fmax(fabs(mover->before), fabs(mover->after)));

	text_format(out, " %s ", is_total ? rule->past : rule->now);
	if (rule->capacity == CAPACITY_CPUS && !is_total) {
		text_format(out, "%.2f → %.2f CPUs", mover->before / 1e9, mover->after / 1e9);
	} else {
		unit_format_number(out, unit, &scale, mover->before);
		text_append_string(out, " → ");
		unit_format_number(out, unit, &scale, mover->after);
		append_unit(out, rule->object, scale.suffix, unit == UNIT_COUNT, !is_total);
	}
	if (line->has_capacity && !is_total)
		append_capacity(out, line, true);
	append_share(out, line, " of what moved");
}

int digest_say_work(struct digester *digester, const struct digest_rule *rule,
		    const struct mover *mover)
{
	CLEANUP(text_free) struct text after = { 0 };
	struct digest_line line = line_of(digester, rule, mover);

	if (!mover->has_before) {
		line.has_rate = true;
		line.rate = mover->moved / digester->seconds;
		append_done(&after, rule, mover, &line);
	} else {
		append_course(&after, digester, rule, mover, &line);
	}
	return digest_say(digester, line, "", &after);
}

/* "grew 694 MiB → 893 MiB of memory (+0.8 % of the host), 54 % of all" */
int digest_say_level(struct digester *digester, const struct digest_rule *rule,
		     const struct mover *mover)
{
	CLEANUP(text_free) struct text after = { 0 };
	struct digest_line line = line_of(digester, rule, mover);
	enum metric_unit unit = mover->metric->unit;

	text_append_string(&after, mover->moved > 0 ? " grew " : " shrank ");
	unit_format_real(&after, unit, mover->after - mover->moved);
	text_append_string(&after, " → ");
	unit_format_real(&after, unit, mover->after);
	text_format(&after, " %s", rule->object);
	if (line.has_capacity)
		append_capacity(&after, &line, true);
	append_share(&after, &line, " of all");
	return digest_say(digester, line, "", &after);
}
