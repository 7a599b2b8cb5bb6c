/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an answer of the code service about unwind rules: what is taken for valid is kept without harm, and every
 * rule of it can be applied to a stack.  The first bytes are the address that was asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz_text.h"
#include "host/code/code_rules.h"

#define ROUNDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void apply_all(const struct code_rules *rules, const uint8_t *data, size_t size)
{
	struct stack_copy copy = { .address = 0x1000, .bytes = data, .size = size };

	for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
		copy.registers.values[i] = 0x1000 + 8 * (uint64_t)i;
	copy.registers.known = ((uint64_t)1 << UNWIND_REGISTERS) - 1;
	for (size_t i = 0; i < rules->list.count; i++) {
		struct unwind_registers registers = copy.registers;

		for (unsigned round = 0; round < ROUNDS; round++)
			if (unwind_rules_apply(&rules->list.data[i], &copy, &registers) < 0)
				break;
		fuzz_require(registers.known >> UNWIND_REGISTERS == 0);
		fuzz_require(registers.known >> UNWIND_PC & 1 && registers.known >> UNWIND_SP & 1);
	}
}

/* Ascending, and each row has rules or says that it has none. */
static void check_rows(const struct code_rules *rules, const struct code_rows *rows)
{
	for (size_t i = 0; i < rows->list.count; i++) {
		const struct code_row *row = &rows->list.data[i];

		fuzz_require(i == 0 || rows->list.data[i - 1].offset < row->offset);
		fuzz_require(row->rules < rules->list.count || row->rules >= CODE_NO_RULES - 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_rules_answer *answer = calloc(1, sizeof(*answer));
	struct code_rules rules = { 0 };
	struct code_rows rows = { 0 };
	uint64_t address = 0;

	fuzz_require(answer != NULL);
	if (size >= sizeof(address)) {
		memcpy(&address, data, sizeof(address));
		data += sizeof(address);
		size -= sizeof(address);
	}
	memcpy(answer, data, size < sizeof(*answer) ? size : sizeof(*answer));
	if (code_rules_answer_is_valid(answer, address) && answer->size <= UINT32_MAX - 16) {
		/* Twice, and once shifted: new rows replace old ones. */
		fuzz_require(code_rules_keep(&rules, &rows, 16, answer) == 0);
		fuzz_require(code_rules_keep(&rules, &rows, 16, answer) == 0);
		fuzz_require(code_rules_keep(&rules, &rows, 11, answer) == 0);
		check_rows(&rules, &rows);
		apply_all(&rules, data, size);
	}
	code_rows_clear(&rows);
	code_rules_clear(&rules);
	free(answer);
	return 0;
}
