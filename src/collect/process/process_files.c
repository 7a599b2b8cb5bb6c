/* SPDX-License-Identifier: MIT */
/*
 * Reads the facts about the processes of a snapshot: memory size, descriptors, limits, the user's
 * name, the program, the command line.
 *
 * What the task iterator or an earlier sample has reported is not read again.  Everything else
 * comes from procfs.  There a process is identified by its start time, which is checked through
 * the directory fd that everything is then read from: that fd stays with the process.  What is
 * read by pid alone is used only after a second walk has found the same process.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "collect/collector.h"
#include "collect/process/executable.h"
#include "host/proc/proc_file.h"
#include "collect/proc/proc_parse.h"
#include "collect/proc/user_names.h"
#include "collect/process/process_texts.h"

struct process_files {
	struct capture *capture;
	struct proc_plan statm;
	bool statm_has_more;		   /* statm has metrics that the iterator lacks */
	enum metric_id open_fds, fd_limit; /* METRIC_STORED when not wanted */
	bool may_ask;			   /* see proc_numbers_are_ours() */
	bool has_fd_counts;		   /* the kernel gives the fd directory's size */
	bool peaks_are_notes;		   /* see correct_peak() */
	struct proc_buffer buffer;
	struct proc_values values;
	struct proc_numbers fds;
	struct user_names users;
	struct process_texts texts;
};

static void count(struct process_files *files, enum source_id source, int64_t status)
{
	source_count_file(files->capture, &files->capture->tallies[source], status);
}

/* Counts a process of which nothing can be read: it has ended, or every source fails alike. */
static int lose_process(struct process_files *files, int status)
{
	static const enum source_id lost[] = { SOURCE_STATM, SOURCE_FDS, SOURCE_LIMITS,
					       SOURCE_CMDLINE, SOURCE_EXE };
	struct capture *capture = files->capture;

	if (status == -ENOMEM)
		return status;
	if (is_vanished(status))
		capture->snapshot->tally.processes_ended++;
	for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
		/* Without readers, the command lines failed as a whole, which was counted. */
		bool is_counted = lost[i] == SOURCE_CMDLINE && files->texts.lacks_readers;

		if (!is_vanished(status) && source_wanted(capture, lost[i]) && !is_counted)
			source_count(&capture->tallies[lost[i]], status);
	}
	return 0;
}

static bool has_memory(const struct process_files *files)
{
	for (unsigned i = 0; i < files->statm.count; i++)
		if (files->values.present >> i & 1 && files->values.raw[i])
			return true;
	return false;
}

/*
 * The kernel updates a peak only now and then, so the true peak is the larger of its note and the
 * present size.  The iterator reports the note alone, so without the present size there is no
 * peak.
 */
static void correct_peak(const struct process_files *files, uint32_t row)
{
	struct snapshot *snapshot = files->capture->snapshot;
	uint64_t held, peak;

	if (!snapshot_get(snapshot, METRIC_hiwater_rss_bytes, row, &peak))
		return;
	if (snapshot_get(snapshot, METRIC_rss_bytes, row, &held)) {
		if (peak < held)
			snapshot_set(snapshot, METRIC_hiwater_rss_bytes, row, held);
	} else if (files->peaks_are_notes) {
		snapshot_clear(snapshot, METRIC_hiwater_rss_bytes, row);
	}
}

/* Returns whether the process may have memory; false for kernel threads and zombies. */
static bool read_statm(struct process_files *files, int dir, uint32_t row)
{
	struct capture *capture = files->capture;
	int64_t status;

	if (!files->statm.count)
		return true;
	status = proc_read(dir, "statm", &files->buffer);
	count(files, SOURCE_STATM, status);
	if (status < 0)
		return true;
	proc_parse_row(files->buffer.data, &files->statm, &files->values);
	if (!has_memory(files))
		return false;
	for (unsigned i = 0; i < files->statm.count; i++)
		if (files->values.present >> i & 1)
			snapshot_set(capture->snapshot, files->statm.items[i].id, row,
				     metric_from_raw(files->values.raw[i],
						     files->statm.items[i].raw, &capture->scale));
	return true;
}

