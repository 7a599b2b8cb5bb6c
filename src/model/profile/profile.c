/* SPDX-License-Identifier: MIT */
#include "model/profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/text.h"
#include "model/counter.h"
#include "model/profile/profile_index.h"

/*
 * Room that only samples without a stack may take: where the time of all others goes when it is
 * scarce.
 */
#define RESERVED_SAMPLES (PROFILE_SAMPLES_MAX / 8)

const char *const profile_kind_names[PROFILE_KINDS] = {
	[PROFILE_ON_CPU] = "on-cpu",
	[PROFILE_OFF_CPU] = "off-cpu",
	[PROFILE_WAKER] = "waker",
};

const char *const profile_end_names[PROFILE_ENDS] = {
	[PROFILE_COMPLETE] = "complete",
	[PROFILE_TRUNCATED] = "truncated",
	[PROFILE_NO_STACK] = "none",
};

struct frame_key {
	uint64_t address;
	uint32_t function, module, build_id, source, line;
	uint16_t is_kernel, is_inlined;
};

struct node_key {
	uint32_t parent, frame;
};

struct sample_key {
	uint64_t start_ns;
	int32_t pid, tid;
	uint32_t process_name, thread_name, scope, node;
	uint16_t kind, end, reason, zero;
};

_Static_assert(sizeof(struct frame_key) == 32 && sizeof(struct node_key) == 8 &&
		       sizeof(struct sample_key) == 40,
	       "keys have no padding");
_Static_assert(sizeof(struct sample_key) <= INDEX_KEY_MAX, "the longest key fits");

static struct frame_key frame_key(const struct profile_frame *frame)
{
	return (struct frame_key){ frame->address,   frame->function,  frame->module,
				   frame->build_id,  frame->source,    frame->line,
				   frame->is_kernel, frame->is_inlined };
}

static struct sample_key sample_key(const struct profile_sample *sample)
{
	return (struct sample_key){ sample->task.start_ns,
				    sample->task.pid,
				    sample->task.tid,
				    sample->process_name,
				    sample->thread_name,
				    sample->scope,
				    sample->node,
				    sample->kind,
				    sample->end,
				    sample->reason,
				    0 };
}

static void fill_frame(const struct profile *profile, uint32_t number, void *ret)
{
	struct frame_key key = frame_key(&profile->frames.data[number]);

	memcpy(ret, &key, sizeof(key));
}

static void fill_node(const struct profile *profile, uint32_t number, void *ret)
{
	const struct profile_node *node = &profile->nodes.data[number];

	memcpy(ret, &(struct node_key){ node->parent, node->frame }, sizeof(struct node_key));
}

static void fill_sample(const struct profile *profile, uint32_t number, void *ret)
{
	struct sample_key key = sample_key(&profile->samples.data[number]);

	memcpy(ret, &key, sizeof(key));
}

static const struct index_key frames_by = { fill_frame, sizeof(struct frame_key) };
static const struct index_key nodes_by = { fill_node, sizeof(struct node_key) };
static const struct index_key samples_by = { fill_sample, sizeof(struct sample_key) };

