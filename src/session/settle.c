/* SPDX-License-Identifier: MIT */
#include "session/settle.h"

#include <string.h>
#include <sys/resource.h>

#include "analyze/diagnosis.h"
#include "model/run.h"
#include "render/run_json.h"
#include "session/session.h"
#include "session/watch.h"

#define MS UINT64_C(1000000)
#define LAST_ACCOUNT_NS (200 * MS)
/* A reader of the lines that takes nothing for so long is not there any more. */
#define PATIENCE_MS 10000

/* The command's end reaches us a moment before its last account does. */
static void await_last_account(struct watch *watch)
{
	uint64_t until_ns = monotonic_ns() + LAST_ACCOUNT_NS;
	struct timespec pause = { .tv_nsec = (long)MS / 4 };

	watch_drain(watch);
	while (!watch->root_settled && watch->run->tree->root && monotonic_ns() < until_ns) {
		nanosleep(&pause, NULL);
		watch_drain(watch);
	}
	watch_tell_end(watch);
}

static void settle_end(struct watch *watch)
{
	struct run *run = watch->run;
	const struct tree_process *root = run->tree->root;

	if (watch->command_ended) {
		run->has_status = true;
		run->status = watch->command_status;
	}
	if (!root)
		return;
	if (!run->has_status && root->exited && root->facts.present & TREE_PROCESS_STATUS) {
		run->has_status = true;
		run->status = root->facts.status;
	}
	run->oom_killed = root->oom_killed;
	if (root->facts.present & TREE_PROCESS_SENDER) {
		run->killer_pid = root->facts.sender_pid;
		memcpy(run->killer_comm, root->facts.sender_comm, sizeof(run->killer_comm));
	}
}

/*
 * Waits by reason come from the switches themselves, and so does the end: it may be later than the
 * moment at which we heard of it.  Others have the time of a look.
 */
static uint64_t command_end_ns(const struct watch *watch)
{
	const struct run *run = watch->run;
	const struct tree_process *root = run->tree->root;

	if (root && root->exited && root->end_ns > run->begin_ns &&
	    (root->ledger.present & LEDGER_BLOCKED || root->end_ns < watch->command_end_ns))
		return root->end_ns;
	return watch->command_end_ns;
}

static void settle_time(struct watch *watch)
{
	struct run *run = watch->run;

	run->end_ns = monotonic_ns();
	if (!watch->command_ended)
		return;
	if (!watch->is_outlived)
		run->end_ns = command_end_ns(watch);
	else if (command_end_ns(watch) > run->begin_ns)
		run->command_ns =
			(struct run_number){ true, command_end_ns(watch) - run->begin_ns };
}

static enum run_end end_of(const struct watch *watch)
{
	if (watch->timed_out)
		return RUN_TIMED_OUT;
	return watch->interrupted && !watch->command_ended ? RUN_DETACHED : RUN_EXITED;
}

static void settle_losses(struct watch *watch)
{
	struct run_losses *losses = &watch->run->losses;
	struct tracer_losses told = { 0 };

	watch->tracer->kind->losses(watch->tracer->state, &told);
	losses->events = told.events + watch->unapplied;
	losses->threads = told.threads + watch->run->tree->unaccounted_threads;
	losses->unnamed_syscalls = told.unnamed_syscalls;
	losses->wakers = told.wakers;
	losses->untracked_tasks = told.untracked_tasks;
	losses->strays = tree_strays(watch->run->tree);
	losses->lines = watch->lines.lost;
	losses->looks = (struct run_number){ true, watch->looks.all + watch->drains.all };
}

static uint64_t time_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_usec * 1000;
}

static void settle_self(struct watch *watch)
{
	struct tree_process_facts told = { 0 };
	struct run_self *self = &watch->run->self;
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) == 0)
		self->cpu_ns = time_ns(&usage.ru_utime) + time_ns(&usage.ru_stime);
	if (process_peak_read(watch->host, watch->self, &told) == 0 &&
	    told.present & TREE_PROCESS_PEAK_RSS)
		self->peak_rss_bytes = (struct run_number){ true, told.peak_rss_bytes };
	self->missed_ticks = watch->sampler.missed;
}

static void write_summary(struct watch *watch)
{
	struct diagnosis diagnosis = { 0 };
	FILE *out = lines_begin(&watch->lines);

	if (!out)
		return;
	lines_flush(&watch->lines);
	watch->run->losses.lines = watch->lines.lost;
	diagnose(watch->run, &diagnosis);
	lines_use_room(&watch->lines);
	run_json_summary(out, watch->run, &diagnosis, false);
	if (!lines_fit(&watch->lines)) {
		lines_withdraw(&watch->lines);
		run_json_summary(out, watch->run, &diagnosis, true);
	}
	lines_end(&watch->lines);
	lines_finish(&watch->lines, PATIENCE_MS);
	watch->run->losses.lines = watch->lines.lost;
}

int session_settle(struct watch *watch)
{
	int status;

	live_close(&watch->live);
	if (watch->command_ended)
		await_last_account(watch);
	watch_sample(watch, TRACER_FINAL);
	watch_drain(watch);
	tree_finish(watch->run->tree);
	watch_drain(watch);
	watch->run->end = end_of(watch);
	settle_end(watch);
	settle_time(watch);
	status = surroundings_end(&watch->surroundings, watch->run);
	if (status == 0)
		status = tree_settle(watch->run->tree);
	if (status == 0)
		status = phases_finish(&watch->phases);
	settle_losses(watch);
	settle_self(watch);
	if (status == 0)
		write_summary(watch);
	return status;
}
