/* SPDX-License-Identifier: MIT */
/*
 * Writes a snapshot as the bytes of a .ctprof.zst file: threads, failed reads
 * of threads, and the whole document.  What was not measured becomes the
 * format's default.
 */
#include "store/ctprof/ctprof_write.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/ctprof/ctprof.h"
#include "store/ctprof/ctprof_table.h"

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

static void write_cpus(struct ctprof_writer *writer, const char *key, const char *list)
{
	struct cpuset set = { 0 };

	ctprof_output_begin(&writer->output, key, '[');
	if (*list && cpulist_parse(list, &set) == 0) {
		for (size_t cpu = 0; cpu < set.word_count * 64; cpu++)
			if (set.words[cpu / 64] >> cpu % 64 & 1)
				ctprof_output_u64(&writer->output, NULL, cpu);
		cpuset_clear(&set);
	}
	ctprof_output_end(&writer->output, ']');
}

/* Writes memory by kind of page, for the thread that represents its process. */
static void write_smaps(struct ctprof_writer *writer, const char *key, uint32_t row)
{
	const struct snapshot *snapshot = writer->snapshot;
	const struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	uint32_t process = snapshot->tasks[row].process;
	uint32_t found = writer->memory_rows[process];
	size_t prefix = strlen(CTPROF_SMAPS_PREFIX);
	uint64_t bytes;

	ctprof_output_begin(&writer->output, key, '{');
	if (snapshot->processes[process].first_task != row)
		found = 0;
	for (size_t i = 0; found && i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];

		if (strncmp(column->metric->name, CTPROF_SMAPS_PREFIX, prefix) == 0 &&
		    column_get(column, found - 1, &bytes) == CELL_NUMBER)
			ctprof_output_u64(&writer->output, column->metric->name + prefix,
					  bytes / 1024);
	}
	ctprof_output_end(&writer->output, '}');
}

static void write_metric(struct ctprof_writer *writer, const struct ctprof_field *field,
			 uint32_t row)
{
	const struct snapshot *snapshot = writer->snapshot;
	struct ctprof_output *output = &writer->output;
	char letter[2] = { CTPROF_NO_STATE };
	uint64_t value = 0;
	bool measured = get_cell(snapshot, field->metric, row, &value);
	char buffer[32];

	switch (field->form) {
	case CTPROF_SIGNED:
		ctprof_output_i64(output, field->key, (int64_t)value);
		break;
	case CTPROF_TICKS:
		ctprof_output_u64(output, field->key, value / CTPROF_TICK_NS);
		break;
	case CTPROF_BOOL:
		ctprof_output_bool(output, field->key, value);
		break;
	case CTPROF_CPUS:
		write_cpus(writer, field->key, snapshot_text(snapshot, (uint32_t)value));
		break;
	case CTPROF_POLICY:
		ctprof_output_text(output, field->key,
				   measured ? metric_category_text(UNIT_POLICY, value, buffer) :
					      "");
		break;
	case CTPROF_STATE:
		if (measured)
			letter[0] = *metric_category_text(UNIT_STATE, value, buffer);
		ctprof_output_text(output, field->key, letter);
		break;
	case CTPROF_LEADER:
		if (snapshot->processes[snapshot->tasks[row].process].first_task != row)
			value = 0;
		ctprof_output_u64(output, field->key, value);
		break;
	default:
		ctprof_output_u64(output, field->key, value);
	}
}

static void write_field(struct ctprof_writer *writer, const struct ctprof_field *field,
			uint32_t row, uint32_t families)
{
	const struct snapshot *snapshot = writer->snapshot;
	const struct task *task = &snapshot->tasks[row];
	const struct process *process = &snapshot->processes[task->process];
	struct ctprof_output *output = &writer->output;

	switch (field->form) {
	case CTPROF_TID:
		ctprof_output_i64(output, field->key, task->tid);
		break;
	case CTPROF_TGID:
		ctprof_output_i64(output, field->key, process->tgid);
		break;
	case CTPROF_PCOMM:
		ctprof_output_text(output, field->key, snapshot_text(snapshot, process->pcomm));
		break;
	case CTPROF_COMM:
		ctprof_output_text(output, field->key, snapshot_text(snapshot, task->comm));
		break;
	case CTPROF_CGROUP:
		ctprof_output_text(output, field->key, snapshot_text(snapshot, task->cgroup));
		break;
	case CTPROF_START_TIME:
		ctprof_output_u64(output, field->key, task->start_time_ns / CTPROF_TICK_NS);
		break;
	case CTPROF_SMAPS:
		write_smaps(writer, field->key, row);
		break;
	case CTPROF_FLAG:
		ctprof_output_bool(output, field->key, families & field->families);
		break;
	default:
		write_metric(writer, field, row);
	}
}

