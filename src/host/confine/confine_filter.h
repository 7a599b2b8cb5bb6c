/* SPDX-License-Identifier: MIT */
/* The system calls that a confined process may make; a part of host/confine/confine.h. */
#ifndef HOST_CONFINE_FILTER_H
#define HOST_CONFINE_FILTER_H

struct confine_limits;

/*
 * Makes seccomp refuse all others from now on, also after execve.  Returns 0 or a negative errno.
 */
int confine_filter_install(const struct confine_limits *limits);

#endif
