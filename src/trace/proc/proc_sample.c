/* SPDX-License-Identifier: MIT */
#include "trace/proc/proc_sample.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "host/deadline_run.h"
#include "host/host.h"
#include "host/privilege.h"
#include "host/proc/task_text.h"
#include "trace/tracer.h"

#define FILE_BYTES 8192
#define CHILDREN_LIMIT ((size_t)16 * 1024 * 1024)
#define KIB 1024
#define START_TOLERANCE_TICKS 2

#define FORKED_NO_EXEC 0x40 /* PF_FORKNOEXEC among the flags of stat */

/*
 * Whether it is in the middle of an exec: the kernel sets these fields last, when the arguments
 * are in place.  A reader without the right to see them gets 1 and 0, so for such a reader an exec
 * seems done too early.
 */
static bool is_loading(const struct task_stat *stat)
{
	uint64_t code = task_stat_value(stat, TASK_STAT_START_CODE);

	return code == 0 || (code != 1 && task_stat_value(stat, TASK_STAT_START_STACK) == 0);
}

static uint64_t image_of(const struct task_stat *stat)
{
	uint64_t image = task_stat_value(stat, TASK_STAT_START_CODE);

	image = (image ^ image >> 29) * 0x9e3779b97f4a7c15u +
		task_stat_value(stat, TASK_STAT_START_STACK);
	image = (image ^ image >> 32) * 0x9e3779b97f4a7c15u +
		task_stat_value(stat, TASK_STAT_ARGUMENTS);
	return image | 1;
}

bool proc_sample_is_start(const struct host *host, uint64_t one_ns, uint64_t other_ns)
{
	uint64_t tolerance = START_TOLERANCE_TICKS * host->tick_ns;

	return one_ns <= other_ns + tolerance && other_ns <= one_ns + tolerance;
}

/* Takes its identity and whether it did its exec. */
static bool take_identity(const struct task_stat *stat, uint64_t tick_ns,
			  struct proc_sample *sample)
{
	uint64_t start_ticks;
	bool is_executing;

	if (!task_stat_number(stat, TASK_STAT_START, &start_ticks))
		return false;
	task_stat_copy_comm(stat, sample->comm, sizeof(sample->comm));
	sample->state = task_stat_state(stat);
	sample->parent_pid = (int32_t)task_stat_value(stat, TASK_STAT_PARENT);
	sample->is_dead = task_state_is_dead(sample->state);
	is_executing = !sample->is_dead && is_loading(stat);
	sample->has_executed =
		!(task_stat_value(stat, TASK_STAT_FLAGS) & FORKED_NO_EXEC) && !is_executing;
	sample->start_ns = start_ticks * tick_ns;
	sample->image = sample->is_dead || is_executing ? 0 : image_of(stat);
	sample->status = (int)task_stat_value(stat, TASK_STAT_EXIT_CODE);
	return true;
}

/* Takes the amounts whose metrics are fields of stat. */
static void take_fields(const struct task_stat *stat, uint64_t tick_ns, struct amounts *amounts)
{
	const struct raw_scale scale = { .tick_ns = tick_ns };

	for (int id = 0; id < AMOUNT_COUNT; id++) {
		const struct metric_source *source =
			metric_source(&metrics[amount_metrics[id]], PLACE_STAT);
		uint64_t value;

		if (source && task_stat_number(stat, source->field, &value))
			amounts_set(amounts, id, metric_from_raw(value, source->raw, &scale));
	}
}

/* The same for lines "key: value" of another file. */
static void take_keys(const char *text, enum metric_place place, struct amounts *amounts)
{
	for (int id = 0; id < AMOUNT_COUNT; id++) {
		const struct metric_source *source =
			metric_source(&metrics[amount_metrics[id]], place);
		uint64_t value;

		if (source && task_status_number(text, source->key, &value))
			amounts_set(amounts, id, value);
	}
}

bool proc_sample_parse_stat(const char *text, uint64_t tick_ns, struct proc_sample *sample)
{
	struct amounts *counters = &sample->counters;
	struct task_stat stat;

	if (!task_stat_parse(text, &stat) || !take_identity(&stat, tick_ns, sample))
		return false;
	sample->waited_ns = (task_stat_value(&stat, TASK_STAT_WAITED_USER) +
			     task_stat_value(&stat, TASK_STAT_WAITED_SYSTEM)) *
			    tick_ns;
	take_fields(&stat, tick_ns, counters);
	amounts_set(counters, AMOUNT_run_time_ns,
		    amounts_get(counters, AMOUNT_utime_ns) +
			    amounts_get(counters, AMOUNT_stime_ns));
	return true;
}

void proc_sample_parse_schedstat(const char *text, struct proc_sample *sample)
{
	struct task_schedstat times;

	if (!task_schedstat_parse(text, &times))
		return;
	amounts_set(&sample->counters, AMOUNT_run_time_ns, times.cpu_ns);
	amounts_set(&sample->counters, AMOUNT_wait_time_ns, times.queue_ns);
	amounts_set(&sample->counters, AMOUNT_wait_count, times.slices);
}

void proc_sample_parse_io(const char *text, struct proc_sample *sample)
{
	take_keys(text, PLACE_IO, &sample->counters);
}

