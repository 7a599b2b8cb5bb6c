/* SPDX-License-Identifier: MIT */
/*
 * Reads a thread of a ctprof file: its row, its cells, and which of them are
 * absent.
 *
 * All fields are read first, then each family is judged: a value that is the
 * format's default counts as measured only where something proves it.
 */
#include <string.h>

#include "store/ctprof/ctprof_read.h"
#include "store/ctprof/ctprof_table.h"

struct thread {
	int32_t tgid;
	struct task task;
	uint32_t pcomm;
	const json_t *smaps;
	struct ctprof_value values[CTPROF_FIELDS_MAX];
	/* Families, a bit each: */
	uint32_t denied;  /* a flag says that it was not measured */
	uint32_t unknown; /* the file lacks a flag */
	uint32_t differs; /* some value differs from its default */
};

static void read_flag(struct ctprof_reader *reader, const struct ctprof_field *field,
		      const json_t *json, struct thread *thread)
{
	bool measured = false;

	if (!ctprof_get_bool(reader, json, field->key, &measured))
		thread->unknown |= field->families;
	else if (!measured)
		thread->denied |= field->families;
}

static void read_name(struct ctprof_reader *reader, const json_t *json, const char *key,
		      uint32_t *ret)
{
	const char *text = ctprof_get_text(reader, json, key);

	if (text)
		ctprof_intern(reader, text, ret);
}

static void read_id(struct ctprof_reader *reader, const json_t *json, const char *key, int32_t *ret)
{
	if (!ctprof_get_i32(reader, json, key, ret) || *ret <= 0)
		ctprof_bad(&reader->failure, "%s is no id of a task", key);
}

static void read_start(struct ctprof_reader *reader, const json_t *json, const char *key,
		       uint64_t *ret)
{
	uint64_t ticks = 0;

	ctprof_get_u64(reader, json, key, &ticks);
	*ret = metric_from_raw(ticks, RAW_TICKS, &(struct raw_scale){ .tick_ns = CTPROF_TICK_NS });
}

