/* SPDX-License-Identifier: MIT */
#include "host/oracle/oracle.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/elf/thread_stop.h"
#include "host/oracle/oracle_run.h"
#include "host/oracle/tracee.h"

#define WORD sizeof(uint64_t)
#define BELOW_STACK 1024      /* bytes left free below the stack pointer; ours are below them */
#define MISSING_LIBRARIES 127 /* exit status of the dynamic loader */

/* ---- a library ---- */

/* Waits until the child ends; passes on every signal that it stops for. */
static int wait_for_end(struct oracle_run *run)
{
	int state = 0;
	int status;

	do
		status = oracle_go_on(run, state ? WSTOPSIG(state) : 0, &state);
	while (status == 0 && WIFSTOPPED(state));
	if (status < 0)
		return status;
	return WIFEXITED(state) ? -WEXITSTATUS(state) : -EPROTO;
}

static int take_answer(int fd, struct tsd_layout *ret)
{
	struct tsd_layout layout;

	if (read(fd, &layout, sizeof(layout)) != sizeof(layout))
		return -ENODATA;
	if (!tsd_layout_is_plausible(&layout))
		return -ERANGE;
	*ret = layout;
	return 0;
}

int oracle_ask_library(const struct oracle_file *file, const char *mallctl, unsigned timeout_ms,
		       struct tsd_layout *ret)
{
	const struct oracle_question question = { file, true, mallctl ? mallctl : "" };
	struct oracle_run run;
	int status = oracle_begin(&question, timeout_ms, &run);

	if (status < 0)
		return status;
	status = wait_for_end(&run);
	if (status == 0)
		status = take_answer(run.job.answer, ret);
	oracle_end(&run);
	return status;
}

/* ---- a program ---- */

/* A child that stopped before main(), and where its main() and mallctl() are. */
struct run {
	struct oracle_run child;
	uint64_t main;
	uint64_t mallctl;
	struct user_regs_struct at_main;
};

/* What mallctl() takes and returns, as it lies on the child's stack. */
struct exchange {
	uint64_t counter;
	uint64_t size;
	char name[24];
};

#define EXCHANGE_WORDS (sizeof(struct exchange) / WORD)

static int place_trap(struct run *run, const struct oracle_program *program)
{
	uint64_t entry;
	int status = oracle_find_entry(&run->child, &entry);

	if (status < 0)
		return status;
	run->main = program->main + (entry - program->entry);
	run->mallctl = program->mallctl + (entry - program->entry);
	return tracee_set_trap(run->child.job.pid, run->main);
}

/* Continues it until it reaches main(); passes on its own signals. */
static int run_to_main(struct run *run, struct user_regs_struct *ret)
{
	int signal = 0;
	int state;
	int status;

	do {
		status = oracle_go_on(&run->child, signal, &state);
		if (status < 0)
			return status;
		if (WIFEXITED(state))
			return WEXITSTATUS(state) == MISSING_LIBRARIES ? -ENOENT : -ECHILD;
		if (!WIFSTOPPED(state))
			return -EPROTO;
		signal = WSTOPSIG(state);
	} while (signal != SIGTRAP);
	status = tracee_get_registers(run->child.job.pid, ret);
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

	return tracee_enter(run->child.job.pid, &run->at_main, &call);
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
	status = tracee_write(run->child.job.pid, place, words, EXCHANGE_WORDS);
	if (status == 0)
		status = enter_mallctl(run, place);
	if (status == 0)
		status = run_to_main(run, &after);
	if (status == 0)
		status = tracee_read(run->child.job.pid, place, words, EXCHANGE_WORDS);
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
	int status = thread_pointer_read(run->child.job.pid, &thread_pointer);

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
	int status = place_trap(run, program);

	if (status == 0)
		status = run_to_main(run, &run->at_main);
	return status < 0 ? status : take_layout(run, ret);
}

int oracle_ask_program(const struct oracle_program *program, unsigned timeout_ms,
		       struct tsd_layout *ret_from_thread_pointer)
{
	const struct oracle_question question = { .file = &program->file };
	struct run run = { 0 };
	int status;

	if (!program->main || !program->mallctl || !program->entry)
		return -EINVAL;
	status = oracle_begin(&question, timeout_ms, &run.child);
	if (status < 0)
		return status;
	status = follow(&run, program, ret_from_thread_pointer);
	oracle_end(&run.child);
	return status;
}
