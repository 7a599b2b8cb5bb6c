/* SPDX-License-Identifier: MIT */
#include "lib/usage/burners.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "lib/scope/area.h"
#include "lib/usage/own_usage.h"

enum {
	SHORTEST_WINDOW_NS = 100 * 1000 * 1000,
	FULL = BURNERS_PLACES / 4 * 3,
};

#define LEAST_CORES 0.05

/* The thread's place, or the free one where it would be. */
static struct burner *place_of(struct burner_table *table, pid_t tid)
{
	uint32_t i = (uint32_t)tid * UINT32_C(2654435769) >> 18;

	while (table->places[i].tid && table->places[i].tid != tid)
		i = (i + 1) % BURNERS_PLACES;
	return &table->places[i];
}

/* Calls `visit` for each thread of the process. */
static void visit_threads(void (*visit)(void *context, pid_t tid), void *context)
{
	_Alignas(struct dirent64) char buffer[4096];
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return;
	while ((length = getdents64(fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t at = 0; at < length;) {
			const struct dirent64 *entry = (const void *)(buffer + at);
			long tid = strtol(entry->d_name, NULL, 10);

			if (tid > 0)
				visit(context, (pid_t)tid);
			at += entry->d_reclen;
		}
	}
	close(fd);
}

static void mark_thread(void *context, pid_t tid)
{
	struct burner_table *table = context;
	struct amount cpu_ns = thread_cpu_ns(tid);

	if (!cpu_ns.is_known || table->count >= FULL)
		return;
	*place_of(table, tid) = (struct burner){ .tid = tid, .cpu_ns = cpu_ns.value };
	table->count++;
}

void burners_mark(struct burners *burners, uint64_t now_ns)
{
	if (burners->before.count)
		memset(&burners->before, 0, sizeof(burners->before));
	visit_threads(mark_thread, &burners->before);
	burners->marked_ns = now_ns;
}

struct found {
	pid_t tid;
	double cores;
};

/* A search, and the threads found so far that use most. */
struct search {
	struct burners *burners;
	const struct stacks *stacks;
	uint64_t window_ns;
	uint32_t count, left;
	struct found most[BURNERS_LINES];
};

static void keep(struct search *search, struct found found)
{
	uint32_t i = search->count;

	if (i < BURNERS_LINES)
		search->count++;
	else
		search->left++;
	if (i == BURNERS_LINES && found.cores <= search->most[--i].cores)
		return;
	for (; i > 0 && search->most[i - 1].cores < found.cores; i--)
		search->most[i] = search->most[i - 1];
	search->most[i] = found;
}

/* Whether the thread says with scopes what it does. */
static bool is_instrumented(const struct search *search, pid_t tid)
{
	const struct stacks *stacks = search->stacks;

	for (uint32_t i = 0; i < stacks->thread_count; i++) {
		const struct stack *thread = &stacks->threads[i];

		if (thread->tid == tid)
			return thread->depth || thread->is_changing ||
			       stacks_age_ns(stacks, thread->changed_ticks) <= search->window_ns;
	}
	return false;
}

/* A thread that was not there at the mark is new: all of its time is in the window. */
static uint64_t used_ns(struct burner_table *before, pid_t tid, uint64_t cpu_ns)
{
	const struct burner *place = place_of(before, tid);

	return place->tid && place->cpu_ns <= cpu_ns ? cpu_ns - place->cpu_ns : cpu_ns;
}

static void weigh_thread(void *context, pid_t tid)
{
	struct search *search = context;
	struct burner_table *before = &search->burners->before;
	struct amount cpu_ns = thread_cpu_ns(tid);
	struct found found = { .tid = tid };

	/* If the table was full, a thread that is not in it need not be new. */
	if (!cpu_ns.is_known || tid == search->burners->own_tid ||
	    (before->count >= FULL && !place_of(before, tid)->tid))
		return;
	found.cores = (double)used_ns(before, tid, cpu_ns.value) / (double)search->window_ns;
	if (found.cores >= LEAST_CORES && !is_instrumented(search, tid))
		keep(search, found);
}

static void print_found(const struct found *found, struct output *output)
{
	char name[THREAD_WORD_SIZE];
	struct line line;

	thread_name(found->tid, name);
	line_begin(&line, LINE_UNINSTRUMENTED, area.header->pid);
	line_add_thread(&line, found->tid, name);
	line_add_as(&line, "cpu_cores", " cpu=* cores", NULL,
		    line_real(LINE_CORES, true, found->cores));
	output_line(output, &line);
}

void burners_print(struct burners *burners, const struct stacks *stacks, struct output *output)
{
	struct search search = { .burners = burners, .stacks = stacks };

	search.window_ns = burners->marked_ns ? stacks->ns - burners->marked_ns : 0;
	if (search.window_ns < SHORTEST_WINDOW_NS)
		return;
	visit_threads(weigh_thread, &search);
	for (uint32_t i = 0; i < search.count; i++)
		print_found(&search.most[i], output);
	if (search.left)
		output_left(output, LINE_UNINSTRUMENTED_LEFT, " ... and * more threads",
			    search.left);
}
