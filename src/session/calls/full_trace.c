/* SPDX-License-Identifier: MIT */
#include "session/calls/full_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/loop.h"
#include "base/text.h"
#include "session/calls/interrupt.h"
#include "session/calls/line_writer.h"
#include "session/calls/targets.h"
#include "trace/strace/strace.h"

#define BUFFER_BYTES (4 << 20)
#define LOOK_NS (20 * NS_PER_MS) /* for who traces the targets, until strace does */
#define FINISH_NS (2 * NS_PER_SECOND)

const char full_trace_warning[] =
	"# strace stops the target at every system call, about 50 us each time: a program that "
	"mostly makes calls runs about 100 times slower, a compiler 2 to 5 times\n";

struct trace {
	const struct host *host;
	const struct full_trace_options *options;
	struct loop loop;
	struct loop_timer end_due, look_due;
	struct targets targets;
	struct interrupt interrupt;
	struct loop_fd reader; /* of standard output */
	struct strace_child child;
	int program, file;
	struct line_writer *shown, *kept; /* NULL: none */
	struct text line;		  /* that has not ended yet */
	bool is_attached;
	int status; /* why the loop ended */
	struct error *error;
};

static void put(struct trace *trace, const char *lines, size_t length)
{
	if (trace->shown)
		line_writer_put(trace->shown, lines, length);
	if (trace->kept)
		line_writer_put(trace->kept, lines, length);
}

/* Nobody is left who takes the trace. */
static bool is_in_vain(const struct trace *trace)
{
	return (!trace->shown || line_writer_status(trace->shown) < 0) &&
	       (!trace->kept || line_writer_status(trace->kept) < 0);
}

static void take_output(void *context, const char *bytes, size_t length)
{
	struct trace *trace = context;
	const char *last = memrchr(bytes, '\n', length);
	size_t whole = last ? (size_t)(last - bytes) + 1 : 0;

	if (whole) {
		text_append(&trace->line, bytes, whole);
		put(trace, text_string(&trace->line), trace->line.length);
		text_clear(&trace->line);
	}
	text_append(&trace->line, bytes + whole, length - whole);
	if (is_in_vain(trace))
		strace_child_stop(&trace->child);
}

static void stop(void *context)
{
	struct trace *trace = context;

	if (trace->interrupt.fd >= 0)
		interrupt_take(&trace->interrupt);
	strace_child_stop(&trace->child);
}

/* Whoever read standard output has closed its end: as with `| head`, that is no mistake. */
static bool is_reader_gone(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO };

	return poll(&output, 1, 0) > 0 && output.revents & (POLLERR | POLLHUP);
}

/* A target that makes no call gives nothing to write, and so no failure to write. */
static void note_reader_gone(void *context)
{
	struct trace *trace = context;

	loop_remove_fd(&trace->loop, &trace->reader);
	if (!trace->kept)
		strace_child_stop(&trace->child);
}

static int name_end(struct trace *trace)
{
	int status = trace->child.status;

	if (trace->child.is_stopping)
		return trace->child.was_killed ?
			       error_set(
				       trace->error, -ETIME,
				       "strace did not end when asked, and was killed; the target "
				       "goes on") :
			       0;
	if (WIFSIGNALED(status))
		return error_set(trace->error, -EINTR,
				 "strace was killed by signal %d: the trace ends there, and the "
				 "target goes on",
				 WTERMSIG(status));
	/* Its status is that of the target, once it is attached. */
	if (trace->is_attached || WEXITSTATUS(status) == 0)
		return 0;
	for (size_t i = 0; i < trace->targets.count; i++)
		if (target_has_ended(&trace->targets.list[i]))
			return error_set(trace->error, -ESRCH, "process %" PRId32 " is gone",
					 trace->targets.list[i].pid);
	return strace_target_explain(trace->host, trace->options->pids[0], trace->child.refusal,
				     trace->error);
}

static void note_end(void *context, struct strace_child *child)
{
	struct trace *trace = context;

	(void)child;
	if (trace->line.length) {
		text_append_string(&trace->line, "\n");
		put(trace, text_string(&trace->line), trace->line.length);
	}
	if (trace->status == 0)
		trace->status = name_end(trace);
	loop_stop(&trace->loop);
}

/*
 * Strace takes numbers.  Once it traces a process, that one's number is not given to another any more: if
 * the target lives then, it is the one that is traced.
 */
static void look(void *context)
{
	struct trace *trace = context;
	size_t attached = 0;

	trace->look_due.deadline_ns = monotonic_ns() + LOOK_NS;
	for (size_t i = 0; i < trace->targets.count; i++)
		attached += strace_tracer_of(trace->host, trace->targets.list[i].pid) ==
			    trace->child.pid;
	if (attached < trace->targets.count)
		return;
	trace->is_attached = true;
	trace->look_due.deadline_ns = LOOP_NEVER;
	trace->status = targets_check(&trace->targets, trace->error);
	if (trace->status < 0)
		strace_child_stop(&trace->child);
}

