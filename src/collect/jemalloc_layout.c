#include "collect/jemalloc_layout.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collect/proc_file.h"
#include "host/aside.h"
#include "host/confine.h"
#include "host/debug_file.h"
#include "host/dwarf_layout.h"
#include "host/host.h"
#include "host/offset_cache.h"
#include "host/oracle.h"
#include "host/process_maps.h"

#define OPEN_TIMEOUT_MS 1000
#define DEBUG_TIMEOUT_MS 20000
#define DEBUG_CPU_SECONDS 20
#define DEBUG_MEMORY ((uint64_t)6 << 30) /* of address space: twice what is unpacked, and more */

/* The mapped file, opened aside: a file system may not answer. */
struct opened {
	int proc;
	int32_t tgid;
	struct file_id id;
	bool is_placed; /* the mapping is known, by what a confined child said */
	struct address_range place;

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
		if (mapping->device == id.device && mapping->inode == id.inode)
			return mapping;
	return NULL;
}

/*
 * Where the child saw it.  A range that is wrong leads to another file of the
 * same target, or to none.
 */
static int open_placed(struct opened *opened)
{
	const struct process_mapping mapping = {
		.start = opened->place.start,
		.end = opened->place.end,
		.device = opened->id.device,
		.inode = opened->id.inode,
		.executable = true,
		.name = opened->path,
	};

	if (!opened->is_placed)
		return -ENOENT;
	opened->fd = process_mapping_open(opened->process, &mapping);
	return opened->fd < 0 ? opened->fd : 0;
}

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
	opened->fd = process_mapping_open(opened->process, mapping);
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
		return opened->process;
	if (open_placed(opened) < 0) {
		status = open_searched(opened);
		if (status < 0)
			return status;
	}
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
	opened->is_placed = question->file->tgid == question->tgid && question->file->name[0];
	opened->place = question->file->mapping;
	snprintf(opened->path, sizeof(opened->path), "%s", question->file->name);
	if (opened->proc < 0)
		return -errno;
	status = aside_run(open_aside, release_opened, opened, OPEN_TIMEOUT_MS);
	if (status == -ETIMEDOUT)
		opened = NULL; /* its thread's now */
	if (status < 0)
		return status;
	if (opened->status < 0)
		return opened->status;
	*ret = TAKE_PTR(opened);
	return 0;
}

/* ---- debug information ---- */

struct debug_job {
	const struct opened *opened;
	const struct elf_findings *findings;
	struct debug_files files;
	int keep[1 + DEBUG_FILES_MAX];
};

/* From the start of the module's TLS block. */
struct debug_answer {
	struct tsd_layout layout;
	bool in_own_file;
};

static int prepare_debug(void *argument)
{
	struct debug_job *job = argument;
	const struct debug_program program = {
		.process = job->opened->process,
		.path = job->opened->path,
		.owner = job->opened->file.st_uid,
		.findings = job->findings,
	};

	debug_files_open(&program, &job->files);
	for (size_t i = 0; i < job->files.count; i++)
		job->keep[1 + i] = job->files.list[i].fd;
	return 0;
}

/* The struct is as far from the block's start as the symbol says, which may be in either file. */
static int try_debug(const struct debug_job *job, int fd, struct debug_answer *answer)
{
	struct elf_findings other = *job->findings;
	struct tsd_layout layout;
	int status = dwarf_tsd_layout(fd, &layout);

	if (status < 0)
		return status;
	if (!other.has_tsd && (elf_inspect(fd, &other) < 0 || !other.has_tsd))
		return -ENODATA;
	answer->layout.allocated = other.tsd_value + layout.allocated;
	answer->layout.deallocated = other.tsd_value + layout.deallocated;
	return 0;
}

static int search_debug(const struct debug_job *job, struct debug_answer *answer)
{
	int status = job->findings->has_dwarf ? try_debug(job, job->opened->fd, answer) : -ENODATA;

	answer->in_own_file = status == 0;
	for (size_t i = 0; status < 0 && i < job->files.count; i++) {
		int found = -ENODATA;

		if (debug_file_matches(&job->files.list[i], job->findings))
			found = try_debug(job, job->files.list[i].fd, answer);
		if (found != -ENODATA)
			status = found;
	}
	return status;
}

static int work_debug(void *argument, int out)
{
	struct debug_answer answer;
	int status;

	memset(&answer, 0, sizeof(answer));
	status = search_debug(argument, &answer);
	if (status < 0)
		return status;
	return write(out, &answer, sizeof(answer)) == sizeof(answer) ? 0 : -EIO;
}

/* 0, -ENODATA, or why it could not be told. */
static int ask_debug(const struct opened *opened, const struct elf_findings *findings,
		     struct debug_answer *ret)
{
	struct debug_job job = { .opened = opened, .findings = findings };
	const struct confine_limits limits = {
		.rules = CONFINE_PARSER,
		.memory_bytes = DEBUG_MEMORY,
		.cpu_seconds = DEBUG_CPU_SECONDS,
		.keep = job.keep,
		.keep_count = 1 + DEBUG_FILES_MAX,
		.prepare = prepare_debug,
	};
	struct confined_job child;
	size_t size;
	int status;

	if (!findings->has_dwarf && !findings->build_id_size && !findings->debuglink[0])
		return -ENODATA;
	for (size_t i = 0; i < 1 + DEBUG_FILES_MAX; i++)
		job.keep[i] = -1;
	job.keep[0] = opened->fd;
	status = confined_start(&child, &limits, DEBUG_TIMEOUT_MS, work_debug, &job);
	if (status < 0)
		return status;
	status = confined_finish(&child, ret, sizeof(*ret), &size);
	if (status < 0)
		return status;
	return size == sizeof(*ret) && tsd_layout_is_plausible(&ret->layout) ? 0 : -EBADMSG;
}

