/* SPDX-License-Identifier: MIT */
/*
 * Works on a stopped child of ours that asked to be traced: reads and sets its registers and words
 * of its memory, and makes it call one of its functions.
 *
 * Addresses and values come from the child and are not trusted; a bad one gives an error.  All
 * functions return 0 or a negative errno.
 */
#ifndef HOST_TRACEE_H
#define HOST_TRACEE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#define TRACEE_ARGUMENTS 5

struct tracee_call {
	uint64_t function;
	uint64_t return_to;
	uint64_t stack; /* the memory below it is free; a multiple of 16 */
	uint64_t arguments[TRACEE_ARGUMENTS];
};

int tracee_get_registers(pid_t pid, struct user_regs_struct *ret);

uint64_t tracee_stack(const struct user_regs_struct *registers);
uint64_t tracee_result(const struct user_regs_struct *registers);

/* The fd that it is about to map, at the entry of mmap(). */
int tracee_mapped_fd(const struct user_regs_struct *registers);

/* The address of the trap that it has just hit. */
uint64_t tracee_trap(const struct user_regs_struct *registers);

int tracee_read(pid_t pid, uint64_t address, uint64_t *words, size_t count);
int tracee_write(pid_t pid, uint64_t address, const uint64_t *words, size_t count);

/* Replaces the instruction there by a trap. */
int tracee_set_trap(pid_t pid, uint64_t address);

/*
 * Makes it enter a function when it continues, and return to call->return_to, where it should
 * trap.
 */
int tracee_enter(pid_t pid, const struct user_regs_struct *registers,
		 const struct tracee_call *call);

#endif