static void read_field(struct ctprof_reader *reader, const struct ctprof_field *field,
		       const json_t *json, struct thread *thread)
{
	struct ctprof_value *value = &thread->values[field - ctprof_fields];

	switch (field->form) {
	case CTPROF_TID:
		read_id(reader, json, field->key, &thread->task.tid);
		break;
	case CTPROF_TGID:
		read_id(reader, json, field->key, &thread->tgid);
		break;
	case CTPROF_PCOMM:
		read_name(reader, json, field->key, &thread->pcomm);
		break;
	case CTPROF_COMM:
		read_name(reader, json, field->key, &thread->task.comm);
		break;
	case CTPROF_CGROUP:
		read_name(reader, json, field->key, &thread->task.cgroup);
		break;
	case CTPROF_START_TIME:
		read_start(reader, json, field->key, &thread->task.start_time_ns);
		break;
	case CTPROF_SMAPS:
		thread->smaps = ctprof_get_object(reader, json, field->key);
		break;
	case CTPROF_FLAG:
		read_flag(reader, field, json, thread);
		break;
	default:
		ctprof_get_metric(reader, field, json, value);
		if (value->differs)
			thread->differs |= 1u << field->family;
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
	if (value->differs)
		return NULL;
	if (!is_default_a_value(field->form))
		return CTPROF_EMPTY;
	if (metrics[field->metric].scope == METRIC_OF_PROCESS)
		return CTPROF_ZERO; /* no process has 0 threads or memory; a kernel thread has none */
	if (proof == CTPROF_SIBLING && thread->differs & family)
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
			return thread->values[i].differs;
	return false;
}

static void set_cell(struct ctprof_reader *reader, enum metric_id metric, uint32_t row,
		     uint64_t value)
{
	if (ctprof_check(reader, snapshot_need_column(reader->snapshot, metric)))
		snapshot_set(reader->snapshot, metric, row, value);
}

static void store_metric(struct ctprof_reader *reader, const struct ctprof_field *field,
			 const struct thread *thread, uint32_t row)
{
	const struct ctprof_value *value = &thread->values[field - ctprof_fields];
	bool of_thread = metrics[field->metric].scope == METRIC_OF_THREAD;
	const char *reason = why_absent(thread, field);

	if (!reason && field->form == CTPROF_EXTREME && !value->differs &&
	    had_events(thread, field))
		reason = CTPROF_NO_EXTREMES;
	if (!reason)
		set_cell(reader, field->metric, of_thread ? row : thread->task.process,
			 value->number);
	else if (!reader->reasons[field->metric])
		reader->reasons[field->metric] = reason;
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
static void store_smaps(struct ctprof_reader *reader, const struct thread *thread)
{
	struct raw_scale scale = { 0 };

	ctprof_read_smaps(reader, thread->tgid, thread->smaps);
	for (int id = 0; id < METRIC_STORED && ctprof_is_good(reader); id++) {
		const struct metric_source *source = metric_source(&metrics[id], PLACE_SMAPS);
		uint64_t kib;

		if (source && sum_kib(thread->smaps, source->key, &kib))
			set_cell(reader, (enum metric_id)id, thread->task.process,
				 metric_from_raw(kib, source->raw, &scale));
	}
}

static bool store_process(struct ctprof_reader *reader, struct thread *thread)
{
	struct process *process;

	if (!ctprof_check(reader,
			  snapshot_process(reader->snapshot, thread->tgid, &thread->task.process)))
		return false;
	process = &reader->snapshot->processes[thread->task.process];
	if (thread->pcomm)
		process->pcomm = thread->pcomm;
	if (thread->task.tid == thread->tgid)
		process->start_time_ns = thread->task.start_time_ns;
	return true;
}

static void store_thread(struct ctprof_reader *reader, struct thread *thread)
{
	uint32_t row = 0;

	if (!store_process(reader, thread) ||
	    !ctprof_check(reader, snapshot_add_task(reader->snapshot, &thread->task, &row)))
		return;
	set_cell(reader, METRIC_thread_count, row, 1);
	for (size_t i = 0; i < ctprof_field_count && ctprof_is_good(reader); i++)
		if (ctprof_fields[i].metric != METRIC_STORED)
			store_metric(reader, &ctprof_fields[i], thread, row);
	if (json_object_size(thread->smaps))
		store_smaps(reader, thread);
	ctprof_check_cost(reader);
}

void ctprof_read_thread(struct ctprof_reader *reader, const json_t *json)
{
	struct thread thread = { 0 };

	if (!json_is_object(json))
		ctprof_bad(&reader->failure, "it is no object");
	for (size_t i = 0; i < ctprof_field_count && ctprof_is_good(reader); i++)
		read_field(reader, &ctprof_fields[i], json, &thread);
	if (ctprof_is_good(reader))
		store_thread(reader, &thread);
	if (ctprof_is_good(reader))
		reader->threads++;
}

static void set_reasons(struct ctprof_reader *reader)
{
	struct snapshot *snapshot = reader->snapshot;

	for (int id = 0; id < METRIC_STORED; id++) {
		const char *reason = reader->reasons[id];

		if (!reason)
			reason = metric_source(&metrics[id], PLACE_SMAPS) ? CTPROF_EMPTY :
									    CTPROF_FOREIGN;
		if (!metric_is_only_traced(id) &&
		    snapshot_measured(snapshot, (enum metric_id)id) <
			    snapshot_rows(snapshot, (enum metric_id)id))
			ctprof_check(reader,
				     snapshot_set_absent(snapshot, (enum metric_id)id, reason));
	}
}

void ctprof_finish_threads(struct ctprof_reader *reader)
{
	struct snapshot *snapshot = reader->snapshot;

	if (!ctprof_check(reader, snapshot_finish(snapshot)))
		return;
	for (size_t row = 1; row < snapshot->task_count; row++)
		if (snapshot->tasks[row].tid == snapshot->tasks[row - 1].tid &&
		    snapshot->tasks[row].process == snapshot->tasks[row - 1].process)
			ctprof_bad(&reader->failure, "a thread is there twice");
	set_reasons(reader);
}
