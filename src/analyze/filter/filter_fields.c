/* SPDX-License-Identifier: MIT */
#include "analyze/filter/filter_match.h"
#include "model/snapshot/snapshot.h"

static const struct process *process_of(const struct snapshot *snapshot, uint32_t task)
{
	return &snapshot->processes[snapshot->tasks[task].process];
}

static uint32_t pcomm_of(const struct snapshot *snapshot, uint32_t task)
{
	return process_of(snapshot, task)->pcomm;
}

static uint32_t comm_of(const struct snapshot *snapshot, uint32_t task)
{
	return snapshot->tasks[task].comm;
}

static uint32_t user_of(const struct snapshot *snapshot, uint32_t task)
{
	return process_of(snapshot, task)->user;
}

static uint32_t cgroup_of(const struct snapshot *snapshot, uint32_t task)
{
	return snapshot->tasks[task].cgroup;
}

static uint32_t scope_of(const struct snapshot *snapshot, uint32_t task)
{
	return snapshot->tasks[task].scope;
}

static uint32_t cmdline_of(const struct snapshot *snapshot, uint32_t task)
{
	return process_of(snapshot, task)->cmdline;
}

static uint32_t exe_of(const struct snapshot *snapshot, uint32_t task)
{
	return process_of(snapshot, task)->exe;
}

/* 0 is the number of a row that stands for several. */
static bool pid_of(const struct snapshot *snapshot, uint32_t task, double *ret)
{
	*ret = process_of(snapshot, task)->tgid;
	return *ret != 0;
}

static bool tid_of(const struct snapshot *snapshot, uint32_t task, double *ret)
{
	*ret = snapshot->tasks[task].tid;
	return *ret != 0;
}

static bool ppid_of(const struct snapshot *snapshot, uint32_t task, double *ret)
{
	uint32_t process = snapshot->tasks[task].process;
	uint64_t parent = (uint64_t)snapshot->processes[process].parent;

	if (!parent && !snapshot_get(snapshot, METRIC_ppid, process, &parent))
		return false;
	*ret = (double)parent;
	return true;
}

static bool uid_of(const struct snapshot *snapshot, uint32_t task, double *ret)
{
	uint64_t uid;

	if (!snapshot_get(snapshot, METRIC_uid, snapshot->tasks[task].process, &uid))
		return false;
	*ret = (double)uid;
	return true;
}

const struct filter_field_info filter_fields[FILTER_METRIC] = {
#define NAME false
#define PATH true
#define THREAD false
#define PROCESS true
#define FILTER_FIELD(id, ...) { #id, __VA_ARGS__ },
#include "analyze/filter/filter_fields.def"
};

bool filter_term_has_names(const struct filter_term *term)
{
	if (term->field == FILTER_METRIC)
		return !metric_has_numbers(&metrics[term->metric]);
	return filter_fields[term->field].text != NULL;
}

bool filter_term_may_have_number(const struct filter_term *term)
{
	return term->field != FILTER_METRIC && filter_fields[term->field].number;
}
