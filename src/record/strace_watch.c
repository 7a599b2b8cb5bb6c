/* SPDX-License-Identifier: MIT */
#include "record/strace_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "trace/strace/strace.h"
#include "trace/tracer.h"

#define SUMMARY_BYTES (256 << 10)
#define PERIOD_NS (60 * NS_PER_SECOND)
#define REFUSED_MOST 4096

/* Failures that are told apart; the last one stands for all others. */
static const struct {
	int status;
	const char *words;
} failures[] = {
	{ -EPERM, "strace may not trace it" },
	{ -ESRCH, "it was gone before strace could trace it" },
	{ -EBUSY, "another program traces it" },
	{ -E2BIG, "strace follows as many processes as it may already" },
	{ 0, "strace failed" },
};

struct refusal {
	struct task_key process;
	size_t failure;
};

/* One strace. */
struct straced {
	struct strace_watch *watch;
	struct task_key process; /* pid 0: this place is free */
	int32_t parent;
	struct strace_child child;
	uint64_t begin_ns;
	bool is_attached;
	bool is_cut; /* the summary is longer than what is kept of it */
	struct text summary;
};

struct strace_watch {
	struct strace_watch_options options;
	int program;
	struct straced list[STRACES_MOST];
	/* Those that could not be traced are not tried again. */
	ARRAY_OF(struct refusal) refused;
	bool has_said[ARRAY_SIZE(failures)];
	struct strace_losses losses;
};

/* Each kind of failure is said once; the rest is counted.  Returns which it is. */
static size_t say(struct strace_watch *watch, int status, const char *sentence)
{
	size_t kind = 0;

	while (failures[kind].status && failures[kind].status != status)
		kind++;
	if (!watch->has_said[kind])
		watch->options.note(sentence);
	watch->has_said[kind] = true;
	return kind;
}

static bool is_same(const struct task_key *one, const struct task_key *other)
{
	return one->pid == other->pid && one->start_ns == other->start_ns;
}

const char *strace_watch_refusal(const struct strace_watch *watch, const struct task_key *process)
{
	for (size_t i = 0; i < watch->refused.count; i++)
		if (is_same(&watch->refused.data[i].process, process))
			return failures[watch->refused.data[i].failure].words;
	return NULL;
}

static void refuse(struct strace_watch *watch, const struct task_key *process, int status,
		   const struct error *error)
{
	struct refusal refusal = { *process, say(watch, status, error->message) };

	watch->losses.processes++;
	if (watch->refused.count == REFUSED_MOST)
		watch->refused.count = 0;
	(void)array_append(&watch->refused, refusal);
}

/* A strace of ours follows the process. */
static bool is_followed(const struct strace_watch *watch, int32_t pid)
{
	int32_t tracer = strace_tracer_of(watch->options.host, pid);

	for (size_t i = 0; i < STRACES_MOST; i++)
		if (watch->list[i].process.pid && (watch->list[i].process.pid == pid ||
						   (tracer && watch->list[i].child.pid == tracer)))
			return true;
	return false;
}

/* A child of a process that is followed was followed as well: that it is gone already is no loss. */
static void refuse_unless_followed(struct strace_watch *watch, const struct task_key *process,
				   int32_t parent, int status, const struct error *error)
{
	if (status != -ESRCH || !is_followed(watch, parent))
		refuse(watch, process, status, error);
}

static void take_output(void *context, const char *bytes, size_t length)
{
	struct straced *straced = context;

	straced->is_cut |= straced->summary.length + length > SUMMARY_BYTES;
	if (!straced->is_cut)
		text_append(&straced->summary, bytes, length);
}

static void send_summary(struct straced *straced)
{
	CLEANUP(call_lines_clear) struct call_lines lines = { 0 };
	struct strace_watch *watch = straced->watch;
	ssize_t bad = straced->summary.failed ?
			      -ENOMEM :
			      strace_summary_parse(text_string(&straced->summary),
						   straced->summary.length, &lines);

	watch->losses.summaries += bad != 0 || straced->is_cut;
	for (size_t i = 0; i < lines.list.count; i++) {
		const struct process_call call = { straced->process, lines.list.data[i] };

		(void)watch->options.sink(watch->options.context, &call);
	}
}

static void name_failure(struct straced *straced)
{
	struct strace_watch *watch = straced->watch;
	CLEANUP(text_free) struct text sentence = { 0 };
	struct error error = { 0 };
	int status = straced->child.status;

	if (WIFSIGNALED(status)) {
		watch->losses.summaries++;
		text_format(&sentence,
			    "strace of process %" PRId32
			    " was killed by signal %d; its summary is lost, and it begins again",
			    straced->process.pid, WTERMSIG(status));
		(void)say(watch, 0, text_string(&sentence));
		return;
	}
	status = strace_target_explain(watch->options.host, straced->process.pid,
				       straced->child.refusal, &error);
	refuse_unless_followed(watch, &straced->process, straced->parent, status, &error);
}

