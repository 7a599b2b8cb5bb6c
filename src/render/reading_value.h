/* SPDX-License-Identifier: MIT */
/*
 * A reading as people read it, as JSON and as a CSV field.
 *
 *	text	"-" absent, "max" unlimited, "yes" or "no", else scaled or escaped
 *	JSON	number, string, true or false, or "max"; for a cell that is not absent
 *	CSV	the stored number or the text; max; empty when absent
 */
#ifndef RENDER_READING_VALUE_H
#define RENDER_READING_VALUE_H

#include <stdint.h>

struct json;
struct sheet_column;
struct snapshot;
struct text;

void reading_text(struct text *out, const struct snapshot *snapshot,
		  const struct sheet_column *column, uint32_t row);
void reading_csv(struct text *out, const struct snapshot *snapshot,
		 const struct sheet_column *column, uint32_t row);
void reading_json(struct json *json, const struct snapshot *snapshot,
		  const struct sheet_column *column, uint32_t row);

#endif
