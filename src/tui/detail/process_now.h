/* SPDX-License-Identifier: MIT */
/*
 * This room reads what only the detail of one process shows, while it is open: open files by kind,
 * limits with their use, where its threads stand in the kernel.
 *
 * Nothing is stopped, and every reading is bounded; what cannot be read has a line that says why.
 */
#ifndef TUI_PROCESS_NOW_H
#define TUI_PROCESS_NOW_H

#include <stdint.h>

struct host;
struct text_page;

/* Does nothing but say so when the process has ended or its number is another one's. */
void process_now_add(struct text_page *page, const struct host *host, int32_t pid,
		     uint64_t start_time_ns);

#endif
