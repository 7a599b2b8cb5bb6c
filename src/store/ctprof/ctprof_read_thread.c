/* SPDX-License-Identifier: MIT */
/*
 * Reads a thread of a ctprof file: its row, its cells, and which of them are
 * absent.
 *
 * All fields are read first, then each family is judged: a value that is the
 * format's default counts as measured only where something proves it.
 */
#include <errno.h>
#include <string.h>

#include "store/ctprof/ctprof_read.h"
#include "store/ctprof/ctprof_table.h"

struct thread {
	int32_t tid, tgid;
	struct task task;
	const char *pcomm;
	const json_t *smaps;
	struct ctprof_value values[CTPROF_FIELDS_MAX];
	/* Families, a bit each: */
	uint32_t denied;  /* a flag says that it was not measured */
	uint32_t unknown; /* the file lacks a flag */
	uint32_t told;	  /* some value differs from its default */
};

static int read_flag(struct ctprof_reader *reader, const struct ctprof_field *field,
		     const json_t *json, struct thread *thread)
{
	bool given, measured = false;
	int status = ctprof_get_bool(reader, json, field->key, &given, &measured);

	if (!given)
		thread->unknown |= field->families;
	else if (!measured)
		thread->denied |= field->families;
	return status;
}

/* Reads a field that is a metric, by its form. */
static int read_metric(struct ctprof_reader *reader, const struct ctprof_field *field,
		       const json_t *json, struct ctprof_value *value)
{
	int32_t level = 0;
	bool flag = false;
	int status;

	switch (field->form) {
	case CTPROF_SIGNED:
		status = ctprof_get_i32(reader, json, field->key, &value->given, &level);
		value->number = (uint64_t)(int64_t)level;
		break;
	case CTPROF_BOOL:
		status = ctprof_get_bool(reader, json, field->key, &value->given, &flag);
		value->number = flag;
		break;
	case CTPROF_POLICY:
		return ctprof_get_policy(reader, json, field->key, value);
	case CTPROF_STATE:
		return ctprof_get_state(reader, json, field->key, value);
	case CTPROF_CPUS:
		return ctprof_get_cpus(reader, json, field->key, value);
	default:
		status = ctprof_get_u64(reader, json, field->key, &value->given, &value->number);
	}
	value->told = value->given && value->number;
	if (field->form == CTPROF_TICKS)
		value->number = metric_from_raw(value->number, RAW_TICKS,
						&(struct raw_scale){ .tick_ns = CTPROF_TICK_NS });
	return status;
}

static int read_name(struct ctprof_reader *reader, const json_t *json, const char *key,
		     uint32_t *ret)
{
	const char *text = NULL;
	int status = ctprof_get_text(reader, json, key, &text);

	return status < 0 || !text ? status : ctprof_intern(reader, text, ret);
}

static int read_id(struct ctprof_reader *reader, const json_t *json, const char *key, int32_t *ret)
{
	bool given;
	int status = ctprof_get_i32(reader, json, key, &given, ret);

	if (status == 0 && (!given || *ret <= 0))
		return ctprof_bad(reader, "%s is no id of a task", key);
	return status;
}

static int read_start(struct ctprof_reader *reader, const json_t *json, const char *key,
		      uint64_t *ret)
{
	uint64_t ticks = 0;
	bool given;
	int status = ctprof_get_u64(reader, json, key, &given, &ticks);

	*ret = metric_from_raw(ticks, RAW_TICKS, &(struct raw_scale){ .tick_ns = CTPROF_TICK_NS });
	return status;
}

