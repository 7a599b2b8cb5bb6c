/* SPDX-License-Identifier: MIT */
/*
 * Writes a file many times: output_driver replace|stream COUNT PATH.
 *
 * Each time may fail, since others change the place meanwhile; prints how often it did not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define CONTENT "written by root\n"

static int replace(const char *path)
{
	struct file_replacement file;
	int status = file_replace(&file, path);

	if (status < 0)
		return status;
	status = file_write(&file, CONTENT, strlen(CONTENT));
	if (status == 0)
		status = file_commit(&file);
	file_abandon(&file);
	return status;
}

static int stream(const char *path)
{
	int fd = file_open_output(path);

	if (fd < 0)
		return fd;
	if (write(fd, CONTENT, strlen(CONTENT)) < 0)
		perror("write");
	return close(fd);
}

int main(int argc, char **argv)
{
	long count = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
	long done = 0;

	if (count <= 0)
		return 2;
	for (long i = 0; i < count; i++)
		done += (strcmp(argv[1], "replace") == 0 ? replace : stream)(argv[3]) == 0;
	printf("%ld\n", done);
	return 0;
}
