/* SPDX-License-Identifier: MIT */
/* Answers with unwind rules, made from .eh_frame or .debug_frame by elfutils. */
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "host/code/service/code_protocol.h"
#include "host/code/service/code_serve.h"

#define STEPS_BACK 64 /* ranges before the address that are sent along */

/* ---- one rule ---- */

static bool is_breg(const Dwarf_Op *operation, unsigned *ret_reg, int64_t *ret_offset)
{
	if (operation->atom >= DW_OP_breg0 && operation->atom <= DW_OP_breg31) {
		*ret_reg = operation->atom - DW_OP_breg0;
		*ret_offset = (int64_t)operation->number;
		return true;
	}
	*ret_reg = operation->number < UNWIND_REGISTERS ? (unsigned)operation->number :
							  UNWIND_REGISTERS;
	*ret_offset = (int64_t)operation->number2;
	return operation->atom == DW_OP_bregx;
}

static struct unwind_rule rule_of(enum unwind_rule_kind kind, unsigned reg, int64_t offset)
{
	struct unwind_rule rule = { (uint8_t)kind, (uint8_t)reg, 0, (int32_t)offset };

	if (reg >= UNWIND_REGISTERS || offset != (int32_t)offset)
		return (struct unwind_rule){ .kind = RULE_UNKNOWN };
	return rule;
}

/* What linkers write: SP + 8 + ((PC & 15) >= N) * 8. */
static bool is_jump_table(const Dwarf_Op *operations, size_t count)
{
	static const int atoms[] = { DW_OP_and,	 DW_OP_lit0, DW_OP_ge,
				     DW_OP_lit3, DW_OP_shl,  DW_OP_plus };

	if (count != 3 + ARRAY_SIZE(atoms) || operations[0].atom != DW_OP_breg0 + UNWIND_SP ||
	    operations[0].number != 8 || operations[1].atom != DW_OP_breg0 + UNWIND_PC ||
	    operations[1].number != 0 || operations[2].atom != DW_OP_lit15)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(atoms); i++)
		if (atoms[i] != DW_OP_lit0 && operations[3 + i].atom != atoms[i])
			return false;
	return operations[4].atom >= DW_OP_lit0 && operations[4].atom <= DW_OP_lit15;
}

static struct unwind_rule cfa_rule(const Dwarf_Op *operations, size_t count)
{
	unsigned reg;
	int64_t offset;

	if (is_jump_table(operations, count))
		return rule_of(RULE_JUMP_TABLE, 0, operations[4].atom - DW_OP_lit0);
	if (count >= 1 && count <= 2 && is_breg(&operations[0], &reg, &offset)) {
		if (count == 1)
			return rule_of(RULE_REGISTER, reg, offset);
		if (operations[1].atom == DW_OP_deref)
			return rule_of(RULE_AT_REGISTER, reg, offset);
		if (operations[1].atom == DW_OP_plus_uconst)
			return rule_of(RULE_REGISTER, reg, offset + (int64_t)operations[1].number);
	}
	return (struct unwind_rule){ .kind = RULE_UNKNOWN };
}

/* An expression: the place of the value or, at its end a DW_OP_stack_value, the value. */
static struct unwind_rule expression_rule(const Dwarf_Op *operations, size_t count)
{
	bool is_value = count && operations[count - 1].atom == DW_OP_stack_value;
	bool has_cfa = count && operations[0].atom == DW_OP_call_frame_cfa;
	unsigned reg;
	int64_t offset;

	count -= is_value + has_cfa;
	operations += has_cfa;
	if (has_cfa && count == 0)
		return rule_of(is_value ? RULE_CFA : RULE_AT_CFA, 0, 0);
	if (has_cfa && count == 1 && operations[0].atom == DW_OP_plus_uconst)
		return rule_of(is_value ? RULE_CFA : RULE_AT_CFA, 0, (int64_t)operations[0].number);
	if (count == 1 && is_breg(&operations[0], &reg, &offset))
		return rule_of(is_value ? RULE_REGISTER : RULE_AT_REGISTER, reg, offset);
	if (count == 1 && operations[0].atom == DW_OP_regx)
		return rule_of(RULE_REGISTER, (unsigned)operations[0].number, 0);
	return (struct unwind_rule){ .kind = RULE_UNKNOWN };
}

/*
 * Registers that a function leaves as they were.  We say so ourselves: elfutils has a default for each
 * machine, where it takes another register for %rbx.
 */
static bool is_preserved(unsigned reg)
{
#if defined(__aarch64__)
	return reg >= 19 && reg <= 30;
#else
	return reg == 3 || reg == 6 || (reg >= 12 && reg <= 15);
#endif
}

static struct unwind_rule register_rule(Dwarf_Frame *frame, unsigned reg, bool is_return)
{
	Dwarf_Op memory[3], *operations;
	size_t count;

