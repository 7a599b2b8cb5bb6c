/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc/jemalloc_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/collector.h"
#include "collect/jemalloc/jemalloc_target.h"
#include "host/deadline_run.h"

#define SCAN_TIMEOUT_MS 1000
#define TARGET_TIMEOUT_MS 2000
#define STOPPING_TIMEOUT_MS 4000 /* for a process whose threads may have to be stopped */

uint64_t heap_reader_user(const struct heap_reader *reader, uint32_t process)
{
	const struct snapshot *snapshot = reader->capture->snapshot;
	uint64_t user;

	return snapshot_get(snapshot, METRIC_uid, process, &user) ? user : UNKNOWN_USER;
}

/* ---- what is noted in the snapshot ---- */

static int note_process(struct heap_reader *reader, const char *note)
{
	struct snapshot *snapshot = reader->capture->snapshot;
	struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	uint32_t row, text;
	int status = snapshot_intern(snapshot, note, strlen(note), &text);

	if (status == 0)
		status = snapshot_process_row(snapshot, reader->process, &row);
	return status < 0 ? status : sheet_set(sheet, row, "jemalloc", CELL_TEXT, text);
}

/* Counts a process that has no jemalloc, or where we could not find out. */
static int count_outcome(struct heap_reader *reader, enum jemalloc_tag tag, int error)
{
	tag = jemalloc_tag_for(tag, error);
	jemalloc_tally_count(&reader->tally, tag, error);
	return (int)tag;
}

/* Counts and notes a process that has jemalloc but could not be read. */
static int lose(struct heap_reader *reader, enum jemalloc_tag tag, int error)
{
	int counted = count_outcome(reader, tag, error);
	int status = note_process(reader, jemalloc_tags[counted].name);

	return status < 0 ? status : counted;
}

static int keep(struct heap_reader *reader, const struct jemalloc_target *target)
{
	struct snapshot *snapshot = reader->capture->snapshot;
	char note[128];
	int status;

	for (size_t i = 0; i < target->count; i++) {
		const struct target_thread *thread = &target->threads[i];

		if (!thread->is_read)
			continue;
		snapshot_set(snapshot, METRIC_allocated_bytes, thread->row, thread->allocated);
		snapshot_set(snapshot, METRIC_deallocated_bytes, thread->row, thread->deallocated);
	}
	reader->tally.threads_read += target->read;
	reader->tally.threads_missed += target->count - target->read;
	jemalloc_tally_count(&reader->tally, JEMALLOC_READ, 0);
	snprintf(note, sizeof(note), "%s, %s, %s",
		 target->holder->is_executable ? "executable" : "library", target->layout.route,
		 target->pointers);
	status = note_process(reader, note);
	return status < 0 ? status : JEMALLOC_READ;
}

/* Tasks are sorted by process. */
static int list_threads(struct heap_reader *reader, struct jemalloc_target *target)
{
	const struct snapshot *snapshot = reader->capture->snapshot;
	uint32_t first = snapshot->processes[reader->process].first_task;
	uint32_t end = first;

	if (!reader->has_sorted)
		walked_threads_sort(reader->capture);
	reader->has_sorted = true;
	while (end < snapshot->task_count && snapshot->tasks[end].process == reader->process)
		end++;
	target->threads = calloc(end - first + 1, sizeof(*target->threads));
	if (!target->threads)
		return -ENOMEM;
	target->listed = end - first;
	for (uint32_t row = first; row < end; row++) {
		int32_t tid = snapshot->tasks[row].tid;
		const struct walked_thread *walked = walked_thread_find(reader->capture, tid);

		if (task_has_ended(snapshot, row))
			continue;
		target->threads[target->count++] = (struct target_thread){
			.tid = tid,
			.row = row,
			.pointer = walked ? walked->thread_pointer : 0,
		};
	}
	return 0;
}

/* Whether the file of a module can be opened and parsed by a child. */
static bool inspect_module(const struct heap_reader *reader, const struct module_scan *scan,
			   const struct process_module *module, struct elf_findings *ret)
{
	struct mapped_file file = mapped_file_of(reader->capture->host, scan->tgid, module);
	unsigned timeout_ms = time_budget_share(reader->learning, UINT32_MAX);

	return timeout_ms && mapped_file_inspect(&file, timeout_ms, ret) == 0;
}

/* Whether the executable can be read: its header is in memory, or a child can open its file. */
static bool may_be_read(const struct heap_reader *reader, const struct module_scan *scan)
{
	struct elf_findings findings;

	return scan->executable->status != -EAGAIN ||
	       inspect_module(reader, scan, scan->executable, &findings);
}

/* Takes the scan over; NULL when there is no memory. */
static struct jemalloc_target *make_target(struct heap_reader *reader, struct module_scan **scan,
					   struct process_module *holder,
					   const struct jemalloc_layout *layout)
{
	struct jemalloc_target *target = calloc(1, sizeof(*target));

	if (!target)
		return NULL;
	target->scan = TAKE_PTR(*scan);
	target->pid = target->scan->tgid;
	target->layout = *layout;
	target->holder = holder;
	target->executable = target->scan->executable;
	if (target->executable && target->executable != holder &&
	    !may_be_read(reader, target->scan))
		target->executable = NULL;
	if (list_threads(reader, target) == 0)
		return target;
	jemalloc_target_free(target);
	return NULL;
}

/* ---- reading ---- */

