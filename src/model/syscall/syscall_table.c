/* SPDX-License-Identifier: MIT */
#include "model/syscall/syscall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/counter.h"

#define ROWS_FIRST 8

static void error_add(struct syscall_stats *sum, uint32_t number, uint64_t count)
{
	struct syscall_error *rest = &sum->by_error[SYSCALL_ERRORS];
	struct syscall_error *error = sum->by_error;

	while (error < rest && error->number != number && error->count > 0)
		error++;
	if (error < rest)
		error->number = number;
	error->count += count;
}

void syscall_stats_add(struct syscall_stats *sum, const struct syscall_stats *part)
{
	sum->count += part->count;
	sum->errors += part->errors;
	sum->total_ns += part->total_ns;
	if (part->max_ns > sum->max_ns)
		sum->max_ns = part->max_ns;
	for (int i = 0; i <= SYSCALL_ERRORS; i++) {
		const struct syscall_error *error = &part->by_error[i];

		if (error->count > 0 && error->number > 0)
			error_add(sum, error->number, error->count);
		else
			sum->by_error[SYSCALL_ERRORS].count += error->count;
	}
	for (int i = 0; i < SYSCALL_BUCKETS; i++)
		sum->buckets[i] += part->buckets[i];
}

/* The upper end of a bucket; the last one ends with the longest call. */
static uint64_t bucket_end(const struct syscall_stats *stats, int bucket)
{
	uint64_t end = UINT64_C(128) << bucket;

	if (bucket == SYSCALL_BUCKETS - 1 || end > stats->max_ns)
		return stats->max_ns;
	return end;
}

uint64_t syscall_stats_percentile(const struct syscall_stats *stats, unsigned permille)
{
	unsigned above = permille < 1000 ? 1000 - permille : 0;
	uint64_t total = 0, rank, seen = 0;

	for (int i = 0; i < SYSCALL_BUCKETS; i++)
		total += stats->buckets[i];
	/* Rounded up; multiplied in two parts, since the product may not fit 64 bits. */
	rank = total - total / 1000 * above - total % 1000 * above / 1000;
	for (int i = 0; i < SYSCALL_BUCKETS; i++) {
		seen += stats->buckets[i];
		if (seen > 0 && seen >= rank)
			return bucket_end(stats, i);
	}
	return 0;
}

/*
 * A slot holds the number of a row plus one, or 0 when empty.  There are twice as many slots as
 * rows.
 */
static size_t slot_count(size_t capacity)
{
	return 2 * capacity;
}

static size_t name_hash(const char *name)
{
	uint32_t hash = 2166136261;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619;
	return hash ^ hash >> 16;
}

/* The slot of the name, or the empty slot where it belongs. */
static size_t slot_find(const struct syscall_table *table, const char *name)
{
	size_t mask = slot_count(table->capacity) - 1;
	size_t slot = name_hash(name) & mask;

	while (table->slots[slot] > 0) {
		const char *there = table->rows[table->slots[slot] - 1].name;

		if (there == name || strcmp(there, name) == 0)
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

static int table_grow(struct syscall_table *table)
{
	size_t capacity = table->capacity ? 2 * table->capacity : ROWS_FIRST;
	struct syscall_row *rows;
	uint32_t *slots;

	if (capacity > UINT32_MAX / 4)
		return -ENOMEM;
	slots = calloc(slot_count(capacity), sizeof(*slots));
	rows = slots ? reallocarray(table->rows, capacity, sizeof(*rows)) : NULL;
	if (!rows) {
		free(slots);
		return -ENOMEM;
	}
	free(table->slots);
	table->rows = rows;
	table->slots = slots;
	table->capacity = capacity;
	for (size_t i = 0; i < table->count; i++)
		slots[slot_find(table, rows[i].name)] = (uint32_t)i + 1;
	return 0;
}

static struct syscall_row *row_append(struct syscall_table *table, const char *name)
{
	const char *known = syscall_static_name(name);
	const char *kept = known ? known : strdup(name);
	struct syscall_row *row = &table->rows[table->count];

	if (!kept)
		return NULL;
	*row = (struct syscall_row){ .name = kept, .category = syscall_category_of(kept) };
	table->slots[slot_find(table, kept)] = (uint32_t)++table->count;
	return row;
}

struct syscall_row *syscall_table_row(struct syscall_table *table, const char *name)
{
	size_t slot = table->capacity > 0 ? slot_find(table, name) : 0;

	if (table->capacity > 0 && table->slots[slot] > 0)
		return &table->rows[table->slots[slot] - 1];
	if (table->count == table->capacity && table_grow(table) < 0)
		return NULL;
	return row_append(table, name);
}

void syscall_table_add(struct syscall_table *sum, const struct syscall_table *part,
		       uint64_t *unnamed, uint64_t *unnamed_ns)
{
	for (size_t i = 0; i < part->count; i++) {
		const struct syscall_stats *stats = &part->rows[i].stats;
		struct syscall_row *row = syscall_table_row(sum, part->rows[i].name);

		if (row) {
			syscall_stats_add(&row->stats, stats);
			continue;
		}
		counter_add(unnamed, stats->count);
		counter_add(unnamed_ns, stats->total_ns);
	}
	for (int i = 0; i < SYSCALL_CATEGORY_COUNT; i++) {
		counter_add(&sum->by_category[i], part->by_category[i]);
		counter_add(&sum->category_ns[i], part->category_ns[i]);
	}
}

void syscall_table_clear(struct syscall_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (!syscall_static_name(table->rows[i].name))
			free((char *)table->rows[i].name);
	free(table->rows);
	free(table->slots);
	*table = (struct syscall_table){ 0 };
}

uint64_t syscall_table_total(const struct syscall_table *table)
{
	uint64_t total = 0;

	for (size_t i = 0; i < table->count; i++)
		total += table->rows[i].stats.count;
	return total;
}
