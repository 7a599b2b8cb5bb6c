/* SPDX-License-Identifier: MIT */
/*
 * What one thread of the own process does, as its kernel tells.  Everything may be unknown.
 */
#ifndef LIB_THREAD_USAGE_H
#define LIB_THREAD_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/line.h"

enum { THREAD_WORD_SIZE = 64 };

/* Unknown when there is no such thread. */
struct amount thread_cpu_ns(pid_t tid);
/* Time that it could have run, and did not. */
struct amount thread_delay_ns(pid_t tid);
/* One letter, 0: unknown. */
char thread_state(pid_t tid);
/* Whether all other threads of the process ended, the first one too. */
bool thread_is_last(void);
/* These are "" when unknown; also where the thread does not wait in the kernel. */
void thread_wait_channel(pid_t tid, char word[static THREAD_WORD_SIZE]);
void thread_system_call(pid_t tid, char word[static THREAD_WORD_SIZE]);
void thread_name(pid_t tid, char word[static THREAD_WORD_SIZE]);

#endif