static void write_threads(struct ctprof_writer *writer)
{
	ctprof_output_begin(&writer->output, "threads", '[');
	for (uint32_t row = 0; row < writer->snapshot->task_count; row++) {
		uint32_t families = find_families(writer->snapshot, row);

		ctprof_output_begin(&writer->output, NULL, '{');
		for (size_t i = 0; i < ctprof_field_count; i++)
			write_field(writer, &ctprof_fields[i], row, families);
		ctprof_output_end(&writer->output, '}');
	}
	ctprof_output_end(&writer->output, ']');
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

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int write_failures(struct ctprof_writer *writer)
{
	const struct snapshot *snapshot = writer->snapshot;
	size_t limit = snapshot->source_count + snapshot->sheets[SHEET_CAPTURE].columns.count;
	CLEANUP(free_pointer) struct failures *list = calloc(limit + 1, sizeof(*list));
	struct ctprof_output *output = &writer->output;
	uint64_t total = 0, by_option = 0;
	const struct failures *dominant;
	size_t count;

	if (!list)
		return -ENOMEM;
	count = find_failures(snapshot, list);
	dominant = find_dominant(list, count);
	for (size_t i = 0; i < count; i++) {
		total = add_saturating(total, list[i].count);
		if (needs_kernel_option(list[i].file))
			by_option = add_saturating(by_option, list[i].count);
	}
	ctprof_output_begin(output, "parse_summary", '{');
	ctprof_output_u64(output, "tids_walked", snapshot->tally.tids_walked);
	ctprof_output_u64(output, "read_failures", total);
	ctprof_output_begin(output, "read_failures_by_file", '{');
	for (size_t i = 0; i < count; i++)
		ctprof_output_u64(output, list[i].file, list[i].count);
	ctprof_output_end(output, '}');
	if (dominant)
		ctprof_output_text(output, "dominant_read_failure", dominant->file);
	else
		ctprof_output_null(output, "dominant_read_failure");
	ctprof_output_bool(output, "kernel_config_dominant",
			   total && by_option >= total - by_option);
	ctprof_output_u64(output, "negative_dotted_values", snapshot->tally.negative_dotted_values);
	ctprof_output_end(output, '}');
	return 0;
}

static int write_document(struct ctprof_writer *writer)
{
	const struct fact *captured = &writer->snapshot->facts[FACT_captured_at_unix_ns];
	struct ctprof_output *output = &writer->output;
	int status;

	ctprof_output_begin(output, NULL, '{');
	ctprof_output_u64(output, "captured_at_unix_ns", captured->present ? captured->number : 0);
	ctprof_write_host(writer);
	write_threads(writer);
	status = ctprof_write_cgroups(writer);
	if (status < 0)
		return status;
	ctprof_write_probe(writer);
	status = write_failures(writer);
	if (status < 0)
		return status;
	ctprof_write_taskstats(writer);
	ctprof_write_pressure(writer);
	ctprof_write_sched_ext(writer);
	ctprof_output_end(output, '}');
	return ctprof_output_finish(output);
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
	uint64_t size = file->size, missing;
	uint32_t head[2];
	uint8_t *room;

	if (written > ctprof_limit(UINT64_MAX))
		return -EFBIG;
	if (written <= ctprof_limit(size))
		return 0;
	while (written > ctprof_limit(size))
		size += (written - ctprof_limit(size)) / 256 + SKIPPABLE_HEAD;
	missing = size - file->size;
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

static void close_writer(struct ctprof_writer *writer)
{
	ctprof_output_close(&writer->output);
	free(writer->memory_rows);
}

int ctprof_encode(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		  struct error *error)
{
	CLEANUP(close_writer) struct ctprof_writer writer = { .snapshot = snapshot };
	int status = ctprof_output_open(&writer.output);

	if (status == 0)
		status = find_memory(&writer);
	if (status == 0)
		status = write_document(&writer);
	if (status == 0)
		status = pad(&writer.output.file, writer.output.written);
	if (status == -EFBIG)
		return error_set(error, status,
				 "the snapshot is too large for a .ctprof.zst file: write a "
				 ".tscope file, or capture less");
	if (status < 0)
		return error_set(error, status, "not enough memory");
	*ret_size = writer.output.file.size;
	*ret_bytes = TAKE_PTR(writer.output.file.data);
	return 0;
}
