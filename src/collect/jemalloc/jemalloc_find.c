/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc/jemalloc_find.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "host/deadline_run.h"
#include "host/host.h"
#include "host/confine/trusted_file.h"

#define TSD_SIZE_LEAST 64 /* bytes: a thread's state in any jemalloc is larger */
#define FAIR_MS 50	  /* waiting for less than this does not make a user slow */

/* ---- what is loaded ---- */

void module_scan_free(struct module_scan **scan)
{
	if (!*scan)
		return;
	close_fd(&(*scan)->process);
	process_modules_clear(&(*scan)->modules);
	array_free(&(*scan)->candidates);
	free(*scan);
}

static void release_scan(void *context)
{
	struct module_scan *scan = context;

	module_scan_free(&scan);
}

/* If the header cannot be read from memory, or is of another machine, the file must be read. */
static bool may_hold_jemalloc(const struct process_module *module)
{
	const struct elf_tls *tls = &module->elf.findings.tls;

	return module->status < 0 || (tls->present && tls->memsz >= TSD_SIZE_LEAST);
}

static int add_candidate(struct module_scan *scan, struct process_module *module)
{
	struct candidate_module candidate = { .module = module };

	candidate.has_status =
		process_mapping_stat(scan->process, module->mapping, &candidate.status) == 0;
	return array_append(&scan->candidates, candidate);
}

/*
 * The executable comes first, since the process uses the executable's jemalloc if it has one; then
 * by ascending address.
 */
static int find_candidates(struct module_scan *scan)
{
	for (int is_library = 0; is_library < 2; is_library++)
		for (size_t i = 0; i < scan->modules.list.count; i++) {
			struct process_module *module = &scan->modules.list.data[i];

			if (module->is_executable == is_library)
				continue;
			if (module->is_executable)
				scan->executable = module;
			if (may_hold_jemalloc(module) && add_candidate(scan, module) < 0)
				return -ENOMEM;
		}
	return 0;
}

static void run_scan(void *context)
{
	struct module_scan *scan = context;

	scan->status = process_modules_read(scan->process, scan->tgid, &scan->modules);
	if (scan->status == 0)
		scan->status = find_candidates(scan);
}

int module_scan_read(const struct host *host, int32_t tgid, unsigned timeout_ms,
		     struct module_scan **ret)
{
	CLEANUP(module_scan_free) struct module_scan *scan = calloc(1, sizeof(*scan));
	int status;

	if (!scan)
		return -ENOMEM;
	scan->tgid = tgid;
	scan->process = proc_open_number(host->proc, tgid);
	if (scan->process < 0)
		return scan->process;
	status = deadline_run(run_scan, release_scan, scan, timeout_ms);
	if (status == -ETIMEDOUT)
		scan = NULL; /* the thread owns it now */
	if (status == 0)
		status = scan->status;
	if (status == 0)
		*ret = TAKE_PTR(scan);
	return status;
}

/* ---- which file has jemalloc ---- */

static bool is_slow(enum jemalloc_tag tag)
{
	return tag == JEMALLOC_TARGET_BLOCKED || tag == JEMALLOC_ORACLE_TIMEOUT ||
	       tag == JEMALLOC_OUT_OF_TIME;
}

void jemalloc_charge(const struct heap_reader *reader, uint64_t start_ms, enum jemalloc_tag tag)
{
	uint64_t spent_ms = time_budget_now_ms() - start_ms;

	user_times_charge(&reader->source->users, reader->user, spent_ms,
			  is_slow(tag) && spent_ms >= FAIR_MS);
}

/*
 * Whether a known layout is valid for a user.  Trust depends on the path, which may differ between
 * processes, so a refusal is valid for its own user only.
 */
static bool holds_for(const struct known_layout *known, uint64_t user)
{
	return known->layout.tag != JEMALLOC_ORACLE_UNTRUSTED || known->user == user;
}

static const struct jemalloc_layout *known_layout(const struct heap_reader *reader,
						  const struct candidate_module *candidate)
{
	const struct process_module *module = candidate->module;

	for (size_t i = 0; i < reader->source->layouts.count; i++) {
		const struct known_layout *known = &reader->source->layouts.data[i];

		if (known->is_executable == module->is_executable &&
		    known->has_status == candidate->has_status &&
		    file_is_same(known->id, file_id_of(module->mapping)) &&
		    file_is_unchanged(&known->status, &candidate->status) &&
		    holds_for(known, reader->user))
			return &known->layout;
	}
	return NULL;
}

/* Whether the tag is about the file; else it is about the process through which we reached it. */
static bool is_about_file(enum jemalloc_tag tag)
{
	return tag != JEMALLOC_PID_MISSING && tag != JEMALLOC_TARGET_BLOCKED &&
	       tag != JEMALLOC_FILE_UNREADABLE;
}

static int keep_layout(const struct heap_reader *reader, const struct candidate_module *candidate,
		       const struct jemalloc_layout *layout)
{
	struct known_layout known = {
		.id = file_id_of(candidate->module->mapping),
		.has_status = candidate->has_status,
		.status = candidate->status,
		.is_executable = candidate->module->is_executable,
		.user = reader->user,
		.layout = *layout,
	};

	if (!is_about_file(layout->tag))
		return 0;
	return array_append(&reader->source->layouts, known);
}

/* The layout of a file is the same for all processes. */
static int find_layout(const struct heap_reader *reader, int32_t tgid,
		       const struct candidate_module *candidate, struct jemalloc_layout *ret)
{
	const struct jemalloc_layout *known = known_layout(reader, candidate);
	uint64_t start_ms;

	if (known) {
		*ret = *known;
		return 0;
	}
	start_ms = time_budget_now_ms();
	jemalloc_layout_find(reader, tgid, candidate, ret);
	jemalloc_charge(reader, start_ms, ret->tag);
	if (!reader->source->cache_error)
		reader->source->cache_error = ret->keep_error;
	return keep_layout(reader, candidate, ret);
}

int jemalloc_find(const struct heap_reader *reader, const struct module_scan *scan,
		  struct process_module **ret, struct jemalloc_layout *ret_layout)
{
	struct jemalloc_layout outcome = { .tag = JEMALLOC_NOT_FOUND };

	*ret = NULL;
	for (size_t i = 0; i < scan->candidates.count; i++) {
		struct jemalloc_layout layout;

		if (find_layout(reader, scan->tgid, &scan->candidates.data[i], &layout) < 0)
			return -ENOMEM;
		if (outcome.tag == JEMALLOC_NOT_FOUND || layout.has_jemalloc)
			outcome = layout;
		if (layout.has_jemalloc)
			*ret = scan->candidates.data[i].module;
		if (layout.has_jemalloc || is_slow(layout.tag))
			break;
	}
	*ret_layout = outcome;
	return 0;
}
