/* SPDX-License-Identifier: MIT */
/* Passes the tracer's events to the tree, to the phases and to the lines. */
#include "model/tree/run.h"
#include "store/run/run_json.h"
#include "session/watch/watch.h"

/*
 * How often the tracer is drained: soon after the start, and often while much happens.  Its events
 * are in the file at most LINES_WAIT_NS later, so that a kill -9 loses a tenth of a second.
 */
#define DRAIN_FIRST_NS (5 * NS_PER_MS)
#define DRAIN_BUSY_NS (10 * NS_PER_MS)
#define DRAIN_IDLE_NS (100 * NS_PER_MS - LINES_WAIT_NS)
#define DRAIN_MANY 512
/*
 * The descriptor of a tracer that can miss things may be ready all the time, also because of other
 * processes.  So after a drain that it caused we do not listen to it for a while, and longer when
 * that drain had no event of the tree.  The descriptors of other tracers are ready only when it is
 * urgent.
 */
#define LISTEN_PAUSE_NS (2 * NS_PER_MS)
#define LISTEN_PAUSE_OTHERS_NS (10 * NS_PER_MS)

static bool is_root(const struct watch *watch, const struct tree_event *event)
{
	return !watch_is_attached(watch) && event->task.pid == watch->command.launch.pid;
}

static void write_event(struct watch *watch, const struct tree_event *event)
{
	FILE *out;

	switch (event->type) {
	case TREE_FORK:
		if (event->task.pid != event->task.tid)
			return;
		break;
	case TREE_EXEC:
	case TREE_SIGNAL:
	case TREE_OOM:
		break;
	default:
		return;
	}
	out = lines_begin(&watch->output.lines);
	if (!out)
		return;
	run_json_event(out, watch->run, event);
	lines_end(&watch->output.lines);
}

/* The run begins with the command's exec.  After a later exec it may be in another cgroup. */
static void note_root(struct watch *watch, const struct tree_event *event)
{
	struct run *run = watch->run;

	if (event->type == TREE_EXEC)
		watch->events.root_moved = true;
	if (!watch->events.root_began && event->time_ns) {
		run->begin_unix_ns += event->time_ns - run->begin_ns;
		run->begin_ns = event->time_ns;
	}
	watch->events.root_began = true;
}

static void apply(struct watch *watch, const struct tree_event *event)
{
	if (run_take_event(watch->run, event) < 0)
		watch->events.unapplied++;
}

/* Tracers that cannot wait() for the command get its exit status from the session, which can. */
static bool apply_end_of_root(struct watch *watch, const struct tree_event *event)
{
	struct tree_event completed = *event;

	if (event->type != TREE_PROCESS || !event->process.ended ||
	    event->process.present & TREE_PROCESS_STATUS || !is_root(watch, event) ||
	    !watch_command_ended(watch))
		return false;
	completed.process.present |= TREE_PROCESS_STATUS;
	completed.process.status = watch->command.status;
	apply(watch, &completed);
	return true;
}

int watch_take_event(void *context, const struct tree_event *sent)
{
	struct watch *watch = context;
	struct tree_event adapted = *sent;
	const struct tree_event *event = &adapted;

	watch->events.count++;
	if (sent->task.pid == watch->self || watch_leaves_out(watch, sent))
		return 0;
	watch_adapt_event(watch, &adapted);
	if (!apply_end_of_root(watch, event))
		apply(watch, event);
	phases_note(&watch->phases, event);
	if (is_root(watch, event))
		note_root(watch, event);
	write_event(watch, event);
	return 0;
}

void watch_take_ended(struct watch *watch)
{
	const struct tree_process *process;
	FILE *out;

	while ((process = tree_take_ended(watch->run->tree))) {
		if (process->key.pid == watch->command.launch.pid)
			watch->events.root_done = true;
		phases_end(&watch->phases, process);
		out = lines_begin(&watch->output.lines);
		if (!out)
			continue;
		run_json_exit(out, watch->run, process);
		lines_end(&watch->output.lines);
	}
}

/* Once it ended, another process may have its number. */
void watch_follow_root(struct watch *watch)
{
	const struct tree_process *root = watch->run->tree->root;

	if (root && !root->exited && root->key.pid == watch->run->pid && !watch->command.ended)
		limits_follow(&watch->limits, watch->run->pid);
}

