/* SPDX-License-Identifier: MIT */
/*
 * job: says that a job or one of its steps begins or ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/args/pid_list.h"
#include "cli/args/store_args.h"
#include "cli/command.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "record/job/mark/job_place.h"

static struct {
	struct store_args store;
	const char *socket, *cgroup, *watch, *outcome;
	struct option_number pid, steps;
} args;

static const struct option options[] = {
	{ 'p', "pid", OPTION_NUMBER, &args.pid, "PID",
	  "start: it is this process, its children, and all that they fork", NULL },
	{ 'c', "cgroup", OPTION_TEXT, &args.cgroup, "PATH",
	  "start: it is this cgroup and all below", NULL },
	{ 0, "steps", OPTION_NUMBER, &args.steps, "N", "start: how many steps it will have", NULL },
	{ 0, "watch", OPTION_TEXT, &args.watch, "DIR",
	  "start: files that appear, change or vanish below DIR are events of the job", NULL },
	{ 0, "outcome", OPTION_TEXT, &args.outcome, "OUTCOME", "end: how it ended",
	  "success|failure|unknown" },
	STORE_OPTION(args.store),
	{ 0, "socket", OPTION_TEXT, &args.socket, "FILE", "the recorder's socket", NULL },
	{ 0 },
};

/* What each kind of mark takes; the words after its name. */
static const struct mark_verb {
	const char *name, *usage;
	enum job_mark_kind kind;
	int words;
} mark_verbs[] = {
	{ "start", "start NAME", JOB_MARK_START, 2 },
	{ "step", "step JOB STEP", JOB_MARK_STEP, 3 },
	{ "end", "end JOB --outcome success|failure", JOB_MARK_END, 2 },
};

static const struct mark_verb *find_verb(char **words, int count, struct error *error)
{
	struct suggestion suggestion =
		suggest_for(count ? words[0] : "", count ? strlen(words[0]) : 0);

	for (size_t i = 0; count && i < ARRAY_SIZE(mark_verbs); i++)
		if (strcmp(words[0], mark_verbs[i].name) == 0)
			return &mark_verbs[i];
	suggest_list(&suggestion, "start|step|end");
	if (count)
		error_set(error, -EINVAL, "there is no `job %s`; %s", words[0],
			  suggestion_hint(&suggestion, "job ", "there are start, step and end"));
	else
		error_set(error, -EINVAL, "job needs start, step or end");
	return NULL;
}

static int refuse(const char *option, const char *verb, struct error *error)
{
	return error_set(error, -EINVAL, "--%s is for `job %s`", option, verb);
}

static int check_options(const struct mark_verb *verb, int count, struct error *error)
{
	bool starts = verb->kind == JOB_MARK_START;

	if (count != verb->words)
		return error_set(error, -EINVAL, "it is `taskscope job %s`", verb->usage);
	if (!starts && (args.pid.given || args.cgroup))
		return refuse(args.cgroup ? "cgroup" : "pid", "start", error);
	if (!starts && (args.steps.given || args.watch))
		return refuse(args.watch ? "watch" : "steps", "start", error);
	if (verb->kind != JOB_MARK_END && args.outcome)
		return refuse("outcome", "end", error);
	if (verb->kind == JOB_MARK_END && !args.outcome)
		return error_set(error, -EINVAL, "give --outcome success or --outcome failure");
	if (args.pid.given && args.cgroup)
		return error_set(error, -EINVAL, "--pid and --cgroup exclude each other");
	if (args.pid.given && (args.pid.value == 0 || args.pid.value > INT32_MAX))
		return error_set(error, -EINVAL, "%llu is not the number of a process",
				 args.pid.value);
	if (args.steps.given && args.steps.value == 0)
		return error_set(error, -EINVAL, "a job has at least one step");
	return 0;
}

