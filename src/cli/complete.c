/* SPDX-License-Identifier: MIT */
#include "cli/complete.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "cli/args/view_args.h"
#include "cli/command.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "record/record_paths.h"
#include "store/history/job/history_jobs.h"

#define JOB_NAMES_MOST 100
#define JOB_ROWS_MOST 2000

/* A word that is being completed; the part before `partial` is kept. */
struct completion {
	FILE *out;
	const char *word;
	const char *partial;
};

static bool fits(const struct completion *completion, const char *value, size_t length)
{
	size_t given = strlen(completion->partial);

	return given <= length && strncmp(value, completion->partial, given) == 0;
}

static void offer_part(const struct completion *completion, const char *value, size_t length,
		       const char *description)
{
	if (fits(completion, value, length))
		fprintf(completion->out, "+%.*s%.*s\t%s\n",
			(int)(completion->partial - completion->word), completion->word,
			(int)length, value, description);
}

static void offer(const struct completion *completion, const char *value, const char *description)
{
	offer_part(completion, value, strlen(value), description);
}

/* The words of "a|b|c" or "a, b, c". */
static void offer_words(const struct completion *completion, const char *words)
{
	while (*words) {
		size_t length = strcspn(words, "|, ");

		if (length)
			offer_part(completion, words, length, "");
		if (length && words[length - 1] == '=' && fits(completion, words, length))
			fputs("!nospace\n", completion->out);
		words += length + (words[length] != '\0');
	}
}

/* The last item of a list with commas is what is completed. */
static struct completion last_item(const struct completion *completion)
{
	struct completion item = *completion;
	const char *comma = strrchr(completion->partial, ',');

	if (comma)
		item.partial = comma + 1;
	return item;
}

static void complete_files(const struct completion *completion, const char *endings)
{
	fprintf(completion->out, "!files %td%s%s\n", completion->partial - completion->word,
		endings && endings[0] ? " " : "", endings ? endings : "");
}

static void complete_directory(const struct completion *completion, const char *unused)
{
	(void)unused;
	fprintf(completion->out, "!directories %td\n", completion->partial - completion->word);
}

static void complete_list(const struct completion *completion, const char *words)
{
	struct completion item = last_item(completion);

	offer_words(&item, words);
}

/* Whether every character can be shown, so that the shell can insert and quote the name. */
static bool is_printable(const char *name)
{
	size_t length = strlen(name), at = 0;

	while (at < length) {
		size_t bytes = text_printable(name + at, length - at);

		if (!bytes)
			return false;
		at += bytes;
	}
	return length > 0;
}

typedef void process_function(const struct completion *completion, int32_t pid, const char *comm);

static void each_process(const struct completion *completion, process_function *function)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(proc_numbers_clear) struct proc_numbers numbers = { 0 };
	struct error ignored = { 0 };

	if (host_open(&host, NULL, &ignored) < 0 || proc_list(host->proc, ".", &numbers) < 0)
		return;
	for (size_t i = 0; i < numbers.list.count; i++) {
		char path[32], comm[64];
		ssize_t length;

		snprintf(path, sizeof(path), "%" PRId32 "/comm", numbers.list.data[i]);
		length = proc_read_start(host->proc, path, comm, sizeof(comm));
		if (length <= 0)
			continue;
		comm[length - 1] = '\0'; /* only the last newline is not the name's */
		function(completion, numbers.list.data[i], comm);
	}
}

static void offer_pid(const struct completion *completion, int32_t pid, const char *comm)
{
	CLEANUP(text_free) struct text name = { 0 };
	char number[16];

	snprintf(number, sizeof(number), "%" PRId32, pid);
	text_append_escaped(&name, comm, strlen(comm));
	offer(completion, number, text_string(&name));
}

static void offer_name(const struct completion *completion, int32_t pid, const char *comm)
{
	(void)pid;
	/* A comma would end the name in a list. */
	if (is_printable(comm) && !strchr(comm, ','))
		offer(completion, comm, "");
}

/* A process is given by its number, or by its name once that was begun. */
static void complete_pids(const struct completion *completion, const char *unused)
{
	struct completion item = last_item(completion);
	char first = item.partial[0];

	(void)unused;
	each_process(&item, !first || (first >= '0' && first <= '9') ? offer_pid : offer_name);
}

