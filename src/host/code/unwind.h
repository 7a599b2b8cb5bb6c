/* SPDX-License-Identifier: MIT */
/*
 * Finds the callers of a thread, from its registers and a copy of the live part of its stack.
 *
 * The rules are those of .eh_frame, so frame pointers are not needed; they are used only where a module has no
 * rules (JIT code).  Nothing of the target is read.  The copy may hold anything.
 */
#ifndef HOST_UNWIND_H
#define HOST_UNWIND_H

#include <stddef.h>
#include <stdint.h>

struct address_space;

/* Numbered as DWARF numbers them; the program counter comes last. */
#if defined(__aarch64__)
#define UNWIND_REGISTERS 33
#define UNWIND_SP 31
#define UNWIND_FP 29
#define UNWIND_PC 32
#else
#define UNWIND_REGISTERS 17
#define UNWIND_SP 7
#define UNWIND_FP 6
#define UNWIND_PC 16
#endif

struct unwind_registers {
	uint64_t known; /* one bit for each */
	uint64_t values[UNWIND_REGISTERS];
};

/* The stack of a thread from `address` on, which is its stack pointer or below. */
struct stack_copy {
	struct unwind_registers registers;
	uint64_t address;
	const void *bytes;
	size_t size;
};

struct code_file;

struct code_frame {
	struct code_file *file; /* NULL: no file is mapped there (JIT, or not known) */
	uint64_t address;	/* in the file, as its symbols have it; without a file: as it ran */
	uint64_t pc;		/* as it ran; of a caller: of its call, not of the return */
};

enum unwind_end {
	UNWIND_COMPLETE, /* the outermost frame: its rules have no return address */
	UNWIND_CUT,	 /* the copy of the stack ends */
	UNWIND_NO_RULES, /* there are no rules for this address, and the frame pointer leads nowhere */
	UNWIND_UNMAPPED, /* an address where no code is mapped */
	UNWIND_BAD,	 /* the stack does not grow, or a rule makes no sense */
	UNWIND_DEEP,	 /* more frames than there is room for */
};

/* Innermost frame first; *ret_count frames are valid whatever ended it. */
enum unwind_end unwind(struct address_space *space, const struct stack_copy *copy,
		       struct code_frame *frames, size_t capacity, size_t *ret_count);

#endif
