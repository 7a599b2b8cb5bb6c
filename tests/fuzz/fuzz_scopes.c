/* SPDX-License-Identifier: MIT */
/*
 * The memory of a program that tells its scopes.
 *
 * The first byte decides whether statistics are wanted, and how steady the memory is: every so many
 * reads, one byte of what is read comes out changed, as it does while the program runs.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collect/scope/scope_decode.h"
#include "fuzz_text.h"
#include "model/scope/scopes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW_TICKS UINT64_C(20000002000)
#define NOW_NS UINT64_C(11000000000)

struct memory {
	const uint8_t *bytes;
	size_t size;
	unsigned unsteady, reads;
};

static ssize_t read_memory(void *context, uint64_t offset, void *buffer, size_t size)
{
	struct memory *memory = context;

	memory->reads++;
	if (offset >= memory->size)
		return 0;
	if (size > memory->size - offset)
		size = memory->size - (size_t)offset;
	memcpy(buffer, memory->bytes + offset, size);
	if (memory->unsteady && size && memory->reads % memory->unsteady == 0)
		((uint8_t *)buffer)[memory->reads % size] ^= (uint8_t)memory->reads;
	return (ssize_t)size;
}

static void check_tasks(const struct scopes *scopes)
{
	for (size_t i = 0; i < scopes->tasks.count; i++) {
		const struct scope_task *task = &scopes->tasks.data[i];

		fuzz_require(task->count <= 255);
		fuzz_require(task->first <= scopes->list.count);
		fuzz_require(task->count <= scopes->list.count - task->first);
		fuzz_require(task->stall == SCOPE_STALL_NONE || task->stalled_scope < task->count);
		fuzz_require(task->stall <= SCOPE_STALL_STOPPED);
		fuzz_require(memchr(task->name, '\0', sizeof(task->name)));
		fuzz_require(task->changed_ns <= NOW_NS);
	}
	(void)scopes_oldest(scopes);
}

static void check_scopes(const struct scopes *scopes)
{
	for (size_t i = 0; i < scopes->list.count; i++) {
		const struct scope *scope = &scopes->list.data[i];
		uint64_t left_ns;
		double rate;

		fuzz_require(memchr(scope->label, '\0', sizeof(scope->label)));
		fuzz_require(scope->age_ns <= NOW_NS);
		fuzz_require(!scope_rate(scope, &rate) || rate > 0);
		(void)scope_time_left(scope, &left_ns);
	}
	for (size_t i = 0; i < scopes->labels.count; i++) {
		const struct scope_label_use *use = &scopes->labels.data[i];

		fuzz_require(memchr(use->label, '\0', sizeof(use->label)));
		fuzz_require(use->count > 0 || use->has_cpu);
		fuzz_require(use->p50_ns <= use->longest_ns && use->p99_ns <= use->longest_ns);
	}
}

static void decode(struct memory *memory, bool with_statistics, struct scopes *scopes)
{
	struct scope_source source = { read_memory, memory, memory->size };
	struct scope_moment moment = { NOW_TICKS, NOW_NS, true };
	struct scope_workspace workspace = { 0 };
	struct error error = { 0 };
	struct scope_header header;

	/* Twice, as a reader does: labels are kept. */
	for (int i = 0; i < 2; i++) {
		if (scope_header_read(&source, &header, &error) < 0)
			continue;
		if (scope_source_decode(&source, &header, &moment, with_statistics, &workspace,
					scopes) == 0) {
			check_tasks(scopes);
			check_scopes(scopes);
		}
	}
	scope_workspace_clear(&workspace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scopes scopes = { 0 };
	struct memory memory;
	uint8_t *bytes;

	if (size == 0)
		return 0;
	bytes = malloc(size); /* aligned, and not a byte longer */
	if (!bytes)
		return 0;
	memcpy(bytes, data + 1, size - 1);
	memory = (struct memory){ .bytes = bytes, .size = size - 1, .unsteady = data[0] >> 1 };
	decode(&memory, data[0] & 1, &scopes);
	memory.unsteady = 0;
	decode(&memory, true, &scopes);
	scopes_free(&scopes);
	free(bytes);
	return 0;
}