	if (dwarf_frame_register(frame, (int)reg, memory, &operations, &count) < 0)
		return (struct unwind_rule){ .kind = RULE_UNKNOWN };
	if (count)
		return expression_rule(operations, count);
	if (is_return && operations) /* undefined: there is no caller */
		return (struct unwind_rule){ .kind = RULE_LOST };
	if (is_return)
		return rule_of(RULE_REGISTER, reg, 0);
	return (struct unwind_rule){ .kind = is_preserved(reg) ? RULE_SAME : RULE_LOST };
}

/* ---- the rules of a range ---- */

struct range {
	uint64_t
		start; /* or lower: elfutils has that of the remembered state after DW_CFA_restore_state */
	uint64_t end;
	struct unwind_rules rules;
};

static void make_rules(Dwarf_Frame *frame, unsigned return_register, struct unwind_rules *ret)
{
	Dwarf_Op *operations;
	size_t count;

	ret->cfa = (struct unwind_rule){ .kind = RULE_UNKNOWN };
	if (dwarf_frame_cfa(frame, &operations, &count) == 0)
		ret->cfa = cfa_rule(operations, count);
	for (unsigned reg = 0; reg < UNWIND_PC; reg++)
		ret->registers[reg] = register_rule(frame, reg, false);
	ret->registers[UNWIND_PC] = register_rule(frame, return_register, true);
	if (ret->registers[UNWIND_SP].kind == RULE_LOST)
		ret->registers[UNWIND_SP] = (struct unwind_rule){ .kind = RULE_CFA };
}

static int find_in(Dwarf_CFI *table, uint64_t address, struct range *ret)
{
	CLEANUP(free_pointer) Dwarf_Frame *frame = NULL;
	bool is_signal;
	int reg;

	if (!table || dwarf_cfi_addrframe(table, address, &frame) != 0)
		return -ENOENT;
	memset(ret, 0, sizeof(*ret));
	reg = dwarf_frame_info(frame, &ret->start, &ret->end, &is_signal);
	if (reg < 0 || ret->start > address || ret->end <= address)
		return -ENOENT;
	ret->rules.is_signal = is_signal;
	make_rules(frame, (unsigned)reg, &ret->rules);
	return 0;
}

static bool has_debug_frame(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;
	GElf_Shdr header;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ?
					   elf_strptr(elf, names, header.sh_name) :
					   NULL;

		if (name && header.sh_type != SHT_NOBITS && strcmp(name, ".debug_frame") == 0)
			return true;
	}
	return false;
}

static void open_tables(struct served_file *file)
{
	if (file->has_tables)
		return;
	file->has_tables = true;
	file->eh_frame = dwarf_getcfi_elf(file->elf);
	if (has_debug_frame(file->elf))
		file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (file->dwarf)
		file->debug_frame = dwarf_getcfi(file->dwarf);
}

static int find_range(const struct served_file *file, uint64_t address, struct range *ret)
{
	if (find_in(file->eh_frame, address, ret) == 0)
		return 0;
	return find_in(file->debug_frame, address, ret);
}

/* ---- the answer ---- */

/* False when there is no more room. */
static bool add_row(struct code_rules_answer *answer, uint64_t start, const struct range *range)
{
	uint32_t rules = 0;

	if (answer->row_count == CODE_ROWS_MAX || range->end - answer->start > UINT32_MAX)
		return false;
	while (rules < answer->rules_count &&
	       memcmp(&answer->rules[rules], &range->rules, sizeof(range->rules)) != 0)
		rules++;
	if (rules == CODE_RULES_MAX)
		return false;
	if (rules == answer->rules_count)
		answer->rules[answer->rules_count++] = range->rules;
	answer->rows[answer->row_count++] =
		(struct code_row){ (uint32_t)(start - answer->start), rules };
	answer->size = (uint32_t)(range->end - answer->start);
	return true;
}

/* Where the ranges begin that have no gap between them and the address. */
static uint64_t step_back(const struct served_file *file, uint64_t address)
{
	struct range range;

	for (unsigned i = 0; i < STEPS_BACK; i++) {
		if (address == 0 || find_range(file, address - 1, &range) < 0)
			break;
		address = range.start;
	}
	return address;
}

int serve_rules(struct served_file *file, const struct code_question *question,
		struct code_answer *answer)
{
	struct code_rules_answer *found = (struct code_rules_answer *)answer->bytes;
	struct range range;
	uint64_t address;

	open_tables(file);
	if (!file->eh_frame && !file->debug_frame)
		return -ENOENT;
	memset(found, 0, sizeof(*found));
	found->start = question->address;
	if (find_range(file, question->address, &range) < 0)
		return sizeof(*found);
	found->start = step_back(file, range.start);
	address = found->start;
	while (find_range(file, address, &range) == 0 && add_row(found, address, &range))
		address = range.end;
	return sizeof(*found);
}
