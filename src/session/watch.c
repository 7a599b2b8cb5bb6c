/* SPDX-License-Identifier: MIT */
#include "session/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/run.h"
#include "render/run_json.h"
#include "session/session.h"

#define MS UINT64_C(1000000)

/*
 * How often the tracer is asked: soon after the start, often while much happens.  What it tells is
 * in the file LINES_WAIT_NS later at most, so that a kill -9 loses a tenth of a second.
 */
#define DRAIN_BUSY_NS (10 * MS)
#define DRAIN_IDLE_NS (100 * MS - LINES_WAIT_NS)
#define DRAIN_MANY 512
/*
 * Not more often than that by its descriptor, which may have something all the time: what it has
 * may be about others.
 */
#define LISTEN_PAUSE_NS (2 * MS)
#define LISTEN_PAUSE_OTHERS_NS (10 * MS)

#define KILL_AFTER_NS (5 * NS_PER_SECOND)

static bool is_root(const struct watch *watch, const struct tree_event *event)
{
	return !watch_is_attached(watch) && event->task.pid == watch->launch.pid;
}

bool watch_command_ended(struct watch *watch)
{
	siginfo_t info = { 0 };

	if (watch->command_ended || watch_is_attached(watch))
		return watch->command_ended;
	/* It stays a zombie until all was read, so that nobody else gets its number. */
	if (waitid(P_PID, (id_t)watch->launch.pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0 ||
	    info.si_pid == 0)
		return false;
	watch->command_ended = true;
	watch->command_end_ns = monotonic_ns();
	watch->command_status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) :
							     W_EXITCODE(0, info.si_status);
	if (info.si_code == CLD_DUMPED)
		watch->command_status |= WCOREFLAG;
	return true;
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
	out = lines_begin(&watch->lines);
	if (!out)
		return;
	run_json_event(out, watch->run, event);
	lines_end(&watch->lines);
}

/* Counting begins when the command does its exec; later ones may have taken it elsewhere. */
static void note_root(struct watch *watch, const struct tree_event *event)
{
	struct run *run = watch->run;

	if (event->type == TREE_EXEC)
		watch->root_moved = true;
	if (!watch->root_began && event->time_ns) {
		run->begin_unix_ns += event->time_ns - run->begin_ns;
		run->begin_ns = event->time_ns;
	}
	watch->root_began = true;
}

static void apply(struct watch *watch, const struct tree_event *event)
{
	if (tree_apply(watch->run->tree, event) < 0)
		watch->unapplied++;
}

/* Who only sees that the command ended gets its status from us, who can wait for it. */
static bool apply_end_of_root(struct watch *watch, const struct tree_event *event)
{
	struct tree_event told = *event;

	if (event->type != TREE_PROCESS || !event->process.ended ||
	    event->process.present & TREE_PROCESS_STATUS || !is_root(watch, event) ||
	    !watch_command_ended(watch))
		return false;
	told.process.present |= TREE_PROCESS_STATUS;
	told.process.status = watch->command_status;
	apply(watch, &told);
	return true;
}

int watch_take_event(void *context, const struct tree_event *event)
{
	struct watch *watch = context;

	watch->events++;
	if (event->task.pid == watch->self)
		return 0;
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
		if (process->key.pid == watch->launch.pid)
			watch->root_settled = true;
		phases_end(&watch->phases, process);
		out = lines_begin(&watch->lines);
		if (!out)
			continue;
		run_json_exit(out, watch->run, process);
		lines_end(&watch->lines);
	}
}

bool watch_worked(struct watch *watch, struct watch_failures *failures, int status)
{
	if (status >= 0) {
		if (failures->in_a_row >= WATCH_FAILURES_MOST && !watch->done)
			watch->failure = 0;
		failures->in_a_row = 0;
		return true;
	}
	failures->all++;
	if (++failures->in_a_row < WATCH_FAILURES_MOST)
		return false;
	if (watch->failure == 0)
		watch->failure = status;
	if (watch_is_attached(watch) || watch->command_ended)
		watch->done = true;
	return false;
}

