/* SPDX-License-Identifier: MIT */
#include "host/oracle/oracle_start.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "host/oracle/oracle.h"
#include "host/oracle/trusted_file.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#endif

#define CHUNK ((size_t)64 * 1024)

static const struct {
	int error;
	const char *sentence;
} explanations[] = {
	{ EKEYREJECTED,
	  "it, or code that it needs, could have been written by somebody other than root and "
	  "you" },
	{ ETIMEDOUT, "it did not answer in time and was ended" },
	{ EPROTO, "it crashed" },
	{ EFBIG, "the file is too large to be copied" },
	{ EBADMSG, "it is not an ELF file of this machine" },
	{ ENODATA, "its mallctl does not tell where the counters are" },
	{ ENOSYS, "it has no mallctl function" },
	{ ENOENT, "it cannot be loaded here: a library that it needs may be missing" },
	{ ERANGE, "the counters are not in its thread-local storage" },
	{ EACCES, "this host does not let a copy be executed (sysctl vm.memfd_noexec, or a "
		  "security module)" },
	{ EPERM, "this host does not let us start it as another user, or trace it" },
	{ ECHILD, "it ended before its main function" },
	{ ENOMEM, "out of memory" },
};

int oracle_explain(int status, const char *what, struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(explanations); i++)
		if (explanations[i].error == -status)
			return error_set(error, status,
					 "the %s with jemalloc could not be asked: %s", what,
					 explanations[i].sentence);
	return error_set(error, status, "the %s with jemalloc could not be asked: %s", what,
			 strerror(-status));
}

/*
 * Kernels from 6.3 on want a flag (MFD_EXEC) for a file that will be executed; older ones refuse
 * it.
 */
int oracle_make_file(void)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("taskscope-oracle", flags | MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("taskscope-oracle", flags);
	return fd < 0 ? -errno : fd;
}

/* Checks that it is an ELF file of this machine: 0, -EBADMSG, or the error of reading. */
static int check_file(int fd)
{
	Elf64_Ehdr header;
	ssize_t got = pread(fd, &header, sizeof(header), 0);
	int order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	if (got < 0)
		return -errno;
	if (got != sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != order ||
	    header.e_machine != NATIVE_MACHINE)
		return -EBADMSG;
	return 0;
}

static int write_whole(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

/* Checks the size while copying, since a file can grow meanwhile. */
static int copy_bytes(int from, int to)
{
	char chunk[CHUNK];
	uint64_t offset = 0;

	for (;;) {
		ssize_t got = pread(from, chunk, sizeof(chunk), (off_t)offset);
		int status;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		offset += (uint64_t)got;
		if (offset > ORACLE_FILE_MAX)
			return -EFBIG;
		status = write_whole(to, chunk, (size_t)got);
		if (status < 0)
			return status;
	}
}

static int copy_file(int from, const struct stat *file, int to)
{
	int status;

	if ((uint64_t)file->st_size > ORACLE_FILE_MAX)
		return -EFBIG;
	status = copy_bytes(from, to);
	if (status < 0)
		return status;
	status = fcntl(to, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	return status < 0 ? -errno : 0;
}

int oracle_open_file(const struct oracle_file *file, mode_t needed, int fd)
{
	CLEANUP(close_fd) int trusted = trusted_file_open(file->path, file->mapped);
	struct stat status;
	int checked = trusted < 0 ? trusted : check_file(trusted);

	if (checked < 0)
		return checked;
	if (fstat(trusted, &status) < 0)
		return -errno;
	if ((status.st_mode & needed) != needed)
		return copy_file(trusted, &status, fd);
	return dup3(trusted, fd, O_CLOEXEC) < 0 ? -errno : 0;
}

int oracle_execute(int program_fd, char *const *arguments, char *const *environment)
{
	syscall(SYS_execveat, program_fd, "", arguments, environment, AT_EMPTY_PATH);
	return -errno;
}
