/* SPDX-License-Identifier: MIT */
/*
 * Parses a task's syscall file in proc.  Parsing is pure and never reads beyond the NUL.
 *
 * This folder reads what a blocked thread waits for: its call, the memory behind a futex, locks of
 * files, the other ends of pipes and sockets.  Everything here comes from other processes, which
 * may write what they like; nothing here opens or follows a path that they chose.
 */
#ifndef HOST_WAIT_CALL_TEXT_H
#define HOST_WAIT_CALL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define CALL_ARGUMENTS 6

struct call_text {
	uint32_t number; /* native */
	uint64_t arguments[CALL_ARGUMENTS];
};

/*
 * The text is "NUMBER ARGUMENT...", with arguments in hexadecimal; "running"; or "-1 ..." outside a
 * call.  False when the task is not in a call; arguments that are missing are 0.
 */
bool call_text_parse(const char *text, struct call_text *ret);

#endif
