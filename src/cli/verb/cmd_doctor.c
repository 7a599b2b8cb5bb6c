/* SPDX-License-Identifier: MIT */
/*
 * doctor: tries every source here and now, and says what would make more of
 * them work.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/group/selection.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/args/view_args.h"
#include "cli/parts/doctor/doctor_attempts.h"
#include "cli/parts/doctor/doctor_brief.h"
#include "cli/parts/doctor/doctor_changes.h"
#include "cli/parts/doctor/doctor_findings.h"
#include "collect/capture.h"
#include "collect/gate.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "render/page.h"
#include "render/sheet/sheet_view.h"
#include "render/snapshot/capture_note.h"

/* As wide as the longest name of a gate. */
#define GATE_WIDTH 24
#define BRIEF_WIDTH 80

static struct {
	struct view_args view;
	const char *root;
} args;

static const struct option options[] = {
	FORMAT_OPTION(args.view, "text|json"),
	VERBOSE_OPTION(
		args.view,
		"all sources, ways to follow processes and absent values, each with its reason"),
	{ 0, "root", OPTION_TEXT, &args.root, "DIR", "examine a recorded tree instead of this host",
	  NULL },
	{ 0 },
};

static bool is_usable(const struct source_report *report)
{
	return report->state == SOURCE_OK || report->state == SOURCE_PARTIAL;
}

static void print_source(FILE *out, const struct findings *findings,
			 const struct source_report *report)
{
	const char *needs = findings_needs(findings, report);
	int id = source_find(report->name);

	fprintf(out, "  %-14s %-12s %s\n", report->name, source_state_name(report->state),
		id >= 0 ? sources[id].gives : "");
	if (report->reason)
		fprintf(out, "  %-14s %-12s why: %s\n", "", "", report->reason);
	if (report->state != SOURCE_OK && needs)
		fprintf(out, "  %-14s %-12s %s%s\n", "", "",
			needs == source_denied ? "" : "needs: ", needs);
}

/* Prints what is missing although its source works, by reason, as `show` does below its tables. */
static void print_absences(FILE *out, const struct snapshot *snapshot)
{
	CLEANUP(text_free) struct text lines = { 0 };
	struct selection stored = { 0 };

	for (int id = 0; id < METRIC_STORED; id++)
		if (!metric_is_only_traced(id))
			selection_add(&stored, (enum metric_id)id);
	capture_absences(snapshot, &stored, &lines);
	(void)sheet_notes_append(&snapshot->sheets[SHEET_HOST], SHEET_NOTE_ABSENT, ALL_SECTIONS,
				 &lines);
	(void)sheet_notes_append(&snapshot->sheets[SHEET_CGROUPS], SHEET_NOTE_ABSENT, ALL_SECTIONS,
				 &lines);
	if (!lines.length)
		return;
	fputs("\nAbsent:\n", out);
	for (char *rest = lines.data, *line; *rest && (line = strsep(&rest, "\n"));)
		fprintf(out, "  %s\n", line);
}

static void print_gate(FILE *out, enum metric_gate id, const struct gate *gate)
{
	fprintf(out, "  %-*s %s%s%s\n", GATE_WIDTH, metric_gate_name(id), gate->open ? "yes" : "no",
		gate->reason ? ": " : "", gate->reason ? gate->reason : "");
}

static void print_text(FILE *out, const struct findings *findings)
{
	CLEANUP(text_free) struct text note = { 0 };

	capture_note(findings->best, &note);
	fprintf(out, "A capture now: %s.\n\nSources:\n", text_string(&note));
	for (size_t i = 0; i < findings->best->source_count; i++)
		print_source(out, findings, findings_source(findings, i));
	attempts_print(out, "Following a tree of processes", &findings->attempts.tracers);
	attempts_print(out, "Stacks of a tree of processes", &findings->attempts.stacks);
	attempts_print(out, "Names of the kernel's functions in stacks",
		       &findings->attempts.kernel_names);
	attempts_print(out, "Events of a recording", &findings->attempts.lives);
	attempts_print(out, "Activity of a recording", &findings->attempts.activity);
	fputs("\nKernel:\n", out);
	for (int id = GATE_NONE + 1; id < GATE_COUNT; id++)
		print_gate(out, id, &findings->gates[id]);
	fprintf(out, "  %-*s %s\n", GATE_WIDTH, "cgroup paths",
		findings->host->cgroup.version ? findings->host->cgroup.name :
						 "no cgroup hierarchy is mounted");
	print_absences(out, findings->best);
}