static int recorded_fds(const struct host *host, int32_t tgid, uint64_t *ret)
{
	char key[64];

	snprintf(key, sizeof(key), "open_fds %" PRId32, tgid);
	return host_recorded_number(host, key, ret) ? 0 : -ENOENT;
}

static int live_fds(struct process_files *files, int dir, uint64_t *ret)
{
	struct stat directory;
	int status;

	if (files->has_fd_counts) {
		if (fstatat(dir, "fd", &directory, 0) < 0)
			return -errno;
		*ret = (uint64_t)directory.st_size;
		return 0;
	}
	status = proc_list(dir, "fd", &files->fds);
	if (status == 0)
		*ret = files->fds.list.count;
	return status;
}

static void read_fds(struct process_files *files, int dir, uint32_t row)
{
	struct capture *capture = files->capture;
	uint64_t fds;
	int status;

	if (files->open_fds == METRIC_STORED)
		return;
	status = capture->host->live ?
			 live_fds(files, dir, &fds) :
			 recorded_fds(capture->host, capture->snapshot->processes[row].tgid, &fds);
	count(files, SOURCE_FDS, status);
	if (status == 0)
		snapshot_set(capture->snapshot, files->open_fds, row, fds);
}

/* The system call is ten times quicker than the file, but needs more rights. */
static int find_limit(struct process_files *files, int dir, int32_t tgid, uint64_t *ret)
{
	struct rlimit limit;
	ssize_t status;

	if (files->may_ask && prlimit(tgid, RLIMIT_NOFILE, NULL, &limit) == 0) {
		*ret = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
		return 0;
	}
	status = proc_read(dir, "limits", &files->buffer);
	if (status < 0)
		return (int)status;
	return proc_parse_limits(files->buffer.data, ret) ? 0 : -ENODATA;
}

static bool needs_limit(const struct process_files *files, uint32_t row)
{
	uint64_t known;

	return files->fd_limit != METRIC_STORED &&
	       !snapshot_get(files->capture->snapshot, files->fd_limit, row, &known);
}

static int name_user(struct process_files *files, uint32_t row)
{
	struct snapshot *snapshot = files->capture->snapshot;
	const struct user_name *user;
	uint64_t uid;

	if (!snapshot_get(snapshot, METRIC_uid, row, &uid))
		return 0;
	user = user_names_find(&files->users, uid);
	if (!user)
		return 0;
	return snapshot_intern(snapshot, user->name, user->length, &snapshot->processes[row].user);
}

/*
 * The limit is read by pid, so the process is checked afterwards: if it is still there, it was
 * there all the time.
 */
static int read_process(struct process_files *files, uint32_t row)
{
	struct snapshot *snapshot = files->capture->snapshot;
	const struct process *process = &snapshot->processes[row];
	CLEANUP(close_fd) int dir = proc_open_number(files->capture->host->proc, process->tgid);
	bool limited = dir >= 0 && needs_limit(files, row);
	uint64_t limit;
	int limit_status = limited ? find_limit(files, dir, process->tgid, &limit) : 0;
	int status = dir < 0 ? dir : process_check(files->capture, dir, process, &files->buffer);
	bool memory;

	if (status < 0)
		return lose_process(files, status);
	if (limited) {
		count(files, SOURCE_LIMITS, limit_status);
		if (limit_status == 0)
			snapshot_set(snapshot, files->fd_limit, row, limit);
	}
	if (!process_find_living(snapshot, row, &dir))
		return 0;
	memory = read_statm(files, dir, row);
	read_fds(files, dir, row);
	status = executable_read(files->capture, dir, row, memory);
	process_texts_read_cmdline(&files->texts, row, TAKE_FD(dir));
	return status;
}

