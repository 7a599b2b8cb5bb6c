/* SPDX-License-Identifier: MIT */
/* Checks whether a process can be attached to, before anything is opened for it. */
#ifndef SESSION_ATTACHABLE_H
#define SESSION_ATTACHABLE_H

#include <stdint.h>

struct error;
struct host;

/* 0, or a negative errno with a sentence why the process cannot be attached to. */
int process_attachable(const struct host *host, int32_t pid, struct error *error);

#endif
