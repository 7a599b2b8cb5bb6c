/* SPDX-License-Identifier: MIT */
#include "trace/proc_look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/host.h"
#include "host/privilege.h"

#define FILE_BYTES 8192
#define LISTING_BYTES (32 * 1024)
#define KIB 1024

#define FORKED_NO_EXEC 0x40 /* PF_FORKNOEXEC among the flags of stat */

/* Fields of stat, by their number in proc(5); the state, which is no number, is the third. */
enum stat_field {
	FIELD_PARENT = 4,
	FIELD_FLAGS = 9,
	FIELD_MINOR_FAULTS = 10,
	FIELD_MAJOR_FAULTS = 12,
	FIELD_USER = 14,
	FIELD_SYSTEM = 15,
	FIELD_WAITED_USER = 16,
	FIELD_WAITED_SYSTEM = 17,
	FIELD_START = 22,
	FIELD_START_CODE = 26,
	FIELD_START_STACK = 28,
	FIELD_ARGUMENTS = 48,
	FIELD_EXIT_CODE = 52,
	FIELDS = 53,
};

static void copy_comm(const char *from, size_t length, char comm[TREE_COMM_SIZE])
{
	if (length >= TREE_COMM_SIZE)
		length = TREE_COMM_SIZE - 1;
	memcpy(comm, from, length);
	comm[length] = '\0';
}

/* Numbers from the parent's on; negative ones are of no use here and become 0. */
static bool scan_fields(const char *cursor, uint64_t fields[FIELDS])
{
	int field = FIELD_PARENT;

	memset(fields, 0, FIELDS * sizeof(fields[0]));
	for (; field < FIELDS && *cursor == ' '; field++) {
		int64_t negative;

		cursor++;
		if (!scan_u64(&cursor, &fields[field]) && !scan_i64(&cursor, &negative))
			break;
	}
	return field > FIELD_START;
}

/*
 * In the middle of an exec: the kernel fills these in last, when the arguments are in their place.
 * To those who may not know it says 1 and 0, so that for them an exec looks done too early.
 */
static bool is_loading(const uint64_t fields[FIELDS])
{
	uint64_t code = fields[FIELD_START_CODE];

	return code == 0 || (code != 1 && fields[FIELD_START_STACK] == 0);
}

static uint64_t image_of(const uint64_t fields[FIELDS])
{
	uint64_t image = fields[FIELD_START_CODE];

	image = (image ^ image >> 29) * 0x9e3779b97f4a7c15u + fields[FIELD_START_STACK];
	image = (image ^ image >> 32) * 0x9e3779b97f4a7c15u + fields[FIELD_ARGUMENTS];
	return image | 1;
}

static bool is_dead(char state)
{
	return state == 'Z' || state == 'X';
}

bool proc_look_parse_stat(const char *text, uint64_t tick_ns, struct proc_look *look)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t fields[FIELDS], user_ns, system_ns;
	bool unsettled;

	if (!open || !close || close < open || close[1] != ' ' || !close[2] ||
	    !scan_fields(close + 3, fields))
		return false;
	copy_comm(open + 1, (size_t)(close - open - 1), look->comm);
	look->state = close[2];
	look->parent_pid = (int32_t)fields[FIELD_PARENT];
	look->is_dead = is_dead(look->state);
	unsettled = !look->is_dead && is_loading(fields);
	look->has_executed = !(fields[FIELD_FLAGS] & FORKED_NO_EXEC) && !unsettled;
	look->start_ns = fields[FIELD_START] * tick_ns;
	look->image = look->is_dead || unsettled ? 0 : image_of(fields);
	look->waited_ns = (fields[FIELD_WAITED_USER] + fields[FIELD_WAITED_SYSTEM]) * tick_ns;
	look->status = (int)fields[FIELD_EXIT_CODE];
	user_ns = fields[FIELD_USER] * tick_ns;
	system_ns = fields[FIELD_SYSTEM] * tick_ns;
	usage_set(&look->counters.usage, USAGE_CPU, user_ns + system_ns);
	usage_set(&look->counters.usage, USAGE_USER, user_ns);
	usage_set(&look->counters.usage, USAGE_SYSTEM, system_ns);
	usage_set(&look->counters.usage, USAGE_MINOR_FAULTS, fields[FIELD_MINOR_FAULTS]);
	usage_set(&look->counters.usage, USAGE_MAJOR_FAULTS, fields[FIELD_MAJOR_FAULTS]);
	return true;
}

