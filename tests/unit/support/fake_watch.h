/* SPDX-License-Identifier: MIT */
/*
 * A watch without a kernel: its tracer is made up and does what the test says.
 */
#ifndef FAKE_WATCH_H
#define FAKE_WATCH_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "model/tree/run.h"
#include "session/session.h"
#include "session/watch/watch.h"

#define PID 100

/* A tracer that does what it is told, and counts how often it was asked. */
struct fake {
	int drain_status, sample_status;
	unsigned fails; /* so many samples fail, then they work; 0: all have the status above */
	unsigned drains, samples;
	bool is_empty; /* nobody lives */
	uint64_t lost;
	int fd;
	int signal_fd;	  /* if not 0, a signal arrives there while it is drained */
	bool is_late_due; /* it is drained of the sender's begin next */
};

#define LATE_PID (PID + 1)

/* A signal as the kernel would tell it. */
static inline void send_signal(int fd, int32_t sender)
{
	struct signalfd_siginfo info = { .ssi_signo = SIGTERM, .ssi_pid = (uint32_t)sender };

	assert_int_equal(write(fd, &info, sizeof(info)), sizeof(info));
}

static inline int fake_fd(void *state)
{
	return ((struct fake *)state)->fd;
}

static inline int fake_drain(void *state, tree_event_sink *sink, void *context)
{
	struct fake *fake = state;
	struct tree_event begin = { .type = TREE_FORK, .task = { LATE_PID, LATE_PID, 2 } };

	fake->drains++;
	if (fake->is_late_due)
		sink(context, &begin);
	fake->is_late_due = fake->signal_fd;
	if (fake->signal_fd)
		send_signal(fake->signal_fd, LATE_PID);
	fake->signal_fd = 0;
	return fake->drain_status;
}

static inline int fake_sample(void *state, enum tracer_depth depth, tree_event_sink *sink,
			      void *context)
{
	struct fake *fake = state;
	struct tree_event event = {
		.type = TREE_PROCESS,
		.time_ns = monotonic_ns(),
		.task = { PID, PID, 1 },
	};

	(void)depth;
	fake->samples++;
	if (fake->sample_status < 0 && (fake->fails == 0 || fake->samples <= fake->fails))
		return fake->sample_status;
	return fake->is_empty ? 0 : sink(context, &event);
}

static inline void fake_losses(void *state, struct run_losses *ret)
{
	*ret = (struct run_losses){ .events = ((struct fake *)state)->lost };
}

static const struct tracer_kind fake_kind = {
	.name = "fake",
	.fd = fake_fd,
	.drain = fake_drain,
	.sample = fake_sample,
	.losses = fake_losses,
};

struct setting {
	struct fake fake;
	struct tracer tracer;
	struct session_options options;
	struct watch watch;
};

/* Attached to one process, with samples that are due at once. */
static inline void attach(struct setting *setting)
{
	struct tree_event begin = { .type = TREE_FORK, .task = { PID, PID, 1 } };
	struct watch *watch = &setting->watch;

	setting->fake.fd = -1;
	setting->tracer = (struct tracer){ &fake_kind, &setting->fake };
	setting->options = (struct session_options){ .no_deadlocks = true,
						     .no_stacks = true,
						     .interval_ns = NS_PER_MS,
						     .duration_ns = 60 * NS_PER_SECOND,
						     .live_fd = -1 };
	assert_int_equal(watch_open(watch, &setting->options), 0);
	watch->tracer = &setting->tracer;
	assert_int_equal(run_new(&watch->run), 0);
	watch->run->mode = RUN_ATTACH;
	watch->run->pid = -1; /* nobody whose cgroup could be looked at */
	assert_int_equal(tree_apply(watch->run->tree, &begin), 0);
	assert_int_equal(watch->run->tree->live_processes, 1);
	watch->begin_ns = monotonic_ns();
	watch->events.pause_ns = NS_PER_MS;
	assert_int_equal(watch_start(watch), 0);
}

static inline void detach(struct setting *setting)
{
	setting->watch.tracer = NULL;
	watch_close(&setting->watch);
}

#endif
