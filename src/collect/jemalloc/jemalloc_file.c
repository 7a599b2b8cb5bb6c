/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc/jemalloc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "collect/jemalloc/jemalloc_budget.h"
#include "host/confine/confine.h"
#include "host/elf/debug_file.h"
#include "host/elf/process_modules.h"
#include "host/host.h"
#include "host/oracle/dwarf_layout.h"
#include "host/plain_file.h"
#include "host/proc/proc_file.h"

#define INSPECT_MEMORY ((uint64_t)2 << 30) /* of address space */
#define INSPECT_CPU_SECONDS 1		   /* far more than a sound file takes */
#define DEBUG_MEMORY ((uint64_t)6 << 30)   /* more than twice what is unpacked */
#define DEBUG_CPU_SECONDS 20

struct file_id file_id_of(const struct process_mapping *mapping)
{
	return (struct file_id){ mapping->device, mapping->inode };
}

bool file_is_same(struct file_id one, struct file_id other)
{
	return one.device == other.device && one.inode == other.inode;
}

struct mapped_file mapped_file_of(const struct host *host, int32_t tgid,
				  const struct process_module *module)
{
	return (struct mapped_file){
		.host = host,
		.tgid = tgid,
		.id = file_id_of(module->mapping),
		.is_executable = module->is_executable,
	};
}

/* ---- opening ---- */

static const struct process_mapping *find_mapping(const struct process_maps *maps,
						  struct file_id id)
{
	const struct process_mapping *mapping;
	size_t cursor = 0;

	while ((mapping = process_maps_next_file(maps, &cursor)))
		if (file_is_same(file_id_of(mapping), id))
			return mapping;
	return NULL;
}

/* A process can change its exe link: use it only if it leads to the mapped file. */
static int open_executable(int process, const struct process_mapping *mapping)
{
	CLEANUP(close_fd) int place = openat(process, "exe", O_PATH | O_CLOEXEC);
	struct stat file;

	if (place < 0 || fstat(place, &file) < 0)
		return -errno;
	if (file.st_dev != mapping->device || file.st_ino != mapping->inode)
		return -ESTALE;
	return plain_file_open(place);
}

static int open_mapping(const struct mapped_file *file, int process,
			const struct process_mapping *mapping)
{
	int fd = process_mapping_open(process, mapping);
	int linked;

	if (fd >= 0 || !file->is_executable)
		return fd;
	linked = open_executable(process, mapping);
	return linked < 0 ? fd : linked;
}

/*
 * Only for a child of ours: opens the file as the process's map names it now.  An executable can
 * also be opened through the exe link of its process; the process's owner may follow that even
 * when the file was deleted.  Returns 0, *ret_fd, *ret_process (the directory of the process),
 * status and path; or a negative errno.
 */
static int open_mapped_file(struct mapped_file *file, int *ret_fd, int *ret_process)
{
	CLEANUP(process_maps_clear) struct process_maps maps = { 0 };
	CLEANUP(close_fd) int process = proc_open_number(file->host->proc, file->tgid);
	CLEANUP(close_fd) int fd = -1;
	const struct process_mapping *mapping;
	int status = process < 0 ? process : process_maps_read(process, &maps);

	if (status < 0)
		return status == -ENOENT ? -ESRCH : status;
	mapping = find_mapping(&maps, file->id);
	if (!mapping)
		return -ESRCH; /* it runs another program now */
	fd = open_mapping(file, process, mapping);
	if (fd < 0)
		return fd;
	if (fstat(fd, &file->status) < 0)
		return -errno;
	snprintf(file->path, sizeof(file->path), "%s", mapping->name);
	*ret_fd = TAKE_FD(fd);
	*ret_process = TAKE_FD(process);
	return 0;
}

/* ---- inspecting ---- */

/* A byte that is neither 0 nor 1 must not be read as a bool. */
static void sanitize_flag(bool *flag)
{
	unsigned char byte;

	memcpy(&byte, flag, sizeof(byte));
	*flag = byte != 0;
}

static void sanitize(struct elf_findings *findings)
{
	bool *const flags[] = {
		&findings->is_native,	&findings->has_interpreter, &findings->has_dynamic,
		&findings->tls.present, &findings->has_dwarf,	    &findings->has_symtab,
		&findings->has_tsd,	&findings->exports_mallctl, &findings->mentions_jemalloc,
	};

	_Static_assert(sizeof(bool) == 1, "a flag is a byte");
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		sanitize_flag(flags[i]);
	findings->debuglink[sizeof(findings->debuglink) - 1] = '\0';
	findings->mallctl_name[sizeof(findings->mallctl_name) - 1] = '\0';
	if (findings->build_id_size > ELF_BUILD_ID_SIZE)
		findings->build_id_size = 0;
}

/* The result of opening, in memory that the child shares with us while it has our rights. */
struct opening {
	int status; /* -EINPROGRESS until it is done */
	struct mapped_file file;
};

struct inspection {
	struct opening *opening;
	int fd;
};

/*
 * A hostile file may take over the child later, so the shared memory, which we trust, is unmapped
 * first.
 */
static int open_in_child(void *argument)
{
	struct inspection *inspection = argument;
	struct opening *opening = inspection->opening;
	int process, status = open_mapped_file(&opening->file, &inspection->fd, &process);

	opening->status = status;
	return munmap(opening, sizeof(*opening)) < 0 ? -errno : status;
}