static int finish_target(struct heap_reader *reader, struct jemalloc_target *target)
{
	const struct process *known = &reader->capture->snapshot->processes[reader->process];

	reader->tally.stopped_ns += target->stopped_ns;
	if (target->tag != JEMALLOC_READ)
		return lose(reader, target->tag, target->error);
	/* Memory is read by pid: the process that has it now must still be the same. */
	if (process_check(reader->capture, target->scan->process, known, &reader->buffer) < 0)
		return lose(reader, JEMALLOC_PROCESS_CHANGED, 0);
	return keep(reader, target);
}

static void release_target(void *context)
{
	jemalloc_target_free(context);
}

static int read_memory(struct heap_reader *reader, struct jemalloc_target *target)
{
	unsigned patience_ms =
		reader->capture->walked_threads.count ? TARGET_TIMEOUT_MS : STOPPING_TIMEOUT_MS;

	return deadline_run(jemalloc_target_read, release_target, target,
			    time_budget_share(reader->reading, patience_ms));
}

static bool is_named_like_library(const struct process_module *module)
{
	const char *slash = strrchr(module->mapping->name, '/');
	const char *name = slash ? slash + 1 : module->mapping->name;

	return strncmp(name, "libc", 4) == 0 || strncmp(name, "libpthread", 10) == 0;
}

/* Searches the C library's file for the symbols that memory does not have. */
static void inspect_library(const struct heap_reader *reader, struct jemalloc_target *target)
{
	const struct module_scan *scan = target->scan;
	bool is_static = !target->executable->elf.findings.has_interpreter;

	target->was_inspected = true;
	for (size_t i = 0; i < scan->modules.list.count && !target->libc; i++) {
		const struct process_module *module = &scan->modules.list.data[i];

		if (is_static ? !module->is_executable : !is_named_like_library(module))
			continue;
		if (inspect_module(reader, scan, module, &target->libc_findings) &&
		    target->libc_findings.symbols[ELF_SYMBOL__thread_db_pthread_tid])
			target->libc = module;
	}
}

static int read_target(struct heap_reader *reader, struct jemalloc_target *target)
{
	uint64_t start_ms = time_budget_now_ms();
	int status = read_memory(reader, target);

	if (status == 0 && jemalloc_target_needs_library(target)) {
		start_ms = time_budget_now_ms();
		inspect_library(reader, target);
		jemalloc_charge(reader, start_ms, JEMALLOC_READ);
		start_ms = time_budget_now_ms();
		status = read_memory(reader, target);
	}
	if (status == -ETIMEDOUT) { /* the thread owns the target now */
		jemalloc_charge(reader, start_ms, JEMALLOC_TARGET_BLOCKED);
		return lose(reader, JEMALLOC_TARGET_BLOCKED, 0);
	}
	status = status < 0 ? lose(reader, JEMALLOC_TARGET_BLOCKED, status) :
			      finish_target(reader, target);
	jemalloc_target_free(target);
	return status;
}

/* The scan must be of the process that was captured, not of a newer one with its pid. */
static int read_process(struct heap_reader *reader, struct module_scan **scan,
			struct process_module *holder, const struct jemalloc_layout *layout)
{
	const struct process *known = &reader->capture->snapshot->processes[reader->process];
	struct jemalloc_target *target;
	int status;

	reader->tally.detected++;
	if (layout->tag != JEMALLOC_READ)
		return lose(reader, layout->tag, layout->error);
	if (holder->status == -EPERM || holder->status == -EACCES)
		return lose(reader, JEMALLOC_PROCESS_VM_READV, holder->status);
	status = process_check(reader->capture, (*scan)->process, known, &reader->buffer);
	if (status < 0)
		return lose(reader, JEMALLOC_PID_MISSING, status);
	target = make_target(reader, scan, holder, layout);
	return target ? read_target(reader, target) : -ENOMEM;
}

static int scan_failed(struct heap_reader *reader, uint64_t start_ms, int status)
{
	switch (status) {
	case -ENOMEM:
		return status;
	case -ESRCH:
	case -ENOENT:
		return count_outcome(reader, JEMALLOC_PID_MISSING, status);
	case -ETIMEDOUT:
		jemalloc_charge(reader, start_ms, JEMALLOC_TARGET_BLOCKED);
		return count_outcome(reader, JEMALLOC_TARGET_BLOCKED, 0);
	default:
		return count_outcome(reader, JEMALLOC_MAPS_READ_FAILURE, status);
	}
}

int heap_reader_read(struct heap_reader *reader, uint32_t process)
{
	const struct capture *capture = reader->capture;
	CLEANUP(module_scan_free) struct module_scan *scan = NULL;
	struct process_module *holder;
	struct jemalloc_layout layout;
	uint64_t start_ms = time_budget_now_ms();
	int status;

	reader->process = process;
	reader->user = heap_reader_user(reader, process);
	if (time_budget_is_over(reader->reading))
		return count_outcome(reader, JEMALLOC_OUT_OF_TIME, 0);
	status = module_scan_read(capture->host, capture->snapshot->processes[process].tgid,
				  time_budget_share(reader->reading, SCAN_TIMEOUT_MS), &scan);
	if (status < 0)
		return scan_failed(reader, start_ms, status);
	if (jemalloc_find(reader, scan, &holder, &layout) < 0)
		return -ENOMEM;
	return holder ? read_process(reader, &scan, holder, &layout) :
			count_outcome(reader, layout.tag, layout.error);
}
