/* SPDX-License-Identifier: MIT */
#include "collect/host/sched_ext.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/host/host_context.h"

struct attribute {
	const char *path;
	const char *name;
	bool is_text;
	const char *missing; /* why its file may be missing, other than an old kernel; or NULL */
};

static const struct attribute attributes[] = {
	{ "state", "sched_ext state", true, NULL },
	{ "switch_all", "sched_ext switch_all", false, NULL },
	{ "nr_rejected", "sched_ext nr_rejected", false, NULL },
	{ "hotplug_seq", "sched_ext hotplug_seq", false, NULL },
	{ "enable_seq", "sched_ext enable_seq", false, NULL },
	{ "root/ops", "sched_ext ops", true, "no BPF scheduler is loaded" },
};

/*
 * Why an attribute is not known.  A scheduler has a directory of its own only while it is loaded.
 */
static const char *absence(const struct host *host, const struct attribute *attribute, int status)
{
	if (status == -ENOENT && !host->live)
		return NOT_RECORDED;
	if (status == -ENOENT)
		return attribute->missing ? attribute->missing : "this kernel does not report it";
	return status < 0 && status != -ENODATA ? strerrordesc_np(-status) :
						  "its file makes no sense";
}

static int note_attribute(struct capture *capture, int dir, const struct attribute *attribute)
{
	struct snapshot *snapshot = capture->snapshot;
	struct source_tally *tally = &capture->tallies[SOURCE_SCHED_EXT];
	char line[HOST_LINE_SIZE];
	uint64_t number;

	int status = host_line_read(tally, dir, attribute->path, line);

	if (status == 0 && attribute->is_text)
		return snapshot_note_text(snapshot, SHEET_HOST, attribute->name, line);
	if (status == 0 && parse_u64(line, &number))
		return snapshot_note_number(snapshot, SHEET_HOST, attribute->name, number);
	return sheet_set_absent(&snapshot->sheets[SHEET_HOST], attribute->name,
				absence(capture->host, attribute, status));
}

static int note_all(struct capture *capture, int dir)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(attributes); i++)
		status = note_attribute(capture, dir, &attributes[i]);
	return status;
}

int sched_ext_collect(struct capture *capture)
{
	const struct gate *gate = &capture->gates[GATE_SCHED_CLASS_EXT];
	struct source_tally *tally = &capture->tallies[SOURCE_SCHED_EXT];
	CLEANUP(close_fd) int dir = -1;

	if (!source_wanted(capture, SOURCE_SCHED_EXT))
		return 0;
	if (!gate->open) {
		source_set_missing(tally, gate->reason);
		return 0;
	}
	dir = host_open_directory(capture->host->sys, "kernel/sched_ext");
	if (dir < 0) {
		source_count(tally, dir);
		return 0;
	}
	return note_all(capture, dir);
}