/* Strace ends with its last target, when it is asked to, or because it failed. */
static void note_end(void *context, struct strace_child *child)
{
	struct straced *straced = context;
	int status = child->status;

	if (straced->summary.length)
		send_summary(straced);
	else if (WIFSIGNALED(status) ? !child->is_stopping || child->was_killed :
				       WEXITSTATUS(status) != 0 && !straced->is_attached)
		name_failure(straced);
	text_free(&straced->summary);
	straced->summary = (struct text){ 0 };
	straced->process.pid = 0;
}

static int start(struct strace_watch *watch, struct straced *straced,
		 const struct task_key *process, struct error *error)
{
	static const char *const words[] = { "-c", "-f", "-w", "-U", STRACE_SUMMARY_COLUMNS, NULL };
	const struct strace_request request = { watch->program, words, &process->pid, 1 };
	int status;

	straced->watch = watch;
	straced->process = *process;
	straced->begin_ns = monotonic_ns();
	straced->is_attached = straced->is_cut = false;
	status = strace_child_start(&straced->child, watch->options.loop, &request, take_output,
				    note_end, straced, error);
	if (status < 0)
		straced->process.pid = 0;
	return status;
}

static struct straced *find_place(struct strace_watch *watch)
{
	for (size_t i = 0; i < STRACES_MOST; i++)
		if (!watch->list[i].process.pid)
			return &watch->list[i];
	return NULL;
}

static void begin(struct strace_watch *watch, const struct task_key *process, int32_t parent)
{
	struct straced *place = find_place(watch);
	struct error error = { 0 };
	int status;

	if (strace_watch_refusal(watch, process) || is_followed(watch, process->pid))
		return;
	status = strace_target_check(watch->options.host, process->pid, &error);
	if (status == 0 && !place)
		status = error_set(&error, -E2BIG,
				   "strace follows %d processes already: others are left out",
				   STRACES_MOST);
	if (status == 0)
		status = start(watch, place, process, &error);
	if (status < 0)
		refuse_unless_followed(watch, process, parent, status, &error);
	else
		place->parent = parent;
}

/*
 * Strace takes a number.  Once it traces the process, that number is not given to another one any more:
 * if ours lives then, it is the one.
 */
static void confirm(struct straced *straced)
{
	const struct host *host = straced->watch->options.host;
	CLEANUP(close_fd) int directory = -1;

	if (straced->is_attached ||
	    strace_tracer_of(host, straced->process.pid) != straced->child.pid)
		return;
	directory = process_directory(host, straced->process.pid, straced->process.start_ns);
	straced->is_attached = directory >= 0;
	if (straced->is_attached)
		return;
	strace_child_close(&straced->child);
	straced->process.pid = 0;
}

void strace_watch_tick(struct strace_watch *watch, const struct snapshot *snapshot)
{
	uint64_t now_ns = monotonic_ns();
	int32_t self = getpid();

	for (size_t i = 0; i < STRACES_MOST; i++) {
		if (watch->list[i].process.pid)
			confirm(&watch->list[i]);
		if (watch->list[i].process.pid && now_ns - watch->list[i].begin_ns >= PERIOD_NS)
			strace_child_stop(&watch->list[i].child);
	}
	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		const struct process *process = &snapshot->processes[row];
		const struct task_key key = { process->tgid, process->tgid,
					      process->start_time_ns };

		int32_t parent = snapshot_parent(snapshot, row);

		if (process->tgid != self && parent != self)
			begin(watch, &key, parent);
	}
}

void strace_watch_stop(struct strace_watch *watch, bool shall_wait)
{
	for (size_t i = 0; i < STRACES_MOST; i++)
		if (watch->list[i].process.pid)
			strace_child_stop(&watch->list[i].child);
	for (size_t i = 0; i < STRACES_MOST && shall_wait; i++)
		if (watch->list[i].process.pid)
			strace_child_wait(&watch->list[i].child);
}

size_t strace_watch_pids(const struct strace_watch *watch, int32_t pids[STRACES_MOST])
{
	size_t count = 0;

	for (size_t i = 0; i < STRACES_MOST; i++)
		if (watch->list[i].process.pid && watch->list[i].is_attached)
			pids[count++] = watch->list[i].process.pid;
	return count;
}

struct strace_losses strace_watch_losses(const struct strace_watch *watch)
{
	return watch->losses;
}

int strace_watch_open(const struct strace_watch_options *options, struct strace_watch **ret,
		      struct error *error)
{
	CLEANUP(close_fd) int program = strace_program_open(error);
	struct strace_watch *watch;

	if (program < 0)
		return program;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return error_set(error, -ENOMEM, "out of memory");
	watch->options = *options;
	watch->program = TAKE_FD(program);
	*ret = watch;
	return 0;
}

void strace_watch_close(struct strace_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < STRACES_MOST; i++) {
		if (watch->list[i].process.pid)
			strace_child_close(&watch->list[i].child);
		text_free(&watch->list[i].summary);
	}
	array_free(&watch->refused);
	close_fd(&watch->program);
	free(watch);
}
