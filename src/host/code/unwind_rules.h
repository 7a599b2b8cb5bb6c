/* SPDX-License-Identifier: MIT */
/*
 * How to find the registers of a caller from those of the function that it called: what .eh_frame says about
 * one range of addresses, with expressions reduced to the few that occur.
 *
 * The code service makes these (serve_rules.c), and sends them as they are.
 */
#ifndef HOST_UNWIND_RULES_H
#define HOST_UNWIND_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "host/code/unwind.h"

enum unwind_rule_kind {
	RULE_LOST,	  /* the value cannot be known; of the return address: there is no caller */
	RULE_SAME,	  /* it was not changed */
	RULE_AT_CFA,	  /* it was saved at the CFA + offset */
	RULE_CFA,	  /* it is the CFA + offset */
	RULE_REGISTER,	  /* it is another register + offset */
	RULE_AT_REGISTER, /* it was saved at another register + offset */
	/*
	 * For the CFA in a table of jumps (PLT), whose entries have 16 bytes: SP + 8, and 8 more from byte
	 * `offset` of an entry on.
	 */
	RULE_JUMP_TABLE,
	RULE_UNKNOWN, /* an expression of another kind */
	RULE_KINDS,
};

struct unwind_rule {
	uint8_t kind;
	uint8_t reg;
	uint16_t unused;
	int32_t offset;
};

/* Has no padding, since it is compared and sent as bytes. */
struct unwind_rules {
	uint32_t is_signal; /* its caller was interrupted by a signal: it made no call */
	uint32_t unused;
	struct unwind_rule cfa; /* where the stack pointer of the caller was before the call */
	struct unwind_rule
		registers[UNWIND_REGISTERS]; /* the program counter: where to return to */
};

/* Whether kinds and registers are within their bounds. */
bool unwind_rules_are_valid(const struct unwind_rules *rules);

/* Reads a word of the copy: 0, -ENODATA outside of it, -EFAULT where no word can be. */
int stack_copy_read(const struct stack_copy *copy, uint64_t address, uint64_t *ret);

/*
 * Replaces registers by those of the caller.  Returns 0; -ENOENT when there is no caller; -ENODATA when the copy
 * ends; -EOPNOTSUPP for an expression that is not understood, or a register that is not known;
 * -EFAULT when the stack does not grow, or an address is impossible.
 */
int unwind_rules_apply(const struct unwind_rules *rules, const struct stack_copy *copy,
		       struct unwind_registers *registers);

/* The address without the bits that arm64 signs it with. */
static inline uint64_t unwind_plain_address(uint64_t address)
{
#if defined(__aarch64__)
	return address & (((uint64_t)1 << 48) - 1);
#else
	return address;
#endif
}

#endif