/* If a leader has ended, the files of its living threads have more values. */
static int add_process(struct process_files *files, uint32_t row)
{
	struct capture *capture = files->capture;
	const struct process *process = &capture->snapshot->processes[row];
	const struct walked_process *walked = walked_process_find(capture, process);

	if (walked && walked->is_sized && walked->is_counted && !files->statm_has_more &&
	    process->start_time_ns && !task_has_ended(capture->snapshot, process->first_task))
		return process_texts_add(&files->texts, row, walked);
	return read_process(files, row);
}

/* We have open descriptors, so if the kernel shows a size of 0 for ours, it does not count them. */
static bool find_fd_counts(const struct host *host)
{
	struct stat directory;

	return host->live && fstatat(host->proc, "self/fd", &directory, 0) == 0 &&
	       directory.st_size > 0;
}

static int need_columns(struct process_files *files)
{
	struct snapshot *snapshot = files->capture->snapshot;
	const enum metric_id others[] = { files->open_fds, files->fd_limit };

	for (unsigned i = 0; i < files->statm.count; i++)
		if (snapshot_need_column(snapshot, files->statm.items[i].id) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i] != METRIC_STORED && snapshot_need_column(snapshot, others[i]) < 0)
			return -ENOMEM;
	return 0;
}

static void read_users(struct process_files *files)
{
	struct source_tally *tally = &files->capture->tallies[SOURCE_USERS];
	int status = user_names_read(files->capture->host->etc, &files->users);

	source_count(tally, status);
	if (is_vanished(status)) {
		tally->failed++;
		tally->error = -status;
		tally->reason = "there is no passwd file";
	}
}

static int begin(struct process_files *files, struct capture *capture)
{
	files->capture = capture;
	files->peaks_are_notes = capture->tallies[SOURCE_TASK_ITERATOR].read > 0;
	if (files->peaks_are_notes && !source_wanted(capture, SOURCE_STATM) &&
	    !snapshot_measured(capture->snapshot, METRIC_rss_bytes) &&
	    snapshot_set_absent(capture->snapshot, METRIC_hiwater_rss_bytes,
				"switched off by --without statm") < 0)
		return -ENOMEM;
	if (!capture->scale.page_bytes)
		capture->tallies[SOURCE_STATM].reason = "the recording does not have the page size";
	else if (source_wanted(capture, SOURCE_STATM))
		proc_plan_init(&files->statm, PLACE_STATM, 0, capture->gates);
	for (unsigned i = 0; i < files->statm.count; i++)
		files->statm_has_more |= !source_is_iterated(&metrics[files->statm.items[i].id]);
	files->open_fds = source_metric(capture, SOURCE_FDS, PLACE_FD_DIRECTORY);
	files->fd_limit = source_metric(capture, SOURCE_LIMITS, PLACE_FD_LIMIT);
	files->may_ask = proc_numbers_are_ours(capture->host);
	files->has_fd_counts = find_fd_counts(capture->host);
	if (source_wanted(capture, SOURCE_USERS))
		read_users(files);
	process_texts_begin(&files->texts, capture);
	return executables_begin(capture) < 0 ? -ENOMEM : need_columns(files);
}

static int end(struct process_files *files)
{
	int status = process_texts_end(&files->texts);

	executables_end(files->capture);
	user_names_clear(&files->users);
	proc_numbers_clear(&files->fds);
	proc_buffer_clear(&files->buffer);
	return status;
}

int process_files_collect(struct capture *capture)
{
	struct process_files files = { 0 };
	int status = begin(&files, capture);
	int ended;

	for (uint32_t row = 0; status == 0 && row < capture->snapshot->process_count; row++) {
		status = add_process(&files, row);
		if (status == 0)
			status = name_user(&files, row);
		correct_peak(&files, row);
	}
	ended = end(&files);
	return status < 0 ? status : ended;
}
