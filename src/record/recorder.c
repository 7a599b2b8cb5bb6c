/* SPDX-License-Identifier: MIT */
#include "record/recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analyze/anomaly/detector.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "host/host.h"
#include "record/job/job_tracker.h"
#include "record/recorder_state.h"
#include "record/socket/server.h"
#include "trace/life/lifecycle.h"

#define GPU_MS 500 /* the next ticks have what a GPU's driver answers later */

void recorder_judge(struct recorder *recorder, struct recorder_fault *fault, int status,
		    const struct error *error, const char *what)
{
	CLEANUP(text_free) struct text sentence = { 0 };

	if (status < 0)
		fault->count++;
	if ((status < 0) == fault->lasts)
		return;
	fault->lasts = status < 0;
	if (status < 0)
		text_format(&sentence, "%s; recording goes on",
			    error->message[0] ? error->message : strerror(-status));
	else
		text_format(&sentence, "%s again", what);
	recorder->options->note(text_string(&sentence));
}

static void stop(void *context)
{
	struct recorder *recorder = context;

	loop_stop(&recorder->loop);
}

static int block_signals(struct recorder *recorder)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	recorder->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signal_fd < 0)
		return -errno;
	recorder->signals = (struct loop_fd){ .ready = stop, .context = recorder };
	return loop_add_fd(&recorder->loop, &recorder->signals, recorder->signal_fd, EPOLLIN);
}

static int open_sampling(struct recorder *recorder, struct error *error)
{
	const struct recorder_options *options = recorder->options;
	struct capture_options capture = {
		.lister = options->lister,
		.cgroup = options->cgroup,
		.activity = !options->no_activity,
		.gpu = options->gpu,
		.gpu_ms = GPU_MS,
		.no_jemalloc_oracle = true,
	};

	return sampling_open(recorder->host, &capture, &recorder->sampling, error);
}

static int open_events(struct recorder *recorder, struct error *error)
{
	const struct recorder_options *options = recorder->options;
	struct lifecycle_options wanted = {
		.source = options->events,
		.cgroup = options->cgroup,
		.tree_pid = options->tree_pid,
		.per_second = options->events_per_second,
		.witness = recorder_witness,
		.witness_context = recorder,
	};
	int status, fd;

	if (options->no_events)
		return 0;
	status = lifecycle_open(recorder->host, &wanted, &recorder->life, error);
	if (status < 0)
		return status;
	fd = lifecycle_fd(recorder->life);
	recorder->life_ready = (struct loop_fd){ .ready = recorder_drain, .context = recorder };
	return fd < 0 ? 0 : loop_add_fd(&recorder->loop, &recorder->life_ready, fd, EPOLLIN);
}

static int open_store(struct recorder *recorder, struct error *error)
{
	CLEANUP(free_pointer) char *note = NULL;
	int status = history_create(recorder->options->store, &recorder->options->retention,
				    &recorder->history, &note, error);

	if (note)
		recorder->options->note(note);
	return status;
}

/* What goes with the failure of jobs; the first time is when a whole interval has passed. */
static void take_patterns(void *context, int status, const struct error *error)
{
	struct recorder *recorder = context;

	recorder_judge(recorder, &recorder->patterns_fault, status, error,
		       "outcomes of jobs are compared");
	recorder_note_pending(recorder);
	pattern_search_plan(&recorder->patterns, monotonic_ns() + CORRELATE_EVERY_NS, 0);
}

static struct loop_timer timer(loop_function *due, struct recorder *recorder, uint64_t deadline_ns)
{
	return (struct loop_timer){ .due = due, .context = recorder, .deadline_ns = deadline_ns };
}

static void start_timers(struct recorder *recorder)
{
	uint64_t duration_ns = recorder->options->duration_ns;

	recorder->begin_ns = monotonic_ns();
	schedule_begin(&recorder->schedule, recorder->options->interval_ns, recorder->begin_ns);
	budget_begin(&recorder->budget);
	recorder->tick_due = timer(recorder_take_tick, recorder, recorder->schedule.next_ns);
	recorder->burst_due = timer(recorder_take_burst, recorder, LOOP_NEVER);
	recorder->commit_due = timer(recorder_commit, recorder, LOOP_NEVER);
	recorder->activity_due = timer(recorder_take_activity, recorder, LOOP_NEVER);
	recorder->end_due =
		timer(stop, recorder, duration_ns ? recorder->begin_ns + duration_ns : LOOP_NEVER);
	pattern_search_plan(&recorder->patterns, recorder->begin_ns + CORRELATE_EVERY_NS, 0);
	loop_add_timer(&recorder->loop, &recorder->tick_due);
	loop_add_timer(&recorder->loop,
		       &recorder->activity_due); /* after the tick, which may do it */
	loop_add_timer(&recorder->loop, &recorder->burst_due);
	loop_add_timer(&recorder->loop, &recorder->commit_due);
	loop_add_timer(&recorder->loop, &recorder->end_due);
}