static int read_field(struct ctprof_reader *reader, const struct ctprof_field *field,
		      const json_t *json, struct thread *thread)
{
	struct ctprof_value *value = &thread->values[field - ctprof_fields];
	int status;

	switch (field->form) {
	case CTPROF_TID:
		return read_id(reader, json, field->key, &thread->tid);
	case CTPROF_TGID:
		return read_id(reader, json, field->key, &thread->tgid);
	case CTPROF_PCOMM:
		return ctprof_get_text(reader, json, field->key, &thread->pcomm);
	case CTPROF_COMM:
		return read_name(reader, json, field->key, &thread->task.comm);
	case CTPROF_CGROUP:
		return read_name(reader, json, field->key, &thread->task.cgroup);
	case CTPROF_START_TIME:
		return read_start(reader, json, field->key, &thread->task.start_time_ns);
	case CTPROF_SMAPS:
		return ctprof_get_object(reader, json, field->key, &thread->smaps);
	case CTPROF_FLAG:
		return read_flag(reader, field, json, thread);
	default:
		status = read_metric(reader, field, json, value);
		if (value->told)
			thread->told |= 1u << field->family;
		return status;
	}
}

/* Whether the default is a value that a measurement can give. */
static bool is_default_a_value(enum ctprof_form form)
{
	return form != CTPROF_POLICY && form != CTPROF_STATE && form != CTPROF_CPUS;
}

/* Why a field of the thread is absent; NULL when it is not. */
static const char *why_absent(const struct thread *thread, const struct ctprof_field *field)
{
	const struct ctprof_value *value = &thread->values[field - ctprof_fields];
	uint32_t family = 1u << field->family;
	enum ctprof_proof proof = ctprof_proofs[field->family];

	if (!value->given)
		return CTPROF_MISSING;
	if (proof == CTPROF_FLAGGED && thread->denied & family)
		return CTPROF_UNMEASURED;
	if (value->told)
		return NULL;
	if (!is_default_a_value(field->form))
		return CTPROF_EMPTY;
	if (metrics[field->metric].scope == METRIC_OF_PROCESS)
		return CTPROF_ZERO; /* no process has 0 threads or memory; a kernel thread has none */
	if (proof == CTPROF_SIBLING && thread->told & family)
		return NULL;
	if (proof == CTPROF_FLAGGED && !(thread->unknown & family))
		return NULL;
	return field->form == CTPROF_BOOL ? CTPROF_DEFAULT : CTPROF_ZERO;
}

/* Whether there were events: then the longest and shortest cannot be 0. */
static bool had_events(const struct thread *thread, const struct ctprof_field *field)
{
	for (size_t i = 0; i < ctprof_field_count; i++)
		if (ctprof_fields[i].metric == field->events)
			return thread->values[i].told;
	return false;
}

static int set_cell(struct ctprof_reader *reader, enum metric_id metric, uint32_t row,
		    uint64_t value)
{
	int status = snapshot_need_column(reader->snapshot, metric);

	if (status == 0)
		snapshot_set(reader->snapshot, metric, row, value);
	return status;
}

static int store_metric(struct ctprof_reader *reader, const struct ctprof_field *field,
			const struct thread *thread, uint32_t row)
{
	const struct ctprof_value *value = &thread->values[field - ctprof_fields];
	const char *reason = why_absent(thread, field);

	if (!reason && field->form == CTPROF_EXTREME && !value->told && had_events(thread, field))
		reason = CTPROF_NO_EXTREMES;
	if (!reason)
		return set_cell(reader, field->metric,
				metrics[field->metric].scope == METRIC_OF_THREAD ?
					row :
					thread->task.process,
				value->number);
	if (!reader->reasons[field->metric])
		reader->reasons[field->metric] = reason;
	return 0;
}

/* The sum of the keys in "A + B + C"; false when one of them is missing. */
static bool sum_kib(const json_t *smaps, const char *keys, uint64_t *ret)
{
	uint64_t sum = 0;

	for (const char *key = keys; *key;) {
		size_t length = strcspn(key, " ");
		const json_t *value = json_object_getn(smaps, key, length);

		if (!json_is_integer(value) ||
		    __builtin_add_overflow(sum, (uint64_t)json_integer_value(value), &sum))
			return false;
		key += length;
		key += strspn(key, " +");
	}
	*ret = sum;
	return true;
}

