/* SPDX-License-Identifier: MIT */
#include "record/record_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int join(char ret[PATH_MAX], const char *folder, const char *name)
{
	int length;

	/* A relative folder would mean another place for each caller. */
	if (!folder || folder[0] != '/')
		return -ENOENT;
	length = snprintf(ret, PATH_MAX, "%s/%s", folder, name);
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int record_store_path(char ret[PATH_MAX])
{
	const char *state = getenv("XDG_STATE_HOME");

	if (geteuid() == 0)
		return join(ret, "/var/lib/taskscope", "recording.db");
	if (state && state[0] == '/')
		return join(ret, state, "taskscope/recording.db");
	return join(ret, getenv("HOME"), ".local/state/taskscope/recording.db");
}

int record_system_socket_path(char ret[PATH_MAX])
{
	return join(ret, "/run/taskscope", "taskscope.sock");
}

int record_socket_path(char ret[PATH_MAX])
{
	if (geteuid() == 0)
		return record_system_socket_path(ret);
	return join(ret, getenv("XDG_RUNTIME_DIR"), "taskscope.sock");
}
