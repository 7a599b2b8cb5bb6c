/* SPDX-License-Identifier: MIT */
/*
 * A program of tests/unit/targets, started and running; what it said of itself,
 * and what a reader needs to look at it.
 */
#ifndef TESTS_UNIT_TARGET_PROCESS_H
#define TESTS_UNIT_TARGET_PROCESS_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/elf/elf_inspect.h"
#include "host/elf/process_maps.h"
#include "host/elf/target_memory.h"

#define TARGET_THREADS 16
#define TARGET_PATH 512

struct target_thread {
	int tid;
	char role[32];
	unsigned long pointer, own, preloaded, loaded;
};

struct target_process {
	pid_t pid;
	int directory; /* of the process in the proc tree */
	FILE *commands, *answers;
	struct target_memory memory;
	struct elf_findings findings; /* of the program */
	uint64_t bias;		      /* where it was loaded */
	struct target_thread threads[TARGET_THREADS];
	size_t count;
};

static inline void target_path(const char *name, char *buffer)
{
	const char *directory = getenv("TASKSCOPE_TEST_TARGETS");

	assert_non_null(directory);
	assert_true(snprintf(buffer, TARGET_PATH, "%s/%s", directory, name) < TARGET_PATH);
}

static inline struct elf_findings target_inspect(int fd)
{
	struct elf_findings findings;

	assert_true(fd >= 0);
	assert_int_equal(elf_inspect(fd, &findings), 0);
	close(fd);
	return findings;
}

static inline void target_run(const char *program, const char *preload, const char *load)
{
	char path[TARGET_PATH], library[TARGET_PATH];

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
	if (preload) {
		target_path(preload, library);
		setenv("LD_PRELOAD", library, 1);
	}
	if (load)
		target_path(load, library);
	target_path(program, path);
	execl(path, path, load ? library : (char *)NULL, (char *)NULL);
	_exit(127);
}

static inline void target_listen(struct target_process *target)
{
	char line[256];

	while (fgets(line, sizeof(line), target->answers)) {
		struct target_thread *thread = &target->threads[target->count];

		if (strcmp(line, "ready\n") == 0)
			return;
		assert_true(target->count < TARGET_THREADS);
		assert_int_equal(sscanf(line, "thread %d %31s %lx %lx %lx %lx", &thread->tid,
					thread->role, &thread->pointer, &thread->own,
					&thread->preloaded, &thread->loaded),
				 6);
		target->count++;
	}
	fail_msg("the target ended before it was ready");
}

static inline void target_look(struct target_process *target)
{
	struct program_image image;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", target->pid);
	target->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(target->directory >= 0);
	target->memory = target_memory_of(&target->pid);
	target->findings = target_inspect(openat(target->directory, "exe", O_RDONLY | O_CLOEXEC));
	assert_int_equal(program_image_read(target->directory, &image), 0);
	target->bias = image.entry - target->findings.entry;
}

/* `target` must stay where it is: its memory is found by the address of its pid. */
static inline void target_start(struct target_process *target, const char *program,
				const char *preload, const char *load)
{
	int to[2], from[2];

	*target = (struct target_process){ .directory = -1 };
	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	target->pid = fork();
	assert_true(target->pid >= 0);
	if (target->pid == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		target_run(program, preload, load);
	}
	close(to[0]);
	close(from[1]);
	target->commands = fdopen(to[1], "w");
	target->answers = fdopen(from[0], "r");
	target_listen(target);
	target_look(target);
}

/* How often its spinning thread has gone round. */
static inline unsigned long target_turns(struct target_process *target)
{
	unsigned long turns;

	assert_int_equal(fputc('x', target->commands), 'x');
	assert_int_equal(fflush(target->commands), 0);
	assert_int_equal(fscanf(target->answers, " turns %lu", &turns), 1);
	return turns;
}

static inline void target_end(struct target_process *target)
{
	int status;

	fclose(target->commands);
	fclose(target->answers);
	assert_int_equal(waitpid(target->pid, &status, 0), target->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(target->directory);
}

static inline const struct target_thread *target_thread(const struct target_process *target,
							int tid)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->threads[i].tid == tid)
			return &target->threads[i];
	return NULL;
}

#endif
