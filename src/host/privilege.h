/* SPDX-License-Identifier: MIT */
/* Finds out what this process is allowed to do. */
#ifndef HOST_PRIVILEGE_H
#define HOST_PRIVILEGE_H

#include <stdbool.h>

struct host;

/*
 * Whether we have a capability, such as CAP_SYS_PTRACE.  It holds in our own user namespace; it
 * says nothing about what belongs to another one.
 */
bool host_has_capability(int capability);

/*
 * Whether a file can give us a capability, which a container may rule out.  A file that would give
 * one beyond that cannot be executed.
 */
bool host_may_get_capability(int capability);

/*
 * Whether this proc mount hides other users' processes from us (hidepid).  False for a recorded
 * tree, and when we cannot find out.
 */
bool host_hides_processes(const struct host *host);

#endif
