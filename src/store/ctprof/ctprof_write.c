/* SPDX-License-Identifier: MIT */
/*
 * Writes a snapshot as the bytes of a .ctprof.zst file: threads, failed reads
 * of threads, and the whole document.  What was not measured becomes the
 * format's default.
 */
#include "store/ctprof/ctprof_write.h"

#include <endian.h>
#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/error.h"
#include "model/counter.h"
#include "store/ctprof/ctprof.h"

/* A frame that every zstd reader skips: eight bytes come before its content. */
#define SKIPPABLE_MAGIC 0x184d2a50u
#define SKIPPABLE_HEAD 8

static bool get_cell(const struct snapshot *snapshot, enum metric_id metric, uint32_t row,
		     uint64_t *ret)
{
	bool of_thread = metrics[metric].scope == METRIC_OF_THREAD;

	return snapshot_get(snapshot, metric, of_thread ? row : snapshot->tasks[row].process, ret);
}

/* The families of which the thread has any value, a bit each. */
static uint32_t find_families(const struct snapshot *snapshot, uint32_t row)
{
	uint32_t found = 0;
	uint64_t value;

	for (size_t i = 0; i < ctprof_field_count; i++) {
		const struct ctprof_field *field = &ctprof_fields[i];

		if (field->metric != METRIC_STORED &&
		    get_cell(snapshot, field->metric, row, &value))
			found |= 1u << field->family;
	}
	return found;
}

static void write_cpus(struct ctprof_writer *writer, const char *list)
{
	struct json *json = &writer->json;
	struct cpuset set = { 0 };
	int status = *list ? cpulist_parse(list, &set) : -EINVAL;

	writer->compressor.file.failed |= status == -ENOMEM;
	json_begin_array(json);
	if (status == 0) {
		for (size_t cpu = 0; cpu < set.word_count * 64; cpu++)
			if (set.words[cpu / 64] >> cpu % 64 & 1)
				json_u64(json, cpu);
		cpuset_clear(&set);
	}
	json_end_array(json);
}

/* Whether the thread is the one that represents its process. */
static bool is_first(const struct snapshot *snapshot, uint32_t row)
{
	return snapshot->processes[snapshot->tasks[row].process].first_task == row;
}

/* Writes memory by kind of page. */
static void write_smaps(struct ctprof_writer *writer, uint32_t row)
{
	uint32_t found = writer->memory_rows[writer->snapshot->tasks[row].process];

	json_begin_object(&writer->json);
	if (found && is_first(writer->snapshot, row))
		ctprof_write_cells_of(writer, &writer->snapshot->sheets[SHEET_PROCESSES], found - 1,
				      CTPROF_SMAPS_PREFIX, CELL_NUMBER, 1024);
	json_end_object(&writer->json);
}

static void write_metric(struct ctprof_writer *writer, const struct ctprof_field *field,
			 uint32_t row)
{
	const struct snapshot *snapshot = writer->snapshot;
	struct json *json = &writer->json;
	char letter[2] = { CTPROF_NO_STATE };
	uint64_t value = 0;
	bool measured = get_cell(snapshot, field->metric, row, &value);
	char buffer[32];

	switch (field->form) {
	case CTPROF_SIGNED:
		json_i64(json, (int64_t)value);
		break;
	case CTPROF_TICKS:
		json_u64(json, value / CTPROF_TICK_NS);
		break;
	case CTPROF_BOOL:
		json_bool(json, value);
		break;
	case CTPROF_CPUS:
		write_cpus(writer, snapshot_text(snapshot, (uint32_t)value));
		break;
	case CTPROF_POLICY:
		json_string(json, measured ? metric_category_text(UNIT_POLICY, value, buffer) : "");
		break;
	case CTPROF_STATE:
		if (measured)
			letter[0] = *metric_category_text(UNIT_STATE, value, buffer);
		json_string(json, letter);
		break;
	case CTPROF_LEADER:
		json_u64(json, is_first(snapshot, row) ? value : 0);
		break;
	default:
		json_u64(json, value);
	}
}

