/* SPDX-License-Identifier: MIT */
#include "host/code/unwind.h"

#include <errno.h>
#include <stdbool.h>

#include "host/code/code_rules.h"
#include "host/code/code_state.h"
#include "host/code/mapped_code.h"
#include "host/code/unwind_rules.h"

#define WORD sizeof(uint64_t)
#define ENTRY_BYTES 64 /* the code at a program's entry, which has no caller */

struct walk {
	struct address_space *space;
	const struct stack_copy *copy;
	struct unwind_registers registers; /* of the present frame */
	bool is_caller; /* it made a call, and its program counter is where that returns to */
};

static bool knows(const struct walk *walk, unsigned reg)
{
	return walk->registers.known >> reg & 1;
}

/* ---- frames without rules ---- */

static bool is_entry(const struct code_frame *frame)
{
	const struct code_file *file = frame->file;

	return file && file->state == CODE_FILE_KNOWN && file->entry &&
	       frame->address - file->entry < ENTRY_BYTES;
}

/* Goes on at the caller, if there is code where it would return to. */
static int return_to(struct walk *walk, uint64_t pc, uint64_t sp, uint64_t fp)
{
	struct unwind_registers caller = { 0 };

	pc = unwind_plain_address(pc);
	if (!mapped_code_at(walk->space, pc - 1))
		return -EOPNOTSUPP;
	caller.values[UNWIND_PC] = pc;
	caller.values[UNWIND_SP] = sp;
	caller.values[UNWIND_FP] = fp;
	caller.known =
		(uint64_t)1 << UNWIND_PC | (uint64_t)1 << UNWIND_SP | (uint64_t)1 << UNWIND_FP;
	walk->registers = caller;
	return 0;
}

/*
 * A function without rules, in a file that has some, is a small one in assembler, or an entry of a jump table:
 * where the thread is in it, the top of the stack is still the return address.
 */
static int step_by_top(struct walk *walk, const struct code_frame *frame)
{
	const struct unwind_registers *registers = &walk->registers;
	uint64_t sp = registers->values[UNWIND_SP], pc;

	if (walk->is_caller || !frame->file || frame->file->state != CODE_FILE_KNOWN ||
	    frame->file->rows.has_none || !knows(walk, UNWIND_FP))
		return -EOPNOTSUPP;
#if defined(__aarch64__)
	pc = registers->values[30];
#else
	if (stack_copy_read(walk->copy, sp, &pc) < 0)
		return -EOPNOTSUPP;
	sp += WORD;
#endif
	return return_to(walk, pc, sp, registers->values[UNWIND_FP]);
}

/*
 * The outermost frame has a frame pointer of zero, as the ABI asks for.  In a file that has rules a thread may be
 * anywhere else and use that register for other things.
 */
static bool is_outermost(const struct walk *walk, const struct code_frame *frame)
{
	const struct code_file *file = frame->file;

	return walk->registers.values[UNWIND_FP] == 0 &&
	       (walk->is_caller || !file || file->state == CODE_FILE_OTHER ||
		(file->state == CODE_FILE_KNOWN && file->rows.has_none));
}

static int step_by_frame_pointer(struct walk *walk, const struct code_frame *frame)
{
	uint64_t fp = walk->registers.values[UNWIND_FP], next = 0, pc = 0;
	int status;

	if (!knows(walk, UNWIND_FP))
		return -EOPNOTSUPP;
	if (is_outermost(walk, frame))
		return -ENOENT;
	if (fp < walk->registers.values[UNWIND_SP])
		return -EOPNOTSUPP;
	status = stack_copy_read(walk->copy, fp, &next);
	if (status == 0)
		status = stack_copy_read(walk->copy, fp + WORD, &pc);
	if (status == -EFAULT)
		return -EOPNOTSUPP;
	return status < 0 ? status : return_to(walk, pc, fp + 2 * WORD, next);
}

static int step_without_rules(struct walk *walk, const struct code_frame *frame)
{
	if (is_entry(frame))
		return -ENOENT;
	if (step_by_top(walk, frame) < 0) {
		int status = step_by_frame_pointer(walk, frame);

		if (status < 0)
			return status;
	}
	walk->is_caller = true;
	return 0;
}

/* ---- frames with rules ---- */

static const struct unwind_rules *rules_of(struct walk *walk, const struct code_frame *frame)
{
	if (!frame->file || frame->file->state != CODE_FILE_KNOWN)
		return NULL;
	return code_rules_find(walk->space->code, frame->file, frame->address);
}

/* Goes on to the caller; the errors are those of unwind_rules_apply(). */
static int step(struct walk *walk, const struct code_frame *frame)
{
	const struct unwind_rules *rules = rules_of(walk, frame);
	int status;

	if (!rules)
		return step_without_rules(walk, frame);
	status = unwind_rules_apply(rules, walk->copy, &walk->registers);
	if (status == 0)
		walk->is_caller = !rules->is_signal;
	return status;
}

static enum unwind_end end_of(int status)
{
	switch (status) {
	case -ENOENT:
		return UNWIND_COMPLETE;
	case -ENODATA:
		return UNWIND_CUT;
	case -EFAULT:
		return UNWIND_BAD;
	default:
		return UNWIND_NO_RULES;
	}
}

enum unwind_end unwind(struct address_space *space, const struct stack_copy *copy,
		       struct code_frame *frames, size_t capacity, size_t *ret_count)
{
	struct walk walk = { .space = space, .copy = copy, .registers = copy->registers };

	for (*ret_count = 0; *ret_count < capacity; ++*ret_count) {
		uint64_t pc = walk.registers.values[UNWIND_PC] - walk.is_caller;
		struct mapped_code *mapped = mapped_code_at(space, pc);
		int status;

		if (!knows(&walk, UNWIND_PC) || (!mapped && *ret_count))
			return UNWIND_UNMAPPED;
		frames[*ret_count] = mapped ? mapped_code_frame(space, mapped, pc) :
					      (struct code_frame){ .address = pc, .pc = pc };
		status = step(&walk, &frames[*ret_count]);
		if (status < 0) {
			++*ret_count;
			return mapped ? end_of(status) : UNWIND_UNMAPPED;
		}
	}
	return UNWIND_DEEP;
}
