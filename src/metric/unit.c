/* SPDX-License-Identifier: MIT */
#include "metric/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

struct step {
	double size;
	const char *suffix;
};

/* Ascending; the first entry is the base unit, which prints integers exactly. */
static const struct step ns_steps[] = {
	{ 1, " ns" }, { 1e3, " us" }, { 1e6, " ms" }, { 1e9, " s" }, { 0, NULL },
};
static const struct step us_steps[] = {
	{ 1, " us" },
	{ 1e3, " ms" },
	{ 1e6, " s" },
	{ 0, NULL },
};
static const struct step byte_steps[] = {
	{ 1, " B" },
	{ 1024.0, " KiB" },
	{ 1048576.0, " MiB" },
	{ 1073741824.0, " GiB" },
	{ 1099511627776.0, " TiB" },
	{ 0, NULL },
};
static const struct step count_steps[] = {
	{ 1, "" }, { 1e3, " K" }, { 1e6, " M" }, { 1e9, " G" }, { 0, NULL },
};
static const struct step plain_steps[] = {
	{ 1, "" },
	{ 0, NULL },
};

static const struct step *unit_steps(enum metric_unit unit)
{
	switch (unit) {
	case UNIT_NS:
		return ns_steps;
	case UNIT_US:
		return us_steps;
	case UNIT_BYTES:
		return byte_steps;
	case UNIT_COUNT:
		return count_steps;
	default:
		return plain_steps;
	}
}

static const struct step *pick_step(enum metric_unit unit, double magnitude)
{
	const struct step *step = unit_steps(unit);

	/* Three places are shown: what they round up to the next step is written in that one. */
	while (step[1].suffix && magnitude >= step[1].size - step->size * 0.0005)
		step++;
	return step;
}

void unit_format(struct text *out, enum metric_unit unit, uint64_t value)
{
	const struct step *step = pick_step(unit, (double)value);

	if (unit == UNIT_CENTIPERCENT)
		text_format(out, "%" PRIu64 ".%02u %%", value / 100, (unsigned)(value % 100));
	else if (step->size == 1)
		text_format(out, "%" PRIu64 "%s", value, step->suffix);
	else
		text_format(out, "%.3f%s", (double)value / step->size, step->suffix);
}

void unit_format_real(struct text *out, enum metric_unit unit, double value)
{
	const struct step *step = pick_step(unit, fabs(value));

	if (unit == UNIT_RATIO)
		text_format(out, "%.3f", value);
	else if (step->size == 1)
		text_format(out, "%.*f%s", value == floor(value) ? 0 : 2, value, step->suffix);
	else
		text_format(out, "%.3f%s", value / step->size, step->suffix);
}

static const struct {
	const char *suffix;
	double times, over;
	enum metric_unit unit;
} written_units[] = {
	/* clang-format off */
	{ "ns",  1,               1,   UNIT_NS },
	{ "us",  1e3,             1,   UNIT_NS },
	{ "ms",  1e6,             1,   UNIT_NS },
	{ "s",   1e9,             1,   UNIT_NS },
	{ "m",   60e9,            1,   UNIT_NS },
	{ "h",   3600e9,          1,   UNIT_NS },
	{ "d",   86400e9,         1,   UNIT_NS },
	{ "B",   1,               1,   UNIT_BYTES },
	{ "KiB", 1024.0,          1,   UNIT_BYTES },
	{ "MiB", 1048576.0,       1,   UNIT_BYTES },
	{ "GiB", 1073741824.0,    1,   UNIT_BYTES },
	{ "TiB", 1099511627776.0, 1,   UNIT_BYTES },
	{ "K",   1e3,             1,   UNIT_COUNT },
	{ "M",   1e6,             1,   UNIT_COUNT },
	{ "G",   1e9,             1,   UNIT_COUNT },
	{ "%",   1,               100, UNIT_RATIO },
	{ "",    1,               1,   UNIT_LEVEL },
	/* clang-format on */
};

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_word_byte(char byte)
{
	return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       byte == '_' || byte == '.' || byte == '%' || (unsigned char)byte >= 0x80;
}

/* The digits as one number, and what it must be divided by for those behind the point. */
static bool scan_decimal(const char **cursor, double *ret_digits, double *ret_divisor)
{
	const char *at = *cursor;
	double digits = 0, divisor = 1;

	for (; is_digit(*at); at++)
		digits = digits * 10 + (*at - '0');
	if (at == *cursor)
		return false;
	if (at[0] == '.' && is_digit(at[1]))
		for (at++; is_digit(*at); at++) {
			digits = digits * 10 + (*at - '0');
			divisor *= 10;
		}
	*cursor = at;
	*ret_digits = digits;
	*ret_divisor = divisor;
	return isfinite(digits) && isfinite(divisor);
}

bool unit_scan(const char **cursor, double *ret, enum metric_unit *ret_unit)
{
	const char *at = *cursor;
	double digits, divisor;

	if (!scan_decimal(&at, &digits, &divisor))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(written_units); i++) {
		size_t length = strlen(written_units[i].suffix);

		if (strncmp(at, written_units[i].suffix, length) != 0 || is_word_byte(at[length]))
			continue;
		*cursor = at + length;
		/* Rounded once, at the end: 1.1 s is exactly 1100000000 ns. */
		*ret = digits * written_units[i].times / (divisor * written_units[i].over);
		*ret_unit = written_units[i].unit;
		return true;
	}
	return false;
}

struct unit_scale unit_scale_for(enum metric_unit unit, double magnitude)
{
	const struct step *step = pick_step(unit, magnitude);

	if (unit == UNIT_CENTIPERCENT)
		return (struct unit_scale){ 1, " %" };
	return (struct unit_scale){ step->size, step->suffix };
}

void unit_format_number(struct text *out, enum metric_unit unit, const struct unit_scale *scale,
			double value)
{
	double shown = value / scale->size;

	if (unit == UNIT_CENTIPERCENT)
		text_format(out, "%.2f", value / 100);
	else if (unit != UNIT_RATIO && scale->size == 1)
		text_format(out, "%.*f", value == floor(value) ? 0 : 2, value);
	else if (value == 0 && unit != UNIT_RATIO)
		text_append_string(out, "0");
	else if (value != 0 && fabs(shown) < 0.0005)
		text_append_string(out, value < 0 ? ">-0.001" : "<0.001");
	else
		text_format(out, "%.3f", shown);
}
