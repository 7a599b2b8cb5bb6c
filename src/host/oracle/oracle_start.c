/* SPDX-License-Identifier: MIT */
#include "host/oracle/oracle_start.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/elf/elf_inspect.h"
#include "host/oracle/oracle.h"
#include "host/oracle/trusted_file.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

#define CHUNK ((size_t)1 << 20)

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

	if (got < 0)
		return -errno;
	return got == sizeof(header) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
			       elf_is_native(&header) ?
		       0 :
		       -EBADMSG;
}

/* Checks the size while copying, since a file can grow meanwhile. */
static int copy_file(int from, int to)
{
	uint64_t copied = 0;
	ssize_t got;

	while ((got = sendfile(to, from, NULL, CHUNK)) != 0) {
		if (got < 0 && errno != EINTR)
			return -errno;
		copied += got > 0 ? (uint64_t)got : 0;
		if (copied > ORACLE_FILE_MAX)
			return -EFBIG;
	}
	if (fcntl(to, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return -errno;
	return 0;
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
	if ((status.st_mode & needed) == needed)
		return dup3(trusted, fd, O_CLOEXEC) < 0 ? -errno : 0;
	return (uint64_t)status.st_size > ORACLE_FILE_MAX ? -EFBIG : copy_file(trusted, fd);
}