/* The time on CPUs, the time waiting for one, and how often it got one.  The first is exact. */
void proc_look_parse_schedstat(const char *text, struct proc_look *look)
{
	uint64_t cpu, delay, count;

	if (!scan_u64(&text, &cpu) || *text++ != ' ' || !scan_u64(&text, &delay) ||
	    *text++ != ' ' || !scan_u64(&text, &count))
		return;
	usage_set(&look->counters.usage, USAGE_CPU, cpu);
	look->counters.has_run_queue = true;
	look->counters.run_queue_ns = delay;
	look->counters.run_queue_count = count;
}

/* A line "key: value" of a file. */
struct keyed {
	const char *key;
	enum usage_id id;
};

static const struct keyed io_keys[] = {
	{ "rchar:", USAGE_READ_CHARS },	     { "wchar:", USAGE_WRITE_CHARS },
	{ "syscr:", USAGE_READ_CALLS },	     { "syscw:", USAGE_WRITE_CALLS },
	{ "read_bytes:", USAGE_READ_BYTES }, { "write_bytes:", USAGE_WRITE_BYTES },
};

static const struct keyed status_keys[] = {
	{ "voluntary_ctxt_switches:", USAGE_VOLUNTARY_SWITCHES },
	{ "nonvoluntary_ctxt_switches:", USAGE_INVOLUNTARY_SWITCHES },
};

/* The number behind a key that starts the line. */
static bool line_number(const char *line, const char *key, uint64_t *ret)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) != 0)
		return false;
	line += length;
	line += strspn(line, " \t");
	return scan_u64(&line, ret);
}

static void take_line(const char *line, const struct keyed *keys, size_t count, struct usage *usage)
{
	uint64_t value;

	for (size_t i = 0; i < count; i++)
		if (line_number(line, keys[i].key, &value)) {
			usage_set(usage, keys[i].id, value);
			return;
		}
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
}

void proc_look_parse_io(const char *text, struct proc_look *look)
{
	for (const char *line = text; line; line = next_line(line))
		take_line(line, io_keys, ARRAY_SIZE(io_keys), &look->counters.usage);
}

void proc_look_parse_status(const char *text, struct proc_look *look)
{
	uint64_t kibibytes;

	for (const char *line = text; line; line = next_line(line)) {
		take_line(line, status_keys, ARRAY_SIZE(status_keys), &look->counters.usage);
		if (line_number(line, "VmHWM:", &kibibytes)) {
			look->has_peak = true;
			look->peak_rss_bytes = kibibytes * KIB;
		}
	}
}

static int gone(int code)
{
	return code == ENOENT ? -ESRCH : -code;
}

/* What is longer than the buffer is cut.  Returns the length. */
static ssize_t read_file(int dir, const char *name, char *buffer, size_t capacity)
{
	CLEANUP(close_fd) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return gone(errno);
	length = read(fd, buffer, capacity - 1);
	if (length < 0)
		return -errno;
	buffer[length] = '\0';
	return length;
}

bool proc_look_is_ours(const struct host *host)
{
	char self[32];
	ssize_t length = readlinkat(host->proc, "self", self, sizeof(self) - 1);
	uint64_t pid;

	if (!host->live || length < 0)
		return false;
	self[length] = '\0';
	return parse_u64(self, &pid) && pid == (uint64_t)getpid();
}

static int open_task(const struct host *host, int32_t pid, int32_t tid)
{
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "%" PRId32 "/task/%" PRId32, pid, tid);
	fd = openat(host->proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? gone(errno) : fd;
}

static int look_at_stat(const struct host *host, int dir, const char *name, char *buffer,
			struct proc_look *look)
{
	ssize_t length = read_file(dir, name, buffer, FILE_BYTES);

	if (length < 0)
		return (int)length;
	return proc_look_parse_stat(buffer, host->tick_ns, look) ? 0 : -EBADMSG;
}

int proc_look_thread(const struct host *host, int32_t pid, int32_t tid, struct proc_look *ret)
{
	CLEANUP(close_fd) int task = open_task(host, pid, tid);
	struct proc_look look = { 0 };
	char buffer[FILE_BYTES];
	int status;

	if (task < 0)
		return task;
	status = look_at_stat(host, task, "stat", buffer, &look);
	if (status < 0)
		return status;
	if (read_file(task, "schedstat", buffer, sizeof(buffer)) > 0)
		proc_look_parse_schedstat(buffer, &look);
	if (read_file(task, "io", buffer, sizeof(buffer)) > 0)
		proc_look_parse_io(buffer, &look);
	if (read_file(task, "status", buffer, sizeof(buffer)) > 0)
		proc_look_parse_status(buffer, &look);
	*ret = look;
	return 0;
}

