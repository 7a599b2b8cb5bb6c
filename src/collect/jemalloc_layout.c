/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc_layout.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collect/jemalloc_debug.h"
#include "collect/proc_file.h"
#include "host/aside.h"
#include "host/host.h"
#include "host/offset_cache.h"
#include "host/oracle.h"
#include "host/process_maps.h"

#define DEBUG_MEMORY ((uint64_t)6 << 30) /* of address space: twice what is unpacked, and more */
#define SLOW_FAILURE_MS 100		 /* one that took longer is worth keeping */

/* The mapped file, opened aside: a file system may not answer. */
struct opened {
	int proc;
	int32_t tgid;
	struct file_id id;
	bool is_executable;

	int status;
	int process; /* its directory */
	int fd;
	struct stat file;
	char path[PATH_MAX]; /* as the process sees it */
};

/* ---- opening ---- */

static const struct process_mapping *find_mapping(const struct process_maps *maps,
						  struct file_id id)
{
	const struct process_mapping *mapping;
	size_t cursor = 0;

	while ((mapping = process_maps_next_file(maps, &cursor)))
		if (file_is_same((struct file_id){ mapping->device, mapping->inode }, id))
			return mapping;
	return NULL;
}

/* By the map as it is, not by what a child said, which may have been taken over. */
static int open_searched(struct opened *opened)
{
	CLEANUP(process_maps_clear) struct process_maps maps = { 0 };
	const struct process_mapping *mapping;
	int status;

	status = process_maps_read(opened->process, &maps);
	if (status < 0)
		return status;
	mapping = find_mapping(&maps, opened->id);
	if (!mapping)
		return -ESRCH; /* it runs another program by now */
	opened->fd = file_open(opened->process, mapping, opened->is_executable);
	if (opened->fd < 0)
		return opened->fd;
	snprintf(opened->path, sizeof(opened->path), "%s", mapping->name);
	return 0;
}

static int open_mapped(struct opened *opened)
{
	int status;

	opened->process = proc_open_number(opened->proc, opened->tgid);
	if (opened->process < 0)
		return opened->process == -ENOENT ? -ESRCH : opened->process;
	status = open_searched(opened);
	if (status < 0)
		return status;
	return fstat(opened->fd, &opened->file) < 0 ? -errno : 0;
}

static void open_aside(void *context)
{
	struct opened *opened = context;

	opened->status = open_mapped(opened);
}

static void opened_free(struct opened **opened)
{
	if (!*opened)
		return;
	close_fd(&(*opened)->proc);
	close_fd(&(*opened)->process);
	close_fd(&(*opened)->fd);
	free(*opened);
}

static void release_opened(void *context)
{
	struct opened *opened = context;

	opened_free(&opened);
}

static int open_file(const struct jemalloc_question *question, struct opened **ret)
{
	CLEANUP(opened_free) struct opened *opened = calloc(1, sizeof(*opened));
	int status;

	if (!opened)
		return -ENOMEM;
	opened->process = opened->fd = -1;
	opened->proc = dup(question->host->proc);
	opened->tgid = question->tgid;
	opened->id = question->file->id;
	opened->is_executable = question->is_executable;
	if (opened->proc < 0)
		return -errno;
	status = aside_run(open_aside, release_opened, opened,
			   time_budget_share(question->budget, UINT32_MAX));
	if (status == -ETIMEDOUT)
		opened = NULL; /* its thread's now */
	if (status < 0)
		return status;
	if (opened->status < 0)
		return opened->status;
	*ret = TAKE_PTR(opened);
	return 0;
}

/* ---- the cache, and the order of all ways ---- */

struct learned {
	const struct jemalloc_question *question;
	const struct opened *opened; /* NULL as long as there is hope to go without */
	struct jemalloc_layout *layout;
	/* By the scout; of what was opened, by a child that read no other file. */
	struct elf_findings findings;
	struct debug_answer debug;
	int silence; /* the negative errno that is known instead of an answer of the oracle, or 0 */
};

static enum offset_cache_kind oracle_kind(const struct jemalloc_question *question)
{
	return question->is_executable ? OFFSET_CACHE_PROGRAM : OFFSET_CACHE_LIBRARY;
}

