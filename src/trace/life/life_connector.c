/* SPDX-License-Identifier: MIT */
/*
 * Lifecycle events from the kernel's process connector, with the exit records of taskstats.
 *
 * Both tell about threads.  A process ends with the last of them, so threads are counted; where
 * their number is not known, /proc says whether any is left.  The record of an exit arrives before
 * the exit event.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "host/deadline_run.h"
#include "host/host.h"
#include "trace/connector/connector_socket.h"
#include "trace/connector/exit_listener.h"
#include "trace/life/life_source.h"
#include "trace/proc/proc_sample.h"
#include "trace/tracer.h"

#define BATCHES_MAX 64	/* in one drain, so that it ends even in a storm of forks */
#define NO_TASK_LINKS 2 /* links of a directory without subdirectories */

struct life_connector {
	struct lifecycle *lifecycle;
	struct connector_socket *socket;
	struct exit_listener *listener;
	struct deadline_threads reader;
	uint64_t reported; /* events that the kernel dropped and that were reported */
	uint64_t records_missing;
	struct connector_event events[CONNECTOR_BATCH];
	char arguments[TREE_ARGUMENTS_MAX + 2];
};

static struct life_entry *find(const struct life_connector *connector, int32_t pid)
{
	return life_table_find(&connector->lifecycle->table, pid, 0);
}

static bool is_followed(const struct life_connector *connector, const struct life_entry *entry)
{
	return !lifecycle_has_scope(connector->lifecycle) || (entry && entry->is_member);
}

/* The start of an unknown process comes from /proc while it lives. */
static void begin_report(const struct life_connector *connector, enum life_kind kind, int32_t pid,
			 uint64_t time_ns, struct life_report *ret)
{
	const struct life_entry *entry = find(connector, pid);
	struct proc_sample sample;

	*ret = (struct life_report){
		.event.kind = kind,
		.event.task = { pid, pid, entry ? entry->key.start_ns : 0 },
		.time_ns = time_ns,
	};
	if (entry || proc_sample_process(connector->lifecycle->host, pid, &sample) < 0)
		return;
	ret->event.task.start_ns = sample.start_ns;
	ret->event.parent_pid = sample.parent_pid;
	memcpy(ret->event.comm, sample.comm, sizeof(ret->event.comm));
}

static int take_new_process(struct life_connector *connector, const struct proc_event *event)
{
	const struct fork_proc_event *forked = &event->event_data.fork;
	struct lifecycle *lifecycle = connector->lifecycle;
	uint64_t about_ns = event->timestamp_ns + suspended_ns();
	struct life_report report = {
		.event.kind = LIFE_SPAWN,
		.event.task = { forked->child_tgid, forked->child_tgid,
				life_whole_ticks(lifecycle, about_ns) },
		.event.parent_pid = forked->parent_tgid,
		.time_ns = event->timestamp_ns,
	};
	struct life_entry *entry;
	struct proc_sample sample;
	int status;

	if (!is_followed(connector, find(connector, forked->parent_tgid)))
		return 0;
	if (proc_sample_process(lifecycle->host, forked->child_tgid, &sample) == 0 &&
	    proc_sample_is_start(lifecycle->host, sample.start_ns, about_ns))
		report.event.task.start_ns = sample.start_ns;
	status = life_report_send(lifecycle, &report);
	entry = find(connector, forked->child_tgid);
	if (entry)
		entry->threads = 1;
	return status;
}

static int take_fork(struct life_connector *connector, const struct proc_event *event)
{
	const struct fork_proc_event *forked = &event->event_data.fork;
	struct life_entry *entry;

	if (forked->child_pid == forked->child_tgid)
		return take_new_process(connector, event);
	entry = find(connector, forked->child_tgid);
	if (entry && entry->threads)
		entry->threads++;
	return 0;
}

