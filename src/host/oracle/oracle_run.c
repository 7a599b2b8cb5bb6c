/* SPDX-License-Identifier: MIT */
#include "host/oracle/oracle_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "host/confine/confine.h"
#include "host/elf/process_maps.h"
#include "host/oracle/tracee.h"
#include "host/oracle/trusted_file.h"

#define MEMORY_LIMIT ((uint64_t)2 << 30) /* address space: a large program and what it loads */
#define CPU_SECONDS 1
#define IS_MAPPING(state) ((state) >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8))

static bool is_own(const struct oracle_run *run, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < ARRAY_SIZE(run->own); i++)
		if (run->own[i].st_ino == inode && run->own[i].st_dev == device)
			return true;
	return false;
}

/* Opening by pid is safe: the pid cannot be reused before we have reaped the child. */
static int open_process(const struct oracle_run *run)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld", (long)run->pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Checks the file that the child has open: its path must lead to the same file for us, and be
 * trusted.
 */
static int check_fd(const struct oracle_run *run, int process, int number)
{
	CLEANUP(close_fd) int place = -1;
	CLEANUP(close_fd) int trusted = -1;
	char link[32], path[PATH_MAX];
	struct stat file;
	ssize_t length;

	snprintf(link, sizeof(link), "fd/%d", number);
	place = openat(process, link, O_PATH | O_CLOEXEC);
	if (place < 0 || fstat(place, &file) < 0)
		return -errno;
	if (is_own(run, file.st_dev, file.st_ino))
		return 0;
	length = readlinkat(process, link, path, sizeof(path) - 1);
	if (length < 0)
		return -errno;
	path[length] = '\0';
	trusted = trusted_file_open(path, &file);
	return trusted < 0 ? trusted : 0;
}

/* The device is not compared: maps and stat() may name it differently (btrfs, overlayfs). */
static int check_loaded(const struct oracle_run *run, const struct process_mapping *mapping)
{
	CLEANUP(close_fd) int trusted = -1;
	struct stat file;

	if (is_own(run, mapping->device, mapping->inode))
		return 0;
	trusted = trusted_file_open(mapping->name, NULL);
	if (trusted < 0)
		return trusted;
	if (fstat(trusted, &file) < 0 || file.st_ino != mapping->inode)
		return -EKEYREJECTED;
	return 0;
}

/* Checks what the kernel loaded: the program and its interpreter. */
static int check_all_loaded(const struct oracle_run *run)
{
	CLEANUP(close_fd) int process = open_process(run);
	CLEANUP(process_maps_clear) struct process_maps maps = { 0 };
	int status = process < 0 ? process : process_maps_read(process, &maps);

	for (size_t i = 0; i < maps.mappings.count && status == 0; i++)
		status = check_loaded(run, &maps.mappings.data[i]);
	return status;
}

static int check_mapping(const struct oracle_run *run)
{
	CLEANUP(close_fd) int process = open_process(run);
	struct user_regs_struct registers;
	int status = process < 0 ? process : tracee_get_registers(run->pid, &registers);

	return status < 0 ? status : check_fd(run, process, tracee_mapped_fd(&registers));
}

static int wait_for_change(struct oracle_run *run, int *ret_state)
{
	int status = confined_wait(run->pid, run->deadline_ns, ret_state);

	run->ended = status == -ECHILD || (status == 0 && !WIFSTOPPED(*ret_state));
	return status;
}

int oracle_go_on(struct oracle_run *run, int signal, int *ret_state)
{
	for (;;) {
		int status = 0;

		if (ptrace(PTRACE_CONT, run->pid, 0, (void *)(intptr_t)signal) < 0)
			return -errno;
		status = wait_for_change(run, ret_state);
		if (status < 0 || !WIFSTOPPED(*ret_state) || !IS_MAPPING(*ret_state))
			return status;
		status = check_mapping(run);
		if (status < 0)
			return status;
		signal = 0;
	}
}

/* Waits for the first stop: the program is loaded, and none of its instructions has run. */
static int wait_for_execution(struct oracle_run *run)
{
	int options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP;
	int state;
	int status = wait_for_change(run, &state);

	if (status < 0)
		return status;
	if (WIFEXITED(state))
		return WEXITSTATUS(state) ? -WEXITSTATUS(state) : -EPROTO;
	if (!WIFSTOPPED(state) || WSTOPSIG(state) != SIGTRAP)
		return -EPROTO;
	if (ptrace(PTRACE_SETOPTIONS, run->pid, 0, options) < 0)
		return -errno;
	return check_all_loaded(run);
}

/* Asks to be traced at the end, while the child still has the rights that this needs. */
static int prepare(void *argument)
{
	const struct oracle_question *question = argument;
	int status = question->prepare(question->argument);

	if (status < 0)
		return status;
	return ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 ? -errno : 0;
}

static int execute(void *argument, int answer)
{
	const struct oracle_question *question = argument;

	return question->execute(question->argument, answer);
}

int oracle_begin(const struct oracle_question *question, unsigned timeout_ms,
		 struct oracle_run *run, struct confined_job *job)
{
	const struct confine_limits limits = {
		.rules = CONFINE_PROGRAM,
		.memory_bytes = MEMORY_LIMIT,
		.cpu_seconds = CPU_SECONDS,
		.program_fd = question->program,
		.keep = &question->keep,
		.keep_count = question->keep >= 0,
		.prepare = prepare,
	};
	int status;

	*run = (struct oracle_run){ 0 };
	if (fstat(question->program, &run->own[0]) < 0 ||
	    (question->keep >= 0 && fstat(question->keep, &run->own[1]) < 0))
		return -errno;
	status = confined_start(job, &limits, timeout_ms, execute, (void *)question);
	if (status < 0)
		return status;
	run->pid = job->pid;
	run->deadline_ns = job->deadline_ns;
	status = wait_for_execution(run);
	if (status < 0)
		oracle_end(run, job);
	return status;
}

void oracle_end(struct oracle_run *run, struct confined_job *job)
{
	if (!run->ended)
		confined_kill(run->pid);
	close_fd(&job->answer);
	job->answer = -1;
}
