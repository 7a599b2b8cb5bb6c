/* SPDX-License-Identifier: MIT */
/*
 * A traced program that is stopped: its registers, and a copy of its stack as a tracer makes it.
 */
#ifndef TESTS_UNIT_STOPPED_STACK_H
#define TESTS_UNIT_STOPPED_STACK_H

#include <elf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/code/unwind.h"

#define STACK_COPY_BYTES 32768

struct stopped_stack {
	struct stack_copy copy;
	char bytes[STACK_COPY_BYTES];
};

#if defined(__aarch64__)
static inline void registers_of(const struct user_regs_struct *from, struct unwind_registers *ret)
{
	for (unsigned i = 0; i <= UNWIND_SP; i++)
		ret->values[i] = i < UNWIND_SP ? from->regs[i] : from->sp;
	ret->values[UNWIND_PC] = from->pc;
	ret->known = ((uint64_t)1 << UNWIND_REGISTERS) - 1;
}
#else
static inline void registers_of(const struct user_regs_struct *from, struct unwind_registers *ret)
{
	const uint64_t values[UNWIND_REGISTERS] = {
		from->rax, from->rdx, from->rcx, from->rbx, from->rsi, from->rdi,
		from->rbp, from->rsp, from->r8,	 from->r9,  from->r10, from->r11,
		from->r12, from->r13, from->r14, from->r15, from->rip,
	};

	for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
		ret->values[i] = values[i];
	ret->known = ((uint64_t)1 << UNWIND_REGISTERS) - 1;
}
#endif

/* Copies from `below` bytes below the stack pointer on; what cannot be read, above the end of the stack, is left out. */
static inline bool stopped_stack_copy(pid_t tid, uint64_t below, struct stopped_stack *ret)
{
	struct user_regs_struct registers;
	struct iovec all = { &registers, sizeof(registers) };
	size_t wanted = STACK_COPY_BYTES;
	ssize_t got = -1;

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &all) < 0)
		return false;
	registers_of(&registers, &ret->copy.registers);
	ret->copy.address = ret->copy.registers.values[UNWIND_SP] - below;
	ret->copy.bytes = ret->bytes;
	/* A read stops at the first page that is not there, by whole parts: one part for each page. */
	for (size_t done = 0; done < wanted; done += (size_t)got) {
		uint64_t from = ret->copy.address + done;
		size_t size = 4096 - from % 4096;
		struct iovec local = { ret->bytes + done,
				       size < wanted - done ? size : wanted - done };
		struct iovec remote = { (void *)from, local.iov_len };

		ret->copy.size = done;
		got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
		if (got <= 0)
			return done > 0;
		ret->copy.size = done + (size_t)got;
	}
	return true;
}

/* Starts a program that stops itself, and waits until it has. */
static inline pid_t stopped_start(const char *path, char *const *arguments)
{
	int state = 0;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(path, arguments);
		_exit(127);
	}
	waitpid(pid, &state, 0); /* the exec */
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE);
	return pid;
}

/* Lets threads go on until one gets a SIGSTOP of its own making; its tid, or -1 when all have ended. */
static inline pid_t stopped_wait(pid_t pid)
{
	int state = 0, signal = 0;
	pid_t tid = pid;

	for (;;) {
		if (ptrace(PTRACE_CONT, tid, 0, (void *)(intptr_t)signal) < 0)
			return -1;
		tid = waitpid(-1, &state, __WALL);
		while (tid > 0 && !WIFSTOPPED(state))
			tid = tid == pid ? -1 : waitpid(-1, &state, __WALL);
		if (tid < 0)
			return -1;
		/* A thread that was born stops too, but was sent no signal by itself. */
		if (WSTOPSIG(state) == SIGSTOP && (state >> 16) == 0) {
			siginfo_t info;

			if (ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 &&
			    (info.si_code == SI_TKILL || info.si_code == SI_USER) &&
			    info.si_pid == pid)
				return tid;
		}
		signal = WSTOPSIG(state) == SIGSTOP || WSTOPSIG(state) == SIGTRAP ? 0 :
										    WSTOPSIG(state);
		if (state >> 16)
			signal = 0;
	}
}

static inline void stopped_end(pid_t pid)
{
	kill(pid, SIGKILL);
	/* Its threads are reaped before it can be. */
	for (pid_t ended = 0; ended != pid && ended >= 0;)
		ended = waitpid(-1, NULL, __WALL);
}

#endif
