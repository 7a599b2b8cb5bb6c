#include "metric/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

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
