/* SPDX-License-Identifier: MIT */
#include "render/scope_amount.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/scopes.h"

/* Below a minute; with a tenth where that is not lost in the noise. */
static void short_time_text(struct text *out, uint64_t ns)
{
	static const struct {
		uint64_t size;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (ns < units[i].size && units[i].size > 1)
		i++;
	if (ns < 10 * units[i].size && units[i].size > 1)
		text_format(out, "%" PRIu64 ".%" PRIu64 "%s", ns / units[i].size,
			    ns / (units[i].size / 10) % 10, units[i].name);
	else
		text_format(out, "%" PRIu64 "%s", ns / units[i].size, units[i].name);
}

void scope_time_text(struct text *out, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000;
	uint64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

	if (minutes == 0)
		short_time_text(out, ns);
	else if (hours == 0)
		text_format(out, "%" PRIu64 "m%02" PRIu64 "s", minutes, seconds % 60);
	else if (days == 0)
		text_format(out, "%" PRIu64 "h%02" PRIu64 "m", hours, minutes % 60);
	else
		text_format(out, "%" PRIu64 "d%02" PRIu64 "h", days, hours % 24);
}

/* As many digits as tell something. */
static void rate_text(struct text *out, double rate)
{
	static const struct {
		double from, size;
		const char *format;
	} units[] = {
		{ 1e9, 1e9, "%.1fG/s" }, { 1e6, 1e6, "%.1fM/s" }, { 1e4, 1e3, "%.1fk/s" },
		{ 100, 1, "%.0f/s" },	 { 0.1, 1, "%.1f/s" },	  { 0, 1, "%.2g/s" },
	};
	size_t i = 0;

	while (rate < units[i].from)
		i++;
	text_format(out, units[i].format, rate / units[i].size);
}

/* Never rounded up: what is not done does not look done. */
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
		rate_text(out, rate);
	}
	if (scope_time_left(scope, &left_ns)) {
		text_append_string(out, "  eta ");
		scope_time_text(out, left_ns);
	}
}

void scope_label_append(struct text *out, const char *label)
{
	if (label[0])
		text_append_escaped(out, label, strlen(label));
	else
		text_append_string(out, "<no label>");
}
