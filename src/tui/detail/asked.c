/* SPDX-License-Identifier: MIT */
#include "tui/detail/asked.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/snapshot/snapshot.h"
#include "render/record/record_table.h"
#include "tui/act/act.h"
#include "tui/screen/top_state.h"

/* So long after an answer the next one is asked for. */
#define AGAIN_NS (5 * NS_PER_SECOND)
#define LINES_MOST 80

/* The last word of one that shows all threads; of many threads it would leave no room for stacks. */
#define MORE "-v"
/* What an answer without it says, which is no key here. */
#define MORE_HINT "(-v shows all)"
#define THREADS_MOST 30

/* Words in capitals stand for what act_put_names() knows. */
static const struct {
	const char *title;
	bool is_of_past;
	const char *words[16];
} asks[ASKED_COUNT] = {
	{ "Where its time goes, and its stacks",
	  false,
	  { "why", "--stacks", "-d", "1s", "-p", "PID", MORE } },
	{ "System calls by time",
	  false,
	  { "trace", "--summary", "-n", "10", "-d", "1s", "-p", "PID" } },
	{ "What its threads did in the minute before",
	  true,
	  { "activity", "--store", "STORE", "--until", "TIME", "--since", "1m", "-g",
	    "tid,wait,syscall", "-n", "20", "-p", "PID" } },
	{ "Where they stood in the kernel",
	  true,
	  { "activity", "--store", "STORE", "--until", "TIME", "--since", "1m", "-g", "stack", "-n",
	    "5", "-p", "PID" } },
};

static bool is_due(const struct top *top, size_t i)
{
	const struct asked *asked = &top->asked[i];

	if (asked->child.pid || asks[i].is_of_past == top->moment.is_live)
		return false;
	if (asks[i].is_of_past)
		return top->options->store && asked->of_unix_ns != top->moment.sample.unix_ns;
	return top->options->host &&
	       (!asked->said_unix_ns || monotonic_ns() - asked->ended_ns >= AGAIN_NS);
}

static void take_answer(struct verb_child *child, bool is_done)
{
	struct top *top = child->top;

	(void)is_done;
	for (size_t i = 0; i < ASKED_COUNT; i++) {
		struct asked *asked = &top->asked[i];

		if (&asked->child != child || !child->page)
			continue;
		top_text_clear(&asked->said);
		asked->said = asked->next;
		asked->next = (struct text_page){ 0 };
		asked->said_unix_ns =
			asks[i].is_of_past ? asked->of_unix_ns : clock_ns(CLOCK_REALTIME);
		asked->ended_ns = monotonic_ns();
	}
	/* Also one that could not be asked while this ran is asked now. */
	if (top->mode == MODE_TEXT && top->text.is_detail)
		top_show_detail(top);
}

static bool has_many_threads(const struct top *top, const struct process *process)
{
	const struct snapshot *tasks = top->view.grouping->snapshot;
	size_t row = process->first_task + THREADS_MOST;

	return row < tasks->task_count && &tasks->processes[tasks->tasks[row].process] == process;
}

static void ask(struct top *top, size_t i, const struct process *process)
{
	struct asked *asked = &top->asked[i];
	const char *words[ARRAY_SIZE(asks[i].words) + 1] = { NULL };
	uint64_t unix_ns = top->moment.sample.unix_ns;
	time_t seconds = (time_t)((unix_ns + NS_PER_SECOND - 1) / NS_PER_SECOND);
	char pid[16], time[32] = "";
	const struct act_names names = { .pid = pid, .store = top->options->store, .time = time };
	const struct verb_run run = { .words = words };
	struct tm parts;

	snprintf(pid, sizeof(pid), "%" PRId32, process->tgid);
	if (gmtime_r(&seconds, &parts))
		strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%SZ", &parts);
	act_put_names(asks[i].words, ARRAY_SIZE(asks[i].words), &names, words);
	for (size_t k = 0; words[k] && has_many_threads(top, process); k++)
		if (strcmp(words[k], MORE) == 0)
			words[k] = NULL;
	asked->of_unix_ns = unix_ns;
	top_text_clear(&asked->next);
	asked->child.page = &asked->next;
	asked->child.ended = take_answer;
	if (verb_child_start(&asked->child, top, &run) == 0)
		return;
	asked->of_unix_ns = 0;
	asked->ended_ns = monotonic_ns();
}

/* The page of the key has them all, since it has room. */
static void add_line(struct top *top, const char *line)
{
	const char *hint = strstr(line, MORE_HINT);

	if (hint)
		top_text_line(&top->text, "%.*s(%s shows all)", (int)(hint - line), line,
			      key_table[KEY_OF_WHY].keys);
	else
		top_text_line(&top->text, "%s", line);
}

static void add_answer(struct top *top, size_t i)
{
	const struct asked *asked = &top->asked[i];
	CLEANUP(text_free) struct text when = { 0 };

	/* In a recording one may have moved on meanwhile. */
	if (asked->said_unix_ns && asked->said_unix_ns != top->moment.sample.unix_ns)
		record_append_time(&when, asked->said_unix_ns);
	top_text_line(&top->text, "%s", "");
	top_text_line(&top->text, "%s%s%s:", asks[i].title, when.length ? ", " : "",
		      text_string(&when));
	if (!asked->said_unix_ns)
		top_text_line(&top->text, "  it is being asked for");
	for (size_t line = 0; line < asked->said.lines.count && line < LINES_MOST; line++)
		add_line(top, asked->said.lines.data[line]);
	if (asked->said.lines.count > LINES_MOST)
		top_text_line(&top->text, "  and %zu more lines",
			      asked->said.lines.count - LINES_MOST);
}

void asked_add(struct top *top, const struct process *process)
{
	bool lives = !top->moment.is_live ||
		     (top->options->host &&
		      act_has_start(top->options->host, process->tgid, process->start_time_ns));

	for (size_t i = 0; i < ASKED_COUNT; i++) {
		if (lives && is_due(top, i))
			ask(top, i, process);
		if (top->asked[i].said_unix_ns || top->asked[i].child.pid)
			add_answer(top, i);
	}
}

void asked_begin(struct top *top)
{
	asked_leave(top);
	for (size_t i = 0; i < ASKED_COUNT; i++) {
		top_text_clear(&top->asked[i].said);
		top->asked[i].said_unix_ns = top->asked[i].of_unix_ns = 0;
	}
}

void asked_leave(struct top *top)
{
	for (size_t i = 0; i < ASKED_COUNT; i++) {
		top->asked[i].child.page = NULL;
		top->asked[i].of_unix_ns = 0; /* nobody will see that answer */
		verb_child_end(&top->asked[i].child);
	}
}

void asked_close(struct top *top)
{
	for (size_t i = 0; i < ASKED_COUNT; i++) {
		top->asked[i].child.page = NULL;
		top->asked[i].child.ended = NULL;
		verb_child_close(&top->asked[i].child);
		top_text_clear(&top->asked[i].said);
		top_text_clear(&top->asked[i].next);
	}
}
