/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/jemalloc_scout_job.h"
#include "collect/proc_file.h"
#include "host/host.h"

/* ---- with our rights: opening ---- */

static const struct scout_left_out *find_left_out(const struct scout_job *job, struct file_id id)
{
	for (size_t i = 0; i < job->left_out_count; i++)
		if (file_is_same(job->left_out[i].id, id))
			return &job->left_out[i];
	return NULL;
}

/* Its number, or SCOUT_NONE. */
static uint32_t find_file(const struct scout_job *job, struct file_id id)
{
	for (size_t i = 0; i < job->files.count; i++)
		if (file_is_same(job->files.data[i].id, id))
			return (uint32_t)i;
	return SCOUT_NONE;
}

static void note_name(struct scout_open_file *file, const char *name)
{
	if (strlen(name) < sizeof(file->name))
		snprintf(file->name, sizeof(file->name), "%s", name);
}

/* The number of a file in the list, which grows by those that are new.  -E2BIG, -ENOMEM. */
static int list_file(struct scout_job *job, uint32_t process, struct file_id id, uint32_t *ret)
{
	struct scout_open_file file = { .id = id, .fd = -EBADF, .process = process };

	*ret = find_file(job, id);
	if (*ret != SCOUT_NONE)
		return 0;
	if (job->files.count == SCOUT_FILES_MAX)
		return -E2BIG;
	file.left_out = find_left_out(job, id);
	*ret = (uint32_t)job->files.count;
	return array_append(&job->files, file);
}

/* Whether a file could not be opened because of those that are. */
static bool has_no_room(int status)
{
	return status == -EMFILE || status == -ENFILE || status == -E2BIG;
}

/* A file that one process does not lead us to may be found through another. */
static int open_file(struct scout_job *job, const struct scout_use *use, int process,
		     const struct process_mapping *mapping)
{
	struct scout_open_file *file = &job->files.data[use->file];
	struct scouted_process *user = &job->processes[use->process];

	if (file->fd >= 0 || file->left_out)
		return 0;
	job->progress->file = file->id;
	note_name(file, mapping->name);
	file->fd = file_open(process, mapping, use->is_executable);
	if (has_no_room(file->fd))
		return file->fd;
	if (file->fd >= 0)
		job->keep[use->file] = file->fd;
	else if (file_is_program(user->tgid, use->place)) {
		user->error = file->fd;
		user->unreadable++;
	}
	return 0;
}

