/* SPDX-License-Identifier: MIT */
#include "host/code/unwind_rules.h"

#include <errno.h>
#include <string.h>

#define WORD sizeof(uint64_t)
#define JUMP_ENTRY 16 /* bytes */

static bool is_valid(const struct unwind_rule *rule)
{
	return rule->kind < RULE_KINDS && rule->reg < UNWIND_REGISTERS;
}

bool unwind_rules_are_valid(const struct unwind_rules *rules)
{
	for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
		if (!is_valid(&rules->registers[i]))
			return false;
	return is_valid(&rules->cfa);
}

int stack_copy_read(const struct stack_copy *copy, uint64_t address, uint64_t *ret)
{
	uint64_t offset = address - copy->address;

	if (address % WORD)
		return -EFAULT;
	if (address < copy->address || copy->size < WORD || offset > copy->size - WORD)
		return -ENODATA;
	memcpy(ret, (const char *)copy->bytes + offset, WORD);
	return 0;
}

static bool is_known(const struct unwind_registers *registers, unsigned reg)
{
	return registers->known >> reg & 1;
}

static int jump_table_cfa(const struct unwind_rule *rule, const struct unwind_registers *registers,
			  uint64_t *ret)
{
	uint64_t byte = registers->values[UNWIND_PC] % JUMP_ENTRY;

	if (!is_known(registers, UNWIND_SP))
		return -EOPNOTSUPP;
	*ret = registers->values[UNWIND_SP] + (byte >= (uint64_t)rule->offset ? 2 * WORD : WORD);
	return 0;
}

/*
 * At the end of a function its rules may still name a place below the stack pointer, from where the register was popped
 * already.  The copy need not hold that, and the register does.
 */
static int read_saved(const struct stack_copy *copy, uint64_t address, unsigned reg,
		      const struct unwind_registers *registers, uint64_t *ret)
{
	int status = stack_copy_read(copy, address, ret);

	if (status != -ENODATA || address >= copy->address ||
	    address >= registers->values[UNWIND_SP] || !is_known(registers, reg))
		return status;
	*ret = registers->values[reg];
	return 0;
}

/* The value of a register in the caller, or the CFA; -ENOENT when it is lost. */
static int evaluate(const struct unwind_rule *rule, unsigned reg, uint64_t cfa,
		    const struct stack_copy *copy, const struct unwind_registers *registers,
		    uint64_t *ret)
{
	uint64_t offset = (uint64_t)(int64_t)rule->offset;

	switch (rule->kind) {
	case RULE_LOST:
		return -ENOENT;
	case RULE_SAME:
		*ret = registers->values[reg];
		return is_known(registers, reg) ? 0 : -EOPNOTSUPP;
	case RULE_AT_CFA:
		return read_saved(copy, cfa + offset, reg, registers, ret);
	case RULE_CFA:
		*ret = cfa + offset;
		return 0;
	case RULE_REGISTER:
		*ret = registers->values[rule->reg] + offset;
		return is_known(registers, rule->reg) ? 0 : -EOPNOTSUPP;
	case RULE_AT_REGISTER:
		if (!is_known(registers, rule->reg))
			return -EOPNOTSUPP;
		return stack_copy_read(copy, registers->values[rule->reg] + offset, ret);
	default:
		return -EOPNOTSUPP;
	}
}

static int find_cfa(const struct unwind_rules *rules, const struct stack_copy *copy,
		    const struct unwind_registers *registers, uint64_t *ret)
{
	switch (rules->cfa.kind) {
	case RULE_REGISTER:
	case RULE_AT_REGISTER:
		return evaluate(&rules->cfa, 0, 0, copy, registers, ret);
	case RULE_JUMP_TABLE:
		return jump_table_cfa(&rules->cfa, registers, ret);
	default:
		return -EOPNOTSUPP;
	}
}

/*
 * A call leaves the stack lower than it was before, unless a register holds where to return to: on arm64, or in
 * vfork().  A signal may have come on a stack of its own.
 */
static bool grows(const struct unwind_rules *rules, uint64_t before, uint64_t after)
{
	return rules->is_signal || after > before ||
	       (after == before && rules->registers[UNWIND_PC].kind == RULE_REGISTER);
}

/* The call overwrote the register that it left its return address in. */
static void lose_link(const struct unwind_rules *rules, struct unwind_registers *caller)
{
	const struct unwind_rule *link = &rules->registers[UNWIND_PC];

	if (link->kind == RULE_REGISTER && rules->registers[link->reg].kind == RULE_SAME &&
	    !rules->is_signal)
		caller->known &= ~((uint64_t)1 << link->reg);
}

int unwind_rules_apply(const struct unwind_rules *rules, const struct stack_copy *copy,
		       struct unwind_registers *registers)
{
	struct unwind_registers caller = { 0 };
	uint64_t cfa;
	int status;

	if (rules->registers[UNWIND_PC].kind == RULE_LOST)
		return -ENOENT;
	status = find_cfa(rules, copy, registers, &cfa);
	if (status < 0)
		return status;
	for (unsigned i = 0; i < UNWIND_REGISTERS; i++) {
		status = evaluate(&rules->registers[i], i, cfa, copy, registers, &caller.values[i]);
		if (status == 0)
			caller.known |= (uint64_t)1 << i;
		else if (i == UNWIND_PC || i == UNWIND_SP)
			return status;
	}
	if (caller.values[UNWIND_SP] % WORD ||
	    !grows(rules, registers->values[UNWIND_SP], caller.values[UNWIND_SP]))
		return -EFAULT;
	caller.values[UNWIND_PC] = unwind_plain_address(caller.values[UNWIND_PC]);
	lose_link(rules, &caller);
	*registers = caller;
	return 0;
}
