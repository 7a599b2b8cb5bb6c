/* SPDX-License-Identifier: MIT */
#include "analyze/group/selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

#define WORD_MAX 64 /* bytes; longer than every metric's name */

bool selection_has(const struct selection *selection, enum metric_id id)
{
	for (size_t i = 0; i < selection->count; i++)
		if (selection->ids[i] == id)
			return true;
	return false;
}

void selection_add(struct selection *selection, enum metric_id id)
{
	if (!selection_has(selection, id))
		selection->ids[selection->count++] = id;
}

void selection_add_first(struct selection *selection, enum metric_id id)
{
	if (selection_has(selection, id))
		return;
	memmove(selection->ids + 1, selection->ids, selection->count * sizeof(*selection->ids));
	selection->ids[0] = id;
	selection->count++;
}

void selection_all(struct selection *selection)
{
	for (int id = 0; id < METRIC_COUNT; id++)
		selection->ids[id] = id;
	selection->count = METRIC_COUNT;
	selection->is_everything = true;
}

int metric_unknown(const char *name, const char *others, struct error *error)
{
	struct suggestion suggestion = suggest_for(name, strlen(name));

	suggest_list(&suggestion, others);
	for (int id = 0; id < METRIC_COUNT; id++)
		suggest(&suggestion, metrics[id].name);
	return error_set(error, -EINVAL, "there is no metric '%s'; %s", name,
			 suggestion_hint(&suggestion, "", "`taskscope metrics` lists them"));
}

static int add_matches(struct selection *selection, const char *glob, struct error *error)
{
	bool found = false;

	for (int id = 0; id < METRIC_COUNT; id++) {
		if (fnmatch(glob, metrics[id].name, 0) != 0)
			continue;
		selection_add(selection, id);
		found = true;
	}
	if (found)
		return 0;
	return error_set(error, -EINVAL, "no metric matches '%s'; `taskscope metrics` lists them",
			 glob);
}

static int add_word(struct selection *selection, const char *word, struct error *error)
{
	int id = metric_find(word);

	if (id < 0 && strpbrk(word, "*?["))
		return add_matches(selection, word, error);
	if (id < 0)
		return metric_unknown(word, "", error);
	selection_add(selection, id);
	return 0;
}

static int add_part(struct selection *selection, const char *start, size_t length,
		    struct error *error)
{
	char word[WORD_MAX + 1];

	if (length == 0)
		return error_set(error, -EINVAL, "the list of metrics has an empty word");
	if (length > WORD_MAX)
		return error_set(error, -EINVAL, "there is no metric with a name of %zu letters",
				 length);
	memcpy(word, start, length);
	word[length] = '\0';
	return add_word(selection, word, error);
}

int selection_parse(const char *list, struct selection *ret, struct error *error)
{
	struct selection selection = { .count = 0 };
	const char *rest = list;

	while (rest) {
		size_t length = strcspn(rest, ",");
		int status = add_part(&selection, rest, length, error);

		if (status < 0)
			return error_mark(error, status, list, (size_t)(rest - list));
		rest = rest[length] ? rest + length + 1 : NULL;
	}
	*ret = selection;
	return 0;
}

/* The bit of a word's place in "a, b, all"; the last word is all bits, and no name is none. */
static uint32_t find_bits(const char *names, const char *word, size_t length)
{
	uint32_t bit = 1;

	for (const char *name = names;; bit <<= 1) {
		size_t name_length = strcspn(name, ",");
		bool is_last = !name[name_length];

		if (name_length == length && memcmp(name, word, length) == 0)
			return is_last ? bit - 1 : bit;
		if (is_last)
			return 0;
		name += name_length + strlen(", ");
	}
}

static int unknown_section(const char *names, const char *word, size_t length, struct error *error)
{
	struct suggestion suggestion = suggest_for(word, length);
	char otherwise[256];

	snprintf(otherwise, sizeof(otherwise), "sections are %s", names);
	suggest_list(&suggestion, names);
	return error_set(error, -EINVAL, "there is no section '%.*s'; %s", (int)length, word,
			 suggestion_hint(&suggestion, "", otherwise));
}

int section_bits_parse(const char *names, const char *list, uint32_t *ret, struct error *error)
{
	const char *whole = list;
	uint32_t sections = 0;

	while (list) {
		size_t length = strcspn(list, ",");
		uint32_t found = find_bits(names, list, length);

		if (!found)
			return error_mark(error, unknown_section(names, list, length, error), whole,
					  (size_t)(list - whole));
		sections |= found;
		list = list[length] ? list + length + 1 : NULL;
	}
	*ret = sections;
	return 0;
}

int sections_parse(const char *list, uint32_t *ret, struct error *error)
{
	return section_bits_parse(SECTION_NAMES, list, ret, error);
}

void selection_add_sections(struct selection *selection, uint32_t sections)
{
	for (int id = 0; id < METRIC_COUNT; id++)
		if (sections >> metrics[id].section & 1)
			selection_add(selection, (enum metric_id)id);
	selection->is_everything = sections == ALL_SECTIONS;
}
