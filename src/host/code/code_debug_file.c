/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host/code/name/code_naming.h"
#include "host/code/code_state.h"
#include "host/code/mapped_code.h"
#include "host/deadline_run.h"
#include "host/elf/debug_file.h"

#define SEARCH_MS 500

/* A search for debug files; by a thread, since a file system may not answer. */
struct search {
	int process; /* -1: it is gone */
	char *path;
	uid_t owner;
	struct elf_findings findings;
	struct debug_files files;
};

static void search_free(void *context)
{
	struct search *search = context;

	if (!search)
		return;
	for (size_t i = 0; i < search->files.count; i++)
		close_fd(&search->files.list[i].fd);
	close_fd(&search->process);
	free(search->path);
	free(search);
}

CLEANUP_POINTER(search_free, struct search)

static void run_search(void *context)
{
	struct search *search = context;
	const struct debug_program program = { search->process, search->path, search->owner,
					       &search->findings };

	debug_files_open(&program, &search->files);
}

static int ask_link(struct code *code, struct code_file *file, struct elf_findings *ret)
{
	const struct code_debug_link *link = (void *)code->answer.bytes;
	struct code_question question = { .kind = CODE_ASK_DEBUG_LINK };
	ssize_t size = code_file_ask(code, file, &question);

	if (size < 0)
		return (int)size;
	if (size != sizeof(*link) || link->build_id_size > ELF_BUILD_ID_SIZE ||
	    !memchr(link->name, '\0', sizeof(link->name))) {
		code_file_distrust(code, file);
		return -EPROTO;
	}
	*ret = (struct elf_findings){ .build_id_size = link->build_id_size };
	memcpy(ret->build_id, link->build_id, sizeof(ret->build_id));
	memcpy(ret->debuglink, link->name, sizeof(ret->debuglink));
	return 0;
}

/* Without the file we do not know its owner: then only root's debug files are used. */
static int search_new(struct code *code, struct code_file *file, struct address_space *space,
		      struct search **ret)
{
	CLEANUP(search_free_pointer) struct search *search = calloc(1, sizeof(*search));
	struct stat status;
	int result;

	if (!search)
		return -ENOMEM;
	search->process = space ? code_open_process(code, space->pid, space->start_ns) : -1;
	search->path = strdup(file->path);
	if (!search->path)
		return -ENOMEM;
	if (file->fd >= 0 && fstat(file->fd, &status) == 0)
		search->owner = status.st_uid;
	result = ask_link(code, file, &search->findings);
	if (result < 0)
		return result;
	*ret = TAKE_PTR(search);
	return 0;
}

/* Until one is taken. */
static int offer(struct code *code, struct code_file *file, const struct debug_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		struct code_question question = { .kind = CODE_OFFER_DEBUG_FILE,
						  .file = file->number,
						  .other = files->list[i].proof };
		uint64_t begin_ns = monotonic_ns();
		ssize_t status = code_service_ask(file->service, &question, files->list[i].fd,
						  &code->answer);

		code_user_charge(file, begin_ns, status);
		if (status == 0 || status == -EPROTO || status == -ETIMEDOUT)
			return (int)status;
	}
	return 0;
}

int code_offer_debug_files(struct code *code, struct code_file *file, struct address_space *space)
{
	CLEANUP(search_free_pointer) struct search *search = NULL;
	struct code_user *user;
	uint64_t begin_ns;
	int status;

	if (file->path[0] != '/')
		return 0;
	status = search_new(code, file, space, &search);
	if (status < 0)
		return status;
	user = code_user_of_process(code, search->process);
	if (!code_user_may_open(code, user))
		return 0;
	begin_ns = monotonic_ns();
	status = deadline_run(run_search, search_free, search, SEARCH_MS);
	user->waited_ns += monotonic_ns() - begin_ns;
	if (status == -ETIMEDOUT) {
		search = NULL;
		user->late_opens++;
	}
	return status < 0 ? -EAGAIN : offer(code, file, &search->files);
}
