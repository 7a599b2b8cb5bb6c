/* SPDX-License-Identifier: MIT */
#include "collect/host/host_figures.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/file.h"
#include "collect/collector.h"
#include "collect/kernel_parse.h"
#include "metric/reading.h"

/* Interrupts of some hundred CPUs are more, and would take longer to read than all the rest. */
#define FILE_MAX ((size_t)256 * 1024)

struct host_file {
	const char *path;
	const char *name;
	enum kernel_format format;
	size_t most;
	const char *all;
	const char *missing;
};

/* clang-format off */
static const struct host_file host_files[HOST_FILE_COUNT] = {
#define HOST_FILE(id, path_, name_, format_, most_, all_, missing_)                                \
	[HOST_FILE_##id] = { path_, name_, KERNEL_##format_, most_, all_, missing_ },
#include "collect/host/host_figures.def"
};
/* clang-format on */

/* The sink of a file. */
struct figure_sink {
	struct kernel_sink sink; /* must be first: it is cast back */
	struct capture *capture;
	bool usage_only; /* not in detail: each CPU, kind of memory, error of an interface */
	size_t kept, dropped, most;
	size_t prefix; /* length of the file's name and a blank, at the start of the name */
	char name[SHEET_NAME_SIZE];
};

void host_figure_files_clear(struct host_figure_files *files)
{
	for (size_t i = 0; i < HOST_FILE_COUNT; i++)
		if (files->fds[i])
			close(files->fds[i] - 1);
	free(files->buffer);
	*files = (struct host_figure_files){ 0 };
}

/* Whether the number has a unit that this host tells: a recording may lack the size of a page. */
static bool can_convert(const struct capture *capture, const struct kernel_value *value)
{
	return value->raw != RAW_PAGES || capture->scale.page_bytes;
}

static int take_value(struct kernel_sink *sink, const struct kernel_value *value)
{
	struct figure_sink *own = (struct figure_sink *)sink;
	int status;

	if (!can_convert(own->capture, value))
		return 0;
	if (own->kept == own->most) {
		own->dropped++;
		return 0;
	}
	memcpy(own->name + own->prefix, value->key, strlen(value->key) + 1);
	if (own->usage_only && reading_find(own->name)->section != SECTION_HOST_USAGE)
		return 0;
	status = snapshot_note_number(
		own->capture->snapshot, SHEET_HOST, own->name,
		metric_from_raw(value->number, value->raw, &own->capture->scale));
	if (status == -E2BIG)
		own->dropped++;
	else
		own->kept++;
	return status == -ENOMEM ? status : 0;
}

static ssize_t read_open(int fd, char *buffer)
{
	ssize_t length = file_read_at(fd, 0, buffer, FILE_MAX);

	if (length == (ssize_t)FILE_MAX)
		return -EFBIG;
	if (length >= 0)
		buffer[length] = '\0';
	return length;
}

static ssize_t read_file(struct host_figure_files *files, const struct host *host,
			 enum host_file_id id)
{
	if (!files->buffer)
		files->buffer = malloc(FILE_MAX);
	if (!files->buffer)
		return -ENOMEM;
	if (!files->fds[id]) {
		int fd = file_open_below(host->proc, host_files[id].path, O_RDONLY | O_NONBLOCK);

		if (fd < 0)
			return fd;
		files->fds[id] = fd + 1;
	}
	return read_open(files->fds[id] - 1, files->buffer);
}

static int note_absent(struct capture *capture, const struct host_file *file, int status)
{
	const struct host *host = capture->host;
	const char *reason = status == -ENOENT ? missing_reason(host, file->missing) :
			     status == -EFBIG  ? "the file is larger than 256 KiB" :
			     status == -EBADMSG ?
						"the file does not say it in a form that is known" :
						strerrordesc_np(-status);
	char name[SHEET_NAME_SIZE];

	snprintf(name, sizeof(name), "%s %s", file->name, file->all);
	return sheet_set_absent(&capture->snapshot->sheets[SHEET_HOST], name, reason);
}

/* Counts a file that was read, and what could not be kept of it. */
static int count_parsed(struct capture *capture, const struct host_file *file,
			const struct figure_sink *sink, int bad)
{
	struct source_tally *tally = &capture->tallies[SOURCE_HOST_FIGURES];

	source_count(tally, sink->dropped ? -E2BIG : bad ? -EBADMSG : 0);
	if (sink->dropped)
		tally->reason = "more disks, network interfaces, CPUs or interrupts than are kept";
	else if (bad)
		tally->reason = "files with lines that make no sense";
	return bad && !sink->kept ? note_absent(capture, file, -EBADMSG) : 0;
}

static int collect_file(struct capture *capture, struct host_figure_files *files,
			enum host_file_id id, bool usage_only)
{
	const struct host_file *file = &host_files[id];
	struct figure_sink sink = { .sink = { take_value },
				    .capture = capture,
				    .usage_only = usage_only,
				    .most = file->most };
	ssize_t length = read_file(files, capture->host, id);
	int bad;

	if (length == -ENOMEM)
		return -ENOMEM;
	if (length < 0) {
		source_count(&capture->tallies[SOURCE_HOST_FIGURES], length);
		return note_absent(capture, file, (int)length);
	}
	sink.prefix = (size_t)snprintf(sink.name, sizeof(sink.name), "%s ", file->name);
	bad = kernel_parse(file->format, files->buffer, &sink.sink);
	return bad < 0 ? bad : count_parsed(capture, file, &sink, bad);
}

int host_figures_collect(struct capture *capture)
{
	CLEANUP(host_figure_files_clear) struct host_figure_files own = { 0 };
	struct host_figure_files *files = capture->sampling ? &capture->sampling->figures : &own;
	struct source_tally *tally = &capture->tallies[SOURCE_HOST_FIGURES];
	int status = 0;

	if (!source_wanted(capture, SOURCE_HOST_FIGURES))
		return 0;
	for (int id = 0; status == 0 && id < HOST_FILE_COUNT; id++)
		status = collect_file(capture, files, (enum host_file_id)id, false);
	if (!tally->read && !tally->failed)
		source_set_unseen(capture->host, tally,
				  missing_reason(capture->host, "proc does not have its files"));
	return status;
}

int host_usage_read(const struct host *host, struct snapshot *snapshot)
{
	static const enum host_file_id files[] = { HOST_FILE_STAT,   HOST_FILE_LOADAVG,
						   HOST_FILE_MEMINFO, HOST_FILE_VMSTAT,
						   HOST_FILE_DISKSTATS, HOST_FILE_NET_DEV };
	CLEANUP(host_figure_files_clear) struct host_figure_files own = { 0 };
	const struct capture_options all = { 0 };
	struct capture capture = { .host = host,
				   .options = &all,
				   .snapshot = snapshot,
				   .scale = { host->tick_ns, host->page_bytes } };
	int status = 0;

	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(files); i++)
		status = collect_file(&capture, &own, files[i], true);
	return status;
}
