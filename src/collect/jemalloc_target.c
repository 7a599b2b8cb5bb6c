#include "collect/jemalloc_target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/proc_file.h"
#include "collect/proc_parse.h"
#include "host/link_map.h"
#include "host/process_maps.h"
#include "host/target_memory.h"
#include "host/thread_list.h"
#include "host/thread_stop.h"
#include "host/tls.h"

#define COUNTER_SIZE 8
#define SPAN_MAX 256 /* bytes between the counters: in every jemalloc they are neighbours */
#define LIST_SLACK 1024

/* What is known of the running program beyond its files; read when it is needed. */
struct anatomy {
	struct jemalloc_target *target;
	pid_t pid;
	struct target_memory memory;

	struct module_list modules;
	uint64_t bias; /* of the executable */
	struct thread_layout layout;
	bool has_layout;

	/* Where the counters are, from the thread pointer, unless the module has no fixed place. */
	struct tls_module module;
	bool is_fixed;
	int64_t block;
};

void jemalloc_target_free(struct jemalloc_target *target)
{
	if (!target)
		return;
	close_fd(&target->process);
	free(target->threads);
	free(target);
}

static int fail(struct anatomy *anatomy, enum jemalloc_tag tag, int error)
{
	struct jemalloc_target *target = anatomy->target;

	if (error == -ESRCH || error == -ENOENT)
		tag = JEMALLOC_PID_MISSING;
	else if (error == -EPERM || error == -EACCES)
		tag = tag == JEMALLOC_MAPS_READ_FAILURE ? tag : JEMALLOC_PROCESS_VM_READV;
	target->tag = tag;
	target->error = error;
	return -1;
}

/* ---- modules: where each file is loaded, and what the C library says of its structs ---- */

/* A module's dynamic section lies where its file is mapped. */
static const struct loaded_module *find_module(const struct anatomy *anatomy, enum scout_part part)
{
	const struct address_range *place = &anatomy->target->parts[part].place;

	for (size_t i = 0; i < anatomy->modules.modules.count; i++) {
		const struct loaded_module *module = &anatomy->modules.modules.data[i];

		if (module->dynamic >= place->start && module->dynamic < place->end)
			return module;
	}
	return NULL;
}

/* A part is not among the files that could be opened. */
static int miss_part(struct anatomy *anatomy, enum jemalloc_tag tag, int error)
{
	return fail(anatomy, anatomy->target->misses_files ? JEMALLOC_FILE_UNREADABLE : tag, error);
}

/* The executable's load bias. */
static int find_bias(struct anatomy *anatomy)
{
	struct program_image image;
	int status;

	if (!anatomy->target->parts[PART_EXECUTABLE].present)
		return miss_part(anatomy, JEMALLOC_LINK_MAP, -ENODATA);
	status = program_image_read(anatomy->target->process, &image);
	if (status < 0)
		return fail(anatomy, JEMALLOC_MAPS_READ_FAILURE, status);
	anatomy->bias = image.entry - anatomy->target->parts[PART_EXECUTABLE].file.findings.entry;
	return 0;
}

static int read_modules(struct anatomy *anatomy)
{
	const struct elf_findings *executable =
		&anatomy->target->parts[PART_EXECUTABLE].file.findings;
	int status = link_map_read(&anatomy->memory, anatomy->bias + executable->dynamic_vaddr,
				   &anatomy->modules);

	return status < 0 ? fail(anatomy, JEMALLOC_LINK_MAP, status) : 0;
}

static bool place_symbols(const struct anatomy *anatomy, enum scout_part part,
			  struct thread_symbols *ret)
{
	const struct target_part *found = &anatomy->target->parts[part];
	const struct loaded_module *module = found->present ? find_module(anatomy, part) : NULL;

	if (!module)
		return false;
	*ret = (struct thread_symbols){ &found->file.findings, module->base };
	return true;
}