/* Stores memory by kind of page, and the metrics that are made from it. */
static int store_smaps(struct ctprof_reader *reader, const struct thread *thread)
{
	struct raw_scale scale = { 0 };
	int status = ctprof_read_smaps(reader, thread->tgid, thread->smaps);

	for (int id = 0; id < METRIC_STORED && status == 0; id++) {
		const struct metric_source *source = metric_source(&metrics[id], PLACE_SMAPS);
		uint64_t kib;

		if (source && sum_kib(thread->smaps, source->key, &kib))
			status = set_cell(reader, (enum metric_id)id, thread->task.process,
					  metric_from_raw(kib, source->raw, &scale));
	}
	return status;
}

static int store_process(struct ctprof_reader *reader, struct thread *thread)
{
	uint32_t pcomm = 0;
	struct process *process;
	int status = ctprof_intern(reader, thread->pcomm ? thread->pcomm : "", &pcomm);

	if (status == 0)
		status = snapshot_process(reader->snapshot, thread->tgid, &thread->task.process);
	if (status < 0)
		return status;
	process = &reader->snapshot->processes[thread->task.process];
	if (pcomm)
		process->pcomm = pcomm;
	if (thread->tid == thread->tgid)
		process->start_time_ns = thread->task.start_time_ns;
	return 0;
}

static int store_thread(struct ctprof_reader *reader, struct thread *thread)
{
	uint32_t row = 0;
	int status = store_process(reader, thread);

	thread->task.tid = thread->tid;
	if (status == 0)
		status = snapshot_add_task(reader->snapshot, &thread->task, &row);
	if (status == 0)
		status = set_cell(reader, METRIC_thread_count, row, 1);
	for (size_t i = 0; i < ctprof_field_count && status == 0; i++)
		if (ctprof_fields[i].metric != METRIC_STORED)
			status = store_metric(reader, &ctprof_fields[i], thread, row);
	if (status == 0 && json_object_size(thread->smaps))
		status = store_smaps(reader, thread);
	return status < 0 ? status : ctprof_check_cost(reader);
}

int ctprof_read_thread(struct ctprof_reader *reader, const json_t *json)
{
	struct thread thread = { 0 };
	int status = json_is_object(json) ? 0 : ctprof_bad(reader, "it is no object");

	for (size_t i = 0; i < ctprof_field_count && status == 0; i++)
		status = read_field(reader, &ctprof_fields[i], json, &thread);
	if (status == 0)
		status = store_thread(reader, &thread);
	if (status == 0)
		reader->threads++;
	return status;
}

static int set_reasons(struct ctprof_reader *reader)
{
	struct snapshot *snapshot = reader->snapshot;
	int status = 0;

	for (int id = 0; id < METRIC_STORED && status == 0; id++) {
		const char *reason = reader->reasons[id];

		if (!reason)
			reason = metric_source(&metrics[id], PLACE_SMAPS) ? CTPROF_EMPTY :
									    CTPROF_FOREIGN;
		if (!metric_is_only_traced(id) &&
		    snapshot_measured(snapshot, (enum metric_id)id) <
			    snapshot_rows(snapshot, (enum metric_id)id))
			status = snapshot_set_absent(snapshot, (enum metric_id)id, reason);
	}
	return status;
}

int ctprof_finish_threads(struct ctprof_reader *reader)
{
	struct snapshot *snapshot = reader->snapshot;
	int status = snapshot_finish(snapshot);

	if (status < 0)
		return status;
	for (size_t row = 1; row < snapshot->task_count; row++)
		if (snapshot->tasks[row].tid == snapshot->tasks[row - 1].tid &&
		    snapshot->tasks[row].process == snapshot->tasks[row - 1].process)
			return ctprof_bad(reader, "a thread is there twice");
	return set_reasons(reader);
}
