/* SPDX-License-Identifier: MIT */
/* The input is a record: by its first byte of a stack, or of a mapping. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_text.h"
#include "trace/stack/image_decoder.h"
#include "trace/stack/stack_decoder.h"

static volatile uint64_t sum;

static int look_at_stack(void *context, const struct tracer_stack *stack)
{
	const unsigned char *bytes = stack->user.bytes;

	(void)context;
	fuzz_require(stack->kernel_count <= TRACER_KERNEL_FRAMES && stack->kind < PROFILE_KINDS);
	fuzz_require(stack->scopes.count <= TRACER_SCOPE_LABELS);
	fuzz_require(strlen(stack->comm) < sizeof(stack->comm));
	for (size_t i = 0; i < stack->kernel_count; i++)
		sum += stack->kernel[i];
	for (size_t i = 0; i < stack->user.size; i++)
		sum += bytes[i];
	return 0;
}

static ssize_t copy(void *context, const struct blocked_thread *thread, void *ret)
{
	(void)context;
	fuzz_require(thread->size <= BLOCKED_STACK_MAX);
	memset(ret, 1, thread->size);
	return (ssize_t)thread->size;
}

static void decode_stack(const void *bytes, size_t size)
{
	static struct stack_decoder decoder = { .copy = copy };
	const struct tracer_stack_sink sink = { .stack = look_at_stack };

	stack_record_send(bytes, size, &decoder, &sink);
}

static void decode_image(const void *bytes, size_t size)
{
	struct tracer_image_event event;
	uint64_t lost = 0;

	if (image_record_decode(bytes, size, &event, &lost) <= 0)
		return;
	fuzz_require(event.build_id_size <= sizeof(event.build_id) && event.start <= event.end);
	fuzz_require(event.type != TRACER_MAP || strlen(event.path) < size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *copied;

	if (size < 1)
		return 0;
	/* Aligned, and with nothing behind it. */
	copied = malloc(size);
	fuzz_require(copied != NULL);
	memcpy(copied, data + 1, size - 1);
	if (data[0] & 1)
		decode_image(copied, size - 1);
	else
		decode_stack(copied, size - 1);
	free(copied);
	return 0;
}
