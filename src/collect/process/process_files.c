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
#include "collect/process/cmdline.h"
#include "collect/collector.h"
#include "collect/process/executable.h"
#include "collect/proc/proc_file.h"
#include "collect/proc/proc_parse.h"
#include "collect/proc/user_names.h"
#include "collect/process/process_facts.h"
#include "collect/task/task_iterator.h"

struct process_files {
	struct capture *capture;
	struct proc_plan statm;
	bool statm_tells_more;		   /* statm has metrics that the iterator lacks */
	enum metric_id open_fds, fd_limit; /* METRIC_STORED when not wanted */
	bool may_ask;			   /* see proc_numbers_are_ours() */
	bool has_fd_counts;		   /* the kernel gives the fd directory's size */
	bool peaks_are_notes;		   /* see settle_peak() */
	struct proc_buffer buffer;
	struct proc_values values;
	struct proc_numbers fds;
	struct user_names users;
	struct cmdline_queue *cmdlines; /* NULL when not wanted */
	ARRAY_OF(uint32_t) fresh;	/* rows of processes that were read by pid */
	ARRAY_OF(uint32_t) readers;	/* for each of these: the row whose path it uses */
};

static void count(struct process_files *files, enum source_id source, int64_t status)
{
	source_count_file(files->capture, &files->capture->tallies[source], status);
}

/* On a recorded host a pid is never used again. */
int process_check(const struct capture *capture, int dir, const struct process *process,
		  struct proc_buffer *buffer)
{
	struct proc_identity identity;
	char path[64];
	ssize_t status;

