/* SPDX-License-Identifier: MIT */
/*
 * How a test waits: for a state, however long a busy machine takes to get there.  What hangs is told
 * from what is slow by a time that no machine needs.
 */
#ifndef TESTS_UNIT_PATIENCE_H
#define TESTS_UNIT_PATIENCE_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HANG_SECONDS = 180, HANG_MS = HANG_SECONDS * 1000 };

/* Until the condition is true. */
#define WAIT_UNTIL(condition)                                                                      \
	for (unsigned waited_ms = 0; !(condition); waited_ms++) {                                  \
		if (waited_ms == HANG_MS)                                                          \
			fail_msg("waited in vain: %s", #condition);                                \
		usleep(1000);                                                                      \
	}

/* The letter of a thread's state, of any process; 0 when it is gone. */
static inline char task_state(pid_t tid)
{
	char path[64], text[512];
	const char *name_end;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	name_end = strrchr(text, ')');
	return name_end && name_end[1] ? name_end[2] : 0;
}

#endif