static int open_file(struct trace *trace, struct error *error)
{
	const char *path = trace->options->file;
	int status = file_make_folders(path);

	if (status == 0)
		status = trace->file = file_open_output(path);
	return status < 0 ? error_set(error, status, "cannot write %s: %s: %s", path,
				      strerror(-status), file_write_advice(status)) :
			    0;
}

static int open_outputs(struct trace *trace, struct error *error)
{
	int status = trace->options->file ? open_file(trace, error) : 0;

	if (status < 0)
		return status;
	if (!trace->options->is_quiet)
		trace->shown = line_writer_start(STDOUT_FILENO, BUFFER_BYTES);
	if (trace->file >= 0)
		trace->kept = line_writer_start(trace->file, BUFFER_BYTES);
	if ((!trace->options->is_quiet && !trace->shown) || (trace->file >= 0 && !trace->kept))
		return error_set(error, -ENOMEM, "out of memory");
	put(trace, full_trace_warning, strlen(full_trace_warning));
	return 0;
}

static int start(struct trace *trace, struct error *error)
{
	const struct full_trace_options *options = trace->options;
	const char *words[] = {
		"-f", "-tt", "-T", "-y", options->expression ? "-e" : NULL, options->expression,
		NULL
	};
	const struct strace_request request = {
		.program = trace->program,
		.options = words,
		.pids = options->pids,
		.pid_count = options->count,
	};
	uint64_t now_ns = monotonic_ns();

	trace->look_due = (struct loop_timer){ look, trace, now_ns, NULL };
	trace->end_due = (struct loop_timer){
		stop, trace, options->duration_ns ? now_ns + options->duration_ns : LOOP_NEVER, NULL
	};
	trace->reader = (struct loop_fd){ .ready = note_reader_gone, .context = trace };
	loop_add_timer(&trace->loop, &trace->look_due);
	loop_add_timer(&trace->loop, &trace->end_due);
	/* A plain file has no reader, and cannot be watched. */
	if (trace->shown)
		(void)loop_add_fd(&trace->loop, &trace->reader, STDOUT_FILENO, 0);
	return strace_child_start(&trace->child, &trace->loop, &request, take_output, note_end,
				  trace, error);
}

static int prepare(struct trace *trace, struct error *error)
{
	const struct full_trace_options *options = trace->options;
	int status = trace->program = strace_program_open(error);

	if (status >= 0)
		status = targets_open(&trace->targets, options->pids, options->count, error);
	for (size_t i = 0; i < options->count && status >= 0; i++)
		status = strace_target_check(trace->host, options->pids[i], error);
	if (status >= 0)
		status = loop_open(&trace->loop);
	if (status >= 0)
		status = interrupt_watch(&trace->interrupt, &trace->loop, stop, trace);
	return status < 0 ? status : open_outputs(trace, error);
}

static void trace_close(struct trace *trace)
{
	strace_child_close(&trace->child);
	targets_close(&trace->targets);
	interrupt_close(&trace->interrupt);
	text_free(&trace->line);
	loop_close(&trace->loop);
	close_fd(&trace->program);
	close_fd(&trace->file);
}

static uint64_t finish(struct line_writer *writer)
{
	return writer ? line_writer_finish(writer, FINISH_NS) : 0;
}

/* Why nobody could take the trace. */
static int name_failure(const struct trace *trace, struct error *error)
{
	struct line_writer *writer = trace->kept ? trace->kept : trace->shown;

	if (!writer || !is_in_vain(trace) || (!trace->kept && is_reader_gone()))
		return 0;
	return error_set(error, -EPIPE, "nobody takes the trace any more: %s",
			 strerror(-line_writer_status(writer)));
}

int full_trace_run(const struct host *host, const struct full_trace_options *options,
		   struct full_trace_losses *ret, struct error *error)
{
	CLEANUP(trace_close)
	struct trace trace = {
		.host = host,
		.options = options,
		.loop = { .epoll_fd = -1, .timer_fd = -1 },
		.interrupt = { .fd = -1 },
		.program = -1,
		.file = -1,
		.error = error,
	};
	int status = prepare(&trace, error);

	if (status == 0)
		status = start(&trace, error);
	if (status == 0)
		status = loop_run(&trace.loop, NULL, NULL);
	if (status == 0)
		status = trace.status;
	if (status == 0)
		status = name_failure(&trace, error);
	*ret = (struct full_trace_losses){ finish(trace.shown), finish(trace.kept) };
	if (is_reader_gone())
		ret->shown = 0;
	return status < 0 ? error_set(error, status, "cannot trace: %s", strerror(-status)) : 0;
}
