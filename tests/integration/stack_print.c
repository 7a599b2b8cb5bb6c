/* SPDX-License-Identifier: MIT */
#include "stack_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/tracer.h"

#define WORDS_MAX 4096

/* The words of the copy that could be return addresses are all that a test looks for. */
static void print_words(const struct stack_copy *copy)
{
	const char *bytes = copy->bytes;
	uint64_t word;

	printf(" words=");
	for (size_t i = 0; i < WORDS_MAX && (i + 1) * sizeof(word) <= copy->size; i++) {
		memcpy(&word, bytes + i * sizeof(word), sizeof(word));
		if (word > 4096)
			printf("%" PRIx64 ",", word);
	}
}

static int print_stack(void *context, const struct tracer_stack *stack)
{
	const struct unwind_registers *registers = &stack->user.registers;

	(void)context;
	printf("stack=%s pid=%d tid=%d start=%" PRIu64 " time=%" PRIu64 " comm=%s weight=%" PRIu64
	       " begin=%" PRIu64 " reason=%s syscall=%d object=%" PRIu64 " inferred=%d woken=%d"
	       " user=%d pc=%" PRIu64 " sp=%" PRIu64 " address=%" PRIu64 " size=%zu area=%" PRIu64
	       " scopes=",
	       profile_kind_names[stack->kind], stack->task.pid, stack->task.tid,
	       stack->task.start_ns, stack->time_ns, stack->comm, stack->weight_ns, stack->begin_ns,
	       waits[stack->reason].name, (int)stack->syscall, stack->object, stack->is_inferred,
	       stack->woken.tid, stack->has_user, registers->values[UNWIND_PC],
	       registers->values[UNWIND_SP], stack->user.address, stack->user.size,
	       stack->scopes.area_ns);
	for (size_t i = 0; i < stack->scopes.count; i++)
		printf("%u,", stack->scopes.labels[i]);
	printf(" kernel=");
	for (size_t i = 0; i < stack->kernel_count; i++)
		printf("%" PRIx64 ",", stack->kernel[i]);
	if (stack->has_user)
		print_words(&stack->user);
	putchar('\n');
	return 0;
}

static int print_image(void *context, const struct tracer_image_event *event)
{
	static const char *const names[] = { "map", "exec", "fork", "end" };

	(void)context;
	printf("image=%s pid=%d time=%" PRIu64 " parent=%d from=%" PRIu64 " to=%" PRIu64
	       " offset=%" PRIu64 " inode=%" PRIu64 " path=%s build_id=",
	       names[event->type], event->pid, event->time_ns, event->parent_pid, event->start,
	       event->end, event->offset, event->inode, event->path ? event->path : "");
	for (size_t i = 0; i < event->build_id_size; i++)
		printf("%02x", event->build_id[i]);
	putchar('\n');
	return 0;
}

int stacks_print(const struct tracer *tracer)
{
	const struct tracer_stack_sink sink = { print_stack, print_image, NULL };

	return tracer->kind->drain_stacks ? tracer->kind->drain_stacks(tracer->state, &sink) : 0;
}

void stack_losses_print(const struct tracer *tracer)
{
	struct tracer_stack_losses losses = { 0 };

	if (!tracer->kind->stack_losses)
		return;
	tracer->kind->stack_losses(tracer->state, &losses);
	printf("end=stacks dropped=%" PRIu64 " dropped_ns=%" PRIu64 " unread=%" PRIu64
	       " images=%" PRIu64 " wakers=%" PRIu64 " short_ns=%" PRIu64 " fault_ns=%" PRIu64
	       " unseen=%" PRIu64 "\n",
	       losses.dropped, losses.dropped_ns, losses.unread, losses.images, losses.wakers,
	       losses.short_ns, losses.fault_ns, losses.unseen);
}
