/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/heartbeat.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "lib/control.h"
#include "lib/heartbeat/beat.h"
#include "lib/heartbeat/dump_signal.h"
#include "lib/heartbeat/stacks.h"
#include "lib/heartbeat/stall_limits.h"
#include "lib/heartbeat/stalls.h"
#include "lib/heartbeat/statistics_lines.h"
#include "lib/lines/output.h"
#include "lib/lines/warnings.h"
#include "lib/scope/area.h"
#include "lib/scope/block.h"
#include "lib/scope/threads.h"
#include "lib/scope/ticks.h"
#include "lib/usage/own_usage.h"

#define MILLISECOND_NS UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)

enum {
	STACK_SIZE = 256 * 1024, /* the program's own log function runs on it, too */
	STOP_PATIENCE_MS = 500,
	LAST_PATIENCE_MS = 200, /* for the last lines */
	SHORTEST_TICK_MS = 10,
	LONGEST_TICK_MS = 1000,
	STOPPED_MS = 5000,	 /* a gap this long is reported */
	SUSPENDED_MS = 100,	 /* likewise; both clocks are not read at the same moment */
	QUIET_PERIOD_MS = 60000, /* without heartbeats, when stalls may be printed again */
};

enum run_state {
	RUN_GOES_ON,
	RUN_ENDED,     /* the thread that waits frees it */
	RUN_ABANDONED, /* nobody waits: it frees itself */
};

/* Everything that belongs to one heartbeat thread, from its start to its end. */
struct run {
	pthread_t thread;
	uint32_t state; /* enum run_state */
	bool is_stopping;
	sem_t ended;

	sigset_t program_signals; /* the signal mask of the thread that started it */
	struct control options;	  /* a copy: a later start may change the process's */
	struct warnings warnings;
	struct output output;
	struct stacks stacks;
	struct stalls stalls;
	struct beat beat;
	struct limits limits;
	struct statistics_sum sums[SCOPE_LABELS];	/* for the last lines */
	uint64_t tick_at_ns, beat_at_ns, reclaim_at_ns; /* the last, the next and the next one */
	uint64_t tick_ns;				/* how long the last one was meant to be */
	uint64_t asleep_ns; /* how long the machine was suspended since its boot */
};

static struct run *current;

/*
 * The semaphore that wakes the thread is never freed: a signal handler may use it at any time.
 * All zero bytes are a valid semaphore with the value 0.
 */
static sem_t wake;
static bool is_dump_wanted;

static uint64_t tick_length_ns(struct run *run)
{
	uint32_t limit = limits_shortest();
	uint32_t tick;

	if (run->options.stall_ms < limit)
		limit = run->options.stall_ms;
	tick = limit / 4;
	if (tick < SHORTEST_TICK_MS)
		tick = SHORTEST_TICK_MS;
	if (tick > LONGEST_TICK_MS)
		tick = LONGEST_TICK_MS;
	return stalls_tick_ns(&run->stalls, &run->stacks, tick * MILLISECOND_NS);
}

static uint64_t suspended_ns(void)
{
	uint64_t without = ticks_monotonic_ns();

	return ticks_clock_ns(CLOCK_BOOTTIME) - without;
}

/* Returns whether the semaphore was posted before the deadline. */
static bool wait_until(sem_t *semaphore, uint64_t deadline_ns)
{
	struct timespec deadline = { .tv_sec = (time_t)(deadline_ns / SECOND_NS),
				     .tv_nsec = (long)(deadline_ns % SECOND_NS) };
	int status;

	do
		status = sem_clockwait(semaphore, CLOCK_MONOTONIC, &deadline);
	while (status < 0 && errno == EINTR);
	return status == 0;
}

static void print_stopped(struct run *run, uint64_t ns)
{
	struct line line;

	line_begin(&line, LINE_STOPPED, area.header->pid);
	line_add_as(&line, "for", " for=*: the whole process was stopped, suspended or got no CPU",
		    NULL, line_amount(LINE_DURATION, amount_of(ns)));
	output_line(&run->output, &line);
}

