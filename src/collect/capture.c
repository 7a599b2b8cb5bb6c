/* SPDX-License-Identifier: MIT */
#include "collect/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collect/cgroup/cgroup_files.h"
#include "collect/collector.h"
#include "collect/gpu/gpu_source.h"
#include "collect/host/host_context.h"
#include "collect/host/pressure.h"
#include "collect/host/sched_ext.h"
#include "collect/jemalloc/jemalloc.h"
#include "collect/proc/proc_reader.h"
#include "host/proc/proc_file.h"
#include "collect/process/smaps.h"
#include "collect/scope/task_scopes.h"
#include "collect/source.h"
#include "collect/task/task_iterator.h"

#define SPARE_ROWS 64 /* for tasks that are started while others are listed */

int identify_host(struct capture *capture)
{
	host_facts_identify(capture);
	capture_note_filter(capture);
	return 0;
}

static int list_by_procfs(struct capture *capture)
{
	const struct sampling *sampling = capture->sampling;
	int status;

	snapshot_set_fact_text(capture->snapshot, FACT_task_source, "procfs");
	if (sampling->no_iterator.message[0])
		capture->tallies[SOURCE_TASK_ITERATOR].reason = sampling->no_iterator.message;
	status = procfs_list(capture);
	return status < 0 ? status : procfs_name_leaders(capture);
}

static void leave_proc_out(struct capture *capture)
{
	static const enum source_id left_out[] = { SOURCE_CGROUP,  SOURCE_STATM,    SOURCE_FDS,
						   SOURCE_CMDLINE, SOURCE_USERS,    SOURCE_EXE,
						   SOURCE_SMAPS,   SOURCE_JEMALLOC, SOURCE_SCOPES };

	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		capture->tallies[left_out[i]].reason = PROC_IS_FOREIGN;
}

static int list_by_iterator(struct capture *capture)
{
	struct sampling *sampling = capture->sampling;
	int status;

	snapshot_set_fact_text(capture->snapshot, FACT_task_source, "bpf");
	if (!capture->options->pid_count && !capture->options->cgroup)
		capture->tasks_before = procfs_count_tasks(capture->host);
	if (snapshot_reserve(capture->snapshot, capture->tasks_before + SPARE_ROWS) < 0)
		return -ENOMEM;
	status = task_iterator_list(sampling->iterator, capture, &sampling->no_iterator);
	if (status < 0)
		return status;
	if (capture->proc_is_foreign) {
		leave_proc_out(capture);
		return 0;
	}
	status = procfs_name_leaders(capture);
	return status < 0 ? status : procfs_fill_gaps(capture);
}

/* A cgroup may be empty; a host or a process never is. */
static int check_tasks(struct capture *capture)
{
	int why = capture->tallies[SOURCE_STAT].error;
	const char *asked = capture->snapshot->facts[FACT_filter].text;

	if (capture->snapshot->task_count || capture->options->cgroup)
		return 0;
	if (!why && asked)
		return error_set(capture->error, -ESRCH, "nothing is left to read: %s has ended",
				 asked);
	return error_set(capture->error, -ESRCH, "no task could be read: %s",
			 why ? strerror(why) : "there is none");
}

int list_tasks(struct capture *capture)
{
	int status =
		capture->sampling->iterator ? list_by_iterator(capture) : list_by_procfs(capture);

	return status < 0 ? status : check_tasks(capture);
}

/* Sorts the rows: all later steps depend on their order. */
int order_tasks(struct capture *capture)
{
	struct snapshot *snapshot = capture->snapshot;
	int status = snapshot_need_column(snapshot, METRIC_thread_count);

	for (uint32_t row = 0; status == 0 && row < snapshot->task_count; row++)
		snapshot_set(snapshot, METRIC_thread_count, row, 1);
	walked_processes_sort(capture);
	return status < 0 ? status : snapshot_finish(snapshot);
}

/* Opens the heap source only if its counters are wanted; a recording cannot have them. */
int read_heaps(struct capture *capture)
{
	struct jemalloc_source **source = &capture->sampling->jemalloc;
	int status = 0;

	if (!source_wanted(capture, SOURCE_JEMALLOC))
		return 0;
	if (!capture->host->live) {
		capture->tallies[SOURCE_JEMALLOC].reason = "a recorded tree has no memory to read";
		return 0;
	}
	if (!*source)
		status = jemalloc_open(source);
	return status < 0 ? status : jemalloc_sample(*source, capture);
}

int finish_sheets(struct capture *capture)
{
	return snapshot_finish_sheets(capture->snapshot);
}

/* The steps of a sample, in their order. */
static const struct {
	int (*collect)(struct capture *capture); /* 0 or a negative errno, which ends the sample */
	bool needs_proc;			 /* with the same task numbers as the iterator */
} collectors[] = {
#define COLLECTOR(function, needs_proc) { function, needs_proc },
#include "collect/sources.def"
};

