/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "collect/scope/scope_decode.h"

/* No counter ticks faster or slower than these. */
#define SHORTEST_TICK_NS 0.01
#define LONGEST_TICK_NS 10000.0

/*
 * Handles have 16 bits for the number of a block and 8 for that of a frame, one value of which is
 * reserved.
 */
#define THREADS_LIMIT 65536
#define FRAMES_LIMIT 255

/* A part: `count` pieces of `size` bytes from `offset` on, in a whole of `room` bytes. */
struct part {
	uint32_t offset, size, count;
	size_t smallest; /* smallest allowed size of a piece */
	uint64_t room;
};

/*
 * No sum or product of these can overflow: all factors have 32 bits.  The size is checked even
 * when there are no pieces, since memory is allocated by it.
 */
static bool fits(const struct part *part)
{
	if (part->size > part->room || (part->count && part->size < part->smallest))
		return false;
	return part->offset <= part->room &&
	       (uint64_t)part->size * part->count <= part->room - part->offset;
}

static bool is_sound(const struct scope_header *header, uint64_t size)
{
	const uint64_t block = header->thread_size;
	const struct part parts[] = {
		{ header->label_offset, header->label_size, header->label_max, SCOPE_LABEL_SIZE,
		  size },
		{ header->retired_offset, header->statistic_size, header->retired_max,
		  offsetof(struct scope_statistic, buckets), size },
		{ header->thread_offset, header->thread_size, header->thread_max,
		  offsetof(struct scope_thread, frames), size },
		{ header->frame_offset, header->frame_size, header->frame_max,
		  sizeof(struct scope_frame), block },
		{ header->texts_offset, header->texts_size, 1, 0, block },
		{ header->statistics_offset, header->statistic_size, header->statistics_max,
		  offsetof(struct scope_statistic, buckets), block },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!fits(&parts[i]))
			return false;
	if (header->thread_max > THREADS_LIMIT || header->frame_max > FRAMES_LIMIT)
		return false;
	return offsetof(struct scope_statistic, buckets) +
		       (uint64_t)header->bucket_count * sizeof(uint32_t) <=
	       header->statistic_size;
}

/* The memory has no byte at first, then zeros, then all but the state. */
static bool is_new(const struct scope_header *header)
{
	return header->state == SCOPE_STATE_NEW &&
	       (header->magic == 0 || header->magic == SCOPE_MAGIC);
}

int scope_header_read(const struct scope_source *source, struct scope_header *ret,
		      struct error *error)
{
	struct scope_header header;
	ssize_t got;

	if (source->size > SCOPE_FILE_LIMIT)
		return error_set(error, -EPROTO, "it is larger than such a memory can be");
	got = source->read(source->context, 0, &header, sizeof(header));
	if (got < 0)
		return error_set(error, (int)got, "%s", strerror((int)-got));
	if (got == 0 || ((size_t)got == sizeof(header) && is_new(&header)))
		return error_set(error, -ENOENT, "it is being made right now");
	if ((size_t)got < sizeof(header) || header.magic != SCOPE_MAGIC)
		return error_set(error, -EPROTO, "it does not begin like such a memory");
	if (header.version != SCOPE_VERSION)
		return error_set(error, -ENOTSUP, "it is of version %u, and version %d is known",
				 header.version, SCOPE_VERSION);
	if (!is_sound(&header, source->size))
		return error_set(error, -EPROTO, "its parts do not fit in it");
	*ret = header;
	return 0;
}

static double ns_per_tick(uint64_t ticks, uint64_t ns)
{
	double rate = ticks ? (double)ns / (double)ticks : 0;

	return rate >= SHORTEST_TICK_NS && rate <= LONGEST_TICK_NS ? rate : 0;
}

/*
 * The clock's rate from what the heartbeat wrote, for clocks that we cannot read or read
 * differently.
 */
static double written_rate(const struct scope_header *header)
{
	if (header->latest_ticks <= header->anchor_ticks || header->latest_ns <= header->anchor_ns)
		return 0;
	return ns_per_tick(header->latest_ticks - header->anchor_ticks,
			   header->latest_ns - header->anchor_ns);
}

static double observed_rate(const struct scope_header *header, const struct scope_moment *moment)
{
	if (moment->ticks <= header->anchor_ticks || moment->ns <= header->anchor_ns)
		return 0;
	return ns_per_tick(moment->ticks - header->anchor_ticks, moment->ns - header->anchor_ns);
}

struct scope_scale scope_scale_of(const struct scope_header *header,
				  const struct scope_moment *moment)
{
	struct scope_scale scale = { .now_ticks = moment->ticks, .now_ns = moment->ns };

	if (header->clock == SCOPE_CLOCK_MONOTONIC) {
		scale.now_ticks = moment->ns;
		scale.ns_per_tick = 1;
	} else if (moment->has_ticks) {
		scale.ns_per_tick = observed_rate(header, moment);
	}
	if (scale.ns_per_tick == 0)
		scale.ns_per_tick = written_rate(header);
	if (header->clock != SCOPE_CLOCK_MONOTONIC && !moment->has_ticks) {
		scale.now_ticks = header->latest_ticks;
		if (scale.ns_per_tick > 0 && moment->ns > header->latest_ns)
			scale.now_ticks += (uint64_t)((double)(moment->ns - header->latest_ns) /
						      scale.ns_per_tick);
	}
	return scale;
}

uint64_t scope_scale_span(const struct scope_scale *scale, uint64_t ticks)
{
	double ns = (double)ticks * scale->ns_per_tick;

	return ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

/* An age larger than the clock's own is impossible. */
uint64_t scope_scale_age(const struct scope_scale *scale, uint64_t ticks)
{
	uint64_t age;

	if (ticks == 0 || ticks >= scale->now_ticks)
		return 0;
	age = scope_scale_span(scale, scale->now_ticks - ticks);
	return age <= scale->now_ns ? age : 0;
}
