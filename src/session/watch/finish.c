/* SPDX-License-Identifier: MIT */
/* Ends a session: takes the last samples, completes the run, and writes the summary. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "analyze/path/path_find.h"
#include "analyze/segment/segment.h"
#include "analyze/verdict/diagnosis.h"
#include "host/wait/process_sockets.h"
#include "model/tree/run.h"
#include "render/run/verdict_json.h"
#include "store/run/run_json.h"
#include "session/session.h"
#include "session/watch/watch.h"
#include "trace/proc/proc_sample.h"

#define LAST_ACCOUNT_NS (200 * NS_PER_MS)
/* A reader that takes no lines for this long counts as gone. */
#define PATIENCE_MS 10000
#define SOCKETS_NS (200 * NS_PER_MS)
#define SOCKETS_PROCESSES 8

/* We learn of the command's end a moment before its last account arrives. */
static void await_last_account(struct watch *watch)
{
	uint64_t until_ns = monotonic_ns() + LAST_ACCOUNT_NS;
	struct timespec pause = { .tv_nsec = (long)NS_PER_MS / 4 };

	watch_drain(watch);
	while (!watch->events.root_done && watch->run->tree->root && monotonic_ns() < until_ns) {
		nanosleep(&pause, NULL);
		watch_drain(watch);
	}
	watch_apply_end(watch);
}

static void finish_end(struct watch *watch)
{
	if (watch->command.ended) {
		watch->run->has_status = true;
		watch->run->status = watch->command.status;
	}
	run_learn_end(watch->run);
}

/*
 * The end time of a tracer that sees the switches is exact, even if it is later than the moment at
 * which we learned of the end.  Tracers that sample waits only have the time of a sample.
 */
static uint64_t command_end_ns(const struct watch *watch)
{
	const struct run *run = watch->run;
	const struct tree_process *root = run->tree->root;

	if (root && root->exited && root->end_ns > run->begin_ns &&
	    (!watch->tracer->kind->sample_waits || root->end_ns < watch->command.end_ns))
		return root->end_ns;
	return watch->command.end_ns;
}

static void finish_time(struct watch *watch)
{
	struct run *run = watch->run;

	run->end_ns = monotonic_ns();
	if (!watch->command.ended)
		return;
	if (!watch->command.is_outlived)
		run->end_ns = command_end_ns(watch);
	else if (command_end_ns(watch) > run->begin_ns)
		run->command_ns =
			(struct run_number){ true, command_end_ns(watch) - run->begin_ns };
}

static enum run_end end_of(const struct watch *watch)
{
	if (watch->command.timed_out)
		return RUN_TIMED_OUT;
	return watch->signals.interrupted && !watch->command.ended ? RUN_DETACHED : RUN_EXITED;
}

/* A command's path ends with it, also if others outlive it. */
static uint64_t path_end_ns(const struct run *run)
{
	return run->command_ns.present ? run->begin_ns + run->command_ns.value : run->end_ns;
}

/* Why there is no path; NULL: it was found. */
static const char *path_failure(struct run *run)
{
	int status;

	if (run->timeline->lacks_wakers && !run->timeline->knows_wakers)
		return "this kernel does not show whether a thread or an interrupt ended a wait";
	status = critical_path_of_process(run->timeline, run->pid, run->mode == RUN_ATTACH,
					  run->begin_ns, path_end_ns(run), &run->path);
	if (status == -ESRCH)
		return "the first events of the command were lost";
	return status < 0 ? "it could not be found in the events" : NULL;
}

/*
 * Whether processes that were there before us are clients or servers: who connected to whom is no
 * longer to be seen.  What a tree beyond a few processes does is not about single connections.
 */
static void finish_sockets(struct watch *watch)
{
	uint64_t deadline_ns = monotonic_ns() + SOCKETS_NS;
	struct process_sockets sockets = { 0 };
	struct run *run = watch->run;
	size_t count = 0;

	if (run->mode != RUN_ATTACH)
		return;
	for (size_t i = 0; i < run->tree->count; i++) {
		const struct tree_process *process = run->tree->all[i];

		if (process->exited)
			continue;
		if (count++ == SOCKETS_PROCESSES ||
		    process_sockets_add(watch->host, process->key.pid, deadline_ns, &sockets) < 0)
			return;
	}
	run->sockets.connected = (struct run_number){ true, sockets.connected };
	run->sockets.listening = (struct run_number){ true, sockets.listening };
}

/* What the timeline had to leave out is in the path as not seen, where it matters. */
static void note_path_losses(struct run *run)
{
	const struct timeline *timeline = run->timeline;
	char reason[160];

	if (!timeline->lost_steps && !timeline->untracked_threads)
		return;
	snprintf(reason, sizeof(reason),
		 "%" PRIu64 " waits and %" PRIu64 " threads were lost or found no room",
		 timeline->lost_steps, timeline->untracked_threads);
	run_set_source(run, "critical_path", SOURCE_PARTIAL, reason);
}

static void finish_path(struct run *run)
{
	const char *failure;

	if (!run->timeline || !run_source_works(run_source(run, "critical_path")))
		return;
	failure = path_failure(run);
	if (failure)
		run_set_source(run, "critical_path", SOURCE_UNAVAILABLE, failure);
	else
		note_path_losses(run);
	timeline_free(run->timeline);
	run->timeline = NULL;
}

