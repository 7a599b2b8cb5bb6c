/* SPDX-License-Identifier: MIT */
#include "host/elf/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/elf/elf_inspect.h"
#include "host/plain_file.h"

#define CRC_POLYNOMIAL 0xedb88320u

/* The root directory to search below, and what was found so far. */
struct search {
	int root;
	const struct debug_program *program;
	struct debug_files *files;
};

bool debug_file_name_is_plain(const char *name)
{
	size_t length = strnlen(name, NAME_MAX + 1);

	return length > 0 && length <= NAME_MAX && !memchr(name, '/', length) &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int open_candidate(const struct search *search, const char *path)
{
	CLEANUP(close_fd) int place = plain_file_find(search->root, path);
	struct stat file;

	if (place < 0)
		return place;
	if (fstat(place, &file) < 0)
		return -errno;
	if (file.st_uid != 0 && file.st_uid != search->program->owner)
		return -EPERM;
	return plain_file_open(place);
}

__attribute__((format(printf, 3, 4))) static void
try_path(struct search *search, enum debug_file_proof proof, const char *format, ...)
{
	struct debug_files *files = search->files;
	char path[PATH_MAX];
	va_list arguments;
	int length, fd;

	va_start(arguments, format);
	length = vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof(path) || files->count == DEBUG_FILES_MAX)
		return;
	fd = open_candidate(search, path);
	if (fd >= 0)
		files->list[files->count++] = (struct debug_file){ fd, proof };
}

static void try_build_id(struct search *search)
{
	const struct elf_findings *findings = search->program->findings;
	char digits[2 * ELF_BUILD_ID_SIZE + 1];

	if (findings->build_id_size < 2)
		return;
	for (uint32_t i = 0; i < findings->build_id_size; i++)
		snprintf(digits + 2 * (size_t)i, 3, "%02x", findings->build_id[i]);
	try_path(search, PROOF_BUILD_ID, "/usr/lib/debug/.build-id/%.2s/%s.debug", digits,
		 digits + 2);
	try_path(search, PROOF_BUILD_ID, "%s.debug", search->program->path);
	try_path(search, PROOF_BUILD_ID, "%s.debuginfo", search->program->path);
}

static void try_debuglink(struct search *search)
{
	const char *name = search->program->findings->debuglink;
	const char *path = search->program->path;
	const char *slash = strrchr(path, '/');
	int directory = slash ? (int)(slash - path) : 0;

	if (!debug_file_name_is_plain(name))
		return;
	try_path(search, PROOF_CRC, "%.*s/%s", directory, path, name);
	try_path(search, PROOF_CRC, "%.*s/.debug/%s", directory, path, name);
	try_path(search, PROOF_CRC, "/usr/lib/debug%.*s/%s", directory, path, name);
}

static void search_root(struct search *search)
{
	if (search->root < 0 || search->program->path[0] != '/')
		return;
	try_build_id(search);
	try_debuglink(search);
}

static bool is_same_directory(int one, int other)
{
	struct stat first, second;

	return one >= 0 && other >= 0 && fstat(one, &first) == 0 && fstat(other, &second) == 0 &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

void debug_files_open(const struct debug_program *program, struct debug_files *ret)
{
	CLEANUP(close_fd) int theirs = -1;
	CLEANUP(close_fd) int ours = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct search search = { .program = program, .files = ret };

	*ret = (struct debug_files){ 0 };
	if (program->process >= 0)
		theirs = openat(program->process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!is_same_directory(theirs, ours)) {
		search.root = theirs;
		search_root(&search);
	}
	search.root = ours;
	search_root(&search);
}

static void fill_table(uint32_t table[256])
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t value = byte;

		for (int bit = 0; bit < 8; bit++)
			value = value & 1 ? CRC_POLYNOMIAL ^ value >> 1 : value >> 1;
		table[byte] = value;
	}
}

int debug_file_crc(int fd, uint32_t *ret)
{
	uint8_t buffer[65536];
	uint32_t table[256];
	uint32_t crc = UINT32_MAX;
	off_t offset = 0;
	ssize_t length;

	fill_table(table);
	while ((length = pread(fd, buffer, sizeof(buffer), offset)) > 0) {
		for (ssize_t i = 0; i < length; i++)
			crc = table[(crc ^ buffer[i]) & 0xff] ^ crc >> 8;
		offset += length;
	}
	if (length < 0)
		return -errno;
	*ret = ~crc;
	return 0;
}

static bool has_same_build_id(int fd, const struct elf_findings *findings)
{
	struct elf_findings other;

	return elf_inspect(fd, &other) == 0 && findings->build_id_size &&
	       other.build_id_size == findings->build_id_size &&
	       memcmp(other.build_id, findings->build_id, other.build_id_size) == 0;
}

bool debug_file_matches(const struct debug_file *file, const struct elf_findings *findings)
{
	uint32_t crc;

	if (file->proof == PROOF_BUILD_ID)
		return has_same_build_id(file->fd, findings);
	return debug_file_crc(file->fd, &crc) == 0 && crc == findings->debuglink_crc;
}