/* 0, what has_no_room() when there is none for all of them, or -ENOMEM. */
static int open_files(struct scout_job *job, uint32_t index, int process,
		      const struct process_maps *maps)
{
	struct program_image image = { 0 };
	const struct process_mapping *entry = NULL;
	const struct process_mapping *mapping;
	size_t cursor = 0;

	if (program_image_read(process, &image) == 0)
		entry = process_maps_at(maps, image.entry);
	while ((mapping = process_maps_next_file(maps, &cursor))) {
		struct file_id id = { mapping->device, mapping->inode };
		struct scout_use use = { .process = index, .place = file_place(maps, id) };
		int status = list_file(job, index, id, &use.file);

		if (status < 0)
			return status;
		use.is_executable = entry && entry->device == id.device && entry->inode == id.inode;
		status = open_file(job, &use, process, mapping);
		if (status < 0)
			return status;
		if (array_append(&job->uses, use) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int open_process(struct scout_job *job, uint32_t index)
{
	struct scouted_process *process = &job->processes[index];
	CLEANUP(close_fd) int dir = proc_open_number(job->host->proc, process->tgid);
	CLEANUP(process_maps_clear) struct process_maps maps = { 0 };
	size_t uses = job->uses.count;
	int status = dir < 0 ? dir : process_maps_read(dir, &maps);

	if (status == -ENOMEM || (has_no_room(status) && dir < 0 && index > 0))
		return status;
	process->error = status;
	process->state = status == 0			       ? SCOUT_LOOKED :
			 status == -ESRCH || status == -ENOENT ? SCOUT_GONE :
								 SCOUT_NO_MAPS;
	if (status < 0)
		return 0;
	status = open_files(job, index, dir, &maps);
	if (has_no_room(status) && index == 0) { /* no other child has more room: as many as fit */
		process->error = status;
		process->unreadable++;
		return 0;
	}
	if (status < 0)
		job->uses.count = uses;
	return status;
}

/* As many files and processes as we may have; what does not fit is for another child. */
int scout_prepare(void *argument)
{
	struct scout_job *job = argument;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (uint32_t i = 0; i < job->count && i < job->batch; i++) {
		int status;

		job->progress->process = i;
		status = open_process(job, i);
		if (has_no_room(status))
			return 0;
		if (status < 0)
			return status;
		job->progress->prepared = i + 1;
	}
	return 0;
}

/* ---- without any right: reading ---- */

static bool holds_jemalloc(const struct scout_open_file *file)
{
	const struct elf_findings *findings = file->findings;

	return findings && (findings->has_tsd || findings->mentions_jemalloc ||
			    (findings->exports_mallctl && findings->tls.present));
}

static int inspect_file(struct scout_job *job, struct scout_open_file *file)
{
	struct elf_findings *findings;

	if (file->fd < 0 || file->is_inspected)
		return 0;
	file->is_inspected = true;
	job->progress->file = file->id;
	job->progress->process = file->process;
	findings = malloc(sizeof(*findings));
	if (!findings)
		return -ENOMEM;
	if (elf_inspect(file->fd, findings) < 0) {
		free(findings);
		return 0;
	}
	file->findings = findings;
	return 0;
}

/* The executable counts first: its own jemalloc is the one that it uses. */
static const struct scout_use *find_holder(const struct scout_job *job,
					   const struct scout_use *uses, size_t count)
{
	const struct scout_use *holder = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct scout_use *use = &uses[i];

		if (!holds_jemalloc(&job->files.data[use->file]))
			continue;
		if (use->is_executable)
			return use;
		/* Words alone do not make a library one that is in use. */
		if (!holder && !job->files.data[use->file].findings->mentions_jemalloc)
			holder = use;
	}
	return holder;
}

static void set_part(struct scouted_process *process, enum scout_part part,
		     const struct scout_use *use)
{
	process->parts[part] = use->file;
	process->places[part] = use->place;
}

static void name_parts(const struct scout_job *job, const struct scout_use *uses, size_t count,
		       struct scouted_process *process)
{
	for (size_t i = 0; i < count; i++) {
		const struct elf_findings *findings = job->files.data[uses[i].file].findings;

		if (!findings)
			continue;
		if (uses[i].is_executable)
			set_part(process, PART_EXECUTABLE, &uses[i]);
		if (findings->symbols[ELF_SYMBOL__thread_db_pthread_tid])
			set_part(process, PART_LIBRARY, &uses[i]);
		if (findings->symbols[ELF_SYMBOL__rtld_global])
			set_part(process, PART_LOADER, &uses[i]);
	}
}

static bool is_named_like_libc(const struct scout_open_file *file)
{
	const char *slash = strrchr(file->name, '/');
	const char *name = slash ? slash + 1 : file->name;

	return strncmp(name, "ld", 2) == 0 || strncmp(name, "libc", 4) == 0;
}

/* Names are a hint: where the parts are not found under the usual ones, all files are looked at. */
static int find_parts(struct scout_job *job, const struct scout_use *uses, size_t count,
		      struct scouted_process *process)
{
	for (int everything = 0; everything < 2; everything++) {
		for (size_t i = 0; i < count; i++) {
			struct scout_open_file *file = &job->files.data[uses[i].file];

			if ((everything || uses[i].is_executable || is_named_like_libc(file)) &&
			    inspect_file(job, file) < 0)
				return -ENOMEM;
		}
		name_parts(job, uses, count, process);
		if (process->parts[PART_LIBRARY] != SCOUT_NONE &&
		    process->parts[PART_LOADER] != SCOUT_NONE)
			break;
	}
	return 0;
}

static int judge_process(struct scout_job *job, uint32_t index, const struct scout_use *uses,
			 size_t count)
{
	struct scouted_process *process = &job->processes[index];
	const struct scout_use *holder = find_holder(job, uses, count);

	if (holder) {
		set_part(process, PART_HOLDER, holder);
		return find_parts(job, uses, count, process);
	}
	if (process->unreadable)
		process->state = SCOUT_UNREADABLE;
	for (size_t i = 0; i < count; i++)
		if (job->files.data[uses[i].file].left_out)
			process->state = job->files.data[uses[i].file].left_out->state;
	return 0;
}

static int judge_processes(struct scout_job *job)
{
	const struct scout_use *uses = job->uses.data;
	size_t total = job->uses.count;

	while (total) {
		size_t count = 0;

		while (count < total && uses[count].process == uses->process)
			count++;
		if (judge_process(job, uses->process, uses, count) < 0)
			return -ENOMEM;
		uses += count;
		total -= count;
	}
	return 0;
}

static int write_all(int fd, const void *bytes, size_t length)
{
	const char *cursor = bytes;

	while (length) {
		ssize_t written = write(fd, cursor, length);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written < 0)
			continue;
		cursor += written;
		length -= (size_t)written;
	}
	return 0;
}

/* Gives the file a number in the answer, which takes the place of ours. */
static void number_file(struct scout_job *job, uint32_t *file, uint32_t *next)
{
	struct scout_open_file *found;

	if (*file == SCOUT_NONE)
		return;
	found = &job->files.data[*file];
	if (!found->findings) {
		*file = SCOUT_NONE;
		return;
	}
	if (found->number == SCOUT_NONE)
		found->number = (*next)++;
	*file = found->number;
}

static uint32_t number_files(struct scout_job *job, uint32_t process_count)
{
	uint32_t next = 0;

	for (size_t i = 0; i < job->files.count; i++)
		job->files.data[i].number = SCOUT_NONE;
	for (uint32_t i = 0; i < process_count; i++) {
		struct scouted_process *process = &job->processes[i];

		for (int part = 0; part < PART_COUNT; part++)
			number_file(job, &process->parts[part], &next);
	}
	return next;
}

static void fill_file(const struct scout_open_file *file, struct scouted_file *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->id = file->id;
	memcpy(&ret->findings, file->findings, sizeof(ret->findings));
	fstat(file->fd, &ret->status); /* all zeros are in no cache */
}

static int write_files(const struct scout_job *job, uint32_t count, int answer)
{
	struct scouted_file out;
	int status = 0;

	for (uint32_t number = 0; number < count && status == 0; number++)
		for (size_t i = 0; i < job->files.count && status == 0; i++) {
			if (job->files.data[i].number != number)
				continue;
			fill_file(&job->files.data[i], &out);
			status = write_all(answer, &out, sizeof(out));
		}
	return status;
}

static int answer_all(struct scout_job *job, int answer)
{
	struct scout_answer header = { .process_count = job->progress->prepared };
	int status;

	header.file_count = number_files(job, header.process_count);
	status = write_all(answer, &header, sizeof(header));
	if (status == 0)
		status = write_all(answer, job->processes,
				   header.process_count * sizeof(*job->processes));
	return status < 0 ? status : write_files(job, header.file_count, answer);
}

int scout_work(void *argument, int answer)
{
	struct scout_job *job = argument;

	job->progress->is_parsing = true;
	for (size_t i = 0; i < job->files.count; i++) {
		job->progress->file = job->files.data[i].id;
		job->progress->process = job->files.data[i].process;
		if (job->files.data[i].fd >= 0 && elf_may_have_tsd(job->files.data[i].fd) &&
		    inspect_file(job, &job->files.data[i]) < 0)
			return -ENOMEM;
	}
	if (judge_processes(job) < 0)
		return -ENOMEM;
	return answer_all(job, answer);
}
