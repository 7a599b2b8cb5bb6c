/*
 * doctor: tries every source here and now, and says what would make more of
 * them work.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "collect/capture.h"
#include "collect/gate.h"
#include "host/host.h"
#include "model/snapshot.h"
#include "render/capture_note.h"

/* Reading the files of every thread is quick up to here; beyond, two processes are a sample. */
#define PROCFS_TASKS_MAX 2000

static struct {
	const char *format;
	const char *root;
} args;

static const struct option options[] = {
	{ 0, "format", OPTION_TEXT, &args.format, "FORMAT", "how to print it", "text|json" },
	{ 0, "root", OPTION_TEXT, &args.root, "DIR", "examine a recorded tree instead of this host",
	  NULL },
	{ 0 },
};

/* What was found out: the best way of listing tasks, and procfs on its own. */
struct findings {
	struct host *host;
	struct snapshot *best;
	struct snapshot *procfs; /* or NULL */
	struct gate gates[GATE_COUNT];
};

static void findings_free(struct findings *findings)
{
	snapshot_free(findings->best);
	snapshot_free(findings->procfs);
	host_close(findings->host);
}

/* Procfs on its own, of all or of two processes; it stays NULL when those are gone by now. */
/* What procfs alone would give; where it gives nothing the best way speaks for both. */
static void examine_procfs(struct findings *findings)
{
	const struct snapshot *best = findings->best;
	struct capture_options capture = { .lister = LIST_PROCFS };
	struct error ignored = { 0 };
	int32_t sample[2];

	if (best->task_count > PROCFS_TASKS_MAX && findings->host->live) {
		sample[0] = best->processes[0].tgid;
		sample[1] = best->processes[best->process_count - 1].tgid;
		capture.pids = sample;
		capture.pid_count = best->process_count > 1 ? 2 : 1;
	}
	(void)capture_take(findings->host, &capture, &findings->procfs, &ignored);
}

static int examine(struct findings *findings, struct error *error)
{
	const struct capture_options capture = { .lister = LIST_AUTO };
	int status = host_open(&findings->host, args.root, error);

	if (status == 0)
		status = capture_take(findings->host, &capture, &findings->best, error);
	if (status < 0)
		return status;
	gates_read(findings->host, findings->gates);
	examine_procfs(findings);
	return 0;
}

/* The iterator makes some files needless; the capture that read more of a source knows it better. */
static const struct source_report *report_of(const struct findings *findings, size_t i)
{
	const struct source_report *best = &findings->best->sources[i];
	const struct source_report *procfs;

	if (!findings->procfs)
		return best;
	procfs = &findings->procfs->sources[i];
	return best->read + best->failed >= procfs->read + procfs->failed ? best : procfs;
}

static bool is_usable(const struct source_report *report)
{
	return report->state == SOURCE_OK || report->state == SOURCE_PARTIAL;
}

static void print_source(FILE *out, const struct source_report *report)
{
	int id = source_find(report->name);

	fprintf(out, "  %-14s %-12s %s\n", report->name, source_state_name(report->state),
		id >= 0 ? sources[id].gives : "");
	if (report->reason)
		fprintf(out, "  %-14s %-12s why: %s\n", "", "", report->reason);
	if (report->state != SOURCE_OK && id >= 0)
		fprintf(out, "  %-14s %-12s needs: %s\n", "", "", sources[id].needs);
}

static void print_gate(FILE *out, enum metric_gate id, const struct gate *gate)
{
	fprintf(out, "  %-22s %s%s%s\n", metric_gate_name(id), gate->open ? "yes" : "no",
		gate->reason ? ": " : "", gate->reason ? gate->reason : "");
}

static void print_text(FILE *out, const struct findings *findings)
{
	CLEANUP(text_free) struct text note = { 0 };

	capture_note(findings->best, &note);
	fprintf(out, "A capture now: %s.\n\nSources:\n", text_string(&note));
	for (size_t i = 0; i < findings->best->source_count; i++)
		print_source(out, report_of(findings, i));
	fputs("\nKernel:\n", out);
	for (int id = GATE_NONE + 1; id < GATE_COUNT; id++)
		print_gate(out, id, &findings->gates[id]);
	fprintf(out, "  %-22s %s\n", "cgroup paths",
		findings->host->cgroup.version ? findings->host->cgroup.name :
						 "no cgroup hierarchy is mounted");
}

static void json_source(struct json *json, const struct source_report *report)
{
	int id = source_find(report->name);

	json_begin_object(json);
	source_json_members(json, report);
	json_key(json, "usable");
	json_bool(json, is_usable(report));
	if (id >= 0) {
		json_member_string(json, "gives", sources[id].gives);
		json_member_string(json, "needs", sources[id].needs);
	}
	json_end_object(json);
}

static void json_gate(struct json *json, enum metric_gate id, const struct gate *gate)
{
	json_begin_object(json);
	json_member_string(json, "name", metric_gate_name(id));
	json_key(json, "open");
	json_bool(json, gate->open);
	json_member_text(json, "reason", gate->reason);
	json_end_object(json);
}

static void print_json(FILE *out, const struct findings *findings)
{
	struct json json = json_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-doctor");
	json_member_u64(&json, "version", 1);
	json_key(&json, "sources");
	json_begin_array(&json);
	for (size_t i = 0; i < findings->best->source_count; i++)
		json_source(&json, report_of(findings, i));
	json_end_array(&json);
	json_key(&json, "gates");
	json_begin_array(&json);
	for (int id = GATE_NONE + 1; id < GATE_COUNT; id++)
		json_gate(&json, id, &findings->gates[id]);
	json_end_array(&json);
	json_member_text(&json, "cgroup_hierarchy",
			 findings->host->cgroup.version ? findings->host->cgroup.name : NULL);
	json_key(&json, "capture");
	capture_json(&json, findings->best);
	json_end_object(&json);
}

static int run(char **words, int count, struct error *error)
{
	CLEANUP(findings_free) struct findings findings = { 0 };
	int status = examine(&findings, error);

	(void)words;
	(void)count;
	if (status < 0)
		return status;
	if (args.format && strcmp(args.format, "json") == 0)
		print_json(stdout, &findings);
	else
		print_text(stdout, &findings);
	return 0;
}

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "",
	.summary = "say which sources work here, which do not, and why",
	.description =
		"Takes a capture without keeping it and tells of each source whether it works for\n"
		"this user on this host, why not, and the least change that would enable it. Nothing\n"
		"on the host is changed, and no setting needs to be weakened for good.",
	.examples = "taskscope doctor\twhat works here\n"
		    "sudo taskscope doctor\twhat would work as root\n"
		    "taskscope doctor --format json\tfor programs",
	.options = options,
	.words_max = 0,
	.run = run,
};
