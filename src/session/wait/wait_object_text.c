/* SPDX-License-Identifier: MIT */
/* Describes for people what a thread waits for. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "session/wait/wait_object.h"

/* How objects are written whose kind is not a word before their name. */
static const struct description {
	const char *kind, *word;
	bool has_name;
	const char *parties; /* comes before those that can end the wait */
} descriptions[] = {
	{ "thread", "thread", false, " " },
	{ "child", "child", false, " " },
	{ "file_lock", "lock on ", true, " held by " },
	{ "pipe", "", true, ", other end: " },
	{ "socket", "", true, ", other end: " },
	{ "file", "", true, "" },
	{ "terminal", "", true, "" },
	{ "event", "", true, "" },
	{ "device", "", true, "" },
};

static void append_escaped(struct text *out, const char *string)
{
	text_append_escaped(out, string, strlen(string));
}

static void append_party(struct text *out, const struct wait_party *party)
{
	append_escaped(out, party->comm[0] ? party->comm : "?");
	text_format(out, " (%" PRId32 ")", party->tid ? party->tid : party->pid);
}

static void append_parties(struct text *out, const struct wait_object *object, const char *before)
{
	if (!object->has_holder && !object->peer_count)
		return;
	text_append_string(out, before);
	append_party(out, object->has_holder ? &object->holder : &object->peers[0]);
	if (!object->has_holder && object->peer_count > 1)
		text_format(out, " and %zu more", object->peer_count - 1);
}

void wait_object_describe(const struct wait_object *object, struct text *out)
{
	struct description shown = { object->kind, object->kind, true, " held by " };
	bool is_listed = false;

	if (!object->kind)
		return;
	for (size_t i = 0; i < sizeof(descriptions) / sizeof(descriptions[0]) && !is_listed; i++) {
		is_listed = strcmp(descriptions[i].kind, object->kind) == 0;
		if (is_listed)
			shown = descriptions[i];
	}
	text_append_string(out, shown.word);
	if (!is_listed)
		text_append_string(out, " ");
	if (shown.has_name)
		append_escaped(out, object->name[0] ? object->name : object->file);
	append_parties(out, object, shown.parties);
}
