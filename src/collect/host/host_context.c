/* SPDX-License-Identifier: MIT */
#include "collect/host/host_context.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/host/fact_absence.h"

/* Files of a directory that become readings named "FAMILY NAME". */
struct family {
	const char *name;
	const char *path;
	const char *prefix; /* of the entries */
	bool is_numbered;   /* the number after the prefix names the reading */
	const char *file;   /* what follows the entry in the path of its file */
	size_t most;	    /* limit, since a hostile tree may have any number */
};

static const struct family governors = {
	.name = "cpufreq_governor",
	.path = "devices/system/cpu",
	.prefix = "cpu",
	.is_numbered = true,
	.file = "/cpufreq/scaling_governor",
	.most = 4096,
};

static const struct family tunables = {
	.name = "sched_tunables",
	.path = "sys/kernel",
	.prefix = "sched_",
	.file = "",
	.most = 256,
};

/* Kernels have some of these; which ones changed with 5.13 and 6.6. */
static const char *const knobs[] = {
	"base_slice_ns",     "min_granularity_ns", "latency_ns",      "wakeup_granularity_ns",
	"migration_cost_ns", "nr_migrate",	   "tunable_scaling", "features",
	"preempt",	     "latency_warn_ms",
};

static struct source_tally *context_tally(struct capture *capture)
{
	return &capture->tallies[SOURCE_HOST_CONTEXT];
}

/* Menus and lists of words end with a blank, as the kernel writes them. */
static void trim(char *line)
{
	size_t length = strcspn(line, "\n");

	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	line[length] = '\0';
}

int host_line_read(struct source_tally *tally, int dir, const char *path, char ret[HOST_LINE_SIZE])
{
	ssize_t length;

	if (dir < 0)
		return -ENOENT;
	length = file_read(dir, path, ret, HOST_LINE_SIZE);
	if (tally)
		source_count(tally, length);
	if (length < 0)
		return (int)length;
	trim(ret);
	return ret[0] ? 0 : -ENODATA;
}

/* Stores the line of a file below `dir` as the reading "FAMILY NAME".  0 or -ENOMEM. */
static int note_line(struct capture *capture, int dir, const char *path, const char *family,
		     const char *name)
{
	char line[HOST_LINE_SIZE];
	char reading[SHEET_NAME_SIZE + NAME_MAX];
	int status;

	if (host_line_read(context_tally(capture), dir, path, line) < 0)
		return 0;
	snprintf(reading, sizeof(reading), "%s %s", family, name);
	status = snapshot_note_text(capture->snapshot, SHEET_HOST, reading, line);
	if (status == -E2BIG)
		source_count(context_tally(capture), status);
	return status == -ENOMEM ? status : 0;
}

/* The name of the reading for an entry; NULL when the entry is not in the family. */
static const char *entry_name(const struct family *family, const struct dirent *entry)
{
	size_t length = strlen(family->prefix);
	uint64_t number;

	if (strncmp(entry->d_name, family->prefix, length) != 0)
		return NULL;
	if (family->is_numbered)
		return parse_u64(entry->d_name + length, &number) ? entry->d_name + length : NULL;
	return entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN ? entry->d_name : NULL;
}

/* A sorted list of directory entries. */
struct entries {
	struct dirent **list;
	int count;
};

static void entries_free(struct entries *entries)
{
	for (int i = 0; i < entries->count; i++)
		free(entries->list[i]);
	free(entries->list);
}

/* Stores the family's members in a directory, at most family->most.  0 or -ENOMEM. */
static int note_entries(struct capture *capture, const struct family *family, int dir,
			const struct entries *entries)
{
	size_t found = 0;
	int status = 0;

	for (int i = 0; status == 0 && i < entries->count; i++) {
		const char *name = entry_name(family, entries->list[i]);
		char path[NAME_MAX + 64];

		if (!name)
			continue;
		if (found++ == family->most) {
			source_count(context_tally(capture), -E2BIG);
			break;
		}
		snprintf(path, sizeof(path), "%s%s", entries->list[i]->d_name, family->file);
		status = note_line(capture, dir, path, family->name, name);
	}
	return status;
}

