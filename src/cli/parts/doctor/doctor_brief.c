/* SPDX-License-Identifier: MIT */
#include "cli/parts/doctor/doctor_brief.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/parts/doctor/doctor_changes.h"
#include "cli/parts/doctor/doctor_findings.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "render/style.h"

/* A screen of 24 lines has room for so many. */
#define CHANGES_SHOWN 3
#define ABSENT_SHOWN 4
/* Commands are broken before this column, in a way that the shell reads. */
#define COMMAND_WIDTH 80

/* How many metrics a capture can have, and of how many there is a value. */
static void count_metrics(const struct snapshot *snapshot, size_t *ret_all, size_t *ret_measured)
{
	*ret_all = *ret_measured = 0;
	for (int id = 0; id < METRIC_STORED; id++) {
		if (metric_is_only_traced(id))
			continue;
		++*ret_all;
		*ret_measured += snapshot_measured(snapshot, (enum metric_id)id) > 0;
	}
}

/* The first way that works, or NULL. */
static const struct attempt *used(const struct attempts *attempts)
{
	for (size_t i = 0; i < attempts->count; i++)
		if (attempts->list[i].state == SOURCE_OK ||
		    attempts->list[i].state == SOURCE_PARTIAL)
			return &attempts->list[i];
	return NULL;
}

static void print_used(FILE *out, const char *verbs, const struct attempts *attempts,
		       const char *more, const struct attempts *others)
{
	const struct attempt *first = used(attempts);

	if (first)
		fprintf(out, "  %-17s by %s, %s%s%s\n", verbs, first->name,
			used(others) ? "with " : "without ", more,
			first->misses ? "; can miss processes" : "");
	else
		fprintf(out, "  %-17s do not work: %s\n", verbs, attempts->list[0].reason.message);
}

/* By which way GPUs are asked, or why there is none. */
static void print_gpu(FILE *out, const struct findings *findings)
{
	const struct source_report *gpu = findings_source(findings, SOURCE_GPU);
	bool works = gpu->state == SOURCE_OK || gpu->state == SOURCE_PARTIAL;

	if (gpu->reason)
		fprintf(out, "  %-17s %s%s\n", "--gpu", works ? "" : "nothing: ", gpu->reason);
}

static void print_works(FILE *out, bool colour, const struct findings *findings)
{
	const struct snapshot *best = findings->best;
	bool by_iterator = best->sources[SOURCE_TASK_ITERATOR].state == SOURCE_OK ||
			   best->sources[SOURCE_TASK_ITERATOR].state == SOURCE_PARTIAL;
	size_t all, measured;

	count_metrics(best, &all, &measured);
	style_line(out, colour, STYLE_HEADING, "%s %zu of %zu metrics of %zu processes",
		   findings->host->live ? "taskscope works here:" : "This recorded tree has",
		   measured, all, (size_t)best->process_count);
	fprintf(out, "  %-17s by %s\n", "capture, show",
		by_iterator ? "the task iterator, in one kernel walk" : "procfs");
	if (!findings->host->live)
		return;
	print_used(out, "run, attach, why", &findings->attempts.tracers, "stacks",
		   &findings->attempts.stacks);
	print_used(out, "record", &findings->attempts.lives, "activity",
		   &findings->attempts.activity);
	print_gpu(out, findings);
}

static void print_command(FILE *out, const char *command)
{
	size_t column = 0;

	while (*command) {
		size_t length = strcspn(command, " ");

		if (column && column + 1 + length + 2 > COMMAND_WIDTH) {
			fputs(" \\\n", out);
			column = 0;
		}
		fprintf(out, "%s%.*s", column ? " " : "    ", (int)length, command);
		column += length + (column ? 1 : 4);
		command += length + (command[length] == ' ');
	}
	fputc('\n', out);
}

static void print_change(FILE *out, size_t number, const struct change *change)
{
	fprintf(out, "%zu. %s: this adds ", number, text_string(&change->why));
	if (change->metrics)
		fprintf(out, "%zu metrics%s", change->metrics, change->feature_count ? ", " : "");
	for (size_t i = 0; i < change->feature_count; i++)
		fprintf(out, "%s%s", i ? ", " : "", change->features[i]);
	fprintf(out, " (%s)\n", text_string(&change->then));
	print_command(out, text_string(&change->command));
}

