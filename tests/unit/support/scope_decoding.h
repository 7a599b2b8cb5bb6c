/* SPDX-License-Identifier: MIT */
/*
 * Decodes memories of scopes that tests made: whole ones, and ones that change meanwhile.
 */
#ifndef TESTS_SCOPE_DECODING_H
#define TESTS_SCOPE_DECODING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collect/scope/scope_decode.h"
#include "model/scope/scopes.h"
#include "scope_memory.h"

/* A source whose bytes are all in memory. */
struct bytes {
	const char *data;
	size_t length;
};

static inline ssize_t read_bytes(void *context, uint64_t offset, void *buffer, size_t size)
{
	const struct bytes *bytes = context;

	if (offset >= bytes->length)
		return 0;
	if (size > bytes->length - offset)
		size = bytes->length - offset;
	memcpy(buffer, bytes->data + offset, size);
	return (ssize_t)size;
}

/* A copy of bytes that are in memory; both clocks were read together. */
static inline int scopes_decode(const void *bytes, size_t length, uint64_t now_ticks,
				uint64_t now_ns, bool with_statistics, struct scopes *ret,
				struct error *error)
{
	struct bytes whole = { bytes, length };
	struct scope_source source = { .read = read_bytes, .context = &whole, .size = length };
	struct scope_moment moment = { .ticks = now_ticks, .ns = now_ns, .has_ticks = true };
	struct scope_workspace workspace = { 0 };
	struct scope_header header;
	int status = scope_header_read(&source, &header, error);

	if (status == 0)
		status = scope_source_decode(&source, &header, &moment, with_statistics, &workspace,
					     ret);
	scope_workspace_clear(&workspace);
	return status;
}

/* From a copy that has not a byte more. */
static inline int decode(const char *memory, size_t size, struct scopes *ret)
{
	struct error error = { 0 };
	char *bytes = malloc(size);
	int status;

	memcpy(bytes, memory, size);
	status = scopes_decode(bytes, size, MEMORY_NOW_TICKS, MEMORY_NOW_NS, true, ret, &error);
	if (status < 0)
		assert_true(error.message[0]);
	free(bytes);
	return status;
}

static inline void decode_well(char *memory, struct scopes *ret)
{
	assert_int_equal(decode(memory, MEMORY_SIZE, ret), 0);
}
/* Bytes that change between two reads. */
struct unsteady {
	char *memory;
	size_t size;
	unsigned changes; /* of the first block that are still to come */
	unsigned ends;	  /* how often the second thread still begins and ends */
	bool has_late;	  /* with its end, the first thread opens a scope of a new label */
};

static inline void open_late(struct unsteady *unsteady)
{
	memory_frame(unsteady->memory, 0, 0)->label = memory_add_label(unsteady->memory, "late");
	memory_thread(unsteady->memory, 0)->sequence += 2;
}

/* It loses a scope, and its losses move to those of ended threads. */
static inline void end_second(struct unsteady *unsteady)
{
	struct scope_header *header = memory_header(unsteady->memory);
	struct scope_thread *thread = memory_thread(unsteady->memory, 1);

	header->ended_unwound += thread->unwound;
	header->retired_sequence += 2;
	thread->unwound = unsteady->ends > 1;
	thread->tid = unsteady->ends > 1 ? 4243 : 0;
	unsteady->ends--;
	if (unsteady->has_late)
		open_late(unsteady);
}

static inline ssize_t read_unsteady(void *context, uint64_t offset, void *buffer, size_t size)
{
	struct unsteady *unsteady = context;

	if (offset >= unsteady->size)
		return 0;
	if (size > unsteady->size - offset)
		size = unsteady->size - offset;
	memcpy(buffer, unsteady->memory + offset, size);
	if (unsteady->changes && offset == MEMORY_THREAD_OFFSET && size > 4) {
		unsteady->changes--;
		memory_thread(unsteady->memory, 0)->sequence += 2;
	}
	if (unsteady->ends && offset == MEMORY_THREAD_OFFSET && size > 4)
		end_second(unsteady);
	return (ssize_t)size;
}

static inline void decode_unsteady(struct unsteady *unsteady, bool with_statistics,
				   struct scopes *ret)
{
	struct scope_source source = { read_unsteady, unsteady, MEMORY_SIZE };
	struct scope_moment moment = { MEMORY_NOW_TICKS, MEMORY_NOW_NS, true };
	struct scope_workspace workspace = { 0 };
	struct scope_header header;
	struct error error = { 0 };

	assert_int_equal(scope_header_read(&source, &header, &error), 0);
	assert_int_equal(
		scope_source_decode(&source, &header, &moment, with_statistics, &workspace, ret),
		0);
	scope_workspace_clear(&workspace);
}

#endif
