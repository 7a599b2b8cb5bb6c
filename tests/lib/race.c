/* SPDX-License-Identifier: MIT */
/*
 * Writers and readers at once, against a model: race SECONDS [statistics]
 *
 * Each writer opens, closes, and advances at random, and keeps a simple model of its stack: an array.
 * Every scope has a number of its own, which is its total, and the model knows the number of the scope
 * around it; so a stack that a reader copies existed if every scope in it is inside of the one before.
 * Meanwhile threads come and go, and the totals of their statistics never fall.
 * At the end a writer's losses are those of its model.  Prints what is wrong and exits 1.
 *
 * It goes on for so many seconds at most, or until a writer ran out of numbers; but not before the
 * readers saw enough, however slow the machine is.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <taskscope.h>

#include "lib/scope/area.h"
#include "lib/scope/block.h"

enum {
	WRITERS = 3,
	READERS = 2,
	SITES = 24, /* more than have statistics of their own */
	NUMBERS = 1 << 20,
	MODEL_DEPTH = SCOPE_FRAMES + 20,
	MADE_TEXTS = 100,	 /* more than have a number */
	MADE = SITES,		 /* the label of a scope whose label was made at run time */
	NUMBERS_PER_COPY = 4096, /* a writer is not further ahead of the readers */
	ENOUGH_STACKS = 100,
};

/* What the model knows of a scope, by its number; written before it is opened. */
struct known {
	uint32_t around; /* the scope around it; 0: none */
	uint32_t label;	 /* which site, or MADE */
	uint64_t most;	 /* its counter never was more than that */
};

struct writer {
	pthread_t thread;
	uint32_t slot; /* of its block; UINT32_MAX: not known yet */
	uint32_t seed;
	uint32_t last; /* number of the last scope */
	uint32_t depth;
	uint32_t numbers[MODEL_DEPTH];
	struct taskscope_progress open[MODEL_DEPTH];
	uint64_t lost_depth, unwound, misplaced;
	struct known known[NUMBERS];
};

static struct writer writers[WRITERS];
static struct taskscope_site sites[SITES];
static char site_texts[SITES][16];
static int is_over, is_spent;
static uint64_t copies_seen, stacks_seen;

static void fail(const char *what, uint64_t got, uint64_t wanted)
{
	fprintf(stderr, "race: %s: %llu, not %llu\n", what, (unsigned long long)got,
		(unsigned long long)wanted);
	_exit(1);
}

static void check(const char *what, uint64_t got, uint64_t wanted)
{
	if (got != wanted)
		fail(what, got, wanted);
}

static uint32_t random_below(struct writer *writer, uint32_t limit)
{
	writer->seed = writer->seed * 1664525u + 1013904223u;
	return (writer->seed >> 8) % limit;
}

static void writer_open(struct writer *writer)
{
	uint32_t number = ++writer->last;
	struct known *known = &writer->known[number];
	uint32_t depth = writer->depth++;
	char text[24];

	STORE(known->around, depth ? writer->numbers[depth - 1] : 0);
	STORE(known->label, random_below(writer, SITES + 8) < SITES ? number % SITES : MADE);
	writer->numbers[depth] = number;
	writer->lost_depth += depth >= SCOPE_FRAMES;
	if (known->label == MADE) {
		snprintf(text, sizeof(text), "made %u", number % MADE_TEXTS);
		writer->open[depth] = (taskscope_begin)(text, number);
	} else {
		writer->open[depth] = taskscope_begin_site(&sites[known->label], number);
	}
}

/* Mostly the innermost; sometimes one around it, with all that is inside. */
static void writer_close(struct writer *writer)
{
	uint32_t index = writer->depth - 1;
	struct taskscope_progress inside = writer->open[index];

	if (random_below(writer, 16) == 0)
		index = random_below(writer, writer->depth);
	writer->unwound += writer->depth - 1 - index;
	taskscope_end(&writer->open[index]);
	if (index != writer->depth - 1) {
		taskscope_end(&inside);
		writer->misplaced++;
	}
	writer->depth = index;
}

static void writer_advance(struct writer *writer)
{
	uint32_t index = random_below(writer, writer->depth);
	struct known *known = &writer->known[writer->numbers[index]];
	const struct scope_frame *frame = writer->open[index].frame;

	STORE(known->most, known->most + 3);
	taskscope_advance(&writer->open[index], 3);
	if (index < SCOPE_FRAMES)
		check("a counter", LOAD(frame->count), known->most);
}

static void writer_step(struct writer *writer)
{
	uint32_t choice = random_below(writer, 8);

	if (choice < 4 && writer->depth < MODEL_DEPTH)
		writer_open(writer);
	else if (choice < 6 && writer->depth)
		writer_close(writer);
	else if (choice == 6 && writer->depth)
		writer_advance(writer);
	else if (random_below(writer, 32) == 0)
		sched_yield();
}