/* Whoever finds the store in use can ask there. */
static int note_socket(struct recorder *recorder, struct error *error)
{
	const char *socket = recorder->options->socket;
	CLEANUP(free_pointer) char *path = socket ? realpath(socket, NULL) : NULL;
	int status = history_set_meta(recorder->history, "socket", path ? path : "", error);

	return status < 0 ? status : history_commit(recorder->history, error);
}

/*
 * A store is begun only for what can be followed.  All else comes after it: whoever cannot have the
 * store must not disturb the one who does.
 */
static int open_all(struct recorder *recorder, struct error *error)
{
	const struct recorder_options *options = recorder->options;
	int status = host_open(&recorder->host, NULL, error);

	if (status == 0)
		status = open_sampling(recorder, error);
	if (status == 0)
		status = open_events(recorder, error);
	if (status == 0)
		status = open_store(recorder, error);
	if (status == 0 && options->jsonl)
		status = rotated_lines_open(&recorder->lines, options->jsonl, options->jsonl_bytes,
					    options->jsonl_files, error);
	if (status == 0)
		status = hooks_open(&recorder->hooks, &recorder->loop, options->on_anomaly, error);
	if (status == 0)
		status = detector_new(&options->anomalies, &recorder->detector);
	if (status == 0)
		status = job_tracker_open(recorder, &recorder->jobs, error);
	if (status == 0)
		status = pattern_search_open(&recorder->patterns, &recorder->loop,
					     recorder->history, take_patterns, recorder);
	if (status == 0 && options->socket)
		status = recorder_serve(recorder, error);
	return status == 0 ? note_socket(recorder, error) : status;
}

static void say_begin(struct recorder *recorder)
{
	CLEANUP(text_free) struct text sentence = { 0 };
	const struct lifecycle *life = recorder->life;

	text_format(&sentence, "recording to %s", recorder->options->store);
	if (recorder->server)
		text_format(&sentence, ", socket %s", recorder->options->socket);
	if (life)
		text_format(&sentence, "; events by %s", lifecycle_source(life));
	if (life && lifecycle_reason(life))
		text_format(&sentence, " (%s)", lifecycle_reason(life));
	if (!recorder->has_activity && !recorder->options->no_activity)
		text_format(&sentence, "; no activity (%s)",
			    sampling_lacks_activity(recorder->sampling));
	if (recorder->syscalls.reason)
		text_format(&sentence, "; no system calls (%s)", recorder->syscalls.reason);
	recorder->options->note(text_string(&sentence));
}

/* What happened since the last tick is kept, and all that is open is closed. */
static void finish(struct recorder *recorder)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	if (recorder->life)
		(void)lifecycle_flush(recorder->life, recorder_take_event, recorder);
	(void)detector_finish(recorder->detector, now_ns, recorder_take_anomaly, recorder);
	(void)rotated_lines_flush(&recorder->lines);
	recorder_finish_syscalls(recorder);
	job_tracker_finish(recorder->jobs);
	recorder_keep_losses(recorder);
	recorder->pending++;
	recorder_commit(recorder);
	recorder_say_losses(recorder);
}

static void recorder_close(struct recorder *recorder)
{
	server_close(recorder->server);
	pattern_search_close(&recorder->patterns);
	job_tracker_close(recorder->jobs);
	free(recorder->gpu_lacks);
	lifecycle_close(recorder->life);
	hooks_close(&recorder->hooks);
	rotated_lines_close(&recorder->lines);
	recorder_end_syscalls(recorder);
	sampling_close(recorder->burst);
	free(recorder->burst_pids);
	sampling_close(recorder->sampling);
	detector_free(recorder->detector);
	history_close(recorder->history);
	recorder_tick_clear(&recorder->last);
	recorder_tick_clear(&recorder->previous);
	ended_clear(&recorder->ended);
	loop_close(&recorder->loop);
	close_fd(&recorder->signal_fd);
	host_close(recorder->host);
}

int recorder_run(const struct recorder_options *options, struct error *error)
{
	CLEANUP(recorder_close)
	struct recorder recorder = {
		.options = options,
		.signal_fd = -1,
		.loop = { .epoll_fd = -1, .timer_fd = -1 },
		.burst_due = { .deadline_ns = LOOP_NEVER },
	};
	int status = loop_open(&recorder.loop);

	if (status == 0)
		status = block_signals(&recorder);
	if (status == 0)
		status = open_all(&recorder, error);
	if (status < 0)
		history_abandon(TAKE_PTR(recorder.history));
	if (status < 0)
		return error_set(error, status, "cannot record: %s", strerror(-status));
	start_timers(&recorder);
	recorder_begin_activity(&recorder);
	recorder_begin_syscalls(&recorder);
	say_begin(&recorder);
	status = loop_run(&recorder.loop, NULL, NULL);
	finish(&recorder);
	if (status == 0)
		status = recorder.failure;
	return status < 0 ? error_set(error, status, "recording ended: %s", strerror(-status)) : 0;
}
