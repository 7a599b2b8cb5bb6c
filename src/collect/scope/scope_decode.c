/* SPDX-License-Identifier: MIT */
#include "collect/scope/scope_decode.h"

#include <errno.h>
#include <string.h>

#include "model/scope/scopes.h"

#define BLOCK_TRIES 8 /* a block that changes each time is then taken as it is */
#define WHOLE_TRIES 4 /* for statistics that move from a thread to those of ended threads */
/*
 * Total number of repeated reads, so that a memory with many blocks that always change has a
 * bounded cost.
 */
#define PATIENCE 4096

/* One copy that is being made. */
struct decoder {
	const struct scope_source *source;
	const struct scope_header *header;
	struct scope_scale scale;
	bool with_statistics;
	struct scope_workspace *workspace;
	struct scopes *scopes;
	unsigned *patience; /* how often something may still be read again */
};

/* Returns 0, -ENODATA when the file ends too early, or another error of read(). */
static int read_all(const struct scope_source *source, uint64_t offset, void *buffer, size_t size)
{
	ssize_t got = size ? source->read(source->context, offset, buffer, size) : 0;

	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -ENODATA;
}

static uint32_t lesser(uint32_t left, uint32_t right)
{
	return left < right ? left : right;
}

/* Whether we may read something again that takes `cost` reads. */
static bool may_retry(const struct decoder *decoder, unsigned cost)
{
	if (*decoder->patience < cost)
		return false;
	*decoder->patience -= cost;
	return true;
}

/* Copies a text that ends at a NUL or at the end of its space. */
static void copy_text(char *to, size_t capacity, const char *from, size_t length)
{
	if (length >= capacity)
		length = capacity - 1;
	length = strnlen(from, length);
	memcpy(to, from, length);
	to[length] = '\0';
}

void scope_workspace_clear(struct scope_workspace *workspace)
{
	array_free(&workspace->labels);
	array_free(&workspace->block);
	array_free(&workspace->tallies);
}

const char *scope_label_text(const struct scope_workspace *workspace, uint32_t label)
{
	return label && label < workspace->labels.count ? workspace->labels.data[label].text : "";
}

/* A label never changes once written, so only new labels are read. */
static int read_labels(const struct decoder *decoder, uint32_t written)
{
	const struct scope_header *header = decoder->header;
	struct scope_workspace *workspace = decoder->workspace;
	uint32_t count = lesser(written, header->label_max);
	size_t known = count < workspace->labels.count ? 0 : workspace->labels.count;
	uint64_t offset = header->label_offset + (uint64_t)known * header->label_size;
	size_t size = (count - known) * header->label_size;
	int status = array_reserve(&workspace->labels, count);

	if (status == 0)
		status = array_reserve(&workspace->block, size);
	if (status == 0)
		status = read_all(decoder->source, offset, workspace->block.data, size);
	if (status < 0)
		return status == -ENODATA ? 0 : status;
	for (size_t i = known; i < count; i++)
		copy_text(workspace->labels.data[i].text, SCOPE_LABEL_SIZE,
			  workspace->block.data + (i - known) * header->label_size,
			  SCOPE_LABEL_SIZE);
	workspace->labels.count = count;
	return 0;
}

int scope_labels_read(const struct scope_source *source, const struct scope_header *header,
		      struct scope_workspace *workspace)
{
	const struct decoder decoder = { .source = source,
					 .header = header,
					 .workspace = workspace };

	return read_labels(&decoder, header->label_count);
}

/* How many bytes of a block are needed. */
static size_t block_size(const struct decoder *decoder)
{
	const struct scope_header *header = decoder->header;
	uint64_t frames = header->frame_offset + (uint64_t)header->frame_max * header->frame_size;
	uint64_t texts = (uint64_t)header->texts_offset + header->texts_size;
	uint64_t wanted = frames > texts ? frames : texts;

	if (decoder->with_statistics)
		return header->thread_size;
	if (wanted < offsetof(struct scope_thread, frames))
		wanted = offsetof(struct scope_thread, frames);
	return (size_t)wanted;
}

/*
 * Reads a consistent copy of a slot's block; *ret_torn is true when it kept changing.  When no
 * thread owns it, *ret_tid is 0 and the rest is not read.
 */
static int read_block(const struct decoder *decoder, uint64_t offset, bool *ret_torn,
		      int32_t *ret_tid)
{
	char *block = decoder->workspace->block.data;
	size_t size = block_size(decoder);
	uint32_t before, after;
	int status;

	for (int i = 0; i < BLOCK_TRIES; i++) {
		status = read_all(decoder->source, offset, block,
				  offsetof(struct scope_thread, frames));
		if (status < 0)
			return status;
		memcpy(&before, block, sizeof(before));
		memcpy(ret_tid, block + offsetof(struct scope_thread, tid), sizeof(*ret_tid));
		if (*ret_tid <= 0 && before % 2 == 0)
			return 0;
		status = read_all(decoder->source, offset, block, size);
		if (status == 0)
			status = read_all(decoder->source, offset, &after, sizeof(after));
		if (status < 0)
			return status;
		memcpy(ret_tid, block + offsetof(struct scope_thread, tid), sizeof(*ret_tid));
		*ret_torn = before % 2 || before != after;
		if (!*ret_torn || !may_retry(decoder, 1))
			return 0;
	}
	return 0;
}