static struct offset_cache_key cache_key(const struct learned *learned, enum offset_cache_kind kind)
{
	const struct elf_findings *findings = &learned->findings;

	return (struct offset_cache_key){
		.kind = kind,
		.build_id = findings->build_id,
		.build_id_size = findings->build_id_size,
		.file = learned->opened ? &learned->opened->file : &learned->question->file->status,
	};
}

static void accept_layout(const struct learned *learned, enum offset_cache_kind kind,
			  const struct tsd_layout *offsets, const char *route)
{
	*learned->layout = (struct jemalloc_layout){
		.tag = JEMALLOC_READ,
		.route = route,
		.from_pointer = kind == OFFSET_CACHE_PROGRAM,
		.offsets = *offsets,
	};
}

/* A file without an id cannot be kept, wherever that be. */
static void note_kept(const struct learned *learned, int status)
{
	learned->layout->keep_error = status == -EINVAL ? 0 : status;
}

static void learn(const struct learned *learned, enum offset_cache_kind kind,
		  const struct tsd_layout *offsets, const char *route)
{
	struct offset_cache_key key = cache_key(learned, kind);

	accept_layout(learned, kind, offsets, route);
	note_kept(learned, offset_cache_keep(learned->question->cache, &key, offsets));
}

/* 0, -ENOENT, or the errno that is kept instead. */
static int recall(const struct learned *learned, enum offset_cache_kind kind)
{
	struct offset_cache_key key = cache_key(learned, kind);
	struct tsd_layout offsets;
	int status = offset_cache_find(learned->question->cache, &key, &offsets);

	if (status == 0)
		accept_layout(learned, kind, &offsets, "cached");
	return status;
}

/*
 * By what a confined child, or a process about what it has loaded, says about the file: a child
 * that was taken over can have the counters of its own processes misread, as with all that it
 * says, and nothing is kept by it.
 */
static bool find_cached(struct learned *learned)
{
	int status;

	if (recall(learned, OFFSET_CACHE_DEBUG) == 0)
		return true;
	if (!learned->question->may_ask_oracle)
		return false;
	status = recall(learned, oracle_kind(learned->question));
	learned->silence = status == -ENOENT ? 0 : status;
	return status == 0;
}

/* 0, -ENODATA, or why it could not be told. */
static int find_by_debug(struct learned *learned)
{
	const struct opened *opened = learned->opened;
	const struct elf_findings *said = &learned->question->file->findings;
	const struct debug_question question = {
		.process = opened->process,
		.path = opened->path,
		.owner = opened->file.st_uid,
		.fd = opened->fd,
		.findings = said,
		.timeout_ms = time_budget_share(learned->question->budget, UINT32_MAX),
		.memory_bytes = memory_budget(learned->question->host, DEBUG_MEMORY, 1),
	};
	int status;

	learned->findings = (struct elf_findings){ 0 };
	status = jemalloc_debug_ask(&question, &learned->findings, &learned->debug);
	if (status < 0 || learned->debug.status < 0)
		return status < 0 ? status : learned->debug.status;
	learn(learned, OFFSET_CACHE_DEBUG, &learned->debug.layout,
	      learned->debug.in_own_file ? "dwarf" : "debug-file");
	return 0;
}

static struct oracle_file oracle_file(const struct learned *learned)
{
	return (struct oracle_file){ learned->opened->path, &learned->opened->file };
}

/* Its own symbols, or those that were taken from it and kept in its debug file. */
static struct oracle_program find_program(const struct learned *learned)
{
	const struct elf_findings *findings = &learned->findings;
	bool is_named = findings->main && findings->mallctl;

	return (struct oracle_program){
		.file = oracle_file(learned),
		.entry = findings->entry,
		.main = is_named ? findings->main : learned->debug.main,
		.mallctl = is_named ? findings->mallctl : learned->debug.mallctl,
	};
}

static bool can_be_asked(const struct learned *learned)
{
	if (learned->question->is_executable)
		return find_program(learned).main != 0;
	return learned->findings.exports_mallctl;
}

