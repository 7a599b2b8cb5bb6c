/* SPDX-License-Identifier: MIT */
/*
 * Unwinds the stacks of running threads: stacks ROUNDS PID...
 *
 * Stops each thread for the time of a copy, and prints what was found, what the first unwinding of each took, with
 * nothing known, and what each of ROUNDS more took.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/code/address_space.h"
#include "host/code/code_state.h"
#include "host/host.h"
#include "stopped_stack.h"

#define FRAMES 512

static const char *const ends[] = { "complete", "cut", "no rules", "unmapped", "bad", "deep" };

static bool copy_thread(pid_t tid, struct stopped_stack *ret)
{
	bool is_copied = false;
	int state;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0)
		return false;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0 && waitpid(tid, &state, __WALL) == tid)
		is_copied = stopped_stack_copy(tid, 128, ret);
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return is_copied;
}

static void print_frames(const struct code_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf("  %16" PRIx64 " %s+%" PRIx64 "\n", frames[i].pc,
		       frames[i].file ? frames[i].file->path : "", frames[i].address);
}

static void measure(struct address_space *space, pid_t tid, unsigned long rounds)
{
	static struct stopped_stack stack;
	static struct code_frame frames[FRAMES];
	uint64_t start, cold_ns;
	enum unwind_end end;
	size_t count;

	if (!copy_thread(tid, &stack)) {
		printf("%d: gone\n", tid);
		return;
	}
	start = monotonic_ns();
	end = unwind(space, &stack.copy, frames, FRAMES, &count);
	cold_ns = monotonic_ns() - start;
	start = monotonic_ns();
	for (unsigned long i = 0; i < rounds; i++)
		unwind(space, &stack.copy, frames, FRAMES, &count);
	printf("%d: %s, %zu frames, %.1f us cold, %.2f us warm\n", tid, ends[end], count,
	       (double)cold_ns / 1e3, (double)(monotonic_ns() - start) / 1e3 / (double)rounds);
	if (end != UNWIND_COMPLETE || getenv("FRAMES"))
		print_frames(frames, count);
}

static void measure_process(struct code *code, pid_t pid, unsigned long rounds)
{
	struct address_space *space = address_space_new(code, pid, 0);
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	if (space && threads && address_space_read(space) == 0)
		for (const struct dirent *entry; (entry = readdir(threads));)
			if (entry->d_name[0] != '.')
				measure(space, (pid_t)strtol(entry->d_name, NULL, 10), rounds);
	if (threads)
		closedir(threads);
	address_space_free(space);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	struct code_counts counts;
	struct error error;
	struct host *host;
	struct code *code;

	if (!rounds || host_open(&host, NULL, &error) < 0 || code_open(host, NULL, &code) < 0) {
		fprintf(stderr, "usage: stacks ROUNDS PID...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		measure_process(code, (pid_t)strtol(argv[i], NULL, 10), rounds);
	code_counts(code, &counts);
	printf("%" PRIu64 " files, %" PRIu64 " bad, %" PRIu64
	       " restarts, service %.1f ms CPU, %" PRIu64 " KiB\n",
	       counts.files, counts.bad_files, counts.restarts, (double)counts.service_cpu_ns / 1e6,
	       counts.service_peak_rss_bytes / 1024);
	code_close(code);
	host_close(host);
	return 0;
}
