/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/confine.h"
#include "host/oracle.h"
#include "host/oracle_start.h"
#include "host/tracee.h"

#define WORD sizeof(uint64_t)
#define STACK_BYTES 1024      /* more than our few arguments, or what the kernel adds, take */
#define BELOW_STACK 1024      /* bytes left free below the stack pointer, and ours below that */
#define MISSING_LIBRARIES 127 /* what the dynamic loader exits with */

struct question {
	int program;
	int file; /* what is executed: the program or our copy of it */
};

/* A child that stopped before main(), and where its main() and mallctl() are. */
struct run {
	pid_t pid;
	uint64_t deadline_ns;
	uint64_t main;
	uint64_t mallctl;
	struct user_regs_struct at_main;
	bool ended; /* and reaped: its pid may be another's by now */
};

/* What mallctl() is given and gives, as it lies on the child's stack. */
struct exchange {
	uint64_t counter;
	uint64_t size;
	char name[24];
};

#define EXCHANGE_WORDS (sizeof(struct exchange) / WORD)

static int choose_file(const struct question *question)
{
	struct stat file;
	mode_t anyone = S_IROTH | S_IXOTH;

	if (fstat(question->program, &file) < 0)
		return -errno;
	if (!S_ISREG(file.st_mode))
		return -EBADMSG;
	if ((file.st_mode & anyone) != anyone)
		return oracle_copy_file(question->program, question->file);
	return dup3(question->program, question->file, O_CLOEXEC) < 0 ? -errno : 0;
}

/* In the child: to ask for being traced is the last thing that its rights are needed for. */
static int prepare(void *argument)
{
	const struct question *question = argument;
	int status = oracle_check_file(question->program);

	if (status == 0)
		status = choose_file(question);
	if (status < 0)
		return status;
	return ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 ? -errno : 0;
}

static int execute(void *argument, int answer)
{
	const struct question *question = argument;
	char *arguments[] = { "taskscope-oracle", NULL };
	char *environment[] = { ORACLE_ENVIRONMENT, NULL };

	(void)answer;
	return oracle_execute(question->file, arguments, environment);
}

static int wait_for_stop(struct run *run, int *ret_state)
{
	int status = confined_wait(run->pid, run->deadline_ns, ret_state);

	run->ended = status == -ECHILD || (status == 0 && !WIFSTOPPED(*ret_state));
	return status;
}

/* The first stop: the program is loaded, and not one instruction of it has run. */
static int wait_for_execution(struct run *run)
{
	int state;
	int status = wait_for_stop(run, &state);

	if (status < 0)
		return status;
	if (WIFEXITED(state))
		return WEXITSTATUS(state) ? -WEXITSTATUS(state) : -EPROTO;
	if (!WIFSTOPPED(state) || WSTOPSIG(state) != SIGTRAP)
		return -EPROTO;
	if (ptrace(PTRACE_SETOPTIONS, run->pid, 0, PTRACE_O_EXITKILL) < 0)
		return -errno;
	return 0;
}

/* Behind the arguments and the environment, which both end with a zero. */
static int find_auxiliary(pid_t pid, uint64_t stack, uint64_t *ret)
{
	uint64_t end = stack + STACK_BYTES;
	unsigned zeros = 0;
	uint64_t word;

	for (stack += WORD; stack < end && zeros < 2; stack += WORD) {
		int status = tracee_read(pid, stack, &word, 1);

		if (status < 0)
			return status;
		zeros += word == 0;
	}
	*ret = stack;
	return 0;
}

/* Where the entry point came to lie tells where all else is. */
static int find_entry(const struct run *run, uint64_t *ret)
{
	struct user_regs_struct registers;
	uint64_t pair[2], place = 0, end;
	int status = tracee_get_registers(run->pid, &registers);

	if (status == 0)
		status = find_auxiliary(run->pid, tracee_stack(&registers), &place);
	if (status < 0)
		return status;
	for (end = place + STACK_BYTES; place < end; place += sizeof(pair)) {
		status = tracee_read(run->pid, place, pair, 2);
		if (status < 0)
			return status;
		if (pair[0] == AT_NULL)
			break;
		if (pair[0] == AT_ENTRY) {
			*ret = pair[1];
			return 0;
		}
	}
	return -ENODATA;
}

static int place_trap(struct run *run, const struct oracle_program *program)
{
	uint64_t entry;
	int status = find_entry(run, &entry);

	if (status < 0)
		return status;
	run->main = program->main + (entry - program->entry);
	run->mallctl = program->mallctl + (entry - program->entry);
	return tracee_set_trap(run->pid, run->main);
}

