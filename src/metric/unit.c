/* SPDX-License-Identifier: MIT */
#include "metric/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/collection/array.h"
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
	{ 1, " B" },	    { 0x1p10, " KiB" }, { 0x1p20, " MiB" }, { 0x1p30, " GiB" },
	{ 0x1p40, " TiB" }, { 0x1p50, " PiB" }, { 0x1p60, " EiB" }, { 0, NULL },
};
static const struct step count_steps[] = {
	{ 1, "" }, { 1e3, " K" }, { 1e6, " M" }, { 1e9, " G" }, { 1e12, " T" }, { 0, NULL },
};
static const struct step hundredths_steps[] = {
	{ 100, "" },
	{ 0, NULL },
};
static const struct step plain_steps[] = {
	{ 1, "" },
	{ 0, NULL },
};

/* From here on a duration is written as minutes, hours or days, and the next smaller unit. */
#define LONG_NS 599.5e9

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
	case UNIT_HUNDREDTHS:
		return hundredths_steps;
	default:
		return plain_steps;
	}
}

static const struct step *pick_step(enum metric_unit unit, double magnitude)
{
	const struct step *step = unit_steps(unit);

	/* A number that rounds up to the next step is written in that step's unit. */
	while (step[1].suffix && magnitude >= step[1].size - step->size * 0.5)
		step++;
	return step;
}

/* Three significant digits, or all before the point; below 1 at most `most` decimal places. */
static void append_three(struct text *out, double value, int most)
{
	double magnitude = fabs(value);
	int places = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : magnitude >= 0.9995 ? 2 : 3;

	text_format(out, "%.*f", places < most ? places : most, value);
}

/* "12m 05s", "4h 05m", "3d 04h" */
static void append_long(struct text *out, double ns)
{
	uint64_t seconds = (uint64_t)(fabs(ns) / 1e9 + 0.5);
	uint64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

	text_append_string(out, ns < 0 ? "-" : "");
	if (days)
		text_format(out, "%" PRIu64 "d %02" PRIu64 "h", days, hours % 24);
	else if (hours)
		text_format(out, "%" PRIu64 "h %02" PRIu64 "m", hours, minutes % 60);
	else
		text_format(out, "%" PRIu64 "m %02" PRIu64 "s", minutes, seconds % 60);
}

static bool is_long(enum metric_unit unit, double value)
{
	return (unit == UNIT_NS && fabs(value) >= LONG_NS) ||
	       (unit == UNIT_US && fabs(value) >= LONG_NS / 1000);
}

/* The most decimal places that a number in steps of this size has. */
static int decimals(enum metric_unit unit, double size, double value)
{
	if (unit == UNIT_HUNDREDTHS)
		return 2;
	return size == 1 && unit != UNIT_RATIO && value == floor(value) ? 0 : 3;
}

void unit_format(struct text *out, enum metric_unit unit, uint64_t value)
{
	const struct step *step = pick_step(unit, (double)value);

	if (unit == UNIT_LEVEL)
		text_format(out, "%" PRId64, (int64_t)value);
	else if (unit != UNIT_CENTIPERCENT && step->size == 1)
		text_format(out, "%" PRIu64 "%s", value, step->suffix);
	else
		unit_format_real(out, unit, (double)value);
}

void unit_format_real(struct text *out, enum metric_unit unit, double value)
{
	const struct step *step = pick_step(unit, fabs(value));

	if (unit == UNIT_CENTIPERCENT) {
		unit_format_share(out, value / 10000);
	} else if (is_long(unit, value)) {
		append_long(out, unit == UNIT_US ? value * 1000 : value);
	} else {
		append_three(out, value / step->size, decimals(unit, step->size, value));
		text_append_string(out, step->suffix);
	}
}

void unit_format_share(struct text *out, double share)
{
	if (share != 0 && fabs(share) < 0.00005) {
		text_append_string(out, share < 0 ? ">-0.01 %" : "<0.01 %");
	} else {
		append_three(out, share * 100, share != 0 ? 2 : 0);
		text_append_string(out, " %");
	}
}

static const struct written_unit {
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
	{ "min", 60e9,            1,   UNIT_NS },
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
}, short_sizes[] = {
	/* clang-format off */
	{ "K",   1024.0,          1,   UNIT_BYTES },
	{ "M",   1048576.0,       1,   UNIT_BYTES },
	{ "G",   1073741824.0,    1,   UNIT_BYTES },
	{ "T",   1099511627776.0, 1,   UNIT_BYTES },
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

/* Reads the digits as one whole number, and gives the divisor for those behind the point. */
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

/* What follows the digits: the first of the units that the text continues with. */
static bool scan_unit(const struct written_unit *units, size_t count, const char **cursor,
		      double *ret, enum metric_unit *ret_unit)
{
	const char *at = *cursor;
	double digits, divisor;

	if (!scan_decimal(&at, &digits, &divisor))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(units[i].suffix);

		if (strncmp(at, units[i].suffix, length) != 0 || is_word_byte(at[length]))
			continue;
		*cursor = at + length;
		/* Rounded once, at the end: 1.1 s is exactly 1100000000 ns. */
		*ret = digits * units[i].times / (divisor * units[i].over);
		*ret_unit = units[i].unit;
		return true;
	}
	return false;
}

bool unit_scan(const char **cursor, double *ret, enum metric_unit *ret_unit)
{
	return scan_unit(written_units, ARRAY_SIZE(written_units), cursor, ret, ret_unit);
}

enum amount_scan unit_scan_amount(const char **cursor, enum metric_unit unit, double *ret)
{
	enum metric_unit written;

	if (unit == UNIT_BYTES &&
	    scan_unit(short_sizes, ARRAY_SIZE(short_sizes), cursor, ret, &written))
		return AMOUNT_FITS;
	if (!unit_scan(cursor, ret, &written))
		return AMOUNT_NONE;
	switch (written) {
	case UNIT_RATIO:
		return AMOUNT_SHARE;
	case UNIT_LEVEL:
		*ret *= unit == UNIT_CENTIPERCENT ? 100 : 1;
		return AMOUNT_FITS;
	case UNIT_NS:
		*ret /= unit == UNIT_US ? 1000 : 1;
		return unit == UNIT_NS || unit == UNIT_US ? AMOUNT_FITS : AMOUNT_OTHER;
	default:
		return unit == written ? AMOUNT_FITS : AMOUNT_OTHER;
	}
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
	double shown = value / (unit == UNIT_CENTIPERCENT ? 100 : scale->size);

	if (value == 0 && unit != UNIT_RATIO)
		text_append_string(out, "0");
	else if (value != 0 && fabs(shown) < 0.0005)
		text_append_string(out, value < 0 ? ">-0.001" : "<0.001");
	else
		append_three(out, shown, decimals(unit, scale->size, shown));
}