/* A program without a dynamic loader has all of it in itself. */
static int find_symbols(struct anatomy *anatomy, struct thread_symbols *library,
			struct thread_symbols *loader)
{
	const struct elf_findings *executable =
		&anatomy->target->parts[PART_EXECUTABLE].file.findings;

	if (!executable->has_interpreter) {
		*library = *loader = (struct thread_symbols){ executable, anatomy->bias };
		return 0;
	}
	if (read_modules(anatomy) < 0)
		return -1;
	if (!place_symbols(anatomy, PART_LIBRARY, library) ||
	    !place_symbols(anatomy, PART_LOADER, loader))
		return miss_part(anatomy, JEMALLOC_THREAD_LIST, -ENOTSUP);
	return 0;
}

static int read_layout(struct anatomy *anatomy)
{
	struct thread_symbols library, loader;
	int status;

	if (anatomy->has_layout)
		return 0;
	if (find_bias(anatomy) < 0 || find_symbols(anatomy, &library, &loader) < 0)
		return -1;
	status = thread_layout_read(&anatomy->memory, &library, &loader, &anatomy->layout);
	if (status < 0)
		return fail(anatomy, JEMALLOC_THREAD_LIST, status);
	anatomy->has_layout = true;
	return 0;
}

/* ---- the block that holds the counters ---- */

static int find_block_of_library(struct anatomy *anatomy)
{
	const struct loaded_module *module;
	int status;

	if (read_layout(anatomy) < 0)
		return -1;
	module = find_module(anatomy, PART_HOLDER);
	if (!module)
		return fail(anatomy, JEMALLOC_LINK_MAP, -ENODATA);
	status = tls_module_read(&anatomy->memory, &anatomy->layout, module->link_map,
				 &anatomy->module);
	if (status < 0)
		return fail(anatomy, JEMALLOC_THREAD_LIST, status);
	anatomy->is_fixed = anatomy->module.is_static;
	anatomy->block = anatomy->module.offset;
	return 0;
}

static int find_block(struct anatomy *anatomy)
{
	const struct jemalloc_target *target = anatomy->target;
	const struct elf_findings *findings = &target->parts[PART_HOLDER].file.findings;

	anatomy->is_fixed = true;
	if (target->layout.from_pointer)
		return 0;
	if (!target->in_executable)
		return find_block_of_library(anatomy);
	if (!tls_executable_offset(findings->machine, &findings->tls, &anatomy->block))
		return fail(anatomy, JEMALLOC_TLS_ARITHMETIC, -ERANGE);
	return 0;
}

/* ---- thread pointers ---- */

static bool has_pointers(const struct jemalloc_target *target)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->threads[i].pointer)
			return true;
	return false;
}

/* The number of a thread in the innermost PID namespace, which its own C library knows it by. */
static int32_t inner_tid(int process, int32_t tid, struct proc_buffer *buffer)
{
	const char *value;
	uint64_t number = 0;
	size_t length;
	char path[64];

	snprintf(path, sizeof(path), "task/%" PRId32 "/status", tid);
	if (proc_read(process, path, buffer) < 0)
		return 0;
	value = proc_find_value(buffer->data, "NSpid", &length);
	if (!value)
		return tid;
	for (const char *end = value + length; value < end; value++) {
		const char *cursor = value;
		uint64_t found;

		if (!scan_u64(&cursor, &found))
			continue;
		number = found;
		value = cursor;
	}
	return number <= INT32_MAX ? (int32_t)number : 0;
}

static int compare_listed(const void *left, const void *right)
{
	const struct listed_thread *a = left, *b = right;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static void take_listed(struct jemalloc_target *target, struct thread_list *list)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	bool is_inside;

	if (!list->threads.count || !target->count)
		return;
	/* Threads of a process share their namespace: one tells for all. */
	is_inside = inner_tid(target->process, target->threads[0].tid, &buffer) !=
		    target->threads[0].tid;
	qsort(list->threads.data, list->threads.count, sizeof(*list->threads.data), compare_listed);
	for (size_t i = 0; i < target->count; i++) {
		struct target_thread *thread = &target->threads[i];
		struct listed_thread key = { .tid = thread->tid };
		const struct listed_thread *found;

		if (thread->pointer)
			continue;
		if (is_inside)
			key.tid = inner_tid(target->process, thread->tid, &buffer);
		found = bsearch(&key, list->threads.data, list->threads.count, sizeof(key),
				compare_listed);
		if (found)
			thread->pointer = found->pointer;
	}
}