void proc_sample_parse_status(const char *text, struct proc_sample *sample)
{
	uint64_t kibibytes, real;
	size_t length;
	const char *ids = task_status_find(text, "Uid", &length);

	sample->has_uid =
		ids && scan_u64(&ids, &real) && *ids++ == '\t' && scan_u64(&ids, &sample->uid);
	take_keys(text, PLACE_STATUS, &sample->counters);
	if (task_status_number(text, "VmHWM", &kibibytes)) {
		sample->has_peak = true;
		sample->peak_rss_bytes = kibibytes * KIB;
	}
}

static int read_stat(const struct host *host, int dir, const char *name, char *buffer,
		     struct proc_sample *sample)
{
	ssize_t length = proc_read_start(dir, name, buffer, FILE_BYTES);

	if (length < 0)
		return proc_gone(length);
	return proc_sample_parse_stat(buffer, host->tick_ns, sample) ? 0 : -EBADMSG;
}

int proc_sample_thread(const struct host *host, struct deadline_threads *reader, int32_t pid,
		       int32_t tid, struct proc_sample *ret)
{
	CLEANUP(close_fd) int task = proc_open_thread(host->proc, pid, tid);
	struct proc_sample sample = { 0 };
	char buffer[FILE_BYTES];
	int status;

	if (task < 0)
		return proc_gone(task);
	status = read_stat(host, task, "stat", buffer, &sample);
	if (status < 0)
		return status;
	if (proc_read_start(task, "schedstat", buffer, sizeof(buffer)) > 0)
		proc_sample_parse_schedstat(buffer, &sample);
	if (reader && deadline_read(reader, pid, task, "io", buffer, sizeof(buffer)) > 0)
		proc_sample_parse_io(buffer, &sample);
	if (proc_read_start(task, "status", buffer, sizeof(buffer)) > 0)
		proc_sample_parse_status(buffer, &sample);
	*ret = sample;
	return 0;
}

int proc_sample_process(const struct host *host, int32_t pid, struct proc_sample *ret)
{
	struct proc_sample sample = { 0 };
	char path[32], buffer[FILE_BYTES];
	int status;

	snprintf(path, sizeof(path), "%" PRId32 "/stat", pid);
	status = read_stat(host, host->proc, path, buffer, &sample);
	if (status == 0)
		*ret = sample;
	return status;
}

/* The kernel's struct pidfd_info, first version.  Older kernel headers lack it. */
struct pidfd_information {
	__u64 mask;
	__u64 cgroup;
	__u32 pid, tgid, parent;
	__u32 identities[8];
	__s32 exit_code;
};

_Static_assert(sizeof(struct pidfd_information) == 64, "as the kernel has it");

#define PIDFD_ASK _IOWR(0xFF, 11, struct pidfd_information)
#define PIDFD_EXIT (1ull << 3)

bool proc_sample_pidfd_status(int pidfd, int *ret)
{
	struct pidfd_information information = { .mask = PIDFD_EXIT };

	if (pidfd < 0 || ioctl(pidfd, PIDFD_ASK, &information) < 0 ||
	    !(information.mask & PIDFD_EXIT))
		return false;
	*ret = information.exit_code;
	return true;
}

/*
 * The kernel shows it to those who may trace the process; for one without memory that is its
 * owner.
 */
bool proc_sample_may_see_status(const struct host *host, int32_t pid)
{
	struct stat process;
	char path[16];

	if (host_has_capability(CAP_SYS_PTRACE))
		return true;
	snprintf(path, sizeof(path), "%" PRId32, pid);
	return fstatat(host->proc, path, &process, 0) == 0 && process.st_uid == getuid();
}

bool proc_sample_knows_children(const struct host *host)
{
	return faccessat(host->proc, "thread-self/children", R_OK, 0) == 0;
}

int proc_sample_list_children(const struct host *host, int32_t pid, int32_t tid,
			      struct proc_numbers *children)
{
	CLEANUP(text_free) struct text text = { 0 };
	char path[64];
	const char *cursor;
	uint64_t number;
	int status;

	snprintf(path, sizeof(path), "%" PRId32 "/task/%" PRId32 "/children", pid, tid);
	status = file_read_text(host->proc, path, CHILDREN_LIMIT, &text);
	if (status < 0)
		return proc_gone(status);
	for (cursor = text_string(&text); scan_u64(&cursor, &number); cursor += *cursor == ' ')
		if (number <= INT32_MAX && array_append(&children->list, (int32_t)number) < 0)
			return -ENOMEM;
	return 0;
}

int proc_sample_arguments(const struct host *host, struct deadline_threads *reader, int32_t pid,
			  uint64_t start_ns, char buffer[TREE_ARGUMENTS_MAX + 2],
			  struct tree_exec *ret)
{
	CLEANUP(close_fd) int process = process_directory(host, pid, start_ns);
	struct tree_exec found = { .arguments = buffer };
	ssize_t length = process;

	if (process >= 0)
		length = deadline_read(reader, pid, process, "cmdline", buffer,
				       TREE_ARGUMENTS_MAX + 2);
	if (length < 0)
		return proc_gone(length);
	found.cut = length > TREE_ARGUMENTS_MAX;
	found.length =
		text_words(buffer, found.cut ? TREE_ARGUMENTS_MAX : (size_t)length, &found.cut);
	*ret = found;
	return 0;
}
