/* SPDX-License-Identifier: MIT */
/*
 * Where a recorder keeps its store and its socket unless it is told otherwise: as root below /var/lib
 * and /run, else in the user's state and runtime folders.
 */
#ifndef RECORD_RECORD_PATHS_H
#define RECORD_RECORD_PATHS_H

#include <limits.h>

#define RECORD_CONFIG "/etc/taskscope.conf"

/* 0, or -ENOENT where the environment names no such folder, -ENAMETOOLONG where it is too long. */
int record_store_path(char ret[PATH_MAX]);
int record_socket_path(char ret[PATH_MAX]);
/* That of root's recorder. */
int record_system_socket_path(char ret[PATH_MAX]);

#endif