static int take_exec(struct life_connector *connector, const struct proc_event *event)
{
	int32_t pid = event->event_data.exec.process_tgid;
	const char *comm = exit_listener_comm(connector->listener, pid);
	struct life_report report;
	struct proc_sample sample;
	struct tree_exec exec;

	if (!is_followed(connector, find(connector, pid)))
		return 0;
	begin_report(connector, LIFE_EXEC, pid, event->timestamp_ns, &report);
	if (proc_sample_process(connector->lifecycle->host, pid, &sample) == 0)
		memcpy(report.event.comm, sample.comm, sizeof(report.event.comm));
	else if (comm)
		snprintf(report.event.comm, sizeof(report.event.comm), "%s", comm);
	if (proc_sample_arguments(connector->lifecycle->host, &connector->reader, pid,
				  report.event.task.start_ns, connector->arguments, &exec) == 0 &&
	    exec.length) {
		report.arguments = exec.arguments;
		report.length = exec.length;
		report.cut = exec.cut;
	}
	return life_report_send(connector->lifecycle, &report);
}

static int take_comm(struct life_connector *connector, const struct proc_event *event)
{
	const struct comm_proc_event *named = &event->event_data.comm;
	struct life_report report;

	if (named->process_pid != named->process_tgid ||
	    !is_followed(connector, find(connector, named->process_tgid)))
		return 0;
	begin_report(connector, LIFE_RENAME, named->process_tgid, event->timestamp_ns, &report);
	memcpy(report.event.comm, named->comm, sizeof(report.event.comm));
	return life_report_send(connector->lifecycle, &report);
}

/* Whether no thread of the process is left. */
static bool is_over(const struct life_connector *connector, int32_t pid)
{
	const struct host *host = connector->lifecycle->host;
	CLEANUP(close_fd) int process = process_directory(host, pid, 0);
	struct proc_sample sample;
	struct stat tasks;

	if (process < 0 || proc_sample_process(host, pid, &sample) < 0)
		return true;
	return sample.is_dead &&
	       (fstatat(process, "task", &tasks, 0) < 0 || tasks.st_nlink <= NO_TASK_LINKS + 1);
}

/* Adds what a thread of a process used that lives on. */
static int add_ended(struct life_entry *entry, const struct exit_record *record)
{
	if (!entry->ended)
		entry->ended = calloc(1, sizeof(*entry->ended));
	if (!entry->ended)
		return -ENOMEM;
	amounts_add(entry->ended, &record->counters);
	return 0;
}

static void fill_exit(const struct life_entry *entry, const struct exit_record *record,
		      struct life_event *event)
{
	const struct amounts nothing = { 0 };
	struct amounts used = record->counters;

	if (entry && entry->ended)
		amounts_add(&used, entry->ended);
	counters_raise(&event->amounts, &nothing, &used);
	if (record->has_peak) {
		event->present |= LIFE_HAS_PEAK;
		event->peak_rss_bytes = record->peak_rss_bytes;
	}
	if (!event->comm[0] && (!entry || !entry->comm[0]))
		memcpy(event->comm, record->comm, sizeof(event->comm));
}

static int take_exit(struct life_connector *connector, const struct proc_event *event)
{
	const struct exit_proc_event *exited = &event->event_data.exit;
	struct life_entry *entry = find(connector, exited->process_tgid);
	struct exit_record record;
	bool has_record = exit_listener_take(connector->listener, exited->process_pid, &record);
	struct life_report report;
	bool is_last;

	if (!is_followed(connector, entry))
		return 0;
	connector->records_missing += !has_record;
	is_last = entry && entry->threads ? entry->threads == 1 :
					    is_over(connector, exited->process_tgid);
	if (!is_last) {
		if (entry && entry->threads)
			entry->threads--;
		return entry && has_record ? add_ended(entry, &record) : 0;
	}
	begin_report(connector, LIFE_EXIT, exited->process_tgid, event->timestamp_ns, &report);
	report.event.present |= LIFE_HAS_STATUS;
	report.event.status = (int)(exited->exit_code & 0xffff);
	if (exited->parent_tgid)
		report.event.parent_pid = exited->parent_tgid;
	if (has_record)
		fill_exit(entry, &record, &report.event);
	return life_report_send(connector->lifecycle, &report);
}

