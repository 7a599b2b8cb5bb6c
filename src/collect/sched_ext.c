#include "collect/sched_ext.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/host_line.h"

struct attribute {
	const char *path;
	const char *name;
	bool is_text;
};

static const struct attribute attributes[] = {
	{ "state", "sched_ext state", true },
	{ "switch_all", "sched_ext switch_all", false },
	{ "nr_rejected", "sched_ext nr_rejected", false },
	{ "hotplug_seq", "sched_ext hotplug_seq", false },
	{ "enable_seq", "sched_ext enable_seq", false },
};

static int note_attribute(struct capture *capture, int dir, const struct attribute *attribute)
{
	struct snapshot *snapshot = capture->snapshot;
	struct source_tally *tally = &capture->tallies[SOURCE_SCHED_EXT];
	char line[HOST_LINE_SIZE];
	uint64_t number;

	if (!host_line_read(tally, dir, attribute->path, line))
		return 0;
	if (attribute->is_text)
		return snapshot_note_text(snapshot, SHEET_HOST, attribute->name, line);
	if (parse_u64(line, &number))
		return snapshot_note_number(snapshot, SHEET_HOST, attribute->name, number);
	return 0;
}

/* The scheduler has a directory of its own as long as it is loaded. */
static int note_scheduler(struct capture *capture, int dir)
{
	static const struct attribute ops = { "root/ops", "sched_ext ops", true };
	struct sheet *sheet = &capture->snapshot->sheets[SHEET_HOST];
	int status = note_attribute(capture, dir, &ops);

	if (status < 0 || sheet_find(sheet, ops.name))
		return status;
	return sheet_set_absent(sheet, ops.name,
				capture->host->live ? "no BPF scheduler is loaded" : NOT_RECORDED);
}

static int note_all(struct capture *capture, int dir)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(attributes); i++)
		status = note_attribute(capture, dir, &attributes[i]);
	return status < 0 ? status : note_scheduler(capture, dir);
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
