/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out when a test says so.  The program is linked with the wrapped functions of
 * scarce_memory in meson.build.
 */
#ifndef TESTS_UNIT_SCARCE_MEMORY_H
#define TESTS_UNIT_SCARCE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* The linker sends every allocation of ours through these. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_reallocarray(void *memory, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_reallocarray(void *memory, size_t count, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);

static struct {
	unsigned long asked;   /* so far */
	unsigned long refused; /* the first that is, from 1; 0: none */
	bool for_good;
} memory;

static inline bool has_memory(void)
{
	memory.asked++;
	return !memory.refused || memory.asked < memory.refused ||
	       (!memory.for_good && memory.asked > memory.refused);
}

void *__wrap_malloc(size_t size)
{
	return has_memory() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return has_memory() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
	return has_memory() ? __real_realloc(old, size) : NULL;
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return has_memory() ? __real_reallocarray(old, count, size) : NULL;
}

char *__wrap_strdup(const char *text)
{
	return has_memory() ? __real_strdup(text) : NULL;
}

char *__wrap_strndup(const char *text, size_t length)
{
	return has_memory() ? __real_strndup(text, length) : NULL;
}

/* All from there on are refused, from 1. */
static inline void refuse_from(unsigned long first)
{
	memory.asked = 0;
	memory.refused = first;
	memory.for_good = true;
}

/* From here on there is memory again. */
static inline void allow_all(void)
{
	memory.refused = 0;
}

#endif
