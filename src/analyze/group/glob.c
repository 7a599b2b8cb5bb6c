/* SPDX-License-Identifier: MIT */
#include "analyze/group/glob.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

enum token_type {
	TOKEN_CHARACTER,
	TOKEN_ANY,	/* ? */
	TOKEN_SET,	/* [...] */
	TOKEN_STAR,	/* any characters of a segment */
	TOKEN_STARS,	/* any characters */
	TOKEN_SEGMENTS, /* any segments, each with the slash after it */
};

struct token {
	enum token_type type;
	uint32_t character; /* of TOKEN_CHARACTER */
	uint16_t first;	    /* of TOKEN_SET: its ranges begin here */
	uint16_t ranges;
	bool is_negated;
};

struct range {
	uint32_t first, last;
};

/* A pattern has at most as many tokens, and ranges, as bytes. */
struct glob {
	size_t count;
	struct token *tokens;
	struct range *ranges;
	size_t range_count;
};

/*
 * The bytes of a character as a number, so that numbers sort like characters.
 * A byte that is not UTF-8 sorts below all characters that are not ASCII, and
 * no character has its number.
 */
static uint32_t next_character(const char **at)
{
	size_t length = (unsigned char)**at < 0x80 ? 1 : text_character(*at, strnlen(*at, 4));
	uint32_t character = 0;

	for (size_t i = 0; i < (length ? length : 1); i++)
		character = character << 8 | (unsigned char)*(*at)++;
	return character;
}

/* The state of parsing. */
struct scan {
	const char *start, *at;
	struct glob *glob;
	const char *reason;
};

static int refuse(struct scan *scan, const char *at, const char *reason)
{
	scan->at = at;
	scan->reason = reason;
	return -EINVAL;
}

static struct token *add_token(struct scan *scan, enum token_type type)
{
	struct token *token = &scan->glob->tokens[scan->glob->count++];

	*token = (struct token){ .type = type };
	return token;
}

/* One character of a set, or a range of them. */
static int scan_range(struct scan *scan, struct token *token)
{
	const char *at = scan->at;
	struct range range;

	range.first = range.last = next_character(&scan->at);
	if (scan->at[0] == '-' && scan->at[1] && scan->at[1] != ']') {
		scan->at++;
		range.last = next_character(&scan->at);
	}
	if (range.first == '/' || range.last == '/')
		return refuse(scan, at, "'/' cannot be in a set, which is of one segment");
	if (range.last < range.first)
		return refuse(scan, at, "the range ends before it starts");
	scan->glob->ranges[scan->glob->range_count++] = range;
	token->ranges++;
	return 0;
}

/* A "]" right after the opening is a member of the set. */
static int scan_set(struct scan *scan)
{
	const char *open = scan->at++;
	struct token *token = add_token(scan, TOKEN_SET);
	int status = 0;

	token->first = (uint16_t)scan->glob->range_count;
	token->is_negated = *scan->at == '!' || *scan->at == '^';
	scan->at += token->is_negated;
	while (status == 0 && *scan->at && (*scan->at != ']' || token->ranges == 0))
		status = scan_range(scan, token);
	if (status < 0)
		return status;
	if (!*scan->at)
		return refuse(scan, open, "'[' has no ']'");
	scan->at++;
	return 0;
}

static void scan_stars(struct scan *scan)
{
	size_t stars = strspn(scan->at, "*");
	bool whole = scan->at == scan->start || scan->at[-1] == '/';

	scan->at += stars;
	if (stars == 1) {
		add_token(scan, TOKEN_STAR);
	} else if (whole && *scan->at == '/') {
		add_token(scan, TOKEN_SEGMENTS);
		scan->at++;
	} else {
		add_token(scan, TOKEN_STARS);
	}
}

static int scan_token(struct scan *scan)
{
	switch (*scan->at) {
	case '*':
		scan_stars(scan);
		return 0;
	case '?':
		add_token(scan, TOKEN_ANY);
		scan->at++;
		return 0;
	case '[':
		return scan_set(scan);
	}
	add_token(scan, TOKEN_CHARACTER)->character = next_character(&scan->at);
	return 0;
}

static int scan_glob(struct scan *scan)
{
	int status = 0;

	if (!*scan->at)
		return refuse(scan, scan->at, "it is empty");
	if (strnlen(scan->at, GLOB_MAX + 1) > GLOB_MAX)
		return refuse(scan, scan->at + GLOB_MAX, "it is longer than 1024 bytes");
	while (status == 0 && *scan->at)
		status = scan_token(scan);
	return status;
}

void glob_free(struct glob *glob)
{
	if (!glob)
		return;
	free(glob->tokens);
	free(glob->ranges);
	free(glob);
}

