/* SPDX-License-Identifier: MIT */
#include "tui/act/verb_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "metric/unit.h"
#include "tui/act/act.h"
#include "tui/screen/top_state.h"

/* A file that was not written leaves no empty name behind. */
static void forget_made(struct top *top, bool is_done)
{
	struct verb_page *page = &top->verb;

	if (!page->made)
		return;
	if (!act_forget_file(page->made) && is_done)
		top_say(top, false, "%s was written", page->made);
	free(page->made);
	page->made = NULL;
}

static void take_end(struct verb_child *child, bool is_done)
{
	struct text_page *text = child->page;
	const char *shows = child->top->verb.shows;

	/* Who has moved already is left where they are. */
	for (size_t i = 0; text && shows && !text->first && i < text->lines.count; i++)
		if (strstr(text->lines.data[i], shows))
			text->first = i;
	forget_made(child->top, is_done);
}

void verb_page_open(struct top *top, const struct verb_run *run)
{
	struct verb_page *page = &top->verb;
	int status;

	if (page->child.pid) {
		top_say(top, true, "the one before is still ending");
		return;
	}
	text_clear(&page->title);
	text_append_string(&page->title, run->title);
	page->made = run->made ? strdup(run->made) : NULL;
	page->shows = run->shows;
	page->child.page = &top->text;
	page->child.ended = take_end;
	status = verb_child_start(&page->child, top, run);
	if (status < 0) {
		forget_made(top, false);
		top_say(top, true, "it cannot be asked: %s", strerror(-status));
		return;
	}
	asked_leave(top);
	top_text_clear(&top->text);
	top->text.first = top->text.shift = 0;
	top->text.is_detail = false;
	top->text.is_verb = true;
	top->mode = MODE_TEXT;
}

void verb_page_leave(struct top *top)
{
	top->text.is_verb = false;
	top->verb.child.page = NULL;
	verb_child_end(&top->verb.child);
}

void verb_page_close(struct top *top)
{
	verb_child_close(&top->verb.child);
	text_free(&top->verb.title);
}

void verb_page_title(const struct top *top, struct text *out)
{
	const struct verb_child *child = &top->verb.child;

	text_append_string(out, text_string(&top->verb.title));
	if (!child->pid)
		return;
	text_append_string(out, child->was_ended ? "  ends" : "  runs for ");
	if (!child->was_ended)
		unit_format(out, UNIT_NS, monotonic_ns() - child->begin_ns);
	text_append_string(out, " (Escape ends it)");
}