static void complete_names(const struct completion *completion, const char *unused)
{
	(void)unused;
	each_process(completion, offer_name);
}

/* Names of jobs in the caller's own store; each once, the newest first. */
struct job_names {
	const struct completion *completion;
	ARRAY_OF(char *) seen;
};

static int offer_job(void *context, const struct job *job)
{
	struct job_names *names = context;
	char *copy;

	for (size_t i = 0; i < names->seen.count; i++)
		if (strcmp(names->seen.data[i], job->name) == 0)
			return 0;
	copy = is_printable(job->name) ? strdup(job->name) : NULL;
	if (!copy)
		return 0;
	offer(names->completion, job->name, job_outcome_names[job->outcome]);
	if (array_append(&names->seen, copy) == 0)
		return names->seen.count == JOB_NAMES_MOST;
	free(copy);
	return 1;
}

static void complete_jobs_of(const struct completion *completion, bool running_only)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	const struct job_query query = { .span = { 0, UINT64_MAX },
					 .running_only = running_only,
					 .limit = JOB_ROWS_MOST };
	struct job_names names = { .completion = completion };
	struct error ignored = { 0 };
	char path[PATH_MAX];

	if (record_store_path(path) < 0 || history_open(path, &history, &ignored) < 0)
		return;
	(void)history_jobs(history, &query, offer_job, &names, &ignored);
	for (size_t i = 0; i < names.seen.count; i++)
		free(names.seen.data[i]);
	array_free(&names.seen);
}

static void complete_jobs(const struct completion *completion, const char *unused)
{
	(void)unused;
	complete_jobs_of(completion, false);
}

/* The name at the end of a filter, where a term begins; an operator follows it. */
static void complete_filter(const struct completion *completion, const char *names)
{
	struct completion term = *completion;
	const char *blank = strrchr(completion->partial, ' ');

	if (blank)
		term.partial = blank + 1;
	offer_words(&term, names);
	fputs("!nospace\n", completion->out);
}

/*
 * How arguments are completed, by the option that has them or by their name in help; the first row
 * that fits.  What is not here is completed by the option's choices.
 */
static const struct {
	const char *name;
	void (*complete)(const struct completion *completion, const char *detail);
	const char *detail;
} arguments[] = {
	{ "--filter", complete_filter, filter_words },
	{ "--store", complete_files, ".db" },
	{ "--jsonl", complete_files, ".jsonl" },
	{ "--until", offer_words, "latest|-1min|-10min|-1h" },
	{ "--at", offer_words, "latest|-1min|-10min|-1h" },
	{ "FILE", complete_files, NULL },
	{ "OUT", complete_files, NULL },
	{ "COMMAND", complete_files, NULL },
	{ "DIR", complete_directory, NULL },
	{ "PID", complete_pids, NULL },
	{ "PIDS", complete_pids, NULL },
	{ "NAME", complete_names, NULL },
	{ "JOB", complete_jobs, NULL },
	{ "TIME", offer_words, "100ms|1s|10s|1min|10min|1h|1h30m|1d" },
};

static void complete_argument(const struct completion *completion, const struct option *option)
{
	CLEANUP(text_free) struct text name = { 0 };

	text_format(&name, "--%s", option->name);
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
		if (strcmp(arguments[i].name, text_string(&name)) == 0 ||
		    strcmp(arguments[i].name, option->argument) == 0) {
			arguments[i].complete(completion, arguments[i].detail);
			return;
		}
	if (option->choices && option_is_limited(option))
		offer_words(completion, option->choices);
	else if (option->choices)
		complete_list(completion, option->choices);
}

static void offer_options(const struct completion *completion, const struct option *options)
{
	for (; options && options->name; options++) {
		CLEANUP(text_free) struct text name = { 0 };

		text_format(&name, "--%s", options->name);
		offer(completion, text_string(&name), options->help);
		if (options->letter && !completion->partial[1]) {
			const char letter[] = { '-', options->letter, '\0' };

			offer(completion, letter, options->help);
		}
	}
}

