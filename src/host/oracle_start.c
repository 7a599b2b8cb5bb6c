/* SPDX-License-Identifier: MIT */
#include "host/oracle_start.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "host/confine.h"
#include "host/oracle.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#endif

#define CHUNK ((size_t)64 * 1024)
#define MEMORY_LIMIT ((uint64_t)2 << 30) /* address space: a large program and what it loads */
#define CPU_SECONDS (ORACLE_TIMEOUT_MS / 1000)

static const struct {
	int error;
	const char *sentence;
} explanations[] = {
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

/* Kernels from 6.3 on want to be told that a file is to be executed; older ones refuse the word. */
int oracle_make_file(void)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("taskscope-oracle", flags | MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("taskscope-oracle", flags);
	return fd < 0 ? -errno : fd;
}

int oracle_check_file(int fd)
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

/* A file can grow while it is read. */
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

int oracle_copy_file(int from, int to)
{
	struct stat file;
	int status;

	if (fstat(from, &file) < 0)
		return -errno;
	if (!S_ISREG(file.st_mode))
		return -EBADMSG;
	if ((uint64_t)file.st_size > ORACLE_FILE_MAX)
		return -EFBIG;
	status = copy_bytes(from, to);
	if (status < 0)
		return status;
	status = fcntl(to, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	return status < 0 ? -errno : 0;
}

struct confine_limits oracle_limits(int program_fd)
{
	return (struct confine_limits){
		.rules = CONFINE_PROGRAM,
		.memory_bytes = MEMORY_LIMIT,
		.cpu_seconds = CPU_SECONDS,
		.program_fd = program_fd,
	};
}

int oracle_execute(int program_fd, char *const *arguments, char *const *environment)
{
	syscall(SYS_execveat, program_fd, "", arguments, environment, AT_EMPTY_PATH);
	return -errno;
}
