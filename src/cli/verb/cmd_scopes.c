/* SPDX-License-Identifier: MIT */
/*
 * scopes: shows what programs that use libtaskscope say they are doing.
 */
#include <errno.h>
#include <stdio.h>

#include "analyze/filter/filter.h"
#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/args/filter_args.h"
#include "cli/args/view_args.h"
#include "cli/args/pid_list.h"
#include "cli/parts/find_processes.h"
#include "host/host.h"
#include "model/scope/scope_survey.h"
#include "model/snapshot/snapshot.h"
#include "render/page.h"
#include "render/scope/scopes_view.h"
#include "session/phase/scope_survey.h"

static struct {
	struct filter_args tasks;
	bool statistics;
	struct view_args view;
} args;

static const struct option options[] = {
	TASK_OPTIONS(args.tasks),
	{ 0, "stats", OPTION_FLAG, &args.statistics, NULL, "also how often and how long, by label",
	  NULL },
	FORMAT_OPTION(args.view, "text|json"),
	{ 0 },
};

/* Shows all that can be read; the first process that cannot be read is the error. */
static int survey_named(const struct host *host, const struct pid_list *list,
			struct scope_survey *survey, struct error *error)
{
	int first = 0;

	for (size_t i = 0; i < list->pids.count; i++) {
		int status = scope_survey_process(host, list->pids.data[i], args.statistics, survey,
						  error);

		if (first == 0)
			first = status;
	}
	return first;
}

/* Leaves, of all processes that have scopes, those that match. */
static int survey_matches(const struct host *host, struct scope_survey *survey, struct error *error)
{
	CLEANUP(filter_clear) struct filter filter = { 0 };
	CLEANUP(snapshot_free_pointer) struct snapshot *found = NULL;
	size_t kept = 0;
	int status = filter_args_read(&args.tasks, &filter, error);

	if (status == 0)
		status = find_processes(host, &filter, &found, error);
	if (status == 0)
		status = scope_survey_all(host, args.statistics, survey, error);
	for (size_t i = 0; i < survey->processes.count && status == 0; i++) {
		struct scope_survey_process *process = &survey->processes.data[i];

		if (snapshot_find_process(found, process->scopes.pid) < 0)
			scope_survey_process_clear(process);
		else
			survey->processes.data[kept++] = *process;
	}
	if (status == 0)
		survey->processes.count = kept;
	return status;
}

static int print(const struct scope_survey *survey, struct error *error)
{
	struct page page;
	int status;

	if (view_format(&args.view) == FORMAT_JSON) {
		scopes_json(stdout, survey, args.statistics);
		return 0;
	}
	page_open(&page, stdout);
	status = scopes_text(page.out, survey, args.statistics, &page.terminal);
	if (page_close(&page) < 0 || status < 0)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}

int verb_scopes(char **words, int count, struct error *error)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(pid_list_free) struct pid_list list = { 0 };
	CLEANUP(scope_survey_free) struct scope_survey survey = { 0 };
	bool has_filter = filter_args_beyond_pids(&args.tasks);
	int surveyed = 0, status = host_open(&host, NULL, error);

	if (status == 0 && has_filter && count)
		status = error_set(error, -EINVAL,
				   "with a filter processes are given by -p, not as words");
	if (status == 0 && !has_filter)
		status = pid_list_read(&list, host, args.tasks.pids, words, count, error);
	if (status < 0)
		return status;
	if (has_filter)
		surveyed = survey_matches(host, &survey, error);
	else if (list.pids.count)
		surveyed = survey_named(host, &list, &survey, error);
	else
		surveyed = scope_survey_all(host, args.statistics, &survey, error);
	if (surveyed == 0 || survey.processes.count)
		status = print(&survey, error);
	return surveyed < 0 ? surveyed : status;
}

const struct command command_scopes = {
	.name = "scopes",
	.arguments = "[PID|NAME...]",
	.summary = "what programs that use libtaskscope say they are doing",
	.description =
		"Lists what the threads of a program do by its own word: the scopes that each\n"
		"has open, outermost first, with their age, progress, rate and the time that is\n"
		"left; who is idle, and who is stalled. Without a process, every one that has\n"
		"scopes and that may be read; of the others it says how many there are.\n"
		"\n"
		"The program is neither stopped nor asked: its memory is read, so that there is\n"
		"an answer also when it hangs or is stopped. Letters are the kernel's states of\n"
		"threads: R runs or could, S sleeps, D waits for a device, T is stopped.\n"
		"\n"
		"--stats shows for each label how often a scope was closed and how long that\n"
		"took, if the program counts that: the middle (p50) and all but one of a hundred\n"
		"(p99) are estimates from powers of two, and CPU time is sampled.",
	.examples =
		"taskscope scopes\tall programs that have scopes\n"
		"taskscope scopes --filter 'scope=solve*'\tthose of which a thread is in such a scope\n"
		"taskscope scopes -p 1234 --stats\tone, with its statistics\n"
		"taskscope scopes -p 1234 --format json\tfor programs",
	.options = options,
	.words_max = 64,
};
