/* SPDX-License-Identifier: MIT */
/*
 * A child of ours that asked to be traced, while it is stopped: its registers,
 * words of its memory, and a call of one of its functions.
 *
 * Addresses and values are the child's own, so they are hostile; a bad one gives
 * an error.  All functions return 0 or a negative errno.
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
	uint64_t stack; /* free below; a multiple of 16 */
	uint64_t arguments[TRACEE_ARGUMENTS];
};

int tracee_get_registers(pid_t pid, struct user_regs_struct *ret);
int tracee_set_registers(pid_t pid, const struct user_regs_struct *registers);
int tracee_thread_pointer(pid_t pid, const struct user_regs_struct *registers, uint64_t *ret);

uint64_t tracee_stack(const struct user_regs_struct *registers);
uint64_t tracee_result(const struct user_regs_struct *registers);

/* The fd that it is about to map, at the entry of mmap(). */
int tracee_mapped_fd(const struct user_regs_struct *registers);

/* The address of the trap that it has just run into. */
uint64_t tracee_trap(const struct user_regs_struct *registers);

int tracee_read(pid_t pid, uint64_t address, uint64_t *words, size_t count);
int tracee_write(pid_t pid, uint64_t address, const uint64_t *words, size_t count);

/* Replaces the instruction there by a trap. */
int tracee_set_trap(pid_t pid, uint64_t address);

/* Makes it enter a function when it goes on, and return to a place where it should trap. */
int tracee_enter(pid_t pid, const struct user_regs_struct *registers,
		 const struct tracee_call *call);

#endif