static int print_page(const struct findings *findings, const struct changes *changes)
{
	struct terminal terminal = terminal_of(stdout);
	struct page page;

	/* The short one is a screen also where there is no terminal. */
	if (!terminal.width && !args.view.verbose)
		terminal.width = BRIEF_WIDTH;
	page_open_for(&page, terminal, stdout);
	if (args.view.verbose)
		print_text(page.out, findings);
	else
		doctor_brief(page.out, terminal.colour, findings, changes);
	return page_close(&page);
}

static void json_source(struct json *json, const struct findings *findings,
			const struct source_report *report)
{
	int id = source_find(report->name);

	json_begin_object(json);
	source_json_members(json, report);
	json_member_bool(json, "usable", is_usable(report));
	if (id >= 0) {
		json_member_string(json, "gives", sources[id].gives);
		json_member_text(json, "needs", findings_needs(findings, report));
	}
	json_end_object(json);
}

static void json_gate(struct json *json, enum metric_gate id, const struct gate *gate)
{
	json_begin_object(json);
	json_member_string(json, "name", metric_gate_name(id));
	json_member_bool(json, "open", gate->open);
	json_member_text(json, "reason", gate->reason);
	json_end_object(json);
}

static void json_absences(struct json *json, const struct snapshot *snapshot)
{
	json_member_object(json, "absent");
	for (int id = 0; id < METRIC_STORED; id++)
		if (snapshot->columns[id].absent)
			json_member_string(json, metrics[id].name, snapshot->columns[id].absent);
	json_end_object(json);
	sheet_json_host_absent(json, snapshot, ALL_SECTIONS);
	sheet_json_cgroup_absent(json, snapshot, ALL_SECTIONS);
}

static void print_json(FILE *out, const struct findings *findings, const struct changes *changes)
{
	struct json json = json_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-doctor");
	json_member_u64(&json, "version", 1);
	changes_json(&json, changes);
	json_member_array(&json, "sources");
	for (size_t i = 0; i < findings->best->source_count; i++)
		json_source(&json, findings, findings_source(findings, i));
	json_end_array(&json);
	attempts_json(&json, "tracers", &findings->attempts.tracers);
	attempts_json(&json, "stack_sources", &findings->attempts.stacks);
	attempts_json(&json, "kernel_name_sources", &findings->attempts.kernel_names);
	attempts_json(&json, "lifecycle_sources", &findings->attempts.lives);
	attempts_json(&json, "activity_sources", &findings->attempts.activity);
	json_member_array(&json, "gates");
	for (int id = GATE_NONE + 1; id < GATE_COUNT; id++)
		json_gate(&json, id, &findings->gates[id]);
	json_end_array(&json);
	json_member_text(&json, "cgroup_hierarchy",
			 findings->host->cgroup.version ? findings->host->cgroup.name : NULL);
	json_key(&json, "capture");
	capture_json(&json, findings->best);
	json_absences(&json, findings->best);
	json_end_object(&json);
}

int verb_doctor(char **words, int count, struct error *error)
{
	CLEANUP(findings_free) struct findings findings = { 0 };
	CLEANUP(changes_free) struct changes changes = { 0 };
	int status = findings_make(&findings, args.root, error);

	(void)words;
	(void)count;
	if (status < 0)
		return status;
	changes_find(&findings, &changes);
	if (view_format(&args.view) == FORMAT_JSON)
		print_json(stdout, &findings, &changes);
	else
		status = print_page(&findings, &changes);
	return status < 0 ? error_set(error, status, "out of memory") : 0;
}

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "",
	.summary = "say which sources work here, which do not, and why",
	.description =
		"Takes a capture without keeping it, tries every way to follow processes, and\n"
		"says what works for this user on this host, which three changes would add most,\n"
		"with their commands, and what else is absent. -v says it for each source: whether\n"
		"it works, why not, and the least change that would enable it; then the same of\n"
		"each way to follow processes for run, attach and why, and of everything else\n"
		"that is absent, why. Nothing on the host is changed, and no setting needs to be\n"
		"weakened for good.",
	.examples = "taskscope doctor\twhat works here, and what would add most\n"
		    "taskscope doctor -v\teach source, with its reasons\n"
		    "sudo taskscope doctor\twhat would work as root\n"
		    "taskscope doctor --format json\tfor programs",
	.options = options,
	.words_max = 0,
};