/* Whether the lists tell of every thread that has a pointer. */
static bool list_pointers(struct anatomy *anatomy)
{
	CLEANUP(thread_list_clear) struct thread_list list = { 0 };
	struct jemalloc_target *target = anatomy->target;
	int status;

	if (read_layout(anatomy) < 0)
		return false;
	status = thread_list_read(&anatomy->memory, &anatomy->layout,
				  2 * target->count + LIST_SLACK, &list);
	if (status < 0) {
		fail(anatomy, JEMALLOC_THREAD_LIST, status);
		return false;
	}
	take_listed(target, &list);
	return list.complete;
}

static enum jemalloc_tag stop_tag(enum stop_step step)
{
	switch (step) {
	case STOP_NOT_TRIED:
	case STOP_SEIZE:
		return JEMALLOC_PTRACE_SEIZE;
	case STOP_INTERRUPT:
		return JEMALLOC_PTRACE_INTERRUPT;
	case STOP_WAIT:
		return JEMALLOC_WAITPID;
	case STOP_REGISTERS:
	case STOP_DONE:
		break;
	}
	return JEMALLOC_GET_REGSET;
}

/* The first thread that could not be stopped is what is told, if none could. */
static void take_stopped(struct anatomy *anatomy, const struct stopped_thread *stopped,
			 const size_t *indices, size_t count)
{
	struct jemalloc_target *target = anatomy->target;

	for (size_t i = count; i-- > 0;) {
		target->stopped_ns += stopped[i].held_ns;
		if (stopped[i].step == STOP_DONE)
			target->threads[indices[i]].pointer = stopped[i].pointer;
		else
			fail(anatomy, stop_tag(stopped[i].step), stopped[i].error);
	}
}

static void stop_threads(struct anatomy *anatomy)
{
	static const struct stop_limits limits = { .thread_ms = 250, .total_ms = 2000 };
	struct jemalloc_target *target = anatomy->target;
	struct stopped_thread *stopped = calloc(target->count + 1, sizeof(*stopped));
	size_t *indices = calloc(target->count + 1, sizeof(*indices));
	size_t count = 0;

	for (size_t i = 0; stopped && indices && i < target->count; i++) {
		if (target->threads[i].pointer)
			continue;
		stopped[count].tid = target->threads[i].tid;
		indices[count++] = i;
	}
	if (count && thread_stop_read(stopped, count, &limits) == 0)
		take_stopped(anatomy, stopped, indices, count);
	free(indices);
	free(stopped);
}

/*
 * What the iterator told is complete, and so is a list that was walked to its
 * end: a thread without a pointer there has none.  Only else is one stopped.
 */
static int find_pointers(struct anatomy *anatomy)
{
	struct jemalloc_target *target = anatomy->target;

	target->pointers = "iterator";
	if (has_pointers(target))
		return 0;
	target->pointers = "thread-list";
	target->tag = JEMALLOC_NO_THREAD_POINTER;
	if (list_pointers(anatomy) && has_pointers(target))
		return 0;
	if (target->tag == JEMALLOC_PID_MISSING || target->tag == JEMALLOC_PROCESS_VM_READV)
		return -1;
	if (!has_pointers(target))
		target->pointers = "ptrace";
	stop_threads(anatomy);
	return has_pointers(target) ? 0 : -1;
}

/* ---- the counters ---- */

struct window {
	uint64_t first;	  /* offset of the lower counter */
	size_t size;	  /* of both, and what is between */
	size_t allocated; /* in the window */
	size_t deallocated;
};