static void set_duration(struct capture *capture)
{
	struct host_clock now;

	if (capture->host->live && host_clock(capture->host, &now))
		snapshot_set_fact_number(capture->snapshot, FACT_duration_ns,
					 now.monotonic_ns - capture->clock.monotonic_ns);
}

static void capture_clear(struct capture *capture)
{
	array_free(&capture->walked_threads);
	array_free(&capture->walked_processes);
	free(capture->images);
	snapshot_free(capture->snapshot);
}

static int take(struct sampling *sampling, struct snapshot **ret, struct error *error)
{
	CLEANUP(capture_clear)
	struct capture capture = {
		.sampling = sampling,
		.host = sampling->host,
		.options = &sampling->options,
		.error = error,
		.scale = { sampling->host->tick_ns, sampling->host->page_bytes },
		.proc_is_foreign = sampling->proc_is_foreign && sampling->iterator,
	};
	int status = snapshot_new(&capture.snapshot);

	capture.has_clock = host_clock(sampling->host, &capture.clock);
	memcpy(capture.gates, sampling->gates, sizeof(capture.gates));
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(collectors); i++)
		if (!collectors[i].needs_proc || !capture.proc_is_foreign)
			status = collectors[i].collect(&capture);
	if (status < 0)
		return status;
	set_duration(&capture);
	*ret = TAKE_PTR(capture.snapshot);
	return 0;
}

static bool tries_iterator(const struct sampling *sampling)
{
	return sampling->host->live && sampling->options.lister != LIST_PROCFS &&
	       !(sampling->options.without >> SOURCE_TASK_ITERATOR & 1);
}

/*
 * If procfs may be used instead, failing is not an error: the snapshot says why the iterator does
 * not work.
 */
static int open_iterator(struct sampling *sampling, struct error *error)
{
	int status = task_iterator_open(sampling->host, sampling->gates, sampling->options.activity,
					&sampling->iterator, &sampling->no_iterator);

	if (status == -ENOMEM || (status < 0 && sampling->options.lister == LIST_BPF))
		return error_set(error, status, "%s", sampling->no_iterator.message);
	return 0;
}

int sampling_open(const struct host *host, const struct capture_options *options,
		  struct sampling **ret, struct error *error)
{
	CLEANUP(sampling_close_pointer) struct sampling *sampling = calloc(1, sizeof(*sampling));
	int status;

	if (!sampling)
		return error_set(error, -ENOMEM, "out of memory");
	sampling->host = host;
	sampling->options = *options;
	gates_read(host, sampling->gates);
	status = options->activity ? activity_reader_init(&sampling->activity, host) : 0;
	if (status < 0)
		return error_set(error, status, "out of memory");
	sampling->proc_is_foreign = tries_iterator(sampling) && !proc_numbers_are_ours(host);
	status = sampling_check(sampling, error);
	if (status == 0 && tries_iterator(sampling))
		status = open_iterator(sampling, error);
	if (status < 0)
		return status;
	*ret = TAKE_PTR(sampling);
	return 0;
}

void sampling_leave_out(struct sampling *sampling, uint32_t without)
{
	sampling->options.without = without;
}

void sampling_want(struct sampling *sampling, const bool *wanted)
{
	sampling->wanted = wanted;
}

void sampling_set_pids(struct sampling *sampling, const int32_t *pids, size_t count)
{
	sampling->options.pids = pids;
	sampling->options.pid_count = count;
}

void sampling_close(struct sampling *sampling)
{
	if (!sampling)
		return;
	task_iterator_close(sampling->iterator);
	process_facts_clear(&sampling->facts);
	host_figure_files_clear(&sampling->figures);
	cgroup_sampling_clear(&sampling->cgroups);
	jemalloc_close(sampling->jemalloc);
	gpu_source_close(sampling->gpu);
	activity_reader_clear(&sampling->activity);
	free(sampling);
}

int sampling_take(struct sampling *sampling, struct snapshot **ret, struct error *error)
{
	bool iterator_failed;
	int status;

	sampling_begin_activity(sampling);
	status = take(sampling, ret, error);
	iterator_failed = sampling->iterator && sampling->no_iterator.message[0];
	if (status < 0 && iterator_failed && sampling->options.lister == LIST_BPF)
		error_set(error, status, "%s", sampling->no_iterator.message);
	else if (status < 0 && iterator_failed && status != -ENOMEM) {
		/* The iterator failed midway: close it, and start again with procfs. */
		task_iterator_close(sampling->iterator);
		sampling->iterator = NULL;
		status = take(sampling, ret, error);
	}
	sampling_end_activity(sampling);
	return status < 0 ? error_set(error, status, "the capture failed: %s", strerror(-status)) :
			    0;
}

int capture_take(const struct host *host, const struct capture_options *options,
		 struct snapshot **ret, struct error *error)
{
	CLEANUP(sampling_close_pointer) struct sampling *sampling = NULL;
	int status = sampling_open(host, options, &sampling, error);

	return status < 0 ? status : sampling_take(sampling, ret, error);
}