/* Threads that waited for each other did not do so for ever if the command ended by itself. */
static int finish_deadlock(struct watch *watch)
{
	const struct watch_command *command = &watch->command;

	if (watch_is_attached(watch) || (command->ended && watch->signals.interrupted))
		watch_find_deadlock(watch);
	else if (!command->timed_out && !watch->signals.asked_to_end && WIFEXITED(command->status))
		watch_forget_deadlock(watch);
	if (!watch->deadlock.is_late)
		return 0;
	return run_set_source(watch->run, "deadlock", SOURCE_UNAVAILABLE,
			      "the host was too busy to find out who waits for whom");
}

/* Says how the waits were found, and how far off they may be. */
static int finish_sampled(struct watch *watch)
{
	struct tracer *tracer = watch->tracer;
	struct run *run = watch->run;
	struct wait_sampling taken;
	char reason[256];

	if (!tracer->kind->wait_sampling || !amounts_has_waits(&run->tree->amounts))
		return 0;
	taken = tracer->kind->wait_sampling(tracer->state);
	run->sampled = (struct run_sampled){
		.samples = { true, taken.samples },
		.interval_ns = { true, taken.interval_ns },
		.error = { true, sampled_waits_error(&run->tree->amounts, taken.samples) },
		.threads_unsampled = { true, taken.threads_unsampled },
	};
	snprintf(reason, sizeof(reason),
		 "why threads were blocked is estimated from %" PRIu64
		 " samples: shares of the blocked time are off by at most %.2g %%, with 95 %% "
		 "certainty; counts and longest waits need BPF",
		 taken.samples, run->sampled.error.value * 100);
	return run_set_source(run, "ledger", SOURCE_PARTIAL, reason);
}

static void finish_losses(struct watch *watch)
{
	struct run_losses *losses = &watch->run->losses;

	watch->tracer->kind->losses(watch->tracer->state, losses);
	losses->events += watch->events.unapplied;
	losses->threads += watch->run->tree->unaccounted_threads;
	losses->wakers = watch->run->tree->dropped_wakers;
	losses->untracked_tasks += watch->run->tree->untracked;
	losses->unmatched_events = tree_unmatched_events(watch->run->tree);
	losses->lines = watch->output.lines.lost;
	losses->tracer_failures = (struct run_number){ true, watch->samples.failures.all +
								     watch->events.failures.all };
}

static void finish_self(struct watch *watch)
{
	struct run_self *self = &watch->run->self;
	struct proc_sample own;
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) == 0)
		self->cpu_ns = timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime);
	if (proc_sample_thread(watch->host, NULL, watch->self, watch->self, &own) == 0)
		self->peak_rss_bytes = (struct run_number){ own.has_peak, own.peak_rss_bytes };
	self->missed_ticks = watch->samples.sampler.missed;
	stack_watch_add_cost(watch->stacks, self);
}

static void write_states(struct watch *watch)
{
	FILE *out = watch->run->states ? lines_begin(&watch->output.lines) : NULL;

	if (!out)
		return;
	run_json_states(out, watch->run);
	lines_end(&watch->output.lines);
}

static void write_summary(struct watch *watch)
{
	struct diagnosis diagnosis = { 0 };
	FILE *out = lines_begin(&watch->output.lines);

	if (!out)
		return;
	lines_flush(&watch->output.lines);
	watch->run->losses.lines = watch->output.lines.lost;
	diagnose(watch->run, &diagnosis);
	lines_use_room(&watch->output.lines);
	run_json_summary(out, watch->run, diagnosis_json, &diagnosis, false);
	if (!lines_fit(&watch->output.lines)) {
		lines_withdraw(&watch->output.lines);
		run_json_summary(out, watch->run, diagnosis_json, &diagnosis, true);
	}
	lines_end(&watch->output.lines);
	lines_finish(&watch->output.lines, PATIENCE_MS);
	watch->run->losses.lines = watch->output.lines.lost;
}

int watch_finish(struct watch *watch)
{
	int status;

	live_close(&watch->live);
	if (watch->command.ended)
		await_last_account(watch);
	watch_sample(watch, TRACER_FINAL);
	watch_drain(watch);
	tree_finish(watch->run->tree);
	watch_drain(watch);
	watch->run->end = end_of(watch);
	finish_end(watch);
	finish_time(watch);
	finish_path(watch->run);
	finish_sockets(watch);
	tree_sum_up(watch->run->tree);
	finish_losses(watch);
	status = limits_end(&watch->limits, watch->run);
	if (status == 0)
		status = watch_finish_hardware(watch);
	if (status == 0)
		status = watch_finish_gpu(watch);
	if (status == 0)
		status = finish_sampled(watch);
	if (status == 0)
		status = phases_finish(&watch->phases);
	if (status == 0)
		status = stack_watch_finish(watch->stacks);
	if (status == 0)
		status = finish_deadlock(watch);
	if (status == 0)
		status = segments_find(watch->run, &watch->run->segments);
	finish_self(watch);
	if (status == 0) {
		write_states(watch);
		run_json_stacks(&watch->output.lines, watch->run, PATIENCE_MS);
		write_summary(watch);
	}
	return status;
}