/* Offsets may be below the start, as 64-bit numbers; what counts is how far apart they are. */
static bool find_window(const struct tsd_layout *offsets, struct window *ret)
{
	uint64_t up = offsets->deallocated - offsets->allocated;
	uint64_t down = offsets->allocated - offsets->deallocated;
	uint64_t distance = up < down ? up : down;

	if (distance < COUNTER_SIZE || distance > SPAN_MAX - COUNTER_SIZE)
		return false;
	ret->first = up < down ? offsets->allocated : offsets->deallocated;
	ret->size = distance + COUNTER_SIZE;
	ret->allocated = up < down ? 0 : distance;
	ret->deallocated = up < down ? distance : 0;
	return true;
}

static bool find_address(struct anatomy *anatomy, uint64_t pointer, const struct window *window,
			 uint64_t *ret)
{
	uint64_t block;

	/* Offsets from the pointer itself may be negative: added as they are, modulo 2^64. */
	if (anatomy->target->layout.from_pointer) {
		*ret = pointer + window->first;
		return true;
	}
	if (anatomy->is_fixed)
		return tls_counter_address(pointer, anatomy->block, window->first, ret);
	return tls_block_read(&anatomy->memory, &anatomy->layout, &anatomy->module, pointer,
			      &block) == 0 &&
	       tls_counter_address(block, 0, window->first, ret);
}

static uint64_t counter_at(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static int read_spans(struct anatomy *anatomy, const struct window *window,
		      struct target_span *spans, struct target_thread **threads, uint8_t *bytes)
{
	struct jemalloc_target *target = anatomy->target;
	size_t count = 0;
	ssize_t status;

	for (size_t i = 0; i < target->count; i++) {
		threads[count] = &target->threads[i];
		if (target->threads[i].pointer && find_address(anatomy, target->threads[i].pointer,
							       window, &spans[count].address))
			count++;
	}
	if (!count)
		return fail(anatomy, JEMALLOC_TLS_ARITHMETIC, -ERANGE);
	status = target_read_spans(anatomy->pid, spans, count, window->size, bytes);
	if (status < 0)
		return fail(anatomy, JEMALLOC_PROCESS_VM_READV, (int)status);
	for (size_t i = 0; i < count; i++) {
		const uint8_t *found = bytes + i * window->size;

		if (spans[i].error)
			continue;
		threads[i]->allocated = counter_at(found + window->allocated);
		threads[i]->deallocated = counter_at(found + window->deallocated);
		threads[i]->is_read = true;
		target->read++;
	}
	return target->read ? 0 : fail(anatomy, JEMALLOC_PROCESS_VM_READV, spans[0].error);
}

static int read_counters(struct anatomy *anatomy)
{
	const struct jemalloc_target *target = anatomy->target;
	CLEANUP(free_pointer) struct target_span *spans = NULL;
	CLEANUP(free_pointer) struct target_thread **threads = NULL;
	CLEANUP(free_pointer) uint8_t *bytes = NULL;
	struct window window;

	if (!find_window(&target->layout.offsets, &window))
		return fail(anatomy, JEMALLOC_TLS_ARITHMETIC, -ERANGE);
	spans = calloc(target->count + 1, sizeof(*spans));
	threads = calloc(target->count + 1, sizeof(*threads));
	bytes = calloc(target->count + 1, window.size);
	if (!spans || !threads || !bytes)
		return fail(anatomy, JEMALLOC_PROCESS_VM_READV, -ENOMEM);
	return read_spans(anatomy, &window, spans, threads, bytes);
}

void jemalloc_target_read(void *context)
{
	struct jemalloc_target *target = context;
	struct anatomy anatomy = { .target = target, .pid = target->tgid };

	anatomy.memory = target_memory_of(&anatomy.pid);
	if (find_block(&anatomy) == 0 && find_pointers(&anatomy) == 0 &&
	    read_counters(&anatomy) == 0) {
		target->tag = JEMALLOC_READ;
		target->error = 0;
	}
	module_list_clear(&anatomy.modules);
}
