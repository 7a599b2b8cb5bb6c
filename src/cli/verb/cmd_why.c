/* SPDX-License-Identifier: MIT */
/*
 * why: shows what a process waits for or spends CPU time on.
 */
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/args/filter_args.h"
#include "cli/args/view_args.h"
#include "cli/parts/find_processes.h"
#include "cli/parts/why/why_print.h"
#include "host/host.h"
#include "render/page.h"
#include "session/why/why.h"

#define DEFAULT_NS 2000000000ULL
#define LONGEST_NS 3600000000000ULL

static struct {
	struct filter_args tasks;
	struct option_number duration;
	bool stacks;
	struct view_args view;
} args;

static const struct option options[] = {
	{ 'p', "pid", OPTION_TEXT, &args.tasks.pids, "PID",
	  "the process, by number or name, or the number of one of its threads", NULL },
	FILTER_OPTION(args.tasks),
	{ 'd', "duration", OPTION_DURATION, &args.duration, "TIME",
	  "how long to watch it (default: 2s)", NULL },
	{ 0, "stacks", OPTION_FLAG, &args.stacks, NULL,
	  "also show where in the code each waiting thread stands", NULL },
	FORMAT_OPTION(args.view, "text|json"),
	VERBOSE_OPTION(args.view,
		       "show all threads and kernel stacks, not only what fits in 12 lines"),
	{ 0 },
};

static int check_words(char **words, int count, struct error *error)
{
	if (args.tasks.pids && count)
		return error_set(error, -EINVAL, "why takes one process");
	if (count)
		args.tasks.pids = words[0];
	if (!filter_args_given(&args.tasks))
		return error_set(error, -EINVAL, "why needs a process: a number or a name");
	return 0;
}

static int read_duration(uint64_t *ret, struct error *error)
{
	*ret = args.duration.given ? args.duration.value : DEFAULT_NS;
	if (*ret == 0 || *ret > LONGEST_NS)
		return error_set(error, -EINVAL, "-d takes a time of up to an hour, such as 2s");
	return 0;
}

static int print_page(const struct why *why, struct error *error)
{
	struct page page;

	page_open(&page, stdout);
	why_print_text(page.out, &page.terminal, why, args.view.verbose);
	if (args.stacks)
		why_print_stacks(page.out, why);
	return page_close(&page) < 0 ? error_set(error, -ENOMEM, "out of memory") : 0;
}

int verb_why(char **words, int count, struct error *error)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(why_free_pointer) struct why *why = NULL;
	struct why_options wanted = { .stacks = args.stacks };
	int32_t pid = 0;
	int status = check_words(words, count, error);

	if (status == 0)
		status = read_duration(&wanted.duration_ns, error);
	if (status == 0)
		status = host_open(&host, NULL, error);
	if (status == 0)
		status = find_one_process(host, &args.tasks, &pid, stderr, error);
	if (status == 0)
		status = why_ask(host, pid, &wanted, &why, error);
	if (status < 0)
		return status;
	if (view_format(&args.view) == FORMAT_JSON)
		why_print_json(stdout, why);
	else
		return print_page(why, error);
	return 0;
}

const struct command command_why = {
	.name = "why",
	.arguments = "[PID|NAME]",
	.summary = "what a process waits for or burns",
	.description =
		"Watches a process for two seconds and says in one sentence what it waits for or\n"
		"burns, with evidence: the verdict of its time, and of each thread the state,\n"
		"what it waits for, in which call, on what, since when, and who wakes it. It has\n"
		"an answer too for what does not move at all: a process that is stopped, stuck\n"
		"in the kernel (with its stack, where that may be read) or dead and not reaped,\n"
		"and for kernel threads.\n"
		"\n"
		"Where it can be known, a wait has a name: the lock with the thread that holds\n"
		"it, the locked file with the process that locked it, the pipe or socket with\n"
		"the process at its other end, the file, the thread that is joined, the child.\n"
		"Threads that wait for each other in a circle are a deadlock, also across\n"
		"processes; the circle is printed. Owners of locks are known for the C library\n"
		"glibc, and for all locks that keep their owner in the futex; conditions and\n"
		"semaphores have none.\n"
		"\n"
		"With --stacks it says where in the code each thread waits, the innermost\n"
		"function first; threads that wait in the same place are shown together.\n"
		"\n"
		"A process may be named instead of numbered, or chosen by --filter. If several\n"
		"processes are meant, they are listed, and nothing is watched. taskscope itself\n"
		"and what it was started from, such as the shell, are never meant.\n"
		"\n"
		"The process is never touched. Its children are watched too, and are judged\n"
		"instead where it only waits for them. Without privileges less is known, and the\n"
		"answer says what.",
	.examples = "taskscope why nginx\twhat is it doing\n"
		    "taskscope why --filter 'pcomm=postgres cmd=*writer*'\tone of several\n"
		    "taskscope why -p 1234 --stacks\twith the functions in which its threads wait\n"
		    "taskscope why -p 1234 -d 10s --format json\tlonger, for programs",
	.options = options,
	.words_max = 1,
};