/* ---- the cache, and the order of all ways ---- */

struct learned {
	const struct jemalloc_question *question;
	const struct opened *opened;
	struct jemalloc_layout *layout;
};

static bool use_cache(const struct learned *learned, enum offset_cache_kind kind,
		      const struct tsd_layout *keep)
{
	const struct elf_findings *findings = &learned->question->file->findings;
	const struct offset_cache_key key = {
		.kind = kind,
		.build_id = findings->build_id,
		.build_id_size = findings->build_id_size,
		.file = &learned->opened->file,
	};
	struct jemalloc_layout *layout = learned->layout;

	if (keep) {
		offset_cache_keep(learned->question->cache, &key, keep);
	} else {
		if (offset_cache_find(learned->question->cache, &key, &layout->offsets) < 0)
			return false;
		layout->route = "cached";
	}
	layout->tag = JEMALLOC_READ;
	layout->from_pointer = kind == OFFSET_CACHE_PROGRAM;
	return true;
}

static bool find_cached(const struct learned *learned)
{
	if (use_cache(learned, OFFSET_CACHE_DEBUG, NULL))
		return true;
	return learned->question->may_ask_oracle &&
	       use_cache(learned,
			 learned->question->is_executable ? OFFSET_CACHE_PROGRAM :
							    OFFSET_CACHE_LIBRARY,
			 NULL);
}

/* Returns what ask_debug() did. */
static int find_by_debug(const struct learned *learned)
{
	struct debug_answer answer;
	int status = ask_debug(learned->opened, &learned->question->file->findings, &answer);

	if (status < 0)
		return status;
	learned->layout->offsets = answer.layout;
	learned->layout->route = answer.in_own_file ? "dwarf" : "debug-file";
	use_cache(learned, OFFSET_CACHE_DEBUG, &answer.layout);
	return 0;
}

static int ask_oracle(const struct learned *learned, struct tsd_layout *ret)
{
	const struct elf_findings *findings = &learned->question->file->findings;
	struct oracle_program program = {
		.fd = learned->opened->fd,
		.entry = findings->entry,
		.main = findings->main,
		.mallctl = findings->mallctl,
	};
	struct error why = { 0 };

	if (learned->question->is_executable)
		return oracle_ask_program(&program, ret, &why);
	return oracle_ask_library(
		program.fd, findings->mallctl_name[0] ? findings->mallctl_name : NULL, ret, &why);
}

static enum jemalloc_tag oracle_tag(const struct jemalloc_question *question, int status)
{
	if (status == -ETIMEDOUT)
		return JEMALLOC_ORACLE_TIMEOUT;
	if ((status == -ENODATA || status == -ERANGE) && !question->is_executable)
		return JEMALLOC_IN_DSO;
	return JEMALLOC_ORACLE_FAILED;
}

static void find_by_oracle(const struct learned *learned)
{
	struct jemalloc_layout *layout = learned->layout;
	bool is_executable = learned->question->is_executable;
	struct tsd_layout offsets;
	int status = ask_oracle(learned, &offsets);

	if (status < 0) {
		layout->tag = oracle_tag(learned->question, status);
		layout->error = status;
		return;
	}
	layout->offsets = offsets;
	layout->route = "oracle";
	use_cache(learned, is_executable ? OFFSET_CACHE_PROGRAM : OFFSET_CACHE_LIBRARY, &offsets);
}

static bool can_be_asked(const struct jemalloc_question *question)
{
	const struct elf_findings *findings = &question->file->findings;

	if (question->is_executable)
		return findings->main && findings->mallctl;
	return findings->exports_mallctl;
}

static enum jemalloc_tag open_tag(int status)
{
	switch (status) {
	case -ESRCH:
	case -ENOENT:
		return JEMALLOC_PID_MISSING;
	case -ETIMEDOUT:
		return JEMALLOC_TARGET_BLOCKED;
	default:
		return JEMALLOC_MAPS_READ_FAILURE;
	}
}

static enum jemalloc_tag debug_tag(int status)
{
	return status == -EPROTO || status == -ETIMEDOUT ? JEMALLOC_WORKER_PANIC :
							   JEMALLOC_DWARF_FAILURE;
}

void jemalloc_layout_find(const struct jemalloc_question *question, struct jemalloc_layout *ret)
{
	CLEANUP(opened_free) struct opened *opened = NULL;
	struct learned learned = { question, NULL, ret };
	int status;

	*ret = (struct jemalloc_layout){ .route = "" };
	if (!question->file->findings.is_native) {
		ret->tag = JEMALLOC_ARCH_MISMATCH;
		return;
	}
	status = open_file(question, &opened);
	if (status < 0) {
		ret->tag = open_tag(status);
		ret->error = status;
		return;
	}
	learned.opened = opened;
	if (find_cached(&learned))
		return;
	status = find_by_debug(&learned);
	if (status == 0)
		return;
	ret->error = status;
	if (can_be_asked(question) && question->may_ask_oracle)
		find_by_oracle(&learned);
	else if (status != -ENODATA)
		ret->tag = debug_tag(status);
	else
		ret->tag = can_be_asked(question) ? JEMALLOC_ORACLE_OFF : JEMALLOC_SYMBOLS_STRIPPED;
}