int glob_new(const char *pattern, struct glob **ret, struct glob_fault *ret_fault)
{
	CLEANUP(glob_free_pointer) struct glob *glob = calloc(1, sizeof(*glob));
	struct scan scan = { .start = pattern, .at = pattern, .glob = glob };
	size_t length = strnlen(pattern, GLOB_MAX) + 1;

	if (!glob)
		return -ENOMEM;
	glob->tokens = calloc(length, sizeof(*glob->tokens));
	glob->ranges = calloc(length, sizeof(*glob->ranges));
	if (!glob->tokens || !glob->ranges)
		return -ENOMEM;
	if (scan_glob(&scan) < 0) {
		if (ret_fault)
			*ret_fault = (struct glob_fault){ .position = (size_t)(scan.at - pattern),
							  .reason = scan.reason };
		return -EINVAL;
	}
	*ret = TAKE_PTR(glob);
	return 0;
}

int glob_check(const char *pattern, struct error *error)
{
	CLEANUP(glob_free_pointer) struct glob *glob = NULL;
	struct glob_fault fault;
	int status = glob_new(pattern, &glob, &fault);

	if (status == -EINVAL) {
		error_set(error, status, "cannot read the glob '%s': %s", pattern, fault.reason);
		return error_mark(error, status, pattern, fault.position);
	}
	if (status < 0)
		return error_set(error, status, "cannot read the glob: %s", strerror(-status));
	return 0;
}

/* A character of the text. */
struct symbol {
	uint32_t character;
	bool separates; /* it is a "/" between segments */
};

static bool set_has(const struct glob *glob, const struct token *token, uint32_t character)
{
	const struct range *range = &glob->ranges[token->first];

	for (unsigned i = 0; i < token->ranges; i++)
		if (character >= range[i].first && character <= range[i].last)
			return !token->is_negated;
	return token->is_negated;
}

/* Whether the token takes the character and is then finished. */
static bool takes(const struct glob *glob, const struct token *token, struct symbol symbol)
{
	switch (token->type) {
	case TOKEN_CHARACTER:
		return token->character == symbol.character;
	case TOKEN_ANY:
		return !symbol.separates;
	case TOKEN_SET:
		return !symbol.separates && set_has(glob, token, symbol.character);
	case TOKEN_STAR:
	case TOKEN_STARS:
	case TOKEN_SEGMENTS:
		break;
	}
	return false;
}

/* Whether the token takes the character and can take more. */
static bool goes_on(const struct token *token, struct symbol symbol)
{
	return token->type == TOKEN_STARS || token->type == TOKEN_SEGMENTS ||
	       (token->type == TOKEN_STAR && !symbol.separates);
}

static bool may_be_nothing(const struct token *token, bool segment_starts)
{
	return token->type == TOKEN_STAR || token->type == TOKEN_STARS ||
	       (token->type == TOKEN_SEGMENTS && segment_starts);
}

/*
 * Follows all ways to match at once: at[i] says that the tokens before i can
 * match what was read so far.  Only entries from `low` to `high` can be true.
 */
struct progress {
	const struct glob *glob;
	bool at[GLOB_MAX + 1];
	size_t low, high;
};

static void skip_empty(struct progress *progress, bool segment_starts)
{
	const struct glob *glob = progress->glob;

	for (size_t i = progress->low; i <= progress->high && i < glob->count; i++) {
		if (!progress->at[i] || !may_be_nothing(&glob->tokens[i], segment_starts))
			continue;
		progress->at[i + 1] = true;
		if (i == progress->high)
			progress->high++;
	}
}

/* False when nothing can match any more. */
static bool advance(struct progress *progress, struct symbol symbol)
{
	const struct glob *glob = progress->glob;
	size_t i = progress->high < glob->count ? progress->high + 1 : glob->count;
	size_t low = SIZE_MAX, high = 0;

	/* Downwards, so that the entry before a token is still that of the previous character. */
	for (; i + 1 > progress->low; i--) {
		bool before = i > progress->low && progress->at[i - 1];

		progress->at[i] =
			(progress->at[i] && i < glob->count && goes_on(&glob->tokens[i], symbol)) ||
			(before && takes(glob, &glob->tokens[i - 1], symbol));
		if (!progress->at[i])
			continue;
		low = i;
		if (i > high)
			high = i;
	}
	progress->low = low;
	progress->high = high;
	return low != SIZE_MAX;
}

bool glob_match_name(const struct glob *glob, const char *text, size_t path_length)
{
	struct progress progress = { .glob = glob };
	const char *start = text;

	progress.at[0] = true;
	skip_empty(&progress, true);
	while (*text) {
		bool in_path = (size_t)(text - start) < path_length;
		uint32_t character = next_character(&text);

		if (!advance(&progress, (struct symbol){ character, in_path && character == '/' }))
			return false;
		skip_empty(&progress, character == '/');
	}
	return progress.at[glob->count];
}

bool glob_match(const struct glob *glob, const char *text)
{
	return glob_match_name(glob, text, SIZE_MAX);
}