/* Prints a line when the thread woke up much too late. */
static void report_gap(struct run *run, uint64_t late_ns)
{
	uint64_t asleep = suspended_ns(), suspended = 0;

	if (asleep > run->asleep_ns + SUSPENDED_MS * MILLISECOND_NS)
		suspended = asleep - run->asleep_ns;
	run->asleep_ns = asleep;
	if (late_ns >= STOPPED_MS * MILLISECOND_NS || suspended)
		print_stopped(run, late_ns + suspended);
}

static void tick(struct run *run)
{
	uint64_t now;

	stacks_copy(&run->stacks);
	now = run->stacks.ns;
	STORE(area.header->latest_ticks, run->stacks.ticks);
	STORE(area.header->latest_ns, now);
	limits_renew(&run->limits, &run->stacks);
	stalls_check(&run->stalls, &run->stacks, now - run->tick_at_ns, run->tick_ns, &run->output);
	run->tick_at_ns = now;
	if (now >= run->reclaim_at_ns) {
		threads_reclaim();
		run->reclaim_at_ns = now + SECOND_NS;
	}
}

static uint64_t beat_period_ns(const struct run *run)
{
	uint32_t period_ms = run->options.heartbeat_ms;

	return (period_ms ? period_ms : QUIET_PERIOD_MS) * MILLISECOND_NS;
}

/* Without heartbeats, prints only how many lines about stalls were left out. */
static void beat(struct run *run, bool is_due, bool is_wanted)
{
	if (is_wanted || run->options.heartbeat_ms)
		beat_print(&run->beat, &run->stacks, false, &run->output);
	if (!is_due)
		return;
	stalls_allow_lines(&run->stalls, &run->output);
	beat_mark(&run->beat, &run->stacks);
	run->beat_at_ns += beat_period_ns(run);
	if (run->beat_at_ns <= run->stacks.ns)
		run->beat_at_ns = run->stacks.ns + beat_period_ns(run);
}

static void step(struct run *run)
{
	uint64_t from = ticks_monotonic_ns(), until, now;
	bool is_due, is_wanted;

	run->tick_ns = tick_length_ns(run);
	until = run->tick_at_ns + run->tick_ns;
	if (until > run->beat_at_ns)
		until = run->beat_at_ns;
	wait_until(&wake, until);
	now = ticks_monotonic_ns();
	if (from < until)
		from = until;
	run->output.patience_ms = OUTPUT_PATIENCE_MS;
	report_gap(run, now > from ? now - from : 0);
	is_wanted = __atomic_exchange_n(&is_dump_wanted, false, __ATOMIC_ACQ_REL);
	tick(run);
	is_due = run->stacks.ns >= run->beat_at_ns;
	if (is_due || is_wanted)
		beat(run, is_due, is_wanted);
	output_flush(&run->output);
}

static void finish(struct run *run)
{
	run->output.patience_ms = LAST_PATIENCE_MS;
	tick(run);
	stalls_allow_lines(&run->stalls, &run->output);
	if (run->options.prints_statistics)
		statistics_print(run->sums, run->stacks.ns_per_tick, &run->output);
	if (run->options.heartbeat_ms)
		beat_print(&run->beat, &run->stacks, true, &run->output);
	output_flush(&run->output);
}

static void run_free(struct run *run)
{
	output_close(&run->output);
	munmap(run, sizeof(*run));
}