/* What the process runs; that it cannot be read means nothing. */
static void read_command(int32_t pid, char *ret, size_t capacity)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct error ignored = { 0 };
	char path[32];
	ssize_t length = -1;
	bool is_cut;

	snprintf(path, sizeof(path), "%" PRId32 "/cmdline", pid);
	if (host_open(&host, NULL, &ignored) == 0)
		length = proc_read_start(host->proc, path, ret, capacity - 4);
	is_cut = length == (ssize_t)capacity - 5;
	if (length > 0)
		ret[text_join_words(ret, text_words(ret, (size_t)length, &is_cut), is_cut)] = '\0';
	else
		ret[0] = '\0';
}

int verb_job(char **words, int count, struct error *error)
{
	CLEANUP(free_pointer) struct job_mark *mark = calloc(1, sizeof(*mark));
	CLEANUP(free_pointer) char *watch = NULL;
	CLEANUP(free_pointer) struct job_place *place = calloc(1, sizeof(*place));
	const struct mark_verb *verb = find_verb(words, count, error);
	char command[JOB_TEXT_BYTES] = "";
	struct job_marked marked;
	int status;

	if (!verb)
		return -EINVAL;
	status = check_options(verb, count, error);
	if (status < 0)
		return status;
	if (!mark || !place)
		return error_set(error, -ENOMEM, "out of memory");
	*mark = (struct job_mark){ .kind = verb->kind,
				   .uid = geteuid(),
				   .name = words[1],
				   .step = verb->kind == JOB_MARK_STEP ? words[2] : NULL,
				   .cgroup = args.cgroup,
				   .steps = args.steps.value,
				   .takes_children = args.pid.given };
	if (args.outcome)
		mark->outcome = (enum job_outcome)job_outcome_find(args.outcome);
	if (verb->kind == JOB_MARK_START && !args.cgroup) {
		mark->root.pid = args.pid.given ? (int32_t)args.pid.value : getppid();
		mark->root.tid = mark->root.pid;
		read_command(mark->root.pid, command, sizeof(command));
		mark->cmd = command[0] ? command : NULL;
	}
	if (args.watch) {
		mark->watched = watch = realpath(args.watch, NULL);
		if (!watch)
			return error_set(error, -errno, "cannot watch '%s': %s", args.watch,
					 strerror(errno));
	}
	*place = (struct job_place){ .store = args.store.store, .socket = args.socket };
	status = job_mark_check(mark, error);
	if (status == 0 && args.store.store)
		status = store_args_check(args.store.store, error);
	if (status == 0)
		status = job_place_mark(place, mark, &marked, error);
	if (status < 0)
		return status;
	if (!marked.job)
		return error_set(error, -ENOENT,
				 "no job '%s' of yours runs; `taskscope jobs --running` lists them",
				 words[1]);
	if (verb->kind == JOB_MARK_START)
		printf("%" PRIu64 "\n", marked.job);
	return 0;
}

const struct command command_job = {
	.name = "job",
	.arguments = "start NAME | step JOB STEP | end JOB",
	.first_words = "start|step|end",
	.summary = "mark the beginning, the steps and the end of a job",
	.description =
		"A job is a named span of work with an outcome: what `run --job` runs, or what\n"
		"is marked with this. `job start` prints the job's number. Without -p or\n"
		"--cgroup the job is the process that called taskscope, such as a script, with\n"
		"all that it forks from then on. `job step` begins a step, which ends the one\n"
		"before; `job end` ends the job. JOB is the newest running job of yours with\n"
		"that name, or a job's number.\n"
		"\n"
		"A mark goes to the recorder whose socket you may use: yours, or else root's. It\n"
		"measures the job: memory, CPU, processes, signals, anomalies. Where no recorder\n"
		"runs, the mark goes to your own store, and only times and outcome are known.\n"
		"You can mark processes and end jobs of your own, root those of all.\n"
		"\n"
		"Where a recorder sees the end of the first process, and nobody marks the job's\n"
		"end within two seconds, the outcome is by its exit status. A job whose end\n"
		"nobody saw has the outcome `unknown`.",
	.examples =
		"taskscope job start nightly --steps 3\tthe script that calls this is a job from now on\n"
		"taskscope job step nightly 2\tits second step begins\n"
		"taskscope job end nightly --outcome success\tit is done\n"
		"taskscope job start import -p 4711 --watch /srv/in\ta process that runs already",
	.options = options,
	.words_max = 3,
};