static void copy_label(const struct decoder *decoder, uint32_t label, char *ret)
{
	const struct scope_header *header = decoder->header;
	const char *block = decoder->workspace->block.data;
	uint32_t offset = label & ~SCOPE_TEXT;

	ret[0] = '\0';
	if (!(label & SCOPE_TEXT))
		copy_text(ret, SCOPE_LABEL_SIZE, scope_label_text(decoder->workspace, label),
			  SCOPE_LABEL_SIZE);
	else if (offset < header->texts_size)
		copy_text(ret, SCOPE_LABEL_SIZE, block + header->texts_offset + offset,
			  header->texts_size - offset);
}

static struct scope decode_frame(const struct decoder *decoder, const struct scope_frame *frame)
{
	struct scope scope = {
		.age_ns = scope_scale_age(&decoder->scale, frame->entered_ticks),
		.has_number = frame->label && !(frame->label & SCOPE_TEXT),
		.has_progress = frame->flags & SCOPE_HAS_PROGRESS,
		.count = frame->count,
		.total = frame->total,
		.limit_ms = frame->limit_ms,
	};

	copy_label(decoder, frame->label, scope.label);
	return scope;
}

/*
 * Takes the frames up to the first closed one; only a block that changed during the read has one.
 */
static int decode_frames(const struct decoder *decoder, uint32_t depth, size_t *ret_count)
{
	const struct scope_header *header = decoder->header;
	const char *frames = decoder->workspace->block.data + header->frame_offset;
	uint32_t count = lesser(depth, header->frame_max);

	for (uint32_t i = 0; i < count; i++) {
		struct scope_frame frame;

		memcpy(&frame, frames + (size_t)i * header->frame_size, sizeof(frame));
		if (frame.generation == 0)
			break;
		if (array_append(&decoder->scopes->list, decode_frame(decoder, &frame)) < 0)
			return -ENOMEM;
		(*ret_count)++;
	}
	return 0;
}

static void decode_idle(const struct decoder *decoder, const struct scope_thread *thread,
			struct scope_task *task)
{
	uint64_t changed = thread->changed_ticks;

	task->is_idle = thread->idle_ticks && thread->idle_ticks >= changed;
	if (task->is_idle)
		changed = thread->idle_ticks;
	task->changed_ns = scope_scale_age(&decoder->scale, changed);
}

static void decode_stall(const struct decoder *decoder, const struct scope_thread *thread,
			 struct scope_task *task)
{
	if (thread->stall > SCOPE_STALL_STOPPED || thread->stall_frame >= task->count)
		return;
	task->stall = (enum scope_stall)thread->stall;
	if (task->stall == SCOPE_STALL_NONE)
		return;
	task->stalled_scope = thread->stall_frame;
	task->stalled_ns = scope_scale_age(&decoder->scale, thread->stalled_ticks);
}

static void add_thread_losses(struct scope_losses *losses, const struct scope_thread *thread)
{
	losses->depth += thread->lost_depth;
	losses->texts += thread->lost_texts;
	losses->misplaced += thread->misplaced;
	losses->unwound += thread->unwound;
	losses->interrupted += thread->interrupted;
	losses->unnumbered += thread->unnumbered;
}

static int decode_thread(const struct decoder *decoder, bool is_torn)
{
	struct scope_task task = { .first = decoder->scopes->list.count, .is_torn = is_torn };
	struct scope_thread thread;
	int status;

	memcpy(&thread, decoder->workspace->block.data, offsetof(struct scope_thread, frames));
	task.tid = task.own_tid = thread.tid;
	task.hidden = thread.hidden;
	copy_text(task.name, sizeof(task.name), thread.name, sizeof(thread.name));
	status = decode_frames(decoder, thread.depth, &task.count);
	if (status < 0)
		return status;
	decode_idle(decoder, &thread, &task);
	decode_stall(decoder, &thread, &task);
	add_thread_losses(&decoder->scopes->losses, &thread);
	return array_append(&decoder->scopes->tasks, task);
}

static int decode_block(const struct decoder *decoder, uint32_t slot)
{
	const struct scope_header *header = decoder->header;
	const char *block = decoder->workspace->block.data;
	uint64_t offset = header->thread_offset + (uint64_t)slot * header->thread_size;
	bool is_torn = false;
	int32_t tid = 0;
	int status = read_block(decoder, offset, &is_torn, &tid);

	if (status < 0 || tid <= 0)
		return status;
	status = decode_thread(decoder, is_torn);
	if (status < 0 || !decoder->with_statistics)
		return status;
	return scope_tallies_add(decoder->workspace, header, block + header->statistics_offset,
				 header->statistics_max);
}

