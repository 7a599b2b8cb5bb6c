/* SPDX-License-Identifier: MIT */
/*
 * This room reads what only the detail of one process shows, while it is open: open files by kind,
 * limits with their use, memory by kind, and the kernel stack of its first thread.
 *
 * Nothing is stopped, and every reading is bounded; what cannot be read has a line that says why.
 */
#ifndef TUI_PROCESS_NOW_H
#define TUI_PROCESS_NOW_H

#include <stdint.h>

struct top;

/* Does nothing but say so when the process has ended or its number is another one's. */
void process_now_add(struct top *top, int32_t pid, uint64_t start_time_ns);

#endif