static int inspect_in_child(void *argument, int answer)
{
	const struct inspection *inspection = argument;
	struct elf_findings findings;
	int status = elf_inspect(inspection->fd, &findings);

	if (status < 0)
		return status;
	return write(answer, &findings, sizeof(findings)) == sizeof(findings) ? 0 : -EIO;
}

static int run_inspection(struct inspection *inspection, const struct host *host,
			  unsigned timeout_ms, struct elf_findings *ret)
{
	const struct confine_limits limits = {
		.rules = CONFINE_PARSER,
		.memory_bytes = memory_budget(host, INSPECT_MEMORY),
		.cpu_seconds = INSPECT_CPU_SECONDS,
		.keep = &inspection->fd,
		.keep_count = 1,
		.prepare = open_in_child,
	};
	struct elf_findings findings;
	int opened, status = confined_ask(&limits, timeout_ms, inspect_in_child, inspection,
					  &findings, sizeof(findings));

	opened = inspection->opening->status;
	if (opened < 0)
		return opened == -EINPROGRESS ? status : opened;
	if (status < 0)
		return status == -ETIMEDOUT || status == -EBADMSG ? status : -EPROTO;
	sanitize(&findings);
	*ret = findings;
	return 0;
}

int mapped_file_inspect(struct mapped_file *file, unsigned timeout_ms, struct elf_findings *ret)
{
	struct opening *opening = mmap(NULL, sizeof(*opening), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct inspection inspection = { .opening = opening, .fd = -1 };
	int status;

	if (opening == MAP_FAILED)
		return -ENOMEM;
	opening->status = -EINPROGRESS;
	opening->file = *file;
	status = run_inspection(&inspection, file->host, timeout_ms, ret);
	if (opening->status == 0) {
		*file = opening->file;
		file->is_opened = true;
	}
	munmap(opening, sizeof(*opening));
	return status;
}

/* ---- debug information ---- */

struct debug_job {
	const struct mapped_file *file;
	const struct elf_findings *findings; /* of the file: they say where its debug files are */
	int fd;				     /* of the program or library */
	int process;			     /* directory of a process that has it mapped */
	struct debug_files files;
	int keep[1 + DEBUG_FILES_MAX];
};

static int open_debug_in_child(void *argument)
{
	struct debug_job *job = argument;
	struct mapped_file file = *job->file;
	int status = open_mapped_file(&file, &job->fd, &job->process);
	const struct debug_program program = {
		.process = job->process,
		.path = file.path,
		.owner = file.status.st_uid,
		.findings = job->findings,
	};

	if (status < 0)
		return status;
	debug_files_open(&program, &job->files);
	job->keep[0] = job->fd;
	for (size_t i = 0; i < job->files.count; i++)
		job->keep[1 + i] = job->files.list[i].fd;
	return 0;
}

/*
 * Adds the symbol's value, the distance of the struct from the block's start.  The symbol may be
 * in either file.
 */
static int try_file(const struct elf_findings *findings, int fd, struct debug_answer *answer)
{
	struct elf_findings other = *findings;
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

/* With symbols alone the oracle can ask the program, if they are really this program's. */
static void take_symbols(const struct elf_findings *findings, int fd, struct debug_answer *answer)
{
	struct elf_findings other;

	if (answer->main || elf_inspect(fd, &other) < 0 || !other.main || !other.mallctl)
		return;
	if (other.entry != findings->entry || other.machine != findings->machine ||
	    other.type != findings->type)
		return;
	answer->main = other.main;
	answer->mallctl = other.mallctl;
}

/* Takes the layout of the first file that has it, else the error of the last file that should. */
static void search_debug(const struct debug_job *job, struct debug_answer *answer)
{
	const struct elf_findings *findings = job->findings;

	answer->status = -ENODATA;
	if (findings->has_dwarf)
		answer->status = try_file(findings, job->fd, answer);
	answer->in_own_file = answer->status == 0;
	for (size_t i = 0; answer->status < 0 && i < job->files.count; i++) {
		const struct debug_file *file = &job->files.list[i];
		int found;

		if (!debug_file_matches(file, findings))
			continue;
		answer->has_file = 1;
		found = try_file(findings, file->fd, answer);
		if (found != -ENODATA)
			answer->status = found;
		if (found < 0)
			take_symbols(findings, file->fd, answer);
	}
}

static int search_debug_in_child(void *argument, int out)
{
	struct debug_answer answer;

	memset(&answer, 0, sizeof(answer));
	search_debug(argument, &answer);
	return write(out, &answer, sizeof(answer)) == sizeof(answer) ? 0 : -EIO;
}

static bool is_sound(const struct debug_answer *answer)
{
	if (answer->status > 0)
		return false;
	return answer->status < 0 || tsd_layout_is_plausible(&answer->layout);
}

int mapped_file_ask_debug(const struct mapped_file *file, const struct elf_findings *findings,
			  unsigned timeout_ms, struct debug_answer *ret)
{
	struct debug_job job = { .file = file, .findings = findings };
	const struct confine_limits limits = {
		.rules = CONFINE_PARSER,
		.memory_bytes = memory_budget(file->host, DEBUG_MEMORY),
		.cpu_seconds = DEBUG_CPU_SECONDS,
		.keep = job.keep,
		.keep_count = ARRAY_SIZE(job.keep),
		.prepare = open_debug_in_child,
	};
	struct debug_answer answer;
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(job.keep); i++)
		job.keep[i] = -1;
	status = confined_ask(&limits, timeout_ms, search_debug_in_child, &job, &answer,
			      sizeof(answer));
	if (status == 0 && !is_sound(&answer))
		status = -EBADMSG;
	if (status == 0)
		*ret = answer;
	return status;
}
