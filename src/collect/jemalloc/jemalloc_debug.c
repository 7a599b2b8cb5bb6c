/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc/jemalloc_debug.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "collect/jemalloc/jemalloc_file.h"
#include "host/confine/confine.h"
#include "host/elf/debug_file.h"
#include "host/oracle/dwarf_layout.h"
#include "host/elf/elf_inspect.h"

#define DEBUG_CPU_SECONDS 20

struct debug_job {
	const struct debug_question *question;
	int fd;	     /* of the program or library */
	int process; /* directory of a process that has it mapped */
	struct debug_files files;
	int keep[1 + DEBUG_FILES_MAX];
};

static int prepare(void *argument)
{
	struct debug_job *job = argument;
	struct mapped_file file = *job->question->file;
	int status = mapped_file_open(&file, &job->fd, &job->process);
	const struct debug_program program = {
		.process = job->process,
		.path = file.path,
		.owner = file.status.st_uid,
		.findings = job->question->findings,
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
static void search(const struct debug_job *job, struct debug_answer *answer)
{
	const struct elf_findings *findings = job->question->findings;

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

static int work(void *argument, int out)
{
	struct debug_answer answer;

	memset(&answer, 0, sizeof(answer));
	search(argument, &answer);
	return write(out, &answer, sizeof(answer)) == sizeof(answer) ? 0 : -EIO;
}

static bool is_sound(const struct debug_answer *answer)
{
	if (answer->status > 0)
		return false;
	return answer->status < 0 || tsd_layout_is_plausible(&answer->layout);
}

int jemalloc_debug_ask(const struct debug_question *question, struct debug_answer *ret)
{
	struct debug_job job = { .question = question };
	const struct confine_limits limits = {
		.rules = CONFINE_PARSER,
		.memory_bytes = question->memory_bytes,
		.cpu_seconds = DEBUG_CPU_SECONDS,
		.keep = job.keep,
		.keep_count = 1 + DEBUG_FILES_MAX,
		.prepare = prepare,
	};
	struct debug_answer answer;
	int status;

	for (size_t i = 0; i < 1 + DEBUG_FILES_MAX; i++)
		job.keep[i] = -1;
	status = confined_ask(&limits, question->timeout_ms, work, &job, &answer, sizeof(answer));
	if (status == 0 && !is_sound(&answer))
		status = -EBADMSG;
	if (status == 0)
		*ret = answer;
	return status;
}
