/* SPDX-License-Identifier: MIT */
#include "render/run_amount.h"

#include "base/array.h"
#include "base/text.h"
#include "render/value.h"

#define LONG_NS 600000000000ULL

/* Three digits, or all that there are before the point. */
static void append_three(struct text *out, double value, const char *unit)
{
	int places = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;

	text_format(out, "%.*f%s", places, value, unit);
}

void amount_time(struct text *out, uint64_t ns)
{
	static const struct {
		double size;
		const char *unit;
	} steps[] = { { 1e9, " s" }, { 1e6, " ms" }, { 1e3, " us" } };

	if (ns >= LONG_NS) {
		age_text(out, ns);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if ((double)ns < steps[i].size * 0.9995)
			continue;
		append_three(out, (double)ns / steps[i].size, steps[i].unit);
		return;
	}
	text_format(out, ns ? "%u ns" : "%u", (unsigned)ns);
}

static const char *const byte_units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

static size_t scale_bytes(double *bytes)
{
	size_t unit = 0;

	while (*bytes >= 1023.5 && unit + 1 < ARRAY_SIZE(byte_units)) {
		*bytes /= 1024;
		unit++;
	}
	return unit;
}

void amount_bytes(struct text *out, uint64_t bytes)
{
	double value = (double)bytes;
	size_t unit = scale_bytes(&value);

	if (unit == 0)
		text_format(out, "%u B", (unsigned)bytes);
	else
		append_three(out, value, " ");
	if (unit)
		text_append_string(out, byte_units[unit]);
}

void amount_short_bytes(struct text *out, double bytes)
{
	size_t unit;

	if (bytes < 1) {
		text_append_string(out, "0");
		return;
	}
	unit = scale_bytes(&bytes);
	text_format(out, "%.*f%.1s", bytes >= 9.95 || !unit ? 0 : 1, bytes, byte_units[unit]);
}

void amount_percent(struct text *out, double share)
{
	if (share > 0 && share < 0.005)
		text_append_string(out, "<1 %");
	else
		text_format(out, "%.0f %%", share * 100);
}