static void print_changes(FILE *out, bool colour, const struct changes *changes)
{
	if (!changes->count)
		return;
	fputc('\n', out);
	style_line(out, colour, STYLE_HEADING, "What would add most:");
	for (size_t i = 0; i < changes->count && i < CHANGES_SHOWN; i++)
		print_change(out, i + 1, &changes->list[i]);
}

static bool is_absent(const struct findings *findings, const struct changes *changes,
		      const struct source_report *report)
{
	int id = source_find(report->name);

	/* Most hosts have no GPU. */
	if (report->state == SOURCE_OK || report->state == SOURCE_OFF || id < 0 ||
	    (id == SOURCE_GPU && report->state != SOURCE_PARTIAL))
		return false;
	return findings_needs(findings, report) == source_denied || !changes->gives_capabilities ||
	       (id != SOURCE_TASK_ITERATOR && !sources[id].capabilities);
}

/* What is absent, by what it needs; names are joined. */
struct absences {
	struct {
		const char *why;
		struct text names;
	} list[SOURCE_COUNT + GATE_COUNT];
	size_t count;
};

static void absences_free(struct absences *absences)
{
	for (size_t i = 0; i < absences->count; i++)
		text_free(&absences->list[i].names);
}

/* "needs a kernel with CONFIG_X" and "was built without CONFIG_X" are the same. */
static bool is_same_reason(const char *first, const char *second)
{
	const char *option = strstr(first, "CONFIG_"), *other = strstr(second, "CONFIG_");

	return strcmp(first, second) == 0 || (option && other && strcmp(option, other) == 0);
}

static void add_absence(struct absences *absences, const char *name, const char *why)
{
	size_t i = 0;

	while (i < absences->count && !is_same_reason(absences->list[i].why, why))
		i++;
	if (i == absences->count)
		absences->list[absences->count++].why = why;
	text_format(&absences->list[i].names, "%s%s", absences->list[i].names.length ? ", " : "",
		    name);
}

static void find_absences(const struct findings *findings, const struct changes *changes,
			  struct absences *ret)
{
	for (size_t i = 0; i < findings->best->source_count; i++) {
		const struct source_report *report = findings_source(findings, i);

		if (is_absent(findings, changes, report))
			add_absence(ret, report->name, findings_needs(findings, report));
	}
	for (int gate = GATE_NONE + 1; gate < GATE_COUNT; gate++)
		if (!findings->gates[gate].open && !strchr(findings->gates[gate].reason, '`'))
			add_absence(ret, metric_gate_name((enum metric_gate)gate),
				    findings->gates[gate].reason);
}

static bool is_of_gate(const struct findings *findings, const char *why)
{
	for (int gate = GATE_NONE + 1; gate < GATE_COUNT; gate++)
		if (findings->gates[gate].reason == why)
			return true;
	return false;
}

static void print_absences(FILE *out, bool colour, const struct findings *findings,
			   const struct changes *changes)
{
	CLEANUP(absences_free) struct absences absences = { 0 };

	find_absences(findings, changes, &absences);
	if (!absences.count)
		return;
	fputc('\n', out);
	style_line(out, colour, STYLE_HEADING, "Also absent:");
	for (size_t i = 0; i < absences.count && i < ABSENT_SHOWN; i++) {
		const char *why = absences.list[i].why;
		bool is_need = why != source_denied && !is_of_gate(findings, why);

		fprintf(out, "  %s: %s%s\n", text_string(&absences.list[i].names),
			is_need ? "needs " : "", why);
	}
	if (absences.count > ABSENT_SHOWN)
		fprintf(out, "  and %zu more\n", absences.count - ABSENT_SHOWN);
}

void doctor_brief(FILE *out, bool colour, const struct findings *findings,
		  const struct changes *changes)
{
	print_works(out, colour, findings);
	print_changes(out, colour, changes);
	print_absences(out, colour, findings, changes);
	fputs("\n`taskscope doctor -v` has every source and all that is absent, with the reasons.\n", out);
}
