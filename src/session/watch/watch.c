/* SPDX-License-Identifier: MIT */
#include "session/watch/watch.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/host.h"
#include "model/tree/run.h"
#include "session/session.h"

bool watch_worked(struct watch *watch, struct watch_failures *failures, int status)
{
	if (status >= 0) {
		if (failures->in_a_row >= WATCH_FAILURES_MOST && !watch->loop.is_stopped)
			watch->failure = 0;
		failures->in_a_row = 0;
		return true;
	}
	failures->all++;
	if (++failures->in_a_row < WATCH_FAILURES_MOST)
		return false;
	if (watch->failure == 0)
		watch->failure = status;
	if (watch_is_attached(watch) || watch->command.ended)
		loop_stop(&watch->loop);
	return false;
}

static void write_lines(void *context)
{
	struct watch *watch = context;

	lines_tick(&watch->output.lines, monotonic_ns());
}

/* A descriptor that epoll refuses always has room. */
static void schedule_lines(struct watch *watch)
{
	struct watch_output *output = &watch->output;
	int fd = lines_awaited_fd(&output->lines);

	output->due.deadline_ns = lines_due_ns(&output->lines);
	if (fd < 0)
		loop_remove_fd(&watch->loop, &output->room);
	else
		(void)loop_add_fd(&watch->loop, &output->room, fd, EPOLLOUT);
}

/* Whether no member is left that we wait for. */
static bool is_over(const struct watch *watch)
{
	if (watch_is_attached(watch))
		return watch->run->tree->live_processes == 0;
	if (!watch->command.ended)
		return false;
	return !watch->options->wait_all ||
	       (watch->command.sampled_since_end && watch->run->tree->live_processes == 0);
}

/*
 * With wait_all: takes a sample after the command's end, since processes that it started just
 * before may not be known yet.
 */
static void find_survivors(struct watch *watch)
{
	struct watch_command *command = &watch->command;

	if (!command->ended || !watch->options->wait_all)
		return;
	if (!command->sampled_since_end) {
		watch_drain(watch);
		watch_sample(watch, TRACER_SAMPLE);
	}
	command->is_outlived |= command->sampled_since_end && watch->run->tree->live_processes > 0;
}

static void end_round(void *context)
{
	struct watch *watch = context;
	uint64_t now_ns = monotonic_ns();

	phases_search(&watch->phases, now_ns);
	find_survivors(watch);
	watch->run->end_ns = now_ns;
	schedule_lines(watch);
	live_draw(&watch->live, watch->run, now_ns);
	if (is_over(watch))
		loop_stop(&watch->loop);
}

void watch_loop(struct watch *watch)
{
	int status = loop_run(&watch->loop, end_round, watch);

	if (status < 0 && watch->failure == 0)
		watch->failure = status;
}

int watch_open(struct watch *ret, const struct session_options *options)
{
	*ret = (struct watch){
		.options = options,
		.self = getpid(),
		.live = { .fd = -1 },
		.loop = { .epoll_fd = -1, .timer_fd = -1 },
	};
	watch_init_command(ret);
	watch_init_signals(ret);
	watch_init_events(ret);
	watch_init_samples(ret);
	watch_init_deadlock(ret);
	ret->output.lines.fd = -1;
	ret->output.due = (struct loop_timer){ .due = write_lines,
					       .context = ret,
					       .deadline_ns = LOOP_NEVER };
	ret->output.room = (struct loop_fd){ .ready = write_lines, .context = ret };
	return loop_open(&ret->loop);
}

/* Timers that are due together run in this order. */
int watch_start(struct watch *watch)
{
	const struct session_options *options = watch->options;
	int status = watch_start_signals(watch);

	if (status == 0)
		status = watch_start_events(watch);
	watch_start_samples(watch);
	watch_start_deadlock(watch);
	if (status == 0)
		status = watch_start_command(watch);
	loop_add_timer(&watch->loop, &watch->output.due);
	schedule_lines(watch);
	live_open(&watch->live, options->quiet ? -1 : options->live_fd, watch->begin_ns);
	return status;
}

void watch_close(struct watch *watch)
{
	bool is_free = stack_watch_close(watch->stacks);

	live_close(&watch->live);
	tracer_close(watch->tracer);
	if (watch->command.launch.pid > 0)
		launch_finish(&watch->command.launch);
	hardware_close(&watch->counters);
	watch_close_gpu(&watch->gpu);
	free(watch->members.roots);
	limits_close(&watch->limits);
	phases_close(&watch->phases);
	lines_close(&watch->output.lines);
	close_fd(&watch->signals.fd);
	loop_close(&watch->loop);
	if (is_free)
		host_close(watch->host);
	run_free(watch->run);
}
