/* SPDX-License-Identifier: MIT */
#include "fuzz_text.h"

#include "collect/host/pressure.h"
#include "model/snapshot/sheet.h"

/* Whatever is present is in the sheet, and nothing else. */
static void check_store(const struct pressure *pressure)
{
	struct sheet sheet = { 0 };
	size_t present = 0;
	uint32_t row;

	for (int line = 0; line < PRESSURE_LINE_COUNT; line++)
		for (int key = 0; key < PRESSURE_KEY_COUNT; key++)
			present += pressure->present[line][key];
	fuzz_require(sheet_add_row(&sheet, 0, &row) == 0);
	fuzz_require(pressure_store(pressure, &sheet, row, "pressure cpu") == 0);
	fuzz_require(sheet.columns.count == present);
	fuzz_require(pressure_any(pressure) == (present > 0));
	sheet_clear(&sheet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct pressure pressure;

	pressure_parse(text, &pressure);
	check_store(&pressure);
	free(text);
	return 0;
}
