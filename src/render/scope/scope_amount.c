/* SPDX-License-Identifier: MIT */
#include "render/scope/scope_amount.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "metric/unit.h"
#include "model/scope/scopes.h"

/* Never rounded up, so that unfinished work never shows 100 %. */
static double percent(const struct scope *scope)
{
	return floor(100.0 * (double)scope->count / (double)scope->total);
}

void scope_progress_text(struct text *out, const struct scope *scope)
{
	uint64_t left_ns;
	double rate;

	if (!scope->has_progress)
		return;
	text_format(out, "%" PRIu64 "/", scope->count);
	if (scope->total)
		text_format(out, "%" PRIu64 " (%.0f%%)", scope->total, percent(scope));
	else
		text_append_string(out, "?");
	if (scope_rate(scope, &rate)) {
		text_append_string(out, "  ");
		unit_format_real(out, UNIT_COUNT, rate);
		text_append_string(out, "/s");
	}
	if (scope_time_left(scope, &left_ns)) {
		text_append_string(out, "  eta ");
		unit_format(out, UNIT_NS, left_ns);
	}
}

void scope_label_append(struct text *out, const char *label)
{
	if (label[0])
		text_append_escaped(out, label, strlen(label));
	else
		text_append_string(out, "<no label>");
}