static void write_field(struct ctprof_writer *writer, const struct ctprof_field *field,
			uint32_t row, uint32_t families)
{
	const struct snapshot *snapshot = writer->snapshot;
	const struct task *task = &snapshot->tasks[row];
	const struct process *process = &snapshot->processes[task->process];
	struct json *json = &writer->json;

	json_key(json, field->key);
	switch (field->form) {
	case CTPROF_TID:
		json_i64(json, task->tid);
		break;
	case CTPROF_TGID:
		json_i64(json, process->tgid);
		break;
	case CTPROF_PCOMM:
		json_string(json, snapshot_text(snapshot, process->pcomm));
		break;
	case CTPROF_COMM:
		json_string(json, snapshot_text(snapshot, task->comm));
		break;
	case CTPROF_CGROUP:
		json_string(json, snapshot_text(snapshot, task->cgroup));
		break;
	case CTPROF_START_TIME:
		json_u64(json, task->start_time_ns / CTPROF_TICK_NS);
		break;
	case CTPROF_SMAPS:
		write_smaps(writer, row);
		break;
	case CTPROF_FLAG:
		json_bool(json, families & field->families);
		break;
	default:
		write_metric(writer, field, row);
	}
}

static void write_threads(struct ctprof_writer *writer)
{
	json_member_array(&writer->json, "threads");
	for (uint32_t row = 0; row < writer->snapshot->task_count; row++) {
		uint32_t families = find_families(writer->snapshot, row);

		json_begin_object(&writer->json);
		for (size_t i = 0; i < ctprof_field_count; i++)
			write_field(writer, &ctprof_fields[i], row, families);
		json_end_object(&writer->json);
	}
	json_end_array(&writer->json);
}

/* Failed reads of one file. */
struct failures {
	const char *file;
	uint64_t count;
};

static int compare_failures(const void *a, const void *b)
{
	const struct failures *first = a, *second = b;

	return strcmp(first->file, second->file);
}

/* Failures of these sources are in summaries of their own. */
static bool has_summary(const char *source)
{
	return strcmp(source, "jemalloc") == 0 || strcmp(source, "taskstats") == 0 ||
	       strcmp(source, CTPROF_SOURCE) == 0;
}

/* Lists failures of our sources, or those that another file reported. */
static size_t find_failures(const struct snapshot *snapshot, struct failures *list)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_CAPTURE];
	size_t prefix = strlen(CTPROF_FAILURES_PREFIX), count = 0;
	uint64_t failed;

	for (size_t i = 0; i < snapshot->source_count; i++) {
		const struct source_report *source = &snapshot->sources[i];
		const char *file =
			strcmp(source->name, "smaps") == 0 ? "smaps_rollup" : source->name;

		if (source->failed && !has_summary(source->name))
			list[count++] = (struct failures){ file, source->failed };
	}
	for (size_t i = 0; i < sheet->columns.count; i++)
		if (strncmp(sheet->columns.data[i].metric->name, CTPROF_FAILURES_PREFIX, prefix) ==
			    0 &&
		    column_get(&sheet->columns.data[i], 0, &failed) == CELL_NUMBER && failed)
			list[count++] =
				(struct failures){ sheet->columns.data[i].metric->name + prefix,
						   failed };
	qsort(list, count, sizeof(*list), compare_failures);
	return count;
}

/* Among equal ones the first by name. */
static const struct failures *find_dominant(const struct failures *list, size_t count)
{
	const struct failures *dominant = NULL;

	for (size_t i = 0; i < count; i++)
		if (!dominant || list[i].count > dominant->count)
			dominant = &list[i];
	return dominant;
}

/* Whether the file does not exist, for any task, on a kernel built without an option. */
static bool needs_kernel_option(const char *file)
{
	return strcmp(file, "schedstat") == 0 || strcmp(file, "io") == 0;
}

static void write_failure_list(struct json *json, const struct failures *list, size_t count)
{
	const struct failures *dominant = find_dominant(list, count);
	uint64_t total = 0, by_option = 0;

	for (size_t i = 0; i < count; i++) {
		counter_add(&total, list[i].count);
		if (needs_kernel_option(list[i].file))
			counter_add(&by_option, list[i].count);
	}
	json_member_u64(json, "read_failures", total);
	json_member_object(json, "read_failures_by_file");
	for (size_t i = 0; i < count; i++)
		json_member_u64(json, list[i].file, list[i].count);
	json_end_object(json);
	json_member_text(json, "dominant_read_failure", dominant ? dominant->file : NULL);
	json_member_bool(json, "kernel_config_dominant", total && by_option >= total - by_option);
}