/* From time to time a deep stack. */
static void writer_dive(struct writer *writer)
{
	while (writer->depth < MODEL_DEPTH)
		writer_open(writer);
	for (int i = 0; i < 100; i++)
		writer_step(writer);
}

static void writer_compare(struct writer *writer)
{
	const struct scope_thread *block = area_thread(writer->slot);
	uint32_t visible = writer->depth < SCOPE_FRAMES ? writer->depth : SCOPE_FRAMES;

	check("depth", block->depth, visible);
	check("hidden", block->hidden, writer->depth - visible);
	check("lost depth", block->lost_depth, writer->lost_depth);
	check("unwound", block->unwound, writer->unwound);
	check("misplaced", block->misplaced, writer->misplaced);
	for (uint32_t i = 0; i < visible; i++)
		check("a scope", LOAD(block->frames[i].total), writer->numbers[i]);
}

static bool writer_has_numbers(const struct writer *writer)
{
	return writer->last < NUMBERS - 3 * (MODEL_DEPTH + 100);
}

/* Readers that get little time must not miss all of it. */
static void writer_wait_for_readers(const struct writer *writer)
{
	while (!LOAD(is_over) && LOAD(copies_seen) < writer->last / NUMBERS_PER_COPY)
		usleep(100);
}

/* Leaves a deep stack behind. */
static void writer_wait_for_end(struct writer *writer)
{
	writer_dive(writer);
	STORE(is_spent, 1);
	while (!LOAD(is_over))
		usleep(1000);
}

static void *writer_run(void *argument)
{
	struct writer *writer = argument;

	writer_open(writer);
	STORE(writer->slot, (uint32_t)(writer->open[0].scope.handle & 0xffff));
	while (!LOAD(is_over) && writer_has_numbers(writer)) {
		writer_wait_for_readers(writer);
		writer_step(writer);
		if (random_below(writer, 4096) == 0)
			writer_dive(writer);
		if (random_below(writer, 256) == 0)
			writer_compare(writer);
	}
	writer_wait_for_end(writer);
	writer_compare(writer);
	return NULL;
}

/* What a reader takes of a block. */
struct copy {
	uint32_t depth, hidden;
	uint16_t path[SCOPE_FRAMES];
	struct scope_frame frames[SCOPE_FRAMES];
	char texts[SCOPE_FRAMES][SCOPE_LABEL_SIZE];
};

static void frame_copy(const struct scope_frame *frame, struct scope_frame *ret)
{
	ret->label = LOAD(frame->label);
	ret->generation = LOAD(frame->generation);
	ret->count = LOAD(frame->count);
	ret->total = LOAD(frame->total);
	ret->entered_ticks = LOAD(frame->entered_ticks);
}

static void text_copy(const struct scope_thread *block, uint32_t offset, char *ret)
{
	size_t length = 0;

	while (length < SCOPE_LABEL_SIZE - 1 && offset + length < SCOPE_TEXTS_SIZE &&
	       (ret[length] = LOAD(block->texts[offset + length])))
		length++;
	ret[length] = '\0';
}

/* False when the block changed meanwhile. */
static bool block_copy(const struct scope_thread *block, struct copy *ret)
{
	uint32_t sequence = LOAD(block->sequence);

	if (sequence % 2)
		return false;
	ret->depth = LOAD(block->depth);
	ret->hidden = LOAD(block->hidden);
	for (uint32_t i = 0; i < ret->depth && i < SCOPE_FRAMES; i++) {
		frame_copy(&block->frames[i], &ret->frames[i]);
		ret->path[i] = LOAD(block->path[i]);
		if (ret->frames[i].label & SCOPE_TEXT)
			text_copy(block, ret->frames[i].label & ~SCOPE_TEXT, ret->texts[i]);
	}
	return LOAD(block->sequence) == sequence;
}

static void label_check(const struct known *known, uint64_t number, const struct copy *copy,
			uint32_t index)
{
	uint32_t label = copy->frames[index].label;
	const char *text = label & SCOPE_TEXT ? copy->texts[index] : area_labels()[label].text;
	char wanted[24];

	if (LOAD(known->label) != MADE) {
		check("a label", label, LOAD(sites[known->label].number));
	} else if (label) {
		snprintf(wanted, sizeof(wanted), "made %u", (unsigned int)number % MADE_TEXTS);
		check("a label made at run time", strcmp(text, wanted) == 0, 1);
	}
}

static void stack_check(const struct writer *writer, const struct copy *copy)
{
	uint64_t around = 0;

	check("depth within bounds", copy->depth <= SCOPE_FRAMES, 1);
	if (copy->hidden)
		check("hidden only beyond the frames", copy->depth, SCOPE_FRAMES);
	for (uint32_t i = 0; i < copy->depth; i++) {
		const struct scope_frame *frame = &copy->frames[i];
		const struct known *known = &writer->known[frame->total % NUMBERS];

		check("the scope around", LOAD(known->around), around);
		check("open", frame->generation != 0, 1);
		check("a counter in bounds", frame->count <= LOAD(known->most), 1);
		label_check(known, frame->total, copy, i);
		check("the path", copy->path[i], frame->label & SCOPE_TEXT ? 0 : frame->label);
		around = frame->total;
	}
}

