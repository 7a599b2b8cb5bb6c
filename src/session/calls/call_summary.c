/* SPDX-License-Identifier: MIT */
#include "session/calls/call_summary.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/loop.h"
#include "session/calls/interrupt.h"
#include "session/calls/targets.h"

/* The kernel's table of sums is emptied so often. */
#define READ_NS NS_PER_SECOND

struct watch {
	struct call_summary *summary;
	struct calls *calls;
	struct loop loop;
	struct loop_timer read_due, end_due;
	struct targets targets;
	struct interrupt interrupt;
	int status;
};

void call_summary_clear(struct call_summary *summary)
{
	call_lines_clear(&summary->lines);
}

static int add(struct call_lines *lines, enum syscall_abi abi, uint32_t number,
	       struct call_line part)
{
	char buffer[SYSCALL_NAME_SIZE];

	snprintf(part.name, sizeof(part.name), "%s", syscall_name(abi, number, buffer));
	return call_lines_add(lines, &part);
}

static int take_sum(void *context, const struct call_sum *sum)
{
	return add(context, sum->abi, sum->number,
		   (struct call_line){ .calls = sum->calls,
				       .errors = sum->errors,
				       .time_ns = sum->time_ns,
				       .max_ns = sum->max_ns });
}

static int take_under_way(void *context, const struct call_under_way *call)
{
	return add(context, call->abi, call->number,
		   (struct call_line){ .under_way = 1,
				       .under_way_ns = call->time_ns,
				       .is_earlier = call->is_earlier });
}

static void stop(void *context)
{
	struct watch *watch = context;

	loop_stop(&watch->loop);
}

static void read_sums(void *context)
{
	struct watch *watch = context;

	watch->status = calls_read(watch->calls, take_sum, &watch->summary->lines);
	watch->read_due.deadline_ns = monotonic_ns() + READ_NS;
	if (watch->status < 0)
		loop_stop(&watch->loop);
}

/* What was under way at the end is read first: a call that returns in between counts as well. */
static int read_end(struct watch *watch)
{
	struct call_summary *summary = watch->summary;
	int status = calls_under_way(watch->calls, take_under_way, &summary->lines);

	if (status == 0)
		status = calls_read(watch->calls, take_sum, &summary->lines);
	calls_losses(watch->calls, &summary->losses);
	call_lines_sort(&summary->lines);
	return status;
}

static int run(struct watch *watch, uint64_t duration_ns)
{
	uint64_t begin_ns = monotonic_ns();
	int status = targets_watch(&watch->targets, &watch->loop, stop, watch);

	if (status == 0)
		status = interrupt_watch(&watch->interrupt, &watch->loop, stop, watch);
	watch->read_due = (struct loop_timer){ read_sums, watch, begin_ns + READ_NS, NULL };
	watch->end_due =
		(struct loop_timer){ stop, watch, duration_ns ? begin_ns + duration_ns : LOOP_NEVER,
				     NULL };
	loop_add_timer(&watch->loop, &watch->read_due);
	loop_add_timer(&watch->loop, &watch->end_due);
	if (status == 0)
		status = loop_run(&watch->loop, NULL, NULL);
	if (status == 0)
		status = watch->status;
	watch->summary->duration_ns = monotonic_ns() - begin_ns;
	return status < 0 ? status : read_end(watch);
}

static void watch_close(struct watch *watch)
{
	targets_close(&watch->targets);
	interrupt_close(&watch->interrupt);
	calls_close(watch->calls);
	loop_close(&watch->loop);
}

int call_summary_take(const struct host *host, const int32_t *pids, size_t count,
		      uint64_t duration_ns, struct call_summary *ret, struct error *error)
{
	const struct calls_options options = { .pids = pids, .pid_count = count };
	CLEANUP(watch_close)
	struct watch watch = {
		.summary = ret,
		.loop = { .epoll_fd = -1, .timer_fd = -1 },
		.interrupt = { .fd = -1 },
	};
	int status = targets_open(&watch.targets, pids, count, error);

	if (status == 0)
		status = calls_open(host, &options, &watch.calls, error);
	if (status == 0)
		status = targets_check(&watch.targets, error);
	if (status == 0)
		status = loop_open(&watch.loop);
	if (status == 0)
		status = run(&watch, duration_ns);
	return status < 0 ?
		       error_set(error, status, "cannot sum system calls: %s", strerror(-status)) :
		       0;
}
