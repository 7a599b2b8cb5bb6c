/* SPDX-License-Identifier: MIT */
#include "host/code/address_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "host/code/code_state.h"
#include "host/code/mapped_code.h"
#include "host/code/unwind.h"
#include "host/deadline_run.h"
#include "host/elf/process_maps.h"

static void codes_release(struct mapped_codes *codes)
{
	if (!codes || --codes->users)
		return;
	*codes->total -= codes->list.count;
	array_free(&codes->list);
	free(codes);
}

static struct mapped_codes *codes_new(size_t *total)
{
	struct mapped_codes *codes = calloc(1, sizeof(*codes));

	if (codes)
		*codes = (struct mapped_codes){ .users = 1, .total = total };
	return codes;
}

static struct address_space *space_new(struct code *code, int32_t pid, uint64_t start_ns,
				       struct mapped_codes *codes)
{
	struct address_space *space = codes ? malloc(sizeof(*space)) : NULL;

	if (space)
		*space = (struct address_space){ code, pid, start_ns, codes, ++code->programs, 0 };
	else
		codes_release(codes);
	return space;
}

struct address_space *address_space_new(struct code *code, int32_t pid, uint64_t start_ns)
{
	return space_new(code, pid, start_ns, codes_new(&code->mapped));
}

struct address_space *address_space_copy(const struct address_space *parent, int32_t pid,
					 uint64_t start_ns)
{
	parent->codes->users++;
	return space_new(parent->code, pid, start_ns, parent->codes);
}

void address_space_identify(struct address_space *space, uint64_t start_ns)
{
	if (!space->start_ns)
		space->start_ns = start_ns;
}

void address_space_begin(struct address_space *space, uint64_t begin_ns)
{
	space->begin_ns = begin_ns;
}

uint64_t address_space_number(const struct address_space *space)
{
	return space->number;
}

void address_space_free(struct address_space *space)
{
	if (!space)
		return;
	codes_release(space->codes);
	free(space);
}

/* Before a change: makes a copy of what others use too. */
static int own_codes(struct address_space *space)
{
	struct mapped_codes *old = space->codes, *codes;

	if (old->users == 1)
		return 0;
	codes = codes_new(old->total);
	if (!codes)
		return -ENOMEM;
	if (array_reserve(&codes->list, old->list.count + 1) < 0) {
		codes_release(codes);
		return -ENOMEM;
	}
	if (old->list.count)
		memcpy(codes->list.data, old->list.data, old->list.count * sizeof(*old->list.data));
	codes->list.count = old->list.count;
	*codes->total += codes->list.count;
	codes_release(old);
	space->codes = codes;
	return 0;
}

/* The index of the first mapping that ends behind the address. */
static size_t first_behind(const struct mapped_codes *codes, uint64_t address)
{
	return array_bisect(codes->list.data, codes->list.count, item->end <= address);
}

struct mapped_code *mapped_code_at(const struct address_space *space, uint64_t address)
{
	struct mapped_codes *codes = space->codes;
	size_t index = first_behind(codes, address);

	if (index == codes->list.count || codes->list.data[index].start > address)
		return NULL;
	return &codes->list.data[index];
}

static void cut_start(struct mapped_code *mapped, uint64_t start)
{
	mapped->offset += start - mapped->start;
	mapped->start = start;
}

/* Puts a mapping in place of what it overlaps; of those the parts before and behind it stay. */
static int place(struct mapped_codes *codes, const struct mapped_code *added)
{
	size_t from = first_behind(codes, added->start), to = from, count = 0;
	struct mapped_code parts[3], *list;
	int status = array_reserve(&codes->list, codes->list.count + 2);

	if (status < 0)
		return status;
	list = codes->list.data;
	while (to < codes->list.count && list[to].start < added->end)
		to++;
	if (to > from && list[from].start < added->start) {
		parts[count] = list[from];
		parts[count++].end = added->start;
	}
	parts[count++] = *added;
	if (to > from && list[to - 1].end > added->end) {
		parts[count] = list[to - 1];
		cut_start(&parts[count++], added->end);
	}
	memmove(&list[from + count], &list[to], (codes->list.count - to) * sizeof(*list));
	memcpy(&list[from], parts, count * sizeof(*list));
	codes->list.count = codes->list.count - (to - from) + count;
	*codes->total += count;
	*codes->total -= to - from;
	return 0;
}

