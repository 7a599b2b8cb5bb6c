/* SPDX-License-Identifier: MIT */
#include "session/stack/stack_watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "host/code/code.h"
#include "model/profile/profile.h"
#include "model/tree/run.h"
#include "session/phase/phases.h"
#include "session/stack/stack_missing.h"
#include "session/stack/stack_profile.h"
#include "session/stack/stack_queue.h"
#include "trace/tracer.h"

/*
 * At the end: how long stacks that still wait are unwound, and how long the thread is waited for.  On a host with 30
 * busy processes it gets a few hundredths of that as CPU time.
 */
#define UNWIND_LAST_NS (15 * NS_PER_SECOND)
#define THREAD_LAST_NS (30 * NS_PER_SECOND)

struct stack_watch {
	const struct tracer *tracer;
	struct run *run;
	struct tracer_stack_options options;
	struct stack_queue queue;
	/* The thread's until it is joined: */
	struct stack_profile *maker;
	struct profile *profile; /* NULL until the end */
	struct code_counts counts;
	pthread_t thread;
	bool is_stuck;		   /* the thread did not come back, and keeps what it uses */
	_Atomic uint64_t hurry_ns; /* from then on stacks get no frames */
	_Atomic uint64_t failed; /* items for which there was no memory, or no room in the queue */
	_Atomic uint64_t failed_ns;
	_Atomic uint64_t failed_cpu_ns; /* of those: on the CPU */
	struct text scope;
	struct phase_watch *phases; /* during a drain */
};

/* The time that is lost with an item.  A waker's weight is the time of another thread. */
static uint64_t time_of(const struct stack_item *item)
{
	return item->is_image || item->stack.kind == PROFILE_WAKER ? 0 : item->stack.weight_ns;
}

static bool is_on_cpu(const struct stack_item *item)
{
	return !item->is_image && item->stack.kind == PROFILE_ON_CPU;
}

static void count_failed(struct stack_watch *watch, uint64_t ns, bool on_cpu)
{
	atomic_fetch_add(&watch->failed, 1);
	atomic_fetch_add(&watch->failed_ns, ns);
	atomic_fetch_add(&watch->failed_cpu_ns, on_cpu ? ns : 0);
}

/* The processes that the thread started end with it, so it also asks what they used. */
static void *work(void *context)
{
	struct stack_watch *watch = context;
	struct stack_item *item;

	while ((item = stack_queue_take(&watch->queue))) {
		if (stack_profile_take(watch->maker, item, monotonic_ns() > watch->hurry_ns) < 0)
			count_failed(watch, time_of(item), is_on_cpu(item));
		free(item);
	}
	watch->profile = stack_profile_finish(watch->maker, &watch->counts);
	return NULL;
}

