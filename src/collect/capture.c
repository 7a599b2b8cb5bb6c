/* SPDX-License-Identifier: MIT */
#include "collect/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "collect/cgroup_files.h"
#include "collect/collector.h"
#include "collect/host_context.h"
#include "collect/jemalloc.h"
#include "collect/pressure.h"
#include "collect/proc_file.h"
#include "collect/proc_parse.h"
#include "collect/proc_reader.h"
#include "collect/sched_ext.h"
#include "collect/smaps.h"
#include "collect/source.h"
#include "collect/task_scopes.h"

bool capture_wants_process(const struct capture *capture, int32_t tgid)
{
	const struct capture_options *options = capture->options;

	for (size_t i = 0; i < options->pid_count; i++)
		if (options->pids[i] == tgid)
			return true;
	return options->pid_count == 0;
}

bool capture_wants_cgroup(const struct capture *capture, const char *path)
{
	const char *wanted = capture->options->cgroup;
	size_t length;

	if (!wanted)
		return true;
	length = strlen(wanted);
	while (length && wanted[length - 1] == '/')
		length--;
	/* What is not known is nowhere; outside of our cgroup namespace is not below its root. */
	if (path[0] != '/')
		return false;
	if (strncmp(path, "/..", 3) == 0 && (path[3] == '/' || path[3] == '\0'))
		return false;
	return strncmp(path, wanted, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/*
 * The iterator numbers tasks as our PID namespace does.  A proc mount of another
 * one has other tasks under the same numbers: nothing of it may be mixed in.
 */
static bool find_foreign_proc(const struct capture *capture)
{
	return capture->host->live && capture->options->lister != LIST_PROCFS &&
	       !proc_numbers_are_ours(capture->host);
}

/* The thread group that a task belongs to, by its status file; 0 when it cannot be read. */
static int32_t group_of(const struct host *host, int32_t pid)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	const char *value = NULL;
	char path[32];
	size_t length;
	uint64_t tgid;

	snprintf(path, sizeof(path), "%" PRId32 "/status", pid);
	if (proc_read(host->proc, path, &buffer) > 0)
		value = proc_find_value(buffer.data, "Tgid", &length);
	return value && scan_u64(&value, &tgid) ? (int32_t)tgid : 0;
}

static int check_options(const struct capture *capture, struct error *error)
{
	const struct capture_options *options = capture->options;

	if (options->lister == LIST_BPF && !source_wanted(capture, SOURCE_TASK_ITERATOR))
		return error_set(error, -EINVAL,
				 "--source bpf lists tasks with the source that "
				 "--without task_iterator switches off: leave one out");
	if (options->smaps && !source_wanted(capture, SOURCE_SMAPS))
		return error_set(error, -EINVAL,
				 "--smaps reads the source that --without smaps switches off: "
				 "leave one out");
	if (options->cgroup && !source_wanted(capture, SOURCE_CGROUP))
		return error_set(error, -EINVAL,
				 "--cgroup needs the source that --without cgroup switches off: "
				 "leave one out");
	return 0;
}

static int check_pids(const struct capture *capture, struct error *error)
{
	const struct capture_options *options = capture->options;

	if (capture->proc_is_foreign)
		return 0; /* the iterator will tell */
	for (size_t i = 0; i < options->pid_count; i++) {
		int32_t pid = options->pids[i];
		char path[32];
		struct stat directory;
		int32_t tgid;

		snprintf(path, sizeof(path), "%" PRId32, pid);
		if (fstatat(capture->host->proc, path, &directory, 0) < 0)
			return error_set(error, -ESRCH, "there is no process %" PRId32, pid);
		tgid = group_of(capture->host, pid);
		if (tgid && tgid != pid)
			return error_set(error, -ESRCH,
					 "%" PRId32 " is a thread of process %" PRId32
					 ": name the process",
					 pid, tgid);
	}
	return 0;
}

/* Whether a path is written as the cgroup files of proc write it, but for slashes at its end. */
static bool is_plain_path(const char *path)
{
	while (*path == '/') {
		size_t length = strcspn(path + 1, "/");

		if (length == 0)
			return path[1 + strspn(path + 1, "/")] == '\0';
		if (strncmp(path + 1, "..", length) == 0 && length <= 2)
			return false;
		path += 1 + length;
	}
	return *path == '\0';
}

static int check_cgroup(const struct capture *capture, struct error *error)
{
	const struct cgroup_hierarchy *hierarchy = &capture->host->cgroup;
	const char *path = capture->options->cgroup;
	struct stat directory;

	if (!path)
		return 0;
	if (hierarchy->fd < 0)
		return error_set(error, -ENOENT, "this host has no cgroup hierarchy to filter by");
	if (capture->proc_is_foreign)
		return error_set(error, -ENOTSUP,
				 "--cgroup needs a proc mount that shows our PID namespace");
	if (path[0] != '/' || !is_plain_path(path))
		return error_set(error, -EINVAL,
				 "cgroup '%s' must start with '/' and be spelled as in the cgroup "
				 "files of proc",
				 path);
	path += strspn(path, "/");
	if (*path && fstatat(hierarchy->fd, path, &directory, 0) < 0)
		return error_set(error, -errno, "there is no cgroup '%s' in hierarchy %s: %s",
				 capture->options->cgroup, hierarchy->name, strerror(errno));
	return 0;
}

static void set_filter_fact(struct capture *capture)
{
	const struct capture_options *options = capture->options;
	CLEANUP(text_free) struct text filter = { 0 };

	for (size_t i = 0; i < options->pid_count; i++)
		text_format(&filter, "%s%" PRId32, i ? "," : "pid ", options->pids[i]);
	if (options->cgroup)
		text_format(&filter, "%scgroup %s", filter.length ? ", " : "", options->cgroup);
	if (filter.length)
		snapshot_set_fact_text(capture->snapshot, FACT_filter, text_string(&filter));
}

/* What is read once for the whole host, right after the clock. */
static int read_host(struct capture *capture)
{
	int status;

	host_facts_identify(capture);
	set_filter_fact(capture);
	status = pressure_collect(capture);
	if (status == 0)
		status = sched_ext_collect(capture);
	if (status == 0)
		status = host_context_collect(capture);
	return status;
}

static int list_by(const struct collector *collector, struct capture *capture, struct error *error)
{
	snapshot_set_fact_text(capture->snapshot, FACT_task_source, collector->name);
	return collector->collect(capture, error);
}

static int list_by_procfs(struct capture *capture, struct error *error)
{
	int status = list_by(&procfs_collector, capture, error);

	return status < 0 ? status : procfs_name_leaders(capture);
}

static void leave_proc_out(struct capture *capture)
{
	static const enum source_id left_out[] = { SOURCE_CGROUP,  SOURCE_STATM,    SOURCE_FDS,
						   SOURCE_CMDLINE, SOURCE_USERS,    SOURCE_EXE,
						   SOURCE_SMAPS,   SOURCE_JEMALLOC, SOURCE_SCOPES };

	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		capture->tallies[left_out[i]].reason = PROC_IS_FOREIGN;
}

static int list_by_iterator(struct capture *capture, struct error *error)
{
	int status = list_by(&task_iterator_collector, capture, error);

	if (status < 0)
		return status;
	if (capture->proc_is_foreign) {
		leave_proc_out(capture);
		return 0;
	}
	status = procfs_name_leaders(capture);
	return status < 0 ? status : procfs_fill_gaps(capture);
}

/* What the iterator left behind when it failed in the middle is thrown away. */
static int start_over(struct capture *capture)
{
	struct snapshot *fresh;
	int status = snapshot_new(&fresh);

	if (status < 0)
		return status;
	snapshot_free(capture->snapshot);
	capture->snapshot = fresh;
	memset(capture->tallies, 0, sizeof(capture->tallies));
	capture->threads_seen.count = capture->processes_seen.count = 0;
	capture->proc_is_foreign = false;
	return read_host(capture);
}

static int list_by_best(struct capture *capture, struct error *error)
{
	struct error why = { 0 };
	int status = list_by_iterator(capture, &why);

	if (status >= 0 || status == -ENOMEM)
		return status;
	status = start_over(capture);
	if (status < 0)
		return status;
	capture->tallies[SOURCE_TASK_ITERATOR].reason =
		arena_copy(&capture->snapshot->arena, why.message, strlen(why.message));
	return list_by_procfs(capture, error);
}

static int list_tasks(struct capture *capture, struct error *error)
{
	enum task_lister lister = capture->options->lister;

	if (lister == LIST_BPF && !capture->host->live)
		return error_set(error, -EINVAL,
				 "BPF cannot read a recorded root: "
				 "leave out --source bpf");
	if (lister == LIST_BPF)
		return list_by_iterator(capture, error);
	if (lister == LIST_PROCFS || !capture->host->live ||
	    !source_wanted(capture, SOURCE_TASK_ITERATOR))
		return list_by_procfs(capture, error);
	return list_by_best(capture, error);
}

static int count_each_task(struct snapshot *snapshot)
{
	int status = snapshot_need_column(snapshot, METRIC_thread_count);

	for (uint32_t row = 0; status == 0 && row < snapshot->task_count; row++)
		snapshot_set(snapshot, METRIC_thread_count, row, 1);
	return status;
}

static void set_duration(struct capture *capture)
{
	struct host_clock now;

	if (capture->host->live && host_clock(capture->host, &now))
		snapshot_set_fact_number(capture->snapshot, FACT_duration_ns,
					 now.monotonic_ns - capture->clock.monotonic_ns);
}

/* A cgroup may be empty; a host or a process never is. */
static int check_tasks(const struct capture *capture, struct error *error)
{
	int why = capture->tallies[SOURCE_STAT].error;

	if (capture->snapshot->task_count || capture->options->cgroup)
		return 0;
	return error_set(error, -ESRCH, "no task could be read: %s",
			 why			     ? strerror(why) :
			 capture->options->pid_count ? "the processes have ended" :
						       "there is none");
}

static int fill(struct capture *capture, struct error *error)
{
	struct snapshot *snapshot;
	int status;

	status = read_host(capture);
	if (status == 0)
		status = list_tasks(capture, error);
	if (status < 0)
		return status;
	snapshot = capture->snapshot;
	collector_sort_processes_seen(capture);
	status = check_tasks(capture, error);
	if (status == 0)
		status = taskstats_collect(capture);
	if (status == 0)
		status = count_each_task(snapshot);
	if (status == 0)
		status = snapshot_finish(snapshot);
	if (status == 0 && capture->tallies[SOURCE_TASK_ITERATOR].read)
		status = proc_reader_add(capture);
	if (status == 0 && !capture->proc_is_foreign)
		status = process_files_collect(capture);
	if (status == 0 && !capture->proc_is_foreign)
		status = task_scopes_collect(capture);
	if (status == 0 && !capture->proc_is_foreign)
		status = jemalloc_collect(capture);
	if (status == 0 && !capture->proc_is_foreign)
		status = smaps_collect(capture);
	if (status == 0)
		status = cgroup_files_collect(capture);
	if (status == 0)
		status = source_reports(capture);
	if (status == 0)
		status = source_absent_reasons(capture);
	if (status == 0)
		status = snapshot_finish_sheets(snapshot);
	set_duration(capture);
	return status;
}

static void capture_clear(struct capture *capture)
{
	array_free(&capture->threads_seen);
	array_free(&capture->processes_seen);
	free(capture->images);
}

int capture_take(const struct host *host, const struct capture_options *options,
		 struct snapshot **ret, struct error *error)
{
	CLEANUP(capture_clear)
	struct capture capture = {
		.host = host,
		.options = options,
		.scale = { .tick_ns = host->tick_ns, .page_bytes = host->page_bytes },
	};
	int status = snapshot_new(&capture.snapshot);

	if (status < 0)
		return error_set(error, status, "out of memory");
	capture.has_clock = host_clock(host, &capture.clock);
	capture.proc_is_foreign = find_foreign_proc(&capture);
	gates_read(host, capture.gates);
	status = check_options(&capture, error);
	if (status == 0)
		status = check_pids(&capture, error);
	if (status == 0)
		status = check_cgroup(&capture, error);
	if (status == 0)
		status = fill(&capture, error);
	if (status < 0) {
		snapshot_free(capture.snapshot);
		return error_set(error, status, "the capture failed: %s", strerror(-status));
	}
	*ret = capture.snapshot;
	return 0;
}