static uint32_t block_count(const struct decoder *decoder)
{
	return lesser(decoder->header->thread_count, decoder->header->thread_max);
}

/* If the file ends early, it is being truncated: keep what was read so far. */
static int decode_blocks(const struct decoder *decoder)
{
	uint32_t count = block_count(decoder);
	int status = array_reserve(&decoder->workspace->block, block_size(decoder));

	for (uint32_t slot = 0; slot < count && status == 0; slot++)
		status = decode_block(decoder, slot);
	return status == -ENODATA ? 0 : status;
}

/*
 * Statistics slots are used in order, or by label number.  Either way no slot after the number of
 * labels is in use, except the very last one.
 */
static int add_retired(const struct decoder *decoder)
{
	const struct scope_header *header = decoder->header;
	struct scope_workspace *workspace = decoder->workspace;
	uint32_t last = header->retired_max ? header->retired_max - 1 : 0;
	uint32_t count = lesser((uint32_t)workspace->labels.count, last);
	size_t step = header->statistic_size, size = count * step;
	int status = header->retired_max ? array_reserve(&workspace->block, size + step) : -ENODATA;

	if (status == 0)
		status = read_all(decoder->source, header->retired_offset, workspace->block.data,
				  size);
	if (status == 0)
		status = read_all(decoder->source, header->retired_offset + (uint64_t)last * step,
				  workspace->block.data + size, step);
	if (status == 0)
		status = scope_tallies_add(workspace, header, workspace->block.data, count + 1);
	return status == -ENODATA ? 0 : status;
}

/* The losses are those of ended threads; those of running threads are added later. */
static void decode_header(const struct decoder *decoder, const struct scope_header *now)
{
	const struct scope_header *header = decoder->header;
	struct scopes *scopes = decoder->scopes;

	scopes_clear(scopes);
	scopes->pid = header->pid;
	scopes->is_on = header->state == SCOPE_STATE_ON;
	scopes->has_statistics = header->flags & SCOPE_HAS_STATISTICS;
	scopes->has_heartbeat = header->flags & SCOPE_HAS_HEARTBEAT;
	scopes->stall_limit_ms = header->stall_limit_ms;
	if (decoder->scale.now_ns > header->anchor_ns)
		scopes->age_ns = decoder->scale.now_ns - header->anchor_ns;
	scopes->losses = (struct scope_losses){
		.threads = now->lost_threads,
		.scopes = now->lost_scopes,
		.labels = now->lost_labels,
		.lines = now->lost_lines,
		.depth = now->ended_lost_depth,
		.texts = now->ended_lost_texts,
		.misplaced = now->ended_misplaced,
		.unwound = now->ended_unwound,
		.interrupted = now->ended_interrupted,
		.unnumbered = now->ended_unnumbered,
	};
}

static int decode_once(const struct decoder *decoder, const struct scope_header *now)
{
	struct scope_workspace *workspace = decoder->workspace;
	int status;

	decode_header(decoder, now);
	workspace->tallies.count = 0;
	status = read_labels(decoder, now->label_count);
	if (status == 0)
		status = decode_blocks(decoder);
	if (status < 0 || !decoder->with_statistics)
		return status;
	status = add_retired(decoder);
	return status < 0 ? status :
			    scope_tallies_finish(workspace, &decoder->scale, decoder->scopes);
}

/*
 * A thread that ends during the read would be counted twice or not at all in losses and
 * statistics.  Then everything is read again, unless threads keep ending.  The header is read again
 * as well, but only for the counters that change all the time: the rest of it was not checked.
 */
static int decode_steadily(const struct decoder *decoder)
{
	struct scope_header now = *decoder->header;
	uint32_t after = 0;
	int status;

	for (int i = 0; i < WHOLE_TRIES; i++) {
		status = read_all(decoder->source, 0, &now, sizeof(now));
		if (status == 0)
			status = decode_once(decoder, &now);
		if (status == 0)
			status = read_all(decoder->source,
					  offsetof(struct scope_header, retired_sequence), &after,
					  sizeof(after));
		if (status < 0)
			return status == -ENODATA ? 0 : status;
		if (now.retired_sequence == after && after % 2 == 0)
			return 0;
		if (!may_retry(decoder, block_count(decoder)))
			return 0;
	}
	return 0;
}

int scope_source_decode(const struct scope_source *source, const struct scope_header *header,
			const struct scope_moment *moment, bool with_statistics,
			struct scope_workspace *workspace, struct scopes *ret)
{
	unsigned patience = PATIENCE;
	struct decoder decoder = {
		.patience = &patience,
		.source = source,
		.header = header,
		.scale = scope_scale_of(header, moment),
		.with_statistics = with_statistics && header->flags & SCOPE_HAS_STATISTICS,
		.workspace = workspace,
		.scopes = ret,
	};

	decode_header(&decoder, header);
	return decode_steadily(&decoder);
}