static int ask_oracle(const struct learned *learned, struct tsd_layout *ret)
{
	const char *mallctl = learned->findings.mallctl_name;
	const struct oracle_program program = find_program(learned);
	/* Code that is trusted may take half of what is left. */
	unsigned timeout_ms = time_budget_allow(learned->question->budget, UINT32_MAX) / 2 + 1;
	struct error why = { 0 };

	if (learned->question->is_executable)
		return oracle_ask_program(&program, timeout_ms, ret, &why);
	return oracle_ask_library(&program.file, mallctl[0] ? mallctl : NULL, timeout_ms, ret,
				  &why);
}

/* To wait in vain once is enough for a while. */
static int ask_oracle_once(const struct learned *learned, struct tsd_layout *ret)
{
	struct offset_cache_key key = cache_key(learned, oracle_kind(learned->question));
	uint64_t start_ms = time_budget_now_ms();
	int status = learned->silence ? learned->silence : ask_oracle(learned, ret);

	if (status < 0 && time_budget_now_ms() - start_ms >= SLOW_FAILURE_MS)
		note_kept(learned,
			  offset_cache_keep_failure(learned->question->cache, &key, status));
	return status;
}

static enum jemalloc_tag oracle_tag(const struct jemalloc_question *question, int status)
{
	if (status == -EKEYREJECTED)
		return JEMALLOC_ORACLE_UNTRUSTED;
	if (status == -ETIMEDOUT)
		return JEMALLOC_ORACLE_TIMEOUT;
	if ((status == -ENODATA || status == -ERANGE) && !question->is_executable)
		return JEMALLOC_IN_DSO;
	return JEMALLOC_ORACLE_FAILED;
}

static void find_by_oracle(const struct learned *learned)
{
	struct tsd_layout offsets;
	int status = ask_oracle_once(learned, &offsets);

	if (status == 0) {
		learn(learned, oracle_kind(learned->question), &offsets, "oracle");
		return;
	}
	learned->layout->tag = oracle_tag(learned->question, status);
	learned->layout->error = status;
}

static enum jemalloc_tag open_tag(int status)
{
	switch (status) {
	case -ESRCH:
		return JEMALLOC_PID_MISSING;
	case -ETIMEDOUT:
		return JEMALLOC_TARGET_BLOCKED;
	default:
		return JEMALLOC_FILE_UNREADABLE;
	}
}

/* When neither debug information nor the code itself told. */
static enum jemalloc_tag silence_tag(const struct learned *learned, int status)
{
	if (status == -ETIMEDOUT)
		return JEMALLOC_OUT_OF_TIME;
	if (status == -EPROTO)
		return JEMALLOC_WORKER_PANIC;
	if (status != -ENODATA)
		return JEMALLOC_DWARF_FAILURE;
	if (can_be_asked(learned))
		return JEMALLOC_ORACLE_OFF;
	return learned->debug.has_file ? JEMALLOC_DEBUG_FILE_SILENT : JEMALLOC_SYMBOLS_STRIPPED;
}

bool jemalloc_layout_recall(const struct jemalloc_question *question, struct jemalloc_layout *ret)
{
	struct jemalloc_layout layout = { .route = "" };
	struct learned learned = { .question = question,
				   .layout = &layout,
				   .findings = question->file->findings };

	if (!question->file->findings.is_native || !find_cached(&learned))
		return false;
	*ret = layout;
	return true;
}

void jemalloc_layout_find(const struct jemalloc_question *question, struct jemalloc_layout *ret)
{
	CLEANUP(opened_free) struct opened *opened = NULL;
	struct learned learned = { .question = question,
				   .layout = ret,
				   .findings = question->file->findings };
	int status;

	*ret = (struct jemalloc_layout){ .route = "" };
	if (!question->file->findings.is_native) {
		ret->tag = JEMALLOC_ARCH_MISMATCH;
		return;
	}
	if (find_cached(&learned))
		return;
	status = open_file(question, &opened);
	if (status < 0) {
		ret->tag = open_tag(status);
		ret->error = status;
		return;
	}
	learned.opened = opened;
	status = find_by_debug(&learned);
	if (status == 0)
		return;
	ret->error = status;
	if (time_budget_is_over(question->budget))
		ret->tag = JEMALLOC_OUT_OF_TIME;
	else if (can_be_asked(&learned) && question->may_ask_oracle)
		find_by_oracle(&learned);
	else
		ret->tag = silence_tag(&learned, status);
}