/* Once it ended, its number may be another's. */
void watch_follow_root(struct watch *watch)
{
	const struct tree_process *root = watch->run->tree->root;

	if (root && !root->exited && root->key.pid == watch->run->pid && !watch->command_ended)
		surroundings_follow(&watch->surroundings, watch->run->pid);
}

/* Signals are taken after the events: then their sender is in the tree, even if it has ended. */
void watch_drain(struct watch *watch)
{
	uint64_t now_ns;

	watch->events = 0;
	watch_worked(watch, &watch->drains,
		     watch->tracer->kind->drain(watch->tracer->state, watch_take_event, watch));
	if (!watch->done)
		watch_take_signals(watch);
	watch_take_ended(watch);
	if (watch->root_moved)
		watch_follow_root(watch);
	watch->root_moved = false;
	watch->drain_pause_ns *= 2;
	if (watch->drain_pause_ns > DRAIN_IDLE_NS)
		watch->drain_pause_ns = DRAIN_IDLE_NS;
	if (watch->events >= DRAIN_MANY && watch->drain_pause_ns > DRAIN_BUSY_NS)
		watch->drain_pause_ns = DRAIN_BUSY_NS;
	now_ns = monotonic_ns();
	watch->drain_ns = now_ns + watch->drain_pause_ns;
	watch->listen_ns = now_ns + (watch->events ? LISTEN_PAUSE_NS : LISTEN_PAUSE_OTHERS_NS);
}

void watch_tell_end(struct watch *watch)
{
	struct tree *tree = watch->run->tree;
	struct tree_event end = {
		.type = TREE_PROCESS,
		.time_ns = watch->command_end_ns,
		.process = {
			.present = TREE_PROCESS_STATUS,
			.ended = true,
			.end_ns = watch->command_end_ns,
			.status = watch->command_status,
		},
	};

	if (!watch->command_ended || !tree->root || tree->root->exited)
		return;
	end.task = tree->root->key;
	apply(watch, &end);
	watch_take_ended(watch);
}

static void ask_to_end(struct watch *watch, int signal)
{
	pid_t pid = watch->launch.pid;

	kill(getpgid(pid) == pid ? -pid : pid, signal);
}

/* A stopped command could not obey. */
static void time_out(struct watch *watch, uint64_t now_ns)
{
	watch->deadline_ns = UINT64_MAX;
	if (watch_is_attached(watch) || watch->command_ended) {
		watch->timed_out = watch_is_attached(watch);
		watch->done = true;
		return;
	}
	watch->timed_out = true;
	watch->kill_ns = now_ns + KILL_AFTER_NS;
	ask_to_end(watch, SIGTERM);
	ask_to_end(watch, SIGCONT);
}

static void keep_time(struct watch *watch, uint64_t now_ns)
{
	if (now_ns >= watch->deadline_ns)
		time_out(watch, now_ns);
	if (now_ns >= watch->kill_ns && !watch->command_ended) {
		watch->kill_ns = UINT64_MAX;
		ask_to_end(watch, SIGKILL);
	}
}

