/* SPDX-License-Identifier: MIT */
#include "cli/args/output_args.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

int output_check_binary(const char *path, struct error *error)
{
	if (!file_is_standard_output(path) || !isatty(STDOUT_FILENO))
		return 0;
	return error_set(error, -EINVAL,
			 "cannot write a binary file to a terminal: give -o a file name, or pipe "
			 "the output to a program");
}
