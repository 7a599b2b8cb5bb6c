/* SPDX-License-Identifier: MIT */
/*
 * What one thread of our own process does, read from the kernel.  Any value may be unknown.
 */
#ifndef LIB_THREAD_USAGE_H
#define LIB_THREAD_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/heartbeat/line.h"

enum { THREAD_WORD_SIZE = 64 };

/* Unknown when the thread does not exist. */
struct amount thread_cpu_ns(pid_t tid);
/* Time in which it was ready to run but had no CPU. */
struct amount thread_delay_ns(pid_t tid);
/* The kernel's letter for its state; 0: unknown. */
char thread_state(pid_t tid);
/* Whether all other threads of the process ended, including the first one. */
bool thread_is_last(void);
/* These are "" when unknown, and where the thread does not wait in the kernel. */
void thread_wait_channel(pid_t tid, char word[static THREAD_WORD_SIZE]);
void thread_system_call(pid_t tid, char word[static THREAD_WORD_SIZE]);
void thread_name(pid_t tid, char word[static THREAD_WORD_SIZE]);

#endif