/* Lets it go on until it comes to main; its own signals are its own affair. */
static int run_to_main(struct run *run, struct user_regs_struct *ret)
{
	uintptr_t signal = 0;
	int state;
	int status;

	do {
		if (ptrace(PTRACE_CONT, run->pid, 0, (void *)signal) < 0)
			return -errno;
		status = wait_for_stop(run, &state);
		if (status < 0)
			return status;
		if (WIFEXITED(state))
			return WEXITSTATUS(state) == MISSING_LIBRARIES ? -ENOENT : -ECHILD;
		if (!WIFSTOPPED(state))
			return -EPROTO;
		signal = (uintptr_t)WSTOPSIG(state);
	} while (signal != SIGTRAP);
	status = tracee_get_registers(run->pid, ret);
	if (status < 0)
		return status;
	return tracee_trap(ret) == run->main ? 0 : -EPROTO;
}

/* mallctl(name, &counter, &size, NULL, 0), which returns into the trap. */
static int enter_mallctl(const struct run *run, uint64_t place)
{
	struct tracee_call call = {
		.function = run->mallctl,
		.return_to = run->main,
		.stack = place,
		.arguments = { place + offsetof(struct exchange, name),
			       place + offsetof(struct exchange, counter),
			       place + offsetof(struct exchange, size), 0, 0 },
	};

	return tracee_enter(run->pid, &run->at_main, &call);
}

static int call_mallctl(struct run *run, const char *name, uint64_t *ret_counter)
{
	uint64_t place = (tracee_stack(&run->at_main) - BELOW_STACK) & ~(uint64_t)15;
	struct exchange exchange = { .size = sizeof(exchange.counter) };
	struct user_regs_struct after;
	uint64_t words[EXCHANGE_WORDS];
	int status;

	snprintf(exchange.name, sizeof(exchange.name), "%s", name);
	memcpy(words, &exchange, sizeof(words));
	status = tracee_write(run->pid, place, words, EXCHANGE_WORDS);
	if (status == 0)
		status = enter_mallctl(run, place);
	if (status == 0)
		status = run_to_main(run, &after);
	if (status == 0)
		status = tracee_read(run->pid, place, words, EXCHANGE_WORDS);
	if (status < 0)
		return status;
	memcpy(&exchange, words, sizeof(words));
	if ((int32_t)tracee_result(&after) != 0 || exchange.size != sizeof(exchange.counter))
		return -ENODATA;
	*ret_counter = exchange.counter;
	return 0;
}

static int take_layout(struct run *run, struct tsd_layout *ret)
{
	uint64_t thread_pointer, allocated, deallocated;
	struct tsd_layout layout;
	int status = tracee_thread_pointer(run->pid, &run->at_main, &thread_pointer);

	if (status == 0)
		status = call_mallctl(run, "thread.allocatedp", &allocated);
	if (status == 0)
		status = call_mallctl(run, "thread.deallocatedp", &deallocated);
	if (status < 0)
		return status;
	layout.allocated = allocated - thread_pointer;
	layout.deallocated = deallocated - thread_pointer;
	if (!tsd_layout_is_plausible(&layout))
		return -ERANGE;
	*ret = layout;
	return 0;
}

static int follow(struct run *run, const struct oracle_program *program, struct tsd_layout *ret)
{
	int status = wait_for_execution(run);

	if (status == 0)
		status = place_trap(run, program);
	if (status == 0)
		status = run_to_main(run, &run->at_main);
	return status < 0 ? status : take_layout(run, ret);
}

static int ask(const struct oracle_program *program, struct tsd_layout *ret)
{
	CLEANUP(close_fd) int file = oracle_make_file();
	struct question question = { program->fd, file };
	struct confine_limits limits = oracle_limits(file);
	struct confined_job job;
	struct run run;
	int status;

	if (file < 0)
		return file;
	limits.prepare = prepare;
	status = confined_start(&job, &limits, ORACLE_TIMEOUT_MS, execute, &question);
	if (status < 0)
		return status;
	close(job.answer);
	run = (struct run){ .pid = job.pid, .deadline_ns = job.deadline_ns };
	status = follow(&run, program, ret);
	if (!run.ended)
		confined_kill(job.pid);
	return status;
}

int oracle_ask_program(const struct oracle_program *program,
		       struct tsd_layout *ret_from_thread_pointer, struct error *error)
{
	int status;

	if (!program->main || !program->mallctl || !program->entry)
		return error_set(error, -EINVAL,
				 "the program with jemalloc could not be asked: its symbols do "
				 "not tell where main and mallctl are");
	status = ask(program, ret_from_thread_pointer);
	return status < 0 ? oracle_explain(status, "program", error) : 0;
}