void watch_apply_end(struct watch *watch)
{
	const struct watch_command *command = &watch->command;
	struct tree *tree = watch->run->tree;
	struct tree_event end = {
		.type = TREE_PROCESS,
		.time_ns = command->end_ns,
		.process = {
			.present = TREE_PROCESS_STATUS,
			.ended = true,
			.end_ns = command->end_ns,
			.status = command->status,
		},
	};

	if (!command->ended || !tree->root || tree->root->exited)
		return;
	end.task = tree->root->key;
	apply(watch, &end);
	watch_take_ended(watch);
}

/* How long until the tracer is drained again. */
static uint64_t next_pause(const struct watch_events *events)
{
	uint64_t pause_ns = events->pause_ns * 2;

	if (events->count >= DRAIN_MANY && pause_ns > DRAIN_BUSY_NS)
		return DRAIN_BUSY_NS;
	return pause_ns < DRAIN_IDLE_NS ? pause_ns : DRAIN_IDLE_NS;
}

static void take_events(struct watch *watch)
{
	struct tracer *tracer = watch->tracer;

	watch_worked(watch, &watch->events.failures,
		     tracer->kind->drain(tracer->state, watch_take_event, watch));
}

/* A tracer that samples what threads wait for finds new processes only when it samples. */
static void find_new(struct watch *watch)
{
	struct tracer *tracer = watch->tracer;

	if (!tracer->kind->sample_waits)
		take_events(watch);
	else
		watch_worked(watch, &watch->events.failures,
			     tracer->kind->sample(tracer->state, TRACER_SAMPLE, watch_take_event,
						  watch));
}

/*
 * A sender began before its signal arrived, so events that are read after the signal include its
 * beginning.  It lived until then, so the tree still has it, unless ended processes were taken
 * since signals were last read.
 */
void watch_take_signals(struct watch *watch)
{
	while (!watch->loop.is_stopped && watch_read_signals(watch))
		find_new(watch);
	watch_judge_signals(watch);
}

void watch_drain(struct watch *watch)
{
	struct watch_events *events = &watch->events;

	events->count = 0;
	take_events(watch);
	watch_take_signals(watch);
	stack_watch_drain(watch->stacks, &watch->phases);
	watch_take_ended(watch);
	if (events->root_moved)
		watch_follow_root(watch);
	events->root_moved = false;
	events->pause_ns = next_pause(events);
	events->due.deadline_ns = monotonic_ns() + events->pause_ns;
}

/* Without a descriptor, or memory to listen to it, the tracer is drained on deadlines only. */
static int listen_again(struct watch *watch)
{
	int fd = watch->tracer->kind->fd(watch->tracer->state);

	return fd < 0 ? 0 : loop_add_fd(&watch->loop, &watch->events.ready, fd, EPOLLIN);
}

static void end_pause(void *context)
{
	struct watch *watch = context;

	watch->events.listen.deadline_ns = LOOP_NEVER;
	(void)listen_again(watch);
}

static void be_called(void *context)
{
	struct watch *watch = context;

	watch->events.is_called = true;
	watch->events.due.deadline_ns = 0;
}

static void drain_when_due(void *context)
{
	struct watch *watch = context;
	struct watch_events *events = &watch->events;

	watch_drain(watch);
	if (!events->is_called) {
		end_pause(watch);
	} else if (watch->tracer->kind->misses) {
		loop_remove_fd(&watch->loop, &events->ready);
		events->listen.deadline_ns =
			monotonic_ns() + (events->count ? LISTEN_PAUSE_NS : LISTEN_PAUSE_OTHERS_NS);
	}
	events->is_called = false;
}

void watch_init_events(struct watch *watch)
{
	watch->events = (struct watch_events){
		.pause_ns = DRAIN_FIRST_NS,
		.ready = { .ready = be_called, .context = watch },
		.due = { .due = drain_when_due, .context = watch, .deadline_ns = LOOP_NEVER },
		.listen = { .due = end_pause, .context = watch, .deadline_ns = LOOP_NEVER },
	};
}

int watch_start_events(struct watch *watch)
{
	struct watch_events *events = &watch->events;

	events->due.deadline_ns = watch->begin_ns + events->pause_ns;
	loop_add_timer(&watch->loop, &events->due);
	loop_add_timer(&watch->loop, &events->listen);
	return listen_again(watch);
}