int proc_look_process(const struct host *host, int32_t pid, struct proc_look *ret)
{
	struct proc_look look = { 0 };
	char path[32], buffer[FILE_BYTES];
	int status;

	snprintf(path, sizeof(path), "%" PRId32 "/stat", pid);
	status = look_at_stat(host, host->proc, path, buffer, &look);
	if (status == 0)
		*ret = look;
	return status;
}

/* It is shown to those who may trace it; of one without memory that goes by its owner. */
bool proc_look_may_see_status(const struct host *host, int32_t pid)
{
	struct stat process;
	char path[16];

	if (host_has_capability(CAP_SYS_PTRACE))
		return true;
	snprintf(path, sizeof(path), "%" PRId32, pid);
	return fstatat(host->proc, path, &process, 0) == 0 && process.st_uid == getuid();
}

static int add_entries(const char *entries, ssize_t length, struct proc_tasks *tasks)
{
	for (ssize_t offset = 0; offset < length;) {
		const struct dirent64 *entry = (const void *)(entries + offset);
		uint64_t number;

		if (parse_u64(entry->d_name, &number) && number <= INT32_MAX &&
		    array_append(&tasks->list, (int32_t)number) < 0)
			return -ENOMEM;
		offset += entry->d_reclen;
	}
	return 0;
}

static int list_numbers(int dir, const char *path, struct proc_tasks *ret)
{
	CLEANUP(close_fd) int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct dirent64) char entries[LISTING_BYTES];
	ssize_t length;

	ret->list.count = 0;
	if (fd < 0)
		return gone(errno);
	while ((length = getdents64(fd, entries, sizeof(entries))) > 0)
		if (add_entries(entries, length, ret) < 0)
			return -ENOMEM;
	return length < 0 ? gone(errno) : 0;
}

int proc_look_list_threads(const struct host *host, int32_t pid, struct proc_tasks *ret)
{
	char path[32];

	snprintf(path, sizeof(path), "%" PRId32 "/task", pid);
	return list_numbers(host->proc, path, ret);
}

int proc_look_list_processes(const struct host *host, struct proc_tasks *ret)
{
	return list_numbers(host->proc, ".", ret);
}

/* Adds the numbers of a piece of text; what may be the begin of one stays behind *cursor. */
static int add_children(char *text, size_t *length, struct proc_tasks *tasks)
{
	const char *cursor = text;
	uint64_t number;

	for (const char *end; (end = memchr(cursor, ' ', *length - (size_t)(cursor - text)));
	     cursor = end + 1)
		if (scan_u64(&cursor, &number) && number <= INT32_MAX &&
		    array_append(&tasks->list, (int32_t)number) < 0)
			return -ENOMEM;
	*length -= (size_t)(cursor - text);
	memmove(text, cursor, *length);
	return 0;
}

bool proc_look_knows_children(const struct host *host)
{
	return faccessat(host->proc, "thread-self/children", R_OK, 0) == 0;
}

int proc_look_list_children(const struct host *host, int32_t pid, int32_t tid,
			    struct proc_tasks *tasks)
{
	CLEANUP(close_fd) int task = open_task(host, pid, tid);
	CLEANUP(close_fd) int fd = -1;
	char buffer[FILE_BYTES];
	size_t kept = 0;
	ssize_t got;

	if (task < 0)
		return task;
	fd = openat(task, "children", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gone(errno);
	while ((got = read(fd, buffer + kept, sizeof(buffer) - 1 - kept)) > 0) {
		kept += (size_t)got;
		buffer[kept] = '\0';
		if (add_children(buffer, &kept, tasks) < 0)
			return -ENOMEM;
		if (kept >= sizeof(buffer) - 1)
			return -EBADMSG;
	}
	return got < 0 ? -errno : 0;
}

int proc_look_arguments(const struct host *host, int32_t pid, char buffer[TREE_ARGUMENTS_MAX + 1],
			struct tree_exec *ret)
{
	struct tree_exec found = { 0 };
	char path[32];
	ssize_t length;

	snprintf(path, sizeof(path), "%" PRId32 "/cmdline", pid);
	length = read_file(host->proc, path, buffer, TREE_ARGUMENTS_MAX + 1);
	if (length < 0)
		return (int)length;
	found.arguments = buffer;
	found.cut = length == TREE_ARGUMENTS_MAX;
	found.length = text_words(buffer, (size_t)length, &found.cut);
	*ret = found;
	return 0;
}
