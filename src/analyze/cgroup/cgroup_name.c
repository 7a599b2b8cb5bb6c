/* SPDX-License-Identifier: MIT */
/*
 * The name of a cgroup: its last segment that contains a word, and that word.
 * A segment that is only an id is skipped for the one above it.
 */
#include "analyze/cgroup/cgroup_match.h"

#include <errno.h>
#include <string.h>

#include "analyze/group/name_pattern.h"
#include "base/cleanup.h"
#include "base/text.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ((unsigned char)c & 0x80);
}

/* The first word of a pattern that is not a placeholder; the pattern's end when there is none. */
static const char *find_word(const char *pattern)
{
	while (*pattern && !is_letter(*pattern))
		pattern += pattern[0] == '{' && pattern[1] && pattern[2] == '}' ? 3 : 1;
	return pattern;
}

static size_t word_length(const char *word)
{
	size_t length = 0;

	while (is_letter(word[length]))
		length++;
	return length;
}

struct namer {
	struct arena *arena;
	struct text segment, pattern;
};

/* Writes the pattern of the segment that ends at `end`, and gives where the segment starts. */
static int write_pattern(struct namer *namer, const char *key, size_t end, size_t *ret_start)
{
	size_t start = end;

	while (start > 0 && key[start - 1] != '/')
		start--;
	text_clear(&namer->segment);
	text_clear(&namer->pattern);
	text_append(&namer->segment, key + start, end - start);
	name_pattern(text_string(&namer->segment), NAME_IS_PATH, &namer->pattern);
	*ret_start = start;
	return namer->segment.failed || namer->pattern.failed ? -ENOMEM : 0;
}

static int name_cgroup(struct namer *namer, struct typed_cgroup *cgroup)
{
	size_t start, end = strlen(cgroup->key);
	const char *pattern, *word;

	do {
		if (write_pattern(namer, cgroup->key, end, &start) < 0)
			return -ENOMEM;
		pattern = text_string(&namer->pattern);
		word = find_word(pattern);
		end = start ? start - 1 : 0;
	} while (!*word && start > 0);
	cgroup->leaf = arena_copy(namer->arena, pattern, namer->pattern.length);
	cgroup->word = arena_copy(namer->arena, word, word_length(word));
	return cgroup->leaf && cgroup->word ? 0 : -ENOMEM;
}

static void namer_clear(struct namer *namer)
{
	text_free(&namer->segment);
	text_free(&namer->pattern);
}

int cgroup_types_name(struct cgroup_types *types)
{
	CLEANUP(namer_clear) struct namer namer = { .arena = &types->arena };
	int status = 0;

	for (size_t i = 0; i < types->count && status == 0; i++)
		status = name_cgroup(&namer, &types->cgroups[i]);
	return status;
}
