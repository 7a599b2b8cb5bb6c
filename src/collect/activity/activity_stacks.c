/* SPDX-License-Identifier: MIT */
#include "collect/activity/activity_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "host/host.h"
#include "host/proc/kernel_symbols.h"
#include "model/record/activity.h"

#define SLOTS 8192 /* a power of two, far more than are ever used */
#define STACKS_KEPT 2048
#define MODULES_LIMIT ((size_t)1 << 20)
/* Words of a line of /proc/modules. */
#define MODULE_NAME 0
#define MODULE_ADDRESS 5

struct stack {
	struct kernel_stack named; /* first: what others see */
	uint64_t key;		   /* of the addresses */
	char *names;
	size_t count;
	uint64_t frames[ACTIVITY_FRAMES];
};

struct activity_stacks {
	const struct host *host;
	struct kernel_symbols symbols;
	struct error no_symbols; /* why there are none, once they were tried */
	bool is_read;
	uint64_t modules; /* a hash of which there are: a new module brings new functions */
	struct stack *slots[SLOTS];
	size_t count, added; /* in all, and in this walk */
	bool has_new;
};

struct activity_stacks *activity_stacks_new(const struct host *host)
{
	struct activity_stacks *stacks = calloc(1, sizeof(*stacks));

	if (stacks)
		stacks->host = host;
	return stacks;
}

static void forget(struct activity_stacks *stacks)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (stacks->slots[i])
			free(stacks->slots[i]->names);
		free(stacks->slots[i]);
		stacks->slots[i] = NULL;
	}
	stacks->count = 0;
}

void activity_stacks_free(struct activity_stacks *stacks)
{
	if (!stacks)
		return;
	forget(stacks);
	kernel_symbols_clear(&stacks->symbols);
	free(stacks);
}

void activity_stacks_begin(struct activity_stacks *stacks)
{
	if (stacks->count > STACKS_KEPT)
		forget(stacks);
	stacks->added = 0;
}

static struct stack *stack_new(const uint64_t *frames, size_t count, uint64_t key)
{
	struct stack *stack = calloc(1, sizeof(*stack));

	if (!stack)
		return NULL;
	stack->key = key;
	stack->count = count;
	memcpy(stack->frames, frames, count * sizeof(*frames));
	return stack;
}

const struct kernel_stack *activity_stacks_add(struct activity_stacks *stacks,
					       const uint64_t *frames, size_t count)
{
	size_t used = count < ACTIVITY_FRAMES ? count : ACTIVITY_FRAMES;
	uint64_t key = XXH3_64bits(frames, used * sizeof(*frames));
	size_t slot = key & (SLOTS - 1);

	while (stacks->slots[slot] && stacks->slots[slot]->key != key)
		slot = (slot + 1) & (SLOTS - 1);
	if (!stacks->slots[slot]) {
		if (stacks->added == ACTIVITY_STACKS_PER_WALK)
			return NULL;
		stacks->slots[slot] = stack_new(frames, used, key);
		if (!stacks->slots[slot])
			return NULL;
		stacks->count++;
		stacks->added++;
		stacks->has_new = true;
	}
	return &stacks->slots[slot]->named;
}

/* Only the name and the address of each line count: how often a module is used changes all the time. */
static uint64_t hash_modules(const struct activity_stacks *stacks)
{
	CLEANUP(text_free) struct text text = { 0 };
	const char *cursor;
	uint64_t hash = 0;
	unsigned word = 0;

	if (file_read_text(stacks->host->proc, "modules", MODULES_LIMIT, &text) < 0)
		return 0;
	cursor = text_string(&text);
	while (*cursor) {
		size_t length = strcspn(cursor, " \n");

		if (word == MODULE_NAME || word == MODULE_ADDRESS)
			hash = XXH3_64bits_withSeed(cursor, length, hash);
		word = cursor[length] == '\n' ? 0 : word + 1;
		cursor += length + (cursor[length] != '\0');
	}
	return hash;
}

/* All are to be named again. */
static void forget_names(struct activity_stacks *stacks)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (!stacks->slots[i])
			continue;
		free(stacks->slots[i]->names);
		stacks->slots[i]->names = NULL;
	}
}

/* Reads them when they are first needed, and again when modules were loaded. */
static void read_symbols(struct activity_stacks *stacks)
{
	uint64_t modules = hash_modules(stacks);

	if (stacks->is_read && modules == stacks->modules)
		return;
	forget_names(stacks);
	stacks->is_read = true;
	stacks->modules = modules;
	kernel_symbols_clear(&stacks->symbols);
	stacks->no_symbols = (struct error){ 0 };
	(void)kernel_symbols_read(&stacks->symbols, stacks->host, &stacks->no_symbols);
}

/* An address is where a call returns to, which may be behind the end of the function that called. */
static int name_stack(const struct activity_stacks *stacks, struct stack *stack)
{
	struct text names = { 0 };

	for (size_t i = 0; i < stack->count; i++) {
		const char *name = kernel_symbols_find(&stacks->symbols, stack->frames[i] - 1);

		text_format(&names, "%s%s", i ? ";" : "", name ? name : "?");
	}
	if (names.failed) {
		text_free(&names);
		return -ENOMEM;
	}
	stack->names = names.data;
	stack->named.frames = names.data;
	stack->named.hash = XXH3_64bits(names.data, names.length);
	return 0;
}

int activity_stacks_name(struct activity_stacks *stacks, struct error *error)
{
	int status = 0;

	if (!stacks->has_new)
		return 0;
	read_symbols(stacks);
	if (stacks->no_symbols.message[0])
		return error_set(error, -EPERM, "%s", stacks->no_symbols.message);
	for (size_t i = 0; i < SLOTS && status == 0; i++)
		if (stacks->slots[i] && !stacks->slots[i]->names)
			status = name_stack(stacks, stacks->slots[i]);
	stacks->has_new = status < 0;
	return status < 0 ? error_set(error, status, "out of memory") : 0;
}