	if (!capture->host->live)
		return 0;
	snprintf(path, sizeof(path), "task/%" PRId32 "/stat", process->tgid);
	status = proc_read(dir, path, buffer);
	if (status < 0)
		return (int)status;
	if (!proc_parse_identity(buffer->data, &identity))
		return -EBADMSG;
	return metric_from_raw(identity.start_ticks, RAW_TICKS, &capture->scale) ==
			       process->start_time_ns ?
		       0 :
		       -ESRCH;
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
	for (size_t i = 0; i < ARRAY_SIZE(lost); i++)
		if (!is_vanished(status) && source_wanted(capture, lost[i]))
			source_count(&capture->tallies[lost[i]], status);
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
static void settle_peak(const struct process_files *files, uint32_t row)
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
 * A leader that has ended shows neither memory nor descriptors, but its living threads do, each in
 * its own directory.  Replaces *dir by the directory of a living thread; false when there is none.
 */
static bool find_living(const struct snapshot *snapshot, uint32_t row, int *dir)
{
	uint32_t task = snapshot->processes[row].first_task;
	char path[32];
	int living;

	if (!task_has_ended(snapshot, task))
		return true;
	while (++task < snapshot->task_count && snapshot->tasks[task].process == row) {
		if (task_has_ended(snapshot, task))
			continue;
		snprintf(path, sizeof(path), "task/%" PRId32, snapshot->tasks[task].tid);
		living = proc_open(*dir, path);
		if (living < 0)
			continue;
		close_fd(dir);
		*dir = living;
		return true;
	}
	return false;
}

bool process_lacks_memory(const struct capture *capture, uint32_t row)
{
	const struct snapshot *snapshot = capture->snapshot;
	const struct source_tally *statm = &capture->tallies[SOURCE_STATM];
	const struct process_seen *seen =
		collector_process_seen(capture, snapshot->processes[row].tgid);
	uint64_t size;

	if (snapshot_get(snapshot, METRIC_vm_bytes, row, &size) || statm->failed)
		return false;
	return statm->read || (seen && seen->is_sized &&
			       !task_has_ended(snapshot, snapshot->processes[row].first_task));
}

int process_open(const struct capture *capture, uint32_t row, struct proc_buffer *buffer)
{
	const struct process *process = &capture->snapshot->processes[row];
	CLEANUP(close_fd) int dir = proc_open_number(capture->host->proc, process->tgid);
	int status = dir < 0 ? dir : process_check(capture, dir, process, buffer);

	if (status < 0)
		return status;
	return find_living(capture->snapshot, row, &dir) ? TAKE_FD(dir) : -ESRCH;
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
	if (!find_living(snapshot, row, &dir))
		return 0;
	memory = read_statm(files, dir, row);
	read_fds(files, dir, row);
	status = executable_read(files->capture, dir, row, memory);
	if (files->cmdlines)
		cmdline_add(files->cmdlines, row, TAKE_FD(dir));
	return status;
}

/* Uses what an earlier sample read of the process, if it still runs the same program. */
static int recall_process(struct process_files *files, uint32_t row,
			  const struct process_seen *seen, const struct process_fact *fact)
{
	struct capture *capture = files->capture;
	struct process *process = &capture->snapshot->processes[row];
	int status = 0;

	if (capture->images)
		capture->images[row].lacks_jemalloc =
			fact->lacks_jemalloc && fact->executable_pages == seen->executable_pages;
	if (source_wanted(capture, SOURCE_EXE)) {
		source_count(&capture->tallies[SOURCE_EXE], 0);
		status = snapshot_intern(capture->snapshot, fact->exe, strlen(fact->exe),
					 &process->exe);
	}
	if (status == 0 && files->cmdlines) {
		source_count(&capture->tallies[SOURCE_CMDLINE], 0);
		status = snapshot_intern(capture->snapshot, fact->cmdline, strlen(fact->cmdline),
					 &process->cmdline);
	}
	return status;
}

/* Adds command line and path, the only values that the iterator did not report. */
static int add_texts(struct process_files *files, uint32_t row, const struct process_seen *seen)
{
	struct capture *capture = files->capture;
	const struct process_fact *fact;
	uint32_t reader = row;
	int status;

	if (!seen->has_memory) {
		executable_note_none(capture);
		return 0;
	}
	executable_note(capture, row, seen);
	fact = process_facts_find(&capture->sampling->facts, &capture->snapshot->processes[row],
				  seen);
	if (fact)
		return recall_process(files, row, seen, fact);
	status = array_append(&files->fresh, row);
	if (status == 0)
		status = executable_find(capture, row, seen, &reader);
	if (status == 0)
		status = array_append(&files->readers, reader);
	if (status == 0 && files->cmdlines)
		cmdline_add_number(files->cmdlines, row);
	return status;
}

/* If a leader has ended, the files of its living threads have more values. */
static int add_process(struct process_files *files, uint32_t row)
{
	struct capture *capture = files->capture;
	const struct process *process = &capture->snapshot->processes[row];
	const struct process_seen *seen = collector_process_seen(capture, process->tgid);

	if (seen && seen->is_sized && seen->is_counted && !files->statm_tells_more &&
	    process->start_time_ns && !task_has_ended(capture->snapshot, process->first_task))
		return add_texts(files, row, seen);
	return read_process(files, row);
}

static int compare_rows(const void *a, const void *b)
{
	const uint32_t *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

/*
 * A process can execute another program before its path is read.  Then that path must not be used
 * for other processes: each of these reads its own path again.
 */
static int confirm_path(struct process_files *files, size_t index,
			const enum process_change *changes)
{
	uint32_t row = files->fresh.data[index];
	const uint32_t *reader = bsearch(&files->readers.data[index], files->fresh.data,
					 files->fresh.count, sizeof(*reader), compare_rows);
	CLEANUP(close_fd) int dir = -1;

	if (!reader || *reader == row || changes[reader - files->fresh.data] == PROCESS_SAME)
		return 0;
	dir = process_open(files->capture, row, &files->buffer);
	if (dir >= 0)
		return executable_read_path(files->capture, dir, row);
	files->capture->snapshot->processes[row].exe = 0;
	return dir == -ENOMEM ? dir : 0;
}

/*
 * Drops what was read by pid if the process has ended meanwhile: its pid may have been another
 * process's.
 */
static int confirm_fresh(struct process_files *files)
{
	struct capture *capture = files->capture;
	CLEANUP(free_pointer)
	enum process_change *changes = calloc(files->fresh.count + 1, sizeof(*changes));
	int status;

	if (!changes)
		return -ENOMEM;
	if (!files->fresh.count)
		return 0;
	status =
		task_iterator_confirm(capture->sampling->iterator, capture, files->fresh.data,
				      changes, files->fresh.count, &capture->sampling->no_iterator);
	for (size_t i = 0; i < files->readers.count && status == 0; i++) {
		struct process *process = &capture->snapshot->processes[files->fresh.data[i]];

		if (changes[i] != PROCESS_GONE) {
			status = confirm_path(files, i, changes);
			continue;
		}
		process->cmdline = process->exe = 0;
		capture->snapshot->tally.processes_ended++;
	}
	return status;
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

static void start_cmdlines(struct process_files *files)
{
	struct capture *capture = files->capture;
	int status = cmdline_start(capture, &files->cmdlines);

	if (status == 0)
		return;
	source_count(&capture->tallies[SOURCE_CMDLINE], status);
	capture->tallies[SOURCE_CMDLINE].reason = "no thread could be started to read it";
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
		capture->tallies[SOURCE_STATM].reason = "the recording does not tell the page size";
	else if (source_wanted(capture, SOURCE_STATM))
		proc_plan_init(&files->statm, PLACE_STATM, 0, capture->gates);
	for (unsigned i = 0; i < files->statm.count; i++)
		files->statm_tells_more |= !source_is_iterated(&metrics[files->statm.items[i].id]);
	files->open_fds = source_metric(capture, SOURCE_FDS, PLACE_FD_DIRECTORY);
	files->fd_limit = source_metric(capture, SOURCE_LIMITS, PLACE_FD_LIMIT);
	files->may_ask = proc_numbers_are_ours(capture->host);
	files->has_fd_counts = find_fd_counts(capture->host);
	if (source_wanted(capture, SOURCE_USERS))
		read_users(files);
	if (source_wanted(capture, SOURCE_CMDLINE))
		start_cmdlines(files);
	return executables_begin(capture) < 0 ? -ENOMEM : need_columns(files);
}

static int end(struct process_files *files)
{
	int status = files->cmdlines ? cmdline_finish(files->cmdlines) : 0;

	executables_end(files->capture);
	if (status == 0)
		status = confirm_fresh(files);
	array_free(&files->fresh);
	array_free(&files->readers);
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
		settle_peak(&files, row);
	}
	ended = end(&files);
	return status < 0 ? status : ended;
}