/* Signals are for the session's thread. */
static int start_thread(struct stack_watch *watch)
{
	sigset_t all, before;
	int status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = -pthread_create(&watch->thread, NULL, work, watch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

static void watch_free(struct stack_watch *watch)
{
	stack_queue_clear(&watch->queue);
	stack_profile_close(watch->maker);
	profile_free(watch->profile);
	text_free(&watch->scope);
	free(watch);
}

int stack_watch_open(const struct host *host, const struct tracer *tracer,
		     const struct tracer_stack_options *options, struct run *run,
		     struct stack_watch **ret)
{
	struct stack_watch *watch;
	int status;

	if (!tracer->kind->drain_stacks || !run_source_works(run_source(run, "stacks")))
		return 0;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	watch->tracer = tracer;
	watch->run = run;
	watch->options = *options;
	watch->hurry_ns = UINT64_MAX;
	stack_queue_init(&watch->queue);
	status = stack_profile_open(host, &watch->maker);
	if (status == 0)
		status = start_thread(watch);
	if (status == 0) {
		*ret = watch;
		return 0;
	}
	watch_free(watch);
	return run_set_source(run, "stacks", SOURCE_UNAVAILABLE, strerror(-status));
}

/* Waits for the thread to empty the queue; false when it does not come back. */
static bool join(struct stack_watch *watch)
{
	struct timespec until = timespec_of_ns(clock_ns(CLOCK_REALTIME) + THREAD_LAST_NS);

	if (watch->is_stuck)
		return false;
	watch->hurry_ns = monotonic_ns() + UNWIND_LAST_NS;
	stack_queue_close(&watch->queue);
	watch->is_stuck = pthread_timedjoin_np(watch->thread, NULL, &until) != 0;
	return !watch->is_stuck;
}

bool stack_watch_close(struct stack_watch *watch)
{
	if (!watch)
		return true;
	if (watch->maker && !join(watch))
		return false;
	watch_free(watch);
	return true;
}

static void put(struct stack_watch *watch, struct stack_item *item)
{
	uint64_t ns = time_of(item);
	bool on_cpu = is_on_cpu(item);

	if (!stack_queue_put(&watch->queue, item))
		count_failed(watch, ns, on_cpu);
}

/* The process that a stack is of, if it has not ended. */
static const struct tree_process *process_of(const struct stack_watch *watch,
					     const struct tracer_stack *stack)
{
	const struct tree_process *process = tree_find(watch->run->tree, stack->task.pid);

	return process && process->begin_ns <= stack->time_ns ? process : NULL;
}

static const char *process_name(const struct tree_process *process,
				const struct tracer_stack *stack)
{
	return process ? process->comm : stack->task.pid == stack->task.tid ? stack->comm : "";
}

/* Children that do not count (--exclude-children). */
static bool is_left_out(const struct run *run, int32_t pid)
{
	if (!run->children_excluded.present)
		return false;
	for (size_t i = 0; i < run->pid_count; i++)
		if (run->pids[i] == pid)
			return false;
	return run->pid != pid;
}

static int take_stack(void *context, const struct tracer_stack *stack)
{
	struct stack_watch *watch = context;
	const struct tree_process *process = process_of(watch, stack);
	struct stack_item *item;

	if (is_left_out(watch->run, stack->task.pid))
		return 0;
	text_clear(&watch->scope);
	phases_append_scopes(watch->phases, stack->task.pid, &stack->scopes, &watch->scope);
	item = stack_item_of_stack(stack, process_name(process, stack), text_string(&watch->scope));
	if (!item)
		return -ENOMEM;
	item->process_start_ns = process ? process->key.start_ns : 0;
	put(watch, item);
	return 0;
}

static int take_image(void *context, const struct tracer_image_event *event)
{
	struct stack_item *item = stack_item_of_image(event);

	if (!item)
		return -ENOMEM;
	put(context, item);
	return 0;
}

void stack_watch_drain(struct stack_watch *watch, struct phase_watch *phases)
{
	const struct tracer_stack_sink sink = { take_stack, take_image, watch };

	if (!watch)
		return;
	watch->phases = phases;
	if (watch->tracer->kind->drain_stacks(watch->tracer->state, &sink) < 0)
		atomic_fetch_add(&watch->failed, 1);
}

static void add_losses(const struct stack_watch *watch, const struct tracer_stack_losses *tracer,
		       struct profile *profile)
{
	profile->losses.dropped += tracer->dropped + watch->failed;
	profile->losses.dropped_ns += tracer->dropped_ns + watch->failed_ns;
	profile->losses.unread += tracer->unread;
	profile->losses.mappings += tracer->images;
	profile->losses.unseen += tracer->unseen;
	profile->losses.wakers += tracer->wakers;
}

void stack_watch_add_cost(const struct stack_watch *watch, struct run_self *self)
{
	if (!watch)
		return;
	self->cpu_ns += watch->counts.service_cpu_ns;
	self->peak_rss_bytes.value += watch->counts.service_peak_rss_bytes;
}

int stack_watch_finish(struct stack_watch *watch)
{
	struct tracer_stack_losses losses = { 0 };
	const char *lack;
	struct run *run;
	int status = 0;

	if (!watch)
		return 0;
	run = watch->run;
	if (!join(watch))
		return run_set_source(run, "stacks", SOURCE_UNAVAILABLE,
				      "the files of the programs could not be read in time");
	lack = stack_profile_lack(watch->maker);
	if (lack)
		status = run_set_source(run, "stacks", SOURCE_PARTIAL, lack);
	run->profile = TAKE_PTR(watch->profile);
	stack_profile_close(watch->maker);
	watch->maker = NULL;
	run->profile->frequency_hz = watch->options.frequency_hz;
	run->profile->off_cpu_min_ns = watch->options.off_cpu_min_ns;
	watch->tracer->kind->stack_losses(watch->tracer->state, &losses);
	add_losses(watch, &losses, run->profile);
	if (status < 0)
		return status;
	return stack_missing_add(run, losses.dropped_cpu_ns + watch->failed_cpu_ns);
}
