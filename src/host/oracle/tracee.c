/* SPDX-License-Identifier: MIT */
#include "host/oracle/tracee.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#define WORD sizeof(uint64_t)

int tracee_get_registers(pid_t pid, struct user_regs_struct *ret)
{
	struct iovec place = { ret, sizeof(*ret) };

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &place) < 0)
		return -errno;
	return place.iov_len == sizeof(*ret) ? 0 : -EIO;
}

static int set_registers(pid_t pid, const struct user_regs_struct *registers)
{
	struct iovec place = { (void *)registers, sizeof(*registers) };

	return ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &place) < 0 ? -errno : 0;
}

int tracee_read(pid_t pid, uint64_t address, uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		errno = 0;
		words[i] = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, (void *)(address + i * WORD), 0);
		if (errno)
			return -errno;
	}
	return 0;
}

int tracee_write(pid_t pid, uint64_t address, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ptrace(PTRACE_POKEDATA, pid, (void *)(address + i * WORD), (void *)words[i]) <
		    0)
			return -errno;
	return 0;
}

/* Changes only one aligned word, since the next one may not be mapped. */
static int replace_bits(pid_t pid, uint64_t address, uint64_t mask, uint64_t bits)
{
	unsigned shift = 8 * (unsigned)(address % WORD);
	uint64_t aligned = address - address % WORD;
	uint64_t word;
	int status = tracee_read(pid, aligned, &word, 1);

	if (status < 0)
		return status;
	word = (word & ~(mask << shift)) | bits << shift;
	return tracee_write(pid, aligned, &word, 1);
}

#if defined(__x86_64__)

uint64_t tracee_stack(const struct user_regs_struct *registers)
{
	return registers->rsp;
}

uint64_t tracee_result(const struct user_regs_struct *registers)
{
	return registers->rax;
}

int tracee_mapped_fd(const struct user_regs_struct *registers)
{
	return (int)registers->r8;
}

/* The trap is one byte long, and the instruction pointer is already behind it. */
uint64_t tracee_trap(const struct user_regs_struct *registers)
{
	return registers->rip - 1;
}

int tracee_set_trap(pid_t pid, uint64_t address)
{
	return replace_bits(pid, address, 0xff, 0xcc);
}

int tracee_enter(pid_t pid, const struct user_regs_struct *registers,
		 const struct tracee_call *call)
{
	struct user_regs_struct entering = *registers;
	int status;

	entering.rip = call->function;
	entering.rsp = call->stack - WORD;
	entering.rdi = call->arguments[0];
	entering.rsi = call->arguments[1];
	entering.rdx = call->arguments[2];
	entering.rcx = call->arguments[3];
	entering.r8 = call->arguments[4];
	entering.rax = 0;
	entering.orig_rax = UINT64_MAX; /* there is no system call that the kernel should restart */
	status = tracee_write(pid, entering.rsp, &call->return_to, 1);
	return status < 0 ? status : set_registers(pid, &entering);
}

#elif defined(__aarch64__)

uint64_t tracee_stack(const struct user_regs_struct *registers)
{
	return registers->sp;
}

uint64_t tracee_result(const struct user_regs_struct *registers)
{
	return registers->regs[0];
}

int tracee_mapped_fd(const struct user_regs_struct *registers)
{
	return (int)registers->regs[4];
}

uint64_t tracee_trap(const struct user_regs_struct *registers)
{
	return registers->pc;
}

/* brk #0 */
int tracee_set_trap(pid_t pid, uint64_t address)
{
	if (address % 4)
		return -EINVAL;
	return replace_bits(pid, address, UINT32_MAX, 0xd4200000);
}

int tracee_enter(pid_t pid, const struct user_regs_struct *registers,
		 const struct tracee_call *call)
{
	struct user_regs_struct entering = *registers;

	for (unsigned i = 0; i < TRACEE_ARGUMENTS; i++)
		entering.regs[i] = call->arguments[i];
	entering.regs[30] = call->return_to;
	entering.sp = call->stack;
	entering.pc = call->function;
	return set_registers(pid, &entering);
}

#endif
