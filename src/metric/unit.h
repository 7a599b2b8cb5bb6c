/*
 * Numbers as people read them: "1.234 ms", "3.000 GiB", "12.345 K".
 */
#ifndef METRIC_UNIT_H
#define METRIC_UNIT_H

#include <stdint.h>

#include "metric/metric.h"

struct text;

/* Exact below the first step ("512 B", "7"), else three decimals and a unit. */
void unit_format(struct text *out, enum metric_unit unit, uint64_t value);
/* The same, but a value below the first step that is not whole has two decimals, a ratio three. */
void unit_format_real(struct text *out, enum metric_unit unit, double value);

#endif