/* Sorts the entries: directories have no order, but readings need one. */
static int note_directory(struct capture *capture, const struct family *family, int tree)
{
	CLEANUP(close_fd)
	int dir = tree < 0 ? -ENOENT : file_open_below(tree, family->path, O_RDONLY | O_DIRECTORY);
	CLEANUP(entries_free) struct entries entries = { 0 };

	if (dir >= 0)
		entries.count = scandirat(dir, ".", &entries.list, NULL, versionsort);
	if (dir >= 0 && entries.count >= 0)
		return note_entries(capture, family, dir, &entries);
	source_count(context_tally(capture), dir < 0 ? dir : -errno);
	return dir >= 0 && errno == ENOMEM ? -ENOMEM : 0;
}

/*
 * Stores all members of a family.  If there are none, one name that stands for all gets the
 * reason.
 */
static int note_family(struct capture *capture, const struct family *family, int tree,
		       const char *stand_in, const char *reason)
{
	struct sheet *sheet = &capture->snapshot->sheets[SHEET_HOST];
	size_t before = sheet->columns.count;
	int status = note_directory(capture, family, tree);

	if (status < 0 || sheet->columns.count > before)
		return status;
	return sheet_set_absent(sheet, stand_in, reason);
}

/* Whether a directory is another file system than the one above it. */
static bool is_mounted(int tree, const char *path)
{
	struct stat above, directory;

	return tree >= 0 && fstat(tree, &above) == 0 && fstatat(tree, path, &directory, 0) == 0 &&
	       above.st_dev != directory.st_dev;
}

static const char *no_knobs_reason(const struct host *host, int status)
{
	if (status == -EACCES)
		return "debugfs, with the scheduler's knobs, is for root";
	if (status == -EPERM)
		return "the kernel is locked down, and hides the scheduler's knobs in debugfs";
	if (!host->live)
		return NOT_RECORDED;
	return is_mounted(host->sys, "kernel/debug") ?
		       "this kernel was built without CONFIG_SCHED_DEBUG" :
		       "debugfs, with the scheduler's knobs, is not mounted";
}

/* The reason goes to the knob that every kernel with knobs has. */
static int note_no_knobs(struct capture *capture, int status)
{
	struct source_tally *tally = context_tally(capture);
	const char *reason = no_knobs_reason(capture->host, status);

	source_count(tally, status);
	if (!is_vanished(status) && !tally->reason)
		tally->reason = reason;
	return sheet_set_absent(&capture->snapshot->sheets[SHEET_HOST], "sched_debug features",
				reason);
}

/*
 * A kernel that is locked down refuses the files, not the directory.  So one file is tried first.
 */
static int open_knobs(const struct host *host)
{
	CLEANUP(close_fd) int dir = -1;
	CLEANUP(close_fd) int first = -1;

	if (host->sys < 0)
		return -ENOENT;
	dir = host_open_directory(host->sys, "kernel/debug/sched");
	if (dir < 0)
		return dir;
	first = file_open_below(dir, "features", O_RDONLY | O_NONBLOCK);
	return first == -EPERM || first == -EACCES ? first : TAKE_FD(dir);
}

static int note_knobs(struct capture *capture)
{
	CLEANUP(close_fd) int dir = open_knobs(capture->host);
	int status = 0;

	if (dir < 0)
		return note_no_knobs(capture, dir);
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(knobs); i++)
		status = note_line(capture, dir, knobs[i], "sched_debug", knobs[i]);
	return status;
}

int host_context_collect(struct capture *capture)
{
	int status;

	if (!source_wanted(capture, SOURCE_HOST_CONTEXT))
		return 0;
	host_facts_describe(capture);
	status = note_family(capture, &tunables, capture->host->proc, "sched_tunables *",
			     missing_reason(capture->host, "this kernel has none"));
	if (status == 0)
		status =
			note_family(capture, &governors, capture->host->sys, "cpufreq_governor 0",
				    capture->host->live ? "no driver controls the CPUs' frequency" :
							  NOT_RECORDED);
	if (status == 0)
		status = note_knobs(capture);
	return status < 0 ? status : facts_note_lost(capture);
}
