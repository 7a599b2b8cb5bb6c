/* SPDX-License-Identifier: MIT */
#include "host/code/name/perf_map.h"

#include <stdbool.h>
#include <string.h>

#define NESTED_MAX 64 /* how many entries before an address may be shorter than one around it */

void perf_map_clear(struct perf_map *map)
{
	array_free(&map->list);
	text_free(&map->names);
	*map = (struct perf_map){ 0 };
}

static int hex_digit(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	character |= 0x20;
	return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* A number and the blanks behind it; some compilers write 0x in front. */
static const char *scan_number(const char *cursor, const char *end, uint64_t *ret)
{
	const char *begin;

	if (end - cursor > 2 && cursor[0] == '0' && (cursor[1] | 0x20) == 'x')
		cursor += 2;
	begin = cursor;
	for (*ret = 0; cursor < end && hex_digit(*cursor) >= 0; cursor++)
		*ret = *ret << 4 | (uint64_t)hex_digit(*cursor);
	if (cursor == begin || cursor - begin > 16 || cursor == end || *cursor != ' ')
		return NULL;
	while (cursor < end && *cursor == ' ')
		cursor++;
	return cursor;
}

static size_t name_length(const char *name, const char *end)
{
	size_t length = strnlen(name, (size_t)(end - name));

	if (length && name[length - 1] == '\r')
		length--;
	return length < PERF_MAP_NAME_MAX ? length : PERF_MAP_NAME_MAX;
}

static bool is_full(const struct perf_map *map)
{
	return map->list.count >= PERF_MAP_ENTRIES_MAX || map->names.length >= PERF_MAP_NAMES_MAX ||
	       map->names.failed;
}

static void parse_line(struct perf_map *map, const char *line, const char *end)
{
	struct perf_map_entry entry = { .name = (uint32_t)map->names.length };
	const char *rest = scan_number(line, end, &entry.start);
	uint64_t size;
	size_t length;

	rest = rest ? scan_number(rest, end, &size) : NULL;
	length = rest ? name_length(rest, end) : 0;
	if (!length || size == 0 || size > UINT32_MAX || entry.start + size < entry.start)
		return;
	entry.size = (uint32_t)size;
	if (is_full(map) || array_reserve(&map->list, map->list.count + 1) < 0) {
		map->lost++;
		return;
	}
	text_append(&map->names, rest, length);
	text_append(&map->names, "", 1);
	if (map->names.failed)
		map->lost++;
	else
		map->list.data[map->list.count++] = entry;
}

size_t perf_map_parse(struct perf_map *map, const char *text, size_t length)
{
	const char *line = text, *end;

	while ((end = memchr(line, '\n', length - (size_t)(line - text)))) {
		parse_line(map, line, end);
		line = end + 1;
	}
	return (size_t)(line - text);
}

static int compare(const void *a, const void *b)
{
	const struct perf_map_entry *first = a, *second = b;

	if (first->start != second->start)
		return first->start < second->start ? -1 : 1;
	return (first->name > second->name) - (first->name < second->name);
}

static void sort(struct perf_map *map)
{
	if (map->sorted == map->list.count)
		return;
	array_sort(&map->list, compare);
	map->sorted = map->list.count;
}

const char *perf_map_find(struct perf_map *map, uint64_t address)
{
	const struct perf_map_entry *found = NULL;
	size_t below;

	sort(map);
	below = array_bisect(map->list.data, map->list.count, item->start <= address);
	for (size_t i = 0; i < below && i < NESTED_MAX; i++) {
		const struct perf_map_entry *entry = &map->list.data[below - 1 - i];

		if (address - entry->start < entry->size && (!found || entry->name > found->name))
			found = entry;
	}
	return found ? map->names.data + found->name : NULL;
}
