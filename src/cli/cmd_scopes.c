/* SPDX-License-Identifier: MIT */
/*
 * scopes: what programs that use libtaskscope say they are doing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/pid_list.h"
#include "host/host.h"
#include "model/scope_survey.h"
#include "render/scopes_json.h"
#include "render/scopes_text.h"
#include "session/scope_look.h"

static struct {
	const char *pids;
	bool statistics;
	const char *format;
} args;

static const struct option options[] = {
	{ 'p', "pid", OPTION_TEXT, &args.pids, "LIST", "these processes only, e.g. 12,345", NULL },
	{ 0, "stats", OPTION_FLAG, &args.statistics, NULL, "also how often and how long, by label",
	  NULL },
	{ 0, "format", OPTION_TEXT, &args.format, "FORMAT", "how to print it", "text|json" },
	{ 0 },
};

static int read_pids(char **words, int count, struct pid_list *ret, struct error *error)
{
	int status = args.pids ? pid_list_add(ret, args.pids, error) : 0;

	for (int i = 0; i < count && status == 0; i++)
		status = pid_list_add(ret, words[i], error);
	return status;
}

/* All that can be read is shown; the first that cannot is the error. */
static int look_at(const struct host *host, const struct pid_list *list,
		   struct scope_survey *survey, struct error *error)
{
	int first = 0;

	for (size_t i = 0; i < list->pids.count; i++) {
		int status =
			scope_look_at(host, list->pids.data[i], args.statistics, survey, error);

		if (first == 0)
			first = status;
	}
	return first;
}

static int print(const struct scope_survey *survey, struct error *error)
{
	struct terminal terminal = terminal_of(stdout);

	if (args.format && strcmp(args.format, "json") == 0)
		scopes_json(stdout, survey, args.statistics);
	else if (scopes_text(stdout, survey, args.statistics, &terminal) < 0)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}

int verb_scopes(char **words, int count, struct error *error)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(pid_list_free) struct pid_list list = { 0 };
	CLEANUP(scope_survey_free) struct scope_survey survey = { 0 };
	int looked = 0, status = read_pids(words, count, &list, error);

	if (status == 0)
		status = host_open(&host, NULL, error);
	if (status < 0)
		return status;
	if (list.pids.count)
		looked = look_at(host, &list, &survey, error);
	else
		looked = scope_look_around(host, args.statistics, &survey, error);
	if (looked == 0 || survey.processes.count)
		status = print(&survey, error);
	return looked < 0 ? looked : status;
}

const struct command command_scopes = {
	.name = "scopes",
	.arguments = "[PID...]",
	.summary = "what programs that use libtaskscope say they are doing",
	.description =
		"Lists what the threads of a program do by its own word: the scopes that each has\n"
		"open, outermost first, with their age, progress, rate and the time that is left;\n"
		"who is idle, and who is stalled. Without a process, every one that has scopes and\n"
		"that may be read; of the others it says how many there are.\n"
		"\n"
		"The program is neither stopped nor asked: its memory is read, so that there is an\n"
		"answer also when it hangs or is stopped. Letters are the kernel's states of\n"
		"threads: R runs or could, S sleeps, D waits for a device, T is stopped.\n"
		"\n"
		"--stats shows for each label how often a scope was closed and how long that took,\n"
		"if the program counts that: the middle (p50) and all but one of a hundred (p99)\n"
		"are estimates from powers of two, and CPU time is sampled.",
	.examples = "taskscope scopes\tall programs that have scopes\n"
		    "taskscope scopes -p 1234 --stats\tone, with its statistics\n"
		    "taskscope scopes -p 1234 --format json\tfor programs",
	.options = options,
	.words_max = 64,
};
