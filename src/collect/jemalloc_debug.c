/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc_debug.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "collect/jemalloc_scout.h"
#include "host/confine.h"
#include "host/debug_file.h"
#include "host/dwarf_layout.h"
#include "host/elf_inspect.h"

#define DEBUG_CPU_SECONDS 20

struct debug_job {
	const struct debug_question *question;
	struct debug_files files;
	int keep[1 + DEBUG_FILES_MAX];
};

/* What the child says, one after the other. */
struct debug_words {
	struct elf_findings findings;
	struct debug_answer answer;
};

_Static_assert(sizeof(struct debug_words) ==
		       sizeof(struct elf_findings) + sizeof(struct debug_answer),
	       "nothing is between them");

static int prepare(void *argument)
{
	struct debug_job *job = argument;
	const struct debug_program program = {
		.process = job->question->process,
		.path = job->question->path,
		.owner = job->question->owner,
		.findings = job->question->findings,
	};

	debug_files_open(&program, &job->files);
	for (size_t i = 0; i < job->files.count; i++)
		job->keep[1 + i] = job->files.list[i].fd;
	return 0;
}

/* The struct is as far from the block's start as the symbol says, which may be in either file. */
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

/* Symbols alone are enough to ask the program itself, as long as they are its own. */
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

/* The first file that tells, else what is wrong with the last that should. */
static void search(const struct debug_job *job, const struct elf_findings *findings,
		   struct debug_answer *answer)
{
	answer->status = -ENODATA;
	if (findings->has_dwarf)
		answer->status = try_file(findings, job->question->fd, answer);
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
	const struct debug_job *job = argument;
	struct elf_findings findings;
	struct debug_answer answer;

	memset(&findings, 0, sizeof(findings));
	memset(&answer, 0, sizeof(answer));
	if (elf_inspect(job->question->fd, &findings) < 0)
		return -EBADMSG;
	/* At once: debug information may cost us our life. */
	if (write(out, &findings, sizeof(findings)) != sizeof(findings))
		return -EIO;
	search(job, &findings, &answer);
	return write(out, &answer, sizeof(answer)) == sizeof(answer) ? 0 : -EIO;
}

static bool is_sound(const struct debug_answer *answer)
{
	if (answer->status > 0)
		return false;
	return answer->status < 0 || tsd_layout_is_plausible(&answer->layout);
}

int jemalloc_debug_ask(const struct debug_question *question, struct elf_findings *ret_findings,
		       struct debug_answer *ret)
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
	struct debug_words words;
	struct confined_job child;
	size_t size;
	int status;

	for (size_t i = 0; i < 1 + DEBUG_FILES_MAX; i++)
		job.keep[i] = -1;
	job.keep[0] = question->fd;
	status = confined_start(&child, &limits, question->timeout_ms, work, &job);
	if (status < 0)
		return status;
	status = confined_finish(&child, &words, sizeof(words), &size);
	if (size >= sizeof(words.findings)) {
		findings_tame(&words.findings);
		*ret_findings = words.findings;
	}
	if (status == 0 && (size != sizeof(words) || !is_sound(&words.answer)))
		status = -EBADMSG;
	if (status == 0)
		*ret = words.answer;
	return status;
}
