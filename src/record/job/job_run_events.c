/* SPDX-License-Identifier: MIT */
#include "record/job/job_run_events.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/kernel_names.h"
#include "base/text.h"
#include "model/tree/run.h"

/* Of each kind; as many as a recorder keeps. */
#define EVENTS_MOST 200

struct making {
	const struct run *run;
	struct job_run_events *events;
	size_t counts[JOB_EVENT_KIND_COUNT];
	uint64_t lost;
};

void job_run_events_clear(struct job_run_events *events)
{
	array_free(&events->list);
	arena_clear(&events->texts);
}

static uint64_t unix_ns(const struct run *run, uint64_t time_ns)
{
	return run->begin_unix_ns + (time_ns > run->begin_ns ? time_ns - run->begin_ns : 0);
}

/* What the tree used at the last sample before that time; NULL: there was none. */
static const char *surroundings(struct making *making, uint64_t time_ns)
{
	const struct run_sample *found = NULL;
	CLEANUP(text_free) struct text json = { 0 };

	for (size_t i = 0; i < making->run->past.samples.count; i++)
		if (making->run->past.samples.data[i].time_ns <= time_ns)
			found = &making->run->past.samples.data[i];
	if (!found)
		return NULL;
	text_format(&json, "{\"tree\":{\"processes\":%" PRIu64 ",\"threads\":%" PRIu64,
		    (uint64_t)found->processes, (uint64_t)found->threads);
	if (found->has_rss)
		text_format(&json, ",\"rss_bytes\":%" PRIu64, found->rss_bytes);
	text_append_string(&json, "}}");
	return json.failed ? NULL : arena_copy(&making->events->texts, json.data, json.length);
}

static int add(struct making *making, const struct job_event *event, uint64_t time_ns,
	       const struct text *details)
{
	struct arena *texts = &making->events->texts;
	struct job_event made = *event;

	if (making->counts[event->kind] == EVENTS_MOST) {
		making->lost++;
		return 0;
	}
	making->counts[event->kind]++;
	made.unix_ns = unix_ns(making->run, time_ns);
	made.count = 1;
	made.context = surroundings(making, time_ns);
	made.comm = arena_copy(texts, event->comm, strlen(event->comm));
	made.details = arena_copy(texts, text_string(details), strlen(text_string(details)));
	if (!made.comm || !made.details || details->failed)
		return -ENOMEM;
	return array_append(&making->events->list, made);
}

static int add_past(struct making *making, const struct past_event *past)
{
	bool is_oom = strcmp(past->event, tree_event_names[TREE_OOM]) == 0;
	CLEANUP(text_free) struct text details = { 0 };
	char name[KERNEL_NAME_SIZE];
	const struct job_event event = {
		.kind = is_oom			? JOB_EVENT_OOM :
			past->signal == SIGKILL ? JOB_EVENT_KILL :
						  JOB_EVENT_SIGNAL,
		.task = past->task,
		.comm = past->comm,
	};

	if (!is_oom && strcmp(past->event, tree_event_names[TREE_SIGNAL]) != 0)
		return 0;
	text_append_string(&details, is_oom ? "killed by the kernel to get its memory" :
					      signal_name((int)past->signal, name));
	if (!is_oom && past->other_pid)
		text_format(&details, ", sent by process %" PRId32, past->other_pid);
	return add(making, &event, past->time_ns, &details);
}

static int add_exit(struct making *making, const struct tree_process *process)
{
	CLEANUP(text_free) struct text details = { 0 };
	const struct job_event event = {
		.kind = JOB_EVENT_EXIT,
		.task = process->key,
		.comm = process->comm,
	};
	char name[KERNEL_NAME_SIZE];
	int number = 0;

	if (!process->exited)
		return 0;
	if (tree_process_signal(process, &number))
		text_format(&details, "ended by %s", signal_name(number, name));
	else if (tree_process_exit_code(process, &number) && number)
		text_format(&details, "exit status %d", number);
	else
		return 0;
	return add(making, &event, process->end_ns, &details);
}

static int compare_times(const void *one, const void *other)
{
	const struct job_event *a = one, *b = other;

	return (a->unix_ns > b->unix_ns) - (a->unix_ns < b->unix_ns);
}

/* Processes that the tree no longer has one by one, and events that found no room. */
static int add_lost(struct making *making, uint64_t failed)
{
	const struct tree *tree = making->run->tree;
	const struct job_event lost = {
		.kind = JOB_EVENT_LOST,
		.unix_ns = unix_ns(making->run, making->run->end_ns),
		.details = "events beyond what is kept of a job",
		.count = making->lost + making->run->past.events_omitted +
			 (tree->failed + tree->signalled > failed ?
				  tree->failed + tree->signalled - failed :
				  0),
	};

	return lost.count ? array_append(&making->events->list, lost) : 0;
}

int job_run_events_make(const struct run *run, struct job_run_events *ret)
{
	struct making making = { .run = run, .events = ret };
	uint64_t lost_before, failed;
	int status = 0;

	for (size_t i = 0; i < run->past.events.count && status == 0; i++)
		status = add_past(&making, &run->past.events.data[i]);
	lost_before = making.lost;
	for (size_t i = 0; i < run->tree->count && status == 0; i++)
		status = add_exit(&making, run->tree->all[i]);
	failed = making.counts[JOB_EVENT_EXIT] + making.lost - lost_before;
	if (ret->list.count)
		qsort(ret->list.data, ret->list.count, sizeof(ret->list.data[0]), compare_times);
	return status < 0 ? status : add_lost(&making, failed);
}
