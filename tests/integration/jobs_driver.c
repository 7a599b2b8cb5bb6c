/* SPDX-License-Identifier: MIT */
/*
 * Writes jobs into a recording, from lines of standard input whose words are separated by tabs:
 *
 *	job NAME OUTCOME BEGIN_NS DURATION_NS [KEY=NUMBER ...]	and cmd=, absent=, memory=, status=, steps=, cgroup=, watched=
 *	step NAME OUTCOME BEGIN_NS DURATION_NS [KEY=NUMBER ...]	of the job before, as all that follow
 *	event KIND BEGIN_NS PID COMM DETAILS
 *	syscall STEP NAME CALLS ERRORS TIME_NS			STEP "-": of the whole job
 *	run STEP FILE
 *	correlate NOW_NS					keeps patterns, as a recorder does
 *
 * Usage: jobs_driver PATH < lines
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "record/job/pattern_search.h"
#include "store/history/job/history_jobs.h"

#define WORDS_MAX 32
#define SYSCALLS_MAX 64

static struct history *history;
static struct error error;
static uint64_t job_id;

static struct {
	char *step;
	struct job_syscall list[SYSCALLS_MAX];
	size_t count;
} calls;

static void must(int status);

static void end_search(void *context, int status, const struct error *found)
{
	error = *found;
	must(status);
	loop_stop(context);
}

static void find_patterns(uint64_t now_unix_ns)
{
	struct pattern_search search;
	struct loop loop;

	must(loop_open(&loop));
	must(pattern_search_open(&search, &loop, history, end_search, &loop));
	pattern_search_plan(&search, 1, now_unix_ns);
	must(loop_run(&loop, NULL, NULL));
	pattern_search_close(&search);
	loop_close(&loop);
}

static void must(int status)
{
	if (status >= 0)
		return;
	fprintf(stderr, "%s\n", error.message);
	exit(1);
}

static uint64_t number(const char *word)
{
	return strtoull(word, NULL, 10);
}

static enum job_outcome outcome_of(const char *word)
{
	int outcome = job_outcome_find(word);

	return strcmp(word, "running") == 0 ? JOB_RUNNING : (enum job_outcome)outcome;
}

static void take_figure(struct job_figures *figures, enum job_memory *memory, const char *key,
			const char *value)
{
	for (int i = 0; i < JOB_VALUE_COUNT; i++)
		if (strcmp(job_values[i].name, key) == 0)
			job_set(figures, (enum job_value)i, strtod(value, NULL));
	for (int i = 0; i < JOB_MEMORY_COUNT && strcmp(key, "memory") == 0; i++)
		if (job_memory_names[i] && strcmp(job_memory_names[i], value) == 0)
			*memory = (enum job_memory)i;
}

static void take_text(struct job *job, const char *key, const char *value)
{
	if (strcmp(key, "cmd") == 0)
		job->cmd = value;
	if (strcmp(key, "absent") == 0)
		job->absent = value;
	if (strcmp(key, "cgroup") == 0)
		job->cgroup = value;
	if (strcmp(key, "watched") == 0)
		job->watched = value;
	if (strcmp(key, "steps") == 0)
		job->steps = number(value);
	if (strcmp(key, "status") == 0) {
		job->has_status = true;
		job->status = (int)number(value);
	}
}

static void flush_calls(void)
{
	if (calls.count)
		must(history_put_job_syscalls(history, job_id, calls.step, calls.list, calls.count,
					      &error));
	for (size_t i = 0; i < calls.count; i++)
		free((char *)calls.list[i].name);
	free(calls.step);
	calls.step = NULL;
	calls.count = 0;
}

static void put_job(char **words, size_t count)
{
	struct job job = { .name = words[1],
			   .outcome = outcome_of(words[2]),
			   .begin_unix_ns = number(words[3]),
			   .duration_ns = number(words[4]),
			   .uid = 1000,
			   .root = { 4711, 4711, 5000 } };

	if (job.outcome != JOB_RUNNING && job.duration_ns)
		job.end_unix_ns = job.begin_unix_ns + job.duration_ns;
	for (size_t i = 5; i < count; i++) {
		char *value = strchr(words[i], '=');

		*value++ = 0;
		take_figure(&job.figures, &job.memory, words[i], value);
		take_text(&job, words[i], value);
	}
	must(history_put_job(history, &job, &error));
	job_id = job.id;
}

static void put_step(char **words, size_t count)
{
	struct job_step step = { .job = job_id,
				 .name = words[1],
				 .outcome = outcome_of(words[2]),
				 .begin_unix_ns = number(words[3]),
				 .duration_ns = number(words[4]) };

	if (step.outcome != JOB_RUNNING)
		step.end_unix_ns = step.begin_unix_ns + step.duration_ns;
	for (size_t i = 5; i < count; i++) {
		char *value = strchr(words[i], '=');

		*value++ = 0;
		take_figure(&step.figures, &step.memory, words[i], value);
	}
	must(history_put_step(history, &step, &error));
}

static void put_event(char **words, size_t count)
{
	struct job_event event = { .job = job_id,
				   .unix_ns = number(words[2]),
				   .task = { (int)number(words[3]), (int)number(words[3]), 6000 },
				   .comm = words[4],
				   .details = words[5],
				   .context = count > 6 ? words[6] : NULL,
				   .count = 1 };

	for (int i = 0; i < JOB_EVENT_KIND_COUNT; i++)
		if (strcmp(job_event_names[i], words[1]) == 0)
			event.kind = (enum job_event_kind)i;
	must(history_add_job_event(history, &event, &error));
}

static void put_syscall(char **words)
{
	const char *step = strcmp(words[1], "-") == 0 ? NULL : words[1];

	if (calls.count && (!step != !calls.step || (step && strcmp(step, calls.step) != 0)))
		flush_calls();
	if (!calls.count)
		calls.step = step ? strdup(step) : NULL;
	if (calls.count < SYSCALLS_MAX)
		calls.list[calls.count++] =
			(struct job_syscall){ strdup(words[2]), number(words[3]), number(words[4]),
					      number(words[5]) };
}

static void put_run(char **words)
{
	FILE *file = fopen(words[2], "r");
	size_t most = 64 << 20, size;
	char *bytes = malloc(most);

	if (!file || !bytes)
		exit(2);
	size = fread(bytes, 1, most, file);
	must(history_put_job_run(history, job_id, strcmp(words[1], "-") == 0 ? NULL : words[1],
				 bytes, size, &error));
	free(bytes);
	fclose(file);
}

static void take_line(char *line)
{
	char *words[WORDS_MAX] = { 0 };
	size_t count = 0;

	for (char *word = strsep(&line, "\t"); word && count < WORDS_MAX - 1;
	     word = strsep(&line, "\t"))
		words[count++] = word;
	if (strcmp(words[0], "syscall") != 0)
		flush_calls();
	if (strcmp(words[0], "job") == 0)
		put_job(words, count);
	else if (strcmp(words[0], "step") == 0)
		put_step(words, count);
	else if (strcmp(words[0], "event") == 0)
		put_event(words, count);
	else if (strcmp(words[0], "syscall") == 0)
		put_syscall(words);
	else if (strcmp(words[0], "run") == 0)
		put_run(words);
	else if (strcmp(words[0], "correlate") == 0)
		find_patterns(number(words[1]));
	else
		exit(2);
}

int main(int argc, char **argv)
{
	char *note = NULL, *line = NULL;
	size_t capacity = 0;

	if (argc != 2)
		return 2;
	must(history_create(argv[1], &history_retention_defaults, &history, &note, &error));
	while (getline(&line, &capacity, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		take_line(line);
	}
	flush_calls();
	must(history_commit(history, &error));
	history_close(history);
	free(line);
	free(note);
	return 0;
}
