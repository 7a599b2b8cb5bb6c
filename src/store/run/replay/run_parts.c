/* SPDX-License-Identifier: MIT */
#include "store/run/replay/run_parts.h"

#include <errno.h>
#include <string.h>

#include "base/kernel_names.h"
#include "model/counter.h"
#include "store/run/replay/run_values.h"

/* More names than any kernel has calls, over all its tables. */
#define NAMES_MAX 2048
#define CORE_FLAG 0x80

void run_read_amounts(const json_t *object, struct amounts *ret)
{
	uint64_t value;

	for (int id = 0; id < AMOUNT_COUNT; id++)
		if (member_u64(object, metrics[amount_metrics[id]].name, &value))
			amounts_set(ret, id, value);
}

/* The bucket with this upper end. */
static size_t find_bucket(uint64_t end)
{
	size_t bucket = 0;

	while (bucket < SYSCALL_BUCKETS - 1 && (uint64_t)128 << bucket < end)
		bucket++;
	return bucket;
}

static void read_histogram(const json_t *histogram, struct syscall_stats *ret)
{
	for (size_t i = 0; i < json_array_size(histogram); i++) {
		const json_t *pair = json_array_get(histogram, i);
		uint64_t end, count;

		if (json_to_u64(json_array_get(pair, 0), &end) &&
		    json_to_u64(json_array_get(pair, 1), &count))
			counter_add(&ret->buckets[find_bucket(end)], count);
	}
}

static void read_errors(json_t *errors, struct syscall_stats *ret)
{
	struct syscall_error *rest = &ret->by_error[SYSCALL_ERRORS];
	const char *name;
	json_t *value;
	size_t used = 0;

	json_object_foreach(errors, name, value)
	{
		int number = error_number(name);
		uint64_t count;

		if (!json_to_u64(value, &count))
			continue;
		if (number <= 0 || used == SYSCALL_ERRORS)
			counter_add(&rest->count, count);
		else
			ret->by_error[used++] = (struct syscall_error){ .number = (uint32_t)number,
									.count = count };
	}
}

static void read_stats(const json_t *object, struct syscall_stats *ret)
{
	member_u64(object, "count", &ret->count);
	member_u64(object, "errors", &ret->errors);
	member_u64(object, "total_ns", &ret->total_ns);
	member_u64(object, "max_ns", &ret->max_ns);
	read_errors(json_object_get(object, "errnos"), ret);
	read_histogram(json_object_get(object, "histogram"), ret);
}

static int read_row(const json_t *object, struct syscall_table *table, uint64_t *ret_unnamed)
{
	const char *name = member_text(object, "name");
	struct syscall_stats stats = { 0 };
	struct syscall_row *row;

	if (!name)
		return 0;
	read_stats(object, &stats);
	if (table->count >= NAMES_MAX || strlen(name) >= SYSCALL_NAME_SIZE) {
		counter_add(ret_unnamed, stats.count);
		return 0;
	}
	row = syscall_table_row(table, name);
	if (!row)
		return -ENOMEM;
	syscall_stats_add(&row->stats, &stats);
	counter_add(&table->by_category[row->category], stats.count);
	counter_add(&table->category_ns[row->category], stats.total_ns);
	return 0;
}

int run_read_syscalls(const json_t *object, struct syscall_table *table, uint64_t *ret_unnamed)
{
	const json_t *rows = json_object_get(object, "table");
	int status = 0;

	for (size_t i = 0; status == 0 && i < json_array_size(rows); i++)
		status = read_row(json_array_get(rows, i), table, ret_unnamed);
	return status;
}

/* The summary's counts replace those made from names: it knows which calls were on sockets. */
static void read_categories(const json_t *object, uint64_t *values)
{
	for (int i = 0; i < SYSCALL_CATEGORY_COUNT; i++)
		member_u64(object, syscall_category_names[i], &values[i]);
}

int run_read_syscall_summary(const json_t *object, struct tree *tree)
{
	uint64_t nameless = 0;
	int status = run_read_syscalls(object, &tree->syscalls, &nameless);

	member_u64(object, "unnamed", &tree->unnamed_syscalls);
	member_u64(object, "unnamed_ns", &tree->unnamed_ns);
	counter_add(&tree->unnamed_syscalls, nameless);
	read_categories(json_object_get(object, "by_category"), tree->syscalls.by_category);
	read_categories(json_object_get(object, "category_ns"), tree->syscalls.category_ns);
	return status;
}

bool run_read_status(const json_t *object, int *ret)
{
	uint64_t number;

	if (member_u64(object, "exit_code", &number) && number <= 255) {
		*ret = (int)number << 8;
		return true;
	}
	if (!member_u64(object, "signal", &number) || number < 1 || number > SIGNAL_MAX)
		return false;
	*ret = (int)number | (member_flag(object, "core_dumped") ? CORE_FLAG : 0);
	return true;
}

bool run_read_count(const json_t *object, const char *key, uint64_t *ret)
{
	const char *older = run_field_older_key(key);

	return member_u64(object, key, ret) || (older && member_u64(object, older, ret));
}

static void read_field(const json_t *object, struct run *run, const struct run_field *field)
{
	void *at = run_field_at(run, field);
	uint64_t number;

	if (!at)
		return;
	switch (field->type) {
	case RUN_FIELD_COUNT:
	case RUN_FIELD_NONZERO:
		if (!run_read_count(object, field->key, at))
			run->tree->unknown |= field->unknown;
		break;
	case RUN_FIELD_SMALL:
		if (member_u64(object, field->key, &number) && number <= UINT32_MAX)
			*(uint32_t *)at = (uint32_t)number;
		break;
	case RUN_FIELD_OPTIONAL:
		member_number(object, field->key, at);
		break;
	case RUN_FIELD_REAL:
		member_real(object, field->key, at);
		break;
	}
}

void run_read_fields(const json_t *object, struct run *run, enum run_section section)
{
	for (size_t i = 0; i < run_field_count; i++)
		if (run_fields[i].section == section)
			read_field(object, run, &run_fields[i]);
}
