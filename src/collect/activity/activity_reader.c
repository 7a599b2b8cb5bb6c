/* SPDX-License-Identifier: MIT */
#include "collect/activity/activity_reader.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "bpf/task.h"
#include "bpf/tree/tree.h"
#include "collect/activity/activity_stacks.h"
#include "collect/task/task_decoder.h"
#include "collect/task/task_record.h"

/* What was switched since a walk that is longer ago than this says nothing. */
#define LONG_AGO_NS (5 * NS_PER_SECOND)

static_assert(ACTIVITY_FRAMES == TASK_STACK_FRAMES && ACTIVITY_COMM_SIZE == TASK_COMM_SIZE,
	      "samples have room for what the program writes");

int activity_reader_init(struct activity_reader *reader, const struct host *host)
{
	*reader = (struct activity_reader){ .host = host, .stacks = activity_stacks_new(host) };
	return reader->stacks ? 0 : -ENOMEM;
}

void activity_reader_clear(struct activity_reader *reader)
{
	array_free(&reader->activity.samples);
	activity_stacks_free(reader->stacks);
	activity_scopes_clear(&reader->scopes);
}

uint64_t activity_reader_begin(struct activity_reader *reader)
{
	uint64_t now_ns = monotonic_ns();

	reader->activity.samples.count = 0;
	reader->activity.stacks_left_out = 0;
	reader->activity.unix_ns = clock_ns(CLOCK_REALTIME);
	reader->with_stack = 0;
	activity_stacks_begin(reader->stacks);
	reader->walk += now_ns - reader->walk_ns > LONG_AGO_NS ? 2 : 1;
	reader->walk_ns = now_ns;
	return reader->walk;
}

bool activity_reader_wants_stacks(const struct activity_reader *reader)
{
	return reader->with_stack < ACTIVITY_STACKS_PER_WALK && !reader->no_stacks.message[0];
}

static void add_stack(struct activity_reader *reader, const struct activity_fields *fields,
		      struct activity_sample *sample)
{
	bool is_left_out = fields->flags & TASK_ACTIVITY_NO_STACK;

	if (fields->frame_count && fields->frame_count <= TASK_STACK_FRAMES) {
		reader->with_stack++;
		sample->stack = activity_stacks_add(reader->stacks, (const void *)fields->frames,
						    (size_t)fields->frame_count);
		is_left_out = !sample->stack;
	}
	if (is_left_out && !reader->no_stacks.message[0])
		reader->activity.stacks_left_out++;
}

int activity_reader_add(struct activity_reader *reader, const struct task_decoder *decoder,
			const struct task_record *record)
{
	const struct activity_fields *fields = record->activity;
	struct activity_sample sample = {
		.pid = (int32_t)record->task->tgid,
		.tid = (int32_t)record->task->pid,
		.start_ns = task_decoder_time_ns(decoder, fields->process_start),
		.uid = (uint32_t)fields->uid,
		.state = (char)fields->state,
		.is_on_cpu = fields->flags & TASK_ACTIVITY_ON_CPU,
		.has_call = fields->flags & TASK_ACTIVITY_IN_CALL,
		.abi = fields->abi < SYSCALL_ABI_COUNT ? (enum syscall_abi)fields->abi :
							 SYSCALL_UNKNOWN,
		.number = (uint32_t)fields->number,
		.reason = fields->reason < WAIT_REASON_COUNT ? (enum wait_reason)fields->reason :
							       WAIT_OTHER,
	};

	memcpy(sample.comm, record->task->comm, sizeof(sample.comm) - 1);
	memcpy(sample.process_comm, fields->process_comm, sizeof(sample.process_comm) - 1);
	add_stack(reader, fields, &sample);
	return array_append(&reader->activity.samples, sample);
}

static void drop_stacks(struct activity *activity)
{
	for (size_t i = 0; i < activity->samples.count; i++)
		activity->samples.data[i].stack = NULL;
}

void activity_reader_finish(struct activity_reader *reader)
{
	struct activity *activity = &reader->activity;

	if (activity_stacks_name(reader->stacks, &reader->no_stacks) < 0)
		drop_stacks(activity);
	activity->no_stacks = reader->no_stacks.message[0] ? reader->no_stacks.message : NULL;
	activity_scopes_label(&reader->scopes, reader->host, activity);
	reader->is_taken = true;
}