int profile_new(struct profile **ret)
{
	CLEANUP(profile_free_pointer) struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return -ENOMEM;
	profile->texts = dictionary_new();
	profile->index = calloc(1, sizeof(*profile->index));
	if (!profile->texts || !profile->index ||
	    array_append(&profile->nodes, ((struct profile_node){ 0, 0 })) < 0 ||
	    array_append(&profile->index->depths, 0) < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(profile);
	return 0;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	if (profile->index) {
		index_free(&profile->index->frames);
		index_free(&profile->index->nodes);
		index_free(&profile->index->samples);
		array_free(&profile->index->depths);
	}
	free(profile->index);
	array_free(&profile->frames);
	array_free(&profile->nodes);
	array_free(&profile->open);
	array_free(&profile->samples);
	dictionary_free(profile->texts);
	free(profile);
}

uint32_t profile_text(struct profile *profile, const char *text)
{
	size_t length = text ? strnlen(text, PROFILE_TEXT_MAX) : 0;
	uint32_t known = dictionary_count(profile->texts), number = 0;

	if (!length)
		return 0;
	if (profile->index->text_bytes + length > PROFILE_TEXT_BYTES_MAX)
		return dictionary_find(profile->texts, text, length);
	if (dictionary_add(profile->texts, text, length, &number) < 0)
		return 0;
	if (dictionary_count(profile->texts) > known)
		profile->index->text_bytes += length;
	return number;
}

const char *profile_string(const struct profile *profile, uint32_t text)
{
	return dictionary_text(profile->texts, text);
}

int profile_add_frame(struct profile *profile, const struct profile_frame *frame, uint32_t *ret)
{
	struct frame_key key = frame_key(frame);
	struct index_table *index = &profile->index->frames;

	if (index_find(index, profile, &frames_by, &key, ret))
		return 0;
	if (profile->frames.count >= PROFILE_FRAMES_MAX)
		return -ENOSPC;
	if (index_reserve(index) < 0 || array_append(&profile->frames, *frame) < 0)
		return -ENOMEM;
	*ret = (uint32_t)profile->frames.count - 1;
	index_put(index, &frames_by, &key, *ret);
	return 0;
}

int profile_add_node(struct profile *profile, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	struct node_key key = { parent, frame };
	struct profile_node node = { parent, frame };
	struct profile_index *index = profile->index;
	uint16_t depth;

	if (parent >= profile->nodes.count || frame >= profile->frames.count)
		return -EINVAL;
	if (index_find(&index->nodes, profile, &nodes_by, &key, ret))
		return 0;
	depth = (uint16_t)(index->depths.data[parent] + 1);
	if (profile->nodes.count >= PROFILE_NODES_MAX || depth > PROFILE_DEPTH_MAX)
		return -ENOSPC;
	if (index_reserve(&index->nodes) < 0 ||
	    array_reserve(&index->depths, index->depths.count + 1) < 0 ||
	    array_append(&profile->nodes, node) < 0)
		return -ENOMEM;
	index->depths.data[index->depths.count++] = depth;
	*ret = (uint32_t)profile->nodes.count - 1;
	index_put(&index->nodes, &nodes_by, &key, *ret);
	profile->losses.unnamed_frames += !profile->frames.data[frame].function;
	return 0;
}

int profile_add_stack(struct profile *profile, const uint32_t *frames, size_t count, uint32_t *ret)
{
	size_t first = count > PROFILE_DEPTH_MAX ? count - PROFILE_DEPTH_MAX : 0;
	uint32_t node = 0;
	int status = 0;

	for (size_t i = first; i < count && status == 0; i++)
		status = profile_add_node(profile, node, frames[i], &node);
	if (status == -ENOSPC)
		profile->losses.cut++;
	else if (status < 0)
		return status;
	*ret = node;
	return 0;
}

size_t profile_stack(const struct profile *profile, uint32_t node, uint32_t *frames)
{
	size_t count = 0;

	for (; node && count < PROFILE_DEPTH_MAX; node = profile->nodes.data[node].parent)
		frames[count++] = profile->nodes.data[node].frame;
	return count;
}

/* The last part of a path; "[kernel]" without its brackets. */
static void append_module(const char *module, struct text *out)
{
	const char *slash = strrchr(module, '/');
	size_t length;

	module = slash ? slash + 1 : module;
	module += *module == '[';
	length = strlen(module);
	text_append_escaped(out, module, length && module[length - 1] == ']' ? length - 1 : length);
}

void profile_append_name(const struct profile *profile, uint32_t number, struct text *out)
{
	const struct profile_frame *frame = &profile->frames.data[number];
	const char *function = profile_string(profile, frame->function);

	if (*function) {
		text_append_escaped(out, function, strlen(function));
		return;
	}
	text_append_string(out, "[");
	append_module(profile_string(profile, frame->module), out);
	text_format(out, "%s0x%" PRIx64 "]", frame->module ? "+" : "", frame->address);
}

static void add_time(struct profile_sample *sum, const struct profile_sample *sample)
{
	counter_add(&sum->ns, sample->ns);
	counter_add(&sum->count, sample->count);
	counter_add(&sum->inferred_ns, sample->inferred_ns);
}

/* Adds to an equal sample, or as a new one as long as there are fewer than `most`; else -ENOSPC. */
static int put_sample(struct profile *profile, const struct profile_sample *sample, size_t most)
{
	struct sample_key key = sample_key(sample);
	struct index_table *index = &profile->index->samples;
	uint32_t number;

	if (index_find(index, profile, &samples_by, &key, &number)) {
		add_time(&profile->samples.data[number], sample);
		return 0;
	}
	if (profile->samples.count >= most)
		return -ENOSPC;
	if (index_reserve(index) < 0 || array_append(&profile->samples, *sample) < 0)
		return -ENOMEM;
	index_put(index, &samples_by, &key, (uint32_t)profile->samples.count - 1);
	return 0;
}

int profile_add_sample(struct profile *profile, const struct profile_sample *sample)
{
	struct profile_sample rest = *sample;
	int status;

	if (sample->kind >= PROFILE_KINDS || sample->end >= PROFILE_ENDS ||
	    sample->reason >= WAIT_REASON_COUNT || sample->node >= profile->nodes.count)
		return -EINVAL;
	status = put_sample(profile, sample, PROFILE_SAMPLES_MAX - RESERVED_SAMPLES);
	if (status != -ENOSPC)
		return status;
	profile->losses.folded++;
	rest.end = PROFILE_NO_STACK;
	rest.node = rest.scope = 0;
	rest.inferred_ns = 0;
	status = put_sample(profile, &rest, PROFILE_SAMPLES_MAX - PROFILE_KINDS);
	if (status != -ENOSPC)
		return status;
	/* There is room for one sample of each kind that belongs to nobody. */
	rest.task = (struct task_key){ 0 };
	rest.process_name = rest.thread_name = 0;
	rest.reason = rest.kind == PROFILE_ON_CPU ? 0 : WAIT_OTHER;
	return put_sample(profile, &rest, PROFILE_SAMPLES_MAX);
}

void profile_sum(const struct profile *profile, enum profile_kind kind, struct profile_sum *ret)
{
	*ret = (struct profile_sum){ 0 };
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct profile_sample *sample = &profile->samples.data[i];

		if (sample->kind != kind)
			continue;
		counter_add(&ret->ns, sample->ns);
		counter_add(&ret->inferred_ns, sample->inferred_ns);
		counter_add(&ret->count, sample->count);
		if (sample->end == PROFILE_COMPLETE)
			counter_add(&ret->complete_ns, sample->ns);
		else if (sample->end == PROFILE_NO_STACK)
			counter_add(&ret->missing_ns, sample->ns);
	}
}
