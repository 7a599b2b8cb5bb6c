/* SPDX-License-Identifier: MIT */
#include "trace/life/lifecycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "trace/life/life_source.h"

#define LOOK_AGAIN_NS (200 * NS_PER_MS)

/* Best first. */
static const struct life_source *const sources[] = { &life_bpf, &life_connector, &life_polling };

static int refuse_name(const char *name, struct error *error)
{
	return error_set(error, -EINVAL,
			 "there is no source of lifecycle events that is called '%s': use bpf, "
			 "connector or polling",
			 name);
}

static int try_source(struct lifecycle *lifecycle, const struct life_source *source,
		      struct error *error)
{
	int status = source->open(lifecycle, &lifecycle->state, error);

	if (status < 0)
		return error_set(error, status, "it cannot be used: %s", strerror(-status));
	lifecycle->source = source;
	return 0;
}

static int open_named(struct lifecycle *lifecycle, const char *name, struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (strcmp(sources[i]->name, name) == 0)
			return try_source(lifecycle, sources[i], error);
	return refuse_name(name, error);
}

/* The last one always works, unless what was asked for does not exist. */
static int open_first(struct lifecycle *lifecycle, struct error *error)
{
	CLEANUP(text_free) struct text reasons = { 0 };
	int status = -ENOTSUP;

	for (size_t i = 0; i < ARRAY_SIZE(sources) && status < 0; i++) {
		struct error reason = { 0 };

		status = try_source(lifecycle, sources[i], &reason);
		if (status == -ENOENT || status == -ESRCH || status == -ENOMEM)
			return error_set(error, status, "%s", reason.message);
		if (status < 0)
			text_format(&reasons, "%s%s: %s", reasons.length ? "; " : "",
				    sources[i]->name, reason.message);
	}
	if (status < 0)
		return error_set(error, status, "%s", text_string(&reasons));
	if (!reasons.length)
		return 0;
	lifecycle->reason = strdup(text_string(&reasons));
	return lifecycle->reason ? 0 : error_set(error, -ENOMEM, "out of memory");
}