static bool is_full(const struct mapped_codes *codes)
{
	return codes->list.count >= MAPPED_CODE_MAX ||
	       (*codes->total >= MAPPED_CODE_TOTAL && codes->list.count >= MAPPED_CODE_FEW);
}

int address_space_map(struct address_space *space, const struct code_mapping *mapping)
{
	struct mapped_code added = { .start = mapping->start,
				     .end = mapping->end,
				     .offset = mapping->offset };
	int status = 0;

	if (mapping->start >= mapping->end)
		return 0;
	if (is_full(space->codes))
		return -E2BIG;
	status = own_codes(space);
	if (status < 0)
		return status;
	added.file = code_file_find(space->code, mapping, space->pid, space->start_ns);
	return place(space->codes, &added);
}

/* ---- from a living process ---- */

/* The kernel may wait for a lock of the process, so a thread reads. */
struct reading {
	int process;
	struct process_maps maps;
	int status;
};

static void reading_free(void *context)
{
	struct reading *reading = context;

	if (!reading)
		return;
	close_fd(&reading->process);
	process_maps_clear(&reading->maps);
	free(reading);
}

CLEANUP_POINTER(reading_free, struct reading)

static void read_maps(void *context)
{
	struct reading *reading = context;

	reading->status = process_maps_read_code(reading->process, &reading->maps);
}

static int map_all(struct address_space *space, const struct process_maps *maps)
{
	int status = 0;

	for (size_t i = 0; i < maps->mappings.count && status == 0; i++) {
		const struct process_mapping *found = &maps->mappings.data[i];
		const struct code_mapping mapping = {
			.start = found->start,
			.end = found->end,
			.offset = found->offset,
			.device = found->device,
			.inode = found->inode,
			.path = found->name,
		};

		status = address_space_map(space, &mapping);
	}
	return status;
}

int address_space_read(struct address_space *space)
{
	CLEANUP(reading_free_pointer) struct reading *reading = calloc(1, sizeof(*reading));
	int status;

	if (!reading)
		return -ENOMEM;
	reading->process = code_open_process(space->code, space->pid, space->start_ns);
	if (reading->process < 0)
		return reading->process;
	status = deadline_run(read_maps, reading_free, reading, space->code->limits.answer_ms);
	if (status == -ETIMEDOUT)
		reading = NULL;
	if (status == 0)
		status = reading->status;
	return status < 0 ? status : map_all(space, &reading->maps);
}

/* ---- frames ---- */

/* The segment that lies in the mapped part of the file; NULL when none does. */
static const struct code_segment *segment_of(const struct code_file *file,
					     const struct mapped_code *mapped)
{
	uint64_t end = mapped->offset + (mapped->end - mapped->start);

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct code_segment *segment = &file->segments[i];

		if (segment->offset < end && segment->offset + segment->size > mapped->offset)
			return segment;
	}
	return NULL;
}

static void learn(struct code *code, struct mapped_code *mapped)
{
	const struct code_segment *segment;

	mapped->file = code_file_learn(code, mapped->file);
	segment = segment_of(mapped->file, mapped);
	mapped->shift = mapped->offset - mapped->start;
	if (segment)
		mapped->shift += segment->address - segment->offset;
	mapped->is_learned =
		mapped->file->state != CODE_FILE_MISSING && mapped->file->state != CODE_FILE_NEW;
}

struct code_frame mapped_code_frame(const struct address_space *space, struct mapped_code *mapped,
				    uint64_t pc)
{
	if (!mapped->file)
		return (struct code_frame){ .address = pc, .pc = pc };
	if (!mapped->is_learned)
		learn(space->code, mapped);
	return (struct code_frame){ mapped->file, pc + mapped->shift, pc };
}