static void reader_look(const struct writer *writer)
{
	uint32_t slot = LOAD(writer->slot);
	struct copy copy;

	if (slot == UINT32_MAX || !block_copy(area_thread(slot), &copy))
		return;
	stack_check(writer, &copy);
	__atomic_add_fetch(&copies_seen, 1, __ATOMIC_RELAXED);
	if (copy.depth > 2)
		__atomic_add_fetch(&stacks_seen, 1, __ATOMIC_RELAXED);
}

static void *reader_run(void *argument)
{
	(void)argument;
	while (!LOAD(is_over)) {
		for (size_t i = 0; i < WRITERS; i++)
			reader_look(&writers[i]);
	}
	return NULL;
}

static struct taskscope_site mayfly_site = { "mayfly", 0 };

/* Opens some scopes, and ends. */
static void *mayfly(void *argument)
{
	struct taskscope_scope scope = taskscope_enter_site(&mayfly_site);

	taskscope_thread("mayfly");
	for (int i = 0; i < 20; i++)
		taskscope_leave(taskscope_enter_site(&mayfly_site));
	if ((uintptr_t)argument % 2)
		taskscope_leave(scope);
	return NULL;
}

static void *mayflies_run(void *argument)
{
	(void)argument;
	for (uintptr_t i = 0; !LOAD(is_over); i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, mayfly, (void *)i) == 0)
			pthread_join(thread, NULL);
	}
	return NULL;
}

static uint64_t count_of(const struct scope_statistic *statistics, size_t count, uint32_t label)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (LOAD(statistics[i].label) == label)
			sum += LOAD(statistics[i].count);
	}
	return sum;
}

/* Of threads that live and that ended; false when one ended meanwhile. */
static bool mayflies_count(uint64_t *ret)
{
	uint32_t sequence = LOAD(area.header->retired_sequence);
	uint32_t label = LOAD(mayfly_site.number);
	uint64_t sum = count_of(area_retired(), SCOPE_RETIRED, label);

	for (uint32_t i = 0; i < LOAD(area.header->thread_count); i++)
		sum += count_of(area_thread(i)->statistics, SCOPE_STATISTICS, label);
	*ret = sum;
	return sequence % 2 == 0 && LOAD(area.header->retired_sequence) == sequence;
}

/* Totals never fall, not even while they move from one place to another. */
static void *mayflies_watch(void *argument)
{
	uint64_t before = 0, now;

	(void)argument;
	while (!LOAD(is_over)) {
		if (!mayflies_count(&now))
			continue;
		check("a total that does not fall", now >= before, 1);
		before = now;
		sched_yield();
	}
	return NULL;
}

static void ignore(void *context, enum taskscope_level level, const char *line)
{
	(void)context;
	(void)level;
	(void)line;
}

static void start(bool has_statistics)
{
	struct taskscope_options options = {
		.size = sizeof(options),
		.heartbeat_ms = 50,
		.stall_ms = 1,
		.flags = has_statistics ? TASKSCOPE_STATISTICS : 0,
		.log = ignore,
	};

	check("the start", (uint64_t)taskscope_start(&options), 0);
	taskscope_leave(taskscope_enter_site(&mayfly_site));
	for (size_t i = 0; i < SITES; i++) {
		snprintf(site_texts[i], sizeof(site_texts[i]), "site %zu", i);
		sites[i].label = site_texts[i];
		taskscope_leave(taskscope_enter_site(&sites[i]));
	}
}

/* Steps of 10 ms. */
static void wait_for_enough(unsigned long steps)
{
	while ((steps && !LOAD(is_spent)) || LOAD(stacks_seen) < ENOUGH_STACKS) {
		usleep(10000);
		steps -= steps > 0;
	}
}

int main(int argc, char **argv)
{
	pthread_t readers[READERS], mayflies, watcher;

	start(argc > 2);
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i].slot = UINT32_MAX;
		writers[i].seed = i + 1;
		pthread_create(&writers[i].thread, NULL, writer_run, &writers[i]);
	}
	for (size_t i = 0; i < READERS; i++)
		pthread_create(&readers[i], NULL, reader_run, NULL);
	pthread_create(&mayflies, NULL, mayflies_run, NULL);
	pthread_create(&watcher, NULL, mayflies_watch, NULL);
	wait_for_enough(argc > 1 ? strtoul(argv[1], NULL, 10) * 100 : 200);
	STORE(is_over, 1);
	for (size_t i = 0; i < WRITERS; i++)
		pthread_join(writers[i].thread, NULL);
	for (size_t i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	pthread_join(mayflies, NULL);
	pthread_join(watcher, NULL);
	printf("%llu copies, %llu of them deep\n", (unsigned long long)copies_seen,
	       (unsigned long long)stacks_seen);
	return 0;
}
