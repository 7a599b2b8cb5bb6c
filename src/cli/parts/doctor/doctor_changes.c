/* SPDX-License-Identifier: MIT */
#include "cli/parts/doctor/doctor_changes.h"

#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/collection/array.h"
#include "base/json.h"
#include "cli/parts/doctor/doctor_findings.h"
#include "host/host.h"
#include "host/privilege.h"
#include "model/snapshot/snapshot.h"

/* What taskscope needs to see everything; with BPF it does without CAP_NET_ADMIN. */
static const struct {
	int number;
	const char *name, *file_name; /* in reasons, and for setcap */
} capabilities[] = {
	{ CAP_BPF, "CAP_BPF", "cap_bpf" },
	{ CAP_PERFMON, "CAP_PERFMON", "cap_perfmon" },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "cap_sys_ptrace" },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "cap_dac_read_search" },
	{ CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE", "cap_sys_resource" },
};

/* Reasons to which the task iterator is the remedy. */
static const char *const iterator_reasons[] = { "the BPF task iterator does", "CAP_NET_ADMIN" };

/* What is more than metrics; the first way of each is the best. */
static const struct {
	const char *name;
	size_t attempts; /* in struct doctor_attempts */
} features[] = {
	{ "kernel events for run, attach and why", offsetof(struct doctor_attempts, tracers) },
	{ "stacks", offsetof(struct doctor_attempts, stacks) },
	{ "events of recordings", offsetof(struct doctor_attempts, lives) },
	{ "activity of recordings", offsetof(struct doctor_attempts, activity) },
};

static bool lacks_best(const struct findings *findings, size_t feature)
{
	const struct attempts *attempts =
		(const void *)((const char *)&findings->attempts + features[feature].attempts);

	return attempts->list[0].state == SOURCE_UNAVAILABLE;
}

/* Whether it can be given: to a file for a plain user, to a container for root. */
static bool is_lacking(int capability)
{
	return !host_has_capability(capability) &&
	       (geteuid() == 0 || host_may_get_capability(capability));
}

/* Whether the reason names a capability that we lack, or what only those allow to read. */
static bool is_for_lack_of_capability(const char *reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++)
		if (is_lacking(capabilities[i].number) &&
		    strstr(reason, capabilities[i].name))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(iterator_reasons); i++)
		if (!host_has_capability(CAP_BPF) && strstr(reason, iterator_reasons[i]))
			return true;
	return false;
}

/* Metrics that some tasks do not have because a gate is closed; of GATE_NONE, for lack of a capability. */
static size_t count_metrics(const struct findings *findings, enum metric_gate gate)
{
	size_t count = 0;

	for (int id = 0; id < METRIC_STORED; id++) {
		const char *reason = findings->best->columns[id].absent;

		if (metric_is_only_traced(id) || !reason)
			continue;
		count += gate == GATE_NONE ? is_for_lack_of_capability(reason) :
					     metrics[id].gate == gate;
	}
	return count;
}

/* Names the file of the running program, so that the command can be copied. */
static void append_setcap(const struct findings *findings, const char *names, struct text *out)
{
	char path[PATH_MAX];
	ssize_t length = readlinkat(findings->host->proc, "self/exe", path, sizeof(path) - 1);

	path[length > 0 ? length : 0] = '\0';
	text_format(out, "sudo setcap %s+ep ", names);
	if (length > 0)
		text_append_escaped(out, path, (size_t)length);
	else
		text_append_string(out, "taskscope");
}

/* As root in a container, a file's capabilities are of no use. */
static void add_capabilities(const struct findings *findings, struct changes *changes)
{
	struct change *change = &changes->list[changes->count];
	CLEANUP(text_free) struct text names = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++)
		if (is_lacking(capabilities[i].number))
			text_format(&names, geteuid() == 0 ? " --cap-add=%s" : ",%s",
				    geteuid() == 0 ? capabilities[i].name :
						     capabilities[i].file_name);
	if (!names.length)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (lacks_best(findings, i))
			change->features[change->feature_count++] = features[i].name;
	change->metrics = count_metrics(findings, GATE_NONE);
	if (!change->metrics && !change->feature_count)
		return;
	text_append_string(&change->why, "taskscope lacks capabilities");
	if (geteuid() == 0) {
		text_format(&change->command, "docker run%s", text_string(&names));
		text_append_string(&change->then,
				   "a container can be started with them");
	} else {
		append_setcap(findings, text_string(&names) + 1, &change->command);
		text_append_string(&change->then, "or run it with sudo");
	}
	changes->count++;
	changes->gives_capabilities = true;
}

/* The change that runs this command, new if there is none. */
static struct change *change_for(struct changes *changes, const char *command, size_t length)
{
	const char *sudo = geteuid() == 0 ? "" : "sudo ";
	CLEANUP(text_free) struct text wanted = { 0 };

	text_format(&wanted, "%s%.*s", sudo, (int)length, command);
	for (size_t i = 0; i < changes->count; i++)
		if (strcmp(text_string(&changes->list[i].command), text_string(&wanted)) == 0)
			return &changes->list[i];
	if (changes->count == CHANGES_MAX)
		return NULL;
	text_append(&changes->list[changes->count].command, wanted.data, wanted.length);
	return &changes->list[changes->count++];
}

/* The reason of a gate says what is off (in brackets how it is set), and which `command` turns it on. */
static void add_gate(const struct findings *findings, enum metric_gate gate,
		     struct changes *changes)
{
	const char *reason = findings->gates[gate].reason;
	const char *command = reason ? strchr(reason, '`') : NULL;
	const char *end = command ? strchr(command + 1, '`') : NULL;
	struct change *change = NULL;

	if (findings->gates[gate].open || !end)
		return;
	change = change_for(changes, command + 1, (size_t)(end - command - 1));
	if (!change)
		return;
	change->metrics += count_metrics(findings, gate);
	if (change->why.length)
		return;
	text_append(&change->why, reason, strcspn(reason, "(;") - (strchr(reason, '(') ? 1 : 0));
	text_append_string(&change->then, end + 1 + strspn(end + 1, " "));
}

static int compare_changes(const void *first, const void *second)
{
	const struct change *a = first, *b = second;
	size_t of_a = a->metrics + a->feature_count, of_b = b->metrics + b->feature_count;

	return (of_a < of_b) - (of_a > of_b);
}

void changes_find(const struct findings *findings, struct changes *ret)
{
	*ret = (struct changes){ 0 };
	if (!findings->host->live)
		return;
	add_capabilities(findings, ret);
	for (int gate = GATE_NONE + 1; gate < GATE_COUNT; gate++)
		add_gate(findings, (enum metric_gate)gate, ret);
	qsort(ret->list, ret->count, sizeof(ret->list[0]), compare_changes);
}

void changes_free(struct changes *changes)
{
	for (size_t i = 0; i < CHANGES_MAX; i++) {
		text_free(&changes->list[i].why);
		text_free(&changes->list[i].command);
		text_free(&changes->list[i].then);
	}
}

void changes_json(struct json *json, const struct changes *changes)
{
	json_member_array(json, "changes");
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *change = &changes->list[i];

		json_begin_object(json);
		json_member_string(json, "why", text_string(&change->why));
		json_member_string(json, "command", text_string(&change->command));
		json_member_string(json, "then", text_string(&change->then));
		json_member_u64(json, "metrics", change->metrics);
		json_member_array(json, "features");
		for (size_t j = 0; j < change->feature_count; j++)
			json_string(json, change->features[j]);
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}
