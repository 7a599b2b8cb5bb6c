/* SPDX-License-Identifier: MIT */
/* Asks other verbs about the process of a row: why, trace, a profile. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/collection/array.h"
#include "model/snapshot/snapshot.h"
#include "tui/act/act.h"
#include "tui/act/verb_page.h"
#include "tui/screen/top_state.h"

#define NAMES_MOST 100

/* "PID" in words stands for the number, "FILE" for the file that is written. */
static const struct question {
	enum key_id key;
	const char *title;
	const char *ending; /* of the file that it writes; NULL: none */
	bool acts;	    /* it changes something: --read-only refuses it */
	const char *words[10];
} questions[] = {
	{ KEY_OF_WHY, "Why", NULL, false, { "why", "--stacks", "-p", "PID" } },
	{ KEY_OF_CALLS,
	  "System calls of 2 s, nobody is stopped",
	  NULL,
	  false,
	  { "trace", "--summary", "-d", "2s", "-p", "PID" } },
	{ KEY_OF_TRACE,
	  "Trace: strace stops the process at every call",
	  NULL,
	  true,
	  { "trace", "-d", "10s", "-p", "PID" } },
	{ KEY_OF_FLAME,
	  "Profile of 5 s",
	  ".html",
	  true,
	  { "attach", "-v", "-d", "5s", "-o", "FILE", "-p", "PID" } },
};

const char *act_refusal(const struct top *top)
{
	return top->options->read_only ?
		       "--read-only: nothing is signalled, traced, profiled or saved" :
		       NULL;
}

bool act_reserve_name(const char *ending, const char *what, char *ret, size_t size)
{
	time_t now = time(NULL);
	struct tm parts;
	char when[32];

	localtime_r(&now, &parts);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &parts);
	for (int i = 1; i < NAMES_MOST; i++) {
		char more[16] = "";
		int fd;

		if (i > 1)
			snprintf(more, sizeof(more), "-%d", i);
		snprintf(ret, size, "taskscope-%s-%s%s%s", what, when, more, ending);
		fd = open(ret, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
		if (fd >= 0 || errno != EEXIST)
			return fd >= 0;
	}
	return false;
}

static const char *refusal(const struct top *top, const struct question *question)
{
	enum group_axis axis = top->choice.axis;
	const char *why = question->acts ? act_refusal(top) : NULL;

	if (why)
		return why;
	if (!top->options->host || !top->moment.is_live)
		return "what is shown is past: this asks a process of now";
	if (axis != AXIS_PROCESS && axis != AXIS_THREAD)
		return "this asks a process: 1 shows processes";
	return top_rows(top) ? NULL : "there is no process";
}

static void ask(struct top *top, const struct question *question, int32_t pid)
{
	const char *words[ARRAY_SIZE(question->words) + 1] = { NULL };
	char number[16], file[128], title[128];
	struct verb_run run = { .title = title, .words = words };

	snprintf(number, sizeof(number), "%" PRId32, pid);
	if (question->ending && !act_reserve_name(question->ending, number, file, sizeof(file))) {
		top_say(top, true, "no file can be made in this directory");
		return;
	}
	run.made = question->ending ? file : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(question->words) && question->words[i]; i++)
		words[i] = strcmp(question->words[i], "PID") == 0  ? number :
			   strcmp(question->words[i], "FILE") == 0 ? file :
								     question->words[i];
	snprintf(title, sizeof(title), "%s: process %" PRId32, question->title, pid);
	verb_page_open(top, &run);
}

bool act_ask(struct top *top, int key)
{
	const struct question *question = NULL;
	struct row_identity who;
	const char *why;

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		if ((int)questions[i].key == key)
			question = &questions[i];
	if (!question)
		return false;
	why = refusal(top, question);
	if (why) {
		top_say(top, true, "%s", why);
		return true;
	}
	if (!act_find_process(top, &who))
		return true;
	ask(top, question, who.tgid);
	return true;
}
