/* SPDX-License-Identifier: MIT */
/*
 * The programs that tests/unit/names/make.sh made, what their symbol tables say, and the places that
 * they marked.
 */
#ifndef UNIT_NAMED_PROGRAMS_H
#define UNIT_NAMED_PROGRAMS_H

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* As names/program.c has it. */
struct program_mark {
	int64_t distance;
	int32_t lines[3];
	int32_t place;
};

#define PROGRAM_MARKS 3
enum program_mark_place { MARK_PLAIN, MARK_CHAIN, MARK_STATIC };

/* An open file. */
struct program {
	int fd;
	uint64_t size;
	Elf *elf;
};

static inline struct program program_of(int fd)
{
	struct program program = { .fd = fd };
	struct stat status;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_true(elf_version(EV_CURRENT) != EV_NONE);
	program.size = (uint64_t)status.st_size;
	program.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	assert_non_null(program.elf);
	return program;
}

static inline int program_fd(const char *name)
{
	const char *path = getenv("TASKSCOPE_TEST_NAMES");
	int dir = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int fd;

	assert_true(dir >= 0);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	close(dir);
	return fd;
}

static inline struct program program_open(const char *name)
{
	return program_of(program_fd(name));
}

static inline void program_close(struct program *program)
{
	elf_end(program->elf);
	close(program->fd);
}

static inline Elf_Scn *program_section(const struct program *program, const char *name,
				       GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(program->elf, &names), 0);
	while ((section = elf_nextscn(program->elf, section)))
		if (gelf_getshdr(section, header) &&
		    strcmp(elf_strptr(program->elf, names, header->sh_name), name) == 0)
			return section;
	fail_msg("there is no section %s", name);
	return NULL;
}

/* Where a symbol is; the program must not be stripped. */
static inline uint64_t program_symbol(const char *program_name, const char *name)
{
	struct program program = program_open(program_name);
	GElf_Shdr header;
	Elf_Scn *section = program_section(&program, ".symtab", &header);
	Elf_Data *data = elf_getdata(section, NULL);
	uint64_t found = 0;
	GElf_Sym symbol;

	for (int i = 0; gelf_getsym(data, i, &symbol); i++)
		if (strcmp(elf_strptr(program.elf, header.sh_link, symbol.st_name), name) == 0)
			found = symbol.st_value;
	program_close(&program);
	assert_true(found != 0);
	return found;
}

/* The address of a marked place, and the lines there. */
static inline uint64_t program_mark(const char *program_name, enum program_mark_place place,
				    struct program_mark *ret)
{
	struct program program = program_open(program_name);
	GElf_Shdr header;
	Elf_Data *data = elf_getdata(program_section(&program, "marks", &header), NULL);
	size_t offset = 0;

	assert_int_equal(data->d_size, PROGRAM_MARKS * sizeof(*ret));
	for (;; offset += sizeof(*ret)) {
		assert_true(offset < data->d_size);
		memcpy(ret, (const char *)data->d_buf + offset, sizeof(*ret));
		if (ret->place == (int32_t)place)
			break;
	}
	program_close(&program);
	return header.sh_addr + offset + (uint64_t)ret->distance;
}

#endif
