/* SPDX-License-Identifier: MIT */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "host/code/service/code_protocol.h"
#include "host/code/service/code_serve.h"
#include "host/elf/elf_inspect.h"

#define SEGMENTS_SEEN 4096 /* more program headers than that are not looked at */

/* Mapped rather than read: little of a large file is looked at. */
static int open_elf(int fd, struct served_file *file)
{
	GElf_Ehdr header;
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	file->bytes = (uint64_t)status.st_size;
	file->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header) ||
	    !elf_is_native(&header))
		return -ENOEXEC;
	/* The fd is not needed again, and there may be more files than we may have fds. */
	return elf_cntl(file->elf, ELF_C_FDDONE) < 0 ? -EIO : 0;
}

int served_file_new(int fd, struct served_file **ret)
{
	CLEANUP(close_fd) int taken = fd;
	struct served_file *file = calloc(1, sizeof(*file));
	int status = file ? open_elf(taken, file) : -ENOMEM;

	if (status < 0)
		served_file_free(file);
	else
		*ret = file;
	return status;
}

void served_file_free(struct served_file *file)
{
	if (!file)
		return;
	served_names_free(file);
	dwarf_end(file->dwarf); /* its rules too */
	dwarf_cfi_end(file->eh_frame);
	elf_end(file->elf);
	free(file);
}

static void add_segment(const GElf_Phdr *header, struct code_file_answer *answer)
{
	if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || header->p_filesz == 0 ||
	    answer->segment_count == CODE_SEGMENTS_MAX)
		return;
	answer->segments[answer->segment_count++] =
		(struct code_segment){ header->p_offset, header->p_filesz, header->p_vaddr };
}

static void add_segments(Elf *elf, struct code_file_answer *answer)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && i < SEGMENTS_SEEN; i++)
		if (gelf_getphdr(elf, (int)i, &header))
			add_segment(&header, answer);
}

static void add_build_id(Elf *elf, struct code_file_answer *answer)
{
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &id);

	if (size <= 0)
		return;
	answer->build_id_size = size < CODE_BUILD_ID_MAX ? (uint32_t)size : CODE_BUILD_ID_MAX;
	memcpy(answer->build_id, id, answer->build_id_size);
}

int serve_file(struct served_file *file, const struct code_question *question,
	       struct code_answer *answer)
{
	struct code_file_answer *found = (struct code_file_answer *)answer->bytes;
	GElf_Ehdr header;

	(void)question;
	memset(found, 0, sizeof(*found));
	if (!gelf_getehdr(file->elf, &header))
		return -EBADMSG;
	found->entry = header.e_entry;
	add_segments(file->elf, found);
	add_build_id(file->elf, found);
	return sizeof(*found);
}
