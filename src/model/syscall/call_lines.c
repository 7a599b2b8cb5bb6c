/* SPDX-License-Identifier: MIT */
#include "model/syscall/call_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/collection/order.h"

void call_lines_clear(struct call_lines *lines)
{
	array_free(&lines->list);
}

/* The line of that name, added when there is none; NULL when memory runs out.  Valid until the next one. */
static struct call_line *call_lines_find(struct call_lines *lines, const char *name)
{
	struct call_line fresh = { 0 };

	snprintf(fresh.name, sizeof(fresh.name), "%s", name);
	for (size_t i = 0; i < lines->list.count; i++)
		if (strcmp(lines->list.data[i].name, fresh.name) == 0)
			return &lines->list.data[i];
	if (array_append(&lines->list, fresh) < 0)
		return NULL;
	return &lines->list.data[lines->list.count - 1];
}

void call_line_add(struct call_line *sum, const struct call_line *part)
{
	sum->calls += part->calls;
	sum->errors += part->errors;
	sum->time_ns += part->time_ns;
	if (part->max_ns > sum->max_ns)
		sum->max_ns = part->max_ns;
	sum->under_way += part->under_way;
	sum->under_way_ns += part->under_way_ns;
	sum->is_earlier |= part->is_earlier;
}

int call_lines_add(struct call_lines *lines, const struct call_line *part)
{
	struct call_line *line = call_lines_find(lines, part->name);

	if (!line)
		return -ENOMEM;
	call_line_add(line, part);
	return 0;
}

static int compare(const void *one_pointer, const void *other_pointer)
{
	const struct call_line *one = one_pointer, *other = other_pointer;
	int order = compare_numbers(other->time_ns, one->time_ns);

	if (!order)
		order = compare_numbers(other->under_way_ns, one->under_way_ns);
	if (!order)
		order = compare_numbers(other->calls, one->calls);
	return order ? order : strcmp(one->name, other->name);
}

void call_lines_sort(struct call_lines *lines)
{
	array_sort(&lines->list, compare);
}

struct call_line call_lines_total(const struct call_lines *lines)
{
	struct call_line total = { 0 };

	for (size_t i = 0; i < lines->list.count; i++)
		call_line_add(&total, &lines->list.data[i]);
	return total;
}