static int take(struct life_connector *connector, const struct proc_event *event)
{
	switch ((uint32_t)event->what) {
	case PROC_EVENT_FORK:
		return take_fork(connector, event);
	case PROC_EVENT_EXEC:
		return take_exec(connector, event);
	case PROC_EVENT_COMM:
		return take_comm(connector, event);
	case PROC_EVENT_EXIT:
		return take_exit(connector, event);
	default:
		return 0;
	}
}

static void forget_threads(struct life_table *table, struct life_entry *entry, void *context)
{
	(void)table;
	(void)context;
	entry->threads = 0;
}

static int report_losses(struct life_connector *connector)
{
	uint64_t lost = connector_socket_lost(connector->socket);
	uint64_t news = lost - connector->reported;
	char details[128];

	if (!news)
		return 0;
	connector->reported = lost;
	exit_listener_forget(connector->listener);
	life_table_visit(&connector->lifecycle->table, forget_threads, NULL);
	snprintf(details, sizeof(details),
		 "%" PRIu64 " events of processes and threads: the kernel's queue was full", news);
	return life_report_lost(connector->lifecycle, news, details);
}

/* Returns how many events were taken, or a negative errno. */
static int take_batch(struct life_connector *connector)
{
	int count = connector_socket_receive(connector->socket, connector->events);
	int status;

	if (count <= 0)
		return count;
	status = exit_listener_read(connector->listener);
	for (int i = 0; i < count && status == 0; i++)
		status = take(connector, &connector->events[i].kernel);
	return status < 0 ? status : count;
}

static int drain(void *context)
{
	struct life_connector *connector = context;
	int count = 1, status;

	for (int batch = 0; batch < BATCHES_MAX && count != 0; batch++) {
		count = take_batch(connector);
		if (count < 0 && count != -ENOBUFS)
			return count;
	}
	status = report_losses(connector);
	return status < 0 || count == 0 ? status : -EAGAIN;
}

static int poll_members(void *context, const struct snapshot *snapshot)
{
	struct life_connector *connector = context;

	return lifecycle_has_scope(connector->lifecycle) ?
		       life_names_mark(connector->lifecycle, snapshot) :
		       0;
}

static int socket_fd(void *context)
{
	const struct life_connector *connector = context;

	return connector_socket_fd(connector->socket);
}

static void losses(void *context, struct lifecycle_losses *ret)
{
	const struct life_connector *connector = context;

	ret->ring[LIFE_LOST] = connector_socket_lost(connector->socket);
	ret->records = connector->records_missing;
}

static void close_state(void *context)
{
	struct life_connector *connector = context;

	if (!connector)
		return;
	connector_socket_close(connector->socket);
	exit_listener_close(connector->listener);
	deadline_threads_clear(&connector->reader);
	free(connector);
}

CLEANUP_POINTER(close_state, struct life_connector)

static int open_state(struct lifecycle *lifecycle, void **ret, struct error *error)
{
	CLEANUP(close_state_pointer) struct life_connector *connector = NULL;
	int status;

	connector = calloc(1, sizeof(*connector));
	if (!connector)
		return error_set(error, -ENOMEM, "out of memory");
	connector->lifecycle = lifecycle;
	status = connector_socket_open(&connector->socket, error);
	if (status == 0)
		status = exit_listener_open(lifecycle->host, &connector->listener, error);
	if (status == 0)
		status = life_find_scope(lifecycle, error);
	if (status < 0)
		return status;
	*ret = TAKE_PTR(connector);
	return 0;
}

const struct life_source life_connector = {
	.name = "connector",
	.needs = "CAP_NET_ADMIN in the host's namespaces, CONFIG_PROC_EVENTS and CONFIG_TASKSTATS",
	.misses =
		"signals and who sent them, command lines of processes that end at once, users, and "
		"the CPU time of the last moments of each thread",
	.open = open_state,
	.fd = socket_fd,
	.drain = drain,
	.poll = poll_members,
	.losses = losses,
	.close = close_state,
};