static void write_failures(struct ctprof_writer *writer)
{
	const struct snapshot *snapshot = writer->snapshot;
	size_t limit = snapshot->source_count + snapshot->sheets[SHEET_CAPTURE].columns.count;
	CLEANUP(free_pointer) struct failures *list = calloc(limit + 1, sizeof(*list));
	struct json *json = &writer->json;

	if (!list) {
		writer->compressor.file.failed = true;
		return;
	}
	json_member_object(json, "parse_summary");
	json_member_u64(json, "tids_walked", snapshot->tally.tids_walked);
	write_failure_list(json, list, find_failures(snapshot, list));
	json_member_u64(json, "negative_dotted_values", snapshot->tally.negative_dotted_values);
	json_end_object(json);
}

static void write_document(struct ctprof_writer *writer)
{
	const struct fact *captured = &writer->snapshot->facts[FACT_captured_at_unix_ns];

	json_begin_object(&writer->json);
	json_member_u64(&writer->json, "captured_at_unix_ns",
			captured->present ? captured->number : 0);
	ctprof_write_host(writer);
	write_threads(writer);
	ctprof_write_cgroups(writer);
	ctprof_write_object(writer, CTPROF_OBJECT_PROBE);
	write_failures(writer);
	ctprof_write_object(writer, CTPROF_OBJECT_TASKSTATS);
	ctprof_write_pressure(writer, SHEET_HOST, 0);
	ctprof_write_object(writer, CTPROF_OBJECT_SCHED_EXT);
	json_end_object(&writer->json);
}

/* Finds the row of each process's memory by kind of page. */
static int find_memory(struct ctprof_writer *writer)
{
	const struct sheet *sheet = &writer->snapshot->sheets[SHEET_PROCESSES];
	size_t processes = writer->snapshot->process_count;

	writer->memory_rows = calloc(processes + 1, sizeof(*writer->memory_rows));
	if (!writer->memory_rows)
		return -ENOMEM;
	for (uint32_t row = 0; row < sheet->row_count; row++)
		if (sheet->keys[row] < processes)
			writer->memory_rows[sheet->keys[row]] = row + 1;
	return 0;
}

/*
 * Very regular JSON compresses so well that its file would be too small for the
 * reader's limit: a skippable frame of zeros makes it larger.
 */
static int pad(struct bytes *file, uint64_t written)
{
	uint64_t needed = size_limit_file(&ctprof_limit, written), missing;
	uint32_t head[2];
	uint8_t *room;

	if (written > ctprof_limit.ceiling)
		return -EFBIG;
	if (needed <= file->size)
		return 0;
	missing = needed - file->size;
	room = bytes_reserve(file, SKIPPABLE_HEAD + missing);
	if (!room)
		return -ENOMEM;
	head[0] = htole32(SKIPPABLE_MAGIC);
	head[1] = htole32((uint32_t)missing);
	memcpy(room, head, SKIPPABLE_HEAD);
	memset(room + SKIPPABLE_HEAD, 0, missing);
	file->size += SKIPPABLE_HEAD + missing;
	return 0;
}

static ssize_t compress_json(void *compressor, const char *bytes, size_t size)
{
	compressor_put(compressor, bytes, size);
	return (ssize_t)size;
}

static int write_file(struct ctprof_writer *writer)
{
	cookie_io_functions_t compress = { .write = compress_json };
	struct compressor *compressor = &writer->compressor;
	FILE *out;

	compressor_open(compressor, true);
	out = compressor->file.failed ? NULL : fopencookie(compressor, "w", compress);
	if (!out || find_memory(writer) < 0) {
		if (out)
			fclose(out);
		return -ENOMEM;
	}
	__fsetlocking(out, FSETLOCKING_BYCALLER); /* one thread writes: locks would only cost */
	writer->json = json_line_writer(out);
	writer->json.exact = true;
	write_document(writer);
	if (fclose(out) != 0)
		return -ENOMEM;
	compressor_finish(compressor);
	return compressor->file.failed ? -ENOMEM : pad(&compressor->file, compressor->taken);
}

static void close_writer(struct ctprof_writer *writer)
{
	compressor_close(&writer->compressor);
	free(writer->memory_rows);
}

int ctprof_encode(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		  struct error *error)
{
	CLEANUP(close_writer) struct ctprof_writer writer = { .snapshot = snapshot };
	int status = write_file(&writer);

	if (status == -EFBIG)
		return error_set(error, status,
				 "the snapshot is too large for a .ctprof.zst file: write a "
				 ".tscope file, or capture less");
	if (status < 0)
		return error_set(error, status, "not enough memory");
	*ret_size = writer.compressor.file.size;
	*ret_bytes = TAKE_PTR(writer.compressor.file.data);
	return 0;
}