static int add_fd(const struct lifecycle *lifecycle, int fd, bool is_edge_triggered)
{
	struct epoll_event event = { .events = EPOLLIN | (is_edge_triggered ? EPOLLET : 0) };

	return fd < 0 || epoll_ctl(lifecycle->wake_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_wake_fd(struct lifecycle *lifecycle)
{
	const struct life_source *source = lifecycle->source;
	int status;

	if (!source->fd)
		return 0;
	lifecycle->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (lifecycle->wake_fd < 0)
		return -errno;
	lifecycle->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	status = add_fd(lifecycle, lifecycle->timer_fd, false);
	return status < 0 ?
		       status :
		       add_fd(lifecycle, source->fd(lifecycle->state), source->is_edge_triggered);
}

CLEANUP_POINTER(lifecycle_close, struct lifecycle)

static int copy_options(struct lifecycle *lifecycle, const struct lifecycle_options *options)
{
	lifecycle->options = *options;
	lifecycle->budget.per_second = options->per_second;
	lifecycle->table.processes_max = options->processes_max;
	if (options->cgroup)
		lifecycle->options.cgroup = lifecycle->cgroup = strdup(options->cgroup);
	return options->cgroup && !lifecycle->cgroup ? -ENOMEM : 0;
}

int lifecycle_open(const struct host *host, const struct lifecycle_options *options,
		   struct lifecycle **ret, struct error *error)
{
	CLEANUP(lifecycle_close_pointer) struct lifecycle *opened = calloc(1, sizeof(*opened));
	int status;

	if (!opened || copy_options(opened, options) < 0)
		return error_set(error, -ENOMEM, "out of memory");
	opened->host = host;
	opened->wake_fd = opened->timer_fd = -1;
	status = options->source ? open_named(opened, options->source, error) :
				   open_first(opened, error);
	if (status < 0)
		return status;
	status = open_wake_fd(opened);
	if (status < 0)
		return error_set(error, status, "cannot wait for lifecycle events: %s",
				 strerror(-status));
	*ret = TAKE_PTR(opened);
	return 0;
}

void lifecycle_close(struct lifecycle *lifecycle)
{
	if (!lifecycle)
		return;
	close_fd(&lifecycle->wake_fd);
	close_fd(&lifecycle->timer_fd);
	if (lifecycle->source)
		lifecycle->source->close(lifecycle->state);
	life_table_clear(&lifecycle->table);
	free(lifecycle->cgroup);
	free(lifecycle->reason);
	free(lifecycle);
}

bool lifecycle_kind(size_t place, struct lifecycle_kind *ret)
{
	const struct life_source *source = place < ARRAY_SIZE(sources) ? sources[place] : NULL;

	if (source)
		*ret = (struct lifecycle_kind){ source->name, source->needs, source->misses };
	return source;
}

const char *lifecycle_source(const struct lifecycle *lifecycle)
{
	return lifecycle->source->name;
}

const char *lifecycle_reason(const struct lifecycle *lifecycle)
{
	return lifecycle->reason;
}

const char *lifecycle_misses(const struct lifecycle *lifecycle)
{
	return lifecycle->source->misses;
}

int lifecycle_fd(const struct lifecycle *lifecycle)
{
	return lifecycle->wake_fd;
}

uint64_t lifecycle_cpu_ns(const struct lifecycle *lifecycle)
{
	return lifecycle->cpu_ns;
}

uint64_t life_whole_ticks(const struct lifecycle *lifecycle, uint64_t start_ns)
{
	return start_ns - start_ns % lifecycle->host->tick_ns;
}

static uint64_t begin(struct lifecycle *lifecycle, life_event_sink *sink, void *context)
{
	lifecycle->sink = sink;
	lifecycle->context = context;
	lifecycle->unix_offset_ns = clock_ns(CLOCK_REALTIME) - monotonic_ns();
	lifecycle->sent = 0;
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int report_counts(struct lifecycle *lifecycle, bool is_last)
{
	uint64_t now_ns = monotonic_ns();

	if (!is_last && !life_budget_is_due(&lifecycle->budget, now_ns))
		return 0;
	return life_budget_report(&lifecycle->budget, now_ns + lifecycle->unix_offset_ns,
				  lifecycle->sink, lifecycle->context);
}

/* Clears the wake-up before the source is read, so that what comes meanwhile wakes us again. */
static void clear_wake_up(const struct lifecycle *lifecycle)
{
	struct epoll_event events[2];
	uint64_t expirations;

	(void)epoll_wait(lifecycle->wake_fd, events, ARRAY_SIZE(events), 0);
	(void)!read(lifecycle->timer_fd, &expirations, sizeof(expirations));
}

/* The kernel does not wake us for records that follow others closely. */
static void look_again(const struct lifecycle *lifecycle, uint64_t after_ns)
{
	const struct itimerspec once = { .it_value = timespec_of_ns(after_ns) };

	(void)timerfd_settime(lifecycle->timer_fd, 0, &once, NULL);
}

static int drain(struct lifecycle *lifecycle, bool is_last)
{
	int status;

	clear_wake_up(lifecycle);
	status = lifecycle->source->drain(lifecycle->state);
	if (status == -EAGAIN)
		look_again(lifecycle, 1);
	else if (lifecycle->sent || life_budget_has_counts(&lifecycle->budget))
		look_again(lifecycle, LOOK_AGAIN_NS);
	if (status < 0 && status != -EAGAIN)
		return status;
	return report_counts(lifecycle, is_last);
}

static int drain_measured(struct lifecycle *lifecycle, life_event_sink *sink, void *context,
			  bool is_last)
{
	uint64_t cpu_ns = begin(lifecycle, sink, context);
	int status = lifecycle->source->drain ? drain(lifecycle, is_last) :
						report_counts(lifecycle, is_last);

	lifecycle->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	return status;
}

int lifecycle_drain(struct lifecycle *lifecycle, life_event_sink *sink, void *context)
{
	return drain_measured(lifecycle, sink, context, false);
}

int lifecycle_flush(struct lifecycle *lifecycle, life_event_sink *sink, void *context)
{
	return drain_measured(lifecycle, sink, context, true);
}

/* What happened before the snapshot is sent first, by what was known then. */
static int poll_snapshot(struct lifecycle *lifecycle, const struct snapshot *snapshot)
{
	const struct life_source *source = lifecycle->source;
	int status = source->drain ? drain(lifecycle, false) : 0;

	if (status == 0 && source->poll)
		status = source->poll(lifecycle->state, snapshot);
	life_names_learn(lifecycle, snapshot);
	return status < 0 ? status : report_counts(lifecycle, false);
}

int lifecycle_poll(struct lifecycle *lifecycle, const struct snapshot *snapshot,
		   life_event_sink *sink, void *context)
{
	uint64_t cpu_ns = begin(lifecycle, sink, context);
	int status = poll_snapshot(lifecycle, snapshot);

	lifecycle->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	return status;
}

bool lifecycle_is_member(const struct lifecycle *lifecycle, int32_t pid, uint64_t start_ns)
{
	const struct life_entry *entry;

	if (!lifecycle_has_scope(lifecycle))
		return true;
	entry = life_table_find(&lifecycle->table, pid, start_ns);
	return entry && entry->is_member;
}

void lifecycle_losses(const struct lifecycle *lifecycle, struct lifecycle_losses *ret)
{
	*ret = (struct lifecycle_losses){
		.counted = lifecycle->budget.counted,
		.processes = lifecycle->table.dropped_processes,
		.commands = lifecycle->table.dropped_commands,
	};
	if (lifecycle->source->losses)
		lifecycle->source->losses(lifecycle->state, ret);
}