enum source {
	POLL_SIGNALS,
	POLL_EXEC,
	POLL_COMMAND,
	POLL_TRACER,
	POLL_LINES,
	POLL_COUNT,
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The tracer's descriptor.  That of one that can miss things may have something all the time, and
 * is not listened to right after it was asked; that of the others calls only when it is urgent.
 */
static int listened_fd(const struct watch *watch, uint64_t now_ns, uint64_t *until_ns)
{
	int fd = watch->tracer->kind->fd(watch->tracer->state);

	if (fd < 0 || !watch->tracer->kind->misses || now_ns >= watch->listen_ns)
		return fd;
	*until_ns = earlier(*until_ns, watch->listen_ns);
	return -1;
}

/* Who cannot wait looks by time, as little as waiting is good for. */
static void wait_blindly(struct watch *watch, struct pollfd *polled, int status)
{
	struct timespec pause = { .tv_nsec = (long)DRAIN_IDLE_NS };

	watch_worked(watch, &watch->waits, status);
	nanosleep(&pause, NULL);
	polled[POLL_SIGNALS].revents = POLLIN;
	polled[POLL_COMMAND].revents = POLLIN;
}

static void wait_for_something(struct watch *watch, struct pollfd *polled)
{
	uint64_t now_ns = monotonic_ns();
	uint64_t until_ns = earlier(earlier(earlier(watch->drain_ns, watch->sampler.next_ns),
					    earlier(watch->deadline_ns, watch->kill_ns)),
				    lines_due_ns(&watch->lines));
	uint64_t left_ns;
	struct timespec timeout;

	polled[POLL_SIGNALS].fd = watch->signal_fd;
	polled[POLL_EXEC].fd = watch->launch.exec_fd;
	polled[POLL_COMMAND].fd = watch->command_ended ? -1 : watch->launch.pidfd;
	polled[POLL_TRACER].fd = listened_fd(watch, now_ns, &until_ns);
	polled[POLL_LINES].fd = lines_awaited_fd(&watch->lines);
	left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	timeout = (struct timespec){ .tv_sec = (time_t)(left_ns / NS_PER_SECOND),
				     .tv_nsec = (long)(left_ns % NS_PER_SECOND) };
	for (int i = 0; i < POLL_COUNT; i++) {
		polled[i].events = i == POLL_LINES ? POLLOUT : POLLIN;
		polled[i].revents = 0;
	}
	if (ppoll(polled, POLL_COUNT, &timeout, NULL) >= 0 || errno == EINTR)
		watch_worked(watch, &watch->waits, 0);
	else
		wait_blindly(watch, polled, -errno);
}

static void take_result(struct watch *watch)
{
	watch->exec_error = launch_result(&watch->launch);
	if (watch->exec_error)
		watch->done = true;
}

/* Whether only members are left that nobody waits for. */
static bool is_over(const struct watch *watch)
{
	if (watch_is_attached(watch))
		return watch->run->tree->live_processes == 0;
	if (!watch->command_ended)
		return false;
	return !watch->options->wait_all ||
	       (watch->looked_since_end && watch->run->tree->live_processes == 0);
}

/* Whom the command started right before its end may not be known yet. */
static void look_who_is_left(struct watch *watch)
{
	if (!watch->command_ended || !watch->options->wait_all)
		return;
	if (!watch->looked_since_end) {
		watch_drain(watch);
		watch_sample(watch, TRACER_LOOK);
	}
	watch->is_outlived |= watch->looked_since_end && watch->run->tree->live_processes > 0;
}

static void go_round(struct watch *watch)
{
	struct pollfd polled[POLL_COUNT];
	uint64_t now_ns;

	wait_for_something(watch, polled);
	now_ns = monotonic_ns();
	if (polled[POLL_EXEC].revents)
		take_result(watch);
	if (polled[POLL_COMMAND].revents)
		watch_command_ended(watch);
	if (polled[POLL_TRACER].revents || polled[POLL_SIGNALS].revents ||
	    now_ns >= watch->drain_ns) {
		watch_drain(watch);
		if (!polled[POLL_TRACER].revents)
			watch->listen_ns = 0;
	}
	phases_search(&watch->phases, now_ns);
	if (now_ns >= watch->sampler.next_ns && !watch->done)
		watch_sample(watch, TRACER_LOOK);
	look_who_is_left(watch);
	keep_time(watch, now_ns);
	watch->run->end_ns = now_ns;
	lines_tick(&watch->lines, now_ns);
	live_draw(&watch->live, watch->run, now_ns);
	if (is_over(watch))
		watch->done = true;
}

void watch_loop(struct watch *watch)
{
	while (!watch->done)
		go_round(watch);
}
