/* SPDX-License-Identifier: MIT */
/*
 * The ELF files that tests/unit/objects/make.sh made, and copies of them with a
 * few bytes changed.
 */
#ifndef UNIT_OBJECTS_H
#define UNIT_OBJECTS_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int object_directory(void)
{
	const char *path = getenv("TASKSCOPE_TEST_OBJECTS");
	int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	assert_true(fd >= 0);
	return fd;
}

static inline int object_open(const char *name)
{
	int dir = object_directory();
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	close(dir);
	assert_true(fd >= 0);
	return fd;
}

/* A writable copy that has no name. */
static inline int object_copy(const char *name)
{
	int source = object_open(name);
	int copy = memfd_create(name, MFD_CLOEXEC);
	char buffer[65536];
	ssize_t length;

	assert_true(copy >= 0);
	while ((length = read(source, buffer, sizeof(buffer))) > 0)
		assert_int_equal(write(copy, buffer, (size_t)length), length);
	close(source);
	return copy;
}

static inline void object_patch(int copy, off_t offset, const void *bytes, size_t length)
{
	assert_int_equal(pwrite(copy, bytes, length, offset), (ssize_t)length);
}

#endif
