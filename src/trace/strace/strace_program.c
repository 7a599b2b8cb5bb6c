/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "host/confine/trusted_file.h"
#include "trace/strace/strace.h"

/* PATH is the caller's, and may lead anywhere. */
static const char *const places[] = { "/usr/bin/strace", "/bin/strace", "/usr/local/bin/strace" };

int strace_program_open(struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		CLEANUP(close_fd) int fd = trusted_file_open(places[i], NULL);
		struct stat file;

		if (fd >= 0 && fstat(fd, &file) == 0 && file.st_uid == 0 && file.st_mode & S_IXOTH)
			return TAKE_FD(fd);
	}
	return error_set(error, -ENOENT,
			 "strace is not installed: there is none of root's in /usr/bin, /bin or "
			 "/usr/local/bin; install the package strace");
}