static void complete_option(const struct completion *completion, const struct command *command)
{
	const char *sign = strchr(completion->word, '=');
	struct completion value = { completion->out, completion->word, sign ? sign + 1 : NULL };
	CLEANUP(text_free) struct text name = { 0 };
	const struct option *option = NULL;

	if (!sign) {
		offer_options(completion, command->options);
		offer_options(completion, common_options);
		offer(completion, "--help", "more about this verb");
		return;
	}
	if (completion->word[1] == '-')
		text_append(&name, completion->word + 2, (size_t)(sign - completion->word) - 2);
	option = option_find(command->options, text_string(&name));
	if (!option)
		option = option_find(common_options, text_string(&name));
	if (option && option_argument(option->type) != ARGUMENT_NONE)
		complete_argument(&value, option);
}

/* What the words before the last one mean: an option that waits for its argument, the end of options. */
struct context {
	const struct option *awaiting;
	bool only_words;
	int command;	   /* where a command of its own begins; 0: nowhere */
	int words;	   /* before the last one */
	const char *first; /* of them */
};

static struct context read_context(const struct command *command, int count, char **words)
{
	struct context context = { 0 };

	for (int i = 1; i < count - 1 && !context.command; i++) {
		bool is_word = context.only_words || words[i][0] != '-' || !words[i][1];

		if (context.awaiting)
			context.awaiting = NULL;
		else if (is_word && command->words_are_a_command)
			context.command = i;
		else if (is_word && context.words++ == 0)
			context.first = words[i];
		else if (strcmp(words[i], "--") == 0)
			context.only_words = true;
		else
			context.awaiting = option_awaiting(command->options, words[i]);
	}
	/* The last word itself begins the command, unless it is one of our options. */
	if (command->words_are_a_command && !context.command && !context.awaiting &&
	    (context.only_words || words[count - 1][0] != '-'))
		context.command = count - 1;
	return context;
}

/*
 * A word of the verb itself: which of its kinds, a job, a file that it reads, a process; where it takes
 * none, an option.
 */
static void complete_word(const struct completion *completion, const struct command *command,
			  const struct context *context)
{
	struct completion item = last_item(completion);

	if (command->first_words && context->words == 0) {
		offer_words(completion, command->first_words);
	} else if (command->first_words) {
		/* A new job gets a new name; what is done to one is done while it runs. */
		if (context->words == 1 && strcmp(context->first, "start") != 0)
			complete_jobs_of(completion, true);
	} else {
		if (strstr(command->arguments, "JOB"))
			complete_jobs(completion, NULL);
		if (command->reads)
			complete_files(&item, command->reads);
		else if (strstr(command->arguments, "PID"))
			complete_pids(completion, NULL);
		else if (!command->words_max)
			complete_option(completion, command);
	}
}

static void complete_command(FILE *out, const struct command *command, int count, char **words)
{
	const char *last = words[count - 1];
	struct completion completion = { out, last, last };
	struct context context = read_context(command, count, words);

	if (context.command)
		fprintf(out, "!command %d\n", context.command);
	else if (context.awaiting)
		complete_argument(&completion, context.awaiting);
	else if (last[0] == '-' && !context.only_words)
		complete_option(&completion, command);
	else
		complete_word(&completion, command, &context);
}

static void offer_verbs(const struct completion *completion, const struct command *const *commands)
{
	for (; *commands; commands++)
		offer(completion, (*commands)->name, (*commands)->summary);
}

static const struct command *find(const struct command *const *commands, const char *name)
{
	while (*commands && strcmp((*commands)->name, name) != 0)
		commands++;
	return *commands;
}

void complete_words(FILE *out, const struct command *const *commands, int count, char **words)
{
	struct completion first = { out, count ? words[0] : "", count ? words[0] : "" };
	struct completion second = { out, count > 1 ? words[1] : "", count > 1 ? words[1] : "" };

	if (count <= 1) {
		offer_verbs(&first, commands);
		offer(&first, "help", "more about a verb");
		offer(&first, "--help", "the verbs");
		offer(&first, "--version", "which taskscope this is");
		offer(&first, "--completions", "completion script for a shell");
	} else if (find(commands, words[0])) {
		complete_command(out, find(commands, words[0]), count, words);
	} else if (count == 2 && strcmp(words[0], "help") == 0) {
		offer_verbs(&second, commands);
		offer(&second, topic_filter.name, topic_filter.summary);
	} else if (count == 2 && strcmp(words[0], "--completions") == 0) {
		offer_words(&second, "bash|zsh|fish");
	}
}