static void *run_main(void *context)
{
	struct run *run = context;
	uint64_t now = ticks_monotonic_ns();
	bool is_last = false;

	pthread_setname_np(pthread_self(), SCOPE_HEARTBEAT_NAME);
	run->tick_at_ns = now;
	run->beat_at_ns = now + beat_period_ns(run);
	run->asleep_ns = suspended_ns();
	beat_begin(&run->beat, now);
	warnings_print(&run->warnings, &run->output);
	output_flush(&run->output);
	while (!LOAD(run->is_stopping) && !is_last) {
		step(run);
		is_last = thread_is_last();
	}
	finish(run);
	/* The C library ends the process here, and runs the program's exit handlers. */
	if (is_last)
		pthread_sigmask(SIG_SETMASK, &run->program_signals, NULL);
	if (__atomic_exchange_n(&run->state, RUN_ENDED, __ATOMIC_ACQ_REL) == RUN_ABANDONED)
		run_free(run);
	else
		sem_post(&run->ended);
	return NULL;
}

/* It has tables for the most threads there can be; pages of it that are not used take no RAM. */
static struct run *run_new(const struct control *options)
{
	struct run *run = mmap(NULL, sizeof(*run), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (run == MAP_FAILED)
		return NULL;
	run->options = *options;
	run->stacks.shortest_limit_ms = SCOPE_NO_LIMIT;
	run->stalls.stall_ms = options->stall_ms;
	run->stalls.has_statistics = options->has_statistics;
	run->beat.phase_lines = options->phase_lines;
	sem_init(&run->ended, 0, 0);
	return run;
}

/* With a small stack, unless the program's thread variables need a larger one. */
static int create_thread(struct run *run)
{
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	error = pthread_create(&run->thread, &attributes, run_main, run);
	pthread_attr_destroy(&attributes);
	return error == EINVAL ? pthread_create(&run->thread, NULL, run_main, run) : error;
}

/* Blocks all signals in the new thread: they are meant for the program's own threads. */
static int create_without_signals(struct run *run)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	run->program_signals = before;
	error = create_thread(run);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

/* The new thread takes over the warnings; they stay with the caller when it cannot be started. */
static int run_start(struct run *run, struct warnings *warnings)
{
	int error;

	run->warnings = *warnings;
	warnings_open_output(&run->warnings, &run->output, &run->options, &area.header->lost_lines);
	error = create_without_signals(run);
	if (!error)
		warnings->count = 0;
	return error;
}

int heartbeat_start(const struct control *options, struct warnings *warnings)
{
	struct run *run = run_new(options);
	int error;

	if (!run)
		return -ENOMEM;
	STORE(is_dump_wanted, false); /* of a run before this one, or of the parent's */
	error = run_start(run, warnings);
	if (error) {
		run_free(run);
		return error;
	}
	STORE(current, run);
	dump_signal_choose(options->dumps_on_signal);
	return 0;
}

static bool is_own_thread(const struct run *run)
{
	return pthread_equal(run->thread, pthread_self());
}

/*
 * Returns whether the thread ended in time.  The heartbeat thread itself may end the program, even
 * in the log function: it does not wait for itself.
 */
static bool wait_for_end(struct run *run)
{
	uint64_t until = ticks_monotonic_ns() + STOP_PATIENCE_MS * MILLISECOND_NS;

	if (!is_own_thread(run) && wait_until(&run->ended, until))
		return true;
	return __atomic_exchange_n(&run->state, RUN_ABANDONED, __ATOMIC_ACQ_REL) == RUN_ENDED;
}

void heartbeat_stop(void)
{
	struct run *run = current;

	if (!run)
		return;
	STORE(current, NULL);
	STORE(run->is_stopping, true);
	sem_post(&wake);
	if (wait_for_end(run)) {
		if (!is_own_thread(run))
			pthread_join(run->thread, NULL);
		run_free(run);
		return;
	}
	pthread_detach(run->thread);
}

void heartbeat_wake(void)
{
	if (LOAD(current) && !__atomic_exchange_n(&is_dump_wanted, true, __ATOMIC_ACQ_REL))
		sem_post(&wake);
}

void heartbeat_forget(void)
{
	struct run *run = current;

	STORE(current, NULL);
	sem_init(&wake, 0, 0);
	if (run)
		run_free(run);
}

void heartbeat_notice_limit(uint32_t milliseconds)
{
	if (limits_notice(milliseconds))
		sem_post(&wake);
}
