/* SPDX-License-Identifier: MIT */
#include "registry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH_MOST 64
#define THREADS_MOST 64
#define ID_SIZE 32

struct frame {
	char *label;
	struct timespec entered;
};

struct stack {
	struct frame *frames;
	size_t depth;
};

/* What readers see of a thread: all of it is its own copy. */
struct entry {
	char *id;
	char *name;
	struct stack stack;
	struct timespec updated;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[THREADS_MOST]; /* by id */
static size_t entry_count;

static _Thread_local struct frame own_frames[DEPTH_MOST];
static _Thread_local size_t own_depth;
static _Thread_local char own_id[ID_SIZE];

static void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static struct stack own_copy(void)
{
	struct stack copy = { checked(malloc(own_depth * sizeof(*copy.frames))), own_depth };

	for (size_t i = 0; i < own_depth; i++) {
		copy.frames[i] = own_frames[i];
		copy.frames[i].label = checked(strdup(own_frames[i].label));
	}
	return copy;
}

static void entry_release(struct entry *entry)
{
	for (size_t i = 0; i < entry->stack.depth; i++)
		free(entry->stack.frames[i].label);
	free(entry->stack.frames);
	free(entry->name);
	free(entry->id);
}

/* Where the id is, or belongs. */
static size_t entry_place(const char *id, int *found)
{
	size_t low = 0, high = entry_count;

	*found = 0;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(entries[middle].id, id);

		if (order == 0) {
			*found = 1;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void entry_put(size_t place, int found)
{
	struct entry *entry = &entries[place];

	if (found) {
		entry_release(entry);
	} else {
		if (entry_count == THREADS_MOST)
			abort();
		memmove(entry + 1, entry, (entry_count - place) * sizeof(*entry));
		entry_count++;
	}
	*entry = (struct entry){
		checked(strdup(own_id)), checked(strdup("worker")), own_copy(), { 0 }
	};
	clock_gettime(CLOCK_MONOTONIC, &entry->updated);
}

static void entry_remove(size_t place)
{
	entry_release(&entries[place]);
	entry_count--;
	memmove(&entries[place], &entries[place + 1], (entry_count - place) * sizeof(entries[0]));
}

static void publish(void)
{
	size_t place;
	int found;

	pthread_mutex_lock(&lock);
	place = entry_place(own_id, &found);
	if (own_depth)
		entry_put(place, found);
	else if (found)
		entry_remove(place);
	pthread_mutex_unlock(&lock);
}

void registry_push(const char *label)
{
	struct frame *frame = &own_frames[own_depth];

	if (!own_id[0])
		snprintf(own_id, sizeof(own_id), "ThreadId(%d)", gettid());
	if (own_depth == DEPTH_MOST)
		abort();
	frame->label = checked(strdup(label));
	clock_gettime(CLOCK_MONOTONIC, &frame->entered);
	own_depth++;
	publish();
}

void registry_pop(void)
{
	free(own_frames[--own_depth].label);
	publish();
}
