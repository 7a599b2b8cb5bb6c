/* SPDX-License-Identifier: MIT */
#include "store/json_parse.h"

#include <errno.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

/* Header of each allocation of jansson; it links the allocations of one parse into a ring. */
struct piece {
	_Alignas(max_align_t) struct piece *previous;
	struct piece *next;
};

/*
 * The parse in progress.  jansson does not report every failed malloc(), so we
 * longjmp() out of it.
 */
static _Thread_local struct {
	struct piece ring;
	jmp_buf out;
	int is_parsing;
} current;

static void take_out(struct piece *piece)
{
	piece->previous->next = piece->next;
	piece->next->previous = piece->previous;
}

static void put_in(struct piece *piece)
{
	piece->previous = &current.ring;
	piece->next = current.ring.next;
	piece->next->previous = piece;
	current.ring.next = piece;
}

static void *allocate(size_t size)
{
	struct piece *piece = size < SIZE_MAX / 2 ? malloc(sizeof(*piece) + size) : NULL;

	if (!piece && current.is_parsing)
		longjmp(current.out, 1);
	if (!piece)
		return NULL;
	if (current.is_parsing)
		put_in(piece);
	else
		piece->previous = piece->next = piece;
	return piece + 1;
}

static void release(void *memory)
{
	struct piece *piece = memory;

	if (!piece)
		return;
	take_out(--piece);
	free(piece);
}

/* Must run before the first value is made: release() must never see memory from malloc(). */
__attribute__((constructor)) static void use_pieces(void)
{
	json_set_alloc_funcs(allocate, release);
}

static void begin(void)
{
	current.ring.previous = current.ring.next = &current.ring;
	current.is_parsing = 1;
}

/* From now on the caller owns the values; their links no longer lead to this ring. */
static void end(void)
{
	take_out(&current.ring);
	current.is_parsing = 0;
}

static void release_all(void)
{
	while (current.ring.next != &current.ring)
		release(current.ring.next + 1);
}

int json_parse(const char *bytes, size_t length, size_t flags, json_t **ret, json_error_t *error)
{
	json_t *value;

	begin();
	if (setjmp(current.out)) {
		release_all();
		end();
		return -ENOMEM;
	}
	value = json_loadb(bytes, length, flags, error);
	end();
	*ret = value;
	return value ? 0 : -EBADMSG;
}
