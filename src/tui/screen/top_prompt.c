/* SPDX-License-Identifier: MIT */
/* A line that is typed below the table: what to find, a filter, a time, yes or no. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "tui/act/act.h"
#include "tui/screen/top_state.h"

#define TYPED_MOST 1000

const char *top_prompt_label(const struct top *top)
{
	static const char *const labels[] = {
		[PROMPT_FIND] = "find: ",    [PROMPT_FILTER] = "filter: ",
		[PROMPT_TIME] = "time: ",    [PROMPT_CONFIRM] = "y or n: ",
		[PROMPT_SAVE] = "save to: ", [PROMPT_PROFILE] = "profile (.html, .folded) to: ",
	};

	return labels[top->prompt];
}

/* A search wraps around; with `stays` the row itself may be what is searched for. */
void top_find(struct top *top, int direction, bool stays)
{
	size_t rows = top_rows(top);

	if (!top->wanted.length || !rows)
		return;
	top_order_all(top);
	for (size_t i = stays ? 0 : 1; i <= rows; i++) {
		size_t row = (top->selected + (direction > 0 ? i : rows - i % rows)) % rows;
		CLEANUP(text_free) struct text name = { 0 };

		top_row_name(top, row, &name);
		if (strcasestr(text_string(&name), text_string(&top->wanted))) {
			top->selected = row;
			return;
		}
	}
	top_say(top, false, "no row has '%s' in its name", text_string(&top->wanted));
}

/* One that is not complete yet changes nothing; one that is meant and wrong leads back to the one before. */
void top_choose_filter(struct top *top, const char *text, bool is_meant)
{
	struct filter filter = { 0 };
	struct error error = { 0 };
	int status = text[strspn(text, " ")] ? filter_add(&filter, text, &error) : 0;

	if (status < 0) {
		filter_clear(&filter);
		if (!is_meant)
			return;
		top_choose_filter(top, text_string(&top->filter_before), false);
		top_say(top, true, "%s", error.message);
		return;
	}
	filter_clear(&top->filter);
	top->filter = filter;
	top_arrange(top);
}

void top_prompt_open(struct top *top, enum prompt_kind kind)
{
	top_leave_page(top);
	top->prompt = kind;
	top->mode = MODE_PROMPT;
	text_clear(&top->typed);
	if (kind == PROMPT_SAVE)
		text_format(&top->typed, "taskscope-%" PRIu64 ".tscope",
			    top->moment.sample.unix_ns / NS_PER_SECOND);
	if (kind == PROMPT_PROFILE)
		text_format(&top->typed, "taskscope-%" PRId32 "-%" PRIu64 ".html",
			    top->profiled.tgid, clock_ns(CLOCK_REALTIME) / NS_PER_SECOND);
	if (kind != PROMPT_FILTER)
		return;
	text_clear(&top->filter_before);
	if (top->filter.text)
		text_append_string(&top->filter_before, text_string(top->filter.text));
	text_append_string(&top->typed, text_string(&top->filter_before));
}

void top_confirm(struct top *top, void (*confirmed)(struct top *top), const char *unconfirmed)
{
	top->confirmed = confirmed;
	top->unconfirmed = unconfirmed;
	top_prompt_open(top, PROMPT_CONFIRM);
}

static void take_time(struct top *top)
{
	struct move move = { .kind = MOVE_TO };
	struct error error = { 0 };

	if (top->options->parse_time(top->options->parse_context, text_string(&top->typed),
				     &move.unix_ns, &error) < 0)
		top_say(top, true, "%s", error.message);
	else
		top_take(top, &move);
}

static void finish(struct top *top, bool is_meant)
{
	top->mode = MODE_TABLE;
	switch (top->prompt) {
	case PROMPT_FIND:
		break;
	case PROMPT_FILTER:
		top_choose_filter(top, text_string(is_meant ? &top->typed : &top->filter_before),
				  true);
		break;
	case PROMPT_TIME:
		if (is_meant)
			take_time(top);
		break;
	case PROMPT_SAVE:
		if (is_meant)
			act_save(top, text_string(&top->typed));
		break;
	case PROMPT_CONFIRM:
		if (is_meant)
			top->confirmed(top);
		else
			top_say(top, false, "%s", top->unconfirmed);
		break;
	case PROMPT_PROFILE:
		if (is_meant)
			act_profile(top, text_string(&top->typed));
		break;
	}
}

static void take_change(struct top *top)
{
	if (top->prompt == PROMPT_FILTER)
		top_choose_filter(top, text_string(&top->typed), false);
	if (top->prompt != PROMPT_FIND)
		return;
	text_clear(&top->wanted);
	text_append_string(&top->wanted, text_string(&top->typed));
	top_find(top, 1, true);
}

static void erase_last(struct text *typed)
{
	while (typed->length && (typed->data[typed->length - 1] & 0xc0) == 0x80)
		typed->length--;
	if (typed->length)
		typed->length--;
	if (typed->data)
		typed->data[typed->length] = '\0';
}

static void append_typed(struct text *typed, wint_t code)
{
	mbstate_t state = { 0 };
	char bytes[MB_LEN_MAX];
	size_t length = wcrtomb(bytes, (wchar_t)code, &state);

	if (length != (size_t)-1 && typed->length + length < TYPED_MOST &&
	    text_printable(bytes, length) == length)
		text_append(typed, bytes, length);
}

void top_prompt_input(struct top *top, const struct input *input)
{
	bool is_special = input->kind == INPUT_SPECIAL, is_meant;

	if (input->kind != INPUT_KEY && !is_special)
		return;
	if (top->prompt == PROMPT_CONFIRM) {
		finish(top, !is_special && input->code == 'y');
		return;
	}
	/* Not by what keys mean: somebody may have chosen letters for that, which are typed here. */
	is_meant = key_is("Enter", input->code, is_special);
	if (is_meant || key_is("Escape", input->code, is_special)) {
		finish(top, is_meant);
		return;
	}
	/* Backspace is one of these, by terminal. */
	if ((is_special && input->code == 0407) ||
	    (!is_special && (input->code == 127 || input->code == 8)))
		erase_last(&top->typed);
	else if (!is_special && input->code == 'U' - '@')
		text_clear(&top->typed);
	else if (!is_special)
		append_typed(&top->typed, input->code);
	take_change(top);
}
