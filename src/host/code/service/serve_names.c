/* SPDX-License-Identifier: MIT */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "host/code/service/code_protocol.h"
#include "host/code/service/code_serve.h"
#include "host/code/service/elf_names.h"
#include "host/elf/debug_file.h"
#include "host/elf/elf_inspect.h"

_Static_assert(sizeof(struct code_name_answer) <= CODE_ANSWER_BYTES, "an answer fits");

void served_names_free(struct served_file *file)
{
	elf_names_free(file->names);
	elf_end(file->debug);
	file->names = NULL;
	file->debug = NULL;
}

static void read_link(Elf *elf, struct elf_findings *ret)
{
	const void *id = NULL;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
	GElf_Word crc = 0;
	const char *name = dwelf_elf_gnu_debuglink(elf, &crc);

	*ret = (struct elf_findings){ .debuglink_crc = crc };
	if (size > 0 && size <= ELF_BUILD_ID_SIZE) {
		memcpy(ret->build_id, id, (size_t)size);
		ret->build_id_size = (uint32_t)size;
	}
	if (name && debug_file_name_is_plain(name))
		snprintf(ret->debuglink, sizeof(ret->debuglink), "%s", name);
}

int serve_debug_link(struct served_file *file, const struct code_question *question,
		     struct code_answer *answer)
{
	struct code_debug_link *link = (struct code_debug_link *)answer->bytes;
	struct elf_findings findings;

	(void)question;
	read_link(file->elf, &findings);
	memset(link, 0, sizeof(*link));
	memcpy(link->build_id, findings.build_id, sizeof(link->build_id));
	link->build_id_size = findings.build_id_size;
	memcpy(link->name, findings.debuglink, sizeof(link->name));
	return sizeof(*link);
}

int serve_debug_file(struct served_file *file, const struct code_question *question, int fd)
{
	struct debug_file candidate = { fd, (enum debug_file_proof)question->other };
	struct elf_findings findings;
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return -EINVAL;
	read_link(file->elf, &findings);
	if (!debug_file_matches(&candidate, &findings))
		return -EINVAL;
	served_names_free(file);
	file->debug = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	file->debug_bytes = (uint64_t)status.st_size;
	if (!file->debug || elf_cntl(file->debug, ELF_C_FDDONE) < 0)
		return -EBADMSG;
	return 0;
}

int serve_forget_names(struct served_file *file, const struct code_question *question,
		       struct code_answer *answer)
{
	(void)question;
	(void)answer;
	served_names_free(file);
	return 0;
}

static int write_answer(const struct elf_answer *found, uint64_t bytes,
			struct code_name_answer *answer)
{
	if (found->texts.length > sizeof(answer->texts))
		return -E2BIG;
	*answer = (struct code_name_answer){
		.start = found->start,
		.end = found->end,
		.function_start = found->function_start,
		.memory_bytes = bytes,
		.count = found->count,
	};
	memcpy(answer->names, found->names, sizeof(answer->names));
	memcpy(answer->texts, found->texts.data, found->texts.length);
	return (int)(offsetof(struct code_name_answer, texts) + found->texts.length);
}

int serve_name(struct served_file *file, const struct code_question *question,
	       struct code_answer *answer)
{
	struct elf_answer found = { 0 };
	int status = 0;

	if (!file->names)
		status = elf_names_open(file->elf, file->bytes, file->debug, file->debug_bytes,
					&file->names);
	if (status == 0)
		status = elf_names_find(file->names, question->address, &found);
	if (status == 0)
		status = write_answer(&found, elf_names_bytes(file->names),
				      (struct code_name_answer *)answer->bytes);
	elf_answer_free(&found);
	return status;
}
