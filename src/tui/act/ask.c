/* SPDX-License-Identifier: MIT */
/* Asks other verbs about the process of a row: why, trace, a profile. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/collection/array.h"
#include "model/snapshot/snapshot.h"
#include "tui/act/act.h"
#include "tui/act/verb_page.h"
#include "tui/screen/top_state.h"

/* How a question begins. */
enum before {
	AT_ONCE,
	AFTER_YES,
	AFTER_NAME, /* of the file that it writes */
};

static const struct question {
	enum key_id key;
	const char *title;
	enum before before;
	bool acts;	   /* it changes something: --read-only refuses it */
	const char *shows; /* the line that people want to see first; NULL: the first one */
	const char *words[10];
} questions[] = {
	{ KEY_OF_WHY, "Why", AT_ONCE, false, NULL, { "why", "--stacks", "-v", "-p", "PID" } },
	{ KEY_OF_CALLS,
	  "System calls of 2 s, nobody is stopped",
	  AT_ONCE,
	  false,
	  NULL,
	  { "trace", "--summary", "-d", "2s", "-p", "PID" } },
	{ KEY_OF_TRACE,
	  "Trace: strace stops the process at every call",
	  AFTER_YES,
	  true,
	  NULL,
	  { "trace", "-d", "10s", "-p", "PID" } },
	{ KEY_OF_FLAME,
	  "Profile of 5 s",
	  AFTER_NAME,
	  true,
	  "functions on the CPU",
	  { "attach", "-v", "-d", "5s", "-o", "FILE", "-p", "PID" } },
};

static const struct question *find_question(int key)
{
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		if ((int)questions[i].key == key)
			return &questions[i];
	return NULL;
}

const char *act_refusal(const struct top *top)
{
	return top->options->read_only ?
		       "--read-only: nothing is signalled, traced, profiled or saved" :
		       NULL;
}

void act_put_names(const char *const *from, size_t most, const struct act_names *names,
		   const char **to)
{
	const struct {
		const char *word, *meaning;
	} known[] = {
		{ "PID", names->pid },
		{ "FILE", names->file },
		{ "STORE", names->store },
		{ "TIME", names->time },
	};

	for (size_t i = 0; i < most && from[i]; i++) {
		to[i] = from[i];
		for (size_t k = 0; k < ARRAY_SIZE(known); k++)
			if (strcmp(from[i], known[k].word) == 0)
				to[i] = known[k].meaning;
	}
}

static const char *refusal(const struct top *top, const struct question *question)
{
	enum group_axis axis = top->choice.axis;
	const char *why = question->acts ? act_refusal(top) : NULL;

	if (why)
		return why;
	if (!top->options->host || !top->moment.is_live)
		return "what is shown is past: this asks a process of now";
	if (top->shows_jobs || (axis != AXIS_PROCESS && axis != AXIS_THREAD))
		return "this asks a process: 1 shows processes";
	return top_rows(top) ? NULL : "there is no process";
}

static void ask(struct top *top, const struct question *question, const char *file)
{
	const char *words[ARRAY_SIZE(question->words) + 1] = { NULL };
	char pid[16], title[128];
	const struct act_names names = { .pid = pid, .file = file };
	struct verb_run run = {
		.title = title, .words = words, .made = file, .shows = question->shows
	};

	snprintf(pid, sizeof(pid), "%" PRId32, top->profiled.tgid);
	act_put_names(question->words, ARRAY_SIZE(question->words), &names, words);
	snprintf(title, sizeof(title), "%s: process %s", question->title, pid);
	verb_page_open(top, &run);
}

/* It may have ended while somebody thought about it. */
static bool still_lives(struct top *top)
{
	if (act_has_start(top->options->host, top->profiled.tgid, top->profiled.start_time_ns))
		return true;
	top_say(top, true, "process %" PRId32 " has ended", top->profiled.tgid);
	return false;
}

static void trace(struct top *top)
{
	if (still_lives(top))
		ask(top, find_question(KEY_OF_TRACE), NULL);
}

void act_profile(struct top *top, const char *path)
{
	if (still_lives(top) && act_make_file(top, path))
		ask(top, find_question(KEY_OF_FLAME), path);
}

bool act_ask(struct top *top, int key)
{
	const struct question *question = find_question(key);
	const char *why;

	if (!question)
		return false;
	why = refusal(top, question);
	if (why) {
		top_say(top, true, "%s", why);
		return true;
	}
	if (!act_find_process(top, &top->profiled))
		return true;
	if (question->before == AT_ONCE) {
		ask(top, question, NULL);
	} else if (question->before == AFTER_NAME) {
		top_prompt_open(top, PROMPT_PROFILE);
	} else {
		top_confirm(top, trace, "nothing was traced");
		top_say(top, false, "trace process %" PRId32 ", which stops it at every call?",
			top->profiled.tgid);
	}
	return true;
}
