/* SPDX-License-Identifier: MIT */
#include "collect/scope/scope_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "host/proc/proc_file.h"
#include "collect/scope/scope_decode.h"
#include "collect/process/namespace_tids.h"
#include "host/host.h"
#include "host/scope_file.h"
#include "model/scope/scopes.h"

struct scope_reader {
	int process; /* directory fd of the process; stays with it when its pid is reused */
	int fd;
	struct namespace_tids tids;
	struct scope_workspace workspace;
};

static ssize_t read_file(void *context, uint64_t offset, void *buffer, size_t size)
{
	const int *fd = context;

	return file_read_at(*fd, offset, buffer, size);
}

static int read_header(int *fd, struct scope_source *source, struct scope_header *ret,
		       struct error *error)
{
	struct stat file;

	if (fstat(*fd, &file) < 0)
		return error_set(error, -errno, "%s", strerror(errno));
	*source = (struct scope_source){
		.read = read_file,
		.context = fd,
		.size = (uint64_t)file.st_size,
	};
	return scope_header_read(source, ret, error);
}

/* The context of the judge of a search. */
struct search {
	const struct namespace_tids *tids;
	struct error error; /* of the last one that was refused */
};

static int accept_file(void *context, int fd)
{
	struct search *search = context;
	struct scope_source source;
	struct scope_header header;
	int status;

	search->error = (struct error){ 0 };
	status = read_header(&fd, &source, &header, &search->error);
	if (status == -ENOENT)
		return -EINPROGRESS;
	return status == 0 && header.pid != search->tids->own_pid ? -ENOENT : status;
}

/* Writes a sentence about a search that found nothing readable. */
static int say(int status, int32_t pid, const struct search *search, struct error *error)
{
	switch (status) {
	case -ENOENT:
		return status;
	case -ESRCH:
		return error_set(error, status, "there is no process %d", pid);
	case -EACCES:
	case -EPERM:
		return error_set(error, status,
				 "the scopes of process %d may not be read: that takes its owner, "
				 "or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
				 pid);
	case -ENOMEM:
		return error_set(error, status, "out of memory");
	default:
		return error_set(error, status, "the scopes of process %d cannot be read: %s", pid,
				 search->error.message[0] ? search->error.message :
							    strerror(-status));
	}
}

static int open_file(struct scope_reader *reader, int32_t pid, enum scope_search how,
		     struct error *error)
{
	struct search search = { .tids = &reader->tids };
	struct scope_file_judge judge = { .accept = accept_file, .context = &search };
	int status = namespace_tids_init(&reader->tids, reader->process);

	if (status == 0)
		status = scope_file_open(reader->process, how == SCOPE_SEARCH_ALL, &judge);
	if (status == -EPERM)
		return error_set(error, status,
				 "process %d has closed the descriptor of its scopes: to read them "
				 "by its map of memory takes CAP_CHECKPOINT_RESTORE",
				 pid);
	if (status < 0)
		return say(status, pid, &search, error);
	reader->fd = status;
	return 0;
}

int scope_reader_open(const struct host *host, int32_t pid, enum scope_search search,
		      struct scope_reader **ret, struct error *error)
{
	CLEANUP(scope_reader_close_pointer) struct scope_reader *reader = NULL;
	const struct search nothing = { 0 };
	int status = scope_file_probe(host, pid);

	if (status < 0 && (status != -ENOENT || search == SCOPE_SEARCH_QUICK || !host->live))
		return say(status, pid, &nothing, error);
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return error_set(error, -ENOMEM, "out of memory");
	reader->fd = -1;
	reader->process = proc_open_number(host->proc, pid);
	if (reader->process < 0)
		return say(reader->process == -ENOENT ? -ESRCH : reader->process, pid, &nothing,
			   error);
	status = open_file(reader, pid, search, error);
	if (status == 0)
		*ret = TAKE_PTR(reader);
	return status;
}

static struct scope_moment take_moment(uint32_t clock)
{
	struct scope_moment moment = { 0 };

#if defined(__x86_64__)
	if (clock == SCOPE_CLOCK_TSC) {
		moment.ticks = __rdtsc();
		moment.has_ticks = true;
	}
#elif defined(__aarch64__)
	if (clock == SCOPE_CLOCK_CNTVCT) {
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(moment.ticks));
		moment.has_ticks = true;
	}
#else
	(void)clock;
#endif
	moment.ns = monotonic_ns();
	return moment;
}

static bool has_unknown(const struct scope_reader *reader, const struct scopes *scopes)
{
	for (size_t i = 0; i < scopes->tasks.count; i++)
		if (namespace_tids_ours(&reader->tids, scopes->tasks.data[i].own_tid) == 0)
			return true;
	return false;
}

/* After the process has ended, its last known numbers are used. */
static void translate(struct scope_reader *reader, struct scopes *scopes)
{
	scopes->pid = reader->tids.pid;
	if (has_unknown(reader, scopes))
		(void)namespace_tids_refresh(&reader->tids, reader->process);
	for (size_t i = 0; i < scopes->tasks.count; i++)
		scopes->tasks.data[i].tid =
			namespace_tids_ours(&reader->tids, scopes->tasks.data[i].own_tid);
}

int scope_reader_read(struct scope_reader *reader, bool with_statistics, struct scopes *ret,
		      struct error *error)
{
	struct scope_source source;
	struct scope_header header;
	struct scope_moment moment;
	int status = read_header(&reader->fd, &source, &header, error);

	if (status < 0)
		return status;
	moment = take_moment(header.clock);
	status = scope_source_decode(&source, &header, &moment, with_statistics, &reader->workspace,
				     ret);
	if (status < 0)
		return error_set(error, status, "the scopes of process %d cannot be read: %s",
				 reader->tids.pid, strerror(-status));
	translate(reader, ret);
	return 0;
}

int scope_reader_place(struct scope_reader *reader, uint64_t *ret_area_ns, int64_t *ret_self_offset)
{
	struct scope_source source;
	struct scope_header header;
	struct error error = { 0 };
	int status = read_header(&reader->fd, &source, &header, &error);

	if (status < 0)
		return status;
	*ret_area_ns = header.anchor_ns;
	*ret_self_offset = header.self_offset;
	return 0;
}

const char *scope_reader_label(struct scope_reader *reader, uint32_t number)
{
	struct scope_source source;
	struct scope_header header;
	struct error error = { 0 };

	if (number >= reader->workspace.labels.count &&
	    read_header(&reader->fd, &source, &header, &error) == 0)
		(void)scope_labels_read(&source, &header, &reader->workspace);
	return scope_label_text(&reader->workspace, number);
}

void scope_reader_close(struct scope_reader *reader)
{
	if (!reader)
		return;
	close_fd(&reader->process);
	close_fd(&reader->fd);
	namespace_tids_clear(&reader->tids);
	scope_workspace_clear(&reader->workspace);
	free(reader);
}
