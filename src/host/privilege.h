/* SPDX-License-Identifier: MIT */
/*
 * What this process may do.
 */
#ifndef HOST_PRIVILEGE_H
#define HOST_PRIVILEGE_H

#include <stdbool.h>

struct host;

/*
 * Whether we have a capability (CAP_SYS_PTRACE) at all.  It is that of our user
 * namespace: over what belongs to another one it says nothing.
 */
bool host_has_capability(int capability);

/*
 * Whether this proc mount keeps processes from us that belong to others (hidepid).
 * False for a recorded tree, and where it cannot be told.
 */
bool host_hides_processes(const struct host *host);

#endif
