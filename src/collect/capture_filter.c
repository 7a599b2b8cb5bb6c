/* SPDX-License-Identifier: MIT */
/* Checks the options of a sampling, and decides which tasks its filters select. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "collect/collector.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

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
	/*
	 * The path is not known, or outside our cgroup namespace ("/../..."): not below any
	 * cgroup.
	 */
	if (path[0] != '/')
		return false;
	if (strncmp(path, "/..", 3) == 0 && (path[3] == '/' || path[3] == '\0'))
		return false;
	return strncmp(path, wanted, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The thread group (tgid) of a task, from its status file; 0 when that cannot be read. */
static int32_t group_of(const struct host *host, int32_t pid)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	char path[32];
	uint64_t tgid = 0;

	snprintf(path, sizeof(path), "%" PRId32 "/status", pid);
	if (proc_read(host->proc, path, &buffer) > 0)
		(void)task_status_number(buffer.data, "Tgid", &tgid);
	return (int32_t)tgid;
}

static bool is_off(const struct capture_options *options, enum source_id id)
{
	return options->without >> id & 1;
}

static int check_options(const struct sampling *sampling, struct error *error)
{
	const struct capture_options *options = &sampling->options;

	if (options->lister == LIST_BPF && is_off(options, SOURCE_TASK_ITERATOR))
		return error_set(error, -EINVAL,
				 "--source bpf lists tasks with the source that "
				 "--without task_iterator switches off: leave one out");
	if (options->smaps && is_off(options, SOURCE_SMAPS))
		return error_set(error, -EINVAL,
				 "--smaps reads the source that --without smaps switches off: "
				 "leave one out");
	if (options->cgroup && is_off(options, SOURCE_CGROUP))
		return error_set(error, -EINVAL,
				 "--cgroup needs the source that --without cgroup switches off: "
				 "leave one out");
	if (options->lister == LIST_BPF && !sampling->host->live)
		return error_set(error, -EINVAL,
				 "BPF cannot read a recorded root: leave out --source bpf");
	return 0;
}

static int check_pids(const struct sampling *sampling, struct error *error)
{
	const struct capture_options *options = &sampling->options;

	if (sampling->proc_is_foreign)
		return 0; /* proc has other numbers: the iterator will find the processes */
	for (size_t i = 0; i < options->pid_count; i++) {
		int32_t pid = options->pids[i];
		char path[32];
		struct stat directory;
		int32_t tgid;

		snprintf(path, sizeof(path), "%" PRId32, pid);
		if (fstatat(sampling->host->proc, path, &directory, 0) < 0)
			return error_set(error, -ESRCH, "there is no process %" PRId32, pid);
		tgid = group_of(sampling->host, pid);
		if (tgid && tgid != pid)
			return error_set(error, -ESRCH,
					 "%" PRId32 " is a thread of process %" PRId32
					 ": name the process",
					 pid, tgid);
	}
	return 0;
}

/* Whether a path has the form that proc's cgroup files use; slashes at its end are allowed. */
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

static int check_cgroup(const struct sampling *sampling, struct error *error)
{
	const struct cgroup_hierarchy *hierarchy = &sampling->host->cgroup;
	const char *path = sampling->options.cgroup;
	struct stat directory;

	if (!path)
		return 0;
	if (hierarchy->fd < 0)
		return error_set(error, -ENOENT, "this host has no cgroup hierarchy to filter by");
	if (sampling->proc_is_foreign)
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
				 sampling->options.cgroup, hierarchy->name, strerror(errno));
	return 0;
}

int sampling_check(const struct sampling *sampling, struct error *error)
{
	int status = check_options(sampling, error);

	if (status == 0)
		status = check_pids(sampling, error);
	return status < 0 ? status : check_cgroup(sampling, error);
}

void capture_note_filter(struct capture *capture)
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
